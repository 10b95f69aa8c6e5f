/* The API functions of mutable command lists. */
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/list/mutations.h"
#include "core/module/kernel.h"
#include "core/plugin/host.h"
#include "core/queue/track.h"
#include "core/util/error.h"
#include "zeta_impl.h"

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

static ze_result_t get_id(ze_command_list_handle_t handle,
                          const ze_mutable_command_id_exp_desc_t *desc, uint32_t kernel_count,
                          ze_kernel_handle_t *kernels, uint64_t *out_id)
{
    struct zeta_command_list *list = (struct zeta_command_list *)handle;
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
    return zeta_mutations_ask(list->mutations, flags, kernel_count, kernels, out_id);
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

ze_result_t ZE_APICALL impl_zeCommandListIsMutableExp(ze_command_list_handle_t hCommandList,
                                                      ze_bool_t *pIsMutable)
{
    *pIsMutable = ((const struct zeta_command_list *)hCommandList)->mutations != NULL;
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- finding the command */

static ze_result_t begin_change(ze_command_list_handle_t handle,
                                struct zeta_command_list **out_list)
{
    struct zeta_command_list *list = (struct zeta_command_list *)handle;
    ze_result_t result = check_mutable(list);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_list_check_idle(list);
    if (result == ZE_RESULT_SUCCESS)
        *out_list = list;
    return result;
}

/* The note of an id whose command may be changed in that way. */
static ze_result_t find_note(const struct zeta_command_list *list, uint64_t id, uint32_t flag,
                             struct zeta_mutation **out_note)
{
    const uint32_t launch =
        ZETA_MUTABLE_FLAGS & ~(uint32_t)(ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT |
                                         ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS);
    struct zeta_mutation *note = zeta_mutations_find(list->mutations, id);

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

static struct zeta_plugin_command *command_of(const struct zeta_command_list *list,
                                              const struct zeta_mutation *note)
{
    return &list->buffer.commands[note->command];
}

/* ---------------------------------------------------------------- launches */

/* One change of a chain, visited twice: first checked, then made. */
struct change {
    const struct zeta_command_list *list;
    bool apply;
};

static ze_result_t change_argument(const struct change *change,
                                   const ze_mutable_kernel_argument_exp_desc_t *desc)
{
    struct zeta_mutation *note = NULL;
    ze_result_t result = find_note(change->list, desc->commandId,
                                   ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS, &note);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    unsigned char *block =
        (unsigned char *)(uintptr_t)command_of(change->list, note)->u.launch.arguments;
    unsigned char *scratch = NULL;
    if (!change->apply) {
        /* Only the checks are wanted, so the value goes to a buffer that is not used. */
        scratch = malloc((size_t)note->kernel->state->properties.block_bytes + 1);
        if (!scratch)
            return zeta_error_no_memory("an argument");
        block = scratch;
    }
    result = zeta_kernel_write_argument(note->kernel, block, desc->argIndex, desc->argSize,
                                        desc->pArgValue);
    free(scratch);
    /* The sentence stays; the specification has one code for all of it. */
    return result == ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static ze_result_t change_count(const struct change *change,
                                const ze_mutable_group_count_exp_desc_t *desc)
{
    struct zeta_mutation *note = NULL;
    ze_result_t result =
        find_note(change->list, desc->commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT, &note);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!desc->pGroupCount)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "pGroupCount of command %llu is null",
                          (unsigned long long)desc->commandId);
    struct zeta_plugin_command *command = command_of(change->list, note);
    result = zeta_launch_check_counts(
        note->kernel, desc->pGroupCount,
        command->flags & ZETA_PLUGIN_COMMAND_COOPERATIVE ? &command->u.launch : NULL);
    if (result != ZE_RESULT_SUCCESS || !change->apply)
        return result;
    command->u.launch.group_count[0] = desc->pGroupCount->groupCountX;
    command->u.launch.group_count[1] = desc->pGroupCount->groupCountY;
    command->u.launch.group_count[2] = desc->pGroupCount->groupCountZ;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t change_size(const struct change *change,
                               const ze_mutable_group_size_exp_desc_t *desc)
{
    const uint32_t size[3] = {desc->groupSizeX, desc->groupSizeY, desc->groupSizeZ};
    struct zeta_mutation *note = NULL;
    ze_result_t result =
        find_note(change->list, desc->commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE, &note);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_kernel_check_group_size(note->kernel, size);
    if (result == ZE_RESULT_SUCCESS && change->apply)
        memcpy(command_of(change->list, note)->u.launch.group_size, size, sizeof(size));
    return result;
}

static ze_result_t change_offset(const struct change *change,
                                 const ze_mutable_global_offset_exp_desc_t *desc)
{
    struct zeta_mutation *note = NULL;
    ze_result_t result =
        find_note(change->list, desc->commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET, &note);

    if (result != ZE_RESULT_SUCCESS || !change->apply)
        return result;
    struct zeta_plugin_launch *launch = &command_of(change->list, note)->u.launch;
    launch->global_offset[0] = desc->offsetX;
    launch->global_offset[1] = desc->offsetY;
    launch->global_offset[2] = desc->offsetZ;
    return ZE_RESULT_SUCCESS;
}

static size_t change_bytes(uint32_t stype)
{
    switch (stype) {
    case ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC:
        return sizeof(ze_mutable_kernel_argument_exp_desc_t);
    case ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC:
        return sizeof(ze_mutable_group_count_exp_desc_t);
    case ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC:
        return sizeof(ze_mutable_group_size_exp_desc_t);
    case ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC:
        return sizeof(ze_mutable_global_offset_exp_desc_t);
    default:
        return 0;
    }
}

static ze_result_t make_change(const struct change *change, uint32_t stype, const void *node)
{
    size_t bytes = change_bytes(stype);

    if (bytes == 0 || !zeta_chain_readable(node, bytes))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "a change of structure type 0x%x is not supported", stype);
    switch (stype) {
    case ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC:
        return change_argument(change, node);
    case ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC:
        return change_count(change, node);
    case ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC:
        return change_size(change, node);
    default:
        return change_offset(change, node);
    }
}

static ze_result_t walk_changes(const struct change *change, const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t stype = 0;
    const void *node;

    while (result == ZE_RESULT_SUCCESS && (node = zeta_chain_next(&chain, &stype)) != NULL)
        result = make_change(change, stype, node);
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListUpdateMutableCommandsExp(
    ze_command_list_handle_t hCommandList, const ze_mutable_commands_exp_desc_t *desc)
{
    struct zeta_command_list *list = NULL;
    ze_result_t result = begin_change(hCommandList, &list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* All or nothing. */
    result = walk_changes(&(struct change){list, false}, desc->pNext);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->mutations->changed = true;
    return walk_changes(&(struct change){list, true}, desc->pNext);
}

/* ---------------------------------------------------------------- kernels */

static ze_result_t find_kernel(const struct zeta_command_list *list, uint64_t id,
                               const struct zeta_kernel *kernel, struct zeta_mutation **out_note)
{
    ze_result_t result =
        find_note(list, id, ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION, out_note);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < (*out_note)->kernel_count; i++) {
        if ((*out_note)->kernels[i] == kernel)
            return ZE_RESULT_SUCCESS;
    }
    return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE,
                      "kernel \"%s\" is none of those that command %llu was asked for with",
                      zeta_kernel_name(kernel), (unsigned long long)id);
}

/* The launch takes what the kernel has now; arguments that were not set yet are zero. */
static void become(struct zeta_command_list *list, struct zeta_mutation *note,
                   struct zeta_kernel *kernel)
{
    struct zeta_plugin_launch *launch = &command_of(list, note)->u.launch;
    const struct zeta_kernel_state *state = kernel->state;

    if (state->properties.block_bytes > 0)
        memcpy((void *)(uintptr_t)launch->arguments, state->block, state->properties.block_bytes);
    launch->kernel = kernel->plugin_kernel;
    memcpy(launch->group_size, state->group_size, sizeof(launch->group_size));
    memcpy(launch->global_offset, state->global_offset, sizeof(launch->global_offset));
    note->kernel = kernel;
}

ze_result_t ZE_APICALL impl_zeCommandListUpdateMutableCommandKernelsExp(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, uint64_t *pCommandId,
    ze_kernel_handle_t *phKernels)
{
    struct zeta_command_list *list = NULL;
    struct zeta_mutation *note = NULL;
    ze_result_t result = begin_change(hCommandList, &list);

    for (uint32_t i = 0; i < numKernels && result == ZE_RESULT_SUCCESS; i++)
        result = find_kernel(list, pCommandId[i], (const struct zeta_kernel *)phKernels[i], &note);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list->mutations->changed = true;
    for (uint32_t i = 0; i < numKernels; i++)
        become(list, zeta_mutations_find(list->mutations, pCommandId[i]),
               (struct zeta_kernel *)phKernels[i]);
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- events */

/* Room for the events of a command that are not those it was appended with. */
static ze_result_t make_room(struct zeta_mutation *note)
{
    size_t waits = (size_t)note->wait_count;

    if (note->events)
        return ZE_RESULT_SUCCESS;
    note->waits = calloc(waits + 1, sizeof(struct zeta_plugin_event *));
    note->events = calloc(waits + 1, sizeof(struct zeta_event *));
    if (note->waits && note->events)
        return ZE_RESULT_SUCCESS;
    free((void *)note->waits);
    free((void *)note->events);
    note->waits = NULL;
    note->events = NULL;
    return zeta_error_no_memory("events of a command");
}

static ze_result_t check_change(const struct zeta_command_list *list, ze_event_handle_t handle,
                                bool signals)
{
    return handle ? zeta_list_check_event(list, (const struct zeta_event *)handle, signals)
                  : ZE_RESULT_SUCCESS;
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
    struct zeta_command_list *list = NULL;
    struct zeta_mutation *note = NULL;
    ze_result_t result = begin_change(hCommandList, &list);

    if (result == ZE_RESULT_SUCCESS)
        result = find_note(list, commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT, &note);
    if (result == ZE_RESULT_SUCCESS)
        result = check_change(list, hSignalEvent, true);
    if (result == ZE_RESULT_SUCCESS)
        result = make_room(note);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_event *event = pin_event(list, &note->events[note->wait_count], hSignalEvent);
    command_of(list, note)->signal_event = event ? &event->plain : NULL;
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
    struct zeta_command_list *list = NULL;
    struct zeta_mutation *note = NULL;
    ze_result_t result = begin_change(hCommandList, &list);

    if (result == ZE_RESULT_SUCCESS)
        result = find_note(list, commandId, ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS, &note);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* No array at all: the command waits for nothing. */
    if (phWaitEvents && numWaitEvents != note->wait_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%u wait events: command %llu was appended with %llu", numWaitEvents,
                          (unsigned long long)commandId, (unsigned long long)note->wait_count);
    for (uint32_t i = 0; phWaitEvents && i < numWaitEvents && result == ZE_RESULT_SUCCESS; i++)
        result = check_change(list, phWaitEvents[i], false);
    if (result == ZE_RESULT_SUCCESS)
        result = make_room(note);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    struct zeta_plugin_command *command = command_of(list, note);
    command->wait_events = note->waits;
    command->wait_count = 0;
    for (uint64_t i = 0; i < note->wait_count; i++) {
        struct zeta_event *event =
            pin_event(list, &note->events[i], phWaitEvents ? phWaitEvents[i] : NULL);

        if (event)
            note->waits[command->wait_count++] = &event->plain;
    }
    list->mutations->changed = true;
    return ZE_RESULT_SUCCESS;
}
