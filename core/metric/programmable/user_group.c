#include "core/metric/programmable/programmable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Checking and freeing ------------------------------------------------------------------------- */

/** Frees a group whose last reference is gone. */
static void finish_group(struct zeta_user_part *part)
{
    struct zeta_user_group *user = (struct zeta_user_group *)part;

    for (uint32_t i = 0; i < user->other_count; i++)
        zeta_object_discard(user->others[i]);
    free(user->others);
    zeta_user_versions_free(user->versions);
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

/* Members -------------------------------------------------------------------------------------- */

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
    result = zeta_user_group_show_locked(user, true);
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
    result = zeta_user_group_renew_locked(user);
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
    result = zeta_user_group_renew_locked(user);
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

ze_result_t ZE_APICALL impl_zetMetricGroupCloseExp(zet_metric_group_handle_t hMetricGroup)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    ze_result_t result = begin_change(group, "zetMetricGroupCloseExp");

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = close_locked(group->user);
    end_change(group);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupDestroyExp(zet_metric_group_handle_t hMetricGroup)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_user_group *user = group->user;
    ze_result_t result = begin_change(group, "zetMetricGroupDestroyExp");

    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < user->member_count; i++)
        user->members[i]->groups--;
    zeta_client_remove_locked(zeta_metrics_root(group->metrics), &user->client);
    zeta_object_discard(group); /* the pin of this call keeps it */
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
    result = zeta_user_group_renew_locked(user);
    if (result == ZE_RESULT_SUCCESS && user->member_count > 0)
        result = close_locked(user);
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
    if (result == ZE_RESULT_SUCCESS)
        *out_group = (zet_metric_group_handle_t)group;
    else
        zeta_object_discard(group);
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
