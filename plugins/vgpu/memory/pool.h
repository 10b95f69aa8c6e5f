#ifndef ZETA_PLUGINS_VGPU_MEMORY_POOL_H
#define ZETA_PLUGINS_VGPU_MEMORY_POOL_H

/*
 * The memory of the virtual device in this process: one file in memory, of which allocations are
 * parts that never overlap. So every allocation can be given to another process.
 *
 * Places in the file are not used twice; what is freed is punched out of it. They are handed out
 * from the end of the file towards its begin, as the system hands out addresses, so that mappings
 * beside each other become one and thousands of allocations stay within vm.max_map_count.
 *
 * A part goes to another process as a descriptor of the file with an open file description of its
 * own. The description identifies the part by itself: its position is the offset plus the kind of
 * memory, and it has a shared lock on exactly the bytes of the extent. An import takes such a lock
 * too, with a description that only its mapping keeps open. The system drops a lock with the last
 * descriptor and mapping of the process that took it, also when that is killed. So the owner sees
 * from the locks whether another process uses the extent, which stays, and stays charged, until
 * none does; and an import of what was freed finds no lock.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

struct zeta_vgpu_pool;

/** A part of the file, in whole pages. Owned by the caller that took it. */
struct zeta_vgpu_extent {
    int descriptor; /**< of the file; the pool's */
    uint64_t offset;
    uint64_t size_bytes;
    uint64_t charged_bytes;        /**< to the memory of the device */
    atomic_bool shared;            /**< it was exported, so other processes may use it */
    struct zeta_vgpu_extent *next; /**< among those that were freed here and are used elsewhere */
};

/** An empty pool for @device_bytes of charged parts; NULL without memory. */
struct zeta_vgpu_pool *zeta_vgpu_pool_create(uint64_t device_bytes);

/** Closes the file. NULL is allowed. */
void zeta_vgpu_pool_destroy(struct zeta_vgpu_pool *pool);

/** In a child of fork(): closes the child's descriptor of the file, and nothing else. */
void zeta_vgpu_pool_abandon(struct zeta_vgpu_pool *pool);

/**
 * Takes a part for @size_bytes, rounded up to pages. It is filled with zeros.
 * @charged  to the memory of the device
 * Errors, with a message: OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY.
 */
uint32_t zeta_vgpu_pool_take(const struct zeta_plugin *self, uint64_t size_bytes, bool charged,
                             struct zeta_vgpu_extent **out_extent);

/** Frees a part that is unmapped here. NULL is allowed. */
void zeta_vgpu_pool_give(struct zeta_vgpu_pool *pool, struct zeta_vgpu_extent *extent);

/** Bytes of the device's memory that are not charged. */
uint64_t zeta_vgpu_pool_unused(struct zeta_vgpu_pool *pool);

/** Bytes of a page of the system. */
uint64_t zeta_vgpu_page_bytes(void);

/**
 * Maps bytes of a file of this kind; a child of fork() does not get them.
 * @address      where, replacing what is there; NULL: anywhere
 * @align_bytes  of the address when it is free; a power of two
 * @protection   PROT_*
 * NULL and errno without memory or mappings.
 */
void *zeta_vgpu_pool_map(int descriptor, uint64_t offset, uint64_t size_bytes, void *address,
                         uint64_t align_bytes, int protection);

/**
 * Makes a descriptor for the bytes of an extent from the page at @start_bytes on. The caller closes
 * it. Errors, with a message: OUT_OF_HOST_MEMORY (no descriptor, no /proc).
 */
uint32_t zeta_vgpu_pool_export(const struct zeta_plugin *self, struct zeta_vgpu_extent *extent,
                               uint64_t start_bytes, uint32_t kind,
                               struct zeta_plugin_share *out_share);

/**
 * Checks a descriptor of another process and locks its part; the description of @out_descriptor
 * has the lock. size_bytes 0 in @share: the descriptor identifies the part, and share is filled in.
 * Errors, with a message: INVALID_ARGUMENT for what is no part of such a file or was freed,
 * OUT_OF_HOST_MEMORY.
 */
uint32_t zeta_vgpu_pool_import(const struct zeta_plugin *self, struct zeta_plugin_share *share,
                               int *out_descriptor);

#endif
