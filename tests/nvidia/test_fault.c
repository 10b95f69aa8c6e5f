/*
 * A kernel that stores where it must not, on the fake GPU or, with ZETA_TEST_NVIDIA=device, on the
 * one that is there: what its program learns, that it ends well, and that the next one computes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/nvidia/computing.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"

/* A program of its own: the driver of a process that has faulted cannot be used again. */
static void run_program(void (*body)(void))
{
    int status = 0;
    const pid_t child = fork_child();

    assert_true(child >= 0);
    if (child == 0) {
        body();
        (void)fflush(NULL);
        /* With what libraries do then. What a lost device keeps would be leaks. */
        if (HAVE_ADDRESS_SANITIZER)
            _exit(0);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void store_anywhere(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t wild = computing_kernel(&c, "wild");
    const ze_group_count_t one = {1, 1, 1};

    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wild, &one, NULL, 0, NULL));
    EXPECT_RESULT(zeCommandListHostSynchronize(list, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("kernel wild");
    expect_sentence("an address that is not mapped");
    EXPECT_RESULT(zeDeviceGetStatus(c.device), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeCommandListAppendBarrier(c.list, NULL, 0, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("until the program ends");
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(wild));
    computing_close(&c);
}

static void store(void)
{
    const struct computing c = computing_open("api.ptx");
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 64, 8);

    computing_launch(&c, "store", 1, memory, 77);
    assert_int_equal(computing_read(&c, memory), 77);
    EXPECT_OK(zeMemFree(c.context, memory));
    computing_close(&c);
}

/* Rule 28.10. */
static void fault__of_a_kernel__ends_with_its_program(void **state)
{
    (void)state;
    run_program(store_anywhere);
    run_program(store);
}

SUITE(fault)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault__of_a_kernel__ends_with_its_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
