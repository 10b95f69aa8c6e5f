#ifndef ZETA_PLUGINS_VGPU_MACHINE_SPACE_H
#define ZETA_PLUGINS_VGPU_MACHINE_SPACE_H

/*
 * The memory that kernels may touch: a table of host address ranges. Kernels use host addresses
 * (identity mapping), so this table is what turns a wild pointer into a device fault.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zeta_rv64_code;
struct zeta_vgpu_space;

/** Most threads that can execute on one space at the same time. */
#define ZETA_VGPU_SPACE_READERS 256u

/** What kernels may do with a range. */
enum zeta_vgpu_access {
    ZETA_VGPU_ACCESS_READ = 0,
    ZETA_VGPU_ACCESS_WRITE = 1, /**< and read */
    ZETA_VGPU_ACCESS_NONE = 2   /**< nothing, but the range keeps its place in the cache models */
};

/** One range. */
struct zeta_vgpu_range {
    uint64_t begin;
    uint64_t end; /**< one past the last byte */
    bool writable;
    bool closed; /**< nothing may be done with it; such ranges are never found */
    /**
     * Address of @begin in the cache models. It follows from the order in which ranges were
     * added, so cache counters do not change with the host's address layout.
     */
    uint64_t model_begin;
    struct zeta_rv64_code *code; /**< what is executed here; NULL: it is no code */
};

/** An empty space, or NULL without memory. */
struct zeta_vgpu_space *zeta_vgpu_space_create(void);

/** Frees the table; the memory of the ranges belongs to others. NULL is allowed. */
void zeta_vgpu_space_destroy(struct zeta_vgpu_space *space);

/**
 * Makes [begin, begin + size_bytes) visible to kernels. False when the size is 0, the range wraps,
 * overlaps another, or memory ran out. Any thread.
 */
bool zeta_vgpu_space_add(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes,
                         enum zeta_vgpu_access access);

/**
 * The same for readable memory that holds code, in its decoded form, which may be freed once the
 * range was removed.
 */
bool zeta_vgpu_space_add_code(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes,
                              struct zeta_rv64_code *code);

/**
 * The lowest address from @address on, in steps of pages, at which code of that size shares the low
 * 32 bits of its addresses with no other code: tools know instructions by these. It is less than
 * 4 GiB behind @address, or 0 where all is taken. Holds while lock_code() is held.
 */
uint64_t zeta_vgpu_space_code_place(struct zeta_vgpu_space *space, uint64_t address,
                                    uint64_t size_bytes);

/** One thread at a time chooses a place for code and adds it. */
void zeta_vgpu_space_lock_code(struct zeta_vgpu_space *space);
void zeta_vgpu_space_unlock_code(struct zeta_vgpu_space *space);

/**
 * Takes away the range that begins at @begin; false when there is none. Returns after every running
 * kernel stopped using it. Any thread except those in engine callbacks.
 */
bool zeta_vgpu_space_remove(struct zeta_vgpu_space *space, const void *begin);

/**
 * Takes away all of [begin, begin + size_bytes), and cuts ranges that reach beyond it.
 * False, with nothing changed, without memory. Waits as zeta_vgpu_space_remove() does.
 */
bool zeta_vgpu_space_clear(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes);

/**
 * Changes the rights of what lies in [begin, begin + size_bytes), and cuts ranges that reach
 * beyond it. The cache models see no difference. Errors and waiting as above.
 */
bool zeta_vgpu_space_protect(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes,
                             enum zeta_vgpu_access access);

/** Finds the range that holds @address, unless it is closed. Any thread. */
bool zeta_vgpu_space_find(struct zeta_vgpu_space *space, uint64_t address,
                          struct zeta_vgpu_range *out_range);

/** Finds the first range, of those that are not closed, that ends behind @address. Any thread. */
bool zeta_vgpu_space_next(struct zeta_vgpu_space *space, uint64_t address,
                          struct zeta_vgpu_range *out_range);

/**
 * True when [address, address + size_bytes) is visible (and writable if asked), possibly over
 * several ranges that touch. Any thread.
 */
bool zeta_vgpu_space_covers(struct zeta_vgpu_space *space, uint64_t address, uint64_t size_bytes,
                            enum zeta_vgpu_access access);

/** Gives a number to a thread that will execute; false when all are taken. */
bool zeta_vgpu_space_reader_add(struct zeta_vgpu_space *space, uint32_t *out_reader);

/** Gives it back. */
void zeta_vgpu_space_reader_remove(struct zeta_vgpu_space *space, uint32_t reader);

/**
 * Announces, between slices, that a reader uses what it found. Returns the generation of the table:
 * when that is another than last time, everything found before is void.
 */
uint64_t zeta_vgpu_space_enter(struct zeta_vgpu_space *space, uint32_t reader);

/**
 * The rest of zeta_vgpu_space_enter(), for a generation that the reader has not announced: waits
 * while somebody holds the space. A function of its own, so that the usual way needs no stack.
 */
uint64_t zeta_vgpu_space_announce(struct zeta_vgpu_space *space, uint32_t reader);

/** Reader @reader no longer uses anything. */
void zeta_vgpu_space_leave(struct zeta_vgpu_space *space, uint32_t reader);

/**
 * Waits until each reader is between two slices or has left, and keeps all out until
 * zeta_vgpu_space_release(); removals wait too. So the holder may touch what readers use, such as
 * decoded code and the state of hardware threads. One holder at a time, others wait; readers and
 * engine callbacks must not call it. Returns the generation that readers will find, a new one.
 */
uint64_t zeta_vgpu_space_hold(struct zeta_vgpu_space *space);
void zeta_vgpu_space_release(struct zeta_vgpu_space *space);

#endif
