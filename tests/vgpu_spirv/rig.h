/*
 * What API tests of SPIR-V modules share: the virtual GPU, files of kernels, and launches that are
 * waited for.
 */
#ifndef ZETA_TESTS_VGPU_SPIRV_RIG_H
#define ZETA_TESTS_VGPU_SPIRV_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

/** Asserts that a call succeeds; the message has the library's own sentence. */
#define assert_success(call) rig_expect(ZE_RESULT_SUCCESS, (call), #call, __FILE__, __LINE__)

/** Asserts the result of a call. */
#define assert_result(wanted, call) rig_expect((wanted), (call), #call, __FILE__, __LINE__)

struct rig {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list; /**< synchronous */
};

/** A file in memory. */
struct rig_file {
    uint8_t *bytes;
    size_t size;
};

/** cmocka group setup and teardown: state is a struct rig. */
int rig_setup(void **state);
int rig_teardown(void **state);

void rig_expect(ze_result_t wanted, ze_result_t result, const char *call, const char *file,
                int line);

/** The sentence about the last failure of this thread. */
const char *rig_sentence(void);

/** Reads <name>.spv of the test kernels; its bytes are freed by rig_file_free(). */
struct rig_file rig_spirv(const char *name);
void rig_file_free(struct rig_file *file);

/** A descriptor of the file as SPIR-V with build flags. */
ze_module_desc_t rig_desc(const struct rig_file *file, const char *flags);

/** Creates a module; out_log (may be NULL) gets the terminated log, to be freed. */
ze_result_t rig_try(const struct rig *rig, const ze_module_desc_t *desc,
                    ze_module_handle_t *out_module, char **out_log);

/** The module <name>.spv with build flags, which may be NULL. */
ze_module_handle_t rig_module(const struct rig *rig, const char *name, const char *flags);

/** The text of a log, to be freed; destroys the log. */
char *rig_log(ze_module_build_log_handle_t log);

ze_kernel_handle_t rig_kernel(ze_module_handle_t module, const char *name);

/** Shared memory, zeroed; freed with the context. */
void *rig_memory(const struct rig *rig, size_t bytes);

/** Sets an argument to the value of a variable, or to a pointer. */
#define rig_set(kernel, index, variable)                                                           \
    assert_success(zeKernelSetArgumentValue((kernel), (index), sizeof(variable), &(variable)))

/** Runs the kernel on so many groups of so many items, in one dimension, and waits. */
void rig_run(const struct rig *rig, ze_kernel_handle_t kernel, uint32_t groups, uint32_t items);

/** The same with sizes as they were set, in two dimensions. */
void rig_run_2d(const struct rig *rig, ze_kernel_handle_t kernel, uint32_t x, uint32_t y);

#endif
