/* First reading of a recording: who and what is in it, and when work ran on the device. */
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/data.h"
#include "sdk/tools/zeta/recording/modules.h"
#include "sdk/tools/zeta/recording/stream.h"
#include "sdk/tools/zeta/recording/trace.h"
#include "sdk/tools/zeta/recording/walk.h"

static int no_memory(const struct zeta_report *report)
{
    return zeta_print_failure("no memory for what is in %s", report->options.path);
}

static bool find_line(const struct zeta_recording_chunk *chunk, const char *key, char *value,
                      size_t value_bytes)
{
    if (!zeta_lines_find(chunk->payload, (size_t)chunk->payload_bytes, key, 0, value, value_bytes))
        return false;
    zeta_text_clean(value, strlen(value));
    return true;
}

static uint64_t find_number(const struct zeta_recording_chunk *chunk, const char *key)
{
    return zeta_lines_find_u64(chunk->payload, (size_t)chunk->payload_bytes, key, 0);
}

bool zeta_report_meta(const struct zeta_report *report, const char *key, uint32_t index,
                      char *value, size_t bytes)
{
    if (!zeta_lines_find(report->meta.text, report->meta.bytes, key, index, value, bytes))
        return false;
    zeta_text_clean(value, strlen(value));
    return true;
}

static int take_meta(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    const size_t bytes = (size_t)chunk->payload_bytes;
    char *grown;

    if (bytes == 0)
        return ZETA_EXIT_OK;
    grown = realloc(report->meta.text, report->meta.bytes + bytes);
    if (!grown)
        return no_memory(report);
    memcpy(grown + report->meta.bytes, chunk->payload, bytes);
    report->meta.text = grown;
    report->meta.bytes += bytes;
    return ZETA_EXIT_OK;
}

struct zeta_report_device *zeta_report_find_device(const struct zeta_report *report,
                                                   uint32_t number)
{
    for (uint32_t i = 0; i < report->device_count; i++) {
        if (report->devices[i].number == number)
            return &report->devices[i];
    }
    return NULL;
}

static int take_device(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_device *grown;
    struct zeta_report_device *device;

    if (zeta_report_find_device(report, chunk->number))
        return ZETA_EXIT_OK;
    grown = realloc(report->devices, (report->device_count + 1) * sizeof(*grown));
    if (!grown)
        return no_memory(report);
    report->devices = grown;
    device = &grown[report->device_count++];
    *device = (struct zeta_report_device){.number = chunk->number};
    (void)find_line(chunk, "name", device->name, sizeof(device->name));
    (void)find_line(chunk, "id", device->id, sizeof(device->id));
    (void)find_line(chunk, "class", device->device_class, sizeof(device->device_class));
    device->timer_hz = find_number(chunk, "timer-hz");
    device->timestamp_bits = (uint32_t)find_number(chunk, "timestamp-bits");
    zeta_report_clock_init(&device->clock, device->timer_hz, device->timestamp_bits);
    return ZETA_EXIT_OK;
}

static int take_stream(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_stream **grown;
    struct zeta_report_stream *stream;
    const struct zeta_report_device *device;
    char sampling[16] = "";

    if (zeta_report_find_stream(report, chunk->number))
        return ZETA_EXIT_OK;
    grown =
        realloc(report->streams, (report->stream_count + 1) * sizeof(struct zeta_report_stream *));
    if (grown)
        report->streams = grown;
    stream = grown ? calloc(1, sizeof(*stream)) : NULL;
    if (!stream)
        return no_memory(report);
    report->streams[report->stream_count++] = stream;
    stream->number = chunk->number;
    (void)find_line(chunk, "group", stream->name, sizeof(stream->name));
    (void)find_line(chunk, "sampling", sampling, sizeof(sampling));
    if (strcmp(sampling, "tracer") == 0)
        stream->kind = ZETA_REPORT_EVENTS;
    else if (strcmp(stream->name, ZETA_IP_GROUP) == 0)
        stream->kind = ZETA_REPORT_SAMPLES;
    stream->record_bytes = (uint32_t)find_number(chunk, "record");
    stream->period_ns = find_number(chunk, "period-ns");
    device = zeta_report_find_device(report, (uint32_t)find_number(chunk, "device"));
    stream->has_device = device != NULL;
    stream->device = device ? (uint32_t)(device - report->devices) : 0;
    return ZETA_EXIT_OK;
}

void zeta_report_extend(struct zeta_report *report, int64_t time_ns)
{
    if (!report->has_begin || time_ns < report->begin_ns)
        report->begin_ns = time_ns;
    if (!report->has_begin || time_ns > report->end_ns)
        report->end_ns = time_ns;
    report->has_begin = true;
}

static void take_clock(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_device *device = zeta_report_find_device(report, chunk->number);

    if (!device || !zeta_report_clock_take(&device->clock, chunk->payload, chunk->payload_bytes))
        return;
    report->clock_count++;
    if (!device->has_first_clock)
        device->first_clock = device->clock;
    device->has_first_clock = true;
    zeta_report_extend(report, device->clock.host_ns);
    /* Rows that came before the first clock can be placed now. */
    for (uint32_t i = 0; i < report->stream_count; i++) {
        struct zeta_report_stream *stream = report->streams[i];

        if (stream->has_first && zeta_report_device_of(report, stream) == device) {
            stream->has_first = false;
            zeta_report_extend(report, zeta_report_clock_host(&device->clock, stream->first_ns));
        }
    }
}

static int take_trace(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_trace_reader lines;
    struct zeta_trace_line line = {0};
    bool is_good;

    report->has_trace = true;
    is_good = zeta_report_trace_begin(report, chunk, &lines);
    while (is_good && zeta_trace_reader_next(&lines, &line)) {
        int64_t begin_ns = 0, end_ns = 0;

        is_good = zeta_report_trace_index(report, &line);
        if (is_good && zeta_report_trace_time(report, &line, &begin_ns, &end_ns)) {
            zeta_report_extend(report, begin_ns);
            zeta_report_extend(report, end_ns);
        }
    }
    zeta_trace_line_finish(&line);
    return is_good ? ZETA_EXIT_OK : no_memory(report);
}

static bool has_samples(const struct zeta_report *report)
{
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->kind == ZETA_REPORT_SAMPLES)
            return true;
    }
    return false;
}

static int take(void *user, struct zeta_recording_reader *reader,
                const struct zeta_recording_chunk *chunk)
{
    struct zeta_report *report = user;

    switch (chunk->type) {
    case ZETA_CHUNK_META:
        return take_meta(report, chunk);
    case ZETA_CHUNK_DEVICE:
        return take_device(report, chunk);
    case ZETA_CHUNK_STREAM:
        return take_stream(report, chunk);
    case ZETA_CHUNK_CLOCK:
        take_clock(report, chunk);
        return ZETA_EXIT_OK;
    case ZETA_CHUNK_CUT:
        (void)zeta_chunk_cut_read(chunk->payload, (size_t)chunk->payload_bytes, &report->lost);
        return ZETA_EXIT_OK;
    case ZETA_CHUNK_TRACE:
        return take_trace(report, chunk);
    case ZETA_CHUNK_MODULE:
        report->module_count++;
        return has_samples(report)
                   ? zeta_report_modules_add(&report->module_folder, report->module_count,
                                             chunk->payload, chunk->payload_bytes)
                   : ZETA_EXIT_OK;
    case ZETA_CHUNK_DATA:
        return zeta_report_stream_index(report, reader, chunk);
    default:
        return ZETA_EXIT_OK;
    }
}

int zeta_report_index(struct zeta_report *report)
{
    struct zeta_report_condition condition;
    const int status = zeta_report_walk(report->options.path, take, report, &condition);

    report->is_cut = condition.is_cut;
    report->damaged = condition.damaged;
    memcpy(report->damage, condition.damage, sizeof(report->damage));
    if (status != ZETA_EXIT_OK)
        return status;
    if (!zeta_report_runs_sort(&report->runs))
        return no_memory(report);
    /* Without clocks time begins with the first row. */
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];
        struct zeta_report_device *device = zeta_report_device_of(report, stream);

        if (stream->has_first && device && !device->clock.is_known)
            zeta_report_extend(report, zeta_report_clock_host(&device->clock, stream->first_ns));
    }
    return ZETA_EXIT_OK;
}
