#include "sdk/tools/zeta/recording/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/events.h"
#include "sdk/tools/zeta/recording/rows.h"

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

/* Makes exported data of the chunk that was read. */
static int make_piece(struct zeta_report *report, struct zeta_recording_reader *reader,
                      const struct zeta_recording_chunk *chunk, struct zeta_calc_piece *out_piece)
{
    size_t size = 0;
    ze_result_t result = zetaRecordingGetExportData(reader, &size, NULL);

    if (result == ZE_RESULT_SUCCESS && size > report->data_bytes) {
        free(report->data);
        report->data = malloc(size);
        report->data_bytes = report->data ? size : 0;
        if (!report->data)
            return zeta_print_failure("no memory for %zu bytes of %s", size, report->options.path);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zetaRecordingGetExportData(reader, &size, report->data);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "%s: cannot use the data at byte %" PRIu64,
                                  report->options.path, chunk->offset);
    *out_piece =
        (struct zeta_calc_piece){report->data, size, chunk->payload, (size_t)chunk->payload_bytes};
    return ZETA_EXIT_OK;
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

static int32_t find_metric(const struct zeta_group_entry *entry, const char *name)
{
    for (uint32_t i = 0; i < entry->properties.metricCount; i++) {
        if (strcmp(entry->metrics[i].properties.name, name) == 0)
            return (int32_t)i;
    }
    return -1;
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
    stream->marker_index = find_metric(&calc->entry, "StreamMarker");
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
        return stream->events ? ZETA_EXIT_OK : zeta_report_events_open(stream, reader);
    if (stream->calc.is_open && (!stream->has_time || stream->was_placed))
        return ZETA_EXIT_OK;
    status = make_piece(report, reader, chunk, &piece);
    if (status == ZETA_EXIT_OK && !stream->calc.is_open)
        status = open_stream(report, stream, &piece);
    if (status == ZETA_EXIT_OK && stream->has_time)
        status = zeta_report_rows_find_first(report, stream, &piece);
    if (status != ZETA_EXIT_OK) {
        /* It was said. The others may be fine. */
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
        return zeta_report_events_read(report, stream, reader, chunk);
    status = make_piece(report, reader, chunk, &piece);
    if (status == ZETA_EXIT_OK)
        status = zeta_report_rows_read(report, stream, &piece);
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
