/* Programs that do a part of the work: what they get, how they end, and what they may take. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/tools/zeta-cc/front_end/front_end.h"
#include "sdk/tools/zeta-cc/request/confine.h"
#include "tests/support/suite.h"

enum { CANNOT = 77 };

/* What a script of the shell makes of the input. */
static enum zeta_cc_child_end run(const char *script, const char *input,
                                  struct zeta_cc_buffer *output, struct zeta_cc_buffer *messages)
{
    struct zeta_cc_strings arguments = {0};
    struct zeta_cc_child child;

    zeta_cc_strings_add(&arguments, "/bin/sh");
    zeta_cc_strings_add(&arguments, "-c");
    zeta_cc_strings_add(&arguments, script);
    zeta_cc_child_start(&child, &arguments, input, strlen(input));
    zeta_cc_strings_finish(&arguments);
    return zeta_cc_child_end(&child, output, messages);
}

static void child__input__goes_through(void **state)
{
    struct zeta_cc_buffer output = {0}, messages = {0};

    (void)state;
    assert_int_equal(run("cat; echo said >&2", "some bytes", &output, &messages),
                     ZETA_CC_CHILD_FINE);
    assert_string_equal(output.bytes, "some bytes");
    assert_string_equal(messages.bytes, "said\n");
    zeta_cc_buffer_finish(&output);
    zeta_cc_buffer_finish(&messages);
}

static void child__ends__are_told_apart(void **state)
{
    struct zeta_cc_buffer output = {0}, messages = {0};
    struct zeta_cc_strings arguments = {0};
    struct zeta_cc_child child;

    (void)state;
    assert_int_equal(run("exit 3", "", &output, &messages), ZETA_CC_CHILD_FAILED);
    assert_int_equal(run("kill -9 $$", "", &output, &messages), ZETA_CC_CHILD_CRASHED);
    zeta_cc_strings_add(&arguments, "/nonexistent/program");
    zeta_cc_child_start(&child, &arguments, "", 0);
    assert_int_equal(child.error, ENOENT);
    assert_int_equal(zeta_cc_child_end(&child, &output, &messages), ZETA_CC_CHILD_MISSING);
    zeta_cc_strings_finish(&arguments);
    assert_int_equal(output.size, 0);
    assert_int_equal(messages.size, 0);
}

/* The limit comes a moment after the start, so the script waits for it, ten seconds at most.
 * Rule 23.12. */
static void child__memory__is_limited(void **state)
{
    struct zeta_cc_buffer output = {0}, messages = {0};

    (void)state;
    assert_int_equal(run("n=0; while [ \"$(ulimit -v)\" = unlimited ] && [ $n -lt 1000 ]; do "
                         "sleep 0.01; n=$((n + 1)); done; ulimit -v",
                         "", &output, &messages),
                     ZETA_CC_CHILD_FINE);
    assert_string_not_equal(output.bytes, "unlimited\n");
    assert_in_range(strtoull(output.bytes, NULL, 10), 1, ZETA_CC_CHILD_MEMORY_BYTES / 1024);
    zeta_cc_buffer_finish(&output);
    zeta_cc_buffer_finish(&messages);
}

/* What a process, and one that it starts, can do once it is confined. */
static int try_confined(void)
{
    struct zeta_cc_buffer output = {0}, messages = {0};

    if (!zeta_cc_confine())
        return CANNOT;
    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        return 1;
    if (socket(AF_INET, SOCK_DGRAM, 0) >= 0 || errno != EPERM)
        return 2;
    if (run("cat; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status", "input\n", &output,
            &messages) != ZETA_CC_CHILD_FINE)
        return 3;
    return strcmp(output.bytes, "input\nNoNewPrivs:\t1\nSeccomp:\t2\n") == 0 ? 0 : 4;
}

static void confined__sockets__are_refused(void **state)
{
    int status = 0;
    pid_t process = fork();

    (void)state;
    if (process == 0)
        _exit(try_confined());
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

SUITE(child)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child__input__goes_through),
        cmocka_unit_test(child__ends__are_told_apart),
        cmocka_unit_test(child__memory__is_limited),
        cmocka_unit_test(confined__sockets__are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
