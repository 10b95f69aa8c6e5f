/* The descriptor of a stream: ioctls, and reads with a header before each report. */

#include "tests/kmd/i915/i915.h"

#include <errno.h>
#include <string.h>

enum { ENABLE = 0x6900, DISABLE = 0x6901, CONFIG = 0x6902 };
enum { RECORD_SAMPLE = 1, RECORD_REPORT_LOST = 2, RECORD_BUFFER_LOST = 3 };
enum { PREPARATION_US = 500, CHUNK_BYTES = 65536 };

struct record {
    uint32_t type;
    uint16_t pad, size;
};

static long set_config(struct kmd_call *call, uint64_t id)
{
    struct kmd_stream *stream = &call->unit->stream;
    const struct kmd_oa_config *config = kmd_config_by_id(call->gpu, id);
    const long previous = (long)stream->config;

    if (call->gpu->perf_revision < 2 || !config)
        return -EINVAL;
    kmd_stream_set_config(call->gpu, call->unit, config);
    call->sleep_us = PREPARATION_US;
    return previous;
}

long kmd_i915_stream_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument)
{
    struct kmd_stream *stream = &call->unit->stream;

    switch (request) {
    case ENABLE:
        if (!stream->enabled) {
            stream->driver[I915_TOLD_LOSS] = 0;
            kmd_ring_start(call->gpu, call->unit);
        }
        return 0;
    case DISABLE:
        if (stream->enabled)
            kmd_ring_stop(call->gpu, call->unit);
        return 0;
    case CONFIG:
        return set_config(call, argument);
    default:
        return -EINVAL;
    }
}

bool kmd_i915_stream_look(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    if (!unit->stream.enabled)
        return false;
    kmd_ring_look(gpu, unit);
    return kmd_ring_available(gpu, unit) > 0; /* a loss alone wakes nobody */
}

/* Where a read stands. */
struct progress {
    uint64_t to;
    size_t done, room;
};

static int put_lost(struct progress *progress, uint32_t type)
{
    const struct record record = {.type = type, .size = sizeof(record)};

    if (progress->room - progress->done < sizeof(record))
        return -ENOSPC;
    if (kmd_copy_out(progress->to + progress->done, &record, sizeof(record)) != 0)
        return -EFAULT;
    progress->done += sizeof(record);
    return 0;
}

/* The timer of a kernel is never late; the thread that stands for it may be, on a busy host. */
static bool is_look_due(const struct kmd_stream *stream)
{
    return kmd_now_ns() - stream->looked_ns >= stream->poll_ns;
}

/* A buffer that overflowed is dropped whole, and the unit starts anew. */
static int put_lost_buffer(struct kmd_call *call, struct progress *progress)
{
    struct kmd_stream *stream = &call->unit->stream;
    int result;

    if (!(stream->losses & KMD_LOST_BUFFER))
        return 0;
    result = put_lost(progress, RECORD_BUFFER_LOST);
    if (result != 0)
        return result;
    stream->driver[I915_TOLD_LOSS] = 0;
    kmd_ring_drop(call->gpu, call->unit);
    return 0;
}

/*
 * Lost reports are told once, before the reports around the loss. While the unit of Haswell runs
 * nobody can clear its bit, so a later loss shows no more.
 */
static int put_lost_reports(struct kmd_call *call, struct progress *progress)
{
    struct kmd_stream *stream = &call->unit->stream;
    int result = 0;

    if (!(stream->losses & KMD_LOST_REPORTS))
        return 0;
    if (stream->driver[I915_TOLD_LOSS] == 0)
        result = put_lost(progress, RECORD_REPORT_LOST);
    if (result != 0)
        return result;
    stream->losses &= ~(uint32_t)KMD_LOST_REPORTS;
    stream->driver[I915_TOLD_LOSS] = kmd_gpu_platform(call->gpu)->graphics < 800;
    return 0;
}

/* Ids of other contexts, and those that are not valid, are made unusable. */
static void hide_context(const struct kmd_gpu *gpu, const struct kmd_stream *stream,
                         uint8_t *report)
{
    const uint32_t graphics = kmd_gpu_platform(gpu)->graphics;
    const uint32_t none = UINT32_MAX;
    uint32_t words[3];
    bool is_valid;

    if (graphics < 800 || graphics >= 1255)
        return;
    memcpy(words, report, sizeof(words));
    is_valid = (words[0] >> (graphics < 900 ? 25 : 16) & 1) != 0;
    if (!is_valid || (stream->driver[I915_ONE_CONTEXT] != 0 && words[2] != stream->context))
        memcpy(report + 8, &none, sizeof(none));
}

/* As many reports as fit, a bounded number at a time. */
static int put_reports(struct kmd_call *call, struct progress *progress)
{
    struct kmd_stream *stream = &call->unit->stream;
    const size_t size = sizeof(struct record) + stream->report_bytes;
    uint64_t left = stream->short_reads > 0 ? stream->short_reads : UINT64_MAX;

    while (left > 0 && kmd_ring_available(call->gpu, call->unit) > 0) {
        uint8_t records[CHUNK_BYTES];
        size_t want = (progress->room - progress->done) / size;
        uint32_t taken;

        if (want == 0)
            return -ENOSPC;
        if (want > sizeof(records) / size)
            want = sizeof(records) / size;
        if (want > left)
            want = left;
        taken = kmd_ring_take(call->gpu, call->unit, records + sizeof(struct record), size,
                              (uint32_t)want);
        for (uint32_t i = 0; i < taken; i++) {
            const struct record record = {.type = RECORD_SAMPLE, .size = (uint16_t)size};

            memcpy(records + i * size, &record, sizeof(record));
            hide_context(call->gpu, stream, records + i * size + sizeof(record));
        }
        if (kmd_copy_out(progress->to + progress->done, records, taken * size) != 0)
            return -EFAULT;
        progress->done += taken * size;
        left -= taken;
    }
    return 0;
}

ssize_t kmd_i915_stream_read(struct kmd_call *call, uint64_t buffer, size_t bytes)
{
    struct kmd_stream *stream = &call->unit->stream;
    struct progress progress = {.to = buffer, .room = bytes};
    int result;

    if (!stream->enabled || stream->driver[I915_SAMPLES] == 0)
        return -EIO;
    if (call->is_blocking && !stream->has_timer)
        return -EIO;
    /* Who waits looks for himself first. */
    if (call->is_blocking || is_look_due(stream))
        kmd_ring_look(call->gpu, call->unit);
    result = put_lost_buffer(call, &progress);
    if (result == 0)
        result = put_lost_reports(call, &progress);
    if (result == 0)
        result = put_reports(call, &progress);
    if (result != -ENOSPC)
        kmd_stream_set_readable(call->gpu, call->unit, call->fd, false);
    if (progress.done > 0)
        return (ssize_t)progress.done;
    return result != 0 ? result : -EAGAIN;
}
