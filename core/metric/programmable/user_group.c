#include "core/metric/programmable/user_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/activation/active.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/programmable/programmable.h"
#include "core/metric/programmable/user_metric.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Making and freeing ----------------------------------------------------------------------------
 */

/** Frees a group whose last reference is gone. */
static void finish_group(struct zeta_user_part *part)
{
    struct zeta_user_group *user = (struct zeta_user_group *)part;

    for (uint32_t i = 0; i < user->other_count; i++)
        zeta_metric_entry_discard(user->others[i]);
    free(user->others);
    zeta_user_versions_free(user->versions);
    free(user->members);
    free(user);
}

static ze_result_t check_text(const char *text, const char *parameter, size_t limit_bytes)
{
    if (strnlen(text, limit_bytes) == limit_bytes)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%s is longer than %zu bytes with its terminator", parameter,
                          limit_bytes);
    return ZE_RESULT_SUCCESS;
}

/** Makes an object without members and without a version. */
static ze_result_t make_group(const struct zeta_user_group_request *request,
                              struct zeta_user_group **out)
{
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
    user->part.finish = finish_group;
    user->client = (struct zeta_client){.kind = ZETA_CLIENT_GROUP,
                                        .name = user->properties.name,
                                        .device = request->metrics->device};
    group->device = request->metrics->device;
    group->metrics = request->metrics;
    group->user = user;
    group->properties = &user->properties;
    group->origin = "the application";
    user->group = group;
    (void)snprintf(user->properties.name, sizeof(user->properties.name), "%s", request->name);
    (void)snprintf(user->properties.description, sizeof(user->properties.description), "%s",
                   request->description);
    user->properties.samplingType = request->sampling;
    *out = user;
    return ZE_RESULT_SUCCESS;
}

/** Drops a group that is in no list, or was just taken out. */
static void discard(struct zeta_user_group *user)
{
    struct zeta_metric_group *group = user->group;

    zeta_object_discard(group);
}

/** Pools count with the program that the group had when they were made. */
static ze_result_t check_pools_locked(const struct zeta_metric_group *group)
{
    if (!zeta_group_has_pool_locked(group))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                      "a query pool of group %s exists; destroy it before the group is changed",
                      zeta_metric_group_name(group));
}

/* Members ---------------------------------------------------------------------------------------
 */

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
    if (user->member_count == user->capacity) {
        const uint32_t capacity = user->capacity ? 2 * user->capacity : 8;
        struct zeta_user_metric **members =
            realloc(user->members, capacity * sizeof(struct zeta_user_metric *));

        if (!members)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        user->members = members;
        user->capacity = capacity;
    }
    user->members[user->member_count++] = metric;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t add_locked(struct zeta_user_group *user, struct zeta_metric_entry *entry)
{
    ze_result_t result;

    if (!zeta_object_is(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricGroupAddMetricExp",
                                   "hMetric");
    if (find_member(user, entry->user) < user->member_count)
        return ZE_RESULT_SUCCESS;
    result = check_pools_locked(user->group);
    if (result == ZE_RESULT_SUCCESS)
        result = push_member(user, entry->user);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_user_group_check(user->group, user->members, user->member_count);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_user_group_renew_locked(user);
    if (result != ZE_RESULT_SUCCESS) {
        user->member_count--;
        return result;
    }
    entry->user->groups++;
    user->group->closed = false;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t remove_locked(struct zeta_user_group *user, struct zeta_metric_entry *entry)
{
    const uint32_t index = find_member(user, entry->user);
    ze_result_t result;

    if (!entry->user || index == user->member_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "metric %s is not in group %s",
                          entry->properties->name, user->properties.name);
    result = check_pools_locked(user->group);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    memmove(&user->members[index], &user->members[index + 1],
            (user->member_count - index - 1) * sizeof(struct zeta_user_metric *));
    user->member_count--;
    result = zeta_user_group_renew_locked(user);
    if (result != ZE_RESULT_SUCCESS) {
        memmove(&user->members[index + 1], &user->members[index],
                (user->member_count - index) * sizeof(struct zeta_user_metric *));
        user->members[index] = entry->user;
        user->member_count++;
        return result;
    }
    entry->user->groups--;
    user->group->closed = false;
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

/* Changing --------------------------------------------------------------------------------------
 */

/**
 * Begins a change: the group is pinned, its root locked, and it may be changed. NULL with the
 * reason if not; nothing is pinned or locked then.
 */
static struct zeta_user_group *begin_change(zet_metric_group_handle_t handle, const char *function,
                                            ze_result_t *out_result)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)handle;
    struct zeta_device_metrics *root;

    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP)) {
        *out_result = zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "hMetricGroup");
        return NULL;
    }
    if (!group->user) {
        *out_result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                 "group %s is predefined and cannot be changed",
                                 zeta_metric_group_name(group));
        zeta_object_unpin(group);
        return NULL;
    }
    root = zeta_metrics_root(group->metrics);
    (void)pthread_mutex_lock(&root->lock);
    if (!zeta_object_is(group, ZETA_KIND_METRIC_GROUP)) {
        *out_result = zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "hMetricGroup");
    } else if (zeta_group_is_active_locked(group)) {
        *out_result = zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                                 "group %s is active; deactivate it before it is changed",
                                 zeta_metric_group_name(group));
    } else {
        *out_result = ZE_RESULT_SUCCESS;
        return group->user;
    }
    (void)pthread_mutex_unlock(&root->lock);
    zeta_object_unpin(group);
    return NULL;
}

static void end_change(struct zeta_user_group *user)
{
    (void)pthread_mutex_unlock(&zeta_metrics_root(user->group->metrics)->lock);
    zeta_object_unpin(user->group);
}

/** Gives the sentence of a failure in the way of size queries; the terminator counts. */
static void give_sentence(size_t *size_bytes, char *text)
{
    const char *sentence = zeta_error_describe();
    const size_t needed_bytes = strlen(sentence) + 1;

    if (!size_bytes)
        return;
    if (*size_bytes == 0 || !text) {
        *size_bytes = needed_bytes;
        return;
    }
    (void)snprintf(text, *size_bytes, "%s", sentence);
    if (*size_bytes > needed_bytes)
        *size_bytes = needed_bytes;
}

static ze_result_t add_metric(zet_metric_group_handle_t hMetricGroup,
                              struct zeta_metric_entry *entry)
{
    struct zeta_user_group *user;
    ze_result_t result;

    if (!entry->user)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "metric %s belongs to %s; only metrics made of programmables can be "
                          "added",
                          entry->properties->name, zeta_metric_entry_owner(entry));
    user = begin_change(hMetricGroup, "zetMetricGroupAddMetricExp", &result);
    if (!user)
        return result;
    result = add_locked(user, entry);
    end_change(user);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupAddMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                       zet_metric_handle_t hMetric,
                                                       size_t *pErrorStringSize, char *pErrorString)
{
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)hMetric;
    ze_result_t result;

    if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricGroupAddMetricExp",
                                   "hMetric");
    result = add_metric(hMetricGroup, entry);
    zeta_object_unpin(entry);
    if (result != ZE_RESULT_SUCCESS)
        give_sentence(pErrorStringSize, pErrorString);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupRemoveMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                          zet_metric_handle_t hMetric)
{
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)hMetric;
    struct zeta_user_group *user;
    ze_result_t result;

    if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricGroupRemoveMetricExp",
                                   "hMetric");
    user = begin_change(hMetricGroup, "zetMetricGroupRemoveMetricExp", &result);
    if (user) {
        result = remove_locked(user, entry);
        end_change(user);
    }
    zeta_object_unpin(entry);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupCloseExp(zet_metric_group_handle_t hMetricGroup)
{
    ze_result_t result;
    struct zeta_user_group *user = begin_change(hMetricGroup, "zetMetricGroupCloseExp", &result);

    if (!user)
        return result;
    result = close_locked(user);
    end_change(user);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupDestroyExp(zet_metric_group_handle_t hMetricGroup)
{
    ze_result_t result;
    struct zeta_user_group *user = begin_change(hMetricGroup, "zetMetricGroupDestroyExp", &result);

    if (!user)
        return result;
    for (uint32_t i = 0; i < user->member_count; i++)
        user->members[i]->groups--;
    zeta_client_remove_locked(zeta_metrics_root(user->group->metrics), &user->client);
    discard(user); /* our own pin keeps it */
    end_change(user);
    return ZE_RESULT_SUCCESS;
}

/* Creating --------------------------------------------------------------------------------------
 */

static ze_result_t check_sampling(const struct zeta_device_metrics *metrics,
                                  zet_metric_group_sampling_type_flags_t sampling)
{
    const struct zeta_device_programmables *programmables = &metrics->programmables;

    if (sampling == 0 || (sampling & (sampling - 1)) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "samplingType 0x%x: each programmable of device %s has exactly one "
                          "sampling type, so a group has one, too",
                          sampling, metrics->device->backend->id);
    for (uint32_t i = 0; i < programmables->count; i++) {
        if (programmables->items[i]->sampling == sampling)
            return ZE_RESULT_SUCCESS;
    }
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "device %s has no programmables of sampling type 0x%x",
                      metrics->device->backend->id, sampling);
}

/** Lets a new group have its first version, with all members at once. */
static ze_result_t fill_locked(struct zeta_user_group *user,
                               const struct zeta_user_group_request *request)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < request->member_count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_metric_entry *entry = request->members[i]->entry;

        if (zeta_object_is(entry, ZETA_KIND_METRIC))
            result = push_member(user, request->members[i]);
        else
            result = zeta_object_explain(entry, ZETA_KIND_METRIC,
                                         "zetDeviceCreateMetricGroupsFromMetricsExp", "phMetrics");
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_user_group_check(user->group, user->members, user->member_count);
    if (result == ZE_RESULT_SUCCESS)
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
    struct zeta_device_metrics *root = zeta_metrics_root(request->metrics);
    struct zeta_user_group *user = NULL;
    ze_result_t result = make_group(request, &user);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&root->lock);
    result = fill_locked(user, request);
    (void)pthread_mutex_unlock(&root->lock);
    if (result != ZE_RESULT_SUCCESS) {
        discard(user);
        return result;
    }
    *out_group = (zet_metric_group_handle_t)user->group;
    return ZE_RESULT_SUCCESS;
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
        result = check_text(pName, "pName", ZET_MAX_METRIC_GROUP_NAME);
    if (result == ZE_RESULT_SUCCESS)
        result = check_text(pDescription, "pDescription", ZET_MAX_METRIC_GROUP_DESCRIPTION);
    if (result == ZE_RESULT_SUCCESS)
        result = check_sampling(metrics, samplingType);
    return result == ZE_RESULT_SUCCESS ? zeta_user_group_create(&request, phMetricGroup) : result;
}
