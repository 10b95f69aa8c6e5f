/*
 * Streams of i915: opened by pairs of properties, read as records.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#include "plugins/intel/kmd/i915.h"
#include "plugins/intel/kmd/kernel.h"

/* i915 makes all its buffers of this size. */
#define BUFFER_BYTES (16u << 20)

/* Bytes that one read() is asked for. */
#define STAGE_BYTES (256u << 10)

/* How often the kernel polls for new reports, in ns: its default, which is enough for a reader that
 * waits for many or for none, and as often as makes sense for one that waits for few. The kernel's
 * own least is 100 us. */
#define POLL_LONGEST_NS 5000000u
#define POLL_SHORTEST_NS 500000u

struct stream {
    struct zeta_intel_kernel_stream base; /* first */
    struct zeta_intel_i915_records records;
    bool was_too_small; /* the last read() said so, with a buffer that cannot be */
    bool was_restarted; /* no report came since */
    uint8_t stage[STAGE_BYTES];
};

/* ---- opening ------------------------------------------------------------------------------ */

/* Whether the kernel lets this process sample as fast as it likes. */
static bool is_privileged(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    return (data[CAP_TO_INDEX(CAP_PERFMON)].effective & CAP_TO_MASK(CAP_PERFMON)) != 0 ||
           (data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN)) != 0;
}

uint64_t zeta_intel_i915_min_period_ns(const struct zeta_intel_unit *unit, bool for_everybody)
{
    uint64_t rate;

    if (!zeta_intel_sysctl_read("dev.i915.oa_max_sample_rate", &rate) || rate == 0 ||
        (!for_everybody && is_privileged()))
        return zeta_intel_period_ns(unit, 0);
    for (uint32_t e = 0; e < ZETA_INTEL_EXPONENTS; e++) {
        if (1000000000u / zeta_intel_period_ns(unit, e) <= rate)
            return zeta_intel_period_ns(unit, e);
    }
    return zeta_intel_period_ns(unit, ZETA_INTEL_EXPONENTS - 1);
}

static uint64_t poll_period(const struct zeta_intel_stream_request *request)
{
    const uint64_t period_ns = zeta_intel_period_ns(request->unit, request->exponent);
    const uint64_t records = request->notify_records;

    if (records == 0 || records >= POLL_LONGEST_NS / period_ns + 1)
        return POLL_LONGEST_NS;
    return records * period_ns < POLL_SHORTEST_NS ? POLL_SHORTEST_NS : records * period_ns;
}

uint32_t zeta_intel_i915_stream_open(struct zeta_intel_gpu *gpu,
                                     const struct zeta_intel_stream_request *request,
                                     struct zeta_intel_kernel_stream **out_stream)
{
    const uint32_t revision = zeta_intel_i915_perf_revision(gpu);
    /* Pairs of a property and its value; the last ones only for kernels that know them. */
    const uint64_t properties[][2] = {
        {DRM_I915_PERF_PROP_SAMPLE_OA, 1},
        {DRM_I915_PERF_PROP_OA_METRICS_SET, request->config},
        {DRM_I915_PERF_PROP_OA_FORMAT, request->format},
        {DRM_I915_PERF_PROP_OA_EXPONENT, request->exponent},
        {DRM_I915_PERF_PROP_POLL_OA_PERIOD, poll_period(request)},
        {ZETA_I915_PROP_OA_ENGINE_CLASS, request->unit->kernel_id >> 16},
        {ZETA_I915_PROP_OA_ENGINE_INSTANCE, request->unit->kernel_id & 0xffff},
    };
    struct drm_i915_perf_open_param param = {
        .flags = I915_PERF_FLAG_FD_CLOEXEC | I915_PERF_FLAG_FD_NONBLOCK,
        .num_properties = revision >= ZETA_INTEL_I915_ENGINE        ? 7
                          : revision >= ZETA_INTEL_I915_POLL_PERIOD ? 5
                                                                    : 4,
        .properties_ptr = (uintptr_t)properties,
    };
    struct stream *stream = calloc(1, sizeof(*stream));
    int fd, error;

    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    fd = zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_PERF_OPEN, &param);
    error = -fd;
    if (fd >= 0) {
        fd = zeta_descriptor_raise(fd);
        error = errno;
    }
    if (fd < 0) {
        free(stream);
        return zeta_intel_fail_open(gpu, request, error);
    }
    stream->base = (struct zeta_intel_kernel_stream){
        .gpu = gpu,
        .unit = request->unit,
        .fd = fd,
        .ring_bytes = BUFFER_BYTES,
        .record_bytes = request->record_bytes,
        /* The bit of Haswell cannot be cleared while the unit runs; this format is its own. */
        .tells_loss_once = request->format == I915_OA_FORMAT_A45_B8_C8,
    };
    stream->records.report_bytes = request->record_bytes;
    *out_stream = &stream->base;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- records ------------------------------------------------------------------------------ */

bool zeta_intel_i915_records_take(struct zeta_intel_i915_records *records, void *out_reports,
                                  uint64_t capacity_bytes, struct zeta_plugin_read *read)
{
    struct drm_i915_perf_record_header header;
    uint8_t *out = (uint8_t *)out_reports + read->bytes;

    while (records->bytes > 0) {
        /* Its record lies in what was read, with a report of the right size if it has one. */
        if (records->bytes >= sizeof(header))
            memcpy(&header, records->at, sizeof(header));
        if (records->bytes < sizeof(header) || header.size < sizeof(header) ||
            header.size > records->bytes ||
            (header.type == DRM_I915_PERF_RECORD_SAMPLE &&
             header.size != sizeof(header) + records->report_bytes)) {
            records->bytes = 0;
            return false;
        }
        if (header.type == DRM_I915_PERF_RECORD_SAMPLE) {
            if (capacity_bytes - read->bytes < records->report_bytes ||
                (records->reason != ZETA_PLUGIN_BREAK_NONE && read->bytes > 0))
                return true;
            if (records->reason != ZETA_PLUGIN_BREAK_NONE) {
                read->broken = 1;
                read->reason = records->reason;
                records->reason = ZETA_PLUGIN_BREAK_NONE;
            }
            memcpy(out, records->at + sizeof(header), records->report_bytes);
            out += records->report_bytes;
            read->bytes += records->report_bytes;
        } else if (header.type == DRM_I915_PERF_RECORD_OA_BUFFER_LOST) {
            records->reason = ZETA_PLUGIN_BREAK_OVERFLOW;
        } else if (header.type == DRM_I915_PERF_RECORD_OA_REPORT_LOST) {
            records->has_loss = true;
        }
        records->at += header.size;
        records->bytes -= header.size;
    }
    return true;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Says why read() failed; SUCCESS if that is no failure, but nothing to read now. */
static uint32_t judge_error(struct stream *stream, int error)
{
    char what[96];

    if (error == EAGAIN)
        return ZETA_PLUGIN_SUCCESS;
    /* The kernel stopped the stream; what its buffer held is gone. */
    if (error == EIO && !stream->was_restarted &&
        ioctl(stream->base.fd, I915_PERF_IOCTL_ENABLE, 0) == 0) {
        stream->was_restarted = true;
        stream->records.reason = ZETA_PLUGIN_BREAK_RESET;
        return ZETA_PLUGIN_SUCCESS;
    }
    if (error == ENOSPC && !stream->was_too_small) {
        stream->was_too_small = true; /* every report fits; the next read shows */
        return ZETA_PLUGIN_SUCCESS;
    }
    (void)snprintf(what, sizeof(what), "to read the stream of the unit %s",
                   stream->base.unit->name);
    return zeta_intel_fail(stream->base.gpu, what, error);
}

/* Fills the stage, with nothing if there is nothing now. */
static uint32_t fill_stage(struct stream *stream)
{
    ssize_t bytes;

    do {
        bytes = read(stream->base.fd, stream->stage, sizeof(stream->stage));
    } while (bytes < 0 && errno == EINTR);
    if (bytes < 0)
        return judge_error(stream, errno);
    if (bytes > 0)
        stream->was_too_small = stream->was_restarted = false;
    stream->records.at = stream->stage;
    stream->records.bytes = (size_t)bytes;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_intel_i915_stream_read(struct zeta_intel_kernel_stream *kernel_stream, void *buffer,
                                     uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    struct stream *stream = (struct stream *)kernel_stream;
    struct zeta_intel_gpu *gpu = stream->base.gpu;
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    while (result == ZETA_PLUGIN_SUCCESS &&
           capacity_bytes - out_read->bytes >= stream->base.record_bytes) {
        if (stream->records.bytes == 0)
            result = fill_stage(stream);
        if (stream->records.bytes == 0)
            break;
        if (!zeta_intel_i915_records_take(&stream->records, buffer, capacity_bytes, out_read)) {
            zeta_host_log(gpu->host, ZETA_PLUGIN_LOG_ERROR,
                          "%s (%s): what i915 gave for the unit %s is no sequence of records "
                          "with reports of %u bytes; the rest of it is dropped",
                          gpu->name, gpu->id, stream->base.unit->name, stream->base.record_bytes);
            stream->records.reason = ZETA_PLUGIN_BREAK_LOST;
        }
        if (stream->records.bytes > 0)
            break; /* no room, or a break comes next */
    }
    if (stream->records.has_loss)
        stream->base.loss = ZETA_PLUGIN_BREAK_LOST;
    stream->records.has_loss = false;
    /* What came first is given; the failure meets the next read again. */
    return out_read->bytes > 0 ? ZETA_PLUGIN_SUCCESS : result;
}

void zeta_intel_i915_stream_close(struct zeta_intel_kernel_stream *kernel_stream)
{
    (void)close(kernel_stream->fd);
    free(kernel_stream);
}
