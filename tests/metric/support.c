#include "tests/metric/support.h"
#include "tests/support/compare.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/evaluate/sum.h"

uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

struct zeta_catalog *load_text(const char *text)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_diagnostics sink = {0};

    assert_non_null(catalog);
    if (zeta_catalog_add_text(catalog, text, strlen(text), "test.yaml", &sink) !=
            ZE_RESULT_SUCCESS ||
        zeta_catalog_link(catalog, &sink) != ZE_RESULT_SUCCESS) {
        print_error("%s\n", text);
        fail_msg("%s", sink.first_error);
    }
    return catalog;
}

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    for (const struct reference_symbol *i = context; i->name; i++) {
        if (strcmp(i->name, name) == 0) {
            *out_value = i->value;
            return true;
        }
    }
    return false;
}

struct zeta_symbol_lookup lookup_of(const struct reference_symbol *symbols)
{
    return (struct zeta_symbol_lookup){.find = find_symbol, .context = (void *)(uintptr_t)symbols};
}

struct zeta_compiled *compile_set(const struct zeta_catalog *catalog, const char *name,
                                  const struct reference_symbol *symbols)
{
    const struct zeta_set *set = zeta_catalog_find_set(catalog, name);
    const struct zeta_symbol_lookup lookup = lookup_of(symbols);
    struct zeta_compiled *compiled = NULL;
    struct zeta_diagnostics sink = {0};

    assert_non_null(set);
    if (zeta_set_compile(catalog, set, &lookup, &sink, &compiled) != ZE_RESULT_SUCCESS)
        fail_msg("%s", sink.first_error);
    return compiled;
}

void for_each_variant(void (*function)(void *context), void *context)
{
    static const char *const names[] = {"base", "avx2", "avx512"};
    const char *before = zeta_evaluate_variant();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (zeta_evaluate_use_variant(names[i]))
            function(context);
    }
    assert_true(zeta_evaluate_use_variant(before));
}

void print_value(const zet_typed_value_t *value, char *buffer, size_t size)
{
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT32:
        (void)snprintf(buffer, size, "u32 %" PRIu32, value->value.ui32);
        break;
    case ZET_VALUE_TYPE_UINT64:
        (void)snprintf(buffer, size, "u64 %" PRIu64, value->value.ui64);
        break;
    case ZET_VALUE_TYPE_FLOAT32:
        (void)snprintf(buffer, size, "f32 %.9g", (double)value->value.fp32);
        break;
    case ZET_VALUE_TYPE_FLOAT64:
        (void)snprintf(buffer, size, "f64 %.17g", value->value.fp64);
        break;
    default:
        (void)snprintf(buffer, size, "b8 %d", value->value.b8);
        break;
    }
}

bool same_value(const zet_typed_value_t *a, const zet_typed_value_t *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == ZET_VALUE_TYPE_FLOAT32 && isnan(a->value.fp32) && isnan(b->value.fp32))
        return true;
    if (a->type == ZET_VALUE_TYPE_FLOAT64 && isnan(a->value.fp64) && isnan(b->value.fp64))
        return true;
    /* The longest member holds all bits. */
    return a->value.ui64 == b->value.ui64;
}

/* ---- many rows and one ------------------------------------------------------------------------
 */

#define MANY 9u /* records: eight rows, of which some are idle */

/** Writes a number into the bits of a field. */
static void put_field(const struct zeta_field *field, unsigned char *record, uint64_t value)
{
    for (uint32_t i = 0; i < field->low_width + field->high_width; i++) {
        const uint32_t bit =
            i < field->low_width ? field->low_bit + i : field->high_bit + i - field->low_width;
        const unsigned char mask = (unsigned char)(1u << bit % 8);

        if (value >> i & 1)
            record[bit / 8] |= mask;
        else
            record[bit / 8] &= (unsigned char)~mask;
    }
}

/** Fills records whose counters advance, also over their ends, in most rows but not in all. */
static void fill_many(const struct zeta_layout *layout, uint64_t seed, unsigned char *raw)
{
    memset(raw, 0, (size_t)MANY * layout->record_bytes);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const struct zeta_field *field = &layout->fields[f];
        const bool is_clock = f == zeta_layout_clock(layout);
        uint64_t value = next_random(&seed);

        if (field->part_of != ZETA_FIELD_NONE)
            continue;
        for (uint32_t r = 0; r < MANY; r++) {
            if (r > 0 && field->delta_bits > 0 && !field->is_float)
                value += is_clock || r % 3 != 0 ? next_random(&seed) % 5000 + is_clock : 0;
            if (field->delta_bits > 0 && !field->is_float)
                put_field(field, raw + (size_t)r * layout->record_bytes, value);
        }
    }
    for (uint32_t f = 0; f < layout->field_count; f++) { /* everything was measured */
        const uint32_t valid = layout->fields[f].valid_field;

        for (uint32_t r = 0; r < MANY && valid != ZETA_FIELD_NONE; r++)
            put_field(&layout->fields[valid], raw + (size_t)r * layout->record_bytes, UINT64_MAX);
    }
}

static void add_row_to_sum(void *user, const struct zeta_sum_row *row)
{
    zeta_sum_add(user, row);
}

/** Value of a row in the type that sums have. */
static zet_typed_value_t widen(zet_typed_value_t value)
{
    if (value.type == ZET_VALUE_TYPE_UINT32) {
        value.value.ui64 = value.value.ui32;
        value.type = ZET_VALUE_TYPE_UINT64;
    }
    return value;
}

/** The value over all rows in the type of the row's. */
static zet_typed_value_t narrow(zet_typed_value_t value, const zet_typed_value_t *row)
{
    if (row->type == ZET_VALUE_TYPE_FLOAT32 && value.type == ZET_VALUE_TYPE_FLOAT64) {
        const double wide = value.value.fp64;

        memset(&value, 0, sizeof(value));
        value.type = ZET_VALUE_TYPE_FLOAT32;
        value.value.fp32 = (float)wide;
    }
    return value;
}

void check_many_rows_are_one(const struct zeta_compiled *compiled, uint64_t seed)
{
    const struct zeta_layout *layout = zeta_compiled_set(compiled)->layout;
    const uint32_t width = zeta_compiled_metric_count(compiled);
    const size_t bytes = layout->record_bytes;
    unsigned char *raw = calloc(MANY + 2, bytes);
    unsigned char *ends = raw + MANY * bytes;
    zet_typed_value_t *one = calloc(width, sizeof(*one));
    struct zeta_sum_value *many = calloc(width, sizeof(*many));
    struct zeta_sum_plan *plan = NULL;
    struct zeta_evaluation found;
    struct zeta_sum sum;
    uint32_t compared = 0;

    assert_true(raw && one && many);
    fill_many(layout, seed, raw);
    memcpy(ends, raw, bytes);
    memcpy(ends + bytes, raw + (MANY - 1) * bytes, bytes);
    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                                   ends, 2 * bytes, one, width, &found),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(found.value_count, width);
    assert_int_equal(zeta_sum_plan_create(compiled, false, &plan), ZE_RESULT_SUCCESS);
    assert_true(zeta_sum_init(&sum, &plan, 1));
    assert_int_equal(zeta_sum_walk(plan, 0, 0, raw, MANY * bytes, add_row_to_sum, &sum),
                     ZE_RESULT_SUCCESS);
    assert_true(zeta_sum_values(&sum, many));
    for (uint32_t m = 0; m < width; m++) {
        const zet_typed_value_t row = widen(one[m]);
        const zet_typed_value_t value = narrow(widen(many[m].value), &row);
        char words[2][64];

        assert_cmp(sum.counts[m].rows, <=, MANY - 1);
        compared += many[m].has_value;
        if (!many[m].has_value || same_value(&row, &value))
            continue;
        print_value(&row, words[0], sizeof(words[0]));
        print_value(&value, words[1], sizeof(words[1]));
        fail_msg("%s of %s is %s in one row, and %s in many",
                 zeta_compiled_metric(compiled, m)->name, zeta_compiled_set(compiled)->name,
                 words[0], words[1]);
    }
    assert_cmp(compared, >, 0);
    zeta_sum_finish(&sum);
    zeta_sum_plan_destroy(plan);
    free(many);
    free(one);
    free(raw);
}
