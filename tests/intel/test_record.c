/*
 * Records of i915: reports come out bare, a lost buffer becomes a break before the report that it
 * precedes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/intel/kmd/i915.h"
#include "tests/support/suite.h"

enum { REPORT_BYTES = 64, RECORD_BYTES = 8 + REPORT_BYTES, SAMPLE = 1, LOST = 2, BUFFER_LOST = 3 };

struct bytes {
    uint8_t data[4096];
    size_t used;
};

static void put(struct bytes *bytes, uint32_t type, uint16_t size, uint8_t fill)
{
    const uint16_t pad = 0;

    memcpy(bytes->data + bytes->used, &type, 4);
    memcpy(bytes->data + bytes->used + 4, &pad, 2);
    memcpy(bytes->data + bytes->used + 6, &size, 2);
    if (size > 8)
        memset(bytes->data + bytes->used + 8, fill, size - 8u);
    bytes->used += size < 8 ? 8 : size;
}

static struct zeta_intel_i915_records records_of(const struct bytes *bytes)
{
    return (struct zeta_intel_i915_records){
        .at = bytes->data, .bytes = bytes->used, .report_bytes = REPORT_BYTES};
}

static struct zeta_plugin_read take(struct zeta_intel_i915_records *records, uint8_t *out,
                                    uint64_t capacity, bool expected)
{
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};

    assert_int_equal(zeta_intel_i915_records_take(records, out, capacity, &read), expected);
    return read;
}

static void reports__without_loss__come_bare_and_in_order(void **state)
{
    struct bytes bytes = {.used = 0};
    struct zeta_intel_i915_records records;
    struct zeta_plugin_read read;
    uint8_t out[3 * REPORT_BYTES];

    (void)state;
    for (uint8_t i = 1; i <= 3; i++)
        put(&bytes, SAMPLE, RECORD_BYTES, i);
    records = records_of(&bytes);
    read = take(&records, out, sizeof(out), true);
    assert_int_equal(read.bytes, 3 * REPORT_BYTES);
    assert_int_equal(read.broken, 0);
    assert_int_equal(records.bytes, 0);
    for (uint8_t i = 0; i < 3; i++) {
        assert_int_equal(out[i * REPORT_BYTES], i + 1);
        assert_int_equal(out[(i + 1) * REPORT_BYTES - 1], i + 1);
    }
}

static void reports__more_than_room__stay_for_the_next_time(void **state)
{
    struct bytes bytes = {.used = 0};
    struct zeta_intel_i915_records records;
    uint8_t out[2 * REPORT_BYTES + 5];

    (void)state;
    for (uint8_t i = 1; i <= 3; i++)
        put(&bytes, SAMPLE, RECORD_BYTES, i);
    records = records_of(&bytes);
    assert_int_equal(take(&records, out, sizeof(out), true).bytes, 2 * REPORT_BYTES);
    assert_int_equal(take(&records, out, sizeof(out), true).bytes, REPORT_BYTES);
    assert_int_equal(out[0], 3);
}

/* Rule 26.4. */
static void buffer_lost__between_reports__ends_the_read_and_breaks_the_next(void **state)
{
    struct bytes bytes = {.used = 0};
    struct zeta_intel_i915_records records;
    struct zeta_plugin_read read;
    uint8_t out[8 * REPORT_BYTES];

    (void)state;
    put(&bytes, SAMPLE, RECORD_BYTES, 1);
    put(&bytes, BUFFER_LOST, 8, 0);
    put(&bytes, SAMPLE, RECORD_BYTES, 2);
    put(&bytes, SAMPLE, RECORD_BYTES, 3);
    records = records_of(&bytes);
    read = take(&records, out, sizeof(out), true);
    assert_int_equal(read.bytes, REPORT_BYTES);
    assert_int_equal(read.broken, 0);
    read = take(&records, out, sizeof(out), true);
    assert_int_equal(read.bytes, 2 * REPORT_BYTES);
    assert_int_equal(read.broken, 1);
    assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_OVERFLOW);
    assert_int_equal(out[0], 2);
}

/* It stands before reports that were written earlier, so the gap may be anywhere behind it.
 * Rule 26.5. */
static void loss__of_reports__is_told_and_breaks_nothing(void **state)
{
    struct bytes bytes = {.used = 0};
    struct zeta_intel_i915_records records;
    struct zeta_plugin_read read;
    uint8_t out[8 * REPORT_BYTES];

    (void)state;
    put(&bytes, SAMPLE, RECORD_BYTES, 1);
    put(&bytes, LOST, 8, 0);
    put(&bytes, SAMPLE, RECORD_BYTES, 2);
    put(&bytes, SAMPLE, RECORD_BYTES, 3);
    records = records_of(&bytes);
    read = take(&records, out, sizeof(out), true);
    assert_int_equal(read.bytes, 3 * REPORT_BYTES);
    assert_int_equal(read.broken, 0);
    assert_true(records.has_loss);
}

static void loss__at_the_end__breaks_what_is_read_later(void **state)
{
    struct bytes first = {.used = 0}, second = {.used = 0};
    struct zeta_intel_i915_records records;
    struct zeta_plugin_read read;
    uint8_t out[8 * REPORT_BYTES];

    (void)state;
    put(&first, SAMPLE, RECORD_BYTES, 1);
    put(&first, BUFFER_LOST, 8, 0);
    put(&second, SAMPLE, RECORD_BYTES, 2);
    records = records_of(&first);
    read = take(&records, out, sizeof(out), true);
    assert_int_equal(read.broken, 0);
    assert_int_equal(records.bytes, 0);
    records.at = second.data;
    records.bytes = second.used;
    read = take(&records, out, sizeof(out), true);
    assert_int_equal(read.broken, 1);
    assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_OVERFLOW);
    assert_int_equal(read.bytes, REPORT_BYTES);
}

/* Rule 26.4. */
static void losses__of_both_kinds__are_told_apart(void **state)
{
    struct bytes bytes = {.used = 0};
    struct zeta_intel_i915_records records;
    struct zeta_plugin_read read;
    uint8_t out[8 * REPORT_BYTES];

    (void)state;
    put(&bytes, BUFFER_LOST, 8, 0);
    put(&bytes, LOST, 8, 0);
    put(&bytes, SAMPLE, RECORD_BYTES, 1);
    records = records_of(&bytes);
    read = take(&records, out, sizeof(out), true);
    assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_OVERFLOW);
    assert_int_equal(read.bytes, REPORT_BYTES);
    assert_true(records.has_loss);
}

static void record__of_unknown_type__is_passed_over(void **state)
{
    struct bytes bytes = {.used = 0};
    struct zeta_intel_i915_records records;
    uint8_t out[8 * REPORT_BYTES];

    (void)state;
    put(&bytes, 99, 24, 7);
    put(&bytes, SAMPLE, RECORD_BYTES, 1);
    records = records_of(&bytes);
    assert_int_equal(take(&records, out, sizeof(out), true).bytes, REPORT_BYTES);
    assert_int_equal(out[0], 1);
}

static void record__of_impossible_size__is_damage_after_what_came_before(void **state)
{
    static const struct {
        uint32_t type;
        uint16_t size;
    } bad[] = {{SAMPLE, 0}, {SAMPLE, 7}, {SAMPLE, RECORD_BYTES - 1},
               {SAMPLE, 8}, {LOST, 4},   {99, 4000}};
    uint8_t out[8 * REPORT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct bytes bytes = {.used = 0};
        struct zeta_intel_i915_records records;

        put(&bytes, SAMPLE, RECORD_BYTES, 1);
        put(&bytes, bad[i].type, bad[i].size, 2);
        if (bytes.used > 2 * RECORD_BYTES)
            bytes.used = 2 * RECORD_BYTES;
        records = records_of(&bytes);
        assert_int_equal(take(&records, out, sizeof(out), false).bytes, REPORT_BYTES);
        assert_int_equal(records.bytes, 0);
    }
}

SUITE(record)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports__without_loss__come_bare_and_in_order),
        cmocka_unit_test(reports__more_than_room__stay_for_the_next_time),
        cmocka_unit_test(buffer_lost__between_reports__ends_the_read_and_breaks_the_next),
        cmocka_unit_test(loss__of_reports__is_told_and_breaks_nothing),
        cmocka_unit_test(loss__at_the_end__breaks_what_is_read_later),
        cmocka_unit_test(losses__of_both_kinds__are_told_apart),
        cmocka_unit_test(record__of_unknown_type__is_passed_over),
        cmocka_unit_test(record__of_impossible_size__is_damage_after_what_came_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
