#include "tests/metric/support.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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
    return (struct zeta_symbol_lookup){find_symbol, (void *)(uintptr_t)symbols};
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
