/*
 * Values over many rows through zeta.h: from a group and from exported data, row by row, in parts,
 * into several sums at once, and what is refused.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SLOTS 96u
#define RAW_BYTES (SLOTS * 4096u)
#define MOST_METRICS 256u

static uint8_t raw[RAW_BYTES];
static struct zeta_metric_value values[MOST_METRICS];
static struct zeta_metric_value other_values[MOST_METRICS];

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static struct zeta_metric_sum *make_sum(zet_metric_group_handle_t group,
                                        zet_metric_group_calculation_type_t type)
{
    const struct zeta_metric_sum_desc desc = {
        .struct_size = sizeof(desc), .group = group, .type = type};
    struct zeta_metric_sum *sum = NULL;

    EXPECT_OK(zetaMetricSumCreate(&desc, &sum));
    return sum;
}

static struct zeta_metric_sum *make_like(const struct zeta_metric_sum *like)
{
    const struct zeta_metric_sum_desc desc = {.struct_size = sizeof(desc), .like = like};
    struct zeta_metric_sum *sum = NULL;

    EXPECT_OK(zetaMetricSumCreate(&desc, &sum));
    return sum;
}

static void add(struct zeta_metric_sum *sum, const uint8_t *data, size_t size, uint32_t skip,
                zeta_metric_row_fn each, void *user)
{
    const struct zeta_metric_data part = {.struct_size = sizeof(part),
                                          .raw_size = size,
                                          .raw = data,
                                          .skip = skip,
                                          .each = each,
                                          .user = user};

    EXPECT_OK(zetaMetricSumAdd(sum, &part));
}

static uint32_t get(const struct zeta_metric_sum *sum, struct zeta_metric_value *out_values)
{
    uint32_t count = MOST_METRICS;

    memset(out_values, 0, MOST_METRICS * sizeof(*out_values));
    for (uint32_t i = 0; i < MOST_METRICS; i++)
        out_values[i].struct_size = sizeof(*out_values);
    EXPECT_OK(zetaMetricSumGetValues(sum, &count, out_values));
    return count;
}

static void expect_same_sums(const struct zeta_metric_sum *a, const struct zeta_metric_sum *b)
{
    const uint32_t count = get(a, values);

    assert_int_equal(get(b, other_values), count);
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_metric_value *x = &values[i];
        const struct zeta_metric_value *y = &other_values[i];

        assert_int_equal(x->rows, y->rows);
        assert_int_equal(x->has_value, y->has_value);
        assert_true(same_values(&x->value, &y->value, 1));
        assert_true(same_values(&x->min, &y->min, 1));
        assert_true(same_values(&x->max, &y->max, 1));
        assert_true(same_values(&x->last, &y->last, 1));
    }
}

/** What a sum should give, in the order of calculation. */
struct expected {
    const struct outcome *outcome;
    uint32_t next; /**< value */
    uint32_t width;
    uint32_t keep; /**< what the look at a row answers */
};

static uint32_t compare_row(void *user, const struct zeta_metric_row *row)
{
    struct expected *expected = user;

    assert_int_equal(row->metric_count, expected->width);
    assert_cmp(expected->next + expected->width, <=, expected->outcome->total);
    assert_true(
        same_values(row->values, expected->outcome->values + expected->next, expected->width));
    expected->next += expected->width;
    return expected->keep;
}

/** Any group of a device or tile. */
static struct source any_source(void)
{
    static struct source sources[MAX_GROUPS];

    assert_cmp(find_sources(sources), >, 0);
    return sources[0];
}

/* Rule 14.4. */
static void sum__of_any_group_and_data__has_the_rows_of_calculation(void **state)
{
    static struct source sources[MAX_GROUPS];
    const uint32_t count = find_sources(sources);
    struct outcome outcome = outcome_make();

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        const struct source *source = &sources[i];
        const size_t size = make_raw(source, i + 1, SLOTS, raw);
        struct zeta_metric_sum *sum = make_sum(source->group, i % 2 ? MAXIMA : VALUES);
        struct expected expected = {.outcome = &outcome, .width = source->properties.metricCount};

        calculate_in_place(source, i % 2 ? MAXIMA : VALUES, raw, size, &outcome);
        add(sum, raw, size, 0, compare_row, &expected);
        assert_int_equal(expected.next, outcome.total);
        assert_int_equal(get(sum, values), expected.width);
        for (uint32_t m = 0; m < expected.width; m++)
            assert_true(values[m].rows == 0 && values[m].has_value == 0); /* none was kept */
        zetaMetricSumDestroy(sum);
    }
    outcome_free(&outcome);
}

/** Rows go into two more sums in turn. */
struct split {
    struct zeta_metric_sum *sums[2];
    uint32_t rows;
};

static uint32_t split_row(void *user, const struct zeta_metric_row *row)
{
    struct split *split = user;

    EXPECT_OK(zetaMetricSumAddRow(split->sums[split->rows++ / 5 % 2], row));
    return 1;
}

/* Rule 14.3. */
static void sum__exported_or_split__has_the_same_values(void **state)
{
    static struct source sources[MAX_GROUPS];
    const uint32_t count = find_sources(sources);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        const struct source *source = &sources[i];
        const size_t size = make_raw(source, i + 77, SLOTS, raw);
        size_t exported_size = 0;
        uint8_t *exported = export_raw(source, raw, size, &exported_size);
        struct zeta_export_info info = {.struct_size = sizeof(info)};
        struct zeta_metric_sum_desc desc = {
            .struct_size = sizeof(desc), .data = exported, .data_size = exported_size};
        struct zeta_metric_sum *sum = make_sum(source->group, VALUES);
        struct zeta_metric_sum *offline = NULL;
        struct split split = {.sums = {make_like(sum), make_like(sum)}};

        EXPECT_OK(zetaMetricSumCreate(&desc, &offline));
        EXPECT_OK(zetaExportDataGetInfo(exported_size, exported, &info));
        assert_int_equal(info.raw_bytes, size);
        assert_memory_equal(info.raw, raw, size);
        add(offline, info.raw, size, i % 9, NULL, NULL);
        free(exported);
        add(sum, raw, size, i % 9, split_row, &split);
        expect_same_sums(sum, offline);
        EXPECT_OK(zetaMetricSumMerge(split.sums[0], split.sums[1]));
        assert_int_equal(get(sum, values), get(split.sums[0], other_values));
        for (uint32_t m = 0; m < source->properties.metricCount; m++) {
            assert_int_equal(values[m].rows, other_values[m].rows);
            assert_true(same_values(&values[m].min, &other_values[m].min, 1));
            assert_true(same_values(&values[m].max, &other_values[m].max, 1));
            if (values[m].value.type == ZET_VALUE_TYPE_UINT64 &&
                values[m].last.value.ui64 == other_values[m].last.value.ui64)
                assert_true(same_values(&values[m].value, &other_values[m].value, 1));
        }
        zetaMetricSumDestroy(sum);
        zetaMetricSumDestroy(split.sums[0]);
        zetaMetricSumDestroy(split.sums[1]);
        zetaMetricSumDestroy(offline);
    }
}

static void sum__structs_of_other_versions__what_fits_is_used(void **state)
{
    struct {
        struct zeta_metric_value value;
        uint8_t behind[16];
    } large = {.value.struct_size = sizeof(large)};
    const struct source source = any_source();
    struct zeta_metric_sum *sum = make_sum(source.group, VALUES);
    struct zeta_metric_value small;
    uint32_t count = 1;

    (void)state;
    memset(large.behind, 0xee, sizeof(large.behind));
    EXPECT_OK(zetaMetricSumGetValues(sum, &count, &large.value));
    assert_int_equal(large.behind[0], 0xee);
    memset(&small, 0xee, sizeof(small));
    small.struct_size = offsetof(struct zeta_metric_value, min);
    EXPECT_OK(zetaMetricSumGetValues(sum, &count, &small));
    assert_int_equal(small.has_value, 0);
    assert_int_equal(((const uint8_t *)&small.min)[0], 0xee);
    count = 0;
    EXPECT_OK(zetaMetricSumGetValues(sum, &count, NULL));
    assert_int_equal(count, source.properties.metricCount);
    zetaMetricSumDestroy(sum);
}

/** A group of the first metric that a programmable of the device makes; null: it has none. */
static zet_metric_group_handle_t make_group(ze_device_handle_t device, zet_metric_handle_t *metric)
{
    zet_metric_programmable_exp_handle_t programmable = NULL;
    zet_metric_group_handle_t group = NULL;
    uint32_t programmables = 1;
    uint32_t metrics = 1;
    uint32_t groups = 1;

    if (zetMetricProgrammableGetExp(device, &programmables, &programmable) != ZE_RESULT_SUCCESS ||
        programmables == 0)
        return NULL;
    EXPECT_OK(zetMetricCreateFromProgrammableExp2(programmable, 0, NULL, "Chosen", "chosen",
                                                  &metrics, metric));
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, metric, "own", "chosen", &groups,
                                                        &group));
    return group;
}

/* What a sum is of stays, whatever becomes of its group. */
static void sum__of_a_group_that_goes__stays(void **state)
{
    ze_driver_handle_t driver = any_source().driver;
    ze_device_handle_t device = NULL;
    zet_metric_handle_t metric = NULL;
    struct zeta_metric_sum *before;
    struct zeta_metric_sum *sum;
    struct source source;
    uint32_t count = 1;
    size_t size;

    (void)state;
    EXPECT_OK(zeDeviceGet(driver, &count, &device));
    source.group = make_group(device, &metric);
    if (!source.group)
        skip();
    assert_true(fill_source(source.group, driver, &source));
    size = make_raw(&source, 3, SLOTS, raw);
    before = make_sum(source.group, VALUES);
    add(before, raw, size, 0, NULL, NULL);
    sum = make_like(before);
    EXPECT_OK(zetMetricGroupDestroyExp(source.group));
    EXPECT_OK(zetMetricDestroyExp(metric));
    add(sum, raw, size, 0, NULL, NULL);
    expect_same_sums(before, sum);
    zetaMetricSumDestroy(before);
    zetaMetricSumDestroy(sum);
}

enum { THREADS = 4, ROUNDS = 20 };

static size_t raw_size; /* of the data that all threads add */

/** Adds the same data to sums of its own, which are made like one of another thread. */
static void *add_alike(void *first)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct zeta_metric_sum *sum = make_like(first);

        add(sum, raw, raw_size, 0, NULL, NULL);
        if (i + 1 == ROUNDS)
            return sum;
        zetaMetricSumDestroy(sum);
    }
    return NULL;
}

static void sums__made_alike__are_used_by_several_threads(void **state)
{
    const struct source source = any_source();
    struct zeta_metric_sum *first = make_sum(source.group, VALUES);
    pthread_t threads[THREADS];

    (void)state;
    raw_size = make_raw(&source, 9, SLOTS, raw);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_alike, first), 0);
    add(first, raw, raw_size, 0, NULL, NULL);
    for (uint32_t i = 0; i < THREADS; i++) {
        void *sum = NULL;

        assert_int_equal(pthread_join(threads[i], &sum), 0);
        expect_same_sums(first, sum);
        zetaMetricSumDestroy(sum);
    }
    zetaMetricSumDestroy(first);
}

/** Where a row of another sum ends up. */
static uint32_t misplace_row(void *user, const struct zeta_metric_row *row)
{
    EXPECT_RESULT(zetaMetricSumAddRow(user, row), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("like");
    EXPECT_RESULT(zetaMetricSumAddRow(NULL, row), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaMetricSumAddRow(user, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    return 0;
}

static void sum__wrong_arguments__say_what(void **state)
{
    const struct source source = any_source();
    struct zeta_metric_sum *sum = make_sum(source.group, VALUES);
    struct zeta_metric_sum *stranger = make_sum(source.group, VALUES);
    struct zeta_metric_sum *none = NULL;
    struct zeta_metric_sum_desc desc = {.struct_size = sizeof(desc), .group = source.group};
    struct zeta_metric_data data = {.struct_size = sizeof(data), .raw_size = 64};
    struct zeta_metric_value value = {0};
    uint32_t count = 1;

    (void)state;
    EXPECT_RESULT(zetaMetricSumCreate(NULL, &none), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaMetricSumCreate(&desc, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    desc.type = (zet_metric_group_calculation_type_t)2;
    EXPECT_RESULT(zetaMetricSumCreate(&desc, &none), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.type = VALUES;
    desc.struct_size = 1;
    EXPECT_RESULT(zetaMetricSumCreate(&desc, &none), ZE_RESULT_ERROR_INVALID_SIZE);
    desc.struct_size = sizeof(desc);
    desc.group = NULL;
    EXPECT_RESULT(zetaMetricSumCreate(&desc, &none), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    desc.data = raw;
    desc.data_size = 20;
    EXPECT_RESULT(zetaMetricSumCreate(&desc, &none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    desc.group = (zet_metric_group_handle_t)(uintptr_t)source.driver;
    EXPECT_RESULT(zetaMetricSumCreate(&desc, &none), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(none);

    EXPECT_RESULT(zetaMetricSumAdd(sum, &data), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    data.raw_size = 0;
    EXPECT_OK(zetaMetricSumAdd(sum, &data));
    EXPECT_RESULT(zetaMetricSumAdd(NULL, &data), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaMetricSumAdd(sum, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    add(sum, raw, make_raw(&source, 5, SLOTS, raw), 0, misplace_row, stranger);
    EXPECT_RESULT(zetaMetricSumMerge(sum, stranger), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetaMetricSumMerge(sum, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);

    EXPECT_RESULT(zetaMetricSumGetValues(NULL, &count, &value),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaMetricSumGetValues(sum, NULL, &value), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaMetricSumGetValues(sum, &count, &value), ZE_RESULT_ERROR_INVALID_SIZE);
    zetaMetricSumDestroy(NULL);
    zetaMetricSumDestroy(sum);
    zetaMetricSumDestroy(stranger);
}

static void functions__by_name__are_found(void **state)
{
    static const char *const names[] = {"zetaMetricSumAdd",       "zetaMetricSumAddRow",
                                        "zetaMetricSumCreate",    "zetaMetricSumDestroy",
                                        "zetaMetricSumGetValues", "zetaMetricSumMerge"};
    const struct source source = any_source();

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *function = NULL;

        EXPECT_OK(zeDriverGetExtensionFunctionAddress(source.driver, names[i], &function));
        assert_non_null(function);
    }
}

SUITE(sum)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum__of_any_group_and_data__has_the_rows_of_calculation),
        cmocka_unit_test(sum__exported_or_split__has_the_same_values),
        cmocka_unit_test(sum__structs_of_other_versions__what_fits_is_used),
        cmocka_unit_test(sum__of_a_group_that_goes__stays),
        cmocka_unit_test(sums__made_alike__are_used_by_several_threads),
        cmocka_unit_test(sum__wrong_arguments__say_what),
        cmocka_unit_test(functions__by_name__are_found),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
