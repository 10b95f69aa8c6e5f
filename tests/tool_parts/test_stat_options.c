/*
 * The command line of zeta stat.
 */
#include "sdk/tools/zeta/stat/stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sdk/tools/zeta/output/message.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { MAX_WORDS = 24 };

/* Splits at blanks and parses; the words live as long as the options. */
struct parsed {
    char text[512];
    char *words[MAX_WORDS + 1];
    struct zeta_stat_options options;
    int status;
};

static struct parsed *parse(const char *line)
{
    struct parsed *parsed = test_calloc(1, sizeof(*parsed));
    int count = 0;

    (void)strcpy(parsed->text, line);
    for (char *word = strtok(parsed->text, " "); word; word = strtok(NULL, " "))
        parsed->words[count++] = word;
    parsed->status = zeta_stat_options_init(&parsed->options, count, parsed->words);
    return parsed;
}

static void release(struct parsed *parsed)
{
    test_free(parsed);
}

static void assert_usage(const char *line)
{
    struct parsed *parsed = parse(line);

    if (parsed->status != ZETA_EXIT_USAGE)
        fail_msg("'%s' gave %d", line, parsed->status);
    release(parsed);
}

static void options__program_only__has_defaults(void **state)
{
    struct parsed *parsed = parse("stat -- app -g x");

    (void)state;
    assert_int_equal(parsed->status, ZETA_EXIT_OK);
    assert_int_equal(parsed->options.group_count, 1);
    assert_string_equal(parsed->options.groups[0], "ComputeBasic");
    assert_cmp(parsed->options.period_ns, ==, 1000000);
    assert_null(parsed->options.device);
    assert_false(parsed->options.is_shared);
    assert_string_equal(parsed->options.program[0], "app");
    assert_string_equal(parsed->options.program[1], "-g");
    assert_null(parsed->options.program[3]);
    release(parsed);
}

static void options__all__are_read(void **state)
{
    struct parsed *parsed =
        parse("stat -d 1 -g A,B -p 250us -o out.csv --json=x.json --shared app -p");

    (void)state;
    assert_int_equal(parsed->status, ZETA_EXIT_OK);
    assert_string_equal(parsed->options.device, "1");
    assert_int_equal(parsed->options.group_count, 2);
    assert_string_equal(parsed->options.groups[1], "B");
    assert_cmp(parsed->options.period_ns, ==, 250000);
    assert_string_equal(parsed->options.output_path, "out.csv");
    assert_true(parsed->options.output_is_csv);
    assert_string_equal(parsed->options.json_path, "x.json");
    assert_true(parsed->options.is_shared);
    assert_string_equal(parsed->options.program[0], "app");
    assert_string_equal(parsed->options.program[1], "-p");
    release(parsed);
}

/* Samples of instruction pointers are a group of their own, with a period of modelled time. */
static void options__ip__samples_alone_or_beside_groups(void **state)
{
    struct parsed *parsed = parse("stat --ip -- app");

    (void)state;
    assert_int_equal(parsed->status, ZETA_EXIT_OK);
    assert_true(parsed->options.is_profile);
    assert_int_equal(parsed->options.group_count, 1);
    assert_string_equal(parsed->options.groups[0], "EuStallSampling");
    assert_int_equal(parsed->options.ip_period_ns, 20000);
    assert_int_equal(parsed->options.period_ns, 1000000);
    release(parsed);

    parsed = parse("stat -g A,B --ip -p 50us -- app");
    assert_int_equal(parsed->status, ZETA_EXIT_OK);
    assert_int_equal(parsed->options.group_count, 3);
    assert_string_equal(parsed->options.groups[2], "EuStallSampling");
    assert_int_equal(parsed->options.ip_period_ns, 50000);
    assert_int_equal(parsed->options.period_ns, 50000);
    release(parsed);

    assert_usage("stat -g EuStallSampling -- app");
    assert_usage("stat -g A --ip -o x.csv -- app");
}

static void options__without_program__takes_a_time(void **state)
{
    struct parsed *parsed = parse("stat -a --for 10s -o x.json");

    (void)state;
    assert_int_equal(parsed->status, ZETA_EXIT_OK);
    assert_true(parsed->options.is_system_wide);
    assert_cmp(parsed->options.for_ns, ==, UINT64_C(10000000000));
    assert_false(parsed->options.output_is_csv);
    assert_null(parsed->options.program);
    release(parsed);
}

static void options__what_makes_no_sense__is_usage(void **state)
{
    static const char *const lines[] = {
        "stat",
        "stat --",
        "stat -a app",
        "stat --for 1s -- app",
        "stat --unknown -- app",
        "stat -x -- app",
        "stat -g",
        "stat -d",
        "stat --json",
        "stat --json=- -- app",
        "stat -g A,,B -- app",
        "stat -g , -- app",
        "stat -g A,A -- app",
        "stat -g A -g B -- app",
        "stat -p 0ms -- app",
        "stat -p 5 -- app",
        "stat -p -1ms -- app",
        "stat -p fast -- app",
        "stat -a --for never",
        "stat -o out.txt -- app",
        "stat -o out -- app",
        "stat -g 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 -- app",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_usage(lines[i]);
}

SUITE(stat_options)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options__program_only__has_defaults),
        cmocka_unit_test(options__all__are_read),
        cmocka_unit_test(options__ip__samples_alone_or_beside_groups),
        cmocka_unit_test(options__without_program__takes_a_time),
        cmocka_unit_test(options__what_makes_no_sense__is_usage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
