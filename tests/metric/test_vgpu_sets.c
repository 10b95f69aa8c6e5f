/* The set files of the virtual GPU: they load, say what they must, and calculate crafted reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define REPORT 256u

static const struct reference_symbol device[] = {
    {"GpuTimestampFrequency", {ZETA_EXPR_U64, {.u64 = 25000000}}},
    {"GpuMaxFrequency", {ZETA_EXPR_U64, {.u64 = 1000000000}}},
    {"EuCoresTotalCount", {ZETA_EXPR_U64, {.u64 = 128}}},
    {"EuThreadsCount", {ZETA_EXPR_U64, {.u64 = 16}}},
    {"EuSubslicesTotalCount", {ZETA_EXPR_U64, {.u64 = 4}}},
    {"EuSlicesTotalCount", {ZETA_EXPR_U64, {.u64 = 2}}},
    {"WorkRateLimit", {ZETA_EXPR_U64, {.u64 = 64000000000}}},
    {NULL, {0}},
};

static struct zeta_catalog *load_sets(void)
{
    static const char *const files[] = {"dispatch.yaml", "layout.yaml", "oa.yaml"};
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_diagnostics sink = {0};

    assert_non_null(catalog);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[512];

        (void)snprintf(path, sizeof(path), "%s/plugins/vgpu/metrics/%s", ZETA_SOURCE_DIR, files[i]);
        (void)zeta_catalog_add_file(catalog, path, &sink);
    }
    (void)zeta_catalog_link(catalog, &sink);
    assert_string_equal(sink.first_error, "");
    assert_int_equal(sink.count[ZETA_SEVERITY_WARNING], 0);
    return catalog;
}

static const struct zeta_metric *find_metric(const struct zeta_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->metric_count; i++) {
        if (strcmp(set->metrics[i].name, name) == 0)
            return &set->metrics[i];
    }
    return NULL;
}

static void load__sets__in_order_of_domains(void **state)
{
    static const struct {
        const char *name;
        const char *unit;
        uint32_t domain;
    } expected[] = {{"ComputeBasic", "oa", 0},
                    {"MemoryProfile", "oa", 0},
                    {"TestOa", "oa", 0},
                    {"ThreadDispatch", "dispatch", 1}};
    struct zeta_catalog *catalog = load_sets();

    (void)state;
    assert_int_equal(zeta_catalog_set_count(catalog), 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        assert_string_equal(set->name, expected[i].name);
        assert_string_equal(set->unit->name, expected[i].unit);
        assert_int_equal(set->domain, expected[i].domain);
        assert_int_equal(set->sampling, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED |
                                            ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
        assert_int_equal(set->layout->record_bytes, REPORT);
    }
    zeta_catalog_destroy(catalog);
}

static void load__members_of_compute_basic__exact_types(void **state)
{
    static const struct {
        const char *name;
        zet_metric_type_t type;
        zet_value_type_t value_type;
        const char *unit;
    } expected[] = {
        {"GpuTime", ZET_METRIC_TYPE_DURATION, ZET_VALUE_TYPE_UINT64, "ns"},
        {"GpuCoreClocks", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64, "cycles"},
        {"AvgGpuCoreFrequencyMHz", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_UINT64, "MHz"},
        {"XVE_ACTIVE", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT32, "percent"},
        {"XVE_STALL", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT32, "percent"},
        {"EuActive", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT32, "percent"},
        {"EuStall", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT32, "percent"},
        {"GpuBusy", ZET_METRIC_TYPE_RATIO, ZET_VALUE_TYPE_FLOAT32, "percent"},
        {"FpOps", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64, "operations"},
        {"BarrierMessages", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64, "messages"},
        {"GlobalWriteBytes", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64, "bytes"},
        {"GroupsDispatched", ZET_METRIC_TYPE_EVENT, ZET_VALUE_TYPE_UINT64, "groups"},
        {"QueryBeginTime", ZET_METRIC_TYPE_TIMESTAMP, ZET_VALUE_TYPE_UINT64, "ns"},
        {"ReportReason", ZET_METRIC_TYPE_FLAG, ZET_VALUE_TYPE_UINT32, ""},
        {"StreamMarker", ZET_METRIC_TYPE_RAW, ZET_VALUE_TYPE_UINT64, ""},
    };
    struct zeta_catalog *catalog = load_sets();
    const struct zeta_set *set = zeta_catalog_find_set(catalog, "ComputeBasic");

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct zeta_metric *metric = find_metric(set, expected[i].name);

        if (!metric) {
            fail_msg("%s is missing", expected[i].name);
            continue;
        }
        assert_int_equal(metric->type, expected[i].type);
        assert_int_equal(metric->value_type, expected[i].value_type);
        assert_string_equal(metric->unit, expected[i].unit);
    }
    zeta_catalog_destroy(catalog);
}

static void load__counters_of_the_device__each_in_a_set(void **state)
{
    static const char *const names[] = {"GpuTime",
                                        "GpuCoreClocks",
                                        "AvgGpuCoreFrequencyMHz",
                                        "GpuBusy",
                                        "EuActive",
                                        "EuStall",
                                        "EuThreadOccupancy",
                                        "InstRetired",
                                        "InstInt",
                                        "InstFp32",
                                        "InstFp64",
                                        "FpOps",
                                        "InstBranch",
                                        "InstBranchTaken",
                                        "InstCall",
                                        "InstMem",
                                        "InstAtomic",
                                        "InstMath",
                                        "BarrierMessages",
                                        "BarrierStallCycles",
                                        "GlobalReadBytes",
                                        "GlobalWriteBytes",
                                        "PrivateBytes",
                                        "SlmReadBytes",
                                        "SlmWriteBytes",
                                        "L1Hits",
                                        "L1Misses",
                                        "L3Hits",
                                        "L3Misses",
                                        "GpuMemoryReadBytes",
                                        "GpuMemoryWriteBytes",
                                        "TlbMisses",
                                        "InstCacheMisses",
                                        "CopyBytes",
                                        "ThreadsDispatched",
                                        "GroupsDispatched",
                                        "KernelsLaunched",
                                        "DebugHaltCycles",
                                        "StreamMarker",
                                        "QueryBeginTime",
                                        "ReportReason",
                                        "ContextId"};
    struct zeta_catalog *catalog = load_sets();

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool found = false;

        for (uint32_t j = 0; j < zeta_catalog_set_count(catalog); j++)
            found = found || find_metric(zeta_catalog_set(catalog, j), names[i]);
        if (!found)
            fail_msg("%s is in no set", names[i]);
    }
    zeta_catalog_destroy(catalog);
}

/** The words by which clients decide between sum and mean, and the class in words. */
static void load__descriptions__say_class_and_kind(void **state)
{
    struct zeta_catalog *catalog = load_sets();

    (void)state;
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        assert_non_null(find_metric(set, "GpuTime"));
        assert_non_null(find_metric(set, "QueryBeginTime"));
        for (uint32_t m = 0; m < set->metric_count; m++) {
            const struct zeta_metric *metric = &set->metrics[m];
            bool averaged = strstr(metric->description, "verage") != NULL;

            if (!strstr(metric->description, zeta_metric_class_name(metric->metric_class)))
                fail_msg("%s of %s does not name its class", metric->name, set->name);
            if (averaged != (metric->type == ZET_METRIC_TYPE_RATIO))
                fail_msg("%s of %s: the word Average belongs to ratios", metric->name, set->name);
            if ((strcmp(metric->unit, "percent") == 0) !=
                (strstr(metric->description, "percentage") != NULL))
                fail_msg("%s of %s: the word percentage belongs to percent", metric->name,
                         set->name);
        }
    }
    zeta_catalog_destroy(catalog);
}

static void put_u32(unsigned char *report, size_t at, uint32_t value)
{
    memcpy(report + at, &value, sizeof(value));
}

static void put_a(unsigned char *report, uint32_t index, uint64_t value)
{
    if (index >= 32) {
        put_u32(report, 144 + 4 * (index - 32), (uint32_t)value);
        return;
    }
    put_u32(report, 16 + 4 * index, (uint32_t)value);
    report[160 + index] = (unsigned char)(value >> 32);
}

/** Two reports 1000 ticks apart: every A counter advances by its number times 1000 from a wrap. */
static void craft_reports(unsigned char reports[2 * REPORT])
{
    memset(reports, 0, 2 * (size_t)REPORT);
    put_u32(reports, 0, 3u << 30 | 1u << 19);
    put_u32(reports + REPORT, 0, 1u << 23);
    put_u32(reports, 4, UINT32_MAX - 499);
    put_u32(reports + REPORT, 4, 500);
    put_u32(reports + REPORT, 8, 4711);
    for (uint32_t i = 0; i < 36; i++) {
        uint64_t start = i < 32 ? (UINT64_C(1) << 40) - 10 : (UINT64_C(1) << 32) - 10;
        uint64_t step = i == 0 ? 40000 : i * 1000;

        put_a(reports, i, start);
        put_a(reports + REPORT, i, start + step);
    }
    for (uint32_t i = 0; i < 16; i++) {
        put_u32(reports, 192 + 4 * i, UINT32_MAX);
        put_u32(reports + REPORT, 192 + 4 * i, i);
    }
}

static const zet_value_t *value_of(const struct zeta_compiled *compiled,
                                   const zet_typed_value_t *values, const char *name)
{
    for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++) {
        if (strcmp(zeta_compiled_metric(compiled, i)->name, name) == 0)
            return &values[i].value;
    }
    fail_msg("%s does not exist", name);
    return NULL;
}

static struct zeta_compiled *calculate(const struct zeta_catalog *catalog, const char *set,
                                       const unsigned char *reports, zet_typed_value_t *values)
{
    struct zeta_compiled *compiled = compile_set(catalog, set, device);
    struct zeta_evaluation result;

    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                                   reports, (size_t)2 * REPORT, values, 64, &result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(result.row_count, 1);
    return compiled;
}

static void evaluate__compute_basic__values_of_crafted_reports(void **state)
{
    static const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"GpuTime", 40000},
        {"GpuCoreClocks", 40000},
        {"AvgGpuCoreFrequencyMHz", 1000},
        {"InstRetired", 5000},
        {"InstInt", 6000},
        {"InstFp32", 7000},
        {"InstFp64", 8000},
        {"FpOps", 9000},
        {"InstBranch", 10000},
        {"InstBranchTaken", 11000},
        {"InstCall", 12000},
        {"InstMem", 13000},
        {"InstAtomic", 14000},
        {"InstMath", 15000},
        {"BarrierMessages", 16000},
        {"BarrierStallCycles", 17000},
        {"GlobalReadBytes", 18000},
        {"GlobalWriteBytes", 19000},
        {"PrivateBytes", 20000},
        {"SlmReadBytes", 21000},
        {"SlmWriteBytes", 22000},
        {"CopyBytes", 31000},
        {"ThreadsDispatched", 32000},
        {"GroupsDispatched", 33000},
        {"KernelsLaunched", 34000},
        {"QueryBeginTime", 20000},
        {"StreamMarker", 4711},
    };
    struct zeta_catalog *catalog = load_sets();
    unsigned char reports[2 * REPORT];
    zet_typed_value_t values[64];
    struct zeta_compiled *compiled;

    (void)state;
    craft_reports(reports);
    compiled = calculate(catalog, "ComputeBasic", reports, values);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint64_t got = value_of(compiled, values, counts[i].name)->ui64;

        if (got != counts[i].value)
            fail_msg("%s is %llu", counts[i].name, (unsigned long long)got);
    }
    assert_cmp(value_of(compiled, values, "GpuBusy")->fp32, ==, 2.5f);
    assert_cmp(value_of(compiled, values, "EuActive")->fp32, ==,
               (float)(200000.0 / (40000.0 * 128.0)));
    assert_cmp(value_of(compiled, values, "XVE_STALL")->fp32, ==,
               (float)(300000.0 / (40000.0 * 128.0)));
    assert_cmp(value_of(compiled, values, "EuThreadOccupancy")->fp32, ==,
               (float)(400000.0 / (40000.0 * 128.0 * 16.0)));
    assert_int_equal(value_of(compiled, values, "ReportReason")->ui32, 16);
    assert_int_equal(value_of(compiled, values, "ContextId")->ui32, 0);
    zeta_compiled_destroy(compiled);
    put_u32(reports + REPORT, 0, 1u << 22);
    compiled = calculate(catalog, "ComputeBasic", reports, values);
    assert_int_equal(value_of(compiled, values, "ReportReason")->ui32, 8);
    assert_int_equal(value_of(compiled, values, "ContextId")->ui32, 4711);
    assert_cmp(value_of(compiled, values, "StreamMarker")->ui64, ==, 0);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

static void evaluate__memory_profile__rates_and_subslices(void **state)
{
    struct zeta_catalog *catalog = load_sets();
    unsigned char reports[2 * REPORT];
    zet_typed_value_t values[64];
    struct zeta_compiled *compiled;
    const struct zeta_program_entry *entries;

    (void)state;
    craft_reports(reports);
    compiled = calculate(catalog, "MemoryProfile", reports, values);
    assert_cmp(value_of(compiled, values, "L1Hits")->ui64, ==, 23000);
    assert_cmp(value_of(compiled, values, "L1HitRate")->fp32, ==, (float)(2300.0 / 47.0));
    assert_cmp(value_of(compiled, values, "L3HitRate")->fp32, ==, (float)(2500.0 / 51.0));
    assert_cmp(value_of(compiled, values, "L1MissesSubslice3")->ui64, ==, 4);
    assert_int_equal(zeta_compiled_program(compiled, &entries), 4);
    assert_string_equal(entries[3].select, "B3=counter:L1Misses@subslice=3");
    for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++)
        assert_string_not_equal(zeta_compiled_metric(compiled, i)->name, "L1MissesSubslice4");
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

static void evaluate__test_oa__constant_values(void **state)
{
    struct zeta_catalog *catalog = load_sets();
    unsigned char reports[2 * REPORT];
    zet_typed_value_t values[64];
    struct zeta_compiled *compiled;

    (void)state;
    craft_reports(reports);
    put_u32(reports + REPORT, 224 + 4 * 2, UINT32_MAX + 305419896u);
    put_u32(reports + REPORT, 224 + 4 * 3, UINT32_MAX - 1);
    put_u32(reports + REPORT, 224 + 4 * 4, 999);
    compiled = calculate(catalog, "TestOa", reports, values);
    assert_cmp(value_of(compiled, values, "ConstantOne")->ui64, ==, 1);
    assert_cmp(value_of(compiled, values, "ConstantStep")->ui64, ==, 0x12345678);
    assert_cmp(value_of(compiled, values, "ConstantWrap")->ui64, ==, UINT32_MAX);
    assert_cmp(value_of(compiled, values, "TicksCounted")->ui64, ==, 1000);
    assert_int_equal(value_of(compiled, values, "TicksDiffer")->b8, 0);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

static void evaluate__every_set_on_noise__as_reference(void **state)
{
    enum { COUNT = 200 };
    struct zeta_catalog *catalog = load_sets();
    unsigned char *raw = malloc((size_t)COUNT * REPORT);
    zet_typed_value_t *values = calloc((size_t)COUNT * 2 * 64, sizeof(*values));
    zet_typed_value_t *expected = values + (size_t)COUNT * 64;
    uint64_t seed = 3;

    (void)state;
    assert_non_null(raw);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)COUNT * REPORT; i++)
        raw[i] = (unsigned char)(next_random(&seed) >> 40);
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        struct zeta_compiled *compiled =
            compile_set(catalog, zeta_catalog_set(catalog, i)->name, device);
        struct zeta_evaluation result;
        bool dropped;
        size_t count =
            reference_evaluate(catalog, compiled, device, false, 0, raw, (size_t)COUNT * REPORT,
                               expected, (size_t)COUNT * 64, &dropped);

        assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0,
                                       0, raw, (size_t)COUNT * REPORT, values, COUNT * 64, &result),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(result.value_count, count);
        assert_int_equal(result.row_count, COUNT - 1);
        for (size_t v = 0; v < count; v++)
            assert_true(same_value(&values[v], &expected[v]));
        zeta_compiled_destroy(compiled);
    }
    free(values);
    free(raw);
    zeta_catalog_destroy(catalog);
}

/* Rule 14.3. */
static void values__over_many_rows__are_those_of_one_long_row(void **state)
{
    struct zeta_catalog *catalog = load_sets();
    uint32_t checked = 0;

    (void)state;
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);
        struct zeta_compiled *compiled = compile_set(catalog, set->name, device);

        if (set->layout->kind == ZETA_LAYOUT_DELTA) {
            check_many_rows_are_one(compiled, i + 1);
            checked++;
        }
        zeta_compiled_destroy(compiled);
    }
    assert_cmp(checked, >=, 3);
    zeta_catalog_destroy(catalog);
}

SUITE(vgpu_sets)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load__sets__in_order_of_domains),
        cmocka_unit_test(load__members_of_compute_basic__exact_types),
        cmocka_unit_test(load__counters_of_the_device__each_in_a_set),
        cmocka_unit_test(load__descriptions__say_class_and_kind),
        cmocka_unit_test(evaluate__compute_basic__values_of_crafted_reports),
        cmocka_unit_test(evaluate__memory_profile__rates_and_subslices),
        cmocka_unit_test(evaluate__test_oa__constant_values),
        cmocka_unit_test(evaluate__every_set_on_noise__as_reference),
        cmocka_unit_test(values__over_many_rows__are_those_of_one_long_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
