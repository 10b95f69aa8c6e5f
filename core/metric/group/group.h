/*
 * Metric groups and metrics as objects.
 */
#ifndef ZETA_CORE_METRIC_GROUP_GROUP_H
#define ZETA_CORE_METRIC_GROUP_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/object/object.h"

struct zeta_compiled;
struct zeta_decoder;
struct zeta_device;
struct zeta_device_metrics;
struct zeta_metric;
struct zeta_set;
struct zeta_unit_passes;
struct zeta_user_group;
struct zeta_user_metric;

/** First member of what belongs to a metric or group that an application made. */
struct zeta_user_part {
    void (*finish)(struct zeta_user_part *part); /**< with the last reference */
};

/**
 * One set with one sampling type on one device. Exists until the process ends; one that an
 * application made exists until it was destroyed and its last reference is gone.
 */
struct zeta_metric_group {
    struct zeta_object object;
    struct zeta_device *device;
    struct zeta_device_metrics *metrics;
    /** Finished but for stype, pNext and, if no application made the group, metricCount. */
    const zet_metric_group_properties_t *properties;
    const struct zeta_set *set; /**< what a list of sets needs; the compiled sets have the rest */
    const char *origin;         /**< "file:line" of the set */
    struct zeta_compiled *const *compiled; /**< one per tile, or one */
    uint32_t compiled_count;
    uint32_t source_id; /**< number of the counting unit on the device */
    /** Metrics in the order of values; NULL until zeta_metric_group_entries() makes them. */
    struct zeta_metric_entry **_Atomic entries;
    uint32_t metric_count;        /**< of a group that an application made */
    struct zeta_user_group *user; /**< of a group that an application made, else NULL */
    bool closed;                  /**< may be activated: an application changes it no more */
    uint32_t views;               /**< that calls have of it */
};

/** One metric of one group or of one decoder, which exists as long as that, or of an application.
 */
struct zeta_metric_entry {
    struct zeta_object object;
    struct zeta_metric_group *group;           /**< NULL for a metric of a decoder or application */
    const struct zeta_decoder *decoder;        /**< NULL for a metric of a group */
    uint32_t place;                            /**< among the metrics of the decoder */
    const zet_metric_properties_t *properties; /**< finished but for stype and pNext */
    const struct zeta_metric *metric;
    struct zeta_user_metric *user; /**< of a metric that an application made, else NULL */
};

/**
 * Makes a group of compiled sets, one per tile or one; the array is copied. Errors:
 * OUT_OF_HOST_MEMORY; nothing is left behind then.
 */
ze_result_t zeta_metric_group_create(struct zeta_device_metrics *metrics,
                                     struct zeta_compiled *const *compiled,
                                     zet_metric_group_sampling_type_flags_t sampling,
                                     uint32_t source_id, struct zeta_metric_group **out_group);

/**
 * The metrics of a group, made when first asked for: thousands of groups are listed to find one.
 * Of a group that an application made with the root's lock held. Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_metric_group_entries(struct zeta_metric_group *group,
                                      struct zeta_metric_entry ***out_entries);

/**
 * Number of metrics: the set is linked for it when first asked for. 0 if something is wrong with
 * it, which the log says. Of a group that an application made with the root's lock held.
 */
uint32_t zeta_metric_group_metric_count(const struct zeta_metric_group *group);

/** Frees a group that nobody has seen yet, so it has no metrics. NULL is allowed. */
void zeta_metric_group_discard(struct zeta_metric_group *group);

/** Makes the handle of a metric, which must outlive it. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_metric_entry_create(const struct zeta_metric *metric,
                                     struct zeta_metric_entry **out_entry);

/** Whose a metric is that no application made, for messages. */
static inline const char *zeta_metric_entry_owner(const struct zeta_metric_entry *entry)
{
    return entry->decoder ? "a decoder" : "a predefined group";
}

/** Copies a text into a member of a struct of the API; what does not fit is cut. NULL is "". */
void zeta_copy_text(char *target, size_t size_bytes, const char *text);

/** Fills the properties of a group but for stype, pNext and metricCount. The struct was zeroed. */
void zeta_metric_group_describe(const struct zeta_compiled *compiled,
                                zet_metric_group_sampling_type_flags_t sampling,
                                zet_metric_group_properties_t *out_properties);

/** Fills the properties of a metric but for stype and pNext. The struct was zeroed. */
void zeta_metric_describe(const struct zeta_metric *metric,
                          zet_metric_properties_t *out_properties);

/** True if both are of the same set and sampling type, perhaps on a root and on its tile. */
bool zeta_metric_group_same(const struct zeta_metric_group *a, const struct zeta_metric_group *b);

/** True if zetCommandListAppendMarkerExp takes the group: its unit has markers and, if the group is
 * streamed, its rows show them in the metric StreamMarker. */
bool zeta_metric_group_takes_markers(const struct zeta_metric_group *group);

/** INVALID_ARGUMENT with a sentence unless the group is one of exactly this device. */
ze_result_t zeta_metric_group_check_device(const struct zeta_metric_group *group,
                                           const struct zeta_device *device);

/**
 * A view of a group during one call. Predefined groups never change. One that an application made
 * has a new set after each change, and ends with its last reference; so a call reads a view of it,
 * which stays as it is until it is released.
 */
struct zeta_group_view {
    struct zeta_metric_group *object;      /**< NULL: none is viewed */
    const struct zeta_metric_group *group; /**< what to read; without metrics (entries) */
    struct zeta_metric_group copy;         /**< of a group that an application made */
};

/**
 * Takes a view of a group for a call, without the lock of the root's metrics. Errors: those of
 * zeta_object_explain() for a group that was destroyed; there is no view then.
 */
ze_result_t zeta_group_view_acquire(const void *handle, const char *function, const char *parameter,
                                    struct zeta_group_view *out_view);

/** Releases a view, also with ZETA_CLEANUP. One of no group is allowed. */
void zeta_group_view_release(struct zeta_group_view *view);

/**
 * Asks the backends of all tiles in how many passes they would count a group: the most of them, or
 * 0 if one of them never can. Call it without locks. Errors: OUT_OF_HOST_MEMORY, those of a set
 * that does not compile.
 */
ze_result_t zeta_metric_group_passes(const struct zeta_metric_group *group,
                                     struct zeta_unit_passes *out_passes);

/* ---- The groups of a device, which are loaded when they are first asked for (groups.c) ---- */

/**
 * Loads the device's sets and makes its groups, once.
 * Errors: OUT_OF_HOST_MEMORY; another call tries again then. Sets that are not in order are left
 * out and logged.
 */
ze_result_t zeta_groups_load(struct zeta_device_metrics *metrics);

/**
 * What every enumeration of a device's metrics begins with: they were enabled once, and are loaded.
 * Errors: those of zeta_groups_load(), DEPENDENCY_UNAVAILABLE with a sentence.
 *
 * @count  becomes 0 if metrics of the device were never enabled: there is nothing to see
 */
ze_result_t zeta_groups_enumerate(struct zeta_device *device, uint32_t *count,
                                  struct zeta_device_metrics **out_metrics);

/** False if the backend gave a reason why the unit has no queries. Any thread. */
bool zeta_unit_has_queries(const struct zeta_device_metrics *metrics, const char *unit);

#endif
