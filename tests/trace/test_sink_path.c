/*
 * Names of trace files, globs and sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/zeta.h>

#include "core/settings/settings.h"
#include "core/trace/sink.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const char *name(const char *pattern, unsigned attempt)
{
    static char path[64];

    return zeta_sink_path(pattern, 42, attempt, path, sizeof(path)) ? path : "refused";
}

/* Rule 19.1. */
static void path__plain__gets_the_pid_when_it_exists(void **state)
{
    (void)state;
    assert_string_equal(name("t.json", 0), "t.json");
    assert_string_equal(name("t.json", 1), "t.json.42");
    assert_string_equal(name("t.json", 2), "t.json.42.2");
}

/* Rule 19.1. */
static void path__with_pid__gets_a_number_when_it_exists(void **state)
{
    (void)state;
    assert_string_equal(name("d/%p.json", 0), "d/42.json");
    assert_string_equal(name("d/%p.json", 1), "d/42.json.2");
    assert_string_equal(name("d/%p.json", 2), "d/42.json.3");
    assert_string_equal(name("%p%p", 0), "42%p");
    assert_string_equal(name("%s%n", 0), "%s%n");
}

static void path__too_long__is_refused(void **state)
{
    char pattern[80];

    (void)state;
    memset(pattern, 'a', sizeof(pattern));
    pattern[sizeof(pattern) - 1] = '\0';
    assert_string_equal(name(pattern, 0), "refused");
    pattern[63] = '\0';
    assert_string_equal(name(pattern, 0), pattern);
    assert_string_equal(name(pattern, 1), "refused");
}

static void path__of_perfetto__is_refused(void **state)
{
    static const char *const names[] = {"a.pftrace", ".pftrace"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct zeta_trace_desc desc = {.struct_size = sizeof(desc), .path = names[i]};

        assert_int_equal(zetaTraceStart(&desc), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
}

/* The directory does not exist, so the name alone decides the result. */
static void path__like_that_of_perfetto__is_tried(void **state)
{
    static const char *const names[] = {"/nowhere/a.pftrace.json", "/nowhere/ftrace"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct zeta_trace_desc desc = {.struct_size = sizeof(desc), .path = names[i]};

        assert_int_equal(zetaTraceStart(&desc), ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
}

static void filter__globs__match_whole_names(void **state)
{
    (void)state;
    assert_true(zeta_settings_has("zeInit", "zeInit"));
    assert_false(zeta_settings_has("zeInit", "zeInitDrivers"));
    assert_true(zeta_settings_has("zet*,zeInit*", "zeInitDrivers"));
    assert_true(zeta_settings_has(",,ze?nit,", "zeInit"));
    assert_false(zeta_settings_has("", "zeInit"));
    assert_false(zeta_settings_has("[", "zeInit"));
}

static uint64_t size(const char *text)
{
    uint64_t bytes = 0;

    return zeta_sink_limit(text, &bytes) ? bytes : UINT64_MAX;
}

static void limit__sizes__are_bytes(void **state)
{
    (void)state;
    assert_cmp(size("4096"), ==, 4096);
    assert_cmp(size("64K"), ==, 65536);
    assert_cmp(size("3M"), ==, 3 << 20);
    assert_cmp(size("2G"), ==, UINT64_C(2) << 30);
    assert_cmp(size(""), ==, UINT64_MAX);
    assert_cmp(size("M"), ==, UINT64_MAX);
    assert_cmp(size("1T"), ==, UINT64_MAX);
    assert_cmp(size("1MB"), ==, UINT64_MAX);
    assert_cmp(size("-1"), ==, UINT64_MAX);
    assert_cmp(size("99999999999999999999"), ==, UINT64_MAX);
}

SUITE(sink_path)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path__plain__gets_the_pid_when_it_exists),
        cmocka_unit_test(path__with_pid__gets_a_number_when_it_exists),
        cmocka_unit_test(path__too_long__is_refused),
        cmocka_unit_test(path__of_perfetto__is_refused),
        cmocka_unit_test(path__like_that_of_perfetto__is_tried),
        cmocka_unit_test(filter__globs__match_whole_names),
        cmocka_unit_test(limit__sizes__are_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
