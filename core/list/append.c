/* Copies, fills, barriers, events and times in a command list. */
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/list/list.h"
#include "core/memory/memory.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Also where there is nothing to copy: the waits and the signal remain. */
static const struct zeta_plugin_command barrier = {.type = ZETA_PLUGIN_COMMAND_BARRIER};

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryCopy(
    ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr, size_t size,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    const struct zeta_plugin_command copy = {
        .type = ZETA_PLUGIN_COMMAND_COPY,
        .u.copy = {.target = dstptr, .source = srcptr, .size_bytes = size}};

    return zeta_append_one((struct zeta_command_list *)hCommandList, size > 0 ? &copy : &barrier,
                           hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryCopyWithParameters(
    ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr, size_t size,
    const void *pNext ZETA_UNUSED, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    return impl_zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size, hSignalEvent,
                                              numWaitEvents, phWaitEvents);
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
    return impl_zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size, hSignalEvent,
                                              numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList,
                                                          void *ptr, const void *pattern,
                                                          size_t pattern_size, size_t size,
                                                          ze_event_handle_t hSignalEvent,
                                                          uint32_t numWaitEvents,
                                                          ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct zeta_plugin_command command = {
        .type = ZETA_PLUGIN_COMMAND_FILL,
        .u.fill = {.target = ptr, .pattern_bytes = pattern_size, .size_bytes = size}};
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
    if ((uintptr_t)ptr % pattern_size != 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                          "%p is not aligned to the %zu bytes of the pattern", ptr, pattern_size);
    if (size == 0)
        return zeta_append_one(list, &barrier, hSignalEvent, numWaitEvents, phWaitEvents);
    ze_result_t result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result =
        zeta_command_buffer_copy(append.buffer, pattern, pattern_size, &command.u.fill.pattern);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_put(&append, &command, hSignalEvent, numWaitEvents, phWaitEvents);
    return zeta_append_end(&append, result);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryFillWithParameters(
    ze_command_list_handle_t hCommandList, void *ptr, const void *pattern, size_t pattern_size,
    size_t size, const void *pNext ZETA_UNUSED, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return impl_zeCommandListAppendMemoryFill(hCommandList, ptr, pattern, pattern_size, size,
                                              hSignalEvent, numWaitEvents, phWaitEvents);
}

static ze_result_t check_side(const char *which, const uint64_t origin[3], uint64_t pitch,
                              uint64_t slice, const uint64_t size[3])
{
    if ((size[1] > 1 || origin[1] > 0) && pitch < origin[0] + size[0])
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: rows of %llu bytes from byte %llu do not fit a pitch of %llu", which,
                          (unsigned long long)size[0], (unsigned long long)origin[0],
                          (unsigned long long)pitch);
    if ((size[2] > 1 || origin[2] > 0) && slice < pitch * (origin[1] + size[1] - 1))
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: %llu rows from row %llu do not fit a slice pitch of %llu bytes",
                          which, (unsigned long long)size[1], (unsigned long long)origin[1],
                          (unsigned long long)slice);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t hCommandList, void *dstptr, const ze_copy_region_t *dstRegion,
    uint32_t dstPitch, uint32_t dstSlicePitch, const void *srcptr,
    const ze_copy_region_t *srcRegion, uint32_t srcPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    const struct zeta_plugin_command command = {
        .type = ZETA_PLUGIN_COMMAND_COPY_REGION,
        .u.region = {
            .target = dstptr,
            .source = srcptr,
            .target_origin = {dstRegion->originX, dstRegion->originY, dstRegion->originZ},
            .source_origin = {srcRegion->originX, srcRegion->originY, srcRegion->originZ},
            /* Depth 0 is how a copy of two dimensions is asked for. */
            .size = {dstRegion->width, dstRegion->height, dstRegion->depth ? dstRegion->depth : 1},
            .target_pitch_bytes = dstPitch,
            .target_slice_bytes = dstSlicePitch,
            .source_pitch_bytes = srcPitch,
            .source_slice_bytes = srcSlicePitch}};
    const struct zeta_plugin_copy_region *region = &command.u.region;
    bool overlap = dstptr == srcptr && dstPitch == srcPitch && dstSlicePitch == srcSlicePitch;

    if (dstRegion->width == 0 || dstRegion->height == 0)
        return zeta_append_one(list, &barrier, hSignalEvent, numWaitEvents, phWaitEvents);
    if (dstRegion->width != srcRegion->width || dstRegion->height != srcRegion->height ||
        dstRegion->depth != srcRegion->depth)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the regions differ: %u x %u x %u and %u x %u x %u", dstRegion->width,
                          dstRegion->height, dstRegion->depth, srcRegion->width, srcRegion->height,
                          srcRegion->depth);
    ze_result_t result =
        check_side("target", region->target_origin, dstPitch, dstSlicePitch, region->size);
    if (result == ZE_RESULT_SUCCESS)
        result = check_side("source", region->source_origin, srcPitch, srcSlicePitch, region->size);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (int i = 0; i < 3; i++)
        overlap = overlap &&
                  region->target_origin[i] + region->size[i] > region->source_origin[i] &&
                  region->source_origin[i] + region->size[i] > region->target_origin[i];
    if (overlap)
        return zeta_error(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
                          "source and target region of the same buffer overlap");
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

ze_result_t ZE_APICALL impl_zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    const struct zeta_plugin_command command = {.type = ZETA_PLUGIN_COMMAND_TIMESTAMP,
                                                .u.timestamp = dstptr};
    const struct zeta_context *context = list->context;
    struct zeta_allocation found;

    if ((uintptr_t)dstptr % sizeof(*dstptr) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not aligned to the 8 bytes of a timestamp", (void *)dstptr);
    /* A device that computes finds out itself what it cannot write to; others have no means to. */
    if (!context->driver->compute &&
        (!zeta_memory_find(context->memory, dstptr, &found) ||
         (size_t)((const char *)dstptr - (const char *)found.base) + sizeof(*dstptr) >
             found.size_bytes))
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "%p is in no allocation of the context; on %s time stamps go to memory of "
            "zeMemAllocHost",
            (void *)dstptr, list->device->name);
    return zeta_append_one(list, &command, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL impl_zeCommandListAppendHostFunction(
    ze_command_list_handle_t hCommandList, ze_host_function_callback_t pfnHostFunction,
    void *pUserData, const void *pNext ZETA_UNUSED, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    const struct zeta_plugin_command command = {
        .type = ZETA_PLUGIN_COMMAND_CALL,
        .u.call = {.function = pfnHostFunction, .context = pUserData}};

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
    struct zeta_plugin_command call = {.type = ZETA_PLUGIN_COMMAND_CALL};
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
        result = zeta_append_put(append, &copy, NULL, 0, NULL);
    zeta_times_query_set(&call, query);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_put(append, &call, NULL, 0, NULL);
    copy.u.copy = (struct zeta_plugin_copy){
        .target = query->target, .source = query->times, .size_bytes = bytes[1]};
    if (!offsets && result == ZE_RESULT_SUCCESS)
        return zeta_append_put(append, &copy, NULL, 0, NULL);
    copy.flags = ZETA_PLUGIN_COMMAND_INDIRECT;
    for (uint64_t i = 0; i < query->count && result == ZE_RESULT_SUCCESS; i++) {
        copy.u.copy = (struct zeta_plugin_copy){.indirect = &query->copies[i]};
        result = zeta_append_put(append, &copy, NULL, 0, NULL);
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
