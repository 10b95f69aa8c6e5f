/* Queries of the times of events, in the order of a command list. */
#include "core/list/times_query.h"

#include <string.h>

#include "core/event/event.h"
#include "core/list/list.h"
#include "core/queue/track.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/*
 * What a query of times needs when its turn comes. Only copies touch the application's memory, so
 * that a wild address is the device's to report: a call collects the times in memory of ours.
 */
struct time_query {
    uint64_t count;
    struct zeta_plugin_event *const *events;
    ze_kernel_timestamp_result_t *times;
    char *target;
    size_t *offsets;                 /* copied from the application just before; NULL: none */
    struct zeta_plugin_copy *copies; /* with offsets: one for each event */
};

/* Runs on a thread of the backend, in the order of the queue. */
static void collect_times(void *context)
{
    const struct time_query *query = context;

    for (uint64_t i = 0; i < query->count; i++) {
        ze_kernel_timestamp_result_t *times = &query->times[i];

        *times = (ze_kernel_timestamp_result_t){0};
        (void)zeta_event_times(query->events[i]->event, query->events[i]->value, times);
        if (query->offsets)
            query->copies[i] = (struct zeta_plugin_copy){
                .target = (void *)((uintptr_t)query->target + query->offsets[i]),
                .source = times,
                .size_bytes = sizeof(*times)};
    }
}

bool zeta_times_query_is(const struct zeta_plugin_command *command)
{
    return command->type == ZETA_PLUGIN_COMMAND_CALL && command->u.call.function == collect_times;
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

struct zeta_plugin_event **zeta_times_query_events(const struct zeta_plugin_command *command,
                                                   uint64_t *out_count)
{
    const struct time_query *query = command->u.call.context;

    *out_count = query->count;
    return (struct zeta_plugin_event **)(uintptr_t)query->events;
}

void zeta_times_query_move(const struct zeta_plugin_command *command, const struct zeta_arena *from,
                           const struct zeta_arena *to)
{
    struct time_query *query = command->u.call.context;

    query->events = zeta_arena_moved(from, to, query->events);
    query->times = zeta_arena_moved(from, to, query->times);
    query->offsets = zeta_arena_moved(from, to, query->offsets);
    query->copies = zeta_arena_moved(from, to, query->copies);
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

/* Memory for a query of wanted->count events, which lives as long as the commands. */
static ze_result_t make_query(struct zeta_append *append, const struct time_query *wanted,
                              bool has_offsets, struct time_query **out_query)
{
    struct time_query query = *wanted;
    void *memory[4] = {NULL};
    const size_t bytes[4] = {sizeof(query), query.count * sizeof(*query.times),
                             query.count * sizeof(*query.offsets),
                             query.count * sizeof(*query.copies)};
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (int i = 0; i < (has_offsets ? 4 : 2) && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_recording_alloc(append->recording, bytes[i], &memory[i]);
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

static ze_result_t add_results(struct zeta_append *append, const struct time_query *query)
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
static ze_result_t add_query(struct zeta_append *append, struct time_query *query,
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
    command->u.call = (struct zeta_plugin_call){.function = collect_times, .context = query};
    return add_results(append, query);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct time_query wanted = {.count = numEvents, .target = dstptr};
    struct zeta_plugin_event **events = NULL;
    struct time_query *query = NULL;
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
