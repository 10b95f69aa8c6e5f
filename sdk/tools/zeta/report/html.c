/* A recording as a page: the data as JSON, beside a script that shows it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/duration.h"
#include "sdk/tools/zeta/profile/code_lines.h"
#include "sdk/tools/zeta/recording/kernels.h"
#include "sdk/tools/zeta/recording/text.h"
#include "sdk/tools/zeta/report/forms.h"
#include "sdk/tools/zeta/report/page.h"
#include "sdk/tools/zeta/stat/report.h"

enum {
    MAX_SPANS = 20000,  /* beyond that neighbours are drawn as one */
    SPAN_PIECES = 4000, /* of the whole time, then */
    MAX_PROFILE_LINES = 500,
    VALUE_BYTES = 1024
};

static void put_text(FILE *file, const char *key, const char *value)
{
    (void)fprintf(file, "\"%s\":", key);
    zeta_report_json_text(file, value);
}

static void put_u64(FILE *file, const char *key, uint64_t value)
{
    (void)fprintf(file, "\"%s\":%" PRIu64, key, value);
}

/* A comma in front of every element but the first. */
static void separate(FILE *file, bool *io_is_first)
{
    if (!*io_is_first)
        (void)fputs(",\n", file);
    *io_is_first = false;
}

/* ---- summary ------------------------------------------------------------------------------- */

static void put_fact(FILE *file, const char *label, const char *value, bool *io_is_first)
{
    separate(file, io_is_first);
    (void)fprintf(file, "[\"%s\",", label);
    zeta_report_json_text(file, value);
    (void)fputc(']', file);
}

static void put_command(const struct zeta_report *report, FILE *file, bool *io_is_first)
{
    char text[4 * VALUE_BYTES] = "";
    char word[VALUE_BYTES];
    size_t used = 0;

    for (uint32_t i = 0; zeta_report_meta(report, "command", i, word, sizeof(word)); i++) {
        const int size = snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "", word);

        if (size < 0 || (size_t)size >= sizeof(text) - used)
            break;
        used += (size_t)size;
    }
    if (used > 0)
        put_fact(file, "Program", text, io_is_first);
}

static void put_facts(const struct zeta_report *report, FILE *file)
{
    static const char *const keys[][2] = {{"begin", "Begin"}, {"end", "End"}, {"host", "Host"}};
    char text[VALUE_BYTES];
    bool is_first = true;

    (void)fputs("\"facts\":[", file);
    put_command(report, file, &is_first);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (zeta_report_meta(report, keys[i][0], 0, text, sizeof(text)))
            put_fact(file, keys[i][1], text, &is_first);
    }
    for (uint32_t i = 0; i < report->device_count; i++) {
        const struct zeta_report_device *device = &report->devices[i];

        (void)snprintf(text, sizeof(text), "%s (%s, %s)", device->name, device->device_class,
                       device->id);
        put_fact(file, "Device", text, &is_first);
    }
    zeta_duration_format(zeta_report_length(report), text);
    if (report->has_begin)
        put_fact(file, "Length", text, &is_first);
    (void)snprintf(text, sizeof(text), "%s, %" PRIu64 " bytes%s", report->options.path,
                   report->file_bytes, report->is_cut ? ", cut" : "");
    zeta_report_clean(text, strlen(text));
    put_fact(file, "File", text, &is_first);
    (void)fputs("]", file);
}

/* ---- metrics ------------------------------------------------------------------------------- */

/* Values of the pieces of a line: metrics of the first piece, then of the second. */
struct drawn {
    struct zeta_metric_value *values;
    uint32_t pieces, metrics;
    uint64_t width_ns;
    uint64_t most_rows; /* of one piece */
};

/* False without memory. */
static bool calculate_line(const struct zeta_sum_line *line, uint32_t metrics, struct drawn *drawn)
{
    *drawn = (struct drawn){.pieces = line->used, .metrics = metrics, .width_ns = line->width};
    drawn->values = calloc((size_t)line->used * metrics + 1, sizeof(*drawn->values));
    for (uint32_t i = 0; drawn->values && i < line->used; i++) {
        struct zeta_metric_value *values = drawn->values + (size_t)i * metrics;
        uint32_t count = metrics;

        for (uint32_t m = 0; m < metrics; m++)
            values[m].struct_size = sizeof(*values);
        if (line->pieces[i] &&
            zetaMetricSumGetValues(line->pieces[i], &count, values) != ZE_RESULT_SUCCESS)
            return false;
        for (uint32_t m = 0; m < metrics; m++)
            drawn->most_rows =
                values[m].rows > drawn->most_rows ? values[m].rows : drawn->most_rows;
    }
    return drawn->values != NULL;
}

/* Of amounts a point shows how much a row has of them. */
static double point_of(const struct zeta_metric_value *value, enum zeta_account_kind kind,
                       const char *key)
{
    if (key[0] == 'l')
        return zeta_number_as_double(zeta_number_from_value(&value->min));
    if (key[0] == 'h')
        return zeta_number_as_double(zeta_number_from_value(&value->max));
    return zeta_number_as_double(zeta_number_from_value(&value->value)) /
           (kind == ZETA_ACCOUNT_TOTAL ? (double)value->rows : 1.0);
}

/* null: no row is there; false: there are rows, and they have no value. */
static void put_points(const struct drawn *drawn, uint32_t metric, enum zeta_account_kind kind,
                       const struct zeta_sum_line *line, const char *key, FILE *file)
{
    (void)fprintf(file, ",\"%s\":[", key);
    for (uint32_t i = 0; i < drawn->pieces; i++) {
        const struct zeta_metric_value *value = &drawn->values[(size_t)i * drawn->metrics + metric];

        if (i > 0)
            (void)fputc(',', file);
        if (!line->pieces[i])
            (void)fputs("null", file);
        else if (!value->has_value)
            (void)fputs("false", file);
        else
            zeta_report_json_number(file, point_of(value, kind, key));
    }
    (void)fputc(']', file);
}

static bool has_points(const struct drawn *drawn, uint32_t metric)
{
    for (uint32_t i = 0; i < drawn->pieces; i++) {
        if (drawn->values[(size_t)i * drawn->metrics + metric].has_value)
            return true;
    }
    return false;
}

/* Points of single rows have no range. */
static void put_line(const struct drawn *drawn, uint32_t metric, enum zeta_account_kind kind,
                     const struct zeta_sum_line *line, uint32_t tile, FILE *file)
{
    (void)fprintf(file, "{\"tile\":%" PRIu32 ",\"w\":%" PRIu64 ",\"rows\":%" PRIu64, tile,
                  drawn->width_ns, drawn->most_rows);
    put_points(drawn, metric, kind, line, "value", file);
    if (drawn->most_rows > 1) {
        put_points(drawn, metric, kind, line, "low", file);
        put_points(drawn, metric, kind, line, "high", file);
    }
    (void)fputc('}', file);
}

static void put_metric(const struct zeta_metric_entry *metric, const struct zeta_account *account,
                       FILE *file)
{
    put_text(file, "n", metric->properties.name);
    (void)fputc(',', file);
    put_text(file, "u", metric->properties.resultUnits);
    (void)fprintf(file, ",\"k\":\"%s\",\"v\":", zeta_account_kind_name(account->kind));
    zeta_report_json_exact(file, account->value);
    (void)fputs(",\"min\":", file);
    zeta_report_json_exact(file, account->min);
    (void)fputs(",\"max\":", file);
    zeta_report_json_exact(file, account->max);
}

/* What is missing, in words and in figures. */
static void put_losses(const struct zeta_sampled_group *group, FILE *file)
{
    char losses[ZETA_STAT_LOSSES_BYTES];

    zeta_stat_losses_format(group, true, losses);
    put_text(file, "losses", losses);
    (void)fprintf(file, ",\"lost\":%" PRIu64 ",\"breaks\":%" PRIu64 ",\"lost_time_ns\":%" PRIu64,
                  zeta_sampled_group_lost(group), group->losses.breaks, group->losses.lost_ns);
}

static void put_group(const struct zeta_sampled_group *group, const char *name, FILE *file)
{
    put_text(file, "name", name);
    (void)fputc(',', file);
    put_losses(group, file);
    (void)fprintf(file, ",\"samples\":%" PRIu64 ",\"period_ns\":%" PRIu64 ",\"metrics\":[",
                  group->samples, group->period_ns);
}

static void put_lines(const struct zeta_report_stream *stream, uint32_t metric,
                      const struct drawn *drawn, FILE *file)
{
    const enum zeta_account_kind kind = stream->calc.group.accounts[metric].kind;
    bool is_first = true;

    (void)fputs(",\"lines\":[", file);
    for (uint32_t tile = 0; drawn && tile < stream->calc.group.tile_count; tile++) {
        if (!has_points(&drawn[tile], metric))
            continue;
        separate(file, &is_first);
        put_line(&drawn[tile], metric, kind, &stream->lines[tile], tile, file);
    }
    (void)fputs("]", file);
}

static void put_stream(const struct zeta_report_stream *stream, FILE *file)
{
    const struct zeta_group_entry *entry = &stream->calc.entry;
    const uint32_t width = entry->properties.metricCount;
    const uint32_t tiles = stream->lines ? stream->calc.group.tile_count : 0;
    struct drawn *drawn = calloc((size_t)tiles + 1, sizeof(*drawn));
    bool is_drawn = drawn && tiles > 0;
    bool is_first = true;

    for (uint32_t tile = 0; tile < tiles && is_drawn; tile++)
        is_drawn = calculate_line(&stream->lines[tile], width, &drawn[tile]);
    (void)fputc('{', file);
    put_group(&stream->calc.group, stream->name, file);
    for (uint32_t i = 0; i < width; i++) {
        separate(file, &is_first);
        (void)fputc('{', file);
        put_metric(&entry->metrics[i], &stream->calc.group.accounts[i], file);
        (void)fputc(',', file);
        put_text(file, "d", entry->metrics[i].properties.description);
        put_lines(stream, i, is_drawn ? drawn : NULL, file);
        (void)fputc('}', file);
    }
    (void)fprintf(file, "],\"shared\":%" PRIu64 ",\"idle\":%" PRIu64 "}", stream->shared_rows,
                  stream->idle_rows);
    for (uint32_t tile = 0; drawn && tile < tiles; tile++)
        free(drawn[tile].values);
    free(drawn);
}

static void put_groups(const struct zeta_report *report, FILE *file)
{
    bool is_first = true;

    (void)fputs(",\n\"groups\":[", file);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (stream->kind != ZETA_REPORT_ROWS || !stream->calc.is_open)
            continue;
        separate(file, &is_first);
        put_stream(stream, file);
    }
    (void)fputs("]", file);
}

static void put_counts(const struct zeta_envelope *line, FILE *file)
{
    (void)fputs(",\"sum\":[", file);
    for (uint32_t i = 0; i < line->used; i++) {
        if (i > 0)
            (void)fputc(',', file);
        if (line->points[i] == 0)
            (void)fputs("null", file);
        else
            (void)fprintf(file, "%" PRIu64, line->points[i]);
    }
    (void)fputc(']', file);
}

static void put_events(const struct zeta_report *report, FILE *file)
{
    bool is_first = true;

    (void)fputs(",\n\"events\":[", file);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];
        bool is_first_metric = true;

        if (stream->kind != ZETA_REPORT_EVENTS)
            continue;
        separate(file, &is_first);
        char losses[ZETA_STAT_LOSSES_BYTES];

        zeta_stat_lost_events_format(stream->lost_events, true, losses);
        (void)fputc('{', file);
        put_text(file, "name", stream->name);
        (void)fputc(',', file);
        put_text(file, "losses", losses);
        (void)fprintf(file, ",\"lost\":%" PRIu64 ",\"metrics\":[", stream->lost_events);
        for (uint32_t m = 0; m < stream->event_count; m++) {
            const struct zeta_report_event_metric *event = &stream->events[m];

            separate(file, &is_first_metric);
            (void)fputc('{', file);
            put_text(file, "n", event->described.properties.name);
            (void)fputc(',', file);
            put_text(file, "d", event->described.properties.description);
            (void)fprintf(file, ",\"c\":%" PRIu64 ",\"w\":%" PRIu64, event->entries,
                          event->line.width_ns);
            put_counts(&event->line, file);
            (void)fputc('}', file);
        }
        (void)fputs("]}", file);
    }
    (void)fputs("]", file);
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void put_kernel(const struct zeta_report *report, const struct zeta_report_kernel *kernel,
                       FILE *file)
{
    char name[VALUE_BYTES];
    bool is_first = true;

    zeta_report_kernel_name(report, kernel->name, name, sizeof(name));
    (void)fputc('{', file);
    put_text(file, "n", name);
    (void)fprintf(file,
                  ",\"c\":%" PRIu64 ",\"t\":%" PRIu64 ",\"min\":%" PRIu64 ",\"max\":%" PRIu64
                  ",\"groups\":[",
                  kernel->count, kernel->total_ns, kernel->min_ns, kernel->max_ns);
    for (uint32_t i = 0; kernel->groups && i < report->stream_count; i++) {
        const struct zeta_sampled_group *group = kernel->groups[i];
        bool is_first_metric = true;

        if (!group)
            continue;
        separate(file, &is_first);
        (void)fputc('{', file);
        put_group(group, report->streams[i]->name, file);
        for (uint32_t m = 0; m < group->entry->properties.metricCount; m++) {
            separate(file, &is_first_metric);
            (void)fputc('{', file);
            put_metric(&group->entry->metrics[m], &group->accounts[m], file);
            (void)fputc('}', file);
        }
        (void)fputs("]}", file);
    }
    (void)fputs("]}", file);
}

static void put_kernels(const struct zeta_report *report, FILE *file)
{
    const struct zeta_report_kernel **list = zeta_report_kernels_sorted(report);
    bool is_first = true;

    (void)fputs(",\n\"kernels\":[", file);
    for (uint32_t k = 0; list && k < report->kernel_count; k++) {
        if (list[k]->count == 0)
            continue;
        separate(file, &is_first);
        put_kernel(report, list[k], file);
    }
    free((void *)list);
    (void)fputs("]", file);
}

/* A span of a lane while it is drawn together with those beside it. */
struct span {
    int64_t begin_ns, end_ns;
    uint64_t longest_ns;
    uint32_t name; /* of the longest */
    uint64_t count;
};

static void put_span(const struct zeta_report *report, const struct span *span, bool *io_is_first,
                     FILE *file)
{
    separate(file, io_is_first);
    (void)fprintf(file, "[%" PRId64 ",%" PRId64 ",%" PRIu32 ",%" PRIu64 "]",
                  span->begin_ns - report->begin_ns, span->end_ns - report->begin_ns, span->name,
                  span->count);
}

static void put_lane(const struct zeta_report *report, uint32_t lane, int64_t piece_ns, FILE *file)
{
    const struct zeta_report_runs *runs = &report->runs;
    struct span span = {0};
    bool is_first = true;

    for (uint32_t i = 0; i < runs->count; i++) {
        const struct zeta_report_run *run = &runs->runs[i];
        const uint64_t time_ns = (uint64_t)(run->end_ns - run->begin_ns);

        if (run->lane != lane || !zeta_report_in_range(report, run->begin_ns, run->end_ns))
            continue;
        if (span.count > 0 && run->end_ns - span.begin_ns > piece_ns) {
            put_span(report, &span, &is_first, file);
            span.count = 0;
        }
        if (span.count == 0)
            span = (struct span){.begin_ns = run->begin_ns, .end_ns = run->end_ns};
        if (span.count++ == 0 || time_ns > span.longest_ns) {
            span.longest_ns = time_ns;
            span.name = run->name;
        }
        if (run->end_ns > span.end_ns)
            span.end_ns = run->end_ns;
    }
    if (span.count > 0)
        put_span(report, &span, &is_first, file);
}

static void put_spelled(const char *spelled, FILE *file)
{
    char text[VALUE_BYTES];

    (void)zeta_json_unescape((struct zeta_slice){spelled, strlen(spelled)}, text, sizeof(text));
    zeta_report_clean(text, strlen(text));
    zeta_report_json_text(file, text);
}

static void put_lanes(const struct zeta_report *report, FILE *file)
{
    const struct zeta_report_runs *runs = &report->runs;
    const int64_t piece_ns =
        runs->count > MAX_SPANS ? (report->end_ns - report->begin_ns) / SPAN_PIECES : 0;
    bool is_first = true;

    (void)fprintf(file, ",\n\"span_ns\":%" PRId64 ",\"names\":[", piece_ns);
    for (uint32_t i = 0; i < runs->names.count; i++) {
        separate(file, &is_first);
        put_spelled(runs->names.names[i], file);
    }
    is_first = true;
    (void)fputs("],\n\"lanes\":[", file);
    for (uint32_t i = 0; i < runs->lanes.count && i < ZETA_REPORT_MAX_LANES; i++) {
        const bool has_title = i < runs->lane_title_count && runs->lane_titles[i];

        separate(file, &is_first);
        (void)fputs("{\"n\":", file);
        put_spelled(has_title ? runs->lane_titles[i] : runs->lanes.names[i], file);
        (void)fputs(",\"s\":[", file);
        put_lane(report, i, piece_ns, file);
        (void)fputs("]}", file);
    }
    (void)fputs("]", file);
}

static void put_markers(const struct zeta_report *report, FILE *file)
{
    bool is_first = true;

    (void)fputs(",\n\"markers\":[", file);
    for (uint32_t i = 0; i < report->marker_count; i++) {
        const struct zeta_report_marker *marker = &report->markers[i];

        separate(file, &is_first);
        (void)fprintf(file, "[%" PRId64 ",\"%" PRIu64 "\",\"%s\"]",
                      marker->time_ns - report->begin_ns, marker->value, marker->source);
    }
    (void)fputs("]", file);
}

/* ---- calls and the profile ----------------------------------------------------------------- */

static void put_accounts(const char *key, const struct zeta_trace_accounts *accounts, FILE *file)
{
    bool is_first = true;

    (void)fprintf(file, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < accounts->names.count; i++) {
        const struct zeta_trace_account *account = &accounts->accounts[i];

        separate(file, &is_first);
        (void)fputc('[', file);
        put_spelled(accounts->names.names[i], file);
        (void)fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
                      account->count, account->total_ns, account->min_ns, account->max_ns,
                      account->errors);
    }
    (void)fputs("]", file);
}

/* A text of a module's image, which anybody may have made. */
static void put_foreign(const char *text, FILE *file)
{
    char copy[VALUE_BYTES];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    zeta_report_clean(copy, strlen(copy));
    zeta_report_json_text(file, copy);
}

static void put_profile_line(const struct zeta_ip_line *line, FILE *file)
{
    char place[VALUE_BYTES];

    if (line->is_address || !line->file)
        (void)snprintf(place, sizeof(place), "0x%" PRIx64, line->address);
    else
        (void)snprintf(place, sizeof(place), "%s:%" PRIu32, line->file, line->line);
    (void)fputc('[', file);
    put_foreign(line->kernel ? line->kernel : "(unknown)", file);
    (void)fputc(',', file);
    put_foreign(place, file);
    (void)fprintf(file, ",%" PRIu64, line->counts.total);
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++)
        (void)fprintf(file, ",%" PRIu64, line->counts.reasons[i]);
    (void)fputc(']', file);
}

static void put_profile(const struct zeta_report *report, FILE *file)
{
    const struct zeta_ip_profile *profile = &report->profile;
    bool is_first = true;

    if (!report->profile_stream || !profile->source)
        return;
    (void)fputs(",\n\"profile\":{", file);
    put_losses(&report->profile_stream->calc.group, file);
    (void)fputs(",\"reasons\":[", file);
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++) {
        separate(file, &is_first);
        zeta_report_json_text(file, profile->reason_names[i]);
    }
    is_first = true;
    (void)fprintf(
        file, "],\"total\":%" PRIu64 ",\"left_out\":%" PRIu32 ",\"lines\":[", profile->all.total,
        profile->line_count > MAX_PROFILE_LINES ? profile->line_count - MAX_PROFILE_LINES : 0);
    for (uint32_t i = 0; i < profile->line_count && i < MAX_PROFILE_LINES; i++) {
        separate(file, &is_first);
        put_profile_line(&profile->lines[i], file);
    }
    (void)fputs("]}", file);
}

static void put_data(const struct zeta_report *report, const struct zeta_report_notes *notes,
                     FILE *file)
{
    const uint64_t all_ns = report->has_begin ? (uint64_t)(report->end_ns - report->begin_ns) : 0;
    bool is_first = true;

    (void)fputs("{", file);
    put_text(file, "version", zetaGetVersion());
    (void)fputs(",\n", file);
    put_facts(report, file);
    (void)fputs(",\n\"notes\":[", file);
    for (uint32_t i = 0; i < notes->count; i++) {
        separate(file, &is_first);
        zeta_report_json_text(file, notes->text[i]);
    }
    (void)fputs("],\n", file);
    put_u64(file, "from", report->options.from_ns);
    (void)fputc(',', file);
    put_u64(file, "to", report->options.to_ns < all_ns ? report->options.to_ns : all_ns);
    put_groups(report, file);
    put_events(report, file);
    put_kernels(report, file);
    put_lanes(report, file);
    put_markers(report, file);
    put_accounts("calls", &report->summary.calls, file);
    put_accounts("work", &report->summary.work, file);
    put_profile(report, file);
    (void)fputs("}\n", file);
}

void zeta_report_write_html(const struct zeta_report *report, const struct zeta_report_notes *notes,
                            FILE *file)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
                "form-action 'none'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<title>Zeta report</title>\n<style>\n",
                file);
    (void)fwrite(zeta_page_css, 1, zeta_page_css_bytes, file);
    (void)fputs(
        "</style>\n</head>\n<body>\n"
        "<noscript>This page draws its data with a script; it needs no network.</noscript>\n"
        "<main id=\"page\"></main>\n<script type=\"application/json\" id=\"data\">\n",
        file);
    put_data(report, notes, file);
    (void)fputs("</script>\n<script>\n", file);
    (void)fwrite(zeta_page_script, 1, zeta_page_script_bytes, file);
    (void)fputs("</script>\n</body>\n</html>\n", file);
}
