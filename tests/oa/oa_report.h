/*
 * Where the numbers of OA reports are. Facts: the kernel's and igt-gpu-tools' descriptions of the
 * formats. Shares nothing with the layouts of the set files that it is compared with.
 */
#ifndef ZETA_TESTS_OA_OA_REPORT_H
#define ZETA_TESTS_OA_OA_REPORT_H

#include <stdint.h>

#define OA_REPORT_MAX_BYTES 640u

enum oa_bank {
    OA_GPU_TIME,
    OA_GPU_CLOCK,
    OA_A,
    OA_B,
    OA_C,
    OA_PEC,
    OA_PERFCNT, /**< registers that no report holds */
    OA_BANKS
};

/** Counters first to first + count - 1 of a bank at equal distances. */
struct oa_run {
    enum oa_bank bank;
    uint32_t first, count;
    uint32_t at, stride, bytes; /**< of the low part */
    uint32_t bits;              /**< of the whole number: differences are modulo 2^bits */
    uint32_t high_at; /**< one byte per counter with the bits above the low part; 0: none */
};

struct oa_format {
    const char *name; /**< of the layout in set files */
    uint32_t report_bytes;
    uint32_t run_count;
    struct oa_run runs[12];
};

/** By the attribute oa_format of a set (NULL: none) and the platform's own format. */
const struct oa_format *oa_format_find(const char *attribute, const struct oa_format *platform);

extern const struct oa_format oa_format_hsw, oa_format_a32, oa_format_a24, oa_format_mpec32,
    oa_format_pec64;

/** The run with that counter; NULL if the format does not have it. */
const struct oa_run *oa_format_run(const struct oa_format *format, enum oa_bank bank,
                                   uint32_t index);

void oa_report_set(const struct oa_run *run, uint32_t index, unsigned char *report, uint64_t value);

/** Difference of a counter of two reports, modulo its width. */
uint64_t oa_report_delta(const struct oa_run *run, uint32_t index, const unsigned char *earlier,
                         const unsigned char *later);

#endif
