/*
 * The settings of this process: read from files and environment and merged once, published through
 * one pointer, constant afterwards. Declarations of a plugin are made in a copy, which is published
 * in its place.
 */
#include "core/settings/settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/arena.h>
#include <zeta/yaml.h>

#include "core/settings/paths.h"
#include "core/util/cleanup.h"
#include "core/util/diagnostic.h"
#include "core/util/error.h"
#include "core/util/list.h"
#include "core/util/log.h"
#include "core/util/trust.h"

#define NAME_BYTES 256
#define PLUGIN_PREFIX "ZETA_PLUGIN_"

/* Values of kept variables with a special meaning: the store holds no empty value. */
#define KEPT_EMPTY "\n" /* set, but empty: takes a setting back to its default */
#define KEPT_USED "\r"  /* a declared setting has taken it */

/* Documented for users in config/zeta.yaml. */
const struct zeta_known_setting zeta_known_settings[] = {
    {.name = "log.level",
     .variable = "ZETA_LOG",
     .fallback = "warn",
     .joint = ',',
     .harmless = true},
    {.name = "log.file", .variable = "ZETA_LOG_FILE", .fallback = ""},
    {.name = "log.plugins", .variable = "ZETA_LOG_PLUGINS", .fallback = "warn", .harmless = true},
    {.name = "search.path", .variable = "ZETA_PLUGIN_PATH", .fallback = "", .joint = ':'},
    {.name = "search.add", .variable = "ZETA_ADD_PLUGIN_PATH", .fallback = "", .joint = ':'},
    {.name = "search.select", .variable = "ZETA_PLUGINS_SELECT", .fallback = "", .joint = ','},
    {.name = "search.disable", .variable = "ZETA_PLUGINS_DISABLE", .fallback = "", .joint = ','},
    {.name = "search.order", .fallback = "", .joint = ','},
    {.name = "memory.fault_after_free",
     .variable = "ZETA_MEMORY_FAULT_AFTER_FREE",
     .fallback = "false"},
    {.name = "kernel.strict_arguments",
     .variable = "ZETA_KERNEL_STRICT_ARGUMENTS",
     .fallback = "false"},
    {.name = "metric.last_of_domain",
     .variable = "ZETA_METRIC_LAST_OF_DOMAIN",
     .fallback = "false"},
    {.name = "metric.tracer_groups", .variable = "ZETA_METRIC_TRACER_GROUPS", .fallback = "false"},
    {.name = NULL},
};

static const struct zeta_known_setting *find_known(const char *name)
{
    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        if (strcmp(known->name, name) == 0)
            return known;
    }
    return NULL;
}

/* ---- values: a sorted array ---- */

/*
 * Entries sorted by name; strings are in the arena, or in that of the store that this is a copy of.
 * All zero bytes is empty.
 */
struct store {
    struct zeta_arena arena;
    struct zeta_setting *entries;
    size_t count;
    size_t capacity;
};

/* The entry of a name, or NULL and where it belongs (out_at may be NULL). */
static struct zeta_setting *find(const struct store *store, const char *name, size_t *out_at)
{
    size_t low = 0;
    size_t high = store->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(store->entries[middle].name, name);

        if (order == 0)
            return &store->entries[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (out_at)
        *out_at = low;
    return NULL;
}

static bool copy_store(const struct store *store, struct store *out_copy)
{
    *out_copy = (struct store){0};
    if (store->count == 0)
        return true;
    out_copy->entries = malloc(store->capacity * sizeof(*store->entries));
    if (!out_copy->entries)
        return false;
    memcpy(out_copy->entries, store->entries, store->count * sizeof(*store->entries));
    out_copy->count = store->count;
    out_copy->capacity = store->capacity;
    return true;
}

static bool set(struct store *store, const char *name, const char *value, const char *origin)
{
    struct zeta_setting entry = {.struct_size = sizeof(entry)};
    size_t at = 0;
    struct zeta_setting *present = find(store, name, &at);

    if (!*value && present) {
        const struct zeta_setting *end = &store->entries[store->count--];

        memmove(present, present + 1, (size_t)(end - present - 1) * sizeof(*present));
    }
    if (!*value)
        return true;
    entry.name = present ? present->name : zeta_arena_copy(&store->arena, name, strlen(name));
    entry.value = zeta_arena_copy(&store->arena, value, strlen(value));
    entry.origin = zeta_arena_copy(&store->arena, origin, strlen(origin));
    if (!entry.name || !entry.value || !entry.origin)
        return false;
    if (present) {
        *present = entry;
        return true;
    }
    if (store->count == store->capacity) {
        size_t capacity = store->capacity ? 2 * store->capacity : 32;
        struct zeta_setting *grown = realloc(store->entries, capacity * sizeof(*grown));

        if (!grown)
            return false;
        store->entries = grown;
        store->capacity = capacity;
    }
    present = &store->entries[at];
    memmove(present + 1, present, (store->count++ - at) * sizeof(*present));
    *present = entry;
    return true;
}

static void finish_store(struct store *store)
{
    zeta_arena_finish(&store->arena);
    free(store->entries);
    *store = (struct store){0};
}

/* ---- configuration files ---- */

/* What reading one file needs. */
struct reading {
    struct store *store;
    const char *file;
    bool out_of_memory;
};

static void report(void *context ZETA_UNUSED, const struct zeta_diagnostic *diagnostic)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    zeta_diagnostic_print(diagnostic, text, sizeof(text));
    zeta_log(ZETA_LOG_WARN, "settings", "%s", text);
}

#define WARNING(reading, line, column, ...)                                                        \
    zeta_diagnose(&(struct zeta_diagnostics){.report = report}, ZETA_SEVERITY_WARNING,             \
                  (reading)->file, line, column, __VA_ARGS__)

static bool is_plugin_setting(const char *name)
{
    const char *dot;

    if (strncmp(name, "plugins.", 8) != 0)
        return false;
    dot = strchr(name + 8, '.');
    return dot && dot > name + 8 && dot[1];
}

/* "log:" without anything below it: a group whose members are all commented out. */
static bool is_group(const char *name)
{
    size_t length = strlen(name);

    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        if (strncmp(known->name, name, length) == 0 && known->name[length] == '.')
            return true;
    }
    return strcmp(name, "plugins") == 0 ||
           (strncmp(name, "plugins.", 8) == 0 && !strchr(name + 8, '.'));
}

static void set_from_file(struct reading *reading, const struct zeta_yaml_node *node,
                          const char *name, const char *value)
{
    char origin[PATH_MAX + 32];

    if (!*value && is_group(name))
        return;
    if (!find_known(name) && !is_plugin_setting(name)) {
        WARNING(reading, node->key_line, node->key_column,
                "There is no setting \"%s\"; it is ignored.", name);
        return;
    }
    (void)snprintf(origin, sizeof(origin), "%s:%u", reading->file, node->line);
    if (!set(reading->store, name, value, origin))
        reading->out_of_memory = true;
}

/* A list of scalars becomes one text with the joint of the setting between its items. */
static void set_list(struct reading *reading, const struct zeta_yaml_node *node, const char *name)
{
    const struct zeta_known_setting *known = find_known(name);
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text text = {0};
    char joint = known ? known->joint : ',';

    if (!joint) {
        WARNING(reading, node->line, node->column,
                "\"%s\" takes one value, not a list; it is ignored.", name);
        return;
    }
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (item->kind != ZETA_YAML_SCALAR) {
            WARNING(reading, item->line, item->column,
                    "A list of plain values is expected for \"%s\".", name);
            return;
        }
        if (text.length > 0)
            zeta_text_append(&text, &joint, 1);
        zeta_text_append(&text, item->text, item->length);
    }
    if (text.failed)
        reading->out_of_memory = true;
    else
        set_from_file(reading, node, name, zeta_text_get(&text));
}

/* Walks the members of a mapping; the depth is bounded by the limits of the parser. */
static void read_members(struct reading *reading, const struct zeta_yaml_node *mapping,
                         const char *prefix)
{
    char name[NAME_BYTES];

    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        if (strncmp(node->key, "x-", 2) == 0)
            continue;
        if ((size_t)snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", node->key) >=
            sizeof(name)) {
            WARNING(reading, node->key_line, node->key_column,
                    "A name of more than %d bytes is ignored.", NAME_BYTES - 1);
            continue;
        }
        if (node->kind == ZETA_YAML_MAPPING)
            read_members(reading, node, name);
        else if (node->kind == ZETA_YAML_SEQUENCE)
            set_list(reading, node, name);
        else
            set_from_file(reading, node, name, zeta_yaml_is_null(node) ? "" : node->text);
    }
}

/* must_exist: the file was named by somebody. False only without memory. */
static bool read_file(struct store *store, const char *path, bool must_exist)
{
    const struct zeta_yaml_limits limits = {.max_bytes = 65536, .max_depth = 16};
    struct reading reading = {.store = store, .file = path};
    ZETA_CLEANUP(zeta_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const struct zeta_yaml_node *top;
    struct zeta_yaml_document *document;
    struct zeta_yaml_error error;
    char reason[PATH_MAX + 128];
    struct stat status;

    if (fd < 0) {
        if (must_exist || errno != ENOENT)
            zeta_log(ZETA_LOG_WARN, "settings", "%s cannot be read (%s).", path,
                     strerrordesc_np(errno));
        return true;
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        zeta_log(ZETA_LOG_WARN, "settings", "%s is not a regular file; it is ignored.", path);
        return true;
    }
    if (!zeta_trust_check(fd, zeta_trust_level(), must_exist, reason, sizeof(reason))) {
        zeta_log(ZETA_LOG_WARN, "settings", "%s is ignored: %s.", path, reason);
        return true;
    }
    document = zeta_yaml_read_fd(fd, path, &limits, &error);
    if (!document) {
        (void)zeta_diagnose_yaml(&(struct zeta_diagnostics){.report = report}, path, &error);
        return !error.no_memory;
    }
    top = zeta_yaml_root(document);
    if (top && top->kind == ZETA_YAML_MAPPING)
        read_members(&reading, top, "");
    else if (top && !zeta_yaml_is_null(top))
        WARNING(&reading, top->line, top->column,
                "A configuration file is a mapping of names to values; it is ignored.");
    zeta_yaml_free(document);
    return !reading.out_of_memory;
}

static bool read_drop_in(void *store, const char *path)
{
    return read_file(store, path, false);
}

/* Reads the files that apply, least important first. False without memory. */
static bool read_files(struct store *store)
{
    const char *chosen = zeta_paths_environment("ZETA_CONFIG");
    char directory[PATH_MAX];
    char path[PATH_MAX + 32];

    if (chosen && strcmp(chosen, "none") == 0)
        return true;
    if (chosen && *chosen)
        return read_file(store, chosen, true);
    zeta_paths_system_config(directory, sizeof(directory));
    (void)snprintf(path, sizeof(path), "%s/zeta.yaml", directory);
    if (!read_file(store, path, false))
        return false;
    (void)snprintf(path, sizeof(path), "%s/zeta.d", directory);
    if (!zeta_paths_each_yaml(path, read_drop_in, store))
        return false;
    if (!zeta_paths_user_config(directory, sizeof(directory)))
        return true;
    (void)snprintf(path, sizeof(path), "%s/zeta.yaml", directory);
    return read_file(store, path, false);
}

/* ---- the settings in effect ---- */

struct state {
    struct store store;       /* values in effect, defaults included */
    struct store environment; /* variables that belong to plugins, by their name */
    struct state *older; /* what this is a copy of: it has strings of ours, and may be in use */
};

static _Atomic(struct state *) published;

/* The next one, between the first declaration of a plugin and the end; for who may declare. */
static _Atomic(struct state *) draft;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* A default that the program chose in the place of ours. */
struct choice {
    struct choice *before; /* an older one */
    const char *name;
    char value[]; /* empty: ours after all */
};

static _Atomic(struct choice *) choices;

/* A thread of the parent may have been changing its draft. */
static void leave_draft_to_parent(void)
{
    atomic_store(&draft, NULL);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, leave_draft_to_parent);
}

/* A variable replaces values of files; an empty one takes it back to the default. */
static bool apply_variable(struct store *store, const char *name, const char *variable,
                           const char *value)
{
    char origin[2 * NAME_BYTES];

    (void)snprintf(origin, sizeof(origin), "environment %s", variable);
    return set(store, name, value, origin);
}

static bool apply_known(struct store *store)
{
    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        const struct choice *own = atomic_load(&choices);
        const char *value = NULL;

        if (known->variable)
            value =
                known->harmless ? getenv(known->variable) : zeta_paths_environment(known->variable);
        if (value && !apply_variable(store, known->name, known->variable, value))
            return false;
        if (find(store, known->name, NULL))
            continue;
        while (own && strcmp(own->name, known->name) != 0)
            own = own->before;
        const bool is_chosen = own && *own->value;
        if (!set(store, known->name, is_chosen ? own->value : known->fallback,
                 is_chosen ? "default of the program" : "default"))
            return false;
    }
    return true;
}

/* Keeps ZETA_PLUGIN_<ID>_<KEY>: which plugins there are is not known yet. */
static bool keep_plugin_variables(struct store *environment)
{
    char variable[NAME_BYTES];
    char origin[NAME_BYTES + 16];

    if (zeta_trust_level() == ZETA_TRUST_PRIVILEGED)
        return true;
    for (char **at = environ; at && *at; at++) {
        const char *equals = strchr(*at, '=');
        size_t length = equals ? (size_t)(equals - *at) : 0;

        if (!equals || strncmp(*at, PLUGIN_PREFIX, sizeof(PLUGIN_PREFIX) - 1) != 0 ||
            length >= sizeof(variable))
            continue;
        memcpy(variable, *at, length);
        variable[length] = '\0';
        (void)snprintf(origin, sizeof(origin), "environment %s", variable);
        /* An empty variable must be remembered as well: it removes a value. */
        if (!set(environment, variable, equals[1] ? equals + 1 : KEPT_EMPTY, origin))
            return false;
    }
    return true;
}

static void free_state(struct state *state)
{
    finish_store(&state->store);
    finish_store(&state->environment);
    free(state);
}

/* A copy of what is published, to be changed; NULL without memory. */
static struct state *get_draft(struct state *current)
{
    struct state *made = atomic_load(&draft);

    if (made)
        return made;
    made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    if (!copy_store(&current->store, &made->store) ||
        !copy_store(&current->environment, &made->environment)) {
        free_state(made);
        return NULL;
    }
    made->older = current;
    atomic_store(&draft, made);
    return made;
}

ze_result_t zeta_settings_load(void)
{
    struct state *expected = NULL;
    struct state *state;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (atomic_load_explicit(&published, memory_order_acquire))
        return ZE_RESULT_SUCCESS;
    (void)pthread_once(&fork_once, watch_forks);
    state = calloc(1, sizeof(*state));
    if (!state)
        return zeta_error_no_memory("the settings");
    /* Messages about the settings themselves obey the environment already. */
    const char *level = getenv("ZETA_LOG");
    const char *file = zeta_paths_environment("ZETA_LOG_FILE");
    zeta_log_configure(level ? level : "warn", file ? file : "");
    if (!read_files(&state->store) || !apply_known(&state->store) ||
        !keep_plugin_variables(&state->environment))
        result = zeta_error_no_memory("the settings");
    if (result != ZE_RESULT_SUCCESS ||
        !atomic_compare_exchange_strong(&published, &expected, state)) {
        free_state(state); /* another thread was first: its settings count */
        return result;
    }
    zeta_log_configure(zeta_settings_text("log.level", "warn"), zeta_settings_text("log.file", ""));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_settings_set_default(const char *name, const char *value)
{
    const struct zeta_known_setting *known = find_known(name);
    const size_t bytes = strlen(value) + 1;
    struct choice *choice;

    if (!known)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "Zeta has no setting '%s'; config/zeta.yaml lists all.", name);
    if (atomic_load_explicit(&published, memory_order_acquire))
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                          "The settings were read already; choose the default of %s before zeInit "
                          "and zeInitDrivers.",
                          name);
    choice = malloc(sizeof(*choice) + bytes);
    if (!choice)
        return zeta_error_no_memory("the settings");
    choice->name = known->name;
    memcpy(choice->value, value, bytes);
    choice->before = atomic_load(&choices);
    while (!atomic_compare_exchange_weak(&choices, &choice->before, choice))
        continue;
    return ZE_RESULT_SUCCESS;
}

void zeta_settings_unload(void)
{
    struct state *last = atomic_exchange(&published, NULL);
    struct state *state = atomic_exchange(&draft, NULL);
    struct choice *choice = atomic_exchange(&choices, NULL);

    for (state = state ? state : last; state; state = last) {
        last = state->older;
        free_state(state);
    }
    while (choice) {
        struct choice *before = choice->before;

        free(choice);
        choice = before;
    }
    zeta_log_reset();
}

const struct zeta_setting *zeta_settings_find(const char *name)
{
    const struct state *state = atomic_load_explicit(&published, memory_order_acquire);

    return state ? find(&state->store, name, NULL) : NULL;
}

const struct zeta_setting *zeta_settings_all(size_t *out_count)
{
    const struct state *state = atomic_load_explicit(&published, memory_order_acquire);

    *out_count = state ? state->store.count : 0;
    return state ? state->store.entries : NULL;
}

const char *zeta_settings_text(const char *name, const char *fallback)
{
    const struct zeta_setting *entry = zeta_settings_find(name);

    return entry ? entry->value : fallback;
}

bool zeta_settings_has(const char *globs, const char *name)
{
    char glob[NAME_BYTES];

    while (*globs) {
        const size_t length = strcspn(globs, ",");

        if (length > 0 && length < sizeof(glob)) {
            (void)snprintf(glob, sizeof(glob), "%.*s", (int)length, globs);
            if (fnmatch(glob, name, 0) == 0)
                return true;
        }
        globs += length + (globs[length] == ',');
    }
    return false;
}

const char *zeta_settings_origin(const char *name)
{
    const struct zeta_setting *entry = zeta_settings_find(name);

    return entry ? entry->origin : "default";
}

bool zeta_settings_bool(const char *name, bool fallback)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    const struct zeta_setting *entry = zeta_settings_find(name);

    if (!entry)
        return fallback;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (strcasecmp(entry->value, yes[i]) == 0)
            return true;
        if (strcasecmp(entry->value, no[i]) == 0)
            return false;
    }
    zeta_log_once(ZETA_LOG_WARN, "settings", "%s: %s is true or false, not \"%s\"; %s is used.",
                  entry->origin, name, entry->value, fallback ? "true" : "false");
    return fallback;
}

bool zeta_settings_plugin_variable(char *out_name, size_t size_bytes, const char *id,
                                   const char *key)
{
    int length = snprintf(out_name, size_bytes, PLUGIN_PREFIX "%s_%s", id, key ? key : "");

    if (length < 0 || (size_t)length >= size_bytes)
        return false;
    for (char *at = out_name; *at; at++)
        *at = isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_';
    return true;
}

static bool full_name(char *out_name, size_t size_bytes, const char *id, const char *key)
{
    int length = snprintf(out_name, size_bytes, "plugins.%s.%s", id, key);

    return length > 0 && (size_t)length < size_bytes;
}

static bool is_used(const struct zeta_setting *kept)
{
    return strcmp(kept->value, KEPT_USED) == 0;
}

static const char *kept_value(const struct zeta_setting *kept)
{
    return strcmp(kept->value, KEPT_EMPTY) == 0 || strcmp(kept->value, KEPT_USED) == 0
               ? ""
               : kept->value;
}

ze_result_t zeta_settings_declare(const char *id, const char *key, const char *variable,
                                  const char *default_value, const char *default_origin)
{
    struct state *current = atomic_load_explicit(&published, memory_order_acquire);
    const struct zeta_setting *kept;
    struct state *state;
    char name[NAME_BYTES];
    char derived[NAME_BYTES];
    const char *own;

    if (!current || !full_name(name, sizeof(name), id, key) ||
        !zeta_settings_plugin_variable(derived, sizeof(derived), id, key))
        return ZE_RESULT_SUCCESS; /* nobody can have set a name of that length */
    state = get_draft(current);
    if (!state)
        return zeta_error_no_memory("the settings");
    kept = find(&state->environment, derived, NULL);
    if (kept && !is_used(kept) &&
        (!apply_variable(&state->store, name, derived, kept_value(kept)) ||
         !set(&state->environment, derived, KEPT_USED, "")))
        return zeta_error_no_memory("the settings");
    own = variable ? zeta_paths_environment(variable) : NULL;
    if (own && !apply_variable(&state->store, name, variable, own))
        return zeta_error_no_memory("the settings");
    if (default_value && !find(&state->store, name, NULL) &&
        !set(&state->store, name, default_value, default_origin))
        return zeta_error_no_memory("the settings");
    return ZE_RESULT_SUCCESS;
}

/*
 * Applies the kept variables of a plugin, which begin with prefix, that no declared setting has
 * taken: to what files set although no manifest declares it, else to a new setting.
 */
static bool take_others(struct state *state, const char *id, const char *prefix)
{
    char name[NAME_BYTES];
    char derived[NAME_BYTES];

    for (size_t i = 0; i < state->environment.count; i++) {
        const struct zeta_setting *kept = &state->environment.entries[i];
        bool is_known = false;

        if (strncmp(kept->name, prefix, strlen(prefix)) != 0 || !kept->name[strlen(prefix)] ||
            is_used(kept) || !full_name(name, sizeof(name), id, ""))
            continue;
        const size_t key_at = strlen(name);
        for (size_t k = 0; k < state->store.count; k++) {
            const struct zeta_setting *entry = &state->store.entries[k];

            if (strncmp(entry->name, name, key_at) != 0 ||
                !zeta_settings_plugin_variable(derived, sizeof(derived), id,
                                               entry->name + key_at) ||
                strcmp(derived, kept->name) != 0)
                continue;
            is_known = true;
            if (strncmp(entry->origin, "environment ", 12) == 0)
                continue;
            if (!apply_variable(&state->store, entry->name, derived, kept_value(kept)))
                return false;
            if (!*kept_value(kept))
                k--; /* the entry is gone */
        }
        if (is_known || !*kept_value(kept) ||
            !full_name(name, sizeof(name), id, kept->name + strlen(prefix)))
            continue;
        for (char *key = name + key_at; *key; key++)
            *key = (char)tolower((unsigned char)*key);
        if (!apply_variable(&state->store, name, kept->name, kept->value))
            return false;
    }
    return true;
}

ze_result_t zeta_settings_declare_end(const char *id)
{
    struct state *current = atomic_load_explicit(&published, memory_order_acquire);
    struct state *state;
    char prefix[NAME_BYTES];

    if (!current || !zeta_settings_plugin_variable(prefix, sizeof(prefix), id, NULL))
        return ZE_RESULT_SUCCESS;
    state = get_draft(current);
    if (!state || !take_others(state, id, prefix))
        return zeta_error_no_memory("the settings");
    atomic_store(&draft, NULL);
    atomic_store_explicit(&published, state, memory_order_release);
    return ZE_RESULT_SUCCESS;
}

const char *zeta_settings_plugin(const char *id, const char *key)
{
    const struct state *state = atomic_load_explicit(&published, memory_order_acquire);
    const struct zeta_setting *entry;
    char name[NAME_BYTES];

    if (!state || !full_name(name, sizeof(name), id, key))
        return NULL;
    entry = find(&state->store, name, NULL);
    if (entry)
        return entry->value;
    /* Not declared, and with dots or capitals: the variable still means it. */
    if (!zeta_settings_plugin_variable(name, sizeof(name), id, key))
        return NULL;
    entry = find(&state->environment, name, NULL);
    return entry && *kept_value(entry) ? entry->value : NULL;
}

bool zeta_settings_switch(const char *variable)
{
    const char *value = getenv(variable);

    return value && strtoul(value, NULL, 0) != 0;
}
