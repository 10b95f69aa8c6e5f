/* PERF_OPEN: the properties, and what is checked in which order. */

#include "tests/kmd/i915/i915.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

enum { FLAG_CLOEXEC = 1, FLAG_NONBLOCK = 2, FLAG_DISABLED = 4 };

enum {
    PROP_CTX_HANDLE = 1,
    PROP_SAMPLE_OA,
    PROP_METRICS_SET,
    PROP_FORMAT,
    PROP_EXPONENT,
    PROP_HOLD_PREEMPTION,
    PROP_GLOBAL_SSEU,
    PROP_POLL_PERIOD,
    PROP_ENGINE_CLASS,
    PROP_ENGINE_INSTANCE,
    PROP_END
};

enum { MAX_EXPONENT = 31, FORMAT_END = 15, MIN_POLL_NS = 100000, POLL_NS = 5000000 };
enum { PREPARATION_US = 500 };
static const uint64_t ring_bytes = 16u << 20;

struct sseu {
    uint16_t class, instance;
    uint32_t flags;
    uint64_t slice_mask, subslice_mask;
    uint16_t min_eus, max_eus;
    uint32_t reserved;
};
_Static_assert(sizeof(struct sseu) == 32, "drm_i915_gem_context_param_sseu");

/* What the properties ask for. */
struct request {
    bool has_context, samples, has_timer, holds_preemption, has_sseu, has_class, has_instance;
    uint64_t context, config, format, poll_ns;
    uint8_t class, instance;
    uint32_t exponent;
    struct sseu sseu;
    struct kmd_unit *unit;
};

/* Properties came one by one; an older kernel does not know the later ones. */
static uint64_t first_unknown(uint32_t perf_revision)
{
    static const uint8_t ends[] = {0,
                                   PROP_HOLD_PREEMPTION,
                                   PROP_HOLD_PREEMPTION,
                                   PROP_GLOBAL_SSEU,
                                   PROP_POLL_PERIOD,
                                   PROP_ENGINE_CLASS,
                                   PROP_END,
                                   PROP_END};

    return perf_revision < sizeof(ends) ? ends[perf_revision] : PROP_END;
}

/* Reports more often than the sysctl allows are for privileged callers. */
static int take_exponent(const struct kmd_gpu *gpu, struct request *request, uint64_t exponent)
{
    uint64_t hz;

    if (exponent > MAX_EXPONENT)
        return -EINVAL;
    hz = gpu->oa_hz >> (exponent + 1);
    if (hz > kmd_sysctl("i915/oa_max_sample_rate") && !kmd_is_capable())
        return -EACCES;
    request->has_timer = true;
    request->exponent = (uint32_t)exponent;
    return 0;
}

static int take_sseu(const struct kmd_gpu *gpu, struct request *request, uint64_t address)
{
    const struct sseu *sseu = &request->sseu;

    if (kmd_gpu_platform(gpu)->graphics >= 1255)
        return -ENODEV;
    if (kmd_copy_in(&request->sseu, address, sizeof(request->sseu)) != 0)
        return -EFAULT;
    if (!kmd_i915_engine(gpu, sseu->class, sseu->instance) || sseu->flags != 0 ||
        sseu->reserved != 0)
        return -EINVAL;
    if (sseu->slice_mask == 0 || (sseu->slice_mask & ~(uint64_t)kmd_i915_slice_mask(gpu)) != 0 ||
        sseu->subslice_mask == 0 ||
        (sseu->subslice_mask & ~(uint64_t)kmd_i915_subslice_mask(gpu)) != 0)
        return -EINVAL;
    if (sseu->min_eus > sseu->max_eus || sseu->max_eus == 0 || sseu->max_eus > gpu->eus)
        return -EINVAL;
    request->has_sseu = true;
    return 0;
}

static int take_format(const struct kmd_gpu *gpu, struct request *request, uint64_t format)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);

    if (format == 0 || format >= FORMAT_END || (platform->i915_formats >> format & 1) == 0)
        return -EINVAL;
    request->format = format;
    return 0;
}

static int take_property(const struct kmd_gpu *gpu, struct request *request, uint64_t id,
                         uint64_t value)
{
    switch (id) {
    case PROP_CTX_HANDLE:
        request->has_context = true;
        request->context = value;
        return 0;
    case PROP_SAMPLE_OA:
        request->samples = value != 0;
        return 0;
    case PROP_METRICS_SET:
        request->config = value;
        return value == 0 ? -EINVAL : 0;
    case PROP_FORMAT:
        return take_format(gpu, request, value);
    case PROP_EXPONENT:
        return take_exponent(gpu, request, value);
    case PROP_HOLD_PREEMPTION:
        request->holds_preemption = value != 0;
        return 0;
    case PROP_GLOBAL_SSEU:
        return take_sseu(gpu, request, value);
    case PROP_POLL_PERIOD:
        request->poll_ns = value;
        return value < MIN_POLL_NS ? -EINVAL : 0;
    case PROP_ENGINE_CLASS:
        request->has_class = true;
        request->class = (uint8_t)value; /* as the kernel does: no more bits are looked at */
        return 0;
    default:
        request->has_instance = true;
        request->instance = (uint8_t)value;
        return 0;
    }
}

/* The unit that serves the engine, and the format that it can make. */
static int choose_unit(struct kmd_gpu *gpu, struct request *request)
{
    const struct kmd_engine *engine;
    const struct kmd_format *format;
    uint32_t user;

    if (request->has_class != request->has_instance)
        return -EINVAL;
    engine = kmd_i915_engine(gpu, request->class, request->instance);
    if (!engine || engine->unit == UINT16_MAX || (engine->unit > 0 && gpu->perf_revision < 7))
        return -EINVAL;
    request->unit = &gpu->units[engine->unit];
    user = request->unit->kind == KMD_UNIT_OAG ? KMD_FOR_OAG : KMD_FOR_OAM;
    format = kmd_format_i915(kmd_gpu_platform(gpu)->graphics, (uint32_t)request->format);
    if (format ? (format->users & user) == 0 : user != KMD_FOR_OAG)
        return -EINVAL;
    return 0;
}

static int take_properties(struct kmd_gpu *gpu, struct request *request, uint64_t address,
                           uint32_t count)
{
    const uint64_t end = first_unknown(gpu->perf_revision);

    if (count == 0 || count >= end)
        return -EINVAL;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id;
        uint64_t value;
        int result;

        if (kmd_copy_in(&id, address + 16ull * i, sizeof(id)) != 0 ||
            kmd_copy_in(&value, address + 16ull * i + 8, sizeof(value)) != 0)
            return -EFAULT;
        if (id == 0 || id >= end)
            return -EINVAL;
        result = take_property(gpu, request, id, value);
        if (result != 0)
            return result;
    }
    return choose_unit(gpu, request);
}

static bool needs_privilege(uint32_t graphics, const struct request *request)
{
    if (request->holds_preemption || request->has_sseu)
        return true;
    if (graphics < 800 && request->has_context)
        return false;
    return !(graphics >= 1200 && request->has_context && !request->samples);
}

/* What is checked once it is known what is wanted. */
static int check_request(struct kmd_gpu *gpu, const struct request *request)
{
    const uint32_t graphics = kmd_gpu_platform(gpu)->graphics;

    /* Context 0 is the one that every file has; this driver makes no others. */
    if (request->has_context && request->context != 0)
        return -ENOENT;
    if (request->holds_preemption && !request->has_context)
        return -EINVAL;
    if (needs_privilege(graphics, request) && !kmd_may_observe(gpu))
        return -EACCES;
    if (gpu->has_no_metrics_folder)
        return -EINVAL;
    if (!request->samples && !(graphics >= 1200 && request->has_context))
        return -EINVAL;
    if (kmd_unit_is_busy(gpu, request->unit))
        return -EBUSY;
    if (request->format == 0)
        return -EINVAL;
    if (!kmd_config_by_id(gpu, request->config)) /* id 1 is the kernel's own, and for nobody */
        return -EINVAL;
    return gpu->open_errno != 0 ? -(int)gpu->open_errno : 0;
}

static long open_stream(struct kmd_call *call, const struct request *request, uint32_t flags)
{
    const struct kmd_oa_config *config = kmd_config_by_id(call->gpu, request->config);
    struct kmd_stream *stream = &request->unit->stream;
    const int fd = kmd_stream_make(call, request->unit,
                                   ((flags & FLAG_CLOEXEC) ? O_CLOEXEC : 0) |
                                       ((flags & FLAG_NONBLOCK) ? O_NONBLOCK : 0));

    if (fd < 0)
        return fd;
    kmd_stream_set_format(
        stream, kmd_format_i915(kmd_gpu_platform(call->gpu)->graphics, (uint32_t)request->format));
    stream->poll_ns = request->poll_ns;
    stream->has_timer = request->has_timer;
    stream->exponent = request->exponent;
    stream->ring_bytes = ring_bytes;
    stream->config = request->config;
    for (size_t i = 0; i < sizeof(stream->uuid); i++)
        stream->uuid[i] = config->uuid[i];
    stream->driver[I915_SAMPLES] = request->samples;
    stream->driver[I915_ONE_CONTEXT] = request->has_context;
    call->sleep_us = PREPARATION_US;
    if ((flags & FLAG_DISABLED) == 0)
        kmd_ring_start(call->gpu, request->unit);
    return fd;
}

long kmd_i915_perf_open(struct kmd_call *call, uint64_t argument)
{
    struct {
        uint32_t flags, count;
        uint64_t properties;
    } param;
    struct request request = {.poll_ns = POLL_NS};
    int result;

    if (kmd_copy_in(&param, argument, sizeof(param)) != 0)
        return -EFAULT;
    if (!kmd_i915_has_oa(call->gpu))
        return -I915_NOT_SUPPORTED;
    if ((param.flags & ~(uint32_t)(FLAG_CLOEXEC | FLAG_NONBLOCK | FLAG_DISABLED)) != 0)
        return -EINVAL;
    result = take_properties(call->gpu, &request, param.properties, param.count);
    if (result == 0)
        result = check_request(call->gpu, &request);
    return result != 0 ? result : open_stream(call, &request, param.flags);
}
