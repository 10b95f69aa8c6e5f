#include "sdk/tools/zeta/trace/name_table.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* The bucket of a name, or the free one where it belongs. */
static uint32_t *find_bucket(const struct zeta_name_table *table, const char *name)
{
    uint32_t at = (uint32_t)hash_of(name) & (table->bucket_count - 1);

    while (table->buckets[at] != 0 && strcmp(table->names[table->buckets[at] - 1], name) != 0)
        at = (at + 1) & (table->bucket_count - 1);
    return &table->buckets[at];
}

/* Keeps at least half of the buckets free. */
static bool make_room(struct zeta_name_table *table)
{
    const uint32_t bucket_count = table->bucket_count ? table->bucket_count * 2 : 64;
    uint32_t *buckets;
    char **names;

    if (table->count < table->bucket_count / 2)
        return true;
    names = realloc(table->names, bucket_count / 2 * sizeof(*names));
    if (!names)
        return false;
    table->names = names;
    buckets = calloc(bucket_count, sizeof(*buckets));
    if (!buckets)
        return false;
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_count = bucket_count;
    for (uint32_t i = 0; i < table->count; i++)
        *find_bucket(table, names[i]) = i + 1;
    return true;
}

enum zeta_name_found zeta_name_table_get(struct zeta_name_table *table, const char *name,
                                         uint32_t *out_number)
{
    uint32_t *bucket;

    if (!make_room(table))
        return ZETA_NAME_NO_MEMORY;
    bucket = find_bucket(table, name);
    if (*bucket != 0) {
        *out_number = *bucket - 1;
        return ZETA_NAME_OLD;
    }
    table->names[table->count] = strdup(name);
    if (!table->names[table->count])
        return ZETA_NAME_NO_MEMORY;
    *out_number = table->count;
    *bucket = ++table->count;
    return ZETA_NAME_NEW;
}

void zeta_name_table_finish(struct zeta_name_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        free(table->names[i]);
    free(table->names);
    free(table->buckets);
    *table = (struct zeta_name_table){0};
}
