/* Event pools: their life, and how another process gets them. */
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static void finish_pool(void *object)
{
    struct zeta_event_pool *pool = object;

    zeta_share_destroy(pool->share);
    zeta_object_unpin(pool->context);
}

static void finish_event(void *object)
{
    struct zeta_event *event = object;

    zeta_store_destroy(atomic_load(&event->store));
    zeta_counter_destroy(event->counter);
    zeta_share_destroy(event->share);
    zeta_object_unpin(event->pool ? (void *)event->pool : (void *)event->context);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_EVENT, finish_event)
ZETA_OBJECT_FINISHER(ZETA_KIND_EVENT_POOL, finish_pool)

static ze_result_t check_pool(const struct zeta_context *context, const ze_event_pool_desc_t *desc,
                              bool is_counted, uint32_t count, ze_device_handle_t *devices)
{
    const ze_event_pool_flags_t both =
        ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;

    if ((desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP cannot be combined with "
                          "ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, which includes it");
    if (is_counted && (desc->flags & ZE_EVENT_POOL_FLAG_IPC))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "a pool of counter based events cannot be shared between processes; "
                          "zeEventCounterBasedCreate makes single events that can");
    for (uint32_t i = 0; devices && i < count; i++) {
        ze_result_t result =
            zeta_context_check_device(context, (const struct zeta_device *)devices[i]);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

static struct zeta_device *first_device(const struct zeta_context *context, uint32_t count,
                                        ze_device_handle_t *devices)
{
    if (devices && count > 0)
        return (struct zeta_device *)devices[0];
    if (context->device_count > 0)
        return context->devices[0];
    return context->driver->device_count > 0 ? context->driver->devices[0] : NULL;
}

/* Owns the share from now on, also on failure. */
static ze_result_t make_pool(struct zeta_context *context, const struct zeta_event_pool *wanted,
                             ze_event_pool_handle_t *out_pool)
{
    void *object = NULL;
    ze_result_t result = zeta_object_create_in(context, ZETA_KIND_CONTEXT, ZETA_KIND_EVENT_POOL,
                                               sizeof(struct zeta_event_pool), &object);

    if (result != ZE_RESULT_SUCCESS) {
        zeta_share_destroy(wanted->share);
        return result;
    }
    struct zeta_event_pool *pool = object;
    pool->context = context;
    pool->device = wanted->device;
    pool->flags = wanted->flags;
    pool->count = wanted->count;
    pool->is_counted = wanted->is_counted;
    pool->share = wanted->share;
    *out_pool = (ze_event_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventPoolCreate(ze_context_handle_t hContext,
                                              const ze_event_pool_desc_t *desc, uint32_t numDevices,
                                              ze_device_handle_t *phDevices,
                                              ze_event_pool_handle_t *phEventPool)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_event_pool wanted = {
        .device = first_device(context, numDevices, phDevices),
        .flags = desc->flags,
        .count = desc->count,
        .is_counted =
            zeta_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC,
                            sizeof(ze_event_pool_counter_based_exp_desc_t)) != NULL};
    ze_result_t result = check_pool(context, desc, wanted.is_counted, numDevices, phDevices);

    if (result == ZE_RESULT_SUCCESS && (desc->flags & ZE_EVENT_POOL_FLAG_IPC))
        result = zeta_share_create(ZETA_SHARE_POOL, desc->count, desc->flags, &wanted.share);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return make_pool(context, &wanted, phEventPool);
}

static ze_result_t destroy(ze_event_pool_handle_t pool, const char *function)
{
    return zeta_object_destroy(pool, ZETA_KIND_EVENT_POOL, function, "hEventPool");
}

ze_result_t ZE_APICALL impl_zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    return destroy(hEventPool, "zeEventPoolDestroy");
}

ze_result_t ZE_APICALL impl_zeEventPoolGetIpcHandle(ze_event_pool_handle_t hEventPool,
                                                    ze_ipc_event_pool_handle_t *phIpc)
{
    const struct zeta_event_pool *pool = (const struct zeta_event_pool *)hEventPool;

    if (!pool->share)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "the event pool was created without ZE_EVENT_POOL_FLAG_IPC, so no other "
                          "process can use it");
    memcpy(phIpc->data, pool->share->handle, sizeof(phIpc->data));
    return ZE_RESULT_SUCCESS;
}

/* The descriptor in the handle is the pool's own and goes with it. */
ze_result_t ZE_APICALL impl_zeEventPoolPutIpcHandle(ze_context_handle_t hContext ZETA_UNUSED,
                                                    ze_ipc_event_pool_handle_t hIpc)
{
    return zeta_share_check_handle(ZETA_SHARE_POOL, hIpc.data);
}

ze_result_t ZE_APICALL impl_zeEventPoolOpenIpcHandle(ze_context_handle_t hContext,
                                                     ze_ipc_event_pool_handle_t hIpc,
                                                     ze_event_pool_handle_t *phEventPool)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_event_pool wanted = {.device = first_device(context, 0, NULL)};
    ze_result_t result = zeta_share_open(ZETA_SHARE_POOL, hIpc.data, &wanted.share);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    wanted.flags = wanted.share->flags;
    wanted.count = wanted.share->count;
    return make_pool(context, &wanted, phEventPool);
}

ze_result_t ZE_APICALL impl_zeEventPoolCloseIpcHandle(ze_event_pool_handle_t hEventPool)
{
    const struct zeta_event_pool *pool = (const struct zeta_event_pool *)hEventPool;

    if (!pool->share || !pool->share->is_opened)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the event pool was made here and not opened from an IPC handle; "
                          "zeEventPoolDestroy ends it");
    return destroy(hEventPool, "zeEventPoolCloseIpcHandle");
}

ze_result_t ZE_APICALL impl_zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                                        ze_context_handle_t *phContext)
{
    *phContext = (ze_context_handle_t)((const struct zeta_event_pool *)hEventPool)->context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool,
                                                ze_event_pool_flags_t *pFlags)
{
    *pFlags = ((const struct zeta_event_pool *)hEventPool)->flags;
    return ZE_RESULT_SUCCESS;
}
