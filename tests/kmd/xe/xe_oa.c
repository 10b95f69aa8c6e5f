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

static int take_unit(struct kmd_xe_oa_wish *wish, uint64_t value)
{
    wish->unit = kmd_xe_unit(wish->gpu, value);
    return wish->unit ? 0 : -EINVAL;
}

static int take_format(struct kmd_xe_oa_wish *wish, uint64_t value)
{
    if (value > UINT32_MAX)
        return -EINVAL;
    wish->format = kmd_format_xe(kmd_gpu_platform(wish->gpu)->graphics, (uint32_t)value);
    return wish->format ? 0 : -EINVAL;
}

static int take_exponent(struct kmd_xe_oa_wish *wish, uint64_t value)
{
    if (value > MAX_EXPONENT)
        return -EINVAL;
    wish->has_exponent = true;
    wish->exponent = (uint32_t)value;
    return 0;
}

static int take_buffer(struct kmd_xe_oa_wish *wish, uint64_t value)
{
    if (value & (value - 1) || value < MIN_BUFFER_BYTES || value > MAX_BUFFER_BYTES)
        return -EINVAL;
    wish->buffer_bytes = value;
    return 0;
}

static int take_property(void *context, uint32_t property, uint64_t value)
{
    struct kmd_xe_oa_wish *wish = context;
    if (!is_known(wish->gpu, property) || (wish->is_config && !can_change(property)))
        return -EINVAL;
    switch (property) {
    case KMD_XE_OA_UNIT_ID:
        return take_unit(wish, value);
    case KMD_XE_OA_SAMPLE:
        wish->samples = value != 0;
        return 0;
    case KMD_XE_OA_METRIC_SET:
        wish->metric_set = value;
        return 0;
    case KMD_XE_OA_FORMAT:
        return take_format(wish, value);
    case KMD_XE_OA_EXPONENT:
        return take_exponent(wish, value);
    case KMD_XE_OA_DISABLED:
        wish->is_disabled = value != 0;
        return 0;
    case KMD_XE_OA_EXEC_QUEUE:
        wish->queue = value;
        return 0;
    case KMD_XE_OA_ENGINE_INSTANCE:
        wish->engine_instance = value;
        return 0;
    case KMD_XE_OA_NO_PREEMPT:
        wish->no_preempt = value != 0;
        return 0;
    case KMD_XE_OA_NUM_SYNCS:
        wish->num_syncs = value;
        return value > KMD_XE_MAX_SYNCS ? -EINVAL : 0;
    case KMD_XE_OA_SYNCS:
        wish->syncs = value;
        return 0;
    case KMD_XE_OA_BUFFER_SIZE:
        return take_buffer(wish, value);
    default:
        wish->wait_reports = value;
        return value ? 0 : -EINVAL;
    }
}

int kmd_xe_oa_read_wish(struct kmd_gpu *gpu, uint64_t chain, bool is_config,
                        struct kmd_xe_oa_wish *out_wish)
{
    *out_wish = (struct kmd_xe_oa_wish){.gpu = gpu, .is_config = is_config};
    return kmd_xe_chain(chain, MAX_LINKS, take_property, out_wish);
}

/* The exec queue: only graphics units count for one, and one engine runs its batches. */
static int check_queue(const struct kmd_xe_oa_wish *wish, struct kmd_xe_queue *out_queue)
{
    if (!wish->queue)
        return 0;
    if (wish->unit->kind != KMD_UNIT_OAG)
        return -EINVAL;
    if (!kmd_xe_queue(wish->gpu, wish->queue, out_queue))
        return -ENOENT;
    return out_queue->width > 1 ? -EOPNOTSUPP : 0;
}

static int check_privilege(const struct kmd_xe_oa_wish *wish)
{
    if (wish->no_preempt && !wish->queue)
        return -EINVAL;
    bool is_own_work = wish->queue && !wish->samples && !wish->no_preempt;
    if (!is_own_work && !kmd_may_observe(wish->gpu))
        return -EACCES;
    return wish->queue || wish->samples ? 0 : -EINVAL;
}

/* With a queue the engine that it runs on has to belong to the unit. */
static int check_engine(const struct kmd_xe_oa_wish *wish, const struct kmd_xe_queue *queue)
{
    if (!wish->queue)
        return 0;
    const struct kmd_engine *engine =
        kmd_xe_engine(wish->gpu, queue->engine_class, wish->engine_instance, queue->gt);
    if (!engine || engine->unit == UINT16_MAX || &wish->gpu->units[engine->unit] != wish->unit)
        return -EINVAL;
    return 0;
}

static int check_report(const struct kmd_xe_oa_wish *wish)
{
    uint32_t user = wish->unit->kind == KMD_UNIT_OAG ? KMD_FOR_OAG : KMD_FOR_OAM;
    if (!wish->format || !(wish->format->users & user))
        return -EINVAL;
    if (wish->has_exponent && !wish->samples)
        return -EINVAL;
    return wish->wait_reports > wish->buffer_bytes / wish->format->bytes ? -EINVAL : 0;
}

/* All checks that follow the chain; defaults are set on the way. */
static int check_wish(struct kmd_xe_oa_wish *wish)
{
    struct kmd_xe_queue queue = {0};
    if (!wish->unit)
        wish->unit = kmd_xe_unit(wish->gpu, 0);
    if (!wish->buffer_bytes)
        wish->buffer_bytes = DEFAULT_BUFFER_BYTES;
    int status = check_queue(wish, &queue);
    if (status == 0)
        status = check_privilege(wish);
    if (status == 0)
        status = check_engine(wish, &queue);
    if (status == 0)
        status = check_report(wish);
    if (status)
        return status;
    if (kmd_unit_is_busy(wish->gpu, wish->unit))
        return -EBUSY;
    bool signals;
    status = kmd_xe_syncs_check(wish->syncs, wish->num_syncs, &signals);
    if (status)
        return status;
    return kmd_config_by_id(wish->gpu, wish->metric_set) ? 0 : -EINVAL;
}

long kmd_xe_oa_open(struct kmd_call *call, uint64_t param)
{
    if (call->gpu->has_no_oa)
        return -ENODEV;
    struct kmd_xe_oa_wish wish;
    int status = kmd_xe_oa_read_wish(call->gpu, param, false, &wish);
    if (status == 0)
        status = check_wish(&wish);
    if (status == 0 && call->gpu->open_errno)
        status = -(int)call->gpu->open_errno;
    if (status)
        return status;

    int fd = kmd_stream_make(call, wish.unit, 0);
    if (fd < 0)
        return fd;
    const struct kmd_oa_config *config = kmd_config_by_id(call->gpu, wish.metric_set);
    struct kmd_stream *stream = &wish.unit->stream;
    kmd_stream_set_format(stream, wish.format);
    stream->poll_ns = KMD_XE_POLL_NS;
    stream->has_timer = wish.has_exponent;
    stream->exponent = wish.exponent;
    stream->ring_bytes = wish.buffer_bytes;
    kmd_stream_set_config(call->gpu, wish.unit, config);
    stream->driver[KMD_XE_OA_IS_SAMPLING] = wish.samples;
    stream->driver[KMD_XE_OA_WAIT] = wish.wait_reports ? wish.wait_reports : 1;
    if (!wish.is_disabled)
        kmd_ring_start(call->gpu, wish.unit);
    kmd_xe_syncs_signal(wish.syncs, wish.num_syncs);
    call->sleep_us = PROGRAM_US;
    return fd;
}
