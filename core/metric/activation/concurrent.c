/* zetDeviceGetConcurrentMetricGroupsExp: which groups can be collected at the same time. */
#include <stdlib.h>
#include <string.h>

#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/activation/partition.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

struct sorting {
    const struct zeta_device *device;
    struct zeta_group_view *groups; /**< as the application gave them */
    uint32_t count;
    struct zeta_plugin_program_use *uses; /**< room for one question */
    struct zeta_unit_program *programs;   /**< of one tile after the other, one per group */
    uint32_t *class_of;
    uint32_t class_count;
};

static void sorting_finish(struct sorting *sorting)
{
    const uint32_t tiles = zeta_metrics_tile_count(sorting->device);

    for (uint32_t i = 0; sorting->programs && i < tiles * sorting->count; i++)
        zeta_unit_program_free(&sorting->programs[i]);
    for (uint32_t i = 0; sorting->groups && i < sorting->count; i++)
        zeta_group_view_release(&sorting->groups[i]);
    free(sorting->programs);
    free(sorting->uses);
    free(sorting->class_of);
    free(sorting->groups);
}

/** Asks the backend of one tile. What it does not know is possible. */
static bool backend_allows(const struct sorting *sorting, const uint32_t *members, uint32_t count,
                           uint32_t tile)
{
    const struct zeta_provider *provider =
        &zeta_metrics_tile(sorting->device, tile)->backend->providers[ZETA_GROUP_METRIC_STREAM];
    const struct zeta_plugin_array array = {
        .data = sorting->uses, .count = count, .stride = sizeof(*sorting->uses)};
    uint32_t possible = 1;

    if (!provider->backend)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_set *set = sorting->groups[members[i]].group->set;

        sorting->uses[i] = (struct zeta_plugin_program_use){
            .struct_size = sizeof(sorting->uses[i]),
            .unit = zeta_plugin_text(set->unit->name),
            .set = zeta_plugin_text(set->name),
            .entries = sorting->programs[tile * sorting->count + members[i]].array,
            .kind = set->query_of ? ZETA_PLUGIN_USE_QUERY : ZETA_PLUGIN_USE_STREAM,
        };
    }
    if (provider->backend->metric.concurrent(provider->backend->self, provider->device, &array,
                                             &possible) != ZETA_PLUGIN_SUCCESS)
        return true;
    return possible != 0;
}

static bool fit(void *context, const uint32_t *members, uint32_t count)
{
    const struct sorting *sorting = context;
    const uint32_t tiles = zeta_metrics_tile_count(sorting->device);

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct zeta_set *a = sorting->groups[members[i]].group->set;
            const struct zeta_set *b = sorting->groups[members[j]].group->set;

            /* A domain and a unit serve one group at a time. */
            if (a->domain == b->domain || strcmp(a->unit->name, b->unit->name) == 0)
                return false;
        }
    }
    for (uint32_t tile = 0; count > 1 && tile < tiles; tile++) {
        if (!backend_allows(sorting, members, count, tile))
            return false;
    }
    return true;
}

/** Groups of one domain, or of one unit, need a pass each. */
static uint32_t least_passes(const struct sorting *sorting)
{
    uint32_t least = 0;

    for (uint32_t i = 0; i < sorting->count; i++) {
        uint32_t same_domain = 0;
        uint32_t same_unit = 0;

        for (uint32_t j = 0; j < sorting->count; j++) {
            const struct zeta_metric_group *a = sorting->groups[i].group;
            const struct zeta_metric_group *b = sorting->groups[j].group;

            same_domain += a->set->domain == b->set->domain;
            same_unit += strcmp(a->set->unit->name, b->set->unit->name) == 0;
        }
        least = same_domain > least ? same_domain : least;
        least = same_unit > least ? same_unit : least;
    }
    return least;
}

static ze_result_t make_programs(struct sorting *sorting)
{
    const uint32_t tiles = zeta_metrics_tile_count(sorting->device);

    sorting->uses = calloc(sorting->count, sizeof(*sorting->uses));
    sorting->class_of = calloc(sorting->count, sizeof(*sorting->class_of));
    sorting->programs = calloc((size_t)tiles * sorting->count, sizeof(*sorting->programs));
    if (!sorting->uses || !sorting->class_of || !sorting->programs)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        for (uint32_t i = 0; i < sorting->count; i++) {
            const struct zeta_metric_group *group = sorting->groups[i].group;
            ze_result_t result =
                zeta_unit_program_make(group->compiled[tile < group->compiled_count ? tile : 0],
                                       &sorting->programs[tile * sorting->count + i]);

            if (result != ZE_RESULT_SUCCESS)
                return result;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/** Takes views of the groups. */
static ze_result_t view_groups(struct sorting *sorting, const zet_metric_group_handle_t *groups)
{
    sorting->groups = calloc(sorting->count, sizeof(*sorting->groups));
    if (!sorting->groups)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < sorting->count; i++) {
        ze_result_t result =
            zeta_group_view_acquire(groups[i], "zetDeviceGetConcurrentMetricGroupsExp",
                                    "phMetricGroups", &sorting->groups[i]);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    for (uint32_t i = 0; i < sorting->count; i++) {
        ze_result_t result =
            zeta_metric_group_check_device(sorting->groups[i].group, sorting->device);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetDeviceGetConcurrentMetricGroupsExp(
    zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, uint32_t *pMetricGroupsCountPerConcurrentGroup,
    uint32_t *pConcurrentGroupCount)
{
    ZETA_CLEANUP(sorting_finish)
    struct sorting sorting = {.device = (const struct zeta_device *)hDevice,
                              .count = metricGroupCount};
    struct zeta_partition_request request = {
        .count = metricGroupCount, .fits = fit, .context = &sorting};
    ze_result_t result;

    if (metricGroupCount == 0) {
        *pConcurrentGroupCount = 0;
        return ZE_RESULT_SUCCESS;
    }
    result = view_groups(&sorting, phMetricGroups);
    if (result == ZE_RESULT_SUCCESS)
        result = make_programs(&sorting);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    request.least = least_passes(&sorting);
    result = zeta_partition(&request, sorting.class_of, &sorting.class_count);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *pConcurrentGroupCount = sorting.class_count;
    /* The application's array is sorted by class; inside a class the order stays. */
    for (uint32_t wanted = 0, at = 0;
         pMetricGroupsCountPerConcurrentGroup && wanted < sorting.class_count; wanted++) {
        const uint32_t first = at;

        for (uint32_t i = 0; i < sorting.count; i++) {
            if (sorting.class_of[i] == wanted)
                phMetricGroups[at++] = (zet_metric_group_handle_t)sorting.groups[i].object;
        }
        pMetricGroupsCountPerConcurrentGroup[wanted] = at - first;
    }
    return ZE_RESULT_SUCCESS;
}
