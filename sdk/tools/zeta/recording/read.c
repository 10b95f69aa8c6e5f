/* Second reading of a recording: values. */
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/recording/data.h"
#include "sdk/tools/zeta/recording/kernels.h"
#include "sdk/tools/zeta/recording/modules.h"
#include "sdk/tools/zeta/recording/stream.h"
#include "sdk/tools/zeta/recording/trace.h"
#include "sdk/tools/zeta/recording/walk.h"

bool zeta_report_in_range(const struct zeta_report *report, int64_t begin_ns, int64_t end_ns)
{
    const struct zeta_report_options *options = &report->options;
    const int64_t from_ns = begin_ns - report->begin_ns;
    const int64_t to_ns = end_ns - report->begin_ns;

    return !options->has_range ||
           ((from_ns >= 0 ? (uint64_t)from_ns >= options->from_ns : options->from_ns == 0) &&
            (to_ns < 0 || (uint64_t)to_ns <= options->to_ns));
}

bool zeta_report_add_marker(struct zeta_report *report, int64_t time_ns, uint64_t value,
                            const char *source)
{
    if (report->marker_count == ZETA_REPORT_MAX_MARKERS) {
        report->markers_left_out++;
        return true;
    }
    if (!report->markers)
        report->markers = calloc(ZETA_REPORT_MAX_MARKERS, sizeof(*report->markers));
    if (!report->markers)
        return false;
    report->markers[report->marker_count++] =
        (struct zeta_report_marker){.time_ns = time_ns, .value = value, .source = source};
    return true;
}

static int take_trace(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_trace_reader lines;
    struct zeta_trace_line line = {0};
    bool is_good = zeta_report_trace_begin(report, chunk, &lines);

    while (is_good && zeta_trace_reader_next(&lines, &line))
        is_good = zeta_report_trace_read(report, &line);
    zeta_trace_line_finish(&line);
    report->summary.damaged += report->only_stream == 0 ? lines.damaged : 0;
    if (is_good)
        return ZETA_EXIT_OK;
    return zeta_print_failure("no memory for the trace in %s", report->options.path);
}

static int take(void *user, struct zeta_recording_reader *reader,
                const struct zeta_recording_chunk *chunk)
{
    struct zeta_report *report = user;
    struct zeta_report_device *device;

    switch (chunk->type) {
    case ZETA_CHUNK_CLOCK:
        device = zeta_report_find_device(report, chunk->number);
        if (device)
            (void)zeta_report_clock_take(&device->clock, chunk->payload, chunk->payload_bytes);
        return ZETA_EXIT_OK;
    case ZETA_CHUNK_TRACE:
        return take_trace(report, chunk);
    case ZETA_CHUNK_DATA:
        return zeta_report_stream_read(report, reader, chunk);
    default:
        return ZETA_EXIT_OK;
    }
}

/* The clocks as they were before the first chunk: those that came first say it best. */
static void rewind_clocks(struct zeta_report *report)
{
    for (uint32_t i = 0; i < report->device_count; i++) {
        struct zeta_report_device *device = &report->devices[i];

        if (device->has_first_clock)
            device->clock = device->first_clock;
        else
            zeta_report_clock_init(&device->clock, device->timer_hz, device->timestamp_bits);
    }
}

int zeta_report_read(struct zeta_report *report)
{
    struct zeta_report_condition condition;
    int status;

    rewind_clocks(report);
    status = zeta_report_walk(report->options.path, take, report, &condition);
    if (status == ZETA_EXIT_OK && report->has_no_memory)
        status = zeta_print_failure("no memory for what is in %s", report->options.path);
    return status;
}

void zeta_report_finish(struct zeta_report *report)
{
    zeta_report_kernels_finish(report);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        zeta_report_stream_finish(report->streams[i]);
        free(report->streams[i]);
    }
    free((void *)report->streams);
    zeta_ip_profile_finish(&report->profile);
    zeta_run_folder_remove(&report->module_folder);
    zeta_report_runs_finish(&report->runs);
    zeta_trace_summary_finish(&report->summary);
    zeta_lines_finish(&report->meta);
    free(report->devices);
    free(report->markers);
    free(report->lines);
    free(report->data);
    *report = (struct zeta_report){0};
}
