/*
 * Handles of the API.
 *
 * Every handle points to an object that begins with struct zeta_object. Objects of a kind come from
 * an arena of equal slots inside one reserved address range, so any 64-bit value can be looked up
 * with a range check, an alignment check and one load, and memory that is not mapped is never read.
 *
 *   arena of a kind:  base                     base + committed
 *                     | slot | slot | slot ... | (reserved, not readable) ... |
 *
 * Life of a slot: free -> live (create) -> dead (retire) -> free, when the last pin is gone. A
 * freed slot is reused in the order of freeing and not before 65 536 further objects of its kind
 * were created, so a destroyed handle is recognised for long. The memory of a slot stays mapped and
 * of one kind for ever ("type-stable"): a hot function may read a slot without pinning it.
 *
 * After fork() the child starts with empty arenas in a new range; handles of the parent are known
 * as such (zeta_object_explain).
 */
#ifndef ZETA_CORE_OBJECT_OBJECT_H
#define ZETA_CORE_OBJECT_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/util/cleanup.h"

/** Each kind, and its name for messages. */
#define ZETA_KINDS(X)                                                                              \
    X(NONE, "nothing")                                                                             \
    X(DRIVER, "driver")                                                                            \
    X(DEVICE, "device")                                                                            \
    X(CONTEXT, "context")                                                                          \
    X(COMMAND_QUEUE, "command queue")                                                              \
    X(COMMAND_LIST, "command list")                                                                \
    X(FENCE, "fence")                                                                              \
    X(EVENT_POOL, "event pool")                                                                    \
    X(EVENT, "event")                                                                              \
    X(IMAGE, "image")                                                                              \
    X(MODULE, "module")                                                                            \
    X(MODULE_BUILD_LOG, "module build log")                                                        \
    X(KERNEL, "kernel")                                                                            \
    X(SAMPLER, "sampler")                                                                          \
    X(PHYSICAL_MEM, "physical memory")                                                             \
    X(FABRIC_VERTEX, "fabric vertex")                                                              \
    X(FABRIC_EDGE, "fabric edge")                                                                  \
    X(RTAS_BUILDER, "ray tracing builder")                                                         \
    X(RTAS_PARALLEL_OPERATION, "ray tracing parallel operation")                                   \
    X(EXTERNAL_SEMAPHORE, "external semaphore")                                                    \
    X(GRAPH, "graph")                                                                              \
    X(EXECUTABLE_GRAPH, "executable graph")                                                        \
    X(METRIC_GROUP, "metric group")                                                                \
    X(METRIC, "metric")                                                                            \
    X(METRIC_STREAMER, "metric streamer")                                                          \
    X(METRIC_QUERY_POOL, "metric query pool")                                                      \
    X(METRIC_QUERY, "metric query")                                                                \
    X(METRIC_PROGRAMMABLE, "metric programmable")                                                  \
    X(METRIC_TRACER, "metric tracer")                                                              \
    X(METRIC_DECODER, "metric decoder")                                                            \
    X(API_TRACER, "API tracer")                                                                    \
    X(DEBUG_SESSION, "debug session")

/** What a handle refers to. Aliased handle types (zet_device_handle_t ...) share a kind. */
enum zeta_kind {
#define ZETA_KIND_VALUE(kind, name) ZETA_KIND_##kind,
    ZETA_KINDS(ZETA_KIND_VALUE)
#undef ZETA_KIND_VALUE
        ZETA_KIND_COUNT
};

/**
 * First member of every object.
 *
 * The four pointers are what a loader with the driver-dispatch extension expects at the start of
 * every handle (core, tools, sysman and runtime dispatch set).
 */
struct zeta_object {
    const void *dispatch[4];
    _Atomic uint32_t kind; /**< enum zeta_kind while live, ZETA_KIND_NONE otherwise */
    _Atomic uint32_t pins; /**< 1 for being live, plus one per zeta_object_pin */
};

/** Bytes of every slot. */
#define ZETA_SLOT_BYTES 256u

/** The slots of one kind. Written by object.c only. */
struct zeta_object_arena {
    uintptr_t base;
    _Atomic uintptr_t committed; /**< readable bytes from base, 0 before init and after unload */
};

extern ZETA_HIDDEN struct zeta_object_arena zeta_arenas[ZETA_KIND_COUNT];

/**
 * True if the value is a live handle of the kind. Any value is allowed, lock-free, any thread.
 * It may be destroyed right after: see zeta_object_pin.
 */
static ZETA_ALWAYS_INLINE bool zeta_object_is(const void *handle, enum zeta_kind kind)
{
    const struct zeta_object_arena *arena = &zeta_arenas[kind];
    uintptr_t offset = (uintptr_t)handle - arena->base;

    if (offset >= atomic_load_explicit(&arena->committed, memory_order_acquire) ||
        offset % ZETA_SLOT_BYTES != 0)
        return false;
    return atomic_load_explicit(&((const struct zeta_object *)handle)->kind,
                                memory_order_acquire) == (uint32_t)kind;
}

/** True if a pinned object is of the kind, also one that was destroyed. */
static inline bool zeta_object_was(const void *pinned, enum zeta_kind kind)
{
    const struct zeta_object_arena *arena = &zeta_arenas[kind];

    return (uintptr_t)pinned - arena->base <
           atomic_load_explicit(&arena->committed, memory_order_acquire);
}

/**
 * Why zeta_object_is was false, as the result of an entry point: UNINITIALIZED when the library is
 * not initialised (also: shut down) or the handle belongs to the parent of a fork, else
 * INVALID_NULL_HANDLE. Leaves a sentence that names the function and the parameter.
 */
ze_result_t zeta_object_explain(const void *handle, enum zeta_kind kind, const char *function,
                                const char *parameter);

/**
 * Creates an object: a zeroed slot with its header set, live.
 * size_bytes: sizeof of the kind's struct, checked against the slot size, so what is large hangs
 * off the object. OUT_OF_HOST_MEMORY when there is no slot. The object must not be handed out
 * before the caller has filled it. Any thread.
 */
ze_result_t zeta_object_create(enum zeta_kind kind, size_t size_bytes, void **out_object);

/**
 * Creates an object that belongs to another one, which it pins; its finisher unpins that.
 * Errors: as above; INVALID_NULL_HANDLE when the owner was destroyed meanwhile.
 */
ze_result_t zeta_object_create_in(void *owner, enum zeta_kind owner_kind, enum zeta_kind kind,
                                  size_t size_bytes, void **out_object);

/**
 * Makes the object dead: its handle is refused from now on. One of several callers that race gets
 * true; it owns a pin afterwards and ends with zeta_object_unpin.
 */
bool zeta_object_retire(void *object);

/** Destroys an object that nobody else has seen, or whose handle is the library's alone. */
void zeta_object_discard(void *object);

/** Destroys the object of a handle; one that another thread destroyed meanwhile is explained. */
ze_result_t zeta_object_destroy(void *handle, enum zeta_kind kind, const char *function,
                                const char *parameter);

/** Keeps a live object from being freed; false if it is not (any more) a live one of the kind. */
bool zeta_object_pin(const void *handle, enum zeta_kind kind);

/** Adds a pin to an object that the caller has pinned already; it may be destroyed meanwhile. */
static inline void zeta_object_pin_more(void *object)
{
    atomic_fetch_add_explicit(&((struct zeta_object *)object)->pins, 1, memory_order_relaxed);
}

/** Gives back a pin. With the last one the kind's finisher runs and the slot becomes free. */
void zeta_object_unpin(void *object);

/** ZETA_CLEANUP(zeta_object_unpinp) void *pinned = ...; */
static inline void zeta_object_unpinp(void **pinned)
{
    zeta_object_unpin(*pinned);
}

/** Frees what hangs off an object of a kind. Runs once, on the thread that drops the last pin. */
typedef void (*zeta_object_finish_fn)(void *object);

/** Names the finisher of a kind. Before the first object of the kind is made. */
void zeta_object_set_finisher(enum zeta_kind kind, zeta_object_finish_fn finish);

/** The same at file scope: done when the library is loaded. */
#define ZETA_OBJECT_FINISHER(kind, finish)                                                         \
    ZETA_AT_LOAD static void name_finisher_of_##kind(void)                                         \
    {                                                                                              \
        zeta_object_set_finisher(kind, finish);                                                    \
    }

/** Names the four static dispatch tables that objects begin with. During initialisation. */
void zeta_object_set_dispatch(const void *const tables[4]);

/** Name of a kind for messages, such as "event pool". Static. */
const char *zeta_kind_name(enum zeta_kind kind);

/**
 * Reserves the address range and opens the arenas, once in the process and in each forked child.
 * OUT_OF_HOST_MEMORY if the range cannot be reserved.
 */
ze_result_t zeta_object_init(void);

/** Closes the arenas: every handle is refused with UNINITIALIZED. For unload and for fork. */
void zeta_object_close(void);

/** Calls visit for each live object of a kind, in address order. For tests and shutdown. */
void zeta_object_each(enum zeta_kind kind, void (*visit)(void *object, void *context),
                      void *context);

#endif
