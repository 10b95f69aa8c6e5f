/* Calculation through the API: counts, limits, warnings, and data of any length and content. */
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define METRICS 4u /* of the set Basic */
#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
#define MAXIMA ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static zet_metric_group_handle_t basic(void)
{
    return find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
}

/** Writes a record as the fake backend does. */
static void put_record(uint8_t *raw, uint32_t slot, uint32_t number)
{
    struct fake_record record = {.report_id = number,
                                 .timestamp = number * FAKE_TICKS_PER_RECORD,
                                 .a = {number, number * 3},
                                 .mark = FAKE_MARK};

    memcpy(raw + (size_t)slot * FAKE_RECORD_BYTES, &record, sizeof(record));
}

/* Rule 14.1. */
static void calculate__two_calls__count_is_a_bound_and_then_exact(void **state)
{
    zet_metric_group_handle_t group = basic();
    uint8_t raw[6 * FAKE_RECORD_BYTES];
    zet_typed_value_t values[6 * METRICS];
    uint32_t count = 0;

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        put_record(raw, i, 10 + i);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, sizeof(raw), raw, &count, NULL));
    assert_int_equal(count, 6 * METRICS);
    memset(values, 0xee, sizeof(values));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, sizeof(raw), raw, &count, values));
    assert_int_equal(count, 5 * METRICS);
    for (uint32_t row = 0; row < 5; row++) {
        const zet_typed_value_t *v = values + row * METRICS;

        assert_int_equal(v[0].type, ZET_VALUE_TYPE_UINT64);
        assert_int_equal(v[0].value.ui64, 1);
        assert_int_equal(v[1].value.ui64, 2); /* with the provider's symbol */
        assert_int_equal(v[2].type, ZET_VALUE_TYPE_FLOAT32);
        assert_cmp(v[2].value.fp32, ==, 1.5f);
        /* 20: QueryBeginTime of successive rows increases. */
        assert_int_equal(v[3].type, ZET_VALUE_TYPE_UINT64);
        if (row > 0)
            assert_int_equal(v[3].value.ui64 - (v - METRICS)[3].value.ui64, 1000);
    }
    assert_int_equal(((uint8_t *)&values[5 * METRICS])[0], 0xee);
    /* A count with an array but 0, and an array that is null: both only ask. */
    count = 0;
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, sizeof(raw), raw, &count, values));
    assert_int_equal(count, 6 * METRICS);
    count = 3;
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, sizeof(raw), raw, &count, NULL));
    assert_int_equal(count, 6 * METRICS);
}

static void calculate__less_room_than_values__writes_only_what_fits(void **state)
{
    zet_metric_group_handle_t group = basic();
    uint8_t raw[4 * FAKE_RECORD_BYTES];

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        put_record(raw, i, i + 1);
    for (uint32_t room = 1; room <= 3 * METRICS; room++) {
        /* Of the exact size, for the sanitizer. */
        zet_typed_value_t *values = malloc(room * sizeof(*values));
        uint32_t count = room;

        assert_non_null(values);
        EXPECT_OK(
            zetMetricGroupCalculateMetricValues(group, VALUES, sizeof(raw), raw, &count, values));
        assert_int_equal(count, room);
        assert_int_equal(values[0].value.ui64, 1);
        free(values);
    }
}

/* Rule 3.11. */
static void calculate__nothing__is_success_with_count_zero(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer refuses raw data that is null, whatever its size");
    zet_metric_group_handle_t group = basic();
    zet_typed_value_t value;
    uint8_t raw[FAKE_RECORD_BYTES] = {1};
    uint32_t count = 7;
    uint32_t sets = 0;
    uint32_t total = 5;

    (void)state;
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, 0, NULL, &count, NULL));
    assert_int_equal(count, 0);
    count = 1;
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, 0, NULL, &count, &value));
    assert_int_equal(count, 0);
    count = 1;
    EXPECT_OK(
        zetMetricGroupCalculateMetricValues(group, VALUES, sizeof(raw) - 1, raw, &count, &value));
    assert_int_equal(count, 0);
    count = 1;
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, VALUES, sizeof(raw), raw, &count, &value));
    assert_int_equal(count, 0);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, 0, NULL, &sets, &total,
                                                             NULL, NULL));
    assert_int_equal(sets, 1);
    assert_int_equal(total, 0);
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(group, VALUES, 64, NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(group, VALUES, 64, raw, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(group, (zet_metric_group_calculation_type_t)2,
                                                      64, raw, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

static void calculate__bad_arguments__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    const zet_metric_group_calculation_type_t unknown = (zet_metric_group_calculation_type_t)2;
    zet_metric_group_handle_t group = basic();
    uint8_t raw[FAKE_RECORD_BYTES] = {0};
    uint32_t count = 7;
    uint32_t sets = 7;

#define CALCULATE(group, type, raw, sets, total)                                                   \
    zetMetricGroupCalculateMultipleMetricValuesExp(group, type, sizeof(raw), raw, sets, total,     \
                                                   NULL, NULL)
    (void)state;
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(NULL, VALUES, sizeof(raw), raw, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(CALCULATE(NULL, VALUES, raw, &sets, &count), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(CALCULATE(group, VALUES, NULL, &sets, &count),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(CALCULATE(group, VALUES, raw, NULL, &count),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(CALCULATE(group, VALUES, raw, &sets, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(CALCULATE(group, unknown, raw, &sets, &count),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
#undef CALCULATE
    assert_int_equal(count, 7);
    assert_int_equal(sets, 7);
}

/* 37: without sub-devices one set, whose count is that of the values. Rule 14.8. */
static void calculate_multiple__device_without_tiles__is_one_set(void **state)
{
    zet_metric_group_handle_t group = basic();
    uint8_t raw[3 * FAKE_RECORD_BYTES];
    zet_typed_value_t values[3 * METRICS];
    uint32_t counts[2] = {0, 77};
    uint32_t sets = 0;
    uint32_t total = 0;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        put_record(raw, i, i + 1);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, sizeof(raw), raw, &sets,
                                                             &total, NULL, NULL));
    assert_int_equal(sets, 1);
    assert_int_equal(total, 3 * METRICS);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, sizeof(raw), raw, &sets,
                                                             &total, counts, values));
    assert_int_equal(sets, 1);
    assert_int_equal(total, 2 * METRICS);
    assert_int_equal(counts[0], 2 * METRICS);
    assert_int_equal(counts[1], 77);
    /* Less room: only so many values. */
    total = 3;
    sets = 2;
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, sizeof(raw), raw, &sets,
                                                             &total, counts, values));
    assert_int_equal(sets, 1);
    assert_int_equal(total, 3);
    assert_int_equal(counts[0], 3);
    /* Without the array of counts, and with only it. */
    total = 3 * METRICS;
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, sizeof(raw), raw, &sets,
                                                             &total, NULL, values));
    assert_int_equal(total, 2 * METRICS);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, sizeof(raw), raw, &sets,
                                                             &total, counts, NULL));
    assert_int_equal(counts[0], 2 * METRICS);
}

static void calculate__maximum_values__have_the_same_shape(void **state)
{
    zet_metric_group_handle_t group = basic();
    uint8_t raw[3 * FAKE_RECORD_BYTES];
    zet_typed_value_t values[3 * METRICS];
    uint32_t count = 3 * METRICS;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        put_record(raw, i, i + 1);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, MAXIMA, sizeof(raw), raw, &count, values));
    assert_int_equal(count, 2 * METRICS);
    assert_int_equal(values[0].value.ui64, 1);    /* no maximum: the measured value */
    assert_cmp(values[2].value.fp32, ==, 100.0f); /* of a percentage */
}

/** What a stream gave, cut into reads of any size, calculates to the same rows. Rule 11.4. */
static void calculate__reads_of_a_stream__concatenated_or_alone_give_all_rows(void **state)
{
    (void)state;
    for (uint32_t room = 2; room < 12; room++) {
        struct stream_bed bed = bed_make("fake0");
        zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
        zet_metric_streamer_handle_t streamer = bed_open(&bed, group, 0, NULL);
        uint8_t all[128 * FAKE_RECORD_BYTES];
        zet_typed_value_t values[128 * METRICS];
        uint64_t sum = 0;
        size_t used = 0;
        uint32_t alone = 0;
        uint32_t count = 128 * METRICS;

        bed.control->push("fake0", "u0", 20);
        bed.control->gap("fake0", "u0", 5, 2);
        bed.control->push("fake0", "u0", 11);
        for (size_t size = 1; size > 0; used += size) {
            uint32_t part = 128 * METRICS;
            ze_result_t read;

            size = room * FAKE_RECORD_BYTES;
            read = zetMetricStreamerReadData(streamer, UINT32_MAX, &size, all + used);
            /* The filling call warns exactly when its data holds the break. */
            EXPECT_RESULT(
                zetMetricGroupCalculateMetricValues(group, VALUES, size, all + used, &part, values),
                read);
            alone += part;
        }
        EXPECT_RESULT(zetMetricGroupCalculateMetricValues(group, VALUES, used, all, &count, values),
                      ZE_RESULT_WARNING_DROPPED_DATA);
        assert_int_equal(count, 30 * METRICS);
        assert_int_equal(alone, 30 * METRICS);
        for (uint32_t row = 0; row < 30; row++)
            sum += values[row * METRICS].value.ui64;
        assert_int_equal(sum, 30);
        EXPECT_OK(zetMetricStreamerClose(streamer));
        bed_free(&bed);
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/** Fills raw data with noise, real records, control slots with noise in them, and padding. */
static void fill_with_anything(uint8_t *raw, size_t size, const uint8_t *control, uint32_t *random)
{
    for (size_t i = 0; i < size; i++)
        raw[i] = (uint8_t)next_random(random);
    for (size_t at = 0; at + FAKE_RECORD_BYTES <= size; at += FAKE_RECORD_BYTES) {
        switch (next_random(random) % 5) {
        case 0:
            memset(raw + at, 0, FAKE_RECORD_BYTES);
            break;
        case 1:
            memcpy(raw + at, control, 16); /* the magic, then noise */
            break;
        case 2:
            memcpy(raw + at, control, FAKE_RECORD_BYTES);
            raw[at + 16] = (uint8_t)(next_random(random) % 5);
            raw[at + 20] = (uint8_t)(next_random(random) % 4);
            break;
        default:
            break;
        }
    }
}

/** A real BREAK slot, as the library writes it. */
static void take_control_slot(uint8_t *slot)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 0, NULL);
    uint8_t raw[4 * FAKE_RECORD_BYTES];
    size_t size = sizeof(raw);

    bed.control->gap("fake0", "u0", 1, 2);
    bed.control->push("fake0", "u0", 1);
    EXPECT_RESULT(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    memcpy(slot, raw, FAKE_RECORD_BYTES);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

/* Rule 14.2. */
static void calculate__data_of_any_length_and_content__stays_in_its_bounds(void **state)
{
    zet_metric_group_handle_t groups[2] = {
        basic(), find_group(find_device("fake1"), "Basic", TIME_BASED, NULL)};
    uint8_t control[FAKE_RECORD_BYTES];
    uint32_t random = 20261120;

    (void)state;
    take_control_slot(control);
    for (int round = 0; round < 3000; round++) {
        size_t size = next_random(&random) % 1500;
        uint32_t capacity = next_random(&random) % 100 + 1;
        uint8_t *raw = malloc(size + 1);
        zet_typed_value_t *values = malloc(capacity * sizeof(*values));
        zet_metric_group_calculation_type_t type = next_random(&random) % 2 ? VALUES : MAXIMA;
        uint32_t counts[2] = {0, 0};
        uint32_t sets = 2;
        uint32_t count = capacity;
        ze_result_t result;

        assert_true(raw && values);
        /* One byte further: no alignment is promised. */
        fill_with_anything(raw + 1, size, control, &random);
        result =
            zetMetricGroupCalculateMetricValues(groups[0], type, size, raw + 1, &count, values);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA);
        assert_cmp(count, <=, capacity);
        assert_cmp(count, <=, size / FAKE_RECORD_BYTES * METRICS);
        count = capacity;
        result = zetMetricGroupCalculateMultipleMetricValuesExp(groups[1], type, size, raw + 1,
                                                                &sets, &count, counts, values);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA);
        assert_int_equal(sets, 2);
        assert_cmp(count, <=, capacity);
        assert_int_equal(counts[0] + counts[1], count);
        free(values);
        free(raw);
    }
}

SUITE(calculate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculate__two_calls__count_is_a_bound_and_then_exact),
        cmocka_unit_test(calculate__less_room_than_values__writes_only_what_fits),
        cmocka_unit_test(calculate__nothing__is_success_with_count_zero),
        cmocka_unit_test(calculate__bad_arguments__documented_results),
        cmocka_unit_test(calculate_multiple__device_without_tiles__is_one_set),
        cmocka_unit_test(calculate__maximum_values__have_the_same_shape),
        cmocka_unit_test(calculate__reads_of_a_stream__concatenated_or_alone_give_all_rows),
        cmocka_unit_test(calculate__data_of_any_length_and_content__stays_in_its_bounds),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
