#include "core/metric/group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/* Making and discarding ------------------------------------------------------------------------ */

void zeta_copy_text(char *target, size_t size_bytes, const char *text)
{
    (void)snprintf(target, size_bytes, "%s", text ? text : "");
}

void zeta_metric_group_describe(const struct zeta_compiled *compiled,
                                zet_metric_group_sampling_type_flags_t sampling,
                                zet_metric_group_properties_t *out_properties)
{
    const struct zeta_set *set = zeta_compiled_set(compiled);

    zeta_copy_text(out_properties->name, sizeof(out_properties->name), set->name);
    zeta_copy_text(out_properties->description, sizeof(out_properties->description),
                   set->description);
    out_properties->samplingType = sampling;
    out_properties->domain = set->domain;
}

void zeta_metric_describe(const struct zeta_metric *metric, zet_metric_properties_t *out_properties)
{
    zeta_copy_text(out_properties->name, sizeof(out_properties->name), metric->name);
    zeta_copy_text(out_properties->description, sizeof(out_properties->description),
                   metric->description);
    zeta_copy_text(out_properties->component, sizeof(out_properties->component), metric->component);
    zeta_copy_text(out_properties->resultUnits, sizeof(out_properties->resultUnits), metric->unit);
    out_properties->tierNumber = metric->tier;
    out_properties->metricType = metric->type;
    out_properties->resultType = metric->value_type;
}

static void finish_metric(void *object)
{
    struct zeta_metric_entry *entry = object;
    struct zeta_user_part *part = (struct zeta_user_part *)entry->user;

    free((void *)(uintptr_t)entry->properties);
    if (part)
        part->finish(part);
}

static void finish_group(void *object)
{
    struct zeta_user_part *part =
        (struct zeta_user_part *)((struct zeta_metric_group *)object)->user;

    if (part)
        part->finish(part);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC, finish_metric)
ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_GROUP, finish_group)

static void discard_entries(struct zeta_metric_entry **entries, uint32_t count)
{
    for (uint32_t i = 0; entries && i < count; i++)
        zeta_object_discard(entries[i]);
    free(entries);
}

void zeta_metric_group_discard(struct zeta_metric_group *group)
{
    if (!group)
        return;
    free((void *)(uintptr_t)group->compiled);
    free((void *)(uintptr_t)group->origin);
    free((void *)(uintptr_t)group->properties);
    zeta_object_discard(group);
}

ze_result_t zeta_metric_entry_create(const struct zeta_metric *metric,
                                     struct zeta_metric_entry **out_entry)
{
    zet_metric_properties_t *properties = calloc(1, sizeof(*properties));
    struct zeta_metric_entry *entry;
    void *made = NULL;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (properties)
        result = zeta_object_create(ZETA_KIND_METRIC, sizeof(*entry), &made);
    if (result != ZE_RESULT_SUCCESS) {
        free(properties);
        return result;
    }
    zeta_metric_describe(metric, properties);
    entry = made;
    entry->metric = metric;
    entry->properties = properties;
    *out_entry = entry;
    return ZE_RESULT_SUCCESS;
}

uint32_t zeta_metric_group_metric_count(const struct zeta_metric_group *group)
{
    return group->user ? group->metric_count : zeta_compiled_metric_count(group->compiled[0]);
}

static ze_result_t make_entries(struct zeta_metric_group *group,
                                struct zeta_metric_entry ***out_entries)
{
    const uint32_t count = zeta_metric_group_metric_count(group);
    struct zeta_metric_entry **entries = calloc(count, sizeof(*entries));

    if (!entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_metric *metric = zeta_compiled_metric(group->compiled[0], i);
        ze_result_t result = zeta_metric_entry_create(metric, &entries[i]);

        if (result != ZE_RESULT_SUCCESS) {
            discard_entries(entries, i);
            return result;
        }
        entries[i]->group = group;
    }
    *out_entries = entries;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_metric_group_entries(struct zeta_metric_group *group,
                                      struct zeta_metric_entry ***out_entries)
{
    /* No lock, which a child of fork() could find taken: of two threads one made them in vain. */
    struct zeta_metric_entry **made = NULL;
    ze_result_t result;

    *out_entries = atomic_load(&group->entries);
    if (*out_entries || zeta_metric_group_metric_count(group) == 0)
        return ZE_RESULT_SUCCESS;
    result = make_entries(group, &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (atomic_compare_exchange_strong(&group->entries, out_entries, made))
        *out_entries = made;
    else
        discard_entries(made, zeta_metric_group_metric_count(group));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_metric_group_create(struct zeta_device_metrics *metrics,
                                     struct zeta_compiled *const *compiled,
                                     zet_metric_group_sampling_type_flags_t sampling,
                                     uint32_t source_id, struct zeta_metric_group **out_group)
{
    const struct zeta_set *set = zeta_compiled_set(compiled[0]);
    const uint32_t tiles = zeta_metrics_tile_count(metrics->device);
    const size_t compiled_bytes = tiles * sizeof(struct zeta_compiled *);
    const size_t origin_bytes = strlen(set->file) + sizeof(":4294967295");
    zet_metric_group_properties_t *properties = calloc(1, sizeof(*properties));
    struct zeta_compiled **copy = malloc(compiled_bytes);
    char *origin = malloc(origin_bytes);
    struct zeta_metric_group *group;
    void *made = NULL;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (properties && copy && origin)
        result = zeta_object_create(ZETA_KIND_METRIC_GROUP, sizeof(*group), &made);
    if (result != ZE_RESULT_SUCCESS) {
        free(properties);
        free(copy);
        free(origin);
        return result;
    }
    memcpy(copy, compiled, compiled_bytes);
    zeta_metric_group_describe(compiled[0], sampling, properties);
    (void)snprintf(origin, origin_bytes, "%s:%u", set->file, set->line);
    group = made;
    group->device = metrics->device;
    group->metrics = metrics;
    group->set = set;
    group->compiled = copy;
    group->compiled_count = tiles;
    group->source_id = source_id;
    group->closed = true;
    group->properties = properties;
    group->origin = origin;
    *out_group = group;
    return ZE_RESULT_SUCCESS;
}

bool zeta_metric_group_same(const struct zeta_metric_group *a, const struct zeta_metric_group *b)
{
    return a == b ||
           (!a->user && !b->user && a->properties->samplingType == b->properties->samplingType &&
            strcmp(a->properties->name, b->properties->name) == 0);
}

ze_result_t zeta_metric_group_check_device(const struct zeta_metric_group *group,
                                           const struct zeta_device *device)
{
    if (group->device == device)
        return ZE_RESULT_SUCCESS;
    return zeta_error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "group %s belongs to device %s, not to %s; enumerate the groups of the device "
        "that is to be measured",
        group->properties->name, group->device->backend->id, device->backend->id);
}

bool zeta_metric_group_takes_markers(const struct zeta_metric_group *group)
{
    const struct zeta_compiled *compiled = group->compiled[0];

    if (group->set->unit->marker_bits == 0)
        return false;
    if ((group->properties->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) == 0)
        return true;
    for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++) {
        if (strcmp(zeta_compiled_metric(compiled, i)->name, "StreamMarker") == 0)
            return true;
    }
    return false;
}

ze_result_t zeta_metric_group_passes(const struct zeta_metric_group *group,
                                     struct zeta_unit_passes *out_passes)
{
    struct zeta_unit_passes most = {.count = 1};

    /* A tracer runs no program. */
    if ((group->properties->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) ==
        0) {
        for (uint32_t i = 0; i < group->compiled_count && most.count > 0; i++) {
            struct zeta_unit_passes passes;
            ze_result_t result = zeta_unit_check_program(
                zeta_metrics_tile(group->device, i)->backend, group->compiled[i], &passes);

            if (result != ZE_RESULT_SUCCESS)
                return result;
            if (passes.count == 0 || passes.count > most.count)
                most = passes;
        }
    }
    *out_passes = most;
    return ZE_RESULT_SUCCESS;
}

/* Views ---------------------------------------------------------------------------------------- */

ze_result_t zeta_group_view_acquire(const void *handle, const char *function, const char *parameter,
                                    struct zeta_group_view *out_view)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)(uintptr_t)handle;
    struct zeta_device_metrics *root;

    *out_view = (struct zeta_group_view){0};
    if (!group->user) {
        out_view->object = group;
        out_view->group = group;
        return ZE_RESULT_SUCCESS;
    }
    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, parameter);
    root = zeta_metrics_root(group->metrics);
    (void)pthread_mutex_lock(&root->lock);
    group->views++;
    out_view->object = group;
    out_view->group = &out_view->copy;
    out_view->copy.device = group->device;
    out_view->copy.metrics = group->metrics;
    out_view->copy.properties = group->properties;
    out_view->copy.set = group->set;
    out_view->copy.origin = group->origin;
    out_view->copy.compiled = group->compiled;
    out_view->copy.compiled_count = group->compiled_count;
    out_view->copy.source_id = group->source_id;
    out_view->copy.user = group->user;
    (void)pthread_mutex_unlock(&root->lock);
    return ZE_RESULT_SUCCESS;
}

void zeta_group_view_release(struct zeta_group_view *view)
{
    struct zeta_metric_group *group = view->object;
    struct zeta_device_metrics *root;

    view->object = NULL;
    if (!group || !group->user)
        return;
    root = zeta_metrics_root(group->metrics);
    (void)pthread_mutex_lock(&root->lock);
    group->views--;
    (void)pthread_mutex_unlock(&root->lock);
    zeta_object_unpin(group);
}
