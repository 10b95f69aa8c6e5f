#include "core/formula/compile/compile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/lower.h"
#include "core/formula/compile/program.h"
#include "core/formula/sets/query_form.h"
#include "core/util/cleanup.h"

struct compiler {
    struct zeta_compiled *compiled;
    const struct zeta_set *set;
    struct zeta_diagnostics *sink;
    struct zeta_lowering lowering;
    unsigned char *existence; /**< per metric of the set, enum existence */
};

enum existence { EXISTENCE_UNKNOWN, EXISTS, DOES_NOT_EXIST };

bool zeta_symbol_number(const struct zeta_symbol *symbol, const struct zeta_symbol_lookup *lookup,
                        struct zeta_number *out_number)
{
    *out_number = symbol->value;
    if (symbol->source == ZETA_SYMBOL_CONSTANT)
        return true;
    if (!lookup || !lookup->find || !lookup->find(lookup->context, symbol->name, out_number))
        return false;
    if (out_number->type != symbol->value.type)
        *out_number = zeta_expr_apply(
            symbol->value.type == ZETA_EXPR_F64 ? ZETA_EXPR_TO_F64 : ZETA_EXPR_TO_U64, out_number);
    return true;
}

static ze_result_t resolve_symbols(struct zeta_compiled *compiled,
                                   const struct zeta_symbol_lookup *lookup)
{
    const uint32_t count = zeta_catalog_symbol_count(compiled->catalog);

    compiled->symbols = zeta_arena_array(&compiled->arena, count, sizeof(*compiled->symbols));
    compiled->symbol_known =
        zeta_arena_array(&compiled->arena, count, sizeof(*compiled->symbol_known));
    if (!compiled->symbols || !compiled->symbol_known)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_symbol *symbol = zeta_catalog_symbol(compiled->catalog, i);
        compiled->symbol_known[i] = zeta_symbol_number(symbol, lookup, &compiled->symbols[i]);
    }
    return ZE_RESULT_SUCCESS;
}

/** Value of a condition over symbols; NULL is true. */
static bool holds(struct compiler *compiler, const struct zeta_expr *condition)
{
    uint64_t value = 0;

    if (!condition)
        return true;
    return zeta_lower_constant(&compiler->lowering, zeta_lower_expr(&compiler->lowering, condition),
                               &value) &&
           value != 0;
}

static bool metric_exists(struct compiler *compiler, uint32_t index);

/** True if all metrics that the expression refers to exist. */
static bool references_exist(struct compiler *compiler, const struct zeta_expr *expr)
{
    if (expr->op == ZETA_EXPR_METRIC)
        return metric_exists(compiler, expr->u.ref.target);
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        if (!references_exist(compiler, expr->u.arg[i]))
            return false;
    }
    return true;
}

/** A metric exists if its condition holds and what it refers to exists. */
static bool metric_exists(struct compiler *compiler, uint32_t index)
{
    const struct zeta_metric *metric = &compiler->set->metrics[index];

    if (compiler->existence[index] == EXISTENCE_UNKNOWN) {
        bool exists = holds(compiler, metric->available) &&
                      references_exist(compiler, metric->value) &&
                      (!metric->maximum || references_exist(compiler, metric->maximum));

        compiler->existence[index] = exists ? EXISTS : DOES_NOT_EXIST;
    }
    return compiler->existence[index] == EXISTS;
}

static ze_result_t choose_metrics(struct compiler *compiler)
{
    struct zeta_compiled *compiled = compiler->compiled;
    const struct zeta_set *set = compiler->set;

    compiled->metrics =
        zeta_arena_array(&compiled->arena, set->metric_count, sizeof(*compiled->metrics));
    if (!compiled->metrics)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < set->metric_count; i++) {
        if (metric_exists(compiler, i))
            compiled->metrics[compiled->metric_count++] = &set->metrics[i];
    }
    if (compiler->lowering.result != ZE_RESULT_SUCCESS)
        return compiler->lowering.result;
    if (compiled->metric_count == 0) {
        zeta_diagnose(compiler->sink, ZETA_SEVERITY_ERROR, set->file, set->line, 1,
                      "set %s: no metric of it exists on this device", set->name);
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t choose_entries(struct compiler *compiler)
{
    struct zeta_compiled *compiled = compiler->compiled;
    const struct zeta_set *set = compiler->set;
    size_t most = 0;

    for (uint32_t i = 0; i < set->program_count; i++)
        most += set->program[i].entry_count;
    compiled->entries = zeta_arena_array(&compiled->arena, most, sizeof(*compiled->entries));
    if (!compiled->entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < set->program_count; i++) {
        const struct zeta_program_part *part = &set->program[i];

        if (part->entry_count == 0 || !holds(compiler, part->condition))
            continue;
        memcpy(&compiled->entries[compiled->entry_count], part->entries,
               part->entry_count * sizeof(*part->entries));
        compiled->entry_count += part->entry_count;
    }
    return compiler->lowering.result;
}

static ze_result_t compile_outputs(struct compiler *compiler, bool maximum,
                                   struct zeta_program *out_program)
{
    const struct zeta_compiled *compiled = compiler->compiled;
    ZETA_CLEANUP(zeta_freep)
    uint32_t *buffer = malloc((size_t)compiled->metric_count * 2 * sizeof(*buffer));
    uint32_t *outputs = buffer;
    uint32_t *types = buffer + compiled->metric_count;

    if (!buffer)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < compiled->metric_count; i++) {
        uint32_t index = (uint32_t)(compiled->metrics[i] - compiler->set->metrics);

        outputs[i] = zeta_lower_output(&compiler->lowering, index, maximum);
        types[i] = (uint32_t)compiled->metrics[i]->value_type;
    }
    return zeta_schedule(&compiler->lowering, outputs, types, compiled->metric_count,
                         zeta_lower_skip(&compiler->lowering), out_program);
}

/** Time in which a field wraps around at its highest rate, less a quarter; 0: never, or unknown. */
static double wraps_after_ns(struct compiler *compiler, uint32_t field_index)
{
    const struct zeta_field *field = &compiler->set->layout->fields[field_index];
    uint64_t rate = 0;

    if (!field->rate ||
        !zeta_lower_constant(&compiler->lowering, zeta_lower_expr(&compiler->lowering, field->rate),
                             &rate) ||
        rate == 0)
        return 0;
    return ldexp(0.75e9, (int)field->delta_bits) / (double)rate;
}

/** Of the fields of which two records are read. */
static void find_longest(struct compiler *compiler)
{
    const uint32_t count = compiler->lowering.node_count;
    double longest_ns = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_node *node = &compiler->lowering.nodes[i];

        if (!zeta_node_is_load(node) || node->arg[1] == ZETA_VIEW_NOW)
            continue;
        const double ns = wraps_after_ns(compiler, node->arg[0]);
        if (ns > 0 && (longest_ns == 0 || ns < longest_ns))
            longest_ns = ns;
    }
    if (longest_ns < 0x1p63)
        compiler->compiled->longest_ns = (uint64_t)longest_ns;
}

static ze_result_t compile_parts(struct compiler *compiler)
{
    struct zeta_compiled *compiled = compiler->compiled;
    const struct zeta_set *set = compiler->set;
    ze_result_t result = compiler->lowering.result;
    bool wanted;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    wanted = holds(compiler, set->available);
    if (compiler->lowering.result != ZE_RESULT_SUCCESS)
        return compiler->lowering.result;
    if (!wanted) {
        zeta_diagnose(compiler->sink, ZETA_SEVERITY_NOTE, set->file, set->line, 1,
                      "set %s: its condition does not hold on this device", set->name);
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    result = choose_metrics(compiler);
    if (result == ZE_RESULT_SUCCESS)
        result = choose_entries(compiler);
    if (result == ZE_RESULT_SUCCESS)
        result = compile_outputs(compiler, false, &compiled->values);
    if (result == ZE_RESULT_SUCCESS)
        result = compile_outputs(compiler, true, &compiled->maxima);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_schedule(&compiler->lowering, NULL, NULL, 0,
                               zeta_lower_skip(&compiler->lowering), &compiled->rows);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    find_longest(compiler);
    return compiler->lowering.result;
}

static void compiled_freep(struct zeta_compiled **compiled)
{
    zeta_compiled_destroy(*compiled);
}

static ze_result_t compile(const struct zeta_catalog *catalog, const struct zeta_set *set,
                           bool query, const struct zeta_symbol_lookup *symbols,
                           struct zeta_diagnostics *sink, struct zeta_compiled **out_compiled)
{
    ZETA_CLEANUP(compiled_freep) struct zeta_compiled *compiled = calloc(1, sizeof(*compiled));
    ZETA_CLEANUP(zeta_freep) unsigned char *existence = calloc(set->metric_count, 1);
    struct compiler compiler = {
        .compiled = compiled,
        .set = set,
        .sink = sink,
        .existence = existence,
    };
    ze_result_t result;

    if (!compiled || !existence)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (query)
        compiler.set = set = zeta_query_form_make(set, &compiled->arena);
    if (!set)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    compiled->catalog = catalog;
    compiled->set = set;
    compiled->record_bytes = set->layout->record_bytes;
    compiled->needs_baseline = set->layout->kind == ZETA_LAYOUT_DELTA;
    result = resolve_symbols(compiled, symbols);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    zeta_lowering_init(&compiler.lowering, compiled, &compiled->arena, sink);
    result = compile_parts(&compiler);
    zeta_lowering_finish(&compiler.lowering);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_compiled = ZETA_TAKE(compiled);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_set_compile(const struct zeta_catalog *catalog, const struct zeta_set *set,
                             const struct zeta_symbol_lookup *symbols,
                             struct zeta_diagnostics *sink, struct zeta_compiled **out_compiled)
{
    return compile(catalog, set, false, symbols, sink, out_compiled);
}

ze_result_t zeta_set_compile_query(const struct zeta_catalog *catalog, const struct zeta_set *set,
                                   const struct zeta_symbol_lookup *symbols,
                                   struct zeta_diagnostics *sink,
                                   struct zeta_compiled **out_compiled)
{
    return compile(catalog, set, true, symbols, sink, out_compiled);
}

void zeta_compiled_destroy(struct zeta_compiled *compiled)
{
    if (!compiled)
        return;
    zeta_arena_finish(&compiled->arena);
    free(compiled);
}

const struct zeta_set *zeta_compiled_set(const struct zeta_compiled *compiled)
{
    return compiled->set;
}

uint32_t zeta_compiled_metric_count(const struct zeta_compiled *compiled)
{
    return compiled->metric_count;
}

const struct zeta_metric *zeta_compiled_metric(const struct zeta_compiled *compiled, uint32_t index)
{
    return compiled->metrics[index];
}

uint32_t zeta_compiled_record_bytes(const struct zeta_compiled *compiled)
{
    return compiled->record_bytes;
}

uint64_t zeta_compiled_longest_ns(const struct zeta_compiled *compiled)
{
    return compiled->longest_ns;
}

uint32_t zeta_compiled_program(const struct zeta_compiled *compiled,
                               const struct zeta_program_entry **out_entries)
{
    *out_entries = compiled->entries;
    return compiled->entry_count;
}

bool zeta_compiled_symbol(const struct zeta_compiled *compiled, const char *name,
                          struct zeta_number *out_value)
{
    for (uint32_t i = 0; i < zeta_catalog_symbol_count(compiled->catalog); i++) {
        if (strcmp(zeta_catalog_symbol(compiled->catalog, i)->name, name) == 0) {
            if (compiled->symbol_known[i])
                *out_value = compiled->symbols[i];
            return compiled->symbol_known[i];
        }
    }
    return false;
}
