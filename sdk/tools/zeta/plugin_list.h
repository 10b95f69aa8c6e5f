/*
 * The plugins that were found, usable or not.
 */
#ifndef ZETA_TOOLS_PLUGIN_LIST_H
#define ZETA_TOOLS_PLUGIN_LIST_H

#include <stdint.h>

#include <zeta/zeta.h>

struct zeta_plugin_list {
    struct zeta_plugin_info *plugins;
    uint32_t count;
};

/**
 * Lists the plugins; the library must be initialised. On failure says why and gives the exit
 * code. zeta_plugin_list_finish ends it either way.
 */
int zeta_plugin_list_init(struct zeta_plugin_list *out_list);

void zeta_plugin_list_finish(struct zeta_plugin_list *list);

/** "active", "not loadable" ...; never null. state: enum zeta_plugin_state. */
const char *zeta_plugin_state_name(uint32_t state);

#endif
