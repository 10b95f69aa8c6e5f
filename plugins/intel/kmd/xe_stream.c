/*
 * Streams: opened by a chain of properties, read as bare reports. The kernel answers EIO once where
 * something is missing, and goes on. Reports of OA units that were written before are still there
 * then, so the gap is behind them. Samples of EU stalls have fixed size and no time stamp; one
 * stream of them is for a GT.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/kmd/xe.h"

/* Buffers that the kernel makes, and the one that it makes unasked. */
#define BUFFER_BYTES_MIN (128ull << 10)
#define BUFFER_BYTES_MAX (128ull << 20)
#define BUFFER_BYTES_DEFAULT (16ull << 20)

/* How often one read may meet a loss without a record after it. */
#define LOSSES_MAX 4

/* How many reads in a row may; behind a loss comes a report, or nothing for now. */
#define FAILURES_MAX 16

struct stream {
    struct zeta_intel_kernel_stream base; /* first */
    bool has_break;                       /* stall samples: some are missing before the next ones */
    bool is_markers_logged;               /* that markers were lost */
    uint32_t failures;                    /* reads in a row that met losses alone */
};

/* ---- opening -------------------------------------------------------------------------------- */

void zeta_xe_property_add(struct zeta_xe_properties *properties, uint32_t property, uint64_t value)
{
    struct zeta_xe_property *item = &properties->items[properties->count];

    *item = (struct zeta_xe_property){.property = property, .value = value};
    if (properties->count > 0)
        properties->items[properties->count - 1].next = (uintptr_t)item;
    properties->count++;
}

uint64_t zeta_xe_buffer_bytes(uint64_t wanted_bytes)
{
    uint64_t bytes = BUFFER_BYTES_MIN;

    while (bytes < wanted_bytes && bytes < BUFFER_BYTES_MAX)
        bytes *= 2;
    return bytes;
}

/*
 * Opens with what the unit can do; the descriptor or the negative errno.
 *
 * @buffer_bytes  of the kernel's buffer
 * @sized         of an OA unit: the kernel is asked for this size
 */
static int observe(const struct zeta_intel_gpu *gpu,
                   const struct zeta_intel_stream_request *request, uint64_t buffer_bytes,
                   bool sized)
{
    const struct zeta_intel_unit *unit = request->unit;
    const bool is_stall = unit->kind == ZETA_INTEL_EU_STALL;
    /* Half a buffer at most, so that a reader who waits for it comes in time. */
    const uint64_t most = buffer_bytes / 2 / request->record_bytes;
    const uint64_t notify = request->notify_records < most ? request->notify_records : most;
    struct zeta_xe_properties properties = {0};
    int error, fd;

    if (is_stall) {
        zeta_xe_property_add(&properties, ZETA_XE_STALL_GT_ID, unit->kernel_id);
        zeta_xe_property_add(&properties, ZETA_XE_STALL_SAMPLE_RATE,
                             unit->rates[request->exponent]);
    } else {
        zeta_xe_property_add(&properties, ZETA_XE_OA_UNIT_ID, unit->kernel_id);
        zeta_xe_property_add(&properties, ZETA_XE_OA_SAMPLE, 1);
        zeta_xe_property_add(&properties, ZETA_XE_OA_METRIC_SET, request->config);
        zeta_xe_property_add(&properties, ZETA_XE_OA_FORMAT, request->format);
        zeta_xe_property_add(&properties, ZETA_XE_OA_PERIOD_EXPONENT, request->exponent);
        if (sized)
            zeta_xe_property_add(&properties, ZETA_XE_OA_BUFFER_SIZE, buffer_bytes);
    }
    if (unit->can_wait_for_reports && notify > 1)
        zeta_xe_property_add(
            &properties, is_stall ? ZETA_XE_STALL_WAIT_NUM_REPORTS : ZETA_XE_OA_WAIT_NUM_REPORTS,
            notify);
    fd = zeta_xe_observe(gpu, is_stall ? ZETA_XE_OBSERVATION_EU_STALL : ZETA_XE_OBSERVATION_OA,
                         ZETA_XE_OP_STREAM_OPEN, properties.items);
    if (fd < 0)
        return fd;
    /* The kernel has no flags for either, so a fork at this time inherits the descriptor. */
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    fd = zeta_descriptor_raise(fd);
    if (fd < 0)
        return -errno;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
        return fd;
    error = errno;
    (void)close(fd);
    return -error;
}

/* The kernel's buffer of stall samples for all subslices of the unit's GT; 0: it does not say. */
static uint64_t ask_stall_buffer(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_intel_unit *unit)
{
    struct zeta_xe_answer answer;
    struct zeta_xe_problem problem;
    struct zeta_intel_unit unused = {0};
    uint64_t bytes = 0;

    if (zeta_xe_query(gpu, ZETA_XE_QUERY_EU_STALL, &answer) < 0)
        return 0;
    if (!zeta_xe_parse_eu_stall(answer, &unused, &bytes, &problem) ||
        bytes > UINT64_MAX / 1024 / 64)
        bytes = 0;
    zeta_xe_answer_free(&answer);
    return bytes * gpu->tiles[unit->tile].topology.subslices;
}

uint32_t zeta_xe_stream_open(struct zeta_intel_gpu *gpu,
                             const struct zeta_intel_stream_request *request,
                             struct zeta_intel_kernel_stream **out_stream)
{
    const struct zeta_intel_unit *unit = request->unit;
    const bool is_stall = unit->kind == ZETA_INTEL_EU_STALL;
    const bool sized = unit->can_size_buffer && request->ring_bytes != 0;
    uint64_t buffer_bytes = is_stall ? ask_stall_buffer(gpu, unit)
                            : sized  ? zeta_xe_buffer_bytes(request->ring_bytes)
                                     : BUFFER_BYTES_DEFAULT;
    struct zeta_xe_oa_info info = {0};
    struct stream *stream;
    int result = 0;
    int fd = observe(gpu, request, buffer_bytes, sized);

    /* Contiguous memory of that size may be gone; the usual size is found more easily. */
    if (fd == -ENOMEM && !is_stall && buffer_bytes > BUFFER_BYTES_DEFAULT) {
        buffer_bytes = BUFFER_BYTES_DEFAULT;
        fd = observe(gpu, request, buffer_bytes, false);
    }
    if (fd < 0)
        return zeta_intel_fail_open(gpu, request, -fd);
    if (is_stall)
        result = zeta_intel_ioctl(fd, ZETA_XE_STREAM_ENABLE, NULL);
    else if (zeta_intel_ioctl(fd, ZETA_XE_STREAM_INFO, &info) >= 0 && info.oa_buf_size != 0)
        buffer_bytes = info.oa_buf_size; /* what the stream got */
    stream = result < 0 ? NULL : calloc(1, sizeof(*stream));
    if (!stream) {
        (void)close(fd);
        return result < 0 ? zeta_intel_fail(gpu, "to start the sampling of EU stalls", -result)
                          : (uint32_t)ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    stream->base = (struct zeta_intel_kernel_stream){.gpu = gpu,
                                                     .unit = unit,
                                                     .fd = fd,
                                                     .ring_bytes = buffer_bytes,
                                                     .record_bytes = request->record_bytes};
    *out_stream = &stream->base;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- reading -------------------------------------------------------------------------------- */

uint32_t zeta_xe_oa_break(uint64_t status)
{
    if ((status & ZETA_XE_OA_STATUS_BUFFER_OVERFLOW) != 0)
        return ZETA_PLUGIN_BREAK_OVERFLOW;
    if ((status & ZETA_XE_OA_STATUS_REPORT_LOST) != 0)
        return ZETA_PLUGIN_BREAK_LOST;
    /*
     * Counters wrap all the time, which differences allow for. Triggers that found no
     * room are markers that are missing; no report of the timer is.
     */
    if ((status & (ZETA_XE_OA_STATUS_COUNTER_OVERFLOW | ZETA_XE_OA_STATUS_MMIO_TRG_Q_FULL)) != 0)
        return ZETA_PLUGIN_BREAK_NONE;
    return ZETA_PLUGIN_BREAK_LOST;
}

static void take_loss(struct stream *stream)
{
    const struct zeta_intel_gpu *gpu = stream->base.gpu;
    struct zeta_xe_oa_status status = {0};
    uint32_t reason = ZETA_PLUGIN_BREAK_LOST;

    /* Stall samples have no times, so that what is missing is before the next one. */
    if (stream->base.unit->kind == ZETA_INTEL_EU_STALL) {
        stream->has_break = true;
        return;
    }
    if (zeta_intel_ioctl(stream->base.fd, ZETA_XE_STREAM_STATUS, &status) >= 0)
        reason = zeta_xe_oa_break(status.oa_status);
    if ((status.oa_status & ZETA_XE_OA_STATUS_MMIO_TRG_Q_FULL) != 0 && !stream->is_markers_logged) {
        stream->is_markers_logged = true;
        zeta_host_log(gpu->host, ZETA_PLUGIN_LOG_WARN,
                      "%s: markers of the unit %s came faster than it takes them, and some are "
                      "missing",
                      gpu->id, stream->base.unit->name);
    }
    /* Of two that were not handled yet, the one that lost more counts. */
    if (reason != ZETA_PLUGIN_BREAK_NONE && stream->base.loss != ZETA_PLUGIN_BREAK_OVERFLOW)
        stream->base.loss = reason;
}

uint32_t zeta_xe_stream_read(struct zeta_intel_kernel_stream *base, void *buffer,
                             uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    struct stream *stream = (struct stream *)base;
    const uint64_t room = capacity_bytes - capacity_bytes % base->record_bytes;
    char what[96];
    int losses = 0;
    ssize_t got;

    if (room == 0)
        return ZETA_PLUGIN_SUCCESS;
    do {
        got = read(base->fd, buffer, (size_t)room);
        if (got < 0 && errno == EIO && losses++ < LOSSES_MAX) {
            take_loss(stream);
            errno = EINTR;
        }
    } while (got < 0 && errno == EINTR);
    stream->failures = got < 0 && errno == EIO ? stream->failures + 1 : 0;
    if (got < 0 && errno != EAGAIN && (errno != EIO || stream->failures > FAILURES_MAX)) {
        const int error = errno;

        if (error == ENODEV) /* a stream that was open: not the unit, the device is gone */
            atomic_store(&base->gpu->is_lost, true);
        (void)snprintf(what, sizeof(what), "to read the stream of the unit %s", base->unit->name);
        return zeta_intel_fail(base->gpu, what, error);
    }
    if (got < (ssize_t)base->record_bytes)
        return ZETA_PLUGIN_SUCCESS;
    out_read->bytes = (uint64_t)got - (uint64_t)got % base->record_bytes;
    out_read->broken = stream->has_break;
    out_read->reason = stream->has_break ? ZETA_PLUGIN_BREAK_LOST : ZETA_PLUGIN_BREAK_NONE;
    stream->has_break = false;
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_xe_stream_close(struct zeta_intel_kernel_stream *base)
{
    (void)close(base->fd);
    free((struct stream *)base);
}
