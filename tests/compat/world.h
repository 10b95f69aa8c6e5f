/*
 * What the samples of the guides leave to their reader: a device, a list of commands, a kernel and
 * a workload. In names of today only. Every source of this folder is compiled as C and as C++.
 */
#ifndef ZETA_TESTS_COMPAT_WORLD_H
#define ZETA_TESTS_COMPAT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/zet_api.h>

#if defined(__cplusplus)
extern "C" { /* cmocka's own header does not say it */
#endif
#include "tests/harness/mode.h"
#if defined(__cplusplus)
}
#endif

#define assert_success(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

#define WORLD_GROUPS 16u

struct world {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list; /**< open */
    ze_command_queue_handle_t queue;
    ze_group_count_t groups;
    void *sums;
};

#if defined(__cplusplus)
extern "C" {
#endif

/** cmocka's set-up and its end for a group of cases; the state is a struct world. */
int world_open(void **state);
int world_close(void **state);

/** Memory for some bytes, which the caller frees; fails the test when there are none. */
void *world_room(size_t bytes);

/** Closes the list, executes it, waits for it and opens it anew. */
void world_execute(struct world *world);

/** Runs kernels for at least so long. */
void world_work(struct world *world, unsigned duration_ms);

#if defined(__cplusplus)
}
#endif

#endif
