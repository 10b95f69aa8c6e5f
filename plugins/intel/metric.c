/*
 * Metrics of a device: sets, symbols, limits, holders; and time-based streams, from what the host
 * wants to what a kernel can, and the reports that come.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/file.h>
#include <zeta/plugin_host.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/query/query.h"
#include "plugins/intel/stream/order.h"

/* No set file is as large; the host has a limit of its own. */
#define MAX_SET_BYTES (32 << 20)

/* How long an answer about the process that has a unit is used. */
#define SEEN_FOR_NS 100000000u

/* ---- sets --------------------------------------------------------------------------------- */

/* A generation has several platforms, each with files of its own, which the manifest cannot name.
 */
static uint32_t get_sets(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink)
{
    const struct zeta_intel_platform *platform = device->gpu->platform;
    char path[PATH_MAX + 160];

    if (device->gpu->no_metrics[0] != '\0')
        return ZETA_PLUGIN_SUCCESS; /* the log says why */
    for (uint32_t i = 0; i < platform->set_count; i++) {
        const char *name = platform->sets[i];
        uint64_t bytes = 0;
        char *text;

        /* intel/NAME: what generations share */
        (void)snprintf(path, sizeof(path), "%s%s/%s", self->host.data_dir,
                       strchr(name, '/') ? "/.." : "", name);
        text = zeta_file_read(path, MAX_SET_BYTES, &bytes);
        if (text)
            sink->write(sink->context, zeta_string(path), (struct zeta_plugin_string){text, bytes});
        else
            zeta_host_log(&self->host, ZETA_PLUGIN_LOG_WARN,
                          "the set file %s of %s cannot be read: %s", path, platform->name,
                          zeta_intel_errno(errno).text);
        free(text);
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t get_symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_array *out_symbols)
{
    (void)self;
    out_symbols->data = device->symbols;
    out_symbols->count = device->symbol_count;
    out_symbols->stride = sizeof(struct zeta_plugin_symbol);
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- units -------------------------------------------------------------------------------- */

static uint32_t get_limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_string name, struct zeta_plugin_limits *out_limits)
{
    const struct zeta_intel_unit *unit;
    uint32_t result = zeta_intel_unit_get(device, name, &unit);
    uint32_t least, most;

    (void)self;
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    zeta_intel_query_limits(device, unit, out_limits);
    result = zeta_intel_period_range(device, unit, false, out_limits->max_period_ns, &least, &most);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    out_limits->min_period_ns = zeta_intel_period_ns(unit, least);
    out_limits->max_period_ns = zeta_intel_period_ns(unit, most);
    return ZETA_PLUGIN_SUCCESS;
}

/*
 * Reads the descriptors of all processes, which takes milliseconds. A list of groups asks for each
 * of them, so an answer holds for SEEN_FOR_NS.
 */
static uint32_t get_holder(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_string name, uint32_t *out_pid)
{
    struct zeta_intel_gpu *gpu = device->gpu;
    const struct zeta_intel_unit *unit;
    const uint32_t result = zeta_intel_unit_get(device, name, &unit);
    struct zeta_intel_use *use;
    bool is_known;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    use = &gpu->uses[unit - gpu->units];
    (void)pthread_mutex_lock(&self->intel->lock);
    is_known =
        use->is_taken || (use->seen_ns != 0 && zeta_monotonic_ns() - use->seen_ns < SEEN_FOR_NS);
    *out_pid = use->is_taken ? (uint32_t)getpid() : use->seen_pid;
    (void)pthread_mutex_unlock(&self->intel->lock);
    if (is_known)
        return ZETA_PLUGIN_SUCCESS;
    *out_pid = zeta_intel_holder_find(gpu, unit);
    (void)pthread_mutex_lock(&self->intel->lock);
    use->seen_pid = *out_pid;
    use->seen_ns = zeta_monotonic_ns();
    (void)pthread_mutex_unlock(&self->intel->lock);
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- streams ---------------------------------------------------------------------------- */

struct zeta_plugin_stream {
    struct zeta_plugin_device *device;
    struct zeta_intel_kernel_stream *kernel;
    struct zeta_intel_order order;
    /** Reports behind one that ended a read too early, because a break is there. */
    uint8_t *held;
    uint64_t held_at, held_bytes;
};

/*
 * Opens with the nearest period that the kernel and the caller allow. When the kernel does not let
 * this process sample so fast, with what it lets everybody: a period is never refused, unless all
 * that are left are too long.
 */
static uint32_t open_kernel_stream(struct zeta_plugin_device *device,
                                   const struct zeta_plugin_stream_desc *desc,
                                   struct zeta_intel_stream_request *request,
                                   struct zeta_intel_kernel_stream **out_stream)
{
    struct zeta_intel_gpu *gpu = device->gpu;
    const struct zeta_intel_unit *unit = request->unit;
    uint32_t result = ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS;
    uint32_t least, most, refused;
    char holder[96];

    (void)snprintf(holder, sizeof(holder), "a stream of %.*s", zeta_string_shown(desc->set),
                   desc->set.data);
    for (uint32_t attempt = 0; attempt < 2 && result == ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS;
         attempt++) {
        const bool for_everybody = attempt == 1;
        const uint32_t found = zeta_intel_period_range(device, unit, for_everybody,
                                                       desc->max_period_ns, &least, &most);

        if (found != ZETA_PLUGIN_SUCCESS)
            return found;
        refused = request->exponent;
        request->exponent = zeta_intel_period_exponent(unit, desc->period_ns, least, most);
        if (!for_everybody || request->exponent > refused)
            result = zeta_intel_unit_open(gpu, request, holder, out_stream);
    }
    return result;
}

/* Makes the program that a unit of OA is to run, and opens. */
static uint32_t open_program(struct zeta_plugin_device *device,
                             const struct zeta_plugin_stream_desc *desc,
                             struct zeta_intel_stream_request *request,
                             struct zeta_intel_kernel_stream **out_stream)
{
    const struct zeta_plugin_string uuid =
        ZETA_PLUGIN_HAS(desc, uuid) ? desc->uuid : (struct zeta_plugin_string){NULL, 0};
    struct zeta_intel_program program;
    uint32_t result;

    if (request->unit->kind == ZETA_INTEL_EU_STALL)
        return open_kernel_stream(device, desc, request, out_stream);
    result = zeta_intel_program_make(device->gpu, &desc->program, desc->set, uuid, &program);
    request->program = &program;
    if (result == ZETA_PLUGIN_SUCCESS)
        result = open_kernel_stream(device, desc, request, out_stream);
    request->program = NULL;
    zeta_intel_program_finish(&program);
    return result;
}

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    struct zeta_intel_stream_request request = {
        .ring_bytes = desc->ring_records * desc->record_bytes,
        .notify_records = desc->notify_records,
    };
    struct zeta_plugin_stream *stream;
    /* This clock goes on while the host is suspended, as that of a GPU may. */
    const uint64_t opened_ns = zeta_clock_ns(CLOCK_BOOTTIME);
    uint32_t result = zeta_intel_unit_get(device, desc->unit, &request.unit);

    (void)self;
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_unit_reports(device, desc->set, desc->record_bytes, &request);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = open_program(device, desc, &request, &stream->kernel);
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(stream);
        return result;
    }
    stream->device = device;
    stream->order.is_wide = request.unit->kind != ZETA_INTEL_EU_STALL &&
                            device->gpu->platform->formats[request.unit->kind].is_wide;
    stream->order.hz = request.unit->timestamp_hz;
    stream->order.period = UINT64_C(2) << request.exponent;
    stream->order.tells_loss_once = stream->kernel->tells_loss_once;
    zeta_intel_order_empty_at(&stream->order, opened_ns);
    desc->period_ns = zeta_intel_period_ns(request.unit, request.exponent);
    desc->ring_records = stream->kernel->ring_bytes / desc->record_bytes;
    desc->keeps = 0;
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- reading it
 * ---------------------------------------------------------------------------------- */

/*
 * Says how many of the reports one read gives, and what comes before the first. Time stamps that do
 * not go on with the host's clock come from a device that was reset: its counters begin anew as
 * well, so that is a break before the first of them, where a read must end. So is the gap of
 * reports that were lost.
 */
static void divide_at_break(struct zeta_plugin_stream *stream, const uint8_t *reports,
                            uint64_t bytes, struct zeta_plugin_read *read)
{
    zeta_intel_order_look_at(&stream->order, zeta_clock_ns(CLOCK_BOOTTIME));
    if (bytes > 0 && !read->broken) {
        read->reason = zeta_intel_order_break(&stream->order, reports);
        read->broken = read->reason != ZETA_PLUGIN_BREAK_NONE;
    }
    if (read->broken)
        zeta_intel_order_begin(&stream->order, read->reason, reports);
    read->bytes =
        zeta_intel_order_until_break(&stream->order, reports, bytes, stream->kernel->record_bytes);
}

/*
 * Gives what an earlier read held back, as the kernel would give it. Reports are copied once,
 * however many breaks lie between them.
 */
static void read_held(struct zeta_plugin_stream *stream, uint8_t *buffer, uint64_t capacity_bytes,
                      struct zeta_plugin_read *out_read)
{
    const uint64_t room = capacity_bytes - capacity_bytes % stream->kernel->record_bytes;
    const uint8_t *held = stream->held + stream->held_at;

    divide_at_break(stream, held, stream->held_bytes < room ? stream->held_bytes : room, out_read);
    memcpy(buffer, held, (size_t)out_read->bytes);
    stream->held_at += out_read->bytes;
    stream->held_bytes -= out_read->bytes;
}

/* Gives what the kernel has, and holds back what lies behind a break. */
static uint32_t read_kernel(struct zeta_plugin_stream *stream, uint8_t *buffer,
                            uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    struct zeta_intel_kernel_stream *kernel = stream->kernel;
    const uint64_t begin_ns = zeta_clock_ns(CLOCK_BOOTTIME);
    const uint32_t result = kernel->gpu->kmd->stream_read(kernel, buffer, capacity_bytes, out_read);
    const uint64_t bytes = out_read->bytes;

    if (result != ZETA_PLUGIN_SUCCESS || kernel->unit->kind == ZETA_INTEL_EU_STALL)
        return result;
    if (bytes == 0)
        zeta_intel_order_empty_at(&stream->order, begin_ns);
    if (kernel->loss != ZETA_PLUGIN_BREAK_NONE) {
        struct zeta_intel_reading now = {.ticks = stream->order.time};

        (void)zeta_intel_unit_clock(stream->device, kernel->unit, &now);
        zeta_intel_order_lose(&stream->order, kernel->loss, now.ticks);
        kernel->loss = ZETA_PLUGIN_BREAK_NONE;
    }
    divide_at_break(stream, buffer, bytes, out_read);
    if (out_read->bytes < bytes) {
        uint8_t *held = realloc(stream->held, (size_t)(bytes - out_read->bytes));

        if (!held)
            return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        stream->held = held;
        stream->held_at = 0;
        stream->held_bytes = bytes - out_read->bytes;
        memcpy(held, buffer + out_read->bytes, (size_t)stream->held_bytes);
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    struct zeta_intel_kernel_stream *kernel = stream->kernel;
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    (void)self;
    *out_read = (struct zeta_plugin_read){.struct_size = out_read->struct_size};
    if (stream->held_bytes > 0)
        read_held(stream, buffer, capacity_bytes, out_read);
    else
        result = read_kernel(stream, buffer, capacity_bytes, out_read);
    if (result == ZETA_PLUGIN_SUCCESS && kernel->unit->kind != ZETA_INTEL_EU_STALL)
        zeta_intel_order_fix(&stream->order, buffer, out_read->bytes, kernel->record_bytes);
    return result;
}

static int32_t stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return stream->kernel->fd;
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    if (!stream)
        return;
    zeta_intel_unit_close(stream->kernel);
    free(stream->held);
    free(stream);
}

const struct zeta_plugin_metric_ops zeta_intel_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .get_sets = get_sets,
    .symbols = get_symbols,
    .limits = get_limits,
    .holder = get_holder,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_descriptor = stream_descriptor,
    .stream_close = stream_close,
    .query_pool_create = zeta_intel_query_pool_create,
    .query_pool_destroy = zeta_intel_query_pool_destroy,
    .query_reset = zeta_intel_query_reset,
    .query_collect = zeta_intel_query_collect,
};
