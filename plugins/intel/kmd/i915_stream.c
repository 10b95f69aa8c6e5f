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
#include "plugins/intel/kmd/i915_uapi.h"
#include "plugins/intel/kmd/kernel.h"

/* i915 makes all its buffers of this size. */
#define BUFFER_BYTES (16u << 20)

/* Bytes that one read() is asked for. */
#define STAGE_BYTES (256u << 10)

/* How often the kernel looks for new reports, in ns: as it does unasked, which is enough for who
 * waits for many or for none, and as often as makes sense for somebody who waits for few of them.
 * The kernel's own least is 100 us. */
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

struct properties {
    uint64_t pairs[16];
    uint32_t count;
};

static void add(struct properties *properties, uint64_t id, uint64_t value)
{
    properties->pairs[2 * properties->count] = id;
    properties->pairs[2 * properties->count + 1] = value;
    properties->count++;
}

/* The descriptor, or the negative errno. */
static int open_stream(const struct zeta_intel_gpu *gpu,
                       const struct zeta_intel_stream_request *request)
{
    const uint32_t revision = zeta_intel_i915_perf_revision(gpu);
    struct properties properties = {.count = 0};
    struct drm_i915_perf_open_param param = {
        .flags = I915_PERF_FLAG_FD_CLOEXEC | I915_PERF_FLAG_FD_NONBLOCK,
        .properties_ptr = (uintptr_t)properties.pairs,
    };
    int fd;

    add(&properties, DRM_I915_PERF_PROP_SAMPLE_OA, 1);
    add(&properties, DRM_I915_PERF_PROP_OA_METRICS_SET, request->config);
    add(&properties, DRM_I915_PERF_PROP_OA_FORMAT, request->format);
    add(&properties, DRM_I915_PERF_PROP_OA_EXPONENT, request->exponent);
    if (revision >= ZETA_INTEL_I915_ENGINE) {
        add(&properties, ZETA_I915_PROP_OA_ENGINE_CLASS, request->unit->kernel_id >> 16);
        add(&properties, ZETA_I915_PROP_OA_ENGINE_INSTANCE, request->unit->kernel_id & 0xffff);
    }
    if (revision >= ZETA_INTEL_I915_POLL_PERIOD)
        add(&properties, DRM_I915_PERF_PROP_POLL_OA_PERIOD, poll_period(request));
    param.num_properties = properties.count;
    fd = zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_PERF_OPEN, &param);
    if (fd < 0)
        return fd;
    fd = zeta_descriptor_raise(fd);
    return fd >= 0 ? fd : -errno;
}

static uint32_t refuse(struct zeta_intel_gpu *gpu, const struct zeta_intel_stream_request *request,
                       int error)
{
    char what[96];

    if (error == EBUSY)
        return zeta_intel_fail_busy(gpu, request->unit);
    if (error == EINVAL)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s (%s): i915 refused a stream of the unit %s with EINVAL: it does "
                              "not know the report format %u on this GPU, the exponent %u, the "
                              "engine %u:%u, or the configuration %llu, which another process "
                              "may have removed; is the kernel older than the GPU?",
                              gpu->name, gpu->id, request->unit->name, request->format,
                              request->exponent, request->unit->kernel_id >> 16,
                              request->unit->kernel_id & 0xffff,
                              (unsigned long long)request->config);
    (void)snprintf(what, sizeof(what), "to open a stream of the unit %s", request->unit->name);
    return zeta_intel_i915_fail(gpu, error, what);
}

uint32_t zeta_intel_i915_stream_open(struct zeta_intel_gpu *gpu,
                                     const struct zeta_intel_stream_request *request,
                                     struct zeta_intel_kernel_stream **out_stream)
{
    struct stream *stream = calloc(1, sizeof(*stream));
    int fd;

    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    fd = open_stream(gpu, request);
    if (fd < 0) {
        free(stream);
        return refuse(gpu, request, -fd);
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

_Static_assert(sizeof(struct drm_i915_perf_record_header) == ZETA_INTEL_I915_HEADER_BYTES,
               "size of the header");

/* A header whose record lies in what was read, with a report of the right size if it has one. */
static bool is_sound(const struct zeta_intel_i915_records *records,
                     const struct drm_i915_perf_record_header *header)
{
    if (header->size < sizeof(*header) || header->size > records->bytes)
        return false;
    return header->type != DRM_I915_PERF_RECORD_SAMPLE ||
           header->size == sizeof(*header) + records->report_bytes;
}

bool zeta_intel_i915_records_take(struct zeta_intel_i915_records *records, void *out_reports,
                                  uint64_t capacity_bytes, struct zeta_plugin_read *read)
{
    struct drm_i915_perf_record_header header;
    uint8_t *out = (uint8_t *)out_reports + read->bytes;

    while (records->bytes > 0) {
        if (records->bytes < sizeof(header)) {
            records->bytes = 0;
            return false;
        }
        memcpy(&header, records->at, sizeof(header));
        if (!is_sound(records, &header)) {
            records->bytes = 0;
            return false;
        }
        if (header.type == DRM_I915_PERF_RECORD_SAMPLE) {
            if (capacity_bytes - read->bytes < records->report_bytes)
                return true;
            if (records->reason != ZETA_PLUGIN_BREAK_NONE && read->bytes > 0)
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

/* Starts a stream again that the kernel stopped; what its buffer held is gone. */
static bool restart(struct stream *stream)
{
    if (stream->was_restarted || ioctl(stream->base.fd, I915_PERF_IOCTL_ENABLE, 0) != 0)
        return false;
    stream->was_restarted = true;
    stream->records.reason = ZETA_PLUGIN_BREAK_RESET;
    return true;
}

/* Says why read() failed; SUCCESS if that is no failure, but nothing to read now. */
static uint32_t judge_error(struct stream *stream, int error)
{
    struct zeta_intel_gpu *gpu = stream->base.gpu;
    char what[96];

    if (error == EAGAIN)
        return ZETA_PLUGIN_SUCCESS;
    if (error == EIO && restart(stream))
        return ZETA_PLUGIN_SUCCESS;
    if (error == ENOSPC && !stream->was_too_small) {
        stream->was_too_small = true; /* every report fits; the next read will tell */
        return ZETA_PLUGIN_SUCCESS;
    }
    (void)snprintf(what, sizeof(what), "to read the stream of the unit %s",
                   stream->base.unit->name);
    return zeta_intel_i915_fail(gpu, error, what);
}

/* Fills the stage. The bytes that came, 0 for none now; *out_result tells of a failure. */
static size_t fill_stage(struct stream *stream, uint32_t *out_result)
{
    ssize_t bytes;

    do {
        bytes = read(stream->base.fd, stream->stage, sizeof(stream->stage));
    } while (bytes < 0 && errno == EINTR);
    *out_result = bytes < 0 ? judge_error(stream, errno) : ZETA_PLUGIN_SUCCESS;
    if (bytes <= 0)
        return 0;
    stream->was_too_small = false;
    stream->was_restarted = false;
    stream->records.at = stream->stage;
    stream->records.bytes = (size_t)bytes;
    return (size_t)bytes;
}

uint32_t zeta_intel_i915_stream_read(struct zeta_intel_kernel_stream *kernel_stream, void *buffer,
                                     uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    struct stream *stream = (struct stream *)kernel_stream;
    struct zeta_intel_gpu *gpu = stream->base.gpu;
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    out_read->bytes = 0;
    out_read->lost = 0;
    out_read->broken = 0;
    out_read->reason = ZETA_PLUGIN_BREAK_NONE;
    while (result == ZETA_PLUGIN_SUCCESS &&
           capacity_bytes - out_read->bytes >= stream->base.record_bytes) {
        if (stream->records.bytes == 0 && fill_stage(stream, &result) == 0)
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
