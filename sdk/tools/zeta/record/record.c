/* zeta record: runs a program and keeps what its device did. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/container.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/profile/profile.h"
#include "sdk/tools/zeta/program/program.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/sampling/sampler.h"
#include "sdk/tools/zeta/stat/stat.h"
#include "sdk/tools/zeta/trace/folder.h"

enum {
    PIECES = 8, /* of the largest size, that a bounded file holds at least */
    MAX_IMAGE_BYTES = 64 * 1024 * 1024, /* of a module; addresses have their kernels without it */
    MODULE_HEAD_BYTES = 8,              /* of the payload, before its lines */
    NOTIFY_BYTES = 64 * 1024,
    FLUSH_NS = 250000000 /* so often traces and modules are polled and the file is flushed: a kill
                            loses no more than that and the time of one reading */
};

struct options {
    struct zeta_stat_options sampling; /* what is sampled, and the program */
    const char *output_path;
    const char *events[ZETA_STAT_MAX_GROUPS]; /* groups of events */
    uint32_t event_count;
    uint64_t limit_bytes; /* of the file; 0: none */
    bool has_trace;       /* calls of the API and work of the device too */
    bool is_forced;       /* a file that exists is replaced */
};

/* The file. All zero bytes: none. */
struct file {
    struct zeta_recording *recording;
    const char *path;
    char *aside;          /* where the file is that had the name before; null: there was none */
    uint64_t limit_bytes; /* of the file; 0: none */
    bool has_failed;      /* a write failed, which was printed; nothing more is written */
};

/* Names of the ids in one stream of events. All zero bytes: it has none. */
struct names {
    zet_metric_decoder_exp_handle_t decoder; /* null: no metric of the group has ids */
    zet_metric_handle_t metrics[8];          /* whose values are ids */
    zet_value_type_t types[8];
    uint32_t metric_count;
    zet_metric_entry_exp_t *entries; /* of one read */
    uint32_t room;
    uint64_t *ids; /* that were looked up, in order */
    size_t count, capacity;
};

/* One tracer for each group, so that each is a stream of its own. */
struct events {
    struct zeta_group_entry *groups[ZETA_STAT_MAX_GROUPS];
    zet_metric_group_handle_t handles[ZETA_STAT_MAX_GROUPS];
    zet_metric_tracer_exp_handle_t tracers[ZETA_STAT_MAX_GROUPS];
    uint32_t streams[ZETA_STAT_MAX_GROUPS]; /* numbers in the recording */
    struct names names[ZETA_STAT_MAX_GROUPS];
    uint32_t count;
    uint8_t *buffer;
    size_t buffer_bytes; /* of one read */
    uint64_t bytes;      /* that were recorded */
    uint64_t lost;       /* events, at least */
};

/* What was recorded of modules. */
struct modules {
    uint64_t offset;      /* in the index of the folder, up to which it was read */
    uint64_t image_bytes; /* that were recorded */
    uint32_t count;
    uint32_t without_image; /* of these, for want of room in a bounded file */
    uint32_t left_out;      /* that had no room at all */
};

/* Everything of one run. */
struct run {
    struct options options;
    struct zeta_trace_folder folder; /* of the processes' traces */
    struct zeta_trace_tail tail;
    struct zeta_session session;
    struct zeta_group_entry *groups[ZETA_STAT_MAX_GROUPS];
    uint32_t streams[ZETA_STAT_MAX_GROUPS]; /* numbers in the recording */
    struct events events;
    struct modules modules;
    struct file file;
    uint32_t device_number;
    uint64_t flushed_ns;
    uint64_t read_ns; /* when the streams were read last */
    bool is_over;     /* they are closed, and the program has ended */
};

/* ---- options -------------------------------------------------------------------------------- */

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
    bool has_no_trace = false;
    struct zeta_option table[ZETA_OPTIONS_MAX] = {
        {"events", 'e', ZETA_OPTION_OTHER, options, add_events},
        {"output", 'o', ZETA_OPTION_TEXT, (void *)&options->output_path, NULL},
        {"force", 0, ZETA_OPTION_FLAG, &options->is_forced, NULL},
        {"max-size", 0, ZETA_OPTION_OTHER, options, set_max_size},
        {"no-trace", 0, ZETA_OPTION_FLAG, &has_no_trace, NULL},
    };
    const size_t options_count = 5 + zeta_sampling_options(&options->sampling, table + 5);
    int first = 0;
    int status;

    *options = (struct options){0};
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
    zeta_stat_options_default(&options->sampling);
    return ZETA_EXIT_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* A run that does not come about leaves what was there, so it only loses its name for now. */
static int put_aside(struct file *file)
{
    int descriptor;

    file->aside = zeta_format("%s.XXXXXX", file->path);
    descriptor = mkostemp(file->aside, O_CLOEXEC);
    if (descriptor >= 0)
        (void)close(descriptor);
    if (descriptor >= 0 && rename(file->path, file->aside) == 0)
        return ZETA_EXIT_OK;
    (void)zeta_print_failure("cannot rename %s: %s", file->path, strerror(errno));
    if (descriptor >= 0)
        (void)unlink(file->aside);
    return ZETA_EXIT_FAILED;
}

static void put_back(const struct file *file)
{
    if (file->aside && rename(file->aside, file->path) != 0)
        (void)zeta_print_failure("cannot restore %s, its data is in %s: %s", file->path,
                                 file->aside, strerror(errno));
}

/*
 * Creates the file. One that exists must be empty, or --force is given: then it is put aside, and
 * finish_file() decides.
 */
static int create_file(struct file *file, const struct options *options)
{
    const char *path = options->output_path;
    const struct zeta_recording_desc description = {
        .struct_size = sizeof(description), .path = path, .limit_bytes = options->limit_bytes};
    struct stat about;
    const bool is_there = lstat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    ze_result_t result;

    file->path = path;
    file->limit_bytes = options->limit_bytes;
    if (zeta_output_check_input(path) != ZETA_EXIT_OK ||
        (is_there && options->is_forced && put_aside(file) != ZETA_EXIT_OK))
        return ZETA_EXIT_FAILED;
    result = zetaRecordingCreate(&description, &file->recording);
    if (result == ZE_RESULT_SUCCESS)
        return ZETA_EXIT_OK;
    (void)zeta_print_refusal(result, "cannot record");
    if (is_there && !options->is_forced)
        zeta_print_note("use --force to replace it");
    put_back(file);
    return ZETA_EXIT_FAILED;
}

/* Largest payload that is sensible in one chunk: a bounded file has room for many, so that the
 * oldest go little by little. */
static size_t piece_bytes(uint64_t limit_bytes)
{
    if (limit_bytes == 0 || limit_bytes / PIECES > ZETA_CHUNK_PIECE_BYTES)
        return ZETA_CHUNK_PIECE_BYTES;
    return (size_t)(limit_bytes / PIECES);
}

/* A second failure would only repeat the first. */
static int fail(struct file *file, ze_result_t result)
{
    const bool was_said = file->has_failed;

    file->has_failed = true;
    return was_said ? ZETA_EXIT_FAILED : zeta_print_refusal(result, "cannot write %s", file->path);
}

/*
 * Adds a chunk. out_fits: null, or false where the bound leaves no room for it, which is no failure
 * for a chunk that the recording can do without.
 */
static int append(struct file *file, uint32_t type, uint32_t number, const void *payload,
                  size_t bytes, bool *out_fits)
{
    ze_result_t result;

    if (file->has_failed)
        return ZETA_EXIT_FAILED;
    result = zetaRecordingAppend(file->recording, type, number, payload, bytes);
    if (out_fits)
        *out_fits = result == ZE_RESULT_SUCCESS;
    if (result == ZE_RESULT_SUCCESS ||
        (out_fits && result == ZE_RESULT_ERROR_INVALID_SIZE && file->limit_bytes))
        return ZETA_EXIT_OK;
    return fail(file, result);
}

/* Adds whole lines of a trace in chunks of a sensible size. */
static int append_lines(struct file *file, const char *lines, size_t bytes)
{
    const size_t most = piece_bytes(file->limit_bytes);

    while (bytes > 0) {
        size_t piece = bytes;

        if (piece > most) {
            const char *end = memrchr(lines, '\n', most);

            /* A line that is longer stays whole. */
            if (!end)
                end = memchr(lines + most, '\n', bytes - most);
            piece = end ? (size_t)(end - lines) + 1 : bytes;
        }
        if (append(file, ZETA_CHUNK_TRACE, 0, lines, piece, NULL) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        lines += piece;
        bytes -= piece;
    }
    return ZETA_EXIT_OK;
}

/* Completes the file and removes the one that it replaces; one of nothing goes instead. */
static int finish_file(struct file *file, bool is_kept)
{
    ze_result_t result = zetaRecordingFinish(file->recording);

    if (is_kept && file->aside)
        (void)unlink(file->aside);
    if (!is_kept) {
        (void)unlink(file->path);
        put_back(file);
    }
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK : fail(file, result);
}

/* ---- modules -------------------------------------------------------------------------------- */

/* Up to the next kernel, or the end of the code. */
static uint64_t size_of(const struct zeta_module_entry *module,
                        const struct zeta_module_kernel *kernel)
{
    uint64_t end = module->end;

    for (uint32_t i = 0; i < module->kernel_count; i++) {
        const uint64_t address = module->kernels[i].address;

        if (address > kernel->address && address < end)
            end = address;
    }
    return end > kernel->address ? end - kernel->address : 0;
}

static void add_kernels(struct zeta_lines *lines, const struct zeta_module_entry *module)
{
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        const struct zeta_module_kernel *kernel = &module->kernels[i];
        char *value = NULL;

        if (asprintf(&value, "%" PRIu64 " %" PRIu64 " %s", kernel->address, size_of(module, kernel),
                     kernel->name) < 0) {
            lines->no_memory = true;
            return;
        }
        zeta_lines_add(lines, "kernel", value);
        free(value);
    }
}

/* Reads the image behind what is in the buffer; one that is not there is left out. */
static size_t read_image(const char *folder, const char *name, char **buffer, size_t used)
{
    char *path = NULL;
    struct stat status = {0};
    char *grown = NULL;
    ssize_t got = 0;
    int fd = -1;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    if (fd < 0)
        return 0;
    if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= MAX_IMAGE_BYTES)
        grown = realloc(*buffer, used + (size_t)status.st_size);
    if (grown) {
        *buffer = grown;
        got = read(fd, grown + used, (size_t)status.st_size);
    }
    (void)close(fd);
    return grown && got == status.st_size ? (size_t)got : 0;
}

/* The payload of the chunk; null without memory. */
static char *build(const struct zeta_module_entry *module, uint32_t id, size_t *out_bytes)
{
    struct zeta_lines lines = {0};
    char *payload = NULL;

    zeta_lines_add_u64(&lines, "id", id);
    zeta_lines_add_u64(&lines, "pid", module->pid);
    zeta_lines_add_u64(&lines, "base", module->begin);
    zeta_lines_add_u64(&lines, "end", module->end);
    add_kernels(&lines, module);
    zeta_lines_add(&lines, "image", "elf");
    if (!lines.no_memory)
        payload = calloc(1, MODULE_HEAD_BYTES + lines.bytes);
    if (payload) {
        const uint32_t line_bytes = (uint32_t)lines.bytes;

        memcpy(payload, &line_bytes, sizeof(line_bytes));
        memcpy(payload + MODULE_HEAD_BYTES, lines.text, lines.bytes);
    }
    *out_bytes = MODULE_HEAD_BYTES + lines.bytes;
    zeta_lines_finish(&lines);
    return payload;
}

static int add_module(struct modules *modules, struct file *file, const char *folder,
                      uint32_t device, const struct zeta_module_entry *module)
{
    size_t bytes = 0;
    size_t image_bytes;
    bool fits = false;
    char *payload = build(module, modules->count + modules->left_out + 1, &bytes);
    int status;

    if (!payload)
        return zeta_print_failure("no memory to record a module");
    image_bytes = read_image(folder, module->file, &payload, bytes);
    /* Images have a quarter of a bounded file, so that data is left beside them. */
    if (file->limit_bytes > 0 && modules->image_bytes + image_bytes > file->limit_bytes / 4) {
        image_bytes = 0;
        modules->without_image++;
    }
    status = append(file, ZETA_CHUNK_MODULE, device, payload, bytes + image_bytes, &fits);
    modules->image_bytes += fits ? image_bytes : 0;
    modules->count += fits;
    modules->left_out += status == ZETA_EXIT_OK && !fits;
    free(payload);
    return status;
}

/* Adds the modules that came since the last call. */
static int record_modules(struct run *run, const char *folder)
{
    struct zeta_module_index index = {0};
    int status = zeta_module_index_read(&index, folder, &run->modules.offset);

    for (uint32_t i = 0; i < index.count && status == ZETA_EXIT_OK; i++)
        status =
            add_module(&run->modules, &run->file, folder, run->device_number, &index.entries[i]);
    zeta_module_index_finish(&index);
    return status;
}

/* ---- events --------------------------------------------------------------------------------- */

static int describe_stream(struct run *run, const struct zeta_group_entry *group,
                           uint64_t period_ns, uint32_t *out_number)
{
    const struct zeta_recording_stream_desc stream = {
        .struct_size = sizeof(stream), .group = group->group, .period_ns = period_ns};
    const ze_result_t result = zetaRecordingAddStream(run->file.recording, &stream, out_number);

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot describe %s in the recording",
                                  group->properties.name);
    return ZETA_EXIT_OK;
}

/* Finds the metrics whose values are ids of names. */
static ze_result_t names_open(struct names *names, zet_metric_tracer_exp_handle_t tracer)
{
    zet_metric_handle_t *metrics = NULL;
    uint32_t count = 0;
    ze_result_t result = zetMetricDecoderCreateExp(tracer, &names->decoder);

    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricDecoderGetDecodableMetricsExp(names->decoder, &count, NULL);
    if (result == ZE_RESULT_SUCCESS && count > 0) {
        metrics = zeta_allocate(count, sizeof(*metrics));
        result = zetMetricDecoderGetDecodableMetricsExp(names->decoder, &count, metrics);
    }
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS && names->metric_count < 8; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        result = zetMetricGetProperties(metrics[i], &properties);
        if (result != ZE_RESULT_SUCCESS || strcmp(properties.resultUnits, ZETA_NAME_UNIT) != 0)
            continue;
        names->types[names->metric_count] = properties.resultType;
        names->metrics[names->metric_count++] = metrics[i];
    }
    free(metrics);
    return result;
}

static void names_close(struct names *names)
{
    if (names->decoder)
        (void)zetMetricDecoderDestroyExp(names->decoder);
    free(names->entries);
    free(names->ids);
    *names = (struct names){0};
}

/* True for an id that was not seen before. */
static bool names_note(struct names *names, uint64_t id)
{
    size_t low = 0, high = names->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (names->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < names->count && names->ids[low] == id)
        return false;
    if (names->count == names->capacity) {
        names->capacity = names->capacity > 0 ? 2 * names->capacity : 64;
        names->ids = zeta_reallocate(names->ids, names->capacity, sizeof(*names->ids));
    }
    memmove(&names->ids[low + 1], &names->ids[low], (names->count++ - low) * sizeof(*names->ids));
    names->ids[low] = id;
    return true;
}

/* Adds the name of an id, if it has one. */
static int append_name(struct run *run, uint32_t index, uint64_t id)
{
    const zet_metric_tracer_exp_handle_t tracer = run->events.tracers[index];
    struct zeta_chunk_name name = {.id = id};
    size_t size = 0;
    char *payload;
    bool fits;
    int status = ZETA_EXIT_OK;

    if (zetaMetricTracerGetName(tracer, id, &size, NULL) != ZE_RESULT_SUCCESS ||
        size > ZETA_CHUNK_PIECE_BYTES)
        return ZETA_EXIT_OK;
    payload = zeta_allocate(ZETA_CHUNK_NAME_BYTES + size, 1);
    name.bytes = (uint32_t)size - 1;
    zeta_chunk_name_write(&name, (unsigned char *)payload);
    if (zetaMetricTracerGetName(tracer, id, &size, payload + ZETA_CHUNK_NAME_BYTES) ==
        ZE_RESULT_SUCCESS)
        status = append(&run->file, ZETA_CHUNK_NAMES, run->events.streams[index], payload,
                        ZETA_CHUNK_NAME_BYTES + name.bytes, &fits);
    free(payload);
    return status;
}

/* Adds the names that a piece of data needs, which stand before it. */
static int append_names(struct run *run, uint32_t index, size_t size)
{
    struct names *names = &run->events.names[index];
    uint8_t *data = run->events.buffer;
    int status = ZETA_EXIT_OK;

    while (names->metric_count > 0 && size > 0 && status == ZETA_EXIT_OK) {
        size_t used = size;
        uint32_t sets = 0, count = 0;
        ze_result_t result =
            zetMetricTracerDecodeExp(names->decoder, &used, data, names->metric_count,
                                     names->metrics, &sets, NULL, &count, NULL);

        if (result == ZE_RESULT_SUCCESS && count > names->room) {
            names->entries = zeta_reallocate(names->entries, count, sizeof(*names->entries));
            names->room = count;
        }
        if (result == ZE_RESULT_SUCCESS && count > 0)
            result = zetMetricTracerDecodeExp(names->decoder, &used, data, names->metric_count,
                                              names->metrics, &sets, NULL, &count, names->entries);
        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot read the names of events");
        for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
            const zet_typed_value_t value = {.type = names->types[names->entries[i].metricIndex],
                                             .value = names->entries[i].value};
            const struct zeta_number id = zeta_number_from_value(&value);

            if (id.kind == ZETA_NUMBER_U64 && names_note(names, id.u64))
                status = append_name(run, index, id.u64);
        }
        if (count == 0 || used == 0)
            break;
        data += used;
        size -= used;
    }
    return status;
}

static int start_events(struct run *run)
{
    struct events *events = &run->events;
    const struct zeta_device_entry *device = run->session.device;
    zet_metric_tracer_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
        .notifyEveryNBytes = NOTIFY_BYTES,
    };

    events->buffer_bytes = piece_bytes(run->file.limit_bytes);
    events->buffer = events->count > 0 ? malloc(events->buffer_bytes) : NULL;
    if (events->count > 0 && !events->buffer)
        return zeta_print_failure("no memory to record events");
    for (uint32_t i = 0; i < events->count; i++) {
        const char *name = events->groups[i]->properties.name;
        ze_result_t result;

        if (describe_stream(run, events->groups[i], 0, &events->streams[i]) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        result =
            zetMetricTracerCreateExp(run->session.sampler.context, device->device, 1,
                                     &events->handles[i], &description, NULL, &events->tracers[i]);
        if (result == ZE_RESULT_SUCCESS)
            result = names_open(&events->names[i], events->tracers[i]);
        if (result == ZE_RESULT_SUCCESS)
            result = zetMetricTracerEnableExp(events->tracers[i], 1);
        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot trace the events of %s on %s", name,
                                      device->properties.name);
    }
    return ZETA_EXIT_OK;
}

/* Until nothing is left, or for a while when events come faster than they are written. */
static int read_tracer(struct run *run, uint32_t index, uint32_t reads)
{
    struct events *events = &run->events;
    const struct zeta_group_entry *group = events->groups[index];

    while (reads-- > 0) {
        size_t size = events->buffer_bytes;
        ze_result_t result =
            zetMetricTracerReadDataExp(events->tracers[index], &size, events->buffer);

        if (result == ZE_RESULT_NOT_READY || (result == ZE_RESULT_SUCCESS && size == 0))
            return ZETA_EXIT_OK;
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_WARNING_DROPPED_DATA)
            return zeta_print_refusal(result, "cannot read the events of %s",
                                      group->properties.name);
        if (append_names(run, index, size) != ZETA_EXIT_OK ||
            append(&run->file, ZETA_CHUNK_DATA, events->streams[index], events->buffer, size,
                   NULL) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        events->bytes += size;
        events->lost += zeta_slots_lost(events->buffer, size, group->info.record_bytes);
    }
    return ZETA_EXIT_OK;
}

static int read_events(struct run *run)
{
    for (uint32_t i = 0; i < run->events.count; i++) {
        if (read_tracer(run, i, 16) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    return ZETA_EXIT_OK;
}

static int stop_events(struct run *run)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < run->events.count; i++) {
        zet_metric_tracer_exp_handle_t *tracer = &run->events.tracers[i];

        if (!*tracer)
            continue;
        (void)zetMetricTracerDisableExp(*tracer, 1);
        if (status == ZETA_EXIT_OK)
            status = read_tracer(run, i, UINT32_MAX);
        names_close(&run->events.names[i]);
        (void)zetMetricTracerDestroyExp(*tracer);
        *tracer = NULL;
    }
    return status;
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
                 : append(&run->file, ZETA_CHUNK_META, 0, lines.text, lines.bytes, NULL);
    zeta_lines_finish(&lines);
    return status;
}

static int take_raw(void *user, uint32_t stream, const uint8_t *raw, size_t bytes)
{
    struct run *run = user;

    return append(&run->file, ZETA_CHUNK_DATA, run->streams[stream], raw, bytes, NULL);
}

/* ---- meanwhile ----------------------------------------------------------------------------- */

/* A program may write its trace as fast as it is read here, and the streams go on meanwhile. */
static int take_lines(void *user, const char *lines, size_t bytes)
{
    struct run *run = user;

    if (append_lines(&run->file, lines, bytes) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (run->is_over ||
        zeta_monotonic_ns() - run->read_ns < zeta_sampler_pause_ns(&run->session.sampler))
        return ZETA_EXIT_OK;
    if (zeta_sampler_read(&run->session.sampler) != ZETA_EXIT_OK ||
        read_events(run) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    run->read_ns = zeta_monotonic_ns();
    return ZETA_EXIT_OK;
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
    return append(&run->file, ZETA_CHUNK_CLOCK, run->device_number, payload, sizeof(payload), NULL);
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
    return append_lines(&run->file, line, (size_t)size);
}

/* Everything that does not come through streams. */
static int record_rest(struct run *run)
{
    const char *modules = zeta_environment_modules(&run->session.environment);
    const char *traces = run->folder.place.path;
    ze_result_t result;

    if (record_clock(run) != ZETA_EXIT_OK || (traces && record_trace_clock(run) != ZETA_EXIT_OK) ||
        (modules && record_modules(run, modules) != ZETA_EXIT_OK) ||
        (traces &&
         zeta_trace_tail_read(&run->tail, traces, run->is_over, take_lines, run) != ZETA_EXIT_OK) ||
        run->file.has_failed)
        return ZETA_EXIT_FAILED;
    result = zetaRecordingFlush(run->file.recording);
    run->flushed_ns = zeta_monotonic_ns();
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK : fail(&run->file, result);
}

static int after_read(void *user)
{
    struct run *run = user;

    if (read_events(run) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    run->read_ns = zeta_monotonic_ns();
    return run->read_ns - run->flushed_ns >= FLUSH_NS ? record_rest(run) : ZETA_EXIT_OK;
}

/* What only its own process shows to a tracer cannot be recorded from outside. */
static int check_events(const struct run *run)
{
    for (uint32_t i = 0; i < run->events.count; i++) {
        const struct zeta_group_entry *group = run->events.groups[i];

        if (group->info.own_process)
            return zeta_print_failure(
                "cannot record the events of %s: on %s a tracer sees the process that traces "
                "alone, "
                "and that would be zeta. Leave -e %s out: calls and kernels of programs that use "
                "Level Zero are recorded without it, as 'zeta trace' shows them; or trace in the "
                "program itself",
                group->properties.name, run->session.device->properties.name,
                group->properties.name);
    }
    return ZETA_EXIT_OK;
}

/* Everything that can be wrong is found here, before the program runs. */
static int prepare(struct run *run)
{
    const struct options *options = &run->options;
    const struct zeta_stat_options *sampling = &options->sampling;
    struct zeta_session *session = &run->session;
    struct zeta_sampler *sampler = &session->sampler;
    struct events *events = &run->events;
    ze_result_t result;

    session->program = sampling->program;
    session->is_shared = sampling->is_shared || sampling->is_system_wide;
    session->has_modules = true;
    session->hidden = ZETA_TRACE_VARIABLE;
    session->for_ns = sampling->for_ns;
    session->after_read = after_read;
    session->user = run;
    session->pause_limit_ns = FLUSH_NS;
    if (zeta_session_init(session, sampling->device) != ZETA_EXIT_OK ||
        zeta_group_choose(&session->groups, session->device, sampling->groups,
                          sampling->group_count, run->groups) != ZETA_EXIT_OK ||
        zeta_group_choose_any(
            &session->groups, session->device, options->events, options->event_count,
            ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED, events->groups) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    events->count = options->event_count;
    for (uint32_t i = 0; i < events->count; i++)
        events->handles[i] = events->groups[i]->group;
    if (check_events(run) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (zeta_session_open(session, (struct zeta_sampler_desc){
                                       .groups = run->groups,
                                       .group_count = sampling->group_count,
                                       .period_ns = sampling->period_ns,
                                       .has_period = sampling->has_period,
                                       .more_groups = events->handles,
                                       .more_count = events->count,
                                       .read_bytes = piece_bytes(options->limit_bytes),
                                   }) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    /* As late as possible: a file that is replaced is put aside. */
    if (create_file(&run->file, options) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    result =
        zetaRecordingAddDevice(run->file.recording, session->device->device, &run->device_number);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot record");
    if (describe_run(run) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (options->has_trace) {
        if (zeta_trace_folder_make(&run->folder, options->output_path) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        zeta_trace_folder_build(&run->folder, session->variables, NULL, NULL);
        session->variables = run->folder.variables;
    }
    sampler->tap = take_raw;
    sampler->tap_user = run;
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        const struct zeta_sampled_group *group = &sampler->streams[i].group;

        if (describe_stream(run, group->entry, group->period_ns, &run->streams[i]) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    return start_events(run);
}

/* ---- after ---------------------------------------------------------------------------------- */

static void show_modules(const struct modules *modules)
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
        status = append(&run->file, ZETA_CHUNK_META, 0, lines.text, lines.bytes, NULL);
    zeta_lines_finish(&lines);
    return status;
}

static int execute(struct run *run)
{
    int status = zeta_session_run(&run->session);

    if (stop_events(run) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    if (!run->session.was_started)
        return status;
    zeta_sampler_stop(&run->session.sampler);
    if (finish_recording(run) != ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    show(run);
    return zeta_session_exit_code(&run->session, status);
}

int zeta_record(int count, char **arguments)
{
    struct run run = {.session = {.child = {.signal_fd = -1}}};
    int status = init_options(&run.options, count, arguments);

    if (status == ZETA_EXIT_OK)
        status = prepare(&run);
    if (status == ZETA_EXIT_OK)
        status = execute(&run);
    if (stop_events(&run) != ZETA_EXIT_OK && status == ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    /* A recording of nothing is no recording: when the program did not run, its file goes. */
    if (run.file.recording && finish_file(&run.file, run.session.was_started) != ZETA_EXIT_OK &&
        status == ZETA_EXIT_OK)
        status = ZETA_EXIT_FAILED;
    free(run.file.aside);
    free(run.events.buffer);
    zeta_trace_tail_finish(&run.tail);
    zeta_run_folder_remove(&run.folder.place);
    zeta_trace_folder_finish(&run.folder);
    zeta_session_finish(&run.session);
    return status;
}
