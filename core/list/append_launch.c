/* Launches of kernels: arguments and group size are captured when the launch is appended. */
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/list/list.h"
#include "core/module/module.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static ze_result_t check_target(const struct zeta_command_list *list,
                                const struct zeta_kernel *kernel, bool cooperative)
{
    const struct zeta_device *ours = list->device;
    const struct zeta_device *theirs = kernel->module->device;

    if ((list->group_flags & ZETA_PLUGIN_QUEUE_COMPUTE) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                          "queue group %u of %s does not run kernels", list->ordinal, ours->name);
    if (cooperative && !zeta_device_is_cooperative(ours))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no queue group of %s runs cooperative kernels", ours->name);
    if (cooperative && (list->group_flags & ZETA_PLUGIN_QUEUE_COOPERATIVE) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                          "queue group %u of %s does not run cooperative kernels", list->ordinal,
                          ours->name);
    if (ours != theirs && ours->parent != theirs && theirs->parent != ours)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "kernel \"%s\" was built for %s, the command list is for %s",
                          kernel->name, theirs->name, ours->name);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_launch_check_counts(const struct zeta_kernel *kernel,
                                     const ze_group_count_t *counts,
                                     const struct zeta_plugin_launch *cooperative)
{
    const struct zeta_plugin_device_properties *p = &kernel->module->device->backend->properties;
    const uint32_t count[3] = {counts->groupCountX, counts->groupCountY, counts->groupCountZ};
    uint64_t total = (uint64_t)count[0] * count[1];

    for (int i = 0; i < 3; i++) {
        if (count[i] > p->max_group_count_xyz[i])
            return zeta_error(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
                              "%u groups in dimension %d; at most %u are possible", count[i], i,
                              p->max_group_count_xyz[i]);
    }
    if (!cooperative)
        return ZE_RESULT_SUCCESS;
    uint64_t most =
        zeta_kernel_resident_groups(kernel, cooperative->group_size, cooperative->arguments);
    if (total > most || (count[2] > 0 && total > most / count[2]))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%u x %u x %u groups of kernel \"%s\" cannot run at the same time; at "
                          "most %llu can",
                          count[0], count[1], count[2], kernel->name, (unsigned long long)most);
    return ZE_RESULT_SUCCESS;
}

/*
 * Adds a launch that captures the present state of the kernel. wanted: its flags, and where the
 * group counts come from.
 */
static ze_result_t add_launch(struct zeta_append *append, struct zeta_kernel *kernel,
                              struct zeta_plugin_command *wanted, ze_event_handle_t signal,
                              uint32_t wait_count, ze_event_handle_t *waits)
{
    const struct zeta_mutations *mutations = append->kernel ? append->list->mutations : NULL;
    struct zeta_plugin_launch *launch = &wanted->u.launch;
    struct zeta_launch_state state;
    void *room = NULL;
    ze_result_t result = zeta_kernel_launch_state(kernel, &state);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_pin(append->buffer, kernel, ZETA_KIND_KERNEL);
    /* A mutable launch has room for the arguments of every kernel that it may be changed to. */
    if (result == ZE_RESULT_SUCCESS && mutations)
        result = zeta_command_buffer_alloc(append->buffer,
                                           zeta_mutations_block_bytes(mutations, kernel), &room);
    else if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_copy(append->buffer, state.block, state.block_bytes,
                                          &launch->arguments);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (room && state.block_bytes > 0)
        memcpy(room, state.block, state.block_bytes);
    if (room)
        launch->arguments = room;
    wanted->type = ZETA_PLUGIN_COMMAND_LAUNCH;
    launch->kernel = kernel->plugin_kernel;
    memcpy(launch->group_size, state.group_size, sizeof(launch->group_size));
    memcpy(launch->global_offset, state.global_offset, sizeof(launch->global_offset));
    return zeta_append_put(append, wanted, signal, wait_count, waits);
}

/* What a launch waits for and signals. */
struct links {
    ze_event_handle_t signal;
    uint32_t wait_count;
    ze_event_handle_t *waits;
};

static ze_result_t append_launch(ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
                                 const ze_group_count_t *counts, bool cooperative,
                                 const struct links *links)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_kernel *kernel = (struct zeta_kernel *)hKernel;
    struct zeta_plugin_command command = {
        .flags = cooperative ? ZETA_PLUGIN_COMMAND_COOPERATIVE : 0,
        .u.launch.group_count = {counts->groupCountX, counts->groupCountY, counts->groupCountZ}};
    struct zeta_plugin_launch present = {.arguments = kernel->block};
    struct zeta_append append;
    ze_result_t result = check_target(list, kernel, cooperative);

    memcpy(present.group_size, kernel->group_size, sizeof(present.group_size));
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_launch_check_counts(kernel, counts, cooperative ? &present : NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    append.kernel = kernel;
    return zeta_append_end(&append, add_launch(&append, kernel, &command, links->signal,
                                               links->wait_count, links->waits));
}

ze_result_t ZE_APICALL impl_zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList,
                                                            ze_kernel_handle_t hKernel,
                                                            const ze_group_count_t *pLaunchFuncArgs,
                                                            ze_event_handle_t hSignalEvent,
                                                            uint32_t numWaitEvents,
                                                            ze_event_handle_t *phWaitEvents)
{
    const struct links links = {hSignalEvent, numWaitEvents, phWaitEvents};

    return append_launch(hCommandList, hKernel, pLaunchFuncArgs, false, &links);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchFuncArgs, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    const struct links links = {hSignalEvent, numWaitEvents, phWaitEvents};

    return append_launch(hCommandList, hKernel, pLaunchFuncArgs, true, &links);
}

/* Reads the additional parameters; one that is not known would change the meaning of the call. */
static ze_result_t read_parameters(const void *next, bool *out_cooperative)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    *out_cooperative = false;
    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        const ze_command_list_append_launch_kernel_param_cooperative_desc_t *desc = node;

        if (stype != ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC ||
            !zeta_chain_readable(node, sizeof(*desc)))
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "the parameter struct of type 0x%x is not supported here", stype);
        *out_cooperative = desc->isCooperative != 0;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandListAppendLaunchKernelWithParameters(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pGroupCounts, const void *pNext, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    const struct links links = {hSignalEvent, numWaitEvents, phWaitEvents};
    bool cooperative;
    ze_result_t result = read_parameters(pNext, &cooperative);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return append_launch(hCommandList, hKernel, pGroupCounts, cooperative, &links);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t groupCounts, const ze_group_size_t groupSizes, void **pArguments,
    const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    const struct links links = {hSignalEvent, numWaitEvents, phWaitEvents};
    struct zeta_kernel *kernel = (struct zeta_kernel *)hKernel;
    const uint32_t size[3] = {groupSizes.groupSizeX, groupSizes.groupSizeY, groupSizes.groupSizeZ};
    bool cooperative;
    ze_result_t result = read_parameters(pNext, &cooperative);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_kernel_check_group_size(kernel, size);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_kernel_set_arguments(kernel, pArguments);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    memcpy(kernel->group_size, size, sizeof(size));
    return append_launch(hCommandList, hKernel, &groupCounts, cooperative, &links);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendLaunchKernelIndirect(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchArgumentsBuffer, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_kernel *kernel = (struct zeta_kernel *)hKernel;
    struct zeta_plugin_command command = {.flags = ZETA_PLUGIN_COMMAND_INDIRECT,
                                          .u.launch.indirect_counts =
                                              &pLaunchArgumentsBuffer->groupCountX};
    struct zeta_append append;
    ze_result_t result = check_target(list, kernel, false);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_append_end(
        &append, add_launch(&append, kernel, &command, hSignalEvent, numWaitEvents, phWaitEvents));
}

/*
 * Group counts of several launches. How many of them run is known only at run time, so a call in
 * queue order, behind a copy of that number, computes how many counts are copied; the other
 * launches have zero groups.
 */
struct indirect_set {
    uint32_t kernel_count;
    uint32_t run_count; /* copied from the application */
    const ze_group_count_t *source;
    struct zeta_plugin_copy copy;
    ze_group_count_t counts[];
};

static void choose_counts(void *context)
{
    struct indirect_set *set = context;
    uint32_t count = set->run_count < set->kernel_count ? set->run_count : set->kernel_count;

    memset(set->counts, 0, set->kernel_count * sizeof(set->counts[0]));
    set->copy = (struct zeta_plugin_copy){
        .target = set->counts, .source = set->source, .size_bytes = count * sizeof(set->counts[0])};
}

/* A barrier that waits, the number of launches, their counts, the launches, one that signals. */
ze_result_t ZE_APICALL impl_zeCommandListAppendLaunchMultipleKernelsIndirect(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, ze_kernel_handle_t *phKernels,
    const uint32_t *pCountBuffer, const ze_group_count_t *pLaunchArgumentsBuffer,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct indirect_set *set = NULL;
    struct zeta_append append;
    void *memory = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < numKernels && result == ZE_RESULT_SUCCESS; i++)
        result = check_target(list, (const struct zeta_kernel *)phKernels[i], false);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_command_buffer_alloc(append.buffer,
                                       sizeof(*set) + numKernels * sizeof(set->counts[0]), &memory);
    if (result != ZE_RESULT_SUCCESS)
        goto end;
    set = memory;
    set->kernel_count = numKernels;
    set->source = pLaunchArgumentsBuffer;
    const struct zeta_plugin_command counts[] = {
        {.type = ZETA_PLUGIN_COMMAND_COPY,
         .u.copy = {.target = &set->run_count,
                    .source = pCountBuffer,
                    .size_bytes = sizeof(set->run_count)}},
        {.type = ZETA_PLUGIN_COMMAND_CALL, .u.call = {.function = choose_counts, .context = set}},
        {.type = ZETA_PLUGIN_COMMAND_COPY,
         .flags = ZETA_PLUGIN_COMMAND_INDIRECT,
         .u.copy = {.indirect = &set->copy}}};
    result = zeta_append_barrier(&append, NULL, numWaitEvents, phWaitEvents);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_append_put(&append, &counts[i], NULL, 0, NULL);
    for (uint32_t i = 0; i < numKernels && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_plugin_command launch = {.flags = ZETA_PLUGIN_COMMAND_INDIRECT,
                                             .u.launch.indirect_counts =
                                                 &set->counts[i].groupCountX};

        result = add_launch(&append, (struct zeta_kernel *)phKernels[i], &launch, NULL, 0, NULL);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, hSignalEvent, 0, NULL);
end:
    return zeta_append_end(&append, result);
}
