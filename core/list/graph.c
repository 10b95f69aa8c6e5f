#include "core/list/graph.h"

#include <stdlib.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/queue/queue.h"
#include "core/util/error.h"

struct zeta_graph *zeta_graph_of(const struct zeta_command_list *list)
{
    return atomic_load(&list->capture);
}

ze_result_t zeta_graph_refuse(const struct zeta_command_list *list, const char *what)
{
    if (!zeta_graph_of(list))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                      "%s is not possible while the command list records into a graph", what);
}

/* ---------------------------------------------------------------- recording */

static void leave(struct zeta_graph *graph)
{
    (void)pthread_mutex_unlock(&graph->body->lock);
    zeta_object_unpin(graph);
}

static ze_result_t not_capturing(void)
{
    return zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED,
                      "the recording of the graph ended while a command was appended");
}

/* Another list may end the recording, and the application the graph, before we have the lock. */
ze_result_t zeta_graph_append_begin(struct zeta_append *append, struct zeta_graph *graph)
{
    if (!zeta_object_pin(graph, ZETA_KIND_GRAPH))
        return not_capturing();
    (void)pthread_mutex_lock(&graph->body->lock);
    if (zeta_graph_of(append->list) != graph) {
        leave(graph);
        return not_capturing();
    }
    append->graph = graph;
    append->buffer = &graph->body->buffer;
    return ZE_RESULT_SUCCESS;
}

static struct zeta_graph_member *member_of(struct zeta_graph_body *body,
                                           const struct zeta_command_list *list)
{
    for (uint32_t i = 0; i < body->member_count; i++) {
        if (body->members[i].list == list)
            return &body->members[i];
    }
    return NULL;
}

static bool is_work(const struct zeta_plugin_command *command)
{
    return command->type != ZETA_PLUGIN_COMMAND_BARRIER &&
           command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET;
}

static void capture_event(struct zeta_graph *graph, struct zeta_event *event)
{
    atomic_store(&event->capture, graph);
    atomic_fetch_or(&event->special, (uint32_t)ZETA_EVENT_CAPTURED);
}

/* Who waits for the last event of another list joins it. */
static void note_joins(struct zeta_graph_body *body, const struct zeta_graph_member *waiter,
                       const struct zeta_plugin_command *command)
{
    for (uint64_t w = 0; w < command->wait_count; w++) {
        for (uint32_t i = 0; i < body->member_count; i++) {
            struct zeta_graph_member *member = &body->members[i];

            if (member != waiter && member->signal == command->wait_events[w]->event)
                member->joined = true;
        }
    }
}

static void note_commands(struct zeta_graph *graph, const struct zeta_append *append,
                          uint32_t first)
{
    struct zeta_graph_body *body = graph->body;
    struct zeta_graph_member *member = member_of(body, append->list);

    for (uint32_t i = first; i < body->buffer.count; i++) {
        const struct zeta_plugin_command *command = &body->buffer.commands[i];

        note_joins(body, member, command);
        if (is_work(command)) {
            member->joined = false;
            member->signal = NULL;
        }
        if (command->signal_event && command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET) {
            member->signal = command->signal_event->event;
            capture_event(graph, command->signal_event->event);
        }
    }
}

ze_result_t zeta_graph_append_end(struct zeta_append *append, ze_result_t result)
{
    struct zeta_graph *graph = append->graph;

    if (result == ZE_RESULT_SUCCESS)
        note_commands(graph, append, append->first_command);
    leave(graph);
    return result;
}

/* ---------------------------------------------------------------- forks */

static ze_result_t refuse_outside(const struct zeta_event *event)
{
    if (!zeta_graph_is_internal(event))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT,
                      "the counter based event belongs to a graph that is being recorded; outside "
                      "it only events with ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL can be used");
}

ze_result_t zeta_graph_note_signal(const struct zeta_append *append, struct zeta_event *event)
{
    if (!(atomic_load(&event->special) & ZETA_EVENT_CAPTURED))
        return ZE_RESULT_SUCCESS;
    const struct zeta_graph *ours = append->graph ? append->graph : append->fork;
    return ours && ours == atomic_load(&event->capture) ? ZE_RESULT_SUCCESS : refuse_outside(event);
}

ze_result_t zeta_graph_note_wait(struct zeta_append *append, struct zeta_event *event)
{
    if (!(atomic_load(&event->special) & ZETA_EVENT_CAPTURED))
        return ZE_RESULT_SUCCESS;
    if (!append->list->queue)
        return refuse_outside(event);
    struct zeta_graph *theirs = atomic_load(&event->capture);
    struct zeta_graph *ours = append->graph ? append->graph : append->fork;
    if (ours && theirs && ours != theirs)
        return zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT,
                          "the event belongs to another graph that is being recorded");
    if (!append->graph)
        append->fork = theirs;
    return ZE_RESULT_SUCCESS;
}

static bool add_member(struct zeta_graph *graph, struct zeta_command_list *list)
{
    struct zeta_graph_body *body = graph->body;
    struct zeta_graph_member *members =
        realloc(body->members, (body->member_count + 1) * sizeof(*members));

    if (!members)
        return false;
    body->members = members;
    if (!zeta_object_pin(list, ZETA_KIND_COMMAND_LIST))
        return false;
    members[body->member_count++] = (struct zeta_graph_member){.list = list};
    atomic_store(&list->capture, graph);
    return true;
}

bool zeta_graph_add_primary(struct zeta_graph *graph, struct zeta_command_list *list)
{
    struct zeta_graph_body *body = graph->body;

    if (!add_member(graph, list))
        return false;
    body->primary = (ze_command_list_handle_t)list;
    body->ordinal = list->ordinal;
    body->in_order = list->in_order;
    body->state = ZETA_GRAPH_CAPTURING;
    return true;
}

ze_result_t zeta_graph_fork(struct zeta_append *append, struct zeta_command_buffer *commands)
{
    struct zeta_graph *graph = append->fork;
    ze_result_t result = ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED;

    if (append->list->queue->desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
        return zeta_error(result, "a synchronous command list cannot record into a graph, and this "
                                  "one waits for an event of a graph");
    if (!zeta_object_pin(graph, ZETA_KIND_GRAPH))
        return zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED, "the graph was destroyed");
    (void)pthread_mutex_lock(&graph->body->lock);
    uint32_t first = graph->body->buffer.count;
    result = ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED;
    if (graph->body->state == ZETA_GRAPH_CAPTURING)
        result = zeta_command_buffer_absorb(&graph->body->buffer, commands);
    if (result == ZE_RESULT_SUCCESS && !member_of(graph->body, append->list) &&
        !add_member(graph, append->list))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS)
        note_commands(graph, append, first);
    else
        graph->body->buffer.count = first;
    (void)pthread_mutex_unlock(&graph->body->lock);
    zeta_object_unpin(graph);
    return result == ZE_RESULT_SUCCESS
               ? result
               : zeta_error(result, "the command list could not join the recording of a graph");
}

/* ---------------------------------------------------------------- the end */

static bool all_joined(const struct zeta_graph_body *body)
{
    for (uint32_t i = 1; i < body->member_count; i++) {
        if (!body->members[i].joined)
            return false;
    }
    return true;
}

static void release_events(const struct zeta_graph_body *body)
{
    for (uint32_t i = 0; i < body->buffer.count; i++) {
        const struct zeta_plugin_event *signal = body->buffer.commands[i].signal_event;

        if (!signal)
            continue;
        atomic_fetch_and(&signal->event->special, ~(uint32_t)ZETA_EVENT_CAPTURED);
        atomic_store(&signal->event->capture, NULL);
    }
}

/* Lists go on as usual. Members are unpinned without the lock: that may call the backend. */
ze_result_t zeta_graph_end(struct zeta_graph *graph, const struct zeta_command_list *list)
{
    struct zeta_graph_body *body = graph->body;

    (void)pthread_mutex_lock(&body->lock);
    if (body->member_count == 0 || body->members[0].list != list) {
        (void)pthread_mutex_unlock(&body->lock);
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the recording began on another command list, which has to end it");
    }
    bool joined = all_joined(body);
    struct zeta_graph_member *members = body->members;
    uint32_t count = body->member_count;
    body->state = joined ? ZETA_GRAPH_DONE : ZETA_GRAPH_INVALID;
    body->members = NULL;
    body->member_count = 0;
    release_events(body);
    for (uint32_t i = 0; i < count; i++)
        atomic_store(&members[i].list->capture, NULL);
    (void)pthread_mutex_unlock(&body->lock);
    for (uint32_t i = 0; i < count; i++)
        zeta_object_unpin(members[i].list);
    free(members);
    if (joined)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS,
                      "a command list that joined the recording did work that nothing in the graph "
                      "waits for");
}

static void finish_graph(void *object)
{
    struct zeta_graph *graph = object;
    struct zeta_graph_body *body = graph->body;

    zeta_command_buffer_clear(&body->buffer);
    (void)pthread_mutex_destroy(&body->lock);
    free(body->members);
    free(body->callbacks);
    free(body);
    zeta_object_unpin(graph->context);
}

static void finish_executable(void *object)
{
    struct zeta_executable_graph *executable = object;

    zeta_command_buffer_clear(&executable->buffer);
    zeta_graph_drop_events(executable);
    if (executable->order && zeta_object_retire(executable->order))
        zeta_object_unpin(executable->order);
    zeta_object_unpin(executable->graph);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_GRAPH, finish_graph)
ZETA_OBJECT_FINISHER(ZETA_KIND_EXECUTABLE_GRAPH, finish_executable)
