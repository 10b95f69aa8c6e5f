/*
 * Query pools over all numbers of a report, for tests of the plugin.
 */
#ifndef ZETA_TESTS_VGPU_PLUGIN_QUERIES_H
#define ZETA_TESTS_VGPU_PLUGIN_QUERIES_H

#include <zeta/query_record.h>

#include "host.h"

/** Fields of a record in order: four of the header, A0..A35, B0..B7, C0..C7. */
enum { QUERY_A = 4, QUERY_B = 40, QUERY_C = 48, QUERY_FIELDS = 56 };

/** A record of all fields. */
struct query_record {
    struct zeta_query_record header;
    uint64_t fields[QUERY_FIELDS];
};

/** Makes a pool of a device with the selections, a null-terminated list or null. */
uint32_t query_pool_try(struct host *host, struct zeta_plugin_device *device, uint32_t count,
                        const char *const *selections, struct zeta_plugin_query_pool **out_pool);

/** The same on the first device; fails the test if that is not possible. */
struct zeta_plugin_query_pool *query_pool(struct host *host, uint32_t count,
                                          const char *const *selections);

/** Fills a description with all fields; they live as long as the process. */
struct zeta_plugin_query_desc query_desc(uint32_t count);

struct zeta_plugin_command query_begin(struct zeta_plugin_query_pool *pool, uint32_t index);
struct zeta_plugin_command query_end(struct zeta_plugin_query_pool *pool, uint32_t index);

/** The only record of a finished query; fails the test if it is not there or makes no sense. */
struct query_record query_result(struct host *host, struct zeta_plugin_query_pool *pool,
                                 uint32_t index);

#endif
