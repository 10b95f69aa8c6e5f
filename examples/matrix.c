#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "example.h"

static ze_kernel_handle_t create_kernel(ze_module_handle_t module, void *const buffers[3],
                                        uint32_t n)
{
    const ze_kernel_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
        .pKernelName = "matmul",
    };
    const int32_t size = (int32_t)n;
    ze_kernel_handle_t kernel = NULL;

    example_check(zeKernelCreate(module, &description, &kernel), "zeKernelCreate");
    example_check(zeKernelSetGroupSize(kernel, MATRIX_TILE, MATRIX_TILE, 1),
                  "zeKernelSetGroupSize");
    for (uint32_t i = 0; i < 3; i++)
        example_check(zeKernelSetArgumentValue(kernel, i, sizeof(buffers[i]), &buffers[i]),
                      "zeKernelSetArgumentValue");
    example_check(zeKernelSetArgumentValue(kernel, 3, sizeof(size), &size),
                  "zeKernelSetArgumentValue");
    return kernel;
}

static void *allocate(ze_context_handle_t context, ze_device_handle_t device, size_t bytes)
{
    const ze_device_mem_alloc_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
    };
    void *buffer = NULL;

    example_check(zeMemAllocDevice(context, &description, bytes, 64, device, &buffer),
                  "zeMemAllocDevice");
    return buffer;
}

static void append_copy(ze_command_list_handle_t list, void *to, const void *from, size_t bytes)
{
    example_check(zeCommandListAppendMemoryCopy(list, to, from, bytes, NULL, 0, NULL),
                  "zeCommandListAppendMemoryCopy");
}

static void append_barrier(ze_command_list_handle_t list)
{
    example_check(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
}

void matrix_work_create(struct matrix_work *work, ze_context_handle_t context,
                        ze_device_handle_t device, const char *kernel_path, uint32_t n)
{
    matrix_work_create_of(work, context, device, example_load_module(context, device, kernel_path),
                          n);
}

void matrix_work_create_of(struct matrix_work *work, ze_context_handle_t context,
                           ze_device_handle_t device, ze_module_handle_t module, uint32_t n)
{
    *work = (struct matrix_work){.context = context, .device = device, .module = module, .n = n};
    work->ordinal = example_find_compute_ordinal(device);
    if (work->ordinal == UINT32_MAX)
        example_fail("the device has no queue that runs kernels");
    for (uint32_t i = 0; i < 3; i++)
        work->buffers[i] = allocate(context, device, (size_t)n * n * sizeof(float));
    work->kernel = create_kernel(work->module, work->buffers, n);
}

void matrix_work_destroy(struct matrix_work *work)
{
    example_check(zeKernelDestroy(work->kernel), "zeKernelDestroy");
    for (uint32_t i = 0; i < 3; i++)
        example_check(zeMemFree(work->context, work->buffers[i]), "zeMemFree");
    example_check(zeModuleDestroy(work->module), "zeModuleDestroy");
}

ze_command_list_handle_t matrix_work_create_list(const struct matrix_work *work)
{
    const ze_command_list_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
        .commandQueueGroupOrdinal = work->ordinal,
    };
    ze_command_list_handle_t list = NULL;

    example_check(zeCommandListCreate(work->context, work->device, &description, &list),
                  "zeCommandListCreate");
    return list;
}

void matrix_work_append_input(const struct matrix_work *work, ze_command_list_handle_t list,
                              const float *a, const float *b)
{
    const size_t bytes = (size_t)work->n * work->n * sizeof(float);

    append_copy(list, work->buffers[0], a, bytes);
    append_copy(list, work->buffers[1], b, bytes);
    append_barrier(list);
}

void matrix_work_append_launch(const struct matrix_work *work, ze_command_list_handle_t list)
{
    const ze_group_count_t groups = {work->n / MATRIX_TILE, work->n / MATRIX_TILE, 1};

    example_check(zeCommandListAppendLaunchKernel(list, work->kernel, &groups, NULL, 0, NULL),
                  "zeCommandListAppendLaunchKernel");
}

void matrix_work_append_output(const struct matrix_work *work, ze_command_list_handle_t list,
                               float *c)
{
    append_barrier(list);
    append_copy(list, c, work->buffers[2], (size_t)work->n * work->n * sizeof(float));
}

void matrix_work_execute(const struct matrix_work *work, ze_command_list_handle_t list)
{
    const ze_command_queue_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .ordinal = work->ordinal,
        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    };
    ze_command_queue_handle_t queue = NULL;

    example_check(zeCommandListClose(list), "zeCommandListClose");
    example_check(zeCommandQueueCreate(work->context, work->device, &description, &queue),
                  "zeCommandQueueCreate");
    example_check(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
                  "zeCommandQueueExecuteCommandLists");
    example_check(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
    example_check(zeCommandQueueDestroy(queue), "zeCommandQueueDestroy");
}

/* The whole product: input, kernel, output. */
static void run(const struct matrix_work *work, const float *a, const float *b, float *c)
{
    ze_command_list_handle_t list = matrix_work_create_list(work);

    matrix_work_append_input(work, list, a, b);
    matrix_work_append_launch(work, list);
    matrix_work_append_output(work, list, c);
    matrix_work_execute(work, list);
    example_check(zeCommandListDestroy(list), "zeCommandListDestroy");
}

void matrix_work_run_checked(const struct matrix_work *work)
{
    const size_t elements = (size_t)work->n * work->n;
    float *a = calloc(3 * elements, sizeof(*a));
    float *b = a + elements;
    float *c = b + elements;

    if (!a)
        example_fail("no memory for matrices");
    matrix_fill(a, work->n, 1);
    matrix_fill(b, work->n, 5);
    run(work, a, b, c);
    if (matrix_count_wrong(a, b, c, work->n) > 0)
        example_fail("the product is wrong");
    free(a);
}

void matrix_multiply(ze_context_handle_t context, ze_device_handle_t device,
                     const char *kernel_path, const float *a, const float *b, float *c, uint32_t n)
{
    struct matrix_work work;

    matrix_work_create(&work, context, device, kernel_path, n);
    run(&work, a, b, c);
    matrix_work_destroy(&work);
}

void matrix_multiply_checked(ze_context_handle_t context, ze_device_handle_t device, uint32_t n)
{
    char *kernel = example_kernel_path(device, "matmul");
    struct matrix_work work;

    matrix_work_create(&work, context, device, kernel, n);
    matrix_work_run_checked(&work);
    matrix_work_destroy(&work);
    free(kernel);
}

uint64_t *matrix_new_counter(ze_context_handle_t context, ze_device_handle_t device)
{
    const ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *counter = NULL;

    example_check(
        zeMemAllocShared(context, &on_device, &on_host, sizeof(uint64_t), 64, device, &counter),
        "zeMemAllocShared");
    memset(counter, 0, sizeof(uint64_t));
    return counter;
}

void matrix_fill(float *matrix, uint32_t n, uint32_t seed)
{
    for (size_t i = 0; i < (size_t)n * n; i++)
        matrix[i] = (float)((i * 7 + i / n * 3 + seed) % 8);
}

/* A row of weights, whole numbers from 1 to 2^20 without a pattern. */
static void fill_weights(double *weights, uint32_t n)
{
    uint32_t state = 1;

    for (uint32_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        weights[i] = (double)((state >> 12) + 1);
    }
}

/* The sum of the numbers of a row, each times its weight: exact below 2^53. */
static double weigh(const float *row, const double *weights, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += (double)row[i] * weights[i];
    return sum;
}

/* Compares a row of the product with one that is computed again; @row has room for it. */
static uint64_t count_wrong_in_row(const float *a_row, const float *b, const float *c_row,
                                   float *row, uint32_t n)
{
    uint64_t wrong = 0;

    memset(row, 0, n * sizeof(*row));
    /* Row of a by whole rows of b: the way that memory lies. */
    for (size_t k = 0; k < n; k++) {
        for (size_t x = 0; x < n; x++)
            row[x] += a_row[k] * b[k * n + x];
    }
    for (size_t x = 0; x < n; x++)
        wrong += row[x] != c_row[x];
    return wrong;
}

/*
 * (a b) w is a (b w), which takes no n^3 operations. A row with one wrong element shows, one with
 * several but for a chance of one in a million; rows that show are computed again. With numbers
 * below 8 and n up to 8192 every sum is exact.
 */
uint64_t matrix_count_wrong(const float *a, const float *b, const float *c, uint32_t n)
{
    double *weights = calloc(n, sizeof(*weights));
    double *weighed = calloc(n, sizeof(*weighed));
    float *row = calloc(n, sizeof(*row));
    uint64_t wrong = 0;

    if (!weights || !weighed || !row)
        example_fail("no memory to check the result");
    fill_weights(weights, n);
    for (size_t k = 0; k < n; k++)
        weighed[k] = weigh(b + k * n, weights, n);
    for (size_t y = 0; y < n; y++) {
        if (weigh(c + y * n, weights, n) != weigh(a + y * n, weighed, n))
            wrong += count_wrong_in_row(a + y * n, b, c + y * n, row, n);
    }
    free(weights);
    free(weighed);
    free(row);
    return wrong;
}
