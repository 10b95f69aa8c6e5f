/* A recording in the shape of zeta stat's JSON, with what else it holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/recording/kernels.h"
#include "sdk/tools/zeta/report/forms.h"
#include "sdk/tools/zeta/stat/report.h"

static void put_recording(struct json_object *document, const struct zeta_report *report,
                          const struct zeta_report_notes *notes)
{
    static const char *const keys[] = {"begin", "end", "host", "version"};
    struct json_object *object = zeta_json_put_object(document, "recording");
    struct json_object *array;
    char value[4096];

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (zeta_report_meta(report, keys[i], 0, value, sizeof(value)))
            zeta_json_put_text(object, keys[i], value);
    }
    zeta_json_put_u64(object, "file_bytes", report->file_bytes);
    zeta_json_put_bool(object, "cut", report->is_cut);
    zeta_json_put_u64(object, "damaged", report->damaged);
    zeta_json_put_u64(object, "lost_chunks", report->lost.chunks);
    zeta_json_put_u64(object, "lost_bytes", report->lost.bytes);
    if (report->options.has_range) {
        zeta_json_put_u64(object, "from_ns", report->options.from_ns);
        zeta_json_put_u64(object, "to_ns", report->options.from_ns + zeta_report_length(report));
    }
    array = zeta_json_put_array(object, "notes");
    for (uint32_t i = 0; i < notes->count; i++)
        zeta_json_append_text(array, notes->text[i]);
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
        }
    }
}

static void put_kernels(struct json_object *document, const struct zeta_report *report)
{
    const struct zeta_report_kernel **list = zeta_report_kernels_sorted(report);
    struct json_object *array = zeta_json_put_array(document, "kernels");
    char name[1024];

    for (uint32_t k = 0; list && k < report->kernel_count; k++) {
        const struct zeta_report_kernel *kernel = list[k];
        struct json_object *object, *groups;

        if (kernel->count == 0)
            continue;
        object = zeta_json_append_object(array);
        zeta_report_kernel_name(report, kernel->name, name, sizeof(name));
        zeta_json_put_text(object, "name", name);
        zeta_json_put_u64(object, "count", kernel->count);
        zeta_json_put_u64(object, "total_ns", kernel->total_ns);
        zeta_json_put_u64(object, "min_ns", kernel->min_ns);
        zeta_json_put_u64(object, "max_ns", kernel->max_ns);
        groups = zeta_json_put_array(object, "groups");
        for (uint32_t i = 0; kernel->groups && i < report->stream_count; i++) {
            if (kernel->groups[i])
                zeta_stat_group_put_json(groups, &report->streams[i]->calc.device,
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
                          stream->calc.group.samples - stream->shared_rows - stream->idle_rows);
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
        struct json_object *object = zeta_json_append_object(array);

        zeta_json_put_text(object, "name", accounts->names.names[i]);
        zeta_json_put_u64(object, "count", account->count);
        zeta_json_put_u64(object, "total_ns", account->total_ns);
        zeta_json_put_u64(object, "min_ns", account->min_ns);
        zeta_json_put_u64(object, "max_ns", account->max_ns);
        zeta_json_put_u64(object, "errors", account->errors);
    }
}

static void put_markers(struct json_object *document, const struct zeta_report *report)
{
    struct json_object *array = zeta_json_put_array(document, "markers");

    for (uint32_t i = 0; i < report->marker_count; i++) {
        struct json_object *object = zeta_json_append_object(array);

        zeta_json_put_i64(object, "time_ns", report->markers[i].time_ns - report->begin_ns);
        zeta_json_put_u64(object, "value", report->markers[i].value);
        zeta_json_put_text(object, "source", report->markers[i].source);
    }
}

static void put_program(struct json_object *document, const struct zeta_report *report)
{
    struct json_object *array = NULL;
    char word[4096];

    for (uint32_t i = 0; zeta_report_meta(report, "command", i, word, sizeof(word)); i++) {
        if (!array)
            array = zeta_json_put_array(document, "program");
        zeta_json_append_text(array, word);
    }
}

struct json_object *zeta_report_to_json(const struct zeta_report *report,
                                        const struct zeta_report_notes *notes)
{
    const struct zeta_sampled_group **groups =
        calloc((size_t)report->stream_count + 1, sizeof(const struct zeta_sampled_group *));
    struct zeta_stat_report stat = {.groups = groups, .elapsed_ns = zeta_report_length(report)};
    struct zeta_device_entry no_device = {.info = {.id = "", .device_class = ""}};
    struct json_object *document = NULL;

    stat.device = &no_device;
    for (uint32_t i = 0; groups && i < report->stream_count; i++) {
        const struct zeta_report_stream *stream = report->streams[i];

        if (!stream->calc.is_open)
            continue;
        stat.device = &stream->calc.device;
        if (stream->kind == ZETA_REPORT_ROWS)
            groups[stat.group_count++] = &stream->calc.group;
    }
    if (report->profile_stream) {
        stat.profile = &report->profile;
        stat.profile_group = &report->profile_stream->calc.group;
    }
    if (groups)
        document = zeta_stat_report_to_json(&stat);
    free((void *)groups);
    if (!document)
        return NULL;
    put_program(document, report);
    put_recording(document, report, notes);
    put_events(document, report);
    if (report->kernels)
        put_kernels(document, report);
    put_accounts(document, "calls", &report->summary.calls);
    put_accounts(document, "work", &report->summary.work);
    put_markers(document, report);
    return document;
}
