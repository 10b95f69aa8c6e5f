/*
 * The plugins that were found, usable or not.
 */
#ifndef ZETA_TOOLS_INVENTORY_PLUGIN_LIST_H
#define ZETA_TOOLS_INVENTORY_PLUGIN_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <zeta/zeta.h>

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
 * if there are none. Usually these are most, each with a long reason that helps nobody.
 */
void zeta_plugin_list_print_absent(const struct zeta_plugin_list *list, const char *text,
                                   FILE *stream);

/** Says which plugins do not work here, and why; for lists of what does. */
void zeta_plugin_list_print_failures(void);

/**
 * Says how to choose devices made of software, if there are any that stay away because of hardware.
 * For the end of a failure of that hardware; the library is initialised.
 */
void zeta_plugin_list_suggest_software(void);

/** True for a plugin that should work and does not. */
bool zeta_plugin_is_in_trouble(const struct zeta_plugin_info *plugin);

/** "active", "not loadable" ...; never null. state: enum zeta_plugin_state. */
const char *zeta_plugin_state_name(uint32_t state);

#endif
