/*
 * The kernels of the API tests and of the example matmul, on the host. kernels/api.ptx and
 * examples/kernels/matmul.ptx have the same in PTX.
 */

#include <sched.h>
#include <string.h>

#include <zeta/kernel_print.h>

#include "plugins/nvidia/runtime/print.h"
#include "tests/cuda/driver/driver.h"

/* Instructions of a warp: as if each kernel were as short as it looks. */
enum { SHORT = 10 };

/* matrix(left, right, product, size): a product of square matrices, an element for each thread. */
static void run_matrix(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t size = kernel_argument(launch, 3);
    const uint64_t bytes = size * size * sizeof(float);
    const uint64_t columns = (uint64_t)launch->grid[0] * launch->block[0];
    const uint64_t rows = (uint64_t)launch->grid[1] * launch->block[1];
    const float *left = kernel_memory(kernel_argument(launch, 0), bytes, outcome);
    const float *right = kernel_memory(kernel_argument(launch, 1), bytes, outcome);
    float *product = kernel_memory(kernel_argument(launch, 2), bytes, outcome);

    if (!left || !right || !product)
        return;
    for (uint64_t row = 0; row < rows && row < size; row++) {
        for (uint64_t column = 0; column < columns && column < size; column++) {
            float sum = 0;

            for (uint64_t k = 0; k < size; k++)
                sum += left[row * size + k] * right[k * size + column];
            product[row * size + column] = sum;
        }
    }
    kernel_count(launch, outcome, SHORT + 10 * size);
    outcome->counts[CUDA_FMUL] = size * size * size;
    outcome->counts[CUDA_FADD] = size * size * size;
}

/*
 * matmul(a, b, c, n) of the examples. In matmul.ptx products and sums are fused; what is compiled
 * of OpenCL C fuses none, and has the offset of the launch behind its parameters.
 */
static void run_matmul(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t size = kernel_argument(launch, 3);
    const bool is_fused = launch->function->offset_first == launch->function->parameter_count;

    run_matrix(launch, outcome);
    outcome->counts[CUDA_INST_FMA] = launch->warps * size * (is_fused ? 1 : 2);
    if (!is_fused)
        return;
    outcome->counts[CUDA_FMUL] = 0;
    outcome->counts[CUDA_FADD] = 0;
    outcome->counts[CUDA_FFMA] = launch->threads * size;
}

/*
 * reverse(numbers): the numbers of each group, by way of dynamic shared memory, whose address
 * OpenCL C has as a second parameter.
 */
static void run_reverse(const struct launch *launch, struct outcome *outcome)
{
    const uint32_t size = launch->block[0];
    uint32_t *numbers =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(*numbers), outcome);

    if (numbers && launch->shared < size * sizeof(*numbers))
        outcome->error = CU_ILLEGAL_ADDRESS;
    if (!numbers || outcome->error != CU_OK)
        return;
    for (uint64_t group = 0; group < launch->groups; group++) {
        for (uint32_t i = 0; i < size / 2; i++) {
            uint32_t *first = &numbers[group * size + i];
            uint32_t *second = &numbers[group * size + size - 1 - i];
            const uint32_t other = *first;

            *first = *second;
            *second = other;
        }
    }
    kernel_count(launch, outcome, 2 * SHORT);
}

/* ids(target): each thread stores its number there, from the offset of the launch on. */
static void run_ids(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t first = launch->offset[0];
    uint32_t *target = kernel_memory(kernel_argument(launch, 0) + first * sizeof(*target),
                                     launch->threads * sizeof(*target), outcome);

    for (uint64_t i = 0; target && i < launch->threads; i++)
        target[i] = (uint32_t)(first + i);
    kernel_count(launch, outcome, SHORT);
}

/* origin(target): the offset of the launch. */
static void run_origin(const struct launch *launch, struct outcome *outcome)
{
    uint64_t *target = kernel_memory(kernel_argument(launch, 0), 3 * sizeof(*target), outcome);

    for (int i = 0; target && i < 3; i++)
        target[i] = launch->offset[i];
    kernel_count(launch, outcome, SHORT);
}

/* wild(): stores where it must not. */
static void run_wild(const struct launch *launch, struct outcome *outcome)
{
    (void)launch;
    outcome->error = CU_ILLEGAL_ADDRESS;
}

/* meet(arrived, seen): all groups run at the same time, which the check of a launch has made sure.
 */
static void run_meet(const struct launch *launch, struct outcome *outcome)
{
    uint32_t *arrived = kernel_memory(kernel_argument(launch, 0), sizeof(*arrived), outcome);
    uint32_t *seen =
        kernel_memory(kernel_argument(launch, 1), launch->threads * sizeof(*seen), outcome);

    if (!arrived || !seen)
        return;
    *arrived += (uint32_t)launch->groups;
    for (uint64_t i = 0; i < launch->threads; i++)
        seen[i] = *arrived;
    kernel_count(launch, outcome, 2 * SHORT);
}

static uint64_t load_number(const uint64_t *address)
{
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}

/* await(counter, value, seen): until the counter has the value. */
static void run_await(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t *counter = kernel_memory(kernel_argument(launch, 0), sizeof(*counter), outcome);
    const uint64_t value = kernel_argument(launch, 1);
    uint64_t *seen = kernel_memory(kernel_argument(launch, 2), sizeof(*seen), outcome);

    if (!counter || !seen)
        return;
    while (load_number(counter) < value)
        (void)sched_yield();
    *seen = load_number(counter);
    kernel_count(launch, outcome, SHORT);
}

/* add(sum, value): each thread adds, atomically. */
static void run_add(const struct launch *launch, struct outcome *outcome)
{
    uint64_t *sum = kernel_memory(kernel_argument(launch, 0), sizeof(*sum), outcome);

    if (sum)
        (void)__atomic_fetch_add(sum, launch->threads * kernel_argument(launch, 1),
                                 __ATOMIC_SEQ_CST);
    kernel_count(launch, outcome, SHORT);
}

/* step(sum, value): one step in which the order matters; not atomic on purpose. */
static void run_step(const struct launch *launch, struct outcome *outcome)
{
    uint64_t *sum = kernel_memory(kernel_argument(launch, 0), sizeof(*sum), outcome);

    if (sum)
        *sum = *sum * 3 + kernel_argument(launch, 1);
    kernel_count(launch, outcome, SHORT);
}

/* store(target, value): each thread stores the value. */
static void run_store(const struct launch *launch, struct outcome *outcome)
{
    uint64_t *target =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(*target), outcome);

    for (uint64_t i = 0; target && i < launch->threads; i++)
        target[i] = kernel_argument(launch, 1);
    kernel_count(launch, outcome, SHORT);
}

/* load(source, target): each thread copies a number. */
static void run_load(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t bytes = launch->threads * sizeof(uint64_t);
    const void *source = kernel_memory(kernel_argument(launch, 0), bytes, outcome);
    void *target = kernel_memory(kernel_argument(launch, 1), bytes, outcome);

    if (source && target)
        (void)memmove(target, source, bytes);
    kernel_count(launch, outcome, SHORT);
}

/* wait_for(gate, target): until the gate is not 0. */
static void run_wait_for(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t *gate = kernel_memory(kernel_argument(launch, 0), sizeof(*gate), outcome);
    uint64_t *target = kernel_memory(kernel_argument(launch, 1), sizeof(*target), outcome);

    if (!gate || !target)
        return;
    while (load_number(gate) == 0) {
        __atomic_store_n(target, 1, __ATOMIC_SEQ_CST);
        (void)sched_yield();
    }
    __atomic_store_n(target, load_number(gate), __ATOMIC_SEQ_CST);
    kernel_count(launch, outcome, SHORT);
}

/* parts(target, a, b): how far two parts of dynamic shared memory are from each other. */
static void run_parts(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t first = kernel_argument(launch, 1), second = kernel_argument(launch, 2);
    const uint64_t bytes = launch->block[0] * sizeof(uint64_t);
    uint64_t *target =
        kernel_memory(kernel_argument(launch, 0), launch->groups * sizeof(*target), outcome);

    if (target && (first + bytes > second || second + bytes > launch->shared))
        outcome->error = CU_ILLEGAL_ADDRESS;
    for (uint64_t i = 0; target && i < launch->groups && outcome->error == CU_OK; i++)
        target[i] = second - first;
    kernel_count(launch, outcome, SHORT);
}

/* The buffer of the launch that this thread executes; what the library of kernels asks for. */
static _Thread_local uint64_t print_buffer;

unsigned long __zeta_print_buffer(void)
{
    return print_buffer;
}

/* print(format, slots, count, result): each thread prints, by the library of kernels itself. */
static void run_print(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t format = kernel_argument(launch, 0), slots = kernel_argument(launch, 1);
    const uint64_t count = kernel_argument(launch, 2);
    int32_t *result =
        kernel_memory(kernel_argument(launch, 3), launch->threads * sizeof(*result), outcome);
    struct zeta_print_buffer *buffer =
        launch->print ? kernel_memory(launch->print, sizeof(*buffer), outcome) : NULL;

    if (!result || !kernel_memory(format, 1, outcome) || !kernel_memory(slots, count * 8, outcome))
        return;
    if (buffer && !kernel_memory(launch->print, sizeof(*buffer) + buffer->room_bytes, outcome))
        return;
    print_buffer = launch->print;
    for (uint64_t i = 0; i < launch->threads; i++)
        result[launch->offset[0] + i] = __zeta_printf(format, slots, count);
    kernel_count(launch, outcome, SHORT);
}

/* damage(words, count): over the begin of the buffer of printf. */
static void run_damage(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t bytes = kernel_argument(launch, 1) * sizeof(uint64_t);
    const void *words = kernel_memory(kernel_argument(launch, 0), bytes, outcome);
    void *buffer = kernel_memory(launch->print, bytes, outcome);

    if (words && buffer)
        (void)memcpy(buffer, words, bytes);
    kernel_count(launch, outcome, SHORT);
}

const struct kernel api_kernels[] = {
    {"matrix", {8, 8, 8, 4}, run_matrix, false},
    {"matmul", {8, 8, 8, 4}, run_matmul, false},
    {"reverse", {8, 8 | OPTIONAL}, run_reverse, false},
    {"parts", {8, 8, 8}, run_parts, false},
    {"ids", {8}, run_ids, true},
    {"origin", {8}, run_origin, true},
    {"wild", {0}, run_wild, false},
    {"meet", {8, 8}, run_meet, false},
    {"await", {8, 8, 8}, run_await, false},
    {"add", {8, 8}, run_add, false},
    {"step", {8, 8}, run_step, false},
    {"store", {8, 8}, run_store, false},
    {"load", {8, 8}, run_load, false},
    {"wait_for", {8, 8}, run_wait_for, false},
    {"print", {8, 8, 4, 8}, run_print, false},
    {"damage", {8, 4}, run_damage, false},
    {NULL, {0}, NULL, false},
};
