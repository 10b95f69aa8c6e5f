/* A recording as a page: the data as JSON, beside a script that shows it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/report/forms.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/stat/stat.h"

/* Style and script of the page, from page/. */
extern const unsigned char zeta_page_css[];
extern const size_t zeta_page_css_bytes;
extern const unsigned char zeta_page_script[];
extern const size_t zeta_page_script_bytes;

enum {
    MAX_SPANS = 20000,  /* beyond that neighbours are drawn as one */
    SPAN_PIECES = 4000, /* of the whole time, then */
    MAX_PROFILE_LINES = 500,
    VALUE_BYTES = 1024
};

/* A text that anybody may have chosen. */
static void append_foreign(struct json_object *array, const char *text)
{
    char copy[4 * VALUE_BYTES];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    zeta_text_clean(copy, strlen(copy));
    zeta_json_append_text(array, copy);
}

static void put_foreign(struct json_object *object, const char *key, const char *text)
{
    char copy[VALUE_BYTES];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    zeta_text_clean(copy, strlen(copy));
    zeta_json_put_text(object, key, copy);
}

static void append_i64(struct json_object *array, int64_t value)
{
    (void)json_object_array_add(array, json_object_new_int64(value));
}

/* ---- summary ------------------------------------------------------------------------------- */

static void put_fact(struct json_object *facts, const char *label, const char *value)
{
    struct json_object *fact = zeta_json_append_array(facts);

    zeta_json_append_text(fact, label);
    append_foreign(fact, value);
}

static void put_facts(struct json_object *document, const struct zeta_report *report)
{
    static const char *const keys[][2] = {{"begin", "Begin"}, {"end", "End"}, {"host", "Host"}};
    struct json_object *facts = zeta_json_put_array(document, "facts");
    char text[4 * VALUE_BYTES] = "";
    char word[VALUE_BYTES];
    size_t used = 0;

    for (uint32_t i = 0;
         used < sizeof(text) && zeta_report_meta(report, "command", i, word, sizeof(word)); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "", word);
    if (used > 0)
        put_fact(facts, "Program", text);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (zeta_report_meta(report, keys[i][0], 0, text, sizeof(text)))
            put_fact(facts, keys[i][1], text);
    }
    for (uint32_t i = 0; i < report->device_count; i++) {
        const struct zeta_report_device *device = &report->devices[i];

        (void)snprintf(text, sizeof(text), "%s (%s, %s)", device->name, device->device_class,
                       device->id);
        put_fact(facts, "Device", text);
    }
    zeta_duration_format(zeta_report_length(report), text);
    if (report->has_begin)
        put_fact(facts, "Length", text);
    (void)snprintf(text, sizeof(text), "%s, %" PRIu64 " bytes%s", report->options.path,
                   report->file_bytes, report->is_cut ? ", cut" : "");
    put_fact(facts, "File", text);
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

/* What of a piece a point shows. */
enum point { POINT_VALUE, POINT_LOW, POINT_HIGH };

/*
 * Puts the points of a line as text that is JSON already: as objects of json-c a long recording's
 * would take a hundred bytes each. null: no row is there; false: there are rows, and they have no
 * value. Of amounts a point shows how much a row has of them.
 */
static void put_points(struct json_object *object, const char *key, enum point point,
                       const struct drawn *drawn, uint32_t metric, enum zeta_account_kind kind,
                       const struct zeta_sum_line *line)
{
    struct json_object *array = zeta_json_put_array(object, key);
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (!file)
        return;
    for (uint32_t i = 0; i < drawn->pieces; i++) {
        const struct zeta_metric_value *value = &drawn->values[(size_t)i * drawn->metrics + metric];
        double number = zeta_number_as_double(zeta_number_from_value(&value->value)) /
                        (kind == ZETA_ACCOUNT_TOTAL ? (double)value->rows : 1.0);

        if (point == POINT_LOW)
            number = zeta_number_as_double(zeta_number_from_value(&value->min));
        else if (point == POINT_HIGH)
            number = zeta_number_as_double(zeta_number_from_value(&value->max));
        (void)fputc(i > 0 ? ',' : '[', file);
        if (line->pieces[i] && !value->has_value)
            (void)fputs("false", file);
        else if (line->pieces[i] && isfinite(number))
            (void)zeta_c_fprintf(file, "%.6g", number);
        else
            (void)fputs("null", file);
    }
    (void)fputs(drawn->pieces > 0 ? "]" : "[]", file);
    if (fclose(file) == 0)
        json_object_set_serializer(array, json_object_userdata_to_json_string, text,
                                   json_object_free_userdata);
    else
        free(text);
}

static bool has_points(const struct drawn *drawn, uint32_t metric)
{
    for (uint32_t i = 0; i < drawn->pieces; i++) {
        if (drawn->values[(size_t)i * drawn->metrics + metric].has_value)
            return true;
    }
    return false;
}

static void put_metric(struct json_object *object, const struct zeta_metric_entry *metric,
                       const struct zeta_account *account)
{
    zeta_json_put_text(object, "n", metric->properties.name);
    zeta_json_put_text(object, "u", metric->properties.resultUnits);
    zeta_json_put_text(object, "k", zeta_account_kind_name(account->kind));
    zeta_json_put_number(object, "v", account->value);
    zeta_json_put_number(object, "min", account->min);
    zeta_json_put_number(object, "max", account->max);
}

/* What is missing, in words and in figures. */
static void put_losses(struct json_object *object, const struct zeta_sampled_group *group)
{
    char losses[ZETA_LOSSES_BYTES];

    zeta_losses_format(group, true, losses);
    zeta_json_put_text(object, "losses", losses);
    zeta_losses_put_json(object, group);
}

/* Gives the array of its metrics. */
static struct json_object *put_group(struct json_object *object,
                                     const struct zeta_sampled_group *group, const char *name)
{
    zeta_json_put_text(object, "name", name);
    put_losses(object, group);
    zeta_json_put_u64(object, "samples", group->samples);
    zeta_json_put_u64(object, "period_ns", group->period_ns);
    return zeta_json_put_array(object, "metrics");
}

static void put_lines(struct json_object *object, const struct zeta_report_stream *stream,
                      uint32_t metric, const struct drawn *drawn)
{
    const enum zeta_account_kind kind = stream->calc.group.accounts[metric].kind;
    struct json_object *lines = zeta_json_put_array(object, "lines");

    for (uint32_t tile = 0; drawn && tile < stream->calc.group.tile_count; tile++) {
        const struct drawn *d = &drawn[tile];
        const struct zeta_sum_line *from = &stream->lines[tile];
        struct json_object *line;

        if (!has_points(d, metric))
            continue;
        line = zeta_json_append_object(lines);
        zeta_json_put_u64(line, "tile", tile);
        zeta_json_put_u64(line, "w", d->width_ns);
        zeta_json_put_u64(line, "rows", d->most_rows);
        put_points(line, "value", POINT_VALUE, d, metric, kind, from);
        /* Points of single rows have no range. */
        if (d->most_rows > 1) {
            put_points(line, "low", POINT_LOW, d, metric, kind, from);
            put_points(line, "high", POINT_HIGH, d, metric, kind, from);
        }
    }
}

static void put_groups(struct json_object *document, const struct zeta_report *report)
{
    struct json_object *groups = zeta_json_put_array(document, "groups");

    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];
        const struct zeta_group_entry *entry = &stream->calc.entry;
        const uint32_t width = entry->properties.metricCount;
        const uint32_t tiles = stream->lines ? stream->calc.group.tile_count : 0;
        struct json_object *group, *metrics;
        struct drawn *drawn;
        bool is_drawn;

        if (stream->kind != ZETA_REPORT_ROWS || !stream->calc.is_open)
            continue;
        drawn = calloc((size_t)tiles + 1, sizeof(*drawn));
        is_drawn = drawn && tiles > 0;
        for (uint32_t tile = 0; tile < tiles && is_drawn; tile++)
            is_drawn = calculate_line(&stream->lines[tile], width, &drawn[tile]);
        group = zeta_json_append_object(groups);
        metrics = put_group(group, &stream->calc.group, stream->name);
        for (uint32_t m = 0; m < width; m++) {
            struct json_object *metric = zeta_json_append_object(metrics);

            put_metric(metric, &entry->metrics[m], &stream->calc.group.accounts[m]);
            zeta_json_put_text(metric, "d", entry->metrics[m].properties.description);
            put_lines(metric, stream, m, is_drawn ? drawn : NULL);
        }
        zeta_json_put_u64(group, "shared", stream->shared_rows);
        zeta_json_put_u64(group, "idle", stream->idle_rows);
        for (uint32_t tile = 0; drawn && tile < tiles; tile++)
            free(drawn[tile].values);
        free(drawn);
    }
}

static void put_events(struct json_object *document, const struct zeta_report *report)
{
    struct json_object *array = zeta_json_put_array(document, "events");

    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];
        char losses[ZETA_LOSSES_BYTES];
        struct json_object *object, *metrics;

        if (stream->kind != ZETA_REPORT_EVENTS)
            continue;
        object = zeta_json_append_object(array);
        zeta_lost_events_format(stream->lost_events, true, losses);
        zeta_json_put_text(object, "name", stream->name);
        zeta_json_put_text(object, "losses", losses);
        zeta_json_put_u64(object, "lost", stream->lost_events);
        metrics = zeta_json_put_array(object, "metrics");
        for (uint32_t m = 0; m < stream->event_count; m++) {
            const struct zeta_report_event_metric *event = &stream->events[m];
            struct json_object *metric = zeta_json_append_object(metrics);
            struct json_object *counts;

            zeta_json_put_text(metric, "n", event->described.properties.name);
            zeta_json_put_text(metric, "d", event->described.properties.description);
            zeta_json_put_u64(metric, "c", event->entries);
            zeta_json_put_u64(metric, "w", event->line.width_ns);
            counts = zeta_json_put_array(metric, "sum");
            for (uint32_t p = 0; p < event->line.used; p++) {
                if (event->line.points[p] > 0)
                    zeta_json_append_u64(counts, event->line.points[p]);
                else
                    (void)json_object_array_add(counts, NULL);
            }
        }
    }
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void put_kernels(struct json_object *document, const struct zeta_report *report)
{
    const struct zeta_report_kernel **list = zeta_report_kernels_sorted(report);
    struct json_object *array = zeta_json_put_array(document, "kernels");

    for (uint32_t k = 0; list && k < report->kernel_count; k++) {
        const struct zeta_report_kernel *kernel = list[k];
        struct json_object *object, *groups;
        char name[VALUE_BYTES];

        if (kernel->count == 0)
            continue;
        object = zeta_json_append_object(array);
        zeta_report_kernel_name(report, kernel->name, name, sizeof(name));
        zeta_json_put_text(object, "n", name);
        zeta_json_put_u64(object, "c", kernel->count);
        zeta_json_put_u64(object, "t", kernel->total_ns);
        zeta_json_put_u64(object, "min", kernel->min_ns);
        zeta_json_put_u64(object, "max", kernel->max_ns);
        groups = zeta_json_put_array(object, "groups");
        for (uint32_t i = 0; kernel->groups && i < report->stream_count; i++) {
            const struct zeta_sampled_group *group = kernel->groups[i];
            struct json_object *metrics;

            if (!group)
                continue;
            metrics = put_group(zeta_json_append_object(groups), group, report->streams[i]->name);
            for (uint32_t m = 0; m < group->entry->properties.metricCount; m++)
                put_metric(zeta_json_append_object(metrics), &group->entry->metrics[m],
                           &group->accounts[m]);
        }
    }
    free((void *)list);
}

/* A span of a lane while it is drawn together with those beside it. */
struct span {
    int64_t begin_ns, end_ns;
    uint64_t longest_ns;
    uint32_t name; /* of the longest */
    uint64_t count;
};

static void put_span(struct json_object *spans, const struct zeta_report *report,
                     const struct span *span)
{
    struct json_object *array = zeta_json_append_array(spans);

    append_i64(array, span->begin_ns - report->begin_ns);
    append_i64(array, span->end_ns - report->begin_ns);
    zeta_json_append_u64(array, span->name);
    zeta_json_append_u64(array, span->count);
}

static void put_lane(struct json_object *spans, const struct zeta_report *report, uint32_t lane,
                     int64_t piece_ns)
{
    const struct zeta_report_runs *runs = &report->runs;
    struct span span = {0};

    for (uint32_t i = 0; i < runs->count; i++) {
        const struct zeta_report_run *run = &runs->runs[i];
        const uint64_t time_ns = (uint64_t)(run->end_ns - run->begin_ns);

        if (run->lane != lane || !zeta_report_in_range(report, run->begin_ns, run->end_ns))
            continue;
        if (span.count > 0 && run->end_ns - span.begin_ns > piece_ns) {
            put_span(spans, report, &span);
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
        put_span(spans, report, &span);
}

static void put_lanes(struct json_object *document, const struct zeta_report *report)
{
    const struct zeta_report_runs *runs = &report->runs;
    const int64_t piece_ns =
        runs->count > MAX_SPANS ? (report->end_ns - report->begin_ns) / SPAN_PIECES : 0;
    struct json_object *array;

    zeta_json_put_i64(document, "span_ns", piece_ns);
    array = zeta_json_put_array(document, "names");
    for (uint32_t i = 0; i < runs->names.count; i++)
        append_foreign(array, runs->names.names[i]);
    array = zeta_json_put_array(document, "lanes");
    for (uint32_t i = 0; i < runs->lanes.count && i < ZETA_REPORT_MAX_LANES; i++) {
        const bool has_title = i < runs->lane_title_count && runs->lane_titles[i];
        struct json_object *lane = zeta_json_append_object(array);

        put_foreign(lane, "n", has_title ? runs->lane_titles[i] : runs->lanes.names[i]);
        put_lane(zeta_json_put_array(lane, "s"), report, i, piece_ns);
    }
}

/* Values as texts: numbers of a script are exact up to 2^53. */
static void put_markers(struct json_object *document, const struct zeta_report *report)
{
    struct json_object *array = zeta_json_put_array(document, "markers");

    for (uint32_t i = 0; i < report->marker_count; i++) {
        const struct zeta_report_marker *marker = &report->markers[i];
        struct json_object *element = zeta_json_append_array(array);
        char value[24];

        (void)snprintf(value, sizeof(value), "%" PRIu64, marker->value);
        append_i64(element, marker->time_ns - report->begin_ns);
        zeta_json_append_text(element, value);
        zeta_json_append_text(element, marker->source);
    }
}

/* ---- calls and the profile ----------------------------------------------------------------- */

static void put_accounts(struct json_object *document, const char *key,
                         const struct zeta_trace_accounts *accounts)
{
    struct json_object *array = zeta_json_put_array(document, key);

    for (uint32_t i = 0; i < accounts->names.count; i++) {
        const struct zeta_trace_account *account = &accounts->accounts[i];
        struct json_object *element = zeta_json_append_array(array);

        append_foreign(element, accounts->names.names[i]);
        zeta_json_append_u64(element, account->count);
        zeta_json_append_u64(element, account->total_ns);
        zeta_json_append_u64(element, account->min_ns);
        zeta_json_append_u64(element, account->max_ns);
        zeta_json_append_u64(element, account->errors);
    }
}

static void put_profile(struct json_object *document, const struct zeta_report *report)
{
    const struct zeta_ip_profile *profile = &report->profile;
    const uint32_t count =
        profile->line_count < MAX_PROFILE_LINES ? profile->line_count : MAX_PROFILE_LINES;
    struct json_object *object, *array;

    if (!report->profile_stream || !profile->source)
        return;
    object = zeta_json_put_object(document, "profile");
    put_losses(object, &report->profile_stream->calc.group);
    array = zeta_json_put_array(object, "reasons");
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++)
        zeta_json_append_text(array, profile->reason_names[i]);
    zeta_json_put_u64(object, "total", profile->all.total);
    zeta_json_put_u64(object, "left_out", profile->line_count - count);
    array = zeta_json_put_array(object, "lines");
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_ip_line *line = &profile->lines[i];
        struct json_object *element = zeta_json_append_array(array);
        char place[VALUE_BYTES];

        if (line->is_address || !line->file)
            (void)snprintf(place, sizeof(place), "0x%" PRIx64, line->address);
        else
            (void)snprintf(place, sizeof(place), "%s:%" PRIu32, line->file, line->line);
        append_foreign(element, line->kernel ? line->kernel : "(unknown)");
        append_foreign(element, place);
        zeta_json_append_u64(element, line->counts.total);
        for (uint32_t r = 0; r < ZETA_IP_REASONS; r++)
            zeta_json_append_u64(element, line->counts.reasons[r]);
    }
}

static struct json_object *make_document(const struct zeta_report *report,
                                         const struct zeta_report_notes *notes)
{
    const uint64_t all_ns = report->has_begin ? (uint64_t)(report->end_ns - report->begin_ns) : 0;
    struct json_object *document = json_object_new_object();
    struct json_object *array;

    if (!document)
        return NULL;
    zeta_json_put_text(document, "version", zetaGetVersion());
    put_facts(document, report);
    array = zeta_json_put_array(document, "notes");
    for (uint32_t i = 0; i < notes->count; i++)
        zeta_json_append_text(array, notes->text[i]);
    zeta_json_put_u64(document, "from", report->options.from_ns);
    zeta_json_put_u64(document, "to",
                      report->options.to_ns < all_ns ? report->options.to_ns : all_ns);
    put_groups(document, report);
    put_events(document, report);
    put_kernels(document, report);
    put_lanes(document, report);
    put_markers(document, report);
    put_accounts(document, "calls", &report->summary.calls);
    put_accounts(document, "work", &report->summary.work);
    put_profile(document, report);
    return document;
}

void zeta_report_write_html(const struct zeta_report *report, const struct zeta_report_notes *notes,
                            FILE *file)
{
    struct json_object *document = make_document(report, notes);

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
    zeta_json_write_html(document, file);
    (void)fputs("</script>\n<script>\n", file);
    (void)fwrite(zeta_page_script, 1, zeta_page_script_bytes, file);
    (void)fputs("</script>\n</body>\n</html>\n", file);
    (void)json_object_put(document);
}
