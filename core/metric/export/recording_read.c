/* Reading recordings, without a device: the functions of zeta.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/evaluate/decode.h"
#include "core/metric/export/export.h"
#include "core/util/cleanup.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

/** A payload that later chunks refer to. */
struct kept {
    uint32_t type; /**< DEVICE, SET or STREAM */
    uint32_t number;
    size_t bytes;
    char text[];
};

struct zeta_recording_reader {
    struct zeta_container_reader *container;
    struct zeta_list kept; /**< of struct kept */
    struct zeta_container_chunk chunk;
    const void *payload; /**< of the chunk; NULL if it was not read in order */
};

ze_result_t zetaRecordingOpen(const char *path, struct zeta_recording_reader **out_reader)
{
    struct zeta_container_problem problem = {""};
    struct zeta_recording_reader *reader;
    enum zeta_container_result result;

    if (!path)
        return zeta_own_null_pointer("zetaRecordingOpen", "path");
    if (!out_reader)
        return zeta_own_null_pointer("zetaRecordingOpen", "out_reader");
    reader = calloc(1, sizeof(*reader));
    if (!reader)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_container_open_file(path, &problem, &reader->container);
    if (result != ZETA_CONTAINER_OK) {
        free(reader);
        return zeta_export_result(result, problem.text);
    }
    *out_reader = reader;
    return ZE_RESULT_SUCCESS;
}

/** What was kept of a number; NULL if there is none. */
static const struct kept *find(const struct zeta_recording_reader *reader, uint32_t type,
                               uint32_t number)
{
    for (size_t i = 0; i < reader->kept.count; i++) {
        const struct kept *kept = reader->kept.items[i];

        if (kept->type == type && kept->number == number)
            return kept;
    }
    return NULL;
}

/** Keeps the payload of a DEVICE, SET or STREAM chunk; the first one of a number counts. */
static ze_result_t keep(struct zeta_recording_reader *reader)
{
    const struct zeta_container_chunk *chunk = &reader->chunk;
    struct kept *kept;

    if ((chunk->type != ZETA_CHUNK_DEVICE && chunk->type != ZETA_CHUNK_SET &&
         chunk->type != ZETA_CHUNK_STREAM) ||
        find(reader, chunk->type, chunk->stream))
        return ZE_RESULT_SUCCESS;
    kept = malloc(sizeof(*kept) + (size_t)chunk->payload_bytes);
    if (!kept || !zeta_list_add(&reader->kept, kept)) {
        free(kept);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    kept->type = chunk->type;
    kept->number = chunk->stream;
    kept->bytes = (size_t)chunk->payload_bytes;
    if (kept->bytes > 0)
        memcpy(kept->text, reader->payload, kept->bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaRecordingNext(struct zeta_recording_reader *reader,
                              struct zeta_recording_chunk *chunk)
{
    struct zeta_recording_chunk found = {0};
    enum zeta_container_result result;
    ze_result_t kept;

    if (!reader)
        return zeta_own_null_handle("zetaRecordingNext", "reader");
    kept = zeta_own_struct_check("zetaRecordingNext", chunk);
    if (kept != ZE_RESULT_SUCCESS)
        return kept;
    reader->payload = NULL;
    result = zeta_container_next(reader->container, &reader->chunk);
    if (result == ZETA_CONTAINER_AT_CUT)
        return ZE_RESULT_NOT_READY;
    if (result == ZETA_CONTAINER_AT_END) {
        found.type = ZETA_CHUNK_END;
        zeta_own_struct_copy(chunk, chunk->struct_size, &found, sizeof(found));
        return ZE_RESULT_SUCCESS;
    }
    if (result == ZETA_CONTAINER_OK)
        result = zeta_container_payload(reader->container, &reader->payload);
    if (result != ZETA_CONTAINER_OK)
        return zeta_export_result(result, zeta_container_reader_problem(reader->container));
    kept = keep(reader);
    if (kept != ZE_RESULT_SUCCESS)
        return kept;
    found.type = reader->chunk.type;
    found.number = reader->chunk.stream;
    found.payload = reader->payload;
    found.payload_bytes = reader->chunk.payload_bytes;
    found.offset = reader->chunk.offset;
    zeta_own_struct_copy(chunk, chunk->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

/**
 * The description of the stream that the chunk read last is data of. Errors: INVALID_ARGUMENT with
 * a sentence if it is no data, or of a stream without description.
 */
static ze_result_t find_stream(const struct zeta_recording_reader *reader,
                               const struct kept **out_stream, bool *out_is_tracer)
{
    const struct kept *stream;
    char sampling[16] = "";

    if (!reader->payload || reader->chunk.type != ZETA_CHUNK_DATA)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the chunk of the recording that was read last is no data");
    stream = find(reader, ZETA_CHUNK_STREAM, reader->chunk.stream);
    if (!stream)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the recording has data of stream %u and no description of it",
                          reader->chunk.stream);
    (void)zeta_lines_find(stream->text, stream->bytes, "sampling", 0, sampling, sizeof(sampling));
    *out_stream = stream;
    *out_is_tracer = strcmp(sampling, "tracer") == 0;
    return ZE_RESULT_SUCCESS;
}

/* As exported data
 * ------------------------------------------------------------------------------
 */

/** Adds the sets of the tiles with numbers of their own, and the lines that name them. */
static ze_result_t add_sets(const struct zeta_recording_reader *reader, const struct kept *stream,
                            struct zeta_export_content *content, struct zeta_lines *lines)
{
    char text[24];

    for (uint32_t tile = 0;
         zeta_lines_find(stream->text, stream->bytes, "set", tile, text, sizeof(text)); tile++) {
        const uint32_t number = (uint32_t)strtoul(text, NULL, 10);
        const struct kept *set = find(reader, ZETA_CHUNK_SET, number);
        uint32_t own = 0;

        if (!set || tile == ZETA_EXPORT_MAX_TILES)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "stream %u of the recording names set %u, which is not there",
                              stream->number, number);
        while (own < content->set_count && content->sets[own].data != set->text)
            own++;
        if (own == content->set_count)
            content->sets[content->set_count++] =
                (struct zeta_container_part){set->text, set->bytes};
        zeta_lines_add_u64(lines, "set", own + 1);
        if (zeta_lines_find(stream->text, stream->bytes, "digest", tile, text, sizeof(text)))
            zeta_lines_add(lines, "digest", text);
    }
    return lines->no_memory ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

ze_result_t zetaRecordingGetExportData(struct zeta_recording_reader *reader, size_t *size,
                                       uint8_t *data)
{
    static const char *const copied[] = {"group", "sampling", "record", "tiles"};
    const char *function = "zetaRecordingGetExportData";
    ZETA_CLEANUP(zeta_lines_finish) struct zeta_lines lines = {0};
    struct zeta_export_content content = {0};
    char value[ZET_MAX_METRIC_GROUP_NAME + 1];
    const struct kept *stream = NULL;
    bool is_tracer = false;
    ze_result_t result;

    if (!reader)
        return zeta_own_null_handle(function, "reader");
    if (!size)
        return zeta_own_null_pointer(function, "size");
    result = find_stream(reader, &stream, &is_tracer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (is_tracer)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "stream %u of the recording is of a tracer, which is decoded and not "
                          "calculated; zetaRecordingDecodeEvents does that",
                          reader->chunk.stream);
    for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
        if (zeta_lines_find(stream->text, stream->bytes, copied[i], 0, value, sizeof(value)))
            zeta_lines_add(&lines, copied[i], value);
    }
    result = add_sets(reader, stream, &content, &lines);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    content.stream = (struct zeta_container_part){lines.text, lines.bytes};
    content.raw =
        (struct zeta_container_part){reader->payload, (size_t)reader->chunk.payload_bytes};
    return zeta_export_write(&content, size, data);
}

/* As events of a tracer
 * -------------------------------------------------------------------------
 */

/** What decodes the DATA chunk that a reader read last. */
struct events {
    struct zeta_export export; /**< the sets and the reader's data */
    struct zeta_decode_plan *plan;
};

static ze_result_t open_tile(const struct zeta_recording_reader *reader, const struct kept *stream,
                             struct zeta_export *export)
{
    const struct kept *set = NULL;
    char number[24] = "";

    if (zeta_lines_find(stream->text, stream->bytes, "set", export->tile_count, number,
                        sizeof(number)))
        set = find(reader, ZETA_CHUNK_SET, (uint32_t)strtoul(number, NULL, 10));
    if (!set)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "stream %u of the recording names no set for tile %u that is there",
                          stream->number, export->tile_count);
    return zeta_export_add_tile(export, (struct zeta_container_part){set->text, set->bytes});
}

/** The clock that time stamps of the stream are of. */
static ze_result_t find_clock(const struct zeta_recording_reader *reader, const struct kept *stream,
                              struct zeta_decode_source *source)
{
    const uint64_t number = zeta_lines_find_u64(stream->text, stream->bytes, "device", 0);
    const struct kept *device =
        number <= UINT32_MAX ? find(reader, ZETA_CHUNK_DEVICE, (uint32_t)number) : NULL;
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

/** Prepares to decode; events_close() ends it either way. */
static ze_result_t events_open(const struct zeta_recording_reader *reader, struct events *events)
{
    const struct zeta_decode_group group = {.compiled = events->export.compiled};
    struct zeta_decode_source source = {.groups = &group, .group_count = 1};
    const struct kept *stream = NULL;
    bool is_tracer = false;
    uint64_t tiles;
    ze_result_t result = find_stream(reader, &stream, &is_tracer);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!is_tracer)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "stream %u of the recording is of no tracer; its data is calculated "
                          "(zetaRecordingGetExportData), not decoded",
                          reader->chunk.stream);
    events->export.raw = reader->payload;
    events->export.raw_bytes = (size_t)reader->chunk.payload_bytes;
    events->export.sampling = ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED;
    result = find_clock(reader, stream, &source);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    tiles = zeta_lines_find_u64(stream->text, stream->bytes, "tiles", 0);
    if (tiles == 0 || tiles > ZETA_EXPORT_MAX_TILES)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "stream %u of the recording has no number of tiles", stream->number);
    while (result == ZE_RESULT_SUCCESS && events->export.tile_count < tiles)
        result = open_tile(reader, stream, &events->export);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    source.tile_count = tiles > 1 ? (uint32_t)tiles : 0;
    return zeta_decode_plan_create(&source, &events->plan);
}

static void events_close(struct events *events)
{
    zeta_decode_plan_destroy(events->plan);
    zeta_export_close(&events->export);
}

ze_result_t zetaRecordingGetEventMetrics(struct zeta_recording_reader *reader, uint32_t *count,
                                         struct zeta_exported_metric *metrics)
{
    const char *function = "zetaRecordingGetEventMetrics";
    ZETA_CLEANUP(events_close) struct events events = {0};
    ze_result_t result;
    uint32_t room;

    if (!reader)
        return zeta_own_null_handle(function, "reader");
    result = zeta_exported_metrics_check(function, count, metrics);
    if (result == ZE_RESULT_SUCCESS)
        result = events_open(reader, &events);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    room = zeta_count_clip(count, zeta_decode_metric_count(events.plan), metrics);
    for (uint32_t i = 0; i < room; i++)
        zeta_exported_metric_copy(zeta_decode_metric(events.plan, i), &metrics[i]);
    return ZE_RESULT_SUCCESS;
}

/** Counts the entries of each set, and writes them if there is room; *entry_count: as the API. */
static ze_result_t decode(const struct events *events, uint64_t *counts, uint32_t *entry_count,
                          zet_metric_entry_exp_t *entries)
{
    const uint32_t metric_count = zeta_decode_metric_count(events->plan);
    ZETA_CLEANUP(zeta_freep)
    uint32_t *names = calloc((size_t)metric_count + 1, sizeof(*names));
    const uint32_t room = *entry_count;
    struct zeta_decode_outcome outcome;
    struct zeta_decode_request request = {
        .raw = events->export.raw,
        .raw_bytes = events->export.raw_bytes,
        .names = names,
        .set_count = zeta_decode_set_count(events->plan),
        .capacity = UINT64_MAX,
    };

    if (!names)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < metric_count; i++)
        names[i] = i;
    zeta_decode_count(events->plan, &request, counts, &outcome);
    if (outcome.entry_count > UINT32_MAX)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the chunk has more than %u entries of events", UINT32_MAX);
    *entry_count = (uint32_t)outcome.entry_count;
    if (room == 0 || !entries)
        return ZE_RESULT_SUCCESS;
    if (room < outcome.entry_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the events have %u entries and there is room for %u", *entry_count,
                          room);
    request.capacity = room;
    return zeta_decode(events->plan, &request, counts, entries, &outcome);
}

ze_result_t zetaRecordingDecodeEvents(struct zeta_recording_reader *reader, uint32_t *set_count,
                                      uint32_t *counts_per_set, uint32_t *entry_count,
                                      zet_metric_entry_exp_t *entries)
{
    const char *function = "zetaRecordingDecodeEvents";
    ZETA_CLEANUP(events_close) struct events events = {0};
    ZETA_CLEANUP(zeta_freep) uint64_t *counts = NULL;
    ze_result_t result;
    uint32_t sets;

    if (!reader)
        return zeta_own_null_handle(function, "reader");
    if (!set_count)
        return zeta_own_null_pointer(function, "set_count");
    if (!entry_count)
        return zeta_own_null_pointer(function, "entry_count");
    result = events_open(reader, &events);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    sets = zeta_decode_set_count(events.plan);
    counts = calloc(sets, sizeof(*counts));
    if (!counts)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = decode(&events, counts, entry_count, entries);
    for (uint32_t i = 0; counts_per_set && i < *set_count && i < sets; i++)
        counts_per_set[i] = (uint32_t)counts[i];
    *set_count = sets;
    return result;
}

void zetaRecordingClose(struct zeta_recording_reader *reader)
{
    if (!reader)
        return;
    zeta_container_reader_destroy(reader->container);
    for (size_t i = 0; i < reader->kept.count; i++)
        free(reader->kept.items[i]);
    zeta_list_finish(&reader->kept);
    free(reader);
}
