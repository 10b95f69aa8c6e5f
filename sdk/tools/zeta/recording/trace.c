#include "sdk/tools/zeta/recording/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/text.h"

bool zeta_report_trace_begin(struct zeta_report *report, const struct zeta_recording_chunk *chunk,
                             struct zeta_trace_reader *out_lines)
{
    const size_t bytes = (size_t)chunk->payload_bytes;
    size_t at = 0;

    if (bytes > report->line_bytes) {
        free(report->lines);
        report->lines = malloc(bytes);
        report->line_bytes = report->lines ? bytes : 0;
        if (!report->lines)
            return false;
    }
    if (bytes > 0)
        memcpy(report->lines, chunk->payload, bytes);
    while (at < bytes) {
        const char *end = memchr(report->lines + at, '\n', bytes - at);
        const size_t size = end ? (size_t)(end - report->lines) - at : bytes - at;

        zeta_text_clean(report->lines + at, size);
        at += size + 1;
    }
    zeta_trace_reader_init(out_lines, report->lines ? report->lines : "", bytes);
    return true;
}

bool zeta_report_trace_time(const struct zeta_report *report, const struct zeta_trace_line *line,
                            int64_t *out_begin_ns, int64_t *out_end_ns)
{
    if (!report->has_trace_clock ||
        (line->phase != 'X' && line->phase != 'B' && line->phase != 'i') || line->begin_ns == 0 ||
        line->begin_ns > ZETA_REPORT_TIME_MAX || line->duration_ns > ZETA_REPORT_TIME_MAX)
        return false;
    *out_begin_ns = (int64_t)line->begin_ns + report->raw_offset_ns;
    *out_end_ns = *out_begin_ns + (int64_t)line->duration_ns;
    return *out_end_ns <= ZETA_REPORT_TIME_MAX;
}

static bool find_number(const struct zeta_trace_line *line, const char *name, uint64_t *out_number)
{
    const char *text = zeta_trace_line_argument(line, name);

    *out_number = text ? strtoull(text, NULL, 10) : 0;
    return *out_number > 0 && *out_number <= ZETA_REPORT_TIME_MAX;
}

static const char *lane_key(const struct zeta_trace_line *line, char *text, size_t bytes)
{
    (void)snprintf(text, bytes, "%" PRIu64 "/%" PRIu64, line->pid, line->tid);
    return text;
}

/* The recorder notes the clock of the trace beside that of CLOCK chunks. */
static void take_clocks(struct zeta_report *report, const struct zeta_trace_line *line)
{
    uint64_t raw = 0, monotonic = 0;

    if (!find_number(line, "raw_ns", &raw) || !find_number(line, "monotonic_ns", &monotonic))
        return;
    report->raw_offset_ns = (int64_t)raw - (int64_t)monotonic;
    report->has_trace_clock = true;
}

bool zeta_report_trace_index(struct zeta_report *report, const struct zeta_trace_line *line)
{
    const char *title;
    int64_t begin_ns = 0, end_ns = 0;
    char key[48];

    if (line->phase == 'M' && strcmp(line->name, "zeta_clocks") == 0)
        take_clocks(report, line);
    title = zeta_trace_line_argument(line, "name");
    if (line->phase == 'M' && strcmp(line->name, "thread_name") == 0 && title)
        return zeta_report_runs_name_lane(&report->runs, lane_key(line, key, sizeof(key)), title);
    if (line->phase != 'X' || strcmp(line->category, "device") != 0 ||
        !zeta_report_trace_time(report, line, &begin_ns, &end_ns))
        return true;
    return zeta_report_runs_add(&report->runs, line->name, lane_key(line, key, sizeof(key)),
                                begin_ns, end_ns);
}

bool zeta_report_trace_read(struct zeta_report *report, const struct zeta_trace_line *line)
{
    int64_t begin_ns = 0, end_ns = 0;
    const bool has_time = zeta_report_trace_time(report, line, &begin_ns, &end_ns);

    if (line->phase == 'M' && strcmp(line->name, "zeta_clocks") == 0) {
        take_clocks(report, line);
        return true;
    }
    if (report->only_stream != 0)
        return true;
    if (line->phase != 'M' && report->options.has_range &&
        (!has_time || !zeta_report_in_range(report, begin_ns, end_ns)))
        return true;
    if (!zeta_trace_summary_add(&report->summary, line))
        return false;
    return !report->trace || strcmp(line->name, "zeta_trace_end") == 0 ||
           report->trace->format->add(report->trace, line);
}
