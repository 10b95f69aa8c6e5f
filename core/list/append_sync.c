/* Barriers, events and times in a command list. */
#include <string.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/memory/memory.h"
#include "core/queue/times_query.h"
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

/* Memory for a query of wanted->count events, valid as long as the commands. */
static ze_result_t make_query(struct zeta_append *append, const struct zeta_times_query *wanted,
                              bool has_offsets, struct zeta_times_query **out_query)
{
    struct zeta_times_query query = *wanted;
    void *memory[4] = {NULL};
    const size_t bytes[4] = {sizeof(query), query.count * sizeof(*query.times),
                             query.count * sizeof(*query.offsets),
                             query.count * sizeof(*query.copies)};
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (int i = 0; i < (has_offsets ? 4 : 2) && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_command_buffer_alloc(append->buffer, bytes[i], &memory[i]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    query.times = memory[1];
    query.offsets = memory[2];
    query.copies = memory[3];
    *out_query = memory[0];
    **out_query = query;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t add_copy(struct zeta_append *append, void *target, const void *source,
                            size_t bytes)
{
    struct zeta_plugin_command *command = NULL;
    ze_result_t result = zeta_append_add(append, ZETA_PLUGIN_COMMAND_COPY, &command);

    if (result == ZE_RESULT_SUCCESS)
        command->u.copy =
            (struct zeta_plugin_copy){.target = target, .source = source, .size_bytes = bytes};
    return result;
}

static ze_result_t add_results(struct zeta_append *append, const struct zeta_times_query *query)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!query->offsets)
        return add_copy(append, query->target, query->times, query->count * sizeof(*query->times));
    for (uint64_t i = 0; i < query->count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_plugin_command *command = NULL;

        result = zeta_append_add(append, ZETA_PLUGIN_COMMAND_COPY, &command);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        command->flags = ZETA_PLUGIN_COMMAND_INDIRECT;
        command->u.copy.indirect = &query->copies[i];
    }
    return result;
}

/* Between a barrier that waits and one that signals: the offsets in, the times, the results out. */
static ze_result_t add_query(struct zeta_append *append, struct zeta_times_query *query,
                             const size_t *offsets)
{
    struct zeta_plugin_command *command = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (offsets)
        result = add_copy(append, query->offsets, offsets, query->count * sizeof(*offsets));
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(append, ZETA_PLUGIN_COMMAND_CALL, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_times_query_set(command, query);
    return add_results(append, query);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct zeta_times_query wanted = {.count = numEvents, .target = dstptr};
    struct zeta_plugin_event **events = NULL;
    struct zeta_times_query *query = NULL;
    struct zeta_append append;
    ze_result_t result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = list_events(&append, numEvents, phEvents, &events);
    wanted.events = events;
    if (result == ZE_RESULT_SUCCESS)
        result = make_query(&append, &wanted, pOffsets != NULL, &query);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, NULL, numWaitEvents, phWaitEvents);
    if (result == ZE_RESULT_SUCCESS)
        result = add_query(&append, query, pOffsets);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, hSignalEvent, 0, NULL);
    return zeta_append_end(&append, result);
}
