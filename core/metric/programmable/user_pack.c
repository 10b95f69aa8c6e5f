/* zetDeviceCreateMetricGroupsFromMetricsExp: as few groups as the counters of the units allow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/activation/partition.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/programmable/programmable.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** What is packed: the metrics, each once. */
struct packing {
    const struct zeta_device *device;
    struct zeta_metric_entry *const *entries; /**< as the application gave them */
    uint32_t pinned;                          /**< of these */
    struct zeta_user_metric **metrics;
    uint32_t count;
    struct zeta_ingredient *ingredients;
    struct zeta_ingredient *room; /**< for one group */
    uint32_t *class_of;
    uint32_t class_count;
};

static void packing_finish(struct packing *packing)
{
    while (packing->pinned > 0)
        zeta_object_unpin(packing->entries[--packing->pinned]);
    free(packing->metrics);
    free(packing->ingredients);
    free(packing->room);
    free(packing->class_of);
}

static bool same_source(const struct zeta_user_metric *a, const struct zeta_user_metric *b)
{
    return a->programmable->sampling == b->programmable->sampling &&
           strcmp(a->programmable->model->unit_name, b->programmable->model->unit_name) == 0 &&
           strcmp(a->programmable->model->layout_name, b->programmable->model->layout_name) == 0;
}

/** True if the metrics are of one source and find their counters on each tile. */
static bool fit(void *context, const uint32_t *members, uint32_t count)
{
    struct packing *packing = context;
    const struct zeta_user_metric *first = packing->metrics[members[0]];

    for (uint32_t i = 0; i < count; i++) {
        if (!same_source(first, packing->metrics[members[i]]))
            return false;
        packing->room[i] = packing->ingredients[members[i]];
    }
    for (uint32_t tile = 0; tile < zeta_metrics_tile_count(packing->device); tile++) {
        if (!zeta_ingredients_fit(first->programmable->model->unit, packing->room, count, tile))
            return false;
    }
    return true;
}

/** No solution has fewer groups: counters of each source by slots of its unit, rounded up. */
static uint32_t least_groups(const struct packing *packing)
{
    uint32_t least = 0;

    for (uint32_t i = 0; i < packing->count; i++) {
        const struct zeta_unit *unit = packing->metrics[i]->programmable->model->unit;
        const uint32_t slots = zeta_unit_slot_count(unit);
        uint32_t count = 0;
        uint32_t most = 0; /* on the tile where they need most */
        bool first = true;

        for (uint32_t j = 0; j < packing->count; j++) {
            if (!same_source(packing->metrics[i], packing->metrics[j]))
                continue;
            first &= j >= i;
            packing->room[count++] = packing->ingredients[j];
        }
        for (uint32_t tile = 0; first && tile < zeta_metrics_tile_count(packing->device); tile++) {
            const uint32_t needed = zeta_ingredients_slots(packing->room, count, tile);

            most = needed > most ? needed : most;
        }
        if (first)
            least += most > slots && slots > 0 ? (most + slots - 1) / slots : 1;
    }
    return least;
}

/** Pins the metrics, and takes each over once. */
static ze_result_t gather(struct packing *packing, uint32_t count)
{
    struct zeta_metric_entry *const *entries = packing->entries;

    for (; packing->pinned < count; packing->pinned++) {
        if (!zeta_object_pin(entries[packing->pinned], ZETA_KIND_METRIC))
            return zeta_object_explain(entries[packing->pinned], ZETA_KIND_METRIC,
                                       "zetDeviceCreateMetricGroupsFromMetricsExp", "phMetrics");
    }
    packing->metrics = calloc(count, sizeof(struct zeta_user_metric *));
    packing->ingredients = calloc(count, sizeof(*packing->ingredients));
    packing->room = calloc(count, sizeof(*packing->room));
    packing->class_of = calloc(count, sizeof(*packing->class_of));
    if (!packing->metrics || !packing->ingredients || !packing->room || !packing->class_of)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_user_metric *metric = entries[i]->user;
        const struct zeta_device *device;
        bool known = false;

        if (!metric)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "metric %s at position %u belongs to %s; only metrics made of "
                              "programmables can be put into groups",
                              entries[i]->properties->name, i, zeta_metric_entry_owner(entries[i]));
        device = metric->programmable->device;
        if (device != packing->device && device->parent != packing->device)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "metric %s at position %u was made for device %s, not for %s",
                              metric->recipe.metric.name, i, device->backend->id,
                              packing->device->backend->id);
        for (uint32_t j = 0; j < packing->count; j++)
            known |= packing->metrics[j] == metric;
        if (known)
            continue;
        packing->ingredients[packing->count] = zeta_user_metric_ingredient(packing->device, metric);
        packing->metrics[packing->count++] = metric;
    }
    return ZE_RESULT_SUCCESS;
}

/** Makes the groups of all classes, closed, or none; out_groups is written at the end. */
static ze_result_t make_groups(const struct packing *packing, struct zeta_device_metrics *metrics,
                               const char *prefix, const char *description,
                               zet_metric_group_handle_t *out_groups)
{
    const size_t bytes = packing->class_count * sizeof(zet_metric_group_handle_t);
    ZETA_CLEANUP(zeta_freep) zet_metric_group_handle_t *groups = malloc(bytes);
    ZETA_CLEANUP(zeta_freep)
    struct zeta_user_metric **members = calloc(packing->count, sizeof(struct zeta_user_metric *));
    uint32_t made = 0;

    if (!groups || !members)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (; made < packing->class_count; made++) {
        char name[ZET_MAX_METRIC_GROUP_NAME];
        struct zeta_user_group_request request = {
            .metrics = metrics, .name = name, .description = description, .members = members};
        ze_result_t result;

        for (uint32_t i = 0; i < packing->count; i++) {
            if (packing->class_of[i] == made) {
                members[request.member_count++] = packing->metrics[i];
                request.sampling = packing->metrics[i]->programmable->sampling;
            }
        }
        (void)snprintf(name, sizeof(name), "%s_%u", prefix, made + 1);
        result = zeta_user_group_create(&request, &groups[made]);
        if (result == ZE_RESULT_SUCCESS)
            continue;
        while (made > 0) {
            void *group = groups[--made];

            zeta_object_pin_more(group); /* nobody else knows it */
            (void)impl_zetMetricGroupDestroyExp(group);
            zeta_object_unpin(group);
        }
        return result;
    }
    memcpy(out_groups, groups, bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetDeviceCreateMetricGroupsFromMetricsExp(
    zet_device_handle_t hDevice, uint32_t metricCount, zet_metric_handle_t *phMetrics,
    const char *pMetricGroupNamePrefix, const char *pDescription, uint32_t *pMetricGroupCount,
    zet_metric_group_handle_t *phMetricGroup)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_device_metrics *metrics = zeta_device_metrics_get(device);
    ZETA_CLEANUP(packing_finish)
    struct packing packing = {.device = device,
                              .entries = (struct zeta_metric_entry *const *)phMetrics};
    struct zeta_partition_request request = {.fits = fit, .context = &packing};
    ze_result_t result = zeta_check_text(pMetricGroupNamePrefix, "pMetricGroupNamePrefix",
                                         ZET_MAX_METRIC_GROUP_NAME_PREFIX_EXP);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_check_text(pDescription, "pDescription", ZET_MAX_METRIC_GROUP_DESCRIPTION);
    if (result == ZE_RESULT_SUCCESS && metricCount == 0)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "metricCount is 0: a group needs a metric");
    if (result == ZE_RESULT_SUCCESS)
        result = gather(&packing, metricCount);
    if (result == ZE_RESULT_SUCCESS)
        result = metrics ? zeta_programmables_load(metrics) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    request.count = packing.count;
    request.least = least_groups(&packing);
    result = zeta_partition(&request, packing.class_of, &packing.class_count);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (*pMetricGroupCount > 0 && phMetricGroup) {
        if (*pMetricGroupCount < packing.class_count)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "%u groups are needed, and there is room for %u handles",
                              packing.class_count, *pMetricGroupCount);
        result =
            make_groups(&packing, metrics, pMetricGroupNamePrefix, pDescription, phMetricGroup);
    }
    if (result == ZE_RESULT_SUCCESS)
        *pMetricGroupCount = packing.class_count;
    return result;
}
