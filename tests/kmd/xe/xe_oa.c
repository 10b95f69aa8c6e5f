/* Opening an OA stream: properties, and the checks in the order of the driver. */

#include "xe_priv.h"

#include <errno.h>

enum {
    MAX_LINKS = 16,
    MAX_EXPONENT = 31,
    MIN_BUFFER_BYTES = 128 << 10,
    MAX_BUFFER_BYTES = 128 << 20,
    DEFAULT_BUFFER_BYTES = 16 << 20,
    PROGRAM_US = 500 /* the driver waits so long for a configuration */
};

/* Properties that this driver knows: an older one knows fewer. */
static bool is_known(const struct kmd_gpu *gpu, uint32_t property)
{
    uint32_t capabilities = kmd_xe_capabilities(gpu);
    switch (property) {
    case KMD_XE_OA_NUM_SYNCS:
    case KMD_XE_OA_SYNCS:
        return capabilities & KMD_XE_CAP_SYNCS;
    case KMD_XE_OA_BUFFER_SIZE:
        return capabilities & KMD_XE_CAP_BUFFER_SIZE;
    case KMD_XE_OA_WAIT_NUM_REPORTS:
        return capabilities & KMD_XE_CAP_WAIT_NUM_REPORTS;
    default:
        return property <= KMD_XE_OA_NO_PREEMPT;
    }
}

static bool can_change(uint32_t property)
{
    return property == KMD_XE_OA_METRIC_SET || property == KMD_XE_OA_NUM_SYNCS ||
           property == KMD_XE_OA_SYNCS;
}

static int take_unit(struct kmd_xe_oa_request *request, uint64_t value)
{
    request->unit = kmd_xe_unit(request->gpu, value);
    return request->unit ? 0 : -EINVAL;
}

static int take_format(struct kmd_xe_oa_request *request, uint64_t value)
{
    if (value > UINT32_MAX)
        return -EINVAL;
    request->format = kmd_format_xe(kmd_gpu_platform(request->gpu)->graphics, (uint32_t)value);
    return request->format ? 0 : -EINVAL;
}

static int take_exponent(struct kmd_xe_oa_request *request, uint64_t value)
{
    if (value > MAX_EXPONENT)
        return -EINVAL;
    request->has_exponent = true;
    request->exponent = (uint32_t)value;
    return 0;
}

static int take_buffer(struct kmd_xe_oa_request *request, uint64_t value)
{
    if (value & (value - 1) || value < MIN_BUFFER_BYTES || value > MAX_BUFFER_BYTES)
        return -EINVAL;
    request->buffer_bytes = value;
    return 0;
}

static int take_property(void *context, uint32_t property, uint64_t value)
{
    struct kmd_xe_oa_request *request = context;
    if (!is_known(request->gpu, property) || (request->is_config && !can_change(property)))
        return -EINVAL;
    switch (property) {
    case KMD_XE_OA_UNIT_ID:
        return take_unit(request, value);
    case KMD_XE_OA_SAMPLE:
        request->samples = value != 0;
        return 0;
    case KMD_XE_OA_METRIC_SET:
        request->metric_set = value;
        return 0;
    case KMD_XE_OA_FORMAT:
        return take_format(request, value);
    case KMD_XE_OA_EXPONENT:
        return take_exponent(request, value);
    case KMD_XE_OA_DISABLED:
        request->is_disabled = value != 0;
        return 0;
    case KMD_XE_OA_EXEC_QUEUE:
        request->queue = value;
        return 0;
    case KMD_XE_OA_ENGINE_INSTANCE:
        request->engine_instance = value;
        return 0;
    case KMD_XE_OA_NO_PREEMPT:
        request->no_preempt = value != 0;
        return 0;
    case KMD_XE_OA_NUM_SYNCS:
        request->num_syncs = value;
        return value > KMD_XE_MAX_SYNCS ? -EINVAL : 0;
    case KMD_XE_OA_SYNCS:
        request->syncs = value;
        return 0;
    case KMD_XE_OA_BUFFER_SIZE:
        return take_buffer(request, value);
    default:
        request->wait_reports = value;
        return value ? 0 : -EINVAL;
    }
}

int kmd_xe_oa_read_request(struct kmd_gpu *gpu, uint64_t chain, bool is_config,
                           struct kmd_xe_oa_request *out_request)
{
    *out_request = (struct kmd_xe_oa_request){.gpu = gpu, .is_config = is_config};
    return kmd_xe_chain(chain, MAX_LINKS, take_property, out_request);
}

/* The exec queue: only graphics units count for one, and one engine runs its batches. */
static int check_queue(const struct kmd_xe_oa_request *request, struct kmd_xe_queue *out_queue)
{
    if (!request->queue)
        return 0;
    if (request->unit->kind != KMD_UNIT_OAG)
        return -EINVAL;
    if (!kmd_xe_queue(request->gpu, request->queue, out_queue))
        return -ENOENT;
    return out_queue->width > 1 ? -EOPNOTSUPP : 0;
}

static int check_privilege(const struct kmd_xe_oa_request *request)
{
    if (request->no_preempt && !request->queue)
        return -EINVAL;
    bool is_own_work = request->queue && !request->samples && !request->no_preempt;
    if (!is_own_work && !kmd_may_observe(request->gpu))
        return -EACCES;
    return request->queue || request->samples ? 0 : -EINVAL;
}

/* With a queue the engine that it runs on has to belong to the unit. */
static int check_engine(const struct kmd_xe_oa_request *request, const struct kmd_xe_queue *queue)
{
    if (!request->queue)
        return 0;
    const struct kmd_engine *engine =
        kmd_xe_engine(request->gpu, queue->engine_class, request->engine_instance, queue->gt);
    if (!engine || engine->unit == UINT16_MAX ||
        &request->gpu->units[engine->unit] != request->unit)
        return -EINVAL;
    return 0;
}

static int check_report(const struct kmd_xe_oa_request *request)
{
    uint32_t user = request->unit->kind == KMD_UNIT_OAG ? KMD_FOR_OAG : KMD_FOR_OAM;
    if (!request->format || !(request->format->users & user))
        return -EINVAL;
    if (request->has_exponent && !request->samples)
        return -EINVAL;
    return request->wait_reports > request->buffer_bytes / request->format->bytes ? -EINVAL : 0;
}

/* All checks that follow the chain; defaults are set on the way. */
static int check_request(struct kmd_xe_oa_request *request)
{
    struct kmd_xe_queue queue = {0};
    if (!request->unit)
        request->unit = kmd_xe_unit(request->gpu, 0);
    if (!request->buffer_bytes)
        request->buffer_bytes = DEFAULT_BUFFER_BYTES;
    int status = check_queue(request, &queue);
    if (status == 0)
        status = check_privilege(request);
    if (status == 0)
        status = check_engine(request, &queue);
    if (status == 0)
        status = check_report(request);
    if (status)
        return status;
    if (kmd_unit_is_busy(request->gpu, request->unit))
        return -EBUSY;
    bool signals;
    status = kmd_xe_syncs_check(request->syncs, request->num_syncs, &signals);
    if (status)
        return status;
    return kmd_config_by_id(request->gpu, request->metric_set) ? 0 : -EINVAL;
}

long kmd_xe_oa_open(struct kmd_call *call, uint64_t param)
{
    if (call->gpu->has_no_oa)
        return -ENODEV;
    struct kmd_xe_oa_request request;
    int status = kmd_xe_oa_read_request(call->gpu, param, false, &request);
    if (status == 0)
        status = check_request(&request);
    if (status == 0 && call->gpu->open_errno)
        status = -(int)call->gpu->open_errno;
    if (status)
        return status;

    int fd = kmd_stream_make(call, request.unit, 0);
    if (fd < 0)
        return fd;
    const struct kmd_oa_config *config = kmd_config_by_id(call->gpu, request.metric_set);
    struct kmd_stream *stream = &request.unit->stream;
    kmd_stream_set_format(stream, request.format);
    stream->poll_ns = KMD_XE_POLL_NS;
    stream->has_timer = request.has_exponent;
    stream->exponent = request.exponent;
    stream->ring_bytes = request.buffer_bytes;
    kmd_stream_set_config(call->gpu, request.unit, config);
    stream->driver[KMD_XE_OA_IS_SAMPLING] = request.samples;
    stream->driver[KMD_XE_OA_WAIT] = request.wait_reports ? request.wait_reports : 1;
    if (!request.is_disabled)
        kmd_ring_start(call->gpu, request.unit);
    kmd_xe_syncs_signal(request.syncs, request.num_syncs);
    call->sleep_us = PROGRAM_US;
    return fd;
}
