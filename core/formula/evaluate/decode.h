/*
 * Decoding: from event records to entries with time stamps.
 *
 * A plan lists which records are entries of which metrics; it is made once from compiled sets over
 * one event layout and needs neither device nor tracer. Decoding keeps nothing between calls.
 *
 *   record of type 3 --> entries of all selected metrics that list this type, in the order of plan
 *
 * Control slots, padding, records of unknown types, `enabled` and `disabled` records and records of
 * tiles that the plan does not have give no entries. A last incomplete record is left alone.
 */
#ifndef ZETA_CORE_FORMULA_EVALUATE_DECODE_H
#define ZETA_CORE_FORMULA_EVALUATE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

struct zeta_compiled;
struct zeta_decode_plan;
struct zeta_metric;

/** The sets of one group: one compiled set per tile, or one. */
struct zeta_decode_group {
    struct zeta_compiled *const *compiled;
};

/** What a plan is made of. Arrays are copied; the compiled sets must outlive the plan. */
struct zeta_decode_source {
    const struct zeta_decode_group *groups; /**< at least one, all over layouts of equal form */
    uint32_t group_count;
    uint32_t tile_count;     /**< of a root with tiles; 0: no tiles, records of any tile count */
    uint64_t timer_hz;       /**< of the metric timer, above 0 */
    uint32_t timestamp_bits; /**< valid bits of its ticks, 1 to 64 */
};

/**
 * Makes a plan. Freed with zeta_decode_plan_destroy().
 * Errors: INVALID_ARGUMENT if records of the sets differ in size or in where they say what they
 * are; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_decode_plan_create(const struct zeta_decode_source *source,
                                    struct zeta_decode_plan **out_plan);

/** Frees a plan. NULL is allowed. */
void zeta_decode_plan_destroy(struct zeta_decode_plan *plan);

/** The metrics of a plan: group after group, those that exist on the device. */
uint32_t zeta_decode_metric_count(const struct zeta_decode_plan *plan);
const struct zeta_metric *zeta_decode_metric(const struct zeta_decode_plan *plan, uint32_t index);

/** Sets that entries come in: one per tile, one without tiles. */
uint32_t zeta_decode_set_count(const struct zeta_decode_plan *plan);

/** Metric whose entries are left out. */
#define ZETA_DECODE_LEFT_OUT UINT32_MAX

/** What to decode. */
struct zeta_decode_request {
    const void *raw; /**< NULL if raw_bytes is 0; any alignment, any content */
    size_t raw_bytes;
    const uint32_t *names; /**< per metric of the plan: metricIndex of its entries, or LEFT_OUT */
    uint32_t set_count;    /**< entries of sets from this number on are left out */
    uint64_t capacity;     /**< entries that there is room for; UINT64_MAX: all */
};

/** What a piece of data gives. */
struct zeta_decode_outcome {
    uint64_t entry_count;
    size_t consumed_bytes; /**< whole records, up to the first whose entries do not all fit */
    uint64_t first_needed; /**< entries of that record; 0: everything fitted */
};

/**
 * Finds out how many entries there are.
 *
 * @counts  room for set_count numbers, entries of each set; may be NULL
 * Threading: any number of threads with one plan, as all here. Errors: none.
 */
void zeta_decode_count(const struct zeta_decode_plan *plan,
                       const struct zeta_decode_request *request, uint64_t *counts,
                       struct zeta_decode_outcome *out_outcome);

/**
 * Writes the entries that zeta_decode_count() finds, set after set, each in the order of records.
 *
 * @counts   as for zeta_decode_count(); not NULL
 * @entries  room for capacity entries, or for all that the data can give if that is UINT64_MAX
 * Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_decode(const struct zeta_decode_plan *plan,
                        const struct zeta_decode_request *request, uint64_t *counts,
                        zet_metric_entry_exp_t *entries, struct zeta_decode_outcome *out_outcome);

#endif
