#include "sdk/tools/zeta/command_line/commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/recording/counters.h"
#include "sdk/tools/zeta/recording/kernels.h"
#include "sdk/tools/zeta/recording/stream.h"
#include "sdk/tools/zeta/report/forms.h"
#include "sdk/tools/zeta/sampling/losses.h"
#include "sdk/tools/zeta/stat/report.h"

/* Rows as CSV, one stream after the other. */
static int write_rows(struct zeta_report *report)
{
    bool is_first = true;
    int status = ZETA_EXIT_OK;

    report->rows = stdout;
    for (uint32_t i = 0; i < report->stream_count && status == ZETA_EXIT_OK; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (!stream->calc.is_open || stream->is_bad)
            continue;
        if (!is_first)
            (void)fputc('\n', stdout);
        is_first = false;
        zeta_report_stream_write_head(stream, stdout);
        report->only_stream = stream->number;
        status = zeta_report_read(report);
    }
    report->only_stream = 0;
    /* What was counted meanwhile is counted again with the rest. */
    for (uint32_t i = 0; i < report->stream_count; i++) {
        zeta_sampled_group_forget_losses(&report->streams[i]->calc.group);
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

static int open_outputs(const struct zeta_report_options *options, struct outputs *outputs)
{
    const char *json = options->json.path;

    if ((options->pftrace_path &&
         zeta_output_open(options->pftrace_path, &outputs->pftrace) != ZETA_EXIT_OK) ||
        (options->html_path &&
         zeta_output_open(options->html_path, &outputs->html) != ZETA_EXIT_OK) ||
        (json && strcmp(json, "-") != 0 && zeta_output_open(json, &outputs->json) != ZETA_EXIT_OK))
        return ZETA_EXIT_FAILED;
    return ZETA_EXIT_OK;
}

static int close_output(FILE *file, const char *path)
{
    return file ? zeta_output_close(file, path) : ZETA_EXIT_OK;
}

/* Reads the values, and writes the trace meanwhile if one is wanted. */
static int read_values(struct zeta_report *report, FILE *pftrace)
{
    struct zeta_trace_writer writer = {.format = zeta_trace_perfetto, .file = pftrace};
    int status = ZETA_EXIT_OK;

    if (!pftrace)
        return zeta_report_read(report);
    zeta_output_begin(pftrace);
    report->trace = &writer;
    if (!writer.format->begin(&writer) || !zeta_report_counters_begin(report))
        status = zeta_print_failure("no memory to write %s", report->options.pftrace_path);
    if (status == ZETA_EXIT_OK)
        status = zeta_report_read(report);
    if (!writer.format->end(&writer) && status == ZETA_EXIT_OK)
        status = zeta_print_failure("no memory to write %s", report->options.pftrace_path);
    report->trace = NULL;
    return status;
}

/* Calculates what is shown of the rows. */
static int settle(struct zeta_report *report)
{
    if (zeta_report_kernels_settle(report) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->calc.is_open &&
            zeta_sampled_group_settle(&report->streams[i]->calc.group) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    return report->profile_stream
               ? zeta_ip_profile_resolve(&report->profile, report->module_folder.path)
               : ZETA_EXIT_OK;
}

static int write_forms(struct zeta_report *report, const struct outputs *outputs)
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

        if (!document)
            return zeta_print_failure("no memory for the JSON document");
        if (outputs->json)
            zeta_output_begin(outputs->json);
        zeta_json_write(document, outputs->json ? outputs->json : stdout);
        (void)json_object_put(document);
    }
    if (!options->has_csv && !options->json.is_given && !options->html_path &&
        !options->pftrace_path) {
        zeta_report_print(report, &notes, stdout);
        return ZETA_EXIT_OK;
    }
    for (uint32_t i = 0; i < report->stream_count && options->has_csv; i++) {
        if (report->streams[i]->calc.is_open)
            zeta_losses_print(&report->streams[i]->calc.group);
    }
    for (uint32_t i = 0; i < notes.count; i++)
        zeta_print_note("%s", notes.text[i]);
    return ZETA_EXIT_OK;
}

int zeta_report_command(int count, char **arguments)
{
    struct zeta_report report = {0};
    const struct zeta_report_options *options = &report.options;
    struct outputs outputs = {0};
    struct stat info = {0};
    int status = zeta_report_options_init(&report.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_need_none();
    if (status == ZETA_EXIT_OK)
        status = zeta_output_protect(options->path);
    if (status == ZETA_EXIT_OK)
        status = zeta_report_index(&report);
    if (status == ZETA_EXIT_OK)
        status = open_outputs(options, &outputs);
    if (status != ZETA_EXIT_OK)
        goto end;
    if (stat(options->path, &info) == 0)
        report.file_bytes = (uint64_t)info.st_size;
    if (options->has_csv)
        status = write_rows(&report);
    if (status != ZETA_EXIT_OK)
        goto end;
    if ((options->is_per_kernel || options->html_path) && !zeta_report_kernels_init(&report)) {
        status = zeta_print_failure("no memory for the kernels of %s", options->path);
        goto end;
    }
    status = read_values(&report, outputs.pftrace);
    if (status == ZETA_EXIT_OK)
        status = settle(&report);
    if (status == ZETA_EXIT_OK)
        status = write_forms(&report, &outputs);
end:
    if ((close_output(outputs.pftrace, options->pftrace_path) |
         close_output(outputs.html, options->html_path) |
         close_output(outputs.json, options->json.path)) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    zeta_report_finish(&report);
    return status;
}
