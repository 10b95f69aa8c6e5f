/* What a reader must know about the figures of a report. */
#include <inttypes.h>
#include <stdarg.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/number.h"
#include "sdk/tools/zeta/report/forms.h"

static void __attribute__((format(printf, 2, 3)))
add(struct zeta_report_notes *notes, const char *format, ...)
{
    va_list arguments;

    if (notes->count == ZETA_REPORT_MAX_NOTES)
        return;
    va_start(arguments, format);
    (void)zeta_c_vsnprintf(notes->text[notes->count++], ZETA_REPORT_NOTE_BYTES, format, arguments);
    va_end(arguments);
}

static void add_file(const struct zeta_report *report, struct zeta_report_notes *notes)
{
    if (report->is_cut)
        add(notes, "The recording ends before its end chunk: what wrote it was killed or still "
                   "writes. Everything up to there is shown.");
    if (report->damaged > 0)
        add(notes,
            "The file is damaged in %" PRIu64 " place%s, and what was there is missing; the first: "
            "%s",
            report->damaged, report->damaged == 1 ? "" : "s", report->damage);
    if (report->lost.chunks > 0)
        add(notes,
            "The file was kept small: its oldest %" PRIu64 " pieces, %" PRIu64
            " bytes, are gone. Time 0 is where the rest begins.",
            report->lost.chunks, report->lost.bytes);
    if (report->orphans > 0)
        add(notes, "%" PRIu32 " pieces of data are of streams that are not described.",
            report->orphans);
    if (report->bad_streams > 0)
        add(notes, "The data of %" PRIu32 " stream%s cannot be used from some place on.",
            report->bad_streams, report->bad_streams == 1 ? "" : "s");
}

static bool has_times(const struct zeta_report *report)
{
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->has_time)
            return true;
    }
    return false;
}

static void add_clocks(const struct zeta_report *report, struct zeta_report_notes *notes)
{
    if (report->clock_count == 0 && has_times(report))
        add(notes, "No clock was recorded: times are those of the device, from its first row on.");
    if (report->has_trace && !report->has_trace_clock)
        add(notes, "The clock of the trace was not recorded, so calls and kernels are counted but "
                   "not placed beside metrics.");
    if (report->runs.left_out > 0)
        add(notes,
            "Only the first %d runs of kernels are evaluated; %" PRIu64 " more are in no "
            "figure by kernel.",
            ZETA_REPORT_MAX_RUNS, report->runs.left_out);
    if (report->options.html_path && report->runs.lanes.count > ZETA_REPORT_MAX_LANES)
        add(notes, "Only the first %d of %" PRIu32 " queues are drawn.", ZETA_REPORT_MAX_LANES,
            report->runs.lanes.count);
    if (report->rows_without_kernel > 0)
        add(notes, "Metrics are summed up for %d kernels; %" PRIu64 " rows of others are left out.",
            ZETA_REPORT_MAX_KERNELS, report->rows_without_kernel);
    if (report->markers_left_out > 0)
        add(notes, "%" PRIu64 " more markers are not listed.", report->markers_left_out);
}

static void add_range(const struct zeta_report *report, struct zeta_report_notes *notes)
{
    uint64_t outside = 0, timeless = 0;

    for (uint32_t i = 0; i < report->stream_count; i++) {
        outside += report->streams[i]->outside;
        timeless += report->streams[i]->timeless;
    }
    if (!report->options.has_range)
        return;
    add(notes,
        "Only what lies wholly in the range of time is shown; %" PRIu64
        " rows and events do not. Losses are those of the whole recording.",
        outside);
    if (timeless > 0)
        add(notes, "%" PRIu64 " rows have no time and are left out.", timeless);
    if (report->profile_stream)
        add(notes, "Samples of instruction pointers have no time: the profile is of "
                   "the whole recording.");
}

void zeta_report_notes_make(const struct zeta_report *report, struct zeta_report_notes *out_notes)
{
    out_notes->count = 0;
    add_file(report, out_notes);
    add_clocks(report, out_notes);
    add_range(report, out_notes);
}

uint64_t zeta_report_length(const struct zeta_report *report)
{
    const uint64_t all_ns = report->has_begin ? (uint64_t)(report->end_ns - report->begin_ns) : 0;
    const uint64_t to_ns = report->options.to_ns < all_ns ? report->options.to_ns : all_ns;

    return to_ns > report->options.from_ns ? to_ns - report->options.from_ns : 0;
}
