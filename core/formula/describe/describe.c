#include "core/formula/describe/describe.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "core/formula/compile/compile.h"
#include "core/formula/compile/program.h"
#include "core/formula/sets/set.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/fork_state.h"
#include "core/util/hash.h"

/* Texts and numbers ----------------------------------------------------------------------------
 */

/** Characters that a quoted scalar may not hold as they are, and how they are written. */
static const struct {
    const char *bytes;
    const char *escape;
} escapes[] = {
    {"\"", "\\\""},          {"\\", "\\\\"},          {"\xc2\x85", "\\N"},
    {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}, {"\xef\xbb\xbf", "\\uFEFF"},
};

static void add_quoted(struct zeta_text *text, const char *value)
{
    zeta_text_append(text, "\"", 1);
    while (*value) {
        size_t length = 1;
        const char *written = value;
        size_t written_length = 1;

        for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
            const size_t bytes = strlen(escapes[i].bytes);

            if (strncmp(value, escapes[i].bytes, bytes) == 0) {
                length = bytes;
                written = escapes[i].escape;
                written_length = strlen(written);
            }
        }
        zeta_text_append(text, written, written_length);
        value += length;
    }
    zeta_text_append(text, "\"", 1);
}

/* Expressions, with as few parentheses as their grammar allows ---------------------------------
 */

static void add_expression(struct zeta_text *text, const struct zeta_set *set,
                           const struct zeta_expr *expr);

static unsigned precedence_of(const struct zeta_expr *expr)
{
    return zeta_expr_operations[expr->op].precedence;
}

static void add_constant(struct zeta_text *text, const struct zeta_number *number)
{
    char digits[40];

    if (number->type == ZETA_EXPR_U64) {
        zeta_text_add(text, "%" PRIu64, number->u.u64);
        return;
    }
    /* With 17 digits every number is read back as it was; a point makes it an f64. */
    (void)zeta_c_snprintf(digits, sizeof(digits), "%.17g", number->u.f64);
    zeta_text_add(text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static void add_field(struct zeta_text *text, const struct zeta_set *set,
                      const struct zeta_expr *expr)
{
    const struct zeta_layout *layout = set->layout;
    const uint32_t target = expr->u.ref.target;
    const struct zeta_field *field = &layout->fields[target];
    const enum zeta_expr_view usual = field->delta_bits > 0 ? ZETA_VIEW_DELTA : ZETA_VIEW_NOW;
    const bool is_usual = expr->u.ref.view == usual;

    if (!is_usual)
        zeta_text_add(text, "%s(", zeta_view_names[expr->u.ref.view]);
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
    add_expression(text, set, argument);
    if (apart)
        zeta_text_add(text, ")");
}

static void add_operation(struct zeta_text *text, const struct zeta_set *set,
                          const struct zeta_expr *expr)
{
    struct zeta_expr *const *arg = expr->u.arg;
    const unsigned precedence = precedence_of(expr);

    if (precedence == ZETA_PRECEDENCE_OPERAND) {
        zeta_text_add(text, "%s(", zeta_expr_op_name(expr->op));
        for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
            zeta_text_add(text, "%s", i > 0 ? ", " : "");
            add_expression(text, set, arg[i]);
        }
        zeta_text_add(text, ")");
    } else if (precedence == ZETA_PRECEDENCE_UNARY) {
        zeta_text_add(text, "%s", zeta_expr_op_name(expr->op));
        add_argument(text, set, arg[0], ZETA_PRECEDENCE_UNARY);
    } else if (precedence == ZETA_PRECEDENCE_CHOICE) {
        add_argument(text, set, arg[0], 1);
        zeta_text_add(text, " ? ");
        add_expression(text, set, arg[1]);
        zeta_text_add(text, " : ");
        add_expression(text, set, arg[2]);
    } else {
        /* All binary operators group from the left. */
        add_argument(text, set, arg[0], precedence);
        zeta_text_add(text, " %s ", zeta_expr_op_name(expr->op));
        add_argument(text, set, arg[1], precedence + 1);
    }
}

static void add_expression(struct zeta_text *text, const struct zeta_set *set,
                           const struct zeta_expr *expr)
{
    struct zeta_number number;

    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        number = zeta_expr_constant(expr);
        add_constant(text, &number);
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

/* Metrics --------------------------------------------------------------------------------------
 */

/** key: "value" in a line of its own. */
static void add_text(struct zeta_text *text, int indent, const char *key, const char *value)
{
    zeta_text_add(text, "%*s%s: ", indent, "", key);
    add_quoted(text, value);
    zeta_text_add(text, "\n");
}

/** key: "expression"; nothing without one. */
static void add_expr(struct zeta_text *text, int indent, const char *key,
                     const struct zeta_set *set, const struct zeta_expr *expr)
{
    if (!expr)
        return;
    zeta_text_add(text, "%*s%s: \"", indent, "", key);
    add_expression(text, set, expr);
    zeta_text_add(text, "\"\n");
}

static void add_one_metric(struct zeta_text *text, const struct zeta_set *set,
                           const struct zeta_metric *metric, int indent)
{
    zeta_text_add(text, "%*s- name: %s\n", indent, "", metric->name);
    indent += 2;
    add_text(text, indent, "description", metric->description);
    add_text(text, indent, "component", metric->component);
    zeta_text_add(text, "%*stype: %s\n", indent, "", zeta_word_of(zeta_metric_types, metric->type));
    zeta_text_add(text, "%*svalue_type: %s\n", indent, "",
                  zeta_word_of(zeta_value_types, metric->value_type));
    add_text(text, indent, "unit", metric->unit);
    zeta_text_add(text, "%*stier: %u\n", indent, "", metric->tier);
    zeta_text_add(text, "%*sclass: %s\n", indent, "", zeta_metric_class_name(metric->metric_class));
    add_expr(text, indent, "when", set, metric->available);
    add_expr(text, indent, "value", set, metric->value);
    add_expr(text, indent, "max", set, metric->maximum);
    if (metric->event_count > 0) {
        zeta_text_add(text, "%*sevents: [", indent, "");
        for (uint32_t i = 0; i < metric->event_count; i++)
            zeta_text_add(text, "%s%s", i > 0 ? ", " : "", metric->events[i].name);
        zeta_text_add(text, "]\n");
    }
}

static void add_metrics(struct zeta_text *text, const struct zeta_set *set,
                        const struct zeta_metric *metrics, uint32_t count, int indent)
{
    for (uint32_t i = 0; i < count; i++)
        add_one_metric(text, set, &metrics[i], indent);
}

/* Layouts: fields one by one, counters in runs that are as long as possible --------------------
 */

/** Largest bit and step of a validity bit that set files allow in a run. */
#define VALID_MAX 63u

/** "at: n" and, if it is not 0, "bit: n". */
static void add_place(struct zeta_text *text, uint32_t bit)
{
    zeta_text_add(text, "at: %u", bit / 8);
    if (bit % 8 != 0)
        zeta_text_add(text, ", bit: %u", bit % 8);
}

/** What single fields and runs have in common. Distances of 0 belong to single fields. */
static void add_number(struct zeta_text *text, const struct zeta_layout *layout,
                       const struct zeta_field *field, uint32_t high_stride, uint32_t valid_step)
{
    zeta_text_add(text, ", width: %u", field->low_width);
    if (field->high_width > 0) {
        zeta_text_add(text, ", hi: {");
        add_place(text, field->high_bit);
        if (high_stride > 0)
            zeta_text_add(text, ", stride_bits: %u", high_stride);
        zeta_text_add(text, ", width: %u}", field->high_width);
    }
    if (field->is_float)
        zeta_text_add(text, ", type: f64");
    if (layout->kind == ZETA_LAYOUT_DELTA && field->delta_bits > 0)
        zeta_text_add(text, ", delta: %u", field->delta_bits);
    else if (layout->kind == ZETA_LAYOUT_DELTA)
        zeta_text_add(text, ", delta: false");
    if (field->valid_field != ZETA_FIELD_NONE) {
        zeta_text_add(text, ", valid: {field: %s, bit: %u", layout->fields[field->valid_field].name,
                      field->valid_bit);
        if (valid_step > 0)
            zeta_text_add(text, ", step: %u", valid_step);
        zeta_text_add(text, "}");
    }
    zeta_text_add(text, "}");
}

static void add_header(struct zeta_text *text, const struct zeta_layout *layout)
{
    if (layout->header_count == 0)
        return;
    zeta_text_add(text, "    header:\n");
    for (uint32_t i = 0; i < layout->header_count; i++) {
        const struct zeta_field *field = &layout->fields[i];

        zeta_text_add(text, "      %s: {", field->name);
        if (field->part_of != ZETA_FIELD_NONE) {
            const struct zeta_field *whole = &layout->fields[field->part_of];

            zeta_text_add(text, "in: %s, bit: %u, width: %u}", whole->name,
                          field->low_bit - whole->low_bit, field->low_width);
        } else {
            add_place(text, field->low_bit);
            add_number(text, layout, field, 0, 0);
        }
        zeta_text_add(text, "\n");
    }
}

/** Distances between the fields of a run. */
struct step {
    uint32_t low;
    uint32_t high;
    uint32_t valid;
};

/** The distances from a field to its successor; false if no run can hold both. */
static bool find_step(const struct zeta_field *a, const struct zeta_field *b, struct step *out_step)
{
    if (a->low_width != b->low_width || a->high_width != b->high_width ||
        a->is_float != b->is_float || a->delta_bits != b->delta_bits ||
        a->valid_field != b->valid_field || b->low_bit <= a->low_bit)
        return false;
    if (a->high_width > 0 && b->high_bit < a->high_bit)
        return false;
    if (a->valid_field != ZETA_FIELD_NONE &&
        (b->valid_bit < a->valid_bit || b->valid_bit - a->valid_bit > VALID_MAX))
        return false;
    *out_step = (struct step){
        .low = b->low_bit - a->low_bit,
        .high = a->high_width > 0 ? b->high_bit - a->high_bit : 0,
        .valid = a->valid_field != ZETA_FIELD_NONE ? b->valid_bit - a->valid_bit : 0,
    };
    return true;
}

/** Fields from first that make one run. */
static uint32_t run_length(const struct zeta_field *first, uint32_t most, struct step *out_step)
{
    uint32_t length = 1;

    *out_step = (struct step){0};
    for (; length < most; length++) {
        struct step step;

        if (!find_step(&first[length - 1], &first[length], &step))
            break;
        if (length > 1 && memcmp(&step, out_step, sizeof(step)) != 0)
            break;
        *out_step = step;
    }
    return length;
}

static void add_bank(struct zeta_text *text, const struct zeta_layout *layout,
                     const struct zeta_bank *bank)
{
    zeta_text_add(text, "      %s:%s\n", bank->name, bank->count == 0 ? " []" : "");
    for (uint32_t i = 0; i < bank->count;) {
        const struct zeta_field *first = &layout->fields[bank->first_field + i];
        struct step step;
        const uint32_t length = run_length(first, bank->count - i, &step);

        zeta_text_add(text, "        - {n: %u, ", length);
        add_place(text, first->low_bit);
        if (length > 1)
            zeta_text_add(text, ", stride_bits: %u", step.low);
        add_number(text, layout, first, step.high, step.valid);
        zeta_text_add(text, "\n");
        i += length;
    }
}

static void add_layout(struct zeta_text *text, const struct zeta_set *set)
{
    static const char *const kinds[ZETA_LAYOUT_KIND_COUNT] = {[ZETA_LAYOUT_DELTA] = "delta",
                                                              [ZETA_LAYOUT_SAMPLE] = "sample",
                                                              [ZETA_LAYOUT_EVENT] = "event"};
    const struct zeta_layout *layout = set->layout;

    zeta_text_add(text, "  - name: %s\n    kind: %s\n    record: %u\n", layout->name,
                  kinds[layout->kind], layout->record_bytes);
    add_header(text, layout);
    if (layout->bank_count > 0)
        zeta_text_add(text, "    counters:\n");
    for (uint32_t i = 0; i < layout->bank_count; i++)
        add_bank(text, layout, &layout->banks[i]);
    if (layout->identity_count > 0) {
        zeta_text_add(text, "    identity: [");
        for (uint32_t i = 0; i < layout->identity_count; i++)
            zeta_text_add(text, "%s%s", i > 0 ? ", " : "",
                          layout->fields[layout->identity[i]].name);
        zeta_text_add(text, "]\n");
    }
    add_expr(text, 4, "baseline", set, layout->baseline);
    if (layout->event_count > 0)
        zeta_text_add(text, "    events:\n");
    for (uint32_t i = 0; i < layout->event_count; i++)
        zeta_text_add(text, "      %s: %u\n", layout->events[i].name, layout->events[i].number);
    if (layout->info_count > 0) {
        zeta_text_add(text, "    info:\n");
        add_metrics(text, set, layout->info, layout->info_count, 6);
    }
}

/* Symbols --------------------------------------------------------------------------------------
 */

/** Notes a symbol that the set needs. */
static bool mark(void *used, const struct zeta_expr *node)
{
    if (node->op == ZETA_EXPR_SYMBOL)
        ((bool *)used)[node->u.ref.target] = true;
    return true;
}

static void mark_metrics(bool *used, const struct zeta_metric *metrics, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)zeta_expr_every(metrics[i].available, mark, used);
        (void)zeta_expr_every(metrics[i].value, mark, used);
        (void)zeta_expr_every(metrics[i].maximum, mark, used);
    }
}

/** Adds one symbol with the number that it has on the device. */
static ze_result_t add_symbol(struct zeta_text *text, const struct zeta_compiled *compiled,
                              uint32_t index)
{
    const struct zeta_symbol *symbol = zeta_catalog_symbol(compiled->catalog, index);
    const struct zeta_number *value = &compiled->symbols[index];

    zeta_text_add(text, "  %s: {", symbol->name);
    if (!compiled->symbol_known[index]) {
        /* Nothing that exists on the device needs it; the reader finds out the same. */
        zeta_text_add(text, "from: provider, type: %s}\n", zeta_expr_type_name(symbol->value.type));
        return ZE_RESULT_SUCCESS;
    }
    if (value->type == ZETA_EXPR_F64 && !isfinite(value->u.f64))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "$%s of the device is %g, which a set file cannot hold; data of set %s "
                          "cannot be exported or recorded",
                          symbol->name, value->u.f64, compiled->set->name);
    zeta_text_add(text, "value: ");
    add_constant(text, value);
    zeta_text_add(text, "}\n");
    return ZE_RESULT_SUCCESS;
}

/** The number of the next symbol by name, behind the one before; the count if there is none. */
static uint32_t next_symbol(const struct zeta_catalog *catalog, const bool *used,
                            const char *before)
{
    const uint32_t count = zeta_catalog_symbol_count(catalog);
    uint32_t next = count;

    for (uint32_t i = 0; i < count; i++) {
        const char *name = zeta_catalog_symbol(catalog, i)->name;

        if (used[i] && strcmp(name, before) > 0 &&
            (next == count || strcmp(name, zeta_catalog_symbol(catalog, next)->name) < 0))
            next = i;
    }
    return next;
}

/** The symbols that the set needs, in the order of their names. */
static ze_result_t add_symbols(struct zeta_text *text, const struct zeta_compiled *compiled,
                               const struct zeta_set *set)
{
    const uint32_t count = zeta_catalog_symbol_count(compiled->catalog);
    ZETA_CLEANUP(zeta_freep) bool *used = calloc((size_t)count + 1, sizeof(*used));
    const char *before = "";
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!used)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (void)zeta_expr_every(set->available, mark, used);
    (void)zeta_expr_every(set->layout->baseline, mark, used);
    mark_metrics(used, set->layout->info, set->layout->info_count);
    mark_metrics(used, set->metrics, set->metric_count);
    for (uint32_t i = 0; i < set->program_count; i++)
        (void)zeta_expr_every(set->program[i].condition, mark, used);
    for (uint32_t i = next_symbol(compiled->catalog, used, before);
         i < count && result == ZE_RESULT_SUCCESS;
         i = next_symbol(compiled->catalog, used, before)) {
        if (before[0] == '\0')
            zeta_text_add(text, "symbols:\n");
        result = add_symbol(text, compiled, i);
        before = zeta_catalog_symbol(compiled->catalog, i)->name;
    }
    return result;
}

/* The set --------------------------------------------------------------------------------------
 */

/** Registers without their classes, which matter only to who programs the unit. */
static void add_unit(struct zeta_text *text, const struct zeta_unit *unit)
{
    zeta_text_add(text, "units:\n  %s:\n", unit->name);
    add_text(text, 4, "description", unit->description);
    if (!unit->has_ranges)
        return;
    zeta_text_add(text, "    registers: [");
    for (uint32_t i = 0; i < unit->range_count; i++)
        zeta_text_add(text, "%s[%u, %u]", i > 0 ? ", " : "", unit->ranges[i].first,
                      unit->ranges[i].last);
    zeta_text_add(text, "]\n");
}

static void add_program(struct zeta_text *text, const struct zeta_set *set)
{
    const char *head = "    program:\n";

    for (uint32_t i = 0; i < set->program_count; i++) {
        const struct zeta_program_part *part = &set->program[i];

        if (part->entry_count == 0)
            continue;
        zeta_text_add(text, "%s      - %s: [", head,
                      part->entries[0].select ? "select" : "registers");
        head = "";
        for (uint32_t k = 0; k < part->entry_count; k++) {
            const struct zeta_program_entry *entry = &part->entries[k];

            zeta_text_add(text, "%s", k > 0 ? ", " : "");
            if (entry->select)
                add_quoted(text, entry->select);
            else
                zeta_text_add(text, "[%u, %u]", entry->address, entry->value);
        }
        zeta_text_add(text, "]\n");
        add_expr(text, 8, "when", set, part->condition);
    }
}

static void add_sampling(struct zeta_text *text, const struct zeta_set *set)
{
    const char *separator = "";

    zeta_text_add(text, "    sampling: [");
    for (uint32_t flag = 1; flag <= set->sampling; flag <<= 1) {
        if ((set->sampling & flag) == 0)
            continue;
        zeta_text_add(text, "%s%s", separator, zeta_word_of(zeta_sampling_words, flag));
        separator = ", ";
    }
    zeta_text_add(text, "]\n");
}

ze_result_t zeta_describe_set(const struct zeta_compiled *compiled, struct zeta_text *text)
{
    const struct zeta_compiled_body *body = zeta_compiled_body(compiled);
    const struct zeta_set *set = body->set;
    ze_result_t result = body->result;
    uint32_t own = 0; /* metrics; those of the layout are at the end of the list */

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (set->query_of)
        set = set->query_of;
    while (own < set->metric_count && !set->metrics[own].is_info)
        own++;
    zeta_text_add(text, "format: 1\n");
    result = add_symbols(text, compiled, set);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    add_unit(text, set->unit);
    zeta_text_add(text, "layouts:\n");
    add_layout(text, set);
    zeta_text_add(text, "sets:\n  - name: %s\n", set->name);
    if (set->uuid)
        zeta_text_add(text, "    uuid: %s\n", set->uuid);
    add_text(text, 4, "description", set->description);
    zeta_text_add(text, "    domain: %u\n    unit: %s\n    layout: %s\n", set->domain,
                  set->unit->name, set->layout->name);
    add_sampling(text, set);
    add_expr(text, 4, "when", set, set->available);
    add_program(text, set);
    zeta_text_add(text, "    metrics:%s\n", own == 0 ? " []" : "");
    add_metrics(text, set, set->metrics, own, 6);
    return text->failed ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

uint64_t zeta_describe_digest(const void *text, size_t bytes)
{
    return zeta_hash(ZETA_HASH_START, text, bytes);
}

/* Descriptions: texts of sets, compiled and kept -----------------------------------------------
 */

struct zeta_description {
    struct zeta_description *next; /**< used last comes first */
    uint64_t digest;
    char *text;
    size_t bytes;
    zet_metric_group_sampling_type_flag_t sampling; /* how its data came about */
    uint32_t users;
    struct zeta_catalog *catalog;
    struct zeta_compiled *compiled;
};

/** One for the process. */
struct cache {
    struct zeta_fork_state fork;
    struct zeta_description *first;
    uint32_t count;
};

static struct zeta_fork_root caches;

static void destroy(struct zeta_description *description)
{
    if (!description)
        return;
    zeta_compiled_destroy(description->compiled);
    zeta_catalog_destroy(description->catalog);
    free(description->text);
    free(description);
}

/* Reading --------------------------------------------------------------------------------------
 */

/** Reads, links and compiles the text; it holds one set, and nothing that this version skips. */
static ze_result_t read_text(struct zeta_description *description)
{
    const bool query = description->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    struct zeta_diagnostics sink = {0};
    const struct zeta_set *set;
    ze_result_t result = zeta_catalog_add_text(description->catalog, description->text,
                                               description->bytes, "description", &sink);

    if (result == ZE_RESULT_SUCCESS && sink.count[ZETA_SEVERITY_WARNING] > 0)
        return zeta_error(
            ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
            "the description of a set in the data has keys that this version does not know; "
            "use the version of Zeta that wrote it, or a newer one");
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_catalog_link(description->catalog, &sink);
    if (result == ZE_RESULT_SUCCESS) {
        if (zeta_catalog_set_count(description->catalog) != 1)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "the description in the data has %u sets, and one is needed",
                              zeta_catalog_set_count(description->catalog));
        set = zeta_catalog_set(description->catalog, 0);
        if ((set->sampling & (uint32_t)description->sampling) == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "set %s in the data is not %s-based", set->name,
                              zeta_word_of(zeta_sampling_words, description->sampling));
        result = (query ? zeta_set_compile_query : zeta_set_compile)(
            description->catalog, set, NULL, &sink, &description->compiled);
    }
    return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
               ? result
               : zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "the description of a set in the data cannot be used: %s",
                            sink.first_error);
}

static ze_result_t create(const char *text, size_t bytes,
                          zet_metric_group_sampling_type_flag_t sampling,
                          struct zeta_description **out_description)
{
    struct zeta_description *description = calloc(1, sizeof(*description));
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (!description)
        return result;
    description->digest = zeta_describe_digest(text, bytes);
    description->sampling = sampling;
    description->bytes = bytes;
    description->text = malloc(bytes + 1);
    description->catalog = zeta_catalog_create();
    if (description->text && description->catalog) {
        memcpy(description->text, text, bytes);
        description->text[bytes] = '\0';
        result = read_text(description);
    }
    if (result != ZE_RESULT_SUCCESS) {
        destroy(description);
        return result;
    }
    *out_description = description;
    return ZE_RESULT_SUCCESS;
}

/* Keeping --------------------------------------------------------------------------------------
 */

/** Finds a description, puts it first and counts a user; NULL if there is none. */
static struct zeta_description *find_locked(struct cache *cache, const char *text, size_t bytes,
                                            zet_metric_group_sampling_type_flag_t sampling)
{
    for (struct zeta_description **link = &cache->first; *link; link = &(*link)->next) {
        struct zeta_description *found = *link;

        if (found->sampling != sampling || found->bytes != bytes ||
            memcmp(found->text, text, bytes) != 0)
            continue;
        *link = found->next;
        found->next = cache->first;
        cache->first = found;
        found->users++;
        return found;
    }
    return NULL;
}

/** Destroys descriptions that nobody uses, those that were not used for longest, until few are
 * left. */
static void trim_locked(struct cache *cache)
{
    while (cache->count > ZETA_DESCRIPTION_KEPT) {
        struct zeta_description **last = NULL;
        struct zeta_description *old;

        for (struct zeta_description **link = &cache->first; *link; link = &(*link)->next) {
            if ((*link)->users == 0)
                last = link;
        }
        if (!last)
            return;
        old = *last;
        *last = old->next;
        destroy(old);
        cache->count--;
    }
}

ze_result_t zeta_description_get(const char *text, size_t bytes,
                                 zet_metric_group_sampling_type_flag_t sampling,
                                 struct zeta_description **out_description)
{
    struct zeta_description *made = NULL;
    struct zeta_description *found;
    struct cache *cache = zeta_fork_state_get(&caches, sizeof(*cache));
    ze_result_t result;

    if (!cache)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (void)pthread_mutex_lock(&cache->fork.lock);
    found = find_locked(cache, text, bytes, sampling);
    (void)pthread_mutex_unlock(&cache->fork.lock);
    if (found) {
        *out_description = found;
        return ZE_RESULT_SUCCESS;
    }
    result = create(text, bytes, sampling, &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    (void)pthread_mutex_lock(&cache->fork.lock);
    found = find_locked(cache, text, bytes, sampling);
    if (!found) {
        made->users = 1;
        made->next = cache->first;
        cache->first = found = made;
        cache->count++;
        made = NULL;
        trim_locked(cache);
    }
    (void)pthread_mutex_unlock(&cache->fork.lock);
    destroy(made);
    *out_description = found;
    return ZE_RESULT_SUCCESS;
}

void zeta_description_release(struct zeta_description *description)
{
    struct cache *cache = zeta_fork_state_peek(&caches);

    /* Without a cache this is the child of a fork that happened in between. */
    if (!description || !cache)
        return;
    (void)pthread_mutex_lock(&cache->fork.lock);
    description->users--;
    trim_locked(cache);
    (void)pthread_mutex_unlock(&cache->fork.lock);
}

uint64_t zeta_description_digest(const struct zeta_description *description)
{
    return description->digest;
}

struct zeta_compiled *zeta_description_compiled(const struct zeta_description *description)
{
    return description->compiled;
}

uint32_t zeta_description_count(void)
{
    struct cache *cache = zeta_fork_state_peek(&caches);
    uint32_t count = 0;

    if (!cache)
        return 0;
    (void)pthread_mutex_lock(&cache->fork.lock);
    count = cache->count;
    (void)pthread_mutex_unlock(&cache->fork.lock);
    return count;
}
