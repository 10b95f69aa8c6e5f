/*
 * Allocations of a context: a tree by address, so that any pointer into one is recognised.
 */
#ifndef ZETA_CORE_DEVICE_MEMORY_H
#define ZETA_CORE_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_backend;
struct zeta_device;
struct zeta_memory_table;

/** One allocation. */
struct zeta_allocation {
    void *base;
    size_t size_bytes;
    ze_memory_type_t type;
    uint64_t id;                  /**< unique in the process, from 1 */
    struct zeta_device *device;   /**< NULL: of no device in particular */
    struct zeta_backend *backend; /**< who frees it */
};

/** An empty table; NULL when memory is exhausted. */
struct zeta_memory_table *zeta_memory_table_create(void);

/** Frees all allocations that are left and the table. NULL is allowed. */
void zeta_memory_table_destroy(struct zeta_memory_table *table);

/** Copies the allocation that holds the address; false if none does. Any thread. */
bool zeta_memory_find(struct zeta_memory_table *table, const void *address,
                      struct zeta_allocation *out_allocation);

#endif
