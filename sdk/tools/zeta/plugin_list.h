/*
 * The plugins that were found, usable or not.
 */
#ifndef ZETA_TOOLS_PLUGIN_LIST_H
#define ZETA_TOOLS_PLUGIN_LIST_H

#include <stdint.h>
#include <stdio.h>

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

/** Id of a plugin; what cannot be read has none, and its file is all there is to name it by. */
const char *zeta_plugin_name(const struct zeta_plugin_info *plugin);

/**
 * Writes the names of the plugins whose devices this machine does not have, behind a text; nothing
 * if there are none. Usually these are most, each with a long reason that helps nobody.
 */
void zeta_plugin_list_print_absent(const struct zeta_plugin_list *list, const char *text,
                                   FILE *stream);

/** "active", "not loadable" ...; never null. state: enum zeta_plugin_state. */
const char *zeta_plugin_state_name(uint32_t state);

#endif
