/*
 * One manifest and what became of it, while the host works on it. Private to core/plugin.
 *
 *   found -> (shadowed | disabled | no device | refused) -> library opened -> negotiated
 *         -> initialised -> enumerated -> active
 *
 * Each step either goes on or sets a state with a reason and stops there.
 */
#ifndef ZETA_CORE_PLUGIN_ENTRY_H
#define ZETA_CORE_PLUGIN_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plugin/backend.h"
#include "core/plugin/manifest.h"
#include "core/util/list.h"
#include "zeta/plugin.h"
#include "zeta/zeta.h"

/** What the host knows about one manifest; plugins hold a pointer to it as their host. */
struct zeta_plugin_host {
    struct zeta_manifest manifest;
    char *path;            /**< of the manifest, as found */
    char *directory;       /**< that holds it, without links */
    char *tree;            /**< directory that relative paths must not leave */
    char *data_dir;        /**< for the plugin's data */
    char *library;         /**< resolved path, NULL before */
    char *provides;        /**< text of the groups */
    bool named;            /**< the user named the directory */
    bool matched;          /**< fits this machine */
    bool checked;          /**< for a report, which holds the reason: not logged as well */
    size_t directory_rank; /**< position in the search */

    uint32_t state;          /**< enum zeta_plugin_state */
    struct zeta_text reason; /**< why it is not active; of an active one its note */
    struct zeta_text note;   /**< what its init() left though it succeeded */
    bool has_own_reason;     /**< from the plugin itself: it names what it needs */
    bool has_hardware;       /**< no device, although the machine has hardware for it */

    /* After negotiation. */
    bool initialised;
    bool active; /**< backend may be used */
    struct zeta_backend backend;
    char *reported_version;
    uint32_t (*init)(struct zeta_plugin *self);
    void (*finish)(struct zeta_plugin *self);
    struct zeta_list set_files; /**< of char * */

    /* After enumeration. */
    struct zeta_plugin_device **devices;
    struct zeta_plugin_device_properties *properties;
    uint32_t device_count;
};

/** Frees an entry; the plugin was finished before. NULL is allowed. */
void zeta_entry_free(struct zeta_plugin_host *entry);

/** Sets state and reason and logs them; returns false, so that a step can return it. */
bool zeta_entry_stop(struct zeta_plugin_host *entry, enum zeta_plugin_state state,
                     const char *format, ...) ZETA_PRINTF(3, 4);

/** Id of the entry, or its path when the manifest could not be read. For messages. */
const char *zeta_entry_name(const struct zeta_plugin_host *entry);

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
 * The directories of the search, each once, in the order of README.md.
 * Errors: OUT_OF_HOST_MEMORY. Needs zeta_settings_load().
 */
ze_result_t zeta_search_dirs(struct zeta_base_dirs *out_dirs);

/** Frees a list and leaves an empty one. */
void zeta_search_finish(struct zeta_base_dirs *dirs);

/** Reads the manifests of the search, in the order in which they win. OUT_OF_HOST_MEMORY. */
ze_result_t zeta_discover(struct zeta_list *out_entries);

/** Makes an entry of one manifest; NULL only without memory or for a file of another type. */
struct zeta_plugin_host *zeta_discover_file(const char *path, bool named, bool strict,
                                            bool *out_no_memory);

/** Files zeta/metrics.d of the search directories (char *). Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_discover_user_sets(struct zeta_list *out_paths);

/** Declares the settings of the manifest, and enable. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_entry_declare_settings(const struct zeta_plugin_host *entry);

/** Resolves, checks and opens the library and finds its entry. False: stopped. */
bool zeta_library_open(struct zeta_plugin_host *entry, zeta_plugin_negotiate_fn *out_negotiate);

/** Compares the manifest's interface versions with ours, before any code runs. False: stopped. */
bool zeta_check_abi(struct zeta_plugin_host *entry);

/** Negotiates and fills the backend. False: stopped. */
bool zeta_negotiate(struct zeta_plugin_host *entry, zeta_plugin_negotiate_fn negotiate);

/** Calls init. False: stopped. */
bool zeta_entry_init(struct zeta_plugin_host *entry);

/** Lists the plugin's devices and their properties. False: stopped. */
bool zeta_entry_enumerate(struct zeta_plugin_host *entry);

/**
 * Expands the globs of the manifest's "metrics" into set_files of the backend. A pattern without a
 * file is a warning in the log, the first of them also in out_warning (may be NULL).
 */
void zeta_sets_expand(struct zeta_plugin_host *entry, struct zeta_text *out_warning);

/**
 * Adds to the reason of a plugin that is not active which needs of its manifest are not met, as far
 * as that can be seen from outside; unless the reason is the plugin's own, which knows better.
 */
void zeta_needs_explain(struct zeta_plugin_host *entry);

/** Calls finish if the plugin was initialised. */
void zeta_entry_finish(struct zeta_plugin_host *entry);

/** The tables of stubs that absent functions fall back to. */
extern const struct zeta_plugin_device_ops zeta_stub_device_ops;
extern const struct zeta_plugin_compute_ops zeta_stub_compute_ops;
extern const struct zeta_plugin_metric_ops zeta_stub_metric_ops;
extern const struct zeta_plugin_tracer_ops zeta_stub_tracer_ops;
extern const struct zeta_plugin_debug_ops zeta_stub_debug_ops;

/** Gives, once, the sentence that a plugin left on this thread for a result; NULL if none. */
const char *zeta_services_failure(const struct zeta_plugin_host *entry, uint32_t result);

/** Merges the devices of active entries, which are in their final order. */
ze_result_t zeta_merge_devices(const struct zeta_list *entries,
                               struct zeta_backend_device **out_devices, size_t *out_count);

#endif
