/*
 * Where files of Zeta are looked for.
 */
#ifndef ZETA_CORE_SETTINGS_PATHS_H
#define ZETA_CORE_SETTINGS_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include <level_zero/ze_api.h>

#include "core/util/arena.h"

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
ze_result_t zeta_paths_search(struct zeta_base_dirs *out_dirs);

/** Frees a list and leaves an empty one. */
void zeta_paths_finish(struct zeta_base_dirs *dirs);

/**
 * An environment variable that may name code or files: NULL when it is not set or the process is
 * privileged. Empty values are given as such.
 */
const char *zeta_paths_environment(const char *variable);

/** Directory of the file that holds this code, without links; false if that is unknown. */
bool zeta_paths_own_directory(char *out_path, size_t size_bytes);

/** Directory of plugin libraries that manifests name without a slash; "" if there is none. */
void zeta_paths_plugin_libraries(char *out_path, size_t size_bytes);

/** share/zeta beside libzeta, where Zeta's own data is; "" if that is unknown. */
void zeta_paths_own_data(char *out_path, size_t size_bytes);

/** The user's configuration directory, with "/zeta"; false without one or when not allowed. */
bool zeta_paths_user_config(char *out_path, size_t size_bytes);

/** SYSCONFDIR with "/zeta". */
void zeta_paths_system_config(char *out_path, size_t size_bytes);

/** Prefix of all fixed paths: "" or what zeta_paths_set_root() gave. For /sys and the like. */
const char *zeta_paths_root(void);

/** For tests: puts every fixed path (/etc, /usr/share, /sys, /dev) below root; NULL for none. */
void zeta_paths_set_root(const char *root);

#endif
