#include "tests/oa/oa_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HZ_GEN9 12000000u
#define HZ_19_2 19200000u

/* Shapes as the kernel reports them, full and with parts fused off. */
#define GEN9_GT2                                                                                   \
    {                                                                                              \
        {{7}}, {{3}},                                                                              \
        {                                                                                          \
            {                                                                                      \
                5                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define GEN9_GT3                                                                                   \
    {                                                                                              \
        {{7, 7}}, {{7, 3}},                                                                        \
        {                                                                                          \
            {                                                                                      \
                6, 5                                                                               \
            }                                                                                      \
        }                                                                                          \
    }
#define GEN12LP                                                                                    \
    {                                                                                              \
        {{0x3f}}, {{3}}, {{0x1d}}, {{0x3e}},                                                       \
        {                                                                                          \
            {                                                                                      \
                0x20                                                                               \
            }                                                                                      \
        }                                                                                          \
    }
#define DG2                                                                                        \
    {                                                                                              \
        {{15, 15, 15, 15, 15, 15, 15, 15}}, {{15, 15, 3}}, {{15}},                                 \
        {                                                                                          \
            {                                                                                      \
                0, 14, 7, 15                                                                       \
            }                                                                                      \
        }                                                                                          \
    }
#define MTL                                                                                        \
    {                                                                                              \
        {{15, 15}}, {{15}}, {{7, 9}},                                                              \
        {                                                                                          \
            {                                                                                      \
                14                                                                                 \
            }                                                                                      \
        }                                                                                          \
    }

static const struct oa_platform platforms[] = {
    {"hsw", &oa_format_hsw, 12500000, 10, 7, 3, {{{3}}, {{1}}, {{3, 3}}}},
    {"bdw", &oa_format_a32, 12500000, 8, 7, 3, {{{7}}, {{3}}, {{7, 7}}, {{3, 5}}, {{0, 6, 1}}}},
    {"chv", &oa_format_a32, 12500000, 8, 7, 3, {{{3}}, {{1}}, {{2}}}},
    {"bxt", &oa_format_a32, HZ_19_2, 6, 6, 3, {{{7}}, {{3}}, {{5}}}},
    {"glk", &oa_format_a32, HZ_19_2, 6, 6, 3, {{{7}}, {{3}}, {{4}}}},
    {"sklgt2", &oa_format_a32, HZ_GEN9, 8, 7, 3, GEN9_GT2},
    {"sklgt3", &oa_format_a32, HZ_GEN9, 8, 7, 3, GEN9_GT3},
    {"sklgt4", &oa_format_a32, HZ_GEN9, 8, 7, 3, {{{7, 7, 7}}, {{7, 7}}, {{3, 0, 5}}}},
    {"kblgt2", &oa_format_a32, HZ_GEN9, 8, 7, 3, GEN9_GT2},
    {"kblgt3", &oa_format_a32, HZ_GEN9, 8, 7, 3, GEN9_GT3},
    {"cflgt2", &oa_format_a32, HZ_GEN9, 8, 7, 3, GEN9_GT2},
    {"cflgt3", &oa_format_a32, HZ_GEN9, 8, 7, 3, GEN9_GT3},
    {"cnl", &oa_format_a32, HZ_19_2, 8, 7, 3, {{{7, 7, 7}}, {{7}}, {{3, 6}}, {{0, 1, 7}}}},
    {"icl", &oa_format_a32, HZ_GEN9, 8, 7, 8, {{{0xff}}, {{0x3f}}, {{0x0f}}, {{0x55}}, {{0x82}}}},
    {"ehl", &oa_format_a32, HZ_19_2, 8, 7, 8, {{{15}}, {{3}}, {{10}}}},
    {"tglgt1", &oa_format_a32, HZ_19_2, 16, 7, 8, {{{3}}, {{1}}, {{2}}}},
    {"tglgt2", &oa_format_a32, HZ_19_2, 16, 7, 8, GEN12LP},
    {"rkl", &oa_format_a32, HZ_19_2, 16, 7, 8, {{{3}}, {{1}}, {{2}}}},
    {"dg1", &oa_format_a32, HZ_19_2, 16, 7, 8, GEN12LP},
    {"adl", &oa_format_a32, HZ_19_2, 16, 7, 8, GEN12LP},
    {"acmgt1", &oa_format_a24, 25000000, 16, 8, 4, DG2},
    {"acmgt2", &oa_format_a24, 25000000, 16, 8, 4, DG2},
    {"acmgt3", &oa_format_a24, 25000000, 16, 8, 4, DG2},
    {"pvc", &oa_format_a24, 25000000, 8, 8, 8, {{{255, 255, 255, 255}}, {{63, 127}}, {{0, 8}}}},
    {"mtlgt2", &oa_format_a24, 38400000, 16, 8, 4, MTL},
    {"mtlgt3", &oa_format_a24, 38400000, 16, 8, 4, MTL},
    {"lnl", &oa_format_pec64, HZ_19_2, 8, 8, 4, {{{15, 15}}, {{15}}, {{7, 10}}}},
    {"bmg",
     &oa_format_pec64,
     HZ_19_2,
     8,
     8,
     4,
     {{{15, 15, 15, 15, 15, 15, 15}}, {{15, 15, 15, 15, 15}}, {{3, 0, 15, 8}}, {{0, 6}}}},
    {"ptl", &oa_format_pec64, HZ_19_2, 8, 10, 6, {{{63, 63}}, {{15}}, {{0x2a, 0x15}}}},
};

const struct oa_platform *oa_platform_find(const char *file)
{
    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++) {
        if (strcmp(platforms[i].file, file) == 0)
            return &platforms[i];
    }
    return NULL;
}

bool oa_platform_has(const struct oa_platform *platform, uint32_t variant)
{
    static const struct oa_fusing none;

    return variant < OA_VARIANTS && memcmp(&platform->fusings[variant], &none, sizeof(none)) != 0;
}

static uint64_t slice_mask(const struct oa_fusing *fusing)
{
    uint64_t mask = 0;

    for (unsigned s = 0; s < OA_SLICES; s++)
        mask |= (uint64_t)(fusing->subslices[s] != 0) << s;
    return mask;
}

static uint64_t subslice_mask(const struct oa_device *device, uint32_t stride)
{
    uint64_t mask = 0;

    for (unsigned s = 0; s < OA_SLICES; s++)
        mask |= (uint64_t)device->fusing->subslices[s] << s * stride;
    return mask;
}

static uint64_t count_bits(uint64_t mask)
{
    uint64_t count = 0;

    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

/** GtSlice1, GtSlice1XeCore2, GtSlice1DualSubslice2, GtXeCore10: whether that part is there. */
static bool find_part(const struct oa_device *device, const char *name, uint64_t *out_value)
{
    unsigned slice;
    unsigned core;
    int end = 0;

    if (sscanf(name, "GtXeCore%u%n", &core, &end) == 1 && !name[end]) {
        *out_value =
            core < 64 && (subslice_mask(device, device->platform->mask_stride) >> core & 1);
        return true;
    }
    if ((sscanf(name, "GtSlice%uXeCore%u%n", &slice, &core, &end) == 2 && !name[end]) ||
        (sscanf(name, "GtSlice%uDualSubslice%u%n", &slice, &core, &end) == 2 && !name[end])) {
        *out_value =
            slice < OA_SLICES && core < 8 && (device->fusing->subslices[slice] >> core & 1);
        return true;
    }
    if (sscanf(name, "GtSlice%u%n", &slice, &end) == 1 && !name[end]) {
        *out_value = slice < OA_SLICES && device->fusing->subslices[slice] != 0;
        return true;
    }
    return false;
}

bool oa_device_symbol(const struct oa_device *device, const char *name, uint64_t *out_value)
{
    const struct oa_platform *platform = device->platform;
    const uint64_t slices = slice_mask(device->fusing);
    const uint64_t subslices = subslice_mask(device, platform->mask_stride);
    const uint64_t subslice_count = count_bits(subslices);
    const struct {
        const char *name;
        uint64_t value;
    } symbols[] = {
        {"GpuTimestampFrequency", platform->timestamp_hz},
        {"GpuMinFrequency", 300000000},
        {"GpuMaxFrequency", 1350000000},
        {"EuCoresTotalCount", subslice_count * platform->eus},
        {"VectorEngineTotalCount", subslice_count * platform->eus},
        {"EuSlicesTotalCount", count_bits(slices)},
        {"SliceTotalCount", count_bits(slices)},
        {"EuSubslicesTotalCount", subslice_count},
        {"EuDualSubslicesTotalCount", subslice_count},
        {"XeCoreTotalCount", subslice_count},
        {"EuThreadsCount", platform->threads},
        {"VectorEngineThreadsCount", platform->threads},
        {"SliceMask", slices},
        {"GtSliceMask", slices},
        {"SubsliceMask", subslices},
        {"DualSubsliceMask", subslices},
        {"XeCoreMask", subslices},
        {"SkuRevisionId", subslice_count & 7},
        {"QueryMode", 0},
        {"L3BankTotalCount", 4 * count_bits(slices)},
        {"L3NodeTotalCount", count_bits(slices)},
        {"SqidiTotalCount", count_bits(slices)},
        {"GeometryPipeTotalCount", count_bits(slices)},
        {"ColorPipeTotalCount", 2 * count_bits(slices)},
        {"DepthPipeTotalCount", 2 * count_bits(slices)},
        {"ComputeEngineTotalCount", 4},
        {"CopyEngineTotalCount", 1},
        /* Of the set files, not of equations. */
        {"OamUnits", 2},
        {"EuStallUnits", 1},
        {"ContextValidBit", 16},
        {"ClockRateLimit", 1350000000},
        {"SubsliceRateLimit", subslice_count * 1350000000},
        {"EuRateLimit", subslice_count * platform->eus * 1350000000},
        {"MediaRateLimit", 1350000000},
    };

    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        if (strcmp(symbols[i].name, name) == 0) {
            *out_value = symbols[i].value;
            return true;
        }
    }
    return find_part(device, name, out_value);
}
