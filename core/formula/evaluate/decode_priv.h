/*
 * The inside of a decode plan. Only for decode*.c.
 */
#ifndef ZETA_CORE_FORMULA_EVALUATE_DECODE_PRIV_H
#define ZETA_CORE_FORMULA_EVALUATE_DECODE_PRIV_H

#include "core/formula/evaluate/decode.h"
#include "core/formula/record/layout.h"

/** A field that every record has; whole bytes are read in one go. */
struct zeta_event_number {
    const struct zeta_field *field;
    uint32_t at;
    uint32_t bytes; /**< 1, 2, 4 or 8; 0: a field of another form */
};

/** A type of record that metrics are entries of. Number 0 is every other type. */
struct zeta_event_class {
    uint32_t first; /**< of the plan's references */
    uint32_t count;
};

/** Constant once made (decode_plan.c); decode.c reads it. */
struct zeta_decode_plan {
    struct zeta_compiled **compiled; /**< sets of each group, by tile; set_count of each */
    uint32_t set_count;
    uint32_t group_count;
    uint32_t tile_count;
    uint32_t record_bytes;
    struct zeta_event_number type;
    struct zeta_event_number ticks;
    struct zeta_event_number tile;
    uint64_t ticks_mask;
    uint64_t timer_hz;
    uint64_t tick_ns; /**< 0: no whole number of nanoseconds */

    const struct zeta_metric **metrics;
    uint32_t *metric_group; /**< per metric */
    uint32_t *metric_place; /**< per metric: its place in the group's values */
    uint32_t metric_count;

    uint16_t class_of[ZETA_EVENT_MAX_TYPE + 1]; /**< by type */
    struct zeta_event_class *classes;
    uint32_t class_count;
    uint32_t *references; /**< metrics of each class, in their order */
    uint32_t reference_count;
};

/** The compiled set of a group on a tile. */
static inline const struct zeta_compiled *zeta_decode_set(const struct zeta_decode_plan *plan,
                                                          uint32_t group, uint32_t set)
{
    return plan->compiled[(size_t)group * plan->set_count + set];
}

#endif
