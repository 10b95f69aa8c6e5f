/* The i915 driver: its GPU, and the ioctls of a node. */

#include "tests/kmd/i915/i915.h"

#include <errno.h>

enum {
    PARAM_CHIPSET_ID = 4,
    PARAM_REVISION = 32,
    PARAM_SUBSLICE_TOTAL = 33,
    PARAM_EU_TOTAL = 34,
    PARAM_SLICE_MASK = 46,
    PARAM_SUBSLICE_MASK = 47,
    PARAM_CS_TIMESTAMP_FREQUENCY = 51,
    PARAM_PERF_REVISION = 54,
    PARAM_OA_TIMESTAMP_FREQUENCY = 57
};

enum { RENDER_TIMESTAMP = 0x2358, FIRST_ONLY_WIDE_READ = 1, CS_BITS = 36 };

static const unsigned long ioctl_getparam = 0xc0106446;
static const unsigned long ioctl_reg_read = 0xc0106471;
static const unsigned long ioctl_perf_open = 0x40106476;
static const unsigned long ioctl_add_config = 0x40486477;
static const unsigned long ioctl_remove_config = 0x40086478;
static const unsigned long ioctl_query = 0xc0106479;

/* Graphics engines feed OAG, the media engines of Meteor Lake and later its OAM. */
static uint16_t unit_of_class(const struct kmd_gpu *gpu, uint32_t class)
{
    if (class == I915_CLASS_RENDER)
        return 0;
    if (gpu->unit_count > 1 && (class == I915_CLASS_VIDEO || class == I915_CLASS_VIDEO_ENHANCE))
        return 1;
    return UINT16_MAX;
}

static void add_unit(struct kmd_gpu *gpu, enum kmd_unit_kind kind, uint32_t gt)
{
    struct kmd_unit *unit = &gpu->units[gpu->unit_count];

    unit->kind = kind;
    unit->id = gpu->unit_count++;
    unit->gt = gt;
    unit->oa_hz = gpu->oa_hz;
}

static void start(struct kmd_gpu *gpu)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);

    if (kmd_i915_has_oa(gpu)) {
        add_unit(gpu, KMD_UNIT_OAG, 0);
        if (platform->media)
            add_unit(gpu, KMD_UNIT_OAM, 1);
    }
    for (uint32_t class = 0; class < KMD_CLASSES; class ++) {
        for (uint32_t i = 0; i < platform->engines[class] && gpu->engine_count < KMD_ENGINES; i++) {
            struct kmd_engine *engine = &gpu->engines[gpu->engine_count++];

            engine->class = (uint16_t) class;
            engine->instance = (uint16_t)i;
            engine->unit = gpu->unit_count > 0 ? unit_of_class(gpu, class) : UINT16_MAX;
        }
    }
}

bool kmd_i915_has_oa(const struct kmd_gpu *gpu)
{
    return !gpu->has_no_oa && kmd_gpu_platform(gpu)->i915_formats != 0;
}

uint32_t kmd_i915_slice_mask(const struct kmd_gpu *gpu)
{
    return (1u << gpu->slices) - 1;
}

uint32_t kmd_i915_subslice_mask(const struct kmd_gpu *gpu)
{
    return gpu->subslices >= 32 ? UINT32_MAX : (1u << gpu->subslices) - 1;
}

const struct kmd_engine *kmd_i915_engine(const struct kmd_gpu *gpu, uint64_t class,
                                         uint64_t instance)
{
    for (uint32_t i = 0; i < gpu->engine_count; i++) {
        if (gpu->engines[i].class == class && gpu->engines[i].instance == instance)
            return &gpu->engines[i];
    }
    return NULL;
}

static int64_t param_value(const struct kmd_gpu *gpu, int32_t param)
{
    switch (param) {
    case PARAM_CHIPSET_ID:
        return gpu->pci_id;
    case PARAM_REVISION:
        return gpu->revision;
    case PARAM_SUBSLICE_TOTAL:
        return (int64_t)gpu->slices * gpu->subslices;
    case PARAM_EU_TOTAL:
        return (int64_t)gpu->slices * gpu->subslices * gpu->eus;
    case PARAM_SLICE_MASK:
        return kmd_i915_slice_mask(gpu);
    case PARAM_SUBSLICE_MASK:
        return kmd_i915_subslice_mask(gpu);
    case PARAM_CS_TIMESTAMP_FREQUENCY:
        return (int64_t)gpu->cs_hz;
    case PARAM_PERF_REVISION:
        return gpu->perf_revision;
    case PARAM_OA_TIMESTAMP_FREQUENCY:
        return gpu->perf_revision >= 6 ? (int64_t)gpu->oa_hz : -EINVAL;
    default:
        return -EINVAL;
    }
}

static long get_param(struct kmd_call *call, uint64_t argument)
{
    struct {
        int32_t param, pad;
        uint64_t value;
    } getparam;
    int64_t value;
    uint32_t word;

    if (kmd_copy_in(&getparam, argument, sizeof(getparam)) != 0)
        return -EFAULT;
    value = param_value(call->gpu, getparam.param);
    if (value < 0)
        return (long)value;
    word = (uint32_t)value;
    return kmd_copy_out(getparam.value, &word, sizeof(word));
}

/* The one register that programs may read: the render engine's time stamp. */
static long reg_read(struct kmd_call *call, uint64_t argument)
{
    struct {
        uint64_t offset, value;
    } reg;

    if (kmd_copy_in(&reg, argument, sizeof(reg)) != 0)
        return -EFAULT;
    if (reg.offset != RENDER_TIMESTAMP && reg.offset != (RENDER_TIMESTAMP | FIRST_ONLY_WIDE_READ))
        return -EINVAL;
    reg.value = kmd_cs_ticks(call->gpu, kmd_now_ns()) & ((1ull << CS_BITS) - 1);
    return kmd_copy_out(argument, &reg, sizeof(reg));
}

static long node_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument)
{
    if (request == ioctl_getparam)
        return get_param(call, argument);
    if (request == ioctl_query)
        return kmd_i915_query(call, argument);
    if (request == ioctl_reg_read)
        return reg_read(call, argument);
    if (request == ioctl_perf_open)
        return kmd_i915_perf_open(call, argument);
    if (request == ioctl_add_config)
        return kmd_i915_add_config(call, argument);
    if (request == ioctl_remove_config)
        return kmd_i915_remove_config(call, argument);
    return -EINVAL;
}

const struct kmd_driver kmd_i915 = {
    .name = "i915",
    .start = start,
    .ioctl = node_ioctl,
    .stream_ioctl = kmd_i915_stream_ioctl,
    .stream_read = kmd_i915_stream_read,
    .stream_look = kmd_i915_stream_look,
};
