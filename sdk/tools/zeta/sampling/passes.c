#include "sdk/tools/zeta/sampling/passes.h"

#include <string.h>

#include "sdk/tools/zeta/output/message.h"

/* Moves the entries into the order of their handles. */
static void reorder(struct zeta_group_entry **groups, const zet_metric_group_handle_t *handles,
                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        while (at + 1 < count && groups[at]->group != handles[i])
            at++;
        for (; at > i; at--) {
            struct zeta_group_entry *entry = groups[at];

            groups[at] = groups[at - 1];
            groups[at - 1] = entry;
        }
    }
}

int zeta_passes_plan(const struct zeta_device_entry *device, struct zeta_group_entry **groups,
                     uint32_t count, struct zeta_passes *out_passes)
{
    zet_metric_group_handle_t handles[ZETA_PASSES_MAX];
    ze_result_t result = ZE_RESULT_SUCCESS;

    *out_passes = (struct zeta_passes){0};
    for (uint32_t i = 0; i < count; i++)
        handles[i] = groups[i]->group;
    result = zetDeviceGetConcurrentMetricGroupsExp(device->device, count, handles,
                                                   out_passes->counts, &out_passes->count);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot find out which groups of %s go together",
                                  device->properties.name);
    reorder(groups, handles, count);
    return ZETA_EXIT_OK;
}

int zeta_passes_refuse(const struct zeta_device_entry *device,
                       struct zeta_group_entry *const *groups, const struct zeta_passes *passes)
{
    const struct zeta_group_entry *late = groups[passes->counts[0]];

    for (uint32_t i = 0; i < passes->counts[0]; i++) {
        const struct zeta_group_entry *other = groups[i];

        if (other->properties.domain == late->properties.domain)
            return zeta_print_failure(
                "%s and %s are both of domain %u and use the same counters, so they cannot be "
                "sampled together; run the program once for each with --replay-passes, or choose "
                "groups of different domains ('zeta groups' lists them)",
                other->properties.name, late->properties.name, late->properties.domain);
    }
    return zeta_print_failure("%s cannot count %s together with the other groups; with "
                              "--replay-passes the program is run %u times",
                              device->properties.name, late->properties.name, passes->count);
}
