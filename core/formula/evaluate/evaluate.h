/*
 * Calculation: from raw data to typed values.
 *
 * Rows. For a delta layout a row is the difference of two neighbouring records, so n records give
 * n - 1 rows; a record that repeats its predecessor and one that fulfils the layout's baseline
 * condition only set the baseline. For a sample layout each record is a row. No row crosses a BREAK
 * or END slot. Tiles have a baseline each. Each row gives one value per metric.
 *
 * Nothing is kept between calls; any concatenation of reads of one stream gives the rows that the
 * stream read in one piece would give.
 */
#ifndef ZETA_CORE_FORMULA_EVALUATE_EVALUATE_H
#define ZETA_CORE_FORMULA_EVALUATE_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/compile/compile.h"

/** What one calculation found. */
struct zeta_evaluation {
    uint32_t value_count;  /**< values written */
    uint64_t row_count;    /**< rows that the written values belong to; the last may be partial */
    bool complete;         /**< all rows of the data were calculated */
    bool dropped;          /**< the part that was looked at holds a BREAK */
    uint64_t lost_records; /**< sum over those breaks */
};

/**
 * The number of values to make room for: floor(raw_bytes / record size) * metric count, an upper
 * bound (decided: never reads the data). Values that do not fit 32 bits give the largest
 * multiple of the metric count that does.
 */
uint32_t zeta_evaluate_count(const struct zeta_compiled *compiled, size_t raw_bytes);

/**
 * Calculates values.
 *
 * @type      METRIC_VALUES or MAX_METRIC_VALUES
 * @tile      only slots of this tile are used
 * @first_tile  tile of the slots before the first TILE slot: 0, or that of zeta_slot_skip() for
 * data whose beginning was left out
 * @raw       may be NULL if raw_bytes is 0; any alignment. A last incomplete slot is ignored.
 * @values    room for capacity values; row after row, metrics in the order of the compiled set.
 *            No more than capacity values are calculated, also when a row is cut by it.
 *
 * Errors: OUT_OF_HOST_MEMORY; none for any content of raw.
 * Threading: any number of threads with the same compiled set.
 */
ze_result_t zeta_evaluate(const struct zeta_compiled *compiled,
                          zet_metric_group_calculation_type_t type, uint32_t tile,
                          uint32_t first_tile, const void *raw, size_t raw_bytes,
                          zet_typed_value_t *values, uint32_t capacity,
                          struct zeta_evaluation *out_evaluation);

/**
 * Counts the rows of a tile in raw data without calculating their values. value_count is the number
 * of values that they would give (0 if it does not fit 32 bits). Errors as zeta_evaluate().
 */
ze_result_t zeta_evaluate_rows(const struct zeta_compiled *compiled, uint32_t tile,
                               uint32_t first_tile, const void *raw, size_t raw_bytes,
                               struct zeta_evaluation *out_evaluation);

/**
 * Name of the variant in use: "avx512", "avx2" or "base". The best one that the processor has is
 * chosen with the first calculation; all give identical values.
 */
const char *zeta_evaluate_variant(void);

/**
 * Chooses a variant by name, for tests and benchmarks; false if this processor cannot run it.
 * Not while another thread calculates.
 */
bool zeta_evaluate_use_variant(const char *name);

#endif
