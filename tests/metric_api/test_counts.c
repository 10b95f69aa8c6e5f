/*
 * Counted outputs of every function of metrics: one table of functions, one check for each column
 * of the rules of counts (nothing asked for, less than there is, exactly that, more, no array).
 */
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/metric_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define MORE 3u
#define UNTOUCHED 0xeeu

/** What a call gives that has room for less than there is. */
enum less {
    LESS_FILLS,   /**< exactly that much */
    LESS_WHOLE,   /**< whole parts that fit; below one INVALID_SIZE with the size of all */
    LESS_NEEDED,  /**< INVALID_SIZE with the size of all */
    LESS_REFUSED, /**< INVALID_ARGUMENT and nothing else */
    LESS_AT_MOST, /**< not more than that; below one part INVALID_SIZE with what it needs */
};

/** What a call without an array gives. */
enum none {
    NONE_ASKS,    /**< the number, as if 0 were asked for */
    NONE_FILLS,   /**< as with an array, which is optional by itself */
    NONE_REFUSED, /**< INVALID_NULL_POINTER and nothing else */
};

struct row {
    const char *name; /**< function, and which of its counts */
    /** is_bad: with a null handle. count may be NULL. */
    ze_result_t (*call)(const struct metric_bed *bed, bool is_bad, uint64_t *count, void *array);
    void (*drop)(const void *array, uint64_t count); /**< destroys what was made */
    size_t element_bytes;
    enum less less;
    enum none none;
    bool asked_is_a_bound;  /**< what is given may be less than what was asked for and told */
    bool count_is_optional; /**< a null count is no error */
};

/* Functions ------------------------------------------------------------------------------------
 */

/** Passes a count of 64 bits through one of another type, for a call that names it. */
#define WITH_COUNT(type, count, call)                                                              \
    do {                                                                                           \
        type narrow = (count) ? (type) * (count) : 0;                                              \
        type *pCount = (count) ? &narrow : NULL;                                                   \
        ze_result_t result = (call);                                                               \
                                                                                                   \
        if (count)                                                                                 \
            *(count) = narrow;                                                                     \
        return result;                                                                             \
    } while (0)

#define GOOD(handle) (is_bad ? NULL : (handle))

static ze_result_t group_get(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                             void *array)
{
    WITH_COUNT(uint32_t, count, zetMetricGroupGet(GOOD(bed->root), pCount, array));
}

static ze_result_t metric_get(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                              void *array)
{
    WITH_COUNT(uint32_t, count, zetMetricGet(GOOD(bed->sampled), pCount, array));
}

static ze_result_t programmable_get(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                    void *array)
{
    WITH_COUNT(uint32_t, count, zetMetricProgrammableGetExp(GOOD(bed->tile), pCount, array));
}

static ze_result_t decodable_get(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                 void *array)
{
    WITH_COUNT(uint32_t, count,
               zetMetricDecoderGetDecodableMetricsExp(GOOD(bed->decoder), pCount, array));
}

static ze_result_t param_info(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                              void *array)
{
    WITH_COUNT(uint32_t, count,
               zetMetricProgrammableGetParamInfoExp(GOOD(bed->programmable), pCount, array));
}

static ze_result_t value_info(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                              void *array)
{
    WITH_COUNT(
        uint32_t, count,
        zetMetricProgrammableGetParamValueInfoExp(GOOD(bed->programmable), 0, pCount, array));
}

/** The choice that gives a metric for each EU. */
static zet_metric_programmable_param_value_exp_t by_eu = {.value.ui32 = 4};

static ze_result_t create_metrics(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                  void *array)
{
    WITH_COUNT(uint32_t, count,
               zetMetricCreateFromProgrammableExp(GOOD(bed->programmable), &by_eu, 1, "n", "d",
                                                  pCount, array));
}

static ze_result_t create_metrics_2(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                    void *array)
{
    WITH_COUNT(uint32_t, count,
               zetMetricCreateFromProgrammableExp2(GOOD(bed->programmable), 1, &by_eu, "n", "d",
                                                   pCount, array));
}

static void drop_metrics(const void *array, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        EXPECT_OK(zetMetricDestroyExp(((const zet_metric_handle_t *)array)[i]));
}

static ze_result_t create_groups(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                 void *array)
{
    zet_metric_handle_t metrics[BED_METRICS];

    memcpy(metrics, bed->metrics, sizeof(metrics));
    WITH_COUNT(uint32_t, count,
               zetDeviceCreateMetricGroupsFromMetricsExp(GOOD(bed->tile), BED_METRICS, metrics, "p",
                                                         "d", pCount, array));
}

static void drop_groups(const void *array, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        EXPECT_OK(zetMetricGroupDestroyExp(((const zet_metric_group_handle_t *)array)[i]));
}

static ze_result_t calculate(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                             void *array)
{
    WITH_COUNT(uint32_t, count,
               zetMetricGroupCalculateMetricValues(GOOD(bed->sampled_tile), VALUES,
                                                   bed->tile_raw_bytes, bed->tile_raw, pCount,
                                                   array));
}

static ze_result_t calculate_values(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                    void *array)
{
    uint32_t sets = BED_TILES;

    WITH_COUNT(uint32_t, count,
               zetMetricGroupCalculateMultipleMetricValuesExp(GOOD(bed->sampled), VALUES,
                                                              bed->raw_bytes, bed->raw, &sets,
                                                              pCount, NULL, array));
}

/** Room for all values of the raw data of the bed. */
static zet_typed_value_t all_values[BED_BYTES];

static ze_result_t calculate_sets(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                  void *array)
{
    uint32_t total = BED_BYTES;

    WITH_COUNT(uint32_t, count,
               zetMetricGroupCalculateMultipleMetricValuesExp(GOOD(bed->sampled), VALUES,
                                                              bed->raw_bytes, bed->raw, pCount,
                                                              &total, array, all_values));
}

static ze_result_t offline_values(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                  void *array)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint32_t sets = BED_TILES;

    WITH_COUNT(uint32_t, count,
               zetMetricGroupCalculateMetricExportDataExp(GOOD(bed->driver), VALUES,
                                                          bed->exported_bytes, bed->exported, &desc,
                                                          &sets, pCount, NULL, array));
}

static ze_result_t offline_sets(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                void *array)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint32_t total = BED_BYTES;

    WITH_COUNT(uint32_t, count,
               zetMetricGroupCalculateMetricExportDataExp(GOOD(bed->driver), VALUES,
                                                          bed->exported_bytes, bed->exported, &desc,
                                                          pCount, &total, array, all_values));
}

static ze_result_t export_data(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                               void *array)
{
    WITH_COUNT(size_t, count,
               zetMetricGroupGetExportDataExp(GOOD(bed->sampled), bed->raw, bed->raw_bytes, pCount,
                                              array));
}

static ze_result_t query_data(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                              void *array)
{
    WITH_COUNT(size_t, count, zetMetricQueryGetData(GOOD(bed->query), pCount, array));
}

static ze_result_t decode_entries(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                                  void *array)
{
    zet_metric_handle_t metrics[32];
    size_t bytes = bed->events_bytes;
    uint32_t sets = BED_TILES;

    memcpy(metrics, bed->decodable, sizeof(metrics));
    WITH_COUNT(uint32_t, count,
               zetMetricTracerDecodeExp(GOOD(bed->decoder), &bytes, (uint8_t *)bed->events,
                                        bed->decodable_count, metrics, &sets, NULL, pCount, array));
}

/** Room for all entries of the events of the bed. */
static zet_metric_entry_exp_t all_entries[BED_BYTES / 8];

static ze_result_t decode_sets(const struct metric_bed *bed, bool is_bad, uint64_t *count,
                               void *array)
{
    zet_metric_handle_t metrics[32];
    size_t bytes = bed->events_bytes;
    uint32_t entries = sizeof(all_entries) / sizeof(all_entries[0]);

    memcpy(metrics, bed->decodable, sizeof(metrics));
    WITH_COUNT(uint32_t, count,
               zetMetricTracerDecodeExp(GOOD(bed->decoder), &bytes, (uint8_t *)bed->events,
                                        bed->decodable_count, metrics, pCount, array, &entries,
                                        all_entries));
}

static const struct row rows[] = {
    {"zetMetricGroupGet", group_get, NULL, sizeof(void *), LESS_FILLS, NONE_ASKS, false, false},
    {"zetMetricGet", metric_get, NULL, sizeof(void *), LESS_FILLS, NONE_ASKS, false, false},
    {"zetMetricProgrammableGetExp", programmable_get, NULL, sizeof(void *), LESS_FILLS, NONE_ASKS,
     false, false},
    {"zetMetricDecoderGetDecodableMetricsExp", decodable_get, NULL, sizeof(void *), LESS_FILLS,
     NONE_ASKS, false, false},
    {"zetMetricProgrammableGetParamInfoExp", param_info, NULL,
     sizeof(zet_metric_programmable_param_info_exp_t), LESS_FILLS, NONE_REFUSED, false, false},
    {"zetMetricProgrammableGetParamValueInfoExp", value_info, NULL,
     sizeof(zet_metric_programmable_param_value_info_exp_t), LESS_FILLS, NONE_REFUSED, false,
     false},
    {"zetMetricCreateFromProgrammableExp", create_metrics, drop_metrics, sizeof(void *), LESS_FILLS,
     NONE_ASKS, false, false},
    {"zetMetricCreateFromProgrammableExp2", create_metrics_2, drop_metrics, sizeof(void *),
     LESS_FILLS, NONE_ASKS, false, false},
    {"zetDeviceCreateMetricGroupsFromMetricsExp", create_groups, drop_groups, sizeof(void *),
     LESS_REFUSED, NONE_ASKS, false, false},
    {"zetMetricGroupCalculateMetricValues", calculate, NULL, sizeof(zet_typed_value_t), LESS_FILLS,
     NONE_ASKS, true, false},
    {"zetMetricGroupCalculateMultipleMetricValuesExp, values", calculate_values, NULL,
     sizeof(zet_typed_value_t), LESS_FILLS, NONE_ASKS, true, false},
    {"zetMetricGroupCalculateMultipleMetricValuesExp, sets", calculate_sets, NULL, sizeof(uint32_t),
     LESS_FILLS, NONE_FILLS, false, false},
    {"zetMetricGroupCalculateMetricExportDataExp, values", offline_values, NULL,
     sizeof(zet_typed_value_t), LESS_FILLS, NONE_ASKS, true, false},
    {"zetMetricGroupCalculateMetricExportDataExp, sets", offline_sets, NULL, sizeof(uint32_t),
     LESS_FILLS, NONE_FILLS, false, false},
    {"zetMetricGroupGetExportDataExp", export_data, NULL, 1, LESS_NEEDED, NONE_ASKS, false, false},
    {"zetMetricQueryGetData", query_data, NULL, 1, LESS_WHOLE, NONE_ASKS, false, false},
    {"zetMetricTracerDecodeExp, entries", decode_entries, NULL, sizeof(zet_metric_entry_exp_t),
     LESS_AT_MOST, NONE_ASKS, false, true},
    {"zetMetricTracerDecodeExp, sets", decode_sets, NULL, sizeof(uint32_t), LESS_FILLS, NONE_FILLS,
     false, false},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Columns --------------------------------------------------------------------------------------
 */

/** An array of exactly so many elements, so that a sanitizer sees what is beyond. */
static uint8_t *make_array(const struct row *row, uint64_t count)
{
    uint8_t *array = malloc(count * row->element_bytes);

    assert_non_null(array);
    memset(array, UNTOUCHED, count * row->element_bytes);
    return array;
}

static bool is_untouched(const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (bytes[i] != UNTOUCHED)
            return false;
    }
    return true;
}

/** Fails unless exactly the first count of all elements were written. */
static void expect_written(const struct row *row, const uint8_t *array, uint64_t count,
                           uint64_t all)
{
    const size_t bytes = row->element_bytes;

    if (!is_untouched(array + count * bytes, (all - count) * bytes))
        fail_msg("%s: more than %llu elements written", row->name, (unsigned long long)count);
    if (bytes == 1) { /* bytes of data may be any */
        assert_int_equal(count > 0, !is_untouched(array, count));
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (is_untouched(array + i * bytes, bytes))
            fail_msg("%s: element %llu not written", row->name, (unsigned long long)i);
    }
}

static void expect_count(const struct row *row, uint64_t got, uint64_t wanted)
{
    if (got != wanted)
        fail_msg("%s: count %llu, not %llu", row->name, (unsigned long long)got,
                 (unsigned long long)wanted);
}

/** Calls with room for so many; the count is checked, the array given is the caller's to drop. */
static ze_result_t call_with(const struct metric_bed *bed, const struct row *row, uint64_t room,
                             uint64_t *out_count, uint8_t **out_array)
{
    *out_count = room;
    *out_array = make_array(row, room);
    return row->call(bed, false, out_count, *out_array);
}

static void drop(const struct row *row, uint8_t *array, uint64_t count)
{
    if (row->drop)
        row->drop(array, count);
    free(array);
}

/** What the call tells when nothing is asked for. */
static uint64_t ask(const struct metric_bed *bed, const struct row *row)
{
    uint64_t count = 0;

    expect_result(row->call(bed, false, &count, row->none == NONE_REFUSED ? all_values : NULL),
                  ZE_RESULT_SUCCESS, row->name, __FILE__, __LINE__);
    assert_cmp(count, >, 1); /* so that there is a number between */
    return count;
}

/** What the call gives when there is room for all that it told. */
static uint64_t available(const struct metric_bed *bed, const struct row *row)
{
    const uint64_t asked = ask(bed, row);
    uint64_t count;
    uint8_t *array;

    expect_result(call_with(bed, row, asked, &count, &array), ZE_RESULT_SUCCESS, row->name,
                  __FILE__, __LINE__);
    if (row->asked_is_a_bound)
        assert_true(count > 1 && count <= asked);
    else
        expect_count(row, count, asked);
    expect_written(row, array, count, asked);
    drop(row, array, count);
    return count;
}

/* Rule 3.8. */
static void count__zero__is_told_and_nothing_written(void **state)
{
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t asked = ask(*state, &rows[i]);
        uint8_t *array = make_array(&rows[i], asked);
        uint64_t count = 0;

        expect_result(rows[i].call(*state, false, &count, array), ZE_RESULT_SUCCESS, rows[i].name,
                      __FILE__, __LINE__);
        expect_count(&rows[i], count, asked);
        expect_written(&rows[i], array, 0, asked);
        free(array);
    }
}

/* Rule 3.8. */
static void count__that_of_all__fills_all(void **state)
{
    for (size_t i = 0; i < ROWS; i++)
        (void)available(*state, &rows[i]);
}

/* Rule 3.8. */
static void count__more_than_all__is_corrected(void **state)
{
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t all = available(*state, &rows[i]);
        const uint64_t room = ask(*state, &rows[i]) + MORE;
        uint64_t count;
        uint8_t *array;

        expect_result(call_with(*state, &rows[i], room, &count, &array), ZE_RESULT_SUCCESS,
                      rows[i].name, __FILE__, __LINE__);
        expect_count(&rows[i], count, all);
        expect_written(&rows[i], array, all, room);
        drop(&rows[i], array, count);
    }
}

/** A program that cares for nothing but that its array is large enough. */
static void count__as_large_as_can_be__is_corrected(void **state)
{
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t all = available(*state, &rows[i]);
        const uint64_t room = ask(*state, &rows[i]);
        uint8_t *array = make_array(&rows[i], room);
        uint64_t count = rows[i].element_bytes == 1 ? SIZE_MAX : UINT32_MAX;

        expect_result(rows[i].call(*state, false, &count, array), ZE_RESULT_SUCCESS, rows[i].name,
                      __FILE__, __LINE__);
        expect_count(&rows[i], count, all);
        expect_written(&rows[i], array, all, room);
        drop(&rows[i], array, count);
    }
}

/** Room for less than all there is. */
static void check_less(const struct metric_bed *bed, const struct row *row, uint64_t room,
                       uint64_t all)
{
    uint64_t count;
    uint8_t *array;
    const ze_result_t result = call_with(bed, row, room, &count, &array);
    const bool gives_parts = row->less == LESS_WHOLE || row->less == LESS_AT_MOST;
    uint64_t given = room;
    uint64_t told = room;
    ze_result_t wanted = ZE_RESULT_SUCCESS;

    if (row->less == LESS_REFUSED) {
        wanted = ZE_RESULT_ERROR_INVALID_ARGUMENT;
        given = 0;
    } else if (row->less == LESS_NEEDED || (gives_parts && result != ZE_RESULT_SUCCESS)) {
        wanted = ZE_RESULT_ERROR_INVALID_SIZE;
        given = 0;
        told = row->less == LESS_AT_MOST ? count : all;
        assert_cmp(told, >, room);
        assert_cmp(told, <=, all);
    } else if (row->less == LESS_WHOLE) {
        given = told = room / (all / BED_TILES) * (all / BED_TILES);
        assert_cmp(given, >, 0);
    } else if (row->less == LESS_AT_MOST) {
        given = told = count;
        assert_cmp(count, >, 0);
        assert_cmp(count, <=, room);
    }
    expect_result(result, wanted, row->name, __FILE__, __LINE__);
    expect_count(row, count, told);
    expect_written(row, array, given, room);
    drop(row, array, given);
}

/* Rule 3.8. */
static void count__less_than_all__gives_that_or_is_refused(void **state)
{
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t all = available(*state, &rows[i]);
        const uint64_t rooms[] = {1, all / 2, all / 2 + 1, all - 1};

        for (size_t r = 0; r < sizeof(rooms) / sizeof(rooms[0]); r++) {
            if (rooms[r] < all)
                check_less(*state, &rows[i], rooms[r], all);
        }
    }
}

/* Rule 3.8. */
static void array__none__asks_or_is_refused(void **state)
{
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t asked = ask(*state, &rows[i]);
        const uint64_t rooms[] = {1, asked, asked + MORE};

        for (size_t r = 0; r < sizeof(rooms) / sizeof(rooms[0]); r++) {
            const bool is_refused = rows[i].none == NONE_REFUSED;
            uint64_t wanted = asked;
            uint64_t count = rooms[r];

            if (is_refused || (rows[i].none == NONE_FILLS && count < asked))
                wanted = count;
            expect_result(rows[i].call(*state, false, &count, NULL),
                          is_refused ? ZE_RESULT_ERROR_INVALID_NULL_POINTER : ZE_RESULT_SUCCESS,
                          rows[i].name, __FILE__, __LINE__);
            expect_count(&rows[i], count, wanted);
        }
    }
}

/* Rule 3.10. */
static void failure__bad_handle_or_no_count__writes_nothing(void **state)
{
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t asked = ask(*state, &rows[i]);
        uint8_t *array = make_array(&rows[i], asked);
        uint64_t count = asked;

        expect_result(rows[i].call(*state, true, &count, array),
                      ZE_RESULT_ERROR_INVALID_NULL_HANDLE, rows[i].name, __FILE__, __LINE__);
        expect_count(&rows[i], count, asked);
        if (!rows[i].count_is_optional)
            expect_result(rows[i].call(*state, false, NULL, array),
                          ZE_RESULT_ERROR_INVALID_NULL_POINTER, rows[i].name, __FILE__, __LINE__);
        expect_written(&rows[i], array, 0, asked);
        free(array);
    }
}

/* Reads take data away, so they are in no table. ------------------------------------------------
 */

static void read__size_without_a_limit__gives_what_there_is(void **state)
{
    const struct metric_bed *bed = *state;
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    const struct {
        ze_device_handle_t device;
        zet_metric_group_handle_t group;
    } places[] = {{bed->root, bed->sampled}, {bed->tile, bed->sampled_tile}};
    const uint32_t reports = 3;

    for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
        zet_metric_group_handle_t group = places[p].group;
        zet_metric_streamer_handle_t streamer = NULL;
        uint8_t *raw = malloc(BED_BYTES);
        size_t bytes = 0;

        assert_non_null(raw);
        EXPECT_OK(zetContextActivateMetricGroups(bed->context, places[p].device, 1, &group));
        EXPECT_OK(
            zetMetricStreamerOpen(bed->context, places[p].device, group, &desc, NULL, &streamer));
        while (bytes == 0) {
            bytes = SIZE_MAX;
            EXPECT_OK(zetMetricStreamerReadData(streamer, reports, &bytes, raw));
            sleep_ms(2);
        }
        assert_cmp(bytes, <=, BED_BYTES);
        EXPECT_OK(zetMetricStreamerClose(streamer));
        EXPECT_OK(zetContextActivateMetricGroups(bed->context, places[p].device, 0, NULL));
        free(raw);
    }
}

static void tracer_read__size_without_a_limit__gives_what_there_is(void **state)
{
    const struct metric_bed *bed = *state;
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_tracer_exp_handle_t tracer = NULL;
    zet_metric_group_handle_t group = bed->traced;
    uint8_t *raw = malloc(BED_BYTES);
    size_t bytes = SIZE_MAX;

    assert_non_null(raw);
    metric_bed_activate(bed, bed->traced);
    EXPECT_OK(zetMetricTracerCreateExp(bed->context, bed->root, 1, &group, &desc, NULL, &tracer));
    EXPECT_OK(zetMetricTracerEnableExp(tracer, 1));
    EXPECT_OK(zetMetricTracerDisableExp(tracer, 1));
    EXPECT_OK(zetMetricTracerReadDataExp(tracer, &bytes, raw));
    assert_cmp(bytes, >, 0);
    assert_cmp(bytes, <=, BED_BYTES);
    EXPECT_OK(zetMetricTracerDestroyExp(tracer));
    metric_bed_activate(bed, NULL);
    free(raw);
}

SUITE(counts)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count__zero__is_told_and_nothing_written),
        cmocka_unit_test(count__that_of_all__fills_all),
        cmocka_unit_test(count__more_than_all__is_corrected),
        cmocka_unit_test(count__as_large_as_can_be__is_corrected),
        cmocka_unit_test(count__less_than_all__gives_that_or_is_refused),
        cmocka_unit_test(array__none__asks_or_is_refused),
        cmocka_unit_test(failure__bad_handle_or_no_count__writes_nothing),
        cmocka_unit_test(read__size_without_a_limit__gives_what_there_is),
        cmocka_unit_test(tracer_read__size_without_a_limit__gives_what_there_is),
    };

    return cmocka_run_group_tests(tests, metric_bed_setup, metric_bed_teardown);
}
