#include "space.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_ALIGNMENT = 65536, PAGE_BYTES = 4096 };

struct zeta_vgpu_space {
    pthread_rwlock_t lock;
    pthread_mutex_t code_lock;      /* of who is placing code; taken before the other */
    struct zeta_vgpu_range *ranges; /* sorted by begin, not overlapping */
    size_t count;
    size_t room;
    uint64_t next_model;              /* where the next range goes in the cache models */
    atomic_uint_least64_t generation; /* never 0 */
    /* Generation under which a reader works, 0 while it does not. */
    atomic_uint_least64_t readers[ZETA_VGPU_SPACE_READERS];
    bool reader_used[ZETA_VGPU_SPACE_READERS];
    pthread_mutex_t hold_lock; /* of the holder, for as long as it holds */
    atomic_bool held;
};

struct zeta_vgpu_space *zeta_vgpu_space_create(void)
{
    struct zeta_vgpu_space *space = calloc(1, sizeof(*space));

    if (!space)
        return NULL;
    pthread_rwlock_init(&space->lock, NULL);
    pthread_mutex_init(&space->code_lock, NULL);
    pthread_mutex_init(&space->hold_lock, NULL);
    space->next_model = MODEL_ALIGNMENT;
    atomic_init(&space->generation, 1);
    return space;
}

void zeta_vgpu_space_destroy(struct zeta_vgpu_space *space)
{
    if (!space)
        return;
    pthread_mutex_destroy(&space->hold_lock);
    pthread_mutex_destroy(&space->code_lock);
    pthread_rwlock_destroy(&space->lock);
    free(space->ranges);
    free(space);
}

/* Index of the first range that ends behind @address. */
static size_t first_behind_locked(const struct zeta_vgpu_space *space, uint64_t address)
{
    size_t low = 0;
    size_t high = space->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (space->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for @more ranges. */
static bool grow_locked(struct zeta_vgpu_space *space, size_t more)
{
    size_t room = space->room ? space->room * 2 : 64;
    struct zeta_vgpu_range *ranges;

    if (space->room - space->count >= more)
        return true;
    ranges = realloc(space->ranges, room * sizeof(*ranges));
    if (!ranges)
        return false;
    space->ranges = ranges;
    space->room = room;
    return true;
}

static bool add(struct zeta_vgpu_space *space, const void *address, uint64_t size_bytes,
                enum zeta_vgpu_access access, struct zeta_rv64_code *code)
{
    const uint64_t begin = (uintptr_t)address, end = begin + size_bytes;
    struct zeta_vgpu_range *range;
    bool added = false;
    size_t index;

    if (size_bytes == 0 || end < begin)
        return false;
    pthread_rwlock_wrlock(&space->lock);
    index = first_behind_locked(space, begin);
    if ((index == space->count || space->ranges[index].begin >= end) && grow_locked(space, 1)) {
        range = &space->ranges[index];
        memmove(range + 1, range, (space->count - index) * sizeof(*range));
        space->count++;
        *range = (struct zeta_vgpu_range){
            .begin = begin,
            .end = end,
            .writable = access == ZETA_VGPU_ACCESS_WRITE,
            .closed = access == ZETA_VGPU_ACCESS_NONE,
            /* The offset inside a page is kept, so that lines are cut as they are on the host. */
            .model_begin = space->next_model + begin % PAGE_BYTES,
            .code = code,
        };
        space->next_model = (range->model_begin + size_bytes + MODEL_ALIGNMENT - 1) /
                            MODEL_ALIGNMENT * MODEL_ALIGNMENT;
        added = true;
    }
    pthread_rwlock_unlock(&space->lock);
    return added;
}

bool zeta_vgpu_space_add(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes,
                         enum zeta_vgpu_access access)
{
    return add(space, begin, size_bytes, access, NULL);
}

bool zeta_vgpu_space_add_code(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes,
                              struct zeta_rv64_code *code)
{
    return add(space, begin, size_bytes, ZETA_VGPU_ACCESS_READ, code);
}

void zeta_vgpu_space_lock_code(struct zeta_vgpu_space *space)
{
    pthread_mutex_lock(&space->code_lock);
}

void zeta_vgpu_space_unlock_code(struct zeta_vgpu_space *space)
{
    pthread_mutex_unlock(&space->code_lock);
}

uint64_t zeta_vgpu_space_code_place(struct zeta_vgpu_space *space, uint64_t address,
                                    uint64_t size_bytes)
{
    uint64_t at = address;

    pthread_rwlock_rdlock(&space->lock);
    for (size_t i = 0; i < space->count && at - address <= UINT32_MAX; i++) {
        const struct zeta_vgpu_range *range = &space->ranges[i];
        const uint32_t ahead = (uint32_t)(range->begin - at);
        const uint32_t inside = (uint32_t)(at - range->begin);
        const uint64_t past = (uint32_t)(range->end - at);

        if (!range->code || past == 0 ||
            (ahead >= size_bytes && inside >= range->end - range->begin))
            continue;
        at += (past + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        i = SIZE_MAX; /* from the first one again */
    }
    pthread_rwlock_unlock(&space->lock);
    return at - address <= UINT32_MAX ? at : 0;
}

static void wait_for_holder(struct zeta_vgpu_space *space)
{
    pthread_mutex_lock(&space->hold_lock);
    pthread_mutex_unlock(&space->hold_lock);
}

/* Waits until no reader, and no holder, works with what it found before @generation. */
static void wait_for_readers(struct zeta_vgpu_space *space, uint64_t generation)
{
    for (uint32_t i = 0; i < ZETA_VGPU_SPACE_READERS;) {
        const uint64_t seen = atomic_load(&space->readers[i]);

        if (seen == 0 || seen >= generation)
            i++;
        else
            sched_yield();
    }
    wait_for_holder(space);
}

bool zeta_vgpu_space_remove(struct zeta_vgpu_space *space, const void *begin)
{
    uint64_t generation = 0;
    size_t index;
    bool found;

    pthread_rwlock_wrlock(&space->lock);
    index = first_behind_locked(space, (uintptr_t)begin);
    found = index < space->count && space->ranges[index].begin == (uintptr_t)begin;
    if (found) {
        space->count--;
        memmove(space->ranges + index, space->ranges + index + 1,
                (space->count - index) * sizeof(*space->ranges));
        generation = atomic_fetch_add(&space->generation, 1) + 1;
    }
    pthread_rwlock_unlock(&space->lock);
    if (found)
        wait_for_readers(space, generation);
    return found;
}

/* Makes two of the range that has @address inside, if there is one; there is room. */
static void cut_locked(struct zeta_vgpu_space *space, uint64_t address)
{
    size_t index = first_behind_locked(space, address);
    struct zeta_vgpu_range *range = space->ranges + index;

    if (index >= space->count || range->begin >= address)
        return;
    memmove(range + 1, range, (space->count - index) * sizeof(*range));
    space->count++;
    range[0].end = address;
    range[1].begin = address;
    range[1].model_begin += address - range[0].begin;
}

/*
 * Takes the ranges in a span away, or changes their rights, after cutting those that reach beyond
 * it. False without memory.
 */
static bool change(struct zeta_vgpu_space *space, const void *address, uint64_t size_bytes,
                   bool remove, enum zeta_vgpu_access access)
{
    const uint64_t begin = (uintptr_t)address, end = begin + size_bytes;
    uint64_t generation = 0;
    size_t first, last;
    bool good;

    pthread_rwlock_wrlock(&space->lock);
    good = end >= begin && grow_locked(space, 2);
    if (good) {
        cut_locked(space, begin);
        cut_locked(space, end);
        first = first_behind_locked(space, begin);
        for (last = first; last < space->count && space->ranges[last].begin < end; last++) {
            space->ranges[last].writable = access == ZETA_VGPU_ACCESS_WRITE;
            space->ranges[last].closed = access == ZETA_VGPU_ACCESS_NONE;
        }
        if (last > first)
            generation = atomic_fetch_add(&space->generation, 1) + 1;
        if (remove) {
            memmove(space->ranges + first, space->ranges + last,
                    (space->count - last) * sizeof(*space->ranges));
            space->count -= last - first;
        }
    }
    pthread_rwlock_unlock(&space->lock);
    if (generation != 0)
        wait_for_readers(space, generation);
    return good;
}

bool zeta_vgpu_space_clear(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes)
{
    return change(space, begin, size_bytes, true, ZETA_VGPU_ACCESS_NONE);
}

bool zeta_vgpu_space_protect(struct zeta_vgpu_space *space, const void *begin, uint64_t size_bytes,
                             enum zeta_vgpu_access access)
{
    return change(space, begin, size_bytes, false, access);
}

bool zeta_vgpu_space_find(struct zeta_vgpu_space *space, uint64_t address,
                          struct zeta_vgpu_range *out_range)
{
    size_t index;
    bool found;

    pthread_rwlock_rdlock(&space->lock);
    index = first_behind_locked(space, address);
    found = index < space->count && space->ranges[index].begin <= address &&
            !space->ranges[index].closed;
    if (found)
        *out_range = space->ranges[index];
    pthread_rwlock_unlock(&space->lock);
    return found;
}

bool zeta_vgpu_space_next(struct zeta_vgpu_space *space, uint64_t address,
                          struct zeta_vgpu_range *out_range)
{
    size_t index;
    bool found;

    pthread_rwlock_rdlock(&space->lock);
    index = first_behind_locked(space, address);
    while (index < space->count && space->ranges[index].closed)
        index++;
    found = index < space->count;
    if (found)
        *out_range = space->ranges[index];
    pthread_rwlock_unlock(&space->lock);
    return found;
}

bool zeta_vgpu_space_covers(struct zeta_vgpu_space *space, uint64_t address, uint64_t size_bytes,
                            enum zeta_vgpu_access access)
{
    uint64_t end = address + size_bytes;
    bool covered = end >= address;

    pthread_rwlock_rdlock(&space->lock);
    for (size_t i = first_behind_locked(space, address); covered && address < end; i++) {
        const struct zeta_vgpu_range *range = &space->ranges[i];

        covered = i < space->count && range->begin <= address && !range->closed &&
                  (range->writable || access == ZETA_VGPU_ACCESS_READ);
        if (covered)
            address = range->end;
    }
    pthread_rwlock_unlock(&space->lock);
    return covered;
}

bool zeta_vgpu_space_reader_add(struct zeta_vgpu_space *space, uint32_t *out_reader)
{
    uint32_t reader = 0;

    pthread_rwlock_wrlock(&space->lock);
    while (reader < ZETA_VGPU_SPACE_READERS && space->reader_used[reader])
        reader++;
    if (reader < ZETA_VGPU_SPACE_READERS)
        space->reader_used[reader] = true;
    pthread_rwlock_unlock(&space->lock);
    *out_reader = reader;
    return reader < ZETA_VGPU_SPACE_READERS;
}

void zeta_vgpu_space_reader_remove(struct zeta_vgpu_space *space, uint32_t reader)
{
    pthread_rwlock_wrlock(&space->lock);
    space->reader_used[reader] = false;
    pthread_rwlock_unlock(&space->lock);
}

uint64_t zeta_vgpu_space_announce(struct zeta_vgpu_space *space, uint32_t reader)
{
    uint64_t generation;

    /*
     * A removal may happen between reading the generation and announcing it; it would then not
     * wait for us. So check again after the announcement is visible. A holder waits until nothing
     * is announced, and it was there before the new generation was.
     */
    for (;;) {
        generation = atomic_load(&space->generation);
        atomic_store(&space->readers[reader], generation);
        if (atomic_load(&space->held)) {
            atomic_store(&space->readers[reader], 0);
            wait_for_holder(space);
        } else if (atomic_load(&space->generation) == generation) {
            return generation;
        }
    }
}

uint64_t zeta_vgpu_space_enter(struct zeta_vgpu_space *space, uint32_t reader)
{
    const uint64_t generation = atomic_load_explicit(&space->generation, memory_order_relaxed);

    return atomic_load_explicit(&space->readers[reader], memory_order_relaxed) == generation
               ? generation
               : zeta_vgpu_space_announce(space, reader);
}

void zeta_vgpu_space_leave(struct zeta_vgpu_space *space, uint32_t reader)
{
    atomic_store(&space->readers[reader], 0);
}

uint64_t zeta_vgpu_space_hold(struct zeta_vgpu_space *space)
{
    uint64_t generation;

    pthread_mutex_lock(&space->hold_lock);
    atomic_store(&space->held, true);
    generation = atomic_fetch_add(&space->generation, 1) + 1;
    for (uint32_t i = 0; i < ZETA_VGPU_SPACE_READERS; i++) {
        while (atomic_load(&space->readers[i]) != 0)
            sched_yield();
    }
    return generation;
}

void zeta_vgpu_space_release(struct zeta_vgpu_space *space)
{
    atomic_store(&space->held, false);
    pthread_mutex_unlock(&space->hold_lock);
}
