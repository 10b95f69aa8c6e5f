/* What the fields of a sequence of reports add up to. */
#include "plugins/intel/query/totals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/intel_query/totals_model.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/*
 * A report of 64 bytes as Gen8 to Gen12LP write them, in small: id, ticks of 32 bits, a counter of
 * 40 bits in two pieces, one of 32 bits, a number that does not count, and a double.
 */
enum { ID, TICKS, A40, B32, LEVEL, SUM, FIELDS };
enum { REPORT_BYTES = 64 };

#define NAME(text)                                                                                 \
    {                                                                                              \
        .data = (text), .size = sizeof(text) - 1                                                   \
    }
#define BASE .struct_size = sizeof(struct zeta_plugin_query_field)

static const struct zeta_plugin_query_field descs[FIELDS] = {
    [ID] = {BASE, .name = NAME("report_id"), .low_bit = 0, .low_width = 32},
    [TICKS] = {BASE, .name = NAME("ticks"), .low_bit = 32, .low_width = 32, .delta_bits = 32},
    [A40] = {BASE, .name = NAME("A"), .low_bit = 128, .low_width = 32,
             .high_bit = 8 * 63, /* the last byte, behind which nothing may be read */
             .high_width = 8, .delta_bits = 40},
    [B32] = {BASE, .name = NAME("B"), .low_bit = 160, .low_width = 32, .delta_bits = 32},
    [LEVEL] = {BASE, .name = NAME("level"), .low_bit = 195, .low_width = 13},
    [SUM] = {BASE, .name = NAME("sum"), .low_bit = 256, .low_width = 64, .delta_bits = 64,
             .is_float = 1},
};

static const struct zeta_plugin_array fields = {
    .data = descs, .count = FIELDS, .stride = sizeof(descs[0])};

/* What a report says, in full. */
struct moment {
    uint32_t id;
    uint64_t ticks, a, b, level;
    double sum;
};

static uint8_t *report_of(const struct moment *m)
{
    static uint8_t bytes[REPORT_BYTES + ZETA_INTEL_REPORT_SLACK];
    const uint32_t head[2] = {m->id, (uint32_t)m->ticks};
    const uint32_t words[3] = {(uint32_t)m->a, (uint32_t)m->b, (uint32_t)(m->level << 3 | 5)};

    memset(bytes, 0xcc, sizeof(bytes));
    memcpy(bytes, head, sizeof(head));
    memcpy(bytes + 16, words, sizeof(words));
    memcpy(bytes + 32, &m->sum, sizeof(m->sum));
    bytes[63] = (uint8_t)(m->a >> 32);
    return bytes;
}

static struct zeta_intel_totals totals_of(uint32_t clock_bits)
{
    struct zeta_intel_totals totals;

    assert_int_equal(zeta_intel_totals_init(&totals, &fields, REPORT_BYTES, clock_bits),
                     ZETA_PLUGIN_SUCCESS);
    return totals;
}

static double real(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void add(struct zeta_intel_totals *totals, const struct moment *m)
{
    assert_int_equal(zeta_intel_totals_add(totals, report_of(m), 1, m->ticks, UINT64_MAX), 1);
}

static void counters__many_wraps__add_up_in_full(void **state)
{
    struct zeta_intel_totals totals = totals_of(0xfe0007ff);
    struct moment m = {.ticks = 0xffffff00, .a = 0xffffffff00, .b = 0xfffffff0, .sum = 0.5};
    const struct moment first = m;
    uint64_t values[FIELDS];

    (void)state;
    add(&totals, &m);
    /* More than ten turns of the 40-bit counter, and of the clock. */
    for (uint32_t i = 0; i < 1000; i++) {
        m.ticks += 50000000;
        m.a += UINT64_C(0x3fffffff) * (i + 1) % (UINT64_C(1) << 39);
        m.b += 0x7fffffff;
        m.level = i;
        m.sum += 0.25;
        add(&totals, &m);
    }
    zeta_intel_totals_copy(&totals, values);
    assert_int_equal(values[TICKS], m.ticks - first.ticks);
    assert_int_equal(totals.ticks, m.ticks);
    assert_int_equal(values[A40], m.a - first.a);
    assert_int_equal(values[B32], m.b - first.b);
    assert_int_equal(values[LEVEL], 999);
    assert_cmp(real(values[SUM]), ==, 250.0);
    assert_int_equal(totals.breaks, 0);
    zeta_intel_totals_finish(&totals);
}

static void first_report__alone__only_is_where_counting_begins(void **state)
{
    struct zeta_intel_totals totals = totals_of(0xfe0007ff);
    const struct moment m = {.id = 7, .ticks = 1000, .a = 5, .b = 6, .level = 3};
    uint64_t values[FIELDS];

    (void)state;
    add(&totals, &m);
    zeta_intel_totals_copy(&totals, values);
    assert_int_equal(values[ID], 7);
    assert_int_equal(values[TICKS], 0);
    assert_int_equal(values[A40], 0);
    assert_int_equal(values[LEVEL], 3);
    zeta_intel_totals_finish(&totals);
}

/* Counters go on while reports are lost, but nobody sees how often they came around in long ones.
 Rule 26.27. */
static void reports__lost_for_a_while__are_counted_across(void **state)
{
    struct zeta_intel_totals totals = totals_of(0xfe0007ff);
    struct moment m = {.ticks = 1000};
    uint64_t values[FIELDS];

    (void)state;
    totals.gap_ticks = 500;
    add(&totals, &m);
    zeta_intel_totals_lose(&totals, 1800);
    m = (struct moment){.ticks = 1500, .b = 50};
    add(&totals, &m);
    assert_int_equal(totals.breaks, 0);
    m = (struct moment){.ticks = 2001, .b = 80};
    add(&totals, &m);
    assert_int_equal(totals.breaks, 1);
    /* Behind the loss nothing is missing, however far apart reports are. */
    m = (struct moment){.ticks = 9000, .b = 90};
    add(&totals, &m);
    assert_int_equal(totals.breaks, 1);
    zeta_intel_totals_copy(&totals, values);
    assert_int_equal(values[B32], 50 + 10);
    zeta_intel_totals_finish(&totals);
}

static void gap__told__is_not_counted(void **state)
{
    struct zeta_intel_totals totals = totals_of(0xfe0007ff);
    struct moment m = {.ticks = 1000};
    uint64_t values[FIELDS];

    (void)state;
    zeta_intel_totals_break(&totals); /* before the first report nothing is missing */
    add(&totals, &m);
    assert_int_equal(totals.breaks, 0);
    m = (struct moment){.ticks = 2000, .b = 10};
    add(&totals, &m);
    zeta_intel_totals_break(&totals);
    m = (struct moment){.ticks = 50000, .b = 5000};
    add(&totals, &m);
    m = (struct moment){.ticks = 51000, .b = 5001};
    add(&totals, &m);
    zeta_intel_totals_copy(&totals, values);
    assert_int_equal(totals.breaks, 1);
    assert_int_equal(values[B32], 11);
    assert_int_equal(values[TICKS], 2000); /* neither is the time */
    assert_int_equal(totals.ticks, 51000);
    zeta_intel_totals_finish(&totals);
}

/* After a reset everything begins at 0. */
static void time__goes_backwards__is_a_gap_that_nobody_told_of(void **state)
{
    struct zeta_intel_totals totals = totals_of(0xfe0007ff);
    struct moment m = {.ticks = 900000, .b = 77};
    uint64_t values[FIELDS];

    (void)state;
    add(&totals, &m);
    m = (struct moment){.ticks = 500, .b = 1};
    add(&totals, &m);
    m = (struct moment){.ticks = 600, .b = 4};
    add(&totals, &m);
    zeta_intel_totals_copy(&totals, values);
    assert_int_equal(totals.breaks, 1);
    assert_int_equal(values[B32], 3);
    assert_int_equal(totals.ticks, 600);
    zeta_intel_totals_finish(&totals);
}

/* 2^32 ticks are some minutes, and a GPU may sleep for a day. */
static void sleep__longer_than_turns_of_the_clock__keeps_the_time(void **state)
{
    static const uint64_t sleeps[] = {UINT64_C(0x70000000), UINT64_C(0x90000000),
                                      UINT64_C(0x100000000), UINT64_C(0x3c0000123),
                                      UINT64_C(0x10000000000)};

    (void)state;
    for (size_t i = 0; i < sizeof(sleeps) / sizeof(sleeps[0]); i++) {
        struct zeta_intel_totals totals = totals_of(0xfe0007ff);
        struct moment m = {.ticks = 0x123456789, .a = 100};
        uint64_t values[FIELDS];

        add(&totals, &m);
        m.ticks += sleeps[i];
        m.a += 17;
        /* The clock is read a little before or after the report is written. */
        (void)zeta_intel_totals_add(&totals, report_of(&m), 1, m.ticks + (i % 2 ? 1000 : -1000ull),
                                    UINT64_MAX);
        zeta_intel_totals_copy(&totals, values);
        assert_int_equal(totals.breaks, 0);
        assert_int_equal(totals.ticks, m.ticks);
        assert_int_equal(values[TICKS], sleeps[i]);
        assert_int_equal(values[A40], 17);
        zeta_intel_totals_finish(&totals);
    }
}

static uint64_t switches_of(uint32_t clock_bits, uint32_t first_id, uint32_t second_id)
{
    struct zeta_intel_totals totals = totals_of(clock_bits);
    struct moment m = {.id = first_id, .ticks = 1};
    uint64_t switches;

    add(&totals, &m);
    m = (struct moment){.id = second_id, .ticks = 2};
    add(&totals, &m);
    switches = totals.switches;
    zeta_intel_totals_finish(&totals);
    return switches;
}

static void core_clock__changed_in_the_header__is_counted_where_it_is_told(void **state)
{
    (void)state;
    /* Bits 8:0, and up to Gen12LP 10:9 and 31:25; a reason is no clock. */
    assert_int_equal(switches_of(0xfe0007ff, 0x00080040, 0x00080041), 1);
    assert_int_equal(switches_of(0xfe0007ff, 0x00080040, 0x02080040), 1);
    assert_int_equal(switches_of(0xfe0007ff, 0x00080040, 0x00080240), 1);
    assert_int_equal(switches_of(0xfe0007ff, 0x00080040, 0x00190040), 0);
    assert_int_equal(switches_of(0x1ff, 0x00080040, 0x02080040), 0);
    assert_int_equal(switches_of(0x1ff, 0x00080040, 0x00080041), 1);
    assert_int_equal(switches_of(0, 0x12345678, 0x87654321), 0);
}

static void fields__that_cannot_be_read__are_refused(void **state)
{
    struct zeta_plugin_query_field bad[FIELDS];
    const struct zeta_plugin_array array = {.data = bad, .count = FIELDS, .stride = sizeof(bad[0])};
    struct zeta_intel_totals totals;

    (void)state;
    for (int i = 0; i < 5; i++) {
        memcpy(bad, descs, sizeof(bad));
        if (i == 0)
            bad[B32].low_bit = REPORT_BYTES * 8 - 31;
        else if (i == 1)
            bad[A40].high_bit = REPORT_BYTES * 8 - 7;
        else if (i == 2)
            bad[SUM].low_bit = 257; /* 64 bits that do not begin in a byte */
        else if (i == 3)
            bad[TICKS].delta_bits = 0; /* no time */
        else
            bad[A40].low_width = 60; /* together more than 64 bits */
        assert_int_equal(zeta_intel_totals_init(&totals, &array, REPORT_BYTES, 1200),
                         ZETA_PLUGIN_INVALID_ARGUMENT);
        zeta_intel_totals_finish(&totals);
    }
}

static void difference__of_copied_values__by_kind_of_field(void **state)
{
    struct zeta_intel_totals totals = totals_of(0xfe0007ff);
    const double begin = 1.5, end = 4.0;
    uint64_t begin_bits, end_bits;

    (void)state;
    memcpy(&begin_bits, &begin, sizeof(begin));
    memcpy(&end_bits, &end, sizeof(end));
    assert_int_equal(zeta_intel_field_difference(&totals.fields[A40], 5, 12), 7);
    assert_int_equal(zeta_intel_field_difference(&totals.fields[LEVEL], 5, 12), 12);
    assert_cmp(real(zeta_intel_field_difference(&totals.fields[SUM], begin_bits, end_bits)), ==,
               2.5);
    zeta_intel_totals_finish(&totals);
}

static void random_reports__fields_of_any_kind__as_the_reference(void **state)
{
    (void)state;
    totals_model_check("this format", descs, FIELDS, REPORT_BYTES, 1200);
}

/* Counts narrower or wider than their fields, odd places, gaps between fields. */
static void random_reports__fields_like_those_of_runs__are_read_by_their_bits(void **state)
{
    const struct zeta_plugin_query_field odd[] = {
        {BASE, .name = NAME("ticks"), .low_bit = 0, .low_width = 56, .delta_bits = 56},
        {BASE, .name = NAME("A"), .low_bit = 64, .low_width = 32, .delta_bits = 24},
        {BASE, .name = NAME("A"), .low_bit = 96, .low_width = 32, .high_bit = 132, .high_width = 8,
         .delta_bits = 40},
        {BASE, .name = NAME("A"), .low_bit = 160, .low_width = 32, .high_bit = 240, .high_width = 8,
         .delta_bits = 40},
        {BASE, .name = NAME("A"), .low_bit = 192, .low_width = 32, .high_bit = 152, .high_width = 8,
         .delta_bits = 40},
        {BASE, .name = NAME("A"), .low_bit = 224, .low_width = 16, .delta_bits = 16},
        {BASE, .name = NAME("A"), .low_bit = 248, .low_width = 64, .delta_bits = 64},
        {BASE, .name = NAME("A"), .low_bit = 312, .low_width = 64, .delta_bits = 60},
        {BASE, .name = NAME("A"), .low_bit = 379, .low_width = 32, .delta_bits = 32},
        {BASE, .name = NAME("A"), .low_bit = 416, .low_width = 32, .delta_bits = 40},
        {BASE, .name = NAME("A"), .low_bit = 448, .low_width = 32, .delta_bits = 32},
        {BASE, .name = NAME("A"), .low_bit = 512, .low_width = 32, .delta_bits = 32},
        {BASE, .name = NAME("A"), .low_bit = 576, .low_width = 64, .delta_bits = 64},
        {BASE, .name = NAME("A"), .low_bit = 704, .low_width = 64, .delta_bits = 64},
    };

    (void)state;
    totals_model_check("odd fields", odd, sizeof(odd) / sizeof(odd[0]), 96, 2004);
}

SUITE(totals)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters__many_wraps__add_up_in_full),
        cmocka_unit_test(first_report__alone__only_is_where_counting_begins),
        cmocka_unit_test(reports__lost_for_a_while__are_counted_across),
        cmocka_unit_test(gap__told__is_not_counted),
        cmocka_unit_test(time__goes_backwards__is_a_gap_that_nobody_told_of),
        cmocka_unit_test(sleep__longer_than_turns_of_the_clock__keeps_the_time),
        cmocka_unit_test(core_clock__changed_in_the_header__is_counted_where_it_is_told),
        cmocka_unit_test(fields__that_cannot_be_read__are_refused),
        cmocka_unit_test(difference__of_copied_values__by_kind_of_field),
        cmocka_unit_test(random_reports__fields_of_any_kind__as_the_reference),
        cmocka_unit_test(random_reports__fields_like_those_of_runs__are_read_by_their_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
