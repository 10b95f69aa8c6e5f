/*
 * Time-based streams: from what the host wants to what a kernel can, and the reports that come.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/plugin_host.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/stream/order.h"

struct zeta_plugin_stream {
    struct zeta_plugin_device *device;
    struct zeta_intel_kernel_stream *kernel;
    struct zeta_intel_order order;
    /** Reports behind one that ended a read too early, because a break is there. */
    uint8_t *held;
    uint64_t held_at, held_bytes;
};

/* ---- opening ------------------------------------------------------------------------------ */

/* The period nearest to the wanted one, of those that the kernel and the caller let us have. */
static uint32_t choose_exponent(const struct zeta_plugin_device *device,
                                const struct zeta_plugin_stream_desc *desc, bool as_everybody,
                                struct zeta_intel_stream_request *request)
{
    const struct zeta_intel_kmd *kmd = device->gpu->kmd;
    const uint64_t least_ns =
        kmd->min_period_ns ? kmd->min_period_ns(request->unit, as_everybody) : 0;
    uint32_t least, most;
    const uint32_t result = zeta_intel_period_range(device, request->unit, least_ns,
                                                    desc->max_period_ns, &least, &most);

    if (result == ZETA_PLUGIN_SUCCESS)
        request->exponent = zeta_intel_period_exponent(request->unit, desc->period_ns, least, most);
    return result;
}

static uint64_t request_period(const struct zeta_plugin_device *device,
                               const struct zeta_intel_stream_request *request)
{
    return request->unit->kind == ZETA_INTEL_EU_STALL
               ? zeta_intel_stall_period(request->unit, zeta_intel_device_tile(device)->max_hz,
                                         request->exponent)
               : zeta_intel_period_ns(request->unit, request->exponent);
}

/*
 * Opens with the period wanted. When the kernel does not let this process sample so fast, with what
 * it lets everybody: a period is never refused, unless all that are left are too long.
 */
static uint32_t open_kernel_stream(struct zeta_plugin_device *device,
                                   const struct zeta_plugin_stream_desc *desc,
                                   struct zeta_intel_stream_request *request,
                                   struct zeta_intel_kernel_stream **out_stream)
{
    struct zeta_intel_gpu *gpu = device->gpu;
    const struct zeta_intel_unit *unit = request->unit;
    uint32_t result, again, refused;
    char holder[96];

    (void)snprintf(holder, sizeof(holder), "a stream of %.*s", zeta_string_shown(desc->set),
                   desc->set.data);
    if (unit->kind == ZETA_INTEL_EU_STALL) {
        request->exponent =
            zeta_intel_stall_nearest(unit, zeta_intel_device_tile(device)->max_hz, desc->period_ns);
        return zeta_intel_unit_open(gpu, request, holder, out_stream);
    }
    result = choose_exponent(device, desc, false, request);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_unit_open(gpu, request, holder, out_stream);
    if (result != ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS || !gpu->kmd->min_period_ns)
        return result;
    refused = request->exponent;
    again = choose_exponent(device, desc, true, request);
    if (again != ZETA_PLUGIN_SUCCESS)
        return again;
    return request->exponent > refused ? zeta_intel_unit_open(gpu, request, holder, out_stream)
                                       : result;
}

/* Makes the program that a unit of OA is to run, and opens. */
static uint32_t open_program(struct zeta_plugin_device *device,
                             const struct zeta_plugin_stream_desc *desc,
                             struct zeta_intel_stream_request *request,
                             struct zeta_intel_kernel_stream **out_stream)
{
    const struct zeta_plugin_string uuid =
        ZETA_PLUGIN_HAS(desc, uuid) ? desc->uuid : (struct zeta_plugin_string){NULL, 0};
    struct zeta_intel_gpu *gpu = device->gpu;
    struct zeta_intel_program program;
    uint32_t result;

    if (request->unit->kind == ZETA_INTEL_EU_STALL)
        return open_kernel_stream(device, desc, request, out_stream);
    result = zeta_intel_program_make(gpu, &desc->program, desc->set, uuid, &program);
    request->program = &program;
    if (result == ZETA_PLUGIN_SUCCESS)
        result = open_kernel_stream(device, desc, request, out_stream);
    request->program = NULL;
    zeta_intel_program_finish(&program);
    return result;
}

uint32_t zeta_intel_stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
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
    stream->order.is_wide = zeta_intel_unit_is_wide(device->gpu, request.unit);
    stream->order.hz = request.unit->timestamp_hz;
    stream->order.period = UINT64_C(2) << request.exponent;
    stream->order.tells_loss_once = stream->kernel->tells_loss_once;
    zeta_intel_order_empty_at(&stream->order, opened_ns);
    desc->period_ns = request_period(device, &request);
    desc->ring_records = stream->kernel->ring_bytes / desc->record_bytes;
    desc->keeps = 0;
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- use ---------------------------------------------------------------------------------- */

/* Keeps what lies behind a break for the reads to come. */
static bool hold(struct zeta_plugin_stream *stream, const uint8_t *reports, uint64_t bytes)
{
    uint8_t *held = realloc(stream->held, (size_t)bytes);

    if (!held)
        return false;
    memcpy(held, reports, (size_t)bytes);
    stream->held = held;
    stream->held_at = 0;
    stream->held_bytes = bytes;
    return true;
}

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

/* Takes notice of reports that were lost until now. */
static void take_loss(struct zeta_plugin_stream *stream)
{
    uint64_t ticks = stream->order.time;
    uint64_t unused;

    if (stream->kernel->loss == ZETA_PLUGIN_BREAK_NONE)
        return;
    (void)zeta_intel_unit_clock(stream->device, stream->kernel->unit, &ticks, &unused);
    zeta_intel_order_lose(&stream->order, stream->kernel->loss, ticks);
    stream->kernel->loss = ZETA_PLUGIN_BREAK_NONE;
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

    out_read->lost = 0;
    out_read->broken = 0;
    out_read->reason = ZETA_PLUGIN_BREAK_NONE;
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
    take_loss(stream);
    divide_at_break(stream, buffer, bytes, out_read);
    if (out_read->bytes < bytes && !hold(stream, buffer + out_read->bytes, bytes - out_read->bytes))
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_intel_stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                                void *buffer, uint64_t capacity_bytes,
                                struct zeta_plugin_read *out_read)
{
    struct zeta_intel_kernel_stream *kernel = stream->kernel;
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    (void)self;
    if (stream->held_bytes > 0)
        read_held(stream, buffer, capacity_bytes, out_read);
    else
        result = read_kernel(stream, buffer, capacity_bytes, out_read);
    if (result == ZETA_PLUGIN_SUCCESS && kernel->unit->kind != ZETA_INTEL_EU_STALL)
        zeta_intel_order_fix(&stream->order, buffer, out_read->bytes, kernel->record_bytes);
    return result;
}

int32_t zeta_intel_stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return stream->kernel->fd;
}

void zeta_intel_stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    if (!stream)
        return;
    zeta_intel_unit_close(stream->kernel);
    free(stream->held);
    free(stream);
}
