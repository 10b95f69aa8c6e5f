/*
 * Log lines: levels by topic, one line each, nothing on standard output.
 */
#include "core/util/log.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/zeta-log-XXXXXX";
static char written[16384];

static int setup(void **state)
{
    int fd;

    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/zeta-log-XXXXXX");
    fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
    (void)state;
    zeta_log_reset();
    return unlink(path);
}

static const char *read_log(void)
{
    FILE *file = fopen(path, "r");
    size_t length;

    assert_non_null(file);
    length = fread(written, 1, sizeof(written) - 1, file);
    written[length] = '\0';
    assert_int_equal(fclose(file), 0);
    return written;
}

static void log__level__decides(void **state)
{
    (void)state;
    zeta_log_configure("info", path);
    zeta_log(ZETA_LOG_ERROR, "plugin", "one %d", 1);
    zeta_log(ZETA_LOG_INFO, "plugin", "two");
    zeta_log(ZETA_LOG_DEBUG, "plugin", "three");
    assert_string_equal(read_log(), "zeta: error: plugin: one 1\nzeta: info: plugin: two\n");
}

static void log__once__is_written_for_each_text_once(void **state)
{
    char text[32];
    size_t lines = 0;

    (void)state;
    zeta_log_configure("warn", path);
    zeta_log_once(ZETA_LOG_INFO, "kernel", "not written, and not counted");
    for (int i = 0; i < 3; i++) {
        zeta_log_once(ZETA_LOG_WARN, "kernel", "argument %d", i % 2);
        zeta_log_once(ZETA_LOG_WARN, "metric", "argument %d", 0);
    }
    assert_string_equal(read_log(), "zeta: warn: kernel: argument 0\n"
                                    "zeta: warn: metric: argument 0\n"
                                    "zeta: warn: kernel: argument 1\n");
    /* It stays quiet rather than write for ever. */
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(text, sizeof(text), "%x", i);
        zeta_log_once(ZETA_LOG_WARN, "x", "%s", text);
    }
    for (const char *at = read_log(); *at; at++)
        lines += *at == '\n';
    assert_cmp(lines, >, 100);
    assert_cmp(lines, <, 1000);
}

static void *say_often(void *unused)
{
    for (int i = 0; i < 100; i++)
        zeta_log_once(ZETA_LOG_WARN, "kernel", "argument %d", i % 2);
    return unused;
}

static void log__once_by_many_threads__is_written_once(void **state)
{
    pthread_t threads[4];
    size_t lines = 0;

    (void)state;
    zeta_log_configure("warn", path);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, say_often, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (const char *at = read_log(); *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 2);
}

static void log__topic__has_its_own_level(void **state)
{
    (void)state;
    zeta_log_configure("plugin=trace,error, metric=debug", path);
    assert_true(zeta_log_enabled(ZETA_LOG_TRACE, "plugin"));
    assert_true(zeta_log_enabled(ZETA_LOG_DEBUG, "metric"));
    assert_false(zeta_log_enabled(ZETA_LOG_TRACE, "metric"));
    assert_true(zeta_log_enabled(ZETA_LOG_ERROR, "other"));
    assert_false(zeta_log_enabled(ZETA_LOG_WARN, "other"));
}

static void log__unconfigured__writes_warnings(void **state)
{
    (void)state;
    assert_true(zeta_log_enabled(ZETA_LOG_WARN, "x"));
    assert_false(zeta_log_enabled(ZETA_LOG_INFO, "x"));
}

static void log__control_characters_and_length__are_tamed(void **state)
{
    static char long_text[20000];

    (void)state;
    memset(long_text, 'a', sizeof(long_text) - 1);
    zeta_log_configure("info", path);
    zeta_log(ZETA_LOG_INFO, "plugin", "a\nb\033[31m");
    zeta_log(ZETA_LOG_INFO, "plugin", "%s", long_text);
    (void)read_log();
    assert_ptr_equal(strstr(written, "zeta: info: plugin: a b [31m\n"), written);
    assert_cmp(strlen(written), <, 5000);
    assert_int_equal(written[strlen(written) - 1], '\n');
    assert_non_null(strstr(written, "a...\n"));
}

static void log__nonsense_in_the_choice__is_left_out(void **state)
{
    (void)state;
    zeta_log_configure("error", path);
    zeta_log_configure("loud,debug,=info,x=", "/nonexistent/folder/file");
    assert_true(zeta_log_enabled(ZETA_LOG_DEBUG, "x"));
    assert_false(zeta_log_enabled(ZETA_LOG_TRACE, "x"));
}

/* Nobody may ever read from it, and a write to one that nobody reads any more ends a program. */
static void log__pipe__is_no_file(void **state)
{
    char name[128];
    int saved = dup(STDERR_FILENO);
    int reader;
    int errors;

    (void)state;
    (void)snprintf(name, sizeof(name), "%s.pipe", path);
    errors = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_cmp(saved, >=, 0);
    assert_cmp(errors, >=, 0);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_cmp(dup2(errors, STDERR_FILENO), >=, 0);
    zeta_log_configure("warn", name);
    reader = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    zeta_log_configure("warn", name);
    assert_cmp(dup2(saved, STDERR_FILENO), >=, 0);
    assert_int_equal(unlink(name), 0);
    assert_cmp(reader, >=, 0);
    assert_int_equal(close(reader), 0);
    assert_int_equal(close(errors), 0);
    assert_int_equal(close(saved), 0);
    (void)read_log();
    assert_non_null(strstr(written, "no pipe"));
    assert_non_null(strstr(strstr(written, "no pipe") + 1, "no pipe"));
}

SUITE(log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(log__level__decides, setup, teardown),
        cmocka_unit_test_setup_teardown(log__once__is_written_for_each_text_once, setup, teardown),
        cmocka_unit_test_setup_teardown(log__once_by_many_threads__is_written_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(log__topic__has_its_own_level, setup, teardown),
        cmocka_unit_test_setup_teardown(log__unconfigured__writes_warnings, setup, teardown),
        cmocka_unit_test_setup_teardown(log__control_characters_and_length__are_tamed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(log__pipe__is_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(log__nonsense_in_the_choice__is_left_out, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
