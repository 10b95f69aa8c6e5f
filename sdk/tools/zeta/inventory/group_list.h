/*
 * The metric groups of a device and their metrics.
 */
#ifndef ZETA_TOOLS_INVENTORY_GROUP_LIST_H
#define ZETA_TOOLS_INVENTORY_GROUP_LIST_H

#include <stdint.h>

#include <zeta/zeta.h>

#include "sdk/tools/zeta/inventory/device_list.h"

struct zeta_metric_entry {
    zet_metric_handle_t metric;
    zet_metric_properties_t properties;
    struct zeta_metric_info info;
};

struct zeta_group_entry {
    zet_metric_group_handle_t group;
    zet_metric_group_properties_t properties;
    struct zeta_group_info info;
    /** Clock of QueryBeginTime. */
    zet_metric_global_timestamps_resolution_exp_t clock;
    struct zeta_metric_entry *metrics; /**< properties.metricCount of them; null if not loaded */
};

struct zeta_group_list {
    struct zeta_group_entry *entries;
    uint32_t count;
};

/**
 * Enables metrics on the device and lists its groups, without their metrics. On failure prints why
 * and gives the exit code. zeta_group_list_finish ends it either way.
 */
int zeta_group_list_init(ze_device_handle_t device, struct zeta_group_list *out_list);

void zeta_group_list_finish(struct zeta_group_list *list);

/** Reads the metrics of one group. On failure prints why and gives the exit code. */
int zeta_group_entry_load_metrics(struct zeta_group_entry *entry);

/** Finds the group of a name that is collected in one of these ways; null if there is none. */
struct zeta_group_entry *zeta_group_list_find(const struct zeta_group_list *list, const char *name,
                                              zet_metric_group_sampling_type_flags_t sampling);

/** Words for the members of the API; never null. */
const char *zeta_metric_type_name(zet_metric_type_t type);
const char *zeta_metric_class_name(uint32_t metric_class);
const char *zeta_sampling_name(zet_metric_group_sampling_type_flags_t sampling);

/**
 * Finds groups that can be sampled over time and loads their metrics.
 *
 * @out_groups  room for count entries, which belong to the list
 *
 * On failure (no such group) prints why.
 */
int zeta_group_choose_any(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *const *names,
                          uint32_t count, struct zeta_group_entry **out_groups);

/** The same, and that they can be sampled together, one of each domain. */
int zeta_group_choose(const struct zeta_group_list *list, const struct zeta_device_entry *device,
                      const char *const *names, uint32_t count,
                      struct zeta_group_entry **out_groups);

#endif
