/* Which periods a group can be sampled with: what its units have, and what its counters allow. */
#include <string.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/stream_priv.h"
#include "core/plugin/host.h"

uint64_t zeta_stream_longest_ns(const struct zeta_metric_group *group, uint32_t index)
{
    const uint64_t longest_ns = zeta_compiled_longest_ns(group->compiled[index]);

    return longest_ns != 0 && longest_ns < UINT32_MAX ? longest_ns : UINT32_MAX;
}

/** Asks one source's unit. A backend may have no period that is short enough: then no stream. */
static bool ask_unit(const struct zeta_provider *provider, const char *unit, uint64_t longest_ns,
                     struct zeta_plugin_limits *out_limits)
{
    const struct zeta_plugin_string name = {.data = unit, .size = strlen(unit)};

    *out_limits = (struct zeta_plugin_limits){.struct_size = sizeof(*out_limits),
                                              .max_period_ns = longest_ns};
    if (provider->backend->metric.limits(provider->backend->self, provider->device, name,
                                         out_limits) != ZETA_PLUGIN_SUCCESS)
        return false;
    if (out_limits->max_period_ns == 0 || out_limits->max_period_ns > longest_ns)
        out_limits->max_period_ns = longest_ns;
    return true;
}

void zeta_stream_periods(const struct zeta_device *device, const struct zeta_metric_group *group,
                         uint64_t *out_min_ns, uint64_t *out_max_ns)
{
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;

    for (uint32_t i = 0; i < group->compiled_count; i++) {
        struct zeta_plugin_limits limits;

        if (!ask_unit(zeta_stream_provider(device, i), group->set->unit->name,
                      zeta_stream_longest_ns(group, i), &limits))
            continue;
        if (limits.min_period_ns > min_ns)
            min_ns = limits.min_period_ns;
        if (max_ns == 0 || limits.max_period_ns < max_ns)
            max_ns = limits.max_period_ns;
    }
    *out_min_ns = min_ns;
    *out_max_ns = max_ns < min_ns ? min_ns : max_ns; /* what was recorded has its period */
}
