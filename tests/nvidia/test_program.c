/* Programs of sets as texts, and values into records. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/nvidia/sampling/program.h"
#include "tests/nvidia/parts.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { STREAM = ZETA_PLUGIN_USE_STREAM, QUERY = ZETA_PLUGIN_USE_QUERY };

static struct nvidia_program program;

/* Reads entries, NULL at the end. */
static uint32_t read_all(const char *const *texts, uint32_t kind)
{
    struct zeta_plugin_program_entry entries[80] = {{0}};
    struct zeta_plugin_array array = {.data = entries, .stride = sizeof(entries[0])};

    for (; texts[array.count]; array.count++)
        entries[array.count].select = zeta_string(texts[array.count]);
    return nvidia_program_read(&parts_host, zeta_string("Set"), &array, kind, &program);
}

static uint32_t read_one(const char *text)
{
    const char *const texts[] = {text, NULL};

    return read_all(texts, STREAM);
}

static void program__for_each_use__takes_its_names(void **state)
{
    const char *const texts[] = {"C4=TPC.a__b.sum;c.sum", "F18=d.pct", "C0=;e.sum", "C1=f.sum;",
                                 "shortest=4294967295",   NULL};

    (void)state;
    assert_int_equal(read_all(texts, STREAM), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(program.count, 3);
    assert_string_equal(program.names[0], "TPC.a__b.sum");
    assert_int_equal(program.fields[0], 4);
    assert_string_equal(program.names[1], "d.pct");
    assert_int_equal(program.fields[1], NVIDIA_COUNTS + 18);
    assert_string_equal(program.names[2], "f.sum");
    assert_true(program.shortest_ns == 4294967295u);
    assert_int_equal(read_all(texts, QUERY), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(program.count, 3);
    assert_string_equal(program.names[0], "c.sum");
    assert_string_equal(program.names[1], "d.pct");
    assert_string_equal(program.names[2], "e.sum");
    assert_int_equal(program.fields[2], 0);
}

static void program__each_mistake__is_refused(void **state)
{
    static const char *const wrong[] = {"",           "C",           "C4",
                                        "C4=",        "C4=;",        "C40=a.sum",
                                        "F19=a.sum",  "C=a.sum",     "D1=a.sum",
                                        "C-1=a.sum",  "C1 =a.sum",   "C1=a b.sum",
                                        "C1=a;b;c",   "C1=a\n",      "shortest=",
                                        "shortest=x", "shortest=1x", "shortest=4294967296",
                                        "c1=a.sum",   "C1=\xc3\xa4", "C99999999999999999999999=a"};
    const char *const twice[] = {"C1=a.sum", "C01=b.sum", NULL};
    const char *const queries[] = {"C1=;a.sum", NULL};
    char text[300] = "C1=";

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (read_one(wrong[i]) != ZETA_PLUGIN_INVALID_ARGUMENT)
            fail_msg("\"%s\" was taken", wrong[i]);
        parts_expect_sentence("the program of Set has \"");
    }
    assert_int_equal(read_all(twice, STREAM), ZETA_PLUGIN_INVALID_ARGUMENT);
    parts_expect_sentence("same field");
    assert_int_equal(read_all(queries, STREAM), ZETA_PLUGIN_INVALID_ARGUMENT);
    parts_expect_sentence("no metric for streams");
    memset(text + 3, 'a', NVIDIA_NAME_BYTES - 1);
    assert_int_equal(read_one(text), ZETA_PLUGIN_SUCCESS);
    text[3 + NVIDIA_NAME_BYTES - 1] = 'a';
    assert_int_equal(read_one(text), ZETA_PLUGIN_INVALID_ARGUMENT);
}

static void program__all_fields__fit(void **state)
{
    static char texts[NVIDIA_FIELDS][16];
    const char *all[NVIDIA_FIELDS + 1] = {NULL};

    (void)state;
    for (uint32_t i = 0; i < NVIDIA_FIELDS; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "%c%u=a.sum", i < NVIDIA_COUNTS ? 'C' : 'F',
                       i < NVIDIA_COUNTS ? i : i - NVIDIA_COUNTS);
        all[i] = texts[i];
    }
    assert_int_equal(read_all(all, STREAM), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(program.count, NVIDIA_FIELDS);
}

static void store__values__into_their_fields(void **state)
{
    const char *const texts[] = {"F1=a.pct", "C39=b.sum", "F0=c.pct", "C0=d.sum", NULL};
    const double good[] = {NAN, 9007199254740993.0, -2.5, 0}, large[] = {1, 1.9e19, 1, 1};
    static const double bad[] = {NAN, INFINITY, -INFINITY, -1};
    struct nvidia_interval interval;

    (void)state;
    memset(&interval, 0x5a, sizeof(interval));
    assert_int_equal(read_all(texts, STREAM), ZETA_PLUGIN_SUCCESS);
    assert_true(nvidia_program_store(&program, good, &interval));
    assert_true(interval.valid == 1);
    assert_true(interval.counts[39] == 9007199254740992u);
    assert_true(interval.counts[0] == 0 && interval.counts[20] == 0);
    assert_true(interval.values[0] == -2.5 && interval.values[1] == 0);
    assert_false(nvidia_program_store(&program, large, &interval));
    for (size_t i = 0; i < 4; i++) {
        const double values[] = {1, bad[i], 1, 1};

        assert_false(nvidia_program_store(&program, values, &interval));
    }
}

SUITE(program)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program__for_each_use__takes_its_names),
        cmocka_unit_test(program__each_mistake__is_refused),
        cmocka_unit_test(program__all_fields__fit),
        cmocka_unit_test(store__values__into_their_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
