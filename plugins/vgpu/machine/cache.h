#ifndef ZETA_PLUGINS_VGPU_MACHINE_CACHE_H
#define ZETA_PLUGINS_VGPU_MACHINE_CACHE_H

/*
 * Simulated caches. They are fed with the real stream of global accesses and hold only tags.
 *
 *   L1           per subslice, 8 ways, 64-byte lines, write-back, allocates on writes too;
 *                emptied at the end of a launch (dirty lines go to L3)
 *   TLB          per subslice, 64 pages of 4 KiB, direct-mapped, asked on every L1 miss
 *   instructions per subslice, 16 KiB, direct-mapped, empty at the start of a launch
 *   L3           one per tile, 16 ways, write-back, kept between launches
 *
 * An L1 never asks L3 while it runs: it writes what it misses into a log, and the logs of all
 * subslices are replayed in a fixed order at epoch ends (engine/model.c). So L3 counters are the
 * same for any number of worker threads.
 *
 * Addresses are model addresses (see struct zeta_vgpu_range), never 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ZETA_VGPU_LINE_BITS = 6,
    ZETA_VGPU_L1_WAYS = 8,
    ZETA_VGPU_L3_WAYS = 16,
    ZETA_VGPU_TLB_SLOTS = 64,
    ZETA_VGPU_ICACHE_LINES = 256,
    ZETA_VGPU_ICACHE_LINE_INSNS = 16 /**< instructions of a 64-byte line */
};

/** Requests of an L1 to L3, in order. Each is line << 8 | eu << 1 | write. */
struct zeta_vgpu_miss_log {
    uint64_t *entries;
    uint32_t count;
    uint32_t room;
    bool failed; /**< memory ran out: entries are missing */
};

struct zeta_vgpu_l1 {
    uint64_t *tags; /**< sets x ways, most recent first: line << 1 | dirty; 0: empty */
    uint32_t set_mask;
    uint32_t eu;     /**< on whose behalf accesses are made, for the log */
    uint64_t misses; /**< since creation */
    uint64_t tlb_misses;
    uint64_t tlb[ZETA_VGPU_TLB_SLOTS]; /**< page numbers */
    struct zeta_vgpu_miss_log log;
};

/** False when memory is short. @size_bytes: power of two, at least 512. */
bool zeta_vgpu_l1_init(struct zeta_vgpu_l1 *l1, uint32_t size_bytes);

void zeta_vgpu_l1_finish(struct zeta_vgpu_l1 *l1);

/** Empties L1 and TLB; dirty lines are logged as writes. */
void zeta_vgpu_l1_flush(struct zeta_vgpu_l1 *l1);

/** An access that is not to the most recent line of its set. */
void zeta_vgpu_l1_access_slow(struct zeta_vgpu_l1 *l1, uint64_t line, bool write);

/** An access of a hart; hits are not counted here (accesses minus misses). */
static inline void zeta_vgpu_l1_access(struct zeta_vgpu_l1 *l1, uint64_t model_address, bool write)
{
    uint64_t line = model_address >> ZETA_VGPU_LINE_BITS;
    uint64_t recent = l1->tags[(line & l1->set_mask) * ZETA_VGPU_L1_WAYS];

    /* A write to a clean line must mark it, a read is content with both kinds. */
    if (write ? recent != (line << 1 | 1) : recent >> 1 != line)
        zeta_vgpu_l1_access_slow(l1, line, write);
}

/** Instruction cache of a subslice. */
struct zeta_vgpu_icache {
    /** Per instruction: a block that starts here has all of its lines in the cache. */
    uint8_t *present;
    uint32_t count;
    uint64_t lines[ZETA_VGPU_ICACHE_LINES]; /**< line number + 1, 0: empty */
};

/** Empties the cache and makes it fit @count instructions; false when memory is short. */
bool zeta_vgpu_icache_reset(struct zeta_vgpu_icache *icache, uint32_t count);

/** Makes it fit @count instructions and keeps what is in it; false when memory is short. */
bool zeta_vgpu_icache_grow(struct zeta_vgpu_icache *icache, uint32_t count);

void zeta_vgpu_icache_finish(struct zeta_vgpu_icache *icache);

/** Brings in the lines of the block of @length (1 or more) instructions; returns the misses. */
uint32_t zeta_vgpu_icache_fill(struct zeta_vgpu_icache *icache, uint32_t first, uint32_t length);

/** Shared cache of a tile. */
struct zeta_vgpu_l3 {
    uint64_t *tags; /**< as in struct zeta_vgpu_l1 */
    uint64_t set_mask;
};

/** What a request to L3 led to. */
struct zeta_vgpu_l3_result {
    bool hit;
    bool fill;     /**< a line was read from memory */
    bool eviction; /**< a dirty line was written to memory */
};

/** False when memory is short. @size_bytes: power of two, at least 1024. */
bool zeta_vgpu_l3_init(struct zeta_vgpu_l3 *l3, uint32_t size_bytes);

void zeta_vgpu_l3_finish(struct zeta_vgpu_l3 *l3);

/** A line fill (read) or write-back (write: the whole line, so nothing is filled). */
struct zeta_vgpu_l3_result zeta_vgpu_l3_access(struct zeta_vgpu_l3 *l3, uint64_t line, bool write);

#endif
