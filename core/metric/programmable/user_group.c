/* Groups that an application made of metrics of programmables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/programmable/programmable.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

struct zeta_ingredient zeta_user_metric_ingredient(const struct zeta_device *device,
                                                   const struct zeta_user_metric *metric)
{
    uint32_t tile = device->tile_count > 0 ? metric->recipe.tile : ZETA_RECIPE_ALL_TILES;

    for (uint32_t i = 0; i < device->tile_count; i++) {
        if (metric->programmable->device == device->tiles[i])
            tile = i;
    }
    return (struct zeta_ingredient){&metric->recipe, tile};
}

/* Checking ------------------------------------------------------------------------------------- */

/** A metric that is not like the group, or not like its first metric. */
static ze_result_t check_member(const struct zeta_metric_group *group,
                                const struct zeta_user_metric *metric,
                                const struct zeta_user_metric *first)
{
    const struct zeta_metric_programmable *programmable = metric->programmable;
    const struct zeta_programmable *model = programmable->model;
    const struct zeta_device *device = group->device;

    if (programmable->device != device && programmable->device->parent != device)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "metric %s was made for device %s, group %s is of device %s",
                          metric->recipe.metric.name, programmable->device->backend->id,
                          group->properties->name, device->backend->id);
    if (programmable->sampling != group->properties->samplingType)
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "metric %s is sampled by %s, group %s is not; make it of the programmable "
            "%s of the other sampling type",
            metric->recipe.metric.name,
            programmable->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED ? "time"
                                                                                     : "event",
            group->properties->name, model->name);
    if (strcmp(first->programmable->model->unit_name, model->unit_name) != 0 ||
        strcmp(first->programmable->model->layout_name, model->layout_name) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "metric %s is counted by source %s, metric %s by source %s; metrics of "
                          "several sources cannot share a group",
                          metric->recipe.metric.name, model->unit_name, first->recipe.metric.name,
                          first->programmable->model->unit_name);
    return ZE_RESULT_SUCCESS;
}

/** The members fit the group and each other, and each tile has the counters that they need. */
static ze_result_t check_members(const struct zeta_user_group *user,
                                 const struct zeta_ingredient *ingredients)
{
    const struct zeta_metric_group *group = user->group;
    const uint32_t count = user->member_count;

    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result = check_member(group, user->members[i], user->members[0]);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    for (uint32_t tile = 0; count > 0 && tile < zeta_metrics_tile_count(group->device); tile++) {
        const uint32_t needed = zeta_ingredients_slots(ingredients, count, tile);
        const struct zeta_unit *unit = user->members[0]->programmable->model->unit;

        if (needed > zeta_unit_slot_count(unit))
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "group %s would need %u counters of unit %s, which has %u; put some "
                              "of its metrics into another group",
                              group->properties->name, needed, unit->name,
                              zeta_unit_slot_count(unit));
        if (!zeta_ingredients_fit(unit, ingredients, count, tile))
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "group %s would need more counters of one kind than unit %s has; put "
                              "some of its metrics into another group",
                              group->properties->name, unit->name);
    }
    return ZE_RESULT_SUCCESS;
}

/* Versions ------------------------------------------------------------------------------------- */

static void free_version(struct zeta_user_version *version)
{
    for (uint32_t i = 0; i < version->count; i++) {
        zeta_compiled_destroy(version->compiled[i]);
        zeta_recipe_set_finish(&version->sets[i]);
    }
    for (uint32_t i = 0; i < version->member_count; i++)
        zeta_object_unpin(version->members[i]);
    free(version->members);
    free(version->compiled);
    free(version->sets);
    free(version->entries);
    free(version);
}

ze_result_t zeta_user_set_make(const struct zeta_device_metrics *metrics,
                               const struct zeta_programmable *model,
                               const struct zeta_user_set_request *request,
                               struct zeta_recipe_set *out_set, struct zeta_compiled **out_compiled)
{
    const struct zeta_device_sets *sets = zeta_metrics_sets(metrics, request->tile);
    const struct zeta_recipe_set_request recipes = {
        .catalog = sets->catalog,
        .name = request->name,
        .description = request->description,
        .unit_name = model->unit_name,
        .layout_name = model->layout_name,
        .domain = model->domain,
        .sampling = request->sampling,
        .file = model->file,
        .line = model->line,
        .ingredients = request->ingredients,
        .count = request->count,
        .tile = request->tile,
    };
    struct zeta_diagnostics sink = {0};
    ze_result_t result = zeta_recipe_set_init(out_set, &recipes, &sink);

    if (result == ZE_RESULT_SUCCESS)
        result = (request->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED
                      ? zeta_set_compile_query
                      : zeta_set_compile)(sets->catalog, &out_set->set, &sets->lookup, &sink,
                                          out_compiled);
    if (result == ZE_RESULT_SUCCESS)
        return ZE_RESULT_SUCCESS;
    zeta_recipe_set_finish(out_set);
    return result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
               ? result
               : zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "group %s: %s", request->name,
                            sink.first_error);
}

static ze_result_t make_version(const struct zeta_user_group *user,
                                struct zeta_user_version **out_version)
{
    const struct zeta_device_metrics *metrics = user->group->metrics;
    const uint32_t tiles = zeta_metrics_tile_count(metrics->device);
    const size_t count = user->member_count;
    ZETA_CLEANUP(zeta_freep)
    struct zeta_ingredient *ingredients = calloc(count + 1, sizeof(*ingredients));
    struct zeta_user_version *version = calloc(1, sizeof(*version));
    const struct zeta_programmable *model;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t any = 0;

    if (!ingredients || !version)
        goto discard;
    for (uint32_t i = 0; i < count; i++)
        ingredients[i] = zeta_user_metric_ingredient(metrics->device, user->members[i]);
    result = check_members(user, ingredients);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    version->sets = calloc(tiles, sizeof(*version->sets));
    version->compiled = calloc(tiles, sizeof(struct zeta_compiled *));
    version->members = calloc(count + 1, sizeof(struct zeta_metric_entry *));
    if (!version->sets || !version->compiled || !version->members)
        goto discard;
    /* The metrics that the sets are made of may be destroyed before the version. */
    for (; version->member_count < count; version->member_count++) {
        version->members[version->member_count] = user->members[version->member_count]->entry;
        zeta_object_pin_more(version->members[version->member_count]);
    }
    /* A group without members has the unit and layout of any programmable of its sampling type. */
    while (any + 1 < metrics->programmable_count &&
           metrics->programmables[any]->sampling != user->properties.samplingType)
        any++;
    model = (count > 0 ? user->members[0]->programmable : metrics->programmables[any])->model;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const struct zeta_user_set_request request = {.name = user->properties.name,
                                                      .description = user->properties.description,
                                                      .sampling = user->properties.samplingType,
                                                      .ingredients = ingredients,
                                                      .count = user->member_count,
                                                      .tile = tile};

        result = zeta_user_set_make(metrics, model, &request, &version->sets[tile],
                                    &version->compiled[tile]);
        if (result != ZE_RESULT_SUCCESS)
            goto discard;
        version->count = tile + 1;
        if (zeta_compiled_metric_count(version->compiled[tile]) !=
            zeta_compiled_metric_count(version->compiled[0])) {
            result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                "group %s: tiles 0 and %u of device %s have different metrics",
                                user->properties.name, tile, metrics->device->backend->id);
            goto discard;
        }
    }
    *out_version = version;
    return ZE_RESULT_SUCCESS;

discard:
    if (version)
        free_version(version);
    return result;
}

/** The metric that every set has, as an object of the group: made once. NULL without memory. */
static struct zeta_metric_entry *find_other(struct zeta_user_group *user,
                                            const struct zeta_metric *metric)
{
    struct zeta_metric_entry **others;
    struct zeta_metric_entry *entry = NULL;

    for (uint32_t i = 0; i < user->other_count; i++) {
        if (strcmp(user->others[i]->metric->name, metric->name) == 0 &&
            strcmp(user->others[i]->metric->description, metric->description) == 0)
            return user->others[i];
    }
    others = realloc(user->others, (user->other_count + 1) * sizeof(struct zeta_metric_entry *));
    if (!others)
        return NULL;
    user->others = others;
    if (zeta_metric_entry_create(metric, &entry) != ZE_RESULT_SUCCESS)
        return NULL;
    entry->group = user->group;
    others[user->other_count++] = entry;
    return entry;
}

/** Shows members only, or all metrics of the present version. */
static ze_result_t show_locked(struct zeta_user_group *user, bool all)
{
    struct zeta_user_version *version = user->versions;
    const struct zeta_compiled *compiled = version->compiled[0];
    const uint32_t total = zeta_compiled_metric_count(compiled);
    const uint32_t count = all ? total : user->member_count;
    struct zeta_metric_entry **entries = calloc((size_t)total + 1, sizeof(*entries));

    if (!entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = i < user->member_count ? user->members[i]->entry
                                            : find_other(user, zeta_compiled_metric(compiled, i));
        if (!entries[i]) {
            free(entries);
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    free(version->entries);
    version->entries = entries;
    version->entry_count = count;
    user->group->entries = entries;
    user->group->metric_count = count;
    user->properties.metricCount = count;
    return ZE_RESULT_SUCCESS;
}

/**
 * Makes a version of a group's present members and lets the group have it. Errors:
 * INVALID_ARGUMENT with a sentence if the metrics do not fit together, OUT_OF_HOST_MEMORY; the
 * group is unchanged then.
 */
static ze_result_t renew_locked(struct zeta_user_group *user)
{
    struct zeta_metric_group *group = user->group;
    struct zeta_user_version *before = user->versions;
    struct zeta_user_version *version = NULL;
    ze_result_t result = make_version(user, &version);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    version->older = before;
    user->versions = version;
    /* Its programmables have the unit, so it has a number. */
    result = zeta_metrics_number_unit(
        group->metrics, zeta_compiled_set(version->compiled[0])->unit->name, &group->source_id);
    if (result == ZE_RESULT_SUCCESS)
        result = show_locked(user, false);
    if (result != ZE_RESULT_SUCCESS) {
        user->versions = before;
        free_version(version);
        return result;
    }
    group->set = zeta_compiled_set(version->compiled[0]);
    group->compiled = version->compiled;
    group->compiled_count = version->count;
    user->properties.domain = group->set->domain;
    /* Calls with a view of it keep it until the group ends. */
    if (before && !before->was_closed && user->group->views == 0) {
        version->older = before->older;
        free_version(before);
    }
    return ZE_RESULT_SUCCESS;
}

/* Members -------------------------------------------------------------------------------------- */

/** Frees a group whose last reference is gone. */
static void finish_group(struct zeta_user_part *part)
{
    struct zeta_user_group *user = (struct zeta_user_group *)part;

    for (uint32_t i = 0; i < user->other_count; i++)
        zeta_object_discard(user->others[i]);
    free(user->others);
    while (user->versions) {
        struct zeta_user_version *version = user->versions;

        user->versions = version->older;
        free_version(version);
    }
    free(user->members);
    free(user);
}

ze_result_t zeta_check_text(const char *text, const char *parameter, size_t limit_bytes)
{
    if (strnlen(text, limit_bytes) < limit_bytes)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%s is longer than %zu bytes with its terminator", parameter, limit_bytes);
}

/** Pools count with the program that the group had when they were made. */
static ze_result_t check_pools_locked(const struct zeta_metric_group *group)
{
    if (!zeta_group_has_pool_locked(group))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                      "a query pool of group %s exists; destroy it before the group is changed",
                      group->properties->name);
}

static uint32_t find_member(const struct zeta_user_group *user,
                            const struct zeta_user_metric *metric)
{
    uint32_t index = 0;

    while (index < user->member_count && user->members[index] != metric)
        index++;
    return index;
}

static ze_result_t push_member(struct zeta_user_group *user, struct zeta_user_metric *metric)
{
    struct zeta_user_metric **members = realloc(
        user->members, ((size_t)user->member_count + 1) * sizeof(struct zeta_user_metric *));

    if (!members)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    user->members = members;
    user->members[user->member_count++] = metric;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t close_locked(struct zeta_user_group *user)
{
    ze_result_t result;

    if (user->group->closed)
        return ZE_RESULT_SUCCESS;
    user->versions->was_closed = true; /* before objects refer to its metrics */
    result = show_locked(user, true);
    user->group->closed = result == ZE_RESULT_SUCCESS;
    return result;
}

/* Changing ------------------------------------------------------------------------------------- */

/**
 * Begins a change of a pinned group: locks its root, if it may be changed. Errors with a sentence;
 * nothing is locked then.
 */
static ze_result_t begin_change(struct zeta_metric_group *group, const char *function)
{
    struct zeta_device_metrics *root = zeta_metrics_root(group->metrics);
    ze_result_t result;

    if (!group->user)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "group %s is predefined and cannot be changed", group->properties->name);
    (void)pthread_mutex_lock(&root->lock);
    if (!zeta_object_is(group, ZETA_KIND_METRIC_GROUP))
        result = zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "hMetricGroup");
    else if (zeta_group_is_active_locked(group))
        result = zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                            "group %s is active; deactivate it before it is changed",
                            group->properties->name);
    else
        return ZE_RESULT_SUCCESS;
    (void)pthread_mutex_unlock(&root->lock);
    return result;
}

static void end_change(const struct zeta_metric_group *group)
{
    (void)pthread_mutex_unlock(&zeta_metrics_root(group->metrics)->lock);
}

static ze_result_t add_metric(struct zeta_metric_group *group, struct zeta_metric_entry *entry)
{
    const char *function = "zetMetricGroupAddMetricExp";
    struct zeta_user_group *user = group->user;
    ze_result_t result;

    if (!entry->user)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "metric %s belongs to %s; only metrics made of programmables can be "
                          "added",
                          entry->properties->name, zeta_metric_entry_owner(entry));
    result = begin_change(group, function);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_object_is(entry, ZETA_KIND_METRIC)) {
        result = zeta_object_explain(entry, ZETA_KIND_METRIC, function, "hMetric");
        goto end;
    }
    if (find_member(user, entry->user) < user->member_count)
        goto end;
    result = check_pools_locked(group);
    if (result == ZE_RESULT_SUCCESS)
        result = push_member(user, entry->user);
    if (result != ZE_RESULT_SUCCESS)
        goto end;
    result = renew_locked(user);
    if (result != ZE_RESULT_SUCCESS) {
        user->member_count--;
        goto end;
    }
    entry->user->groups++;
    group->closed = false;
end:
    end_change(group);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupAddMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                       zet_metric_handle_t hMetric,
                                                       size_t *pErrorStringSize, char *pErrorString)
{
    const ze_result_t result =
        add_metric((struct zeta_metric_group *)hMetricGroup, (struct zeta_metric_entry *)hMetric);
    const char *sentence = zeta_error_describe();
    size_t room;

    if (result == ZE_RESULT_SUCCESS || !pErrorStringSize)
        return result;
    /* The sentence in the way of size queries; its terminator counts. */
    room = pErrorString ? *pErrorStringSize : 0;
    if (room > 0)
        (void)snprintf(pErrorString, room, "%s", sentence);
    if (room == 0 || room > strlen(sentence) + 1)
        *pErrorStringSize = strlen(sentence) + 1;
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupRemoveMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                          zet_metric_handle_t hMetric)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)hMetric;
    struct zeta_user_group *user = group->user;
    ze_result_t result = begin_change(group, "zetMetricGroupRemoveMetricExp");
    struct zeta_user_metric **place;
    size_t behind_bytes;
    uint32_t index;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    index = find_member(user, entry->user);
    if (!entry->user || index == user->member_count) {
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "metric %s is not in group %s",
                            entry->properties->name, user->properties.name);
        goto end;
    }
    result = check_pools_locked(group);
    if (result != ZE_RESULT_SUCCESS)
        goto end;
    place = &user->members[index];
    user->member_count--;
    behind_bytes = (user->member_count - index) * sizeof(struct zeta_user_metric *);
    memmove(place, place + 1, behind_bytes);
    result = renew_locked(user);
    if (result != ZE_RESULT_SUCCESS) {
        memmove(place + 1, place, behind_bytes);
        *place = entry->user;
        user->member_count++;
        goto end;
    }
    entry->user->groups--;
    group->closed = false;
end:
    end_change(group);
    return result;
}

/** INVALID_ARGUMENT with a sentence if the metrics of a group cannot be counted in one pass. */
static ze_result_t check_passes(const struct zeta_metric_group *group)
{
    struct zeta_unit_passes passes;
    ze_result_t result = zeta_metric_group_passes(group, &passes);

    if (result != ZE_RESULT_SUCCESS || passes.count == 1)
        return result;
    if (passes.count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "group %s cannot be counted on device %s: %s", group->properties->name,
                          group->device->backend->id, passes.reason);
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "group %s needs %u passes on device %s, and a group has one; put some of its "
                      "metrics into another group: %s",
                      group->properties->name, passes.count, group->device->backend->id,
                      passes.reason);
}

/** Closes a group that its backend counts in one pass, which is asked without the lock. */
static ze_result_t close_group(struct zeta_metric_group *group, const char *function)
{
    ze_result_t result = begin_change(group, function);
    bool done;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    done = group->closed;
    end_change(group);
    while (result == ZE_RESULT_SUCCESS && !done) {
        struct zeta_group_view view;

        result = zeta_group_view_acquire(group, function, "hMetricGroup", &view);
        if (result == ZE_RESULT_SUCCESS)
            result = check_passes(view.group);
        if (result == ZE_RESULT_SUCCESS)
            result = begin_change(group, function);
        if (result == ZE_RESULT_SUCCESS) {
            done = group->compiled == view.group->compiled; /* else it was changed meanwhile */
            if (done)
                result = close_locked(group->user);
            end_change(group);
        }
        zeta_group_view_release(&view);
    }
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupCloseExp(zet_metric_group_handle_t hMetricGroup)
{
    return close_group((struct zeta_metric_group *)hMetricGroup, "zetMetricGroupCloseExp");
}

/** Ends a pinned group that nobody uses any more. */
static void drop_locked(struct zeta_metric_group *group)
{
    struct zeta_user_group *user = group->user;

    for (uint32_t i = 0; i < user->member_count; i++)
        user->members[i]->groups--;
    zeta_client_remove_locked(zeta_metrics_root(group->metrics), &user->client);
    zeta_object_discard(group); /* the pin keeps it */
}

ze_result_t ZE_APICALL impl_zetMetricGroupDestroyExp(zet_metric_group_handle_t hMetricGroup)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    ze_result_t result = begin_change(group, "zetMetricGroupDestroyExp");

    if (result != ZE_RESULT_SUCCESS)
        return result;
    drop_locked(group);
    end_change(group);
    return ZE_RESULT_SUCCESS;
}

/* Creating ------------------------------------------------------------------------------------- */

/** Lets a new group have its first version, with all members at once. */
static ze_result_t fill_locked(struct zeta_user_group *user,
                               const struct zeta_user_group_request *request)
{
    ze_result_t result;

    for (uint32_t i = 0; i < request->member_count; i++) {
        struct zeta_metric_entry *entry = request->members[i]->entry;

        if (!zeta_object_is(entry, ZETA_KIND_METRIC))
            return zeta_object_explain(entry, ZETA_KIND_METRIC,
                                       "zetDeviceCreateMetricGroupsFromMetricsExp", "phMetrics");
        result = push_member(user, request->members[i]);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    result = renew_locked(user);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < user->member_count; i++)
        user->members[i]->groups++;
    zeta_client_add_locked(zeta_metrics_root(user->group->metrics), &user->client);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_user_group_create(const struct zeta_user_group_request *request,
                                   zet_metric_group_handle_t *out_group)
{
    struct zeta_device_metrics *metrics = request->metrics;
    struct zeta_device_metrics *root = zeta_metrics_root(metrics);
    struct zeta_user_group *user = calloc(1, sizeof(*user));
    struct zeta_metric_group *group;
    void *made = NULL;
    ze_result_t result;

    if (!user)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_object_create(ZETA_KIND_METRIC_GROUP, sizeof(*group), &made);
    if (result != ZE_RESULT_SUCCESS) {
        free(user);
        return result;
    }
    group = made;
    group->device = metrics->device;
    group->metrics = metrics;
    group->user = user;
    group->properties = &user->properties;
    group->origin = "the application";
    user->group = group;
    user->part.finish = finish_group;
    user->client = (struct zeta_client){
        .kind = ZETA_CLIENT_GROUP, .name = user->properties.name, .device = metrics->device};
    zeta_copy_text(user->properties.name, sizeof(user->properties.name), request->name);
    zeta_copy_text(user->properties.description, sizeof(user->properties.description),
                   request->description);
    user->properties.samplingType = request->sampling;
    (void)pthread_mutex_lock(&root->lock);
    result = fill_locked(user, request);
    (void)pthread_mutex_unlock(&root->lock);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_discard(group);
        return result;
    }
    zeta_object_pin_more(group); /* nobody else knows it */
    if (user->member_count > 0)
        result = close_group(group, "zetDeviceCreateMetricGroupsFromMetricsExp");
    if (result == ZE_RESULT_SUCCESS) {
        *out_group = (zet_metric_group_handle_t)group;
    } else {
        (void)pthread_mutex_lock(&root->lock);
        drop_locked(group);
        (void)pthread_mutex_unlock(&root->lock);
    }
    zeta_object_unpin(group);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupCreateExp(
    zet_device_handle_t hDevice, const char *pName, const char *pDescription,
    zet_metric_group_sampling_type_flags_t samplingType, zet_metric_group_handle_t *phMetricGroup)
{
    struct zeta_device_metrics *metrics = zeta_device_metrics_get((struct zeta_device *)hDevice);
    const struct zeta_user_group_request request = {
        .metrics = metrics, .name = pName, .description = pDescription, .sampling = samplingType};
    ze_result_t result;

    if (!metrics)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_programmables_load(metrics);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_check_text(pName, "pName", ZET_MAX_METRIC_GROUP_NAME);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_check_text(pDescription, "pDescription", ZET_MAX_METRIC_GROUP_DESCRIPTION);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (samplingType == 0 || (samplingType & (samplingType - 1)) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "samplingType 0x%x: each programmable of device %s has exactly one "
                          "sampling type, so a group has one, too",
                          samplingType, metrics->device->backend->id);
    for (uint32_t i = 0; i < metrics->programmable_count; i++) {
        if (metrics->programmables[i]->sampling == samplingType)
            return zeta_user_group_create(&request, phMetricGroup);
    }
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "device %s has no programmables of sampling type 0x%x",
                      metrics->device->backend->id, samplingType);
}
