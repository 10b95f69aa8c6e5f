#ifndef ZETA_PLUGINS_INTEL_QUERY_TOTALS_H
#define ZETA_PLUGINS_INTEL_QUERY_TOTALS_H

/*
 * Totals: what the fields of a sequence of reports add up to. Knows the layout of reports only from
 * the descriptors of fields; no threads, no kernel.
 */

#include <stdbool.h>
#include <stdint.h>

#include "plugins/intel/query/runs.h"

/** The sum of a sequence of reports. */
struct zeta_intel_totals {
    struct zeta_intel_field *fields;
    uint32_t count;
    struct zeta_intel_run *runs; /**< of the fields that count, but the ticks */
    uint32_t run_count;
    uint32_t report_bytes;
    uint32_t tick_field; /**< index of the header field "ticks" */
    uint32_t clock_mask; /**< bits of the first word that show the core clock; 0: none do */
    uint64_t *sums;      /**< differences since the start, of fields that count */
    uint8_t *last;       /**< the last report */
    bool is_started;     /**< there is one to compare with */
    uint32_t clock;      /**< of it, as the first word shows it */
    uint64_t stamp;      /**< of it, as it has them */
    uint64_t ticks;      /**< the same, not wrapped */
    uint64_t breaks;     /**< where the sequence was interrupted */
    uint64_t gap_ticks;  /**< between reports of which some were lost: no counter wraps */
    uint64_t lost_until; /**< some of the reports before this time were lost; 0: none */
    uint64_t switches;   /**< changes of the core clock */
};

/**
 * Prepares totals for reports with these fields (of struct zeta_plugin_query_field); clock_bits of
 * the first word change with the core clock. INVALID_ARGUMENT for fields outside of a report, or
 * without "ticks". Ended with zeta_intel_totals_finish(), also after a failure.
 */
uint32_t zeta_intel_totals_init(struct zeta_intel_totals *totals,
                                const struct zeta_plugin_array *fields, uint32_t report_bytes,
                                uint32_t clock_bits);
void zeta_intel_totals_finish(struct zeta_intel_totals *totals);

/** The next report follows a gap: counting goes on from it. */
void zeta_intel_totals_break(struct zeta_intel_totals *totals);

/**
 * Some of the reports until clock_ticks (not wrapped), among those that are added next, were lost;
 * UINT64_MAX: later losses will not be reported. Counters went on, so sums go on across the gap,
 * unless it is longer than gap_ticks.
 */
void zeta_intel_totals_lose(struct zeta_intel_totals *totals, uint64_t clock_ticks);

/**
 * Adds reports, up to the first that is as late as wanted; gives how many. One whose time goes
 * backwards follows an interruption that was not reported.
 *
 * @reports      one behind the other; behind the last, ZETA_INTEL_REPORT_SLACK bytes are readable
 * @clock_ticks  a time near those of the reports, not wrapped: no further away than half the range
 *               of the reports' own clock. The report before may lie any time back: a GPU slept
 * @until_ticks  not wrapped: behind a report of this time or later none is added
 */
uint32_t zeta_intel_totals_add(struct zeta_intel_totals *totals, const uint8_t *reports,
                               uint32_t count, uint64_t clock_ticks, uint64_t until_ticks);

/** Copies the values of all fields: sums of counts, the last value of others. */
void zeta_intel_totals_copy(const struct zeta_intel_totals *totals, uint64_t *out_values);

#endif
