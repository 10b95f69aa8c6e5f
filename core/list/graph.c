/*
 * Graphs: commands that immediate lists record instead of running them, to be run later, many
 * times.
 *
 * Recording begins on one list, the primary one. Another immediate list that waits for an event
 * which a recording list signals records too, into the same graph, until the primary list ends it;
 * before, what it did has to be joined: an event it signals last has to be waited for elsewhere in
 * the graph. The graph has its commands in the order in which they were appended. That order keeps
 * every dependency, because a wait joins the graph only after the signal that it waits for; so the
 * execution of a graph is one sequence of commands.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/api/check.h"
#include "core/device/device.h"
#include "core/event/counter.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/module/module.h"
#include "core/queue/queue.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

enum zeta_graph_state {
    ZETA_GRAPH_EMPTY,     /* nothing was recorded yet */
    ZETA_GRAPH_CAPTURING, /* lists record into it */
    ZETA_GRAPH_DONE,
    ZETA_GRAPH_INVALID /* what was recorded cannot be executed */
};

/* A list that records. */
struct zeta_graph_member {
    struct zeta_command_list *list;  /* pinned */
    const struct zeta_event *signal; /* last event of it, if nothing came after; else NULL */
    bool joined;                     /* all its work is waited for */
};

/* Called when a graph is destroyed. */
struct zeta_graph_callback {
    zex_mem_graph_free_callback_fn_t function;
    void *context;
};

/* What hangs off a graph. */
struct zeta_graph_body {
    pthread_mutex_t lock; /* held from the begin to the end of an append that records */
    enum zeta_graph_state state;
    struct zeta_command_buffer buffer;
    struct zeta_graph_member *members; /* the primary list first */
    uint32_t member_count;
    struct zeta_graph_callback *callbacks;
    uint32_t callback_count;
    ze_command_list_handle_t primary; /* also after its end; not pinned */
    uint32_t ordinal;                 /* of the primary list */
    bool in_order;
    bool is_ours; /* the application gets its handle when the recording ends */
    uint32_t instances;
};

struct zeta_graph {
    struct zeta_object object;
    struct zeta_context *context; /* pinned */
    struct zeta_graph_body *body;
};

/* An internal event of a graph, and what replaces it in an executable graph. */
struct zeta_graph_event {
    const struct zeta_event *recorded;
    struct zeta_event *own; /* owned */
};

/* A graph that can be executed: a copy of what was recorded. */
struct zeta_executable_graph {
    struct zeta_object object;
    struct zeta_graph *graph; /* pinned */
    struct zeta_command_buffer buffer;
    struct zeta_graph_event *events; /* that replace internal ones of the graph */
    uint32_t event_count;
    struct zeta_event *order; /* each execution reaches its counter, one after the other; owned */
};

/* True for a counter based event that is for use inside of graphs only. */
static bool is_internal(const struct zeta_event *event)
{
    return event->counter &&
           (event->counter_flags & ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL) == 0;
}

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

static void note_commands(struct zeta_graph *graph, const struct zeta_append *append,
                          uint32_t first)
{
    struct zeta_graph_body *body = graph->body;
    struct zeta_graph_member *member = member_of(body, append->list);

    for (uint32_t i = first; i < body->buffer.count; i++) {
        const struct zeta_plugin_command *command = &body->buffer.commands[i];

        /* A wait for the last event of another list joins that list. */
        for (uint64_t w = 0; w < command->wait_count; w++) {
            for (uint32_t k = 0; k < body->member_count; k++) {
                struct zeta_graph_member *other = &body->members[k];

                if (other != member && other->signal == command->wait_events[w]->event)
                    other->joined = true;
            }
        }
        if (command->type != ZETA_PLUGIN_COMMAND_BARRIER &&
            command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET) {
            member->joined = false;
            member->signal = NULL;
        }
        if (command->signal_event && command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET) {
            member->signal = command->signal_event->event;
            atomic_store(&command->signal_event->event->capture, graph);
            atomic_fetch_or(&command->signal_event->event->special, (uint32_t)ZETA_EVENT_CAPTURED);
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
    if (!is_internal(event))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT,
                      "the counter based event belongs to a graph that is being recorded; outside "
                      "it only events with ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL can be used");
}

ze_result_t zeta_graph_note_event(struct zeta_append *append, struct zeta_event *event,
                                  bool signals)
{
    if (!(atomic_load(&event->special) & ZETA_EVENT_CAPTURED))
        return ZE_RESULT_SUCCESS;
    struct zeta_graph *theirs = atomic_load(&event->capture);
    struct zeta_graph *ours = append->graph ? append->graph : append->fork;
    if (signals)
        return ours && ours == theirs ? ZE_RESULT_SUCCESS : refuse_outside(event);
    if (!append->list->queue)
        return refuse_outside(event);
    if (ours && theirs && ours != theirs)
        return zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT,
                          "the event belongs to another graph that is being recorded");
    if (!append->graph)
        append->fork = theirs;
    return ZE_RESULT_SUCCESS;
}

/* False when memory is exhausted or the list was just destroyed. */
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
    leave(graph);
    return result == ZE_RESULT_SUCCESS
               ? result
               : zeta_error(result, "the command list could not join the recording of a graph");
}

/* ---------------------------------------------------------------- the end */

/*
 * Ends a recording on its primary list; GRAPH_UNJOINED_FORKS makes the graph invalid. Lists go on
 * as usual. Members are unpinned without the lock: that may call the backend.
 */
static ze_result_t end(struct zeta_graph *graph, const struct zeta_command_list *list)
{
    struct zeta_graph_body *body = graph->body;

    (void)pthread_mutex_lock(&body->lock);
    if (body->member_count == 0 || body->members[0].list != list) {
        (void)pthread_mutex_unlock(&body->lock);
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the recording began on another command list, which has to end it");
    }
    bool joined = true;
    struct zeta_graph_member *members = body->members;
    uint32_t count = body->member_count;
    for (uint32_t i = 1; i < count; i++)
        joined = joined && members[i].joined;
    body->state = joined ? ZETA_GRAPH_DONE : ZETA_GRAPH_INVALID;
    body->members = NULL;
    body->member_count = 0;
    for (uint32_t i = 0; i < body->buffer.count; i++) {
        const struct zeta_plugin_event *signal = body->buffer.commands[i].signal_event;

        if (!signal)
            continue;
        atomic_fetch_and(&signal->event->special, ~(uint32_t)ZETA_EVENT_CAPTURED);
        atomic_store(&signal->event->capture, NULL);
    }
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

/* ---------------------------------------------------------------- events of executions */

static struct zeta_event *find(const struct zeta_executable_graph *executable,
                               const struct zeta_event *recorded)
{
    for (uint32_t i = 0; i < executable->event_count; i++) {
        if (executable->events[i].recorded == recorded)
            return executable->events[i].own;
    }
    return NULL;
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

/*
 * Gives an executable graph events of its own in place of the internal ones that its commands
 * signal, so that what the application does with those afterwards means nothing to it. Waits that
 * come before the first signal are for earlier work and stay.
 */
static ze_result_t own_events(struct zeta_executable_graph *executable)
{
    struct zeta_command_buffer *buffer = &executable->buffer;
    ze_result_t result;

    for (uint32_t i = 0; i < buffer->count; i++) {
        struct zeta_plugin_command *command = &buffer->commands[i];
        const struct zeta_times_query *query = zeta_times_query_of(command);

        /* The lists lie in the arena of the buffer, which is a copy. */
        replace(executable, (struct zeta_plugin_event **)(uintptr_t)command->wait_events,
                command->wait_count);
        if (query)
            replace(executable, (struct zeta_plugin_event **)(uintptr_t)query->events,
                    query->count);
        if (!command->signal_event || !is_internal(command->signal_event->event))
            continue;
        const struct zeta_event *recorded = command->signal_event->event;
        struct zeta_event *own = find(executable, recorded);
        if (!own) {
            struct zeta_graph_event *grown =
                realloc(executable->events, (executable->event_count + 1) * sizeof(*grown));

            if (!grown)
                return zeta_error_no_memory("events of a graph");
            executable->events = grown;
            result = zeta_event_create_own(recorded->context, &own);
            if (result != ZE_RESULT_SUCCESS)
                return result;
            /* What commands and queries of times see of it is as in the one that was recorded. */
            own->has_times = recorded->has_times;
            own->has_host_times = recorded->has_host_times;
            atomic_store(&own->device, atomic_load(&recorded->device));
            grown[executable->event_count++] =
                (struct zeta_graph_event){.recorded = recorded, .own = own};
        }
        command->signal_event = &own->plain;
    }
    return ZE_RESULT_SUCCESS;
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
    for (uint32_t i = 0; i < executable->event_count; i++)
        zeta_object_discard(executable->events[i].own);
    free(executable->events);
    if (executable->order && zeta_object_retire(executable->order))
        zeta_object_unpin(executable->order);
    zeta_object_unpin(executable->graph);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_GRAPH, finish_graph)
ZETA_OBJECT_FINISHER(ZETA_KIND_EXECUTABLE_GRAPH, finish_executable)

/* ---------------------------------------------------------------- creation and destruction */

static ze_result_t create(struct zeta_context *context, struct zeta_graph **out_graph)
{
    struct zeta_graph_body *body = calloc(1, sizeof(*body));
    void *object = NULL;

    if (!body)
        return zeta_error_no_memory("a graph");
    ze_result_t result = zeta_object_create_in(context, ZETA_KIND_CONTEXT, ZETA_KIND_GRAPH,
                                               sizeof(struct zeta_graph), &object);
    if (result != ZE_RESULT_SUCCESS) {
        free(body);
        return result;
    }
    struct zeta_graph *graph = object;
    (void)pthread_mutex_init(&body->lock, NULL);
    graph->context = context;
    graph->body = body;
    *out_graph = graph;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeGraphCreateExt(ze_context_handle_t hContext,
                                             const void *pNext ZETA_UNUSED,
                                             ze_graph_handle_t *phGraph)
{
    struct zeta_graph *graph = NULL;
    ze_result_t result = create((struct zeta_context *)hContext, &graph);

    if (result == ZE_RESULT_SUCCESS)
        *phGraph = (ze_graph_handle_t)graph;
    return result;
}

ze_result_t ZE_APICALL impl_zeGraphDestroyExt(ze_graph_handle_t hGraph)
{
    struct zeta_graph *graph = (struct zeta_graph *)hGraph;
    struct zeta_graph_body *body = graph->body;

    (void)pthread_mutex_lock(&body->lock);
    bool in_use = body->state == ZETA_GRAPH_CAPTURING || body->instances > 0;
    (void)pthread_mutex_unlock(&body->lock);
    if (in_use)
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "the graph is being recorded, or executable graphs were made of it; "
                          "end the recording and destroy those first");
    if (!zeta_object_retire(graph))
        return zeta_object_explain(hGraph, ZETA_KIND_GRAPH, "zeGraphDestroyExt", "hGraph");
    for (uint32_t i = 0; i < body->callback_count; i++)
        body->callbacks[i].function(body->callbacks[i].context);
    zeta_object_unpin(graph);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeGraphSetDestructionCallbackExt(
    ze_graph_handle_t hGraph, zex_mem_graph_free_callback_fn_t pfnCallback, void *pUserData,
    const void *pNext ZETA_UNUSED)
{
    struct zeta_graph_body *body = ((struct zeta_graph *)hGraph)->body;

    (void)pthread_mutex_lock(&body->lock);
    struct zeta_graph_callback *callbacks =
        realloc(body->callbacks, (body->callback_count + 1) * sizeof(*callbacks));
    if (callbacks) {
        body->callbacks = callbacks;
        callbacks[body->callback_count++] =
            (struct zeta_graph_callback){.function = pfnCallback, .context = pUserData};
    }
    (void)pthread_mutex_unlock(&body->lock);
    return callbacks ? ZE_RESULT_SUCCESS : zeta_error_no_memory("a callback");
}

/* ---------------------------------------------------------------- recording */

static ze_result_t check_primary(const struct zeta_command_list *list)
{
    if (!list->queue)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "only immediate command lists record into a graph");
    if (list->queue->desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
        return zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                          "a synchronous command list cannot record into a graph");
    return zeta_graph_refuse(list, "beginning another recording");
}

static ze_result_t begin(struct zeta_command_list *list, struct zeta_graph *graph)
{
    struct zeta_graph_body *body = graph->body;
    ze_result_t result = ZE_RESULT_SUCCESS;

    (void)pthread_mutex_lock(&body->lock);
    if (body->state != ZETA_GRAPH_EMPTY)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "the graph is not empty; every recording needs a new one");
    else if (!add_member(graph, list))
        result = zeta_error_no_memory("a recording");
    if (result == ZE_RESULT_SUCCESS) {
        body->primary = (ze_command_list_handle_t)list;
        body->ordinal = list->ordinal;
        body->in_order = list->in_order;
        body->state = ZETA_GRAPH_CAPTURING;
    }
    (void)pthread_mutex_unlock(&body->lock);
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListBeginGraphCaptureExt(ze_command_list_handle_t hCommandList,
                                                              const void *pNext ZETA_UNUSED)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_graph *graph = NULL;
    ze_result_t result = check_primary(list);

    if (result == ZE_RESULT_SUCCESS)
        result = create(list->context, &graph);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    graph->body->is_ours = true;
    result = begin(list, graph);
    if (result != ZE_RESULT_SUCCESS)
        zeta_object_discard(graph);
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListBeginCaptureIntoGraphExt(
    ze_command_list_handle_t hCommandList, ze_graph_handle_t hGraph, const void *pNext ZETA_UNUSED)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_graph *graph = (struct zeta_graph *)hGraph;
    ze_result_t result = check_primary(list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (graph->context->driver != list->context->driver)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the graph belongs to another driver than the command list");
    return begin(list, graph);
}

ze_result_t ZE_APICALL
impl_zeCommandListIsGraphCaptureEnabledExt(ze_command_list_handle_t hCommandList)
{
    return zeta_graph_of((const struct zeta_command_list *)hCommandList) ? ZE_RESULT_QUERY_TRUE
                                                                         : ZE_RESULT_QUERY_FALSE;
}

static ze_result_t not_joined(void)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_GRAPH,
                      "the graph has work that was never joined and cannot be executed");
}

static ze_result_t not_recording(void)
{
    return zeta_error(ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING,
                      "the command list does not record into a graph");
}

ze_result_t ZE_APICALL impl_zeCommandListEndGraphCaptureExt(ze_command_list_handle_t hCommandList,
                                                            const void *pNext ZETA_UNUSED,
                                                            ze_graph_handle_t *phGraph)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_graph *graph = zeta_graph_of(list);

    if (!graph)
        return not_recording();
    ze_result_t result = end(graph, list);
    if (result == ZE_RESULT_SUCCESS)
        *phGraph = (ze_graph_handle_t)graph;
    else if (result == ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS && graph->body->is_ours)
        zeta_object_discard(graph); /* its handle was not given out */
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListGetGraphExt(ze_command_list_handle_t hCommandList,
                                                     ze_graph_handle_t *phGraph)
{
    struct zeta_graph *graph = zeta_graph_of((const struct zeta_command_list *)hCommandList);

    *phGraph = (ze_graph_handle_t)graph;
    return graph ? ZE_RESULT_SUCCESS : not_recording();
}

ze_result_t ZE_APICALL impl_zeGraphGetPrimaryCommandListExt(ze_graph_handle_t hGraph,
                                                            ze_command_list_handle_t *phCommandList)
{
    struct zeta_graph_body *body = ((struct zeta_graph *)hGraph)->body;

    (void)pthread_mutex_lock(&body->lock);
    ze_command_list_handle_t primary = body->primary;
    (void)pthread_mutex_unlock(&body->lock);
    if (!primary)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "nothing was recorded into the graph");
    *phCommandList = primary;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeGraphIsEmptyExt(ze_graph_handle_t hGraph)
{
    struct zeta_graph_body *body = ((struct zeta_graph *)hGraph)->body;

    (void)pthread_mutex_lock(&body->lock);
    enum zeta_graph_state state = body->state;
    bool empty = body->buffer.count == 0;
    (void)pthread_mutex_unlock(&body->lock);
    if (state == ZETA_GRAPH_INVALID)
        return not_joined();
    return empty ? ZE_RESULT_QUERY_TRUE : ZE_RESULT_QUERY_FALSE;
}

/* ---------------------------------------------------------------- execution */

ze_result_t ZE_APICALL impl_zeGraphInstantiateExt(ze_graph_handle_t hGraph,
                                                  const void *pNext ZETA_UNUSED,
                                                  ze_executable_graph_handle_t *phExecutableGraph)
{
    struct zeta_graph *graph = (struct zeta_graph *)hGraph;
    void *object = NULL;
    ze_result_t result = zeta_object_create_in(graph, ZETA_KIND_GRAPH, ZETA_KIND_EXECUTABLE_GRAPH,
                                               sizeof(struct zeta_executable_graph), &object);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_executable_graph *executable = object;
    struct zeta_graph_body *body = graph->body;
    executable->graph = graph;
    result = zeta_event_create_own(graph->context, &executable->order);
    (void)pthread_mutex_lock(&body->lock);
    if (result == ZE_RESULT_SUCCESS && body->state == ZETA_GRAPH_INVALID)
        result = not_joined();
    else if (result == ZE_RESULT_SUCCESS && body->state != ZETA_GRAPH_DONE)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "the recording of the graph has not ended yet");
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_clone(&body->buffer, &executable->buffer);
    if (result == ZE_RESULT_SUCCESS)
        result = own_events(executable);
    if (result == ZE_RESULT_SUCCESS)
        body->instances++;
    (void)pthread_mutex_unlock(&body->lock);
    if (result == ZE_RESULT_SUCCESS)
        *phExecutableGraph = object;
    else
        zeta_object_discard(object);
    return result;
}

ze_result_t ZE_APICALL impl_zeExecutableGraphDestroyExt(ze_executable_graph_handle_t hGraph)
{
    struct zeta_executable_graph *executable = (struct zeta_executable_graph *)hGraph;

    /* Executions that are on their way keep what they need. */
    if (!zeta_object_retire(executable))
        return zeta_object_explain(hGraph, ZETA_KIND_EXECUTABLE_GRAPH,
                                   "zeExecutableGraphDestroyExt", "hGraph");
    (void)pthread_mutex_lock(&executable->graph->body->lock);
    executable->graph->body->instances--;
    (void)pthread_mutex_unlock(&executable->graph->body->lock);
    zeta_object_unpin(executable);
    return ZE_RESULT_SUCCESS;
}

ZETA_GETTER(zeExecutableGraphGetSourceGraphExt, ze_executable_graph_handle_t, zeta_executable_graph,
            ze_graph_handle_t, self->graph)

/*
 * One execution at a time, from any thread: each waits for the value of a counter that the one
 * before reaches. Values are taken when the append is complete but for its submission.
 */
struct ticket {
    struct zeta_plugin_event before;
    struct zeta_plugin_event mine;
    struct zeta_plugin_event *waits[1];
};

ze_result_t ZE_APICALL impl_zeCommandListAppendGraphExt(ze_command_list_handle_t hCommandList,
                                                        ze_executable_graph_handle_t hGraph,
                                                        const void *pNext ZETA_UNUSED,
                                                        ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t *phWaitEvents)
{
    static const struct zeta_plugin_command barrier = {.type = ZETA_PLUGIN_COMMAND_BARRIER};
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_executable_graph *executable = (struct zeta_executable_graph *)hGraph;
    struct zeta_plugin_event mine = {.event = executable->order};
    struct zeta_counter *counter = executable->order->counter;
    const uint32_t ordinal = executable->graph->body->ordinal;
    struct zeta_append append;
    void *memory = NULL;

    if (!list->queue || list->ordinal != ordinal)
        return zeta_error(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                          "the graph was recorded on an immediate command list of queue group %u "
                          "and runs on such lists only",
                          ordinal);
    if (executable->graph->context->driver != list->context->driver)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the graph belongs to another driver than the command list");
    ze_result_t result = zeta_graph_refuse(list, "appending a graph");
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_command_buffer *buffer = append.buffer;
    result = zeta_command_buffer_alloc(buffer, sizeof(struct ticket), &memory);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, NULL, numWaitEvents, phWaitEvents);
    if (result == ZE_RESULT_SUCCESS && append.fork)
        result = zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                            "a graph that is appended cannot wait for an event of a graph that is "
                            "being recorded");
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_pin(buffer, executable, ZETA_KIND_EXECUTABLE_GRAPH);
    const uint32_t first = buffer->count; /* waits for the execution before */
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_put(&append, &barrier, NULL, 0, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_add_all(buffer, &executable->buffer);
    const uint32_t last = buffer->count; /* signals the end of this one */
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_put(&append, &barrier, NULL, 0, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, hSignalEvent, 0, NULL);
    if (result == ZE_RESULT_SUCCESS) {
        struct ticket *ticket = memory;

        mine.value = zeta_counter_take(counter);
        *ticket = (struct ticket){.mine = mine,
                                  .before = {.event = mine.event, .value = mine.value - 1},
                                  .waits = {&ticket->before}};
        buffer->commands[last].signal_event = &ticket->mine;
        /* The last execution that was not lost. */
        while (ticket->before.value > 0 &&
               zeta_counter_state(counter, ticket->before.value) == ZETA_SIGNAL_LOST)
            ticket->before.value--;
        if (ticket->before.value > 0) {
            buffer->commands[first].wait_events = ticket->waits;
            buffer->commands[first].wait_count = 1;
        }
    }
    result = zeta_append_end(&append, result);
    /* A wait for an execution that never began would never end. */
    if (result != ZE_RESULT_SUCCESS && mine.value != ZETA_VALUE_NONE)
        zeta_event_lose(&mine);
    return result;
}

/* ---------------------------------------------------------------- pictures */

/* A graph as text in the language of graphviz. */
static const char *const command_names[] = {
    [ZETA_PLUGIN_COMMAND_BARRIER] = "barrier",
    [ZETA_PLUGIN_COMMAND_LAUNCH] = "launch",
    [ZETA_PLUGIN_COMMAND_COPY] = "copy",
    [ZETA_PLUGIN_COMMAND_COPY_REGION] = "copy of a region",
    [ZETA_PLUGIN_COMMAND_FILL] = "fill",
    [ZETA_PLUGIN_COMMAND_TIMESTAMP] = "time stamp",
    [ZETA_PLUGIN_COMMAND_EVENT_RESET] = "event reset",
    [ZETA_PLUGIN_COMMAND_CALL] = "host function",
    [ZETA_PLUGIN_COMMAND_QUERY_BEGIN] = "query begin",
    [ZETA_PLUGIN_COMMAND_QUERY_END] = "query end",
    [ZETA_PLUGIN_COMMAND_MARKER] = "marker",
};

static void write_launch(FILE *file, const struct zeta_kernel *kernel,
                         const struct zeta_plugin_launch *launch)
{
    (void)fprintf(file, "\\ngroups %u x %u x %u of %u x %u x %u", launch->group_count[0],
                  launch->group_count[1], launch->group_count[2], launch->group_size[0],
                  launch->group_size[1], launch->group_size[2]);
    for (uint32_t i = 0; kernel && i < kernel->argument_count; i++) {
        const struct zeta_kernel_argument *argument = &kernel->arguments[i];
        const unsigned char *bytes =
            (const unsigned char *)launch->arguments + argument->offset_bytes;

        (void)fprintf(file, "\\n%u: %s, %u bytes: 0x", i,
                      argument->kind == ZETA_PLUGIN_ARG_GLOBAL    ? "pointer"
                      : argument->kind == ZETA_PLUGIN_ARG_LOCAL   ? "local memory"
                      : argument->kind == ZETA_PLUGIN_ARG_UNKNOWN ? "value or pointer"
                                                                  : "value",
                      argument->size_bytes);
        /* As a number, so from the highest byte down. */
        for (uint32_t b = argument->size_bytes; b-- > 0;)
            (void)fprintf(file, "%02x", bytes[b]);
    }
}

static void write_command(FILE *file, const struct zeta_command_buffer *buffer, uint32_t index,
                          bool detailed)
{
    const struct zeta_plugin_command *command = &buffer->commands[index];
    const struct zeta_plugin_copy *copy = &command->u.copy;
    const struct zeta_plugin_fill *fill = &command->u.fill;
    const bool is_indirect = (command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) != 0;

    (void)fprintf(file, "    c%u [label=\"%s", index, command_names[command->type]);
    if (command->type == ZETA_PLUGIN_COMMAND_LAUNCH) {
        const struct zeta_kernel *kernel = NULL;

        /* Pinned by the buffer, like everything that a command names. */
        for (uint32_t i = 0; i < buffer->pin_count && !kernel; i++) {
            kernel = buffer->pins[i];
            if (!zeta_object_was(kernel, ZETA_KIND_KERNEL) ||
                kernel->plugin_kernel != command->u.launch.kernel)
                kernel = NULL;
        }
        (void)fprintf(file, " %s", kernel ? kernel->name : "?");
        if (detailed)
            write_launch(file, kernel, &command->u.launch);
    } else if (detailed && !is_indirect && command->type == ZETA_PLUGIN_COMMAND_COPY) {
        (void)fprintf(file, "\\n%" PRIu64 " bytes from %p to %p", copy->size_bytes, copy->source,
                      copy->target);
    } else if (detailed && !is_indirect && command->type == ZETA_PLUGIN_COMMAND_FILL) {
        (void)fprintf(file, "\\n%" PRIu64 " bytes at %p with a pattern of %" PRIu64,
                      fill->size_bytes, fill->target, fill->pattern_bytes);
    }
    (void)fprintf(file, "\"];\n");
    if (index > 0)
        (void)fprintf(file, "    c%u -> c%u;\n", index - 1, index);
    /* An edge from the last command before it that signals what it waits for. */
    for (uint64_t w = 0; w < command->wait_count; w++) {
        for (uint32_t i = index; i-- > 0;) {
            const struct zeta_plugin_event *signal = buffer->commands[i].signal_event;

            if (!signal || signal->event != command->wait_events[w]->event)
                continue;
            (void)fprintf(file, "    c%u -> c%u [style=dashed];\n", i, index);
            break;
        }
    }
}

ze_result_t ZE_APICALL impl_zeGraphDumpContentsExt(ze_graph_handle_t hGraph, const char *filePath,
                                                   const void *pNext)
{
    struct zeta_graph_body *body = ((struct zeta_graph *)hGraph)->body;
    const ze_record_replay_graph_ext_dump_desc_t *desc =
        zeta_chain_find(pNext, ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_DUMP_DESC, sizeof(*desc));
    FILE *file = fopen(filePath, "we");

    if (!file)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cannot write the graph to %s: %s",
                          filePath, strerror(errno));
    (void)fprintf(file, "digraph zeta {\n    node [shape=box];\n");
    (void)pthread_mutex_lock(&body->lock);
    for (uint32_t i = 0; i < body->buffer.count; i++)
        write_command(file, &body->buffer, i,
                      !desc || desc->mode != ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE);
    (void)pthread_mutex_unlock(&body->lock);
    (void)fprintf(file, "}\n");
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "writing the graph to %s failed: %s",
                          filePath, strerror(errno));
    return ZE_RESULT_SUCCESS;
}
