/*
 * The values of settings while they are collected. Private to core/settings.
 */
#ifndef ZETA_CORE_SETTINGS_SETTINGS_PRIV_H
#define ZETA_CORE_SETTINGS_SETTINGS_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include <zeta/arena.h>

#include "core/settings/settings.h"

/** A setting that Zeta itself knows. */
struct zeta_known_setting {
    const char *name;
    const char *variable; /**< environment variable that sets it, NULL: none */
    const char *fallback; /**< default value, "" for none */
    char joint;           /**< between the items when a file gives a list; 0: no list allowed */
    bool harmless;        /**< the variable only chooses messages: read when privileged, too */
};

/** All of them, ended by an entry without a name. */
extern const struct zeta_known_setting zeta_known_settings[];

/** The known setting of a name, NULL for another. */
const struct zeta_known_setting *zeta_known_setting_find(const char *name);

/**
 * Entries sorted by name; strings are in the arena, or in that of the store that this is a copy of.
 * All zero bytes is empty.
 */
struct zeta_setting_store {
    struct zeta_arena arena;
    struct zeta_setting_entry *entries;
    size_t count;
    size_t capacity;
};

/** The entry of a name, NULL if there is none. */
struct zeta_setting_entry *zeta_store_find(const struct zeta_setting_store *store,
                                           const char *name);

/** Sets a value, replacing an older one. An empty value removes the entry. False: no memory. */
bool zeta_store_set(struct zeta_setting_store *store, const char *name, const char *value,
                    const char *origin);

/** Copies the entries, whose strings stay those of the store. False: no memory. */
bool zeta_store_copy(const struct zeta_setting_store *store, struct zeta_setting_store *out_copy);

/** Frees everything and leaves an empty store. */
void zeta_store_finish(struct zeta_setting_store *store);

/**
 * Reads the configuration files that apply into the store, least important first.
 * Findings about their content become log messages. Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_settings_read_files(struct zeta_setting_store *store);

#endif
