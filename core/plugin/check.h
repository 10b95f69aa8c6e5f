/*
 * Trying a plugin without risk.
 */
#ifndef ZETA_CORE_PLUGIN_CHECK_H
#define ZETA_CORE_PLUGIN_CHECK_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/util/list.h"

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
