/*
 * From expressions to operations. Only for this folder.
 *
 * Nodes are made by number of operands and kept unique, so that equal subexpressions are one node.
 * A node only refers to nodes made before it; that order is the order of execution.
 */
#ifndef ZETA_CORE_FORMULA_COMPILE_LOWER_H
#define ZETA_CORE_FORMULA_COMPILE_LOWER_H

#include "core/formula/compile/program.h"
#include "core/formula/sets/catalog_priv.h"

/** Index of no node: memory ran out or the set is too large. Operations on it give it again. */
#define ZETA_NODE_NONE UINT32_MAX

/** Largest number of nodes of one set; so columns fit 16 bits. */
#define ZETA_LOWER_MAX_NODES 60000u

struct zeta_node {
    enum zeta_opcode code;
    enum zeta_expr_type type;
    uint32_t arg[3]; /**< nodes; of a load: field, view, and the distance to shift left
                         or the node to add to */
    uint64_t bits;   /**< of a constant */
};

/** Nodes of a metric that others may refer to; ZETA_NODE_NONE while they are not known. */
struct zeta_metric_nodes {
    uint32_t value;
    uint32_t valid;   /**< condition "was measured" */
    uint32_t defined; /**< condition "no divisor is 0" */
};

struct zeta_lowering {
    const struct zeta_compiled *compiled;
    const struct zeta_compiled_body *body;
    const struct zeta_set *set;
    struct zeta_arena *arena; /**< of the programs */
    struct zeta_diagnostics *sink;
    ze_result_t result; /**< of the first failure */

    struct zeta_node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t *table; /**< hash table of node index + 1 */
    uint32_t table_size;

    struct zeta_metric_nodes *metrics; /**< of each metric of the set */
    bool stamp;                        /**< in a metric of type timestamp, for query forms */
};

/** Prepares an empty list of nodes. Ended with zeta_lowering_finish(), also after a failure. */
void zeta_lowering_init(struct zeta_lowering *lowering, const struct zeta_compiled *compiled,
                        const struct zeta_compiled_body *body, struct zeta_arena *arena,
                        struct zeta_diagnostics *sink);
void zeta_lowering_finish(struct zeta_lowering *lowering);

/** Notes a failure, unless there was one before. Gives ZETA_NODE_NONE. */
uint32_t zeta_lower_stop(struct zeta_lowering *lowering, ze_result_t result);

/** Constants, and an operation on nodes, which is folded if they are constants. */
uint32_t zeta_lower_u64(struct zeta_lowering *lowering, uint64_t value);
uint32_t zeta_lower_f64(struct zeta_lowering *lowering, double value);
uint32_t zeta_lower_op(struct zeta_lowering *lowering, enum zeta_expr_op op, const uint32_t *args);

/** A field of the set's layout. */
uint32_t zeta_lower_field(struct zeta_lowering *lowering, uint32_t index, enum zeta_expr_view view);

/** Condition "every field that the expression needs was measured"; constant 1 if always. */
uint32_t zeta_lower_validity(struct zeta_lowering *lowering, const struct zeta_expr *expr);

/**
 * Condition "no division that the value of the expression comes from divides by 0"; constant 1 if
 * none can. The choice that ?: does not take counts for nothing.
 */
uint32_t zeta_lower_defined(struct zeta_lowering *lowering, const struct zeta_expr *expr);

/**
 * The expression of metric index of the set. maximum: of its maximum; NULL: a constant, 100.
 */
const struct zeta_expr *zeta_metric_expr(const struct zeta_set *set, uint32_t index, bool maximum);

/** What metric index of the set gives, converted to its value type. maximum: its maximum. */
uint32_t zeta_lower_output(struct zeta_lowering *lowering, uint32_t index, bool maximum);

/** Condition "this row is none" of the set's layout; a constant 0 if all are. */
uint32_t zeta_lower_skip(struct zeta_lowering *lowering);

/** True if the node is a constant u64; gives it. */
bool zeta_lower_constant(const struct zeta_lowering *lowering, uint32_t node, uint64_t *out_value);

/**
 * Makes the program that computes the outputs and the skip condition from the nodes (schedule.c).
 * Memory of the program comes from the arena.
 */
ze_result_t zeta_schedule(struct zeta_lowering *lowering, const uint32_t *outputs,
                          const uint32_t *value_types, uint32_t output_count, uint32_t skip,
                          struct zeta_program *out_program);

#endif
