/* libzeta under the newest loader, as far as a single process cannot test it by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_client.h"
#include "tests/support/suite.h"

#define DRIVERS "ZE_ENABLE_ALT_DRIVERS"
#define INTERCEPT "ZE_ENABLE_LOADER_INTERCEPT", "1"
#define WRAP "ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "0"

static void init__twice_and_by_many_threads__gives_the_same_handles(void **state)
{
    (void)state;
    RUN_CLIENT("init", DRIVERS, libzeta);
    RUN_CLIENT("init", DRIVERS, libzeta, INTERCEPT);
    RUN_CLIENT("init", DRIVERS, libzeta, INTERCEPT, WRAP);
    RUN_CLIENT("init_threads", DRIVERS, libzeta);
    RUN_CLIENT("init_threads", DRIVERS, libzeta, INTERCEPT);
}

/* Rule 2.5. */
static void init_drivers__all_flag_bits__gives_what_driver_get_gives(void **state)
{
    (void)state;
    RUN_CLIENT("init_drivers", DRIVERS, libzeta);
    RUN_CLIENT("init_drivers", DRIVERS, libzeta, INTERCEPT);
    RUN_CLIENT("init_drivers", DRIVERS, libzeta, INTERCEPT, WRAP);
    RUN_CLIENT("init_drivers", DRIVERS, libzeta_and_copy, "CLIENT_DRIVERS", "2");
}

static void work__each_mode__is_done(void **state)
{
    (void)state;
    RUN_CLIENT("use", DRIVERS, libzeta);
    RUN_CLIENT("use", DRIVERS, libzeta, INTERCEPT);
    RUN_CLIENT("use", DRIVERS, libzeta, INTERCEPT, WRAP);
}

/* A blank in the list makes a name that does not exist, and switches to intercept mode. */
static void list__name_that_cannot_be_opened__does_no_harm(void **state)
{
    (void)state;
    RUN_CLIENT("use", DRIVERS, libzeta_and_nothing);
}

/* How this loader reports drivers that it cannot use; none of that is the library's doing. */
static void list__no_driver_that_works__init_says_why(void **state)
{
    (void)state;
    RUN_CLIENT("refused", DRIVERS, "/no/such/driver.so", "CLIENT_RESULT", "78000001");
    RUN_CLIENT("refused", DRIVERS, other_driver, "OTHER_DRIVER_FAILS", "1", "CLIENT_RESULT",
               "78000002");
    RUN_CLIENT("use", DRIVERS, other_driver_and_libzeta, "OTHER_DRIVER_FAILS", "1");
}

/* Rule 2.7. */
static void two_drivers__copies_of_the_library__work_side_by_side(void **state)
{
    (void)state;
    RUN_CLIENT("use", DRIVERS, libzeta_and_copy, "CLIENT_DRIVERS", "2");
    RUN_CLIENT("use", DRIVERS, libzeta_and_copy, "CLIENT_DRIVERS", "2", WRAP);
}

/* Rule 2.7. */
static void two_drivers__another_without_dispatch__work_side_by_side(void **state)
{
    (void)state;
    RUN_CLIENT("mixed", DRIVERS, other_driver_and_libzeta, "CLIENT_DRIVERS", "2");
    RUN_CLIENT("mixed", DRIVERS, other_driver_and_libzeta, "CLIENT_DRIVERS", "2",
               "ZET_ENABLE_PROGRAM_INSTRUMENTATION", "1");
}

static void dispatch__validity_and_version__are_obeyed(void **state)
{
    (void)state;
    RUN_CLIENT("validity", DRIVERS, libzeta, INTERCEPT);
}

/* Rule 2.8. */
static void wrapping__arrays_that_are_not_exchanged__are_refused(void **state)
{
    (void)state;
    RUN_CLIENT("untranslated", DRIVERS, libzeta, INTERCEPT, WRAP);
}

static void wrapping__objects__live_as_long_as_what_they_stand_for(void **state)
{
    (void)state;
    RUN_CLIENT("objects", DRIVERS, libzeta, INTERCEPT, WRAP);
}

/* Rule 2.10. */
static void fork__any_mode__child_begins_anew(void **state)
{
    (void)state;
    RUN_CLIENT("fork", DRIVERS, libzeta);
    RUN_CLIENT("fork", DRIVERS, libzeta, INTERCEPT);
}

/* Rule 2.9. */
static void exit__threads_in_calls__ends_quietly(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        RUN_CLIENT("teardown", DRIVERS, libzeta);
        RUN_CLIENT("teardown", DRIVERS, libzeta, INTERCEPT);
    }
    RUN_CLIENT("teardown", DRIVERS, libzeta_and_copy, "CLIENT_DRIVERS", "2");
}

/* Rule 2.9. */
static void dlclose__of_the_loader__leaves_threads_of_the_driver_alone(void **state)
{
    const char *const variables[] = {DRIVERS, libzeta, NULL};

    (void)state;
    run_client("loader_closer", standin, variables);
    run_client("loader_closer", libzeta, variables);
}

SUITE(standin)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init__twice_and_by_many_threads__gives_the_same_handles),
        cmocka_unit_test(init_drivers__all_flag_bits__gives_what_driver_get_gives),
        cmocka_unit_test(work__each_mode__is_done),
        cmocka_unit_test(list__name_that_cannot_be_opened__does_no_harm),
        cmocka_unit_test(list__no_driver_that_works__init_says_why),
        cmocka_unit_test(two_drivers__copies_of_the_library__work_side_by_side),
        cmocka_unit_test(two_drivers__another_without_dispatch__work_side_by_side),
        cmocka_unit_test(dispatch__validity_and_version__are_obeyed),
        cmocka_unit_test(wrapping__arrays_that_are_not_exchanged__are_refused),
        cmocka_unit_test(wrapping__objects__live_as_long_as_what_they_stand_for),
        cmocka_unit_test(fork__any_mode__child_begins_anew),
        cmocka_unit_test(exit__threads_in_calls__ends_quietly),
        cmocka_unit_test(dlclose__of_the_loader__leaves_threads_of_the_driver_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
