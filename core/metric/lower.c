#include "core/metric/lower.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/metric/query_form.h"

void zeta_lowering_init(struct zeta_lowering *lowering, struct zeta_compiled *compiled,
                        const struct zeta_set *set, struct zeta_diagnostics *sink)
{
    *lowering = (struct zeta_lowering){
        .compiled = compiled,
        .set = set,
        .sink = sink,
        .result = ZE_RESULT_SUCCESS,
    };
    lowering->metric_node = malloc(set->metric_count * sizeof(uint32_t));
    lowering->metric_valid = malloc(set->metric_count * sizeof(uint32_t));
    if (!lowering->metric_node || !lowering->metric_valid) {
        lowering->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        return;
    }
    for (uint32_t i = 0; i < set->metric_count; i++) {
        lowering->metric_node[i] = ZETA_NODE_NONE;
        lowering->metric_valid[i] = ZETA_NODE_NONE;
    }
}

void zeta_lowering_finish(struct zeta_lowering *lowering)
{
    free(lowering->nodes);
    free(lowering->table);
    free(lowering->metric_node);
    free(lowering->metric_valid);
}

static uint32_t stop(struct zeta_lowering *lowering, ze_result_t result)
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
        (void)stop(lowering, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
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

/** The node equal to this one: an existing or a new one. */
static uint32_t intern(struct zeta_lowering *lowering, struct zeta_node *node)
{
    uint32_t at;

    zeta_simplify(lowering, node);
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
        return stop(lowering, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    lowering->nodes[lowering->node_count] = *node;
    lowering->table[at] = lowering->node_count + 1;
    return lowering->node_count++;
}

static uint32_t intern_constant(struct zeta_lowering *lowering, const struct zeta_number *number)
{
    struct zeta_node node = {.code = ZETA_OP_CONSTANT, .type = number->type};

    if (number->type == ZETA_EXPR_F64)
        memcpy(&node.bits, &number->u.f64, sizeof(node.bits));
    else
        node.bits = number->u.u64;
    return intern(lowering, &node);
}

uint32_t zeta_lower_u64(struct zeta_lowering *lowering, uint64_t value)
{
    const struct zeta_number number = {.type = ZETA_EXPR_U64, .u.u64 = value};

    return intern_constant(lowering, &number);
}

uint32_t zeta_lower_f64(struct zeta_lowering *lowering, double value)
{
    const struct zeta_number number = {.type = ZETA_EXPR_F64, .u.f64 = value};

    return intern_constant(lowering, &number);
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

/** The operation that runs op for a type of operands, and whether the operands change places. */
struct selection {
    enum zeta_opcode code;
    bool swap;
    bool commutes;
};

static struct selection select_u64(enum zeta_expr_op op)
{
    switch (op) {
    case ZETA_EXPR_ADD:
        return (struct selection){ZETA_OP_ADD_U64, false, true};
    case ZETA_EXPR_SUB:
    case ZETA_EXPR_NEGATE: /* 0 - a */
        return (struct selection){ZETA_OP_SUB_U64, false, false};
    case ZETA_EXPR_MUL:
        return (struct selection){ZETA_OP_MUL_U64, false, true};
    case ZETA_EXPR_DIV:
        return (struct selection){ZETA_OP_DIV_U64, false, false};
    case ZETA_EXPR_MOD:
        return (struct selection){ZETA_OP_MOD_U64, false, false};
    case ZETA_EXPR_AND:
        return (struct selection){ZETA_OP_AND, false, true};
    case ZETA_EXPR_OR:
        return (struct selection){ZETA_OP_OR, false, true};
    case ZETA_EXPR_XOR:
    case ZETA_EXPR_COMPLEMENT: /* a ^ ~0 */
        return (struct selection){ZETA_OP_XOR, false, true};
    case ZETA_EXPR_SHL:
        return (struct selection){ZETA_OP_SHL, false, false};
    case ZETA_EXPR_SHR:
        return (struct selection){ZETA_OP_SHR, false, false};
    case ZETA_EXPR_EQ:
    case ZETA_EXPR_NOT: /* a == 0 */
        return (struct selection){ZETA_OP_EQ_U64, false, true};
    case ZETA_EXPR_NE:
        return (struct selection){ZETA_OP_NE_U64, false, true};
    case ZETA_EXPR_LT:
    case ZETA_EXPR_GT:
        return (struct selection){ZETA_OP_LT_U64, op == ZETA_EXPR_GT, false};
    case ZETA_EXPR_LE:
    case ZETA_EXPR_GE:
        return (struct selection){ZETA_OP_LE_U64, op == ZETA_EXPR_GE, false};
    case ZETA_EXPR_LOGICAL_AND:
        return (struct selection){ZETA_OP_LOGICAL_AND, false, true};
    case ZETA_EXPR_LOGICAL_OR:
        return (struct selection){ZETA_OP_LOGICAL_OR, false, true};
    case ZETA_EXPR_MIN:
        return (struct selection){ZETA_OP_MIN_U64, false, true};
    case ZETA_EXPR_MAX:
        return (struct selection){ZETA_OP_MAX_U64, false, true};
    case ZETA_EXPR_MULDIV:
        return (struct selection){ZETA_OP_MULDIV, false, false};
    default:
        return (struct selection){ZETA_OP_TO_F64, false, false};
    }
}

static struct selection select_f64(enum zeta_expr_op op)
{
    switch (op) {
    case ZETA_EXPR_NEGATE:
        return (struct selection){ZETA_OP_NEGATE_F64, false, false};
    case ZETA_EXPR_ADD:
        return (struct selection){ZETA_OP_ADD_F64, false, true};
    case ZETA_EXPR_SUB:
        return (struct selection){ZETA_OP_SUB_F64, false, false};
    case ZETA_EXPR_MUL:
        return (struct selection){ZETA_OP_MUL_F64, false, true};
    case ZETA_EXPR_DIV:
        return (struct selection){ZETA_OP_DIV_F64, false, false};
    case ZETA_EXPR_EQ:
        return (struct selection){ZETA_OP_EQ_F64, false, true};
    case ZETA_EXPR_NE:
        return (struct selection){ZETA_OP_NE_F64, false, true};
    case ZETA_EXPR_LT:
    case ZETA_EXPR_GT:
        return (struct selection){ZETA_OP_LT_F64, op == ZETA_EXPR_GT, false};
    case ZETA_EXPR_LE:
    case ZETA_EXPR_GE:
        return (struct selection){ZETA_OP_LE_F64, op == ZETA_EXPR_GE, false};
    case ZETA_EXPR_MIN:
        return (struct selection){ZETA_OP_MIN_F64, false, false};
    case ZETA_EXPR_MAX:
        return (struct selection){ZETA_OP_MAX_F64, false, false};
    default:
        return (struct selection){ZETA_OP_TO_U64, false, false};
    }
}

static enum zeta_expr_type result_type(enum zeta_expr_op op, enum zeta_expr_type operand)
{
    switch (op) {
    case ZETA_EXPR_TO_F64:
        return ZETA_EXPR_F64;
    case ZETA_EXPR_NEGATE:
    case ZETA_EXPR_ADD:
    case ZETA_EXPR_SUB:
    case ZETA_EXPR_MUL:
    case ZETA_EXPR_DIV:
    case ZETA_EXPR_MIN:
    case ZETA_EXPR_MAX:
        return operand;
    default:
        return ZETA_EXPR_U64;
    }
}

uint64_t zeta_greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/** muldiv by two constants: a fraction in lowest terms; a plain product if it divides evenly. */
static uint32_t lower_muldiv(struct zeta_lowering *lowering, uint32_t a, uint64_t factor,
                             uint64_t divisor)
{
    uint64_t common = zeta_greatest_common_divisor(factor, divisor);
    struct zeta_node node = {.code = ZETA_OP_MULDIV, .type = ZETA_EXPR_U64};
    uint32_t product[3];

    if (divisor == 0)
        return zeta_lower_u64(lowering, 0);
    node.arg[0] = a;
    node.arg[1] = zeta_lower_u64(lowering, factor / common);
    node.arg[2] = zeta_lower_u64(lowering, divisor / common);
    if (divisor != common)
        return intern(lowering, &node);
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
    return intern(lowering, &node);
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
    *out_node = intern_constant(lowering, &value);
    return true;
}

uint32_t zeta_lower_op(struct zeta_lowering *lowering, enum zeta_expr_op op, const uint32_t *args)
{
    const unsigned arity = zeta_expr_arity(op);
    enum zeta_expr_type type;
    struct selection selection;
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

    selection = type == ZETA_EXPR_F64 ? select_f64(op) : select_u64(op);
    node.code = selection.code;
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
    if (selection.swap || (selection.commutes && node.arg[0] > node.arg[1])) {
        uint32_t first = node.arg[0];

        node.arg[0] = node.arg[1];
        node.arg[1] = first;
    }
    return intern(lowering, &node);
}

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

    return intern(lowering, &node);
}

/** True if the bits lie inside one 32-bit word of the record. */
static bool in_one_word(uint32_t bit, uint32_t width)
{
    return bit % 32 + width <= 32;
}

static uint32_t lower_field(struct zeta_lowering *lowering, uint32_t index,
                            enum zeta_expr_view view)
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
                      expr->column, "set %s: the device does not say $%s", lowering->set->name,
                      expr->u.ref.name);
        return stop(lowering, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    }
    return intern_constant(lowering, &lowering->compiled->symbols[index]);
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
    uint32_t *node = &lowering->metric_node[index];

    if (*node == ZETA_NODE_NONE && lowering->result == ZE_RESULT_SUCCESS)
        *node = lower_part(lowering, index, lowering->set->metrics[index].value);
    return *node;
}

uint32_t zeta_lower_expr(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    uint32_t args[3] = {0, 0, 0};

    if (lowering->result != ZE_RESULT_SUCCESS)
        return ZETA_NODE_NONE;
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        return expr->type == ZETA_EXPR_F64 ? zeta_lower_f64(lowering, expr->u.f64)
                                           : zeta_lower_u64(lowering, expr->u.u64);
    case ZETA_EXPR_SYMBOL:
        return lower_symbol(lowering, expr);
    case ZETA_EXPR_FIELD:
        return lower_field(lowering, expr->u.ref.target, expr->u.ref.view);
    case ZETA_EXPR_METRIC:
        return lower_metric(lowering, expr->u.ref.target);
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++)
            args[i] = zeta_lower_expr(lowering, expr->u.arg[i]);
        return zeta_lower_op(lowering, expr->op, args);
    }
}

static uint32_t lower_validity(struct zeta_lowering *lowering, const struct zeta_expr *expr);

/** Condition "the record says that this field was measured", in the records that are used. */
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
            continue; /* a query record says it once, for the whole query */
        flags = load(lowering, ZETA_OP_FIELD, field->valid_field, record);
        valid =
            op2(lowering, ZETA_EXPR_LOGICAL_AND, valid, op2(lowering, ZETA_EXPR_AND, flags, bit));
    }
    return valid;
}

/** Condition "every field that the expression needs was measured"; constant 1 if always. */
static uint32_t lower_validity(struct zeta_lowering *lowering, const struct zeta_expr *expr)
{
    uint32_t valid = zeta_lower_u64(lowering, 1);
    const uint32_t always = valid;
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
        memo = &lowering->metric_valid[expr->u.ref.target];
        if (*memo == ZETA_NODE_NONE)
            *memo = lower_validity(lowering, lowering->set->metrics[expr->u.ref.target].value);
        return *memo;
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
            uint32_t part = lower_validity(lowering, expr->u.arg[i]);

            if (valid == always)
                valid = part;
            else if (part != always)
                valid = op2(lowering, ZETA_EXPR_LOGICAL_AND, valid, part);
        }
        return valid;
    }
}

/** A node with another operation than those of expressions. */
static uint32_t convert(struct zeta_lowering *lowering, enum zeta_opcode code, uint32_t a)
{
    struct zeta_node node = {.code = code, .type = ZETA_EXPR_U64, .arg = {a}};

    return a == ZETA_NODE_NONE ? a : intern(lowering, &node);
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

uint32_t zeta_lower_output(struct zeta_lowering *lowering, uint32_t index, bool maximum)
{
    const struct zeta_metric *metric = &lowering->set->metrics[index];
    const struct zeta_expr *expr = maximum && metric->maximum ? metric->maximum : metric->value;
    uint32_t node;
    uint32_t valid;
    uint64_t always;

    if (maximum && !metric->maximum && strcmp(metric->unit, "percent") == 0)
        return to_value_type(lowering, zeta_lower_u64(lowering, 100), metric->value_type);
    node =
        expr == metric->value ? lower_metric(lowering, index) : lower_part(lowering, index, expr);
    valid = lower_validity(lowering, expr);
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
