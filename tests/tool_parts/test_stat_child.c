/*
 * The program that stat runs: how it starts, how it ends, what environment it gets.
 */
#include "sdk/tools/zeta/program/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sdk/tools/zeta/output/message.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define PAUSE_NS 20000000

static int start(struct zeta_child *child, const char *script)
{
    char *arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                         (char *)(uintptr_t)script, NULL};

    return zeta_child_start(child, arguments, environ);
}

static int run_to_end(struct zeta_child *child, const char *script)
{
    assert_int_equal(start(child, script), ZETA_EXIT_OK);
    while (!child->has_ended)
        zeta_child_wait(child, PAUSE_NS);
    return zeta_child_exit_code(child);
}

static int set_up(void **state)
{
    struct zeta_child *child = test_calloc(1, sizeof(*child));

    *state = child;
    return zeta_child_init(child);
}

static int tear_down(void **state)
{
    struct zeta_child *child = *state;

    (void)sigprocmask(SIG_SETMASK, &child->mask_before, NULL);
    zeta_child_finish(child);
    test_free(child);
    return 0;
}

static void exit_code__program_exits__is_its_own(void **state)
{
    assert_int_equal(run_to_end(*state, "exit 3"), 3);
}

static void exit_code__program_is_killed__is_128_and_the_signal(void **state)
{
    assert_int_equal(run_to_end(*state, "kill -SEGV $$"), 128 + SIGSEGV);
}

static void start__no_such_program__is_127(void **state)
{
    char *arguments[] = {(char *)(uintptr_t) "no-such-program-of-ours", NULL};

    assert_int_equal(zeta_child_start(*state, arguments, environ), ZETA_EXIT_NOT_FOUND);
    arguments[0] = (char *)(uintptr_t) "./no/such/program";
    assert_int_equal(zeta_child_start(*state, arguments, environ), ZETA_EXIT_NOT_FOUND);
}

static void start__not_executable__is_126(void **state)
{
    char *arguments[] = {(char *)(uintptr_t) "/etc/passwd", NULL};

    assert_int_equal(zeta_child_start(*state, arguments, environ), ZETA_EXIT_NOT_EXECUTABLE);
}

/* Rule 16.17. */
static void start__any__gives_the_program_signals_as_they_were(void **state)
{
    /* A blocked or ignored signal would leave the shell alive, to exit with 9. */
    assert_int_equal(run_to_end(*state, "kill -INT $$; exit 9"), 128 + SIGINT);
    *(struct zeta_child *)*state = (struct zeta_child){
        .signal_fd = ((struct zeta_child *)*state)->signal_fd,
        .mask_before = ((struct zeta_child *)*state)->mask_before,
    };
    assert_int_equal(run_to_end(*state, "kill -PIPE $$; exit 9"), 128 + SIGPIPE);
    zeta_child_again(*state);
    assert_int_equal(run_to_end(*state, "kill -XFSZ $$; exit 9"), 128 + SIGXFSZ);
}

static void interrupt__sent_to_us_alone__is_passed_on(void **state)
{
    struct zeta_child *child = *state;

    assert_int_equal(start(child, "exec sleep 60"), ZETA_EXIT_OK);
    assert_int_equal(kill(getpid(), SIGINT), 0);
    while (!child->has_ended)
        zeta_child_wait(child, PAUSE_NS);
    assert_int_equal(child->interrupts, 1);
    assert_int_equal(zeta_child_exit_code(child), 128 + SIGINT);
}

/* Rule 20.7. */
static void interrupt__program_does_not_listen__is_forced_at_last(void **state)
{
    struct zeta_child *child = *state;
    char script[128];
    int ready[2];
    char byte = 0;

    /* It says when it has stopped listening. */
    assert_int_equal(pipe(ready), 0);
    (void)snprintf(script, sizeof(script),
                   "trap '' INT TERM; echo >&%d; while :; do sleep 0.01; done", ready[1]);
    assert_int_equal(start(child, script), ZETA_EXIT_OK);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    while (!child->has_ended) {
        assert_int_equal(kill(getpid(), SIGINT), 0);
        zeta_child_wait(child, PAUSE_NS);
    }
    assert_cmp(child->interrupts, >=, 3);
    assert_int_equal(zeta_child_exit_code(child), 128 + SIGKILL);
}

static const char *variable_of(char **variables, const char *name)
{
    const size_t length = strlen(name);

    for (; *variables; variables++) {
        if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
            return *variables + length + 1;
    }
    return NULL;
}

static void environment__device_of_ours__names_driver_and_instance(void **state)
{
    struct zeta_environment environment;
    const char *drivers = NULL;

    (void)state;
    (void)unsetenv("ZE_ENABLE_ALT_DRIVERS");
    assert_int_equal(setenv("ZETA_VGPU_INSTANCE", "of-others", 1), 0);
    assert_int_equal(zeta_environment_init(&environment, false), ZETA_EXIT_OK);
    assert_int_equal(zeta_environment_build(&environment, true), ZETA_EXIT_OK);
    drivers = variable_of(environment.variables, "ZE_ENABLE_ALT_DRIVERS");
    assert_non_null(drivers);
    assert_non_null(strstr(drivers, "/libzeta.so"));
    assert_int_equal(access(drivers, R_OK), 0);
    assert_string_not_equal(variable_of(environment.variables, "ZETA_VGPU_INSTANCE"), "of-others");
    assert_string_equal(variable_of(environment.variables, "ZETA_VGPU_INSTANCE"),
                        getenv("ZETA_VGPU_INSTANCE"));
    assert_string_equal(variable_of(environment.variables, "PATH"), getenv("PATH"));
    zeta_environment_finish(&environment);
}

static void environment__shared__keeps_the_instance(void **state)
{
    struct zeta_environment environment;

    (void)state;
    assert_int_equal(setenv("ZETA_VGPU_INSTANCE", "of-others", 1), 0);
    assert_int_equal(zeta_environment_init(&environment, true), ZETA_EXIT_OK);
    assert_int_equal(zeta_environment_build(&environment, true), ZETA_EXIT_OK);
    assert_string_equal(variable_of(environment.variables, "ZETA_VGPU_INSTANCE"), "of-others");
    assert_string_equal(getenv("ZETA_VGPU_INSTANCE"), "of-others");
    zeta_environment_finish(&environment);
}

/* Rule 20.2. */
static void environment__device_of_others__is_untouched(void **state)
{
    struct zeta_environment environment;

    (void)state;
    (void)unsetenv("ZE_ENABLE_ALT_DRIVERS");
    assert_int_equal(setenv("ZETA_VGPU_INSTANCE", "of-others", 1), 0);
    assert_int_equal(zeta_environment_init(&environment, false), ZETA_EXIT_OK);
    assert_int_equal(zeta_environment_build(&environment, false), ZETA_EXIT_OK);
    assert_null(variable_of(environment.variables, "ZE_ENABLE_ALT_DRIVERS"));
    assert_string_equal(variable_of(environment.variables, "ZETA_VGPU_INSTANCE"), "of-others");
    zeta_environment_finish(&environment);
}

/* Rule 20.2. */
static void environment__driver_chosen_already__is_left_alone(void **state)
{
    struct zeta_environment environment;

    (void)state;
    assert_int_equal(setenv("ZE_ENABLE_ALT_DRIVERS", "/other/driver.so", 1), 0);
    assert_int_equal(zeta_environment_init(&environment, false), ZETA_EXIT_OK);
    assert_int_equal(zeta_environment_build(&environment, true), ZETA_EXIT_OK);
    assert_string_equal(variable_of(environment.variables, "ZE_ENABLE_ALT_DRIVERS"),
                        "/other/driver.so");
    zeta_environment_finish(&environment);
    (void)unsetenv("ZE_ENABLE_ALT_DRIVERS");
}

/* Rule 20.3. */
static void environment__comma_or_blank_in_path__cannot_be_named(void **state)
{
    (void)state;
    assert_true(zeta_environment_can_name("/opt/zeta/lib/libzeta.so.0"));
    assert_false(zeta_environment_can_name("/opt/a,b/libzeta.so.0"));
    assert_false(zeta_environment_can_name("/opt/a b/libzeta.so.0"));
}

SUITE(stat_child)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exit_code__program_exits__is_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exit_code__program_is_killed__is_128_and_the_signal, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(start__no_such_program__is_127, set_up, tear_down),
        cmocka_unit_test_setup_teardown(start__not_executable__is_126, set_up, tear_down),
        cmocka_unit_test_setup_teardown(start__any__gives_the_program_signals_as_they_were, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(interrupt__sent_to_us_alone__is_passed_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(interrupt__program_does_not_listen__is_forced_at_last,
                                        set_up, tear_down),
        cmocka_unit_test(environment__device_of_ours__names_driver_and_instance),
        cmocka_unit_test(environment__shared__keeps_the_instance),
        cmocka_unit_test(environment__device_of_others__is_untouched),
        cmocka_unit_test(environment__driver_chosen_already__is_left_alone),
        cmocka_unit_test(environment__comma_or_blank_in_path__cannot_be_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
