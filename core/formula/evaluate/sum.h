/*
 * Values of metrics over many rows.
 *
 * The value of a metric over a run is its expression over what was counted in all rows, as if the
 * hardware had counted once; it is no mean of rows, but for ratios that the hardware itself divided
 * (those of samples that divide by nothing that was counted). So of each row only the fields are
 * kept that the expressions read, added up, and the expressions are calculated when somebody asks:
 *
 *   records --program--> fields of a row --add--> a slot per field and tile --steps--> values
 *
 * A difference is added, and in a sample layout every number, as each of its records is a row. Of
 * other fields now() is that of the last row and before() that of the first. A row in which a field
 * was not measured counts nowhere in the metrics that need it. States and points in time (metrics
 * of other types than amounts, rates and ratios) have no sum: their value is that of the last row.
 *
 * Sums are calculated with 128 bits, since 100 * a sum of hours does not fit 64. Amounts of tiles
 * are calculated with what each tile is (its symbols) and added up, divisions come after that.
 */
#ifndef ZETA_CORE_FORMULA_EVALUATE_SUM_H
#define ZETA_CORE_FORMULA_EVALUATE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include <zeta/arena.h>

struct zeta_block;
struct zeta_compiled;
struct zeta_sum_plan;

/** A row on its way. */
struct zeta_sum_row {
    uint32_t tile;
    const zet_typed_value_t *values; /**< one per metric */
    const uint8_t *has_value;        /**< one per metric; 0: not measured, or a divisor is 0 */
    const struct zeta_block *block;  /**< columns, and which row of them */
    uint32_t index;
};

typedef void (*zeta_sum_row_fn)(void *user, const struct zeta_sum_row *row);

/**
 * Makes the program and the steps for a compiled set, which must outlive them.
 *
 * @maximum  of the largest values instead of the measured ones
 *
 * Errors: INVALID_ARGUMENT if the set is too large, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_sum_plan_create(const struct zeta_compiled *compiled, bool maximum,
                                 struct zeta_sum_plan **out_plan);

/** NULL is allowed. */
void zeta_sum_plan_destroy(struct zeta_sum_plan *plan);

/** Of its set: metrics, and bytes of a record. */
uint32_t zeta_sum_plan_metric_count(const struct zeta_sum_plan *plan);
uint32_t zeta_sum_plan_record_bytes(const struct zeta_sum_plan *plan);

/** True if both read the same fields in the same way, so that their sums go together. */
bool zeta_sum_plan_fits(const struct zeta_sum_plan *a, const struct zeta_sum_plan *b);

/** Gives the rows of a tile to take; arguments and errors as zeta_evaluate(). */
ze_result_t zeta_sum_walk(const struct zeta_sum_plan *plan, uint32_t tile, uint32_t first_tile,
                          const void *raw, size_t raw_bytes, zeta_sum_row_fn take, void *user);

/** What became of one metric. */
struct zeta_sum_count {
    uint64_t rows; /**< that have a value */
    zet_typed_value_t min, max, last;
};

/** What became of the fields of one tile. */
struct zeta_sum_tile {
    uint64_t *slots; /**< numbers, or bits of doubles */
    uint8_t *taken;  /**< per slot: a row gave it */
};

/** One thread at a time. */
struct zeta_sum {
    struct zeta_arena arena;
    struct zeta_sum_plan *const *plans; /**< one per tile, which fit each other */
    uint32_t tile_count;
    struct zeta_sum_tile *tiles;
    struct zeta_sum_count *counts; /**< per metric */
};

/** Prepares a sum without rows. Ended with zeta_sum_finish(), also if it is false: no memory. */
bool zeta_sum_init(struct zeta_sum *sum, struct zeta_sum_plan *const *plans, uint32_t tile_count);
void zeta_sum_finish(struct zeta_sum *sum);

/** Adds a row that zeta_sum_walk() gives. */
void zeta_sum_add(struct zeta_sum *sum, const struct zeta_sum_row *row);

/** Adds the rows of another sum with the same plans, as if they came after those of this one. */
void zeta_sum_merge(struct zeta_sum *sum, const struct zeta_sum *other);

/** The value of one metric. */
struct zeta_sum_value {
    bool has_value;          /**< false: no row has one, or a divisor is 0 */
    zet_typed_value_t value; /**< u64, f64 or bool8; of a state as in the rows */
};

/** Calculates the values of all metrics. False without memory. */
bool zeta_sum_values(const struct zeta_sum *sum, struct zeta_sum_value *out_values);

#endif
