/* What the operations of expressions mean, and their names. */
#include "core/formula/expr/expr.h"

/** 2^64 as a double. */
#define TWO_TO_64 18446744073709551616.0

static const struct {
    const char *name;
    unsigned arity;
} op_info[ZETA_EXPR_OP_COUNT] = {
    [ZETA_EXPR_CONSTANT] = {"constant", 0},
    [ZETA_EXPR_SYMBOL] = {"symbol", 0},
    [ZETA_EXPR_NAME] = {"name", 0},
    [ZETA_EXPR_COUNTER] = {"counter", 0},
    [ZETA_EXPR_FIELD] = {"field", 0},
    [ZETA_EXPR_METRIC] = {"metric", 0},
    [ZETA_EXPR_TO_U64] = {"u64", 1},
    [ZETA_EXPR_TO_F64] = {"f64", 1},
    [ZETA_EXPR_NEGATE] = {"-", 1},
    [ZETA_EXPR_NOT] = {"!", 1},
    [ZETA_EXPR_COMPLEMENT] = {"~", 1},
    [ZETA_EXPR_ADD] = {"+", 2},
    [ZETA_EXPR_SUB] = {"-", 2},
    [ZETA_EXPR_MUL] = {"*", 2},
    [ZETA_EXPR_DIV] = {"/", 2},
    [ZETA_EXPR_MOD] = {"%", 2},
    [ZETA_EXPR_AND] = {"&", 2},
    [ZETA_EXPR_OR] = {"|", 2},
    [ZETA_EXPR_XOR] = {"^", 2},
    [ZETA_EXPR_SHL] = {"<<", 2},
    [ZETA_EXPR_SHR] = {">>", 2},
    [ZETA_EXPR_EQ] = {"==", 2},
    [ZETA_EXPR_NE] = {"!=", 2},
    [ZETA_EXPR_LT] = {"<", 2},
    [ZETA_EXPR_LE] = {"<=", 2},
    [ZETA_EXPR_GT] = {">", 2},
    [ZETA_EXPR_GE] = {">=", 2},
    [ZETA_EXPR_LOGICAL_AND] = {"&&", 2},
    [ZETA_EXPR_LOGICAL_OR] = {"||", 2},
    [ZETA_EXPR_MIN] = {"min", 2},
    [ZETA_EXPR_MAX] = {"max", 2},
    [ZETA_EXPR_MULDIV] = {"muldiv", 3},
    [ZETA_EXPR_SELECT] = {"?:", 3},
};

unsigned zeta_expr_arity(enum zeta_expr_op op)
{
    return op_info[op].arity;
}

const char *zeta_expr_op_name(enum zeta_expr_op op)
{
    return op_info[op].name;
}

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

static uint64_t apply_u64(enum zeta_expr_op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case ZETA_EXPR_ADD:
        return a + b;
    case ZETA_EXPR_SUB:
        return a - b;
    case ZETA_EXPR_MUL:
        return a * b;
    case ZETA_EXPR_DIV:
        return b == 0 ? 0 : a / b;
    case ZETA_EXPR_MOD:
        return b == 0 ? 0 : a % b;
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
    const bool is_float = args[0].type == ZETA_EXPR_F64;

    switch (op) {
    case ZETA_EXPR_TO_U64:
        return number_u64(is_float ? zeta_u64_from_f64(args[0].u.f64) : args[0].u.u64);
    case ZETA_EXPR_TO_F64:
        return number_f64(is_float ? args[0].u.f64 : (double)args[0].u.u64);
    case ZETA_EXPR_NEGATE:
        return is_float ? number_f64(-args[0].u.f64) : number_u64(0 - args[0].u.u64);
    case ZETA_EXPR_NOT:
        return number_u64(args[0].u.u64 == 0);
    case ZETA_EXPR_COMPLEMENT:
        return number_u64(~args[0].u.u64);
    case ZETA_EXPR_MULDIV:
        return number_u64(zeta_muldiv_u64(args[0].u.u64, args[1].u.u64, args[2].u.u64));
    case ZETA_EXPR_SELECT:
        return args[0].u.u64 != 0 ? args[1] : args[2];
    default:
        break;
    }
    if (is_float)
        return apply_f64(op, args[0].u.f64, args[1].u.f64);
    return number_u64(apply_u64(op, args[0].u.u64, args[1].u.u64));
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

const struct zeta_expr *zeta_expr_divisor(const struct zeta_expr *expr)
{
    switch (expr->op) {
    case ZETA_EXPR_DIV:
    case ZETA_EXPR_MOD:
        return expr->u.arg[1];
    case ZETA_EXPR_MULDIV:
        return expr->u.arg[2];
    default:
        return NULL;
    }
}

uint32_t zeta_expr_count(const struct zeta_expr *expr)
{
    uint32_t count = expr ? 1 : 0;

    for (unsigned i = 0; expr && i < zeta_expr_arity(expr->op); i++)
        count += zeta_expr_count(expr->u.arg[i]);
    return count;
}
