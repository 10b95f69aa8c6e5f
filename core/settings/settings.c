/*
 * The settings of this process: merged once, published through one pointer, constant afterwards.
 * Declarations of a plugin are made in a copy, which is published in its place.
 */
#include "core/settings/settings.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/settings/paths.h"
#include "core/settings/settings_priv.h"
#include "core/util/error.h"
#include "core/util/log.h"
#include "core/util/trust.h"

#define NAME_BYTES 256
#define PLUGIN_PREFIX "ZETA_PLUGIN_"

/* Values of kept variables with a special meaning: the store holds no empty value. */
#define KEPT_EMPTY "\n" /* set, but empty: takes a setting back to its default */
#define KEPT_USED "\r"  /* a declared setting has taken it */

struct state {
    struct zeta_setting_store store;       /* values in effect, defaults included */
    struct zeta_setting_store environment; /* variables that belong to plugins, by their name */
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
static bool apply_variable(struct zeta_setting_store *store, const char *name, const char *variable,
                           const char *value)
{
    char origin[2 * NAME_BYTES];

    (void)snprintf(origin, sizeof(origin), "environment %s", variable);
    return zeta_store_set(store, name, value, origin);
}

static bool apply_default(struct zeta_setting_store *store, const struct zeta_known_setting *known)
{
    const struct choice *own = atomic_load(&choices);

    if (zeta_store_find(store, known->name))
        return true;
    while (own && strcmp(own->name, known->name) != 0)
        own = own->before;
    if (own && *own->value)
        return zeta_store_set(store, known->name, own->value, "default of the program");
    return zeta_store_set(store, known->name, known->fallback, "default");
}

static bool apply_known(struct zeta_setting_store *store)
{
    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        const char *value = NULL;

        if (known->variable)
            value =
                known->harmless ? getenv(known->variable) : zeta_paths_environment(known->variable);
        if (value && !apply_variable(store, known->name, known->variable, value))
            return false;
        if (!apply_default(store, known))
            return false;
    }
    return true;
}

/* Keeps ZETA_PLUGIN_<ID>_<KEY>: which plugins there are is not known yet. */
static bool keep_plugin_variables(struct zeta_setting_store *environment)
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
        if (!zeta_store_set(environment, variable, equals[1] ? equals + 1 : KEPT_EMPTY, origin))
            return false;
    }
    return true;
}

static void free_state(struct state *state)
{
    zeta_store_finish(&state->store);
    zeta_store_finish(&state->environment);
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
    if (!zeta_store_copy(&current->store, &made->store) ||
        !zeta_store_copy(&current->environment, &made->environment)) {
        free_state(made);
        return NULL;
    }
    made->older = current;
    atomic_store(&draft, made);
    return made;
}

/* Messages about the settings themselves obey the environment already. */
static void configure_log(const char *level, const char *file)
{
    zeta_log_configure(level ? level : "warn", file ? file : "");
}

ze_result_t zeta_settings_load(void)
{
    struct state *expected = NULL;
    struct state *state;
    ze_result_t result;

    if (atomic_load_explicit(&published, memory_order_acquire))
        return ZE_RESULT_SUCCESS;
    (void)pthread_once(&fork_once, watch_forks);
    state = calloc(1, sizeof(*state));
    if (!state)
        return zeta_error_no_memory("the settings");
    configure_log(getenv("ZETA_LOG"), zeta_paths_environment("ZETA_LOG_FILE"));
    result = zeta_settings_read_files(&state->store);
    if (result == ZE_RESULT_SUCCESS &&
        (!apply_known(&state->store) || !keep_plugin_variables(&state->environment)))
        result = zeta_error_no_memory("the settings");
    if (result != ZE_RESULT_SUCCESS ||
        !atomic_compare_exchange_strong(&published, &expected, state)) {
        free_state(state); /* another thread was first: its settings count */
        return result;
    }
    configure_log(zeta_settings_text("log.level", NULL), zeta_settings_text("log.file", NULL));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_settings_set_default(const char *name, const char *value)
{
    const struct zeta_known_setting *known = zeta_known_setting_find(name);
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

const struct zeta_setting_entry *zeta_settings_find(const char *name)
{
    const struct state *state = atomic_load_explicit(&published, memory_order_acquire);

    return state ? zeta_store_find(&state->store, name) : NULL;
}

const struct zeta_setting_entry *zeta_settings_all(size_t *out_count)
{
    const struct state *state = atomic_load_explicit(&published, memory_order_acquire);

    *out_count = state ? state->store.count : 0;
    return state ? state->store.entries : NULL;
}

const char *zeta_settings_text(const char *name, const char *fallback)
{
    const struct zeta_setting_entry *entry = zeta_settings_find(name);

    return entry ? entry->value : fallback;
}

const char *zeta_settings_origin(const char *name)
{
    const struct zeta_setting_entry *entry = zeta_settings_find(name);

    return entry ? entry->origin : "default";
}

bool zeta_settings_bool(const char *name, bool fallback)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    const struct zeta_setting_entry *entry = zeta_settings_find(name);

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

static bool is_used(const struct zeta_setting_entry *kept)
{
    return strcmp(kept->value, KEPT_USED) == 0;
}

static const char *kept_value(const struct zeta_setting_entry *kept)
{
    return strcmp(kept->value, KEPT_EMPTY) == 0 || strcmp(kept->value, KEPT_USED) == 0
               ? ""
               : kept->value;
}

ze_result_t zeta_settings_declare(const char *id, const char *key, const char *variable,
                                  const char *default_value, const char *default_origin)
{
    struct state *current = atomic_load_explicit(&published, memory_order_acquire);
    const struct zeta_setting_entry *kept;
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
    kept = zeta_store_find(&state->environment, derived);
    if (kept && !is_used(kept) &&
        (!apply_variable(&state->store, name, derived, kept_value(kept)) ||
         !zeta_store_set(&state->environment, derived, KEPT_USED, "")))
        return zeta_error_no_memory("the settings");
    own = variable ? zeta_paths_environment(variable) : NULL;
    if (own && !apply_variable(&state->store, name, variable, own))
        return zeta_error_no_memory("the settings");
    if (default_value && !zeta_store_find(&state->store, name) &&
        !zeta_store_set(&state->store, name, default_value, default_origin))
        return zeta_error_no_memory("the settings");
    return ZE_RESULT_SUCCESS;
}

/* True if a setting in effect of the plugin is the one that the variable means. */
static bool is_taken(const struct state *state, const char *id, const char *variable)
{
    char prefix[NAME_BYTES];
    char derived[NAME_BYTES];

    if (!full_name(prefix, sizeof(prefix), id, ""))
        return true;
    for (size_t i = 0; i < state->store.count; i++) {
        const char *name = state->store.entries[i].name;

        if (strncmp(name, prefix, strlen(prefix)) == 0 &&
            zeta_settings_plugin_variable(derived, sizeof(derived), id, name + strlen(prefix)) &&
            strcmp(derived, variable) == 0)
            return true;
    }
    return false;
}

/* A file may set what no manifest declares; a variable of that name still wins over it. */
static bool apply_to_undeclared(struct state *state, const char *id)
{
    char prefix[NAME_BYTES];
    char derived[NAME_BYTES];

    if (!full_name(prefix, sizeof(prefix), id, ""))
        return true;
    for (size_t i = 0; i < state->store.count; i++) {
        const char *name = state->store.entries[i].name;
        const struct zeta_setting_entry *kept;

        if (strncmp(name, prefix, strlen(prefix)) != 0 ||
            strncmp(state->store.entries[i].origin, "environment ", 12) == 0 ||
            !zeta_settings_plugin_variable(derived, sizeof(derived), id, name + strlen(prefix)))
            continue;
        kept = zeta_store_find(&state->environment, derived);
        if (!kept || is_used(kept))
            continue;
        if (!apply_variable(&state->store, name, derived, kept_value(kept)))
            return false;
        if (!*kept_value(kept))
            i--; /* the entry is gone */
    }
    return true;
}

/* Variables of the plugin that no setting in effect has taken; prefix is what they begin with. */
static bool take_others(struct state *state, const char *id, const char *prefix)
{
    char name[NAME_BYTES];

    for (size_t i = 0; i < state->environment.count; i++) {
        const struct zeta_setting_entry *kept = &state->environment.entries[i];
        char *key;

        if (strncmp(kept->name, prefix, strlen(prefix)) != 0 || !kept->name[strlen(prefix)] ||
            !*kept_value(kept) || is_taken(state, id, kept->name) ||
            !full_name(name, sizeof(name), id, kept->name + strlen(prefix)))
            continue;
        key = name + strlen("plugins.") + strlen(id) + 1;
        for (; *key; key++)
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
    if (!state || !apply_to_undeclared(state, id) || !take_others(state, id, prefix))
        return zeta_error_no_memory("the settings");
    atomic_store(&draft, NULL);
    atomic_store_explicit(&published, state, memory_order_release);
    return ZE_RESULT_SUCCESS;
}

const char *zeta_settings_plugin(const char *id, const char *key)
{
    const struct state *state = atomic_load_explicit(&published, memory_order_acquire);
    const struct zeta_setting_entry *entry;
    char name[NAME_BYTES];

    if (!state || !full_name(name, sizeof(name), id, key))
        return NULL;
    entry = zeta_store_find(&state->store, name);
    if (entry)
        return entry->value;
    /* Not declared, and with dots or capitals: the variable still means it. */
    if (!zeta_settings_plugin_variable(name, sizeof(name), id, key))
        return NULL;
    entry = zeta_store_find(&state->environment, name);
    return entry && *kept_value(entry) ? entry->value : NULL;
}

bool zeta_settings_switch(const char *variable)
{
    const char *value = getenv(variable);

    return value && strtoul(value, NULL, 0) != 0;
}
