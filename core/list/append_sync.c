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
    static const struct zeta_plugin_command barrier = {.type = ZETA_PLUGIN_COMMAND_BARRIER};

    return zeta_append_one((struct zeta_command_list *)hCommandList, &barrier, hSignalEvent,
                           numWaitEvents, phWaitEvents);
}

/* Coherent memory needs nothing for single ranges that a whole barrier does not do. */
ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t hCommandList, uint32_t numRanges ZETA_UNUSED,
    const size_t *pRangeSizes ZETA_UNUSED, const void **pRanges ZETA_UNUSED,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return impl_zeCommandListAppendBarrier(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                                           ze_event_handle_t hEvent)
{
    return impl_zeCommandListAppendBarrier(hCommandList, hEvent, 0, NULL);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                                            uint32_t numEvents,
                                                            ze_event_handle_t *phEvents)
{
    return impl_zeCommandListAppendBarrier(hCommandList, NULL, numEvents, phEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                                          ze_event_handle_t hEvent)
{
    static const struct zeta_plugin_command reset = {.type = ZETA_PLUGIN_COMMAND_EVENT_RESET};

    if (((const struct zeta_event *)hEvent)->counter)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "a counter based event is never reset: it follows the newest work that "
                          "signals it");
    return zeta_append_one((struct zeta_command_list *)hCommandList, &reset, hEvent, 0, NULL);
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
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    const struct zeta_plugin_command command = {.type = ZETA_PLUGIN_COMMAND_TIMESTAMP,
                                                .u.timestamp = dstptr};
    ze_result_t result = check_timestamp_target(list, dstptr);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_append_one(list, &command, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendHostFunction(
    ze_command_list_handle_t hCommandList, ze_host_function_callback_t pfnHostFunction,
    void *pUserData, const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    const struct zeta_plugin_command command = {
        .type = ZETA_PLUGIN_COMMAND_CALL,
        .u.call = {.function = pfnHostFunction, .context = pUserData}};
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_append_one((struct zeta_command_list *)hCommandList, &command, hSignalEvent,
                           numWaitEvents, phWaitEvents);
}

/* ---- Queries of the times of events ---- */

static ze_result_t list_events(struct zeta_append *append, uint32_t count,
                               ze_event_handle_t *events, struct zeta_plugin_event ***out_list)
{
    void *memory = NULL;
    ze_result_t result = zeta_command_buffer_alloc(
        append->buffer, (size_t)count * sizeof(struct zeta_plugin_event *), &memory);

    *out_list = memory;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        const struct zeta_event *event = (const struct zeta_event *)events[i];

        if (!event->has_times)
            return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                              "phEvents[%u] carries no times: neither it nor its pool was created "
                              "with a flag for timestamps",
                              i);
        result = zeta_append_event(append, events[i], false, &(*out_list)[i]);
    }
    return result;
}

/*
 * A query of the times of query->events, valid as long as the commands; all but the barriers around
 * it. offsets: of the application, NULL: none.
 */
static ze_result_t add_query(struct zeta_append *append, const struct zeta_times_query *wanted,
                             const size_t *offsets)
{
    const size_t bytes[4] = {sizeof(*wanted), wanted->count * sizeof(*wanted->times),
                             wanted->count * sizeof(*wanted->offsets),
                             wanted->count * sizeof(*wanted->copies)};
    struct zeta_plugin_command copy = {.type = ZETA_PLUGIN_COMMAND_COPY};
    struct zeta_plugin_command *command = NULL;
    void *memory[4] = {NULL};
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (int i = 0; i < (offsets ? 4 : 2) && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_command_buffer_alloc(append->buffer, bytes[i], &memory[i]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_times_query *query = memory[0];
    *query = *wanted;
    query->times = memory[1];
    query->offsets = memory[2];
    query->copies = memory[3];
    copy.u.copy = (struct zeta_plugin_copy){
        .target = query->offsets, .source = offsets, .size_bytes = bytes[2]};
    if (offsets)
        result = zeta_append_put(append, &copy);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(append, ZETA_PLUGIN_COMMAND_CALL, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_times_query_set(command, query);
    copy.u.copy = (struct zeta_plugin_copy){
        .target = query->target, .source = query->times, .size_bytes = bytes[1]};
    if (!offsets)
        return zeta_append_put(append, &copy);
    copy.flags = ZETA_PLUGIN_COMMAND_INDIRECT;
    for (uint64_t i = 0; i < query->count && result == ZE_RESULT_SUCCESS; i++) {
        copy.u.copy = (struct zeta_plugin_copy){.indirect = &query->copies[i]};
        result = zeta_append_put(append, &copy);
    }
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct zeta_times_query query = {.count = numEvents, .target = dstptr};
    struct zeta_plugin_event **events = NULL;
    struct zeta_append append;
    ze_result_t result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = list_events(&append, numEvents, phEvents, &events);
    query.events = events;
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, NULL, numWaitEvents, phWaitEvents);
    if (result == ZE_RESULT_SUCCESS)
        result = add_query(&append, &query, pOffsets);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, hSignalEvent, 0, NULL);
    return zeta_append_end(&append, result);
}
