/* A recording as a page: zeta report's JSON with what plots need, beside a script that shows it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/report/forms.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"

/* Style and script of the page, from page/. */
extern const unsigned char zeta_page_css[];
extern const size_t zeta_page_css_bytes;
extern const unsigned char zeta_page_script[];
extern const size_t zeta_page_script_bytes;

enum {
    MAX_SPANS = 20000,  /* beyond that neighbours are drawn as one */
    SPAN_PIECES = 4000, /* of the whole time, then */
    MAX_PROFILE_LINES = 500
};

static void append_i64(struct json_object *array, int64_t value)
{
    (void)json_object_array_add(array, json_object_new_int64(value));
}

/* ---- metrics and events over time ----------------------------------------------------------- */

/* What of a piece a point shows. */
enum point { POINT_VALUE, POINT_LOW, POINT_HIGH };

/* The values of a line of sums. */
struct points {
    const struct zeta_sum_line *line;
    const struct zeta_metric_value *values; /* metrics of the first piece, then of the second */
    uint32_t width;                         /* metrics */
};

/*
 * Puts the points of a metric as text that is JSON already: as objects of json-c a long recording's
 * would take a hundred bytes each. null: no row is there; false: there are rows, and they have no
 * value. Of amounts a point shows how much a row has of them.
 */
static void put_points(struct json_object *object, const char *key, enum point point,
                       const struct points *points, uint32_t metric, enum zeta_account_kind kind)
{
    struct json_object *array = zeta_json_put_array(object, key);
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    zeta_need_memory(file != NULL);
    for (uint32_t i = 0; i < points->line->used; i++) {
        const struct zeta_metric_value *value = &points->values[i * points->width + metric];
        const zet_typed_value_t *shown = point == POINT_LOW    ? &value->min
                                         : point == POINT_HIGH ? &value->max
                                                               : &value->value;
        double number = zeta_number_as_double(zeta_number_from_value(shown));

        if (point == POINT_VALUE && kind == ZETA_ACCOUNT_TOTAL)
            number /= (double)value->rows;
        (void)fputc(i > 0 ? ',' : '[', file);
        if (points->line->pieces[i] && !value->has_value)
            (void)fputs("false", file);
        else if (points->line->pieces[i] && isfinite(number))
            (void)zeta_c_fprintf(file, "%.6g", number);
        else
            (void)fputs("null", file);
    }
    (void)fputs(points->line->used > 0 ? "]" : "[]", file);
    zeta_need_memory(fclose(file) == 0);
    json_object_set_serializer(array, json_object_userdata_to_json_string, text,
                               json_object_free_userdata);
}

/* Adds the lines of a tile to the metrics of a group. */
static void put_tile(struct json_object *metrics, const struct zeta_report_stream *stream,
                     uint32_t tile)
{
    const struct zeta_sum_line *line = &stream->lines[tile];
    const uint32_t width = stream->entry.properties.metricCount;
    struct zeta_metric_value *values = zeta_allocate((size_t)line->used * width, sizeof(*values));
    const struct points points = {line, values, width};
    uint64_t most_rows = 0; /* of one piece */

    for (uint32_t i = 0; i < line->used; i++) {
        struct zeta_metric_value *of_piece = values + (size_t)i * width;
        uint32_t count = width;

        for (uint32_t m = 0; m < width; m++)
            of_piece[m].struct_size = sizeof(*values);
        zeta_need_memory(!line->pieces[i] || zetaMetricSumGetValues(line->pieces[i], &count,
                                                                    of_piece) == ZE_RESULT_SUCCESS);
        for (uint32_t m = 0; m < width; m++)
            most_rows = of_piece[m].rows > most_rows ? of_piece[m].rows : most_rows;
    }
    for (uint32_t m = 0; m < width; m++) {
        const enum zeta_account_kind kind = stream->group.accounts[m].kind;
        struct json_object *object;
        uint32_t i = 0;

        while (i < line->used && !values[(size_t)i * width + m].has_value)
            i++;
        if (i == line->used)
            continue;
        object = zeta_json_append_object(
            json_object_object_get(json_object_array_get_idx(metrics, m), "lines"));
        zeta_json_put_u64(object, "tile", tile);
        zeta_json_put_u64(object, "width_ns", line->width);
        zeta_json_put_u64(object, "rows", most_rows);
        put_points(object, "value", POINT_VALUE, &points, m, kind);
        /* Points of single rows have no range. */
        if (most_rows > 1) {
            put_points(object, "low", POINT_LOW, &points, m, kind);
            put_points(object, "high", POINT_HIGH, &points, m, kind);
        }
    }
    free(values);
}

/* What is missing, in words: the figures are there. */
static void put_losses(struct json_object *object, const struct zeta_sampled_group *group)
{
    char losses[ZETA_LOSSES_BYTES];

    zeta_losses_format(group, true, losses);
    zeta_json_put_text(object, "losses", losses);
}

static void put_group(struct json_object *object, const struct zeta_report_stream *stream)
{
    const struct zeta_group_entry *entry = &stream->entry;
    struct json_object *metrics = json_object_object_get(object, "metrics");

    put_losses(object, &stream->group);
    for (uint32_t m = 0; m < entry->properties.metricCount; m++) {
        struct json_object *metric = json_object_array_get_idx(metrics, m);

        zeta_json_put_text(metric, "kind", zeta_account_kind_name(stream->group.accounts[m].kind));
        zeta_json_put_text(metric, "description", entry->metrics[m].properties.description);
        (void)zeta_json_put_array(metric, "lines");
    }
    for (uint32_t tile = 0; stream->lines && tile < stream->group.tile_count; tile++)
        put_tile(metrics, stream, tile);
}

static void put_events(struct json_object *object, const struct zeta_report_stream *stream)
{
    struct json_object *metrics = json_object_object_get(object, "metrics");
    char losses[ZETA_LOSSES_BYTES];

    zeta_lost_events_format(stream->lost_events, true, losses);
    zeta_json_put_text(object, "losses", losses);
    for (uint32_t m = 0; m < stream->event_count; m++) {
        const struct zeta_report_event_metric *event = &stream->events[m];
        struct json_object *metric = json_object_array_get_idx(metrics, m);
        struct json_object *counts;

        zeta_json_put_text(metric, "description", event->described.properties.description);
        zeta_json_put_u64(metric, "width_ns", event->line.width_ns);
        counts = zeta_json_put_array(metric, "counts");
        for (uint32_t p = 0; p < event->line.used; p++) {
            if (event->line.points[p] > 0)
                zeta_json_append_u64(counts, event->line.points[p]);
            else
                (void)json_object_array_add(counts, NULL);
        }
    }
}

/* ---- runs on the device --------------------------------------------------------------------- */

/* A span of a lane while it is drawn together with those beside it. */
struct span {
    int64_t begin_ns, end_ns;
    uint64_t longest_ns;
    uint32_t name; /* of the longest */
    uint64_t count;
};

static void append_span(struct json_object *spans, const struct zeta_report *report,
                        const struct span *span)
{
    struct json_object *array = zeta_json_append_array(spans);

    append_i64(array, span->begin_ns - report->begin_ns);
    append_i64(array, span->end_ns - report->begin_ns);
    zeta_json_append_u64(array, span->name);
    zeta_json_append_u64(array, span->count);
}

static void put_spans(struct json_object *lane, const struct zeta_report *report, uint32_t number,
                      int64_t piece_ns)
{
    struct json_object *spans = zeta_json_put_array(lane, "spans");
    struct span span = {0};

    for (uint32_t i = 0; i < report->runs.count; i++) {
        const struct zeta_report_run *run = &report->runs.runs[i];
        const uint64_t time_ns = (uint64_t)(run->end_ns - run->begin_ns);

        if (run->lane != number || !zeta_report_in_range(report, run->begin_ns, run->end_ns))
            continue;
        if (span.count > 0 && run->end_ns - span.begin_ns > piece_ns) {
            append_span(spans, report, &span);
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
        append_span(spans, report, &span);
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
        zeta_json_append_text(array, runs->names.names[i]);
    array = zeta_json_put_array(document, "lanes");
    for (uint32_t i = 0; i < runs->lanes.count && i < ZETA_REPORT_MAX_LANES; i++) {
        const bool has_title = i < runs->lane_title_count && runs->lane_titles[i];
        struct json_object *lane = zeta_json_append_object(array);

        zeta_json_put_text(lane, "name", has_title ? runs->lane_titles[i] : runs->lanes.names[i]);
        put_spans(lane, report, i, piece_ns);
    }
}

/* ---- the page ------------------------------------------------------------------------------- */

/* Adds to the JSON of a report what only the page shows. */
static void put_page(struct json_object *document, const struct zeta_report *report)
{
    struct json_object *groups = json_object_object_get(document, "groups");
    struct json_object *events = json_object_object_get(document, "events");
    struct json_object *markers = json_object_object_get(document, "markers");
    struct json_object *profile = json_object_object_get(document, "profile");
    struct json_object *devices = zeta_json_put_array(document, "devices");
    uint32_t group = 0, event = 0;

    zeta_json_put_text(document, "path", report->options.path);
    for (uint32_t i = 0; i < report->device_count; i++) {
        struct json_object *device = zeta_json_append_object(devices);

        zeta_json_put_text(device, "name", report->devices[i]->entry.properties.name);
        zeta_json_put_text(device, "class", report->devices[i]->device_class);
        zeta_json_put_text(device, "id", report->devices[i]->id);
    }
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (stream->kind == ZETA_REPORT_EVENTS)
            put_events(json_object_array_get_idx(events, event++), stream);
        else if (stream->kind == ZETA_REPORT_ROWS && stream->is_open)
            put_group(json_object_array_get_idx(groups, group++), stream);
    }
    put_lanes(document, report);
    /* Values as texts: numbers of a script are exact up to 2^53. */
    for (uint32_t i = 0; i < report->marker_count; i++) {
        char value[24];

        (void)snprintf(value, sizeof(value), "%" PRIu64, report->markers[i].value);
        zeta_json_put_text(json_object_array_get_idx(markers, i), "value", value);
    }
    if (profile) {
        struct json_object *lines = json_object_object_get(profile, "lines");
        const size_t count = json_object_array_length(lines);
        struct json_object *reasons = zeta_json_put_array(profile, "reasons");

        put_losses(profile, &report->profile_stream->group);
        for (uint32_t i = 0; i < ZETA_IP_REASONS; i++)
            zeta_json_append_text(reasons, report->profile.reason_names[i]);
        if (count > MAX_PROFILE_LINES)
            (void)json_object_array_del_idx(lines, MAX_PROFILE_LINES, count - MAX_PROFILE_LINES);
        zeta_json_put_u64(profile, "left_out", count - json_object_array_length(lines));
    }
}

void zeta_report_write_html(const struct zeta_report *report, const struct zeta_report_notes *notes,
                            FILE *file)
{
    struct json_object *document = zeta_report_to_json(report, notes);

    put_page(document, report);
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
