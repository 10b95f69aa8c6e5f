/*
 * zetDeviceCreateMetricGroupsFromMetricsExp: as few groups as the counters of the units and the
 * passes of the backend allow.
 *
 * Slots are counted here, which costs next to nothing. Only if one of the groups found by them
 * needs more than one pass, the metrics are packed again with a question to the backend for each
 * attempt: such a question may take milliseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/metric/activation/partition.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/programmable/programmable.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** Questions to backends in search of fewer groups than "first one that fits" gives. */
#define PASS_BUDGET 100u

/** What is packed: the metrics, each once. */
struct packing {
    const struct zeta_device *device;
    const struct zeta_device_metrics *metrics_of_device;
    struct zeta_metric_entry *const *entries; /**< as the application gave them */
    uint32_t pinned;                          /**< of these */
    struct zeta_user_metric **metrics;
    uint32_t count;
    struct zeta_ingredient *ingredients;
    struct zeta_ingredient *room; /**< for one group */
    uint32_t *class_of;
    uint32_t class_count;
    bool asks;          /**< fit() asks the backend, too */
    ze_result_t asking; /**< how that went */
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

/**
 * Asks the backends of all tiles in how many passes they would count some metrics of one source:
 * the most of them, or 0 where one never could. Errors: those of zeta_user_set_make().
 */
static ze_result_t ask_passes(const struct packing *packing, const uint32_t *members,
                              uint32_t count, struct zeta_unit_passes *out_passes)
{
    const struct zeta_metric_programmable *first = packing->metrics[members[0]]->programmable;
    struct zeta_unit_passes most = {.count = 1};

    for (uint32_t i = 0; i < count; i++)
        packing->room[i] = packing->ingredients[members[i]];
    for (uint32_t tile = 0; tile < zeta_metrics_tile_count(packing->device); tile++) {
        const struct zeta_user_set_request request = {.name = "of these metrics",
                                                      .description = "",
                                                      .sampling = first->sampling,
                                                      .ingredients = packing->room,
                                                      .count = count,
                                                      .tile = tile};
        struct zeta_unit_passes passes;
        struct zeta_recipe_set set;
        struct zeta_compiled *compiled = NULL;
        ze_result_t result =
            zeta_user_set_make(packing->metrics_of_device, first->model, &request, &set, &compiled);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        result = zeta_unit_check_program(zeta_metrics_tile(packing->device, tile)->backend,
                                         compiled, &passes);
        zeta_compiled_destroy(compiled);
        zeta_recipe_set_finish(&set);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (passes.count == 0 || (most.count > 0 && passes.count > most.count))
            most = passes;
    }
    *out_passes = most;
    return ZE_RESULT_SUCCESS;
}

/** True if the metrics are of one source and find their counters on each tile. */
static bool fit(void *context, const uint32_t *members, uint32_t count)
{
    struct packing *packing = context;
    const struct zeta_user_metric *first = packing->metrics[members[0]];
    struct zeta_unit_passes passes = {.count = 0};

    for (uint32_t i = 0; i < count; i++) {
        if (!same_source(first, packing->metrics[members[i]]))
            return false;
        packing->room[i] = packing->ingredients[members[i]];
    }
    for (uint32_t tile = 0; tile < zeta_metrics_tile_count(packing->device); tile++) {
        if (!zeta_ingredients_fit(first->programmable->model->unit, packing->room, count, tile))
            return false;
    }
    if (!packing->asks)
        return true;
    if (packing->asking == ZE_RESULT_SUCCESS)
        packing->asking = ask_passes(packing, members, count, &passes);
    return passes.count == 1;
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

/** True in *out_possible if each class is counted in one pass. */
static ze_result_t check_classes(const struct packing *packing, bool *out_possible)
{
    ZETA_CLEANUP(zeta_freep) uint32_t *members = calloc(packing->count, sizeof(*members));

    *out_possible = true;
    if (!members)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t wanted = 0; *out_possible && wanted < packing->class_count; wanted++) {
        struct zeta_unit_passes passes;
        uint32_t count = 0;
        ze_result_t result;

        for (uint32_t i = 0; i < packing->count; i++) {
            if (packing->class_of[i] == wanted)
                members[count++] = i;
        }
        result = ask_passes(packing, members, count, &passes);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        *out_possible = passes.count == 1;
    }
    return ZE_RESULT_SUCCESS;
}

/** INVALID_ARGUMENT with a sentence if a metric cannot even be counted alone. */
static ze_result_t check_alone(const struct packing *packing)
{
    for (uint32_t i = 0; i < packing->count; i++) {
        struct zeta_unit_passes passes;
        ze_result_t result = ask_passes(packing, &i, 1, &passes);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (passes.count == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "metric %s cannot be counted on device %s: %s",
                              packing->metrics[i]->recipe.metric.name, packing->device->backend->id,
                              passes.reason);
        if (passes.count > 1)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "metric %s needs %u passes on device %s, and a group has one: %s",
                              packing->metrics[i]->recipe.metric.name, passes.count,
                              packing->device->backend->id, passes.reason);
    }
    return ZE_RESULT_SUCCESS;
}

/** Sorts the metrics into classes that are groups. */
static ze_result_t pack(struct packing *packing)
{
    struct zeta_partition_request request = {
        .count = packing->count, .least = least_groups(packing), .fits = fit, .context = packing};
    bool possible = false;
    ze_result_t result = zeta_partition(&request, packing->class_of, &packing->class_count);

    if (result == ZE_RESULT_SUCCESS)
        result = check_classes(packing, &possible);
    if (result != ZE_RESULT_SUCCESS || possible)
        return result;
    result = check_alone(packing);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    packing->asks = true;
    request.budget = PASS_BUDGET;
    result = zeta_partition(&request, packing->class_of, &packing->class_count);
    return result == ZE_RESULT_SUCCESS ? packing->asking : result;
}

/** Makes the groups of all classes, closed, or none; out_groups is written at the end. */
static ze_result_t make_groups(const struct packing *packing, struct zeta_device_metrics *metrics,
                               const char *prefix, const char *description,
                               zet_metric_group_handle_t *out_groups)
{
    ZETA_CLEANUP(zeta_freep)
    zet_metric_group_handle_t *groups =
        calloc(packing->class_count, sizeof(zet_metric_group_handle_t));
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
    memcpy(out_groups, groups, packing->class_count * sizeof(*groups));
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
                              .metrics_of_device = metrics,
                              .entries = (struct zeta_metric_entry *const *)phMetrics};
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
    if (result == ZE_RESULT_SUCCESS)
        result = pack(&packing);
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
