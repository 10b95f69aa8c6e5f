/* Writing expressions, with as few parentheses as their grammar allows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "core/formula/describe/describe.h"

static unsigned precedence_of(const struct zeta_expr *expr)
{
    return zeta_expr_operations[expr->op].precedence;
}

void zeta_describe_f64(struct zeta_text *text, double value)
{
    char digits[40];

    /* With 17 digits every number is read back as it was; a point makes it an f64. */
    (void)zeta_c_snprintf(digits, sizeof(digits), "%.17g", value);
    zeta_text_add(text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static void add_field(struct zeta_text *text, const struct zeta_set *set,
                      const struct zeta_expr *expr)
{
    static const char *const views[ZETA_VIEW_COUNT] = {
        [ZETA_VIEW_DELTA] = "delta", [ZETA_VIEW_NOW] = "now", [ZETA_VIEW_BEFORE] = "before"};
    const struct zeta_layout *layout = set->layout;
    const uint32_t target = expr->u.ref.target;
    const struct zeta_field *field = &layout->fields[target];
    const enum zeta_expr_view usual = field->delta_bits > 0 ? ZETA_VIEW_DELTA : ZETA_VIEW_NOW;
    const bool is_usual = expr->u.ref.view == usual;

    if (!is_usual)
        zeta_text_add(text, "%s(", views[expr->u.ref.view]);
    if (target < layout->header_count)
        zeta_text_add(text, "%s", field->name);
    else
        zeta_text_add(text, "%s[%u]", field->name, field->index);
    if (!is_usual)
        zeta_text_add(text, ")");
}

/** Writes an argument that has to hold together at least as tightly as that. */
static void add_argument(struct zeta_text *text, const struct zeta_set *set,
                         const struct zeta_expr *argument, unsigned least)
{
    const bool apart = precedence_of(argument) < least;

    if (apart)
        zeta_text_add(text, "(");
    zeta_describe_expr(text, set, argument);
    if (apart)
        zeta_text_add(text, ")");
}

/** name(a, b, c) */
static void add_call(struct zeta_text *text, const struct zeta_set *set,
                     const struct zeta_expr *expr)
{
    zeta_text_add(text, "%s(", zeta_expr_op_name(expr->op));
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        if (i > 0)
            zeta_text_add(text, ", ");
        zeta_describe_expr(text, set, expr->u.arg[i]);
    }
    zeta_text_add(text, ")");
}

static void add_operation(struct zeta_text *text, const struct zeta_set *set,
                          const struct zeta_expr *expr)
{
    struct zeta_expr *const *arg = expr->u.arg;
    const unsigned precedence = precedence_of(expr);

    if (precedence == ZETA_PRECEDENCE_OPERAND) {
        add_call(text, set, expr);
    } else if (precedence == ZETA_PRECEDENCE_UNARY) {
        zeta_text_add(text, "%s", zeta_expr_op_name(expr->op));
        add_argument(text, set, arg[0], ZETA_PRECEDENCE_UNARY);
    } else if (precedence == ZETA_PRECEDENCE_CHOICE) {
        add_argument(text, set, arg[0], 1);
        zeta_text_add(text, " ? ");
        zeta_describe_expr(text, set, arg[1]);
        zeta_text_add(text, " : ");
        zeta_describe_expr(text, set, arg[2]);
    } else {
        /* All binary operators group from the left. */
        add_argument(text, set, arg[0], precedence);
        zeta_text_add(text, " %s ", zeta_expr_op_name(expr->op));
        add_argument(text, set, arg[1], precedence + 1);
    }
}

void zeta_describe_expr(struct zeta_text *text, const struct zeta_set *set,
                        const struct zeta_expr *expr)
{
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        if (expr->type == ZETA_EXPR_F64)
            zeta_describe_f64(text, expr->u.f64);
        else
            zeta_text_add(text, "%" PRIu64, expr->u.u64);
        break;
    case ZETA_EXPR_SYMBOL:
        zeta_text_add(text, "$%s", expr->u.ref.name);
        break;
    case ZETA_EXPR_METRIC:
        zeta_text_add(text, "%s", set->metrics[expr->u.ref.target].name);
        break;
    case ZETA_EXPR_FIELD:
        add_field(text, set, expr);
        break;
    default:
        add_operation(text, set, expr);
        break;
    }
}
