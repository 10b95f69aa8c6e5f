/* zeta calc: metric values from a file of exported data or a recording, without a device. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/stat/stat.h"

struct calc {
    bool is_maximum;   /* the greatest possible values instead of the measured ones */
    int64_t skip;      /* reports to leave out at the start of each stream */
    int64_t tile;      /* only rows of this tile; -1: of all */
    const char *group; /* only streams of the group of this name; null: all */
    bool has_csv;
    struct zeta_json_option json;
    struct zeta_report report;         /* what the file has */
    struct zeta_report_stream *stream; /* whose rows come, or came last */
};

static int parse(struct calc *calc, int count, char **arguments)
{
    const struct zeta_option table[] = {
        {"group", 'g', ZETA_OPTION_TEXT, (void *)&calc->group, NULL},
        {"csv", 0, ZETA_OPTION_FLAG, &calc->has_csv, NULL},
        {"json", 0, ZETA_OPTION_JSON, &calc->json, NULL},
        {"max", 0, ZETA_OPTION_FLAG, &calc->is_maximum, NULL},
        {"skip", 0, ZETA_OPTION_NUMBER, &calc->skip, NULL},
        {"tile", 0, ZETA_OPTION_NUMBER, &calc->tile, NULL},
    };
    int first = 0;
    int status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), false, count, arguments, &first);

    if (status != ZETA_EXIT_OK)
        return status;
    if (first + 1 != count)
        return zeta_print_usage_error("calc needs one file of exported data or one recording");
    calc->report.options.path = arguments[first];
    return zeta_options_check_json(&calc->json, calc->has_csv);
}

static bool is_wanted(const struct calc *calc, const struct zeta_report_stream *stream)
{
    return !calc->group || strcmp(calc->group, stream->name) == 0;
}

static uint32_t take_row(void *user, const struct zeta_metric_row *row)
{
    const struct calc *calc = user;
    struct zeta_report_stream *stream = calc->stream;

    if (calc->tile >= 0 && calc->tile != row->tile)
        return 0;
    zeta_sampled_group_add_row(&stream->group, row);
    if (calc->has_csv) {
        (void)printf("%u,%u", stream->number, row->tile);
        zeta_report_row_write(row, stdout);
    }
    return 1;
}

static int take_chunk(void *user, struct zeta_recording_reader *reader,
                      const struct zeta_recording_chunk *chunk)
{
    struct calc *calc = user;
    struct zeta_report_stream *stream;

    zeta_report_describe(&calc->report, chunk);
    stream = zeta_report_find_stream(&calc->report, chunk->number);
    if (chunk->type != ZETA_CHUNK_DATA || !stream || stream->kind == ZETA_REPORT_EVENTS ||
        !is_wanted(calc, stream))
        return ZETA_EXIT_OK;
    if (!stream->is_open)
        stream->skip_left = (uint32_t)calc->skip;
    if (zeta_report_stream_open(&calc->report, stream, reader, chunk, calc->is_maximum) !=
        ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (calc->has_csv && calc->stream != stream)
        zeta_report_stream_write_head(stream, "stream,tile", stdout);
    calc->stream = stream;
    return zeta_report_stream_add(stream, chunk, take_row, calc);
}

static void print_tables(const struct zeta_report *report)
{
    const struct zeta_stat_style style = zeta_stat_style_of(stdout);
    bool is_first = true;

    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];
        const struct zeta_device_entry *device = zeta_report_device_of(stream);

        if (!stream->is_open)
            continue;
        if (device->properties.name[0])
            (void)printf("%s%s (%s, %s)\n", is_first ? "" : "\n", device->properties.name,
                         device->info.device_class, device->info.id);
        zeta_stat_group_print(&stream->group, &style, stdout);
        is_first = false;
    }
}

static int write_json(const struct calc *calc)
{
    struct json_object *document = zeta_json_new_document("zeta.calc/1");
    struct json_object *groups;

    zeta_json_put_text(document, "version", zetaGetVersion());
    zeta_json_put_text(document, "values", calc->is_maximum ? "maximum" : "measured");
    zeta_json_put_bool(document, "cut", calc->report.is_cut);
    groups = zeta_json_put_array(document, "groups");
    for (uint32_t i = 0; i < calc->report.stream_count; i++) {
        const struct zeta_report_stream *stream = calc->report.streams[i];

        if (stream->is_open)
            zeta_stat_group_put_json(groups, zeta_report_device_of(stream), &stream->group);
    }
    return zeta_output_put_json(calc->json.path, document);
}

/* Writes what was calculated, and what the figures do not show. */
static int write_result(const struct calc *calc)
{
    const struct zeta_report *report = &calc->report;
    uint32_t of_events = 0;
    int status = ZETA_EXIT_OK;

    if (calc->json.is_given)
        status = write_json(calc);
    else if (!calc->has_csv)
        print_tables(report);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        of_events += stream->kind == ZETA_REPORT_EVENTS && is_wanted(calc, stream);
        if (calc->has_csv && stream->is_open)
            zeta_losses_print(&stream->group);
    }
    if (report->is_cut)
        zeta_print_note("%s has no end chunk: its writer was killed or still writes it",
                        report->options.path);
    if (of_events > 0)
        zeta_print_note("%s also has %u streams of events, which calc does not calculate; 'zeta "
                        "report' shows them",
                        report->options.path, of_events);
    return status;
}

int zeta_calc(int count, char **arguments)
{
    struct calc calc = {.tile = -1};
    struct zeta_report *report = &calc.report;
    bool has_data = false;
    bool has_tile = false;
    int status = parse(&calc, count, arguments);

    if (status != ZETA_EXIT_OK)
        return status;
    if (zeta_output_protect(report->options.path) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    status = zeta_device_list_need_none();
    if (status == ZETA_EXIT_OK)
        status = zeta_report_walk(report, true, take_chunk, &calc);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        struct zeta_sampled_group *group = &report->streams[i]->group;

        if (!report->streams[i]->is_open)
            continue;
        has_data = true;
        has_tile = has_tile || calc.tile < group->tile_count;
        if (zeta_sampled_group_settle(group) != ZETA_EXIT_OK)
            status = ZETA_EXIT_FAILED;
    }
    if (status != ZETA_EXIT_OK) {
        /* What was read before a damage is worth showing. */
        if (has_data)
            (void)write_result(&calc);
    } else if (!has_data && calc.group) {
        status = zeta_print_failure("%s has no data of group '%s'; leave out -g to see all groups",
                                    report->options.path, calc.group);
    } else if (!has_data) {
        status = zeta_print_failure("%s has no data of metrics", report->options.path);
    } else if (!has_tile) {
        status = zeta_print_failure("%s has no data of tile %u", report->options.path,
                                    (unsigned)calc.tile);
    } else {
        status = write_result(&calc);
    }
    zeta_report_finish(report);
    return status;
}
