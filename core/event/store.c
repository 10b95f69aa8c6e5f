/*
 * Memory that shows the progress of a counter based event, for kernels and other programs.
 *
 *   counter    ours: holds the highest value up to which all work is complete
 *   sync       the application's: the event is complete once it has a value, which somebody
 *              writes; the first work that signals the event takes its place
 *   aggregate  the application's: each work that signals the event adds to it, and the event is
 *              complete once the sum is large enough
 *
 * Memory of the application is read by the host, so this needs a device that shares memory with it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/memory/memory.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

enum store_kind { STORE_COUNTER, STORE_SYNC, STORE_AGGREGATE };

struct zeta_event_store {
    enum store_kind kind;
    const struct zeta_context *context; /* of the application's memory */
    _Atomic uint64_t *device_address;
    _Atomic uint64_t *host_address;
    uint64_t completion;
    uint64_t increment;
    pthread_mutex_t lock;         /* held while our memory is brought up to date; a leaf */
    struct zeta_backend *backend; /* that frees our memory; NULL: it is the application's */
};

static ze_result_t create(enum store_kind kind, const struct zeta_context *context,
                          struct zeta_event_store **out_store)
{
    struct zeta_event_store *store = calloc(1, sizeof(*store));

    if (!store)
        return zeta_error_no_memory("a counter");
    store->kind = kind;
    store->context = context;
    (void)pthread_mutex_init(&store->lock, NULL);
    *out_store = store;
    return ZE_RESULT_SUCCESS;
}

void zeta_store_destroy(struct zeta_event_store *store)
{
    if (!store)
        return;
    if (store->backend)
        (void)store->backend->compute.memory_free(store->backend->self,
                                                  (void *)store->device_address);
    (void)pthread_mutex_destroy(&store->lock);
    free(store);
}

/* ---------------------------------------------------------------- memory of the application */

ze_result_t zeta_store_from_chain(const struct zeta_context *context,
                                  const struct zeta_device *device, const void *next,
                                  struct zeta_event_store **out_store)
{
    const ze_event_counter_based_external_sync_allocation_desc_t *sync = zeta_chain_find(
        next, ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, sizeof(*sync));
    const ze_event_counter_based_external_aggregate_storage_desc_t *aggregate =
        zeta_chain_find(next, ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC,
                        sizeof(*aggregate));
    struct zeta_allocation allocation;

    *out_store = NULL;
    if (sync && aggregate)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "an event has one external counter: the descriptor names a "
                          "synchronization allocation and an aggregate storage");
    if (!sync && !aggregate)
        return ZE_RESULT_SUCCESS;
    if ((device->backend->properties.flags & ZETA_PLUGIN_DEVICE_INTEGRATED) == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "%s does not share memory with the host, which would have to read a "
                          "counter there",
                          device->name);
    void *address = sync ? (void *)sync->deviceAddress : (void *)aggregate->deviceAddress;
    if ((uintptr_t)address % sizeof(uint64_t) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "deviceAddress %p is not aligned to the 8 bytes of a counter", address);
    if (!address || !zeta_memory_find(context->memory, address, &allocation))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "deviceAddress %p is in no allocation of the context", address);
    if (sync && (!sync->hostAddress || (uintptr_t)sync->hostAddress % sizeof(uint64_t) != 0 ||
                 !zeta_chain_readable(sync->hostAddress, sizeof(uint64_t))))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "hostAddress %p is not that of a counter of 8 aligned bytes",
                          (void *)sync->hostAddress);
    if (aggregate && aggregate->incrementValue == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "incrementValue is 0, so the event could never be completed");
    ze_result_t result = create(sync ? STORE_SYNC : STORE_AGGREGATE, context, out_store);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_event_store *store = *out_store;
    store->device_address = address;
    store->host_address = sync ? (_Atomic uint64_t *)sync->hostAddress : store->device_address;
    store->completion = sync ? sync->completionValue : aggregate->completionValue;
    store->increment = sync ? 0 : aggregate->incrementValue;
    return ZE_RESULT_SUCCESS;
}

bool zeta_store_adds(const struct zeta_event_store *store)
{
    return store->kind == STORE_AGGREGATE;
}

/*
 * Adds to a counter and gives what it was, false if its memory is gone. An allocation cannot end
 * while the table is locked; an address of the host only may be anywhere, and is only read.
 */
static bool fetch_add(const struct zeta_event_store *store, _Atomic uint64_t *address, uint64_t add,
                      uint64_t *out_before)
{
    struct zeta_memory_table *table = store->context->memory;

    zeta_memory_lock(table);
    bool found = zeta_memory_find_locked(table, (const void *)address) != NULL;
    if (found)
        *out_before = add ? atomic_fetch_add(address, add) : atomic_load(address);
    zeta_memory_unlock(table);
    if (found || address == store->device_address)
        return found;
    return zeta_chain_copy(out_before, (const void *)address, sizeof(*out_before));
}

enum zeta_signal_state zeta_store_state(const struct zeta_event_store *store, bool device)
{
    uint64_t value = 0;

    if (!fetch_add(store, device ? store->device_address : store->host_address, 0, &value))
        return ZETA_SIGNAL_LOST;
    return value >= store->completion ? ZETA_SIGNAL_ON : ZETA_SIGNAL_OFF;
}

bool zeta_store_add(struct zeta_event_store *store)
{
    uint64_t before;

    return fetch_add(store, store->device_address, store->increment, &before);
}

/* ---------------------------------------------------------------- our memory */

/* Goes on only while every value is complete, so that no later one hides one that is missing. */
void zeta_store_advance(struct zeta_event_store *store, const struct zeta_counter *counter)
{
    if (!store || store->kind != STORE_COUNTER)
        return;
    (void)pthread_mutex_lock(&store->lock);
    uint64_t value = atomic_load(store->device_address);
    while (value < zeta_counter_newest(counter) &&
           zeta_counter_state(counter, value + 1) == ZETA_SIGNAL_ON)
        value++;
    atomic_store(store->device_address, value);
    (void)pthread_mutex_unlock(&store->lock);
}

ze_result_t zeta_store_address(struct zeta_event *event, uint64_t *out_value, uint64_t *out_address)
{
    struct zeta_event_store *store = atomic_load(&event->store);

    if (store && store->kind == STORE_SYNC && !(atomic_load(&event->special) & ZETA_EVENT_STORED))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the event follows work of a command list now and has left the "
                          "synchronization allocation that it was created with");
    if (store && store->kind != STORE_COUNTER) {
        *out_value = store->completion;
        *out_address = (uintptr_t)store->device_address;
        return ZE_RESULT_SUCCESS;
    }
    if (event->share)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the counter of an event for other processes lies in memory that kernels "
                          "do not reach");
    if (!store) {
        const struct zeta_plugin_memory_desc desc = {
            .struct_size = sizeof(desc), .kind = ZETA_PLUGIN_MEMORY_HOST, .size_bytes = 64};
        struct zeta_backend *backend = event->context->driver->compute;
        struct zeta_event_store *made = NULL;
        void *address = NULL;

        if (!backend)
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "no plugin computes on the devices of driver %s, so nothing there "
                              "could read a counter",
                              event->context->driver->name);
        ze_result_t result = create(STORE_COUNTER, event->context, &made);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        uint32_t code = backend->compute.memory_allocate(backend->self, NULL, &desc, &address);
        if (code != ZETA_PLUGIN_SUCCESS) {
            zeta_store_destroy(made);
            return zeta_backend_result(backend, code, "allocating the memory of a counter");
        }
        made->backend = backend;
        made->device_address = address;
        atomic_store(made->device_address, 0);
        /* If another thread was faster, its store is the event's. */
        if (atomic_compare_exchange_strong(&event->store, &store, made))
            store = made;
        else
            zeta_store_destroy(made);
    }
    zeta_store_advance(store, event->counter);
    *out_value = zeta_counter_newest(event->counter);
    *out_address = (uintptr_t)store->device_address;
    return ZE_RESULT_SUCCESS;
}
