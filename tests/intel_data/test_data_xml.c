/*
 * The committed sets of one generation against the XML that their facts come from: uuids, registers
 * for each way of fusing, which metrics exist, and their values on reports, for which the XML's
 * equations are evaluated token by token.
 *
 * The sets are written in our own way (constants gathered, integers summed as integers), so equal
 * values on random reports say that nothing was lost on the way.
 *
 * usage: test_data_xml GENERATION
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/util/cleanup.h"
#include "tests/intel_data/data.h"
#include "tests/metric/support.h"
#include "tests/oa/oa_bed.h"
#include "tests/oa/oa_device.h"
#include "tests/oa/oa_rpn.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"

/* Nothing here has threads: their sanitizer need not see it often. */
#define REPORTS (HAVE_THREAD_SANITIZER ? 16u : 64u)
#define MAX_COUNTERS 128u

static const char *wanted;

/** A set on one device, as the XML has it and as it was committed. */
struct bed {
    struct oa_device device;
    const struct oa_set *set;
    const struct oa_format *format;
    const struct zeta_set *ours;
    struct zeta_compiled *compiled;
    struct oa_equation value[MAX_COUNTERS];
    struct oa_equation maximum[MAX_COUNTERS]; /**< without steps: there is none */
    bool exists[MAX_COUNTERS];
    bool bounded; /**< reports hold no difference that makes a product leave 64 bits */
};

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    out_value->type = ZETA_EXPR_U64;
    if (strcmp(name, "OamUnits") == 0 || strcmp(name, "EuStallUnits") == 0) {
        out_value->u.u64 = 2;
        return true;
    }
    return oa_device_symbol(context, name, &out_value->u.u64);
}

/** Whether a counter needs what is in no report, by itself or by one that it refers to. */
static bool needs_perfcnt(const struct bed *bed, uint32_t counter)
{
    const struct oa_equation *equation = &bed->value[counter];

    if (equation->reads_perfcnt)
        return true;
    for (uint32_t i = 0; i < counter; i++) {
        const uint64_t word = i < 64 ? equation->references : equation->references_high;

        if ((word >> i % 64 & 1) && needs_perfcnt(bed, i))
            return true;
    }
    return false;
}

static void bed_prepare(struct bed *bed)
{
    assert_cmp(bed->set->counter_count, <=, MAX_COUNTERS);
    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        const struct oa_counter *counter = &bed->set->counters[i];

        bed->value[i] = oa_equation_make(counter->equation, bed->set, i, bed->format,
                                         oa_need_symbol, &bed->device);
        if (counter->maximum)
            bed->maximum[i] = oa_equation_make(counter->maximum, bed->set, i, bed->format,
                                               oa_need_symbol, &bed->device);
        bed->exists[i] =
            oa_holds(counter->availability, bed->set, &bed->device) && !needs_perfcnt(bed, i);
    }
}

/** Whether the device has nothing of the set but what every set has; then the plugin has no set. */
static bool is_bare(const struct bed *bed)
{
    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        if (bed->exists[i] && !oa_counter_is_basic(bed->set->counters[i].name))
            return false;
    }
    return true;
}

static void bed_finish(struct bed *bed)
{
    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        oa_equation_free(&bed->value[i]);
        oa_equation_free(&bed->maximum[i]);
    }
    zeta_compiled_destroy(bed->compiled);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);

    return length >= size && strcmp(text + length - size, end) == 0;
}

/** Index of a metric among those of the device; UINT32_MAX if it is not there. */
static uint32_t find_metric(const struct bed *bed, const char *name)
{
    for (uint32_t i = 0; i < zeta_compiled_metric_count(bed->compiled); i++) {
        if (strcmp(zeta_compiled_metric(bed->compiled, i)->name, name) == 0)
            return i;
    }
    return UINT32_MAX;
}

/** From XeHP on sets have a few metrics once more, by the names that tools look for. */
static bool is_ours_alone(const struct bed *bed, const char *name)
{
    static const char *const names[] = {"AvgGpuCoreFrequencyMHz", "XVE_ACTIVE", "XVE_STALL"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return oa_set_find(bed->set, bed->set->counter_count, name) < 0;
    }
    return false;
}

static void check_metrics(struct bed *bed)
{
    uint32_t expected = 0, found = 0;

    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        const struct oa_counter *counter = &bed->set->counters[i];
        const uint32_t index = find_metric(bed, counter->name);

        if ((index != UINT32_MAX) != bed->exists[i])
            fail_msg("%s/%s: %s", bed->set->name, counter->name,
                     bed->exists[i] ? "is missing" : "must not exist");
        if (!bed->exists[i])
            continue;
        assert_int_equal(zeta_compiled_metric(bed->compiled, index)->value_type,
                         counter->is_float ? ZET_VALUE_TYPE_FLOAT32 : ZET_VALUE_TYPE_UINT64);
        expected++;
    }
    for (uint32_t i = 0; i < zeta_compiled_metric_count(bed->compiled); i++) {
        const struct zeta_metric *metric = zeta_compiled_metric(bed->compiled, i);

        found += !metric->is_info && !is_ours_alone(bed, metric->name);
    }
    assert_int_equal(found, expected);
}

static void check_program(struct bed *bed)
{
    const struct zeta_program_entry *entries = NULL;
    const uint32_t count = zeta_compiled_program(bed->compiled, &entries);
    uint32_t at = 0;

    for (unsigned order = 0; order < OA_CONFIG_TYPES * 16; order++) {
        for (uint32_t i = 0; i < bed->set->config_count; i++) {
            const struct oa_config *config = &bed->set->configs[i];

            if ((unsigned)config->type != order / 16 || config->priority != order % 16 ||
                !oa_holds(config->availability, bed->set, &bed->device))
                continue;
            for (uint32_t r = 0; r < config->register_count; r++, at++) {
                assert_cmp(at, <, count);
                assert_int_equal(entries[at].address, config->registers[r].address);
                assert_int_equal(entries[at].value, config->registers[r].value);
            }
        }
    }
    assert_int_equal(at, count);
}

/** Value of a counter in the type of its data; references see it before it is rounded to f32. */
static struct oa_number typed(const struct oa_counter *counter, struct oa_number number)
{
    if (counter->is_float)
        return (struct oa_number){.is_float = true, .f = oa_as_double(number)};
    return (struct oa_number){.u = oa_as_integer(number)};
}

static void compare(const struct bed *bed, const struct oa_counter *counter, const char *what,
                    const zet_typed_value_t *found, struct oa_number expected)
{
    zet_typed_value_t value = {.type = expected.is_float ? ZET_VALUE_TYPE_FLOAT32
                                                         : ZET_VALUE_TYPE_UINT64};
    char texts[2][64];

    if (expected.is_float)
        value.value.fp32 = (float)expected.f;
    else
        value.value.ui64 = expected.u;
    if (same_value(found, &value))
        return;
    print_value(found, texts[0], sizeof(texts[0]));
    print_value(&value, texts[1], sizeof(texts[1]));
    fail_msg("%s %s/%s: %s is %s, of the XML %s (%s)", bed->device.platform->file, bed->set->name,
             counter->name, what, texts[0], texts[1], counter->equation);
}

/**
 * Whether random reports make a product that 64 bits do not hold, as the XML has them between
 * product and quotient: the times of shaders, and everything with time where reports have 56 bits
 * of it.
 */
static bool may_outgrow(const struct bed *bed, uint32_t index)
{
    const struct zeta_metric *metric = zeta_compiled_metric(bed->compiled, index);
    const bool is_wide = bed->format == &oa_format_pec64 || bed->format == &oa_format_mpec32;

    return (is_wide || ends_with(metric->name, "Duration")) &&
           oa_has_wide_product(bed->ours, metric->value);
}

/** values[0] are those of the metrics, values[1] the maxima. */
static void compare_row(const struct bed *bed, const struct oa_row *row,
                        zet_typed_value_t *const *values)
{
    struct oa_number numbers[MAX_COUNTERS] = {{0}};

    for (uint32_t i = 0; i < bed->set->counter_count; i++) {
        const struct oa_counter *counter = &bed->set->counters[i];
        const uint32_t index = bed->exists[i] ? find_metric(bed, counter->name) : 0;
        struct oa_number maximum;

        numbers[i] = typed(counter, oa_equation_value(&bed->value[i], row, numbers));
        if (!bed->exists[i] || (!bed->bounded && may_outgrow(bed, index)))
            continue;
        compare(bed, counter, "the value", &values[0][index], numbers[i]);
        maximum = numbers[i];
        if (counter->is_percent)
            maximum = typed(counter, (struct oa_number){.u = 100});
        /* That a thread takes 100 cycles at most is no truth of any GPU, nor that hull shaders do.
         */
        if (counter->maximum && !ends_with(counter->name, "PerThread") &&
            strcmp(counter->name, "XVE_ACTIVE_CYCLES_HS") != 0)
            maximum = typed(counter, oa_equation_value(&bed->maximum[i], row, numbers));
        compare(bed, counter, "the maximum", &values[1][index], maximum);
    }
}

static void compare_all(const struct bed *bed, const unsigned char *reports)
{
    const uint32_t bytes = bed->format->report_bytes;
    const uint32_t metrics = zeta_compiled_metric_count(bed->compiled);
    const uint32_t capacity = REPORTS * metrics;
    ZETA_CLEANUP(zeta_freep) zet_typed_value_t *measured = calloc(capacity, sizeof(*measured));
    ZETA_CLEANUP(zeta_freep) zet_typed_value_t *maxima = calloc(capacity, sizeof(*maxima));
    struct zeta_evaluation result;

    assert_non_null(measured);
    assert_non_null(maxima);
    assert_int_equal(zeta_evaluate(bed->compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                   0, 0, reports, (size_t)REPORTS * bytes, measured, capacity,
                                   &result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(result.row_count, REPORTS - 1);
    assert_int_equal(zeta_evaluate(bed->compiled,
                                   ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES, 0, 0,
                                   reports, (size_t)REPORTS * bytes, maxima, capacity, &result),
                     ZE_RESULT_SUCCESS);
    for (uint32_t row = 0; row + 1 < REPORTS; row++) {
        zet_typed_value_t *const values[] = {measured + (size_t)row * metrics,
                                             maxima + (size_t)row * metrics};
        const struct oa_row pair = {.earlier = reports + (size_t)row * bytes,
                                    .later = reports + (size_t)(row + 1) * bytes};

        compare_row(bed, &pair, values);
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
    bed->bounded = false;
    compare_all(bed, reports);
}

/** Counters that move on as those of a GPU do in a millisecond or less, and wrap. */
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
                value += next_random(&seed) >> (44 + i % 20);
            }
        }
    }
    number_reports(reports, bytes);
    bed->bounded = true;
    compare_all(bed, reports);
}

/** By the program: those that are called Ext1, Ext2 ... have names of what they count here. */
static const struct zeta_set *find_set(const struct zeta_catalog *catalog, const char *uuid)
{
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        if (strcmp(zeta_catalog_set(catalog, i)->uuid, uuid) == 0)
            return zeta_catalog_set(catalog, i);
    }
    return NULL;
}

/** Calls a check for each set of a file on each way of fusing. */
static void each_bed(const struct oa_file *file, const struct oa_platform *platform,
                     const struct zeta_catalog *catalog, void (*check)(struct bed *bed))
{
    for (uint32_t variant = 0; oa_platform_has(platform, variant); variant++) {
        for (uint32_t i = 0; i < file->set_count; i++) {
            struct bed bed = {
                .device = {platform, &platform->fusings[variant]},
                .set = &file->sets[i],
                .format = oa_format_find(file->sets[i].format, platform->format),
            };
            const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = &bed.device};
            const struct zeta_set *set = find_set(catalog, bed.set->uuid);
            struct zeta_diagnostics sink = {0};

            if (!set)
                fail_msg("%s: set %s is missing", platform->file, bed.set->name);
            bed.ours = set;
            bed_prepare(&bed);
            if (zeta_set_compile(catalog, set, &lookup, &sink, &bed.compiled) == ZE_RESULT_SUCCESS)
                check(&bed);
            else if (!set->available || !is_bare(&bed))
                fail_msg("%s %s: %s", platform->file, set->name, sink.first_error);
            bed_finish(&bed);
        }
    }
}

/** Calls a check for every set of every file of the generation. */
static void each_file(void (*check)(struct bed *bed))
{
    uint32_t count = 0, files = 0;
    struct data_generation *generations = data_read(&count);

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_intel_platforms *platforms = &generations[i].platforms;

        for (uint32_t k = 0; strcmp(generations[i].name, wanted) == 0 && k < platforms->count;
             k++, files++) {
            struct zeta_catalog *catalog = data_catalog(&generations[i], &platforms->items[k]);
            char name[32], path[1024];
            struct oa_file *file;

            data_xml_name(&platforms->items[k], name, sizeof(name));
            (void)snprintf(path, sizeof(path), "%s/oa/i915/oa-%s.xml", getenv("ZETA_SHARED"), name);
            if (access(path, R_OK) != 0)
                (void)snprintf(path, sizeof(path), "%s/oa/xe/oa-%s.xml", getenv("ZETA_SHARED"),
                               name);
            file = oa_file_read(path);
            assert_non_null(oa_platform_find(name));
            each_bed(file, oa_platform_find(name), catalog, check);
            oa_file_free(file);
            zeta_catalog_destroy(catalog);
        }
    }
    data_free(generations, count);
    assert_cmp(files, >, 0);
}

static void metrics__each_device__same_as_in_the_xml(void **state)
{
    (void)state;
    each_file(check_metrics);
}

static void programs__each_device__same_registers_in_order(void **state)
{
    (void)state;
    each_file(check_program);
}

static void values__random_reports__equal(void **state)
{
    (void)state;
    each_file(check_random);
}

static void values__advancing_reports__equal(void **state)
{
    (void)state;
    each_file(check_advancing);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics__each_device__same_as_in_the_xml),
        cmocka_unit_test(programs__each_device__same_registers_in_order),
        cmocka_unit_test(values__random_reports__equal),
        cmocka_unit_test(values__advancing_reports__equal),
    };
    const char *shared = getenv("ZETA_SHARED");
    char path[1024];

    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s GENERATION\n", argv[0]);
        return 1;
    }
    wanted = argv[1];
    (void)snprintf(path, sizeof(path), "%s/oa/i915", shared ? shared : "");
    if (!shared || access(path, R_OK) != 0) {
        (void)printf("skipped: %s is not there; ZETA_SHARED names the folder with oa/\n", path);
        return 77;
    }
    return cmocka_run_group_tests_name(wanted, tests, NULL, NULL);
}
