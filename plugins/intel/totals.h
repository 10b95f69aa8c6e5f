#ifndef ZETA_PLUGINS_INTEL_TOTALS_H
#define ZETA_PLUGINS_INTEL_TOTALS_H

/*
 * Totals: what the fields of a sequence of reports add up to. Knows the layout of reports only from
 * the descriptors of fields; no threads, no kernel.
 */

#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

/** One field of a report. */
struct zeta_intel_field {
    uint32_t low_byte, low_shift;
    uint32_t high_byte, high_shift, low_width; /**< where the upper bits go; high_mask 0: none */
    uint64_t low_mask, high_mask;
    uint64_t delta_mask; /**< of a running count that wraps there; 0: no count */
    bool is_float;
};

/** The sum of a sequence of reports. */
struct zeta_intel_totals {
    struct zeta_intel_field *fields;
    uint32_t count;
    uint32_t report_bytes;
    uint32_t tick_field; /**< index of the header field "ticks" */
    uint64_t clock_mask; /**< bits of the first word that show the core clock; 0: none do */
    struct zeta_intel_field head; /**< the first word */
    uint64_t *last;               /**< fields of the last report */
    uint64_t *sums;               /**< differences since the start, of fields that count */
    bool is_started;              /**< there is a last report to compare with */
    uint64_t last_clock;          /**< of it */
    uint64_t ticks;               /**< of the last report, not wrapped */
    uint64_t breaks;              /**< where the sequence was interrupted */
    uint64_t switches;            /**< changes of the core clock */
};

/**
 * Prepares totals for reports with these fields (of struct zeta_plugin_query_field).
 *
 * @graphics  version of the GPU x 100: where the first word shows the core clock
 * Errors: INVALID_ARGUMENT for fields that lie outside of a report, or without "ticks";
 * OUT_OF_HOST_MEMORY. Ended with zeta_intel_totals_finish(), also after a failure.
 */
uint32_t zeta_intel_totals_init(struct zeta_intel_totals *totals,
                                const struct zeta_plugin_array *fields, uint32_t report_bytes,
                                uint32_t graphics);
void zeta_intel_totals_finish(struct zeta_intel_totals *totals);

/** The next report follows a gap: it only is where counting goes on. */
void zeta_intel_totals_break(struct zeta_intel_totals *totals);

/**
 * Adds a report. At least 8 bytes behind it have to be readable. One whose time goes backwards
 * follows an interruption that nobody told of.
 *
 * @clock_ticks  a time near that of the report, not wrapped: no further away than half a turn of
 * the report's own clock. The report before may lie any time back: a GPU slept in between
 */
void zeta_intel_totals_add(struct zeta_intel_totals *totals, const uint8_t *report,
                           uint64_t clock_ticks);

/** Copies the values of all fields: sums of counts, the last value of others. */
void zeta_intel_totals_copy(const struct zeta_intel_totals *totals, uint64_t *out_values);

/** The difference of two copied values of a field: of no count the later value. */
uint64_t zeta_intel_field_difference(const struct zeta_intel_field *field, uint64_t begin,
                                     uint64_t end);

#endif
