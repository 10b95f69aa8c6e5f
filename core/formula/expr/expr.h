/*
 * Expressions of set files: how a metric's value follows from counters.
 *
 * Infix with the precedence of C and two types, u64 and f64. Nothing converts by itself: both sides
 * of an operator have the same type, u64() and f64() convert. core/formula/README.md is the
 * reference of the language; expr_parse.c holds the grammar.
 */
#ifndef ZETA_CORE_FORMULA_EXPR_EXPR_H
#define ZETA_CORE_FORMULA_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include <zeta/arena.h>

#include "core/util/diagnostic.h"

/** Deepest nesting of parentheses, choices and signs in the text of one expression. */
#define ZETA_EXPR_MAX_NESTING 64u
/** Longest way from the top of a tree to an operand, and the largest number of nodes. */
#define ZETA_EXPR_MAX_DEPTH 256u
#define ZETA_EXPR_MAX_NODES 1024u

enum zeta_expr_type { ZETA_EXPR_U64, ZETA_EXPR_F64, ZETA_EXPR_TYPE_COUNT };

/** Node kinds. Operands first, then operations by number of operands. */
enum zeta_expr_op {
    ZETA_EXPR_CONSTANT, /**< u64 or f64 */
    ZETA_EXPR_SYMBOL,   /**< $Name */
    ZETA_EXPR_NAME,     /**< a header field or a metric, before linking */
    ZETA_EXPR_COUNTER,  /**< Bank[index], before linking */
    ZETA_EXPR_FIELD,    /**< a field of the layout, in one of the views below */
    ZETA_EXPR_METRIC,   /**< another metric of the set */

    ZETA_EXPR_TO_U64,
    ZETA_EXPR_TO_F64,
    ZETA_EXPR_NEGATE,
    ZETA_EXPR_NOT,        /**< ! */
    ZETA_EXPR_COMPLEMENT, /**< ~ */

    ZETA_EXPR_ADD,
    ZETA_EXPR_SUB,
    ZETA_EXPR_MUL,
    ZETA_EXPR_DIV, /**< 0 if the divisor is 0 */
    ZETA_EXPR_MOD, /**< 0 if the divisor is 0 */
    ZETA_EXPR_AND,
    ZETA_EXPR_OR,
    ZETA_EXPR_XOR,
    ZETA_EXPR_SHL, /**< 0 if the distance is 64 or more */
    ZETA_EXPR_SHR,
    ZETA_EXPR_EQ,
    ZETA_EXPR_NE,
    ZETA_EXPR_LT,
    ZETA_EXPR_LE,
    ZETA_EXPR_GT,
    ZETA_EXPR_GE,
    ZETA_EXPR_LOGICAL_AND,
    ZETA_EXPR_LOGICAL_OR,
    ZETA_EXPR_MIN, /**< a < b ? a : b */
    ZETA_EXPR_MAX, /**< a > b ? a : b */

    ZETA_EXPR_MULDIV, /**< a * b / c with 128 bits in between, low 64 bits of the result */
    ZETA_EXPR_SELECT, /**< a ? b : c; a is u64 */
    ZETA_EXPR_OP_COUNT
};

/** Which number of a field an expression means. */
enum zeta_expr_view {
    ZETA_VIEW_DEFAULT, /**< before linking: DELTA for fields that have one, else NOW */
    ZETA_VIEW_DELTA,   /**< difference of the row's two records, delta(x) */
    ZETA_VIEW_NOW,     /**< value in the row's later (or only) record, now(x) */
    ZETA_VIEW_BEFORE,  /**< value in the row's earlier record, before(x) */
    ZETA_VIEW_COUNT
};

/** As they are written; NULL for the default. */
extern const char *const zeta_view_names[ZETA_VIEW_COUNT];

/** A node, in the memory of the arena it was parsed into. */
struct zeta_expr {
    enum zeta_expr_op op;
    enum zeta_expr_type type; /**< valid once linked (constants: always) */
    uint32_t depth;           /**< 1 for operands, one more than the deepest argument else */
    uint32_t line;            /**< position in the file */
    uint32_t column;

    union {
        uint64_t u64; /**< CONSTANT */
        double f64;
        struct {
            const char *name;         /**< SYMBOL, NAME, COUNTER, FIELD, METRIC */
            uint32_t counter;         /**< COUNTER: the index in brackets */
            uint32_t target;          /**< linked: index of symbol, field or metric */
            enum zeta_expr_view view; /**< FIELD */
        } ref;
        struct zeta_expr *arg[3]; /**< operations; unused ones are NULL */
    } u;
};

/** Position of an expression, for messages. */
struct zeta_expr_source {
    const char *file;
    uint32_t line;   /**< of the first character */
    uint32_t column; /**< of the first character */
};

/**
 * Parses an expression. Names are not looked up yet (set files may refer to what comes later).
 *
 * Ownership: the nodes and their names belong to the arena.
 * Errors: INVALID_ARGUMENT, with one finding at its position; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_expr_parse(const char *text, size_t length, const struct zeta_expr_source *source,
                            struct zeta_arena *arena, struct zeta_diagnostics *sink,
                            struct zeta_expr **out_expr);

/** Copies a tree, linked or not. Names are not copied. NULL when memory is exhausted. */
struct zeta_expr *zeta_expr_copy(const struct zeta_expr *expr, struct zeta_arena *arena);

/** Number of nodes of a tree; 0 for NULL. */
uint32_t zeta_expr_count(const struct zeta_expr *expr);

/** Most operands that an operation has. */
#define ZETA_EXPR_MAX_ARITY 3u

/** How tightly the text of an operation holds together; binary operators are from 1 to 10. */
enum {
    ZETA_PRECEDENCE_CHOICE = 0,
    ZETA_PRECEDENCE_UNARY = 11,
    ZETA_PRECEDENCE_OPERAND = 12, /**< operands and calls */
};

/** Types of the operands of an operation and of its result. */
enum zeta_expr_typing {
    ZETA_TYPING_OPERAND, /**< it has a type of its own */
    ZETA_TYPING_TO_U64,  /**< of either type to u64 */
    ZETA_TYPING_TO_F64,  /**< and to f64 */
    ZETA_TYPING_SAME,    /**< operands of one type, the result has it too */
    ZETA_TYPING_COMPARE, /**< operands of one type, 0 or 1 */
    ZETA_TYPING_LOGICAL, /**< of u64, 0 or 1 */
    ZETA_TYPING_INTEGER, /**< of u64, u64 */
    ZETA_TYPING_SELECT   /**< u64, then two of one type, which the result has */
};

/** What is known of each kind of node. */
struct zeta_expr_operation {
    const char *name; /**< as it is written: "+", "muldiv", "?:" */
    uint8_t arity;    /**< number of operands, 0 for operands */
    uint8_t precedence;
    uint8_t divisor; /**< index of the operand that it divides by; 0: it is no division */
    enum zeta_expr_typing typing;
};

extern const struct zeta_expr_operation zeta_expr_operations[ZETA_EXPR_OP_COUNT];

static inline unsigned zeta_expr_arity(enum zeta_expr_op op)
{
    return zeta_expr_operations[op].arity;
}

static inline const char *zeta_expr_op_name(enum zeta_expr_op op)
{
    return zeta_expr_operations[op].name;
}

/** What an operation divides by; NULL if it is no division. */
static inline const struct zeta_expr *zeta_expr_divisor(const struct zeta_expr *expr)
{
    const unsigned divisor = zeta_expr_operations[expr->op].divisor;

    return divisor > 0 ? expr->u.arg[divisor] : NULL;
}

/** "u64" or "f64". */
const char *zeta_expr_type_name(enum zeta_expr_type type);

/** A number of one of the two types. */
struct zeta_number {
    enum zeta_expr_type type;
    union {
        uint64_t u64;
        double f64;
    } u;
};

/** The number of a CONSTANT. */
static inline struct zeta_number zeta_expr_constant(const struct zeta_expr *expr)
{
    struct zeta_number number = {.type = expr->type, .u.u64 = expr->u.u64};

    if (expr->type == ZETA_EXPR_F64)
        number.u.f64 = expr->u.f64;
    return number;
}

/**
 * The meaning of each operation, for one row. The compiler folds constants with it and the
 * evaluator's loops follow it. args holds zeta_expr_arity(op) numbers of the types that the linker
 * accepted for op.
 */
struct zeta_number zeta_expr_apply(enum zeta_expr_op op, const struct zeta_number *args);

/** Gives the number of a node that is no constant and no operation; false if it has none. */
typedef bool (*zeta_expr_number_fn)(void *context, const struct zeta_expr *node,
                                    struct zeta_number *out_number);

/** The number of a linked tree; false if one of its nodes has none. */
bool zeta_expr_evaluate(const struct zeta_expr *expr, zeta_expr_number_fn find, void *context,
                        struct zeta_number *out_number);

/** True if a test holds for each node of a tree, as far as it did before. NULL has no nodes. */
typedef bool (*zeta_expr_test_fn)(void *context, const struct zeta_expr *node);
bool zeta_expr_every(const struct zeta_expr *expr, zeta_expr_test_fn test, void *context);

/** Conversion of doubles: NaN and negative give 0, what is above the range UINT64_MAX. */
uint64_t zeta_u64_from_f64(double value);

/** An integer that holds any product of two: an extension of the compilers that we support. */
__extension__ typedef unsigned __int128 zeta_u128;

/**
 * An operation on u64 operands, but for conversions and ?:, with 128 bits; unused operands are 0.
 * The low 64 bits are the result for operands of 64 bits. Larger operands are sums; one below 0 is
 * what it is in a row, modulo 2^64, wherever its sign matters.
 */
zeta_u128 zeta_expr_apply_integer(enum zeta_expr_op op, zeta_u128 a, zeta_u128 b, zeta_u128 c);

/** A sum without sign: one below 0 is what it is modulo 2^64. */
static inline zeta_u128 zeta_u128_unsigned(zeta_u128 value)
{
    return value >> 127 ? (uint64_t)value : value;
}

/** Low 64 bits of a * b / c; 0 if c is 0. */
uint64_t zeta_muldiv_u64(uint64_t a, uint64_t b, uint64_t c);

#endif
