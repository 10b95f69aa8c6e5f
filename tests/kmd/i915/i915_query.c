/* QUERY: topology, engines, memory and the rest. */

#include "tests/kmd/i915/i915.h"

#include <errno.h>
#include <string.h>

enum {
    TOPOLOGY_INFO = 1,
    ENGINE_INFO,
    PERF_CONFIG,
    MEMORY_REGIONS,
    HWCONFIG_BLOB,
    GEOMETRY_SUBSLICES,
    GUC_SUBMISSION_VERSION
};

/* Longest answer: topology of 32 subslices, or 32 engines. */
enum { ANSWER_BYTES = 16 + KMD_ENGINES * 56, HEADER_BYTES = 16 };

struct answer {
    uint8_t bytes[ANSWER_BYTES];
    uint32_t length;
};

static void put16(struct answer *answer, uint32_t offset, uint32_t value)
{
    const uint16_t word = (uint16_t)value;

    memcpy(answer->bytes + offset, &word, sizeof(word));
}

static void put32(struct answer *answer, uint32_t offset, uint32_t value)
{
    memcpy(answer->bytes + offset, &value, sizeof(value));
}

static void put64(struct answer *answer, uint32_t offset, uint64_t value)
{
    memcpy(answer->bytes + offset, &value, sizeof(value));
}

/* Sets the lowest bits of a mask of the data part. */
static void put_mask(struct answer *answer, uint32_t offset, uint32_t bits)
{
    for (uint32_t i = 0; i < bits; i++)
        answer->bytes[HEADER_BYTES + offset + i / 8] |= (uint8_t)(1u << (i % 8));
}

static int make_topology(const struct kmd_gpu *gpu, struct answer *answer)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    const uint32_t slice_bytes = (platform->max_slices + 7) / 8;
    const uint32_t subslice_stride = (platform->max_subslices + 7) / 8;
    const uint32_t eu_stride = (platform->max_eus + 7) / 8;
    const uint32_t eu_offset = slice_bytes + platform->max_slices * subslice_stride;

    answer->length =
        HEADER_BYTES + eu_offset + platform->max_slices * platform->max_subslices * eu_stride;
    put16(answer, 2, platform->max_slices);
    put16(answer, 4, platform->max_subslices);
    put16(answer, 6, platform->max_eus);
    put16(answer, 8, slice_bytes);
    put16(answer, 10, subslice_stride);
    put16(answer, 12, eu_offset);
    put16(answer, 14, eu_stride);
    put_mask(answer, 0, gpu->slices);
    for (uint32_t slice = 0; slice < gpu->slices; slice++) {
        put_mask(answer, slice_bytes + slice * subslice_stride, gpu->subslices);
        for (uint32_t i = 0; i < gpu->subslices; i++)
            put_mask(answer, eu_offset + (slice * platform->max_subslices + i) * eu_stride,
                     gpu->eus);
    }
    return 0;
}

static int make_engines(const struct kmd_gpu *gpu, struct answer *answer)
{
    put32(answer, 0, gpu->engine_count);
    for (uint32_t i = 0; i < gpu->engine_count; i++) {
        const uint32_t offset = HEADER_BYTES + 56 * i;

        put16(answer, offset, gpu->engines[i].class);
        put16(answer, offset + 2, gpu->engines[i].instance);
        put64(answer, offset + 8, 1);
        put16(answer, offset + 24, gpu->engines[i].instance);
    }
    answer->length = HEADER_BYTES + 56 * gpu->engine_count;
    return 0;
}

static int make_memory(const struct kmd_gpu *gpu, struct answer *answer)
{
    const uint64_t system_bytes = 16ull << 30;
    const uint64_t sizes[2] = {system_bytes, kmd_gpu_platform(gpu)->vram_bytes};
    const uint32_t count = sizes[1] != 0 ? 2 : 1;

    put32(answer, 0, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t offset = HEADER_BYTES + 88 * i;

        put16(answer, offset, i);
        for (uint32_t k = 0; k < 4; k++)
            put64(answer, offset + 8 + 8 * k, sizes[i]);
    }
    answer->length = HEADER_BYTES + 88 * count;
    return 0;
}

/* Key, length, values: slices, subslices and EUs as the firmware of later parts tells them. */
static int make_hwconfig(const struct kmd_gpu *gpu, struct answer *answer)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    const uint32_t blob[] = {1, 1, platform->max_slices, 2, 1, platform->max_subslices,
                             4, 1, platform->max_eus};

    if (platform->graphics < 1255)
        return -ENODEV;
    memcpy(answer->bytes, blob, sizeof(blob));
    answer->length = sizeof(blob);
    return 0;
}

static int make_geometry(const struct kmd_gpu *gpu, uint32_t flags, struct answer *answer)
{
    if (kmd_gpu_platform(gpu)->graphics < 1255)
        return -ENODEV;
    if ((flags & 0xffff) != I915_CLASS_RENDER || !kmd_i915_engine(gpu, 0, flags >> 16))
        return -EINVAL;
    return make_topology(gpu, answer);
}

static int make_answer(const struct kmd_gpu *gpu, uint64_t id, uint32_t flags,
                       struct answer *answer)
{
    if (id != GEOMETRY_SUBSLICES && id <= GUC_SUBMISSION_VERSION && flags != 0)
        return -EINVAL;
    switch (id) {
    case TOPOLOGY_INFO:
        return make_topology(gpu, answer);
    case ENGINE_INFO:
        return make_engines(gpu, answer);
    case MEMORY_REGIONS:
        return make_memory(gpu, answer);
    case HWCONFIG_BLOB:
        return make_hwconfig(gpu, answer);
    case GEOMETRY_SUBSLICES:
        return make_geometry(gpu, flags, answer);
    case GUC_SUBMISSION_VERSION:
        if (kmd_gpu_platform(gpu)->graphics < 1200)
            return -ENODEV;
        put32(answer, 4, 1);
        put32(answer, 8, 6);
        answer->length = 16;
        return 0;
    default:
        return -EINVAL;
    }
}

/* These two have a head that must be zero on the way in. */
static bool has_zero_head(uint64_t id, uint64_t data)
{
    uint32_t head[4];

    if (id != ENGINE_INFO && id != MEMORY_REGIONS)
        return true;
    return kmd_copy_in(head, data, sizeof(head)) == 0 && head[0] == 0 && head[1] == 0 &&
           head[2] == 0 && head[3] == 0;
}

/* What goes into the item's length. */
static int64_t do_item(struct kmd_gpu *gpu, uint64_t id, int32_t length, uint32_t flags,
                       uint64_t data)
{
    struct answer answer = {.length = 0};
    int result;

    if (id == PERF_CONFIG)
        return kmd_i915_query_config(gpu, flags, data, length);
    result = make_answer(gpu, id, flags, &answer);
    if (result != 0)
        return result;
    if (length == 0)
        return answer.length;
    if (length < (int64_t)answer.length || !has_zero_head(id, data))
        return -EINVAL;
    return kmd_copy_out(data, answer.bytes, answer.length) != 0 ? -EFAULT : (int64_t)answer.length;
}

long kmd_i915_query(struct kmd_call *call, uint64_t argument)
{
    struct {
        uint32_t count, flags;
        uint64_t items;
    } query;
    struct {
        uint64_t id;
        int32_t length;
        uint32_t flags;
        uint64_t data;
    } item;

    if (kmd_copy_in(&query, argument, sizeof(query)) != 0)
        return -EFAULT;
    if (query.flags != 0)
        return -EINVAL;
    for (uint32_t i = 0; i < query.count; i++) {
        const uint64_t address = query.items + sizeof(item) * i;

        if (kmd_copy_in(&item, address, sizeof(item)) != 0)
            return -EFAULT;
        if (item.id == 0)
            return -EINVAL;
        item.length = (int32_t)do_item(call->gpu, item.id, item.length, item.flags, item.data);
        if (kmd_copy_out(address + 8, &item.length, sizeof(item.length)) != 0)
            return -EFAULT;
    }
    return 0;
}
