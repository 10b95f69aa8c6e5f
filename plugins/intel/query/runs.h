#ifndef ZETA_PLUGINS_INTEL_QUERY_RUNS_H
#define ZETA_PLUGINS_INTEL_QUERY_RUNS_H

/*
 * The counters of a format as a few runs of like ones that lie side by side, so that reports are
 * added up by loops without a branch, which compilers make vector code of. Formats stay data: what
 * the runs are follows from the fields.
 *
 * From one report to the next a counter comes around once at most. So what it counted in a sequence
 * of reports is the difference of the last and the first, and a turn for each report in which it is
 * lower than in the one before: only turns are looked for in every report, and a counter of 64 bits
 * has none.
 */

#include <stdint.h>

#include "plugins/intel/query/field.h"

enum {
    ZETA_INTEL_RUN_LANES = 8,     /**< most fields of a run of words */
    ZETA_INTEL_REPORT_SLACK = 32, /**< bytes behind a report that have to be readable: runs are read
                                     with all lanes */
};

enum zeta_intel_run_kind {
    ZETA_INTEL_RUN_WORDS, /**< 32 bits each */
    ZETA_INTEL_RUN_SPLIT, /**< 40 bits each, the upper eight side by side elsewhere */
    ZETA_INTEL_RUN_WIDE,  /**< 64 bits each */
    ZETA_INTEL_RUN_OTHER  /**< anything else, field by field */
};

/** Fields of successive indices. */
struct zeta_intel_run {
    enum zeta_intel_run_kind kind;
    uint32_t first, count;        /**< fields; at most RUN_LANES of WORDS and SPLIT */
    uint32_t low_byte, high_byte; /**< of the first; the upper bits of SPLIT only */
};

/**
 * Divides the fields that count into runs; others are in none.
 *
 * @leave_out  index of a field that is in no run either
 * @out_runs   room for count runs
 * Gives the number of runs.
 */
uint32_t zeta_intel_runs_make(const struct zeta_intel_field *fields, uint32_t count,
                              uint32_t leave_out, struct zeta_intel_run *out_runs);

/** Steps from one report to the next: from before + n x stride to now + n x stride. */
struct zeta_intel_steps {
    const uint8_t *before, *now; /**< REPORT_SLACK bytes are readable behind each report */
    uint32_t stride;             /**< bytes; now is before + stride if there is more than one */
    uint32_t count;              /**< above 0 */
};

/**
 * Adds what was counted in steps to the sums of the fields.
 *
 * @fields  that the runs were made of
 * @sums    one for each field, apart from the reports
 */
void zeta_intel_runs_add(const struct zeta_intel_run *runs, uint32_t run_count,
                         const struct zeta_intel_field *fields,
                         const struct zeta_intel_steps *steps, uint64_t *sums);

#endif
