/* The command queue and fence functions of the API. */
#include <stdlib.h>

#include <zeta/clock.h>

#include "core/api/check.h"
#include "core/device/device.h"
#include "core/memory/memory.h"
#include "core/queue/queue.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static void finish_queue(void *object)
{
    zeta_queue_destroy(((struct zeta_command_queue *)object)->queue);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_COMMAND_QUEUE, finish_queue)

ze_result_t ZE_APICALL impl_zeCommandQueueCreate(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice,
                                                 const ze_command_queue_desc_t *desc,
                                                 ze_command_queue_handle_t *phCommandQueue)
{
    struct zeta_queue *queue = NULL;
    void *object = NULL;
    ze_result_t result = zeta_queue_create((struct zeta_context *)hContext,
                                           (struct zeta_device *)hDevice, desc, &queue);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result =
        zeta_object_create(ZETA_KIND_COMMAND_QUEUE, sizeof(struct zeta_command_queue), &object);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_queue_destroy(queue);
        return result;
    }
    queue->owner = object;
    atomic_store(&((struct zeta_command_queue *)object)->queue, queue);
    *phCommandQueue = object;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue)
{
    ze_result_t result = zeta_queue_check_idle(((struct zeta_command_queue *)hCommandQueue)->queue);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_object_destroy(hCommandQueue, ZETA_KIND_COMMAND_QUEUE, "zeCommandQueueDestroy",
                               "hCommandQueue");
}

ze_result_t ZE_APICALL impl_zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue,
                                                      uint64_t timeout)
{
    return zeta_queue_synchronize(((struct zeta_command_queue *)hCommandQueue)->queue, timeout);
}

ze_result_t ZE_APICALL impl_zeDeviceSynchronize(ze_device_handle_t hDevice)
{
    return zeta_queues_drain(NULL, (const struct zeta_device *)hDevice);
}

ZETA_GETTER(zeCommandQueueGetOrdinal, ze_command_queue_handle_t, zeta_command_queue, uint32_t,
            self->queue->desc.ordinal)
ZETA_GETTER(zeCommandQueueGetIndex, ze_command_queue_handle_t, zeta_command_queue, uint32_t,
            self->queue->desc.index)
ZETA_GETTER(zeCommandQueueGetFlags, ze_command_queue_handle_t, zeta_command_queue,
            ze_command_queue_flags_t, self->queue->desc.flags)
ZETA_GETTER(zeCommandQueueGetMode, ze_command_queue_handle_t, zeta_command_queue,
            ze_command_queue_mode_t, self->queue->desc.mode)
ZETA_GETTER(zeCommandQueueGetPriority, ze_command_queue_handle_t, zeta_command_queue,
            ze_command_queue_priority_t, self->queue->desc.priority)

ze_result_t ZE_APICALL impl_zeFenceCreate(ze_command_queue_handle_t hCommandQueue,
                                          const ze_fence_desc_t *desc, ze_fence_handle_t *phFence)
{
    struct zeta_command_queue *owner = (struct zeta_command_queue *)hCommandQueue;
    void *object = NULL;
    ze_result_t result = zeta_object_create(ZETA_KIND_FENCE, sizeof(struct zeta_fence), &object);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_fence *fence = object;
    fence->device = owner->queue->device;
    fence->owner = owner;
    if (desc->flags & ZE_FENCE_FLAG_SIGNALED)
        zeta_signal_set(&fence->signal, ZETA_SIGNAL_ON);
    *phFence = (ze_fence_handle_t)fence;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeFenceDestroy(ze_fence_handle_t hFence)
{
    return zeta_object_destroy(hFence, ZETA_KIND_FENCE, "zeFenceDestroy", "hFence");
}

static ze_result_t poll(void *object)
{
    struct zeta_fence *fence = object;

    switch (atomic_load(&fence->signal.state)) {
    case ZETA_SIGNAL_ON:
        return ZE_RESULT_SUCCESS;
    case ZETA_SIGNAL_LOST:
        return zeta_device_fault(fence->device, ZE_RESULT_ERROR_DEVICE_LOST);
    default:
        return ZE_RESULT_NOT_READY;
    }
}

/* The state of a fence after the backend had the time to report. */
static ze_result_t look(struct zeta_fence *fence, uint64_t timeout_ns)
{
    const ze_result_t result = poll(fence);
    const uint64_t number = atomic_load(&fence->number);

    if (result != ZE_RESULT_NOT_READY || number == 0 ||
        !zeta_object_pin(fence->owner, ZETA_KIND_COMMAND_QUEUE))
        return result;
    (void)zeta_queue_look(fence->owner->queue, number, timeout_ns);
    zeta_object_unpin(fence->owner);
    return poll(fence);
}

ze_result_t ZE_APICALL impl_zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout)
{
    struct zeta_fence *fence = (struct zeta_fence *)hFence;
    const uint64_t deadline_ns = zeta_clock_deadline(timeout);
    const ze_result_t result = look(fence, timeout);
    const uint64_t now_ns = zeta_monotonic_ns();

    if (result != ZE_RESULT_NOT_READY || now_ns >= deadline_ns)
        return result;
    return zeta_signal_wait(&fence->signal, poll, fence, fence->device,
                            timeout == UINT64_MAX ? timeout : deadline_ns - now_ns);
}

ze_result_t ZE_APICALL impl_zeFenceQueryStatus(ze_fence_handle_t hFence)
{
    return look((struct zeta_fence *)hFence, 0);
}

ze_result_t ZE_APICALL impl_zeFenceReset(ze_fence_handle_t hFence)
{
    zeta_signal_set(&((struct zeta_fence *)hFence)->signal, ZETA_SIGNAL_OFF);
    return ZE_RESULT_SUCCESS;
}
