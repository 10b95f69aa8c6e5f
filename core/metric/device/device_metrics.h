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

#include "core/formula/compile/compile.h"
#include "core/util/list.h"
#include "zeta/plugin.h"

struct zeta_catalog;
struct zeta_client;
struct zeta_device;
struct zeta_metric_group;
struct zeta_metric_programmable;
struct zeta_provider;
struct zeta_unit_notes;

/** The sets of a device, compiled. Constant once it is published. */
struct zeta_device_sets {
    struct zeta_catalog *catalog;
    struct zeta_plugin_array symbols; /**< of the provider: exists until the process ends */
    struct zeta_symbol_lookup lookup; /**< of these symbols, with the values that sets refer to */
    struct zeta_compiled **compiled;  /**< in the order of the catalog */
    struct zeta_compiled **queries;   /**< their query forms; NULL for a set that has none here */
    uint32_t count;
    char *note; /**< of the backend: why sets are missing; NULL: none is */
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
    struct zeta_list units;            /**< names of counting units; the place is the number */
    struct zeta_metric_group **groups; /**< in the order of zetMetricGroupGet */
    uint32_t group_count;
    struct zeta_unit_notes *unit_notes; /**< of backends */
    _Atomic bool programmables_loaded;
    struct zeta_metric_programmable **programmables; /**< time-based ones first */
    uint32_t programmable_count;

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

/** The devices that count for a device: its tiles, or itself. */
uint32_t zeta_metrics_tile_count(const struct zeta_device *device);
const struct zeta_device *zeta_metrics_tile(const struct zeta_device *device, uint32_t index);

/** The sets of one of them, which are loaded. */
const struct zeta_device_sets *zeta_metrics_sets(const struct zeta_device_metrics *metrics,
                                                 uint32_t tile);

/**
 * The number that the API shows for a counting unit: units are counted as they are met. The name
 * exists as long as the sets. Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_metrics_number_unit(struct zeta_device_metrics *metrics, const char *unit,
                                     uint32_t *out_number);

/** Loads something of a device with the lock held, unless that succeeded before. */
ze_result_t zeta_metrics_load_once(struct zeta_device_metrics *metrics, _Atomic bool *loaded,
                                   ze_result_t (*load)(struct zeta_device_metrics *metrics));

/** DEPENDENCY_UNAVAILABLE with a sentence if metrics of the device were never enabled. Any thread.
 */
ze_result_t zeta_metrics_check_was_enabled(struct zeta_device_metrics *metrics);

/** The same if groups of the device, or of one of its tiles, may not be activated now. */
ze_result_t zeta_metrics_check_enabled(struct zeta_device_metrics *metrics);

/**
 * Reads, links and compiles the sets for a device. What is wrong is logged with file and line and
 * left out. Freed with zeta_device_sets_free(). Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_device_sets_load(const struct zeta_device *device,
                                  const struct zeta_provider *provider,
                                  struct zeta_device_sets *out_sets);

/** Frees compiled sets and their catalog. Zeroed is fine. */
void zeta_device_sets_free(struct zeta_device_sets *sets);

#endif
