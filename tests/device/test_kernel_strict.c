/* Kernel arguments with the setting kernel.strict_arguments. */
#include "harness.h"
#include "tests/support/suite.h"

/* Rule 6.22. */
static void arguments__of_other_sizes__are_refused(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t add = harness_kernel(h, "add");
    unsigned char bytes[16] = {0};

    for (size_t size = 0; size <= sizeof(bytes); size++)
        assert_result(size == 8 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                      zeKernelSetArgumentValue(add, 1, size, bytes));
    assert_non_null(strstr(harness_sentence(h), "has 8 bytes, not 16"));
    assert_success(zeKernelDestroy(add));
}

SUITE(kernel_strict)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments__of_other_sizes__are_refused),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
