#include "plugins/intel/stream/eu_stall.h"

enum { RATES = sizeof(((struct zeta_intel_unit *)0)->rates) / sizeof(uint64_t) };

static uint32_t rate_count(const struct zeta_intel_unit *unit)
{
    uint32_t count = 0;

    while (count < RATES && unit->rates[count] != 0)
        count++;
    return count;
}

uint64_t zeta_intel_stall_period(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                 uint32_t index)
{
    const uint64_t hz = max_hz != 0 ? max_hz : ZETA_INTEL_STALL_HZ;
    uint64_t cycles, seconds, rest;

    if (index >= rate_count(unit))
        return 0;
    cycles = unit->rates[index];
    /* In two parts, because the product need not fit; a whole second is absurd, but no overflow. */
    seconds = cycles / hz;
    rest = cycles % hz;
    if (seconds >= UINT32_MAX || hz > UINT64_MAX / 1000000000u)
        return UINT32_MAX;
    return seconds * 1000000000u + (rest * 1000000000u + hz - 1) / hz;
}

uint32_t zeta_intel_stall_nearest(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                  uint64_t period_ns)
{
    const uint32_t count = rate_count(unit);
    uint64_t best_distance = UINT64_MAX;
    uint32_t best = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t period = zeta_intel_stall_period(unit, max_hz, i);
        const uint64_t distance = period > period_ns ? period - period_ns : period_ns - period;

        if (distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return best;
}

void zeta_intel_stall_limits(const struct zeta_intel_unit *unit, uint64_t max_hz,
                             uint64_t *out_min_ns, uint64_t *out_max_ns)
{
    const uint32_t count = rate_count(unit);

    *out_min_ns = zeta_intel_stall_period(unit, max_hz, 0);
    *out_max_ns = count == 0 ? 0 : zeta_intel_stall_period(unit, max_hz, count - 1);
}
