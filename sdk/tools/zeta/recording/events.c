#include "sdk/tools/zeta/recording/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/counters.h"
#include "sdk/tools/zeta/sampling/slot_losses.h"

/* The metric whose entries are markers. */
#define MARKER_METRIC "Marker"

int zeta_report_events_open(struct zeta_report_stream *stream, struct zeta_recording_reader *reader)
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
    return !report->trace || zeta_report_counters_add_event(report, stream, tile, time_ns, entry);
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

int zeta_report_events_read(struct zeta_report *report, struct zeta_report_stream *stream,
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
