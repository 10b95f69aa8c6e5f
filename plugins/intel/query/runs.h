#ifndef ZETA_PLUGINS_INTEL_QUERY_RUNS_H
#define ZETA_PLUGINS_INTEL_QUERY_RUNS_H

/*
 * Fields of reports, and the counters of a format as a few runs of like ones side by side, so that
 * reports are added up by loops without a branch, which compilers make vector code of. Formats stay
 * data: the runs follow from the fields.
 *
 * From one report to the next a counter wraps once at most. So what it counted in a sequence of
 * reports is the difference of the last and the first, and a wrap for each report in which it is
 * lower than in the one before: only wraps are searched in every report, and a counter of 64 bits
 * has none.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <zeta/plugin.h>

/** One field of a report. */
struct zeta_intel_field {
    uint32_t low_byte, low_shift;
    uint32_t high_byte, high_shift, low_width; /**< where the upper bits go; high_mask 0: none */
    uint64_t low_mask, high_mask;
    uint64_t delta_mask; /**< of a running count that wraps there; 0: no count */
    bool is_float;
};

/** From the host's description; false for a field that lies outside of a report or has more than
 * 64 bits. */
bool zeta_intel_field_make(const struct zeta_plugin_query_field *from, uint32_t report_bytes,
                           struct zeta_intel_field *out_field);

/** Reads up to 64 bits; a number that does not begin in a byte has 57 at most. */
static inline uint64_t zeta_intel_bits_read(const uint8_t *report, uint32_t byte, uint32_t shift,
                                            uint64_t mask)
{
    uint64_t word;

    memcpy(&word, report + byte, sizeof(word));
    return word >> shift & mask;
}

/** The value in a report. At least 8 bytes behind the report have to be readable. */
static inline uint64_t zeta_intel_field_read(const struct zeta_intel_field *field,
                                             const uint8_t *report)
{
    uint64_t value =
        zeta_intel_bits_read(report, field->low_byte, field->low_shift, field->low_mask);

    if (field->high_mask)
        value |= zeta_intel_bits_read(report, field->high_byte, field->high_shift, field->high_mask)
                 << field->low_width;
    return value;
}

/** Adds what a field counted between two of its values to a sum; the field is a running count. */
uint64_t zeta_intel_field_add(const struct zeta_intel_field *field, uint64_t sum, uint64_t before,
                              uint64_t now);

/** The difference of two sums of a field: of no count the later value. */
uint64_t zeta_intel_field_difference(const struct zeta_intel_field *field, uint64_t begin,
                                     uint64_t end);

enum {
    ZETA_INTEL_RUN_LANES = 8,     /**< most fields of a run of words */
    ZETA_INTEL_REPORT_SLACK = 32, /**< readable bytes behind a report: runs are read with all lanes
                                   */
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
