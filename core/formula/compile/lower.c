#include "core/formula/compile/lower.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/query_form.h"

/* Nodes: kept unique, constants folded, operations chosen by the types of their operands -------
 */

void zeta_lowering_init(struct zeta_lowering *lowering, const struct zeta_compiled *compiled,
                        const struct zeta_compiled_body *body, struct zeta_arena *arena,
                        struct zeta_diagnostics *sink)
{
    const struct zeta_set *set = body->set;

    *lowering = (struct zeta_lowering){
        .compiled = compiled,
        .body = body,
        .set = set,
        .arena = arena,
        .sink = sink,
        .result = ZE_RESULT_SUCCESS,
    };
    lowering->metrics = malloc(set->metric_count * sizeof(*lowering->metrics));
    if (!lowering->metrics)
        lowering->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; lowering->metrics && i < set->metric_count; i++)
        lowering->metrics[i] =
            (struct zeta_metric_nodes){ZETA_NODE_NONE, ZETA_NODE_NONE, ZETA_NODE_NONE};
}

void zeta_lowering_finish(struct zeta_lowering *lowering)
{
    free(lowering->nodes);
    free(lowering->table);
    free(lowering->metrics);
}

uint32_t zeta_lower_stop(struct zeta_lowering *lowering, ze_result_t result)
{
    if (lowering->result == ZE_RESULT_SUCCESS)
        lowering->result = result;
    return ZETA_NODE_NONE;
}

static uint32_t hash_node(const struct zeta_node *node)
{
    uint64_t hash = (uint64_t)node->code * 31 + (uint64_t)node->type;

    for (unsigned i = 0; i < 3; i++)
        hash = (hash ^ node->arg[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ node->bits) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static bool same_node(const struct zeta_node *a, const struct zeta_node *b)
{
    return a->code == b->code && a->type == b->type && a->bits == b->bits &&
           memcmp(a->arg, b->arg, sizeof(a->arg)) == 0;
}

/** Doubles the hash table and the array of nodes, which has half its size. */
static bool grow(struct zeta_lowering *lowering)
{
    uint32_t size = lowering->table_size ? lowering->table_size * 2 : 256;
    uint32_t *table = calloc(size, sizeof(*table));
    struct zeta_node *nodes = realloc(lowering->nodes, size / 2 * sizeof(*nodes));

    if (nodes)
        lowering->nodes = nodes;
    if (!table || !nodes) {
        free(table);
        (void)zeta_lower_stop(lowering, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        return false;
    }
    for (uint32_t i = 0; i < lowering->node_count; i++) {
        uint32_t at = hash_node(&nodes[i]) & (size - 1);

        while (table[at] != 0)
            at = (at + 1) & (size - 1);
        table[at] = i + 1;
    }
    free(lowering->table);
    lowering->table = table;
    lowering->table_size = size;
    lowering->node_capacity = size / 2;
    return true;
}

/* Cheaper operations for common patterns of metrics: all of them give the same bits ------------
 */

/** Greatest common divisor; the other number if one is 0. */
static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/** A product with a power of two is a shift. */
static void simplify_product(struct zeta_lowering *lowering, struct zeta_node *node)
{
    uint64_t factor = 0;
    const bool second = zeta_lower_constant(lowering, node->arg[1], &factor);
    uint32_t distance = 0;

    if (!second && !zeta_lower_constant(lowering, node->arg[0], &factor))
        return;
    if (factor == 0 || (factor & (factor - 1)) != 0)
        return;
    while (factor >> distance != 1)
        distance++;
    node->code = ZETA_OP_SHL;
    node->arg[0] = second ? node->arg[0] : node->arg[1];
    node->arg[1] = zeta_lower_u64(lowering, distance);
}

/** A shift of a difference is done where the difference is loaded. */
static void simplify_shift(const struct zeta_lowering *lowering, struct zeta_node *node)
{
    const struct zeta_node *load = &lowering->nodes[node->arg[0]];
    uint64_t distance;

    if ((load->code != ZETA_OP_DELTA32 && load->code != ZETA_OP_DELTA_SPLIT) ||
        !zeta_lower_constant(lowering, node->arg[1], &distance) || distance + load->arg[2] >= 64)
        return;
    distance += load->arg[2];
    *node = *load;
    node->arg[2] = (uint32_t)distance;
}

/** So is the conversion of a difference, as a sum with a zero. (No difference is -0.) */
static void simplify_conversion(struct zeta_lowering *lowering, struct zeta_node *node)
{
    const struct zeta_node *load = &lowering->nodes[node->arg[0]];
    const enum zeta_opcode code =
        load->code == ZETA_OP_DELTA32 ? ZETA_OP_ADD_DELTA32 : ZETA_OP_ADD_DELTA_SPLIT;

    if ((load->code != ZETA_OP_DELTA32 && load->code != ZETA_OP_DELTA_SPLIT) || load->arg[2] != 0)
        return;
    node->code = code;
    node->arg[0] = load->arg[0];
    node->arg[1] = load->arg[1];
    node->arg[2] = zeta_lower_f64(lowering, 0.0);
}

/** A sum with a converted difference replaces that zero. */
static void simplify_sum(struct zeta_lowering *lowering, struct zeta_node *node)
{
    const uint32_t zero = zeta_lower_f64(lowering, 0.0);

    for (unsigned i = 0; i < 2; i++) {
        const struct zeta_node *load = &lowering->nodes[node->arg[i]];
        const uint32_t other = node->arg[1 - i];

        if ((load->code != ZETA_OP_ADD_DELTA32 && load->code != ZETA_OP_ADD_DELTA_SPLIT) ||
            load->arg[2] != zero)
            continue;
        *node = *load;
        node->arg[2] = other;
        return;
    }
}

/** True if the product of a difference and factor is below 2^64. */
static bool product_fits(const struct zeta_lowering *lowering, uint32_t index, uint64_t factor)
{
    const struct zeta_node *node = &lowering->nodes[index];
    uint32_t bits;

    if (node->code == ZETA_OP_DELTA32)
        bits = 32 + node->arg[2];
    else if (node->code == ZETA_OP_DELTA_SPLIT)
        bits = lowering->set->layout->fields[node->arg[0]].delta_bits + node->arg[2];
    else
        return false;
    return bits < 64 && factor >> (64 - bits) == 0;
}

/** Cancels what factor and divisor have in common, in a product that cannot overflow. */
static void cancel(struct zeta_lowering *lowering, struct zeta_node *node, uint64_t *divisor)
{
    const struct zeta_node *product = &lowering->nodes[node->arg[0]];
    uint32_t args[3] = {product->arg[0], product->arg[1]};
    uint64_t factor = 0;
    uint64_t common;

    if (product->code != ZETA_OP_MUL_U64)
        return;
    if (zeta_lower_constant(lowering, args[0], &factor))
        args[0] = args[1];
    else if (!zeta_lower_constant(lowering, args[1], &factor))
        return;
    if (!product_fits(lowering, args[0], factor))
        return;
    common = greatest_common_divisor(factor, *divisor);
    args[1] = zeta_lower_u64(lowering, factor / common);
    args[2] = args[1];
    node->arg[0] = zeta_lower_op(lowering, ZETA_EXPR_MUL, args);
    *divisor /= common;
}

/** Division by a constant is multiplication, with a correction. */
static void simplify_division(struct zeta_lowering *lowering, struct zeta_node *node)
{
    uint64_t divisor;

    if (!zeta_lower_constant(lowering, node->arg[1], &divisor) || divisor == 0)
        return;
    cancel(lowering, node, &divisor);
    node->code = ZETA_OP_DIV_CONSTANT;
    node->arg[1] = zeta_lower_u64(lowering, divisor);
    node->arg[2] = zeta_lower_f64(lowering, 1.0 / (double)divisor);
}

/** The usual form of a percentage is one operation. */
static void simplify_ratio(const struct zeta_lowering *lowering, struct zeta_node *node)
{
    const struct zeta_node *quotient = &lowering->nodes[node->arg[0]];
    const struct zeta_node *dividend;
    const struct zeta_node *product;

    if (quotient->code != ZETA_OP_DIV_F64)
        return;
    dividend = &lowering->nodes[quotient->arg[0]];
    if (dividend->code != ZETA_OP_TO_F64)
        return;
    product = &lowering->nodes[dividend->arg[0]];
    if (product->code != ZETA_OP_MUL_U64)
        return;
    node->code = ZETA_OP_RATIO;
    node->arg[0] = product->arg[0];
    node->arg[1] = product->arg[1];
    node->arg[2] = quotient->arg[1];
}

/**
 * Replaces a node that is about to be added. Nodes that are not needed any more are left out by
 * zeta_schedule().
 */
static void simplify(struct zeta_lowering *lowering, struct zeta_node *node)
{
    if (lowering->result != ZE_RESULT_SUCCESS)
        return;
    if (node->code == ZETA_OP_MUL_U64)
        simplify_product(lowering, node);
    if (node->code == ZETA_OP_SHL)
        simplify_shift(lowering, node);
    if (node->code == ZETA_OP_DIV_U64)
        simplify_division(lowering, node);
    if (node->code == ZETA_OP_TO_F64)
        simplify_conversion(lowering, node);
    if (node->code == ZETA_OP_ADD_F64)
        simplify_sum(lowering, node);
    if (node->code == ZETA_OP_TO_F32)
        simplify_ratio(lowering, node);
}

static uint32_t unique_node(struct zeta_lowering *lowering, struct zeta_node *node)
{
    uint32_t at;

    simplify(lowering, node);
    if (lowering->result != ZE_RESULT_SUCCESS)
        return ZETA_NODE_NONE;
    if (lowering->node_count == lowering->node_capacity && !grow(lowering))
        return ZETA_NODE_NONE;
    at = hash_node(node) & (lowering->table_size - 1);
    while (lowering->table[at] != 0) {
        if (same_node(&lowering->nodes[lowering->table[at] - 1], node))
            return lowering->table[at] - 1;
        at = (at + 1) & (lowering->table_size - 1);
    }
    if (lowering->node_count >= ZETA_LOWER_MAX_NODES) {
        zeta_diagnose(lowering->sink, ZETA_SEVERITY_ERROR, lowering->set->file, lowering->set->line,
                      1, "set %s needs more than %u operations", lowering->set->name,
                      ZETA_LOWER_MAX_NODES);
        return zeta_lower_stop(lowering, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    lowering->nodes[lowering->node_count] = *node;
    lowering->table[at] = lowering->node_count + 1;
    return lowering->node_count++;
}

static uint32_t lower_number(struct zeta_lowering *lowering, const struct zeta_number *number)
{
    struct zeta_node node = {.code = ZETA_OP_CONSTANT, .type = number->type};

    if (number->type == ZETA_EXPR_F64)
        memcpy(&node.bits, &number->u.f64, sizeof(node.bits));
    else
        node.bits = number->u.u64;
    return unique_node(lowering, &node);
}

uint32_t zeta_lower_u64(struct zeta_lowering *lowering, uint64_t value)
{
    const struct zeta_number number = {.type = ZETA_EXPR_U64, .u.u64 = value};

    return lower_number(lowering, &number);
}

uint32_t zeta_lower_f64(struct zeta_lowering *lowering, double value)
{
    const struct zeta_number number = {.type = ZETA_EXPR_F64, .u.f64 = value};

    return lower_number(lowering, &number);
}

static bool constant_number(const struct zeta_lowering *lowering, uint32_t index,
                            struct zeta_number *out_number)
{
    const struct zeta_node *node = &lowering->nodes[index];

    if (node->code != ZETA_OP_CONSTANT)
        return false;
    out_number->type = node->type;
    if (node->type == ZETA_EXPR_F64)
        memcpy(&out_number->u.f64, &node->bits, sizeof(node->bits));
    else
        out_number->u.u64 = node->bits;
    return true;
}

bool zeta_lower_constant(const struct zeta_lowering *lowering, uint32_t node, uint64_t *out_value)
{
    struct zeta_number number;

    if (node == ZETA_NODE_NONE || !constant_number(lowering, node, &number) ||
        number.type != ZETA_EXPR_U64)
        return false;
    *out_value = number.u.u64;
    return true;
}

/**
 * The operation that runs an operation of expressions, by the type of its operands, and what may
 * become of their order. -a is 0 - a, ~a is a ^ ~0, !a is a == 0. min and max of doubles keep their
 * order, as one may be no number.
 */
enum order { KEEPS, COMMUTES, COMMUTES_U64, SWAPS };

static const struct {
    enum zeta_opcode of_u64, of_f64;
    enum order order;
} selections[ZETA_EXPR_OP_COUNT] = {
    [ZETA_EXPR_ADD] = {ZETA_OP_ADD_U64, ZETA_OP_ADD_F64, COMMUTES},
    [ZETA_EXPR_SUB] = {ZETA_OP_SUB_U64, ZETA_OP_SUB_F64, KEEPS},
    [ZETA_EXPR_NEGATE] = {ZETA_OP_SUB_U64, ZETA_OP_NEGATE_F64, KEEPS},
    [ZETA_EXPR_MUL] = {ZETA_OP_MUL_U64, ZETA_OP_MUL_F64, COMMUTES},
    [ZETA_EXPR_DIV] = {ZETA_OP_DIV_U64, ZETA_OP_DIV_F64, KEEPS},
    [ZETA_EXPR_MOD] = {ZETA_OP_MOD_U64, ZETA_OP_COUNT, KEEPS},
    [ZETA_EXPR_AND] = {ZETA_OP_AND, ZETA_OP_COUNT, COMMUTES},
    [ZETA_EXPR_OR] = {ZETA_OP_OR, ZETA_OP_COUNT, COMMUTES},
    [ZETA_EXPR_XOR] = {ZETA_OP_XOR, ZETA_OP_COUNT, COMMUTES},
    [ZETA_EXPR_COMPLEMENT] = {ZETA_OP_XOR, ZETA_OP_COUNT, COMMUTES},
    [ZETA_EXPR_SHL] = {ZETA_OP_SHL, ZETA_OP_COUNT, KEEPS},
    [ZETA_EXPR_SHR] = {ZETA_OP_SHR, ZETA_OP_COUNT, KEEPS},
    [ZETA_EXPR_EQ] = {ZETA_OP_EQ_U64, ZETA_OP_EQ_F64, COMMUTES},
    [ZETA_EXPR_NOT] = {ZETA_OP_EQ_U64, ZETA_OP_COUNT, COMMUTES},
    [ZETA_EXPR_NE] = {ZETA_OP_NE_U64, ZETA_OP_NE_F64, COMMUTES},
    [ZETA_EXPR_LT] = {ZETA_OP_LT_U64, ZETA_OP_LT_F64, KEEPS},
    [ZETA_EXPR_GT] = {ZETA_OP_LT_U64, ZETA_OP_LT_F64, SWAPS},
    [ZETA_EXPR_LE] = {ZETA_OP_LE_U64, ZETA_OP_LE_F64, KEEPS},
    [ZETA_EXPR_GE] = {ZETA_OP_LE_U64, ZETA_OP_LE_F64, SWAPS},
    [ZETA_EXPR_LOGICAL_AND] = {ZETA_OP_LOGICAL_AND, ZETA_OP_COUNT, COMMUTES},
    [ZETA_EXPR_LOGICAL_OR] = {ZETA_OP_LOGICAL_OR, ZETA_OP_COUNT, COMMUTES},
    [ZETA_EXPR_MIN] = {ZETA_OP_MIN_U64, ZETA_OP_MIN_F64, COMMUTES_U64},
    [ZETA_EXPR_MAX] = {ZETA_OP_MAX_U64, ZETA_OP_MAX_F64, COMMUTES_U64},
    [ZETA_EXPR_MULDIV] = {ZETA_OP_MULDIV, ZETA_OP_COUNT, KEEPS},
    [ZETA_EXPR_TO_F64] = {ZETA_OP_TO_F64, ZETA_OP_COUNT, KEEPS},
    [ZETA_EXPR_TO_U64] = {ZETA_OP_COUNT, ZETA_OP_TO_U64, KEEPS},
};

static enum zeta_expr_type result_type(enum zeta_expr_op op, enum zeta_expr_type operand)
{
    switch (zeta_expr_operations[op].typing) {
    case ZETA_TYPING_TO_F64:
        return ZETA_EXPR_F64;
    case ZETA_TYPING_SAME:
        return operand;
    default:
        return ZETA_EXPR_U64;
    }
}

/** muldiv by two constants: a fraction in lowest terms; a plain product if it divides evenly. */
static uint32_t lower_muldiv(struct zeta_lowering *lowering, uint32_t a, uint64_t factor,
                             uint64_t divisor)
{
    uint64_t common = greatest_common_divisor(factor, divisor);
    struct zeta_node node = {.code = ZETA_OP_MULDIV, .type = ZETA_EXPR_U64};
    uint32_t product[3];

    if (divisor == 0)
        return zeta_lower_u64(lowering, 0);
    node.arg[0] = a;
    node.arg[1] = zeta_lower_u64(lowering, factor / common);
    node.arg[2] = zeta_lower_u64(lowering, divisor / common);
    if (divisor != common)
        return unique_node(lowering, &node);
    product[0] = a;
    product[1] = node.arg[1];
    product[2] = node.arg[1];
    return zeta_lower_op(lowering, ZETA_EXPR_MUL, product);
}

static uint32_t lower_select(struct zeta_lowering *lowering, const uint32_t *args)
{
    struct zeta_node node = {.code = ZETA_OP_SELECT, .type = lowering->nodes[args[1]].type};
    uint64_t condition;

    if (zeta_lower_constant(lowering, args[0], &condition))
        return condition != 0 ? args[1] : args[2];
    if (args[1] == args[2])
        return args[1];
    memcpy(node.arg, args, sizeof(node.arg));
    return unique_node(lowering, &node);
}

/** Folds if all operands are constants. */
static bool fold(struct zeta_lowering *lowering, enum zeta_expr_op op, const uint32_t *args,
                 uint32_t *out_node)
{
    struct zeta_number numbers[3] = {{0}};
    struct zeta_number value;

    for (unsigned i = 0; i < ZETA_EXPR_MAX_ARITY && i < zeta_expr_arity(op); i++) {
        if (!constant_number(lowering, args[i], &numbers[i]))
            return false;
    }
    value = zeta_expr_apply(op, numbers);
    *out_node = lower_number(lowering, &value);
    return true;
}

uint32_t zeta_lower_op(struct zeta_lowering *lowering, enum zeta_expr_op op, const uint32_t *args)
{
    const unsigned arity = zeta_expr_arity(op);
    const enum order order = selections[op].order;
    enum zeta_expr_type type;
    struct zeta_node node = {0};
    uint64_t factor;
    uint64_t divisor;
    uint32_t result;

    for (unsigned i = 0; i < ZETA_EXPR_MAX_ARITY && i < arity; i++) {
        if (args[i] == ZETA_NODE_NONE)
            return ZETA_NODE_NONE;
    }
    type = lowering->nodes[args[0]].type;
    if ((op == ZETA_EXPR_TO_U64 && type == ZETA_EXPR_U64) ||
        (op == ZETA_EXPR_TO_F64 && type == ZETA_EXPR_F64))
        return args[0];
    if (fold(lowering, op, args, &result))
        return result;
    if (op == ZETA_EXPR_SELECT)
        return lower_select(lowering, args);
    if (op == ZETA_EXPR_MULDIV && zeta_lower_constant(lowering, args[1], &factor) &&
        zeta_lower_constant(lowering, args[2], &divisor))
        return lower_muldiv(lowering, args[0], factor, divisor);

    node.code = type == ZETA_EXPR_F64 ? selections[op].of_f64 : selections[op].of_u64;
    node.type = result_type(op, type);
    memcpy(node.arg, args, arity * sizeof(uint32_t));
    if (op == ZETA_EXPR_NEGATE && type == ZETA_EXPR_U64) {
        node.arg[1] = args[0];
        node.arg[0] = zeta_lower_u64(lowering, 0);
    } else if (op == ZETA_EXPR_NOT) {
        node.arg[1] = zeta_lower_u64(lowering, 0);
    } else if (op == ZETA_EXPR_COMPLEMENT) {
        node.arg[1] = zeta_lower_u64(lowering, UINT64_MAX);
    }
    if (order == SWAPS ||
        ((order == COMMUTES || (order == COMMUTES_U64 && type == ZETA_EXPR_U64)) &&
         node.arg[0] > node.arg[1])) {
        uint32_t first = node.arg[0];

        node.arg[0] = node.arg[1];
        node.arg[1] = first;
    }
    return unique_node(lowering, &node);
}

/* From expressions, fields and metrics to nodes ------------------------------------------------
 */

static uint32_t op1(struct zeta_lowering *lowering, enum zeta_expr_op op, uint32_t a)
{
    const uint32_t args[3] = {a, a, a};

    return zeta_lower_op(lowering, op, args);
}

static uint32_t op2(struct zeta_lowering *lowering, enum zeta_expr_op op, uint32_t a, uint32_t b)
{
    const uint32_t args[3] = {a, b, b};

    return zeta_lower_op(lowering, op, args);
}

static uint32_t op3(struct zeta_lowering *lowering, enum zeta_expr_op op, uint32_t a, uint32_t b,
                    uint32_t c)
{
    const uint32_t args[3] = {a, b, c};

    return zeta_lower_op(lowering, op, args);
}

static uint32_t load(struct zeta_lowering *lowering, enum zeta_opcode code, uint32_t field,
                     enum zeta_expr_view view)
{
    const struct zeta_field *description = &lowering->set->layout->fields[field];
    struct zeta_node node = {
        .code = code,
        .type = description->is_float ? ZETA_EXPR_F64 : ZETA_EXPR_U64,
        .arg = {field, (uint32_t)view},
    };

    return unique_node(lowering, &node);
}

/** True if the bits lie inside one 32-bit word of the record. */
static bool in_one_word(uint32_t bit, uint32_t width)
{
    return bit % 32 + width <= 32;
}

uint32_t zeta_lower_field(struct zeta_lowering *lowering, uint32_t index, enum zeta_expr_view view)
{
    const struct zeta_field *field = &lowering->set->layout->fields[index];
    bool word = field->low_bit % 32 == 0 && field->low_width == 32;
    uint32_t now;
    uint32_t before;
    uint32_t difference;

    if (lowering->set->query_of)
        return load(lowering, ZETA_OP_FIELD,
                    zeta_query_form_field(lowering->set->layout, index, view, lowering->stamp),
                    ZETA_VIEW_NOW);
    if (view != ZETA_VIEW_DELTA)
        return load(lowering, ZETA_OP_FIELD, index, view);
    if (word && field->high_width == 0 && field->delta_bits == 32)
        return load(lowering, ZETA_OP_DELTA32, index, view);
    if (word && field->delta_bits >= 32 && field->high_width > 0 &&
        in_one_word(field->high_bit, field->high_width))
        return load(lowering, ZETA_OP_DELTA_SPLIT, index, view);
    now = load(lowering, ZETA_OP_FIELD, index, ZETA_VIEW_NOW);
    before = load(lowering, ZETA_OP_FIELD, index, ZETA_VIEW_BEFORE);
    difference = op2(lowering, ZETA_EXPR_SUB, now, before);
    if (field->is_float || field->delta_bits == 64)
        return difference;
    return op2(lowering, ZETA_EXPR_AND, difference,
               zeta_lower_u64(lowering, (UINT64_C(1) << field->delta_bits) - 1));
}

static uint32_t lower_symbol(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    const uint32_t index = expr->u.ref.target;

    if (!lowering->compiled->symbol_known[index]) {
        zeta_diagnose(lowering->sink, ZETA_SEVERITY_ERROR, lowering->set->file, expr->line,
                      expr->column, "set %s: the device provides no value of $%s",
                      lowering->set->name, expr->u.ref.name);
        return zeta_lower_stop(lowering, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    }
    return lower_number(lowering, &lowering->compiled->symbols[index]);
}

static uint32_t lower_expr(struct zeta_lowering *lowering, const struct zeta_expr *expr);

/** Value or maximum of a metric. */
static uint32_t lower_part(struct zeta_lowering *lowering, uint32_t index,
                           const struct zeta_expr *expr)
{
    const bool outside = lowering->stamp;
    uint32_t node;

    lowering->stamp = lowering->set->metrics[index].type == ZET_METRIC_TYPE_TIMESTAMP;
    node = lower_expr(lowering, expr);
    lowering->stamp = outside;
    return node;
}

static uint32_t lower_metric(struct zeta_lowering *lowering, uint32_t index)
{
    uint32_t *node = &lowering->metrics[index].value;

    if (*node == ZETA_NODE_NONE && lowering->result == ZE_RESULT_SUCCESS)
        *node = lower_part(lowering, index, lowering->set->metrics[index].value);
    return *node;
}

static uint32_t lower_expr(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    uint32_t args[3] = {0, 0, 0};
    struct zeta_number number;

    if (lowering->result != ZE_RESULT_SUCCESS)
        return ZETA_NODE_NONE;
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        number = zeta_expr_constant(expr);
        return lower_number(lowering, &number);
    case ZETA_EXPR_SYMBOL:
        return lower_symbol(lowering, expr);
    case ZETA_EXPR_FIELD:
        return zeta_lower_field(lowering, expr->u.ref.target, expr->u.ref.view);
    case ZETA_EXPR_METRIC:
        return lower_metric(lowering, expr->u.ref.target);
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++)
            args[i] = lower_expr(lowering, expr->u.arg[i]);
        return zeta_lower_op(lowering, expr->op, args);
    }
}

/** Condition "the valid bits of this field are set", in the records that are used. */
static uint32_t field_validity(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    const struct zeta_field *field = &lowering->set->layout->fields[expr->u.ref.target];
    enum zeta_expr_view view = expr->u.ref.view;
    uint32_t valid = zeta_lower_u64(lowering, 1);
    uint32_t bit = zeta_lower_u64(lowering, UINT64_C(1) << field->valid_bit);

    if (field->valid_field == ZETA_FIELD_NONE)
        return valid;
    for (int i = 0; i < 2; i++) {
        enum zeta_expr_view record = i == 0 ? ZETA_VIEW_NOW : ZETA_VIEW_BEFORE;
        uint32_t flags;

        if (lowering->set->query_of ? record == ZETA_VIEW_BEFORE
                                    : view != ZETA_VIEW_DELTA && view != record)
            continue; /* a query record has one valid bit for the whole query */
        flags = load(lowering, ZETA_OP_FIELD, field->valid_field, record);
        valid =
            op2(lowering, ZETA_EXPR_LOGICAL_AND, valid, op2(lowering, ZETA_EXPR_AND, flags, bit));
    }
    return valid;
}

/** Both conditions, of which a constant 1 leaves the other one as it is. */
static uint32_t both(struct zeta_lowering *lowering, uint32_t a, uint32_t b)
{
    const uint32_t always = zeta_lower_u64(lowering, 1);

    if (a == always)
        return b;
    return b == always ? a : op2(lowering, ZETA_EXPR_LOGICAL_AND, a, b);
}

uint32_t zeta_lower_validity(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    uint32_t valid = zeta_lower_u64(lowering, 1);
    uint32_t *memo;

    if (lowering->result != ZE_RESULT_SUCCESS)
        return ZETA_NODE_NONE;
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
    case ZETA_EXPR_SYMBOL:
        return valid;
    case ZETA_EXPR_FIELD:
        return field_validity(lowering, expr);
    case ZETA_EXPR_METRIC:
        memo = &lowering->metrics[expr->u.ref.target].valid;
        if (*memo == ZETA_NODE_NONE)
            *memo = zeta_lower_validity(lowering, lowering->set->metrics[expr->u.ref.target].value);
        return *memo;
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++)
            valid = both(lowering, valid, zeta_lower_validity(lowering, expr->u.arg[i]));
        return valid;
    }
}

/** Condition "the divisor of the operation is not 0"; constant 1 for what divides nothing. */
static uint32_t divisor_counts(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    const struct zeta_expr *divisor = zeta_expr_divisor(expr);
    const uint32_t zero = zeta_lower_u64(lowering, 0);
    uint32_t node;

    if (!divisor)
        return zeta_lower_u64(lowering, 1);
    node = lower_expr(lowering, divisor);
    return op2(lowering, ZETA_EXPR_NE, node,
               divisor->type == ZETA_EXPR_F64 ? zeta_lower_f64(lowering, 0.0) : zero);
}

/** Of c ? a : b, the side that is taken decides. */
static uint32_t chosen_defined(struct zeta_lowering *lowering, const struct zeta_expr *choice)
{
    const uint32_t a = zeta_lower_defined(lowering, choice->u.arg[1]);
    const uint32_t b = zeta_lower_defined(lowering, choice->u.arg[2]);

    return both(
        lowering, zeta_lower_defined(lowering, choice->u.arg[0]),
        a == b ? a : op3(lowering, ZETA_EXPR_SELECT, lower_expr(lowering, choice->u.arg[0]), a, b));
}

uint32_t zeta_lower_defined(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    uint32_t defined = zeta_lower_u64(lowering, 1);
    uint32_t *memo;

    if (lowering->result != ZE_RESULT_SUCCESS)
        return ZETA_NODE_NONE;
    if (expr->op == ZETA_EXPR_SELECT)
        return chosen_defined(lowering, expr);
    if (expr->op == ZETA_EXPR_METRIC) {
        memo = &lowering->metrics[expr->u.ref.target].defined;
        if (*memo == ZETA_NODE_NONE)
            *memo = zeta_lower_defined(lowering, lowering->set->metrics[expr->u.ref.target].value);
        return *memo;
    }
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++)
        defined = both(lowering, defined, zeta_lower_defined(lowering, expr->u.arg[i]));
    return both(lowering, defined, divisor_counts(lowering, expr));
}

/** A node with another operation than those of expressions. */
static uint32_t convert(struct zeta_lowering *lowering, enum zeta_opcode code, uint32_t a)
{
    struct zeta_node node = {.code = code, .type = ZETA_EXPR_U64, .arg = {a}};

    return a == ZETA_NODE_NONE ? a : unique_node(lowering, &node);
}

static uint32_t to_value_type(struct zeta_lowering *lowering, uint32_t node, zet_value_type_t type)
{
    uint32_t zero;

    if (node == ZETA_NODE_NONE)
        return node;
    switch (type) {
    case ZET_VALUE_TYPE_UINT32:
        return convert(lowering, ZETA_OP_CLAMP_32, op1(lowering, ZETA_EXPR_TO_U64, node));
    case ZET_VALUE_TYPE_FLOAT32:
        return convert(lowering, ZETA_OP_TO_F32, op1(lowering, ZETA_EXPR_TO_F64, node));
    case ZET_VALUE_TYPE_FLOAT64:
        return op1(lowering, ZETA_EXPR_TO_F64, node);
    case ZET_VALUE_TYPE_BOOL8:
        if (lowering->nodes[node].type == ZETA_EXPR_U64)
            return op2(lowering, ZETA_EXPR_NE, node, zeta_lower_u64(lowering, 0));
        /* Not a number is neither above nor below zero, so it is false. */
        zero = zeta_lower_f64(lowering, 0.0);
        return op2(lowering, ZETA_EXPR_OR, op2(lowering, ZETA_EXPR_LT, node, zero),
                   op2(lowering, ZETA_EXPR_GT, node, zero));
    default:
        return op1(lowering, ZETA_EXPR_TO_U64, node);
    }
}

const struct zeta_expr *zeta_metric_expr(const struct zeta_set *set, uint32_t index, bool maximum)
{
    const struct zeta_metric *metric = &set->metrics[index];

    if (!maximum)
        return metric->value;
    if (!metric->maximum && strcmp(metric->unit, "percent") != 0)
        return metric->value;
    return metric->maximum;
}

uint32_t zeta_lower_output(struct zeta_lowering *lowering, uint32_t index, bool maximum)
{
    const struct zeta_metric *metric = &lowering->set->metrics[index];
    const struct zeta_expr *expr = zeta_metric_expr(lowering->set, index, maximum);
    uint32_t node;
    uint32_t valid;
    uint64_t always;

    if (!expr)
        return to_value_type(lowering, zeta_lower_u64(lowering, 100), metric->value_type);
    node =
        expr == metric->value ? lower_metric(lowering, index) : lower_part(lowering, index, expr);
    valid = zeta_lower_validity(lowering, expr);
    if (node == ZETA_NODE_NONE || valid == ZETA_NODE_NONE)
        return ZETA_NODE_NONE;
    if (!zeta_lower_constant(lowering, valid, &always))
        node = op3(lowering, ZETA_EXPR_SELECT, valid, op1(lowering, ZETA_EXPR_TO_F64, node),
                   zeta_lower_f64(lowering, NAN));
    return to_value_type(lowering, node, metric->value_type);
}

/** Condition "the field has the same bits in both records of the row". */
static uint32_t lower_unchanged(struct zeta_lowering *lowering, uint32_t index)
{
    const struct zeta_field *field = &lowering->set->layout->fields[index];

    /* A word: its difference is one operation, which the metrics often need too. */
    if (field->low_bit % 32 == 0 && field->low_width == 32 && field->high_width == 0)
        return op2(lowering, ZETA_EXPR_EQ, load(lowering, ZETA_OP_DELTA32, index, ZETA_VIEW_DELTA),
                   zeta_lower_u64(lowering, 0));
    return op2(lowering, ZETA_EXPR_EQ, load(lowering, ZETA_OP_FIELD, index, ZETA_VIEW_NOW),
               load(lowering, ZETA_OP_FIELD, index, ZETA_VIEW_BEFORE));
}

uint32_t zeta_lower_skip(struct zeta_lowering *lowering)
{
    const struct zeta_layout *layout = lowering->set->layout;
    uint32_t skip = zeta_lower_u64(lowering, 0);
    uint32_t same = zeta_lower_u64(lowering, 1);

    if (layout->baseline)
        skip = op2(lowering, ZETA_EXPR_NE, lower_expr(lowering, layout->baseline), skip);
    if (layout->kind != ZETA_LAYOUT_DELTA || layout->identity_count == 0)
        return skip;
    for (uint32_t i = 0; i < layout->identity_count; i++) {
        uint32_t equal = lower_unchanged(lowering, layout->identity[i]);

        same = i == 0 ? equal : op2(lowering, ZETA_EXPR_LOGICAL_AND, same, equal);
    }
    if (!layout->baseline)
        return same;
    return op2(lowering, ZETA_EXPR_LOGICAL_OR, skip, same);
}
