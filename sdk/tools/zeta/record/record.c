/* zeta record: runs a program and keeps what its device did. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/container.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/program/program.h"
#include "sdk/tools/zeta/record/file.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/sampling/sampler.h"
#include "sdk/tools/zeta/stat/stat.h"
#include "sdk/tools/zeta/trace/folder.h"

/* One tracer for each group, so that each is a stream of its own. All zero bytes: none. */
struct events {
    struct zeta_record_file *file; /**< takes what they give */
    struct zeta_group_entry **groups;
    zet_metric_group_handle_t *handles;
    zet_metric_tracer_exp_handle_t *tracers;
    uint32_t *streams; /**< numbers in the recording */
    uint32_t count;
    uint8_t *buffer;
    size_t buffer_bytes; /**< of one read */
    uint64_t bytes;      /**< that were recorded */
    uint64_t lost;       /**< events, at least */
};

enum { NOTIFY_BYTES = 64 * 1024 };

static int events_choose(struct events *events, const struct zeta_group_list *list,
                         const struct zeta_device_entry *device, const char *const *names,
                         uint32_t count)
{
    *events = (struct events){0};
    if (count == 0)
        return ZETA_EXIT_OK;
    events->groups = calloc(count, sizeof(*events->groups));
    events->handles = calloc(count, sizeof(zet_metric_group_handle_t));
    events->tracers = calloc(count, sizeof(zet_metric_tracer_exp_handle_t));
    events->streams = calloc(count, sizeof(*events->streams));
    if (!events->groups || !events->handles || !events->tracers || !events->streams)
        return zeta_print_failure("no memory to record events");
    if (zeta_group_choose_any(list, device, names, count,
                              ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED,
                              events->groups) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    for (uint32_t i = 0; i < count; i++)
        events->handles[i] = events->groups[i]->group;
    events->count = count;
    return ZETA_EXIT_OK;
}

static struct zeta_sampler_more events_groups(const struct events *events)
{
    return (struct zeta_sampler_more){.groups = events->handles, .count = events->count};
}

static int start_one(struct events *events, uint32_t index, const struct zeta_device_entry *device,
                     ze_context_handle_t context)
{
    const char *name = events->groups[index]->properties.name;
    const struct zeta_recording_stream_desc stream = {.struct_size = sizeof(stream),
                                                      .group = events->handles[index]};
    zet_metric_tracer_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
        .notifyEveryNBytes = NOTIFY_BYTES,
    };
    ze_result_t result =
        zetaRecordingAddStream(events->file->recording, &stream, &events->streams[index]);

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot describe %s in the recording", name);
    result = zetMetricTracerCreateExp(context, device->device, 1, &events->handles[index],
                                      &description, NULL, &events->tracers[index]);
    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricTracerEnableExp(events->tracers[index], 1);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot trace the events of %s on %s", name,
                                  device->properties.name);
    return ZETA_EXIT_OK;
}

static int events_start(struct events *events, struct zeta_record_file *file,
                        const struct zeta_device_entry *device, ze_context_handle_t context)
{
    int status = ZETA_EXIT_OK;

    events->file = file;
    events->buffer_bytes = zeta_record_file_piece_bytes(file);
    events->buffer = events->count > 0 ? malloc(events->buffer_bytes) : NULL;
    if (events->count > 0 && !events->buffer)
        return zeta_print_failure("no memory to record events");
    for (uint32_t i = 0; i < events->count && status == ZETA_EXIT_OK; i++)
        status = start_one(events, i, device, context);
    return status;
}

/* Until nothing is left, or for a while when events come faster than they are written. */
static int read_one(struct events *events, uint32_t index, uint32_t reads)
{
    while (reads-- > 0) {
        size_t size = events->buffer_bytes;
        ze_result_t result =
            zetMetricTracerReadDataExp(events->tracers[index], &size, events->buffer);

        if (result == ZE_RESULT_NOT_READY || (result == ZE_RESULT_SUCCESS && size == 0))
            return ZETA_EXIT_OK;
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_WARNING_DROPPED_DATA)
            return zeta_print_refusal(result, "cannot read the events of %s",
                                      events->groups[index]->properties.name);
        if (zeta_record_file_append(events->file, ZETA_CHUNK_DATA, events->streams[index],
                                    events->buffer, size) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        events->bytes += size;
        events->lost +=
            zeta_slots_lost(events->buffer, size, events->groups[index]->info.record_bytes);
    }
    return ZETA_EXIT_OK;
}

static int events_read(struct events *events)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < events->count && status == ZETA_EXIT_OK; i++)
        status = read_one(events, i, 16);
    return status;
}

static int events_stop(struct events *events)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < events->count; i++) {
        if (!events->tracers[i])
            continue;
        (void)zetMetricTracerDisableExp(events->tracers[i], 1);
        if (status == ZETA_EXIT_OK)
            status = read_one(events, i, UINT32_MAX);
        (void)zetMetricTracerDestroyExp(events->tracers[i]);
        events->tracers[i] = NULL;
    }
    return status;
}

static void events_finish(struct events *events)
{
    free(events->groups);
    free(events->handles);
    free(events->tracers);
    free(events->streams);
    free(events->buffer);
    *events = (struct events){0};
}

struct options {
    struct zeta_stat_options sampling; /**< what is sampled, and the program */
    const char *output_path;
    const char *events[ZETA_STAT_MAX_GROUPS]; /**< groups of events */
    uint32_t event_count;
    uint64_t limit_bytes; /**< of the file; 0: none */
    bool has_trace;       /**< calls of the API and work of the device too */
    bool is_forced;       /**< a file that exists is replaced */
};

/* The words of the command line may be changed, and outlive the options. */
static int add_events(void *target, char *names)
{
    struct options *options = target;

    return zeta_stat_add_groups("-e", names, options->events, &options->event_count);
}

static int set_max_size(void *target, char *text)
{
    struct options *options = target;

    if (!zeta_size_parse(text, &options->limit_bytes))
        return zeta_print_usage_error(
            "--max-size takes a number of bytes such as 64M or 2G, not %s", text);
    if (options->limit_bytes < 65536)
        return zeta_print_usage_error(
            "--max-size %s is too small for a recording; give at least 64K", text);
    return ZETA_EXIT_OK;
}

/* Reads the arguments, arguments[0] being "record". Prints what is wrong. */
static int init_options(struct options *options, int count, char **arguments)
{
    struct zeta_option table[ZETA_OPTIONS_MAX] = {0};
    size_t options_count = zeta_sampling_options(&options->sampling, table);
    bool has_no_trace = false;
    int first = 0;
    int status;

    *options = (struct options){0};
    table[options_count++] =
        (struct zeta_option){"events", 'e', ZETA_OPTION_OTHER, options, add_events};
    table[options_count++] =
        (struct zeta_option){"output", 'o', ZETA_OPTION_TEXT, (void *)&options->output_path, NULL};
    table[options_count++] =
        (struct zeta_option){"force", 0, ZETA_OPTION_FLAG, &options->is_forced, NULL};
    table[options_count++] =
        (struct zeta_option){"max-size", 0, ZETA_OPTION_OTHER, options, set_max_size};
    table[options_count++] =
        (struct zeta_option){"no-trace", 0, ZETA_OPTION_FLAG, &has_no_trace, NULL};
    status = zeta_options_read(table, options_count, true, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first < count)
        options->sampling.program = &arguments[first];
    status = zeta_stat_options_check(&options->sampling, "record");
    if (status != ZETA_EXIT_OK)
        return status;
    if (!options->output_path || !*options->output_path)
        return zeta_print_usage_error("record needs a file to write, -o FILE");
    options->has_trace = options->sampling.program && !has_no_trace;
    return zeta_stat_options_default(&options->sampling);
}

/* ---- the run ---------------------------------------------------------------------------- */

/* So often traces and modules are polled and what was recorded is flushed: a kill loses
 * no more than that and the time of one reading. */
#define FLUSH_NS 250000000

/* Everything of one run. */
struct run {
    struct options options;
    struct zeta_environment environment;
    struct zeta_trace_folder folder; /* of the processes' traces */
    struct zeta_trace_tail tail;
    struct zeta_session session;
    struct zeta_device_list devices;
    struct zeta_group_list group_list;
    struct zeta_group_entry *groups[ZETA_STAT_MAX_GROUPS];
    uint32_t streams[ZETA_STAT_MAX_GROUPS]; /* numbers in the recording */
    struct events events;
    struct zeta_record_modules modules;
    struct zeta_record_file file;
    uint32_t device_number;
    uint64_t flushed_ns;
    uint64_t read_ns; /* when the streams were read last */
    bool is_over;     /* they are closed, and the program has ended */
};

static uint64_t now_ns(void)
{
    return zeta_monotonic_ns();
}

/* ---- before the program -------------------------------------------------------------------- */

static void add_time(struct zeta_lines *lines, const char *key)
{
    const time_t now = time(NULL);
    struct tm parts = {0};
    char text[40];

    if (gmtime_r(&now, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
        zeta_lines_add(lines, key, text);
}

/* What a person wants to know who finds the file later. */
static int describe_run(struct run *run)
{
    struct zeta_lines lines = {0};
    char host[256] = "";
    int status;

    add_time(&lines, "begin");
    if (gethostname(host, sizeof(host) - 1) == 0)
        zeta_lines_add(&lines, "host", host);
    zeta_lines_add(&lines, "version", zetaGetVersion());
    if (run->options.sampling.program)
        zeta_lines_add(&lines, "program", run->options.sampling.program[0]);
    for (char **word = run->options.sampling.program; word && *word; word++)
        zeta_lines_add(&lines, "command", *word);
    status = lines.no_memory
                 ? zeta_print_failure("no memory to describe the run")
                 : zeta_record_file_append(&run->file, ZETA_CHUNK_META, 0, lines.text, lines.bytes);
    zeta_lines_finish(&lines);
    return status;
}

static int describe_streams(struct run *run)
{
    const struct zeta_sampler *sampler = &run->session.sampler;

    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        const struct zeta_recording_stream_desc stream = {
            .struct_size = sizeof(stream),
            .group = sampler->streams[i].group.entry->group,
            .period_ns = sampler->streams[i].group.period_ns,
        };
        ze_result_t result = zetaRecordingAddStream(run->file.recording, &stream, &run->streams[i]);

        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot describe %s in the recording",
                                      run->groups[i]->properties.name);
    }
    return ZETA_EXIT_OK;
}

/* Everything that can be wrong is found here, before the program runs. */
static int prepare(struct run *run)
{
    const struct options *options = &run->options;
    const struct zeta_stat_options *sampling = &options->sampling;
    struct zeta_session *session = &run->session;
    struct zeta_sampler_more more;
    ze_result_t result;

    if (zeta_child_init(&session->child) != ZETA_EXIT_OK ||
        zeta_environment_init(&run->environment, sampling->is_shared || sampling->is_system_wide) !=
            ZETA_EXIT_OK ||
        zeta_environment_want_modules(&run->environment, sampling->program != NULL) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    /* What this process calls is not what was asked for. */
    (void)unsetenv(ZETA_TRACE_VARIABLE);

    if (zeta_device_list_init(&run->devices) != ZETA_EXIT_OK ||
        zeta_device_list_find(&run->devices, sampling->device, &session->device) != ZETA_EXIT_OK ||
        zeta_group_list_init(session->device->device, &run->group_list) != ZETA_EXIT_OK ||
        zeta_group_choose(&run->group_list, session->device, sampling->groups,
                          sampling->group_count, run->groups) != ZETA_EXIT_OK ||
        events_choose(&run->events, &run->group_list, session->device, options->events,
                      options->event_count) != ZETA_EXIT_OK ||
        zeta_record_file_create(&run->file, options->output_path, options->limit_bytes,
                                options->is_forced) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    result =
        zetaRecordingAddDevice(run->file.recording, session->device->device, &run->device_number);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot record");
    if (describe_run(run) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;

    /* The environment of the program: the device, and where traces and images of modules go. */
    if (sampling->program) {
        if (zeta_environment_build(&run->environment, session->device->info.compute[0] != 0) !=
            ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        session->variables = run->environment.variables;
    }
    if (options->has_trace) {
        if (zeta_trace_folder_make(&run->folder, options->output_path) != ZETA_EXIT_OK ||
            zeta_trace_folder_build(&run->folder, run->environment.variables, NULL, NULL) !=
                ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        session->variables = run->folder.variables;
    }

    more = events_groups(&run->events);
    more.read_bytes = zeta_record_file_piece_bytes(&run->file);
    if (zeta_session_opened(session, zeta_sampler_open(&session->sampler, session->device,
                                                       run->groups, sampling->group_count,
                                                       sampling->period_ns, NULL, 0, &more)) !=
        ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (sampling->has_period)
        zeta_sampler_print_periods(&session->sampler, sampling->period_ns);
    if (describe_streams(run) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    return events_start(&run->events, &run->file, session->device, session->sampler.context);
}

/* ---- meanwhile ----------------------------------------------------------------------------- */

static int take_raw(void *user, uint32_t stream, const uint8_t *raw, size_t bytes)
{
    struct run *run = user;

    return zeta_record_file_append(&run->file, ZETA_CHUNK_DATA, run->streams[stream], raw, bytes);
}

/* A program may write its trace as fast as it is read here, and the streams go on meanwhile. */
static int read_meanwhile(struct run *run)
{
    int status;

    if (now_ns() - run->read_ns < zeta_sampler_pause_ns(&run->session.sampler))
        return ZETA_EXIT_OK;
    status = zeta_sampler_read(&run->session.sampler);
    if (status == ZETA_EXIT_OK)
        status = events_read(&run->events);
    run->read_ns = now_ns();
    return status;
}

static int take_lines(void *user, const char *lines, size_t bytes)
{
    struct run *run = user;
    int status = zeta_record_file_append_lines(&run->file, lines, bytes);

    return status == ZETA_EXIT_OK && !run->is_over ? read_meanwhile(run) : status;
}

/* The clocks of the device and of the host, as they are now: the narrowest of some tries. */
static int record_clock(struct run *run)
{
    enum { TRIES = 4 };
    struct zeta_chunk_clock clock = {.error_ns = UINT64_MAX};
    unsigned char payload[ZETA_CHUNK_NUMBERS_BYTES];

    for (int i = 0; i < TRIES; i++) {
        const uint64_t before_ns = zeta_monotonic_ns();
        struct zeta_chunk_clock now = {0};
        ze_result_t result = zeDeviceGetGlobalTimestamps(run->session.device->device, &now.host_ns,
                                                         &now.device_ticks);

        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot read the clock of %s",
                                      run->session.device->properties.name);
        /* Both were read between the two calls here. */
        now.error_ns = zeta_monotonic_ns() - before_ns;
        if (now.error_ns < clock.error_ns)
            clock = now;
    }
    zeta_chunk_clock_write(&clock, payload);
    return zeta_record_file_append(&run->file, ZETA_CHUNK_CLOCK, run->device_number, payload,
                                   sizeof(payload));
}

/*
 * Traces have another clock of the host than devices: how they are related now, as a line. Who
 * loses the CPU between two readings would note a difference that there is not.
 */
static int record_trace_clock(struct run *run)
{
    enum { TRIES = 16, NARROW_NS = 200 };
    char line[160];
    uint64_t raw_ns = 0, monotonic_ns = 0, best_ns = UINT64_MAX;
    int size;

    for (int i = 0; i < TRIES && best_ns > NARROW_NS; i++) {
        const uint64_t before_ns = zeta_clock_ns(CLOCK_MONOTONIC_RAW);
        const uint64_t between_ns = zeta_monotonic_ns();
        const uint64_t width_ns = zeta_clock_ns(CLOCK_MONOTONIC_RAW) - before_ns;

        if (width_ns >= best_ns)
            continue;
        best_ns = width_ns;
        raw_ns = before_ns + width_ns / 2;
        monotonic_ns = between_ns;
    }
    size = snprintf(line, sizeof(line),
                    "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"zeta_clocks\",\"args\":"
                    "{\"raw_ns\":\"%" PRIu64 "\",\"monotonic_ns\":\"%" PRIu64 "\"}},\n",
                    raw_ns, monotonic_ns);
    return zeta_record_file_append_lines(&run->file, line, (size_t)size);
}

/* Everything that does not come through streams. */
static int record_rest(struct run *run)
{
    const char *modules = zeta_environment_modules(&run->environment);
    int status = record_clock(run);

    if (status == ZETA_EXIT_OK && run->folder.place.path)
        status = record_trace_clock(run);
    if (status == ZETA_EXIT_OK && modules)
        status = zeta_record_modules_read(&run->modules, &run->file, modules, run->device_number);
    if (status == ZETA_EXIT_OK && run->folder.place.path)
        status =
            zeta_trace_tail_read(&run->tail, run->folder.place.path, run->is_over, take_lines, run);
    if (status == ZETA_EXIT_OK)
        status = zeta_record_file_flush(&run->file);
    run->flushed_ns = now_ns();
    return status;
}

static int after_read(void *user)
{
    struct run *run = user;
    int status = events_read(&run->events);

    run->read_ns = now_ns();
    if (status == ZETA_EXIT_OK && now_ns() - run->flushed_ns >= FLUSH_NS)
        status = record_rest(run);
    return status;
}

/* ---- after --------------------------------------------------------------------------------- */

static void show_modules(const struct zeta_record_modules *modules)
{
    if (modules->count + modules->left_out == 0)
        return;
    (void)fprintf(stderr, "  %-20s %u", "modules", modules->count);
    if (modules->without_image > 0)
        (void)fprintf(stderr, ", %u without their images", modules->without_image);
    if (modules->left_out > 0)
        (void)fprintf(stderr, ", and %u for which the file has no room", modules->left_out);
    (void)fputc('\n', stderr);
}

static void show(const struct run *run)
{
    struct zeta_recording_info info = {.struct_size = sizeof(info)};
    char elapsed[ZETA_DURATION_TEXT_BYTES];
    char losses[ZETA_LOSSES_BYTES];

    zeta_duration_format(run->session.elapsed_ns, elapsed);
    (void)zetaRecordingGetInfo(run->file.recording, &info);
    (void)fprintf(stderr, "Recorded %s of %s in %s, %" PRIu64 " bytes:\n", elapsed,
                  run->session.device->properties.name, run->options.output_path, info.bytes);
    for (uint32_t i = 0; i < run->session.sampler.stream_count; i++) {
        const struct zeta_sampled_group *group = &run->session.sampler.streams[i].group;

        zeta_losses_format(group, false, losses);
        (void)fprintf(stderr, "  %-20s %" PRIu64 " samples, %s\n", group->entry->properties.name,
                      group->samples, losses);
    }
    if (run->events.count > 0) {
        zeta_lost_events_format(run->events.lost, false, losses);
        (void)fprintf(stderr, "  %-20s %" PRIu64 " bytes, %s\n", "events", run->events.bytes,
                      losses);
    }
    if (run->folder.place.path)
        (void)fprintf(stderr, "  %-20s %" PRIu64 " lines of calls and work\n", "trace",
                      run->tail.lines);
    show_modules(&run->modules);
    if (info.lost_chunks > 0)
        (void)fprintf(stderr, "The oldest %" PRIu64 " bytes were dropped to keep the file small.\n",
                      info.lost_bytes);
    if (run->file.has_failed)
        (void)fputs("The file ends where a write failed.\n", stderr);
}

static int finish_recording(struct run *run)
{
    struct zeta_lines lines = {0};
    int status;

    run->is_over = true;
    status = record_rest(run);
    add_time(&lines, "end");
    if (status == ZETA_EXIT_OK && !lines.no_memory)
        status = zeta_record_file_append(&run->file, ZETA_CHUNK_META, 0, lines.text, lines.bytes);
    zeta_lines_finish(&lines);
    return status;
}

static int execute(struct run *run)
{
    int status;

    run->session.program = run->options.sampling.program;
    run->session.for_ns = run->options.sampling.for_ns;
    run->session.after_read = after_read;
    run->session.user = run;
    run->session.pause_limit_ns = FLUSH_NS;
    run->session.sampler.tap = take_raw;
    run->session.sampler.tap_user = run;
    status = zeta_session_run(&run->session);
    if (events_stop(&run->events) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    if (!run->session.was_started)
        return status;
    zeta_sampler_stop(&run->session.sampler);
    if (finish_recording(run) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    show(run);
    return zeta_session_exit_code(&run->session, status);
}

/* A recording of nothing is no recording: when the program did not run, its file goes. */
static int close_recording(struct run *run)
{
    return run->file.recording ? zeta_record_file_finish(&run->file, run->session.was_started)
                               : ZETA_EXIT_OK;
}

int zeta_record(int count, char **arguments)
{
    struct run run = {.session = {.child = {.signal_fd = -1}}};
    int status = init_options(&run.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = prepare(&run);
    if (status == ZETA_EXIT_OK)
        status = execute(&run);
    if (events_stop(&run.events) != ZETA_EXIT_OK && status == ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    if (close_recording(&run) != ZETA_EXIT_OK && status == ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    zeta_sampler_close(&run.session.sampler);
    events_finish(&run.events);
    zeta_trace_tail_finish(&run.tail);
    zeta_trace_folder_remove(&run.folder);
    zeta_trace_folder_finish(&run.folder);
    zeta_group_list_finish(&run.group_list);
    zeta_device_list_finish(&run.devices);
    zeta_child_finish(&run.session.child);
    zeta_environment_finish(&run.environment);
    zeta_stat_options_finish(&run.options.sampling);
    return status;
}
