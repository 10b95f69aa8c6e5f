/*
 * Counting units as backends take them: the program of a set, and pools of queries, which give
 * records of what was counted between the begins and ends that command lists contain.
 */
#ifndef ZETA_CORE_CAPTURE_UNIT_H
#define ZETA_CORE_CAPTURE_UNIT_H

#include <pthread.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "zeta/plugin.h"

struct zeta_backend_device;
struct zeta_compiled;
struct zeta_plugin_query_pool;
struct zeta_provider;

struct zeta_unit_program {
    struct zeta_plugin_array array; /**< of struct zeta_plugin_program_entry, owned */
    struct zeta_plugin_string digest;
    struct zeta_plugin_string uuid; /**< as the set file has it, or empty */
    char digest_text[17];
};

/**
 * Makes the program of a compiled set; its strings stay those of the catalog. The digest is equal
 * for equal programs in every process. Errors: OUT_OF_HOST_MEMORY. Not to be moved in memory.
 */
ze_result_t zeta_unit_program_make(const struct zeta_compiled *compiled,
                                   struct zeta_unit_program *out_program);

/** What a compiled set uses its program for; points into both. */
struct zeta_plugin_program_use zeta_unit_use(const struct zeta_compiled *compiled,
                                             const struct zeta_unit_program *program);

/** Frees a program; a zeroed one is fine. */
void zeta_unit_program_free(struct zeta_unit_program *program);

/** In how many passes a backend would count what a set asks for. */
struct zeta_unit_passes {
    uint32_t count;   /**< 1: at once; 0: never */
    char reason[256]; /**< a sentence unless the count is 1; may be empty */
};

/**
 * Asks the backend of a device or tile about a compiled set, in the query form about queries. What
 * the backend cannot tell counts as 1. Call it without locks. Errors: those of
 * zeta_unit_program_make().
 */
ze_result_t zeta_unit_check_program(const struct zeta_backend_device *device,
                                    const struct zeta_compiled *compiled,
                                    struct zeta_unit_passes *out_passes);

/** A text for a backend; NULL becomes an empty one. */
struct zeta_plugin_string zeta_plugin_text(const char *text);

struct zeta_query_source {
    const struct zeta_provider *provider;
    struct zeta_plugin_query_pool *pool; /**< NULL: not open; the owner destroys it */
    uint32_t record_bytes;
    uint32_t record_count; /**< records of one query: one per tile that the backend has */
    pthread_mutex_t lock;  /**< for calls of the backend that change the pool */
};

/**
 * Lets the backend make a pool of count queries of a device, with the query form of a set. Errors:
 * those of the backend; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_query_source_open(struct zeta_query_source *source,
                                   const struct zeta_backend_device *device,
                                   const struct zeta_compiled *compiled, uint32_t count);

/** Forgets the result of a query. Errors: those of the backend. */
ze_result_t zeta_query_source_reset(struct zeta_query_source *source, uint32_t index);

#endif
