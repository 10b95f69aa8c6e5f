/* The API functions of graphs, but for the dump (graph_dump.c). */
#include <stdlib.h>

#include "core/device/device.h"
#include "core/event/counter.h"
#include "core/event/event.h"
#include "core/list/graph.h"
#include "core/list/list.h"
#include "core/queue/queue.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

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

ze_result_t ZE_APICALL impl_zeGraphCreateExt(ze_context_handle_t hContext, const void *pNext,
                                             ze_graph_handle_t *phGraph)
{
    struct zeta_graph *graph = NULL;
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result == ZE_RESULT_SUCCESS)
        result = create((struct zeta_context *)hContext, &graph);
    if (result == ZE_RESULT_SUCCESS)
        *phGraph = (ze_graph_handle_t)graph;
    return result;
}

static ze_result_t destroy_graph(struct zeta_graph *graph)
{
    struct zeta_graph_body *body = graph->body;

    (void)pthread_mutex_lock(&body->lock);
    bool in_use = body->state == ZETA_GRAPH_CAPTURING || body->instances > 0;
    (void)pthread_mutex_unlock(&body->lock);
    if (in_use)
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "the graph is being recorded, or executable graphs were made of it; end "
                          "the recording and destroy those first");
    if (!zeta_object_retire(graph))
        return zeta_object_explain(graph, ZETA_KIND_GRAPH, "zeGraphDestroyExt", "hGraph");
    for (uint32_t i = 0; i < body->callback_count; i++)
        body->callbacks[i].function(body->callbacks[i].context);
    zeta_object_unpin(graph);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeGraphDestroyExt(ze_graph_handle_t hGraph)
{
    ze_result_t result;

    /* As in zeCommandListDestroy. */
    if (!zeta_object_pin(hGraph, ZETA_KIND_GRAPH))
        return zeta_object_explain(hGraph, ZETA_KIND_GRAPH, "zeGraphDestroyExt", "hGraph");
    result = destroy_graph((struct zeta_graph *)hGraph);
    zeta_object_unpin(hGraph);
    return result;
}

ze_result_t ZE_APICALL impl_zeGraphSetDestructionCallbackExt(
    ze_graph_handle_t hGraph, zex_mem_graph_free_callback_fn_t pfnCallback, void *pUserData,
    const void *pNext)
{
    struct zeta_graph_body *body = ((struct zeta_graph *)hGraph)->body;
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
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
    else if (!zeta_graph_add_primary(graph, list))
        result = zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to record a graph");
    (void)pthread_mutex_unlock(&body->lock);
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListBeginGraphCaptureExt(ze_command_list_handle_t hCommandList,
                                                              const void *pNext)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_graph *graph = NULL;
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result == ZE_RESULT_SUCCESS)
        result = check_primary(list);
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
    ze_command_list_handle_t hCommandList, ze_graph_handle_t hGraph, const void *pNext)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_graph *graph = (struct zeta_graph *)hGraph;
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result == ZE_RESULT_SUCCESS)
        result = check_primary(list);
    if (result == ZE_RESULT_SUCCESS && graph->context->driver != list->context->driver)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "the graph belongs to another driver than the command list");
    return result == ZE_RESULT_SUCCESS ? begin(list, graph) : result;
}

ze_result_t ZE_APICALL
impl_zeCommandListIsGraphCaptureEnabledExt(ze_command_list_handle_t hCommandList)
{
    return zeta_graph_of((const struct zeta_command_list *)hCommandList) ? ZE_RESULT_QUERY_TRUE
                                                                         : ZE_RESULT_QUERY_FALSE;
}

static ze_result_t not_recording(void)
{
    return zeta_error(ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING,
                      "the command list does not record into a graph");
}

ze_result_t ZE_APICALL impl_zeCommandListEndGraphCaptureExt(ze_command_list_handle_t hCommandList,
                                                            const void *pNext,
                                                            ze_graph_handle_t *phGraph)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_graph *graph = zeta_graph_of(list);
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!graph)
        return not_recording();
    result = zeta_graph_end(graph, list);
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
        return zeta_error(ZE_RESULT_ERROR_INVALID_GRAPH,
                          "the graph has work that was never joined and cannot be executed");
    return empty ? ZE_RESULT_QUERY_TRUE : ZE_RESULT_QUERY_FALSE;
}

/* ---------------------------------------------------------------- execution */

static ze_result_t check_instance(const struct zeta_graph_body *body)
{
    switch (body->state) {
    case ZETA_GRAPH_DONE:
        return ZE_RESULT_SUCCESS;
    case ZETA_GRAPH_INVALID:
        return zeta_error(ZE_RESULT_ERROR_INVALID_GRAPH,
                          "the graph has work that was never joined and cannot be executed");
    default:
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the recording of the graph has not ended yet");
    }
}

static ze_result_t fill_instance(struct zeta_executable_graph *executable)
{
    struct zeta_graph_body *body = executable->graph->body;
    ze_result_t result = zeta_event_create_own(executable->graph->context, &executable->order);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&body->lock);
    result = check_instance(body);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_clone(&body->buffer, &executable->buffer);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_graph_own_events(executable);
    if (result == ZE_RESULT_SUCCESS)
        body->instances++;
    (void)pthread_mutex_unlock(&body->lock);
    return result;
}

ze_result_t ZE_APICALL impl_zeGraphInstantiateExt(ze_graph_handle_t hGraph, const void *pNext,
                                                  ze_executable_graph_handle_t *phExecutableGraph)
{
    struct zeta_graph *graph = (struct zeta_graph *)hGraph;
    void *object = NULL;
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_object_create_in(graph, ZETA_KIND_GRAPH, ZETA_KIND_EXECUTABLE_GRAPH,
                                   sizeof(struct zeta_executable_graph), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_executable_graph *executable = object;
    executable->graph = graph;
    result = fill_instance(executable);
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

ze_result_t ZE_APICALL impl_zeExecutableGraphGetSourceGraphExt(ze_executable_graph_handle_t hGraph,
                                                               ze_graph_handle_t *phSourceGraph)
{
    *phSourceGraph = (ze_graph_handle_t)((const struct zeta_executable_graph *)hGraph)->graph;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_target(const struct zeta_command_list *list,
                                const struct zeta_executable_graph *executable)
{
    const struct zeta_graph_body *body = executable->graph->body;

    if (!list->queue || list->ordinal != body->ordinal)
        return zeta_error(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                          "the graph was recorded on an immediate command list of queue group %u "
                          "and runs on such lists only",
                          body->ordinal);
    if (executable->graph->context->driver != list->context->driver)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the graph belongs to another driver than the command list");
    return zeta_graph_refuse(list, "appending a graph");
}

/*
 * One execution at a time, from any thread: each waits for the value of a counter that the one
 * before reaches. Values are taken when the append is complete but for its submission.
 */
struct ticket {
    struct zeta_plugin_event before;
    struct zeta_plugin_event mine;
    struct zeta_plugin_event *waits[1];
    uint32_t waiter; /* the command that waits */
};

static ze_result_t make_ticket(struct zeta_append *append, struct zeta_event *event,
                               struct ticket **out_ticket)
{
    void *memory = NULL;
    ze_result_t result = zeta_command_buffer_alloc(append->buffer, sizeof(struct ticket), &memory);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct ticket *ticket = memory;
    ticket->before.event = event;
    ticket->mine.event = event;
    ticket->waits[0] = &ticket->before;
    *out_ticket = ticket;
    return ZE_RESULT_SUCCESS;
}

/* Nobody waits for an execution that was lost, but for those before it. */
static void take_ticket(const struct zeta_append *append, struct ticket *ticket)
{
    struct zeta_counter *counter = ticket->mine.event->counter;
    struct zeta_plugin_command *waiter = &append->buffer->commands[ticket->waiter];

    ticket->mine.value = zeta_counter_take(counter);
    ticket->before.value = ticket->mine.value - 1;
    while (ticket->before.value > 0 &&
           zeta_counter_state(counter, ticket->before.value) == ZETA_SIGNAL_LOST)
        ticket->before.value--;
    if (ticket->before.value == 0)
        return;
    waiter->wait_events = ticket->waits;
    waiter->wait_count = 1;
}

static ze_result_t add_graph(struct zeta_append *append, struct zeta_executable_graph *executable,
                             struct ticket *ticket, ze_event_handle_t signal)
{
    struct zeta_plugin_command *command = NULL;
    ze_result_t result =
        zeta_command_buffer_pin(append->buffer, executable, ZETA_KIND_EXECUTABLE_GRAPH);

    ticket->waiter = append->buffer->count;
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(append, ZETA_PLUGIN_COMMAND_BARRIER, &command);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_add_all(append->buffer, &executable->buffer);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(append, ZETA_PLUGIN_COMMAND_BARRIER, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->signal_event = &ticket->mine;
    return zeta_append_barrier(append, signal, 0, NULL);
}

static ze_result_t append_graph(struct zeta_append *append,
                                struct zeta_executable_graph *executable, ze_event_handle_t signal,
                                uint32_t wait_count, ze_event_handle_t *waits)
{
    struct zeta_plugin_event mine = {.event = executable->order};
    struct ticket *ticket = NULL;
    ze_result_t result = make_ticket(append, executable->order, &ticket);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(append, NULL, wait_count, waits);
    if (result == ZE_RESULT_SUCCESS && append->fork)
        result = zeta_error(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                            "a graph that is appended cannot wait for an event of a graph that is "
                            "being recorded");
    if (result == ZE_RESULT_SUCCESS)
        result = add_graph(append, executable, ticket, signal);
    if (result == ZE_RESULT_SUCCESS) {
        take_ticket(append, ticket);
        mine = ticket->mine;
    }
    result = zeta_append_end(append, result);
    /* Who waits for an execution that never began would wait for ever. */
    if (result != ZE_RESULT_SUCCESS && mine.value != ZETA_VALUE_NONE)
        zeta_event_lose(&mine);
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListAppendGraphExt(
    ze_command_list_handle_t hCommandList, ze_executable_graph_handle_t hGraph, const void *pNext,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_executable_graph *executable = (struct zeta_executable_graph *)hGraph;
    struct zeta_append append;
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_object_pin(executable, ZETA_KIND_EXECUTABLE_GRAPH))
        return zeta_object_explain(hGraph, ZETA_KIND_EXECUTABLE_GRAPH,
                                   "zeCommandListAppendGraphExt", "hGraph");
    result = check_target(list, executable);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, list);
    if (result == ZE_RESULT_SUCCESS)
        result = append_graph(&append, executable, hSignalEvent, numWaitEvents, phWaitEvents);
    zeta_object_unpin(executable);
    return result;
}
