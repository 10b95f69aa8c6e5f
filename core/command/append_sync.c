/* Barriers, events and times in a command list. */
#include <string.h>

#include "core/command/event.h"
#include "core/command/list.h"
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
    return zeta_append_simple((struct zeta_command_list *)hCommandList,
                              ZETA_PLUGIN_COMMAND_EVENT_RESET, hEvent, 0, NULL);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_plugin_command *command = NULL;
    struct zeta_append append;

    if ((uintptr_t)dstptr % sizeof(*dstptr) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not aligned to the 8 bytes of a timestamp", (void *)dstptr);
    ze_result_t result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_append_add(&append, ZETA_PLUGIN_COMMAND_TIMESTAMP, &command);
    if (result == ZE_RESULT_SUCCESS) {
        command->u.timestamp = dstptr;
        result = zeta_append_events(&append, command, hSignalEvent, numWaitEvents, phWaitEvents);
    }
    return zeta_append_end(&append, result);
}

/* What a query of times needs when its turn comes. */
struct time_query {
    uint32_t count;
    char *target;
    const size_t *offsets; /* NULL: one result after the other */
    struct zeta_event *events[];
};

/* Runs on a thread of the backend, in the order of the queue. */
static void write_times(void *context)
{
    const struct time_query *query = context;

    for (uint32_t i = 0; i < query->count; i++) {
        ze_kernel_timestamp_result_t times = {0};
        size_t offset = query->offsets ? query->offsets[i] : i * sizeof(times);

        (void)zeta_event_times(query->events[i], &times);
        memcpy(query->target + offset, &times, sizeof(times));
    }
}

static ze_result_t make_query(struct zeta_append *append, uint32_t count, ze_event_handle_t *events,
                              void **out_query)
{
    struct time_query *query = NULL;
    ze_result_t result = zeta_recording_alloc(
        append->recording, sizeof(*query) + count * sizeof(query->events[0]), out_query);

    query = *out_query;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_event *event = (struct zeta_event *)events[i];

        if (!zeta_event_pool_has_times(event->pool))
            return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                              "phEvents[%u] carries no times: its pool was created without "
                              "ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP",
                              i);
        query->events[i] = event;
        result = zeta_recording_pin(append->recording, event, ZETA_KIND_EVENT);
    }
    if (result == ZE_RESULT_SUCCESS)
        query->count = count;
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct zeta_plugin_command *command = NULL;
    struct zeta_append append;
    void *query = NULL;
    ze_result_t result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = make_query(&append, numEvents, phEvents, &query);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(&append, ZETA_PLUGIN_COMMAND_CALL, &command);
    if (result == ZE_RESULT_SUCCESS) {
        ((struct time_query *)query)->target = dstptr;
        ((struct time_query *)query)->offsets = pOffsets;
        command->u.call = (struct zeta_plugin_call){.function = write_times, .context = query};
        result = zeta_append_events(&append, command, hSignalEvent, numWaitEvents, phWaitEvents);
    }
    return zeta_append_end(&append, result);
}
