/* Both readings of a recording: who and what is in it, and when; then its values. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/trace/line.h"

enum { HEAD_BYTES = 8, KERNEL_BYTES = 4096 };

/* A chunk, taken apart. */
struct module {
    const char *lines;
    size_t line_bytes;
    const unsigned char *image;
    size_t image_bytes;
    uint64_t base, end;
};

/* "address size name": gives the name, null if it is none. */
static const char *read_kernel(const char *value, uint64_t *out_address, uint64_t *out_size)
{
    char *at = NULL;

    *out_address = strtoull(value, &at, 10);
    if (at == value || *at != ' ')
        return NULL;
    value = at + 1;
    *out_size = strtoull(value, &at, 10);
    return at != value && *at == ' ' && at[1] ? at + 1 : NULL;
}

static uint64_t end_of_kernels(const struct module *module)
{
    char value[KERNEL_BYTES];
    uint64_t end = 0;

    for (uint32_t i = 0;
         zeta_lines_find(module->lines, module->line_bytes, "kernel", i, value, sizeof(value));
         i++) {
        uint64_t address, size;

        if (read_kernel(value, &address, &size) && address + size > end)
            end = address + size;
    }
    return end;
}

static bool take_apart(const void *payload, uint64_t bytes, struct module *module)
{
    uint32_t line_bytes = 0;

    *module = (struct module){0};
    if (bytes < HEAD_BYTES)
        return false;
    memcpy(&line_bytes, payload, sizeof(line_bytes));
    if (line_bytes > bytes - HEAD_BYTES)
        return false;
    module->lines = (const char *)payload + HEAD_BYTES;
    module->line_bytes = line_bytes;
    module->image = (const unsigned char *)module->lines + line_bytes;
    module->image_bytes = (size_t)bytes - HEAD_BYTES - line_bytes;
    module->base = zeta_lines_find_u64(module->lines, line_bytes, "base", 0);
    module->end = zeta_lines_find_u64(module->lines, line_bytes, "end", 0);
    if (module->end == 0)
        module->end = end_of_kernels(module);
    return module->base < module->end;
}

static void write_name(FILE *index, const char *name)
{
    for (; *name; name++) {
        const unsigned char byte = (unsigned char)*name;

        if (byte <= ' ' || byte > '~' || byte == '%' || byte == '=')
            (void)fprintf(index, "%%%02x", byte);
        else
            (void)fputc(byte, index);
    }
}

static void write_entry(FILE *index, const struct module *module, uint32_t number)
{
    char value[KERNEL_BYTES];

    (void)fprintf(index, "load\t%" PRIu32 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIu32 ".elf",
                  (uint32_t)zeta_lines_find_u64(module->lines, module->line_bytes, "pid", 1),
                  module->base, module->end, number);
    for (uint32_t i = 0;
         zeta_lines_find(module->lines, module->line_bytes, "kernel", i, value, sizeof(value));
         i++) {
        uint64_t address, size;
        const char *name = read_kernel(value, &address, &size);

        if (!name)
            continue;
        (void)fputc('\t', index);
        write_name(index, name);
        (void)fprintf(index, "=%" PRIx64, address);
    }
    (void)fputc('\n', index);
}

int zeta_report_modules_add(struct zeta_run_folder *folder, uint32_t number, const void *payload,
                            uint64_t bytes)
{
    struct module module;
    char *path = NULL;
    FILE *file;
    bool is_good = true;

    if (!take_apart(payload, bytes, &module))
        return ZETA_EXIT_OK;
    if (!folder->path &&
        zeta_run_folder_make(folder, zeta_run_folder_place(), "report") != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (module.image_bytes > 0) {
        is_good = asprintf(&path, "%s/%" PRIu32 ".elf", folder->path, number) >= 0;
        file = is_good ? fopen(path, "wbe") : NULL;
        if (file)
            (void)fwrite(module.image, 1, module.image_bytes, file);
        is_good = file && fclose(file) == 0;
        free(path);
        path = NULL;
    }
    is_good = is_good && asprintf(&path, "%s/index", folder->path) >= 0;
    file = is_good ? fopen(path, "abe") : NULL;
    if (file)
        write_entry(file, &module, number);
    is_good = file && fclose(file) == 0;
    free(path);
    return is_good ? ZETA_EXIT_OK
                   : zeta_print_failure("cannot write to %s: %s", folder->path, strerror(errno));
}

/* ---- chunk by chunk, past what is damaged ----------------------------------------------- */

/* Counts a damage. False when nothing behind it can be read: it is the same once more. */
static bool note_damage(struct zeta_report *report, char *last, size_t last_bytes)
{
    char sentence[sizeof(report->damage)];

    (void)snprintf(sentence, sizeof(sentence), "%s", zetaGetLastError());
    zeta_text_clean(sentence, strlen(sentence));
    if (report->damaged > 0 && strcmp(sentence, last) == 0)
        return false;
    if (report->damaged++ == 0)
        memcpy(report->damage, sentence, sizeof(sentence));
    (void)snprintf(last, last_bytes, "%s", sentence);
    return true;
}

int zeta_report_walk(struct zeta_report *report, bool is_strict, zeta_report_take take, void *user)
{
    const char *path = report->options.path;
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    struct zeta_recording_reader *reader = NULL;
    char last[sizeof(report->damage)] = "";
    ze_result_t result = zetaRecordingOpen(path, &reader);
    int status = ZETA_EXIT_OK;

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot open %s", path);
    report->damaged = 0;
    while (status == ZETA_EXIT_OK) {
        result = zetaRecordingNext(reader, &chunk);
        if (result == ZE_RESULT_SUCCESS && chunk.type == ZETA_CHUNK_END)
            break;
        report->is_cut = result == ZE_RESULT_NOT_READY;
        if (result == ZE_RESULT_SUCCESS)
            status = take(user, reader, &chunk);
        else if (!report->is_cut && (is_strict || result != ZE_RESULT_ERROR_INVALID_ARGUMENT))
            status = zeta_print_refusal(result, "cannot continue to read %s", path);
        else if (report->is_cut || !note_damage(report, last, sizeof(last)))
            break;
    }
    zetaRecordingClose(reader);
    return status;
}

/* ---- lines of the API trace ------------------------------------------------------------- */

/* Begins to read the lines of a TRACE chunk, cleaned. False without memory. */
static bool begin_trace(struct zeta_report *report, const struct zeta_recording_chunk *chunk,
                        struct zeta_trace_reader *out_lines)
{
    const size_t bytes = (size_t)chunk->payload_bytes;
    size_t at = 0;

    if (bytes > report->line_bytes) {
        free(report->lines);
        report->lines = malloc(bytes);
        report->line_bytes = report->lines ? bytes : 0;
        if (!report->lines)
            return false;
    }
    if (bytes > 0)
        memcpy(report->lines, chunk->payload, bytes);
    while (at < bytes) {
        const char *end = memchr(report->lines + at, '\n', bytes - at);
        const size_t size = end ? (size_t)(end - report->lines) - at : bytes - at;

        zeta_text_clean(report->lines + at, size);
        at += size + 1;
    }
    zeta_trace_reader_init(out_lines, report->lines ? report->lines : "", bytes);
    return true;
}

bool zeta_report_trace_time(const struct zeta_report *report, const struct zeta_trace_line *line,
                            int64_t *out_begin_ns, int64_t *out_end_ns)
{
    if (!report->has_trace_clock ||
        (line->phase != 'X' && line->phase != 'B' && line->phase != 'i') || line->begin_ns == 0 ||
        line->begin_ns > ZETA_REPORT_TIME_MAX || line->duration_ns > ZETA_REPORT_TIME_MAX)
        return false;
    *out_begin_ns = (int64_t)line->begin_ns + report->raw_offset_ns;
    *out_end_ns = *out_begin_ns + (int64_t)line->duration_ns;
    return *out_end_ns <= ZETA_REPORT_TIME_MAX;
}

static bool find_argument(const struct zeta_trace_line *line, const char *name,
                          uint64_t *out_number)
{
    const char *text = zeta_trace_line_argument(line, name);

    *out_number = text ? strtoull(text, NULL, 10) : 0;
    return *out_number > 0 && *out_number <= ZETA_REPORT_TIME_MAX;
}

static const char *lane_key(const struct zeta_trace_line *line, char *text, size_t bytes)
{
    (void)snprintf(text, bytes, "%" PRIu64 "/%" PRIu64, line->pid, line->tid);
    return text;
}

/* The recorder notes the clock of the trace beside that of CLOCK chunks. */
static void take_clocks(struct zeta_report *report, const struct zeta_trace_line *line)
{
    uint64_t raw = 0, monotonic = 0;

    if (!find_argument(line, "raw_ns", &raw) || !find_argument(line, "monotonic_ns", &monotonic))
        return;
    report->raw_offset_ns = (int64_t)raw - (int64_t)monotonic;
    report->has_trace_clock = true;
}

/* Takes clocks, work of the device and names of queues out of a line. False without memory. */
static bool index_line(struct zeta_report *report, const struct zeta_trace_line *line)
{
    const char *title;
    int64_t begin_ns = 0, end_ns = 0;
    char key[48];

    if (line->phase == 'M' && strcmp(line->name, "zeta_clocks") == 0)
        take_clocks(report, line);
    title = zeta_trace_line_argument(line, "name");
    if (line->phase == 'M' && strcmp(line->name, "thread_name") == 0 && title)
        return zeta_report_runs_name_lane(&report->runs, lane_key(line, key, sizeof(key)), title);
    if (line->phase != 'X' || strcmp(line->category, "device") != 0 ||
        !zeta_report_trace_time(report, line, &begin_ns, &end_ns))
        return true;
    return zeta_report_runs_add(&report->runs, line->name, lane_key(line, key, sizeof(key)),
                                begin_ns, end_ns);
}

/* Second reading: counts a line if it is in the range, and hands it on. False without memory. */
static bool read_line(struct zeta_report *report, const struct zeta_trace_line *line)
{
    int64_t begin_ns = 0, end_ns = 0;
    const bool has_time = zeta_report_trace_time(report, line, &begin_ns, &end_ns);

    if (line->phase == 'M' && strcmp(line->name, "zeta_clocks") == 0) {
        take_clocks(report, line);
        return true;
    }
    if (report->only_stream != 0)
        return true;
    if (line->phase != 'M' && report->options.has_range &&
        (!has_time || !zeta_report_in_range(report, begin_ns, end_ns)))
        return true;
    if (!zeta_trace_summary_add(&report->summary, line))
        return false;
    return !report->trace || strcmp(line->name, "zeta_trace_end") == 0 ||
           report->trace->format->add(report->trace, line);
}

/* ---- first reading ---------------------------------------------------------------------- */

static int no_memory(const struct zeta_report *report)
{
    return zeta_print_failure("no memory for what is in %s", report->options.path);
}

static bool find_line(const struct zeta_recording_chunk *chunk, const char *key, char *value,
                      size_t value_bytes)
{
    if (!zeta_lines_find(chunk->payload, (size_t)chunk->payload_bytes, key, 0, value, value_bytes))
        return false;
    zeta_text_clean(value, strlen(value));
    return true;
}

static uint64_t find_number(const struct zeta_recording_chunk *chunk, const char *key)
{
    return zeta_lines_find_u64(chunk->payload, (size_t)chunk->payload_bytes, key, 0);
}

bool zeta_report_meta(const struct zeta_report *report, const char *key, uint32_t index,
                      char *value, size_t bytes)
{
    if (!zeta_lines_find(report->meta.text, report->meta.bytes, key, index, value, bytes))
        return false;
    zeta_text_clean(value, strlen(value));
    return true;
}

static int take_meta(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    const size_t bytes = (size_t)chunk->payload_bytes;
    char *grown;

    if (bytes == 0)
        return ZETA_EXIT_OK;
    grown = realloc(report->meta.text, report->meta.bytes + bytes);
    if (!grown)
        return no_memory(report);
    memcpy(grown + report->meta.bytes, chunk->payload, bytes);
    report->meta.text = grown;
    report->meta.bytes += bytes;
    return ZETA_EXIT_OK;
}

static struct zeta_report_device *find_device(const struct zeta_report *report, uint32_t number)
{
    for (uint32_t i = 0; i < report->device_count; i++) {
        if (report->devices[i]->number == number)
            return report->devices[i];
    }
    return NULL;
}

struct zeta_report_stream *zeta_report_find_stream(const struct zeta_report *report,
                                                   uint32_t number)
{
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->number == number)
            return report->streams[i];
    }
    return NULL;
}

const struct zeta_device_entry *zeta_report_device_of(const struct zeta_report_stream *stream)
{
    static const struct zeta_device_entry none = {.info = {.id = "", .device_class = ""}};

    return stream->device ? &stream->device->entry : &none;
}

static int take_device(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_device **grown =
        realloc(report->devices, (report->device_count + 1) * sizeof(struct zeta_report_device *));
    struct zeta_report_device *device = grown ? calloc(1, sizeof(*device)) : NULL;
    ze_device_properties_t *properties;

    if (grown)
        report->devices = grown;
    if (!device)
        return no_memory(report);
    report->devices[report->device_count++] = device;
    properties = &device->entry.properties;
    device->number = chunk->number;
    device->entry.info.id = device->id;
    device->entry.info.device_class = device->device_class;
    (void)find_line(chunk, "name", properties->name, sizeof(properties->name));
    (void)find_line(chunk, "id", device->id, sizeof(device->id));
    (void)find_line(chunk, "class", device->device_class, sizeof(device->device_class));
    properties->timerResolution = find_number(chunk, "timer-hz");
    properties->timestampValidBits = (uint32_t)find_number(chunk, "timestamp-bits");
    zeta_report_clock_init(&device->clock, properties->timerResolution,
                           properties->timestampValidBits);
    return ZETA_EXIT_OK;
}

static int take_stream(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_stream **grown =
        realloc(report->streams, (report->stream_count + 1) * sizeof(struct zeta_report_stream *));
    struct zeta_report_stream *stream = grown ? calloc(1, sizeof(*stream)) : NULL;
    char sampling[16] = "";

    if (grown)
        report->streams = grown;
    if (!stream)
        return no_memory(report);
    report->streams[report->stream_count++] = stream;
    stream->number = chunk->number;
    (void)find_line(chunk, "group", stream->name, sizeof(stream->name));
    (void)find_line(chunk, "sampling", sampling, sizeof(sampling));
    if (strcmp(sampling, "tracer") == 0)
        stream->kind = ZETA_REPORT_EVENTS;
    else if (strcmp(stream->name, ZETA_IP_GROUP) == 0)
        stream->kind = ZETA_REPORT_SAMPLES;
    stream->record_bytes = (uint32_t)find_number(chunk, "record");
    stream->period_ns = find_number(chunk, "period-ns");
    stream->device = find_device(report, (uint32_t)find_number(chunk, "device"));
    return ZETA_EXIT_OK;
}

int zeta_report_describe(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    if (chunk->type == ZETA_CHUNK_DEVICE && !find_device(report, chunk->number))
        return take_device(report, chunk);
    if (chunk->type == ZETA_CHUNK_STREAM && !zeta_report_find_stream(report, chunk->number))
        return take_stream(report, chunk);
    return ZETA_EXIT_OK;
}

/* Something was recorded at that time of the host. */
static void extend(struct zeta_report *report, int64_t time_ns)
{
    if (!report->has_begin || time_ns < report->begin_ns)
        report->begin_ns = time_ns;
    if (!report->has_begin || time_ns > report->end_ns)
        report->end_ns = time_ns;
    report->has_begin = true;
}

/* Later rows are not earlier than the first; that waits for a clock, as long as one may come. */
static void place_first_rows(struct zeta_report *report, bool is_over)
{
    for (uint32_t i = 0; i < report->stream_count; i++) {
        struct zeta_report_stream *stream = report->streams[i];

        if (!stream->has_first || !(stream->device->clock.is_known || is_over))
            continue;
        stream->has_first = false;
        extend(report, zeta_report_clock_host(&stream->device->clock, stream->first_ns));
    }
}

static void take_clock(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_device *device = find_device(report, chunk->number);

    if (!device || !zeta_report_clock_take(&device->clock, chunk->payload, chunk->payload_bytes))
        return;
    report->clock_count++;
    if (!device->has_first_clock)
        device->first_clock = device->clock;
    device->has_first_clock = true;
    extend(report, device->clock.host_ns);
    place_first_rows(report, false);
}

static int index_trace(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_trace_reader lines;
    struct zeta_trace_line line = {0};
    bool is_good;

    report->has_trace = true;
    is_good = begin_trace(report, chunk, &lines);
    while (is_good && zeta_trace_reader_next(&lines, &line)) {
        int64_t begin_ns = 0, end_ns = 0;

        is_good = index_line(report, &line);
        if (is_good && zeta_report_trace_time(report, &line, &begin_ns, &end_ns)) {
            extend(report, begin_ns);
            extend(report, end_ns);
        }
    }
    zeta_trace_line_finish(&line);
    return is_good ? ZETA_EXIT_OK : no_memory(report);
}

static bool has_samples(const struct zeta_report *report)
{
    for (uint32_t i = 0; i < report->stream_count; i++) {
        if (report->streams[i]->kind == ZETA_REPORT_SAMPLES)
            return true;
    }
    return false;
}

static int index_chunk(void *user, struct zeta_recording_reader *reader,
                       const struct zeta_recording_chunk *chunk)
{
    struct zeta_report *report = user;
    int status;

    switch (chunk->type) {
    case ZETA_CHUNK_META:
        return take_meta(report, chunk);
    case ZETA_CHUNK_DEVICE:
    case ZETA_CHUNK_STREAM:
        return zeta_report_describe(report, chunk);
    case ZETA_CHUNK_CLOCK:
        take_clock(report, chunk);
        return ZETA_EXIT_OK;
    case ZETA_CHUNK_CUT:
        (void)zeta_chunk_cut_read(chunk->payload, (size_t)chunk->payload_bytes, &report->lost);
        return ZETA_EXIT_OK;
    case ZETA_CHUNK_TRACE:
        return index_trace(report, chunk);
    case ZETA_CHUNK_MODULE:
        report->module_count++;
        return has_samples(report)
                   ? zeta_report_modules_add(&report->module_folder, report->module_count,
                                             chunk->payload, chunk->payload_bytes)
                   : ZETA_EXIT_OK;
    case ZETA_CHUNK_DATA:
        status = zeta_report_stream_index(report, reader, chunk);
        place_first_rows(report, false);
        return status;
    default:
        return ZETA_EXIT_OK;
    }
}

int zeta_report_index(struct zeta_report *report)
{
    const int status = zeta_report_walk(report, false, index_chunk, report);

    if (status != ZETA_EXIT_OK)
        return status;
    if (!zeta_report_runs_sort(&report->runs))
        return no_memory(report);
    /* Without clocks time begins with the first row. */
    place_first_rows(report, true);
    return ZETA_EXIT_OK;
}

/* ---- second reading --------------------------------------------------------------------- */

bool zeta_report_in_range(const struct zeta_report *report, int64_t begin_ns, int64_t end_ns)
{
    const struct zeta_report_options *options = &report->options;
    const int64_t from_ns = begin_ns - report->begin_ns;
    const int64_t to_ns = end_ns - report->begin_ns;

    return !options->has_range ||
           ((from_ns >= 0 ? (uint64_t)from_ns >= options->from_ns : options->from_ns == 0) &&
            (to_ns < 0 || (uint64_t)to_ns <= options->to_ns));
}

bool zeta_report_add_marker(struct zeta_report *report, int64_t time_ns, uint64_t value,
                            const char *source)
{
    if (report->marker_count == ZETA_REPORT_MAX_MARKERS) {
        report->markers_left_out++;
        return true;
    }
    if (!report->markers)
        report->markers = calloc(ZETA_REPORT_MAX_MARKERS, sizeof(*report->markers));
    if (!report->markers)
        return false;
    report->markers[report->marker_count++] =
        (struct zeta_report_marker){.time_ns = time_ns, .value = value, .source = source};
    return true;
}

static int read_trace(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_trace_reader lines = {0};
    struct zeta_trace_line line = {0};
    bool is_good = begin_trace(report, chunk, &lines);

    while (is_good && zeta_trace_reader_next(&lines, &line))
        is_good = read_line(report, &line);
    zeta_trace_line_finish(&line);
    report->summary.damaged += report->only_stream == 0 ? lines.damaged : 0;
    if (is_good)
        return ZETA_EXIT_OK;
    return zeta_print_failure("no memory for the trace in %s", report->options.path);
}

static int read_chunk(void *user, struct zeta_recording_reader *reader,
                      const struct zeta_recording_chunk *chunk)
{
    struct zeta_report *report = user;
    struct zeta_report_device *device;

    switch (chunk->type) {
    case ZETA_CHUNK_CLOCK:
        device = find_device(report, chunk->number);
        if (device)
            (void)zeta_report_clock_take(&device->clock, chunk->payload, chunk->payload_bytes);
        return ZETA_EXIT_OK;
    case ZETA_CHUNK_TRACE:
        return read_trace(report, chunk);
    case ZETA_CHUNK_DATA:
        return zeta_report_stream_read(report, reader, chunk);
    default:
        return ZETA_EXIT_OK;
    }
}

int zeta_report_read(struct zeta_report *report)
{
    int status;

    /* The clocks as they were before the first chunk: the first one is the nearest. */
    for (uint32_t i = 0; i < report->device_count; i++) {
        struct zeta_report_device *device = report->devices[i];

        if (device->has_first_clock)
            device->clock = device->first_clock;
        else
            zeta_report_clock_init(&device->clock, device->entry.properties.timerResolution,
                                   device->entry.properties.timestampValidBits);
    }
    status = zeta_report_walk(report, false, read_chunk, report);
    return status == ZETA_EXIT_OK && report->has_no_memory ? no_memory(report) : status;
}

void zeta_report_finish(struct zeta_report *report)
{
    zeta_report_kernels_finish(report);
    for (uint32_t i = 0; i < report->stream_count; i++) {
        zeta_report_stream_finish(report->streams[i]);
        free(report->streams[i]);
    }
    free((void *)report->streams);
    zeta_ip_profile_finish(&report->profile);
    zeta_run_folder_remove(&report->module_folder);
    zeta_report_runs_finish(&report->runs);
    zeta_trace_summary_finish(&report->summary);
    zeta_lines_finish(&report->meta);
    for (uint32_t i = 0; i < report->device_count; i++)
        free(report->devices[i]);
    free((void *)report->devices);
    free(report->markers);
    free(report->lines);
    free(report->data);
    *report = (struct zeta_report){0};
}
