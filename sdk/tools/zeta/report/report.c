#include "sdk/tools/zeta/command_line/commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/output/file.h"
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

/* Reads the values, and writes the trace meanwhile if one is wanted. */
static int read_values(struct zeta_report *report)
{
    struct zeta_trace_writer writer = {.format = zeta_trace_perfetto};
    const char *path = report->options.pftrace_path;
    int status = ZETA_EXIT_OK;

    if (!path)
        return zeta_report_read(report);
    status = zeta_output_open(path, &writer.file);
    if (status != ZETA_EXIT_OK)
        return status;
    zeta_output_begin(writer.file);
    report->trace = &writer;
    if (!writer.format->begin(&writer) || !zeta_report_counters_begin(report))
        status = zeta_print_failure("no memory to write %s", path);
    if (status == ZETA_EXIT_OK)
        status = zeta_report_read(report);
    if (!writer.format->end(&writer) && status == ZETA_EXIT_OK)
        status = zeta_print_failure("no memory to write %s", path);
    report->trace = NULL;
    if (zeta_output_close(writer.file, path) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    return status;
}

/* Calculates what is shown of the rows. */
static int settle(struct zeta_report *report)
{
    int status = zeta_report_kernels_settle(report);

    for (uint32_t i = 0; i < report->stream_count && status == ZETA_EXIT_OK; i++) {
        if (report->streams[i]->calc.is_open)
            status = zeta_sampled_group_settle(&report->streams[i]->calc.group);
    }
    return status;
}

static int write_html(const struct zeta_report *report, const struct zeta_report_notes *notes)
{
    FILE *file = NULL;
    int status = zeta_output_open(report->options.html_path, &file);

    if (status != ZETA_EXIT_OK)
        return status;
    zeta_output_begin(file);
    zeta_report_write_html(report, notes, file);
    return zeta_output_close(file, report->options.html_path);
}

static int write_forms(struct zeta_report *report)
{
    const struct zeta_report_options *options = &report->options;
    struct zeta_report_notes notes;
    int status = ZETA_EXIT_OK;

    if (report->profile_stream)
        status = zeta_ip_profile_resolve(&report->profile, report->module_folder.path);
    zeta_report_notes_make(report, &notes);
    if (status == ZETA_EXIT_OK && options->html_path)
        status = write_html(report, &notes);
    if (status == ZETA_EXIT_OK && options->json.is_given)
        status = zeta_output_put_json(options->json.path, zeta_report_to_json(report, &notes));
    if (!options->has_csv && !options->json.is_given && !options->html_path &&
        !options->pftrace_path) {
        zeta_report_print(report, &notes, stdout);
    } else {
        for (uint32_t i = 0; i < report->stream_count && options->has_csv; i++) {
            if (report->streams[i]->calc.is_open)
                zeta_losses_print(&report->streams[i]->calc.group);
        }
        for (uint32_t i = 0; i < notes.count; i++)
            zeta_print_note("%s", notes.text[i]);
    }
    return status;
}

static int make(struct zeta_report *report)
{
    const struct zeta_report_options *options = &report->options;
    struct stat info = {0};
    int status = zeta_device_list_need_none();

    if (stat(options->path, &info) == 0)
        report->file_bytes = (uint64_t)info.st_size;
    if (status == ZETA_EXIT_OK)
        status = zeta_output_protect(options->path);
    if (status == ZETA_EXIT_OK)
        status = zeta_report_index(report);
    if (status == ZETA_EXIT_OK && options->has_csv)
        status = write_rows(report);
    if (status != ZETA_EXIT_OK)
        return status;
    if ((options->is_per_kernel || options->html_path) && !zeta_report_kernels_init(report))
        return zeta_print_failure("no memory for the kernels of %s", options->path);
    status = read_values(report);
    if (status == ZETA_EXIT_OK)
        status = settle(report);
    return status == ZETA_EXIT_OK ? write_forms(report) : status;
}

int zeta_report_command(int count, char **arguments)
{
    struct zeta_report report = {0};
    int status = zeta_report_options_init(&report.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = make(&report);
    zeta_report_finish(&report);
    return status;
}
