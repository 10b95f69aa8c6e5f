/* Clocks, events and rows of one stream of a recording. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/trace/line.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* Of a number of ticks; the rest of a second does not overflow below 18 GHz. */
static uint64_t to_ns(const struct zeta_report_clock *clock, uint64_t ticks)
{
    return ticks / clock->hz * NS_PER_SECOND + ticks % clock->hz * NS_PER_SECOND / clock->hz;
}

void zeta_report_clock_init(struct zeta_report_clock *clock, uint64_t hz, uint32_t bits)
{
    *clock = (struct zeta_report_clock){.hz = hz > 0 && hz <= UINT64_C(10000000000) ? hz : 0};
    if (clock->hz > 0 && bits > 0 && bits < 64)
        clock->wrap_ns = (uint64_t)((double)(UINT64_C(1) << bits) * 1e9 / (double)clock->hz);
}

bool zeta_report_clock_take(struct zeta_report_clock *clock, const void *payload, uint64_t bytes)
{
    struct zeta_chunk_clock read;

    if (clock->hz == 0 || !zeta_chunk_clock_read(payload, (size_t)bytes, &read) ||
        read.host_ns > ZETA_REPORT_TIME_MAX)
        return false;
    clock->is_known = true;
    clock->is_set = true;
    clock->device_ns = to_ns(clock, read.device_ticks);
    clock->host_ns = (int64_t)read.host_ns;
    if (read.error_ns > clock->error_ns)
        clock->error_ns = read.error_ns;
    return true;
}

static int64_t cut(int64_t time_ns)
{
    if (time_ns > ZETA_REPORT_TIME_MAX)
        return ZETA_REPORT_TIME_MAX;
    return time_ns < -ZETA_REPORT_TIME_MAX ? -ZETA_REPORT_TIME_MAX : time_ns;
}

int64_t zeta_report_clock_host(struct zeta_report_clock *clock, uint64_t device_ns)
{
    uint64_t sum;

    if (clock->wrap_ns > 0)
        device_ns %= clock->wrap_ns;
    if (!clock->is_set) {
        clock->is_set = true;
        clock->device_ns = device_ns;
        clock->host_ns = cut((int64_t)(device_ns & INT64_MAX));
    }
    /* Unsigned, so that times that make no sense wrap and nothing worse. */
    sum = (uint64_t)clock->host_ns +
          (uint64_t)zeta_elapsed_ns(clock->wrap_ns, clock->device_ns, device_ns);
    if (!clock->is_known) {
        clock->device_ns = device_ns;
        clock->host_ns = cut((int64_t)sum);
    }
    return cut((int64_t)sum);
}

/* No process has that number: Linux gives none above 4194304. */
#define DEVICE_PID 4194305u

enum { NAME_BYTES = 768, TILES = 64 };

/* Gives the trace a line that was made here; it takes the arguments. False without memory. */
static bool add_line(struct zeta_report *report, struct zeta_trace_line line,
                     struct json_object *arguments)
{
    bool is_good;

    line.pid = DEVICE_PID;
    line.arguments = arguments;
    is_good = arguments && report->trace->format->add(report->trace, &line);
    (void)json_object_put(arguments);
    return is_good;
}

static struct json_object *new_text(const char *key, const char *text)
{
    struct json_object *arguments = json_object_new_object();

    if (arguments)
        zeta_json_put_text(arguments, key, text);
    return arguments;
}

static uint64_t trace_time(const struct zeta_report *report, int64_t time_ns)
{
    const int64_t trace_ns = time_ns - report->raw_offset_ns;

    return trace_ns > 0 ? (uint64_t)trace_ns : 0;
}

/* The track of a stream of events. */
static uint32_t track_of(const struct zeta_report_stream *stream)
{
    return stream->number * TILES + 1;
}

bool zeta_report_counters_begin(struct zeta_report *report)
{
    const char *device = report->device_count > 0 ? report->devices[0].name : "device";
    struct zeta_trace_line line = {
        .phase = 'M', .tid = DEVICE_PID, .category = "", .name = "process_name"};
    bool is_good = add_line(report, line, new_text("name", device));

    line.category = "device";
    line.name = "thread_name";
    for (uint32_t i = 0; is_good && i < report->stream_count; i++) {
        line.tid = track_of(report->streams[i]);
        if (report->streams[i]->kind == ZETA_REPORT_EVENTS)
            is_good = add_line(report, line, new_text("name", report->streams[i]->name));
    }
    return is_good;
}

/* The values of a row, from the time on that it began. False without memory. */
static bool add_row(struct zeta_report *report, const struct zeta_report_stream *stream,
                    int64_t begin_ns, const struct zeta_metric_row *row)
{
    const struct zeta_group_entry *entry = &stream->calc.entry;
    char name[NAME_BYTES];
    struct zeta_trace_line line = {.phase = 'C',
                                   .tid = stream->number,
                                   .category = "metric",
                                   .name = name,
                                   .begin_ns = trace_time(report, begin_ns)};
    bool is_good = true;

    for (uint32_t i = 0; is_good && i < entry->properties.metricCount; i++) {
        const struct zeta_number value = zeta_number_from_row(row, i);
        struct json_object *arguments;
        int used;

        if (value.kind == ZETA_NUMBER_NONE || !isfinite(zeta_number_as_double(value)) ||
            (int32_t)i == stream->calc.group.end_index)
            continue;
        used = snprintf(name, sizeof(name), "%s", entry->metrics[i].properties.name);
        if (stream->calc.group.tile_count > 1)
            (void)snprintf(name + used, sizeof(name) - (size_t)used, " tile %" PRIu32, row->tile);
        arguments = json_object_new_object();
        if (arguments)
            zeta_json_put_number(arguments, "value", value);
        is_good = add_line(report, line, arguments);
    }
    return is_good;
}

/* An event. False without memory. */
static bool add_event(struct zeta_report *report, const struct zeta_report_stream *stream,
                      uint32_t tile, int64_t time_ns, const zet_metric_entry_exp_t *entry)
{
    const zet_metric_properties_t *metric =
        &stream->events[entry->metricIndex].described.properties;
    const zet_typed_value_t value = {.type = metric->resultType, .value = entry->value};
    const struct zeta_trace_line line = {.phase = 'i',
                                         .tid = track_of(stream),
                                         .category = "device",
                                         .name = metric->name,
                                         .begin_ns = trace_time(report, time_ns)};
    struct json_object *arguments = json_object_new_object();

    if (arguments) {
        zeta_json_put_number(arguments, "value", zeta_number_from_value(&value));
        zeta_json_put_u64(arguments, "tile", tile);
    }
    return add_line(report, line, arguments);
}

/* ---- how often events came -------------------------------------------------------------- */

static void widen(struct zeta_envelope *line)
{
    for (uint32_t i = 0; i < ZETA_ENVELOPE_POINTS / 2; i++)
        line->points[i] = line->points[2 * i] + line->points[2 * i + 1];
    memset(&line->points[ZETA_ENVELOPE_POINTS / 2], 0,
           ZETA_ENVELOPE_POINTS / 2 * sizeof(*line->points));
    line->used = (line->used + 1) / 2;
    line->width_ns *= 2;
}

bool zeta_envelope_add(struct zeta_envelope *line, uint64_t time_ns, uint64_t width_ns)
{
    uint64_t at;

    if (time_ns > INT64_MAX)
        return true;
    if (!line->points) {
        line->points = calloc(ZETA_ENVELOPE_POINTS, sizeof(*line->points));
        line->width_ns = width_ns;
    }
    if (!line->points)
        return false;
    while ((at = time_ns / line->width_ns) >= ZETA_ENVELOPE_POINTS)
        widen(line);
    line->points[at]++;
    if (at >= line->used)
        line->used = (uint32_t)at + 1;
    return true;
}

void zeta_envelope_finish(struct zeta_envelope *line)
{
    free(line->points);
    *line = (struct zeta_envelope){0};
}

/* ---- events ----------------------------------------------------------------------------- */

/* The metric whose entries are markers. */
#define MARKER_METRIC "Marker"

static int open_events(struct zeta_report_stream *stream, struct zeta_recording_reader *reader)
{
    uint32_t count = 0;
    ze_result_t result = zetaRecordingGetEventMetrics(reader, &count, NULL);
    struct zeta_exported_metric *metrics =
        result == ZE_RESULT_SUCCESS ? calloc((size_t)count + 1, sizeof(*metrics)) : NULL;

    for (uint32_t i = 0; metrics && i < count; i++)
        metrics[i].struct_size = sizeof(*metrics);
    if (metrics && count > 0)
        result = zetaRecordingGetEventMetrics(reader, &count, metrics);
    if (result == ZE_RESULT_SUCCESS)
        stream->events = calloc((size_t)count + 1, sizeof(*stream->events));
    for (uint32_t i = 0; stream->events && metrics && i < count; i++) {
        zet_metric_properties_t *metric = &stream->events[i].described.properties;

        stream->events[i].described = metrics[i];
        zeta_text_clean(metric->name, strlen(metric->name));
        zeta_text_clean(metric->resultUnits, strlen(metric->resultUnits));
        zeta_text_clean(metric->description, strlen(metric->description));
        stream->event_count++;
    }
    free(metrics);
    if (result == ZE_RESULT_SUCCESS && stream->events)
        return ZETA_EXIT_OK;
    stream->is_bad = true;
    (void)zeta_print_refusal(result == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                                         : result,
                             "cannot read the events of stream %u", stream->number);
    return ZETA_EXIT_OK;
}

static bool take_entry(struct zeta_report *report, struct zeta_report_stream *stream, uint32_t tile,
                       const zet_metric_entry_exp_t *entry)
{
    struct zeta_report_event_metric *event = &stream->events[entry->metricIndex];
    struct zeta_report_device *device = zeta_report_device_of(report, stream);
    const int64_t time_ns = device ? zeta_report_clock_host(&device->clock, entry->timeStamp) : 0;
    const int64_t since_ns = time_ns - report->begin_ns;

    if (report->options.has_range && !zeta_report_in_range(report, time_ns, time_ns)) {
        stream->outside++;
        return true;
    }
    event->entries++;
    stream->event_entries++;
    if (!device)
        return true;
    if (strcmp(event->described.properties.name, MARKER_METRIC) == 0 &&
        !zeta_report_add_marker(report, time_ns, entry->value.ui64, MARKER_METRIC))
        return false;
    if (report->options.html_path &&
        !zeta_envelope_add(&event->line, since_ns > 0 ? (uint64_t)since_ns : 0, 1000))
        return false;
    return !report->trace || add_event(report, stream, tile, time_ns, entry);
}

static bool make_room(struct zeta_report_stream *stream, uint32_t count)
{
    if (count <= stream->entry_room)
        return true;
    free(stream->entries);
    stream->entries = malloc((size_t)count * sizeof(*stream->entries));
    stream->entry_room = stream->entries ? count : 0;
    return stream->entries != NULL;
}

static int read_events(struct zeta_report *report, struct zeta_report_stream *stream,
                       struct zeta_recording_reader *reader,
                       const struct zeta_recording_chunk *chunk)
{
    uint32_t counts[64] = {0};
    uint32_t sets = sizeof(counts) / sizeof(counts[0]);
    uint32_t count = 0;
    const zet_metric_entry_exp_t *entry;
    ze_result_t result = zetaRecordingDecodeEvents(reader, &sets, NULL, &count, NULL);

    if (report->only_stream != 0)
        return ZETA_EXIT_OK;
    stream->lost_events +=
        zeta_slots_lost(chunk->payload, (size_t)chunk->payload_bytes, stream->record_bytes);
    if (result == ZE_RESULT_SUCCESS && !make_room(stream, count))
        return zeta_print_failure("no memory for %u events", count);
    sets = sizeof(counts) / sizeof(counts[0]);
    if (result == ZE_RESULT_SUCCESS && count > 0)
        result = zetaRecordingDecodeEvents(reader, &sets, counts, &count, stream->entries);
    if (result != ZE_RESULT_SUCCESS) {
        stream->is_bad = true;
        report->bad_streams++;
        (void)zeta_print_refusal(result, "cannot decode the events at byte %" PRIu64,
                                 chunk->offset);
        return ZETA_EXIT_OK;
    }
    entry = stream->entries;
    for (uint32_t set = 0; count > 0 && set < sets; set++) {
        for (uint32_t i = 0; i < counts[set]; i++, entry++) {
            if (!take_entry(report, stream, set, entry))
                return zeta_print_failure("no memory for the events of %s", report->options.path);
        }
    }
    return ZETA_EXIT_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* A row on its way. */
struct passing {
    struct zeta_report *report;
    struct zeta_report_stream *stream;
};

/* When a row was, on the clock of the device. */
static uint64_t row_end(const struct zeta_report_stream *stream, const struct zeta_metric_row *row,
                        uint64_t *out_length_ns)
{
    const struct zeta_sampled_group *group = &stream->calc.group;

    *out_length_ns = zeta_number_from_row(row, (uint32_t)group->time_index).u64;
    return zeta_number_from_row(row, (uint32_t)group->end_index).u64;
}

static bool take_first(void *user, const struct zeta_metric_row *row)
{
    const struct passing *passing = user;
    struct zeta_report_stream *stream = passing->stream;
    uint64_t length_ns = 0;

    if (!stream->was_placed) {
        const struct zeta_report_device *device = zeta_report_device_of(passing->report, stream);
        const uint64_t end_ns = row_end(stream, row, &length_ns);
        const uint64_t wrap_ns = device->clock.wrap_ns;

        stream->was_placed = true;
        stream->has_first = true;
        stream->first_ns = end_ns - length_ns;
        if (end_ns < length_ns && wrap_ns > 0)
            stream->first_ns += wrap_ns;
    }
    return false;
}

static int find_first_row(struct zeta_report *report, struct zeta_report_stream *stream,
                          const struct zeta_calc_piece *piece)
{
    struct passing passing = {report, stream};
    const struct zeta_calc_choice choice = {.tile = -1, .keep = take_first, .keep_user = &passing};
    const int status = zeta_calc_stream_add(&stream->calc, piece, &choice);

    /* The second reading counts. */
    zeta_sampled_group_forget_losses(&stream->calc.group);
    return status;
}

/* ---- second reading ------------------------------------------------------------------------ */

static void write_row(const struct zeta_report *report, const struct zeta_report_stream *stream,
                      const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    FILE *rows = report->rows;

    (void)fprintf(rows, "%" PRIu32 ",", stream->number);
    zeta_text_write_csv(rows, stream->calc.entry.properties.name);
    (void)fprintf(rows, ",%" PRIu32 ",", row->tile);
    if (stream->has_time)
        (void)fprintf(rows, "%" PRId64 ",%" PRId64, times_ns[0] - report->begin_ns,
                      times_ns[1] - report->begin_ns);
    else
        (void)fputc(',', rows);
    for (uint32_t i = 0; i < stream->calc.entry.properties.metricCount; i++) {
        char text[ZETA_NUMBER_TEXT_BYTES];

        zeta_number_format_exact(zeta_number_from_row(row, i), text);
        (void)fprintf(rows, ",%s", text);
    }
    (void)fputc('\n', rows);
}

/* Points of a plot before any are joined: as long as a row. */
static uint64_t point_width(const struct zeta_report_stream *stream)
{
    return stream->period_ns > 0 ? stream->period_ns : 1000;
}

static bool draw_row(struct zeta_report *report, struct zeta_report_stream *stream,
                     const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    const uint32_t tiles = stream->calc.group.tile_count;
    const int64_t middle_ns = times_ns[0] + (times_ns[1] - times_ns[0]) / 2 - report->begin_ns;

    if (!stream->lines) {
        stream->lines = calloc(tiles, sizeof(*stream->lines));
        for (uint32_t i = 0; stream->lines && i < tiles; i++)
            stream->lines[i].most = ZETA_REPORT_POINTS;
    }
    return stream->lines &&
           zeta_sum_line_add(&stream->lines[row->tile], stream->calc.group.sum,
                             middle_ns > 0 ? (uint64_t)middle_ns : 0, point_width(stream), row);
}

/* A row that ends with the report of a marker has its value. */
static bool take_marker(struct zeta_report *report, const struct zeta_report_stream *stream,
                        int64_t end_ns, const struct zeta_metric_row *row)
{
    if (stream->marker_index < 0)
        return true;
    const struct zeta_number value = zeta_number_from_row(row, (uint32_t)stream->marker_index);

    return value.kind != ZETA_NUMBER_U64 || value.u64 == 0 ||
           zeta_report_add_marker(report, end_ns, value.u64, "StreamMarker");
}

static bool use_row(struct zeta_report *report, struct zeta_report_stream *stream,
                    const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    if (!stream->has_time)
        return true;
    return take_marker(report, stream, times_ns[1], row) &&
           (!report->kernels || zeta_report_kernels_add_row(report, stream, times_ns, row)) &&
           (!report->options.html_path || draw_row(report, stream, times_ns, row)) &&
           (!report->trace || add_row(report, stream, times_ns[0], row));
}

static bool take_row(void *user, const struct zeta_metric_row *row)
{
    const struct passing *passing = user;
    struct zeta_report *report = passing->report;
    struct zeta_report_stream *stream = passing->stream;
    int64_t times_ns[2] = {0, 0};

    if (stream->kind == ZETA_REPORT_SAMPLES && report->only_stream == 0) {
        /* They have no time. */
        if (stream == report->profile_stream &&
            !zeta_ip_profile_add_row(&report->profile, row->values))
            report->has_no_memory = true;
        return false;
    }
    if (stream->has_time) {
        struct zeta_report_device *device = zeta_report_device_of(report, stream);
        uint64_t length_ns = 0;

        times_ns[1] = zeta_report_clock_host(&device->clock, row_end(stream, row, &length_ns));
        times_ns[0] = times_ns[1] - (int64_t)(length_ns < ZETA_REPORT_TIME_MAX
                                                  ? length_ns
                                                  : (uint64_t)ZETA_REPORT_TIME_MAX);
    }
    if (report->options.has_range &&
        (!stream->has_time || !zeta_report_in_range(report, times_ns[0], times_ns[1]))) {
        stream->outside += stream->has_time;
        stream->timeless += !stream->has_time;
        return false;
    }
    if (report->only_stream != 0) {
        write_row(report, stream, times_ns, row);
        return false;
    }
    if (!use_row(report, stream, times_ns, row))
        report->has_no_memory = true;
    return true;
}

static int read_rows(struct zeta_report *report, struct zeta_report_stream *stream,
                     const struct zeta_calc_piece *piece)
{
    struct passing passing = {report, stream};
    const struct zeta_calc_choice choice = {.tile = -1, .keep = take_row, .keep_user = &passing};

    return zeta_calc_stream_add(&stream->calc, piece, &choice);
}

/* ---- the stream ------------------------------------------------------------------------- */

struct zeta_report_stream *zeta_report_find_stream(const struct zeta_report *report,
                                                   uint32_t number)
{
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->number == number)
            return report->streams[i];
    }
    return NULL;
}

struct zeta_report_device *zeta_report_device_of(const struct zeta_report *report,
                                                 const struct zeta_report_stream *stream)
{
    return stream->has_device ? &report->devices[stream->device] : NULL;
}

/* Names come from the file; a terminal shall only see characters. */
static void clean_names(struct zeta_group_entry *entry)
{
    zeta_text_clean(entry->properties.name, strlen(entry->properties.name));
    for (uint32_t i = 0; i < entry->properties.metricCount; i++) {
        zet_metric_properties_t *metric = &entry->metrics[i].properties;

        zeta_text_clean(metric->name, strlen(metric->name));
        zeta_text_clean(metric->resultUnits, strlen(metric->resultUnits));
        zeta_text_clean(metric->description, strlen(metric->description));
    }
}

static void describe_device(const struct zeta_report_device *device, struct zeta_calc_stream *calc)
{
    if (device) {
        memcpy(calc->device.properties.name, device->name, sizeof(device->name));
        memcpy(calc->device_id, device->id, sizeof(device->id));
        memcpy(calc->device_class, device->device_class, sizeof(device->device_class));
        calc->entry.clock.timerResolution = device->timer_hz;
        calc->entry.clock.timestampValidBits = device->timestamp_bits;
    }
    calc->device.info.id = calc->device_id;
    calc->device.info.device_class = calc->device_class;
}

static int open_stream(struct zeta_report *report, struct zeta_report_stream *stream,
                       const struct zeta_calc_piece *piece)
{
    struct zeta_calc_stream *calc = &stream->calc;
    const struct zeta_report_device *device = zeta_report_device_of(report, stream);
    int status;

    calc->number = stream->number;
    calc->group.period_ns = stream->period_ns;
    describe_device(device, calc);
    status = zeta_calc_stream_open(calc, piece, false);
    if (status != ZETA_EXIT_OK)
        return status;
    clean_names(&calc->entry);
    stream->marker_index = zeta_group_find_metric(&calc->entry, "StreamMarker");
    stream->has_time =
        device && device->timer_hz > 0 && calc->group.time_index >= 0 && calc->group.end_index >= 0;
    if (stream->kind != ZETA_REPORT_SAMPLES || report->profile_stream)
        return ZETA_EXIT_OK;
    report->profile_stream = stream;
    return zeta_ip_profile_init(&report->profile, &calc->entry);
}

int zeta_report_stream_index(struct zeta_report *report, struct zeta_recording_reader *reader,
                             const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_stream *stream = zeta_report_find_stream(report, chunk->number);
    struct zeta_report_device *device;
    struct zeta_calc_piece piece;
    int status;

    if (!stream || stream->is_bad) {
        report->orphans += !stream;
        return ZETA_EXIT_OK;
    }
    stream->data_bytes += chunk->payload_bytes;
    device = zeta_report_device_of(report, stream);
    if (stream->kind == ZETA_REPORT_EVENTS)
        return stream->events ? ZETA_EXIT_OK : open_events(stream, reader);
    if (stream->calc.is_open && (!stream->has_time || stream->was_placed))
        return ZETA_EXIT_OK;
    status = zeta_calc_piece_read(&report->room, reader, chunk, report->options.path, &piece);
    if (status == ZETA_EXIT_OK && !stream->calc.is_open)
        status = open_stream(report, stream, &piece);
    if (status == ZETA_EXIT_OK && stream->has_time)
        status = find_first_row(report, stream, &piece);
    if (status != ZETA_EXIT_OK) {
        /* The reason was printed. The others may be fine. */
        stream->is_bad = true;
        report->bad_streams++;
        return ZETA_EXIT_OK;
    }
    /* Later rows are not earlier; those before the first clock wait for it. */
    if (stream->has_first && device && device->clock.is_known) {
        stream->has_first = false;
        zeta_report_extend(report, zeta_report_clock_host(&device->clock, stream->first_ns));
    }
    return ZETA_EXIT_OK;
}

int zeta_report_stream_read(struct zeta_report *report, struct zeta_recording_reader *reader,
                            const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_stream *stream = zeta_report_find_stream(report, chunk->number);
    struct zeta_calc_piece piece;
    int status;

    if (!stream || stream->is_bad ||
        (report->only_stream != 0 && report->only_stream != stream->number))
        return ZETA_EXIT_OK;
    if (stream->kind == ZETA_REPORT_EVENTS)
        return read_events(report, stream, reader, chunk);
    status = zeta_calc_piece_read(&report->room, reader, chunk, report->options.path, &piece);
    if (status == ZETA_EXIT_OK)
        status = read_rows(report, stream, &piece);
    if (status != ZETA_EXIT_OK) {
        stream->is_bad = true;
        report->bad_streams++;
    }
    return report->has_no_memory
               ? zeta_print_failure("no memory for what is in %s", report->options.path)
               : ZETA_EXIT_OK;
}

void zeta_report_stream_write_head(const struct zeta_report_stream *stream, FILE *rows)
{
    (void)fputs("stream,group,tile,begin_ns,end_ns", rows);
    for (uint32_t i = 0; i < stream->calc.entry.properties.metricCount; i++) {
        (void)fputc(',', rows);
        zeta_text_write_csv(rows, stream->calc.entry.metrics[i].properties.name);
    }
    (void)fputc('\n', rows);
}

void zeta_report_stream_finish(struct zeta_report_stream *stream)
{
    for (uint32_t i = 0; stream->lines && i < stream->calc.group.tile_count; i++)
        zeta_sum_line_finish(&stream->lines[i]);
    free(stream->lines);
    for (uint32_t i = 0; i < stream->event_count; i++)
        zeta_envelope_finish(&stream->events[i].line);
    free(stream->events);
    free(stream->entries);
    zeta_calc_stream_finish(&stream->calc);
}
