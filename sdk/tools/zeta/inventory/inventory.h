/*
 * What there is: devices, plugins, metric groups and their metrics.
 */
#ifndef ZETA_TOOLS_INVENTORY_INVENTORY_H
#define ZETA_TOOLS_INVENTORY_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <zeta/zeta.h>

struct zeta_device_entry {
    uint32_t index; /**< place in the list, a name that -d takes */
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_device_properties_t properties;
    struct zeta_device_info info; /**< debug: "" also where a debugger cannot attach */
    uint32_t tile_count;          /**< sub-devices; 0 for a device that is not divided */
};

struct zeta_device_list {
    struct zeta_device_entry *entries;
    uint32_t count;
    struct zeta_device_entry tile; /**< the tile that was found last, if one was */
};

/**
 * Initialises the library and lists the devices, hardware first. A list of none is a success.
 * On failure prints why and gives the exit code. zeta_device_list_finish ends it either way.
 */
int zeta_device_list_init(struct zeta_device_list *out_list);

void zeta_device_list_finish(struct zeta_device_list *list);

/**
 * Finds a device by index, by id or by name, or a tile of one by those of the tile, "0.1" being
 * the second tile of the first device; null text means the first device. On failure prints what
 * there is and gives ZETA_EXIT_FAILED. The entry belongs to the list; that of a tile, whose index
 * is the device's, is valid until the next call.
 */
int zeta_device_list_find(struct zeta_device_list *list, const char *text,
                          const struct zeta_device_entry **out_entry);

/**
 * Whether the library computes on a device, so that a program that works on it must have the
 * library as its driver; text as above. False when there is no device at all and none is named.
 * Initialises the library. On failure prints why and gives the exit code.
 */
int zeta_device_list_find_compute(const char *text, bool *out_is_ours);

/**
 * Initialises the library for calculating, which needs no device. On failure prints why and gives
 * the exit code.
 */
int zeta_device_list_need_none(void);

/** Prints why there is no device, plugin by plugin. Gives ZETA_EXIT_FAILED. */
int zeta_device_list_explain_none(void);

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
    const char *note; /**< what keeps groups away that the device could have, or "" */
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

/** Index of the metric of a name in a group with its metrics; -1 if there is none. */
int32_t zeta_group_find_metric(const struct zeta_group_entry *entry, const char *name);

/** Words for the members of the API; never null. */
const char *zeta_metric_type_name(zet_metric_type_t type);
const char *zeta_metric_class_name(uint32_t metric_class);
const char *zeta_sampling_name(zet_metric_group_sampling_type_flags_t sampling);

/**
 * Finds groups that are collected in one of these ways and loads their metrics.
 *
 * @out_groups  room for count entries, which belong to the list
 *
 * On failure (no such group) prints why.
 */
int zeta_group_choose_any(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *const *names,
                          uint32_t count, zet_metric_group_sampling_type_flags_t sampling,
                          struct zeta_group_entry **out_groups);

/** The same for groups that are sampled over time together, one of each domain. */
int zeta_group_choose(const struct zeta_group_list *list, const struct zeta_device_entry *device,
                      const char *const *names, uint32_t count,
                      struct zeta_group_entry **out_groups);

struct zeta_plugin_list {
    struct zeta_plugin_info *plugins;
    uint32_t count;
};

/**
 * Lists the plugins; the library must be initialised. On failure prints why and gives the exit
 * code. zeta_plugin_list_finish ends it either way.
 */
int zeta_plugin_list_init(struct zeta_plugin_list *out_list);

void zeta_plugin_list_finish(struct zeta_plugin_list *list);

/** Id of a plugin; what cannot be read has none, and its file is all there is to name it by. */
const char *zeta_plugin_name(const struct zeta_plugin_info *plugin);

/**
 * Writes the names of the plugins whose devices this machine does not have, behind a text; nothing
 * if there are none. These are most plugins, each with a long reason.
 */
void zeta_plugin_list_print_absent(const struct zeta_plugin_list *list, const char *text,
                                   FILE *stream);

/** Prints which plugins do not work, and why; for lists of what does. */
void zeta_plugin_list_print_failures(void);

/**
 * Prints how to choose devices made of software, if there are any that stay away because of
 * hardware. For the end of a failure of that hardware; the library is initialised.
 */
void zeta_plugin_list_suggest_software(void);

/** True for a plugin without a device on a machine that has no hardware for it either. */
bool zeta_plugin_is_absent(const struct zeta_plugin_info *plugin);

/** True for a plugin that should work and does not. */
bool zeta_plugin_is_in_trouble(const struct zeta_plugin_info *plugin);

/** "active", "not loadable" ...; never null. state: enum zeta_plugin_state. */
const char *zeta_plugin_state_name(uint32_t state);

#endif
