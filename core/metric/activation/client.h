/*
 * Clients of a device's metrics: what an application made with them, and what that forbids.
 *
 * Streams, tracers and query pools need their groups active, and no two streams or tracers use one
 * unit. All clients have to be gone before metrics are disabled. The clients of a root and its
 * tiles are in one list, behind the lock of the root's metrics.
 *
 *   reserve --> OPENING --settle--> OPEN --a group is deactivated--> STOPPED
 */
#ifndef ZETA_CORE_METRIC_ACTIVATION_CLIENT_H
#define ZETA_CORE_METRIC_ACTIVATION_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_capture;
struct zeta_device;
struct zeta_device_metrics;
struct zeta_metric_group;
struct zeta_use;

enum zeta_client_kind {
    ZETA_CLIENT_STREAM,
    ZETA_CLIENT_TRACER,
    ZETA_CLIENT_QUERY_POOL,
    ZETA_CLIENT_GROUP, /**< made by the application, as metrics are */
    ZETA_CLIENT_METRIC
};

enum zeta_client_state {
    ZETA_CLIENT_OPENING, /**< the backend is being asked */
    ZETA_CLIENT_OPEN,
    ZETA_CLIENT_STOPPED /**< deactivated: the units are free, what was collected is readable */
};

/** Part of the object that is the client. What comes after `use` belongs to the list. */
struct zeta_client {
    enum zeta_client_kind kind;
    const char *name; /**< of its first group, or its own */
    struct zeta_device *device;
    struct zeta_metric_group *const *groups; /**< that it needs active */
    uint32_t group_count;
    struct zeta_capture *capture; /**< of a stream or tracer */
    const void *handle;           /**< of a query pool */
    const struct zeta_use *use;   /**< of a query pool: by submissions */

    struct zeta_client *next;
    enum zeta_client_state state; /**< of a stream or tracer */
    bool stop_wanted;             /**< deactivated while it was opening */
    uint32_t references;          /**< threads that use it, found in the list, without the lock */
};

/** Puts a client into the list. The lock is held. */
void zeta_client_add_locked(struct zeta_device_metrics *root, struct zeta_client *client);

/**
 * Puts a stream or tracer that is about to be opened into the list, if its groups are active and
 * its units free. Errors: NOT_READY, HANDLE_OBJECT_IN_USE.
 */
ze_result_t zeta_client_reserve(struct zeta_device_metrics *root, struct zeta_client *client);

/** Ends the opening; stops the capture if a group was deactivated meanwhile. */
void zeta_client_settle(struct zeta_device_metrics *root, struct zeta_client *client);

/** Takes a client out of the list. Waits for nobody. The lock is held. */
void zeta_client_remove_locked(struct zeta_device_metrics *root, struct zeta_client *client);

/** Takes a client out of the list; nobody uses it through the list afterwards. */
void zeta_client_release(struct zeta_device_metrics *root, struct zeta_client *client);

/** True if the group is active, or its twin on the root. The lock is held. */
bool zeta_group_is_active_locked(const struct zeta_metric_group *group);

/** True if a live query pool was made of this group. The lock is held. */
bool zeta_group_has_pool_locked(const struct zeta_metric_group *group);

/** HANDLE_OBJECT_IN_USE if a client uses a group that these would replace. The lock is held. */
ze_result_t zeta_clients_check_kept_locked(const struct zeta_device_metrics *metrics,
                                           uint32_t count, struct zeta_metric_group *const *groups);

/**
 * Waits a little for submissions with queries of groups that an activation would drop: work whose
 * events are signalled is over but for the report. Takes the lock.
 */
void zeta_clients_wait_for_queries(struct zeta_device_metrics *metrics, uint32_t count,
                                   struct zeta_metric_group *const *groups);

/** Stops streams and tracers of inactive groups. The lock is held, and released meanwhile. */
void zeta_clients_stop_inactive_locked(struct zeta_device_metrics *root);

/** HANDLE_OBJECT_IN_USE if the device, one of its tiles or its root has a client. Locked. */
ze_result_t zeta_clients_check_none_locked(const struct zeta_device_metrics *metrics);

#endif
