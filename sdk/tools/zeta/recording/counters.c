#include "sdk/tools/zeta/recording/counters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sdk/tools/zeta/trace/line.h"

/* No process has that number: Linux gives none above 4194304. */
#define DEVICE_PID 4194305u

enum { LINE_BYTES = 2048, NAME_BYTES = 768, TILES = 64 };

/* A text as a string of JSON, without quotes; what does not fit is cut. */
static const char *escaped(const char *text, char buffer[NAME_BYTES])
{
    size_t used = 0;

    for (; *text && used + 7 < NAME_BYTES; text++) {
        if (*text == '"' || *text == '\\')
            buffer[used++] = '\\';
        buffer[used++] = *text;
    }
    buffer[used] = '\0';
    return buffer;
}

static bool add_line(struct zeta_report *report, const char *text, int size)
{
    struct zeta_trace_line line = {0};
    const bool is_good = size <= 0 || size >= LINE_BYTES ||
                         !zeta_trace_line_read(text, (size_t)size, &line) ||
                         report->trace->format->add(report->trace, &line);

    zeta_trace_line_finish(&line);
    return is_good;
}

/* On the clock of the trace, in microseconds with three decimals. */
static void time_text(const struct zeta_report *report, int64_t time_ns, char text[32])
{
    const int64_t trace_ns = time_ns - report->raw_offset_ns;
    const uint64_t ns = trace_ns > 0 ? (uint64_t)trace_ns : 0;

    (void)snprintf(text, 32, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* Tracks of events: one per stream and tile. */
static uint32_t track_of(const struct zeta_report_stream *stream, uint32_t tile)
{
    return stream->number * TILES + tile + 1;
}

bool zeta_report_counters_begin(struct zeta_report *report)
{
    char line[LINE_BYTES];
    char name[NAME_BYTES];
    const char *device = report->device_count > 0 ? report->devices[0].name : "device";
    bool is_good =
        add_line(report, line,
                 snprintf(line, sizeof(line),
                          "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"process_name\","
                          "\"args\":{\"name\":\"%s\"}}",
                          DEVICE_PID, DEVICE_PID, escaped(device, name)));

    for (uint32_t i = 0; is_good && i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (stream->kind != ZETA_REPORT_EVENTS)
            continue;
        is_good = add_line(report, line,
                           snprintf(line, sizeof(line),
                                    "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"cat\":\"device\","
                                    "\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
                                    DEVICE_PID, track_of(stream, 0), escaped(stream->name, name)));
    }
    return is_good;
}

bool zeta_report_counters_add_row(struct zeta_report *report,
                                  const struct zeta_report_stream *stream, int64_t begin_ns,
                                  const struct zeta_metric_row *row)
{
    const struct zeta_group_entry *entry = &stream->calc.entry;
    char line[LINE_BYTES];
    char name[NAME_BYTES];
    char label[24] = "";
    char time[32];
    bool is_good = true;

    time_text(report, begin_ns, time);
    if (stream->calc.group.tile_count > 1)
        (void)snprintf(label, sizeof(label), " tile %" PRIu32, row->tile);
    for (uint32_t i = 0; is_good && i < entry->properties.metricCount; i++) {
        const struct zeta_number value = zeta_number_from_row(row, i);
        char digits[ZETA_NUMBER_TEXT_BYTES];

        if (value.kind == ZETA_NUMBER_NONE || !isfinite(zeta_number_as_double(value)) ||
            (int32_t)i == stream->calc.group.end_index)
            continue;
        zeta_number_format_exact(value, digits);
        is_good = add_line(
            report, line,
            snprintf(line, sizeof(line),
                     "{\"ph\":\"C\",\"pid\":%u,\"tid\":%" PRIu32
                     ",\"cat\":\"metric\",\"name\":\"%s%s\",\"ts\":%s,\"args\":{\"value\":%s}}",
                     DEVICE_PID, stream->number, escaped(entry->metrics[i].properties.name, name),
                     label, time, digits));
    }
    return is_good;
}

bool zeta_report_counters_add_event(struct zeta_report *report,
                                    const struct zeta_report_stream *stream, uint32_t tile,
                                    int64_t time_ns, const zet_metric_entry_exp_t *entry)
{
    const zet_metric_properties_t *metric =
        &stream->events[entry->metricIndex].described.properties;
    const zet_typed_value_t value = {.type = metric->resultType, .value = entry->value};
    char line[LINE_BYTES];
    char name[NAME_BYTES];
    char time[32];
    char digits[ZETA_NUMBER_TEXT_BYTES];

    time_text(report, time_ns, time);
    zeta_number_format_exact(zeta_number_from_value(&value), digits);
    return add_line(report, line,
                    snprintf(line, sizeof(line),
                             "{\"ph\":\"i\",\"pid\":%u,\"tid\":%u,\"cat\":\"device\",\"name\":"
                             "\"%s\",\"ts\":%s,\"args\":{\"value\":%s,\"tile\":%" PRIu32 "}}",
                             DEVICE_PID, track_of(stream, 0), escaped(metric->name, name), time,
                             digits[0] ? digits : "null", tile));
}
