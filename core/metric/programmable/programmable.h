/*
 * Programmables, the metrics that an application made of them, and its groups of such metrics.
 *
 * A group always has a set: each change makes a new version of it, with the slots that its metrics
 * need. Versions that were closed once stay until the group is freed, because streams and pools may
 * have been made with them.
 */
#ifndef ZETA_CORE_METRIC_PROGRAMMABLE_PROGRAMMABLE_H
#define ZETA_CORE_METRIC_PROGRAMMABLE_PROGRAMMABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/programmables/recipe.h"
#include "core/formula/programmables/recipe_set.h"
#include "core/formula/sets/set.h"
#include "core/metric/activation/client.h"
#include "core/metric/group/group.h"
#include "core/object/object.h"

struct zeta_compiled;
struct zeta_device;
struct zeta_device_metrics;

/** Exists until the process ends. */
struct zeta_metric_programmable {
    struct zeta_object object;
    struct zeta_device *device;
    struct zeta_device_metrics *metrics;
    const struct zeta_programmable *model;           /**< on a root: of its first tile */
    zet_metric_group_sampling_type_flags_t sampling; /**< one bit */
    uint32_t source_id;                              /**< as of groups of the same unit */
};

/**
 * Loads the groups of a device and makes its programmables, once.
 * Errors: OUT_OF_HOST_MEMORY; another call tries again then.
 */
ze_result_t zeta_programmables_load(struct zeta_device_metrics *metrics);

/** Belongs to a struct zeta_metric_entry until its last reference is gone. */
struct zeta_user_metric {
    struct zeta_user_part part;
    struct zeta_client client;
    struct zeta_metric_entry *entry;
    const struct zeta_metric_programmable *programmable;
    struct zeta_recipe recipe;
    uint32_t groups; /**< that contain it; behind the root's lock */
};

/** What a group measured at one time. */
struct zeta_user_version {
    struct zeta_user_version *older;
    struct zeta_recipe_set *sets;    /**< one per tile, or one */
    struct zeta_compiled **compiled; /**< the same; of event-based groups the query forms */
    uint32_t count;
    struct zeta_metric_entry **entries; /**< of members, then others that each set has */
    uint32_t entry_count;
    struct zeta_metric_entry **members; /**< pinned: the sets refer to their texts */
    uint32_t member_count;
    bool was_closed;
};

/** Belongs to a struct zeta_metric_group until its last reference is gone. */
struct zeta_user_group {
    struct zeta_user_part part;
    struct zeta_client client; /**< behind the root's lock, as what follows */
    struct zeta_metric_group *group;
    struct zeta_user_metric **members; /**< in the order in which they were added */
    uint32_t member_count;
    struct zeta_user_version *versions; /**< the newest is the group's */
    struct zeta_metric_entry **others;  /**< GpuTime and info metrics that were ever shown */
    uint32_t other_count;
    zet_metric_group_properties_t properties;
};

/** What a new group is called, how it is sampled, what is in it. */
struct zeta_user_group_request {
    struct zeta_device_metrics *metrics;
    const char *name;
    const char *description;
    zet_metric_group_sampling_type_flags_t sampling; /**< one bit; the device has programmables */
    struct zeta_user_metric *const *members;         /**< pinned */
    uint32_t member_count;                           /**< 0: the group stays open */
};

/**
 * Makes a group; one with members is closed.
 * Errors: INVALID_ARGUMENT with a sentence, INVALID_NULL_HANDLE if a member was destroyed
 * meanwhile, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_user_group_create(const struct zeta_user_group_request *request,
                                   zet_metric_group_handle_t *out_group);

/** What the set of a group is made of on one tile: metrics of one source and sampling type. */
struct zeta_user_set_request {
    const char *name;
    const char *description;
    zet_metric_group_sampling_type_flags_t sampling; /**< one bit */
    const struct zeta_ingredient *ingredients;
    uint32_t count; /**< may be 0 */
    uint32_t tile;
};

/**
 * Makes the set of a tile, with unit and layout of a programmable, and compiles it; of event-based
 * ones the query form. Destroy what is compiled, then finish the set; do not move it in memory.
 * Errors: INVALID_ARGUMENT with a sentence if the metrics do not fit together, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_user_set_make(const struct zeta_device_metrics *metrics,
                               const struct zeta_programmable *model,
                               const struct zeta_user_set_request *request,
                               struct zeta_recipe_set *out_set,
                               struct zeta_compiled **out_compiled);

/** INVALID_ARGUMENT with a sentence if a text of the caller does not fit its place in the API. */
ze_result_t zeta_check_text(const char *text, const char *parameter, size_t limit_bytes);

/** A metric as an ingredient of a set of a device: of its only tile, or of all. */
struct zeta_ingredient zeta_user_metric_ingredient(const struct zeta_device *device,
                                                   const struct zeta_user_metric *metric);

#endif
