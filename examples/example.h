/*
 * What every example needs first: a device, and an end when something goes wrong.
 * Plain Level Zero; works with any driver.
 */
#ifndef ZETA_EXAMPLES_EXAMPLE_H
#define ZETA_EXAMPLES_EXAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

/** Ends the program with exit code 1 and the driver's explanation unless the call succeeded. */
void example_check(ze_result_t result, const char *call);

/** Ends the program with exit code 1 and a message. */
_Noreturn void example_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Initialises Level Zero and gives the first device of the first driver that has one. */
void example_find_device(ze_driver_handle_t *out_driver, ze_device_handle_t *out_device);

/**
 * Initialises Level Zero and gives the first device that runs kernels. Where there is none the
 * program ends with what is there instead, and how to choose the virtual GPU.
 */
void example_find_computing_device(ze_driver_handle_t *out_driver, ze_device_handle_t *out_device);

/** The first group of queues of a device that runs kernels; UINT32_MAX: it runs none. */
uint32_t example_find_compute_ordinal(ze_device_handle_t device);

/**
 * The path of a file that is installed with the program, such as "kernels/matmul.elf": below
 * ../share/zeta, seen from the program. The caller frees it.
 */
char *example_data_path(const char *name);

/**
 * The path of an installed kernel in a form that a device takes: for NVIDIA's SPIR-V,
 * "kernels/NAME.spv", or, where the driver has no compiler for that, "kernels/NAME.ptx"; for the
 * virtual GPU "kernels/NAME.elf". The caller frees it.
 */
char *example_kernel_path(ze_device_handle_t device, const char *name);

/** Reads a whole file. The caller frees what it gets. */
uint8_t *example_read_file(const char *path, size_t *out_bytes);

/**
 * Makes a module of a file, which is SPIR-V if it begins like that, else a native binary. Shows the
 * build log and ends the program when it cannot be built.
 */
ze_module_handle_t example_load_module(ze_context_handle_t context, ze_device_handle_t device,
                                       const char *path);

#endif
