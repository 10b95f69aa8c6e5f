/* An initialisation that fails: there is no driver that could be asked for the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>

#include "tests/support/suite.h"
#include "zeta/zeta.h"

static char settings_path[] = "/tmp/zeta-settings-XXXXXX";
static char log_path[] = "/tmp/zeta-log-XXXXXX";

/* The fake backend must work, says the administrator, and must not be opened. */
static int set_up(void **state)
{
    static const char settings[] = "plugins: {fake: {critical: true, enable: never}}\n";
    const int settings_fd = mkstemp(settings_path);
    const int log_fd = mkstemp(log_path);
    bool good;

    (void)state;
    good = settings_fd >= 0 && log_fd >= 0 &&
           write(settings_fd, settings, strlen(settings)) == (ssize_t)strlen(settings);
    (void)close(settings_fd);
    (void)close(log_fd);
    return good && setenv("ZETA_CONFIG", settings_path, 1) == 0 &&
                   setenv("ZETA_LOG_FILE", log_path, 1) == 0
               ? 0
               : -1;
}

static int clean_up(void **state)
{
    (void)state;
    return unlink(settings_path) == 0 && unlink(log_path) == 0 ? 0 : -1;
}

/* How often a text is in the log. */
static unsigned count_in_log(const char *text)
{
    static char log[16384];
    FILE *file = fopen(log_path, "re");
    unsigned count = 0;

    assert_non_null(file);
    log[fread(log, 1, sizeof(log) - 1, file)] = '\0';
    (void)fclose(file);
    for (const char *at = log; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

static void init__fails__sentence_is_logged_once(void **state)
{
    (void)state;
    assert_int_equal(zeInit(0), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_string_not_equal(zetaGetLastError(), "");
    assert_int_equal(count_in_log("zeta: error:"), 1);
    assert_int_equal(count_in_log(zetaGetLastError()), 1);
    assert_int_equal(zeInit(0), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_int_equal(count_in_log("zeta: error:"), 1);
}

SUITE(failed_init)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init__fails__sentence_is_logged_once),
    };

    return cmocka_run_group_tests(tests, set_up, clean_up);
}
