/* Queries of the times of events, in the order of a command list. */
#include "core/command/times_query.h"

#include <string.h>

#include "core/command/event.h"
#include "core/command/list.h"
#include "core/command/track.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* What a query of times needs when its turn comes. */
struct time_query {
    uint64_t count;
    char *target;
    const size_t *offsets; /* NULL: one result after the other */
    struct zeta_plugin_event *const *events;
};

/* Runs on a thread of the backend, in the order of the queue. */
static void write_times(void *context)
{
    const struct time_query *query = context;

    for (uint64_t i = 0; i < query->count; i++) {
        ze_kernel_timestamp_result_t times = {0};
        size_t offset = query->offsets ? query->offsets[i] : i * sizeof(times);

        (void)zeta_event_times(query->events[i]->event, query->events[i]->value, &times);
        memcpy(query->target + offset, &times, sizeof(times));
    }
}

bool zeta_times_query_is(const struct zeta_plugin_command *command)
{
    return command->type == ZETA_PLUGIN_COMMAND_CALL && command->u.call.function == write_times;
}

ze_result_t zeta_times_query_track(struct zeta_recording *recording,
                                   struct zeta_plugin_command *command)
{
    struct time_query query = *(const struct time_query *)command->u.call.context;
    const void *copy = NULL;
    ze_result_t result = zeta_track_list(recording, query.count, &query.events);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_recording_copy(recording, &query, sizeof(query), &copy);
    if (result == ZE_RESULT_SUCCESS)
        command->u.call.context = (void *)(uintptr_t)copy;
    return result;
}

void zeta_times_query_move(const struct zeta_plugin_command *command, const struct zeta_arena *from,
                           const struct zeta_arena *to)
{
    struct time_query *query = command->u.call.context;

    query->events = zeta_arena_moved(from, to, query->events);
}

static ze_result_t list_events(struct zeta_append *append, uint32_t count,
                               ze_event_handle_t *events, struct zeta_plugin_event ***out_list)
{
    void *memory = NULL;
    ze_result_t result = zeta_recording_alloc(
        append->recording, (size_t)count * sizeof(struct zeta_plugin_event *), &memory);

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

ze_result_t ZE_APICALL impl_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct time_query query = {.count = numEvents, .target = dstptr, .offsets = pOffsets};
    struct zeta_plugin_command *command = NULL;
    struct zeta_plugin_event **events = NULL;
    struct zeta_append append;
    const void *copy = NULL;
    ze_result_t result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = list_events(&append, numEvents, phEvents, &events);
    query.events = events;
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_recording_copy(append.recording, &query, sizeof(query), &copy);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(&append, ZETA_PLUGIN_COMMAND_CALL, &command);
    if (result == ZE_RESULT_SUCCESS) {
        command->u.call =
            (struct zeta_plugin_call){.function = write_times, .context = (void *)(uintptr_t)copy};
        result = zeta_append_events(&append, command, hSignalEvent, numWaitEvents, phWaitEvents);
    }
    return zeta_append_end(&append, result);
}
