/* zeta report. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/report/forms.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/stat/stat.h"
#include "sdk/tools/zeta/trace/line.h"

int zeta_report_options_init(struct zeta_report_options *options, int count, char **arguments)
{
    const struct zeta_option table[] = {
        {"csv", 0, ZETA_OPTION_FLAG, &options->has_csv, NULL},
        {"from", 0, ZETA_OPTION_INSTANT, &options->from_ns, NULL},
        {"html", 0, ZETA_OPTION_TEXT, (void *)&options->html_path, NULL},
        {"json", 0, ZETA_OPTION_JSON, &options->json, NULL},
        {"per-kernel", 0, ZETA_OPTION_FLAG, &options->is_per_kernel, NULL},
        {"pftrace", 0, ZETA_OPTION_TEXT, (void *)&options->pftrace_path, NULL},
        {"to", 0, ZETA_OPTION_INSTANT, &options->to_ns, NULL},
    };
    int first = 0;
    int status;

    *options = (struct zeta_report_options){.to_ns = UINT64_MAX, .from_ns = UINT64_MAX};
    status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), false, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first + 1 != count)
        return zeta_print_usage_error("report needs one recording");
    options->path = arguments[first];
    options->has_range = options->from_ns != UINT64_MAX || options->to_ns != UINT64_MAX;
    if (options->from_ns == UINT64_MAX)
        options->from_ns = 0;
    if (options->has_range && options->from_ns >= options->to_ns)
        return zeta_print_usage_error("--from must be earlier than --to");
    if (options->pftrace_path && !zeta_trace_perfetto)
        return zeta_print_usage_error(
            "cannot write --pftrace: this zeta was built without libprotobuf-c");
    return zeta_options_check_json(&options->json, options->has_csv);
}

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

void zeta_report_notes_make(const struct zeta_report *report, struct zeta_report_notes *notes)
{
    uint64_t outside = 0, timeless = 0;
    bool has_times = false;

    for (uint32_t i = 0; i < report->stream_count; i++) {
        outside += report->streams[i]->outside;
        timeless += report->streams[i]->timeless;
        has_times = has_times || report->streams[i]->has_time;
    }
    notes->count = 0;
    if (report->is_cut)
        add(notes, "The recording has no end chunk: its writer was killed or still writes it. The "
                   "report shows everything before.");
    if (report->damaged > 0)
        add(notes,
            "The file is damaged in %" PRIu64 " place%s, whose data is missing; the first: %s",
            report->damaged, report->damaged == 1 ? "" : "s", report->damage);
    if (report->lost.chunks > 0)
        add(notes,
            "The size of the file was limited: its oldest %" PRIu64 " pieces, %" PRIu64
            " bytes, are missing. Time 0 is where the rest begins.",
            report->lost.chunks, report->lost.bytes);
    if (report->orphans > 0)
        add(notes, "%" PRIu32 " pieces of data belong to streams that the file does not describe.",
            report->orphans);
    if (report->bad_streams > 0)
        add(notes, "The data of %" PRIu32 " stream%s cannot be used from some place on.",
            report->bad_streams, report->bad_streams == 1 ? "" : "s");
    if (report->clock_count == 0 && has_times)
        add(notes, "The recording has no clock: times count from the first row of the device.");
    if (report->has_trace && !report->has_trace_clock)
        add(notes, "The recording has no clock of the trace: the report counts calls and kernels "
                   "but cannot place them beside metrics.");
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
    if (!report->options.has_range)
        return;
    add(notes,
        "Only what lies wholly in the range of time is shown; %" PRIu64
        " rows and events do not. Losses are those of the whole recording.",
        outside);
    if (timeless > 0)
        add(notes, "%" PRIu64 " rows have no time and are left out.", timeless);
    if (report->profile_stream)
        add(notes,
            "Samples of instruction pointers have no time: the profile shows the whole recording.");
}

uint64_t zeta_report_length(const struct zeta_report *report)
{
    const uint64_t all_ns = report->has_begin ? (uint64_t)(report->end_ns - report->begin_ns) : 0;
    const uint64_t to_ns = report->options.to_ns < all_ns ? report->options.to_ns : all_ns;

    return to_ns > report->options.from_ns ? to_ns - report->options.from_ns : 0;
}

/* Rows as CSV, one stream after the other. */
static int write_rows(struct zeta_report *report)
{
    bool is_first = true;
    int status = ZETA_EXIT_OK;

    report->rows = stdout;
    for (uint32_t i = 0; i < report->stream_count && status == ZETA_EXIT_OK; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (!stream->is_open || stream->is_bad)
            continue;
        if (!is_first)
            (void)fputc('\n', stdout);
        is_first = false;
        zeta_report_stream_write_head(stream, "stream,group,tile,begin_ns,end_ns", stdout);
        report->only_stream = stream->number;
        status = zeta_report_read(report);
    }
    report->only_stream = 0;
    /* What was counted meanwhile is counted again with the rest. */
    for (uint32_t i = 0; i < report->stream_count; i++) {
        zeta_sampled_group_forget_losses(&report->streams[i]->group);
        report->streams[i]->outside = 0;
        report->streams[i]->timeless = 0;
    }
    return status;
}

/* Files that were asked for; null: none. All are open before the first is written. */
struct outputs {
    FILE *pftrace;
    FILE *html;
    FILE *json;
};

/* Reads the values, and writes the trace meanwhile if one is wanted. */
static int read_values(struct zeta_report *report, FILE *pftrace)
{
    struct zeta_trace_writer writer = {.format = zeta_trace_perfetto, .file = pftrace};
    int status;

    if (!pftrace)
        return zeta_report_read(report);
    zeta_output_begin(pftrace);
    report->trace = &writer;
    writer.format->begin(&writer);
    zeta_report_counters_begin(report);
    status = zeta_report_read(report);
    writer.format->end(&writer);
    report->trace = NULL;
    return status;
}

/* Calculates what is shown of the rows. */
static int settle(struct zeta_report *report)
{
    if (zeta_report_kernels_settle(report) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->is_open &&
            zeta_sampled_group_settle(&report->streams[i]->group) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    return report->profile_stream
               ? zeta_ip_profile_resolve(&report->profile, report->module_folder.path)
               : ZETA_EXIT_OK;
}

static void write_forms(const struct zeta_report *report, const struct outputs *outputs)
{
    const struct zeta_report_options *options = &report->options;
    struct zeta_report_notes notes;

    zeta_report_notes_make(report, &notes);
    if (outputs->html) {
        zeta_output_begin(outputs->html);
        zeta_report_write_html(report, &notes, outputs->html);
    }
    if (options->json.is_given) {
        struct json_object *document = zeta_report_to_json(report, &notes);

        if (outputs->json)
            zeta_output_begin(outputs->json);
        zeta_json_write(document, outputs->json ? outputs->json : stdout);
        (void)json_object_put(document);
    }
    if (!options->has_csv && !options->json.is_given && !options->html_path &&
        !options->pftrace_path) {
        zeta_report_print(report, &notes, stdout);
        return;
    }
    for (uint32_t i = 0; i < report->stream_count && options->has_csv; i++) {
        if (report->streams[i]->is_open)
            zeta_losses_print(&report->streams[i]->group);
    }
    for (uint32_t i = 0; i < notes.count; i++)
        zeta_print_note("%s", notes.text[i]);
}

int zeta_report_command(int count, char **arguments)
{
    struct zeta_report report = {0};
    const struct zeta_report_options *options = &report.options;
    struct outputs outputs = {0};
    struct stat info = {0};
    const char *json;
    int status = zeta_report_options_init(&report.options, count, arguments);

    if (status != ZETA_EXIT_OK)
        return status;
    status = ZETA_EXIT_FAILED;
    json = options->json.path && strcmp(options->json.path, "-") != 0 ? options->json.path : NULL;
    if (zeta_device_list_need_none() != ZETA_EXIT_OK ||
        zeta_output_protect(options->path) != ZETA_EXIT_OK ||
        zeta_report_index(&report) != ZETA_EXIT_OK ||
        (options->pftrace_path &&
         zeta_output_open(options->pftrace_path, &outputs.pftrace) != ZETA_EXIT_OK) ||
        (options->html_path &&
         zeta_output_open(options->html_path, &outputs.html) != ZETA_EXIT_OK) ||
        (json && zeta_output_open(json, &outputs.json) != ZETA_EXIT_OK))
        goto end;
    if (stat(options->path, &info) == 0)
        report.file_bytes = (uint64_t)info.st_size;
    if (options->has_csv && write_rows(&report) != ZETA_EXIT_OK)
        goto end;
    if (options->is_per_kernel || options->html_path)
        zeta_report_kernels_init(&report);
    if (read_values(&report, outputs.pftrace) != ZETA_EXIT_OK || settle(&report) != ZETA_EXIT_OK)
        goto end;
    write_forms(&report, &outputs);
    status = ZETA_EXIT_OK;
end:
    if ((zeta_output_close(outputs.pftrace, options->pftrace_path) |
         zeta_output_close(outputs.html, options->html_path) |
         zeta_output_close(outputs.json, json)) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    zeta_report_finish(&report);
    return status;
}
