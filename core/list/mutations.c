/* Mutable command lists: the notes of commands, and the API that changes them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/module/module.h"
#include "core/plugin/host.h"
#include "core/queue/queue.h"
#include "core/util/error.h"
#include "zeta_impl.h"

ze_result_t zeta_mutations_create(struct zeta_mutations **out_mutations)
{
    struct zeta_mutations *mutations = calloc(1, sizeof(*mutations));

    if (!mutations)
        return zeta_error_no_memory("a mutable command");
    mutations->next_id = 1;
    *out_mutations = mutations;
    return ZE_RESULT_SUCCESS;
}

static void free_note(struct zeta_mutation *note)
{
    for (uint32_t i = 0; i < note->kernel_count; i++)
        zeta_object_unpin(note->kernels[i]);
    for (uint64_t i = 0; note->events && i <= note->wait_count; i++) {
        if (note->events[i])
            zeta_object_unpin(note->events[i]);
    }
    free(note->kernels);
    free((void *)note->events);
}

void zeta_mutations_clear(struct zeta_mutations *mutations)
{
    while (mutations->count > 0)
        free_note(&mutations->notes[--mutations->count]);
    mutations->pending = false;
    mutations->changed = false;
}

void zeta_mutations_destroy(struct zeta_mutations *mutations)
{
    if (!mutations)
        return;
    zeta_mutations_clear(mutations);
    free(mutations->notes);
    free(mutations);
}

/* An array of n elements that may be empty; NULL only without memory. */
static void *copy_array(const void *source, size_t count, size_t element_bytes)
{
    void *copy = calloc(count + 1, element_bytes);

    if (copy && count > 0)
        memcpy(copy, source, count * element_bytes);
    return copy;
}

static struct zeta_mutation *add_note(struct zeta_mutations *mutations)
{
    if (mutations->count == mutations->capacity) {
        uint32_t wanted = mutations->capacity ? mutations->capacity * 2 : 8;
        struct zeta_mutation *notes = realloc(mutations->notes, wanted * sizeof(*notes));

        if (!notes)
            return NULL;
        mutations->notes = notes;
        mutations->capacity = wanted;
    }
    struct zeta_mutation *note = &mutations->notes[mutations->count++];
    *note = (struct zeta_mutation){0};
    return note;
}

void zeta_mutations_note(struct zeta_mutations *mutations, const struct zeta_command_buffer *buffer,
                         uint32_t first_command, struct zeta_kernel *kernel)
{
    /* An append without a command, a hint for example, leaves the id to the next one. */
    if (!mutations->pending || buffer->count == first_command)
        return;
    struct zeta_mutation *note = &mutations->notes[mutations->count - 1];
    const struct zeta_plugin_command *command = &buffer->commands[first_command];
    mutations->pending = false;
    note->has_command = buffer->count == first_command + 1;
    note->command = first_command;
    note->is_launch = kernel != NULL;
    note->kernel = kernel;
    note->wait_count = command->wait_count;
}

size_t zeta_mutations_block_bytes(const struct zeta_mutations *mutations,
                                  const struct zeta_kernel *kernel)
{
    const struct zeta_mutation *note =
        mutations->pending ? &mutations->notes[mutations->count - 1] : NULL;
    uint32_t bytes = kernel->properties->block_bytes;

    for (uint32_t i = 0; note && i < note->kernel_count; i++) {
        uint32_t other = note->kernels[i]->properties->block_bytes;

        if (other > bytes)
            bytes = other;
    }
    return bytes;
}

/* Note by id, if it has a command; NULL if there is none. */
static struct zeta_mutation *find_by_id(struct zeta_mutations *mutations, uint64_t id)
{
    for (uint32_t i = 0; i < mutations->count; i++) {
        if (mutations->notes[i].id == id && mutations->notes[i].has_command)
            return &mutations->notes[i];
    }
    return NULL;
}

static bool clone_note(const struct zeta_mutation *from, struct zeta_mutation *note)
{
    const size_t event_count = from->events ? (size_t)from->wait_count + 1 : 0;

    *note = *from;
    note->kernels = copy_array(from->kernels, from->kernel_count, sizeof(*from->kernels));
    note->kernel_count = note->kernels ? from->kernel_count : 0;
    for (uint32_t i = 0; i < note->kernel_count; i++)
        zeta_object_pin_more(note->kernels[i]);
    note->events = NULL;
    if (event_count > 0)
        note->events = copy_array((const void *)from->events, event_count, sizeof(*from->events));
    for (size_t i = 0; note->events && i < event_count; i++) {
        if (note->events[i])
            zeta_object_pin_more(note->events[i]);
    }
    return note->kernels && (note->events || event_count == 0);
}

ze_result_t zeta_mutations_clone(const struct zeta_mutations *source,
                                 struct zeta_mutations **out_mutations)
{
    struct zeta_mutations *copy = NULL;
    ze_result_t result = zeta_mutations_create(&copy);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    copy->next_id = source->next_id;
    for (uint32_t i = 0; i < source->count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_mutation *note = add_note(copy);

        if (!note || !clone_note(&source->notes[i], note))
            result = zeta_error_no_memory("a mutable command");
    }
    if (result == ZE_RESULT_SUCCESS)
        *out_mutations = copy;
    else
        zeta_mutations_destroy(copy);
    return result;
}

static ze_result_t check_mutable(const struct zeta_command_list *list)
{
    if (list->mutations)
        return ZE_RESULT_SUCCESS;
    return zeta_error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "the command list is not mutable; chain ze_mutable_command_list_exp_desc_t to "
        "its descriptor");
}

/* ---------------------------------------------------------------- ids */

/* A note for the next command; an id that was asked for before and got no command is void then. */
static ze_result_t get_id(ze_command_list_handle_t handle,
                          const ze_mutable_command_id_exp_desc_t *desc, uint32_t kernel_count,
                          ze_kernel_handle_t *kernels, uint64_t *out_id)
{
    struct zeta_command_list *list = (struct zeta_command_list *)handle;
    struct zeta_mutations *mutations = list->mutations;
    ze_mutable_command_exp_flags_t flags = desc->flags;
    ze_result_t result = check_mutable(list);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_list_check_open(list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (flags & ZE_MUTABLE_COMMAND_EXP_FLAG_GRAPH_ARGUMENTS)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "arguments of graphs cannot be changed; see the device properties");
    if (flags == 0)
        flags = ZETA_MUTABLE_FLAGS & ~(uint32_t)ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION;
    if (mutations->pending)
        free_note(&mutations->notes[--mutations->count]);
    mutations->pending = false;
    struct zeta_mutation *note = add_note(mutations);
    if (!note)
        return zeta_error_no_memory("a mutable command");
    note->kernels = calloc((size_t)kernel_count + 1, sizeof(struct zeta_kernel *));
    if (!note->kernels) {
        mutations->count--;
        return zeta_error_no_memory("a mutable command");
    }
    for (uint32_t i = 0; i < kernel_count; i++) {
        if (!zeta_object_pin(kernels[i], ZETA_KIND_KERNEL)) {
            free_note(&mutations->notes[--mutations->count]);
            return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                              "phKernels[%u] was just destroyed", i);
        }
        note->kernels[note->kernel_count++] = (struct zeta_kernel *)kernels[i];
    }
    note->id = mutations->next_id++;
    note->flags = flags;
    mutations->pending = true;
    *out_id = note->id;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandListGetNextCommandIdExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_command_id_exp_desc_t *desc,
    uint64_t *pCommandId)
{
    return get_id(hCommandList, desc, 0, NULL, pCommandId);
}

ze_result_t ZE_APICALL impl_zeCommandListGetNextCommandIdWithKernelsExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_command_id_exp_desc_t *desc,
    uint32_t numKernels, ze_kernel_handle_t *phKernels, uint64_t *pCommandId)
{
    return get_id(hCommandList, desc, numKernels, phKernels, pCommandId);
}

/* ---------------------------------------------------------------- finding the command */

static ze_result_t begin_change(struct zeta_command_list *list)
{
    ze_result_t result = check_mutable(list);

    return result == ZE_RESULT_SUCCESS ? zeta_list_check_idle(list) : result;
}

/* The note of an id whose command may be changed in that way. */
static ze_result_t find_note(const struct zeta_command_list *list, uint64_t id, uint32_t flag,
                             struct zeta_mutation **out_note)
{
    const uint32_t launch =
        ZETA_MUTABLE_FLAGS & ~(uint32_t)(ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT |
                                         ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS);
    struct zeta_mutation *note = find_by_id(list->mutations, id);

    if (!note)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "command id %llu: the list has no command that can be changed under it",
                          (unsigned long long)id);
    if ((note->flags & flag) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "command %llu was not asked for with ze_mutable_command_exp_flag_t 0x%x",
                          (unsigned long long)id, flag);
    if ((flag & launch) && !note->is_launch)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "command %llu is no launch of a kernel",
                          (unsigned long long)id);
    *out_note = note;
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- launches */

/* A change of a launch. The chain is visited twice: first checked, then made. */
struct change {
    struct zeta_mutation *note;
    struct zeta_plugin_command *command;
    const void *desc;
    bool apply;
};

static ze_result_t change_argument(const struct change *change)
{
    const ze_mutable_kernel_argument_exp_desc_t *desc = change->desc;
    const struct zeta_kernel *kernel = change->note->kernel;
    unsigned char *block = (unsigned char *)(uintptr_t)change->command->u.launch.arguments;
    unsigned char *scratch = NULL;

    if (!change->apply) {
        /* Only the checks are wanted, so the value goes to a buffer that is not used. */
        scratch = malloc((size_t)kernel->properties->block_bytes + 1);
        if (!scratch)
            return zeta_error_no_memory("an argument");
        block = scratch;
    }
    ze_result_t result =
        zeta_kernel_write_argument(kernel, block, desc->argIndex, desc->argSize, desc->pArgValue);
    free(scratch);
    /* The sentence stays; the specification has one code for all of it. */
    return result == ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static ze_result_t change_count(const struct change *change)
{
    const ze_mutable_group_count_exp_desc_t *desc = change->desc;
    struct zeta_plugin_command *command = change->command;

    if (!desc->pGroupCount)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "pGroupCount of command %llu is null",
                          (unsigned long long)desc->commandId);
    ze_result_t result = zeta_launch_check_counts(
        change->note->kernel, desc->pGroupCount,
        command->flags & ZETA_PLUGIN_COMMAND_COOPERATIVE ? &command->u.launch : NULL);
    if (result != ZE_RESULT_SUCCESS || !change->apply)
        return result;
    command->u.launch.group_count[0] = desc->pGroupCount->groupCountX;
    command->u.launch.group_count[1] = desc->pGroupCount->groupCountY;
    command->u.launch.group_count[2] = desc->pGroupCount->groupCountZ;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t change_size(const struct change *change)
{
    const ze_mutable_group_size_exp_desc_t *desc = change->desc;
    const uint32_t size[3] = {desc->groupSizeX, desc->groupSizeY, desc->groupSizeZ};
    ze_result_t result = zeta_kernel_check_group_size(change->note->kernel, size);

    if (result == ZE_RESULT_SUCCESS && change->apply)
        memcpy(change->command->u.launch.group_size, size, sizeof(size));
    return result;
}

static ze_result_t change_offset(const struct change *change)
{
    const ze_mutable_global_offset_exp_desc_t *desc = change->desc;
    const uint64_t offset[3] = {desc->offsetX, desc->offsetY, desc->offsetZ};
    ze_result_t result = zeta_kernel_check_offset(change->note->kernel, offset);

    if (result == ZE_RESULT_SUCCESS && change->apply)
        memcpy(change->command->u.launch.global_offset, offset, sizeof(offset));
    return result;
}

/* The id of the command is at one place in all of them. */
static const struct {
    uint32_t stype;
    uint32_t flag;
    size_t bytes;
    ze_result_t (*make)(const struct change *change);
} changes[] = {
    {ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
     ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS, sizeof(ze_mutable_kernel_argument_exp_desc_t),
     change_argument},
    {ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT,
     sizeof(ze_mutable_group_count_exp_desc_t), change_count},
    {ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE,
     sizeof(ze_mutable_group_size_exp_desc_t), change_size},
    {ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC, ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET,
     sizeof(ze_mutable_global_offset_exp_desc_t), change_offset},
};

_Static_assert(offsetof(ze_mutable_kernel_argument_exp_desc_t, commandId) ==
                       offsetof(ze_mutable_group_count_exp_desc_t, commandId) &&
                   offsetof(ze_mutable_group_size_exp_desc_t, commandId) ==
                       offsetof(ze_mutable_group_count_exp_desc_t, commandId) &&
                   offsetof(ze_mutable_global_offset_exp_desc_t, commandId) ==
                       offsetof(ze_mutable_group_count_exp_desc_t, commandId),
               "place of the id");

static ze_result_t walk_changes(const struct zeta_command_list *list, const void *next, bool apply)
{
    const size_t count = sizeof(changes) / sizeof(changes[0]);
    struct zeta_chain chain = zeta_chain_begin(next);
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t stype = 0;
    const void *node;

    while (result == ZE_RESULT_SUCCESS && (node = zeta_chain_next(&chain, &stype)) != NULL) {
        struct change change = {.desc = node, .apply = apply};
        size_t k = 0;

        while (k < count && changes[k].stype != stype)
            k++;
        if (k == count || !zeta_chain_readable(node, changes[k].bytes))
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "a change of structure type 0x%x is not supported", stype);
        result = find_note(list, ((const ze_mutable_group_count_exp_desc_t *)node)->commandId,
                           changes[k].flag, &change.note);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        change.command = &list->buffer.commands[change.note->command];
        result = changes[k].make(&change);
    }
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListUpdateMutableCommandsExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_commands_exp_desc_t *desc)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    ze_result_t result = begin_change(list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* All or nothing. */
    result = walk_changes(list, desc->pNext, false);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->mutations->changed = true;
    return walk_changes(list, desc->pNext, true);
}

/* ---------------------------------------------------------------- kernels */

ze_result_t ZE_APICALL impl_zeCommandListUpdateMutableCommandKernelsExp(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, uint64_t *pCommandId,
    ze_kernel_handle_t *phKernels)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_mutation *note = NULL;
    ze_result_t result = begin_change(list);

    for (uint32_t i = 0; i < numKernels && result == ZE_RESULT_SUCCESS; i++) {
        const struct zeta_kernel *kernel = (const struct zeta_kernel *)phKernels[i];
        uint32_t k = 0;

        result =
            find_note(list, pCommandId[i], ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION, &note);
        while (result == ZE_RESULT_SUCCESS && k < note->kernel_count && note->kernels[k] != kernel)
            k++;
        if (result == ZE_RESULT_SUCCESS && k == note->kernel_count)
            result =
                zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE,
                           "kernel \"%s\" is none of those that command %llu was asked for with",
                           kernel->name, (unsigned long long)pCommandId[i]);
    }
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->mutations->changed = true;
    for (uint32_t i = 0; i < numKernels; i++) {
        struct zeta_kernel *kernel = (struct zeta_kernel *)phKernels[i];

        /* The launch takes what the kernel has now; arguments that were not set yet are zero. */
        note = find_by_id(list->mutations, pCommandId[i]);
        struct zeta_plugin_launch *launch = &list->buffer.commands[note->command].u.launch;
        if (kernel->properties->block_bytes > 0)
            memcpy((void *)(uintptr_t)launch->arguments, kernel->block,
                   kernel->properties->block_bytes);
        launch->kernel = kernel->plugin_kernel;
        memcpy(launch->group_size, kernel->group_size, sizeof(launch->group_size));
        memcpy(launch->global_offset, kernel->global_offset, sizeof(launch->global_offset));
        note->kernel = kernel;
    }
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- events */

/* Room for the events of a command that are not those it was appended with. */
static ze_result_t make_room(struct zeta_mutation *note)
{
    if (!note->events)
        note->events = calloc((size_t)note->wait_count + 1, sizeof(struct zeta_event *));
    return note->events ? ZE_RESULT_SUCCESS : zeta_error_no_memory("events of a command");
}

/* Pins an event in the place of another; NULL is no event. */
static struct zeta_event *pin_event(struct zeta_command_list *list, struct zeta_event **place,
                                    ze_event_handle_t handle)
{
    struct zeta_event *event = (struct zeta_event *)handle;

    if (*place)
        zeta_object_unpin(*place);
    *place = event && zeta_object_pin(event, ZETA_KIND_EVENT) ? event : NULL;
    if (*place)
        list->buffer.tracked |= zeta_track_needed(event);
    return *place;
}

ze_result_t ZE_APICALL impl_zeCommandListUpdateMutableCommandSignalEventExp(
    ze_command_list_handle_t hCommandList, uint64_t commandId, ze_event_handle_t hSignalEvent)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_mutation *note = NULL;
    ze_result_t result = begin_change(list);

    if (result == ZE_RESULT_SUCCESS)
        result = find_note(list, commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT, &note);
    if (result == ZE_RESULT_SUCCESS && hSignalEvent)
        result = zeta_list_check_event(list, (const struct zeta_event *)hSignalEvent, true);
    if (result == ZE_RESULT_SUCCESS)
        result = make_room(note);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_event *event = pin_event(list, &note->events[note->wait_count], hSignalEvent);
    list->buffer.commands[note->command].signal_event = event ? &event->plain : NULL;
    if (event)
        atomic_store(&event->device, list->device);
    if (event && event->counter)
        zeta_counter_reserve(event->counter);
    list->mutations->changed = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandListUpdateMutableCommandWaitEventsExp(
    ze_command_list_handle_t hCommandList, uint64_t commandId, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_mutation *note = NULL;
    ze_result_t result = begin_change(list);

    if (result == ZE_RESULT_SUCCESS)
        result = find_note(list, commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS, &note);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* No array at all: the command waits for nothing. */
    if (phWaitEvents && numWaitEvents != note->wait_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%u wait events: command %llu was appended with %llu", numWaitEvents,
                          (unsigned long long)commandId, (unsigned long long)note->wait_count);
    for (uint32_t i = 0; phWaitEvents && i < numWaitEvents && result == ZE_RESULT_SUCCESS; i++) {
        if (phWaitEvents[i])
            result = zeta_list_check_event(list, (const struct zeta_event *)phWaitEvents[i], false);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = make_room(note);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    /* The list was made with the command, for as many events; nothing reads it now. */
    struct zeta_plugin_command *command = &list->buffer.commands[note->command];
    struct zeta_plugin_event **waits = (struct zeta_plugin_event **)(uintptr_t)command->wait_events;
    command->wait_count = 0;
    for (uint64_t i = 0; i < note->wait_count; i++) {
        struct zeta_event *event =
            pin_event(list, &note->events[i], phWaitEvents ? phWaitEvents[i] : NULL);

        if (event)
            waits[command->wait_count++] = &event->plain;
    }
    list->mutations->changed = true;
    return ZE_RESULT_SUCCESS;
}
