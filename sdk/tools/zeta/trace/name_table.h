/*
 * Numbers for strings: the first one that is asked for gets 0, the next new one 1, and so on.
 */
#ifndef ZETA_TOOLS_TRACE_NAME_TABLE_H
#define ZETA_TOOLS_TRACE_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** All zero bytes is an empty table. */
struct zeta_name_table {
    char **names; /**< by number; terminated */
    uint32_t count;
    uint32_t *buckets; /**< number + 1, or 0 */
    uint32_t bucket_count;
};

/** What was found for a string. */
enum zeta_name_found { ZETA_NAME_OLD, ZETA_NAME_NEW, ZETA_NAME_NO_MEMORY };

/** Finds or adds a string. */
enum zeta_name_found zeta_name_table_get(struct zeta_name_table *table, const char *name,
                                         uint32_t *out_number);

/** Frees the table and its strings. */
void zeta_name_table_finish(struct zeta_name_table *table);

#endif
