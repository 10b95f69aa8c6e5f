/*
 * The kernels with known counts, on the host: results to the last bit, and what a GPU would count.
 * kernels/ has the same in PTX.
 */

#include <math.h>
#include <string.h>

#include "tests/cuda/driver/driver.h"

enum { CHAINS = 8, TURN = 64 };

uint64_t kernel_argument(const struct launch *launch, uint32_t index)
{
    uint64_t value = 0;

    (void)memcpy(&value, launch->arguments + launch->function->parameters[index].offset,
                 launch->function->parameters[index].size);
    return value;
}

static float float_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;

    (void)memcpy(&value, &low, sizeof(value));
    return value;
}

static double double_of(uint64_t bits)
{
    double value;

    (void)memcpy(&value, &bits, sizeof(value));
    return value;
}

void *kernel_memory(uint64_t address, uint64_t bytes, struct outcome *outcome)
{
    if (memory_is_accessible(address, bytes))
        return (void *)(uintptr_t)address;
    outcome->error = CU_ILLEGAL_ADDRESS;
    return NULL;
}

void kernel_count(const struct launch *launch, struct outcome *outcome, uint64_t per_warp)
{
    outcome->counts[CUDA_INST] = launch->warps * per_warp;
    outcome->counts[CUDA_THREAD_INST] = launch->threads * per_warp;
}

static void count_store(const struct launch *launch, struct outcome *outcome, uint64_t bytes)
{
    const uint64_t sectors = (launch->threads * bytes + 31) / 32;

    outcome->counts[CUDA_L2_WRITE] += sectors;
    outcome->counts[CUDA_L1_SECTORS] += sectors;
    outcome->counts[CUDA_WAVEFRONTS] += launch->warps;
}

/* Nothing. */
static void run_empty(const struct launch *launch, struct outcome *outcome)
{
    kernel_count(launch, outcome, 1);
}

/* fma_loop(out, turns, a, b): 7 additions, 64 fused ones a turn in 8 chains, 7 additions, a store.
 */
static void run_fma_loop(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t turns = kernel_argument(launch, 1);
    const float a = float_of(kernel_argument(launch, 2)), b = float_of(kernel_argument(launch, 3));
    float *out =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(float), outcome);
    float x[CHAINS] = {a};

    if (!out)
        return;
    for (int i = 1; i < CHAINS; i++)
        x[i] = x[i - 1] + b;
    for (uint64_t n = 0; n < turns * TURN; n++)
        x[n % CHAINS] = fmaf(x[n % CHAINS], a, b);
    for (int i = 1; i < CHAINS; i++)
        x[0] += x[i];
    for (uint64_t i = 0; i < launch->threads; i++)
        out[i] = x[0];
    kernel_count(launch, outcome, 67 * turns + 28);
    outcome->counts[CUDA_INST_FMA] = launch->warps * (TURN * turns + 16);
    outcome->counts[CUDA_INST_ALU] = launch->warps * (2 * turns + 2);
    outcome->counts[CUDA_FFMA] = launch->threads * TURN * turns;
    outcome->counts[CUDA_FADD] = launch->threads * 14;
    outcome->counts[CUDA_INTEGER] = launch->threads * (turns + 2);
    count_store(launch, outcome, sizeof(float));
}

/* dfma_loop(out, turns, a, b): the same in double precision. */
static void run_dfma_loop(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t turns = kernel_argument(launch, 1);
    const double a = double_of(kernel_argument(launch, 2)),
                 b = double_of(kernel_argument(launch, 3));
    double *out =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(double), outcome);
    double x[CHAINS] = {a};

    if (!out)
        return;
    for (int i = 1; i < CHAINS; i++)
        x[i] = x[i - 1] + b;
    for (uint64_t n = 0; n < turns * TURN; n++)
        x[n % CHAINS] = fma(x[n % CHAINS], a, b);
    for (int i = 1; i < CHAINS; i++)
        x[0] += x[i];
    for (uint64_t i = 0; i < launch->threads; i++)
        out[i] = x[0];
    kernel_count(launch, outcome, 67 * turns + 28);
    outcome->counts[CUDA_FP64_CYCLES] = launch->warps * (TURN * turns + 14) * 2;
    outcome->counts[CUDA_DFMA] = launch->threads * TURN * turns;
    outcome->counts[CUDA_DADD] = launch->threads * 14;
    outcome->counts[CUDA_INTEGER] = launch->threads * (turns + 2);
    count_store(launch, outcome, sizeof(double));
}

/*
 * hfma_loop(out, turns, a, b): 16 fused ones a turn in 8 chains, each on two numbers in half
 * precision. Here only for zeros as a and b and some turns, after which all chains are zero.
 */
static void run_hfma_loop(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t turns = kernel_argument(launch, 1);
    uint32_t *out =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(uint32_t), outcome);

    if (!out)
        return;
    if (turns == 0 || kernel_argument(launch, 2) != 0 || kernel_argument(launch, 3) != 0) {
        outcome->error = CU_NOT_SUPPORTED;
        return;
    }
    (void)memset(out, 0, launch->threads * sizeof(uint32_t));
    kernel_count(launch, outcome, 19 * turns + 28);
    outcome->counts[CUDA_INST_FMA] = launch->warps * 16 * turns;
    outcome->counts[CUDA_HFMA] = launch->threads * 16 * turns;
    outcome->counts[CUDA_INTEGER] = launch->threads * (turns + 16);
    count_store(launch, outcome, sizeof(uint32_t));
}

/* vector_add(a, b, c, n): an element for each thread. */
static void run_vector_add(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t size = kernel_argument(launch, 3);
    const uint64_t count = launch->threads < size ? launch->threads : size;
    const float *a = kernel_memory(kernel_argument(launch, 0), count * sizeof(float), outcome);
    const float *b = kernel_memory(kernel_argument(launch, 1), count * sizeof(float), outcome);
    float *c = kernel_memory(kernel_argument(launch, 2), count * sizeof(float), outcome);

    if (!a || !b || !c)
        return;
    for (uint64_t i = 0; i < count; i++)
        c[i] = a[i] + b[i];
    kernel_count(launch, outcome, 17);
    outcome->counts[CUDA_FADD] = count;
    outcome->counts[CUDA_INTEGER] = launch->threads * 2;
    outcome->counts[CUDA_DRAM_READ] = 8 * count;
    outcome->counts[CUDA_DRAM_WRITE] = 4 * count;
    outcome->counts[CUDA_L2_READ] = (8 * count + 31) / 32;
    outcome->counts[CUDA_L2_WRITE] = (4 * count + 31) / 32;
    outcome->counts[CUDA_L1_SECTORS] = (12 * count + 31) / 32;
    outcome->counts[CUDA_WAVEFRONTS] = launch->warps * 3;
}

/* copy_repeat(source, target, n, times): threads copy n words of 32 bits, again and again. */
static void run_copy_repeat(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t count = kernel_argument(launch, 2), times = kernel_argument(launch, 3);
    const void *source = kernel_memory(kernel_argument(launch, 0), count * 4, outcome);
    void *target = kernel_memory(kernel_argument(launch, 1), count * 4, outcome);
    const uint64_t sectors = (count * 4 + 31) / 32;

    if (!source || !target)
        return;
    if (times > 0)
        (void)memmove(target, source, count * 4);
    kernel_count(launch, outcome,
                 8 + 6 * times * ((count + launch->threads - 1) / launch->threads));
    outcome->counts[CUDA_L2_READ] = sectors * times;
    outcome->counts[CUDA_L2_WRITE] = sectors * times;
    outcome->counts[CUDA_L2_HITS] = 2 * sectors * times;
    outcome->counts[CUDA_L1_SECTORS] = 2 * sectors * times;
    outcome->counts[CUDA_WAVEFRONTS] = 2 * ((count + 31) / 32) * times;
}

/* shared_stride(out, loads, stride): lane l reads word l * stride of a table of the warp's group.
 */
static void run_shared_stride(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t loads = kernel_argument(launch, 1), stride = kernel_argument(launch, 2);
    uint32_t *out =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(uint32_t), outcome);
    uint64_t conflicts = 32;

    if (!out)
        return;
    /* Lanes that meet in a bank with other words: the greatest common divisor of stride and 32. */
    while (stride % conflicts != 0)
        conflicts /= 2;
    for (uint64_t i = 0; i < launch->threads; i++)
        out[i] = (uint32_t)(loads * (i % launch->block[0] % 32 * stride % 1024));
    kernel_count(launch, outcome, 24 + 4 * loads);
    outcome->counts[CUDA_SHARED_LOADS] = launch->warps * loads;
    outcome->counts[CUDA_SHARED_WAVEFRONTS] = launch->warps * loads * (stride ? conflicts : 1);
    count_store(launch, outcome, sizeof(uint32_t));
    outcome->counts[CUDA_WAVEFRONTS] += outcome->counts[CUDA_SHARED_WAVEFRONTS];
}

/* mma_chain(out, n): n products m16n8k16 of ones for each warp, bf16 with sums in fp32. */
static void run_mma_chain(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t count = kernel_argument(launch, 1);
    float *out =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(float), outcome);

    if (!out)
        return;
    for (uint64_t i = 0; i < launch->threads; i++)
        out[i] = 16.0f * (float)count;
    kernel_count(launch, outcome, 16 + 4 * count);
    outcome->counts[CUDA_INST_TENSOR] = launch->warps * count;
    outcome->counts[CUDA_TENSOR_OPS] = launch->warps * count * 4096;
    outcome->counts[CUDA_TENSOR_CYCLES] = launch->warps * count * 6;
    count_store(launch, outcome, sizeof(float));
}

/* divergent(out, n): the lower lanes of each warp count to n, the others do not. */
static void run_divergent(const struct launch *launch, struct outcome *outcome)
{
    const uint64_t count = kernel_argument(launch, 1);
    uint32_t *out =
        kernel_memory(kernel_argument(launch, 0), launch->threads * sizeof(uint32_t), outcome);

    if (!out)
        return;
    for (uint64_t i = 0; i < launch->threads; i++)
        out[i] = i % 32 < 16 ? (uint32_t)count : 0;
    outcome->counts[CUDA_INST] = launch->warps * (16 + 3 * count);
    outcome->counts[CUDA_THREAD_INST] = launch->threads * 16 + launch->threads / 2 * 3 * count;
    outcome->counts[CUDA_INTEGER] = launch->threads / 2 * count;
    count_store(launch, outcome, sizeof(uint32_t));
}

/* write_at(address): every thread writes there, wherever that is. */
static void run_write_at(const struct launch *launch, struct outcome *outcome)
{
    uint32_t *out = kernel_memory(kernel_argument(launch, 0), sizeof(uint32_t), outcome);

    if (!out)
        return;
    *out = 1;
    kernel_count(launch, outcome, 6);
    count_store(launch, outcome, sizeof(uint32_t));
}

static const struct kernel kernels[] = {
    {"empty", {0}, run_empty, false},
    {"fma_loop", {8, 4, 4, 4}, run_fma_loop, false},
    {"dfma_loop", {8, 4, 8, 8}, run_dfma_loop, false},
    {"hfma_loop", {8, 4, 4, 4}, run_hfma_loop, false},
    {"vector_add", {8, 8, 8, 4}, run_vector_add, false},
    {"copy_repeat", {8, 8, 4, 4}, run_copy_repeat, false},
    {"shared_stride", {8, 4, 4}, run_shared_stride, false},
    {"mma_chain", {8, 4}, run_mma_chain, false},
    {"divergent", {8, 4}, run_divergent, false},
    {"write_at", {8}, run_write_at, false},
};

const struct kernel *kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    }
    for (const struct kernel *kernel = api_kernels; kernel->name; kernel++) {
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    }
    return NULL;
}
