#include "sdk/tools/zeta/inventory/group_choice.h"

#include <stdio.h>

#include "sdk/tools/zeta/inventory/more_groups.h"
#include "sdk/tools/zeta/output/message.h"

static int refuse_unknown(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *name)
{
    if (zeta_group_list_find(list, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED))
        return zeta_print_failure("group '%s' is of events, which are not sampled over time; "
                                  "'zeta record -e %s' keeps them",
                                  name, name);
    if (list->count == 0)
        return zeta_print_failure("%s has no metric groups; zeta doctor says why",
                                  device->properties.name);
    (void)zeta_print_failure("%s has no group '%s' that can be sampled over time; it has:",
                             device->properties.name, name);
    for (uint32_t i = 0; i < list->count; i++) {
        const zet_metric_group_properties_t *group = &list->entries[i].properties;

        if (group->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            (void)fprintf(stderr, "  %s (domain %u)\n", group->name, group->domain);
    }
    zeta_more_groups_print(device, stderr);
    return ZETA_EXIT_FAILED;
}

/* Groups of one domain need the same counters of the device, so only one of them can be counted. */
static int check_domains(struct zeta_group_entry *const *groups, uint32_t count,
                         const struct zeta_group_entry *group)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_group_entry *other = groups[i];

        if (other->properties.domain == group->properties.domain)
            return zeta_print_failure(
                "%s and %s are both of domain %u and use the same counters, so "
                "they cannot be sampled together; sample them in two runs, or "
                "choose groups of different domains ('zeta groups' lists them)",
                other->properties.name, group->properties.name, group->properties.domain);
    }
    return ZETA_EXIT_OK;
}

int zeta_group_choose_any(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *const *names,
                          uint32_t count, struct zeta_group_entry **out_groups)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
        out_groups[i] =
            zeta_group_list_find(list, names[i], ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
        if (!out_groups[i])
            return refuse_unknown(list, device, names[i]);
        status = zeta_group_entry_load_metrics(out_groups[i]);
    }
    return status;
}

int zeta_group_choose(const struct zeta_group_list *list, const struct zeta_device_entry *device,
                      const char *const *names, uint32_t count,
                      struct zeta_group_entry **out_groups)
{
    int status = zeta_group_choose_any(list, device, names, count, out_groups);

    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++)
        status = check_domains(out_groups, i, out_groups[i]);
    return status;
}
