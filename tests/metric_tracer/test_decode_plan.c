/* Decoding with compiled sets alone, as for recordings: no device, no tracer, no handles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/compile/compile.h"
#include "core/formula/evaluate/decode.h"
#include "core/formula/evaluate/evaluate.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { RECORD = 40, TYPE_AT = 5, TILE_AT = 7 };

/* Fields at odd places and of odd widths, so that the general way of reading is used as well. */
static const char text[] =
    "format: 1\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: odd\n"
    "    kind: event\n"
    "    record: 40\n"
    "    header:\n"
    "      type: {at: 5, width: 11}\n"
    "      tile: {at: 7, bit: 4, width: 4}\n"
    "      ticks: {at: 8, width: 40, hi: {at: 16, width: 16}}\n"
    "      value: {at: 24, width: 64}\n"
    "    events: {enabled: 1, low: 2, high: 1100}\n"
    "  - name: even\n"
    "    kind: event\n"
    "    record: 40\n"
    "    header: {type: {at: 0, width: 32}, ticks: {at: 8, width: 64}}\n"
    "    events: {low: 2}\n"
    "sets:\n"
    "  - name: odd\n"
    "    description: d\n"
    "    domain: 0\n"
    "    unit: u\n"
    "    layout: odd\n"
    "    sampling: [tracer]\n"
    "    metrics:\n"
    "      - {name: Low, description: d, type: raw, value_type: u64, class: exact, events: [low],\n"
    "         value: 'value * 3'}\n"
    "      - {name: High, description: d, type: raw, value_type: f64, class: exact,\n"
    "         events: [high, low, high], value: 'f64(value) / 2.0'}\n"
    "  - {name: even, description: d, domain: 1, unit: u, layout: even, sampling: [tracer],\n"
    "     metrics: [{name: Other, description: d, type: raw, value_type: u64, class: exact,\n"
    "                events: [low], value: ticks}]}\n";

struct bed {
    struct zeta_catalog *catalog;
    struct zeta_compiled *odd;
    struct zeta_compiled *even;
};

static int set_up(void **state)
{
    static struct bed bed;
    struct zeta_diagnostics sink = {0};

    bed.catalog = zeta_catalog_create();
    if (!bed.catalog ||
        zeta_catalog_add_text(bed.catalog, text, strlen(text), "t", &sink) != ZE_RESULT_SUCCESS ||
        zeta_catalog_link(bed.catalog, &sink) != ZE_RESULT_SUCCESS ||
        zeta_set_compile(bed.catalog, zeta_catalog_find_set(bed.catalog, "odd"), NULL, &sink,
                         &bed.odd) != ZE_RESULT_SUCCESS ||
        zeta_set_compile(bed.catalog, zeta_catalog_find_set(bed.catalog, "even"), NULL, &sink,
                         &bed.even) != ZE_RESULT_SUCCESS) {
        (void)fprintf(stderr, "%s\n", sink.first_error);
        return -1;
    }
    *state = &bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;

    zeta_compiled_destroy(bed->odd);
    zeta_compiled_destroy(bed->even);
    zeta_catalog_destroy(bed->catalog);
    return 0;
}

static struct zeta_decode_plan *make_plan(const struct bed *bed, uint32_t tiles, uint64_t hz,
                                          uint32_t bits)
{
    struct zeta_compiled *compiled[4] = {bed->odd, bed->odd, bed->odd, bed->odd};
    const struct zeta_decode_group group = {.compiled = compiled};
    const struct zeta_decode_source source = {.groups = &group,
                                              .group_count = 1,
                                              .tile_count = tiles,
                                              .timer_hz = hz,
                                              .timestamp_bits = bits};
    struct zeta_decode_plan *plan = NULL;

    assert_int_equal(zeta_decode_plan_create(&source, &plan), ZE_RESULT_SUCCESS);
    return plan;
}

static void put_record(uint8_t *record, uint32_t type, uint32_t tile, uint64_t ticks,
                       uint64_t value)
{
    memset(record, 0, RECORD);
    record[TYPE_AT] = (uint8_t)type;
    record[TYPE_AT + 1] = (uint8_t)(type >> 8);
    record[TILE_AT] = (uint8_t)(tile << 4);
    memcpy(record + 8, &ticks, 5);
    record[16] = (uint8_t)(ticks >> 40);
    record[17] = (uint8_t)(ticks >> 48);
    memcpy(record + 24, &value, 8);
}

static const uint32_t both[2] = {0, 1};

static void decode__one_record_of_each_type__entries_and_times(void **state)
{
    struct zeta_decode_plan *plan = make_plan(*state, 0, 25000000, 56);
    uint8_t raw[3 * RECORD];
    zet_metric_entry_exp_t entries[8];
    uint64_t counts[1];
    struct zeta_decode_outcome outcome;
    const struct zeta_decode_request request = {
        .raw = raw, .raw_bytes = sizeof(raw), .names = both, .set_count = 1, .capacity = 8};

    put_record(raw, 1, 0, 10, 7);
    put_record(raw + RECORD, 2, 3, UINT64_C(0x12345678901234), 7);
    put_record(raw + 2 * RECORD, 1100, 0, 30, 7);
    assert_int_equal(zeta_decode_metric_count(plan), 2);
    assert_int_equal(zeta_decode_set_count(plan), 1);
    assert_int_equal(zeta_decode(plan, &request, counts, entries, &outcome), ZE_RESULT_SUCCESS);
    assert_int_equal(outcome.entry_count, 3);
    assert_int_equal(outcome.consumed_bytes, sizeof(raw));
    assert_int_equal(outcome.first_needed, 0);
    assert_int_equal(counts[0], 3);
    assert_int_equal(entries[0].value.ui64, 21);
    assert_int_equal(entries[0].timeStamp, UINT64_C(0x12345678901234) * 40);
    assert_cmp(entries[1].value.fp64, ==, 3.5);
    assert_int_equal(entries[1].metricIndex, 1);
    assert_cmp(entries[2].value.fp64, ==, 3.5);
    assert_int_equal(entries[2].timeStamp, 1200);
    zeta_decode_plan_destroy(plan);
}

/** Ticks above the valid bits do not count, and a timer need not tick in whole nanoseconds.
 * Rule 13.15. */
static void decode__uneven_timer__times_are_cut_off_nanoseconds(void **state)
{
    struct zeta_decode_plan *plan = make_plan(*state, 0, 19200000, 36);
    uint8_t raw[RECORD];
    zet_metric_entry_exp_t entries[2];
    uint64_t counts[1];
    struct zeta_decode_outcome outcome;
    const struct zeta_decode_request request = {
        .raw = raw, .raw_bytes = sizeof(raw), .names = both, .set_count = 1, .capacity = 2};
    const uint64_t ticks = (UINT64_C(1) << 36) - 1;

    put_record(raw, 1100, 0, ticks | UINT64_C(5) << 36, 1);
    assert_int_equal(zeta_decode(plan, &request, counts, entries, &outcome), ZE_RESULT_SUCCESS);
    /* 68719476735 / 19.2 MHz = 3579.13941328125 s */
    assert_int_equal(entries[0].timeStamp, UINT64_C(3579139413281));
    zeta_decode_plan_destroy(plan);
}

static void decode__tiles__sets_in_order_and_unknown_tiles_left_out(void **state)
{
    struct zeta_decode_plan *plan = make_plan(*state, 3, 1000000000, 64);
    uint8_t raw[40 * RECORD];
    zet_metric_entry_exp_t entries[64];
    uint64_t counts[3];
    struct zeta_decode_outcome outcome;
    const struct zeta_decode_request request = {
        .raw = raw, .raw_bytes = sizeof(raw), .names = both, .set_count = 3, .capacity = 64};

    for (uint32_t i = 0; i < 40; i++)
        put_record(raw + (size_t)i * RECORD, 1100, i % 4, i, i);
    assert_int_equal(zeta_decode(plan, &request, counts, entries, &outcome), ZE_RESULT_SUCCESS);
    assert_int_equal(outcome.entry_count, 30); /* tile 3 does not exist */
    for (uint32_t i = 0; i < 30; i++) {
        assert_int_equal(entries[i].subdeviceId, i / 10);
        assert_int_equal(entries[i].timeStamp, i % 10 * 4 + i / 10);
        assert_true(entries[i].onSubdevice);
    }
    zeta_decode_plan_destroy(plan);
}

/** The values are those that the evaluator gives for the same records. */
static void decode__many_records__same_values_as_one_by_one(void **state)
{
    struct bed *bed = *state;
    struct zeta_decode_plan *plan = make_plan(bed, 0, 25000000, 56);
    const size_t count = 1000;
    uint8_t *raw = malloc(count * RECORD);
    zet_metric_entry_exp_t *entries = calloc(2 * count, sizeof(*entries));
    uint64_t counts[1];
    struct zeta_decode_outcome outcome;
    struct zeta_decode_request request = {.raw = raw,
                                          .raw_bytes = count * RECORD,
                                          .names = both,
                                          .set_count = 1,
                                          .capacity = UINT64_MAX};
    size_t next = 0;

    assert_non_null(raw);
    assert_non_null(entries);
    for (size_t i = 0; i < count; i++)
        put_record(raw + i * RECORD, i % 3 == 0 ? 2 : 1100, 0, i * 7, i * i * 12345);
    assert_int_equal(zeta_decode(plan, &request, counts, entries, &outcome), ZE_RESULT_SUCCESS);
    for (size_t i = 0; i < count; i++) {
        zet_typed_value_t values[2];
        struct zeta_evaluation found;

        assert_int_equal(zeta_evaluate(bed->odd, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0,
                                       0, raw + i * RECORD, RECORD, values, 2, &found),
                         ZE_RESULT_SUCCESS);
        if (i % 3 == 0)
            assert_int_equal(entries[next++].value.ui64, values[0].value.ui64);
        assert_int_equal(entries[next++].value.ui64, values[1].value.ui64);
    }
    assert_int_equal(next, outcome.entry_count);
    free(entries);
    free(raw);
    zeta_decode_plan_destroy(plan);
}

static void plan__records_of_different_forms__are_refused(void **state)
{
    struct bed *bed = *state;
    struct zeta_compiled *odd[1] = {bed->odd};
    struct zeta_compiled *even[1] = {bed->even};
    const struct zeta_decode_group groups[2] = {{odd}, {even}};
    const struct zeta_decode_source source = {
        .groups = groups, .group_count = 2, .timer_hz = 25000000, .timestamp_bits = 64};
    struct zeta_decode_plan *plan = NULL;

    assert_int_equal(zeta_decode_plan_create(&source, &plan), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(plan);
}

SUITE(decode_plan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode__one_record_of_each_type__entries_and_times),
        cmocka_unit_test(decode__uneven_timer__times_are_cut_off_nanoseconds),
        cmocka_unit_test(decode__tiles__sets_in_order_and_unknown_tiles_left_out),
        cmocka_unit_test(decode__many_records__same_values_as_one_by_one),
        cmocka_unit_test(plan__records_of_different_forms__are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
