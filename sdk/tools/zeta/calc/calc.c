#include "sdk/tools/zeta/calc/calc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <zeta/container.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/stat/stat.h"

int zeta_calc_piece_read(struct zeta_calc_room *room, struct zeta_recording_reader *reader,
                         const struct zeta_recording_chunk *chunk, const char *path,
                         struct zeta_calc_piece *out_piece)
{
    size_t size = 0;
    ze_result_t result = zetaRecordingGetExportData(reader, &size, NULL);

    if (result == ZE_RESULT_SUCCESS && size > room->size) {
        free(room->data);
        room->data = malloc(size);
        room->size = room->data ? size : 0;
        if (!room->data)
            return zeta_print_failure("no memory for %zu bytes of %s", size, path);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zetaRecordingGetExportData(reader, &size, room->data);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "%s: cannot use the data at byte %" PRIu64, path,
                                  chunk->offset);
    *out_piece =
        (struct zeta_calc_piece){room->data, size, chunk->payload, (size_t)chunk->payload_bytes};
    return ZETA_EXIT_OK;
}

static int read_metrics(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece)
{
    uint32_t count = stream->entry.properties.metricCount;
    struct zeta_exported_metric *metrics = calloc(count, sizeof(*metrics));
    ze_result_t result = ZE_RESULT_SUCCESS;

    stream->entry.metrics = calloc(count, sizeof(*stream->entry.metrics));
    if (!metrics || !stream->entry.metrics) {
        free(metrics);
        return zeta_print_failure("no memory for %u metrics", count);
    }
    for (uint32_t i = 0; i < count; i++)
        metrics[i].struct_size = sizeof(metrics[i]);
    result = zetaExportDataGetMetrics(piece->size, piece->data, &count, metrics);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        stream->entry.metrics[i].properties = metrics[i].properties;
        stream->entry.metrics[i].info.metric_class = metrics[i].metric_class;
    }
    free(metrics);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the metrics of stream %u", stream->number);
    return ZETA_EXIT_OK;
}

int zeta_calc_stream_open(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                          bool is_maximum)
{
    const struct zeta_metric_sum_desc rows = {
        .struct_size = sizeof(rows),
        .data = piece->data,
        .data_size = piece->size,
        .type = is_maximum ? ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES
                           : ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
    };
    struct zeta_export_info info = {.struct_size = sizeof(info)};
    const uint64_t period_ns = stream->group.period_ns;
    ze_result_t result = zetaExportDataGetInfo(piece->size, piece->data, &info);
    int status = ZETA_EXIT_OK;

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read stream %u", stream->number);
    stream->entry.properties = info.properties;
    stream->record_bytes = info.record_bytes;
    status = read_metrics(stream, piece);
    if (status != ZETA_EXIT_OK)
        return status;
    if (!zeta_sampled_group_init(&stream->group, &stream->entry, info.tile_count))
        return zeta_print_failure("no memory for the metrics of stream %u", stream->number);
    result = zetaMetricSumCreate(&rows, &stream->group.sum);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_sampled_group_finish(&stream->group);
        return zeta_print_refusal(result, "cannot calculate stream %u", stream->number);
    }
    stream->group.period_ns = period_ns;
    /* Without a period a gap cannot be known from the usual distance. */
    if (period_ns == 0)
        stream->group.end_index = -1;
    stream->is_open = true;
    return ZETA_EXIT_OK;
}

/** A row on its way. */
struct passing {
    struct zeta_calc_stream *stream;
    const struct zeta_calc_choice *choice;
};

static void write_row(const struct zeta_calc_stream *stream, const struct zeta_metric_row *row,
                      FILE *rows)
{
    (void)fprintf(rows, "%u,%u", stream->number, row->tile);
    for (uint32_t i = 0; i < row->metric_count; i++) {
        char text[ZETA_NUMBER_TEXT_BYTES];

        zeta_number_format_exact(zeta_number_from_row(row, i), text);
        (void)fprintf(rows, ",%s", text);
    }
    (void)fputc('\n', rows);
}

static uint32_t take_row(void *user, const struct zeta_metric_row *row)
{
    const struct passing *passing = user;
    const struct zeta_calc_choice *choice = passing->choice;

    struct zeta_sampled_group *group = &passing->stream->group;

    if (choice->tile >= 0 && choice->tile != row->tile)
        return 0;
    if (choice->keep && !choice->keep(choice->keep_user, row)) {
        zeta_sampled_group_pass_row(group, row);
        return 0;
    }
    zeta_sampled_group_add_row(group, row);
    if (choice->rows)
        write_row(passing->stream, row, choice->rows);
    return 1;
}

void zeta_calc_stream_write_head(const struct zeta_calc_stream *stream, FILE *rows)
{
    (void)fputs("stream,tile", rows);
    for (uint32_t i = 0; i < stream->entry.properties.metricCount; i++)
        (void)fprintf(rows, ",%s", stream->entry.metrics[i].properties.name);
    (void)fputc('\n', rows);
}

int zeta_calc_stream_add(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                         const struct zeta_calc_choice *choice)
{
    struct passing passing = {stream, choice};
    const struct zeta_metric_data data = {.struct_size = sizeof(data),
                                          .raw_size = piece->raw_bytes,
                                          .raw = piece->raw,
                                          .skip = stream->skip_left,
                                          .each = take_row,
                                          .user = &passing};
    const uint64_t records = zeta_sampled_group_take_slots(&stream->group, piece->raw,
                                                           piece->raw_bytes, stream->record_bytes);
    const ze_result_t result = zetaMetricSumAdd(stream->group.sum, &data);

    stream->skip_left -= records < stream->skip_left ? (uint32_t)records : stream->skip_left;
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot calculate stream %u", stream->number);
    return ZETA_EXIT_OK;
}

void zeta_calc_stream_finish(struct zeta_calc_stream *stream)
{
    if (stream->is_open)
        zeta_sampled_group_finish(&stream->group);
    free(stream->entry.metrics);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* A file that was calculated. */
struct file {
    struct zeta_calc_stream **streams;
    uint32_t stream_count;
    bool is_cut;            /* it ends before its end chunk */
    uint32_t other_streams; /* of tracers, which are not calculated */
};

/* Reading it. */
struct reading {
    struct file *file;
    const struct zeta_calc_choice *choice;
    const char *path;
    struct zeta_recording_reader *reader;
    struct zeta_calc_room room;
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

static struct zeta_calc_stream *find_stream(const struct file *file, uint32_t number)
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
    struct file *file = reading->file;
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

static int take_data(struct reading *reading, const struct zeta_recording_chunk *chunk)
{
    struct zeta_calc_stream *stream = find_stream(reading->file, chunk->number);
    struct zeta_calc_piece piece;
    int status;

    if (!stream)
        return ZETA_EXIT_OK;
    status = zeta_calc_piece_read(&reading->room, reading->reader, chunk, reading->path, &piece);
    if (status == ZETA_EXIT_OK && !stream->is_open)
        status = zeta_calc_stream_open(stream, &piece, reading->choice->is_maximum);
    if (status != ZETA_EXIT_OK)
        return status;
    if (reading->choice->rows && reading->last != stream)
        zeta_calc_stream_write_head(stream, reading->choice->rows);
    reading->last = stream;
    return zeta_calc_stream_add(stream, &piece, reading->choice);
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
            return zeta_print_refusal(result, "cannot continue to read %s", reading->path);
        if (chunk.type == ZETA_CHUNK_END)
            return ZETA_EXIT_OK;
        if (chunk.type == ZETA_CHUNK_DEVICE)
            status = take_device(reading, &chunk);
        else if (chunk.type == ZETA_CHUNK_STREAM)
            status = take_stream(reading, &chunk);
        else if (chunk.type == ZETA_CHUNK_DATA)
            status = take_data(reading, &chunk);
    }
    return status;
}

/* On failure prints why; what was calculated before is there. */
static int init_file(struct file *file, const char *path, const struct zeta_calc_choice *choice)
{
    struct reading reading = {.file = file, .choice = choice, .path = path};
    int status = zeta_device_list_need_none();
    ze_result_t result;

    *file = (struct file){0};
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
    free(reading.room.data);
    free(reading.devices);
    return status;
}

static void finish_file(struct file *file)
{
    for (uint32_t i = 0; i < file->stream_count; i++) {
        zeta_calc_stream_finish(file->streams[i]);
        free(file->streams[i]);
    }
    free(file->streams);
    *file = (struct file){0};
}

/* ---- the command ------------------------------------------------------------------------ */

struct options {
    struct zeta_calc_choice choice;
    const char *path;
    bool has_csv;
    struct zeta_json_option json;
    int64_t skip;
};

static int parse(struct options *options, int count, char **arguments)
{
    const struct zeta_option table[] = {
        {"group", 'g', ZETA_OPTION_TEXT, (void *)&options->choice.group, NULL},
        {"csv", 0, ZETA_OPTION_FLAG, &options->has_csv, NULL},
        {"json", 0, ZETA_OPTION_JSON, &options->json, NULL},
        {"max", 0, ZETA_OPTION_FLAG, &options->choice.is_maximum, NULL},
        {"skip", 0, ZETA_OPTION_NUMBER, &options->skip, NULL},
        {"tile", 0, ZETA_OPTION_NUMBER, &options->choice.tile, NULL},
    };
    int first = 0;
    int status;

    *options = (struct options){.choice = {.tile = -1}};
    status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), false, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first + 1 != count)
        return zeta_print_usage_error("calc needs one file of exported data or one recording");
    options->path = arguments[first];
    options->choice.skip = (uint32_t)options->skip;
    if (options->has_csv)
        options->choice.rows = stdout;
    return zeta_options_check_json(&options->json, options->has_csv);
}

static void print_tables(const struct file *file)
{
    const struct zeta_stat_style style = zeta_stat_style_of(stdout);

    for (uint32_t i = 0; i < file->stream_count; i++) {
        const struct zeta_calc_stream *stream = file->streams[i];

        if (!stream->is_open)
            continue;
        if (stream->device.properties.name[0])
            (void)printf("%s%s (%s, %s)\n", i > 0 ? "\n" : "", stream->device.properties.name,
                         stream->device_class, stream->device_id);
        zeta_stat_group_print(&stream->group, &style, stdout);
    }
}

static int write_json(const struct options *options, const struct file *file)
{
    struct json_object *document = zeta_json_new_document("zeta.calc/1");
    struct json_object *groups;

    if (!document)
        return zeta_output_put_json(options->json.path, NULL);
    zeta_json_put_text(document, "version", zetaGetVersion());
    zeta_json_put_text(document, "values", options->choice.is_maximum ? "maximum" : "measured");
    zeta_json_put_bool(document, "cut", file->is_cut);
    groups = zeta_json_put_array(document, "groups");
    for (uint32_t i = 0; i < file->stream_count; i++) {
        if (file->streams[i]->is_open)
            zeta_stat_group_put_json(groups, &file->streams[i]->device, &file->streams[i]->group);
    }
    return zeta_output_put_json(options->json.path, document);
}

/** Says what the figures do not show. */
static void print_notes(const struct options *options, const struct file *file)
{
    for (uint32_t i = 0; i < file->stream_count && options->has_csv; i++) {
        if (file->streams[i]->is_open)
            zeta_losses_print(&file->streams[i]->group);
    }
    if (file->is_cut)
        zeta_print_note("%s has no end chunk: its writer was killed or still writes it",
                        options->path);
    if (file->other_streams > 0)
        zeta_print_note("%s also has %u streams of events, which calc does not calculate; 'zeta "
                        "report' shows them",
                        options->path, file->other_streams);
}

static bool has_data(const struct file *file)
{
    for (uint32_t i = 0; i < file->stream_count; i++) {
        if (file->streams[i]->is_open)
            return true;
    }
    return false;
}

/** What the file has none of was asked for. */
static int check(const struct options *options, const struct file *file)
{
    bool has_tile = options->choice.tile < 0;

    for (uint32_t i = 0; i < file->stream_count; i++)
        has_tile = has_tile || options->choice.tile < file->streams[i]->group.tile_count;
    if (!has_data(file) && options->choice.group)
        return zeta_print_failure("%s has no data of group '%s'; leave out -g to see all groups",
                                  options->path, options->choice.group);
    if (!has_data(file))
        return zeta_print_failure("%s has no data of metrics", options->path);
    if (!has_tile)
        return zeta_print_failure("%s has no data of tile %u", options->path,
                                  (unsigned)options->choice.tile);
    return ZETA_EXIT_OK;
}

static int write_result(const struct options *options, const struct file *file)
{
    int status = ZETA_EXIT_OK;

    if (options->json.is_given)
        status = write_json(options, file);
    else if (!options->has_csv)
        print_tables(file);
    print_notes(options, file);
    return status;
}

int zeta_calc(int count, char **arguments)
{
    struct options options;
    struct file file = {0};
    int status = parse(&options, count, arguments);

    if (status != ZETA_EXIT_OK)
        return status;
    status = zeta_output_protect(options.path);
    if (status == ZETA_EXIT_OK)
        status = init_file(&file, options.path, &options.choice);
    if (status == ZETA_EXIT_OK) {
        status = check(&options, &file);
        if (status == ZETA_EXIT_OK)
            status = write_result(&options, &file);
    } else if (has_data(&file)) {
        /* What was read before a damage is worth showing. */
        (void)write_result(&options, &file);
    }
    finish_file(&file);
    return status;
}
