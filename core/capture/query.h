/*
 * The backend's side of a query pool: records of what was counted between the begins and ends that
 * command lists contain.
 */
#ifndef ZETA_CORE_CAPTURE_QUERY_H
#define ZETA_CORE_CAPTURE_QUERY_H

#include <pthread.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_backend_device;
struct zeta_compiled;
struct zeta_plugin_query_pool;
struct zeta_provider;

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
