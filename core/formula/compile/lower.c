/* From expressions, fields and metrics to nodes. */
#include "core/formula/compile/lower.h"

#include <math.h>
#include <string.h>

#include "core/formula/sets/query_form.h"

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

    return zeta_lower_node(lowering, &node);
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
    return zeta_lower_number(lowering, &lowering->compiled->symbols[index]);
}

/** Value or maximum of a metric. */
static uint32_t lower_part(struct zeta_lowering *lowering, uint32_t index,
                           const struct zeta_expr *expr)
{
    const bool outside = lowering->stamp;
    uint32_t node;

    lowering->stamp = lowering->set->metrics[index].type == ZET_METRIC_TYPE_TIMESTAMP;
    node = zeta_lower_expr(lowering, expr);
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

uint32_t zeta_lower_expr(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    uint32_t args[3] = {0, 0, 0};
    struct zeta_number number;

    if (lowering->result != ZE_RESULT_SUCCESS)
        return ZETA_NODE_NONE;
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        number = zeta_expr_constant(expr);
        return zeta_lower_number(lowering, &number);
    case ZETA_EXPR_SYMBOL:
        return lower_symbol(lowering, expr);
    case ZETA_EXPR_FIELD:
        return zeta_lower_field(lowering, expr->u.ref.target, expr->u.ref.view);
    case ZETA_EXPR_METRIC:
        return lower_metric(lowering, expr->u.ref.target);
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++)
            args[i] = zeta_lower_expr(lowering, expr->u.arg[i]);
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
    node = zeta_lower_expr(lowering, divisor);
    return op2(lowering, ZETA_EXPR_NE, node,
               divisor->type == ZETA_EXPR_F64 ? zeta_lower_f64(lowering, 0.0) : zero);
}

/** Of c ? a : b, the side that is taken decides. */
static uint32_t chosen_defined(struct zeta_lowering *lowering, const struct zeta_expr *choice)
{
    const uint32_t a = zeta_lower_defined(lowering, choice->u.arg[1]);
    const uint32_t b = zeta_lower_defined(lowering, choice->u.arg[2]);

    return both(lowering, zeta_lower_defined(lowering, choice->u.arg[0]),
                a == b ? a
                       : op3(lowering, ZETA_EXPR_SELECT,
                             zeta_lower_expr(lowering, choice->u.arg[0]), a, b));
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

    return a == ZETA_NODE_NONE ? a : zeta_lower_node(lowering, &node);
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
        skip = op2(lowering, ZETA_EXPR_NE, zeta_lower_expr(lowering, layout->baseline), skip);
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
