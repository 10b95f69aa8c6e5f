/* zetDeviceCreateMetricGroupsFromMetricsExp: as few groups as the counters of the units allow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/activation/partition.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/programmable/programmable.h"
#include "core/metric/programmable/user_group.h"
#include "core/metric/programmable/user_metric.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** What is packed: the metrics, each once. */
struct packing {
    const struct zeta_device *device;
    struct zeta_user_metric **metrics;
    uint32_t count;
    struct zeta_ingredient *ingredients;
    struct zeta_ingredient *room; /**< for one group */
    uint32_t *class_of;
    uint32_t class_count;
};

static void packing_finish(struct packing *packing)
{
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

/** Counters that the metrics of one source need together, on the tile where they need most. */
static uint32_t slots_needed(const struct packing *packing, uint32_t count)
{
    const uint32_t tiles = zeta_metrics_tile_count(packing->device);
    uint32_t most = 0;

    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint32_t needed = zeta_ingredients_slots(packing->room, count, tile);

        if (needed > most)
            most = needed;
    }
    return most;
}

/** Whether the metrics of one source find their counters on each tile. */
static bool fit_unit(const struct packing *packing, const struct zeta_unit *unit, uint32_t count)
{
    const uint32_t tiles = zeta_metrics_tile_count(packing->device);

    for (uint32_t tile = 0; tile < tiles; tile++) {
        if (!zeta_ingredients_fit(unit, packing->room, count, tile))
            return false;
    }
    return true;
}

static bool fit(void *context, const uint32_t *members, uint32_t count)
{
    struct packing *packing = context;
    const struct zeta_user_metric *first = packing->metrics[members[0]];

    for (uint32_t i = 0; i < count; i++) {
        if (!same_source(first, packing->metrics[members[i]]))
            return false;
        packing->room[i] = packing->ingredients[members[i]];
    }
    return fit_unit(packing, first->programmable->model->unit, count);
}

/** No solution has fewer groups: counters of each source by slots of its unit, rounded up. */
static uint32_t least_groups(const struct packing *packing)
{
    uint32_t least = 0;

    for (uint32_t i = 0; i < packing->count; i++) {
        const struct zeta_unit *unit = packing->metrics[i]->programmable->model->unit;
        const uint32_t slots = zeta_unit_slot_count(unit);
        uint32_t count = 0;
        bool first = true;

        for (uint32_t j = 0; j < packing->count; j++) {
            if (!same_source(packing->metrics[i], packing->metrics[j]))
                continue;
            first &= j >= i;
            packing->room[count++] = packing->ingredients[j];
        }
        if (first) {
            const uint32_t needed = slots_needed(packing, count);

            least += needed > slots && slots > 0 ? (needed + slots - 1) / slots : 1;
        }
    }
    return least;
}

/** Takes the metrics over, each once. They are pinned. */
static ze_result_t gather(struct packing *packing, struct zeta_metric_entry *const *entries,
                          uint32_t count)
{
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
                              metric->recipe.name, i, device->backend->id,
                              packing->device->backend->id);
        for (uint32_t j = 0; j < packing->count; j++)
            known |= packing->metrics[j] == metric;
        if (known)
            continue;
        packing->ingredients[packing->count] = (struct zeta_ingredient){
            &metric->recipe, zeta_user_metric_tile(packing->device, metric)};
        packing->metrics[packing->count++] = metric;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t pack(struct packing *packing)
{
    const struct zeta_partition_request request = {
        .count = packing->count, .least = least_groups(packing), .fits = fit, .context = packing};

    return zeta_partition(&request, packing->class_of, &packing->class_count);
}

/** Makes the group of one class, closed. */
static ze_result_t make_group(const struct packing *packing, struct zeta_device_metrics *metrics,
                              uint32_t index, const char *prefix, const char *description,
                              zet_metric_group_handle_t *out_group)
{
    ZETA_CLEANUP(zeta_freep)
    struct zeta_user_metric **members = calloc(packing->count, sizeof(struct zeta_user_metric *));
    struct zeta_user_group_request request = {
        .metrics = metrics, .description = description, .members = members};
    char name[ZET_MAX_METRIC_GROUP_NAME];

    if (!members)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < packing->count; i++) {
        if (packing->class_of[i] != index)
            continue;
        members[request.member_count++] = packing->metrics[i];
        request.sampling = packing->metrics[i]->programmable->sampling;
    }
    (void)snprintf(name, sizeof(name), "%s_%u", prefix, index + 1);
    request.name = name;
    return zeta_user_group_create(&request, out_group);
}

/** Makes the groups of all classes or none; out_groups is written at the end. */
static ze_result_t make_groups(const struct packing *packing, struct zeta_device_metrics *metrics,
                               const char *prefix, const char *description,
                               zet_metric_group_handle_t *out_groups)
{
    const size_t bytes = packing->class_count * sizeof(zet_metric_group_handle_t);
    ZETA_CLEANUP(zeta_freep) zet_metric_group_handle_t *groups = malloc(bytes);

    if (!groups)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < packing->class_count; i++) {
        ze_result_t result = make_group(packing, metrics, i, prefix, description, &groups[i]);

        if (result == ZE_RESULT_SUCCESS)
            continue;
        while (i > 0)
            (void)impl_zetMetricGroupDestroyExp(groups[--i]);
        return result;
    }
    memcpy(out_groups, groups, bytes);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_texts(const char *prefix, const char *description)
{
    if (strnlen(prefix, ZET_MAX_METRIC_GROUP_NAME_PREFIX_EXP) ==
        ZET_MAX_METRIC_GROUP_NAME_PREFIX_EXP)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "pMetricGroupNamePrefix is longer than %u bytes with its terminator",
                          ZET_MAX_METRIC_GROUP_NAME_PREFIX_EXP);
    if (strnlen(description, ZET_MAX_METRIC_GROUP_DESCRIPTION) == ZET_MAX_METRIC_GROUP_DESCRIPTION)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "pDescription is longer than %u bytes with its terminator",
                          ZET_MAX_METRIC_GROUP_DESCRIPTION);
    return ZE_RESULT_SUCCESS;
}

/** As the entry point; the metrics are pinned. */
static ze_result_t create_groups(struct zeta_device *device,
                                 struct zeta_metric_entry *const *entries, uint32_t metric_count,
                                 const char *prefix, const char *description, uint32_t *group_count,
                                 zet_metric_group_handle_t *groups)
{
    ZETA_CLEANUP(packing_finish) struct packing packing = {.device = device};
    struct zeta_device_metrics *metrics = zeta_device_metrics_get(device);
    ze_result_t result = gather(&packing, entries, metric_count);

    if (result == ZE_RESULT_SUCCESS && !metrics)
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_programmables_load(metrics);
    if (result == ZE_RESULT_SUCCESS)
        result = pack(&packing);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (*group_count == 0 || !groups) {
        *group_count = packing.class_count;
        return ZE_RESULT_SUCCESS;
    }
    if (*group_count < packing.class_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%u groups are needed, and there is room for %u handles",
                          packing.class_count, *group_count);
    result = make_groups(&packing, metrics, prefix, description, groups);
    if (result == ZE_RESULT_SUCCESS)
        *group_count = packing.class_count;
    return result;
}

ze_result_t ZE_APICALL impl_zetDeviceCreateMetricGroupsFromMetricsExp(
    zet_device_handle_t hDevice, uint32_t metricCount, zet_metric_handle_t *phMetrics,
    const char *pMetricGroupNamePrefix, const char *pDescription, uint32_t *pMetricGroupCount,
    zet_metric_group_handle_t *phMetricGroup)
{
    struct zeta_metric_entry *const *entries = (struct zeta_metric_entry *const *)phMetrics;
    ze_result_t result = check_texts(pMetricGroupNamePrefix, pDescription);
    uint32_t pinned = 0;

    if (result == ZE_RESULT_SUCCESS && metricCount == 0)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "metricCount is 0: a group needs a metric");
    while (result == ZE_RESULT_SUCCESS && pinned < metricCount) {
        if (zeta_object_pin(entries[pinned], ZETA_KIND_METRIC))
            pinned++;
        else
            result = zeta_object_explain(entries[pinned], ZETA_KIND_METRIC,
                                         "zetDeviceCreateMetricGroupsFromMetricsExp", "phMetrics");
    }
    if (result == ZE_RESULT_SUCCESS)
        result =
            create_groups((struct zeta_device *)hDevice, entries, metricCount,
                          pMetricGroupNamePrefix, pDescription, pMetricGroupCount, phMetricGroup);
    while (pinned > 0)
        zeta_object_unpin(entries[--pinned]);
    return result;
}
