/*
 * Numbers, durations and paragraphs as people read and write them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/text.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static uint64_t parse(const char *text)
{
    uint64_t duration_ns = 0;

    return zeta_duration_parse(text, &duration_ns) ? duration_ns : 0;
}

static void duration_parse__every_unit__gives_ns(void **state)
{
    (void)state;
    assert_cmp(parse("1ns"), ==, 1);
    assert_cmp(parse("250us"), ==, 250000);
    assert_cmp(parse("1ms"), ==, 1000000);
    assert_cmp(parse("0.5ms"), ==, 500000);
    assert_cmp(parse("10s"), ==, UINT64_C(10000000000));
    assert_cmp(parse("2 min"), ==, UINT64_C(120000000000));
}

static void duration_parse__anything_else__is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "1",
                                        "ms",
                                        "0ms",
                                        "-1ms",
                                        "+1ms",
                                        " 1ms",
                                        "1msx",
                                        "1 m s",
                                        "nanms",
                                        "infs",
                                        "0x10ms",
                                        "0X1ms",
                                        "1e99s",
                                        "1h",
                                        "1.2.3s",
                                        "99999999999999min"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (parse(texts[i]) != 0)
            fail_msg("'%s' was taken for a duration", texts[i]);
    }
}

static void assert_duration(uint64_t duration_ns, const char *expected)
{
    char text[ZETA_DURATION_TEXT_BYTES];

    zeta_duration_format(duration_ns, text);
    assert_string_equal(text, expected);
}

static void duration_format__any__takes_the_largest_unit(void **state)
{
    (void)state;
    assert_duration(0, "0 ns");
    assert_duration(999, "999 ns");
    assert_duration(1000, "1 us");
    assert_duration(1310720, "1.311 ms");
    assert_duration(1500000000, "1.5 s");
    assert_duration(UINT64_C(90000000000), "90 s");
}

static void assert_number(struct zeta_number number, unsigned width, const char *expected)
{
    char text[ZETA_NUMBER_TEXT_BYTES];

    zeta_number_format(number, width, text);
    assert_string_equal(text, expected);
    assert_cmp(strlen(text), <=, width);
}

static void number_format__fitting__is_exact(void **state)
{
    (void)state;
    assert_number(zeta_number_u64(33554432), 13, "33554432");
    assert_number(zeta_number_f64(12.345), 10, "12.35");
    assert_number(zeta_number_f64(0.0), 10, "0.00");
}

static void number_format__too_long__is_rounded(void **state)
{
    (void)state;
    assert_number(zeta_number_u64(UINT64_MAX), 10, "1.845e+19");
    assert_number(zeta_number_f64(1e300), 10, "1e+300");
    assert_number(zeta_number_f64(-123456789012.0), 10, "-1.235e+11");
    assert_number(zeta_number_f64(0.0001234), 10, "0.00012");
}

static void assert_short(struct zeta_number number, const char *expected)
{
    char text[ZETA_NUMBER_TEXT_BYTES];

    zeta_number_format_short(number, text);
    assert_string_equal(text, expected);
    assert_cmp(strlen(text), <=, 7);
}

static void number_short__any__keeps_to_seven_characters(void **state)
{
    (void)state;
    assert_short(zeta_number_u64(9999999), "9999999");
    assert_short(zeta_number_u64(10000000), "10.00M");
    assert_short(zeta_number_u64(999960000), "1.000G");
    assert_short(zeta_number_u64(146904186880), "146.9G");
    assert_short(zeta_number_u64(UINT64_MAX), "18.45E");
    assert_short(zeta_number_f64(1160.71), "1160.71");
    assert_short(zeta_number_f64(-123456.7), "-123.5k");
    assert_short(zeta_number_f64(1e300), "1e+300");
    assert_short(zeta_number_none(), "n/a");
}

static void number_format__none__is_not_available(void **state)
{
    (void)state;
    assert_number(zeta_number_f64(NAN), 10, "n/a");
}

static void number_exact__any__reads_back(void **state)
{
    char text[ZETA_NUMBER_TEXT_BYTES];

    (void)state;
    zeta_number_format_exact(zeta_number_u64(UINT64_MAX), text);
    assert_string_equal(text, "18446744073709551615");
    zeta_number_format_exact(zeta_number_f64(0.1), text);
    assert_cmp(zeta_c_strtod(text, NULL), ==, 0.1);
    zeta_number_format_exact(zeta_number_none(), text);
    assert_string_equal(text, "");
}

static void number_from_value__every_type__is_read(void **state)
{
    zet_typed_value_t value = {.type = ZET_VALUE_TYPE_UINT32, .value.ui64 = UINT64_MAX};

    (void)state;
    assert_cmp(zeta_number_from_value(&value).u64, ==, UINT32_MAX);
    value.type = ZET_VALUE_TYPE_UINT64;
    assert_cmp(zeta_number_from_value(&value).u64, ==, UINT64_MAX);
    value.type = ZET_VALUE_TYPE_UINT16;
    assert_cmp(zeta_number_from_value(&value).u64, ==, UINT16_MAX);
    value.type = ZET_VALUE_TYPE_UINT8;
    assert_cmp(zeta_number_from_value(&value).u64, ==, UINT8_MAX);
    value.type = ZET_VALUE_TYPE_STRING;
    assert_int_equal(zeta_number_from_value(&value).kind, ZETA_NUMBER_NONE);
    value = (zet_typed_value_t){.type = ZET_VALUE_TYPE_BOOL8, .value.b8 = 7};
    assert_cmp(zeta_number_from_value(&value).u64, ==, 1);
    value = (zet_typed_value_t){.type = ZET_VALUE_TYPE_FLOAT32, .value.fp32 = 0.5F};
    assert_cmp(zeta_number_from_value(&value).f64, ==, 0.5);
    value = (zet_typed_value_t){.type = ZET_VALUE_TYPE_FLOAT64, .value.fp64 = (double)NAN};
    assert_int_equal(zeta_number_from_value(&value).kind, ZETA_NUMBER_NONE);
}

static void assert_folded(const char *text, unsigned columns, const char *expected)
{
    char *written = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&written, &bytes);

    zeta_terminal_write_folded(stream, text, 2, columns);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(written, expected);
    free(written);
}

static void folded__any__breaks_between_words(void **state)
{
    (void)state;
    assert_folded("one two three", 0, "  one two three\n");
    assert_folded("one two three", 9, "  one two\n  three\n");
    assert_folded("one two three", 8, "  one\n  two\n  three\n");
    assert_folded("unbreakable", 5, "  unbreakable\n");
    assert_folded("", 80, "\n");
}

static void terminal__file__is_none(void **state)
{
    FILE *stream = fopen("/dev/null", "w");

    (void)state;
    assert_int_equal(zeta_terminal_columns(stream), 0);
    assert_int_equal(fclose(stream), 0);
}

SUITE(text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duration_parse__every_unit__gives_ns),
        cmocka_unit_test(duration_parse__anything_else__is_refused),
        cmocka_unit_test(duration_format__any__takes_the_largest_unit),
        cmocka_unit_test(number_format__fitting__is_exact),
        cmocka_unit_test(number_format__too_long__is_rounded),
        cmocka_unit_test(number_short__any__keeps_to_seven_characters),
        cmocka_unit_test(number_format__none__is_not_available),
        cmocka_unit_test(number_exact__any__reads_back),
        cmocka_unit_test(folded__any__breaks_between_words),
        cmocka_unit_test(terminal__file__is_none),
        cmocka_unit_test(number_from_value__every_type__is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
