#include "tests/oa/oa_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/util/cleanup.h"
#include "tests/metric/support.h"
#include "tests/oa/oa_device.h"
#include "tests/oa/oa_import.h"
#include "tests/oa/oa_rpn.h"

#define REPORTS 256u
#define MAX_COUNTERS 128u
#define DATA_DIRECTORY ZETA_SOURCE_DIR "/plugins/intel/data/common/"

/** What the tests of this program share: one file, and the catalog of what was imported. */
static struct {
    const char *path;
    char name[32];
    struct oa_file *file;
    const struct oa_platform *platform;
    char *text;
    struct zeta_catalog *catalog;
} all;

/** A set of the file with its equations for one device. */
struct bed {
    struct oa_device device;
    const struct oa_set *set;
    const struct oa_format *format;
    const struct zeta_set *imported;
    struct zeta_compiled *compiled;
    uint32_t count; /**< of the counters that exist on the device */
    uint32_t counters[MAX_COUNTERS];
    struct oa_equation value[MAX_COUNTERS];
    struct oa_equation maximum[MAX_COUNTERS]; /**< without steps: there is none */
};

static uint64_t need_symbol(const void *context, const char *name)
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

static bool holds(const struct bed *bed, const char *availability)
{
    struct oa_equation equation;
    bool value;

    if (!availability)
        return true;
    equation = oa_equation_make(availability, bed->set, 0, NULL, need_symbol, &bed->device);
    value = oa_as_integer(oa_equation_value(&equation, NULL, NULL, NULL)) != 0;
    oa_equation_free(&equation);
    return value;
}

/** Whether all counters that the equation refers to exist. */
static bool references_exist(const struct oa_equation *equation, const bool *exists)
{
    for (uint32_t i = 0; i < MAX_COUNTERS; i++) {
        const uint64_t word = i < 64 ? equation->references : equation->references_high;

        if ((word >> i % 64 & 1) && !exists[i])
            return false;
    }
    return !equation->reads_perfcnt;
}

/** Finds out which counters the device has. Equations are made for all of them. */
static void choose_counters(struct bed *bed)
{
    bool exists[MAX_COUNTERS] = {false};

    assert_true(bed->set->counter_count <= MAX_COUNTERS);
    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        const struct oa_counter *counter = &bed->set->counters[i];

        bed->value[i] = oa_equation_make(counter->equation, bed->set, i, bed->format, need_symbol,
                                         &bed->device);
        if (counter->maximum)
            bed->maximum[i] = oa_equation_make(counter->maximum, bed->set, i, bed->format,
                                               need_symbol, &bed->device);
        exists[i] = holds(bed, counter->availability) && references_exist(&bed->value[i], exists) &&
                    references_exist(&bed->maximum[i], exists);
        if (exists[i])
            bed->counters[bed->count++] = i;
    }
}

static void bed_finish(struct bed *bed)
{
    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        oa_equation_free(&bed->value[i]);
        oa_equation_free(&bed->maximum[i]);
    }
    zeta_compiled_destroy(bed->compiled);
}

/** Calls a test for each set on each device. */
static void for_each_bed(void (*test)(struct bed *bed))
{
    for (uint32_t variant = 0; variant < OA_VARIANTS; variant++) {
        for (uint32_t i = 0; i < all.file->set_count; i++) {
            struct bed bed = {
                .device = {all.platform, &all.platform->fusings[variant]},
                .set = &all.file->sets[i],
            };
            const struct zeta_symbol_lookup lookup = {find_symbol, &bed.device};
            struct zeta_diagnostics sink = {0};

            if (!oa_platform_has(all.platform, variant))
                continue;
            bed.format = oa_format_find(bed.set->format, all.platform->format);
            assert_non_null(bed.format);
            bed.imported = zeta_catalog_find_set(all.catalog, bed.set->name);
            assert_non_null(bed.imported);
            if (zeta_set_compile(all.catalog, bed.imported, &lookup, &sink, &bed.compiled) !=
                ZE_RESULT_SUCCESS)
                fail_msg("%s", sink.first_error);
            choose_counters(&bed);
            test(&bed);
            bed_finish(&bed);
        }
    }
}

static void import__all_sets__loaded_with_their_properties(void **state)
{
    (void)state;
    assert_int_equal(zeta_catalog_set_count(all.catalog), all.file->set_count);
    for (uint32_t i = 0; i < all.file->set_count; i++) {
        const struct oa_set *set = &all.file->sets[i];
        const struct oa_format *format = oa_format_find(set->format, all.platform->format);
        const struct zeta_set *imported = zeta_catalog_find_set(all.catalog, set->name);
        bool is_media = format == &oa_format_mpec32;

        assert_non_null(imported);
        assert_string_equal(imported->uuid, set->uuid);
        assert_string_equal(imported->layout->name, format->name);
        assert_int_equal(imported->layout->record_bytes, format->report_bytes);
        assert_string_equal(imported->unit->name, is_media ? "oam0" : "oa");
        assert_int_equal(imported->domain, is_media ? 1 : 0);
        assert_int_equal(imported->sampling, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED |
                                                 ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    }
}

static void check_metrics(struct bed *bed)
{
    const uint32_t total = zeta_compiled_metric_count(bed->compiled);
    uint32_t own = 0;

    while (own < total && !zeta_compiled_metric(bed->compiled, own)->is_info)
        own++;
    for (uint32_t i = 0; i < own && i < bed->count; i++) {
        const struct oa_counter *counter = &bed->set->counters[bed->counters[i]];
        const struct zeta_metric *metric = zeta_compiled_metric(bed->compiled, i);

        assert_string_equal(metric->name, counter->name);
        assert_int_equal(metric->value_type,
                         counter->is_float ? ZET_VALUE_TYPE_FLOAT32 : ZET_VALUE_TYPE_UINT64);
        assert_true(metric->description[0] != '\0');
    }
    if (own != bed->count)
        fail_msg("set %s: %u metrics exist, of the XML %u", bed->set->name, own, bed->count);
}

static void availability__each_device__same_metrics(void **state)
{
    (void)state;
    for_each_bed(check_metrics);
}

static void check_program(struct bed *bed)
{
    const struct zeta_program_entry *entries = NULL;
    const uint32_t count = zeta_compiled_program(bed->compiled, &entries);
    uint32_t at = 0;

    for (int type = 0; type < OA_CONFIG_TYPES; type++) {
        for (uint32_t priority = 0; priority < 16; priority++) {
            for (uint32_t i = 0; i < bed->set->config_count; i++) {
                const struct oa_config *config = &bed->set->configs[i];

                if (config->type != (enum oa_config_type)type || config->priority != priority ||
                    !holds(bed, config->availability))
                    continue;
                for (uint32_t r = 0; r < config->register_count; r++, at++) {
                    assert_true(at < count);
                    assert_int_equal(entries[at].address, config->registers[r].address);
                    assert_int_equal(entries[at].value, config->registers[r].value);
                }
            }
        }
    }
    assert_int_equal(at, count);
}

static void program__each_device__same_registers_in_order(void **state)
{
    (void)state;
    for_each_bed(check_program);
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

static void compare(const struct bed *bed, uint32_t counter, uint32_t row, bool maximum,
                    const zet_typed_value_t *found, struct oa_number expected)
{
    const zet_typed_value_t wanted = result_of(expected);
    char texts[2][64];

    if (same_value(found, &wanted))
        return;
    print_value(found, texts[0], sizeof(texts[0]));
    print_value(&wanted, texts[1], sizeof(texts[1]));
    fail_msg("%s %s/%s, row %u%s: %s, of the XML %s (%s)", all.name, bed->set->name,
             bed->set->counters[counter].name, row, maximum ? ", maximum" : "", texts[0], texts[1],
             bed->set->counters[counter].equation);
}

/** Compares one row: values[0] are those of the metrics, values[1] the maxima. */
static void compare_row(const struct bed *bed, uint32_t row, const unsigned char *earlier,
                        const unsigned char *later, zet_typed_value_t *const *values)
{
    struct oa_number numbers[MAX_COUNTERS] = {{0}};

    for (uint32_t i = 0; i < bed->set->counter_count; i++)
        numbers[i] = typed(&bed->set->counters[i],
                           oa_equation_value(&bed->value[i], earlier, later, numbers));
    for (uint32_t i = 0; i < bed->count; i++) {
        const uint32_t index = bed->counters[i];
        const struct oa_counter *counter = &bed->set->counters[index];
        struct oa_number maximum = numbers[index];

        if (counter->maximum)
            maximum =
                typed(counter, oa_equation_value(&bed->maximum[index], earlier, later, numbers));
        else if (counter->is_percent)
            maximum = typed(counter, (struct oa_number){.u = 100});
        compare(bed, index, row, false, &values[0][i], numbers[index]);
        compare(bed, index, row, true, &values[1][i], maximum);
    }
}

static void compare_all(const struct bed *bed, const unsigned char *reports)
{
    const uint32_t bytes = bed->format->report_bytes;
    const uint32_t metrics = zeta_compiled_metric_count(bed->compiled);
    const uint32_t capacity = REPORTS * metrics;
    ZETA_CLEANUP(zeta_freep) zet_typed_value_t *measured = calloc(capacity, sizeof(*measured));
    ZETA_CLEANUP(zeta_freep) zet_typed_value_t *maxima = calloc(capacity, sizeof(*maxima));
    zet_typed_value_t *const columns[] = {measured, maxima};

    assert_non_null(measured);
    assert_non_null(maxima);
    for (unsigned type = 0; type < 2; type++) {
        struct zeta_evaluation result;

        assert_int_equal(
            zeta_evaluate(bed->compiled,
                          type == 0 ? ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
                                    : ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES,
                          0, reports, (size_t)REPORTS * bytes, columns[type], capacity, &result),
            ZE_RESULT_SUCCESS);
        assert_int_equal(result.row_count, REPORTS - 1);
        assert_int_equal(result.value_count, (REPORTS - 1) * metrics);
    }
    for (uint32_t row = 0; row + 1 < REPORTS; row++) {
        zet_typed_value_t *const values[] = {measured + (size_t)row * metrics,
                                             maxima + (size_t)row * metrics};

        compare_row(bed, row, reports + (size_t)row * bytes, reports + (size_t)(row + 1) * bytes,
                    values);
    }
}

/** Makes the report ids of neighbours different: equal ones would be a repetition. */
static void number_reports(unsigned char *reports, uint32_t bytes)
{
    for (uint32_t i = 0; i < REPORTS; i++)
        reports[(size_t)i * bytes] = (unsigned char)(i + 1);
}

static uint64_t seed = 1;

static void check_random(struct bed *bed)
{
    static unsigned char reports[REPORTS * OA_REPORT_MAX_BYTES];
    const uint32_t bytes = bed->format->report_bytes;

    for (size_t i = 0; i < (size_t)REPORTS * bytes; i++)
        reports[i] = (unsigned char)(next_random(&seed) >> 32);
    number_reports(reports, bytes);
    compare_all(bed, reports);
}

static void values__random_reports__equal(void **state)
{
    (void)state;
    for_each_bed(check_random);
}

/** A step of any magnitude up to the width of the counter. */
static uint64_t random_step(uint32_t bits)
{
    const uint32_t magnitude = (uint32_t)(next_random(&seed) >> 32) % (bits + 1);

    return magnitude == 0 ? 0 : next_random(&seed) >> (64 - magnitude);
}

/** Every counter moves on by steps of its own, and wraps where it is full. */
static void check_advancing(struct bed *bed)
{
    static unsigned char reports[REPORTS * OA_REPORT_MAX_BYTES];
    const uint32_t bytes = bed->format->report_bytes;

    memset(reports, 0, sizeof(reports));
    for (uint32_t r = 0; r < bed->format->run_count; r++) {
        const struct oa_run *run = &bed->format->runs[r];

        for (uint32_t index = 0; index < run->count; index++) {
            uint64_t value = next_random(&seed);

            for (uint32_t i = 0; i < REPORTS; i++) {
                oa_report_set(run, index, reports + (size_t)i * bytes, value);
                value += random_step(i % 4 == 0 ? run->bits : 24);
            }
        }
    }
    number_reports(reports, bytes);
    compare_all(bed, reports);
}

static void values__advancing_reports__equal(void **state)
{
    (void)state;
    for_each_bed(check_advancing);
}

/**
 * Differences of 0, 1, all but one and all ones, forwards and over the wrap, for all counters alike
 * and for time and clocks apart from the others.
 */
static void check_edges(struct bed *bed)
{
    static const uint64_t edges[] = {0, 0, 1, 0, UINT64_MAX, UINT64_MAX, 0, UINT64_C(1) << 31};
    static unsigned char reports[REPORTS * OA_REPORT_MAX_BYTES];
    const uint32_t bytes = bed->format->report_bytes;

    memset(reports, 0, sizeof(reports));
    for (uint32_t r = 0; r < bed->format->run_count; r++) {
        const struct oa_run *run = &bed->format->runs[r];
        const bool is_clock = run->bank == OA_GPU_TIME || run->bank == OA_GPU_CLOCK;

        for (uint32_t index = 0; index < run->count; index++) {
            for (uint32_t i = 0; i < REPORTS; i++)
                oa_report_set(run, index, reports + (size_t)i * bytes,
                              edges[(is_clock ? i / 8 + i : i) % 8]);
        }
    }
    number_reports(reports, bytes);
    compare_all(bed, reports);
}

static void values__edge_cases__equal(void **state)
{
    (void)state;
    for_each_bed(check_edges);
}

/** What equations with PERFCNT would read is in no report: such metrics are not imported. */
static void import__perfcnt__left_out_with_a_note(void **state)
{
    uint32_t expected = 0;
    uint32_t notes = 0;
    FILE *stream = fopen(oa_import_notes(), "r");
    char line[512];

    (void)state;
    for (uint32_t i = 0; i < all.file->set_count; i++) {
        const struct oa_set *set = &all.file->sets[i];
        const struct zeta_set *imported = zeta_catalog_find_set(all.catalog, set->name);

        for (uint32_t c = 0; c < set->counter_count; c++) {
            bool found = false;

            for (uint32_t m = 0; m < imported->metric_count; m++)
                found = found || strcmp(imported->metrics[m].name, set->counters[c].name) == 0;
            expected += !found;
            if (strstr(set->counters[c].equation, "PERFCNT"))
                assert_false(found);
        }
    }
    assert_non_null(stream);
    while (fgets(line, sizeof(line), stream)) {
        assert_non_null(strstr(line, "; left out"));
        notes++;
    }
    (void)fclose(stream);
    assert_int_equal(notes, expected);
}

static void report_finding(void *context, const struct zeta_diagnostic *finding)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    (void)context;
    zeta_diagnostic_print(finding, text, sizeof(text));
    print_error("%s\n", text);
}

/** Reads the file, imports it and loads what comes out, with the layouts that the plugin has. */
static int prepare(void **state)
{
    static const char *const parts[] = {"symbols.yaml",
                                        "symbols-xe.yaml",
                                        "layout-hsw-a45-b8-c8.yaml",
                                        "layout-a32u40-a4u32-b8-c8.yaml",
                                        "layout-a24u40-a14u32-b8-c8.yaml",
                                        "layout-mpec8.yaml",
                                        "layout-pec64.yaml"};
    /* Units without lists of registers: what may be written is not the question here. */
    static const char rest[] = "format: 1\nunits: {oa: {}, oam0: {}}\n"
                               "symbols: {ContextValidBit: {from: provider, type: u64}}\n";
    struct zeta_diagnostics sink = {.report = report_finding};

    (void)state;
    all.file = oa_file_read(all.path);
    all.text = oa_import(all.path, "--share");
    all.catalog = zeta_catalog_create();
    if (!all.text || !all.catalog ||
        zeta_catalog_add_text(all.catalog, all.text, strlen(all.text), all.name, &sink) ||
        zeta_catalog_add_text(all.catalog, rest, strlen(rest), "rest", &sink))
        return -1;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[512];

        (void)snprintf(path, sizeof(path), "%s%s", DATA_DIRECTORY, parts[i]);
        if (zeta_catalog_add_file(all.catalog, path, &sink) != ZE_RESULT_SUCCESS)
            return -1;
    }
    if (zeta_catalog_link(all.catalog, &sink) != ZE_RESULT_SUCCESS)
        return -1;
    return sink.count[ZETA_SEVERITY_WARNING] == 0 ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    zeta_catalog_destroy(all.catalog);
    oa_file_free(all.file);
    free(all.text);
    return 0;
}

/** The name of the platform in .../oa-NAME.xml. */
static void take_name(const char *path)
{
    const char *file = strrchr(path, '/');
    const char *name = strstr(file ? file : path, "oa-");
    size_t length = name ? strcspn(name, ".") : 0;

    if (length > 3 && length - 3 < sizeof(all.name))
        memcpy(all.name, name + 3, length - 3);
}

int oa_sets_run(const char *path)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import__all_sets__loaded_with_their_properties),
        cmocka_unit_test(import__perfcnt__left_out_with_a_note),
        cmocka_unit_test(availability__each_device__same_metrics),
        cmocka_unit_test(program__each_device__same_registers_in_order),
        cmocka_unit_test(values__random_reports__equal),
        cmocka_unit_test(values__advancing_reports__equal),
        cmocka_unit_test(values__edge_cases__equal),
    };

    all.path = path;
    take_name(path);
    all.platform = oa_platform_find(all.name);
    if (!all.platform) {
        (void)fprintf(stderr, "unknown platform '%s'\n", all.name);
        return 1;
    }
    return cmocka_run_group_tests_name(all.name, tests, prepare, finish);
}
