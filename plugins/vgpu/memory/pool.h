#ifndef ZETA_PLUGINS_VGPU_MEMORY_POOL_H
#define ZETA_PLUGINS_VGPU_MEMORY_POOL_H

/*
 * The memory of the virtual device in this process: one file in memory, of which allocations are
 * parts that never overlap. So every allocation can be given to another process.
 *
 * Places in the file are not used twice; what is given back is punched out of it. They are handed
 * out from the end of the file towards its begin, as the system hands out addresses, so that
 * mappings beside each other become one and thousands of allocations stay within vm.max_map_count.
 *
 * Who has a part open, in whatever process, holds a lock on its bytes (an open file description
 * lock; see share.h). The system drops the lock with the last descriptor and mapping of whoever
 * took it, also when he is killed. What is given back while somebody holds it stays, and stays
 * charged, until he is done.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugins/vgpu/engine/engine.h"

struct zeta_vgpu_pool;

/** A part of the file, in whole pages. Owned by who took it. */
struct zeta_vgpu_extent {
    uint64_t offset;
    uint64_t size_bytes;
    uint64_t charged_bytes;        /**< to the memory of the device */
    atomic_bool shared;            /**< it was exported, so others may hold it */
    struct zeta_vgpu_extent *next; /**< among those that were given back and are held */
};

/** First bytes of the file, by which an import knows it. */
struct zeta_vgpu_pool_header {
    uint64_t magic;
    uint64_t token; /**< random, not 0 */
};

#define ZETA_VGPU_POOL_MAGIC UINT64_C(0x6c6f6f7061746567)

/**
 * An empty pool; the file comes with the first allocation.
 * @device_bytes  what all charged parts may take together
 * NULL without memory.
 */
struct zeta_vgpu_pool *zeta_vgpu_pool_create(uint64_t device_bytes);

/** Closes the file. NULL is allowed. */
void zeta_vgpu_pool_destroy(struct zeta_vgpu_pool *pool);

/** In a child of fork(): closes the child's descriptor of the file, and nothing else. */
void zeta_vgpu_pool_abandon(struct zeta_vgpu_pool *pool);

/**
 * Takes a part for size_bytes, rounded up to pages. It holds zeros.
 * @out_message  why not
 * Errors: OUT_OF_MEMORY (of the host); INVALID_ARGUMENT: the device has not so much left.
 */
enum zeta_vgpu_result zeta_vgpu_pool_take(struct zeta_vgpu_pool *pool, uint64_t size_bytes,
                                          bool charged, struct zeta_vgpu_message *out_message,
                                          struct zeta_vgpu_extent **out_extent);

/** Gives a part back. It is unmapped here; others who hold it keep it. NULL is allowed. */
void zeta_vgpu_pool_give(struct zeta_vgpu_pool *pool, struct zeta_vgpu_extent *extent);

/** Descriptor of the file; valid while a part of it is taken. */
int zeta_vgpu_pool_descriptor(struct zeta_vgpu_pool *pool);

/** The mark in the header of the file. */
uint64_t zeta_vgpu_pool_token(struct zeta_vgpu_pool *pool);

/** Bytes of the device's memory that nobody has. */
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

#endif
