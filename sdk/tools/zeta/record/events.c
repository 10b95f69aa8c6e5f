#include "sdk/tools/zeta/record/events.h"

#include <stdio.h>
#include <stdlib.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"

enum { NOTIFY_BYTES = 64 * 1024 };

static int refuse_unknown(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *name)
{
    (void)zeta_print_failure("%s has no group '%s' of events; it has:", device->properties.name,
                             name);
    for (uint32_t i = 0; i < list->count; i++) {
        const zet_metric_group_properties_t *group = &list->entries[i].properties;

        if (group->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
            (void)fprintf(stderr, "  %s\n", group->name);
    }
    return ZETA_EXIT_FAILED;
}

int zeta_record_events_choose(struct zeta_record_events *events, const struct zeta_group_list *list,
                              const struct zeta_device_entry *device, const char *const *names,
                              uint32_t count)
{
    *events = (struct zeta_record_events){0};
    if (count == 0)
        return ZETA_EXIT_OK;
    events->groups = calloc(count, sizeof(*events->groups));
    events->handles = calloc(count, sizeof(zet_metric_group_handle_t));
    events->tracers = calloc(count, sizeof(zet_metric_tracer_exp_handle_t));
    events->streams = calloc(count, sizeof(*events->streams));
    if (!events->groups || !events->handles || !events->tracers || !events->streams)
        return zeta_print_failure("no memory to record events");
    for (uint32_t i = 0; i < count; i++) {
        events->groups[i] = zeta_group_list_find(
            list, names[i], ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED);
        if (!events->groups[i])
            return refuse_unknown(list, device, names[i]);
        events->handles[i] = events->groups[i]->group;
    }
    events->count = count;
    return ZETA_EXIT_OK;
}

struct zeta_sampler_more zeta_record_events_groups(const struct zeta_record_events *events)
{
    return (struct zeta_sampler_more){.groups = events->handles, .count = events->count};
}

static int start_one(struct zeta_record_events *events, uint32_t index,
                     const struct zeta_device_entry *device, ze_context_handle_t context)
{
    const char *name = events->groups[index]->properties.name;
    const struct zeta_recording_stream_desc stream = {.struct_size = sizeof(stream),
                                                      .group = events->handles[index]};
    zet_metric_tracer_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
        .notifyEveryNBytes = NOTIFY_BYTES,
    };
    ze_result_t result =
        zetaRecordingAddStream(events->file->recording, &stream, &events->streams[index]);

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot describe %s in the recording", name);
    result = zetMetricTracerCreateExp(context, device->device, 1, &events->handles[index],
                                      &description, NULL, &events->tracers[index]);
    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricTracerEnableExp(events->tracers[index], 1);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot trace the events of %s on %s", name,
                                  device->properties.name);
    return ZETA_EXIT_OK;
}

int zeta_record_events_start(struct zeta_record_events *events, struct zeta_record_file *file,
                             const struct zeta_device_entry *device, ze_context_handle_t context)
{
    int status = ZETA_EXIT_OK;

    events->file = file;
    events->buffer_bytes = zeta_record_file_piece_bytes(file);
    events->buffer = events->count > 0 ? malloc(events->buffer_bytes) : NULL;
    if (events->count > 0 && !events->buffer)
        return zeta_print_failure("no memory to record events");
    for (uint32_t i = 0; i < events->count && status == ZETA_EXIT_OK; i++)
        status = start_one(events, i, device, context);
    return status;
}

/* Until nothing is left, or for a while when events come faster than they are written. */
static int read_one(struct zeta_record_events *events, uint32_t index, uint32_t reads)
{
    while (reads-- > 0) {
        size_t size = events->buffer_bytes;
        ze_result_t result =
            zetMetricTracerReadDataExp(events->tracers[index], &size, events->buffer);

        if (result == ZE_RESULT_NOT_READY || (result == ZE_RESULT_SUCCESS && size == 0))
            return ZETA_EXIT_OK;
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_WARNING_DROPPED_DATA)
            return zeta_print_refusal(result, "cannot read the events of %s",
                                      events->groups[index]->properties.name);
        if (zeta_record_file_append(events->file, ZETA_CHUNK_DATA, events->streams[index],
                                    events->buffer, size) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        events->bytes += size;
        events->lost +=
            zeta_slots_lost(events->buffer, size, events->groups[index]->info.record_bytes);
    }
    return ZETA_EXIT_OK;
}

int zeta_record_events_read(struct zeta_record_events *events)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < events->count && status == ZETA_EXIT_OK; i++)
        status = read_one(events, i, 16);
    return status;
}

int zeta_record_events_stop(struct zeta_record_events *events)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < events->count; i++) {
        if (!events->tracers[i])
            continue;
        (void)zetMetricTracerDisableExp(events->tracers[i], 1);
        if (status == ZETA_EXIT_OK)
            status = read_one(events, i, UINT32_MAX);
        (void)zetMetricTracerDestroyExp(events->tracers[i]);
        events->tracers[i] = NULL;
    }
    return status;
}

void zeta_record_events_finish(struct zeta_record_events *events)
{
    free(events->groups);
    free(events->handles);
    free(events->tracers);
    free(events->streams);
    free(events->buffer);
    *events = (struct zeta_record_events){0};
}
