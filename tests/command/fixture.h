#ifndef ZETA_TESTS_COMMAND_FIXTURE_H
#define ZETA_TESTS_COMMAND_FIXTURE_H

/*
 * What tests with real kernels have: a device that computes and the kernels of TEST_KERNELS. Every
 * failure ends the test.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>

#define assert_success(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

struct fixture {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_event_pool_handle_t pool;
};

/** Setup and teardown of a group of cmocka: state is a struct fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

ze_kernel_handle_t fixture_kernel(const struct fixture *f, const char *name);
ze_event_handle_t fixture_event(const struct fixture *f, uint32_t index);

/** An immediate list. */
ze_command_list_handle_t fixture_list(const struct fixture *f, ze_command_queue_mode_t mode);

/** Shared memory of zeros. */
void *fixture_memory(const struct fixture *f, size_t bytes);

#endif
