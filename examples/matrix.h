/*
 * A product of two square matrices on a device, from loading the kernel to reading the result.
 */
#ifndef ZETA_EXAMPLES_MATRIX_H
#define ZETA_EXAMPLES_MATRIX_H

#include <stdint.h>

#include <level_zero/ze_api.h>

/** The kernel works on tiles of this size; sizes of matrices are multiples of it. */
enum { MATRIX_TILE = 16 };

/** A product in parts, so that other commands can be put between them. */
struct matrix_work {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    void *buffers[3]; /**< a, b and c on the device */
    uint32_t ordinal; /**< of the queues that can run it */
    uint32_t n;
};

/** Loads the kernel "matmul" of a native binary or SPIR-V, and makes buffers for n x n elements. */
void matrix_work_create(struct matrix_work *work, ze_context_handle_t context,
                        ze_device_handle_t device, const char *kernel_path, uint32_t n);

/** The same with a module that has the kernel, which is destroyed with the work. */
void matrix_work_create_of(struct matrix_work *work, ze_context_handle_t context,
                           ze_device_handle_t device, ze_module_handle_t module, uint32_t n);

/** Frees everything. Nothing of it runs any more. */
void matrix_work_destroy(struct matrix_work *work);

/** An open list for the queues that can run the product. */
ze_command_list_handle_t matrix_work_create_list(const struct matrix_work *work);

/** Appends copies of a and b to the device. */
void matrix_work_append_input(const struct matrix_work *work, ze_command_list_handle_t list,
                              const float *a, const float *b);

/** Appends the launch of the kernel. */
void matrix_work_append_launch(const struct matrix_work *work, ze_command_list_handle_t list);

/** Appends a copy of the result to c. */
void matrix_work_append_output(const struct matrix_work *work, ze_command_list_handle_t list,
                               float *c);

/** Closes a list, runs it and waits for its end. */
void matrix_work_execute(const struct matrix_work *work, ze_command_list_handle_t list);

/** Runs the whole product, copies and all, and checks the result. */
void matrix_work_run_checked(const struct matrix_work *work);

/** A counter of 0 that kernels can add to and the host can read; zeMemFree() frees it. */
uint64_t *matrix_new_counter(ze_context_handle_t context, ze_device_handle_t device);

/** Multiplies two matrices with the kernel beside the program and checks the result. */
void matrix_multiply_checked(ze_context_handle_t context, ze_device_handle_t device, uint32_t n);

/**
 * Computes c = a * b for row-major matrices of n x n elements. Ends the program when the device
 * refuses.
 *
 * @kernel_path  native binary or SPIR-V with the kernel "matmul"
 */
void matrix_multiply(ze_context_handle_t context, ze_device_handle_t device,
                     const char *kernel_path, const float *a, const float *b, float *c, uint32_t n);

/** Fills a matrix with small whole numbers, so that every sum is exact in single precision. */
void matrix_fill(float *matrix, uint32_t n, uint32_t seed);

/** The number of elements of c that differ from those of a * b. */
uint64_t matrix_count_wrong(const float *a, const float *b, const float *c, uint32_t n);

#endif
