/* Options of a compilation, as words and as the text of zeModuleCreate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sdk/tools/zeta-cc/request/options.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void read_text(struct zeta_cc_options *options, const char *text, struct zeta_cc_buffer *log)
{
    *options = (struct zeta_cc_options){0};
    *log = (struct zeta_cc_buffer){0};
    zeta_cc_options_read(options, text, strlen(text), log);
}

static void finish(struct zeta_cc_options *options, struct zeta_cc_buffer *log)
{
    zeta_cc_options_finish(options);
    zeta_cc_buffer_finish(log);
}

/* Rule 23.9. */
static void level__each_word__as_documented(void **state)
{
    static const struct {
        const char *text;
        unsigned level;
    } cases[] = {
        {"", 2},
        {"-g", 0},
        {"-g -O2", 2},
        {"-O3 -g", 3},
        {"-O0", 0},
        {"-O", 2},
        {"-O1 -O3", 3},
        {"-O9", 3},
        {"-cl-opt-disable", 0},
        {"-ze-opt-disable -O2", 0},
        {"-ze-opt-level=1", 1},
        {"-ze-opt-level 1", 1},
        {"-ze-opt-level=O2 -g", 2},
        {"-Ofast", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_cc_options options;
        struct zeta_cc_buffer log;

        read_text(&options, cases[i].text, &log);
        if (zeta_cc_options_level(&options) != cases[i].level)
            fail_msg("\"%s\": level %u", cases[i].text, zeta_cc_options_level(&options));
        finish(&options, &log);
    }
}

static void read__quotes_and_pairs__one_word_each(void **state)
{
    static const char *const expected[] = {"-DA=1",         "-DTEXT=a b",    "-DEMPTY",
                                           "-I/some where", "-UB",           "-DQ=\"x\"",
                                           "-cl-std=CL3.0", "-cl-mad-enable"};
    struct zeta_cc_options options;
    struct zeta_cc_buffer log;

    (void)state;
    read_text(&options,
              " -D A=1 \"-DTEXT=a b\"\t-D'EMPTY' -I '/some where'\n-UB -DQ=\\\"x\\\" "
              "-cl-std=CL3.0 -cl-mad-enable",
              &log);
    assert_int_equal(options.front_end.count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(options.front_end.list[i], expected[i]);
    assert_string_equal(options.standard, "CL3.0");
    assert_true(options.contracts);
    assert_int_equal(log.size, 0);
    finish(&options, &log);
}

static void read__profile_flags__never_fail(void **state)
{
    static const char *const texts[] = {"-zet-profile-flags 0x7",     "-zet-profile-flags",
                                        "-zet-profile-flags garbage", "-zet-profile-flags -g",
                                        "-zet-profile-flags=2",       "-zet-profile-flags 1x"};
    static const uint32_t flags[] = {3, 0, 0, 0, 2, 0};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct zeta_cc_options options;
        struct zeta_cc_buffer log;

        read_text(&options, texts[i], &log);
        assert_int_equal(log.size, 0);
        assert_int_equal(options.has_debug, i == 3);
        assert_int_equal(options.profile_flags, flags[i]);
        finish(&options, &log);
    }
}

/* Rule 23.10. */
static void read__words_of_others__told_and_left_out(void **state)
{
    struct zeta_cc_options options;
    struct zeta_cc_buffer log;

    (void)state;
    read_text(&options, "-vc-codegen -O2 -Ox -D", &log);
    assert_int_equal(options.front_end.count, 0);
    assert_non_null(strstr(log.bytes, "unknown build option -vc-codegen"));
    assert_non_null(strstr(log.bytes, "-Ox has no usable value"));
    assert_non_null(strstr(log.bytes, "-D needs a value"));
    finish(&options, &log);
}

/* Options reach the command line of another program; none may be read as one of its own there.
 * Rule 23.10. */
static void read__words_that_run_programs__refused(void **state)
{
    static const char *const texts[] = {
        "-Wp,-fplugin=x.so", "-Wl,-x", "-Xclang", "-fplugin=x.so", "-o", "-include", "@file"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct zeta_cc_options options;
        struct zeta_cc_buffer log;

        read_text(&options, texts[i], &log);
        assert_int_equal(options.front_end.count, 0);
        assert_non_null(log.bytes);
        finish(&options, &log);
    }
}

static void constants__all_types__bits(void **state)
{
    static const struct {
        const char *text;
        uint32_t size_bytes;
        uint64_t value;
    } cases[] = {
        {"1:bool:1", 1, 1},
        {"2:i8:-1", 1, 0xff},
        {"3:i16:0x1234", 2, 0x1234},
        {"4:i32:-5", 4, 0xfffffffb},
        {"5:i64:-5", 8, UINT64_MAX - 4},
        {"6:f32:1.5", 4, 0x3fc00000},
        {"7:f64:-2", 8, UINT64_C(0xc000000000000000)},
    };
    struct zeta_cc_options options = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(zeta_cc_options_take(&options, "--spec-constant", cases[i].text),
                         ZETA_CC_WORD_TAKEN_NEXT);
    assert_int_equal(options.constant_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(options.constants[i].id, i + 1);
        assert_int_equal(options.constants[i].size_bytes, cases[i].size_bytes);
        assert_cmp(options.constants[i].value, ==, cases[i].value);
    }
    zeta_cc_options_finish(&options);
}

static void constants__bad__refused(void **state)
{
    static const char *const texts[] = {"",          "1",         "1:i32",
                                        "1:i32:",    "x:i32:1",   "1:i7:1",
                                        "1:i8:256",  "1:i8:-129", "1:bool:2",
                                        "1:i32:1x",  "-1:i32:1",  "4294967296:i8:1",
                                        "1:i32:1.5", "1:f32:",    "1:i64:99999999999999999999"};
    struct zeta_cc_options options = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (zeta_cc_options_take(&options, "--spec-constant", texts[i]) != ZETA_CC_WORD_BAD)
            fail_msg("\"%s\" was taken", texts[i]);
    }
    assert_int_equal(zeta_cc_options_take(&options, "--spec-constant", NULL),
                     ZETA_CC_WORD_INCOMPLETE);
    assert_int_equal(options.constant_count, 0);
    zeta_cc_options_finish(&options);
}

static void unit__its_options__are_read(void **state)
{
    static const char text[] = "--imports --unit 3 --loaded --import a=b=1 --place x=0x7f00";
    static const char *const bad[][2] = {
        {"--unit", "x"},      {"--unit", "300"},   {"--unit", ""},        {"--import", "a"},
        {"--import", "=1"},   {"--import", "a=b"}, {"--place", "x=0x1g"}, {"--place", "x="},
        {"--place", "x= 12"}, {"--place", "x=-1"}};
    struct zeta_cc_options options = {0};
    struct zeta_cc_buffer log = {0};

    (void)state;
    read_text(&options, text, &log);
    assert_int_equal(log.size, 0);
    assert_true(options.allows_imports && options.unit.is_given && options.unit.is_loaded);
    assert_int_equal(options.unit.number, 3);
    assert_int_equal(options.unit.imports.count, 1);
    assert_string_equal(options.unit.imports.list[0], "a=b=1");
    assert_string_equal(options.unit.places.list[0], "x=0x7f00");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (zeta_cc_options_take(&options, bad[i][0], bad[i][1]) != ZETA_CC_WORD_BAD)
            fail_msg("%s %s is taken", bad[i][0], bad[i][1]);
        assert_int_equal(zeta_cc_options_take(&options, bad[i][0], NULL), ZETA_CC_WORD_INCOMPLETE);
    }
    finish(&options, &log);
}

static void merge__later_level__wins(void **state)
{
    struct zeta_cc_options first = {.has_level = true, .level = 1};
    const struct zeta_cc_options silent = {0};
    const struct zeta_cc_options second = {.has_level = true, .level = 3, .has_debug = true};

    (void)state;
    zeta_cc_options_merge(&first, &silent);
    assert_int_equal(zeta_cc_options_level(&first), 1);
    zeta_cc_options_merge(&first, &second);
    assert_int_equal(zeta_cc_options_level(&first), 3);
    assert_true(first.has_debug);
}

SUITE(options)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level__each_word__as_documented),
        cmocka_unit_test(read__quotes_and_pairs__one_word_each),
        cmocka_unit_test(read__profile_flags__never_fail),
        cmocka_unit_test(read__words_of_others__told_and_left_out),
        cmocka_unit_test(read__words_that_run_programs__refused),
        cmocka_unit_test(constants__all_types__bits),
        cmocka_unit_test(constants__bad__refused),
        cmocka_unit_test(unit__its_options__are_read),
        cmocka_unit_test(merge__later_level__wins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
