#include <zeta/arena.h>

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Arenas often hold a few numbers, and there may be many: they begin small. */
#define FIRST_BYTES ((size_t)512)
#define CHUNK_BYTES ((size_t)16 * 1024)

struct zeta_arena_chunk {
    struct zeta_arena_chunk *older;
    size_t capacity_bytes;
    alignas(max_align_t) unsigned char data[];
};

static struct zeta_arena_chunk *chunk_create(size_t capacity_bytes)
{
    struct zeta_arena_chunk *chunk;

    if (capacity_bytes > SIZE_MAX - sizeof(*chunk))
        return NULL;
    chunk = calloc(1, sizeof(*chunk) + capacity_bytes);
    if (chunk)
        chunk->capacity_bytes = capacity_bytes;
    return chunk;
}

void *zeta_arena_alloc(struct zeta_arena *arena, size_t size_bytes)
{
    const size_t align = alignof(max_align_t);
    struct zeta_arena_chunk *chunk = arena->chunks;
    void *memory;

    if (size_bytes > SIZE_MAX - align)
        return NULL;
    size_bytes = (size_bytes + align - 1) / align * align;

    if (!chunk || chunk->capacity_bytes - arena->used_bytes < size_bytes) {
        size_t wanted = chunk ? chunk->capacity_bytes * 4 : FIRST_BYTES;

        wanted = wanted < CHUNK_BYTES ? wanted : CHUNK_BYTES;
        chunk = chunk_create(size_bytes > wanted ? size_bytes : wanted);
        if (!chunk)
            return NULL;
        chunk->older = arena->chunks;
        arena->chunks = chunk;
        arena->used_bytes = 0;
    }
    memory = chunk->data + arena->used_bytes;
    arena->used_bytes += size_bytes;
    return memory;
}

void *zeta_arena_array(struct zeta_arena *arena, size_t count, size_t element_bytes)
{
    if (element_bytes != 0 && count > SIZE_MAX / element_bytes)
        return NULL;
    return zeta_arena_alloc(arena, count * element_bytes);
}

char *zeta_arena_copy(struct zeta_arena *arena, const char *text, size_t length)
{
    char *copy = length == SIZE_MAX ? NULL : zeta_arena_alloc(arena, length + 1);

    if (copy && length > 0)
        memcpy(copy, text, length);
    return copy;
}

bool zeta_arena_clone(const struct zeta_arena *arena, struct zeta_arena *out_copy)
{
    struct zeta_arena_chunk **link = &out_copy->chunks;

    *out_copy = (struct zeta_arena){.used_bytes = arena->used_bytes};
    for (const struct zeta_arena_chunk *chunk = arena->chunks; chunk; chunk = chunk->older) {
        *link = chunk_create(chunk->capacity_bytes);
        if (!*link) {
            zeta_arena_finish(out_copy);
            return false;
        }
        memcpy((*link)->data, chunk->data, chunk->capacity_bytes);
        link = &(*link)->older;
    }
    return true;
}

void *zeta_arena_moved(const struct zeta_arena *arena, const struct zeta_arena *copy,
                       const void *memory)
{
    const struct zeta_arena_chunk *to = copy->chunks;

    for (const struct zeta_arena_chunk *from = arena->chunks; from && to;
         from = from->older, to = to->older) {
        uintptr_t offset = (uintptr_t)memory - (uintptr_t)from->data;

        if (offset < from->capacity_bytes)
            return (void *)((uintptr_t)to->data + offset);
    }
    return (void *)(uintptr_t)memory;
}

void zeta_arena_absorb(struct zeta_arena *arena, struct zeta_arena *other)
{
    struct zeta_arena_chunk **link = &arena->chunks;

    if (!arena->chunks)
        arena->used_bytes = other->used_bytes;
    while (*link)
        link = &(*link)->older;
    *link = other->chunks;
    *other = (struct zeta_arena){0};
}

void zeta_arena_rewind(struct zeta_arena *arena)
{
    struct zeta_arena_chunk *kept = arena->chunks;
    size_t used_bytes = arena->used_bytes;

    if (!kept)
        return;
    arena->chunks = kept->older;
    zeta_arena_finish(arena);
    if (kept->capacity_bytes > CHUNK_BYTES) {
        free(kept);
        return;
    }
    memset(kept->data, 0, used_bytes);
    kept->older = NULL;
    arena->chunks = kept;
}

void zeta_arena_finish(struct zeta_arena *arena)
{
    while (arena->chunks) {
        struct zeta_arena_chunk *older = arena->chunks->older;

        free(arena->chunks);
        arena->chunks = older;
    }
    arena->used_bytes = 0;
}
