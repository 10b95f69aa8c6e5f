#include "core/list/list.h"

#include <stddef.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/api/check.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/plugin/host.h"
#include "core/queue/queue.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

_Static_assert(offsetof(struct zeta_command_list, queue) ==
                   offsetof(struct zeta_command_queue, queue),
               "a command list begins as owners of queues do");

static void finish_list(void *object)
{
    struct zeta_command_list *list = object;

    zeta_queue_destroy(list->queue);
    zeta_mutations_destroy(list->mutations);
    zeta_command_buffer_clear(&list->buffer);
    zeta_object_unpin(list->context);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_COMMAND_LIST, finish_list)

ze_result_t zeta_list_check_open(const struct zeta_command_list *list)
{
    if (!list->closed)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "the command list is closed; zeCommandListReset opens it again");
}

ze_result_t zeta_append_begin(struct zeta_append *append, struct zeta_command_list *list)
{
    ze_result_t result = zeta_list_check_open(list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    *append = (struct zeta_append){.list = list, .buffer = &list->buffer};
    struct zeta_graph *graph = zeta_graph_of(list);
    if (graph) {
        result = zeta_graph_append_begin(append, graph);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    } else if (list->queue) {
        append->submission = zeta_submission_create(list->queue);
        if (!append->submission)
            return zeta_error_no_memory("a submission");
        append->buffer = &append->submission->buffer;
    }
    append->first_command = append->buffer->count;
    append->first_pin = append->buffer->pin_count;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_list_check_event(const struct zeta_command_list *list,
                                  const struct zeta_event *event, bool signals)
{
    const struct zeta_driver *theirs = event->context->driver;
    const struct zeta_driver *ours = list->context->driver;

    if (theirs != ours)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "an event of driver %s cannot be used in a command list of driver %s",
                          theirs->name, ours->name);
    if (signals && event->counter && !list->in_order)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "a counter based event can only be signalled by a command list that was "
                          "created in order (ZE_COMMAND_LIST_FLAG_IN_ORDER, "
                          "ZE_COMMAND_QUEUE_FLAG_IN_ORDER)");
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_append_event(struct zeta_append *append, ze_event_handle_t handle, bool signals,
                              struct zeta_plugin_event **out_event)
{
    struct zeta_event *event = (struct zeta_event *)handle;
    ze_result_t result = zeta_list_check_event(append->list, event, signals);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_graph_note_event(append, event, signals);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_pin(append->buffer, event, ZETA_KIND_EVENT);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    append->buffer->tracked |= zeta_track_needed(event);
    *out_event = &event->plain;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_append_put(struct zeta_append *append, const struct zeta_plugin_command *wanted,
                            ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    const uint32_t type = wanted->type;
    const char *what = NULL; /* that a device cannot do without a plugin that computes */
    struct zeta_event *event = (struct zeta_event *)signal;
    struct zeta_plugin_command *command = NULL;
    struct zeta_plugin_event **events;
    void *memory = NULL;

    if (type == ZETA_PLUGIN_COMMAND_LAUNCH)
        what = "run kernels";
    else if (type == ZETA_PLUGIN_COMMAND_COPY || type == ZETA_PLUGIN_COMMAND_COPY_REGION ||
             type == ZETA_PLUGIN_COMMAND_FILL)
        what = "copy or fill memory";
    if (what && !append->list->context->driver->compute)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on %s, so its command lists do not %s",
                          append->list->device->name, what);
    ze_result_t result = zeta_command_buffer_add(append->buffer, type, &command);
    if (result == ZE_RESULT_SUCCESS && wait_count > 0)
        result = zeta_command_buffer_alloc(append->buffer, wait_count * sizeof(*events), &memory);
    events = memory;
    for (uint32_t i = 0; i < wait_count && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_append_event(append, waits[i], false, &events[i]);
    if (result == ZE_RESULT_SUCCESS && event)
        result = zeta_append_event(append, signal, true, &command->signal_event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->flags = wanted->flags;
    command->u = wanted->u;
    command->wait_events = events;
    command->wait_count = wait_count;
    if (event)
        atomic_store(&event->device, append->list->device);
    /* From now on the event belongs to this command, which may run much later. */
    if (event && event->counter && !append->submission && !append->graph)
        zeta_counter_reserve(event->counter);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_append_barrier(struct zeta_append *append, ze_event_handle_t signal,
                                uint32_t wait_count, ze_event_handle_t *waits)
{
    static const struct zeta_plugin_command barrier = {.type = ZETA_PLUGIN_COMMAND_BARRIER};

    if (!signal && wait_count == 0)
        return ZE_RESULT_SUCCESS;
    return zeta_append_put(append, &barrier, signal, wait_count, waits);
}

/* ---- Lists that skip work ---- */

void zeta_list_skip_begin(struct zeta_command_list *list, const void *what)
{
    if (!list->skipped_for)
        list->skipped_for = what;
}

void zeta_list_skip_end(struct zeta_command_list *list, const void *what)
{
    if (list->skipped_for == what)
        list->skipped_for = NULL;
}

ze_result_t zeta_list_check_metrics(const struct zeta_command_list *list)
{
    if (list->group_flags & ZETA_PLUGIN_QUEUE_METRICS)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "queue group %u of device %s has no metrics; its properties show which "
                      "groups have (ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS)",
                      list->ordinal, list->device->backend->id);
}

/* Makes barriers of the work of an append. A launch that is skipped cannot be changed later. */
static void skip(struct zeta_append *append)
{
    struct zeta_command_buffer *buffer = append->buffer;

    for (uint32_t i = append->first_command; i < buffer->count; i++) {
        struct zeta_plugin_command *command = &buffer->commands[i];

        /* Events are reset and queries begin and end all the same: that is no work. */
        if (command->type == ZETA_PLUGIN_COMMAND_EVENT_RESET ||
            command->type == ZETA_PLUGIN_COMMAND_QUERY_BEGIN ||
            command->type == ZETA_PLUGIN_COMMAND_QUERY_END)
            continue;
        command->type = ZETA_PLUGIN_COMMAND_BARRIER;
        command->flags = 0;
        memset(&command->u, 0, sizeof(command->u));
    }
    append->kernel = NULL;
}

ze_result_t zeta_append_end(struct zeta_append *append, ze_result_t result)
{
    struct zeta_submission *submission = ZETA_TAKE(append->submission);

    if (result != ZE_RESULT_SUCCESS)
        zeta_command_buffer_rewind(append->buffer, append->first_command, append->first_pin);
    else if (append->list->skipped_for)
        skip(append);
    if (result == ZE_RESULT_SUCCESS && append->list->mutations)
        zeta_mutations_note(append->list->mutations, append->buffer, append->first_command,
                            append->kernel);
    if (append->graph)
        return zeta_graph_append_end(append, result);
    if (!submission)
        return result;
    if (result == ZE_RESULT_SUCCESS && append->fork)
        result = zeta_graph_fork(append, &submission->buffer);
    /* The call may wait for long, and another thread may end the list meanwhile. */
    else if (result == ZE_RESULT_SUCCESS && !zeta_object_pin(append->list, ZETA_KIND_COMMAND_LIST))
        result = zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "the list was just destroyed");
    if (result != ZE_RESULT_SUCCESS || append->fork) {
        zeta_submission_destroy(submission);
        return result;
    }
    result = zeta_queue_submit(append->list->queue, submission, !append->no_wait);
    zeta_object_unpin(append->list);
    return result;
}

ze_result_t zeta_append_one(struct zeta_command_list *list,
                            const struct zeta_plugin_command *wanted, ze_event_handle_t signal,
                            uint32_t wait_count, ze_event_handle_t *waits)
{
    struct zeta_append append;
    ze_result_t result = zeta_append_begin(&append, list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_append_end(&append, zeta_append_put(&append, wanted, signal, wait_count, waits));
}

ze_result_t zeta_list_create(struct zeta_context *context, struct zeta_device *device,
                             uint32_t ordinal, struct zeta_command_list **out_list)
{
    struct zeta_plugin_queue_group group;
    void *object = NULL;
    ze_result_t result = zeta_context_check_device(context, device);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_queue_group(device, ordinal, &group))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "queue group ordinal %u does not exist on %s", ordinal, device->name);
    result = zeta_object_create_in(context, ZETA_KIND_CONTEXT, ZETA_KIND_COMMAND_LIST,
                                   sizeof(struct zeta_command_list), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_command_list *list = object;
    list->context = context;
    list->device = device;
    list->ordinal = ordinal;
    list->group_flags = group.flags;
    list->max_fill_bytes = group.max_fill_pattern_bytes > UINT32_MAX
                               ? UINT32_MAX
                               : (uint32_t)group.max_fill_pattern_bytes;
    *out_list = list;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandListCreate(ze_context_handle_t hContext,
                                                ze_device_handle_t hDevice,
                                                const ze_command_list_desc_t *desc,
                                                ze_command_list_handle_t *phCommandList)
{
    const ze_command_list_flags_t both =
        ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING;
    struct zeta_command_list *list = NULL;

    if ((desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "a command list cannot be in order and of relaxed order at once");
    ze_result_t result =
        zeta_list_create((struct zeta_context *)hContext, (struct zeta_device *)hDevice,
                         desc->commandQueueGroupOrdinal, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->flags = desc->flags;
    list->in_order = (desc->flags & ZE_COMMAND_LIST_FLAG_IN_ORDER) != 0;
    if (zeta_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC,
                        sizeof(ze_mutable_command_list_exp_desc_t)))
        result = zeta_mutations_create(&list->mutations);
    if (result == ZE_RESULT_SUCCESS)
        *phCommandList = (ze_command_list_handle_t)list;
    else
        zeta_object_discard(list);
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListCreateImmediate(ze_context_handle_t hContext,
                                                         ze_device_handle_t hDevice,
                                                         const ze_command_queue_desc_t *altdesc,
                                                         ze_command_list_handle_t *phCommandList)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_command_list *list = NULL;
    struct zeta_queue *queue = NULL;
    ze_result_t result = zeta_queue_create(context, device, altdesc, &queue);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_list_create(context, device, altdesc->ordinal, &list);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_queue_destroy(queue);
        return result;
    }
    list->in_order = (altdesc->flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0;
    queue->owner = list;
    atomic_store(&list->queue, queue);
    *phCommandList = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_list_check_idle(struct zeta_command_list *list)
{
    if (list->queue)
        return zeta_queue_check_idle(list->queue);
    if (zeta_use_wait(&list->use))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                      "the command list still runs on a queue; wait for it first");
}

ze_result_t ZE_APICALL impl_zeCommandListDestroy(ze_command_list_handle_t hCommandList)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;

    ze_result_t result = zeta_list_check_idle(list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_graph_of(list))
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "the command list records into a graph; end that first");
    return zeta_object_destroy(list, ZETA_KIND_COMMAND_LIST, "zeCommandListDestroy",
                               "hCommandList");
}

ze_result_t ZE_APICALL impl_zeCommandListClose(ze_command_list_handle_t hCommandList)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;

    /* An immediate list never needs to be closed; closing it changes nothing. */
    if (list->queue)
        return ZE_RESULT_SUCCESS;
    list->closed = true;
    if (list->mutations)
        list->mutations->changed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandListReset(ze_command_list_handle_t hCommandList)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;

    if (list->queue)
        return ZE_RESULT_SUCCESS;
    ze_result_t result = zeta_list_check_idle(list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (list->mutations)
        zeta_mutations_clear(list->mutations);
    zeta_command_buffer_clear(&list->buffer);
    list->skipped_for = NULL;
    list->closed = false;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t not_immediate(void)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list is not an immediate one");
}

ze_result_t ZE_APICALL impl_zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList,
                                                         uint64_t timeout)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;

    if (!list->queue)
        return not_immediate();
    ze_result_t result = zeta_graph_refuse(list, "waiting for its commands");
    return result == ZE_RESULT_SUCCESS ? zeta_queue_synchronize(list->queue, timeout) : result;
}

ZETA_GETTER(zeCommandListGetDeviceHandle, ze_command_list_handle_t, zeta_command_list,
            ze_device_handle_t, self->device)
ZETA_GETTER(zeCommandListGetContextHandle, ze_command_list_handle_t, zeta_command_list,
            ze_context_handle_t, self->context)
ZETA_GETTER(zeCommandListGetOrdinal, ze_command_list_handle_t, zeta_command_list, uint32_t,
            self->ordinal)
ZETA_GETTER(zeCommandListIsImmediate, ze_command_list_handle_t, zeta_command_list, ze_bool_t,
            self->queue != NULL)
ZETA_GETTER(zeCommandListGetFlags, ze_command_list_handle_t, zeta_command_list,
            ze_command_list_flags_t, self->flags)
ZETA_GETTER(zeCommandListIsMutableExp, ze_command_list_handle_t, zeta_command_list, ze_bool_t,
            self->mutations != NULL)

/* A member of the descriptor of an immediate list's queue; all have 32 bits. */
static ze_result_t read_desc(ze_command_list_handle_t handle, size_t offset, void *out_member)
{
    const struct zeta_command_list *list = (const struct zeta_command_list *)handle;

    if (!list->queue)
        return not_immediate();
    memcpy(out_member, (const char *)&list->queue->desc + offset, sizeof(uint32_t));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandListImmediateGetIndex(
    ze_command_list_handle_t hCommandListImmediate, uint32_t *pIndex)
{
    return read_desc(hCommandListImmediate, offsetof(ze_command_queue_desc_t, index), pIndex);
}

ze_result_t ZE_APICALL impl_zeCommandListImmediateGetFlags(ze_command_list_handle_t hCommandList,
                                                           ze_command_queue_flags_t *pFlags)
{
    return read_desc(hCommandList, offsetof(ze_command_queue_desc_t, flags), pFlags);
}

ze_result_t ZE_APICALL impl_zeCommandListImmediateGetMode(ze_command_list_handle_t hCommandList,
                                                          ze_command_queue_mode_t *pMode)
{
    return read_desc(hCommandList, offsetof(ze_command_queue_desc_t, mode), pMode);
}

ze_result_t ZE_APICALL impl_zeCommandListImmediateGetPriority(
    ze_command_list_handle_t hCommandList, ze_command_queue_priority_t *pPriority)
{
    return read_desc(hCommandList, offsetof(ze_command_queue_desc_t, priority), pPriority);
}
