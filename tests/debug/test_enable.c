/* ZET_ENABLE_PROGRAM_DEBUGGING: read late, told to the backend once. */
#include <stdlib.h>

#include "debugging.h"
#include "tests/support/suite.h"

/* Rule 27.15. */
static void enable__variable_set_after_the_first_init__told_once(void **state)
{
    const struct debug_control *control;
    ze_driver_handle_t driver;
    uint32_t count = 1;

    (void)state;
    unsetenv("ZET_ENABLE_PROGRAM_DEBUGGING");
    control = debugging_control();
    assert_int_equal(control->counts().enables, 0);
    setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
    EXPECT_OK(zeDriverGet(&count, &driver));
    assert_int_equal(control->counts().enables, 1);
    EXPECT_OK(zeInit(0));
    assert_int_equal(control->counts().enables, 1);
}

SUITE(enable)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enable__variable_set_after_the_first_init__told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
