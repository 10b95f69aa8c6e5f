/* Copies, fills, barriers, events and times in a command list. */
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/memory/memory.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

ze_result_t zeta_append_refuse_parameters(const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype = 0;

    if (!zeta_chain_next(&chain, &stype))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "the parameter struct of type 0x%x is not supported here", stype);
}

/* Also where there is nothing to copy: the waits and the signal remain. */
static const struct zeta_plugin_command barrier = {.type = ZETA_PLUGIN_COMMAND_BARRIER};

static ze_result_t append_copy(ze_command_list_handle_t list, void *target, const void *source,
                               size_t size, ze_event_handle_t signal, uint32_t wait_count,
                               ze_event_handle_t *waits)
{
    const struct zeta_plugin_command copy = {
        .type = ZETA_PLUGIN_COMMAND_COPY,
        .u.copy = {.target = target, .source = source, .size_bytes = size}};

    return zeta_append_one((struct zeta_command_list *)list, size > 0 ? &copy : &barrier, signal,
                           wait_count, waits);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryCopy(
    ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr, size_t size,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return append_copy(hCommandList, dstptr, srcptr, size, hSignalEvent, numWaitEvents,
                       phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryCopyWithParameters(
    ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr, size_t size,
    const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return append_copy(hCommandList, dstptr, srcptr, size, hSignalEvent, numWaitEvents,
                       phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryCopyFromContext(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_context_handle_t hContextSrc,
    const void *srcptr, size_t size, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    const struct zeta_command_list *list = (const struct zeta_command_list *)hCommandList;
    const struct zeta_driver *source = ((const struct zeta_context *)hContextSrc)->driver;

    if (source != list->context->driver)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the source context is of driver %s, the command list of driver %s",
                          source->name, list->context->driver->name);
    return append_copy(hCommandList, dstptr, srcptr, size, hSignalEvent, numWaitEvents,
                       phWaitEvents);
}

static ze_result_t append_fill(ze_command_list_handle_t handle, void *target, const void *pattern,
                               size_t pattern_size, size_t size, ze_event_handle_t signal,
                               uint32_t wait_count, ze_event_handle_t *waits)
{
    struct zeta_command_list *list = (struct zeta_command_list *)handle;
    struct zeta_plugin_command *command = NULL;
    const void *copy = NULL;
    struct zeta_append append;

    if (list->max_fill_bytes == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "queue group %u of %s fills no memory", list->ordinal,
                          list->device->name);
    if (pattern_size == 0 || (pattern_size & (pattern_size - 1)) != 0 ||
        pattern_size > list->max_fill_bytes)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "a pattern of %zu bytes: powers of two up to %u are possible",
                          pattern_size, list->max_fill_bytes);
    if ((uintptr_t)target % pattern_size != 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                          "%p is not aligned to the %zu bytes of the pattern", target,
                          pattern_size);
    if (size == 0)
        return zeta_append_one(list, &barrier, signal, wait_count, waits);
    ze_result_t result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_command_buffer_copy(append.buffer, pattern, pattern_size, &copy);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(&append, ZETA_PLUGIN_COMMAND_FILL, &command);
    if (result == ZE_RESULT_SUCCESS) {
        command->u.fill = (struct zeta_plugin_fill){
            .target = target, .pattern = copy, .pattern_bytes = pattern_size, .size_bytes = size};
        result = zeta_append_events(&append, command, signal, wait_count, waits);
    }
    return zeta_append_end(&append, result);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList,
                                                          void *ptr, const void *pattern,
                                                          size_t pattern_size, size_t size,
                                                          ze_event_handle_t hSignalEvent,
                                                          uint32_t numWaitEvents,
                                                          ze_event_handle_t *phWaitEvents)
{
    return append_fill(hCommandList, ptr, pattern, pattern_size, size, hSignalEvent, numWaitEvents,
                       phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryFillWithParameters(
    ze_command_list_handle_t hCommandList, void *ptr, const void *pattern, size_t pattern_size,
    size_t size, const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return append_fill(hCommandList, ptr, pattern, pattern_size, size, hSignalEvent, numWaitEvents,
                       phWaitEvents);
}

/* One side of a region copy. */
struct side {
    const char *base;
    uint64_t origin[3];
    uint64_t pitch;
    uint64_t slice;
};

static struct side make_side(const void *base, const ze_copy_region_t *region, uint32_t pitch,
                             uint32_t slice)
{
    return (struct side){.base = base,
                         .origin = {region->originX, region->originY, region->originZ},
                         .pitch = pitch,
                         .slice = slice};
}

static ze_result_t check_side(const char *which, const struct side *side, const uint64_t size[3])
{
    bool rows = size[1] > 1 || side->origin[1] > 0;
    bool slices = size[2] > 1 || side->origin[2] > 0;

    if (rows && side->pitch < side->origin[0] + size[0])
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: rows of %llu bytes from byte %llu do not fit a pitch of %llu", which,
                          (unsigned long long)size[0], (unsigned long long)side->origin[0],
                          (unsigned long long)side->pitch);
    if (slices && side->slice < side->pitch * (side->origin[1] + size[1] - 1))
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: %llu rows from row %llu do not fit a slice pitch of %llu bytes",
                          which, (unsigned long long)size[1], (unsigned long long)side->origin[1],
                          (unsigned long long)side->slice);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_region(const ze_copy_region_t *target_region,
                                const ze_copy_region_t *source_region, const struct side *target,
                                const struct side *source, const uint64_t size[3])
{
    bool meet = target->base == source->base && target->pitch == source->pitch &&
                target->slice == source->slice;
    ze_result_t result;

    if (target_region->width != source_region->width ||
        target_region->height != source_region->height ||
        target_region->depth != source_region->depth)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the regions differ: %u x %u x %u and %u x %u x %u", target_region->width,
                          target_region->height, target_region->depth, source_region->width,
                          source_region->height, source_region->depth);
    result = check_side("target", target, size);
    if (result == ZE_RESULT_SUCCESS)
        result = check_side("source", source, size);
    for (int i = 0; i < 3; i++)
        meet = meet && target->origin[i] + size[i] > source->origin[i] &&
               source->origin[i] + size[i] > target->origin[i];
    if (result == ZE_RESULT_SUCCESS && meet)
        result = zeta_error(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
                            "source and target region of the same buffer overlap");
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t hCommandList, void *dstptr, const ze_copy_region_t *dstRegion,
    uint32_t dstPitch, uint32_t dstSlicePitch, const void *srcptr,
    const ze_copy_region_t *srcRegion, uint32_t srcPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    /* Depth 0 is how a copy of two dimensions is asked for. */
    const uint64_t size[3] = {dstRegion->width, dstRegion->height,
                              dstRegion->depth ? dstRegion->depth : 1};
    struct side target = make_side(dstptr, dstRegion, dstPitch, dstSlicePitch);
    struct side source = make_side(srcptr, srcRegion, srcPitch, srcSlicePitch);
    struct zeta_plugin_command command = {.type = ZETA_PLUGIN_COMMAND_COPY_REGION,
                                          .u.region = {.target = dstptr,
                                                       .source = srcptr,
                                                       .target_pitch_bytes = dstPitch,
                                                       .target_slice_bytes = dstSlicePitch,
                                                       .source_pitch_bytes = srcPitch,
                                                       .source_slice_bytes = srcSlicePitch}};

    if (size[0] == 0 || size[1] == 0)
        return zeta_append_one(list, &barrier, hSignalEvent, numWaitEvents, phWaitEvents);
    ze_result_t result = check_region(dstRegion, srcRegion, &target, &source, size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    memcpy(command.u.region.target_origin, target.origin, sizeof(target.origin));
    memcpy(command.u.region.source_origin, source.origin, sizeof(source.origin));
    memcpy(command.u.region.size, size, sizeof(size));
    return zeta_append_one(list, &command, hSignalEvent, numWaitEvents, phWaitEvents);
}

/* Hints may be ignored, and memory that every device reaches equally has no better place. */
ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList,
                                                              const void *ptr ZETA_UNUSED,
                                                              size_t size ZETA_UNUSED)
{
    return zeta_list_check_open((const struct zeta_command_list *)hCommandList);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList,
                                                         ze_device_handle_t hDevice,
                                                         const void *ptr ZETA_UNUSED,
                                                         size_t size ZETA_UNUSED,
                                                         ze_memory_advice_t advice ZETA_UNUSED)
{
    const struct zeta_command_list *list = (const struct zeta_command_list *)hCommandList;
    ze_result_t result = zeta_list_check_open(list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_context_check_device(list->context, (const struct zeta_device *)hDevice);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                                       ze_event_handle_t hSignalEvent,
                                                       uint32_t numWaitEvents,
                                                       ze_event_handle_t *phWaitEvents)
{
    return zeta_append_one((struct zeta_command_list *)hCommandList, &barrier, hSignalEvent,
                           numWaitEvents, phWaitEvents);
}

/* Coherent memory needs nothing for single ranges that a whole barrier does not do. */
ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t hCommandList, uint32_t numRanges ZETA_UNUSED,
    const size_t *pRangeSizes ZETA_UNUSED, const void **pRanges ZETA_UNUSED,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return impl_zeCommandListAppendBarrier(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                                           ze_event_handle_t hEvent)
{
    return impl_zeCommandListAppendBarrier(hCommandList, hEvent, 0, NULL);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                                            uint32_t numEvents,
                                                            ze_event_handle_t *phEvents)
{
    return impl_zeCommandListAppendBarrier(hCommandList, NULL, numEvents, phEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                                          ze_event_handle_t hEvent)
{
    static const struct zeta_plugin_command reset = {.type = ZETA_PLUGIN_COMMAND_EVENT_RESET};

    if (((const struct zeta_event *)hEvent)->counter)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "a counter based event is never reset: it follows the newest work that "
                          "signals it");
    return zeta_append_one((struct zeta_command_list *)hCommandList, &reset, hEvent, 0, NULL);
}

/* A device that computes finds out itself what it cannot write to; others have no means to. */
static ze_result_t check_timestamp_target(const struct zeta_command_list *list,
                                          const uint64_t *target)
{
    const struct zeta_context *context = list->context;
    struct zeta_allocation found;

    if ((uintptr_t)target % sizeof(*target) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not aligned to the 8 bytes of a timestamp", (const void *)target);
    if (context->driver->compute)
        return ZE_RESULT_SUCCESS;
    if (zeta_memory_find(context->memory, target, &found) &&
        (size_t)((const char *)target - (const char *)found.base) + sizeof(*target) <=
            found.size_bytes)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%p is in no allocation of the context; on %s time stamps go to memory of "
                      "zeMemAllocHost",
                      (const void *)target, list->device->name);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    const struct zeta_plugin_command command = {.type = ZETA_PLUGIN_COMMAND_TIMESTAMP,
                                                .u.timestamp = dstptr};
    ze_result_t result = check_timestamp_target(list, dstptr);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_append_one(list, &command, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendHostFunction(
    ze_command_list_handle_t hCommandList, ze_host_function_callback_t pfnHostFunction,
    void *pUserData, const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    const struct zeta_plugin_command command = {
        .type = ZETA_PLUGIN_COMMAND_CALL,
        .u.call = {.function = pfnHostFunction, .context = pUserData}};
    ze_result_t result = zeta_append_refuse_parameters(pNext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    return zeta_append_one((struct zeta_command_list *)hCommandList, &command, hSignalEvent,
                           numWaitEvents, phWaitEvents);
}

/* ---- Queries of the times of events ---- */

/*
 * A query of the times of query->events, valid as long as the commands; all but the barriers around
 * it. offsets: of the application, NULL: none.
 */
static ze_result_t add_query(struct zeta_append *append, const struct zeta_times_query *wanted,
                             const size_t *offsets)
{
    const size_t bytes[4] = {sizeof(*wanted), wanted->count * sizeof(*wanted->times),
                             wanted->count * sizeof(*wanted->offsets),
                             wanted->count * sizeof(*wanted->copies)};
    struct zeta_plugin_command copy = {.type = ZETA_PLUGIN_COMMAND_COPY};
    struct zeta_plugin_command *command = NULL;
    void *memory[4] = {NULL};
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (int i = 0; i < (offsets ? 4 : 2) && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_command_buffer_alloc(append->buffer, bytes[i], &memory[i]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_times_query *query = memory[0];
    *query = *wanted;
    query->times = memory[1];
    query->offsets = memory[2];
    query->copies = memory[3];
    copy.u.copy = (struct zeta_plugin_copy){
        .target = query->offsets, .source = offsets, .size_bytes = bytes[2]};
    if (offsets)
        result = zeta_append_put(append, &copy);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_add(append, ZETA_PLUGIN_COMMAND_CALL, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_times_query_set(command, query);
    copy.u.copy = (struct zeta_plugin_copy){
        .target = query->target, .source = query->times, .size_bytes = bytes[1]};
    if (!offsets)
        return zeta_append_put(append, &copy);
    copy.flags = ZETA_PLUGIN_COMMAND_INDIRECT;
    for (uint64_t i = 0; i < query->count && result == ZE_RESULT_SUCCESS; i++) {
        copy.u.copy = (struct zeta_plugin_copy){.indirect = &query->copies[i]};
        result = zeta_append_put(append, &copy);
    }
    return result;
}

ze_result_t ZE_APICALL impl_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct zeta_times_query query = {.count = numEvents, .target = dstptr};
    struct zeta_append append;
    void *memory = NULL;
    ze_result_t result = zeta_append_begin(&append, (struct zeta_command_list *)hCommandList);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_command_buffer_alloc(
        append.buffer, (size_t)numEvents * sizeof(struct zeta_plugin_event *), &memory);
    struct zeta_plugin_event **events = memory;
    query.events = events;
    for (uint32_t i = 0; i < numEvents && result == ZE_RESULT_SUCCESS; i++) {
        if (((const struct zeta_event *)phEvents[i])->has_times)
            result = zeta_append_event(&append, phEvents[i], false, &events[i]);
        else
            result =
                zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                           "phEvents[%u] carries no times: neither it nor its pool was created "
                           "with a flag for timestamps",
                           i);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, NULL, numWaitEvents, phWaitEvents);
    if (result == ZE_RESULT_SUCCESS)
        result = add_query(&append, &query, pOffsets);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_barrier(&append, hSignalEvent, 0, NULL);
    return zeta_append_end(&append, result);
}
