#include "tests/oa/oa_report.h"

#include <stddef.h>
#include <string.h>

#define HEADER_32                                                                                  \
    {OA_GPU_TIME, 0, 1, 4, 0, 4, 32, 0},                                                           \
    {                                                                                              \
        OA_GPU_CLOCK, 0, 1, 12, 0, 4, 32, 0                                                        \
    }
#define HEADER_64                                                                                  \
    {OA_GPU_TIME, 0, 1, 8, 0, 8, 56, 0},                                                           \
    {                                                                                              \
        OA_GPU_CLOCK, 0, 1, 24, 0, 8, 64, 0                                                        \
    }
#define B_C_AT(b, c)                                                                               \
    {OA_B, 0, 8, b, 4, 4, 32, 0},                                                                  \
    {                                                                                              \
        OA_C, 0, 8, c, 4, 4, 32, 0                                                                 \
    }

const struct oa_format oa_format_hsw = {
    "hsw-a45-b8-c8",
    256,
    4,
    {{OA_GPU_TIME, 0, 1, 4, 0, 4, 32, 0}, {OA_A, 0, 45, 12, 4, 4, 32, 0}, B_C_AT(192, 224)}};

const struct oa_format oa_format_a32 = {"a32u40-a4u32-b8-c8",
                                        256,
                                        6,
                                        {HEADER_32,
                                         {OA_A, 0, 32, 16, 4, 4, 40, 160},
                                         {OA_A, 32, 4, 144, 4, 4, 32, 0},
                                         B_C_AT(192, 224)}};

const struct oa_format oa_format_a24 = {"a24u40-a14u32-b8-c8",
                                        256,
                                        11,
                                        {HEADER_32,
                                         {OA_A, 0, 4, 16, 4, 4, 32, 0},
                                         {OA_A, 4, 20, 32, 4, 4, 40, 164},
                                         {OA_A, 24, 4, 112, 4, 4, 32, 0},
                                         {OA_A, 28, 4, 128, 4, 4, 40, 188},
                                         {OA_A, 32, 4, 144, 4, 4, 32, 0},
                                         {OA_A, 36, 1, 160, 4, 4, 32, 0},
                                         {OA_A, 37, 1, 184, 4, 4, 32, 0},
                                         B_C_AT(192, 224)}};

/* The sets call the counters of this format A. */
const struct oa_format oa_format_mpec32 = {
    "mpec8u32-b8-c8",
    128,
    6,
    {HEADER_64, {OA_PEC, 0, 8, 32, 4, 4, 32, 0}, {OA_A, 0, 8, 32, 4, 4, 32, 0}, B_C_AT(64, 96)}};

const struct oa_format oa_format_pec64 = {
    "pec64u64", 576, 3, {HEADER_64, {OA_PEC, 0, 64, 32, 8, 8, 64, 0}}};

const struct oa_format *oa_format_find(const char *attribute, const struct oa_format *platform)
{
    if (!attribute)
        return platform;
    if (strcmp(attribute, "256B_GENERIC_NOA16") == 0)
        return &oa_format_a24;
    if (strcmp(attribute, "128B_MPEC8_NOA16") == 0)
        return &oa_format_mpec32;
    if (strcmp(attribute, "576B_PEC64LL") == 0)
        return &oa_format_pec64;
    return NULL;
}

const struct oa_run *oa_format_run(const struct oa_format *format, enum oa_bank bank,
                                   uint32_t index)
{
    for (uint32_t i = 0; i < format->run_count; i++) {
        const struct oa_run *run = &format->runs[i];

        if (run->bank == bank && index >= run->first && index - run->first < run->count)
            return run;
    }
    return NULL;
}

static uint64_t field_of(const struct oa_run *run, uint32_t index, const unsigned char *report)
{
    const unsigned char *low = report + run->at + index * run->stride;
    uint64_t value = 0;

    for (uint32_t i = 0; i < run->bytes; i++)
        value |= (uint64_t)low[i] << 8 * i;
    if (run->high_at)
        value |= (uint64_t)report[run->high_at + index] << 8 * run->bytes;
    return run->bits == 64 ? value : value & ((UINT64_C(1) << run->bits) - 1);
}

void oa_report_set(const struct oa_run *run, uint32_t index, unsigned char *report, uint64_t value)
{
    unsigned char *low = report + run->at + index * run->stride;

    for (uint32_t i = 0; i < run->bytes; i++)
        low[i] = (unsigned char)(value >> 8 * i);
    if (run->high_at)
        report[run->high_at + index] = (unsigned char)(value >> 8 * run->bytes);
}

uint64_t oa_report_delta(const struct oa_run *run, uint32_t index, const unsigned char *earlier,
                         const unsigned char *later)
{
    uint64_t delta = field_of(run, index, later) - field_of(run, index, earlier);

    return run->bits == 64 ? delta : delta & ((UINT64_C(1) << run->bits) - 1);
}
