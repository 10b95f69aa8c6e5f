#include "sdk/tools/zeta/calc/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/output/message.h"

/** Reading a file. */
struct reading {
    struct zeta_calc_file *file;
    const struct zeta_calc_choice *choice;
    const char *path;
    struct zeta_recording_reader *reader;
    uint8_t *data; /**< exported data of one piece */
    size_t data_bytes;
    const struct zeta_calc_stream *last; /**< whose rows were written last */
    struct known_device {
        uint32_t number;
        struct zeta_device_entry entry;
        char id[64];
        char device_class[16];
    } * devices;
    uint32_t device_count;
};

static bool find_line(const struct zeta_recording_chunk *chunk, const char *key, char *value,
                      size_t value_bytes)
{
    return zeta_lines_find(chunk->payload, (size_t)chunk->payload_bytes, key, 0, value,
                           value_bytes);
}

static uint64_t find_number(const struct zeta_recording_chunk *chunk, const char *key)
{
    return zeta_lines_find_u64(chunk->payload, (size_t)chunk->payload_bytes, key, 0);
}

/** Remembers who a device is. */
static int take_device(struct reading *reading, const struct zeta_recording_chunk *chunk)
{
    struct known_device *devices =
        realloc(reading->devices, (reading->device_count + 1) * sizeof(*devices));
    struct known_device *device;

    if (!devices)
        return zeta_print_failure("no memory for the devices of %s", reading->path);
    reading->devices = devices;
    device = &devices[reading->device_count++];
    *device = (struct known_device){.number = chunk->number};
    (void)find_line(chunk, "name", device->entry.properties.name,
                    sizeof(device->entry.properties.name));
    (void)find_line(chunk, "id", device->id, sizeof(device->id));
    (void)find_line(chunk, "class", device->device_class, sizeof(device->device_class));
    device->entry.properties.timerResolution = find_number(chunk, "timer-hz");
    device->entry.properties.timestampValidBits = (uint32_t)find_number(chunk, "timestamp-bits");
    return ZETA_EXIT_OK;
}

static struct zeta_calc_stream *find_stream(const struct zeta_calc_file *file, uint32_t number)
{
    for (uint32_t i = 0; i < file->stream_count; i++) {
        if (file->streams[i]->number == number)
            return file->streams[i];
    }
    return NULL;
}

static void copy_device(const struct reading *reading, uint32_t number,
                        struct zeta_calc_stream *stream)
{
    for (uint32_t i = 0; i < reading->device_count; i++) {
        const struct known_device *device = &reading->devices[i];

        if (device->number != number)
            continue;
        stream->device = device->entry;
        memcpy(stream->device_id, device->id, sizeof(device->id));
        memcpy(stream->device_class, device->device_class, sizeof(device->device_class));
        stream->entry.clock.timerResolution = device->entry.properties.timerResolution;
        stream->entry.clock.timestampValidBits = device->entry.properties.timestampValidBits;
    }
    stream->device.info.id = stream->device_id;
    stream->device.info.device_class = stream->device_class;
}

/** Makes a stream that is described; those of tracers are only counted. */
static int take_stream(struct reading *reading, const struct zeta_recording_chunk *chunk)
{
    struct zeta_calc_file *file = reading->file;
    struct zeta_calc_stream **streams;
    struct zeta_calc_stream *stream;
    char sampling[16] = "";
    char group[ZET_MAX_METRIC_GROUP_NAME] = "";

    (void)find_line(chunk, "group", group, sizeof(group));
    if (find_stream(file, chunk->number) ||
        (reading->choice->group && strcmp(reading->choice->group, group) != 0))
        return ZETA_EXIT_OK;
    if (find_line(chunk, "sampling", sampling, sizeof(sampling)) &&
        strcmp(sampling, "tracer") == 0) {
        file->other_streams++;
        return ZETA_EXIT_OK;
    }
    streams = realloc(file->streams, (file->stream_count + 1) * sizeof(struct zeta_calc_stream *));
    if (streams)
        file->streams = streams;
    stream = streams ? calloc(1, sizeof(*stream)) : NULL;
    if (!stream)
        return zeta_print_failure("no memory for the streams of %s", reading->path);
    file->streams[file->stream_count++] = stream;
    stream->number = chunk->number;
    stream->skip_left = reading->choice->skip;
    stream->group.period_ns = find_number(chunk, "period-ns");
    copy_device(reading, (uint32_t)find_number(chunk, "device"), stream);
    return ZETA_EXIT_OK;
}

/** Makes exported data of the chunk that was read. */
static int make_piece(struct reading *reading, const struct zeta_recording_chunk *chunk,
                      struct zeta_calc_piece *out_piece)
{
    size_t size = 0;
    ze_result_t result = zetaRecordingGetExportData(reading->reader, &size, NULL);

    if (result == ZE_RESULT_SUCCESS && size > reading->data_bytes) {
        free(reading->data);
        reading->data = malloc(size);
        reading->data_bytes = reading->data ? size : 0;
        if (!reading->data)
            return zeta_print_failure("no memory for %zu bytes of %s", size, reading->path);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zetaRecordingGetExportData(reading->reader, &size, reading->data);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "%s: cannot use the data at byte %" PRIu64, reading->path,
                                  chunk->offset);
    *out_piece =
        (struct zeta_calc_piece){reading->data, size, chunk->payload, (size_t)chunk->payload_bytes};
    return ZETA_EXIT_OK;
}

static int take_data(struct reading *reading, const struct zeta_recording_chunk *chunk)
{
    struct zeta_calc_stream *stream = find_stream(reading->file, chunk->number);
    struct zeta_calc_piece piece;
    int status;

    if (!stream)
        return ZETA_EXIT_OK;
    status = make_piece(reading, chunk, &piece);
    if (status == ZETA_EXIT_OK && !stream->is_open)
        status = zeta_calc_stream_open(stream, &piece, reading->choice->is_maximum);
    if (status != ZETA_EXIT_OK)
        return status;
    if (reading->choice->rows && reading->last != stream)
        zeta_calc_stream_write_head(stream, reading->choice->rows);
    reading->last = stream;
    return zeta_calc_stream_add(stream, &piece, reading->choice);
}

static int take_chunk(struct reading *reading, const struct zeta_recording_chunk *chunk)
{
    switch (chunk->type) {
    case ZETA_CHUNK_DEVICE:
        return take_device(reading, chunk);
    case ZETA_CHUNK_STREAM:
        return take_stream(reading, chunk);
    case ZETA_CHUNK_DATA:
        return take_data(reading, chunk);
    default:
        return ZETA_EXIT_OK;
    }
}

static int read_chunks(struct reading *reading)
{
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    int status = ZETA_EXIT_OK;

    while (status == ZETA_EXIT_OK) {
        const ze_result_t result = zetaRecordingNext(reading->reader, &chunk);

        if (result == ZE_RESULT_NOT_READY) {
            reading->file->is_cut = true;
            return ZETA_EXIT_OK;
        }
        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot go on reading %s", reading->path);
        if (chunk.type == ZETA_CHUNK_END)
            return ZETA_EXIT_OK;
        status = take_chunk(reading, &chunk);
    }
    return status;
}

int zeta_calc_file_init(struct zeta_calc_file *file, const char *path,
                        const struct zeta_calc_choice *choice)
{
    struct reading reading = {.file = file, .choice = choice, .path = path};
    int status = zeta_device_list_need_none();
    ze_result_t result;

    *file = (struct zeta_calc_file){0};
    if (status != ZETA_EXIT_OK)
        return status;
    result = zetaRecordingOpen(path, &reading.reader);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot open %s", path);
    status = read_chunks(&reading);
    for (uint32_t i = 0; i < file->stream_count; i++) {
        if (file->streams[i]->is_open &&
            zeta_sampled_group_settle(&file->streams[i]->group) != ZETA_EXIT_OK)
            status = ZETA_EXIT_FAILED;
    }
    zetaRecordingClose(reading.reader);
    free(reading.data);
    free(reading.devices);
    return status;
}

void zeta_calc_file_finish(struct zeta_calc_file *file)
{
    for (uint32_t i = 0; i < file->stream_count; i++) {
        zeta_calc_stream_finish(file->streams[i]);
        free(file->streams[i]);
    }
    free(file->streams);
    *file = (struct zeta_calc_file){0};
}
