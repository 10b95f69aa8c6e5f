/* The settings that Zeta itself has, and the store of the values in effect. */
#include "core/settings/settings_priv.h"

#include <stdlib.h>
#include <string.h>

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

const struct zeta_known_setting *zeta_known_setting_find(const char *name)
{
    for (const struct zeta_known_setting *known = zeta_known_settings; known->name; known++) {
        if (strcmp(known->name, name) == 0)
            return known;
    }
    return NULL;
}

/* Position of a name, or where it belongs. */
static size_t position(const struct zeta_setting_store *store, const char *name, bool *out_found)
{
    size_t low = 0;
    size_t high = store->count;

    *out_found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(store->entries[middle].name, name);

        if (order == 0) {
            *out_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zeta_setting_entry *zeta_store_find(const struct zeta_setting_store *store, const char *name)
{
    bool found;
    size_t at = position(store, name, &found);

    return found ? &store->entries[at] : NULL;
}

static void remove_at(struct zeta_setting_store *store, size_t at)
{
    memmove(&store->entries[at], &store->entries[at + 1],
            (store->count - at - 1) * sizeof(*store->entries));
    store->count--;
}

static bool grow(struct zeta_setting_store *store)
{
    size_t capacity = store->capacity ? 2 * store->capacity : 32;
    struct zeta_setting_entry *entries;

    if (store->count < store->capacity)
        return true;
    entries = realloc(store->entries, capacity * sizeof(*entries));
    if (!entries)
        return false;
    store->entries = entries;
    store->capacity = capacity;
    return true;
}

bool zeta_store_copy(const struct zeta_setting_store *store, struct zeta_setting_store *out_copy)
{
    *out_copy = (struct zeta_setting_store){0};
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

bool zeta_store_set(struct zeta_setting_store *store, const char *name, const char *value,
                    const char *origin)
{
    struct zeta_setting_entry entry;
    bool found;
    size_t at = position(store, name, &found);

    if (!*value) {
        if (found)
            remove_at(store, at);
        return true;
    }
    entry.name =
        found ? store->entries[at].name : zeta_arena_copy(&store->arena, name, strlen(name));
    entry.value = zeta_arena_copy(&store->arena, value, strlen(value));
    entry.origin = zeta_arena_copy(&store->arena, origin, strlen(origin));
    if (!entry.name || !entry.value || !entry.origin || (!found && !grow(store)))
        return false;
    if (!found) {
        memmove(&store->entries[at + 1], &store->entries[at],
                (store->count - at) * sizeof(*store->entries));
        store->count++;
    }
    store->entries[at] = entry;
    return true;
}

void zeta_store_finish(struct zeta_setting_store *store)
{
    zeta_arena_finish(&store->arena);
    free(store->entries);
    *store = (struct zeta_setting_store){0};
}
