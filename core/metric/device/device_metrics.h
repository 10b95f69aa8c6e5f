/*
 * What core/metric keeps for a device: its groups, which of them are active, what the application
 * made with them, and whether metrics are enabled.
 *
 * The groups stay until the process ends. A root with tiles has groups of its own, of
 * the same sets on all tiles.
 *
 * Metrics are enabled by the environment for all devices, or by calls for one device. Enabling is
 * remembered: what was enumerated once stays valid. Disabling only refuses activation until the
 * next enable.
 */
#ifndef ZETA_CORE_METRIC_DEVICE_DEVICE_METRICS_H
#define ZETA_CORE_METRIC_DEVICE_DEVICE_METRICS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

struct zeta_catalog;
struct zeta_client;
struct zeta_compiled;
struct zeta_device;
struct zeta_metric_group;
struct zeta_metric_programmable;
struct zeta_number;
struct zeta_query_notes;

/** The sets of a device, compiled. Constant once it is published. */
struct zeta_device_sets {
    struct zeta_catalog *catalog;
    struct zeta_symbol_values *symbols; /**< of the catalog, that the compiled sets use */
    struct zeta_compiled **compiled;    /**< in the order of the catalog */
    struct zeta_compiled **queries;     /**< their query forms; NULL for a set that has none here */
    uint32_t count;
};

/** The programmables of a device, and the numbers behind the symbols of its catalog. As above. */
struct zeta_device_programmables {
    struct zeta_metric_programmable **items; /**< time-based ones first */
    uint32_t count;
    const struct zeta_catalog *catalog; /**< on a root: of its first tile */
    struct zeta_number *symbols;        /**< one per symbol; not on a root with tiles */
    bool *symbol_known;
};

struct zeta_device_metrics {
    struct zeta_device *device;
    struct zeta_device_metrics *parent;   /**< of the root for a tile, else NULL */
    struct zeta_device_metrics *previous; /**< made before, so that all can be found */

    _Atomic bool was_enabled; /**< by a call or the environment, ever */
    _Atomic bool disabled;    /**< zetDeviceDisableMetricsExp was the last call */

    /** Held while sets, groups and programmables are loaded, of a root before those of its tiles.
     */
    pthread_mutex_t load_lock;
    _Atomic bool loaded; /**< the groups and what follows up to the programmables */
    struct zeta_device_sets sets;
    struct zeta_metric_group **groups; /**< in the order of zetMetricGroupGet */
    uint32_t group_count;
    struct zeta_query_notes *query_notes; /**< of backends about queries of units */
    _Atomic bool programmables_loaded;
    struct zeta_device_programmables programmables;

    /** Guards what follows; on a tile the lock of its root is used instead. */
    pthread_mutex_t lock;
    pthread_cond_t changed;            /**< of references to clients */
    struct zeta_client *clients;       /**< on a root: of the root and its tiles */
    struct zeta_metric_group **active; /**< groups of this device that are active, by domain */
    uint32_t active_count;
};

/** What core/metric keeps for the device, made when first asked for. NULL without memory. */
struct zeta_device_metrics *zeta_device_metrics_get(struct zeta_device *device);

/** Of the root of a tile, or itself: who has the lock and the clients. */
static inline struct zeta_device_metrics *zeta_metrics_root(struct zeta_device_metrics *metrics)
{
    return metrics->parent ? metrics->parent : metrics;
}

/** True if the two are one device, or one is a tile of the other. Any thread. */
bool zeta_metrics_overlap(const struct zeta_device *a, const struct zeta_device *b);

/** Number of devices that count for a device: its tiles, or itself. */
uint32_t zeta_metrics_tile_count(const struct zeta_device *device);

/** One of them. */
const struct zeta_device *zeta_metrics_tile(const struct zeta_device *device, uint32_t index);

/** DEPENDENCY_UNAVAILABLE with a sentence if metrics of the device were never enabled. Any thread.
 */
ze_result_t zeta_metrics_check_was_enabled(struct zeta_device_metrics *metrics);

/**
 * SUCCESS if groups of the device may be activated now, on a root also those of its tiles; else
 * DEPENDENCY_UNAVAILABLE with a sentence that says how to enable them. Any thread.
 */
ze_result_t zeta_metrics_check_enabled(struct zeta_device_metrics *metrics);

#endif
