#include "core/metric/activation/client.h"

#include <string.h>
#include <time.h>

#include "core/capture/capture.h"
#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/object/object.h"
#include "core/plugin/host.h"
#include "core/queue/command_buffer.h"
#include "core/util/error.h"

/** How often, and how far apart, a pool is polled whose submissions are expected to end. */
#define POLLS 500
#define POLL_NS 1000000

/** For messages: what a client is, and how it ends. */
static const struct {
    const char *noun;
    const char *ending;
} kinds[] = {
    [ZETA_CLIENT_STREAM] = {"a stream of", "close it"},
    [ZETA_CLIENT_TRACER] = {"a tracer of", "destroy it"},
    [ZETA_CLIENT_QUERY_POOL] = {"a query pool of", "destroy it"},
    [ZETA_CLIENT_GROUP] = {"the application's group", "destroy it with zetMetricGroupDestroyExp"},
    [ZETA_CLIENT_METRIC] = {"the application's metric", "destroy it with zetMetricDestroyExp"},
};

/** True if the two are one device, or one is a tile of the other. */
static bool overlap(const struct zeta_device *a, const struct zeta_device *b)
{
    return a == b || a->parent == b || b->parent == a;
}

/* The list ------------------------------------------------------------------------------------- */

void zeta_client_add_locked(struct zeta_device_metrics *root, struct zeta_client *client)
{
    client->next = root->clients;
    root->clients = client;
}

void zeta_client_remove_locked(struct zeta_device_metrics *root, struct zeta_client *client)
{
    struct zeta_client **link = &root->clients;

    while (*link && *link != client)
        link = &(*link)->next;
    if (*link)
        *link = client->next;
}

void zeta_client_release(struct zeta_device_metrics *root, struct zeta_client *client)
{
    (void)pthread_mutex_lock(&root->lock);
    zeta_client_remove_locked(root, client);
    while (client->references > 0)
        (void)pthread_cond_wait(&root->changed, &root->lock);
    (void)pthread_mutex_unlock(&root->lock);
}

bool zeta_group_has_pool_locked(const struct zeta_metric_group *group)
{
    const struct zeta_client *client = zeta_metrics_root(group->metrics)->clients;

    for (; client; client = client->next) {
        if (client->kind == ZETA_CLIENT_QUERY_POOL && client->groups[0] == group &&
            zeta_object_is(client->handle, ZETA_KIND_METRIC_QUERY_POOL))
            return true;
    }
    return false;
}

/* What is active ------------------------------------------------------------------------------- */

static bool is_listed(const struct zeta_metric_group *group,
                      struct zeta_metric_group *const *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (zeta_metric_group_same(groups[i], group))
            return true;
    }
    return false;
}

/** What is active on a root is active on its tiles. */
static bool is_active_on_root(const struct zeta_device_metrics *metrics,
                              const struct zeta_metric_group *group)
{
    return metrics->parent &&
           is_listed(group, metrics->parent->active, metrics->parent->active_count);
}

bool zeta_group_is_active_locked(const struct zeta_metric_group *group)
{
    return is_listed(group, group->metrics->active, group->metrics->active_count) ||
           is_active_on_root(group->metrics, group);
}

/** A group that the client needs active and that is not; NULL if there is none. */
static const struct zeta_metric_group *inactive_group_locked(const struct zeta_client *client)
{
    for (uint32_t i = 0; i < client->group_count; i++) {
        if (!zeta_group_is_active_locked(client->groups[i]))
            return client->groups[i];
    }
    return NULL;
}

/** Name of a unit that both use; NULL if there is none. */
static const char *shared_unit(const struct zeta_client *a, const struct zeta_client *b)
{
    for (uint32_t i = 0; i < a->group_count; i++) {
        for (uint32_t j = 0; j < b->group_count; j++) {
            if (strcmp(a->groups[i]->set->unit->name, b->groups[j]->set->unit->name) == 0)
                return a->groups[i]->set->unit->name;
        }
    }
    return NULL;
}

/* Opening streams and tracers ------------------------------------------------------------------ */

static ze_result_t check_free_locked(const struct zeta_device_metrics *root,
                                     const struct zeta_client *client)
{
    const struct zeta_metric_group *group = inactive_group_locked(client);

    if (group)
        return zeta_error(ZE_RESULT_NOT_READY,
                          "group %s is not active; activate it with zetContextActivateMetricGroups",
                          group->properties->name);
    for (const struct zeta_client *other = root->clients; other; other = other->next) {
        const char *unit;

        if (other->kind != client->kind || other->state == ZETA_CLIENT_STOPPED ||
            !overlap(other->device, client->device))
            continue;
        unit = shared_unit(client, other);
        if (unit)
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "%s %s on %s in this process uses the same source %s; %s first",
                              kinds[other->kind].noun, other->name, other->device->backend->id,
                              unit, kinds[other->kind].ending);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_client_reserve(struct zeta_device_metrics *root, struct zeta_client *client)
{
    ze_result_t result;

    (void)pthread_mutex_lock(&root->lock);
    result = check_free_locked(root, client);
    if (result == ZE_RESULT_SUCCESS)
        zeta_client_add_locked(root, client);
    (void)pthread_mutex_unlock(&root->lock);
    return result;
}

void zeta_client_settle(struct zeta_device_metrics *root, struct zeta_client *client)
{
    bool stop;

    (void)pthread_mutex_lock(&root->lock);
    stop = client->stop_wanted;
    client->state = stop ? ZETA_CLIENT_STOPPED : ZETA_CLIENT_OPEN;
    (void)pthread_mutex_unlock(&root->lock);
    if (stop)
        zeta_capture_stop(client->capture);
}

/* Activation ----------------------------------------------------------------------------------- */

/** A group that a client uses and that an activation would drop; NULL if there is none. */
static const struct zeta_metric_group *
dropped_group_locked(const struct zeta_device_metrics *metrics, uint32_t count,
                     struct zeta_metric_group *const *groups, const struct zeta_client *client)
{
    const bool is_pool = client->kind == ZETA_CLIENT_QUERY_POOL;

    if (is_pool ? !zeta_use_is(client->use) || !zeta_group_is_active_locked(client->groups[0])
                : client->state == ZETA_CLIENT_STOPPED)
        return NULL;
    for (uint32_t i = 0; i < client->group_count; i++) {
        const struct zeta_metric_group *used = client->groups[i];

        if (used->device != metrics->device && used->device->parent != metrics->device)
            continue; /* of another tile, or of the root, which keeps its groups */
        if (!is_listed(used, groups, count) && !is_active_on_root(metrics, used))
            return used;
    }
    return NULL;
}

ze_result_t zeta_clients_check_kept_locked(const struct zeta_device_metrics *metrics,
                                           uint32_t count, struct zeta_metric_group *const *groups)
{
    const struct zeta_device_metrics *root = metrics->parent ? metrics->parent : metrics;

    for (const struct zeta_client *client = root->clients; client; client = client->next) {
        const struct zeta_metric_group *group =
            dropped_group_locked(metrics, count, groups, client);

        if (group)
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "%s %s on %s uses group %s, which is not among the groups to "
                              "activate; %s first",
                              kinds[client->kind].noun, client->name, client->device->backend->id,
                              group->properties->name,
                              client->kind == ZETA_CLIENT_QUERY_POOL ? "wait for its work"
                                                                     : kinds[client->kind].ending);
    }
    return ZE_RESULT_SUCCESS;
}

void zeta_clients_wait_for_queries(struct zeta_device_metrics *metrics, uint32_t count,
                                   struct zeta_metric_group *const *groups)
{
    struct zeta_device_metrics *root = zeta_metrics_root(metrics);
    const struct timespec pause = {.tv_nsec = POLL_NS};

    for (int i = 0; i < POLLS; i++) {
        const struct zeta_client *client;

        (void)pthread_mutex_lock(&root->lock);
        client = root->clients;
        while (client && !(client->kind == ZETA_CLIENT_QUERY_POOL &&
                           dropped_group_locked(metrics, count, groups, client)))
            client = client->next;
        (void)pthread_mutex_unlock(&root->lock);
        if (!client)
            return;
        (void)nanosleep(&pause, NULL);
    }
}

void zeta_clients_stop_inactive_locked(struct zeta_device_metrics *root)
{
    struct zeta_client *client = root->clients;

    while (client) {
        const bool lost = client->capture && inactive_group_locked(client);

        if (lost && client->state == ZETA_CLIENT_OPENING)
            client->stop_wanted = true; /* zeta_client_settle() stops it */
        if (!lost || client->state != ZETA_CLIENT_OPEN) {
            client = client->next;
            continue;
        }
        client->state = ZETA_CLIENT_STOPPED;
        client->references++;
        (void)pthread_mutex_unlock(&root->lock);
        zeta_capture_stop(client->capture);
        (void)pthread_mutex_lock(&root->lock);
        client->references--;
        (void)pthread_cond_broadcast(&root->changed);
        client = root->clients; /* the list may have changed */
    }
}

ze_result_t zeta_clients_check_none_locked(const struct zeta_device_metrics *metrics)
{
    const struct zeta_device_metrics *root = metrics->parent ? metrics->parent : metrics;

    for (const struct zeta_client *client = root->clients; client; client = client->next) {
        /* A pool whose handle is gone is in no one's way while lists only name its queries. */
        if (!overlap(client->device, metrics->device) ||
            (client->kind == ZETA_CLIENT_QUERY_POOL &&
             !zeta_object_is(client->handle, ZETA_KIND_METRIC_QUERY_POOL) &&
             !zeta_use_is(client->use)))
            continue;
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "%s %s on %s still exists; %s first", kinds[client->kind].noun,
                          client->name, client->device->backend->id, kinds[client->kind].ending);
    }
    return ZE_RESULT_SUCCESS;
}
