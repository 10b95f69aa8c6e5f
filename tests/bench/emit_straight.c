/*
 * Writes the sets of bench_sets as straight-line C, the way hand-written metric code looks: for
 * each a function that reads the counters of two reports, or of one record that stands alone, and
 * writes every metric. The benchmark compares the evaluator with them.
 *
 * emit_straight > out.c
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/sets/query_form.h"
#include "core/formula/sets/set.h"
#include "tests/bench/bench_sets.h"
#include "tests/bench/straight.h"

struct emitter {
    const struct zeta_set *set;
    const struct zeta_compiled *compiled;
    bool is_query;
    bool is_timestamp; /**< of the metric that is written */
    bool *written;     /**< per metric of the set: its variable exists */
};

static void emit_metric(struct emitter *emitter, uint32_t index);

static void emit_bits(uint32_t bit, uint32_t width, const char *record)
{
    if (bit % 8 == 0 && (width == 8 || width == 16 || width == 32 || width == 64))
        printf("read_u%" PRIu32 "(%s + %" PRIu32 ")", width, record, bit / 8);
    else
        printf("(read_u64(%s + %" PRIu32 ") >> %" PRIu32 " & %" PRIu64 "u)", record, bit / 32 * 4,
               bit % 32, (UINT64_C(1) << width) - 1);
}

static void emit_number(const struct zeta_field *field, const char *record)
{
    printf("(uint64_t)");
    if (field->high_width > 0)
        printf("(");
    emit_bits(field->low_bit, field->low_width, record);
    if (field->high_width > 0) {
        printf(" | (uint64_t)");
        emit_bits(field->high_bit, field->high_width, record);
        printf(" << %" PRIu32 ")", field->low_width);
    }
}

static void emit_field(const struct zeta_field *field, enum zeta_expr_view view)
{
    if (view != ZETA_VIEW_DELTA) {
        printf("(");
        emit_number(field, view == ZETA_VIEW_NOW ? "now" : "before");
        printf(")");
        return;
    }
    printf("((");
    emit_number(field, "now");
    printf(" - ");
    emit_number(field, "before");
    printf(") & %" PRIu64 "u)",
           field->delta_bits == 64 ? UINT64_MAX : (UINT64_C(1) << field->delta_bits) - 1);
}

static void emit_reference(const struct emitter *emitter, const struct zeta_expr *expr)
{
    const struct zeta_layout *layout = emitter->set->layout;
    const uint32_t field = expr->u.ref.target;

    if (emitter->is_query)
        emit_field(&layout->fields[zeta_query_form_field(layout, field, expr->u.ref.view,
                                                         emitter->is_timestamp)],
                   ZETA_VIEW_NOW);
    else
        emit_field(&layout->fields[field], expr->u.ref.view);
}

static void emit_value(struct zeta_number number)
{
    if (number.type == ZETA_EXPR_F64)
        printf("(double)%.17g", number.u.f64);
    else
        printf("UINT64_C(%" PRIu64 ")", number.u.u64);
}

static void emit_expr(const struct emitter *emitter, const struct zeta_expr *expr)
{
    static const char *const calls[ZETA_EXPR_OP_COUNT] = {
        [ZETA_EXPR_TO_U64] = "to_u64",   [ZETA_EXPR_TO_F64] = "(double)",
        [ZETA_EXPR_MULDIV] = "muldiv",   [ZETA_EXPR_MIN] = "smaller",
        [ZETA_EXPR_MAX] = "larger",      [ZETA_EXPR_SHL] = "shift_left",
        [ZETA_EXPR_SHR] = "shift_right", [ZETA_EXPR_MOD] = "rest_u64",
    };
    const unsigned arity = zeta_expr_arity(expr->op);
    struct zeta_number number = {0};

    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        number.type = expr->type;
        memcpy(&number.u, &expr->u, sizeof(number.u));
        emit_value(number);
        return;
    case ZETA_EXPR_SYMBOL:
        (void)zeta_compiled_symbol(emitter->compiled, expr->u.ref.name, &number);
        emit_value(number);
        return;
    case ZETA_EXPR_FIELD:
        emit_reference(emitter, expr);
        return;
    case ZETA_EXPR_METRIC:
        printf("%s", emitter->set->metrics[expr->u.ref.target].name);
        return;
    case ZETA_EXPR_SELECT:
        printf("(");
        emit_expr(emitter, expr->u.arg[0]);
        printf(" ? ");
        emit_expr(emitter, expr->u.arg[1]);
        printf(" : ");
        emit_expr(emitter, expr->u.arg[2]);
        printf(")");
        return;
    case ZETA_EXPR_DIV:
        printf("%s(", expr->type == ZETA_EXPR_F64 ? "divide_f64" : "divide_u64");
        break;
    default:
        printf("%s(", calls[expr->op] ? calls[expr->op] : "");
        break;
    }
    for (unsigned i = 0; i < arity; i++) {
        if (arity == 1 && !calls[expr->op])
            printf("%s", zeta_expr_op_name(expr->op));
        if (i > 0)
            printf(" %s ", calls[expr->op] || expr->op == ZETA_EXPR_DIV
                               ? ","
                               : zeta_expr_op_name(expr->op));
        emit_expr(emitter, expr->u.arg[i]);
    }
    printf(")");
}

/** Writes the variables of the metrics that an expression refers to, if they do not exist yet. */
static void emit_references(struct emitter *emitter, const struct zeta_expr *expr)
{
    if (expr->op == ZETA_EXPR_METRIC)
        emit_metric(emitter, expr->u.ref.target);
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++)
        emit_references(emitter, expr->u.arg[i]);
}

static void emit_metric(struct emitter *emitter, uint32_t index)
{
    const struct zeta_metric *metric = &emitter->set->metrics[index];

    if (emitter->written[index])
        return;
    emitter->written[index] = true;
    emit_references(emitter, metric->value);
    emitter->is_timestamp = metric->type == ZET_METRIC_TYPE_TIMESTAMP;
    printf("    const %s %s = ", metric->value->type == ZETA_EXPR_F64 ? "double" : "uint64_t",
           metric->name);
    emit_expr(emitter, metric->value);
    printf(";\n");
}

static void emit_store(const struct zeta_metric *metric, uint32_t at)
{
    static const char *const stores[] = {"store_u32", "store_u64", "store_f32", "store_f64",
                                         "store_b8"};

    printf("    %s(&values[%" PRIu32 "], %s);\n", stores[metric->value_type], at, metric->name);
}

static void emit_row(struct emitter *emitter, uint32_t number)
{
    const uint32_t count = zeta_compiled_metric_count(emitter->compiled);

    printf("\n/* %s%s */\nstatic inline void row_%" PRIu32
           "(const unsigned char *before, const unsigned char *now,\n"
           "                         zet_typed_value_t *values)\n{\n    (void)before;\n",
           emitter->set->name, emitter->is_query ? ", from query records" : "", number);
    for (uint32_t i = 0; i < count; i++)
        emit_metric(emitter,
                    (uint32_t)(zeta_compiled_metric(emitter->compiled, i) - emitter->set->metrics));
    for (uint32_t i = 0; i < count; i++)
        emit_store(zeta_compiled_metric(emitter->compiled, i), i);
    printf("}\n");
}

/** Reports repeat themselves at the seams of reads; query records say themselves what they are. */
static void emit_function(struct emitter *emitter, uint32_t number)
{
    const struct zeta_layout *layout = emitter->set->layout;
    const uint32_t bytes = layout->record_bytes;
    const bool is_delta = layout->kind == ZETA_LAYOUT_DELTA;

    emit_row(emitter, number);
    printf("\nstatic size_t run_%" PRIu32
           "(const unsigned char *raw, size_t raw_bytes, zet_typed_value_t *values)\n"
           "{\n    size_t rows = 0;\n\n"
           "    for (size_t at = %" PRIu32 "; at + %" PRIu32 " <= raw_bytes; at += %" PRIu32
           ") {\n",
           number, is_delta ? bytes : 0, bytes, bytes);
    if (is_delta)
        printf("        if (read_u64(raw + at) == read_u64(raw + at - %" PRIu32 "))\n"
               "            continue;\n",
               bytes);
    else if (emitter->is_query)
        printf("        if (read_u64(raw + at) != %" PRIu32 ")\n            continue;\n", bytes);
    printf("        row_%" PRIu32 "(raw + at - %" PRIu32 ", raw + at, values + rows++ * %" PRIu32
           ");\n    }\n    return rows;\n}\n",
           number, is_delta ? bytes : 0, zeta_compiled_metric_count(emitter->compiled));
}

static bool emit_set(const struct bench_set *set, uint32_t number)
{
    struct emitter emitter = {.set = zeta_compiled_set(set->compiled),
                              .compiled = set->compiled,
                              .is_query = set->is_query};

    emitter.written = calloc(emitter.set->metric_count, sizeof(*emitter.written));
    if (!emitter.written)
        return false;
    emit_function(&emitter, number);
    free(emitter.written);
    return true;
}

int main(void)
{
    static struct bench_sets sets;
    bool good = bench_sets_open(&sets);

    printf("/* Made by emit_straight. */\n#include \"tests/bench/straight.h\"\n");
    for (uint32_t i = 0; good && i < sets.count; i++)
        good = emit_set(&sets.items[i], i);
    printf("\nconst struct straight_peer straight_peers[] = {\n");
    for (uint32_t i = 0; good && i < sets.count; i++)
        printf("    {\"%s\", run_%" PRIu32 "},\n", zeta_compiled_set(sets.items[i].compiled)->name,
               i);
    printf("};\nconst size_t straight_peer_count = %" PRIu32 ";\n", sets.count);
    bench_sets_close(&sets);
    return good ? 0 : 1;
}
