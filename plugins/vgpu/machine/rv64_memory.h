#ifndef ZETA_PLUGINS_VGPU_MACHINE_RV64_MEMORY_H
#define ZETA_PLUGINS_VGPU_MACHINE_RV64_MEMORY_H

/*
 * How a hart reaches memory. Three kinds, tried in this order:
 *
 *   shared local memory   a window of addresses that is redirected to the group's buffer
 *   private memory        the hart's own stack
 *   global memory         everything in the space table, through a small page cache
 *
 * The inline part belongs to the interpreter; what it does not find goes to
 * zeta_rv64_memory_slow.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"
#include "space.h"

enum { ZETA_RV64_PAGE_BITS = 12, ZETA_RV64_PAGE_SLOTS = 64 };

/** Which counter an access belongs to. */
enum zeta_rv64_traffic {
    ZETA_RV64_GLOBAL_READ,
    ZETA_RV64_GLOBAL_WRITE,
    ZETA_RV64_PRIVATE,
    ZETA_RV64_SLM_READ,
    ZETA_RV64_SLM_WRITE,
    ZETA_RV64_TRAFFIC_COUNT
};

/** A part of a range of global memory that is known to be accessible. */
struct zeta_rv64_page {
    uint64_t begin;
    /** Addresses from begin on at which an access of up to 8 bytes is inside; 0: empty. */
    uint64_t span;
    uint64_t model_delta; /**< to be added to an address to get the model's */
};

/** A window of addresses. */
struct zeta_rv64_window {
    uint64_t begin;
    uint64_t span; /**< as in struct zeta_rv64_page */
    uint64_t size_bytes;
    uint64_t host_delta; /**< to be added to an address to get the host's */
};

enum { ZETA_RV64_WATCHES = 16 };

/** A range of addresses at which accesses stop; empty: none. */
struct zeta_rv64_watch {
    uint64_t begin, end;
    uint32_t kinds; /**< of accesses, for whoever set it */
};

struct zeta_rv64_memory {
    struct zeta_rv64_window slm;
    struct zeta_rv64_window stack;
    struct zeta_vgpu_l1 *l1;
    /** Number of accesses by traffic and by size 1, 2, 4, 8 since the last reset. */
    uint32_t accesses[ZETA_RV64_TRAFFIC_COUNT][4];
    uint32_t global_atomics; /**< accesses counted both as global read and global write */
    struct zeta_rv64_page read_pages[ZETA_RV64_PAGE_SLOTS];
    struct zeta_rv64_page write_pages[ZETA_RV64_PAGE_SLOTS];
    struct zeta_vgpu_space *space;
    /**
     * ZETA_RV64_WATCHES ranges, or NULL. An access that touches one of them fails, whatever its
     * kind, and sets watch_hit; while passes_watches is set, it does not.
     */
    const struct zeta_rv64_watch *watches;
    bool watch_hit;
    bool passes_watches;
};

/** Sets a window; size 0 closes it. @host may be NULL when addresses are host addresses. */
void zeta_rv64_window_set(struct zeta_rv64_window *window, uint64_t begin, uint64_t size_bytes,
                          void *host);

/** Makes accesses to a window look for watches, if one of them is in it. Behind each setting. */
void zeta_rv64_window_watch(struct zeta_rv64_window *window,
                            const struct zeta_rv64_watch watches[ZETA_RV64_WATCHES]);

/** The kinds of all watches that an access of so many bytes touches. */
uint32_t zeta_rv64_watched(const struct zeta_rv64_watch watches[ZETA_RV64_WATCHES],
                           uint64_t address, uint64_t size_bytes);

/** Forgets all pages; needed when the space's generation, or a watch, changed. */
void zeta_rv64_memory_flush(struct zeta_rv64_memory *memory);

/**
 * The whole check of an access of 1 << @size_bits bytes: any kind, to the byte, filling the page
 * cache. Counts it and gives the host address, or NULL when the kernel may not do that.
 */
void *zeta_rv64_memory_slow(struct zeta_rv64_memory *memory, uint64_t address, unsigned size_bits,
                            bool write);

/** Host address of what the hart may read, or NULL. Counts nothing; for services such as printf. */
const void *zeta_rv64_memory_peek(const struct zeta_rv64_memory *memory, uint64_t address,
                                  uint64_t size_bytes);

#endif
