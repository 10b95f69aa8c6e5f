/* Recordings: the functions of zeta.h, which need no device to read them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/evaluate/decode.h"
#include "core/metric/export/export.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

struct zeta_recording {
    struct zeta_export_target target;
    struct zeta_list devices; /**< of struct zeta_device; the number of each is
                                 its index + 1 */
    uint32_t streams;
};

ze_result_t zetaRecordingCreate(const struct zeta_recording_desc *desc,
                                struct zeta_recording **out_recording)
{
    struct zeta_recording_desc known = {0};
    struct zeta_container_problem problem = {""};
    struct zeta_recording *recording;
    ze_result_t result = zeta_own_struct_read("zetaRecordingCreate", desc, &known, sizeof(known));

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!out_recording)
        return zeta_own_null_pointer("zetaRecordingCreate", "out_recording");
    if (!known.path)
        return zeta_own_null_pointer("zetaRecordingCreate", "desc->path");
    recording = calloc(1, sizeof(*recording));
    if (!recording)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_export_result(zeta_container_create_file(known.path, ZETA_CONTAINER_RECORDING,
                                                           known.limit_bytes, &problem,
                                                           &recording->target.writer),
                                problem.text);
    if (result != ZE_RESULT_SUCCESS) {
        free(recording);
        return result;
    }
    *out_recording = recording;
    return ZE_RESULT_SUCCESS;
}

/** The lines of a DEVICE chunk; parent is 0 for a root. */
static void add_properties(const struct zeta_device *device, uint32_t parent,
                           struct zeta_lines *lines)
{
    const struct zeta_plugin_device_properties *properties = &device->backend->properties;
    char uuid[2 * sizeof(properties->uuid) + 1];

    for (size_t i = 0; i < sizeof(properties->uuid); i++)
        (void)snprintf(uuid + 2 * i, 3, "%02x", properties->uuid[i]);
    zeta_lines_add(lines, "name", device->name);
    zeta_lines_add(lines, "id", device->backend->id);
    zeta_lines_add(lines, "class",
                   zeta_device_class_name(device->backend->identity.backend->device_class));
    zeta_lines_add(lines, "uuid", uuid);
    zeta_lines_add_u64(lines, "vendor", properties->vendor_id);
    zeta_lines_add_u64(lines, "device", properties->device_id);
    zeta_lines_add_u64(lines, "revision", properties->revision);
    if (parent != 0) {
        zeta_lines_add_u64(lines, "parent", parent);
        zeta_lines_add_u64(lines, "tile", device->tile);
    }
    zeta_lines_add_u64(lines, "timer-hz", properties->timer_hz);
    zeta_lines_add_u64(lines, "timestamp-bits", properties->timestamp_valid_bits);
    zeta_lines_add_u64(lines, "kernel-timestamp-bits", properties->kernel_timestamp_valid_bits);
    zeta_lines_add_u64(lines, "core-clock-mhz", properties->core_clock_mhz);
    zeta_lines_add_u64(lines, "slices", properties->slices);
    zeta_lines_add_u64(lines, "subslices-per-slice", properties->subslices_per_slice);
    zeta_lines_add_u64(lines, "eus-per-subslice", properties->eus_per_subslice);
    zeta_lines_add_u64(lines, "threads-per-eu", properties->threads_per_eu);
    zeta_lines_add_u64(lines, "simd-width", properties->simd_width);
}

/** Describes a device, if that was not done yet. */
static ze_result_t describe_device(struct zeta_recording *recording, struct zeta_device *device,
                                   uint32_t parent, uint32_t *out_number)
{
    struct zeta_list *devices = &recording->devices;
    struct zeta_lines lines = {0};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    for (*out_number = 1; *out_number <= devices->count; (*out_number)++) {
        if (devices->items[*out_number - 1] == device)
            return ZE_RESULT_SUCCESS;
    }
    add_properties(device, parent, &lines);
    if (!lines.no_memory && zeta_list_add(devices, device)) {
        result = zeta_export_append(recording->target.writer, ZETA_CHUNK_DEVICE, *out_number,
                                    (struct zeta_container_part){lines.text, lines.bytes});
        if (result != ZE_RESULT_SUCCESS)
            devices->count--;
    }
    zeta_lines_finish(&lines);
    return result;
}

/** Describes the root of a device with all its tiles. */
static ze_result_t add_device(struct zeta_recording *recording, struct zeta_device *device,
                              uint32_t *out_number)
{
    struct zeta_device *root = zeta_device_root(device);
    uint32_t parent = 0;
    ze_result_t result = describe_device(recording, root, 0, &parent);
    uint32_t number = parent;

    for (uint32_t i = 0; i < root->tile_count && result == ZE_RESULT_SUCCESS; i++) {
        uint32_t tile = 0;

        result = describe_device(recording, root->tiles[i], parent, &tile);
        if (root->tiles[i] == device)
            number = tile;
    }
    if (result == ZE_RESULT_SUCCESS)
        *out_number = number;
    return result;
}

ze_result_t zetaRecordingAddDevice(struct zeta_recording *recording, ze_device_handle_t device,
                                   uint32_t *out_number)
{
    const char *function = "zetaRecordingAddDevice";

    if (!recording)
        return zeta_own_null_handle(function, "recording");
    if (!zeta_object_is(device, ZETA_KIND_DEVICE))
        return zeta_object_explain(device, ZETA_KIND_DEVICE, function, "device");
    if (!out_number)
        return zeta_own_null_pointer(function, "out_number");
    return add_device(recording, (struct zeta_device *)device, out_number);
}

ze_result_t zetaRecordingAddStream(struct zeta_recording *recording,
                                   const struct zeta_recording_stream_desc *desc,
                                   uint32_t *out_stream)
{
    const char *function = "zetaRecordingAddStream";
    struct zeta_recording_stream_desc known = {0};
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct zeta_lines lines = {0};
    uint32_t device = 0;
    ze_result_t result;

    if (!recording)
        return zeta_own_null_handle(function, "recording");
    result = zeta_own_struct_read(function, desc, &known, sizeof(known));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!known.group || !zeta_object_is(known.group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(known.group, ZETA_KIND_METRIC_GROUP, function, "desc->group");
    if (!out_stream)
        return zeta_own_null_pointer(function, "out_stream");
    result = zeta_group_view_acquire(known.group, function, "desc->group", &view);
    if (result == ZE_RESULT_SUCCESS)
        result = add_device(recording, view.group->device, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_lines_add_u64(&lines, "device", device);
    zeta_lines_add_u64(&lines, "period-ns", known.period_ns);
    result = zeta_export_add_group(&recording->target, view.group, recording->streams + 1, &lines);
    if (result == ZE_RESULT_SUCCESS)
        *out_stream = ++recording->streams;
    return result;
}

ze_result_t zetaRecordingAppend(struct zeta_recording *recording, uint32_t type, uint32_t number,
                                const void *payload, size_t size)
{
    const char *function = "zetaRecordingAppend";

    if (!recording)
        return zeta_own_null_handle(function, "recording");
    if (!payload && size > 0)
        return zeta_own_null_pointer(function, "payload");
    if (type != ZETA_CHUNK_META && type != ZETA_CHUNK_DATA && type != ZETA_CHUNK_CLOCK &&
        type != ZETA_CHUNK_TRACE && type != ZETA_CHUNK_MODULE && type != ZETA_CHUNK_NAMES)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%s: chunks of type %u are none that can be appended", function, type);
    if ((type == ZETA_CHUNK_DATA || type == ZETA_CHUNK_NAMES) &&
        (number == 0 || number > recording->streams))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%s: the recording has %u streams and no stream %u", function,
                          recording->streams, number);
    if ((type == ZETA_CHUNK_DATA || type == ZETA_CHUNK_TRACE) && size > ZETA_CHUNK_PIECE_BYTES)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: %zu bytes are more than the %u that one piece of a recording may "
                          "have; read less at a time",
                          function, size, ZETA_CHUNK_PIECE_BYTES);
    return zeta_export_append(recording->target.writer, (enum zeta_chunk_type)type, number,
                              (struct zeta_container_part){payload, size});
}

ze_result_t zetaRecordingFlush(struct zeta_recording *recording)
{
    if (!recording)
        return zeta_own_null_handle("zetaRecordingFlush", "recording");
    return zeta_export_result(zeta_container_flush(recording->target.writer),
                              zeta_container_writer_problem(recording->target.writer));
}

ze_result_t zetaRecordingGetInfo(const struct zeta_recording *recording,
                                 struct zeta_recording_info *info)
{
    struct zeta_recording_info found = {0};
    ze_result_t result;

    if (!recording)
        return zeta_own_null_handle("zetaRecordingGetInfo", "recording");
    result = zeta_own_struct_check("zetaRecordingGetInfo", info);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    found.bytes = zeta_container_size(recording->target.writer);
    found.lost_chunks = zeta_container_lost(recording->target.writer).chunks;
    found.lost_bytes = zeta_container_lost(recording->target.writer).bytes;
    zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaRecordingFinish(struct zeta_recording *recording)
{
    ze_result_t result;

    if (!recording)
        return ZE_RESULT_SUCCESS;
    result = zeta_export_result(zeta_container_finish(recording->target.writer),
                                zeta_container_writer_problem(recording->target.writer));
    zeta_container_writer_destroy(recording->target.writer);
    zeta_export_target_finish(&recording->target);
    zeta_list_finish(&recording->devices);
    free(recording);
    return result;
}

/** A payload that later chunks refer to. */
struct kept {
    uint32_t type; /**< DEVICE, SET, STREAM or NAMES */
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

/** Keeps payloads that others refer to; of descriptions the first one of a number counts. */
static ze_result_t keep(struct zeta_recording_reader *reader)
{
    const struct zeta_container_chunk *chunk = &reader->chunk;
    struct kept *kept;

    if (chunk->type != ZETA_CHUNK_NAMES &&
        ((chunk->type != ZETA_CHUNK_DEVICE && chunk->type != ZETA_CHUNK_SET &&
          chunk->type != ZETA_CHUNK_STREAM) ||
         find(reader, chunk->type, chunk->stream)))
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

/* As exported data ---------------------------------------------------------------------------- */

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

/* As events of a tracer ----------------------------------------------------------------------- */

/** What decodes the DATA chunk that a reader read last. */
struct events {
    struct zeta_export export; /**< the sets and the reader's data */
    struct zeta_decode_plan *plan;
};

/** Prepares to decode; events_close() ends it either way. */
static ze_result_t events_open(const struct zeta_recording_reader *reader, struct events *events)
{
    const struct zeta_decode_group group = {.compiled = events->export.compiled};
    struct zeta_decode_source source = {.groups = &group, .group_count = 1};
    const struct kept *stream = NULL;
    const struct kept *device = NULL;
    bool is_tracer = false;
    uint64_t bits = 0;
    uint64_t number, tiles;
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
    /* The clock that time stamps of the stream are of. */
    number = zeta_lines_find_u64(stream->text, stream->bytes, "device", 0);
    if (number <= UINT32_MAX)
        device = find(reader, ZETA_CHUNK_DEVICE, (uint32_t)number);
    if (device) {
        source.timer_hz = zeta_lines_find_u64(device->text, device->bytes, "timer-hz", 0);
        bits = zeta_lines_find_u64(device->text, device->bytes, "timestamp-bits", 0);
    }
    if (source.timer_hz == 0 || bits == 0 || bits > 64)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the recording does not describe the clock of the device of stream %u",
                          stream->number);
    source.timestamp_bits = (uint32_t)bits;
    tiles = zeta_lines_find_u64(stream->text, stream->bytes, "tiles", 0);
    if (tiles == 0 || tiles > ZETA_EXPORT_MAX_TILES)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "stream %u of the recording has no number of tiles", stream->number);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const struct kept *set = NULL;
        char text[24] = "";

        if (zeta_lines_find(stream->text, stream->bytes, "set", tile, text, sizeof(text)))
            set = find(reader, ZETA_CHUNK_SET, (uint32_t)strtoul(text, NULL, 10));
        if (!set)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "stream %u of the recording names no set for tile %u that is there",
                              stream->number, tile);
        result = zeta_export_add_tile(&events->export,
                                      (struct zeta_container_part){set->text, set->bytes});
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
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

ze_result_t zetaRecordingGetEventName(struct zeta_recording_reader *reader, uint64_t id,
                                      size_t *size, char *name)
{
    const char *function = "zetaRecordingGetEventName";
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
    for (size_t i = 0; i < reader->kept.count; i++) {
        const struct kept *kept = reader->kept.items[i];
        struct zeta_chunk_name found;
        size_t at = 0;

        if (kept->type != ZETA_CHUNK_NAMES || kept->number != stream->number)
            continue;
        while (zeta_chunk_name_read(kept->text, kept->bytes, &at, &found)) {
            if (found.id == id)
                return zeta_own_text_copy(function, found.text, strnlen(found.text, found.bytes),
                                          size, name);
        }
    }
    return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                      "the recording has no name for %" PRIu64 " of stream %u", id, stream->number);
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
