/*
 * Modules that use each other.
 */
#ifndef ZETA_CORE_MODULE_MODULE_LINK_H
#define ZETA_CORE_MODULE_MODULE_LINK_H

#include <level_zero/ze_api.h>

struct zeta_module;

/** SUCCESS, or INVALID_MODULE_UNLINKED with the name that is missing. Any thread. */
ze_result_t zeta_module_check_linked(const struct zeta_module *module);

/**
 * Lets go of the plugin's module: destroys it, or leaves it to the last module of its group, since
 * the others may run its code. Called by the finisher of modules.
 */
void zeta_module_release(struct zeta_module *module);

#endif
