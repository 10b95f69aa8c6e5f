/*
 * Allocations of a context: a tree by address, so that any pointer into one is recognised.
 *
 * A table is guarded by one lock, which is never held while a plugin is called. What a function
 * learned about an allocation stays true as long as the application does not free it.
 */
#ifndef ZETA_CORE_MEMORY_MEMORY_H
#define ZETA_CORE_MEMORY_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/plugin.h>

#include "core/object/object.h"

struct zeta_backend;
struct zeta_context;
struct zeta_device;
struct zeta_memory_table;
struct zeta_queue_marks;
struct zeta_virtual_table;

/** Where the bytes of an allocation come from. */
enum zeta_memory_origin {
    ZETA_MEMORY_ALLOCATED,
    ZETA_MEMORY_OPENED,   /**< zeMemOpenIpcHandle */
    ZETA_MEMORY_IMPORTED, /**< a descriptor in the chain of an allocation */
    ZETA_MEMORY_ADOPTED   /**< memory of the application */
};

/** What other processes get; guarded by the table's lock. */
struct zeta_memory_export {
    struct zeta_plugin_share share; /**< share.descriptor is ours */
    uint64_t start_bytes;           /**< first byte that is meant, in physical memory; else 0 */
    uint64_t handles;               /**< given out and not put back, at least 1 */
    struct zeta_memory_export *next;
};

/** One allocation. */
struct zeta_allocation {
    void *base;
    size_t size_bytes;
    ze_memory_type_t type;
    enum zeta_memory_origin origin;
    uint64_t id;                                         /**< unique in the process, from 1 */
    struct zeta_device *device;                          /**< NULL: of no device in particular */
    struct zeta_backend *backend;                        /**< who frees it; NULL: the core */
    ze_external_memory_type_flags_t export_types;        /**< asked for at the allocation */
    ze_memory_atomic_attr_exp_flags_t atomic_attributes; /**< last set; 0: none */
    struct zeta_memory_export *exports;
    struct zeta_queue_marks *marks; /**< of a deferred free: what it waits for */
    struct zeta_allocation *next;   /**< in the list of deferred frees */
};

/** An empty table; NULL when memory is exhausted. */
struct zeta_memory_table *zeta_memory_table_create(void);

/** Frees all allocations that are left and the table. NULL is allowed. */
void zeta_memory_table_destroy(struct zeta_memory_table *table);

/** Copies the allocation that holds the address; false if none does. Any thread. */
bool zeta_memory_find(struct zeta_memory_table *table, const void *address,
                      struct zeta_allocation *out_allocation);

/** The lock of a table, for the functions below and for exports of physical memory. */
void zeta_memory_lock(struct zeta_memory_table *table);
void zeta_memory_unlock(struct zeta_memory_table *table);

/** The allocation that holds the address; NULL if none does. Valid while the lock is held. */
struct zeta_allocation *zeta_memory_find_locked(struct zeta_memory_table *table,
                                                const void *address);

/** Notes an allocation with an id. The table owns it, unless there is no memory (false). */
bool zeta_memory_insert(struct zeta_memory_table *table, struct zeta_allocation *allocation);

/**
 * Takes the allocation that starts at ptr out of the table and ends its handles. opened: it has to
 * be one that zeMemOpenIpcHandle gave. Errors: INVALID_ARGUMENT.
 */
ze_result_t zeta_memory_take(struct zeta_memory_table *table, const void *ptr, bool opened,
                             struct zeta_allocation **out_allocation);

/**
 * Another context of the driver in whose allocation the address lies, pinned; NULL if it lies in
 * one of this context, or in none. Programs free memory with any context.
 */
struct zeta_context *zeta_memory_pin_other(struct zeta_context *context, const void *ptr);

/** Gives memory back to who allocated it: a backend, NULL for memory of the host. */
ze_result_t zeta_memory_give_back(const struct zeta_backend *backend, void *base);

/** Frees what was taken out. */
ze_result_t zeta_memory_release(struct zeta_allocation *allocation);

/**
 * Keeps a taken allocation (may be NULL) until the work before its marks has ended, and releases
 * what has ended. May call the backend, so no lock may be held.
 */
void zeta_memory_defer(struct zeta_memory_table *table, struct zeta_allocation *allocation);

/**
 * After an allocation that failed for lack of memory: waits, 10 s at most, until the driver has
 * released what it kept for work. True if there was any, so that another try may find enough.
 */
bool zeta_memory_is_short(const struct zeta_context *context, ze_result_t result);

/** A number for an object that has memory, unique in the process. */
uint64_t zeta_memory_next_id(void);

/** The device whose limits count: the given one, else the first of the context; may be NULL. */
struct zeta_device *zeta_memory_device(const struct zeta_context *context,
                                       struct zeta_device *device);

/** Takes an export out of its list and ends it: its handles lead nowhere from now on. */
void zeta_memory_export_end(struct zeta_memory_export **link);

/** Ends all exports of an object that goes away. */
void zeta_memory_exports_finish(struct zeta_memory_export **list);

/*
 * Virtual memory of a context: reserved addresses, physical memory, and what is mapped where. A
 * reservation keeps its mappings in order of their addresses. One thread at a time changes a
 * reservation; it is marked busy meanwhile, because the backend is called without a lock.
 */

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

/** What a program asks of an allocation beyond its size, in the descriptors and their chains. */
struct zeta_memory_request {
    bool read_only;        /**< kernels only read it */
    bool relaxed;          /**< may be larger than the device's maxMemAllocSize */
    bool has_import;       /**< import_fd is memory to use in place of new */
    int import_fd;         /**< the application's */
    uint32_t export_types; /**< ze_external_memory_type_flags_t */
    void *system_memory;   /**< memory of the application to use, or NULL */
    uint64_t system_size_bytes;
};

/**
 * Reads the chain of a descriptor into a request, which the caller has zeroed.
 * Errors: INVALID_ENUMERATION, INVALID_NULL_POINTER, UNSUPPORTED_ENUMERATION and _FEATURE.
 */
ze_result_t zeta_memory_request_read(const void *next, struct zeta_memory_request *request);

/** UNSUPPORTED_ENUMERATION, with a sentence, for external memory that no backend has. */
ze_result_t zeta_memory_check_external(const char *what, uint32_t types);

/**
 * Serves ze_external_memory_export_fd_t in a chain: a descriptor that belongs to the application.
 * types: what the memory was allocated for; ptr: start of an allocation or mapping, or physical
 * memory. Errors: INVALID_ARGUMENT, UNSUPPORTED_ENUMERATION and _FEATURE, those of the backend.
 */
ze_result_t zeta_memory_export_chain(const void *next, ze_external_memory_type_flags_t types,
                                     const void *ptr, struct zeta_context *context);

/**
 * What memory asks about the queues of a context. core/queue puts its functions in when the library
 * is loaded.
 */
struct zeta_memory_queues {
    /**
     * Notes the newest submission of each queue of a context that still has work. The queues may be
     * destroyed meanwhile; the context outlives the marks, which are freed with free().
     * Errors: OUT_OF_HOST_MEMORY.
     */
    ze_result_t (*mark)(struct zeta_context *context, struct zeta_queue_marks **out_marks);
    /**
     * True once all of it has ended, also by failing or with its queue; always true for NULL. Marks
     * that were made later pass no earlier. Calls no backend.
     */
    bool (*passed)(const struct zeta_queue_marks *marks);
    /** Waits for all queues of a context (or of any, NULL) and a device with its tiles (or NULL).
     */
    ze_result_t (*drain)(const struct zeta_context *context, const struct zeta_device *device);
};

extern struct zeta_memory_queues zeta_memory_queues;

#endif
