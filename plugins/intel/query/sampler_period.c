#include "plugins/intel/query/sampler_priv.h"

#include <errno.h>
#include <stdlib.h>

#include <zeta/plugin_host.h>

#include <zeta/intel_gpu.h>

/*
 * How often reports come unless the setting query_period_ns says otherwise: ends of queries are
 * right to that time. 10 kHz is a tenth of what i915 allows everybody, 2.5 MB/s of reports of 256
 * bytes, less than a hundredth of a core to add them up, and often enough for the counters of all
 * GPUs.
 */
#define PERIOD_NS UINT64_C(100000)

/*
 * Counters that add up all EUs count fastest. Half of the time in which one of 32 bits comes
 * around, so that one late report is no harm.
 */
uint64_t zeta_intel_sampler_longest_ns(const struct zeta_plugin_device *device)
{
    const struct zeta_intel_tile *tile = zeta_intel_device_tile(device);
    const struct zeta_intel_rates rates =
        zeta_intel_rates(&tile->topology, tile->fastest_hz, tile->fastest_media_hz);

    return (uint64_t)(4294967296.0 / (double)rates.eus / 2 * 1e9);
}

/* What the user wants. False for a text that is no period; it is used as if nobody had set it. */
static bool read_setting(const struct zeta_intel *intel, char *out_text, size_t text_bytes,
                         uint64_t *out_period_ns)
{
    char *end = NULL;

    *out_period_ns = PERIOD_NS;
    if (!zeta_host_setting(intel->host, "query_period_ns", out_text, text_bytes))
        return true;
    errno = 0;
    const unsigned long long value = strtoull(out_text, &end, 10);
    if (errno != 0 || end == out_text || *end != '\0' || out_text[0] == '-' || value == 0)
        return false;
    *out_period_ns = value;
    return true;
}

static uint64_t wanted_period_ns(const struct zeta_intel *intel)
{
    char text[32];
    uint64_t period_ns;

    (void)read_setting(intel, text, sizeof(text), &period_ns);
    return period_ns;
}

void zeta_intel_sampler_check_setting(const struct zeta_intel *intel)
{
    char text[32];
    uint64_t period_ns;

    if (!read_setting(intel, text, sizeof(text), &period_ns))
        zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN,
                      "query_period_ns is \"%s\", which is no number of nanoseconds above 0; "
                      "queries use %llu",
                      text, (unsigned long long)period_ns);
}

/*
 * The largest exponent whose period is neither above the wanted one nor above the longest, but no
 * faster than the kernel lets this process, or everybody, have reports.
 */
uint32_t zeta_intel_sampler_exponent(const struct zeta_plugin_device *device,
                                     const struct zeta_intel_unit *unit, bool as_everybody)
{
    const struct zeta_intel_kmd *kmd = device->gpu->kmd;
    const uint64_t least_ns = kmd->min_period_ns ? kmd->min_period_ns(unit, as_everybody) : 0;
    const uint64_t longest_ns = zeta_intel_sampler_longest_ns(device);
    uint64_t period_ns = wanted_period_ns(device->gpu->intel);
    uint32_t exponent = 0;

    if (period_ns > longest_ns)
        period_ns = longest_ns;
    while (exponent < ZETA_INTEL_EXPONENTS - 1 && zeta_intel_period_ns(unit, exponent) < least_ns)
        exponent++;
    while (exponent < ZETA_INTEL_EXPONENTS - 1 &&
           zeta_intel_period_ns(unit, exponent + 1) <= period_ns)
        exponent++;
    return exponent;
}

bool zeta_intel_sampler_is_possible(const struct zeta_plugin_device *device,
                                    const struct zeta_intel_unit *unit)
{
    return zeta_intel_period_ns(unit, zeta_intel_sampler_exponent(device, unit, false)) <=
           zeta_intel_sampler_longest_ns(device);
}
