/* What the operations of expressions mean, and their names. */
#include "core/formula/expr/expr.h"

/** 2^64 as a double. */
#define TWO_TO_64 18446744073709551616.0

const struct zeta_expr_operation zeta_expr_operations[ZETA_EXPR_OP_COUNT] = {
    [ZETA_EXPR_CONSTANT] = {"constant", 0, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_OPERAND},
    [ZETA_EXPR_SYMBOL] = {"symbol", 0, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_OPERAND},
    [ZETA_EXPR_NAME] = {"name", 0, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_OPERAND},
    [ZETA_EXPR_COUNTER] = {"counter", 0, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_OPERAND},
    [ZETA_EXPR_FIELD] = {"field", 0, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_OPERAND},
    [ZETA_EXPR_METRIC] = {"metric", 0, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_OPERAND},
    [ZETA_EXPR_TO_U64] = {"u64", 1, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_TO_U64},
    [ZETA_EXPR_TO_F64] = {"f64", 1, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_TO_F64},
    [ZETA_EXPR_NEGATE] = {"-", 1, ZETA_PRECEDENCE_UNARY, 0, ZETA_TYPING_SAME},
    [ZETA_EXPR_NOT] = {"!", 1, ZETA_PRECEDENCE_UNARY, 0, ZETA_TYPING_LOGICAL},
    [ZETA_EXPR_COMPLEMENT] = {"~", 1, ZETA_PRECEDENCE_UNARY, 0, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_ADD] = {"+", 2, 9, 0, ZETA_TYPING_SAME},
    [ZETA_EXPR_SUB] = {"-", 2, 9, 0, ZETA_TYPING_SAME},
    [ZETA_EXPR_MUL] = {"*", 2, 10, 0, ZETA_TYPING_SAME},
    [ZETA_EXPR_DIV] = {"/", 2, 10, 1, ZETA_TYPING_SAME},
    [ZETA_EXPR_MOD] = {"%", 2, 10, 1, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_AND] = {"&", 2, 5, 0, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_OR] = {"|", 2, 3, 0, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_XOR] = {"^", 2, 4, 0, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_SHL] = {"<<", 2, 8, 0, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_SHR] = {">>", 2, 8, 0, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_EQ] = {"==", 2, 6, 0, ZETA_TYPING_COMPARE},
    [ZETA_EXPR_NE] = {"!=", 2, 6, 0, ZETA_TYPING_COMPARE},
    [ZETA_EXPR_LT] = {"<", 2, 7, 0, ZETA_TYPING_COMPARE},
    [ZETA_EXPR_LE] = {"<=", 2, 7, 0, ZETA_TYPING_COMPARE},
    [ZETA_EXPR_GT] = {">", 2, 7, 0, ZETA_TYPING_COMPARE},
    [ZETA_EXPR_GE] = {">=", 2, 7, 0, ZETA_TYPING_COMPARE},
    [ZETA_EXPR_LOGICAL_AND] = {"&&", 2, 2, 0, ZETA_TYPING_LOGICAL},
    [ZETA_EXPR_LOGICAL_OR] = {"||", 2, 1, 0, ZETA_TYPING_LOGICAL},
    [ZETA_EXPR_MIN] = {"min", 2, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_SAME},
    [ZETA_EXPR_MAX] = {"max", 2, ZETA_PRECEDENCE_OPERAND, 0, ZETA_TYPING_SAME},
    [ZETA_EXPR_MULDIV] = {"muldiv", 3, ZETA_PRECEDENCE_OPERAND, 2, ZETA_TYPING_INTEGER},
    [ZETA_EXPR_SELECT] = {"?:", 3, ZETA_PRECEDENCE_CHOICE, 0, ZETA_TYPING_SELECT},
};

const char *const zeta_view_names[ZETA_VIEW_COUNT] = {
    [ZETA_VIEW_DELTA] = "delta", [ZETA_VIEW_NOW] = "now", [ZETA_VIEW_BEFORE] = "before"};

const char *zeta_expr_type_name(enum zeta_expr_type type)
{
    return type == ZETA_EXPR_F64 ? "f64" : "u64";
}

uint64_t zeta_u64_from_f64(double value)
{
    if (!(value > 0.0))
        return 0;
    return value < TWO_TO_64 ? (uint64_t)value : UINT64_MAX;
}

uint64_t zeta_muldiv_u64(uint64_t a, uint64_t b, uint64_t c)
{
    return c == 0 ? 0 : (uint64_t)((zeta_u128)a * b / c);
}

static struct zeta_number number_u64(uint64_t value)
{
    return (struct zeta_number){.type = ZETA_EXPR_U64, .u.u64 = value};
}

static struct zeta_number number_f64(double value)
{
    return (struct zeta_number){.type = ZETA_EXPR_F64, .u.f64 = value};
}

zeta_u128 zeta_expr_apply_integer(enum zeta_expr_op op, zeta_u128 a, zeta_u128 b, zeta_u128 c)
{
    switch (op) {
    case ZETA_EXPR_ADD:
        return a + b;
    case ZETA_EXPR_SUB:
        return a - b;
    case ZETA_EXPR_MUL:
        return a * b;
    case ZETA_EXPR_NEGATE:
        return 0 - a;
    case ZETA_EXPR_COMPLEMENT:
        return ~a;
    default:
        break;
    }
    a = zeta_u128_unsigned(a);
    b = zeta_u128_unsigned(b);
    c = zeta_u128_unsigned(c);
    switch (op) {
    case ZETA_EXPR_NOT:
        return a == 0;
    case ZETA_EXPR_DIV:
        return b == 0 ? 0 : a / b;
    case ZETA_EXPR_MOD:
        return b == 0 ? 0 : a % b;
    case ZETA_EXPR_MULDIV:
        return c == 0 ? 0 : a * b / c;
    case ZETA_EXPR_AND:
        return a & b;
    case ZETA_EXPR_OR:
        return a | b;
    case ZETA_EXPR_XOR:
        return a ^ b;
    case ZETA_EXPR_SHL:
        return b >= 64 ? 0 : a << b;
    case ZETA_EXPR_SHR:
        return b >= 64 ? 0 : a >> b;
    case ZETA_EXPR_EQ:
        return a == b;
    case ZETA_EXPR_NE:
        return a != b;
    case ZETA_EXPR_LT:
        return a < b;
    case ZETA_EXPR_LE:
        return a <= b;
    case ZETA_EXPR_GT:
        return a > b;
    case ZETA_EXPR_GE:
        return a >= b;
    case ZETA_EXPR_LOGICAL_AND:
        return a != 0 && b != 0;
    case ZETA_EXPR_LOGICAL_OR:
        return a != 0 || b != 0;
    case ZETA_EXPR_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

static struct zeta_number apply_f64(enum zeta_expr_op op, double a, double b)
{
    switch (op) {
    case ZETA_EXPR_NEGATE:
        return number_f64(-a);
    case ZETA_EXPR_ADD:
        return number_f64(a + b);
    case ZETA_EXPR_SUB:
        return number_f64(a - b);
    case ZETA_EXPR_MUL:
        return number_f64(a * b);
    case ZETA_EXPR_DIV:
        return number_f64(b == 0.0 ? 0.0 : a / b);
    case ZETA_EXPR_EQ:
        return number_u64(a == b);
    case ZETA_EXPR_NE:
        return number_u64(a != b);
    case ZETA_EXPR_LT:
        return number_u64(a < b);
    case ZETA_EXPR_LE:
        return number_u64(a <= b);
    case ZETA_EXPR_GT:
        return number_u64(a > b);
    case ZETA_EXPR_GE:
        return number_u64(a >= b);
    case ZETA_EXPR_MIN:
        return number_f64(a < b ? a : b);
    default:
        return number_f64(a > b ? a : b);
    }
}

struct zeta_number zeta_expr_apply(enum zeta_expr_op op, const struct zeta_number *args)
{
    const unsigned arity = zeta_expr_arity(op);
    const bool is_float = args[0].type == ZETA_EXPR_F64;

    if (op == ZETA_EXPR_TO_U64)
        return is_float ? number_u64(zeta_u64_from_f64(args[0].u.f64)) : args[0];
    if (op == ZETA_EXPR_TO_F64)
        return is_float ? args[0] : number_f64((double)args[0].u.u64);
    if (op == ZETA_EXPR_SELECT)
        return args[0].u.u64 != 0 ? args[1] : args[2];
    if (is_float)
        return apply_f64(op, args[0].u.f64, arity > 1 ? args[1].u.f64 : 0.0);
    return number_u64((uint64_t)zeta_expr_apply_integer(
        op, args[0].u.u64, arity > 1 ? args[1].u.u64 : 0, arity > 2 ? args[2].u.u64 : 0));
}

bool zeta_expr_evaluate(const struct zeta_expr *expr, zeta_expr_number_fn find, void *context,
                        struct zeta_number *out_number)
{
    const unsigned arity = zeta_expr_arity(expr->op);
    struct zeta_number args[ZETA_EXPR_MAX_ARITY];

    if (expr->op == ZETA_EXPR_CONSTANT)
        *out_number = zeta_expr_constant(expr);
    else if (arity == 0)
        return find(context, expr, out_number);
    for (unsigned i = 0; i < arity; i++) {
        if (!zeta_expr_evaluate(expr->u.arg[i], find, context, &args[i]))
            return false;
    }
    if (arity > 0)
        *out_number = zeta_expr_apply(expr->op, args);
    return true;
}

bool zeta_expr_every(const struct zeta_expr *expr, zeta_expr_test_fn test, void *context)
{
    if (!expr)
        return true;
    if (!test(context, expr))
        return false;
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        if (!zeta_expr_every(expr->u.arg[i], test, context))
            return false;
    }
    return true;
}

struct zeta_expr *zeta_expr_copy(const struct zeta_expr *expr, struct zeta_arena *arena)
{
    struct zeta_expr *copy = zeta_arena_alloc(arena, sizeof(*copy));

    if (!copy)
        return NULL;
    *copy = *expr;
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        copy->u.arg[i] = zeta_expr_copy(expr->u.arg[i], arena);
        if (!copy->u.arg[i])
            return NULL;
    }
    return copy;
}

uint32_t zeta_expr_count(const struct zeta_expr *expr)
{
    uint32_t count = expr ? 1 : 0;

    for (unsigned i = 0; expr && i < zeta_expr_arity(expr->op); i++)
        count += zeta_expr_count(expr->u.arg[i]);
    return count;
}
