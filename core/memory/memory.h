/*
 * Allocations of a context: a tree by address, so that any pointer into one is recognised.
 *
 * A table is guarded by one lock, which is never held while a plugin is called. What a function
 * learned about an allocation stays true as long as the application does not free it.
 */
#ifndef ZETA_CORE_MEMORY_MEMORY_H
#define ZETA_CORE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/plugin.h>

struct zeta_backend;
struct zeta_context;
struct zeta_device;
struct zeta_memory_table;
struct zeta_queue_marks;

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

/**
 * Notes an allocation, which the table owns from now on, with an id. False without memory; the
 * caller still owns it then.
 */
bool zeta_memory_insert(struct zeta_memory_table *table, struct zeta_allocation *allocation);

/**
 * Takes an allocation out of the table and ends its handles: ptr must be its start. opened: whether
 * it has to be one that zeMemOpenIpcHandle gave. Errors: INVALID_ARGUMENT with a sentence.
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
 * Keeps a taken allocation until the work before its marks has ended; NULL just releases
 * what has ended. Called at allocations and frees of the context, and when finished work is
 * released. May call the backend, so no lock may be held.
 */
void zeta_memory_defer(struct zeta_memory_table *table, struct zeta_allocation *allocation);

/**
 * True if an allocation failed for lack of memory while some was kept, in any
 * context of the driver, for work that has ended since: then another try may find enough. Waits for
 * that work, 10 s at most.
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
