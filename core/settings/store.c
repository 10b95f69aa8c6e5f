#include "core/settings/store.h"

#include <stdlib.h>
#include <string.h>

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
