/*
 * What API tests of devices and commands share: the fake device, found through the public API.
 */
#ifndef ZETA_TESTS_HARNESS_HARNESS_H
#define ZETA_TESTS_HARNESS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>

#include "mode.h"
#include "tests/harness/device/compute_control.h"

/** Asserts that a call succeeds; the message has the library's own sentence. */
#define assert_success(call) harness_expect(ZE_RESULT_SUCCESS, (call), #call, __FILE__, __LINE__)

/** Asserts the result of a call. */
#define assert_result(wanted, call) harness_expect((wanted), (call), #call, __FILE__, __LINE__)

/** Objects that most tests need, on the root of the fake device. */
struct harness {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_device_handle_t tiles[2];
    ze_context_handle_t context;
    ze_module_handle_t module;
    const struct compute_control *control;
};

/** Fails the test unless result is wanted. */
void harness_expect(ze_result_t wanted, ze_result_t result, const char *call, const char *file,
                    int line);

/** cmocka group setup and teardown: state is a struct harness. */
int harness_setup(void **state);
int harness_teardown(void **state);

ze_kernel_handle_t harness_kernel(const struct harness *h, const char *name);

/** Kernel "add" with its arguments set, group size 1. */
ze_kernel_handle_t harness_add_kernel(const struct harness *h, uint64_t *target, uint64_t value);

ze_command_queue_handle_t harness_queue(const struct harness *h, ze_command_queue_mode_t mode);
ze_command_list_handle_t harness_list(const struct harness *h);
ze_command_list_handle_t harness_immediate(const struct harness *h, ze_command_queue_mode_t mode);
ze_command_list_handle_t harness_in_order(const struct harness *h); /* immediate */
ze_event_pool_handle_t harness_pool(const struct harness *h, ze_event_pool_flags_t flags,
                                    uint32_t count);
ze_event_handle_t harness_event(ze_event_pool_handle_t pool, uint32_t index);

/** Shared memory, zeroed. */
void *harness_memory(const struct harness *h, size_t bytes);

/** Appends a launch of one group. */
ze_result_t harness_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                           ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);

/** Closes and executes a list. */
void harness_execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                     ze_fence_handle_t fence);

/** Waits until that many kernels "hold" run. */
void harness_wait_holding(const struct harness *h, uint32_t count);

/** The sentence about the last failure of this thread. */
const char *harness_sentence(const struct harness *h);

/** CLOCK_MONOTONIC. */
uint64_t harness_now_ns(void);

#endif
