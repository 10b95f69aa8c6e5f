#ifndef ZETA_TESTS_KMD_XE_PACK_H
#define ZETA_TESTS_KMD_XE_PACK_H

/*
 * Reports packed anew, from tables of this file and the trajectories of kmd_counter() alone, for
 * tests that compare bytes. Source: sections 2 to 4 of the description of OA units.
 */

#include "tests/kmd/tests/xe_client.h"

/** A run of counters: W 4 or 8 bytes each, or 5: low words here, bits 39:32 at 160 + counter. */
struct xe_run {
    enum kmd_bank bank;
    uint32_t width, first, count, offset;
};

/** A format of one platform. */
struct xe_layout {
    const char *platform;
    uint32_t unit, word, bytes;
    uint32_t header;        /**< bytes: 16 or 32 */
    struct xe_run runs[10]; /**< count 0 ends them */
};

#define XE_BC(b, c)                                                                                \
    {KMD_BANK_B, 4, 0, 8, b},                                                                      \
    {                                                                                              \
        KMD_BANK_C, 4, 0, 8, c                                                                     \
    }
#define XE_A24U40                                                                                  \
    {KMD_BANK_A, 4, 0, 4, 16}, {KMD_BANK_A, 5, 4, 20, 32}, {KMD_BANK_A, 4, 24, 4, 112},            \
        {KMD_BANK_A, 5, 28, 4, 128}, {KMD_BANK_A, 4, 32, 4, 144}, {KMD_BANK_A, 4, 36, 1, 160},     \
    {                                                                                              \
        KMD_BANK_A, 4, 37, 1, 184                                                                  \
    }
#define XE_A32U40                                                                                  \
    {KMD_BANK_A, 5, 0, 32, 16},                                                                    \
    {                                                                                              \
        KMD_BANK_A, 4, 32, 4, 144                                                                  \
    }

static const struct xe_layout xe_layouts[] = {
    {"tgl-gt2", 0, 0x700, 64, 16, {{KMD_BANK_C, 4, 0, 4, 16}, {KMD_BANK_B, 4, 0, 8, 32}}},
    {"tgl-gt2", 0, 0x000, 64, 16, {{KMD_BANK_A, 4, 7, 12, 16}}},
    {"tgl-gt2", 0, 0x200, 128, 16, {{KMD_BANK_A, 4, 7, 12, 16}, XE_BC(64, 96)}},
    {"tgl-gt2", 0, 0x500, 256, 16, {XE_A32U40, XE_BC(192, 224)}},
    {"dg2-g10", 0, 0x500, 256, 16, {XE_A24U40, XE_BC(192, 224)}},
    {"dg2-g10", 0, 0x501, 256, 16, {XE_A32U40, XE_BC(192, 224)}},
    {"pvc", 1, 0x500, 256, 16, {XE_A24U40, XE_BC(192, 224)}},
    {"mtl-gt2", 0, 0x500, 256, 16, {XE_A24U40, XE_BC(192, 224)}},
    {"mtl-gt2", 1, 0x104, 192, 32, {{KMD_BANK_PEC, 8, 0, 8, 32}, XE_BC(96, 128)}},
    {"mtl-gt2", 1, 0x204, 128, 32, {{KMD_BANK_PEC, 4, 0, 8, 32}, XE_BC(64, 96)}},
    {"lnl", 0, 0x10105, 576, 32, {{KMD_BANK_PEC, 8, 0, 64, 32}}},
    {"lnl", 0, 0x1010105, 640, 32, {{KMD_BANK_PEC, 8, 0, 64, 32}, XE_BC(544, 576)}},
    {"lnl", 0, 0x105, 320, 32, {{KMD_BANK_PEC, 4, 0, 64, 32}}},
    {"lnl", 0, 0x10505, 320, 32, {{KMD_BANK_PEC, 8, 0, 32, 32}}},
    {"lnl", 0, 0x505, 192, 32, {{KMD_BANK_PEC, 4, 0, 32, 32}}},
    {"lnl", 0, 0x10605, 320, 32, {{KMD_BANK_PEC, 8, 32, 32, 32}}},
    {"lnl", 0, 0x605, 192, 32, {{KMD_BANK_PEC, 4, 32, 32, 32}}},
    {"bmg", 0, 0x10305, 320, 32, {{KMD_BANK_PEC, 8, 0, 36, 32}}},
    {"bmg", 0, 0x10405, 320, 32, {{KMD_BANK_PEC, 8, 0, 4, 32}, {KMD_BANK_PEC, 8, 32, 32, 64}}},
    {"bmg", 1, 0x204, 128, 32, {{KMD_BANK_PEC, 4, 0, 8, 32}, XE_BC(64, 96)}},
    {"bmg", 3, 0x104, 192, 32, {{KMD_BANK_PEC, 8, 0, 8, 32}, XE_BC(96, 128)}},
    {"ptl", 0, 0x10105, 576, 32, {{KMD_BANK_PEC, 8, 0, 64, 32}}},
};

enum { XE_LAYOUTS = sizeof(xe_layouts) / sizeof(xe_layouts[0]), XE_MAX_REPORT = 640 };

static inline void xe_put(uint8_t *to, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t xe_get(const uint8_t *from, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/** Time stamp of a report: 32 or 56 bits. */
static inline uint64_t xe_ticks(const struct xe_layout *layout, const uint8_t *report)
{
    return layout->header == 16 ? xe_get(report + 4, 4) : xe_get(report + 8, 8);
}

/**
 * Packs the timer report of a unit at a time in full. The report id says the reason "timer" and the
 * core clock; the context id is that of `context`.
 */
static inline void xe_pack(const struct kmd_machine *machine, const struct xe_layout *layout,
                           const char *uuid, uint64_t ticks, uint32_t mhz, uint64_t context,
                           uint8_t *out_report)
{
    bool is_old = layout->platform[0] == 't'; /* Gen12: slice frequency, and a context always */
    uint32_t frequency = (mhz * 1000 + 8333) / 16666;
    uint32_t id = 1U << 19 | frequency;
    if (is_old)
        id |= (frequency & 0x7f) << 25 | (frequency >> 7) << 9 | 1U << 16;
    memset(out_report, 0, layout->bytes);
    uint32_t word = layout->header / 4;
    uint64_t clock = kmd_counter(machine, 0, layout->unit, uuid, KMD_BANK_CLOCK, 0, ticks);
    xe_put(out_report, id, word);
    xe_put(out_report + word, word == 8 ? ticks & ((UINT64_C(1) << 56) - 1) : ticks, word);
    xe_put(out_report + 2 * word, context, word);
    xe_put(out_report + 3 * word, clock, word);
    for (const struct xe_run *run = layout->runs; run->count; run++) {
        for (uint32_t i = 0; i < run->count; i++) {
            uint32_t counter = run->first + i;
            uint64_t value = kmd_counter(machine, 0, layout->unit, uuid, run->bank, counter, ticks);
            uint32_t bytes = run->width == 8 ? 8 : 4;
            xe_put(out_report + run->offset + i * bytes, value, bytes);
            if (run->width == 5)
                out_report[160 + counter] = (uint8_t)(value >> 32);
        }
    }
}

#endif
