/*
 * Virtual memory of a context: reserved addresses, physical memory, and what is mapped where.
 *
 * A reservation keeps its mappings in order of their addresses. One thread at a time changes a
 * reservation; it is marked busy meanwhile, because the backend is called without a lock.
 */
#ifndef ZETA_CORE_MEMORY_VIRTUAL_H
#define ZETA_CORE_MEMORY_VIRTUAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/plugin.h>

#include "core/memory/memory.h"
#include "core/object/object.h"

struct zeta_backend;
struct zeta_context;
struct zeta_device;
struct zeta_virtual_table;

/** Memory without an address. Belongs to its context, with which it ends at the latest. */
struct zeta_physical {
    struct zeta_object object;
    struct zeta_context *context; /**< not pinned */
    struct zeta_device *device;   /**< NULL for memory of the host */
    struct zeta_backend *backend;
    struct zeta_plugin_physical *plugin_physical;
    uint64_t id;
    size_t size_bytes;
    ze_memory_type_t type;
    ze_external_memory_type_flags_t export_types;
    _Atomic uint32_t mappings;          /**< pieces of it that are mapped */
    struct zeta_memory_export *exports; /**< guarded by the lock of the context's allocations */
    struct zeta_physical *next;         /**< of the context; guarded by the table's lock */
    struct zeta_physical **link;        /**< where it is linked */
};

/** Physical memory at reserved addresses, or the access that was set for some with nothing there.
 */
struct zeta_virtual_mapping {
    uintptr_t base;
    size_t size_bytes;
    struct zeta_physical *physical; /**< NULL: nothing is mapped */
    size_t offset_bytes;
    ze_memory_access_attribute_t access;
};

/** An empty table; NULL when memory is exhausted. */
struct zeta_virtual_table *zeta_virtual_table_create(void);

/** Frees reservations and physical memory that are left, and the table. NULL is allowed. */
void zeta_virtual_table_destroy(struct zeta_virtual_table *table);

/** Copies the mapping that holds the address; false if nothing is mapped there. Any thread. */
bool zeta_virtual_find(struct zeta_virtual_table *table, const void *address,
                       struct zeta_virtual_mapping *out_mapping);

/** Puts physical memory into the list of its context, and takes it out. */
void zeta_virtual_link(struct zeta_virtual_table *table, struct zeta_physical *physical);
void zeta_virtual_unlink(struct zeta_virtual_table *table, struct zeta_physical *physical);

/**
 * Page size of a device (or of the context, NULL) for memory of a size.
 * Errors: UNSUPPORTED_FEATURE when its backend has no virtual memory.
 */
ze_result_t zeta_virtual_page(const struct zeta_context *context, struct zeta_device *device,
                              size_t size_bytes, size_t *out_page_bytes);

#endif
