/*
 * libzeta under the loader of the distribution, API 1.4: what is particular about it. That loader
 * asks for the Global table with a struct on its stack, so an entry that is newer than it would end
 * every case here with "stack smashing detected".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_client.h"
#include "tests/support/suite.h"

#define DRIVERS "ZE_ENABLE_ALT_DRIVERS"
#define OLD_LOADER "LD_PRELOAD", ZETA_OLD_LOADER
#define INTERCEPT "ZE_ENABLE_LOADER_INTERCEPT", "1"
#define CHECKS                                                                                     \
    "ZE_ENABLE_VALIDATION_LAYER", "1", "ZE_ENABLE_PARAMETER_VALIDATION", "1",                      \
        "ZE_ENABLE_HANDLE_LIFETIME", "1"
#define TRACING "ZE_ENABLE_TRACING_LAYER", "1"

/* Rule 2.2. */
static void init__twice_and_by_many_threads__gives_the_same_handles(void **state)
{
    (void)state;
    RUN_CLIENT("init", OLD_LOADER, DRIVERS, libzeta);
    RUN_CLIENT("init", OLD_LOADER, DRIVERS, libzeta, INTERCEPT);
    RUN_CLIENT("init_threads", OLD_LOADER, DRIVERS, libzeta);
}

static void work__directly_and_intercepted__is_done(void **state)
{
    (void)state;
    RUN_CLIENT("use", OLD_LOADER, DRIVERS, libzeta);
    RUN_CLIENT("use", OLD_LOADER, DRIVERS, libzeta, INTERCEPT);
}

static void list__no_driver_that_works__init_says_so(void **state)
{
    (void)state;
    RUN_CLIENT("refused", OLD_LOADER, DRIVERS, "/no/such/driver.so", "CLIENT_RESULT", "78000001");
}

/* Rule 2.7. */
static void work__two_copies_of_the_driver__is_done_by_both(void **state)
{
    (void)state;
    RUN_CLIENT("use", OLD_LOADER, DRIVERS, libzeta_and_copy, "CLIENT_DRIVERS", "2");
}

static void work__layers_between__is_done(void **state)
{
    (void)state;
    RUN_CLIENT("use", OLD_LOADER, DRIVERS, libzeta, CHECKS);
    RUN_CLIENT("use", OLD_LOADER, DRIVERS, libzeta, TRACING);
    RUN_CLIENT("use", OLD_LOADER, DRIVERS, libzeta, TRACING, CHECKS);
    RUN_CLIENT("use", OLD_LOADER, DRIVERS, libzeta, INTERCEPT, TRACING, CHECKS);
}

/* Rule 2.10. */
static void fork__any_mode__child_begins_anew(void **state)
{
    (void)state;
    RUN_CLIENT("fork", OLD_LOADER, DRIVERS, libzeta);
}

/* Rule 2.9. */
static void exit__threads_in_calls__ends_quietly(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        RUN_CLIENT("teardown", OLD_LOADER, DRIVERS, libzeta);
}

/* Rule 2.9. */
static void dlclose__of_the_loader__leaves_threads_of_the_driver_alone(void **state)
{
    const char *const variables[] = {DRIVERS, libzeta, NULL};

    (void)state;
    run_client("loader_closer", ZETA_OLD_LOADER, variables);
}

SUITE(debian)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init__twice_and_by_many_threads__gives_the_same_handles),
        cmocka_unit_test(work__directly_and_intercepted__is_done),
        cmocka_unit_test(list__no_driver_that_works__init_says_so),
        cmocka_unit_test(work__two_copies_of_the_driver__is_done_by_both),
        cmocka_unit_test(work__layers_between__is_done),
        cmocka_unit_test(fork__any_mode__child_begins_anew),
        cmocka_unit_test(exit__threads_in_calls__ends_quietly),
        cmocka_unit_test(dlclose__of_the_loader__leaves_threads_of_the_driver_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
