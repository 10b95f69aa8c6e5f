/* Giving meaning to the names of an expression, and types to its operations. */
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

enum metric_state {
    METRIC_UNSEEN,
    METRIC_IN_PROGRESS, /**< on the way down: meeting it again is a cycle */
    METRIC_LINKED,
    METRIC_WRONG
};

#define fail(scope, expr, ...)                                                                     \
    zeta_link_fail((scope)->linker, (scope)->file, (expr)->line, (expr)->column, __VA_ARGS__)

static bool link_symbol(const struct zeta_link_scope *scope, struct zeta_expr *expr)
{
    const struct zeta_symbol *symbol = zeta_names_find(&scope->linker->catalog->symbols_by_name,
                                                       expr->u.ref.name, strlen(expr->u.ref.name));

    if (symbol) {
        expr->u.ref.target = symbol->index;
        expr->type = symbol->value.type;
        return true;
    }
    return fail(scope, expr, "unknown symbol $%.100s; symbols are declared under 'symbols'",
                expr->u.ref.name);
}

static bool link_field(const struct zeta_link_scope *scope, struct zeta_expr *expr, uint32_t index)
{
    const struct zeta_field *field = &scope->layout->fields[index];
    enum zeta_expr_view view = expr->u.ref.view;

    if (view == ZETA_VIEW_DEFAULT)
        view = field->delta_bits > 0 && !scope->one_record ? ZETA_VIEW_DELTA : ZETA_VIEW_NOW;
    if (scope->one_record && view != ZETA_VIEW_NOW)
        return fail(scope, expr, "a condition on one record knows only now(%s)", expr->u.ref.name);
    if (view != ZETA_VIEW_NOW && scope->layout->kind != ZETA_LAYOUT_DELTA)
        return fail(scope, expr, "layout %s has no earlier record, only now(%s)",
                    scope->layout->name, expr->u.ref.name);
    if (view == ZETA_VIEW_DELTA && field->delta_bits == 0)
        return fail(scope, expr, "field %s is not declared with a delta", expr->u.ref.name);
    expr->op = ZETA_EXPR_FIELD;
    expr->type = field->is_float ? ZETA_EXPR_F64 : ZETA_EXPR_U64;
    expr->u.ref.target = index;
    expr->u.ref.view = view;
    return true;
}

static bool link_counter(const struct zeta_link_scope *scope, struct zeta_expr *expr)
{
    const struct zeta_bank *bank;

    if (!scope->layout)
        return fail(scope, expr, "only $symbols are known here");
    bank = zeta_layout_find_bank(scope->layout, expr->u.ref.name);
    if (!bank)
        return fail(scope, expr, "layout %s has no counters %.100s", scope->layout->name,
                    expr->u.ref.name);
    if (expr->u.ref.counter >= bank->count)
        return fail(scope, expr, "%s[%u] does not exist, layout %s has %u of them", bank->name,
                    expr->u.ref.counter, scope->layout->name, bank->count);
    return link_field(scope, expr, bank->first_field + expr->u.ref.counter);
}

static bool link_metric_reference(const struct zeta_link_scope *scope, struct zeta_expr *expr,
                                  uint32_t index)
{
    struct zeta_link_scope inner = *scope;

    if (expr->u.ref.view != ZETA_VIEW_DEFAULT)
        return fail(scope, expr, "%s is a metric, not a field of the record", expr->u.ref.name);
    if (scope->metric_state[index] == METRIC_IN_PROGRESS)
        return fail(scope, expr, "metric %s depends on itself", expr->u.ref.name);
    if (scope->chain >= ZETA_SET_MAX_CHAIN)
        return fail(scope, expr, "more than %u metrics that refer to each other in a row",
                    ZETA_SET_MAX_CHAIN);
    inner.chain++;
    if (!zeta_metric_link(&inner, index))
        return false;
    expr->op = ZETA_EXPR_METRIC;
    expr->type = scope->metrics[index].value->type;
    expr->u.ref.target = index;
    return true;
}

static bool link_name(const struct zeta_link_scope *scope, struct zeta_expr *expr)
{
    uint32_t field;

    for (uint32_t i = 0; i < scope->metric_count; i++) {
        if (strcmp(scope->metrics[i].name, expr->u.ref.name) == 0)
            return link_metric_reference(scope, expr, i);
    }
    if (!scope->layout)
        return fail(scope, expr, "unknown name %.100s; only $symbols are known here",
                    expr->u.ref.name);
    field = zeta_layout_find_field(scope->layout, expr->u.ref.name);
    if (field == ZETA_FIELD_NONE)
        return fail(scope, expr, "unknown name %.100s: neither a header field of layout %s%s",
                    expr->u.ref.name, scope->layout->name,
                    scope->metrics ? " nor a metric of this set" : "");
    return link_field(scope, expr, field);
}

static bool need_type(const struct zeta_link_scope *scope, const struct zeta_expr *expr,
                      const struct zeta_expr *arg, enum zeta_expr_type type)
{
    if (arg->type == type)
        return true;
    return fail(scope, arg, "'%s' needs %s here, not %s; convert with %s()",
                zeta_expr_op_name(expr->op), zeta_expr_type_name(type),
                zeta_expr_type_name(arg->type), zeta_expr_type_name(type));
}

static bool same_types(const struct zeta_link_scope *scope, const struct zeta_expr *expr,
                       const struct zeta_expr *left, const struct zeta_expr *right)
{
    if (left->type == right->type)
        return true;
    return fail(scope, expr, "'%s' has %s on its left and %s on its right; convert one of them",
                zeta_expr_op_name(expr->op), zeta_expr_type_name(left->type),
                zeta_expr_type_name(right->type));
}

/** Type of an operation whose operands have theirs. */
static bool link_operation(const struct zeta_link_scope *scope, struct zeta_expr *expr)
{
    struct zeta_expr **arg = expr->u.arg;

    expr->type = ZETA_EXPR_U64;
    switch (zeta_expr_operations[expr->op].typing) {
    case ZETA_TYPING_TO_U64:
        return true;
    case ZETA_TYPING_TO_F64:
        expr->type = ZETA_EXPR_F64;
        return true;
    case ZETA_TYPING_SAME:
        expr->type = arg[0]->type;
        return !arg[1] || same_types(scope, expr, arg[0], arg[1]);
    case ZETA_TYPING_COMPARE:
        return same_types(scope, expr, arg[0], arg[1]);
    case ZETA_TYPING_SELECT:
        expr->type = arg[1]->type;
        return need_type(scope, expr, arg[0], ZETA_EXPR_U64) &&
               same_types(scope, expr, arg[1], arg[2]);
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
            if (!need_type(scope, expr, arg[i], ZETA_EXPR_U64))
                return false;
        }
        return true;
    }
}

bool zeta_expr_link(const struct zeta_link_scope *scope, struct zeta_expr *expr)
{
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
    case ZETA_EXPR_FIELD:
    case ZETA_EXPR_METRIC:
        return true;
    case ZETA_EXPR_SYMBOL:
        return link_symbol(scope, expr);
    case ZETA_EXPR_NAME:
        return link_name(scope, expr);
    case ZETA_EXPR_COUNTER:
        return link_counter(scope, expr);
    default:
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
            if (!zeta_expr_link(scope, expr->u.arg[i]))
                return false;
        }
        return link_operation(scope, expr);
    }
}

bool zeta_metric_link(const struct zeta_link_scope *scope, uint32_t index)
{
    struct zeta_metric *metric = &scope->metrics[index];
    struct zeta_link_scope inner = *scope;
    bool good;

    if (scope->metric_state[index] != METRIC_UNSEEN)
        return scope->metric_state[index] == METRIC_LINKED;
    scope->metric_state[index] = METRIC_IN_PROGRESS;
    inner.file = metric->file;
    good = zeta_expr_link(&inner, metric->value);
    scope->metric_state[index] = good ? METRIC_LINKED : METRIC_WRONG;
    return good;
}
