/*
 * Configurations, which the kernel knows by uuid in all processes, and streams: opened by a chain
 * of properties, read as bare reports. The kernel says by EIO that something is missing, once, and
 * goes on. Reports of OA units that were written before are still there then, so the gap is behind
 * them. Samples of EU stalls have fixed size and no time stamp; one stream of them is for a GT.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/kmd/xe.h"

/* How often a configuration may vanish and come back between a look and an upload. */
#define ATTEMPTS 4

/* Buffers that the kernel makes, and the one that it makes unasked. */
#define BUFFER_BYTES_MIN (128ull << 10)
#define BUFFER_BYTES_MAX (128ull << 20)
#define BUFFER_BYTES_DEFAULT (16ull << 20)

/* How often one read may meet a loss without a record after it. */
#define LOSSES_MAX 4

/* How many reads in a row may; behind a loss comes a report, or nothing for now. */
#define FAILURES_MAX 16

/* ---- configurations ------------------------------------------------------------------------- */

/* Uploads a configuration: its id, or the negative errno. */
static int upload(const struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program)
{
    struct zeta_xe_oa_config config = {.n_regs = program->count,
                                       .regs_ptr = (uintptr_t)program->registers};
    struct zeta_xe_observation observation = {
        .type = ZETA_XE_OBSERVATION_OA, .op = ZETA_XE_OP_ADD_CONFIG, .param = (uintptr_t)&config};

    memcpy(config.uuid, program->uuid, sizeof(config.uuid));
    return zeta_intel_ioctl(gpu->fd, ZETA_XE_OBSERVATION, &observation);
}

static uint32_t refuse_config(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                              int error)
{
    char what[96];

    if (error == EINVAL)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: the xe driver refused the configuration %s with EINVAL: it "
                              "does not allow one of its %u registers on this device, or the uuid "
                              "is not in lower case; a newer kernel may allow more",
                              gpu->id, program->uuid, program->count);
    (void)snprintf(what, sizeof(what), "to take the configuration %.36s", program->uuid);
    return zeta_xe_fail(gpu, what, error);
}

uint32_t zeta_xe_config_get(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                            uint64_t *out_config)
{
    static_assert(sizeof(struct zeta_intel_register) == 8, "registers are what the kernel takes");

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int result;

        if (zeta_intel_config_find(gpu, program->uuid, out_config))
            return ZETA_PLUGIN_SUCCESS;
        result = upload(gpu, program);
        if (result >= 0) {
            *out_config = (uint64_t)result;
            return ZETA_PLUGIN_SUCCESS;
        }
        if (result != -EADDRINUSE)
            return refuse_config(gpu, program, -result);
    }
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: the kernel reports that the configuration %s exists, but "
                          "%s/metrics/%s/id cannot be read; is /sys mounted?",
                          gpu->id, program->uuid, gpu->card, program->uuid);
}

void zeta_xe_config_remove(struct zeta_intel_gpu *gpu, uint64_t config)
{
    struct zeta_xe_observation observation = {.type = ZETA_XE_OBSERVATION_OA,
                                              .op = ZETA_XE_OP_REMOVE_CONFIG,
                                              .param = (uintptr_t)&config};

    (void)zeta_intel_ioctl(gpu->fd, ZETA_XE_OBSERVATION, &observation);
}

/* ---- opening -------------------------------------------------------------------------------- */

void zeta_xe_property_add(struct zeta_xe_properties *properties, uint32_t property, uint64_t value)
{
    struct zeta_xe_property *item = &properties->items[properties->count];

    *item = (struct zeta_xe_property){.property = property, .value = value};
    if (properties->count > 0)
        properties->items[properties->count - 1].next = (uintptr_t)item;
    properties->count++;
}

static int open_descriptor(const struct zeta_intel_gpu *gpu, uint32_t type,
                           const struct zeta_xe_properties *properties)
{
    struct zeta_xe_observation observation = {
        .type = type, .op = ZETA_XE_OP_STREAM_OPEN, .param = (uintptr_t)properties->items};
    int error;
    int fd = zeta_intel_ioctl(gpu->fd, ZETA_XE_OBSERVATION, &observation);

    if (fd < 0)
        return fd;
    /* The kernel has no flags for either, so a fork at this moment inherits the descriptor. */
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

static struct zeta_xe_stream *make_stream(struct zeta_intel_gpu *gpu,
                                          const struct zeta_intel_stream_request *request, int fd)
{
    struct zeta_xe_stream *stream = calloc(1, sizeof(*stream));

    if (!stream) {
        (void)close(fd);
        return NULL;
    }
    stream->base.gpu = gpu;
    stream->base.unit = request->unit;
    stream->base.fd = fd;
    stream->base.record_bytes = request->record_bytes;
    return stream;
}

uint64_t zeta_xe_buffer_bytes(uint64_t wanted_bytes)
{
    uint64_t bytes = BUFFER_BYTES_MIN;

    while (bytes < wanted_bytes && bytes < BUFFER_BYTES_MAX)
        bytes *= 2;
    return bytes;
}

/* The size of the buffer that the stream got. */
static uint64_t ask_buffer_bytes(int fd, uint64_t asked_bytes)
{
    struct zeta_xe_oa_info info = {0};

    if (zeta_intel_ioctl(fd, ZETA_XE_STREAM_INFO, &info) < 0 || info.oa_buf_size == 0)
        return asked_bytes;
    return info.oa_buf_size;
}

/* Opens with what the unit can do; buffer_bytes 0: as the kernel likes. */
static int observe(const struct zeta_intel_gpu *gpu,
                   const struct zeta_intel_stream_request *request, uint64_t buffer_bytes)
{
    const uint64_t room = buffer_bytes != 0 ? buffer_bytes : BUFFER_BYTES_DEFAULT;
    struct zeta_xe_properties properties = {0};
    uint64_t notify = request->notify_records;

    zeta_xe_property_add(&properties, ZETA_XE_OA_UNIT_ID, request->unit->kernel_id);
    zeta_xe_property_add(&properties, ZETA_XE_OA_SAMPLE, 1);
    zeta_xe_property_add(&properties, ZETA_XE_OA_METRIC_SET, request->config);
    zeta_xe_property_add(&properties, ZETA_XE_OA_FORMAT, request->format);
    zeta_xe_property_add(&properties, ZETA_XE_OA_PERIOD_EXPONENT, request->exponent);
    if (buffer_bytes != 0)
        zeta_xe_property_add(&properties, ZETA_XE_OA_BUFFER_SIZE, buffer_bytes);
    if (request->unit->can_wait_for_reports && notify > 1) {
        /* Half a buffer at most, so that a reader who waits for it comes in time. */
        if (notify > room / 2 / request->record_bytes)
            notify = room / 2 / request->record_bytes;
        zeta_xe_property_add(&properties, ZETA_XE_OA_WAIT_NUM_REPORTS, notify);
    }
    return open_descriptor(gpu, ZETA_XE_OBSERVATION_OA, &properties);
}

static uint32_t refuse(struct zeta_intel_gpu *gpu, const struct zeta_intel_stream_request *request,
                       int error)
{
    char what[96];

    if (error == EBUSY)
        return zeta_intel_fail_busy(gpu, request->unit);
    if (error == EINVAL)
        return zeta_host_fail(
            gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
            "%s (%s): the xe driver refused a stream of the unit %s with EINVAL: it "
            "does not know the unit, the report format 0x%08x, the period "
            "exponent %u or the configuration %llu, which another process may "
            "have removed meanwhile; an older kernel than the device needs?",
            gpu->name, gpu->id, request->unit->name, request->format, request->exponent,
            (unsigned long long)request->config);
    (void)snprintf(what, sizeof(what), "to open a stream of the unit %s", request->unit->name);
    return zeta_xe_fail(gpu, what, error);
}

static uint32_t open_oa(struct zeta_intel_gpu *gpu, const struct zeta_intel_stream_request *request,
                        struct zeta_xe_stream **out_stream)
{
    uint64_t buffer_bytes = request->unit->can_size_buffer && request->ring_bytes != 0
                                ? zeta_xe_buffer_bytes(request->ring_bytes)
                                : 0;
    struct zeta_xe_stream *stream;
    int fd = observe(gpu, request, buffer_bytes);

    /* Contiguous memory of that size may be gone; the usual size is found more easily. */
    if (fd == -ENOMEM && buffer_bytes > BUFFER_BYTES_DEFAULT) {
        buffer_bytes = 0;
        fd = observe(gpu, request, buffer_bytes);
    }
    if (fd < 0)
        return refuse(gpu, request, -fd);
    stream = make_stream(gpu, request, fd);
    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    stream->base.ring_bytes =
        ask_buffer_bytes(fd, buffer_bytes != 0 ? buffer_bytes : BUFFER_BYTES_DEFAULT);
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;
}

/* The kernel's buffer for all subslices of the unit's GT; 0: it does not say. */
static uint64_t ask_stall_buffer(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_intel_unit *unit)
{
    struct zeta_xe_answer answer;
    struct zeta_xe_problem problem;
    struct zeta_intel_unit told = {0};
    uint64_t bytes = 0;

    if (zeta_xe_query(gpu, ZETA_XE_QUERY_EU_STALL, &answer) < 0)
        return 0;
    if (!zeta_xe_parse_eu_stall(answer, &told, &bytes, &problem) || bytes > UINT64_MAX / 1024 / 64)
        bytes = 0;
    zeta_xe_answer_free(&answer);
    return bytes * gpu->tiles[unit->tile].topology.subslices;
}

static int observe_stalls(const struct zeta_intel_gpu *gpu,
                          const struct zeta_intel_stream_request *request, uint64_t buffer_bytes)
{
    struct zeta_xe_properties properties = {0};
    uint64_t notify = request->notify_records;

    zeta_xe_property_add(&properties, ZETA_XE_STALL_GT_ID, request->unit->kernel_id);
    zeta_xe_property_add(&properties, ZETA_XE_STALL_SAMPLE_RATE,
                         request->unit->rates[request->exponent]);
    if (notify > buffer_bytes / 2 / request->record_bytes)
        notify = buffer_bytes / 2 / request->record_bytes;
    if (notify > 1)
        zeta_xe_property_add(&properties, ZETA_XE_STALL_WAIT_NUM_REPORTS, notify);
    return open_descriptor(gpu, ZETA_XE_OBSERVATION_EU_STALL, &properties);
}

static uint32_t refuse_stalls(struct zeta_intel_gpu *gpu,
                              const struct zeta_intel_stream_request *request, int error)
{
    if (error == EBUSY)
        return zeta_intel_fail_busy(gpu, request->unit);
    if (error == EINVAL)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s: the xe driver refused to sample stalls on GT %u each %llu "
                              "cycles with EINVAL; sampling of stalls came with Linux 6.15",
                              gpu->id, request->unit->gt,
                              (unsigned long long)request->unit->rates[request->exponent]);
    return zeta_xe_fail(gpu, "to open a stream of EU stall samples", error);
}

static uint32_t open_stalls(struct zeta_intel_gpu *gpu,
                            const struct zeta_intel_stream_request *request,
                            struct zeta_xe_stream **out_stream)
{
    const uint32_t rates = sizeof(request->unit->rates) / sizeof(request->unit->rates[0]);
    const uint64_t buffer_bytes = ask_stall_buffer(gpu, request->unit);
    struct zeta_xe_stream *stream;
    int fd, result;

    if (request->exponent >= rates || request->unit->rates[request->exponent] == 0)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: the unit %s has no rate number %u", gpu->id, request->unit->name,
                              request->exponent);
    fd = observe_stalls(gpu, request, buffer_bytes);
    if (fd < 0)
        return refuse_stalls(gpu, request, -fd);
    stream = make_stream(gpu, request, fd);
    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    stream->base.ring_bytes = buffer_bytes;
    result = zeta_intel_ioctl(fd, ZETA_XE_STREAM_ENABLE, NULL);
    if (result < 0) {
        zeta_xe_stream_close(&stream->base);
        return zeta_xe_fail(gpu, "to start the sampling of EU stalls", -result);
    }
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_xe_stream_open(struct zeta_intel_gpu *gpu,
                             const struct zeta_intel_stream_request *request,
                             struct zeta_intel_kernel_stream **out_stream)
{
    struct zeta_xe_stream *stream = NULL;
    const uint32_t result = request->unit->kind == ZETA_INTEL_EU_STALL
                                ? open_stalls(gpu, request, &stream)
                                : open_oa(gpu, request, &stream);

    if (result == ZETA_PLUGIN_SUCCESS)
        *out_stream = &stream->base;
    return result;
}

/* ---- reading -------------------------------------------------------------------------------- */

uint32_t zeta_xe_oa_break(uint64_t status)
{
    if ((status & ZETA_XE_OA_STATUS_BUFFER_OVERFLOW) != 0)
        return ZETA_PLUGIN_BREAK_OVERFLOW;
    if ((status & ZETA_XE_OA_STATUS_REPORT_LOST) != 0)
        return ZETA_PLUGIN_BREAK_LOST;
    /*
     * Counters come around all the time, and differences are taken for that. Triggers that found no
     * room are markers that are missing; no report of the timer is.
     */
    if ((status & (ZETA_XE_OA_STATUS_COUNTER_OVERFLOW | ZETA_XE_OA_STATUS_MMIO_TRG_Q_FULL)) != 0)
        return ZETA_PLUGIN_BREAK_NONE;
    return ZETA_PLUGIN_BREAK_LOST;
}

static uint32_t oa_loss(struct zeta_xe_stream *stream)
{
    const struct zeta_intel_gpu *gpu = stream->base.gpu;
    struct zeta_xe_oa_status status = {0};

    if (zeta_intel_ioctl(stream->base.fd, ZETA_XE_STREAM_STATUS, &status) < 0)
        return ZETA_PLUGIN_BREAK_LOST;
    if ((status.oa_status & ZETA_XE_OA_STATUS_MMIO_TRG_Q_FULL) != 0 && !stream->was_told) {
        stream->was_told = true;
        zeta_host_log(gpu->host, ZETA_PLUGIN_LOG_WARN,
                      "%s: markers of the unit %s came faster than it takes them, and some are "
                      "missing",
                      gpu->id, stream->base.unit->name);
    }
    return zeta_xe_oa_break(status.oa_status);
}

/* Stall samples have no times, so that what is missing is before the next one. */
static void take_loss(struct zeta_xe_stream *stream)
{
    if (stream->base.unit->kind == ZETA_INTEL_EU_STALL) {
        stream->has_break = true;
        return;
    }
    const uint32_t reason = oa_loss(stream);
    /* Of two that nobody took notice of yet, the one that lost more is told. */
    if (reason != ZETA_PLUGIN_BREAK_NONE && stream->base.loss != ZETA_PLUGIN_BREAK_OVERFLOW)
        stream->base.loss = reason;
}

static uint32_t refuse_read(struct zeta_xe_stream *stream, int error)
{
    struct zeta_intel_gpu *gpu = stream->base.gpu;
    char what[96];

    if (error == ENODEV) {
        atomic_store(&gpu->is_lost, true);
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_DEVICE_LOST,
                              "%s (%s): the xe driver ended the stream of the unit %s with ENODEV: "
                              "the device was unplugged, or the driver gave it up; see dmesg",
                              gpu->name, gpu->id, stream->base.unit->name);
    }
    (void)snprintf(what, sizeof(what), "to read the stream of the unit %s",
                   stream->base.unit->name);
    return zeta_xe_fail(gpu, what, error);
}

uint32_t zeta_xe_stream_read(struct zeta_intel_kernel_stream *base, void *buffer,
                             uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    struct zeta_xe_stream *stream = (struct zeta_xe_stream *)base;
    const uint64_t room = capacity_bytes - capacity_bytes % base->record_bytes;
    int losses = 0;
    ssize_t got;

    out_read->bytes = out_read->lost = 0;
    out_read->broken = 0;
    out_read->reason = ZETA_PLUGIN_BREAK_NONE;
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
    if (got < 0 && errno != EAGAIN && (errno != EIO || stream->failures > FAILURES_MAX))
        return refuse_read(stream, errno);
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
    free((struct zeta_xe_stream *)base);
}
