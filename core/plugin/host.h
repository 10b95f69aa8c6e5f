/*
 * The plugin host: which backends are there, and which devices they give.
 *
 * The host reads manifests, decides which of them apply to this machine, opens their libraries,
 * negotiates and enumerates. Devices that several plugins see are merged by id: for each group of
 * the API one plugin provides it. One plugin's failure never hides another's devices; every
 * manifest keeps a state and a reason (zeta_plugin_host_infos) until the process ends.
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
#include "core/util/list.h"
#include "zeta/zeta.h"

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

/** What became of all manifests that were found, in their order. Valid as long as the devices. */
const struct zeta_plugin_info *zeta_plugin_host_infos(size_t *out_count);

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

/** Time that a plugin has for all steps of a check. */
#define ZETA_CHECK_LIMIT_NS (UINT64_C(10) * 1000 * 1000 * 1000)

/**
 * Reads a manifest strictly (warnings are errors), loads, negotiates, initialises, lists and
 * finishes the plugin in a child process.
 *
 * @limit_ns   time for all of it; a plugin that hangs is ended
 * @out_state  enum zeta_plugin_state
 * @report     receives one sentence or more
 *
 * Errors: OUT_OF_HOST_MEMORY when no child can be started. What is wrong with the plugin is a
 * state. Needs zeta_settings_load().
 */
ze_result_t zeta_check_manifest(const char *path, uint64_t limit_ns, uint32_t *out_state,
                                struct zeta_text *report);

#endif
