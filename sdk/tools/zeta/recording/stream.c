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
    /* The rest of a second does not overflow below 18 GHz. */
    clock->device_ns = read.device_ticks / clock->hz * NS_PER_SECOND +
                       read.device_ticks % clock->hz * NS_PER_SECOND / clock->hz;
    clock->host_ns = (int64_t)read.host_ns;
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

/* Sets of entries in a piece of events: tiles. */
enum { SETS = 64 };

static struct json_object *new_arguments(void)
{
    struct json_object *arguments = json_object_new_object();

    zeta_need_memory(arguments != NULL);
    return arguments;
}

/* Gives the trace a line that was made here; it takes the arguments. */
static void add_line(struct zeta_report *report, struct zeta_trace_line line,
                     struct json_object *arguments)
{
    line.pid = DEVICE_PID;
    line.arguments = arguments;
    report->trace->format->add(report->trace, &line);
    (void)json_object_put(arguments);
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

static void name_track(struct zeta_report *report, const char *category, const char *kind,
                       uint32_t track, const char *name)
{
    const struct zeta_trace_line line = {
        .phase = 'M', .tid = track, .category = category, .name = kind};
    struct json_object *arguments = new_arguments();

    zeta_json_put_text(arguments, "name", name);
    add_line(report, line, arguments);
}

void zeta_report_counters_begin(struct zeta_report *report)
{
    name_track(report, "", "process_name", DEVICE_PID,
               report->device_count > 0 ? report->devices[0]->entry.properties.name : "device");
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (stream->kind == ZETA_REPORT_EVENTS)
            name_track(report, "device", "thread_name", track_of(stream), stream->name);
    }
}

/* The values of a row, from the time on that it began. */
static void add_row(struct zeta_report *report, const struct zeta_report_stream *stream,
                    int64_t begin_ns, const struct zeta_metric_row *row)
{
    char name[NAME_BYTES];
    const struct zeta_trace_line line = {.phase = 'C',
                                         .tid = stream->number,
                                         .category = "metric",
                                         .name = name,
                                         .begin_ns = trace_time(report, begin_ns)};

    for (uint32_t i = 0; i < stream->entry.properties.metricCount; i++) {
        const struct zeta_number value = zeta_number_from_row(row, i);
        struct json_object *arguments;
        int used;

        if (value.kind == ZETA_NUMBER_NONE || !isfinite(zeta_number_as_double(value)) ||
            (int32_t)i == stream->group.end_index)
            continue;
        used = snprintf(name, sizeof(name), "%s", stream->entry.metrics[i].properties.name);
        if (stream->group.tile_count > 1)
            (void)snprintf(name + used, sizeof(name) - (size_t)used, " tile %" PRIu32, row->tile);
        arguments = new_arguments();
        zeta_json_put_number(arguments, "value", value);
        add_line(report, line, arguments);
    }
}

static void add_event(struct zeta_report *report, const struct zeta_report_stream *stream,
                      uint32_t tile, int64_t time_ns, const zet_metric_entry_exp_t *entry,
                      const struct zeta_report_event_name *name)
{
    const zet_metric_properties_t *metric =
        &stream->events[entry->metricIndex].described.properties;
    const zet_typed_value_t value = {.type = metric->resultType, .value = entry->value};
    const struct zeta_trace_line line = {.phase = 'i',
                                         .tid = track_of(stream),
                                         .category = "device",
                                         .name = metric->name,
                                         .begin_ns = trace_time(report, time_ns)};
    struct json_object *arguments = new_arguments();

    zeta_json_put_number(arguments, "value", zeta_number_from_value(&value));
    if (name && name->text)
        zeta_json_put_text(arguments, "name", name->text);
    zeta_json_put_u64(arguments, "tile", tile);
    add_line(report, line, arguments);
}

/* ---- how often events came -------------------------------------------------------------- */

void zeta_envelope_add(struct zeta_envelope *line, uint64_t time_ns, uint64_t width_ns)
{
    uint64_t at;

    if (time_ns > INT64_MAX)
        return;
    if (!line->points) {
        line->points = zeta_allocate(ZETA_REPORT_POINTS, sizeof(*line->points));
        line->width_ns = width_ns;
    }
    while ((at = time_ns / line->width_ns) >= ZETA_REPORT_POINTS) {
        const uint32_t half = ZETA_REPORT_POINTS / 2;

        for (uint32_t i = 0; i < half; i++)
            line->points[i] = line->points[2 * i] + line->points[2 * i + 1];
        memset(&line->points[half], 0, half * sizeof(*line->points));
        line->used = (line->used + 1) / 2;
        line->width_ns *= 2;
    }
    line->points[at]++;
    if (at >= line->used)
        line->used = (uint32_t)at + 1;
}

void zeta_envelope_finish(struct zeta_envelope *line)
{
    free(line->points);
    *line = (struct zeta_envelope){0};
}

/* ---- events ----------------------------------------------------------------------------- */

/* The metric whose entries are markers. */
#define MARKER_METRIC "Marker"

/* Names come from the file; a terminal shall only see characters. */
static void clean_metric(zet_metric_properties_t *metric)
{
    zeta_text_clean(metric->name, strlen(metric->name));
    zeta_text_clean(metric->resultUnits, strlen(metric->resultUnits));
    zeta_text_clean(metric->description, strlen(metric->description));
}

/* The metric of events that is called as another one with names, and this behind it; -1: none. */
static int32_t find_companion(const struct zeta_report_stream *stream, uint32_t index,
                              const char *ending)
{
    const char *name = stream->events[index].described.properties.name;
    const size_t length = strlen(name);

    for (uint32_t i = 0; stream->events[index].has_names && i < stream->event_count; i++) {
        const char *other = stream->events[i].described.properties.name;

        if (strncmp(other, name, length) == 0 && strcmp(other + length, ending) == 0)
            return (int32_t)i;
    }
    return -1;
}

static void open_events(struct zeta_report_stream *stream, struct zeta_recording_reader *reader)
{
    struct zeta_exported_metric *metrics = NULL;
    uint32_t count = 0;
    ze_result_t result = zetaRecordingGetEventMetrics(reader, &count, NULL);

    if (result == ZE_RESULT_SUCCESS) {
        metrics = zeta_allocate(count, sizeof(*metrics));
        stream->events = zeta_allocate(count, sizeof(*stream->events));
    }
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
        metrics[i].struct_size = sizeof(*metrics);
    if (count > 0 && result == ZE_RESULT_SUCCESS)
        result = zetaRecordingGetEventMetrics(reader, &count, metrics);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        stream->events[i].described = metrics[i];
        clean_metric(&stream->events[i].described.properties);
        stream->events[i].has_names =
            strcmp(metrics[i].properties.resultUnits, ZETA_NAME_UNIT) == 0;
        stream->event_count++;
    }
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        stream->events[i].time_index = find_companion(stream, i, "Time");
        stream->events[i].stream_index = find_companion(stream, i, "Stream");
    }
    free(metrics);
    stream->is_bad = result != ZE_RESULT_SUCCESS;
    if (stream->is_bad)
        (void)zeta_print_refusal(result, "cannot read the events of stream %u", stream->number);
}

/* The name of an id in the data that was read last, cleaned; null if it has none. */
static char *read_name(struct zeta_recording_reader *reader, uint64_t id)
{
    char *text = NULL;
    size_t size = 0;

    if (zetaRecordingGetEventName(reader, id, &size, NULL) != ZE_RESULT_SUCCESS)
        return NULL;
    text = zeta_allocate(size, 1);
    if (zetaRecordingGetEventName(reader, id, &size, text) != ZE_RESULT_SUCCESS) {
        free(text);
        return NULL;
    }
    zeta_text_clean(text, strlen(text));
    return text;
}

/* What is known of the id in an entry; null where there are too many. */
static struct zeta_report_event_name *find_name(struct zeta_report_event_metric *event,
                                                struct zeta_recording_reader *reader,
                                                const zet_metric_entry_exp_t *entry)
{
    const zet_typed_value_t value = {.type = event->described.properties.resultType,
                                     .value = entry->value};
    const struct zeta_number id = zeta_number_from_value(&value);
    uint32_t low = 0, high = event->name_count;

    if (id.kind != ZETA_NUMBER_U64)
        return NULL;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (event->names[middle].id < id.u64)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == event->name_count || event->names[low].id != id.u64) {
        if (event->name_count == ZETA_REPORT_MAX_NAMES)
            return NULL;
        if (event->name_count == event->name_room) {
            event->name_room = event->name_room > 0 ? 2 * event->name_room : 16;
            event->names = zeta_reallocate(event->names, event->name_room, sizeof(*event->names));
        }
        memmove(&event->names[low + 1], &event->names[low],
                (event->name_count++ - low) * sizeof(*event->names));
        event->names[low] =
            (struct zeta_report_event_name){.id = id.u64, .text = read_name(reader, id.u64)};
    }
    return &event->names[low];
}

static void take_entry(struct zeta_report *report, struct zeta_report_stream *stream,
                       struct zeta_recording_reader *reader, uint32_t tile,
                       const zet_metric_entry_exp_t *entry)
{
    struct zeta_report_event_metric *event = &stream->events[entry->metricIndex];
    struct zeta_report_event_name *name = NULL;
    const int64_t time_ns =
        stream->device ? zeta_report_clock_host(&stream->device->clock, entry->timeStamp) : 0;
    const int64_t since_ns = time_ns - report->begin_ns;

    if (report->options.has_range && !zeta_report_in_range(report, time_ns, time_ns)) {
        stream->outside++;
        return;
    }
    event->entries++;
    stream->event_entries++;
    if (event->has_names)
        name = find_name(event, reader, entry);
    if (name)
        name->entries++;
    if (!stream->device)
        return;
    if (strcmp(event->described.properties.name, MARKER_METRIC) == 0)
        zeta_report_add_marker(report, time_ns, entry->value.ui64, MARKER_METRIC);
    if (report->options.html_path)
        zeta_envelope_add(&event->line, since_ns > 0 ? (uint64_t)since_ns : 0, 1000);
    if (report->trace)
        add_event(report, stream, tile, time_ns, entry, name);
}

/* Decodes the events that were read last into the room of the stream. */
static ze_result_t decode_events(struct zeta_report_stream *stream,
                                 struct zeta_recording_reader *reader, uint32_t counts[SETS],
                                 uint32_t *out_sets, uint32_t *out_count)
{
    uint32_t sets = SETS;
    ze_result_t result = zetaRecordingDecodeEvents(reader, &sets, NULL, out_count, NULL);

    if (result == ZE_RESULT_SUCCESS && *out_count > stream->entry_room) {
        free(stream->entries);
        stream->entries = zeta_allocate(*out_count, sizeof(*stream->entries));
        stream->entry_room = *out_count;
    }
    *out_sets = SETS;
    if (result == ZE_RESULT_SUCCESS && *out_count > 0)
        result = zetaRecordingDecodeEvents(reader, out_sets, counts, out_count, stream->entries);
    return result;
}

/* The number in the entry of a metric among those of the same record; they are neighbours. */
static bool find_number(const struct zeta_report_stream *stream,
                        const zet_metric_entry_exp_t *entry, const zet_metric_entry_exp_t *end,
                        int32_t metric, uint64_t *out_number)
{
    const zet_metric_entry_exp_t *at = entry + 1;

    while (at < end && at->timeStamp == entry->timeStamp && at->metricIndex > entry->metricIndex &&
           (int32_t)at->metricIndex != metric)
        at++;
    if (metric < 0 || at == end || at->timeStamp != entry->timeStamp ||
        (int32_t)at->metricIndex != metric)
        return false;
    const zet_typed_value_t value = {.type = stream->events[metric].described.properties.resultType,
                                     .value = at->value};
    const double number = zeta_number_as_double(zeta_number_from_value(&value));

    *out_number = number >= 0 && number < (double)ZETA_REPORT_TIME_MAX ? (uint64_t)number : 0;
    return true;
}

/* First reading: work that has a name and a length is a run. */
static void index_entry(struct zeta_report *report, struct zeta_report_stream *stream,
                        struct zeta_recording_reader *reader, const zet_metric_entry_exp_t *entry,
                        const zet_metric_entry_exp_t *end)
{
    struct zeta_report_event_metric *event = &stream->events[entry->metricIndex];
    const struct zeta_report_event_name *name;
    uint64_t length_ns = 0, queue = 0;
    char text[64], lane[48], title[ZET_MAX_METRIC_GROUP_NAME + 48];
    int64_t end_ns;

    if (!find_number(stream, entry, end, event->time_index, &length_ns))
        return;
    (void)find_number(stream, entry, end, event->stream_index, &queue);
    name = find_name(event, reader, entry);
    (void)snprintf(text, sizeof(text), "%.20s %" PRIu64, event->described.properties.name,
                   name ? name->id : 0);
    (void)snprintf(lane, sizeof(lane), "events %" PRIu32 "/%" PRIu64, stream->number, queue);
    (void)snprintf(title, sizeof(title), "%s, queue %" PRIu64, stream->name, queue);
    end_ns = zeta_report_clock_host(&stream->device->clock, entry->timeStamp);
    zeta_report_extend(report, end_ns - (int64_t)length_ns);
    zeta_report_extend(report, end_ns);
    zeta_report_runs_add(&report->runs, name && name->text ? name->text : text, lane,
                         end_ns - (int64_t)length_ns, end_ns, true);
    zeta_report_runs_name_lane(&report->runs, lane, title);
}

/* What cannot be decoded is told at the second reading. */
static void index_events(struct zeta_report *report, struct zeta_report_stream *stream,
                         struct zeta_recording_reader *reader)
{
    uint32_t counts[SETS] = {0}, sets = 0, count = 0;
    const zet_metric_entry_exp_t *entry, *end;
    bool has_runs = false;

    for (uint32_t i = 0; i < stream->event_count; i++)
        has_runs = has_runs || stream->events[i].time_index >= 0;
    if (!stream->device || !has_runs ||
        decode_events(stream, reader, counts, &sets, &count) != ZE_RESULT_SUCCESS || count == 0)
        return;
    entry = stream->entries;
    for (uint32_t set = 0; set < sets; set++) {
        for (end = entry + counts[set]; entry < end; entry++)
            index_entry(report, stream, reader, entry, end);
    }
}

static void read_events(struct zeta_report *report, struct zeta_report_stream *stream,
                        struct zeta_recording_reader *reader,
                        const struct zeta_recording_chunk *chunk)
{
    uint32_t counts[SETS] = {0}, sets = 0, count = 0;
    const zet_metric_entry_exp_t *entry;
    const ze_result_t result = decode_events(stream, reader, counts, &sets, &count);

    stream->lost_events +=
        zeta_slots_lost(chunk->payload, (size_t)chunk->payload_bytes, stream->record_bytes);
    if (result != ZE_RESULT_SUCCESS) {
        stream->is_bad = true;
        report->bad_streams++;
        (void)zeta_print_refusal(result, "cannot decode the events at byte %" PRIu64,
                                 chunk->offset);
        return;
    }
    entry = stream->entries;
    for (uint32_t set = 0; count > 0 && set < sets; set++) {
        for (uint32_t i = 0; i < counts[set]; i++, entry++)
            take_entry(report, stream, reader, set, entry);
    }
}

/* ---- rows ------------------------------------------------------------------------------- */

static int read_metrics(struct zeta_report_stream *stream, const uint8_t *data, size_t size)
{
    uint32_t count = stream->entry.properties.metricCount;
    struct zeta_exported_metric *metrics = zeta_allocate(count, sizeof(*metrics));
    ze_result_t result;

    stream->entry.metrics = zeta_allocate(count, sizeof(*stream->entry.metrics));
    for (uint32_t i = 0; i < count; i++)
        metrics[i].struct_size = sizeof(metrics[i]);
    result = zetaExportDataGetMetrics(size, data, &count, metrics);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        stream->entry.metrics[i].properties = metrics[i].properties;
        stream->entry.metrics[i].info.metric_class = metrics[i].metric_class;
        clean_metric(&stream->entry.metrics[i].properties);
    }
    free(metrics);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the metrics of stream %u", stream->number);
    return ZETA_EXIT_OK;
}

int zeta_report_stream_open(struct zeta_report *report, struct zeta_report_stream *stream,
                            struct zeta_recording_reader *reader,
                            const struct zeta_recording_chunk *chunk, bool is_maximum)
{
    struct zeta_metric_sum_desc rows = {
        .struct_size = sizeof(rows),
        .type = is_maximum ? ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES
                           : ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
    };
    struct zeta_export_info info = {.struct_size = sizeof(info)};
    struct zeta_group_entry *entry = &stream->entry;
    struct zeta_sampled_group *group = &stream->group;
    size_t size = 0;
    ze_result_t result = zetaRecordingGetExportData(reader, &size, NULL);

    if (result == ZE_RESULT_SUCCESS && size > report->data_bytes) {
        free(report->data);
        report->data = zeta_allocate(size, 1);
        report->data_bytes = size;
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zetaRecordingGetExportData(reader, &size, report->data);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "%s: cannot use the data at byte %" PRIu64,
                                  report->options.path, chunk->offset);
    if (stream->is_open)
        return ZETA_EXIT_OK;

    result = zetaExportDataGetInfo(size, report->data, &info);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read stream %u", stream->number);
    entry->properties = info.properties;
    zeta_text_clean(entry->properties.name, strlen(entry->properties.name));
    if (stream->device) {
        const ze_device_properties_t *device = &stream->device->entry.properties;

        entry->clock.timerResolution = device->timerResolution;
        entry->clock.timestampValidBits = device->timestampValidBits;
    }
    if (read_metrics(stream, report->data, size) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    zeta_sampled_group_init(group, entry, info.tile_count);
    rows.data = report->data;
    rows.data_size = size;
    result = zetaMetricSumCreate(&rows, &group->sum);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot calculate stream %u", stream->number);
    group->period_ns = stream->period_ns;
    /* Without a period a gap cannot be known from the usual distance. */
    if (group->period_ns == 0)
        group->end_index = -1;
    stream->record_bytes = info.record_bytes;
    stream->marker_index = zeta_group_find_metric(entry, "StreamMarker");
    stream->has_time =
        entry->clock.timerResolution > 0 && group->time_index >= 0 && group->end_index >= 0;
    stream->is_open = true;
    return ZETA_EXIT_OK;
}

int zeta_report_stream_add(struct zeta_report_stream *stream,
                           const struct zeta_recording_chunk *chunk,
                           uint32_t (*each)(void *user, const struct zeta_metric_row *row),
                           void *user)
{
    const struct zeta_metric_data data = {.struct_size = sizeof(data),
                                          .raw_size = (size_t)chunk->payload_bytes,
                                          .raw = chunk->payload,
                                          .skip = stream->skip_left,
                                          .each = each,
                                          .user = user};
    const uint64_t records = zeta_sampled_group_take_slots(&stream->group, data.raw, data.raw_size,
                                                           stream->record_bytes);
    const ze_result_t result = zetaMetricSumAdd(stream->group.sum, &data);

    stream->skip_left -= records < stream->skip_left ? (uint32_t)records : stream->skip_left;
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot calculate stream %u", stream->number);
    return ZETA_EXIT_OK;
}

void zeta_report_stream_write_head(const struct zeta_report_stream *stream, const char *columns,
                                   FILE *rows)
{
    (void)fputs(columns, rows);
    for (uint32_t i = 0; i < stream->entry.properties.metricCount; i++) {
        (void)fputc(',', rows);
        zeta_text_write_csv(rows, stream->entry.metrics[i].properties.name);
    }
    (void)fputc('\n', rows);
}

void zeta_report_row_write(const struct zeta_metric_row *row, FILE *rows)
{
    for (uint32_t i = 0; i < row->metric_count; i++) {
        char text[ZETA_NUMBER_TEXT_BYTES];

        zeta_number_format_exact(zeta_number_from_row(row, i), text);
        (void)fprintf(rows, ",%s", text);
    }
    (void)fputc('\n', rows);
}

/* A row on its way. */
struct passing {
    struct zeta_report *report;
    struct zeta_report_stream *stream;
};

/* When a row was, on the clock of the device. */
static uint64_t row_end(const struct zeta_report_stream *stream, const struct zeta_metric_row *row,
                        uint64_t *out_length_ns)
{
    *out_length_ns = zeta_number_from_row(row, (uint32_t)stream->group.time_index).u64;
    return zeta_number_from_row(row, (uint32_t)stream->group.end_index).u64;
}

/* ---- first reading ---------------------------------------------------------------------- */

static uint32_t take_first(void *user, const struct zeta_metric_row *row)
{
    struct zeta_report_stream *stream = user;
    uint64_t length_ns = 0;

    if (!stream->was_placed) {
        const uint64_t end_ns = row_end(stream, row, &length_ns);

        stream->was_placed = true;
        stream->has_first = true;
        stream->first_ns = end_ns - length_ns;
        if (end_ns < length_ns)
            stream->first_ns += stream->device->clock.wrap_ns;
    }
    return 0;
}

void zeta_report_stream_index(struct zeta_report *report, struct zeta_recording_reader *reader,
                              const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_stream *stream = zeta_report_find_stream(report, chunk->number);
    int status;

    if (!stream || stream->is_bad) {
        report->orphans += !stream;
        return;
    }
    stream->data_bytes += chunk->payload_bytes;
    if (stream->kind == ZETA_REPORT_EVENTS && !stream->events)
        open_events(stream, reader);
    if (stream->kind == ZETA_REPORT_EVENTS && !stream->is_bad)
        index_events(report, stream, reader);
    if (stream->kind == ZETA_REPORT_EVENTS ||
        (stream->is_open && (!stream->has_time || stream->was_placed)))
        return;
    status = zeta_report_stream_open(report, stream, reader, chunk, false);
    if (status == ZETA_EXIT_OK && stream->kind == ZETA_REPORT_SAMPLES && !report->profile_stream) {
        report->profile_stream = stream;
        status = zeta_ip_profile_init(&report->profile, &stream->entry);
    }
    if (status == ZETA_EXIT_OK && stream->has_time) {
        status = zeta_report_stream_add(stream, chunk, take_first, stream);
        /* The second reading counts. */
        zeta_sampled_group_forget_losses(&stream->group);
    }
    /* The reason was printed. The others may be fine. */
    stream->is_bad = status != ZETA_EXIT_OK;
    report->bad_streams += stream->is_bad;
}

/* ---- second reading ------------------------------------------------------------------------ */

static void write_row(const struct zeta_report *report, const struct zeta_report_stream *stream,
                      const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    FILE *rows = report->rows;

    (void)fprintf(rows, "%" PRIu32 ",", stream->number);
    zeta_text_write_csv(rows, stream->entry.properties.name);
    (void)fprintf(rows, ",%" PRIu32 ",", row->tile);
    if (stream->has_time)
        (void)fprintf(rows, "%" PRId64 ",%" PRId64, times_ns[0] - report->begin_ns,
                      times_ns[1] - report->begin_ns);
    else
        (void)fputc(',', rows);
    zeta_report_row_write(row, rows);
}

static void draw_row(struct zeta_report *report, struct zeta_report_stream *stream,
                     const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    const uint32_t tiles = stream->group.tile_count;
    const int64_t middle_ns = times_ns[0] + (times_ns[1] - times_ns[0]) / 2 - report->begin_ns;

    if (!stream->lines) {
        stream->lines = zeta_allocate(tiles, sizeof(*stream->lines));
        for (uint32_t i = 0; i < tiles; i++)
            stream->lines[i].most = ZETA_REPORT_POINTS;
    }
    /* Points are as long as a row before any are joined. */
    zeta_need_memory(zeta_sum_line_add(&stream->lines[row->tile], stream->group.sum,
                                       middle_ns > 0 ? (uint64_t)middle_ns : 0,
                                       stream->period_ns > 0 ? stream->period_ns : 1000, row));
}

/* Whether a row is added to the sum of its stream. */
static bool use_row(struct zeta_report *report, struct zeta_report_stream *stream,
                    const struct zeta_metric_row *row)
{
    int64_t times_ns[2] = {0, 0};

    if (stream->kind == ZETA_REPORT_SAMPLES && report->only_stream == 0) {
        /* They have no time. */
        if (stream == report->profile_stream)
            zeta_need_memory(zeta_ip_profile_add_row(&report->profile, row->values));
        return false;
    }
    if (stream->has_time) {
        uint64_t length_ns = 0;

        times_ns[1] =
            zeta_report_clock_host(&stream->device->clock, row_end(stream, row, &length_ns));
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
    if (!stream->has_time)
        return true;
    /* A row that ends with the report of a marker has its value. */
    if (stream->marker_index >= 0) {
        const struct zeta_number value = zeta_number_from_row(row, (uint32_t)stream->marker_index);

        if (value.kind == ZETA_NUMBER_U64 && value.u64 != 0)
            zeta_report_add_marker(report, times_ns[1], value.u64, "StreamMarker");
    }
    if (report->kernels)
        zeta_report_kernels_add_row(report, stream, times_ns, row);
    if (report->options.html_path)
        draw_row(report, stream, times_ns, row);
    if (report->trace)
        add_row(report, stream, times_ns[0], row);
    return true;
}

static uint32_t take_row(void *user, const struct zeta_metric_row *row)
{
    const struct passing *passing = user;
    const bool is_used = use_row(passing->report, passing->stream, row);

    if (is_used)
        zeta_sampled_group_add_row(&passing->stream->group, row);
    else
        zeta_sampled_group_pass_row(&passing->stream->group, row);
    return is_used;
}

void zeta_report_stream_read(struct zeta_report *report, struct zeta_recording_reader *reader,
                             const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_stream *stream = zeta_report_find_stream(report, chunk->number);
    struct passing passing = {report, stream};

    if (!stream || stream->is_bad ||
        (report->only_stream != 0 && report->only_stream != stream->number))
        return;
    if (stream->kind == ZETA_REPORT_EVENTS) {
        if (report->only_stream == 0)
            read_events(report, stream, reader, chunk);
        return;
    }
    if (zeta_report_stream_open(report, stream, reader, chunk, false) == ZETA_EXIT_OK &&
        zeta_report_stream_add(stream, chunk, take_row, &passing) == ZETA_EXIT_OK)
        return;
    stream->is_bad = true;
    report->bad_streams++;
}

void zeta_report_stream_finish(struct zeta_report_stream *stream)
{
    for (uint32_t i = 0; stream->lines && i < stream->group.tile_count; i++)
        zeta_sum_line_finish(&stream->lines[i]);
    free(stream->lines);
    for (uint32_t i = 0; i < stream->event_count; i++) {
        zeta_envelope_finish(&stream->events[i].line);
        for (uint32_t n = 0; n < stream->events[i].name_count; n++)
            free(stream->events[i].names[n].text);
        free(stream->events[i].names);
    }
    free(stream->events);
    free(stream->entries);
    zeta_sampled_group_finish(&stream->group);
    free(stream->entry.metrics);
}
