/*
 * The virtual GPU for tests of memory: objects that they need, and kernels that touch memory.
 */
#ifndef ZETA_TESTS_DEVICE_GPU_H
#define ZETA_TESTS_DEVICE_GPU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>

#include "tests/harness/mode.h"

/** Asserts that a call succeeds; the message has the library's own sentence. */
#define assert_success(call) gpu_expect(ZE_RESULT_SUCCESS, (call), #call, __FILE__, __LINE__)

/** Asserts the result of a call. */
#define assert_result(wanted, call) gpu_expect((wanted), (call), #call, __FILE__, __LINE__)

struct gpu {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_kernel_handle_t store;
    ze_kernel_handle_t load;
    ze_kernel_handle_t wait_for;
    ze_command_list_handle_t list; /**< immediate, synchronous */
};

/** Fails the test unless result is wanted. */
void gpu_expect(ze_result_t wanted, ze_result_t result, const char *call, const char *file,
                int line);

/** Makes and ends the objects; aborts the process when that fails. */
void gpu_open(struct gpu *gpu);
void gpu_close(struct gpu *gpu);

/** cmocka group setup and teardown: state is a struct gpu. */
int gpu_setup(void **state);
int gpu_teardown(void **state);

/** Ends the list, which a fault may have lost, and makes another one. */
void gpu_renew_list(struct gpu *gpu);

/** A kernel stores value there. */
ze_result_t gpu_store(const struct gpu *gpu, void *target, uint64_t value);

/** A kernel reads from there; the number appears in out_value. */
ze_result_t gpu_load(const struct gpu *gpu, const void *source, uint64_t *out_value);

void *gpu_device_memory(const struct gpu *gpu, size_t bytes);
void *gpu_host_memory(const struct gpu *gpu, size_t bytes);
void *gpu_shared_memory(const struct gpu *gpu, size_t bytes);

/** Bytes of device memory that nobody has. */
uint64_t gpu_unused(const struct gpu *gpu);

/** Descriptors that the process has open. */
unsigned gpu_descriptors(void);

/** The sentence about the last failure of this thread. */
const char *gpu_sentence(const struct gpu *gpu);

#endif
