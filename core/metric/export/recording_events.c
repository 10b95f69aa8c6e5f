/* Decoding the events of a recording, without a device: the functions of zeta.h. */
#include <stdlib.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/describe/description.h"
#include "core/formula/evaluate/decode.h"
#include "core/metric/export/export.h"
#include "core/metric/export/recording_reader.h"
#include "core/metric/group/group.h"
#include "core/util/cleanup.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

/** What decodes the DATA chunk that a reader read last. */
struct events {
    const void *raw; /**< the reader's */
    size_t raw_bytes;
    struct zeta_description *descriptions[ZETA_EXPORT_MAX_TILES];
    struct zeta_compiled *compiled[ZETA_EXPORT_MAX_TILES];
    uint32_t tile_count;
    struct zeta_decode_plan *plan;
    uint32_t metric_count;
    uint32_t set_count;
};

static ze_result_t open_tile(const struct zeta_recording_reader *reader,
                             const struct zeta_recording_kept *stream, struct events *events)
{
    const uint32_t tile = events->tile_count;
    const struct zeta_recording_kept *set = NULL;
    char number[24] = "";
    ze_result_t result;

    if (zeta_lines_find(stream->text, stream->bytes, "set", tile, number, sizeof(number)))
        set =
            zeta_recording_reader_find(reader, ZETA_CHUNK_SET, (uint32_t)strtoul(number, NULL, 10));
    if (!set)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "stream %u of the recording names no set for tile %u that is there",
                          stream->number, tile);
    result = zeta_description_get(set->text, set->bytes,
                                  ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED,
                                  &events->descriptions[tile]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    events->compiled[tile] = zeta_description_compiled(events->descriptions[tile]);
    events->tile_count++;
    return ZE_RESULT_SUCCESS;
}

/** The clock that time stamps of the stream are of. */
static ze_result_t find_clock(const struct zeta_recording_reader *reader,
                              const struct zeta_recording_kept *stream,
                              struct zeta_decode_source *source)
{
    const uint64_t number = zeta_lines_find_u64(stream->text, stream->bytes, "device", 0);
    const struct zeta_recording_kept *device =
        number <= UINT32_MAX
            ? zeta_recording_reader_find(reader, ZETA_CHUNK_DEVICE, (uint32_t)number)
            : NULL;
    uint64_t bits = 0;

    if (device) {
        source->timer_hz = zeta_lines_find_u64(device->text, device->bytes, "timer-hz", 0);
        bits = zeta_lines_find_u64(device->text, device->bytes, "timestamp-bits", 0);
    }
    if (source->timer_hz == 0 || bits == 0 || bits > 64)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the recording does not describe the clock of the device of stream %u",
                          stream->number);
    source->timestamp_bits = (uint32_t)bits;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t make_plan(const struct zeta_recording_reader *reader,
                             const struct zeta_recording_kept *stream, struct events *events)
{
    const uint64_t tiles = zeta_lines_find_u64(stream->text, stream->bytes, "tiles", 0);
    const struct zeta_decode_group group = {.compiled = events->compiled};
    struct zeta_decode_source source = {
        .groups = &group, .group_count = 1, .tile_count = tiles > 1 ? (uint32_t)tiles : 0};
    ze_result_t result = find_clock(reader, stream, &source);

    if (result == ZE_RESULT_SUCCESS && (tiles == 0 || tiles > ZETA_EXPORT_MAX_TILES))
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "stream %u of the recording has no number of tiles", stream->number);
    while (result == ZE_RESULT_SUCCESS && events->tile_count < tiles)
        result = open_tile(reader, stream, events);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_decode_plan_create(&source, &events->plan);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    events->metric_count = zeta_decode_metric_count(events->plan);
    events->set_count = zeta_decode_set_count(events->plan);
    return ZE_RESULT_SUCCESS;
}

/** Prepares to decode; events_close() ends it either way. */
static ze_result_t events_open(const struct zeta_recording_reader *reader,
                               struct events *out_events)
{
    const struct zeta_recording_kept *stream = NULL;
    bool is_tracer = false;
    ze_result_t result = zeta_recording_reader_stream(reader, &stream, &is_tracer);

    if (result == ZE_RESULT_SUCCESS && !is_tracer)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "stream %u of the recording is of no tracer; its data is calculated "
                            "(zetaRecordingGetExportData), not decoded",
                            reader->chunk.stream);
    *out_events =
        (struct events){.raw = reader->payload, .raw_bytes = (size_t)reader->chunk.payload_bytes};
    if (result == ZE_RESULT_SUCCESS)
        result = make_plan(reader, stream, out_events);
    return result;
}

/**
 * Counts the entries of each set, and writes them if there is room; io_entry_count is the room,
 * then the number that there is.
 */
static ze_result_t events_decode(const struct events *events, uint64_t *counts,
                                 uint32_t *io_entry_count, zet_metric_entry_exp_t *entries)
{
    ZETA_CLEANUP(zeta_freep)
    uint32_t *names = calloc((size_t)events->metric_count + 1, sizeof(*names));
    const uint32_t room = *io_entry_count;
    struct zeta_decode_outcome outcome;
    struct zeta_decode_request request = {
        .raw = events->raw,
        .raw_bytes = events->raw_bytes,
        .names = names,
        .set_count = events->set_count,
        .capacity = UINT64_MAX,
    };

    if (!names)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < events->metric_count; i++)
        names[i] = i;
    zeta_decode_count(events->plan, &request, counts, &outcome);
    if (outcome.entry_count > UINT32_MAX)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the chunk has more than %u entries of events", UINT32_MAX);
    *io_entry_count = (uint32_t)outcome.entry_count;
    if (!entries)
        return ZE_RESULT_SUCCESS;
    if (room < outcome.entry_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the events have %u entries and there is room for %u", *io_entry_count,
                          room);
    request.capacity = room;
    return zeta_decode(events->plan, &request, counts, entries, &outcome);
}

static void events_close(struct events *events)
{
    zeta_decode_plan_destroy(events->plan);
    for (uint32_t i = 0; i < events->tile_count; i++)
        zeta_description_release(events->descriptions[i]);
    *events = (struct events){0};
}

static ze_result_t check_reader(const char *function, const struct zeta_recording_reader *reader)
{
    if (reader)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "%s: reader is null", function);
}

ze_result_t zetaRecordingGetEventMetrics(struct zeta_recording_reader *reader, uint32_t *count,
                                         struct zeta_exported_metric *metrics)
{
    const char *function = "zetaRecordingGetEventMetrics";
    struct events events = {0};
    ze_result_t result = check_reader(function, reader);
    uint32_t room;

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_exported_metrics_check(function, count, metrics);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = events_open(reader, &events);
    if (result == ZE_RESULT_SUCCESS) {
        room = zeta_count_clip(count, events.metric_count, metrics);
        for (uint32_t i = 0; i < room; i++)
            zeta_exported_metric_copy(zeta_decode_metric(events.plan, i), &metrics[i]);
    }
    events_close(&events);
    return result;
}

static ze_result_t decode(const struct events *events, uint32_t *set_count,
                          uint32_t *counts_per_set, uint32_t *entry_count,
                          zet_metric_entry_exp_t *entries)
{
    ZETA_CLEANUP(zeta_freep) uint64_t *counts = calloc(events->set_count, sizeof(*counts));
    ze_result_t result;

    if (!counts)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = events_decode(events, counts, entry_count, *entry_count > 0 ? entries : NULL);
    for (uint32_t i = 0; counts_per_set && i < *set_count && i < events->set_count; i++)
        counts_per_set[i] = (uint32_t)counts[i];
    *set_count = events->set_count;
    return result;
}

ze_result_t zetaRecordingDecodeEvents(struct zeta_recording_reader *reader, uint32_t *set_count,
                                      uint32_t *counts_per_set, uint32_t *entry_count,
                                      zet_metric_entry_exp_t *entries)
{
    struct events events = {0};
    const char *function = "zetaRecordingDecodeEvents";
    ze_result_t result = check_reader(function, reader);

    if (result == ZE_RESULT_SUCCESS && !set_count)
        result = zeta_own_null_pointer(function, "set_count");
    if (result == ZE_RESULT_SUCCESS && !entry_count)
        result = zeta_own_null_pointer(function, "entry_count");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = events_open(reader, &events);
    if (result == ZE_RESULT_SUCCESS)
        result = decode(&events, set_count, counts_per_set, entry_count, entries);
    events_close(&events);
    return result;
}
