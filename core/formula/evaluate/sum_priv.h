/*
 * What is added up of rows, and what is calculated from it. Only for sum*.c.
 */
#ifndef ZETA_CORE_FORMULA_EVALUATE_SUM_PRIV_H
#define ZETA_CORE_FORMULA_EVALUATE_SUM_PRIV_H

#include "core/formula/compile/program.h"
#include "core/formula/expr/expr.h"

/** How a field becomes one number of many rows. */
enum zeta_sum_mode { ZETA_SUM_ADD, ZETA_SUM_LAST, ZETA_SUM_FIRST, ZETA_SUM_MODE_COUNT };

/** A field that expressions read. */
struct zeta_sum_slot {
    enum zeta_sum_mode mode;
    enum zeta_expr_type type;
    uint32_t field; /**< of the layout */
    uint32_t view;
    uint16_t column;
    uint16_t valid;            /**< column that is not 0 in rows in which it counts */
    uint32_t node, valid_node; /**< what the columns were made of */
};

/** One step of calculation; it refers to earlier ones only. */
struct zeta_sum_step {
    enum zeta_expr_op op; /**< CONSTANT, FIELD (of slot arg[0]) or an operation on steps */
    uint32_t arg[ZETA_EXPR_MAX_ARITY];
    struct zeta_number number; /**< CONSTANT */
    bool is_constant;
    bool is_share; /**< divided by what was counted, or whether that holds: tiles do not add up */
};

/** Step of a metric whose value is that of the last row. */
#define ZETA_SUM_STATE UINT32_MAX

struct zeta_sum_plan {
    struct zeta_arena arena;
    const struct zeta_compiled *compiled;
    struct zeta_program program; /**< its outputs are the values of the metrics */
    uint32_t metric_count;
    uint16_t *defined; /**< per metric: column that is 0 in rows in which it divides by 0 */
    uint32_t *result;  /**< per metric: its step */
    struct zeta_sum_slot *slots;
    uint32_t slot_count;
    struct zeta_sum_step *steps;
    uint32_t step_count;
};

#endif
