/* What operations make a GPU do: their effect on memory, their counts and their time. */

#include <string.h>

#include "tests/cuda/driver/driver.h"

enum { LAUNCH_CYCLES = 2000, PCIE_BYTES_PER_US = 50000, COPY_NS = 1500 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Counts that follow from the grid, and the cycles that issue or memory take. */
static uint64_t finish_launch(const struct launch *launch, struct outcome *outcome)
{
    const struct cuda_chip *chip = launch->chip;
    const uint64_t sms = launch->sms, busy = smaller(sms, launch->groups);
    const uint64_t dram = outcome->counts[CUDA_DRAM_READ] + outcome->counts[CUDA_DRAM_WRITE];
    const uint64_t memory_cycles = dram / (chip->channels * 32) * chip->sm_khz / chip->memory_khz;
    const uint64_t cycles =
        LAUNCH_CYCLES + greater(outcome->counts[CUDA_INST] / (4 * busy), memory_cycles);
    const uint64_t ns = (uint64_t)((double)cycles * 1e6 / (double)chip->sm_khz);

    outcome->counts[CUDA_WARPS] = launch->warps;
    outcome->counts[CUDA_GROUPS] = launch->groups;
    outcome->counts[CUDA_LAUNCHES] = 1;
    outcome->counts[CUDA_SM_ACTIVE] = busy * cycles;
    outcome->counts[CUDA_WARP_CYCLES] = smaller(launch->warps, busy * chip->warps_per_sm) * cycles;
    outcome->counts[CUDA_WORK_CYCLES] = cuda_cycles(chip->system_khz, ns);
    return ns;
}

static uint64_t do_launch(const struct device *device, const struct launch *launch,
                          struct cuda_seen *seen, struct outcome *outcome)
{
    (void)device;
    launch->function->kernel->run(launch, outcome);
    seen->kind = CUDA_SEEN_KERNEL;
    seen->name = launch->function->name;
    (void)memcpy(seen->grid, launch->grid, sizeof(seen->grid));
    (void)memcpy(seen->block, launch->block, sizeof(seen->block));
    seen->dynamic_shared = launch->shared;
    return finish_launch(launch, outcome);
}

static uint64_t side_address(const struct cu_side *side, size_t y, size_t z)
{
    const uint64_t base = side->type == 1 ? (uint64_t)(uintptr_t)side->host : side->device;

    return base + ((side->z + z) * side->height + side->y + y) * side->pitch + side->x;
}

/* Kind of activity records: 1 pageable, 2 pinned, 3 device, 5 managed. */
static uint8_t record_kind(uint64_t address)
{
    static const uint8_t kinds[] = {1, 2, 3, 1, 5};

    return kinds[memory_kind(address)];
}

static uint64_t copy_ns(const struct cuda_seen *seen, const struct cuda_chip *chip,
                        struct outcome *outcome)
{
    const bool reads_host = seen->from_kind < 3, writes_host = seen->to_kind < 3;
    uint64_t ns = COPY_NS;

    outcome->counts[reads_host ? CUDA_PCIE_READ : CUDA_DRAM_READ] += seen->bytes;
    outcome->counts[writes_host ? CUDA_PCIE_WRITE : CUDA_DRAM_WRITE] += seen->bytes;
    if (reads_host || writes_host)
        ns += seen->bytes * 1000 / PCIE_BYTES_PER_US;
    else
        ns +=
            cuda_cycles(1000000000000 / chip->memory_khz, seen->bytes * 2) / (chip->channels * 32);
    outcome->counts[CUDA_COPY_CYCLES] = cuda_cycles(chip->system_khz, ns);
    return ns;
}

static uint64_t do_copy(const struct cu_copy *copy, const struct cuda_chip *chip,
                        struct cuda_seen *seen, struct outcome *outcome)
{
    const uint64_t from = side_address(&copy->source, 0, 0), to = side_address(&copy->target, 0, 0);

    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++)
            (void)memmove((void *)(uintptr_t)side_address(&copy->target, y, z),
                          (const void *)(uintptr_t)side_address(&copy->source, y, z), copy->width);
    }
    seen->kind = CUDA_SEEN_COPY;
    seen->bytes = copy->width * copy->height * copy->depth;
    seen->from_kind = record_kind(from);
    seen->to_kind = record_kind(to);
    seen->copy_kind =
        (uint8_t)(seen->from_kind < 3 ? (seen->to_kind < 3 ? 9 : 1) : (seen->to_kind < 3 ? 2 : 8));
    return copy_ns(seen, chip, outcome);
}

static uint64_t do_fill(const struct operation *operation, const struct cuda_chip *chip,
                        struct cuda_seen *seen, struct outcome *outcome)
{
    uint8_t *target = (uint8_t *)(uintptr_t)operation->fill.target;
    const uint32_t width = operation->fill.width;

    for (size_t i = 0; i < operation->fill.count; i++)
        (void)memcpy(target + i * width, &operation->fill.value, width);
    seen->kind = CUDA_SEEN_FILL;
    seen->bytes = operation->fill.count * width;
    seen->value = operation->fill.value;
    outcome->counts[CUDA_DRAM_WRITE] = seen->bytes;
    outcome->counts[CUDA_COPY_CYCLES] = cuda_cycles(chip->system_khz, COPY_NS);
    return COPY_NS;
}

uint64_t work_do(struct context *context, uint32_t stream, const struct operation *operation,
                 uint64_t not_before_ns, int *out_error)
{
    const struct device *device = driver_device(context->ordinal);
    const struct cuda_chip *chip = driver_chip(device);
    struct outcome outcome = {0};
    struct cuda_seen seen = {.gpu = device->gpu,
                             .ordinal = (uint32_t)context->ordinal,
                             .context = context->id,
                             .stream = stream,
                             .correlation = operation->correlation,
                             .mark = operation->mark,
                             .counts = outcome.counts};
    uint64_t ns;

    if (operation->kind == OP_LAUNCH)
        ns = do_launch(device, operation->launch, &seen, &outcome);
    else if (operation->kind == OP_COPY)
        ns = do_copy(&operation->copy, chip, &seen, &outcome);
    else
        ns = do_fill(operation, chip, &seen, &outcome);
    *out_error = outcome.error;
    if (outcome.error != CU_OK)
        return not_before_ns;
    seen.end =
        cuda_work(cuda_shared(), device->gpu, not_before_ns, ns, outcome.counts, &seen.begin);
    observer_seen(&seen);
    return seen.end;
}
