/* Barriers, events and times in a command list. */
#include <string.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/memory/memory.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

ze_result_t ZE_APICALL impl_zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                                       ze_event_handle_t hSignalEvent,
                                                       uint32_t numWaitEvents,
                                                       ze_event_handle_t *phWaitEvents)
{
    return zeta_append_simple((struct zeta_command_list *)hCommandList, ZETA_PLUGIN_COMMAND_BARRIER,
                              hSignalEvent, numWaitEvents, phWaitEvents);
}

/* Coherent memory needs nothing for single ranges that a whole barrier does not do. */
ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t hCommandList, uint32_t numRanges ZETA_UNUSED,
    const size_t *pRangeSizes ZETA_UNUSED, const void **pRanges ZETA_UNUSED,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return zeta_append_simple((struct zeta_command_list *)hCommandList, ZETA_PLUGIN_COMMAND_BARRIER,
                              hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                                           ze_event_handle_t hEvent)
{
    return zeta_append_simple((struct zeta_command_list *)hCommandList, ZETA_PLUGIN_COMMAND_BARRIER,
                              hEvent, 0, NULL);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                                            uint32_t numEvents,
                                                            ze_event_handle_t *phEvents)
{
    return zeta_append_simple((struct zeta_command_list *)hCommandList, ZETA_PLUGIN_COMMAND_BARRIER,
                              NULL, numEvents, phEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                                          ze_event_handle_t hEvent)
{
    if (((const struct zeta_event *)hEvent)->counter)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "a counter based event is never reset: it follows the newest work that "
                          "signals it");
    return zeta_append_simple((struct zeta_command_list *)hCommandList,
                              ZETA_PLUGIN_COMMAND_EVENT_RESET, hEvent, 0, NULL);
}

/* A device that computes finds out itself what it cannot write to; others have no means to. */
static ze_result_t check_timestamp_target(const struct zeta_command_list *list,
                                          const uint64_t *target)
{
    const struct zeta_context *context = list->context;
    struct zeta_allocation found;

    if ((uintptr_t)target % sizeof(*target) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not aligned to the 8 bytes of a timestamp", (const void *)target);
    if (context->driver->compute)
        return ZE_RESULT_SUCCESS;
    if (zeta_memory_find(context->memory, target, &found) &&
        (size_t)((const char *)target - (const char *)found.base) + sizeof(*target) <=
            found.size_bytes)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%p is in no allocation of the context; on %s time stamps go to memory of "
                      "zeMemAllocHost",
                      (const void *)target, list->device->name);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_plugin_command *command = NULL;
    struct zeta_append append;
    ze_result_t result =
        check_timestamp_target((const struct zeta_command_list *)hCommandList, dstptr);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_append_add(&append, ZETA_PLUGIN_COMMAND_TIMESTAMP, &command);
    if (result == ZE_RESULT_SUCCESS) {
        command->u.timestamp = dstptr;
        result = zeta_append_events(&append, command, hSignalEvent, numWaitEvents, phWaitEvents);
    }
    return zeta_append_end(&append, result);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendHostFunction(
    ze_command_list_handle_t hCommandList, ze_host_function_callback_t pfnHostFunction,
    void *pUserData, const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct zeta_plugin_command *command = NULL;
    struct zeta_append append;
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_append_add(&append, ZETA_PLUGIN_COMMAND_CALL, &command);
    if (result == ZE_RESULT_SUCCESS) {
        command->u.call =
            (struct zeta_plugin_call){.function = pfnHostFunction, .context = pUserData};
        result = zeta_append_events(&append, command, hSignalEvent, numWaitEvents, phWaitEvents);
    }
    return zeta_append_end(&append, result);
}
