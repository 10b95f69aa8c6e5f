/* A recording as tables, and in the shape of zeta stat's JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/report/forms.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/stat/stat.h"

enum { LABEL_WIDTH = 10, MAX_SHOWN_MARKERS = 20, VALUE_BYTES = 1024 };

static void put_names(struct json_object *object, const struct zeta_report_event_metric *event)
{
    struct json_object *array = zeta_json_put_array(object, "names");

    for (uint32_t i = 0; i < event->name_count; i++) {
        struct json_object *name;

        if (event->names[i].entries == 0)
            continue; /* out of the range */
        name = zeta_json_append_object(array);
        zeta_json_put_u64(name, "id", event->names[i].id);
        if (event->names[i].text)
            zeta_json_put_text(name, "name", event->names[i].text);
        zeta_json_put_u64(name, "entries", event->names[i].entries);
    }
}

static void put_events(struct json_object *document, const struct zeta_report *report)
{
    struct json_object *array = zeta_json_put_array(document, "events");

    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];
        struct json_object *object, *metrics;

        if (stream->kind != ZETA_REPORT_EVENTS)
            continue;
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "name", stream->name);
        zeta_json_put_u64(object, "entries", stream->event_entries);
        zeta_json_put_u64(object, "lost", stream->lost_events);
        metrics = zeta_json_put_array(object, "metrics");
        for (uint32_t m = 0; m < stream->event_count; m++) {
            struct json_object *metric = zeta_json_append_object(metrics);

            zeta_json_put_text(metric, "name", stream->events[m].described.properties.name);
            zeta_json_put_u64(metric, "entries", stream->events[m].entries);
            if (stream->events[m].has_names)
                put_names(metric, &stream->events[m]);
        }
    }
}

/* Of runs of a kernel, or of calls. */
static struct json_object *append_times(struct json_object *array, const char *name, uint64_t count,
                                        uint64_t total_ns, uint64_t min_ns, uint64_t max_ns)
{
    struct json_object *object = zeta_json_append_object(array);

    zeta_json_put_text(object, "name", name);
    zeta_json_put_u64(object, "count", count);
    zeta_json_put_u64(object, "total_ns", total_ns);
    zeta_json_put_u64(object, "min_ns", min_ns);
    zeta_json_put_u64(object, "max_ns", max_ns);
    return object;
}

static void put_kernels(struct json_object *document, const struct zeta_report *report)
{
    const struct zeta_report_kernel **list = zeta_report_kernels_sorted(report);
    struct json_object *array = zeta_json_put_array(document, "kernels");

    for (uint32_t k = 0; k < report->kernel_count; k++) {
        const struct zeta_report_kernel *kernel = list[k];
        struct json_object *groups;
        char name[VALUE_BYTES];

        if (kernel->count == 0)
            continue;
        zeta_report_kernel_name(report, kernel->name, name, sizeof(name));
        groups = zeta_json_put_array(append_times(array, name, kernel->count, kernel->total_ns,
                                                  kernel->min_ns, kernel->max_ns),
                                     "groups");
        for (uint32_t i = 0; kernel->groups && i < report->stream_count; i++) {
            if (kernel->groups[i])
                zeta_stat_group_put_json(groups, zeta_report_device_of(report->streams[i]),
                                         kernel->groups[i]);
        }
    }
    free((void *)list);
    array = zeta_json_put_array(document, "kernel_rows");
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];
        struct json_object *object;

        if (stream->kind != ZETA_REPORT_ROWS || !stream->has_time)
            continue;
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "group", stream->name);
        zeta_json_put_u64(object, "inside",
                          stream->group.samples - stream->shared_rows - stream->idle_rows);
        zeta_json_put_u64(object, "shared", stream->shared_rows);
        zeta_json_put_u64(object, "idle", stream->idle_rows);
    }
}

static void put_accounts(struct json_object *document, const char *key,
                         const struct zeta_trace_accounts *accounts)
{
    struct json_object *array = zeta_json_put_array(document, key);

    for (uint32_t i = 0; i < accounts->names.count; i++) {
        const struct zeta_trace_account *account = &accounts->accounts[i];

        zeta_json_put_u64(append_times(array, accounts->names.names[i], account->count,
                                       account->total_ns, account->min_ns, account->max_ns),
                          "errors", account->errors);
    }
}

struct json_object *zeta_report_to_json(const struct zeta_report *report,
                                        const struct zeta_report_notes *notes)
{
    static const char *const keys[] = {"begin", "end", "host", "version"};
    struct zeta_stat_report stat = {.elapsed_ns = zeta_report_length(report)};
    struct json_object *document, *recording, *array = NULL;
    char value[4 * VALUE_BYTES];

    if (report->profile_stream) {
        stat.profile = &report->profile;
        stat.profile_group = &report->profile_stream->group;
    }
    document = zeta_stat_report_to_json(&stat);
    array = json_object_object_get(document, "groups");
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (stream->is_open && stream->kind == ZETA_REPORT_ROWS)
            zeta_stat_group_put_json(array, zeta_report_device_of(stream), &stream->group);
    }
    for (uint32_t i = 0; zeta_report_meta(report, "command", i, value, sizeof(value)); i++) {
        if (i == 0)
            array = zeta_json_put_array(document, "program");
        zeta_json_append_text(array, value);
    }

    recording = zeta_json_put_object(document, "recording");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (zeta_report_meta(report, keys[i], 0, value, sizeof(value)))
            zeta_json_put_text(recording, keys[i], value);
    }
    zeta_json_put_u64(recording, "file_bytes", report->file_bytes);
    zeta_json_put_bool(recording, "cut", report->is_cut);
    zeta_json_put_u64(recording, "damaged", report->damaged);
    zeta_json_put_u64(recording, "lost_chunks", report->lost.chunks);
    zeta_json_put_u64(recording, "lost_bytes", report->lost.bytes);
    if (report->options.has_range) {
        zeta_json_put_u64(recording, "from_ns", report->options.from_ns);
        zeta_json_put_u64(recording, "to_ns", report->options.from_ns + stat.elapsed_ns);
    }
    array = zeta_json_put_array(recording, "notes");
    for (uint32_t i = 0; i < notes->count; i++)
        zeta_json_append_text(array, notes->text[i]);

    put_events(document, report);
    if (report->kernels)
        put_kernels(document, report);
    put_accounts(document, "calls", &report->summary.calls);
    put_accounts(document, "work", &report->summary.work);
    array = zeta_json_put_array(document, "markers");
    for (uint32_t i = 0; i < report->marker_count; i++) {
        struct json_object *object = zeta_json_append_object(array);

        zeta_json_put_i64(object, "time_ns", report->markers[i].time_ns - report->begin_ns);
        zeta_json_put_u64(object, "value", report->markers[i].value);
        zeta_json_put_text(object, "source", report->markers[i].source);
    }
    return document;
}

static void print_fact(FILE *stream, const char *label, const char *value)
{
    (void)fprintf(stream, "%-*s %s\n", LABEL_WIDTH, label, value);
}

static void print_header(const struct zeta_report *report, FILE *stream)
{
    char value[VALUE_BYTES];
    char length[ZETA_DURATION_TEXT_BYTES];

    for (uint32_t i = 0; zeta_report_meta(report, "command", i, value, sizeof(value)); i++)
        (void)fprintf(stream, "%-*s %s", i == 0 ? LABEL_WIDTH : 0, i == 0 ? "Program" : "", value);
    if (zeta_report_meta(report, "command", 0, value, sizeof(value)))
        (void)fputc('\n', stream);
    if (zeta_report_meta(report, "begin", 0, value, sizeof(value)))
        print_fact(stream, "Begin", value);
    if (zeta_report_meta(report, "host", 0, value, sizeof(value)))
        print_fact(stream, "Host", value);
    for (uint32_t i = 0; i < report->device_count; i++) {
        const struct zeta_report_device *device = report->devices[i];

        (void)fprintf(stream, "%-*s %s (%s, %s)\n", LABEL_WIDTH, "Device",
                      device->entry.properties.name, device->device_class, device->id);
    }
    zeta_duration_format(zeta_report_length(report), length);
    if (report->has_begin)
        print_fact(stream, "Length", length);
    (void)fprintf(stream, "%-*s %" PRIu64 " bytes%s\n", LABEL_WIDTH, "File", report->file_bytes,
                  report->is_cut ? ", cut" : "");
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *s = report->streams[i];

        (void)fprintf(stream, "%-*s %s: %" PRIu64 " bytes of data\n", LABEL_WIDTH,
                      i == 0 ? "Streams" : "", s->name, s->data_bytes);
    }
}

static void print_events(const struct zeta_report_stream *events, FILE *stream)
{
    static const struct zeta_table_column columns[] = {
        {.title = "Metric", .least = 6},
        {.title = "Entries", .gap = 1, .least = 12, .is_right = true},
    };
    struct zeta_table table = {.columns = columns, .column_count = 2};
    char losses[ZETA_LOSSES_BYTES];

    zeta_lost_events_format(events->lost_events, true, losses);
    (void)fprintf(stream, "\n%s: %s\n\n", events->name, losses);
    for (uint32_t i = 0; i < events->event_count; i++) {
        const struct zeta_report_event_metric *event = &events->events[i];

        if (event->entries == 0)
            continue;
        zeta_table_set(&table, table.row_count, 0, "%s", event->described.properties.name);
        zeta_table_set(&table, table.row_count - 1, 1, "%" PRIu64, event->entries);
        for (uint32_t n = 0; n < event->name_count; n++) {
            const struct zeta_report_event_name *name = &event->names[n];

            if (name->entries == 0)
                continue; /* out of the range */
            if (name->text)
                zeta_table_set(&table, table.row_count, 0, "  %s", name->text);
            else
                zeta_table_set(&table, table.row_count, 0, "  %" PRIu64, name->id);
            zeta_table_set(&table, table.row_count - 1, 1, "%" PRIu64, name->entries);
        }
    }
    zeta_table_finish(&table, stream);
}

static void print_markers(const struct zeta_report *report, FILE *stream)
{
    static const struct zeta_table_column columns[] = {
        {.title = "Time", .least = 16, .is_right = true},
        {.title = "Source", .gap = 2, .least = 14},
        {.title = "Value", .gap = 1},
    };
    struct zeta_table table = {.columns = columns, .column_count = 3};

    if (report->marker_count == 0)
        return;
    (void)fprintf(stream, "\n%" PRIu32 " marker%s\n\n", report->marker_count,
                  report->marker_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < report->marker_count && i < MAX_SHOWN_MARKERS; i++) {
        const struct zeta_report_marker *marker = &report->markers[i];

        zeta_table_set(&table, i, 0, "%.6f s", (double)(marker->time_ns - report->begin_ns) / 1e9);
        zeta_table_set(&table, i, 1, "%s", marker->source);
        zeta_table_set(&table, i, 2, "%" PRIu64, marker->value);
    }
    zeta_table_finish(&table, stream);
    if (report->marker_count > MAX_SHOWN_MARKERS)
        (void)fputs("           ...\n", stream);
}

static void print_kernel(const struct zeta_report *report, const struct zeta_report_kernel *kernel,
                         FILE *stream)
{
    const struct zeta_stat_style style = zeta_stat_style_of(stream);
    char name[VALUE_BYTES];
    char total[ZETA_DURATION_TEXT_BYTES];
    char mean[ZETA_DURATION_TEXT_BYTES];
    bool has_rows = false;

    zeta_report_kernel_name(report, kernel->name, name, sizeof(name));
    zeta_duration_format(kernel->total_ns, total);
    zeta_duration_format(kernel->total_ns / kernel->count, mean);
    (void)fprintf(stream, "\n== %s: %" PRIu64 " run%s, %s, mean %s\n", name, kernel->count,
                  kernel->count == 1 ? "" : "s", total, mean);
    for (uint32_t i = 0; kernel->groups && i < report->stream_count; i++) {
        if (!kernel->groups[i])
            continue;
        has_rows = true;
        zeta_stat_group_print(kernel->groups[i], &style, stream);
    }
    if (!has_rows)
        (void)fputs("no row lies inside a run\n", stream);
}

static void print_kernels(const struct zeta_report *report, FILE *stream)
{
    const struct zeta_report_kernel **list =
        report->options.is_per_kernel ? zeta_report_kernels_sorted(report) : NULL;

    if (!list)
        return;
    (void)fputs("\nBy kernel: rows that lie wholly inside one run of it while nothing else runs. "
                "Rows at\nthe edges of runs, or while several run, are counted as shared; nothing "
                "is interpolated.\nLosses are those of the whole recording.\n",
                stream);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        const struct zeta_report_stream *s = report->streams[i];

        if (s->kind == ZETA_REPORT_ROWS && s->has_time)
            (void)fprintf(stream,
                          "%s: %" PRIu64 " rows inside, %" PRIu64 " shared, %" PRIu64
                          " while nothing ran\n",
                          s->name, s->group.samples - s->shared_rows - s->idle_rows, s->shared_rows,
                          s->idle_rows);
    }
    for (uint32_t i = 0; i < report->kernel_count; i++) {
        if (list[i]->count > 0)
            print_kernel(report, list[i], stream);
    }
    free((void *)list);
}

void zeta_report_print(const struct zeta_report *report, const struct zeta_report_notes *notes,
                       FILE *stream)
{
    const struct zeta_stat_style style = zeta_stat_style_of(stream);
    const struct zeta_report_stream *samples = report->profile_stream;

    print_header(report, stream);
    for (uint32_t i = 0; i < notes->count; i++)
        print_fact(stream, "Note", notes->text[i]);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->kind == ZETA_REPORT_ROWS && report->streams[i]->is_open)
            zeta_stat_group_print(&report->streams[i]->group, &style, stream);
    }
    if (samples)
        zeta_stat_ip_print(&report->profile, &samples->group,
                           zeta_report_device_of(samples)->info.device_class, style.columns,
                           stream);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->kind == ZETA_REPORT_EVENTS && report->streams[i]->events)
            print_events(report->streams[i], stream);
    }
    print_kernels(report, stream);
    if (report->has_trace)
        zeta_trace_summary_print(&report->summary, stream);
    print_markers(report, stream);
}
