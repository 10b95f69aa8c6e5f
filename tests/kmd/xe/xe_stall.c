/* Streams of EU stall sampling. */

#include "xe_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINKS = 5, DEFAULT_RATE = 4, CHUNK_RECORDS = 1024 };

struct request {
    struct kmd_gpu *gpu;
    struct kmd_unit *unit; /**< NULL: no GT was said */
    uint64_t period;       /**< cycles */
    uint64_t wait;
};

static struct kmd_unit *unit_of_gt(struct kmd_gpu *gpu, uint64_t gt)
{
    for (uint32_t i = 0; i < gpu->unit_count; i++)
        if (gpu->units[i].kind == KMD_UNIT_EU_STALL && gpu->units[i].id == gt)
            return &gpu->units[i];
    return NULL;
}

static int take_property(void *context, uint32_t property, uint64_t value)
{
    struct request *request = context;
    switch (property) {
    case KMD_XE_EU_STALL_GT_ID:
        request->unit = unit_of_gt(request->gpu, value);
        return request->unit ? 0 : -EINVAL;
    case KMD_XE_EU_STALL_SAMPLE_RATE:
        value /= KMD_XE_STALL_CYCLES;
        request->period = value * KMD_XE_STALL_CYCLES;
        return value >= 1 && value <= KMD_XE_STALL_RATES ? 0 : -EINVAL;
    case KMD_XE_EU_STALL_WAIT_NUM_REPORTS:
        request->wait = value;
        return 0;
    default:
        return -EINVAL;
    }
}

static uint64_t max_wait(const struct kmd_gpu *gpu)
{
    uint64_t cores = (uint64_t)gpu->slices * gpu->subslices;
    return cores * KMD_XE_STALL_BUFFER_BYTES / KMD_XE_STALL_RECORD_BYTES;
}

long kmd_xe_stall_open(struct kmd_call *call, uint64_t param)
{
    struct kmd_gpu *gpu = call->gpu;
    if (!kmd_xe_samples_stalls(gpu))
        return -ENODEV;
    if (!kmd_may_observe(gpu))
        return -EACCES;
    struct request request = {.gpu = gpu, .period = DEFAULT_RATE * KMD_XE_STALL_CYCLES, .wait = 1};
    int status = kmd_xe_chain(param, MAX_LINKS, take_property, &request);
    if (status)
        return status;
    if (!request.unit)
        return -EINVAL;
    if (kmd_unit_is_busy(gpu, request.unit))
        return -EBUSY;
    if (request.wait == 0 || request.wait > max_wait(gpu))
        return -EINVAL;
    if (gpu->open_errno)
        return -(long)gpu->open_errno;

    int fd = kmd_stream_make(call, request.unit, 0);
    if (fd < 0)
        return fd;
    struct kmd_stream *stream = &request.unit->stream;
    stream->poll_ns = KMD_XE_POLL_NS;
    stream->report_bytes = KMD_XE_STALL_RECORD_BYTES;
    stream->ring_bytes = max_wait(gpu) * KMD_XE_STALL_RECORD_BYTES;
    stream->driver[KMD_XE_STALL_WAIT] = request.wait;
    stream->driver[KMD_XE_STALL_PERIOD] = request.period;
    return fd;
}

long kmd_xe_stall_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument)
{
    struct kmd_stream *stream = &call->unit->stream;
    (void)argument;
    switch (request) {
    case KMD_XE_STREAM_ENABLE:
        if (!stream->enabled) {
            kmd_ring_start(call->gpu, call->unit);
            kmd_xe_stall_start(call->unit);
        }
        return 0;
    case KMD_XE_STREAM_DISABLE:
        if (stream->enabled) {
            kmd_ring_stop(call->gpu, call->unit);
            kmd_stream_set_readable(call->gpu, call->unit, call->fd, false);
        }
        return 0;
    default:
        return -EINVAL;
    }
}

/* Copies records of all cores, one core after the other, each time from the first core on. */
static ssize_t copy_records(struct kmd_call *call, uint64_t buffer, uint64_t max)
{
    struct kmd_unit *unit = call->unit;
    uint8_t *chunk = malloc((size_t)CHUNK_RECORDS * KMD_XE_STALL_RECORD_BYTES);
    if (!chunk)
        return -ENOMEM;
    uint64_t before[KMD_PRIVATE];
    size_t done = 0;
    int status = 0;
    while (max && !status) {
        memcpy(before, unit->stream.driver, sizeof(before));
        uint32_t count = kmd_xe_stall_take(call->gpu, unit, chunk,
                                           max < CHUNK_RECORDS ? (uint32_t)max : CHUNK_RECORDS);
        if (count == 0)
            break;
        size_t bytes = (size_t)count * KMD_XE_STALL_RECORD_BYTES;
        status = kmd_copy_out(buffer + done, chunk, bytes);
        if (status) /* what could not be handed over stays in the buffers */
            memcpy(unit->stream.driver, before, sizeof(before));
        else
            done += bytes;
        max -= count;
    }
    free(chunk);
    if (done)
        return (ssize_t)done;
    return status ? status : -EAGAIN;
}

/* News of dropped records come once, then the records that are there, then news again. */
static bool tell_drop(struct kmd_stream *stream)
{
    uint64_t *drop = &stream->driver[KMD_XE_STALL_DROP];
    if (*drop == KMD_XE_DROP_NEW) {
        *drop = KMD_XE_DROP_TOLD;
        return true;
    }
    *drop = KMD_XE_DROP_NONE;
    return false;
}

ssize_t kmd_xe_stall_read(struct kmd_call *call, uint64_t buffer, size_t bytes)
{
    struct kmd_stream *stream = &call->unit->stream;
    uint64_t max = bytes / KMD_XE_STALL_RECORD_BYTES;
    if (max == 0 || !stream->enabled)
        return -EINVAL;
    if (call->is_blocking && !stream->readable)
        return -EAGAIN;
    if (stream->short_reads && max > stream->short_reads)
        max = stream->short_reads;
    /* What came since the driver's worker looked last is not there yet. */
    ssize_t done = tell_drop(stream) ? -EIO : copy_records(call, buffer, max);
    kmd_stream_set_readable(call->gpu, call->unit, call->fd, false);
    return done;
}

bool kmd_xe_stall_look(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;
    if (!stream->enabled)
        return false;
    kmd_xe_stall_update(gpu, unit);
    return kmd_xe_stall_available(unit) >= stream->driver[KMD_XE_STALL_WAIT];
}
