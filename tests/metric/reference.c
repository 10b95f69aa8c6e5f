#include "tests/metric/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/record/layout.h"

struct context {
    const struct zeta_catalog *catalog;
    const struct zeta_set *set;
    const struct reference_symbol *symbols;
    const unsigned char *previous;
    const unsigned char *current;
};

static struct zeta_number value_of(const struct context *context, const struct zeta_expr *expr);

static struct zeta_number integer(uint64_t value)
{
    struct zeta_number number = {ZETA_EXPR_U64, {.u64 = value}};
    return number;
}

static struct zeta_number real(double value)
{
    struct zeta_number number = {ZETA_EXPR_F64, {.f64 = value}};
    return number;
}

static uint64_t bit_of(const unsigned char *record, uint32_t bit)
{
    return (record[bit >> 3] >> (bit & 7)) & 1;
}

static uint64_t read_field(const struct zeta_field *field, const unsigned char *record)
{
    uint64_t value = 0;

    for (uint32_t i = field->high_width; i > 0; i--)
        value = value * 2 + bit_of(record, field->high_bit + i - 1);
    for (uint32_t i = field->low_width; i > 0; i--)
        value = value * 2 + bit_of(record, field->low_bit + i - 1);
    return value;
}

static struct zeta_number field_number(const struct zeta_field *field, const unsigned char *record)
{
    uint64_t bits = read_field(field, record);
    double value;

    if (!field->is_float)
        return integer(bits);
    memcpy(&value, &bits, sizeof(value));
    return real(value);
}

static struct zeta_number field_value(const struct context *context, const struct zeta_expr *expr)
{
    const struct zeta_field *field = &context->set->layout->fields[expr->u.ref.target];
    struct zeta_number now = field_number(field, context->current);
    struct zeta_number before;

    if (expr->u.ref.view == ZETA_VIEW_NOW)
        return now;
    before = field_number(field, context->previous);
    if (expr->u.ref.view == ZETA_VIEW_BEFORE)
        return before;
    if (field->is_float)
        return real(now.u.f64 - before.u.f64);
    /* Count up from the old to the new value on a circle of 2^delta_bits numbers. */
    if (field->delta_bits < 64) {
        uint64_t circle = (uint64_t)1 << field->delta_bits;
        uint64_t from = before.u.u64 % circle;
        uint64_t to = now.u.u64 % circle;

        return integer(to >= from ? to - from : circle - from + to);
    }
    return integer(now.u.u64 >= before.u.u64 ? now.u.u64 - before.u.u64
                                             : UINT64_MAX - before.u.u64 + now.u.u64 + 1);
}

static struct zeta_number symbol_value(const struct context *context, const struct zeta_expr *expr)
{
    const struct zeta_symbol *symbol = zeta_catalog_symbol(context->catalog, expr->u.ref.target);

    if (symbol->source == ZETA_SYMBOL_CONSTANT)
        return symbol->value;
    for (const struct reference_symbol *i = context->symbols; i->name; i++) {
        if (strcmp(i->name, symbol->name) == 0)
            return i->value;
    }
    abort();
}

/** a * b / c by long multiplication and long division, one bit at a time. */
static uint64_t long_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t high = 0;
    uint64_t low = 0;
    uint64_t rest = 0;
    uint64_t quotient = 0;

    if (c == 0)
        return 0;
    for (int i = 63; i >= 0; i--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (b >> i & 1) {
            low += a;
            high += low < a;
        }
    }
    for (int i = 127; i >= 0; i--) {
        uint64_t next = i >= 64 ? high >> (i - 64) & 1 : low >> i & 1;
        bool carry = rest >> 63;

        rest = rest << 1 | next;
        quotient <<= 1;
        if (carry || rest >= c) {
            rest -= c;
            quotient |= 1;
        }
    }
    return quotient;
}

static uint64_t truncated(double value)
{
    long double whole;

    if (isnan(value) || value <= 0)
        return 0;
    whole = truncl((long double)value);
    if (whole > (long double)UINT64_MAX)
        return UINT64_MAX;
    return (uint64_t)whole;
}

static uint64_t shifted(uint64_t value, uint64_t distance, bool left)
{
    for (uint64_t i = 0; i < distance && value != 0; i++)
        value = left ? value + value : value / 2;
    return value;
}

static struct zeta_number integer_operation(enum zeta_expr_op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case ZETA_EXPR_ADD:
        return integer(a + b);
    case ZETA_EXPR_SUB:
        return integer(a + (~b + 1));
    case ZETA_EXPR_MUL:
        return integer(long_muldiv(a, b, 1));
    case ZETA_EXPR_DIV:
        return integer(b ? a / b : 0);
    case ZETA_EXPR_MOD:
        return integer(b ? a - a / b * b : 0);
    case ZETA_EXPR_AND:
        return integer(~(~a | ~b));
    case ZETA_EXPR_OR:
        return integer(~(~a & ~b));
    case ZETA_EXPR_XOR:
        return integer((a | b) & ~(a & b));
    case ZETA_EXPR_SHL:
        return integer(shifted(a, b, true));
    case ZETA_EXPR_SHR:
        return integer(shifted(a, b, false));
    case ZETA_EXPR_EQ:
        return integer(!(a ^ b));
    case ZETA_EXPR_NE:
        return integer(!!(a ^ b));
    case ZETA_EXPR_LT:
        return integer(!(a >= b));
    case ZETA_EXPR_LE:
        return integer(!(a > b));
    case ZETA_EXPR_GT:
        return integer(!(a <= b));
    case ZETA_EXPR_GE:
        return integer(!(a < b));
    case ZETA_EXPR_LOGICAL_AND:
        return integer(a ? !!b : 0);
    case ZETA_EXPR_LOGICAL_OR:
        return integer(a ? 1 : !!b);
    case ZETA_EXPR_MIN:
        return integer(b > a ? a : b);
    case ZETA_EXPR_MAX:
        return integer(b > a ? b : a);
    default:
        abort();
    }
}

static struct zeta_number real_operation(enum zeta_expr_op op, double a, double b)
{
    switch (op) {
    case ZETA_EXPR_ADD:
        return real(a + b);
    case ZETA_EXPR_SUB:
        return real(a - b);
    case ZETA_EXPR_MUL:
        return real(a * b);
    case ZETA_EXPR_DIV:
        return real(b != 0.0 ? a / b : 0.0);
    case ZETA_EXPR_EQ:
        return integer(a == b);
    case ZETA_EXPR_NE:
        return integer(!(a == b));
    case ZETA_EXPR_LT:
        return integer(isless(a, b));
    case ZETA_EXPR_LE:
        return integer(islessequal(a, b));
    case ZETA_EXPR_GT:
        return integer(isgreater(a, b));
    case ZETA_EXPR_GE:
        return integer(isgreaterequal(a, b));
    /* Documented: the second operand unless the first one is less (greater). */
    case ZETA_EXPR_MIN:
        return isless(a, b) ? real(a) : real(b);
    case ZETA_EXPR_MAX:
        return isgreater(a, b) ? real(a) : real(b);
    default:
        abort();
    }
}

static struct zeta_number operation_value(const struct context *context,
                                          const struct zeta_expr *expr)
{
    struct zeta_number a = value_of(context, expr->u.arg[0]);
    struct zeta_number b;

    if (expr->op == ZETA_EXPR_TO_U64)
        return a.type == ZETA_EXPR_F64 ? integer(truncated(a.u.f64)) : a;
    if (expr->op == ZETA_EXPR_TO_F64)
        return a.type == ZETA_EXPR_F64 ? a : real((double)a.u.u64);
    if (expr->op == ZETA_EXPR_NEGATE)
        return a.type == ZETA_EXPR_F64 ? real(-a.u.f64) : integer(~a.u.u64 + 1);
    if (expr->op == ZETA_EXPR_NOT)
        return integer(a.u.u64 ? 0 : 1);
    if (expr->op == ZETA_EXPR_COMPLEMENT)
        return integer(UINT64_MAX - a.u.u64);
    if (expr->op == ZETA_EXPR_SELECT)
        return value_of(context, expr->u.arg[a.u.u64 ? 1 : 2]);
    b = value_of(context, expr->u.arg[1]);
    if (expr->op == ZETA_EXPR_MULDIV)
        return integer(long_muldiv(a.u.u64, b.u.u64, value_of(context, expr->u.arg[2]).u.u64));
    return a.type == ZETA_EXPR_F64 ? real_operation(expr->op, a.u.f64, b.u.f64)
                                   : integer_operation(expr->op, a.u.u64, b.u.u64);
}

static struct zeta_number value_of(const struct context *context, const struct zeta_expr *expr)
{
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        return expr->type == ZETA_EXPR_F64 ? real(expr->u.f64) : integer(expr->u.u64);
    case ZETA_EXPR_SYMBOL:
        return symbol_value(context, expr);
    case ZETA_EXPR_FIELD:
        return field_value(context, expr);
    case ZETA_EXPR_METRIC:
        return value_of(context, context->set->metrics[expr->u.ref.target].value);
    default:
        return operation_value(context, expr);
    }
}

struct zeta_number reference_value(const struct zeta_catalog *catalog, const struct zeta_set *set,
                                   const struct reference_symbol *symbols,
                                   const struct zeta_expr *expr, const unsigned char *previous,
                                   const unsigned char *current)
{
    const struct context context = {catalog, set, symbols, previous, current};

    return value_of(&context, expr);
}

/** False if the records say that a field which the expression mentions was not measured. */
static bool measured(const struct context *context, const struct zeta_expr *expr)
{
    const struct zeta_layout *layout = context->set->layout;
    const struct zeta_field *field;
    unsigned operands = zeta_expr_arity(expr->op);

    if (expr->op == ZETA_EXPR_METRIC)
        return measured(context, context->set->metrics[expr->u.ref.target].value);
    if (expr->op == ZETA_EXPR_FIELD) {
        field = &layout->fields[expr->u.ref.target];
        if (field->valid_field == ZETA_FIELD_NONE)
            return true;
        if (expr->u.ref.view != ZETA_VIEW_BEFORE &&
            !(read_field(&layout->fields[field->valid_field], context->current) >>
                  field->valid_bit &
              1))
            return false;
        return expr->u.ref.view == ZETA_VIEW_NOW ||
               (read_field(&layout->fields[field->valid_field], context->previous) >>
                    field->valid_bit &
                1);
    }
    for (unsigned i = 0; i < operands; i++) {
        if (!measured(context, expr->u.arg[i]))
            return false;
    }
    return true;
}

static zet_typed_value_t typed(struct zeta_number number, zet_value_type_t type, bool valid)
{
    zet_typed_value_t value;
    bool is_real = number.type == ZETA_EXPR_F64;
    uint64_t whole = is_real ? truncated(number.u.f64) : number.u.u64;
    double fraction = is_real ? number.u.f64 : (double)number.u.u64;

    memset(&value, 0, sizeof(value));
    value.type = type;
    if (!valid)
        fraction = NAN;
    switch (type) {
    case ZET_VALUE_TYPE_UINT32:
        value.value.ui32 = whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
        break;
    case ZET_VALUE_TYPE_UINT64:
        value.value.ui64 = whole;
        break;
    case ZET_VALUE_TYPE_FLOAT32:
        value.value.fp32 = (float)fraction;
        break;
    case ZET_VALUE_TYPE_FLOAT64:
        value.value.fp64 = fraction;
        break;
    default:
        value.value.b8 = is_real ? fraction < 0 || fraction > 0 : whole != 0;
        break;
    }
    return value;
}

static zet_typed_value_t metric_value(const struct context *context,
                                      const struct zeta_metric *metric, bool maximum)
{
    const struct zeta_expr *expr = maximum && metric->maximum ? metric->maximum : metric->value;

    if (maximum && !metric->maximum && strcmp(metric->unit, "percent") == 0)
        return typed(integer(100), metric->value_type, true);
    return typed(value_of(context, expr), metric->value_type, measured(context, expr));
}

static uint32_t little_u32(const unsigned char *at)
{
    return (uint32_t)(at[0] + at[1] * 256u + at[2] * 65536u + at[3] * 16777216u);
}

static bool repeats(const struct zeta_layout *layout, const unsigned char *previous,
                    const unsigned char *current)
{
    for (uint32_t i = 0; i < layout->identity_count; i++) {
        const struct zeta_field *field = &layout->fields[layout->identity[i]];

        if (read_field(field, previous) != read_field(field, current))
            return false;
    }
    return layout->identity_count > 0;
}

/** True if previous (may be NULL) and current make a row. */
static bool makes_row(const struct context *context)
{
    const struct zeta_layout *layout = context->set->layout;

    if (layout->baseline && value_of(context, layout->baseline).u.u64 != 0)
        return false;
    if (layout->kind != ZETA_LAYOUT_DELTA)
        return true;
    return context->previous && !repeats(layout, context->previous, context->current);
}

size_t reference_evaluate(const struct zeta_catalog *catalog, const struct zeta_compiled *compiled,
                          const struct reference_symbol *symbols, bool maximum, uint32_t tile,
                          const unsigned char *raw, size_t raw_bytes, zet_typed_value_t *values,
                          size_t capacity, bool *out_dropped)
{
    const size_t slot_bytes = zeta_compiled_record_bytes(compiled);
    const struct zeta_slot_control end = {.kind = ZETA_SLOT_END};
    struct context context = {catalog, zeta_compiled_set(compiled), symbols, NULL, NULL};
    unsigned char control[ZETA_RECORD_MAX_BYTES];
    unsigned char *zeros = calloc(1, slot_bytes);
    uint32_t current_tile = 0;
    size_t count = 0;

    zeta_slot_write(&end, control, slot_bytes);
    *out_dropped = false;
    for (size_t at = 0; zeros && at + slot_bytes <= raw_bytes; at += slot_bytes) {
        const unsigned char *slot = raw + at;

        if (memcmp(slot, control, 16) == 0) {
            uint32_t kind = little_u32(slot + 16);

            if (kind == 1 && current_tile == tile) {
                *out_dropped = true;
                context.previous = NULL;
            } else if (kind == 2) {
                current_tile = little_u32(slot + 20);
            } else if (kind == 3) {
                context.previous = NULL;
                current_tile = 0;
            }
            continue;
        }
        if (memcmp(slot, zeros, slot_bytes) == 0 || current_tile != tile)
            continue;
        context.current = slot;
        if (makes_row(&context)) {
            for (uint32_t m = 0; m < zeta_compiled_metric_count(compiled); m++, count++) {
                if (count < capacity)
                    values[count] =
                        metric_value(&context, zeta_compiled_metric(compiled, m), maximum);
            }
        }
        context.previous = slot;
    }
    free(zeros);
    return count;
}
