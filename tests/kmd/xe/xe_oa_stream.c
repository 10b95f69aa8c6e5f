/* The descriptor of an OA stream of xe. */

#include "xe_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 64 << 10, PROGRAM_US = 500 };

/* What the hardware says of losses, once: told by one read, and then forgotten. */
static uint64_t take_status(struct kmd_stream *stream)
{
    uint64_t status = 0;
    if (stream->losses & KMD_LOST_REPORTS)
        status |= KMD_XE_STATUS_REPORT_LOST;
    if (stream->losses & KMD_LOST_BUFFER)
        status |= KMD_XE_STATUS_BUFFER_OVERFLOW;
    if (stream->losses & KMD_LOST_COUNTS)
        status |= KMD_XE_STATUS_COUNTER_OVERFLOW;
    if (stream->losses & KMD_LOST_TRIGGERS)
        status |= KMD_XE_STATUS_TRIGGER_QUEUE_FULL;
    stream->losses = 0;
    return status;
}

/* Copies whole reports until the buffer, the ring, or the limit of a fault ends. */
static ssize_t copy_reports(struct kmd_call *call, uint64_t buffer, size_t bytes)
{
    struct kmd_stream *stream = &call->unit->stream;
    uint64_t left = kmd_ring_available(call->gpu, call->unit);
    if (left == 0)
        return -EAGAIN;
    if (bytes < stream->report_bytes)
        return -ENOSPC;
    if (stream->short_reads && left > stream->short_reads)
        left = stream->short_reads;
    if (left > bytes / stream->report_bytes)
        left = bytes / stream->report_bytes;

    uint8_t *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        return -ENOMEM;
    size_t done = 0;
    int status = 0;
    while (left) {
        uint64_t wanted = CHUNK_BYTES / stream->report_bytes;
        uint64_t head_tick = stream->head_tick;
        uint32_t count = kmd_ring_take(call->gpu, call->unit, chunk, stream->report_bytes,
                                       (uint32_t)(left < wanted ? left : wanted));
        if (count == 0)
            break;
        status = kmd_copy_out(buffer + done, chunk, (size_t)count * stream->report_bytes);
        if (status) {
            stream->head_tick = head_tick; /* what could not be handed over stays in the ring */
            break;
        }
        kmd_xe_mapping_taken(call->gpu, call->unit, count);
        done += (size_t)count * stream->report_bytes;
        left -= count;
    }
    free(chunk);
    if (done)
        return (ssize_t)done;
    return status ? status : -EAGAIN;
}

ssize_t kmd_xe_oa_read(struct kmd_call *call, uint64_t buffer, size_t bytes)
{
    struct kmd_stream *stream = &call->unit->stream;
    if (!stream->driver[KMD_XE_OA_IS_SAMPLING])
        return -EINVAL;
    if (call->is_blocking && !stream->has_timer)
        return -EINVAL;
    /* One who waits is woken by the timer; one who does not looks at the tail himself. */
    if (call->is_blocking && stream->enabled && !stream->readable)
        return -EAGAIN;
    if (stream->enabled && !call->is_blocking)
        kmd_ring_look(call->gpu, call->unit);
    stream->driver[KMD_XE_OA_STATUS] = take_status(stream);
    if (stream->driver[KMD_XE_OA_STATUS])
        return -EIO;
    ssize_t done = copy_reports(call, buffer, bytes);
    if (done != -ENOSPC)
        kmd_stream_set_readable(call->gpu, call->unit, call->fd, false);
    return done;
}

bool kmd_xe_oa_look(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;
    if (!stream->enabled || !stream->driver[KMD_XE_OA_IS_SAMPLING])
        return false;
    kmd_ring_look(gpu, unit);
    uint64_t available = kmd_ring_available(gpu, unit);
    kmd_xe_mapping_update(gpu, unit);
    return available >= stream->driver[KMD_XE_OA_WAIT]; /* a loss alone wakes nobody */
}

/* Another configuration; the id of the one before. */
static long set_config(struct kmd_call *call, uint64_t argument)
{
    struct kmd_stream *stream = &call->unit->stream;
    struct kmd_xe_oa_request request;
    int status = kmd_xe_oa_read_request(call->gpu, argument, true, &request);
    if (status)
        return status;
    const struct kmd_oa_config *config = kmd_config_by_id(call->gpu, request.metric_set);
    if (!config)
        return -ENODEV;
    bool signals;
    status = kmd_xe_syncs_check(request.syncs, request.num_syncs, &signals);
    if (status)
        return status;
    long previous = (long)stream->config;
    kmd_stream_set_config(call->gpu, call->unit, config);
    kmd_xe_syncs_signal(request.syncs, request.num_syncs);
    call->sleep_us = signals ? 0 : PROGRAM_US;
    return previous;
}

static long enable(struct kmd_call *call)
{
    if (call->unit->stream.enabled)
        return 0;
    kmd_stream_set_readable(call->gpu, call->unit, call->fd, false);
    kmd_ring_start(call->gpu, call->unit);
    kmd_xe_mapping_restart(call->unit);
    return 0;
}

static long disable(struct kmd_call *call)
{
    if (call->unit->stream.enabled)
        kmd_ring_stop(call->gpu, call->unit);
    return 0;
}

long kmd_xe_oa_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument)
{
    struct kmd_stream *stream = &call->unit->stream;
    struct kmd_xe_oa_status status = {.status = stream->driver[KMD_XE_OA_STATUS]};
    struct kmd_xe_oa_info info = {.buffer_bytes = stream->ring_bytes};
    switch (request) {
    case KMD_XE_STREAM_ENABLE:
        return enable(call);
    case KMD_XE_STREAM_DISABLE:
        return disable(call);
    case KMD_XE_STREAM_CONFIG:
        return set_config(call, argument);
    case KMD_XE_STREAM_STATUS:
        return kmd_copy_out(argument, &status, sizeof(status));
    case KMD_XE_STREAM_INFO:
        return kmd_copy_out(argument, &info, sizeof(info));
    default:
        return -EINVAL;
    }
}
