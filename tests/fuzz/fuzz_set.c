/* Any bytes given as a set file; what loads is compiled and run on a few records. */
#include <stdlib.h>

#include "core/formula/evaluate/evaluate.h"
#include "core/formula/programmables/recipe_set.h"
#include "core/formula/sets/set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES 20000u
#define RECORDS 5u

static bool any_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    (void)context;
    *out_value = (struct zeta_number){ZETA_EXPR_U64, {.u64 = (unsigned char)name[0]}};
    return true;
}

static void run_set(const struct zeta_compiled *compiled)
{
    const size_t raw_bytes = (size_t)RECORDS * zeta_compiled_record_bytes(compiled);
    const uint32_t capacity = zeta_evaluate_count(compiled, raw_bytes);
    unsigned char *raw = malloc(raw_bytes);
    zet_typed_value_t *values = calloc(capacity, sizeof(*values));
    struct zeta_evaluation result;

    if (!raw || !values)
        abort();
    for (size_t i = 0; i < raw_bytes; i++)
        raw[i] = (unsigned char)(i * i + 7 * i + 1);
    for (int type = 0; type < 2; type++) {
        if (zeta_evaluate(compiled, (zet_metric_group_calculation_type_t)type, 0, 0, raw, raw_bytes,
                          values, capacity, &result) != ZE_RESULT_SUCCESS ||
            result.value_count > capacity)
            abort();
    }
    free(values);
    free(raw);
}

/** Loads the text, with all of it read at once or at the first use of a set; sets that run. */
static uint32_t run_text(const char *text, size_t size, bool defers, bool *out_good)
{
    const struct zeta_symbol_lookup symbols = {.find = any_symbol, .context = NULL};
    struct zeta_catalog *catalog = zeta_catalog_create();
    uint32_t count = 0;

    if (!catalog)
        abort();
    zeta_catalog_defer(catalog, defers);
    *out_good = zeta_catalog_add_text(catalog, text, size, "fuzz", NULL) == ZE_RESULT_SUCCESS;
    *out_good &= zeta_catalog_link(catalog, NULL) == ZE_RESULT_SUCCESS;
    (void)zeta_programmables_link(catalog, NULL);
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        struct zeta_compiled *compiled = NULL;

        if (zeta_set_compile(catalog, zeta_catalog_set(catalog, i), &symbols, NULL, &compiled) !=
            ZE_RESULT_SUCCESS)
            continue;
        if (zeta_compiled_check(compiled) == ZE_RESULT_SUCCESS) {
            run_set(compiled);
            count++;
        }
        zeta_compiled_destroy(compiled);
    }
    zeta_catalog_destroy(catalog);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool at_once, later;
    uint32_t count;

    if (size > MAX_BYTES)
        return 0;
    count = run_text((const char *)data, size, false, &at_once);
    /* Of a text without mistakes both find the same. */
    if (run_text((const char *)data, size, true, &later) != count && at_once)
        abort();
    return 0;
}
