#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_INTERVALS_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_INTERVALS_H

/*
 * From samples to records: what was lost is told by time, because CUPTI does not tell it.
 *
 *     |----|----|----|         |----|         a gap: two are missing
 *     |----|----|---------|----|              an interval of two: its counts are those of one; it
 *                                             is lost, too
 */

#include "plugins/nvidia/sampling/program.h"
#include "plugins/nvidia/sampling/session.h"

/** Where a sequence of intervals has got to. */
struct nvidia_intervals {
    const struct nvidia_program *program;
    uint64_t period_ns;
    uint64_t end_ns; /**< of the last record, or of what came before the first; 0: unknown */
    uint64_t sequence;
    bool is_behind_loss, is_behind_overflow; /**< what the next record is */
};

/** What the next sample became. */
struct nvidia_interval_break {
    bool is_broken;  /**< records are missing before it */
    uint32_t reason; /**< ZETA_PLUGIN_BREAK_* */
    uint64_t lost;
};

/**
 * Makes the record of a sample. False if there is none: its times or counts are of no use, it lasts
 * no time, or it holds a part of what happened in it. Such samples are lost; the break before the
 * next record counts them. What lasts no time is nothing.
 */
bool nvidia_intervals_add(struct nvidia_intervals *intervals, const struct nvidia_sample *sample,
                          struct nvidia_interval *out_record,
                          struct nvidia_interval_break *out_break);

#endif
