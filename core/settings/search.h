/*
 * The directories in which manifests and set files are looked for.
 */
#ifndef ZETA_CORE_SETTINGS_SEARCH_H
#define ZETA_CORE_SETTINGS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include <level_zero/ze_api.h>

#include <zeta/arena.h>

/** A directory that may hold plugins.d and metrics.d. Strings belong to the arena of the list. */
struct zeta_base_dir {
    const char *path;
    const char *origin; /**< "ZETA_PLUGIN_PATH", "beside libzeta", "XDG_CONFIG_HOME" ... */
    bool named;         /**< chosen by who runs the process, so root accepts any owner */
    const char *skip;   /**< why it is not used, NULL if it is */
};

/** Directories in the order of the search. All zero bytes is an empty list. */
struct zeta_base_dirs {
    struct zeta_arena arena;
    struct zeta_base_dir *dirs;
    size_t count;
    size_t capacity;
};

/**
 * The directories of the search, from settings and environment: those of search.path and nothing
 * else, or: search.add, share/zeta beside libzeta, XDG config home and dirs, SYSCONFDIR, XDG data
 * home and dirs, the compiled-in data directory. The same path twice is listed once.
 * Errors: OUT_OF_HOST_MEMORY. Needs zeta_settings_load().
 */
ze_result_t zeta_search_dirs(struct zeta_base_dirs *out_dirs);

/** Frees a list and leaves an empty one. */
void zeta_search_finish(struct zeta_base_dirs *dirs);

#endif
