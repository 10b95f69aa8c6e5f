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

static bool take_apart(const void *payload, uint64_t bytes, struct module *module)
{
    uint32_t line_bytes = 0;
    char value[KERNEL_BYTES];
    bool has_end;

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
    has_end = module->end != 0;
    /* Without an end the code reaches to that of its last kernel. */
    for (uint32_t i = 0;
         !has_end && zeta_lines_find(module->lines, line_bytes, "kernel", i, value, sizeof(value));
         i++) {
        uint64_t address, size;

        if (read_kernel(value, &address, &size) && address + size > module->end)
            module->end = address + size;
    }
    return module->base < module->end;
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
        for (; *name; name++) {
            const unsigned char byte = (unsigned char)*name;

            (void)fprintf(index,
                          byte <= ' ' || byte > '~' || byte == '%' || byte == '=' ? "%%%02x" : "%c",
                          byte);
        }
        (void)fprintf(index, "=%" PRIx64, address);
    }
    (void)fputc('\n', index);
}

int zeta_report_modules_add(struct zeta_run_folder *folder, uint32_t number, const void *payload,
                            uint64_t bytes)
{
    struct module module;
    char *image_path, *index_path;
    FILE *image = NULL, *index = NULL;
    bool is_good;

    if (!take_apart(payload, bytes, &module))
        return ZETA_EXIT_OK;
    if (!folder->path &&
        zeta_run_folder_make(folder, zeta_run_folder_place(), "report") != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    image_path = zeta_format("%s/%" PRIu32 ".elf", folder->path, number);
    index_path = zeta_format("%s/index", folder->path);
    if (module.image_bytes > 0)
        image = fopen(image_path, "wbe");
    if (image)
        (void)fwrite(module.image, 1, module.image_bytes, image);
    is_good = module.image_bytes == 0 || (image && fclose(image) == 0);
    if (is_good)
        index = fopen(index_path, "abe");
    if (index)
        write_entry(index, &module, number);
    is_good = index && fclose(index) == 0;
    free(image_path);
    free(index_path);
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

/* Begins to read the lines of a TRACE chunk, cleaned. */
static void begin_trace(struct zeta_report *report, const struct zeta_recording_chunk *chunk,
                        struct zeta_trace_reader *out_lines)
{
    const size_t bytes = (size_t)chunk->payload_bytes;
    size_t at = 0;

    if (bytes > report->line_bytes) {
        free(report->lines);
        report->lines = zeta_allocate(bytes, 1);
        report->line_bytes = bytes;
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

/* The recorder notes the clock of the trace beside that of CLOCK chunks. */
static void take_clocks(struct zeta_report *report, const struct zeta_trace_line *line)
{
    uint64_t raw = 0, monotonic = 0;

    if (!find_argument(line, "raw_ns", &raw) || !find_argument(line, "monotonic_ns", &monotonic))
        return;
    report->raw_offset_ns = (int64_t)raw - (int64_t)monotonic;
    report->has_trace_clock = true;
}

void zeta_report_extend(struct zeta_report *report, int64_t time_ns)
{
    if (!report->has_begin || time_ns < report->begin_ns)
        report->begin_ns = time_ns;
    if (!report->has_begin || time_ns > report->end_ns)
        report->end_ns = time_ns;
    report->has_begin = true;
}

/* Takes clocks, work of the device and names of queues out of a line. */
static void index_line(struct zeta_report *report, const struct zeta_trace_line *line)
{
    const char *title = zeta_trace_line_argument(line, "name");
    int64_t begin_ns = 0, end_ns = 0;
    char lane[48];

    if (line->phase == 'M' && strcmp(line->name, "zeta_clocks") == 0)
        take_clocks(report, line);
    (void)snprintf(lane, sizeof(lane), "%" PRIu64 "/%" PRIu64, line->pid, line->tid);
    if (line->phase == 'M' && strcmp(line->name, "thread_name") == 0 && title)
        zeta_report_runs_name_lane(&report->runs, lane, title);
    if (!zeta_report_trace_time(report, line, &begin_ns, &end_ns))
        return;
    zeta_report_extend(report, begin_ns);
    zeta_report_extend(report, end_ns);
    if (line->phase == 'X' && strcmp(line->category, "device") == 0)
        zeta_report_runs_add(&report->runs, line->name, lane, begin_ns, end_ns, false);
}

/* Second reading: counts a line if it is in the range, and hands it on. */
static void read_line(struct zeta_report *report, const struct zeta_trace_line *line)
{
    int64_t begin_ns = 0, end_ns = 0;
    const bool has_time = zeta_report_trace_time(report, line, &begin_ns, &end_ns);

    if (line->phase == 'M' && strcmp(line->name, "zeta_clocks") == 0) {
        take_clocks(report, line);
        return;
    }
    if (report->only_stream != 0 ||
        (line->phase != 'M' && report->options.has_range &&
         (!has_time || !zeta_report_in_range(report, begin_ns, end_ns))))
        return;
    zeta_trace_summary_add(&report->summary, line);
    if (report->trace && strcmp(line->name, "zeta_trace_end") != 0)
        report->trace->format->add(report->trace, line);
}

/* ---- first reading ---------------------------------------------------------------------- */

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

static void take_meta(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    const size_t bytes = (size_t)chunk->payload_bytes;

    if (bytes == 0)
        return;
    report->meta.text = zeta_reallocate(report->meta.text, report->meta.bytes + bytes, 1);
    memcpy(report->meta.text + report->meta.bytes, chunk->payload, bytes);
    report->meta.bytes += bytes;
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

static void take_device(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_device *device = zeta_allocate(1, sizeof(*device));
    ze_device_properties_t *properties;

    report->devices = zeta_reallocate(report->devices, report->device_count + 1,
                                      sizeof(struct zeta_report_device *));
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
}

static void take_stream(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_report_stream *stream = zeta_allocate(1, sizeof(*stream));
    char sampling[16] = "";

    report->streams = zeta_reallocate(report->streams, report->stream_count + 1,
                                      sizeof(struct zeta_report_stream *));
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
}

void zeta_report_describe(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    if (chunk->type == ZETA_CHUNK_DEVICE && !find_device(report, chunk->number))
        take_device(report, chunk);
    if (chunk->type == ZETA_CHUNK_STREAM && !zeta_report_find_stream(report, chunk->number))
        take_stream(report, chunk);
}

/* Later rows are not earlier than the first; that waits for a clock, as long as one may come. */
static void place_first_rows(struct zeta_report *report, bool is_over)
{
    for (uint32_t i = 0; i < report->stream_count; i++) {
        struct zeta_report_stream *stream = report->streams[i];

        if (!stream->has_first || !(stream->device->clock.is_known || is_over))
            continue;
        stream->has_first = false;
        zeta_report_extend(report,
                           zeta_report_clock_host(&stream->device->clock, stream->first_ns));
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
    zeta_report_extend(report, device->clock.host_ns);
    place_first_rows(report, false);
}

static void index_trace(struct zeta_report *report, const struct zeta_recording_chunk *chunk)
{
    struct zeta_trace_reader lines;
    struct zeta_trace_line line = {0};

    report->has_trace = true;
    begin_trace(report, chunk, &lines);
    while (zeta_trace_reader_next(&lines, &line))
        index_line(report, &line);
    zeta_trace_line_finish(&line);
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

    switch (chunk->type) {
    case ZETA_CHUNK_META:
        take_meta(report, chunk);
        break;
    case ZETA_CHUNK_DEVICE:
    case ZETA_CHUNK_STREAM:
        zeta_report_describe(report, chunk);
        break;
    case ZETA_CHUNK_CLOCK:
        take_clock(report, chunk);
        break;
    case ZETA_CHUNK_CUT:
        (void)zeta_chunk_cut_read(chunk->payload, (size_t)chunk->payload_bytes, &report->lost);
        break;
    case ZETA_CHUNK_TRACE:
        index_trace(report, chunk);
        break;
    case ZETA_CHUNK_MODULE:
        report->module_count++;
        if (has_samples(report))
            return zeta_report_modules_add(&report->module_folder, report->module_count,
                                           chunk->payload, chunk->payload_bytes);
        break;
    case ZETA_CHUNK_DATA:
        zeta_report_stream_index(report, reader, chunk);
        place_first_rows(report, false);
        break;
    default:
        break;
    }
    return ZETA_EXIT_OK;
}

int zeta_report_index(struct zeta_report *report)
{
    const int status = zeta_report_walk(report, false, index_chunk, report);

    zeta_report_runs_sort(&report->runs);
    /* Without clocks time begins with the first row. */
    place_first_rows(report, true);
    return status;
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

void zeta_report_add_marker(struct zeta_report *report, int64_t time_ns, uint64_t value,
                            const char *source)
{
    if (report->marker_count == ZETA_REPORT_MAX_MARKERS) {
        report->markers_left_out++;
        return;
    }
    if (!report->markers)
        report->markers = zeta_allocate(ZETA_REPORT_MAX_MARKERS, sizeof(*report->markers));
    report->markers[report->marker_count++] =
        (struct zeta_report_marker){.time_ns = time_ns, .value = value, .source = source};
}

static int read_chunk(void *user, struct zeta_recording_reader *reader,
                      const struct zeta_recording_chunk *chunk)
{
    struct zeta_report *report = user;

    if (chunk->type == ZETA_CHUNK_CLOCK) {
        struct zeta_report_device *device = find_device(report, chunk->number);

        if (device)
            (void)zeta_report_clock_take(&device->clock, chunk->payload, chunk->payload_bytes);
    } else if (chunk->type == ZETA_CHUNK_TRACE) {
        struct zeta_trace_reader lines;
        struct zeta_trace_line line = {0};

        begin_trace(report, chunk, &lines);
        while (zeta_trace_reader_next(&lines, &line))
            read_line(report, &line);
        zeta_trace_line_finish(&line);
        report->summary.damaged += report->only_stream == 0 ? lines.damaged : 0;
    } else if (chunk->type == ZETA_CHUNK_DATA) {
        zeta_report_stream_read(report, reader, chunk);
    }
    return ZETA_EXIT_OK;
}

int zeta_report_read(struct zeta_report *report)
{
    /* The clocks as they were before the first chunk: the first one is the nearest. */
    for (uint32_t i = 0; i < report->device_count; i++) {
        struct zeta_report_device *device = report->devices[i];

        if (device->has_first_clock)
            device->clock = device->first_clock;
        else
            zeta_report_clock_init(&device->clock, device->entry.properties.timerResolution,
                                   device->entry.properties.timestampValidBits);
    }
    return zeta_report_walk(report, false, read_chunk, report);
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
