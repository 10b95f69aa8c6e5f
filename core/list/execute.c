/* Recorded lists on their way to a queue, and lists that are executed by or copied from others. */
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/queue/queue.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/*
 * Whether the queue can execute a list: a regular one, closed, of its queue group and device.
 * index: its position, for the sentence.
 */
static ze_result_t check_list(const struct zeta_queue *queue, const struct zeta_command_list *list,
                              uint32_t index)
{
    const struct zeta_device *device = queue->device;

    if (list->queue)
        return zeta_error(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                          "phCommandLists[%u] is an immediate command list, which runs on its own",
                          index);
    if (list->ordinal != queue->desc.ordinal)
        return zeta_error(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                          "phCommandLists[%u] is for queue group %u, the queue is of group %u",
                          index, list->ordinal, queue->desc.ordinal);
    if (!list->closed)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "phCommandLists[%u] is not closed; call zeCommandListClose first", index);
    if (list->mutations && list->mutations->changed)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "phCommandLists[%u] was changed; call zeCommandListClose again first",
                          index);
    if (list->device != device && list->device != device->parent && list->device->parent != device)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "phCommandLists[%u] was created for %s, the queue is of %s", index,
                          list->device->name, device->name);
    return ZE_RESULT_SUCCESS;
}

/* Submits the commands of a list without waiting. fence: to signal at their end, or NULL. */
static ze_result_t submit_list(struct zeta_queue *queue, struct zeta_command_list *list,
                               struct zeta_fence *fence)
{
    struct zeta_submission *submission = zeta_submission_create(queue);

    if (!submission)
        return zeta_error_no_memory("a submission");
    if (zeta_object_pin(list, ZETA_KIND_COMMAND_LIST)) {
        submission->owner = list;
        submission->source = &list->buffer;
        submission->owner_use = &list->use;
    }
    if (fence && zeta_object_pin(fence, ZETA_KIND_FENCE))
        submission->fence = fence;
    if (!submission->owner || submission->fence != fence) {
        zeta_submission_destroy(submission);
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "a command list or fence was destroyed while it was submitted");
    }
    return zeta_queue_submit(queue, submission, false);
}

ze_result_t ZE_APICALL impl_zeCommandQueueExecuteCommandLists(
    ze_command_queue_handle_t hCommandQueue, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_fence_handle_t hFence)
{
    struct zeta_command_queue *owner = (struct zeta_command_queue *)hCommandQueue;
    struct zeta_fence *fence = (struct zeta_fence *)hFence;

    if (fence && fence->owner != owner)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the fence was created for another command queue");
    for (uint32_t i = 0; i < numCommandLists; i++) {
        ze_result_t result =
            check_list(owner->queue, (const struct zeta_command_list *)phCommandLists[i], i);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    for (uint32_t i = 0; i < numCommandLists; i++) {
        ze_result_t result =
            submit_list(owner->queue, (struct zeta_command_list *)phCommandLists[i],
                        i + 1 == numCommandLists ? fence : NULL);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return zeta_queue_submitted(owner->queue);
}

/* Submits a barrier without waiting for it in any mode; nothing if it has nothing to do. */
static ze_result_t submit_barrier(struct zeta_command_list *list, ze_event_handle_t signal,
                                  uint32_t wait_count, ze_event_handle_t *waits)
{
    struct zeta_append append;

    if (!signal && wait_count == 0)
        return ZE_RESULT_SUCCESS;
    ze_result_t result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    append.no_wait = true;
    return zeta_append_end(&append, zeta_append_barrier(&append, signal, wait_count, waits));
}

ze_result_t ZE_APICALL impl_zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandListImmediate;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!list->queue)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "hCommandListImmediate is not an immediate command list");
    result = zeta_graph_refuse(list, "appending command lists");
    if (result == ZE_RESULT_SUCCESS)
        result =
            list->skipped_for
                ? zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                             "appending command lists is not possible between begin and end of "
                             "an execution query")
                : ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < numCommandLists && result == ZE_RESULT_SUCCESS; i++)
        result = check_list(list->queue, (const struct zeta_command_list *)phCommandLists[i], i);
    for (uint32_t i = 0; i < numWaitEvents && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_list_check_event(list, (const struct zeta_event *)phWaitEvents[i], false);
    if (result == ZE_RESULT_SUCCESS && hSignalEvent)
        result = zeta_list_check_event(list, (const struct zeta_event *)hSignalEvent, true);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* What waits and what signals are barriers around the lists, in the order of the queue. */
    result = submit_barrier(list, NULL, numWaitEvents, phWaitEvents);
    for (uint32_t i = 0; i < numCommandLists && result == ZE_RESULT_SUCCESS; i++)
        result = submit_list(list->queue, (struct zeta_command_list *)phCommandLists[i], NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = submit_barrier(list, hSignalEvent, 0, NULL);
    return result == ZE_RESULT_SUCCESS ? zeta_queue_submitted(list->queue) : result;
}

ze_result_t ZE_APICALL impl_zeCommandListImmediateAppendCommandListsWithParameters(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, const void *pNext ZETA_UNUSED,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return impl_zeCommandListImmediateAppendCommandListsExp(hCommandListImmediate, numCommandLists,
                                                            phCommandLists, hSignalEvent,
                                                            numWaitEvents, phWaitEvents);
}

/* The copy shares nothing that either list could change, so they may go in any order. */
ze_result_t ZE_APICALL impl_zeCommandListCreateCloneExp(
    ze_command_list_handle_t hCommandList, ze_command_list_handle_t *phClonedCommandList)
{
    const struct zeta_command_list *list = (const struct zeta_command_list *)hCommandList;
    struct zeta_command_list *copy = NULL;

    if ((list->flags & ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list was created without "
                                                            "ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE");
    if (!list->closed || (list->mutations && list->mutations->changed))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the command list is not closed; call zeCommandListClose first");
    ze_result_t result = zeta_list_create(list->context, list->device, list->ordinal, &copy);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    copy->flags = list->flags;
    copy->in_order = list->in_order;
    copy->closed = true;
    result = zeta_command_buffer_clone(&list->buffer, &copy->buffer);
    if (result == ZE_RESULT_SUCCESS && list->mutations)
        result = zeta_mutations_clone(list->mutations, &copy->mutations);
    if (result == ZE_RESULT_SUCCESS)
        *phClonedCommandList = (ze_command_list_handle_t)copy;
    else
        zeta_object_discard(copy);
    return result;
}
