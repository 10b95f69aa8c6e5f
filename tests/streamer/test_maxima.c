/* Maximum values: every metric of every group has one that fits what was measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "streaming.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
#define MAXIMA ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES

enum { MOST_GROUPS = 32, MOST_METRICS = 128, ROWS = 64, MOST_RECORD = 1024 };

static double number_of(const zet_typed_value_t *value)
{
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT32:
        return value->value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return (double)value->value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return (double)value->value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return value->value.fp64;
    case ZET_VALUE_TYPE_BOOL8:
        return value->value.b8;
    default:
        fail_msg("a value of type %d", (int)value->type);
        return 0;
    }
}

/** A maximum beside a value of the same metric in the same row. */
static void compare(const zet_metric_properties_t *metric, const zet_typed_value_t *value,
                    const zet_typed_value_t *maximum)
{
    const double measured = number_of(value), most = number_of(maximum);

    assert_int_equal(maximum->type, value->type);
    if (strcmp(metric->resultUnits, "percent") == 0) {
        if (most != 100.0)
            fail_msg("%s: the largest percentage is %f", metric->name, most);
        return;
    }
    if (metric->metricType != ZET_METRIC_TYPE_RATIO &&
        metric->metricType != ZET_METRIC_TYPE_THROUGHPUT) {
        if (most < measured)
            fail_msg("%s: %f is more than its maximum %f", metric->name, measured, most);
        return;
    }
    if (!isnan(measured) && !(most >= measured))
        fail_msg("%s: %f is more than its maximum %f", metric->name, measured, most);
}

/** Calculates both ways, compares each value. */
static uint32_t compare_all(zet_metric_group_handle_t group, const uint8_t *raw, size_t bytes)
{
    static zet_typed_value_t values[ROWS * MOST_METRICS], maxima[ROWS * MOST_METRICS];
    zet_metric_handle_t metrics[MOST_METRICS];
    uint32_t count = MOST_METRICS, got = ROWS * MOST_METRICS, most = ROWS * MOST_METRICS;

    EXPECT_OK(zetMetricGet(group, &count, metrics));
    assert_in_range(count, 1, MOST_METRICS - 1);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, bytes, raw, &got, values));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, MAXIMA, bytes, raw, &most, maxima));
    assert_int_equal(got, most);
    for (uint32_t m = 0; m < count; m++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(metrics[m], &properties));
        for (uint32_t i = m; i < got; i += count)
            compare(&properties, &values[i], &maxima[i]);
    }
    return count > 0 ? got / count : 0;
}

static uint32_t draw(uint64_t *random, uint32_t below)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % below;
}

/** Numbers that grow slowly, fast, or not at all, whatever the fields are. */
static size_t make_records(uint64_t *random, uint8_t *raw, size_t record_bytes)
{
    static const uint32_t steps[] = {1, 100, 100000, 100000000, 0x7fffffff};
    uint32_t words[MOST_RECORD / 4] = {0};

    for (size_t row = 0; row < ROWS; row++) {
        for (size_t w = 0; w < record_bytes / 4; w++) {
            if (draw(random, 4) > 0)
                words[w] += draw(random, steps[draw(random, 5)]);
        }
        words[1] += 1; /* records of one time are one record */
        memcpy(raw + row * record_bytes, words, record_bytes);
    }
    return ROWS * record_bytes;
}

static size_t record_bytes_of(zet_metric_group_handle_t group)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    EXPECT_OK(zetaMetricGroupGetInfo(group, &info));
    assert_in_range(info.record_bytes, 32, MOST_RECORD);
    return info.record_bytes;
}

/* Rule 14.11. */
static void maxima__any_counts__are_not_below_what_was_measured(void **state)
{
    static uint8_t raw[ROWS * MOST_RECORD];
    const struct bed *bed = *state;
    zet_metric_group_handle_t groups[MOST_GROUPS];
    uint32_t count = MOST_GROUPS, tried = 0;
    uint64_t random = 1;

    EXPECT_OK(zetMetricGroupGet(bed->device, &count, groups));
    assert_in_range(count, 8, MOST_GROUPS - 1);
    for (uint32_t g = 0; g < count; g++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[g], &properties));
        if ((properties.samplingType & (TIME_BASED | EVENT_BASED)) == 0)
            continue; /* events are decoded */
        for (uint32_t i = 0; i < 50; i++) {
            const size_t bytes = make_records(&random, raw, record_bytes_of(groups[g]));

            tried += compare_all(groups[g], raw, bytes);
        }
    }
    assert_cmp(tried, >, 8 * 50 * (ROWS / 2));
}

/** Percentages of what really ran are at most 100. Rule 14.11. */
static void maxima__of_real_work__percentages_stay_below(void **state)
{
    static const char *const names[] = {"ComputeBasic", "MemoryProfile"};
    const struct bed *bed = *state;

    for (uint32_t n = 0; n < 2; n++) {
        struct streaming stream = streaming_of(bed->device, names[n]);
        struct streaming *active[] = {&stream};
        struct bed_matmul matmul = bed_matmul_make(bed, 64);
        ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
        zet_metric_handle_t metrics[MOST_METRICS];
        uint32_t count = MOST_METRICS;

        streaming_activate(bed, active, 1);
        streaming_open(bed, &stream, 1000000, 0, NULL);
        for (uint32_t i = 0; i < 10; i++)
            bed_matmul_append(list, &matmul);
        streaming_catch_up(&stream);
        streaming_calculate(&stream);
        EXPECT_OK(zetMetricGet(stream.group, &count, metrics));
        for (uint32_t i = 0; i < stream.rows * count; i++) {
            zet_metric_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

            EXPECT_OK(zetMetricGetProperties(metrics[i % count], &p));
            if (strcmp(p.resultUnits, "percent") == 0 && number_of(&stream.values[i]) > 100.0)
                fail_msg("%s is %f percent", p.name, number_of(&stream.values[i]));
        }
        EXPECT_OK(zeCommandListDestroy(list));
        bed_matmul_drop(bed, &matmul);
        streaming_close(&stream);
    }
}

SUITE(maxima)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maxima__any_counts__are_not_below_what_was_measured),
        cmocka_unit_test(maxima__of_real_work__percentages_stay_below),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
