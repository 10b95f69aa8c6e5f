#ifndef ZETA_TESTS_CUDA_CUPTI_METRICS_H
#define ZETA_TESTS_CUDA_CUPTI_METRICS_H

/* Names of metrics, what they need, and how they follow from an interval. */

#include "tests/cuda/cupti/cupti.h"

enum metric_kind { METRIC_COUNTER, METRIC_RATIO, METRIC_THROUGHPUT };

enum metric_source {
    FROM_COUNT,    /* a */
    FROM_COUNTS,   /* a + b */
    FROM_QUOTIENT, /* a / (b + c) of counts */
    FROM_GPC,      /* cycles of one instance: times instances */
    FROM_SYS,
    FROM_DRAM,
    FROM_DURATION,
    FROM_SHARE,       /* a per b instances' cycles: throughputs */
    FROM_WRONG_WARPS, /* twice the warps, modulo 128 */
    FROM_NOTHING      /* 0 */
};

enum metric_flag {
    IN_PM = 1,
    IN_RANGE = 2,
    EVERYWHERE = 4, /* on all chips, not GH100 alone */
    IS_SASS = 8,
    IS_LINK = 16,
    IS_SHARED = 32, /* between instances of MIG: NaN there */
    TPC_CORE = 64,  /* three of these are light ... */
    TPC_MORE = 128, /* ... one of these beside them is not */
    SM_A = 256,     /* nor are five of these */
    HEAVY = 512,
    IS_DEVICE = 1024,  /* cannot be added with an availability image */
    SM_INST = 2048,    /* in PM sampling these, outside of the triage groups, need a pass ... */
    SM_LAUNCHED = 4096 /* ... other than these */
};

struct metric {
    const char *name; /* base name */
    const char *unit, *dimension;
    enum metric_kind kind;
    enum metric_source source;
    uint8_t a, b, c;
    uint32_t flags;
    uint8_t pm_passes, range_passes; /* alone; 0 stands for 1 */
    double peak;                     /* per instance and cycle; 0: unknown */
};

extern const struct metric metric_table[];
extern const uint32_t metric_count;

/* Splits "base.rollup.sub": index of the base name, rollup and sub form; false if it is no name. */
bool metric_parse(const char *text, uint32_t *out_index, uint32_t *out_rollup, uint32_t *out_sub);

/* Text behind the base name of a form; NULL behind the last one. */
const char *metric_form(enum metric_kind kind, uint32_t form);

double metric_evaluate(const struct metric *metric, uint32_t rollup, uint32_t sub,
                       const struct cuda_chip *chip, const struct interval *interval);

#endif
