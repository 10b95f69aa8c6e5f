/*
 * From manifests to devices, once per process.
 *
 * The state is built privately and published through one pointer. A child of fork() finds the
 * pointer empty and the state of its parent in another one; nothing here is protected by a lock,
 * because the caller serialises starting, and everything is constant afterwards.
 */
#include "core/plugin/host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/entry.h"
#include "core/plugin/match.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/log.h"

struct state {
    struct zeta_list entries; /* in their final order */
    struct zeta_plugin_info *infos;
    struct zeta_backend_device *devices;
    size_t device_count;
    struct zeta_list user_sets;
    struct state *parent; /* of a forked child: kept, because callers may hold its strings */
};

static _Atomic(struct state *) running;
static _Atomic(struct state *) of_parent;
static atomic_bool fork_handler_registered;
static _Thread_local bool starting;

bool zeta_plugin_host_starting(void)
{
    return starting;
}

/* ---- which manifests apply ---------------------------------------------------------------- */

/* "always", "auto" or "never", with a warning for anything else. */
static const char *enable_of(const struct zeta_plugin_host *entry)
{
    const char *value = zeta_settings_plugin(entry->manifest.id, "enable");

    if (!value || strcmp(value, "auto") == 0)
        return "auto";
    if (strcmp(value, "always") == 0 || strcmp(value, "never") == 0)
        return value;
    zeta_log(ZETA_LOG_WARN, "settings",
             "plugins.%s.enable is always, auto or never, not \"%s\"; auto is used.",
             entry->manifest.id, value);
    return "auto";
}

/* What the user and the manifest itself rule out. */
static bool is_wanted(struct zeta_plugin_host *entry)
{
    const struct zeta_manifest *manifest = &entry->manifest;
    const char *select = zeta_settings_text("search.select", "");
    const char *disable = zeta_settings_text("search.disable", "");

    if (zeta_settings_has(disable, manifest->id))
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_DISABLED, "search.disable names it (%s).",
                               zeta_settings_origin("search.disable"));
    if (*select && !zeta_settings_has(select, manifest->id))
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_DISABLED,
                               "search.select does not name it (%s).",
                               zeta_settings_origin("search.select"));
    if (strcmp(enable_of(entry), "never") == 0)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_DISABLED,
                               "The setting plugins.%s.enable is never.", manifest->id);
    if (*manifest->arch && strcmp(manifest->arch, zeta_host_arch()) != 0)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NO_DEVICE,
                               "The plugin is for %s; this program is for %s.", manifest->arch,
                               zeta_host_arch());
    return true;
}

/*
 * A manifest without a library explains what to do about a device that no other one names. It makes
 * no devices, so software devices stay where they are.
 */
static void explain_unnamed(const struct zeta_list *entries, struct zeta_machine *machine)
{
    for (size_t i = 0; i < entries->count; i++) {
        struct zeta_plugin_host *entry = entries->items[i];
        const struct zeta_pci_device *device;

        if (entry->state != ZETA_PLUGIN_STATE_FOUND || !entry->manifest.unnamed)
            continue;
        device = zeta_machine_find_unnamed(machine, &entry->manifest, entries);
        if (!device)
            (void)zeta_entry_stop(
                entry, ZETA_PLUGIN_STATE_NO_DEVICE,
                "No device of this machine matches, apart from those that other manifests name.");
        else if (is_wanted(entry))
            (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED,
                                  "No manifest names the PCI device 0x%04x:0x%04x at %s. %s",
                                  device->vendor, device->device, device->address,
                                  entry->manifest.unnamed);
    }
}

/*
 * Devices made of software do not replace hardware that is there, nor a recording that
 * somebody asked for.
 */
static void hide_software(const struct zeta_list *entries)
{
    const struct zeta_plugin_host *instead = NULL;

    for (size_t i = 0; i < entries->count && !instead; i++) {
        const struct zeta_plugin_host *entry = entries->items[i];

        if (entry->matched && entry->manifest.device_class != ZETA_CLASS_SOFTWARE)
            instead = entry;
    }
    for (size_t i = 0; i < entries->count && instead; i++) {
        struct zeta_plugin_host *entry = entries->items[i];
        const char *id = entry->manifest.id;
        char variable[160] = "";

        if (!entry->matched || entry->manifest.device_class != ZETA_CLASS_SOFTWARE ||
            strcmp(enable_of(entry), "always") == 0)
            continue;
        entry->matched = false;
        (void)zeta_settings_plugin_variable(variable, sizeof(variable), id, "enable");
        (void)zeta_entry_stop(
            entry, ZETA_PLUGIN_STATE_DISABLED,
            "%s %s. For the software device alone set ZETA_PLUGINS_SELECT=%s; to have "
            "both, %s=always (or plugins.%s.enable: always in zeta.yaml).",
            instead->manifest.device_class == ZETA_CLASS_REPLAY
                ? "A recording is selected, which is shown by the plugin"
                : "This machine has hardware for the plugin",
            instead->manifest.id, id, variable, id);
    }
}

/* ---- order -------------------------------------------------------------------------------- */

/* Position in the administrator's list; ids that are not in it come after all that are. */
static size_t listed_at(const char *id)
{
    const char *order = zeta_settings_text("search.order", "");
    size_t position = 0;

    while (*order) {
        size_t length = strcspn(order, ",");

        if (strlen(id) == length && strncmp(order, id, length) == 0)
            return position;
        position++;
        order += length + (order[length] == ',');
    }
    return SIZE_MAX;
}

static int compare_entries(const void *left, const void *right)
{
    const struct zeta_plugin_host *a = *(struct zeta_plugin_host *const *)left;
    const struct zeta_plugin_host *b = *(struct zeta_plugin_host *const *)right;
    size_t a_listed = listed_at(a->manifest.id);
    size_t b_listed = listed_at(b->manifest.id);
    int order;

    if (a->manifest.device_class != b->manifest.device_class)
        return a->manifest.device_class < b->manifest.device_class ? -1 : 1;
    if (a_listed != b_listed)
        return a_listed < b_listed ? -1 : 1;
    order = strcmp(basename(a->path), basename(b->path));
    if (order != 0)
        return order;
    return a->directory_rank < b->directory_rank ? -1 : a->directory_rank > b->directory_rank;
}

/* ---- opening ------------------------------------------------------------------------------ */

static void open_matched(const struct zeta_list *entries)
{
    starting = true;
    for (size_t i = 0; i < entries->count; i++) {
        struct zeta_plugin_host *entry = entries->items[i];
        zeta_plugin_negotiate_fn negotiate;

        if (!entry->matched || entry->state != ZETA_PLUGIN_STATE_FOUND || !zeta_check_abi(entry) ||
            !zeta_library_open(entry, &negotiate) || !zeta_negotiate(entry, negotiate))
            continue;
        if (zeta_entry_init(entry) && zeta_entry_enumerate(entry)) {
            zeta_sets_expand(entry, NULL);
        } else {
            zeta_needs_explain(entry);
            zeta_entry_finish(entry);
        }
    }
    starting = false;
}

/* In a child of fork(): plugins that know how go on, the others stop. */
static void revive(const struct zeta_list *entries)
{
    starting = true;
    for (size_t i = 0; i < entries->count; i++) {
        struct zeta_plugin_host *entry = entries->items[i];
        struct zeta_backend *backend = &entry->backend;
        uint32_t result;

        if (!entry->active)
            continue;
        entry->active = false;
        result = backend->device.child_after_fork(backend->self);
        if (result == ZETA_PLUGIN_SUCCESS)
            (void)zeta_entry_enumerate(entry);
        else if (result == ZETA_PLUGIN_UNSUPPORTED_FEATURE)
            (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_DISABLED,
                                  "Forked: the plugin cannot be used in a child of a process that "
                                  "used it. Start a new program instead of forking.");
        else
            (void)zeta_entry_stop(
                entry, ZETA_PLUGIN_STATE_FAILED,
                "Starting the plugin again in a child of fork() failed with 0x%08x.", result);
    }
    starting = false;
}

/* ---- state -------------------------------------------------------------------------------- */

/* Finishes the plugins and frees the state, with those of the parents. */
static void end_state(struct state *state)
{
    for (size_t i = state->entries.count; i > 0; i--)
        zeta_entry_finish(state->entries.items[i - 1]);
    while (state) {
        struct state *parent = state->parent;

        for (size_t i = 0; i < state->device_count; i++)
            free((void *)(uintptr_t)state->devices[i].id);
        free(state->devices);
        free(state->infos);
        for (size_t i = 0; i < state->user_sets.count; i++)
            free(state->user_sets.items[i]);
        zeta_list_finish(&state->user_sets);
        for (size_t i = 0; i < state->entries.count; i++)
            zeta_entry_free(state->entries.items[i]);
        zeta_list_finish(&state->entries);
        free(state);
        state = parent;
    }
}

static bool make_infos(struct state *state)
{
    state->infos = calloc(state->entries.count + 1, sizeof(*state->infos));
    if (!state->infos)
        return false;
    for (size_t i = 0; i < state->entries.count; i++) {
        const struct zeta_plugin_host *entry = state->entries.items[i];
        bool known = *entry->manifest.id != '\0';

        state->infos[i] = (struct zeta_plugin_info){
            .struct_size = sizeof(state->infos[i]),
            .id = entry->manifest.id,
            .manifest = entry->path,
            .library = entry->library ? entry->library : "",
            .version = entry->manifest.version,
            .device_class = known ? zeta_device_class_name(entry->manifest.device_class) : "",
            .provides = entry->provides,
            .state = entry->state,
            .device_count = entry->active ? entry->device_count : 0,
            .reason = zeta_text_get(&entry->reason),
            .has_hardware = entry->has_hardware,
        };
    }
    return true;
}

static ze_result_t find_and_open(struct state *state)
{
    struct zeta_machine machine = {0};
    ze_result_t result = zeta_discover(&state->entries);

    for (size_t i = 0; i < state->entries.count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_plugin_host *entry = state->entries.items[i];

        ZETA_CLEANUP(zeta_text_finish) struct zeta_text reason = {0};

        if (entry->state != ZETA_PLUGIN_STATE_FOUND)
            continue;
        result = zeta_entry_declare_settings(entry);
        if (result != ZE_RESULT_SUCCESS || entry->manifest.unnamed)
            continue;
        /* Matching first: that a plugin without a device is disabled too is not reported. */
        if (zeta_machine_matches(&machine, &entry->manifest, &reason, &entry->has_hardware) ||
            strcmp(enable_of(entry), "always") == 0)
            entry->matched = is_wanted(entry);
        else
            (void)zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NO_DEVICE, "%s", zeta_text_get(&reason));
    }
    if (result == ZE_RESULT_SUCCESS)
        explain_unnamed(&state->entries, &machine);
    zeta_machine_finish(&machine);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (state->entries.count > 1)
        qsort(state->entries.items, state->entries.count, sizeof(void *), compare_entries);
    hide_software(&state->entries);
    open_matched(&state->entries);
    return ZE_RESULT_SUCCESS;
}

/* What must work according to the administrator fails the whole initialisation. */
static ze_result_t check_critical(const struct state *state)
{
    char name[ZETA_MANIFEST_ID_MAX + 32];

    for (size_t i = 0; i < state->entries.count; i++) {
        const struct zeta_plugin_host *entry = state->entries.items[i];

        (void)snprintf(name, sizeof(name), "plugins.%s.critical", entry->manifest.id);
        if (entry->state == ZETA_PLUGIN_STATE_ACTIVE ||
            entry->state == ZETA_PLUGIN_STATE_SHADOWED || !zeta_settings_bool(name, false))
            continue;
        return zeta_error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                          "The plugin %s, which %s calls critical, is not active: %s",
                          entry->manifest.id, zeta_settings_origin(name),
                          zeta_text_get(&entry->reason));
    }
    return ZE_RESULT_SUCCESS;
}

/* The state of the parent stays where it is: its threads may have held it half-changed. */
static void leave_to_parent(void)
{
    struct state *state = atomic_exchange(&running, NULL);

    if (state)
        atomic_store(&of_parent, state);
    starting = false;
}

ze_result_t zeta_plugin_host_start(void)
{
    struct state *state;
    ze_result_t result;

    if (atomic_load_explicit(&running, memory_order_acquire))
        return ZE_RESULT_SUCCESS;
    if (starting)
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "A plugin initialised the library that was just opening it; a plugin "
                          "must not use the API of its host.");
    result = zeta_settings_load();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!atomic_exchange(&fork_handler_registered, true))
        (void)pthread_atfork(NULL, NULL, leave_to_parent);
    state = calloc(1, sizeof(*state));
    if (!state)
        return zeta_error_no_memory("plugins");
    state->parent = atomic_exchange(&of_parent, NULL);
    if (state->parent) {
        state->entries = state->parent->entries;
        state->parent->entries = (struct zeta_list){0};
        revive(&state->entries);
    } else {
        result = find_and_open(state);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_merge_devices(&state->entries, &state->devices, &state->device_count);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_discover_user_sets(&state->user_sets);
    if (result == ZE_RESULT_SUCCESS && !make_infos(state))
        result = zeta_error_no_memory("the list of plugins");
    if (result == ZE_RESULT_SUCCESS)
        result = check_critical(state);
    if (result != ZE_RESULT_SUCCESS) {
        end_state(state);
        return result;
    }
    atomic_store_explicit(&running, state, memory_order_release);
    return ZE_RESULT_SUCCESS;
}

void zeta_plugin_host_stop(void)
{
    struct state *state = atomic_exchange(&running, NULL);

    if (state)
        end_state(state);
}

const struct zeta_backend_device *zeta_plugin_host_devices(size_t *out_count)
{
    const struct state *state = atomic_load_explicit(&running, memory_order_acquire);

    *out_count = state ? state->device_count : 0;
    return state ? state->devices : NULL;
}

const struct zeta_plugin_info *zeta_plugin_host_infos(size_t *out_count)
{
    const struct state *state = atomic_load_explicit(&running, memory_order_acquire);

    *out_count = state ? state->entries.count : 0;
    return state ? state->infos : NULL;
}

const char *const *zeta_plugin_host_user_sets(size_t *out_count)
{
    const struct state *state = atomic_load_explicit(&running, memory_order_acquire);

    *out_count = state ? state->user_sets.count : 0;
    return state ? (const char *const *)state->user_sets.items : NULL;
}
