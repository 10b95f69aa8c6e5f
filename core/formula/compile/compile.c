#include "core/formula/compile/compile.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/lower.h"
#include "core/formula/compile/program.h"
#include "core/formula/sets/query_form.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

struct compiler {
    const struct zeta_compiled *compiled;
    struct zeta_compiled_body *body;
    const struct zeta_set *set;
    struct zeta_diagnostics *sink;
    unsigned char *existence; /**< per metric of the set, enum existence */
    double longest_ns;        /**< 0: no limit was found */
    ze_result_t result;       /**< DEPENDENCY_UNAVAILABLE once a symbol was missing */
};

/** Sets with more nodes in their expressions are compiled at once: they may be too large. */
#define MANY_NODES 4096u

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

struct zeta_symbol_values *zeta_symbol_values_create(const struct zeta_catalog *catalog,
                                                     const struct zeta_symbol_lookup *lookup)
{
    const uint32_t count = zeta_catalog_symbol_count(catalog);
    struct zeta_symbol_values *values =
        calloc(1, sizeof(*values) + count * (sizeof(values->numbers[0]) + sizeof(bool)));

    if (!values)
        return NULL;
    values->known = (bool *)(void *)&values->numbers[count];
    for (uint32_t i = 0; i < count; i++)
        values->known[i] =
            zeta_symbol_number(zeta_catalog_symbol(catalog, i), lookup, &values->numbers[i]);
    return values;
}

/** True if the device has a symbol; else, with a finding, the set cannot be compiled. */
static bool is_known(struct compiler *compiler, const struct zeta_expr *symbol)
{
    if (compiler->compiled->symbol_known[symbol->u.ref.target])
        return true;
    if (compiler->result == ZE_RESULT_SUCCESS)
        zeta_diagnose(compiler->sink, ZETA_SEVERITY_ERROR, compiler->set->file, symbol->line,
                      symbol->column, "set %s: the device provides no value of $%s",
                      compiler->set->name, symbol->u.ref.name);
    compiler->result = ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
    return false;
}

/** A symbol's number; of one that the device does not have, the finding is enough. */
static bool find_number(void *context, const struct zeta_expr *symbol,
                        struct zeta_number *out_number)
{
    struct compiler *compiler = context;

    (void)is_known(compiler, symbol);
    *out_number = compiler->compiled->symbols[symbol->u.ref.target];
    return true;
}

/** The number of an expression of type u64 over symbols; NULL is true. */
static uint64_t number_of(struct compiler *compiler, const struct zeta_expr *expr)
{
    struct zeta_number number = {.u.u64 = 1};

    if (expr)
        (void)zeta_expr_evaluate(expr, find_number, compiler, &number);
    return number.u.u64;
}

static bool is_known_symbol(void *compiler, const struct zeta_expr *node)
{
    return node->op != ZETA_EXPR_SYMBOL || is_known(compiler, node);
}

/** A metric exists if its condition holds and the metrics that it refers to exist. */
static bool metric_exists(struct compiler *compiler, uint32_t index);

static bool is_existing_metric(void *compiler, const struct zeta_expr *node)
{
    return node->op != ZETA_EXPR_METRIC || metric_exists(compiler, node->u.ref.target);
}

static bool metric_exists(struct compiler *compiler, uint32_t index)
{
    const struct zeta_metric *metric = &compiler->set->metrics[index];

    if (compiler->existence[index] == EXISTENCE_UNKNOWN)
        compiler->existence[index] =
            number_of(compiler, metric->available) != 0 &&
                    zeta_expr_every(metric->value, is_existing_metric, compiler) &&
                    zeta_expr_every(metric->maximum, is_existing_metric, compiler)
                ? EXISTS
                : DOES_NOT_EXIST;
    return compiler->existence[index] == EXISTS;
}

static ze_result_t choose_metrics(struct compiler *compiler)
{
    struct zeta_compiled_body *body = compiler->body;
    const struct zeta_set *set = compiler->set;

    body->metrics = zeta_arena_array(&body->arena, set->metric_count, sizeof(body->metrics[0]));
    compiler->existence = calloc(set->metric_count, 1);
    if (!body->metrics || !compiler->existence)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < set->metric_count; i++) {
        if (metric_exists(compiler, i) &&
            zeta_expr_every(set->metrics[i].value, is_known_symbol, compiler) &&
            zeta_expr_every(set->metrics[i].maximum, is_known_symbol, compiler))
            body->metrics[body->metric_count++] = &set->metrics[i];
    }
    if (compiler->result != ZE_RESULT_SUCCESS)
        return compiler->result;
    if (body->metric_count == 0) {
        zeta_diagnose(compiler->sink, ZETA_SEVERITY_ERROR, set->file, set->line, 1,
                      "set %s: no metric of it exists on this device", set->name);
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    return ZE_RESULT_SUCCESS;
}

/** Takes the entries of the parts whose condition holds, one behind the other. */
static ze_result_t choose_entries(struct compiler *compiler)
{
    struct zeta_compiled_body *body = compiler->body;
    const struct zeta_set *set = compiler->set;
    struct zeta_program_entry *entries;
    size_t most = 0;

    for (uint32_t i = 0; i < set->program_count; i++)
        most += set->program[i].entry_count;
    if (most == 0)
        return ZE_RESULT_SUCCESS;
    entries = zeta_arena_array(&body->arena, most, sizeof(*entries));
    if (!entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < set->program_count; i++) {
        const struct zeta_program_part *part = &set->program[i];

        if (part->entry_count == 0 || number_of(compiler, part->condition) == 0)
            continue;
        memcpy(&entries[body->entry_count], part->entries,
               part->entry_count * sizeof(*part->entries));
        body->entry_count += part->entry_count;
    }
    body->entries = entries;
    return compiler->result;
}

static ze_result_t compile_outputs(struct zeta_lowering *lowering, bool maximum,
                                   struct zeta_program *out_program)
{
    const struct zeta_compiled_body *body = lowering->body;
    ZETA_CLEANUP(zeta_freep)
    uint32_t *buffer = malloc((size_t)body->metric_count * 2 * sizeof(*buffer));
    uint32_t *outputs = buffer;
    uint32_t *types = buffer + body->metric_count;

    if (!buffer)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < body->metric_count; i++) {
        outputs[i] =
            zeta_lower_output(lowering, (uint32_t)(body->metrics[i] - body->set->metrics), maximum);
        types[i] = (uint32_t)body->metrics[i]->value_type;
    }
    return zeta_schedule(lowering, outputs, types, body->metric_count, zeta_lower_skip(lowering),
                         out_program);
}

static void free_programs(struct zeta_compiled_programs *programs)
{
    if (!programs)
        return;
    zeta_arena_finish(&programs->arena);
    free(programs);
}

static ze_result_t make_programs(const struct zeta_compiled *compiled,
                                 const struct zeta_compiled_body *body,
                                 struct zeta_diagnostics *sink,
                                 struct zeta_compiled_programs **out_programs)
{
    struct zeta_compiled_programs *programs = calloc(1, sizeof(*programs));
    struct zeta_lowering lowering;
    ze_result_t result;

    if (!programs)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zeta_lowering_init(&lowering, compiled, body, &programs->arena, sink);
    result = lowering.result;
    if (result == ZE_RESULT_SUCCESS)
        result = compile_outputs(&lowering, false, &programs->values);
    if (result == ZE_RESULT_SUCCESS)
        result = compile_outputs(&lowering, true, &programs->maxima);
    if (result == ZE_RESULT_SUCCESS)
        result =
            zeta_schedule(&lowering, NULL, NULL, 0, zeta_lower_skip(&lowering), &programs->rows);
    zeta_lowering_finish(&lowering);
    if (result == ZE_RESULT_SUCCESS)
        *out_programs = programs;
    else
        free_programs(programs);
    return result;
}

const struct zeta_compiled_programs *zeta_compiled_programs(const struct zeta_compiled *compiled)
{
    /* No lock, which a child of fork() could find taken: of two threads one made it in vain. */
    struct zeta_compiled *target = (struct zeta_compiled *)(uintptr_t)compiled;
    struct zeta_compiled_programs *programs = atomic_load(&target->programs);
    struct zeta_compiled_programs *made = NULL;
    const struct zeta_compiled_body *body;

    if (programs)
        return programs;
    body = zeta_compiled_body(compiled);
    if (body->result != ZE_RESULT_SUCCESS ||
        make_programs(compiled, body, NULL, &made) != ZE_RESULT_SUCCESS)
        return NULL;
    if (atomic_compare_exchange_strong(&target->programs, &programs, made))
        return made;
    free_programs(made);
    return programs;
}

/**
 * True if making programs may fail for a reason that a user has to know: the set is too large, or
 * its layout needs a symbol that the device does not have.
 */
static bool may_fail(const struct compiler *compiler)
{
    struct compiler silent = {
        .compiled = compiler->compiled, .body = compiler->body, .set = compiler->set};
    const struct zeta_compiled_body *body = compiler->body;
    const struct zeta_layout *layout = compiler->set->layout;
    uint32_t nodes = 0;

    for (uint32_t i = 0; i < body->metric_count; i++)
        nodes +=
            zeta_expr_count(body->metrics[i]->value) + zeta_expr_count(body->metrics[i]->maximum);
    if (nodes > MANY_NODES || !zeta_expr_every(layout->baseline, is_known_symbol, &silent))
        return true;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        if (!zeta_expr_every(layout->fields[i].rate, is_known_symbol, &silent))
            return true;
    }
    return false;
}

/** Makes the longest time no longer than it takes a field to come around, less a quarter. */
static void shorten_by_field(struct compiler *compiler, uint32_t index)
{
    const struct zeta_field *field = &compiler->set->layout->fields[index];
    const uint64_t rate = field->rate ? number_of(compiler, field->rate) : 0;
    const double ns = rate ? ldexp(0.75e9, (int)field->delta_bits) / (double)rate : 0;

    if (rate != 0 && (compiler->longest_ns == 0 || ns < compiler->longest_ns))
        compiler->longest_ns = ns;
}

/** The same for a field of which an expression reads two records, and its valid bits. */
static bool shorten_by_node(void *context, const struct zeta_expr *node)
{
    struct compiler *compiler = context;

    if (node->op == ZETA_EXPR_FIELD && node->u.ref.view != ZETA_VIEW_NOW) {
        const uint32_t valid = compiler->set->layout->fields[node->u.ref.target].valid_field;

        shorten_by_field(compiler, node->u.ref.target);
        if (valid != ZETA_FIELD_NONE)
            shorten_by_field(compiler, valid);
    }
    return true;
}

/** zeta_compiled_longest_ns(); a symbol that is missing is a failure of the compiler. */
static uint64_t find_longest_ns(struct compiler *compiler, const struct zeta_compiled_body *body)
{
    const struct zeta_layout *layout = compiler->set->layout;

    if (layout->kind != ZETA_LAYOUT_DELTA)
        return 0;
    /* What a metric refers to exists too, so its fields are seen without following it. */
    for (uint32_t i = 0; i < body->metric_count; i++) {
        (void)zeta_expr_every(body->metrics[i]->value, shorten_by_node, compiler);
        (void)zeta_expr_every(body->metrics[i]->maximum, shorten_by_node, compiler);
    }
    for (uint32_t i = 0; i < layout->identity_count; i++)
        shorten_by_field(compiler, layout->identity[i]);
    return compiler->longest_ns < 0x1p63 ? (uint64_t)compiler->longest_ns : 0;
}

static void free_body(struct zeta_compiled_body *body)
{
    if (!body)
        return;
    zeta_arena_finish(&body->arena);
    free(body);
}

/** Makes what is behind the condition of a set: linked, if that was deferred, for the device. */
static struct zeta_compiled_body *make_body(const struct zeta_compiled *compiled,
                                            struct zeta_diagnostics *sink)
{
    struct zeta_compiled_body *body = calloc(1, sizeof(*body));
    struct compiler compiler = {.compiled = compiled, .body = body, .sink = sink};
    struct zeta_compiled_programs *programs = NULL;
    ze_result_t result;

    if (!body)
        return NULL;
    body->set = compiled->set;
    if (compiled->set->deferred) {
        result = zeta_set_link_deferred(compiled->catalog, compiled->set, &body->arena, sink,
                                        &body->linked);
        if (result != ZE_RESULT_SUCCESS)
            goto failed;
        body->set = &body->linked;
        if (compiled->set->query_of) {
            result = ZE_RESULT_ERROR_INVALID_ARGUMENT; /* the finding says why */
            if ((body->linked.sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) == 0)
                goto failed;
            zeta_query_form_make(&body->linked, &body->query_form);
            body->set = &body->query_form;
        }
    }
    compiler.set = body->set;
    result = choose_metrics(&compiler);
    if (result == ZE_RESULT_SUCCESS)
        result = choose_entries(&compiler);
    if (result == ZE_RESULT_SUCCESS && may_fail(&compiler)) {
        (void)find_longest_ns(&compiler, body);
        result = compiler.result;
        if (result == ZE_RESULT_SUCCESS)
            result = make_programs(compiled, body, sink, &programs);
        free_programs(programs);
    }
    free(compiler.existence);
    if (result == ZE_RESULT_SUCCESS)
        return body;

failed:
    zeta_arena_finish(&body->arena);
    *body = (struct zeta_compiled_body){.set = compiled->set, .result = result};
    return body;
}

/* Apart from zeta_compiled_body(), whose other calls are to cost a load. */
static __attribute__((noinline)) const struct zeta_compiled_body *
make_body_once(struct zeta_compiled *compiled)
{
    static const struct zeta_compiled_body none = {.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY};
    struct zeta_diagnostics sink = {.report = compiled->report,
                                    .context = compiled->report_context};
    struct zeta_compiled_body *made = make_body(compiled, &sink);
    struct zeta_compiled_body *body = NULL;

    if (!made || made->result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) {
        free_body(made); /* may work later */
        return &none;
    }
    if (atomic_compare_exchange_strong(&compiled->body, &body, made))
        return made;
    free_body(made);
    return body;
}

const struct zeta_compiled_body *zeta_compiled_body(const struct zeta_compiled *compiled)
{
    struct zeta_compiled *target = (struct zeta_compiled *)(uintptr_t)compiled;
    const struct zeta_compiled_body *body =
        atomic_load_explicit(&target->body, memory_order_acquire);

    return body ? body : make_body_once(target);
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
    const struct zeta_symbol_values *values = symbols ? symbols->values : NULL;
    struct compiler compiler = {.compiled = compiled, .set = set, .sink = sink};
    ze_result_t result;
    bool wanted;

    if (!compiled)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (!values)
        values = compiled->own_values = zeta_symbol_values_create(catalog, symbols);
    if (!values)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    compiled->catalog = catalog;
    compiled->set = set;
    if (query) {
        zeta_query_form_make(set, &compiled->query_form);
        compiled->set = &compiled->query_form;
    }
    compiled->record_bytes = compiled->set->layout->record_bytes;
    compiled->needs_baseline = compiled->set->layout->kind == ZETA_LAYOUT_DELTA;
    compiled->symbols = values->numbers;
    compiled->symbol_known = values->known;
    wanted = number_of(&compiler, set->available) != 0;
    if (compiler.result != ZE_RESULT_SUCCESS)
        return compiler.result;
    if (!wanted) {
        zeta_diagnose(sink, ZETA_SEVERITY_NOTE, set->file, set->line, 1,
                      "set %s: its condition does not hold on this device", set->name);
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    if (set->deferred) {
        compiled->report = sink ? sink->report : NULL;
        compiled->report_context = sink ? sink->context : NULL;
    } else {
        struct zeta_compiled_body *body = make_body(compiled, sink);

        atomic_store(&compiled->body, body);
        result = body ? body->result : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
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
    free_programs(atomic_load(&compiled->programs));
    free_body(atomic_load(&compiled->body));
    free(compiled->own_values);
    free(compiled);
}

const struct zeta_set *zeta_compiled_set(const struct zeta_compiled *compiled)
{
    return compiled->set;
}

ze_result_t zeta_compiled_check(const struct zeta_compiled *compiled)
{
    const ze_result_t result = zeta_compiled_body(compiled)->result;
    const struct zeta_set *set = compiled->set;

    if (result == ZE_RESULT_SUCCESS)
        return result;
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return zeta_error_no_memory("the metrics of a set");
    return zeta_error(result,
                      "set %s (%s:%u) cannot be used on this device; the log of its first use says "
                      "why",
                      set->name, set->file, set->line);
}

uint32_t zeta_compiled_metric_count(const struct zeta_compiled *compiled)
{
    return zeta_compiled_body(compiled)->metric_count;
}

const struct zeta_metric *zeta_compiled_metric(const struct zeta_compiled *compiled, uint32_t index)
{
    const struct zeta_compiled_body *body = zeta_compiled_body(compiled);

    return body->metrics ? body->metrics[index] : NULL;
}

uint32_t zeta_compiled_record_bytes(const struct zeta_compiled *compiled)
{
    return compiled->record_bytes;
}

uint64_t zeta_compiled_longest_ns(const struct zeta_compiled *compiled)
{
    const struct zeta_compiled_body *body = zeta_compiled_body(compiled);
    struct compiler compiler = {.compiled = compiled, .set = compiled->set};

    return find_longest_ns(&compiler, body);
}

uint32_t zeta_compiled_program(const struct zeta_compiled *compiled,
                               const struct zeta_program_entry **out_entries)
{
    const struct zeta_compiled_body *body = zeta_compiled_body(compiled);

    *out_entries = body->entries;
    return body->entry_count;
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
