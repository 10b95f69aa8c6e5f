/*
 * Where the sets of a device come from: the files of its provider's manifest, texts that the
 * provider makes at run time, and files of users and administrators.
 */
#ifndef ZETA_CORE_METRIC_DEVICE_SET_FILES_H
#define ZETA_CORE_METRIC_DEVICE_SET_FILES_H

#include <level_zero/ze_api.h>

#include "core/formula/compile/compile.h"
#include "zeta/plugin.h"

struct zeta_device;
struct zeta_device_sets;
struct zeta_provider;

/**
 * Reads, links and compiles the sets for a device. What is wrong is logged with file and line and
 * left out; a file of a user that cannot be read does not take the other files with it.
 *
 * Ownership: *out_sets is freed with zeta_device_sets_free(). Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_device_sets_load(const struct zeta_device *device,
                                  const struct zeta_provider *provider,
                                  struct zeta_device_sets *out_sets);

/**
 * The symbols that a provider gives of its device, for zeta_set_compile() and as long as the
 * plugin is loaded. *out_array is what the lookup refers to.
 */
struct zeta_symbol_lookup zeta_device_symbols(const struct zeta_provider *provider,
                                              struct zeta_plugin_array *out_array);

/** Frees compiled sets and their catalog. Zeroed is fine. */
void zeta_device_sets_free(struct zeta_device_sets *sets);

#endif
