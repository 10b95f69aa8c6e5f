/*
 * What core/metric keeps for a device: its groups, which of them are active, its streams.
 *
 * Set files are read when the groups of a device are first asked for. The groups stay until the
 * process ends. A root with tiles has groups of its own that stand for the same sets on all tiles.
 */
#ifndef ZETA_CORE_METRIC_DEVICE_DEVICE_METRICS_H
#define ZETA_CORE_METRIC_DEVICE_DEVICE_METRICS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/metric/programmable/programmable.h"

struct zeta_catalog;
struct zeta_compiled;
struct zeta_device;
struct zeta_metric_group;
struct zeta_query_pool;
struct zeta_query_words;
struct zeta_stream;
struct zeta_tracer;
struct zeta_user_group;
struct zeta_user_metric;

/** The sets of a device, compiled. Constant once it is published. */
struct zeta_device_sets {
    struct zeta_catalog *catalog;
    struct zeta_compiled **compiled; /**< in the order of the catalog */
    struct zeta_compiled **queries;  /**< their query forms; NULL for a set that has none here */
    uint32_t count;
};

struct zeta_device_metrics {
    struct zeta_device *device;
    struct zeta_device_metrics *parent;   /**< of the root for a tile, else NULL */
    struct zeta_device_metrics *previous; /**< made before, so that all can be found */

    _Atomic bool was_enabled; /**< by a call or the environment, ever */
    _Atomic bool disabled;    /**< zetDeviceDisableMetricsExp was the last word */

    /** Serialises loading; a turn, because plugins are called meanwhile. */
    pthread_mutex_t load_lock;
    pthread_cond_t load_done;
    bool loading;
    _Atomic bool loaded;
    struct zeta_device_sets sets;
    struct zeta_metric_group **groups; /**< in the order of zetMetricGroupGet */
    uint32_t group_count;
    struct zeta_query_words *query_words; /**< what was said about queries of units */
    struct zeta_device_programmables programmables;

    /** Guards what follows; on a tile the lock of its root is used instead. */
    pthread_mutex_t lock;
    pthread_cond_t changed;                /**< of streams and their borrowed counts */
    struct zeta_stream *streams;           /**< on a root: of the root and its tiles */
    struct zeta_tracer *tracers;           /**< the same */
    struct zeta_query_pool *pools;         /**< on a root: of the root and its tiles */
    struct zeta_user_metric *user_metrics; /**< that applications made; as streams */
    struct zeta_user_group *user_groups;   /**< the same */
    struct zeta_metric_group **active;     /**< groups of this device that are active, by domain */
    uint32_t active_count;
};

/** What core/metric keeps for the device, made when first asked for. NULL without memory. */
struct zeta_device_metrics *zeta_device_metrics_get(struct zeta_device *device);

/** Of the root of a tile, or itself: who has the lock and the streams. */
static inline struct zeta_device_metrics *zeta_metrics_root(struct zeta_device_metrics *metrics)
{
    return metrics->parent ? metrics->parent : metrics;
}

/** True if the two are one device, or one is a tile of the other. Any thread. */
bool zeta_metrics_overlap(const struct zeta_device *a, const struct zeta_device *b);

/**
 * Loads the device's sets and makes its groups, once.
 * Errors: OUT_OF_HOST_MEMORY; another call tries again then. Sets that are not in order are left
 * out and logged.
 */
ze_result_t zeta_device_metrics_load(struct zeta_device_metrics *metrics);

/**
 * What every enumeration of a device's metrics begins with: they were enabled once, and are loaded.
 * Errors: those of zeta_device_metrics_load(), DEPENDENCY_UNAVAILABLE with a sentence.
 *
 * @count  becomes 0 if metrics of the device were never enabled: there is nothing to see
 */
ze_result_t zeta_device_metrics_enumerate(struct zeta_device *device, uint32_t *count,
                                          struct zeta_device_metrics **out_metrics);

#endif
