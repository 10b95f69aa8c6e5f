/*
 * Settings: what users and administrators can choose, and where each value came from.
 *
 * A value is looked for in this order, the last one found wins:
 *   1. the default of the program (or of a plugin's manifest);
 *   2. SYSCONFDIR/zeta/zeta.yaml;
 *   3. SYSCONFDIR/zeta/zeta.d/<name>.yaml, in byte order of names;
 *   4. $XDG_CONFIG_HOME/zeta/zeta.yaml (not when privileged, not for root);
 *   5. environment variables (not when privileged, except those that only choose messages).
 * ZETA_CONFIG=FILE reads only that file instead of 2 to 4, ZETA_CONFIG=none reads none.
 * An empty value in a file or a variable removes what was found before.
 *
 * Settings have dotted names: the file's "log: {level: debug}" is "log.level". Everything is read
 * once, by zeta_settings_load(); what is found never changes afterwards, so lookups need no lock.
 * What plugins declare is added in a copy, which takes the place of the one before.
 */
#ifndef ZETA_CORE_SETTINGS_SETTINGS_H
#define ZETA_CORE_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/zeta.h>

/** A setting that Zeta itself has. */
struct zeta_known_setting {
    const char *name;
    const char *variable; /**< environment variable that sets it, NULL: none */
    const char *fallback; /**< default value, "" for none */
    char joint;           /**< between the items when a file gives a list; 0: no list allowed */
    bool harmless;        /**< the variable only chooses messages: read when privileged, too */
};

/** All of them, ended by an entry without a name. */
extern const struct zeta_known_setting zeta_known_settings[];

/**
 * Reads files and environment; idempotent. Broken files are reported as warnings with file, line
 * and column, and what could be read of them counts. Only lack of memory is an error.
 * Threading: the caller holds the initialisation lock of core/device, or no other thread runs.
 */
ze_result_t zeta_settings_load(void);

/**
 * Replaces the default of a setting that Zeta itself knows, until zeta_settings_unload(); an empty
 * value takes that back.
 * Errors: INVALID_ARGUMENT (no such setting), NOT_AVAILABLE (they were read already),
 * OUT_OF_HOST_MEMORY. Any thread.
 */
ze_result_t zeta_settings_set_default(const char *name, const char *value);

/** Forgets everything, for tests. No other thread may use settings. */
void zeta_settings_unload(void);

/**
 * The entry of a name; NULL if there is neither a value nor a default. Its value is never NULL;
 * lists are joined by commas, path lists by colons. Valid until zeta_settings_unload(). Any thread
 * after load.
 */
const struct zeta_setting *zeta_settings_find(const char *name);

/** All settings in effect, sorted by name. Valid as long. */
const struct zeta_setting *zeta_settings_all(size_t *out_count);

/** The value of a name, or fallback. */
const char *zeta_settings_text(const char *name, const char *fallback);

/** The value as a boolean (true, yes, on, 1 / false, no, off, 0), or fallback, with a warning. */
bool zeta_settings_bool(const char *name, bool fallback);

/** True if one of the globs of a list, separated by commas, matches a name as a whole. */
bool zeta_settings_has(const char *globs, const char *name);

/** Where the value of a name came from, "default" if nobody set it. */
const char *zeta_settings_origin(const char *name);

/**
 * Declares a setting of a plugin, "plugins.<id>.<key>", with the default of its manifest (or NULL)
 * and the variables that set it: ZETA_PLUGIN_<ID>_<KEY> in capitals, other characters as "_", and
 * the one that the manifest names, which wins. In effect from zeta_settings_declare_end() on.
 * Errors: OUT_OF_HOST_MEMORY. Threading: as zeta_settings_load(); others may look up meanwhile.
 */
ze_result_t zeta_settings_declare(const char *id, const char *key, const char *variable,
                                  const char *default_value, const char *default_origin);

/**
 * Ends the declarations of a plugin: variables ZETA_PLUGIN_<ID>_* that no declared setting has
 * taken become settings with the name in small letters. Errors and threading as above.
 */
ze_result_t zeta_settings_declare_end(const char *id);

/**
 * The value of "plugins.<id>.<key>"; NULL if there is none. The name need not be declared.
 * Valid until zeta_settings_unload(). Any thread after the declarations.
 */
const char *zeta_settings_plugin(const char *id, const char *key);

/**
 * Writes the variable that sets a plugin's setting, ZETA_PLUGIN_<ID>_<KEY>; with key NULL only the
 * part of the plugin, with the last "_". False if it does not fit.
 */
bool zeta_settings_plugin_variable(char *out_name, size_t size_bytes, const char *id,
                                   const char *key);

/**
 * True if a ZET_ENABLE_* variable is on in the environment as it is now ("1" or any number but 0).
 * These are read again at each initialisation, because programs set them late.
 */
bool zeta_settings_switch(const char *variable);

#endif
