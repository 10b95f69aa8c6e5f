/* Launches, copies and fills: checks, then an operation of a stream. */

#include <stdlib.h>
#include <string.h>

#include "tests/cuda/driver/driver.h"

/* Arguments by pointer, or as one block: extra is {1, block, 2, &size, 0}. */
static int read_arguments(struct launch *launch, void **parameters, void **extra)
{
    const struct function *function = launch->function;
    const uint32_t count = function->parameter_count;
    const struct parameter *last = count > 0 ? &function->parameters[count - 1] : NULL;
    const void *block = NULL;
    size_t bytes = 0;

    if (parameters && extra)
        return CU_INVALID_VALUE;
    if (parameters) {
        for (uint32_t i = 0; i < count; i++)
            (void)memcpy(launch->arguments + function->parameters[i].offset, parameters[i],
                         function->parameters[i].size);
        return CU_OK;
    }
    for (; extra && *extra; extra += 2) {
        if ((uintptr_t)*extra == 1)
            block = extra[1];
        else if ((uintptr_t)*extra == 2)
            bytes = *(const size_t *)extra[1];
        else
            return CU_INVALID_VALUE;
    }
    if (last && (!block || bytes < last->offset + last->size || bytes > ARGUMENT_BYTES))
        return CU_INVALID_VALUE;
    if (last)
        (void)memcpy(launch->arguments, block, bytes);
    return CU_OK;
}

static int check_size(const struct launch *launch)
{
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->block[i] == 0 || (i > 0 && launch->grid[i] > 65535) ||
            launch->grid[i] > INT32_MAX)
            return CU_INVALID_VALUE;
        threads *= launch->block[i];
    }
    if (threads > 1024 || launch->block[2] > 64 ||
        launch->shared >
            (uint32_t)__atomic_load_n(&launch->function->dynamic_limit, __ATOMIC_RELAXED))
        return CU_INVALID_VALUE;
    return CU_OK;
}

static int launch_kernel(void *handle, const uint32_t grid[3], const uint32_t block[3],
                         uint32_t shared, void *stream, void **parameters, void **extra,
                         bool is_cooperative, struct context *context)
{
    const struct function *function = handle;
    struct operation *operation;
    struct launch *launch;
    uint64_t threads;
    int result, resident = 0;

    if (!function)
        return CU_INVALID_HANDLE;
    launch = calloc(1, sizeof(*launch));
    if (!launch)
        return CU_OUT_OF_MEMORY;
    launch->function = function;
    launch->chip = driver_chip(driver_device(context->ordinal));
    launch->sms = driver_sms(driver_device(context->ordinal));
    launch->shared = shared;
    (void)memcpy(launch->grid, grid, sizeof(launch->grid));
    (void)memcpy(launch->block, block, sizeof(launch->block));
    threads = (uint64_t)block[0] * block[1] * block[2];
    launch->groups = (uint64_t)grid[0] * grid[1] * grid[2];
    launch->threads = launch->groups * threads;
    launch->warps = launch->groups * ((threads + 31) / 32);
    result = check_size(launch);
    if (result == CU_OK)
        result = read_arguments(launch, parameters, extra);
    for (uint32_t i = 0; result == CU_OK && i < function->offset_count; i++) {
        launch->offset[i] = (uint32_t)kernel_argument(launch, function->offset_first + i);
        if (launch->offset[i] != 0 && !function->kernel->heeds_offset)
            result = CU_INVALID_VALUE;
    }
    if (result == CU_OK && function->print < function->parameter_count)
        launch->print = kernel_argument(launch, function->print);
    if (result == CU_OK && is_cooperative) {
        (void)cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, handle, (int)threads, shared);
        if (launch->groups > (uint64_t)resident * launch->sms)
            result = CU_COOPERATIVE_TOO_LARGE;
    }
    operation = result == CU_OK ? operation_create(OP_LAUNCH) : NULL;
    if (!operation) {
        free(launch);
        return result == CU_OK ? CU_OUT_OF_MEMORY : result;
    }
    operation->launch = launch;
    return stream_enqueue(context, stream, operation);
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra)
{
    const uint32_t grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    struct context *context;

    ENTER_CONTEXT(&context);
    return launch_kernel(function, grid, block, shared, stream, parameters, extra, false, context);
}

int cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                              void *stream, void **parameters)
{
    const uint32_t grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    struct context *context;

    ENTER_CONTEXT(&context);
    return launch_kernel(function, grid, block, shared, stream, parameters, NULL, true, context);
}

/* Bytes of memory that is known must stay within it; memory of the program is taken as it is. */
static bool is_within(uint64_t address, uint64_t bytes)
{
    return memory_kind(address) == 0 || memory_is_accessible(address, bytes);
}

static int enqueue_copy(struct context *context, const struct cu_copy *copy, void *stream)
{
    struct operation *operation = operation_create(OP_COPY);
    int result;

    if (!operation)
        return CU_OUT_OF_MEMORY;
    operation->copy = *copy;
    result = stream_enqueue(context, stream, operation);
    /* Memory of the program that is not pinned makes the call wait. */
    if (result == CU_OK &&
        ((copy->source.type == 1 && memory_kind((uintptr_t)copy->source.host) == 0) ||
         (copy->target.type == 1 && memory_kind((uintptr_t)copy->target.host) == 0)))
        result = stream_wait(context, stream);
    return result;
}

static int copy_bytes(struct context *context, uint64_t target, uint64_t source, size_t bytes,
                      void *stream)
{
    const struct cu_copy copy = {.source = {.type = memory_kind(source) == 0 ? 1 : 4,
                                            .device = source,
                                            .host = (void *)(uintptr_t)source,
                                            .pitch = bytes,
                                            .height = 1},
                                 .target = {.type = memory_kind(target) == 0 ? 1 : 4,
                                            .device = target,
                                            .host = (void *)(uintptr_t)target,
                                            .pitch = bytes,
                                            .height = 1},
                                 .width = bytes,
                                 .height = 1,
                                 .depth = 1};

    if (bytes == 0)
        return CU_OK;
    if (target == 0 || source == 0 || !is_within(target, bytes) || !is_within(source, bytes))
        return CU_INVALID_VALUE;
    return enqueue_copy(context, &copy, stream);
}

static int copy_and_wait(struct context *context, uint64_t target, uint64_t source, size_t bytes)
{
    const int result = copy_bytes(context, target, source, bytes, NULL);

    return result == CU_OK ? stream_wait(context, NULL) : result;
}

int cuMemcpy(uint64_t target, uint64_t source, size_t bytes)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return copy_and_wait(context, target, source, bytes);
}

int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t bytes)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return copy_and_wait(context, target, (uintptr_t)source, bytes);
}

int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return copy_and_wait(context, (uintptr_t)target, source, bytes);
}

int cuMemcpyAsync(uint64_t target, uint64_t source, size_t bytes, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return copy_bytes(context, target, source, bytes, stream);
}

int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return copy_bytes(context, target, (uintptr_t)source, bytes, stream);
}

int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return copy_bytes(context, (uintptr_t)target, source, bytes, stream);
}

static bool is_side_good(const struct cu_side *side, const struct cu_copy *copy)
{
    const uint64_t base = side->type == 1 ? (uint64_t)(uintptr_t)side->host : side->device;
    const uint64_t rows = (side->z + copy->depth - 1) * side->height + side->y + copy->height - 1;
    const uint64_t bytes = rows * side->pitch + side->x + copy->width;

    return (side->type == 1 || side->type == 2 || side->type == 4) && base != 0 &&
           (copy->height == 1 || side->pitch >= side->x + copy->width) && is_within(base, bytes);
}

int cuMemcpy3DAsync_v2(const struct cu_copy *copy, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    if (!copy)
        return CU_INVALID_VALUE;
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0)
        return CU_OK;
    if (!is_side_good(&copy->source, copy) || !is_side_good(&copy->target, copy))
        return CU_INVALID_VALUE;
    return enqueue_copy(context, copy, stream);
}

static int fill(struct context *context, uint64_t target, uint32_t value, uint32_t width,
                size_t count, void *stream)
{
    struct operation *operation;

    if (count == 0)
        return CU_OK;
    if (target % width != 0 || !memory_is_accessible(target, (uint64_t)count * width))
        return CU_INVALID_VALUE;
    operation = operation_create(OP_FILL);
    if (!operation)
        return CU_OUT_OF_MEMORY;
    operation->fill.target = target;
    operation->fill.value = value;
    operation->fill.width = width;
    operation->fill.count = count;
    return stream_enqueue(context, stream, operation);
}

int cuMemsetD8Async(uint64_t target, unsigned char value, size_t count, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return fill(context, target, value, 1, count, stream);
}

int cuMemsetD16Async(uint64_t target, unsigned short value, size_t count, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return fill(context, target, value, 2, count, stream);
}

int cuMemsetD32Async(uint64_t target, unsigned value, size_t count, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return fill(context, target, value, 4, count, stream);
}
