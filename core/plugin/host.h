/*
 * The plugin host: which backends are there, and which devices they give.
 *
 * The host reads manifests, decides which of them apply to this machine, opens their libraries,
 * negotiates and enumerates. Devices that several plugins see are merged by id: for each group of
 * the API one plugin provides it. One plugin's failure never hides another's devices; every
 * manifest keeps a state and a reason (zeta_plugin_host_records) until the process ends.
 *
 * No lock of the core is held while a function of a plugin is called.
 */
#ifndef ZETA_CORE_PLUGIN_HOST_H
#define ZETA_CORE_PLUGIN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/plugin/backend.h"

/** What became of one manifest. Strings live as long as the host. Values: enum zeta_plugin_state.
 */
struct zeta_plugin_record {
    const char *id;           /**< "" when the manifest could not be read that far */
    const char *manifest;     /**< path */
    const char *library;      /**< resolved path, "" if unknown */
    const char *version;      /**< of the manifest */
    const char *device_class; /**< "hardware", "replay", "software" or "" */
    const char *provides;     /**< "compute,metric.stream" */
    uint32_t state;
    uint32_t device_count;
    const char *reason; /**< sentence: why it is not active, "" when it is */
};

/**
 * Finds, opens and enumerates all plugins.
 *
 * Idempotent: when the host runs in this process, nothing happens. In a child of fork() it builds
 * the state anew from the plugins that survive a fork.
 * Errors: OUT_OF_HOST_MEMORY; the result of a plugin that the administrator marked critical and
 * that is not active. Anything else that goes wrong is a state of one plugin.
 * Threading: the caller holds the initialisation lock of core/device.
 */
ze_result_t zeta_plugin_host_start(void);

/**
 * The devices in the order of the plugins: hardware first, then recordings, then software.
 * Valid from zeta_plugin_host_start() to zeta_plugin_host_stop(); any thread in between.
 */
const struct zeta_backend_device *zeta_plugin_host_devices(size_t *out_count);

/** All manifests that were found, in their order. Same life as the devices. */
const struct zeta_plugin_record *zeta_plugin_host_records(size_t *out_count);

/** Set files of users and administrators: zeta/metrics.d of the search directories, in order. */
const char *const *zeta_plugin_host_user_sets(size_t *out_count);

/**
 * Finishes every plugin and frees the host's state. No other thread is inside a plugin any more.
 * For tests and leak checks: the library itself never unloads plugins.
 */
void zeta_plugin_host_stop(void);

/**
 * True while this thread is inside zeta_plugin_host_start(), that is: when a plugin calls back into
 * the API of its host. The initialisation reads it before it takes its lock.
 */
bool zeta_plugin_host_starting(void);

/**
 * The functions that every plugin can call. Those about events and submissions belong to core/event
 * and core/queue, which put them in when the library is loaded.
 */
extern struct zeta_plugin_host_ops zeta_host_services;

#endif
