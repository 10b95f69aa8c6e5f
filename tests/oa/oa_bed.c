#include "tests/oa/oa_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/metric/support.h"
#include "tests/oa/oa_import.h"
#include "tests/support/compare.h"

#define DATA_DIRECTORY ZETA_SOURCE_DIR "/plugins/intel/data/common/"

struct oa_tested oa_tested;

uint64_t oa_need_symbol(const void *context, const char *name)
{
    uint64_t value = 0;

    if (!oa_device_symbol(context, name, &value))
        fail_msg("the equations need $%s, which the test does not know", name);
    return value;
}

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    out_value->type = ZETA_EXPR_U64;
    return oa_device_symbol(context, name, &out_value->u.u64);
}

bool oa_holds(const char *availability, const struct oa_set *set, const struct oa_device *device)
{
    struct oa_equation equation;
    bool value;

    if (!availability)
        return true;
    equation = oa_equation_make(availability, set, 0, NULL, oa_need_symbol, device);
    value = oa_as_integer(oa_equation_value(&equation, NULL, NULL)) != 0;
    oa_equation_free(&equation);
    return value;
}

bool oa_has_wide_product(const struct zeta_set *set, const struct zeta_expr *expr)
{
    if (expr->op == ZETA_EXPR_MULDIV)
        return true;
    if (expr->op == ZETA_EXPR_METRIC)
        return oa_has_wide_product(set, set->metrics[expr->u.ref.target].value);
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        if (oa_has_wide_product(set, expr->u.arg[i]))
            return true;
    }
    return false;
}

/** Whether a counter can be calculated, by what its equation refers to. */
static bool is_measured(const struct oa_equation *equation, const bool *measured)
{
    for (uint32_t i = 0; i < OA_MAX_COUNTERS; i++) {
        const uint64_t word = i < 64 ? equation->references : equation->references_high;

        if ((word >> i % 64 & 1) && !measured[i])
            return false;
    }
    return !equation->reads_perfcnt;
}

/** Finds out which counters the device has. Equations are made for all of them. */
static void choose_counters(struct oa_bed *bed)
{
    bool measured[OA_MAX_COUNTERS] = {false};

    assert_cmp(bed->set->counter_count, <=, OA_MAX_COUNTERS);
    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        const struct oa_counter *counter = &bed->set->counters[i];

        bed->value[i] = oa_equation_make(counter->equation, bed->set, i, bed->format,
                                         oa_need_symbol, &bed->device);
        if (counter->maximum)
            bed->maximum[i] = oa_equation_make(counter->maximum, bed->set, i, bed->format,
                                               oa_need_symbol, &bed->device);
        /* What it refers to need not be available itself, but in a report. */
        measured[i] =
            is_measured(&bed->value[i], measured) && is_measured(&bed->maximum[i], measured);
        if (measured[i] && oa_holds(counter->availability, bed->set, &bed->device))
            bed->counters[bed->count++] = i;
    }
}

static void bed_finish(struct oa_bed *bed)
{
    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        oa_equation_free(&bed->value[i]);
        oa_equation_free(&bed->maximum[i]);
    }
    zeta_compiled_destroy(bed->compiled);
    zeta_compiled_destroy(bed->query);
}

/** What was imported of a set, or what the plugin has for it. */
static const struct zeta_set *find_set(const struct oa_set *set)
{
    const struct zeta_catalog *catalog = oa_tested.catalog;

    if (!oa_tested.shipped)
        return zeta_catalog_find_set(catalog, set->name);
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *found = zeta_catalog_set(catalog, i);

        if (found->uuid && strcmp(found->uuid, set->uuid) == 0)
            return found;
    }
    return NULL;
}

/** Whether the device has nothing of the set but what every set has; then the plugin has no set. */
static bool is_bare(const struct oa_bed *bed)
{
    for (uint32_t i = 0; i < bed->count; i++) {
        if (!oa_counter_is_basic(bed->set->counters[bed->counters[i]].name))
            return false;
    }
    return true;
}

static void run_bed(const struct oa_set *set, const struct zeta_set *imported, uint32_t variant,
                    void (*test)(struct oa_bed *bed))
{
    struct oa_bed bed = {
        .device = {oa_tested.platform, &oa_tested.platform->fusings[variant]},
        .set = set,
        .format = oa_format_find(set->format, oa_tested.platform->format),
        .imported = imported,
    };
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = &bed.device};
    struct zeta_diagnostics sink = {0};

    assert_non_null(bed.format);
    choose_counters(&bed);
    if (zeta_set_compile(oa_tested.catalog, imported, &lookup, &sink, &bed.compiled) ==
            ZE_RESULT_SUCCESS &&
        zeta_set_compile_query(oa_tested.catalog, imported, &lookup, &sink, &bed.query) ==
            ZE_RESULT_SUCCESS)
        test(&bed);
    else if (!oa_tested.shipped || !imported->available || !is_bare(&bed))
        fail_msg("%s %s: %s", oa_tested.name, set->name, sink.first_error);
    bed_finish(&bed);
}

uint32_t oa_for_each_bed(void (*test)(struct oa_bed *bed))
{
    uint32_t calls = 0;

    for (uint32_t variant = 0; variant < OA_VARIANTS; variant++) {
        if (!oa_platform_has(oa_tested.platform, variant))
            continue;
        for (uint32_t i = 0; i < oa_tested.file->set_count; i++) {
            const struct oa_set *set = &oa_tested.file->sets[i];
            const struct zeta_set *imported = find_set(set);

            if (!imported)
                fail_msg("%s: set %s is missing", oa_tested.name, set->name);
            run_bed(set, imported, variant, test);
            calls++;
        }
    }
    return calls;
}

/** Value of a counter in the type of its data; references see it before it is rounded to f32. */
static struct oa_number typed(const struct oa_counter *counter, struct oa_number number)
{
    if (counter->is_float)
        return (struct oa_number){.is_float = true, .f = oa_as_double(number)};
    return (struct oa_number){.u = oa_as_integer(number)};
}

static zet_typed_value_t result_of(struct oa_number number)
{
    zet_typed_value_t value = {0};

    value.type = number.is_float ? ZET_VALUE_TYPE_FLOAT32 : ZET_VALUE_TYPE_UINT64;
    if (number.is_float)
        value.value.fp32 = (float)number.f;
    else
        value.value.ui64 = number.u;
    return value;
}

static void compare(const struct oa_bed *bed, uint32_t counter, uint32_t row, bool maximum,
                    const zet_typed_value_t *found, struct oa_number expected)
{
    const zet_typed_value_t wanted = result_of(expected);
    char texts[2][64];

    if (same_value(found, &wanted))
        return;
    print_value(found, texts[0], sizeof(texts[0]));
    print_value(&wanted, texts[1], sizeof(texts[1]));
    fail_msg("%s %s/%s, row %u%s: %s, of the XML %s (%s)", oa_tested.name, bed->set->name,
             bed->set->counters[counter].name, row, maximum ? ", maximum" : "", texts[0], texts[1],
             bed->set->counters[counter].equation);
}

/** Its description says that cycles are 100 at most, as if they were a percentage; ours says
 * nothing. */
static bool is_mistaken(const struct oa_counter *counter)
{
    return strcmp(counter->name, "XVE_ACTIVE_CYCLES_HS") == 0;
}

void oa_compare_row(const struct oa_bed *bed, uint32_t number, const struct oa_row *row,
                    zet_typed_value_t *const *values)
{
    struct oa_number numbers[OA_MAX_COUNTERS] = {{0}};

    for (uint32_t i = 0; i < bed->set->counter_count; i++)
        numbers[i] = typed(&bed->set->counters[i], oa_equation_value(&bed->value[i], row, numbers));
    for (uint32_t i = 0; i < bed->count; i++) {
        const uint32_t index = bed->counters[i];
        const struct oa_counter *counter = &bed->set->counters[index];
        struct oa_number maximum = numbers[index];

        if (counter->maximum && !(oa_tested.shipped && is_mistaken(counter)))
            maximum = typed(counter, oa_equation_value(&bed->maximum[index], row, numbers));
        else if (counter->is_percent)
            maximum = typed(counter, (struct oa_number){.u = 100});
        compare(bed, index, number, false, &values[0][i], numbers[index]);
        compare(bed, index, number, true, &values[1][i], maximum);
    }
}

void oa_calculate(const struct zeta_compiled *compiled, const void *raw, size_t raw_bytes,
                  uint32_t rows, zet_typed_value_t **out_columns)
{
    static const zet_metric_group_calculation_type_t types[] = {
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
        ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES};
    const uint32_t count = rows * zeta_compiled_metric_count(compiled);

    for (unsigned type = 0; type < 2; type++) {
        struct zeta_evaluation result;

        out_columns[type] = calloc(count, sizeof(**out_columns));
        assert_non_null(out_columns[type]);
        assert_int_equal(zeta_evaluate(compiled, types[type], 0, 0, raw, raw_bytes,
                                       out_columns[type], count, &result),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(result.row_count, rows);
        assert_true(result.complete);
    }
}

void oa_each_row(const struct oa_bed *bed, const unsigned char *reports, uint32_t count,
                 void (*check)(const struct oa_bed *bed, uint32_t number, const struct oa_row *row,
                               zet_typed_value_t *const *values))
{
    const uint32_t bytes = bed->format->report_bytes;
    const uint32_t metrics = zeta_compiled_metric_count(bed->compiled);
    zet_typed_value_t *columns[2];

    oa_calculate(bed->compiled, reports, (size_t)count * bytes, count - 1, columns);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const struct oa_row row = {.earlier = reports + (size_t)i * bytes,
                                   .later = reports + (size_t)(i + 1) * bytes};
        zet_typed_value_t *const values[] = {columns[0] + (size_t)i * metrics,
                                             columns[1] + (size_t)i * metrics};

        check(bed, i, &row, values);
    }
    free(columns[0]);
    free(columns[1]);
}

void oa_check_program(struct oa_bed *bed)
{
    const struct zeta_program_entry *entries = NULL;
    const uint32_t count = zeta_compiled_program(bed->compiled, &entries);
    uint32_t at = 0;

    for (int type = 0; type < OA_CONFIG_TYPES; type++) {
        for (uint32_t priority = 0; priority < 16; priority++) {
            for (uint32_t i = 0; i < bed->set->config_count; i++) {
                const struct oa_config *config = &bed->set->configs[i];

                if (config->type != (enum oa_config_type)type || config->priority != priority ||
                    !oa_holds(config->availability, bed->set, &bed->device))
                    continue;
                for (uint32_t r = 0; r < config->register_count; r++, at++) {
                    assert_cmp(at, <, count);
                    assert_int_equal(entries[at].address, config->registers[r].address);
                    assert_int_equal(entries[at].value, config->registers[r].value);
                }
            }
        }
    }
    assert_int_equal(at, count);
}

void oa_number_reports(unsigned char *reports, uint32_t count, uint32_t bytes)
{
    for (uint32_t i = 0; i < count; i++)
        reports[(size_t)i * bytes] = (unsigned char)(i + 1);
}

uint64_t oa_random_step(uint64_t *seed, uint32_t bits)
{
    const uint32_t magnitude = (uint32_t)(next_random(seed) >> 32) % (bits + 1);

    return magnitude == 0 ? 0 : next_random(seed) >> (64 - magnitude);
}

void oa_make_advancing(const struct oa_format *format, uint64_t *seed, uint32_t bits,
                       unsigned char *reports, uint32_t count)
{
    memset(reports, 0, (size_t)count * format->report_bytes);
    for (uint32_t r = 0; r < format->run_count; r++) {
        const struct oa_run *run = &format->runs[r];
        const uint32_t largest = bits < run->bits ? bits : run->bits;

        for (uint32_t index = 0; index < run->count; index++) {
            uint64_t value = next_random(seed);

            for (uint32_t i = 0; i < count; i++) {
                oa_report_set(run, index, reports + (size_t)i * format->report_bytes, value);
                value += oa_random_step(seed, i % 4 == 0 || largest < 24 ? largest : 24);
            }
        }
    }
    oa_number_reports(reports, count, format->report_bytes);
}

static void report_finding(void *context, const struct zeta_diagnostic *finding)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    (void)context;
    zeta_diagnostic_print(finding, text, sizeof(text));
    print_error("%s\n", text);
}

int oa_tested_prepare(void **state)
{
    static const char *const parts[] = {"symbols.yaml",
                                        "symbols-xe.yaml",
                                        "../haswell/layout.yaml",
                                        "layout-a32u40-a4u32-b8-c8.yaml",
                                        "layout-a24u40-a14u32-b8-c8.yaml",
                                        "layout-mpec8.yaml",
                                        "layout-pec64.yaml"};
    /* Units without lists of registers: what may be written is not the question here. */
    static const char rest[] = "format: 1\nunits: {oa: {}, oam0: {}, oam1: {}, oam-sag: {}}\n"
                               "symbols: {ContextValidBit: {from: provider, type: u64}}\n";
    struct zeta_diagnostics sink = {.report = report_finding};

    (void)state;
    oa_tested.file = oa_file_read(oa_tested.path);
    oa_tested.text = oa_import(oa_tested.path, "--share");
    oa_tested.catalog = zeta_catalog_create();
    if (!oa_tested.text || !oa_tested.catalog ||
        zeta_catalog_add_text(oa_tested.catalog, oa_tested.text, strlen(oa_tested.text),
                              oa_tested.name, &sink) ||
        zeta_catalog_add_text(oa_tested.catalog, rest, strlen(rest), "rest", &sink))
        return -1;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[512];

        (void)snprintf(path, sizeof(path), "%s%s", DATA_DIRECTORY, parts[i]);
        if (zeta_catalog_add_file(oa_tested.catalog, path, &sink) != ZE_RESULT_SUCCESS)
            return -1;
    }
    if (zeta_catalog_link(oa_tested.catalog, &sink) != ZE_RESULT_SUCCESS)
        return -1;
    return sink.count[ZETA_SEVERITY_WARNING] == 0 ? 0 : -1;
}

int oa_tested_finish(void **state)
{
    (void)state;
    zeta_catalog_destroy(oa_tested.catalog);
    oa_file_free(oa_tested.file);
    free(oa_tested.text);
    return 0;
}

/** The name of the platform in .../oa-NAME.xml. */
static void take_name(const char *path)
{
    const char *file = strrchr(path, '/');
    const char *name = strstr(file ? file : path, "oa-");
    size_t length = name ? strcspn(name, ".") : 0;

    if (length > 3 && length - 3 < sizeof(oa_tested.name))
        memcpy(oa_tested.name, name + 3, length - 3);
}

bool oa_tested_choose(const char *path)
{
    oa_tested.path = path;
    take_name(path);
    oa_tested.platform = oa_platform_find(oa_tested.name);
    return oa_tested.platform != NULL;
}
