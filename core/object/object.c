/*
 * Slots of handles: reservation, creation, reuse, and what changes in a child of fork().
 *
 * All state that a lock protects is in a struct generation. A child of fork() never touches the
 * generation of its parent, whose locks may have been held by threads that do not exist any more;
 * it opens a new one.
 */
#include "core/object/object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/util/error.h"

/* The leak checker does not look into mapped memory by itself. */
#if defined(__SANITIZE_ADDRESS__)
#define ZETA_LEAK_CHECK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ZETA_LEAK_CHECK 1
#endif
#endif
#ifdef ZETA_LEAK_CHECK
#include <sanitizer/lsan_interface.h>
#endif

#define REUSE_AFTER 65536u                  /* further creations of the kind */
#define COMMIT_BYTES ((size_t)256 * 1024)   /* made readable at a time */
#define KIND_BYTES_WANTED ((size_t)1 << 30) /* address space of a kind */
#define KIND_BYTES_LEAST ((size_t)32 << 20) /* where it is limited; slots have to rest, too */
#define LIMIT_SHARE 4                       /* one part of so many of a limit is for handles */

/* Beside each slot, not in it: a reader of a stale handle may still read the slot. */
struct note {
    uint64_t freed_at; /* creations of the kind when the slot became free */
    uint32_t next;     /* slot number + 1 of the next free slot, 0 at the end */
    uint32_t reserved;
};

/* The slots of one kind, in the order of their addresses, and the queue of free ones. */
struct slots {
    pthread_mutex_t lock;
    struct note *notes;
    size_t committed_bytes;
    uint32_t used;       /* slots that were handed out at least once */
    uint32_t free_first; /* slot number + 1, 0: none */
    uint32_t free_last;
    uint64_t creations;
};

struct generation {
    uintptr_t base;
    size_t kind_bytes; /* reserved for each kind; kind k starts at base + k * kind_bytes */
    struct generation *older;
    struct slots slots[ZETA_KIND_COUNT];
};

struct zeta_object_arena zeta_arenas[ZETA_KIND_COUNT];

static _Atomic(struct generation *) current; /* NULL before init, after close and after fork */
static _Atomic(struct generation *) closed;  /* generations whose handles are refused */
static _Atomic(zeta_object_finish_fn) finishers[ZETA_KIND_COUNT];
static const void *dispatch_tables[4];
static atomic_bool fork_handler_registered;

const char *zeta_kind_name(enum zeta_kind kind)
{
    static const char *const names[ZETA_KIND_COUNT] = {
#define KIND_NAME(kind, name) [ZETA_KIND_##kind] = (name),
        ZETA_KINDS(KIND_NAME)
#undef KIND_NAME
    };

    return (unsigned int)kind < ZETA_KIND_COUNT ? names[kind] : "unknown object";
}

/* Kind that an address inside a generation's range belongs to. */
static enum zeta_kind kind_of(const struct generation *generation, uintptr_t address)
{
    return (enum zeta_kind)((address - generation->base) / generation->kind_bytes);
}

static bool generation_holds(const struct generation *generation, uintptr_t address)
{
    return address - generation->base < generation->kind_bytes * ZETA_KIND_COUNT;
}

static struct zeta_object *slot_at(const struct generation *generation, enum zeta_kind kind,
                                   uint32_t number)
{
    return (struct zeta_object *)(generation->base + (size_t)kind * generation->kind_bytes +
                                  (size_t)number * ZETA_SLOT_BYTES);
}

/* Makes the next piece of a kind's range readable. */
static bool commit_locked(struct generation *generation, enum zeta_kind kind)
{
    struct slots *slots = &generation->slots[kind];
    char *start = (char *)slot_at(generation, kind, 0) + slots->committed_bytes;

    if (slots->committed_bytes + COMMIT_BYTES > generation->kind_bytes ||
        mprotect(start, COMMIT_BYTES, PROT_READ | PROT_WRITE) != 0)
        return false;
#ifdef ZETA_LEAK_CHECK
    __lsan_register_root_region(start, COMMIT_BYTES);
#endif
    slots->committed_bytes += COMMIT_BYTES;
    /* Not into an arena that was closed meanwhile. */
    if (atomic_load_explicit(&current, memory_order_acquire) == generation)
        atomic_store_explicit(&zeta_arenas[kind].committed, slots->committed_bytes,
                              memory_order_release);
    return true;
}

/* A free slot that has rested long enough, else one that was never used. NULL when full. */
static struct zeta_object *take_slot_locked(struct generation *generation, enum zeta_kind kind)
{
    struct slots *slots = &generation->slots[kind];
    uint32_t number;

    if (slots->free_first != 0) {
        number = slots->free_first - 1;
        if (slots->creations - slots->notes[number].freed_at >= REUSE_AFTER) {
            slots->free_first = slots->notes[number].next;
            if (slots->free_first == 0)
                slots->free_last = 0;
            return slot_at(generation, kind, number);
        }
    }
    if ((size_t)(slots->used + 1) * ZETA_SLOT_BYTES > slots->committed_bytes &&
        !commit_locked(generation, kind))
        return NULL;
    return slot_at(generation, kind, slots->used++);
}

ze_result_t zeta_object_create(enum zeta_kind kind, size_t size_bytes, void **out_object)
{
    struct generation *generation = atomic_load_explicit(&current, memory_order_acquire);
    struct zeta_object *object;
    struct slots *slots;

    if (!generation)
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "A %s cannot be created: the library is not initialised.",
                          zeta_kind_name(kind));
    if (size_bytes > ZETA_SLOT_BYTES || size_bytes < sizeof(*object))
        return zeta_error(ZE_RESULT_ERROR_UNKNOWN,
                          "A %s of %zu bytes does not fit its slot of %u bytes.",
                          zeta_kind_name(kind), size_bytes, ZETA_SLOT_BYTES);
    slots = &generation->slots[kind];
    (void)pthread_mutex_lock(&slots->lock);
    object = take_slot_locked(generation, kind);
    if (object)
        slots->creations++;
    (void)pthread_mutex_unlock(&slots->lock);
    if (!object)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                          "There is no room for another %s; destroy some that are not needed.",
                          zeta_kind_name(kind));

    memset((char *)object + sizeof(*object), 0, ZETA_SLOT_BYTES - sizeof(*object));
    memcpy(object->dispatch, dispatch_tables, sizeof(object->dispatch));
    atomic_store_explicit(&object->pins, 1, memory_order_relaxed);
    atomic_store_explicit(&object->kind, (uint32_t)kind, memory_order_release);
    *out_object = object;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_object_create_in(void *owner, enum zeta_kind owner_kind, enum zeta_kind kind,
                                  size_t size_bytes, void **out_object)
{
    if (!zeta_object_pin(owner, owner_kind))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "A %s cannot be created: its %s (%p) was destroyed meanwhile.",
                          zeta_kind_name(kind), zeta_kind_name(owner_kind), owner);
    ze_result_t result = zeta_object_create(kind, size_bytes, out_object);
    if (result != ZE_RESULT_SUCCESS)
        zeta_object_unpin(owner);
    return result;
}

bool zeta_object_retire(void *object)
{
    struct generation *generation = atomic_load_explicit(&current, memory_order_acquire);
    uint32_t kind;

    if (!generation || !generation_holds(generation, (uintptr_t)object))
        return false;
    kind = (uint32_t)kind_of(generation, (uintptr_t)object);
    return atomic_compare_exchange_strong_explicit(&((struct zeta_object *)object)->kind, &kind,
                                                   ZETA_KIND_NONE, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

bool zeta_object_pin(const void *handle, enum zeta_kind kind)
{
    struct zeta_object *object = (struct zeta_object *)(uintptr_t)handle;
    uint32_t pins;

    if (!zeta_object_is(handle, kind))
        return false;
    pins = atomic_load_explicit(&object->pins, memory_order_relaxed);
    do {
        if (pins == 0)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&object->pins, &pins, pins + 1,
                                                    memory_order_acq_rel, memory_order_relaxed));
    if (atomic_load_explicit(&object->kind, memory_order_acquire) == (uint32_t)kind)
        return true;
    zeta_object_unpin(object); /* retired between the check and the pin */
    return false;
}

void zeta_object_unpin(void *object)
{
    struct generation *generation = atomic_load_explicit(&current, memory_order_acquire);
    struct zeta_object *header = object;
    zeta_object_finish_fn finish;
    struct slots *slots;
    enum zeta_kind kind;
    uint32_t number;

    /* Objects of a closed generation are never given back: their locks are not ours. */
    if (!generation || !generation_holds(generation, (uintptr_t)object))
        return;
    if (atomic_fetch_sub_explicit(&header->pins, 1, memory_order_acq_rel) != 1)
        return;
    kind = kind_of(generation, (uintptr_t)object);
    finish = atomic_load_explicit(&finishers[kind], memory_order_acquire);
    if (finish)
        finish(object);
    slots = &generation->slots[kind];
    number =
        (uint32_t)(((uintptr_t)object - (uintptr_t)slot_at(generation, kind, 0)) / ZETA_SLOT_BYTES);
    (void)pthread_mutex_lock(&slots->lock);
    slots->notes[number].freed_at = slots->creations;
    slots->notes[number].next = 0;
    if (slots->free_last != 0)
        slots->notes[slots->free_last - 1].next = number + 1;
    else
        slots->free_first = number + 1;
    slots->free_last = number + 1;
    (void)pthread_mutex_unlock(&slots->lock);
}

void zeta_object_discard(void *object)
{
    if (zeta_object_retire(object))
        zeta_object_unpin(object);
}

ze_result_t zeta_object_destroy(void *handle, enum zeta_kind kind, const char *function,
                                const char *parameter)
{
    if (!zeta_object_retire(handle))
        return zeta_object_explain(handle, kind, function, parameter);
    zeta_object_unpin(handle);
    return ZE_RESULT_SUCCESS;
}

void zeta_object_set_finisher(enum zeta_kind kind, zeta_object_finish_fn finish)
{
    atomic_store_explicit(&finishers[kind], finish, memory_order_release);
}

void zeta_object_set_dispatch(const void *const tables[4])
{
    memcpy(dispatch_tables, tables, sizeof(dispatch_tables));
}

void zeta_object_each(enum zeta_kind kind, void (*visit)(void *object, void *context),
                      void *context)
{
    struct generation *generation = atomic_load_explicit(&current, memory_order_acquire);
    uint32_t used;

    if (!generation)
        return;
    (void)pthread_mutex_lock(&generation->slots[kind].lock);
    used = generation->slots[kind].used;
    (void)pthread_mutex_unlock(&generation->slots[kind].lock);
    for (uint32_t number = 0; number < used; number++) {
        struct zeta_object *object = slot_at(generation, kind, number);

        if (zeta_object_is(object, kind))
            visit(object, context);
    }
}

ze_result_t zeta_object_explain(const void *handle, enum zeta_kind kind, const char *function,
                                const char *parameter)
{
    const struct generation *generation = atomic_load_explicit(&current, memory_order_acquire);
    const struct generation *before = atomic_load_explicit(&closed, memory_order_acquire);
    const char *wanted = zeta_kind_name(kind);
    enum zeta_kind found;

    if (!generation)
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "%s: the library is not initialised in this process; call zeInit or "
                          "zeInitDrivers first.",
                          function);
    if (!handle)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "%s: %s is null; a handle of this kind is needed: %s.", function,
                          parameter, wanted);
    while (before && !generation_holds(before, (uintptr_t)handle))
        before = before->older;
    if (before)
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "%s: %s (%p) was made by the parent process before fork(); get a new "
                          "handle in this process.",
                          function, parameter, handle);
    if (!generation_holds(generation, (uintptr_t)handle))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "%s: %s (%p) is not a handle of this library; needed: %s.", function,
                          parameter, handle, wanted);
    found = kind_of(generation, (uintptr_t)handle);
    if (found != kind && zeta_object_is(handle, found))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "%s: %s (%p) is of another kind (%s); needed: %s.", function, parameter,
                          handle, zeta_kind_name(found), wanted);
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                      "%s: %s (%p) is no live %s; was it destroyed?", function, parameter, handle,
                      wanted);
}

void zeta_object_close(void)
{
    struct generation *generation = atomic_exchange(&current, NULL);

    if (!generation)
        return;
    for (size_t kind = 0; kind < ZETA_KIND_COUNT; kind++)
        atomic_store_explicit(&zeta_arenas[kind].committed, 0, memory_order_release);
    generation->older = atomic_load_explicit(&closed, memory_order_relaxed);
    atomic_store_explicit(&closed, generation, memory_order_release);
}

static void *reserve(size_t size_bytes, int protection)
{
    void *range =
        mmap(NULL, size_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return range == MAP_FAILED ? NULL : range;
}

/* One range for the slots of all kinds and one for the notes; false if there is no room. */
static bool reserve_generation(struct generation *generation, size_t kind_bytes)
{
    size_t count = kind_bytes / ZETA_SLOT_BYTES;
    void *slots = reserve(kind_bytes * ZETA_KIND_COUNT, PROT_NONE);
    struct note *notes;

    if (!slots)
        return false;
    notes = reserve(count * ZETA_KIND_COUNT * sizeof(*notes), PROT_READ | PROT_WRITE);
    if (!notes) {
        (void)munmap(slots, kind_bytes * ZETA_KIND_COUNT);
        return false;
    }
    generation->base = (uintptr_t)slots;
    generation->kind_bytes = kind_bytes;
    for (size_t kind = 0; kind < ZETA_KIND_COUNT; kind++)
        generation->slots[kind].notes = notes + kind * count;
    return true;
}

/* A fixed share of a limited address space, so that a higher limit leaves more for others. */
static size_t wanted_bytes(void)
{
    struct rlimit limit;
    uint64_t bytes;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return KIND_BYTES_WANTED;
    bytes = limit.rlim_cur / LIMIT_SHARE / ZETA_KIND_COUNT / COMMIT_BYTES * COMMIT_BYTES;
    if (bytes < KIND_BYTES_LEAST)
        return KIND_BYTES_LEAST;
    return bytes < KIND_BYTES_WANTED ? (size_t)bytes : KIND_BYTES_WANTED;
}

ze_result_t zeta_object_init(void)
{
    size_t kind_bytes = wanted_bytes();
    struct generation *generation;

    if (atomic_load_explicit(&current, memory_order_acquire))
        return ZE_RESULT_SUCCESS;
    generation = calloc(1, sizeof(*generation));
    if (!generation)
        return zeta_error_no_memory("handles");
    /* Less where others have most of it. */
    while (kind_bytes >= KIND_BYTES_LEAST && !reserve_generation(generation, kind_bytes))
        kind_bytes = kind_bytes / 2 / COMMIT_BYTES * COMMIT_BYTES;
    if (kind_bytes < KIND_BYTES_LEAST) {
        free(generation);
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                          "No address range for handles could be reserved; about %zu MiB are "
                          "needed. Raise the limit of address space (ulimit -v).",
                          (KIND_BYTES_LEAST * ZETA_KIND_COUNT) >> 20);
    }
    if (!atomic_exchange(&fork_handler_registered, true))
        (void)pthread_atfork(NULL, NULL, zeta_object_close);
    for (size_t kind = 0; kind < ZETA_KIND_COUNT; kind++) {
        (void)pthread_mutex_init(&generation->slots[kind].lock, NULL);
        zeta_arenas[kind].base = generation->base + kind * generation->kind_bytes;
    }
    atomic_store_explicit(&current, generation, memory_order_release);
    return ZE_RESULT_SUCCESS;
}
