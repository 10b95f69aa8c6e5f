/*
 * Memory that is given back all at once. Static helper: no part of the plugin interface.
 *
 * Parsers build trees of small parts that live and die together. They take the parts from an arena:
 * allocation is a pointer increment, and one call frees everything, also on the error path.
 */
#ifndef ZETA_ARENA_H
#define ZETA_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zeta_arena_chunk;

/** An arena. All zero bytes is an empty one, so no init call exists. */
struct zeta_arena {
    struct zeta_arena_chunk *chunks; /**< newest first */
    size_t used_bytes;               /**< in the newest chunk */
};

/**
 * Gives size_bytes of zeroed memory, aligned for any type. Size 0 gives a valid pointer.
 *
 * Ownership: the arena's, until zeta_arena_finish().
 * Errors: NULL when memory is exhausted.
 * Threading: one thread at a time per arena.
 */
void *zeta_arena_alloc(struct zeta_arena *arena, size_t size_bytes);

/** Gives zeroed memory for count elements; NULL also when the product overflows. */
void *zeta_arena_array(struct zeta_arena *arena, size_t count, size_t element_bytes);

/** Copies length bytes and adds a terminating zero byte. NULL when memory is exhausted. */
char *zeta_arena_copy(struct zeta_arena *arena, const char *text, size_t length);

/**
 * Copies everything of an arena into an empty one; zeta_arena_moved() finds the copies.
 * False when memory is exhausted; the copy is empty then.
 */
bool zeta_arena_clone(const struct zeta_arena *arena, struct zeta_arena *out_copy);

/** Where the copy of memory of the arena is; memory from elsewhere is its own copy. */
void *zeta_arena_moved(const struct zeta_arena *arena, const struct zeta_arena *copy,
                       const void *memory);

/** Moves the memory of another arena into this one, where it stays at its addresses. */
void zeta_arena_absorb(struct zeta_arena *arena, struct zeta_arena *other);

/** Takes everything back that came from the arena, but keeps some memory for what comes next. */
void zeta_arena_rewind(struct zeta_arena *arena);

/** Frees everything that came from the arena and leaves it empty. */
void zeta_arena_finish(struct zeta_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
