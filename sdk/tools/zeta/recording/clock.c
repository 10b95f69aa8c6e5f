#include "sdk/tools/zeta/recording/clock.h"

#include <zeta/container.h>

#define NS_PER_SECOND UINT64_C(1000000000)

/* Of a number of ticks; the rest of a second does not overflow below 18 GHz. */
static uint64_t to_ns(const struct zeta_report_clock *clock, uint64_t ticks)
{
    return ticks / clock->hz * NS_PER_SECOND + ticks % clock->hz * NS_PER_SECOND / clock->hz;
}

void zeta_report_clock_init(struct zeta_report_clock *clock, uint64_t hz, uint32_t bits)
{
    *clock = (struct zeta_report_clock){.hz = hz > 0 && hz <= UINT64_C(10000000000) ? hz : 0};
    if (clock->hz > 0 && bits > 0 && bits < 64)
        clock->wrap_ns = (uint64_t)((double)(UINT64_C(1) << bits) * 1e9 / (double)clock->hz);
}

bool zeta_report_clock_take(struct zeta_report_clock *clock, const void *payload, uint64_t bytes)
{
    struct zeta_chunk_clock read;

    if (clock->hz == 0 || !zeta_chunk_clock_read(payload, (size_t)bytes, &read) ||
        read.host_ns > ZETA_REPORT_TIME_MAX)
        return false;
    clock->is_known = true;
    clock->is_set = true;
    clock->device_ns = to_ns(clock, read.device_ticks);
    clock->host_ns = (int64_t)read.host_ns;
    if (read.error_ns > clock->error_ns)
        clock->error_ns = read.error_ns;
    return true;
}

/* From one instant to another; more than half a turn is taken as a step back. */
static int64_t elapsed(const struct zeta_report_clock *clock, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t difference = to_ns - from_ns;

    if (clock->wrap_ns == 0)
        return (int64_t)difference;
    if (to_ns < from_ns)
        difference += clock->wrap_ns;
    if (difference > clock->wrap_ns / 2)
        difference -= clock->wrap_ns;
    return (int64_t)difference;
}

static int64_t cut(int64_t time_ns)
{
    if (time_ns > ZETA_REPORT_TIME_MAX)
        return ZETA_REPORT_TIME_MAX;
    return time_ns < -ZETA_REPORT_TIME_MAX ? -ZETA_REPORT_TIME_MAX : time_ns;
}

int64_t zeta_report_clock_host(struct zeta_report_clock *clock, uint64_t device_ns)
{
    uint64_t sum;

    if (clock->wrap_ns > 0)
        device_ns %= clock->wrap_ns;
    if (!clock->is_set) {
        clock->is_set = true;
        clock->device_ns = device_ns;
        clock->host_ns = cut((int64_t)(device_ns & INT64_MAX));
    }
    /* Unsigned, so that times that make no sense wrap and nothing worse. */
    sum = (uint64_t)clock->host_ns + (uint64_t)elapsed(clock, clock->device_ns, device_ns);
    if (!clock->is_known) {
        clock->device_ns = device_ns;
        clock->host_ns = cut((int64_t)sum);
    }
    return cut((int64_t)sum);
}
