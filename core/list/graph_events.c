/* Counter based events that belong to a graph, in each of its executable graphs another one. */
#include <stdlib.h>

#include "core/event/event.h"
#include "core/list/graph.h"
#include "core/queue/times_query.h"
#include "core/util/error.h"

bool zeta_graph_is_internal(const struct zeta_event *event)
{
    return event->counter &&
           (event->counter_flags & ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL) == 0;
}

static struct zeta_event *find(const struct zeta_executable_graph *executable,
                               const struct zeta_event *recorded)
{
    for (uint32_t i = 0; i < executable->event_count; i++) {
        if (executable->events[i].recorded == recorded)
            return executable->events[i].own;
    }
    return NULL;
}

/* What commands and queries of times see of an event is as in the one that was recorded. */
static ze_result_t make(struct zeta_executable_graph *executable, const struct zeta_event *recorded,
                        struct zeta_event **out_own)
{
    struct zeta_graph_event *grown =
        realloc(executable->events, (executable->event_count + 1) * sizeof(*grown));

    if (!grown)
        return zeta_error_no_memory("events of a graph");
    executable->events = grown;
    ze_result_t result = zeta_event_create_own(recorded->context, out_own);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    (*out_own)->has_times = recorded->has_times;
    (*out_own)->has_host_times = recorded->has_host_times;
    atomic_store(&(*out_own)->device, atomic_load(&recorded->device));
    grown[executable->event_count++] =
        (struct zeta_graph_event){.recorded = recorded, .own = *out_own};
    return ZE_RESULT_SUCCESS;
}

static void replace(const struct zeta_executable_graph *executable,
                    struct zeta_plugin_event **events, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct zeta_event *own = find(executable, events[i]->event);

        if (own)
            events[i] = &own->plain;
    }
}

static ze_result_t own_signal(struct zeta_executable_graph *executable,
                              struct zeta_plugin_command *command)
{
    const struct zeta_event *recorded = command->signal_event ? command->signal_event->event : NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!recorded || !zeta_graph_is_internal(recorded))
        return ZE_RESULT_SUCCESS;
    struct zeta_event *own = find(executable, recorded);
    if (!own)
        result = make(executable, recorded, &own);
    if (result == ZE_RESULT_SUCCESS)
        command->signal_event = &own->plain;
    return result;
}

ze_result_t zeta_graph_own_events(struct zeta_executable_graph *executable)
{
    struct zeta_command_buffer *buffer = &executable->buffer;
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < buffer->count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_plugin_command *command = &buffer->commands[i];
        const struct zeta_times_query *query = zeta_times_query_of(command);

        /* The lists lie in the arena of the buffer, which is a copy. */
        replace(executable, (struct zeta_plugin_event **)(uintptr_t)command->wait_events,
                command->wait_count);
        if (query)
            replace(executable, (struct zeta_plugin_event **)(uintptr_t)query->events,
                    query->count);
        result = own_signal(executable, command);
    }
    return result;
}

void zeta_graph_drop_events(struct zeta_executable_graph *executable)
{
    for (uint32_t i = 0; i < executable->event_count; i++) {
        struct zeta_event *own = executable->events[i].own;

        zeta_object_discard(own);
    }
    free(executable->events);
}
