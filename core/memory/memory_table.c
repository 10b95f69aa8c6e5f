/* The tree of a context's allocations, and their end. */
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/device/device.h"
#include "core/memory/memory.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "core/util/log.h"

/* How long an allocation waits for memory that was freed and is used, and how often it polls. */
#define WAIT_NS (10 * ZETA_NS_PER_S)
#define WAIT_STEP_NS 1000000

struct zeta_memory_table {
    pthread_mutex_t lock;
    void *tree;                       /* of struct zeta_allocation, for tsearch */
    struct zeta_allocation *deferred; /* freed by the application, still used by queues; oldest
                                         first */
    struct zeta_allocation **last_deferred; /* where the next one is linked */
    atomic_bool has_deferred;               /* spares the lock where work is released */
};

struct zeta_memory_queues zeta_memory_queues;

static _Atomic uint64_t last_id;

uint64_t zeta_memory_next_id(void)
{
    return atomic_fetch_add(&last_id, 1) + 1;
}

/* Ranges that overlap count as equal, so a one-byte range finds the allocation around it. */
static int compare_ranges(const void *left, const void *right)
{
    const struct zeta_allocation *a = left;
    const struct zeta_allocation *b = right;
    uintptr_t a_base = (uintptr_t)a->base;
    uintptr_t b_base = (uintptr_t)b->base;

    if (a_base + a->size_bytes <= b_base)
        return -1;
    if (b_base + b->size_bytes <= a_base)
        return 1;
    return 0;
}

struct zeta_memory_table *zeta_memory_table_create(void)
{
    struct zeta_memory_table *table = calloc(1, sizeof(*table));

    if (table) {
        table->last_deferred = &table->deferred;
        (void)pthread_mutex_init(&table->lock, NULL);
    }
    return table;
}

void zeta_memory_table_destroy(struct zeta_memory_table *table)
{
    if (!table)
        return;
    while (table->tree) {
        struct zeta_allocation *first = *(struct zeta_allocation **)table->tree;

        (void)tdelete(first, &table->tree, compare_ranges);
        zeta_memory_exports_finish(&first->exports);
        (void)zeta_memory_release(first);
    }
    while (table->deferred) {
        struct zeta_allocation *first = table->deferred;

        table->deferred = first->next;
        (void)zeta_memory_release(first);
    }
    (void)pthread_mutex_destroy(&table->lock);
    free(table);
}

void zeta_memory_lock(struct zeta_memory_table *table)
{
    (void)pthread_mutex_lock(&table->lock);
}

void zeta_memory_unlock(struct zeta_memory_table *table)
{
    (void)pthread_mutex_unlock(&table->lock);
}

struct zeta_allocation *zeta_memory_find_locked(struct zeta_memory_table *table,
                                                const void *address)
{
    struct zeta_allocation key = {.base = (void *)(uintptr_t)address, .size_bytes = 1};
    void *node = tfind(&key, &table->tree, compare_ranges);

    return node ? *(struct zeta_allocation **)node : NULL;
}

bool zeta_memory_find(struct zeta_memory_table *table, const void *address,
                      struct zeta_allocation *out_allocation)
{
    zeta_memory_lock(table);
    const struct zeta_allocation *found = zeta_memory_find_locked(table, address);
    if (found)
        *out_allocation = *found;
    zeta_memory_unlock(table);
    return found != NULL;
}

bool zeta_memory_insert(struct zeta_memory_table *table, struct zeta_allocation *allocation)
{
    allocation->id = zeta_memory_next_id();
    zeta_memory_lock(table);
    struct zeta_allocation *const *node = tsearch(allocation, &table->tree, compare_ranges);
    bool inserted = node && *node == allocation;
    zeta_memory_unlock(table);
    return inserted;
}

ze_result_t zeta_memory_take(struct zeta_memory_table *table, const void *ptr, bool opened,
                             struct zeta_allocation **out_allocation)
{
    zeta_memory_lock(table);
    struct zeta_allocation *found = zeta_memory_find_locked(table, ptr);
    bool starts = found && found->base == ptr;
    bool fits = starts && (found->origin == ZETA_MEMORY_OPENED) == opened;
    if (fits)
        (void)tdelete(found, &table->tree, compare_ranges);
    zeta_memory_unlock(table);

    if (!found)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not an allocation of this context", ptr);
    if (!starts)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p points into an allocation; only its start can be freed", ptr);
    if (!fits)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          opened ? "%p was allocated here; it is freed with zeMemFree"
                                 : "%p is memory of another process; it is given back with "
                                   "zeMemCloseIpcHandle",
                          ptr);
    /* The backend keeps memory that has references, so our own ends first. */
    zeta_memory_exports_finish(&found->exports);
    *out_allocation = found;
    return ZE_RESULT_SUCCESS;
}

/* What is looked for, and the context in which it was found. */
struct search {
    const struct zeta_driver *driver;
    const void *ptr;
    struct zeta_context *found;
};

static void look_into(void *object, void *argument)
{
    struct search *search = argument;
    struct zeta_context *context = object;
    struct zeta_allocation allocation;

    if (search->found || !zeta_object_pin(context, ZETA_KIND_CONTEXT))
        return;
    if (context->driver == search->driver &&
        zeta_memory_find(context->memory, search->ptr, &allocation))
        search->found = context;
    else
        zeta_object_unpin(context);
}

struct zeta_context *zeta_memory_pin_other(struct zeta_context *context, const void *ptr)
{
    struct search search = {.driver = context->driver, .ptr = ptr};
    struct zeta_allocation own;

    if (!zeta_memory_find(context->memory, ptr, &own))
        zeta_object_each(ZETA_KIND_CONTEXT, look_into, &search);
    if (search.found)
        zeta_log_once(ZETA_LOG_WARN, "memory",
                      "memory is freed or closed with another context than its own; this driver "
                      "finds the right one, others may not");
    return search.found;
}

void zeta_memory_export_end(struct zeta_memory_export **link)
{
    struct zeta_memory_export *export = *link;

    *link = export->next;
    (void)close(export->share.descriptor);
    free(export);
}

void zeta_memory_exports_finish(struct zeta_memory_export **list)
{
    while (*list)
        zeta_memory_export_end(list);
}

ze_result_t zeta_memory_give_back(const struct zeta_backend *backend, void *base)
{
    if (backend)
        return zeta_backend_result(backend, backend->compute.memory_free(backend->self, base),
                                   "freeing memory");
    free(base);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_memory_release(struct zeta_allocation *allocation)
{
    struct zeta_backend *backend = allocation->backend;
    void *base = allocation->base;

    free(allocation->marks);
    free(allocation);
    return zeta_memory_give_back(backend, base);
}

void zeta_memory_defer(struct zeta_memory_table *table, struct zeta_allocation *allocation)
{
    if (!allocation && !atomic_load(&table->has_deferred))
        return;
    zeta_memory_lock(table);
    if (allocation) {
        *table->last_deferred = allocation;
        table->last_deferred = &allocation->next;
    }
    /* Marks pass in the order in which they were made. */
    struct zeta_allocation *ended = table->deferred;
    struct zeta_allocation **end = &ended;
    while (*end && zeta_memory_queues.passed((*end)->marks))
        end = &(*end)->next;
    table->deferred = *end;
    *end = NULL;
    if (!table->deferred)
        table->last_deferred = &table->deferred;
    atomic_store(&table->has_deferred, table->deferred != NULL);
    zeta_memory_unlock(table);
    while (ended) {
        struct zeta_allocation *next = ended->next;

        (void)zeta_memory_release(ended);
        ended = next;
    }
}

/** Memory of a driver that is kept for work under way. */
struct shortage {
    const struct zeta_driver *driver;
    bool has_deferred;
};

static void end_deferred(void *object, void *argument)
{
    struct shortage *shortage = argument;
    struct zeta_context *context = object;

    if (!zeta_object_pin(context, ZETA_KIND_CONTEXT))
        return;
    if (context->driver == shortage->driver && atomic_load(&context->memory->has_deferred)) {
        shortage->has_deferred = true;
        zeta_memory_defer(context->memory, NULL);
    }
    zeta_object_unpin(context);
}

bool zeta_memory_is_short(const struct zeta_context *context, ze_result_t result)
{
    const struct timespec step = {.tv_nsec = WAIT_STEP_NS};
    const uint64_t end_ns = zeta_monotonic_ns() + WAIT_NS;

    if (result != ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY &&
        result != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return false;
    for (bool is_short = false;; is_short = true) {
        struct shortage shortage = {.driver = context->driver};

        zeta_object_each(ZETA_KIND_CONTEXT, end_deferred, &shortage);
        if (!shortage.has_deferred || zeta_monotonic_ns() >= end_ns)
            return is_short || shortage.has_deferred;
        (void)nanosleep(&step, NULL);
    }
}
