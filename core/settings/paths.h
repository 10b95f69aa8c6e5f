/*
 * Places of files: of this library, of the user, of the system.
 */
#ifndef ZETA_CORE_SETTINGS_PATHS_H
#define ZETA_CORE_SETTINGS_PATHS_H

#include <stdbool.h>
#include <stddef.h>

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

/**
 * A directory of the user, with "/zeta": where XDG_CONFIG_HOME or XDG_DATA_HOME leads, if that is
 * an absolute path, else below_home in HOME. False without one.
 */
bool zeta_paths_user_base(const char *variable, const char *below_home, char *out_path,
                          size_t size_bytes);

/** SYSCONFDIR with "/zeta". */
void zeta_paths_system_config(char *out_path, size_t size_bytes);

/**
 * Calls use for each *.yaml of a directory, in byte order of names, until it returns false; gives
 * the last answer. A directory that cannot be read is empty.
 */
bool zeta_paths_each_yaml(const char *directory, bool (*use)(void *context, const char *path),
                          void *context);

/** Prefix of all fixed paths: "" or what zeta_paths_set_root() gave. For /sys and the like. */
const char *zeta_paths_root(void);

/** For tests: puts every fixed path (/etc, /usr/share, /sys, /dev) below root; NULL for none. */
void zeta_paths_set_root(const char *root);

#endif
