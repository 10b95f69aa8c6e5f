/* libnvidia-ml.so.1: names, clocks, modes, and the samples of GPM. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/machine/machine.h"
#include "tests/cuda/nvml/nvml.h"

#define DECLARE(name, parameters) __attribute__((visibility("default"))) int name parameters;
NVML_API(DECLARE)
#undef DECLARE
__attribute__((visibility("default"))) const char *nvmlErrorString(int result);

/* Samples are of ticks, and a tick can be had a moment after it. */
enum { TICK_NS = 100000000, LATE_NS = 150000000 };

struct gpm_sample {
    uint64_t ns; /* 0: nothing was taken */
    uint32_t gpu;
    uint64_t counts[CUDA_COUNTS];
};

static atomic_int users;

static int enter(const char *function)
{
    int forced;

    if (cuda_enter(function, &forced))
        return forced;
    if (!cuda_shared())
        return NVML_UNKNOWN;
    return atomic_load(&users) > 0 ? NVML_OK : NVML_UNINITIALIZED;
}

#define ENTER()                                                                                    \
    do {                                                                                           \
        const int entered = enter(__func__);                                                       \
        if (entered != NVML_OK)                                                                    \
            return entered;                                                                        \
    } while (0)

const char *nvmlErrorString(int result)
{
    return result == NVML_OK ? "Success" : "an error of the fake NVML";
}

int nvmlInit_v2(void)
{
    int forced;

    if (cuda_enter(__func__, &forced))
        return forced;
    if (!cuda_shared())
        return 9; /* driver not loaded */
    (void)atomic_fetch_add(&users, 1);
    return NVML_OK;
}

int nvmlShutdown(void)
{
    ENTER();
    (void)atomic_fetch_sub(&users, 1);
    return NVML_OK;
}

static int write_text(const char *text, char *out, unsigned bytes)
{
    if (!out)
        return NVML_INVALID_ARGUMENT;
    if (strlen(text) >= bytes)
        return NVML_INSUFFICIENT_SIZE;
    (void)strcpy(out, text);
    return NVML_OK;
}

int nvmlSystemGetDriverVersion(char *out, unsigned bytes)
{
    ENTER();
    return write_text(cuda_driver_text(&cuda_shared()->description), out, bytes);
}

int nvmlSystemGetNVMLVersion(char *out, unsigned bytes)
{
    const struct cuda_description *machine;
    char text[CUDA_TEXT];

    ENTER();
    machine = &cuda_shared()->description;
    (void)snprintf(text, sizeof(text), "%u.%s", (unsigned)(machine->driver / 1000),
                   cuda_driver_text(machine));
    return write_text(text, out, bytes);
}

int nvmlSystemGetCudaDriverVersion_v2(int *out)
{
    ENTER();
    if (!out)
        return NVML_INVALID_ARGUMENT;
    *out = (int)cuda_shared()->description.driver;
    return NVML_OK;
}

int nvmlDeviceGetCount_v2(unsigned *out)
{
    ENTER();
    if (!out)
        return NVML_INVALID_ARGUMENT;
    *out = cuda_shared()->description.gpu_count;
    return NVML_OK;
}

/* A GPU of a handle, which is the place of its description; NULL if it is none. */
static const struct cuda_chip *chip_of(const void *device, uint32_t *out_gpu)
{
    const struct cuda_description *machine = &cuda_shared()->description;

    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        if (device == &machine->gpus[i]) {
            *out_gpu = i;
            return &machine->gpus[i];
        }
    }
    return NULL;
}

/* NVML counts in the order of addresses, whatever CUDA's order is. */
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out)
{
    ENTER();
    if (!out || index >= cuda_shared()->description.gpu_count)
        return NVML_INVALID_ARGUMENT;
    *out = &cuda_shared()->description.gpus[index];
    return NVML_OK;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **out)
{
    struct cuda_description *machine;
    unsigned asked[3], has[3];

    ENTER();
    if (!address || !out || sscanf(address, "%x:%x:%x", &asked[0], &asked[1], &asked[2]) != 3)
        return NVML_INVALID_ARGUMENT;
    machine = &cuda_shared()->description;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        if (sscanf(machine->gpus[i].pci, "%x:%x:%x", &has[0], &has[1], &has[2]) == 3 &&
            memcmp(asked, has, sizeof(has)) == 0) {
            *out = &machine->gpus[i];
            return NVML_OK;
        }
    }
    return NVML_NOT_FOUND;
}

/* Handles of instances of MIG: places in here. */
static char instances[CUDA_GPUS][8];

/* "GPU-5a657461-0000-4000-8000-000000000001", or "MIG-" with the instance before the last byte. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **out)
{
    struct cuda_description *machine;
    unsigned instance, gpu;
    int end = 0;

    ENTER();
    if (!uuid || !out)
        return NVML_INVALID_ARGUMENT;
    machine = &cuda_shared()->description;
    if (sscanf(uuid, "%*3[A-Z]-5a657461-0000-4000-8000-00000000%2x%2x%n", &instance, &gpu, &end) !=
            2 ||
        uuid[end] != '\0' || gpu >= machine->gpu_count || instance > machine->gpus[gpu].instances ||
        (strncmp(uuid, "MIG", 3) == 0) != (instance > 0))
        return NVML_NOT_FOUND;
    *out = instance > 0 ? (void *)&instances[gpu][instance] : (void *)&machine->gpus[gpu];
    return NVML_OK;
}

int nvmlDeviceGetGpuInstanceId(void *instance, unsigned *out)
{
    const char *place = instance, *first = instances[0];

    ENTER();
    if (!out)
        return NVML_INVALID_ARGUMENT;
    if (place < first || place >= first + sizeof(instances))
        return NVML_NOT_SUPPORTED; /* a whole GPU */
    *out = (unsigned)((size_t)(place - first) % sizeof(instances[0]));
    return NVML_OK;
}

int nvmlDeviceGetName(void *device, char *out, unsigned bytes)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    return chip ? write_text(chip->name, out, bytes) : NVML_INVALID_ARGUMENT;
}

/* Clocks: 0 graphics, 1 SM, 2 memory. They do not change. */
int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *out_mhz)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    if (!chip || !out_mhz || clock < 0 || clock > 2)
        return NVML_INVALID_ARGUMENT;
    *out_mhz = (unsigned)((clock == 2 ? chip->memory_khz : chip->sm_khz) / 1000);
    return NVML_OK;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *out_mhz)
{
    return nvmlDeviceGetMaxClockInfo(device, clock, out_mhz);
}

int nvmlDeviceGetComputeMode(void *device, int *out)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    if (!chip || !out)
        return NVML_INVALID_ARGUMENT;
    *out = (int)chip->compute_mode;
    return NVML_OK;
}

int nvmlDeviceGetMigMode(void *device, unsigned *out_now, unsigned *out_next)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    if (!chip || !out_now || !out_next)
        return NVML_INVALID_ARGUMENT;
    if (chip->cc_major < 8)
        return NVML_NOT_SUPPORTED;
    *out_now = *out_next = chip->instances > 0;
    return NVML_OK;
}

/* Everything that had been counted at a time. Works that are no longer kept ended before it. */
static void counts_at(uint32_t gpu, uint64_t ns, uint64_t counts[CUDA_COUNTS])
{
    struct cuda_gpu *state = &cuda_shared()->gpus[gpu];

    cuda_lock(&state->lock);
    (void)memcpy(counts, state->totals, sizeof(state->totals));
    for (uint64_t i = state->work_count > CUDA_WORKS ? state->work_count - CUDA_WORKS : 0;
         i < state->work_count; i++) {
        const struct cuda_work *work = &state->works[i % CUDA_WORKS];

        for (int k = 0; work->end > ns && k < CUDA_COUNTS; k++)
            counts[k] -= work->counts[k] - cuda_counted(work, (enum cuda_count)k, ns);
    }
    cuda_unlock(&state->lock);
}

static double percent(uint64_t count, double most)
{
    const double share = most > 0 ? 100.0 * (double)count / most : 0;

    return share > 100 ? 100 : share;
}

int nvmlDeviceGetUtilizationRates(void *device, struct nvml_utilization *out)
{
    const struct cuda_chip *chip;
    uint64_t before[CUDA_COUNTS], after[CUDA_COUNTS], now;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    if (!chip || !out)
        return NVML_INVALID_ARGUMENT;
    now = cuda_time(cuda_shared());
    counts_at(gpu, now - TICK_NS, before);
    counts_at(gpu, now, after);
    out->gpu = (uint32_t)percent(after[CUDA_WORK_CYCLES] - before[CUDA_WORK_CYCLES],
                                 (double)cuda_cycles(chip->system_khz, TICK_NS));
    out->memory = (uint32_t)percent(after[CUDA_DRAM_READ] + after[CUDA_DRAM_WRITE] -
                                        before[CUDA_DRAM_READ] - before[CUDA_DRAM_WRITE],
                                    (double)cuda_cycles(chip->memory_khz, TICK_NS) * 32 *
                                        (double)chip->channels);
    return NVML_OK;
}

int nvmlGpmQueryDeviceSupport(void *device, struct nvml_support *out)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    if (!chip || !out || out->version != 1)
        return NVML_INVALID_ARGUMENT;
    out->supported = chip->has_gpm != 0;
    return NVML_OK;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *out_is_active)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    if (!chip || link >= NVML_LINKS || !out_is_active)
        return NVML_INVALID_ARGUMENT;
    if (!chip->has_links)
        return NVML_NOT_SUPPORTED;
    *out_is_active = 1;
    return NVML_OK;
}

int nvmlGpmSampleAlloc(void **out)
{
    ENTER();
    if (!out)
        return NVML_INVALID_ARGUMENT;
    *out = calloc(1, sizeof(struct gpm_sample));
    return *out ? NVML_OK : 20; /* memory */
}

int nvmlGpmSampleFree(void *sample)
{
    ENTER();
    free(sample);
    return NVML_OK;
}

static int get_sample(void *device, struct gpm_sample *sample)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    chip = chip_of(device, &gpu);
    if (!chip || !sample)
        return NVML_INVALID_ARGUMENT;
    if (!chip->has_gpm)
        return NVML_NOT_SUPPORTED;
    sample->gpu = gpu;
    sample->ns = (cuda_time(cuda_shared()) - LATE_NS) / TICK_NS * TICK_NS;
    counts_at(gpu, sample->ns, sample->counts);
    return NVML_OK;
}

int nvmlGpmSampleGet(void *device, void *sample)
{
    ENTER();
    return get_sample(device, sample);
}

int nvmlGpmMigSampleGet(void *device, unsigned instance, void *sample)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER();
    chip = chip_of(device, &gpu);
    if (!chip || instance == 0 || instance > chip->instances)
        return NVML_INVALID_ARGUMENT;
    return get_sample(device, sample);
}

/* Names of the values that there are; others answer 0 without one. */
static const struct gpm_name {
    uint32_t id;
    const char *name, *unit;
} gpm_names[] = {
    {1, "Graphics Engine", "%"}, {2, "SM Activity", "%"},  {3, "SM Occupancy", "%"},
    {4, "Integer", "%"},         {5, "Any Tensor", "%"},   {6, "DFMA Tensor", "%"},
    {7, "HMMA Tensor", "%"},     {9, "IMMA Tensor", "%"},  {10, "DRAM", "%"},
    {11, "FP64", "%"},           {12, "FP32", "%"},        {13, "FP16", "%"},
    {20, "PCIe TX", "MiB/s"},    {21, "PCIe RX", "MiB/s"}, {30, "NVDEC 0", "%"},
    {40, "NVJPG 0", "%"},        {50, "OFA 0", "%"},       {60, "NVLink RX", "MiB/s"},
    {61, "NVLink TX", "MiB/s"},
};

static double value_of(uint32_t id, const struct cuda_chip *chip, uint64_t ns,
                       const uint64_t counts[CUDA_COUNTS])
{
    const double cycles = (double)cuda_cycles(chip->sm_khz, ns) * (double)chip->sms;
    const double seconds = (double)ns * 1e-9;

    switch (id) {
    case 1:
        return percent(counts[CUDA_WORK_CYCLES], (double)cuda_cycles(chip->system_khz, ns));
    case 2:
        return percent(counts[CUDA_SM_ACTIVE], cycles);
    case 3:
        return percent(counts[CUDA_WARP_CYCLES], cycles * (double)chip->warps_per_sm);
    case 4:
        return percent(counts[CUDA_INST_ALU], cycles * 2);
    case 5:
    case 7:
        return percent(counts[CUDA_TENSOR_CYCLES], cycles);
    case 10:
        return percent(counts[CUDA_DRAM_READ] + counts[CUDA_DRAM_WRITE],
                       (double)cuda_cycles(chip->memory_khz, ns) * 32 * (double)chip->channels);
    case 11:
        return percent(counts[CUDA_FP64_CYCLES], cycles);
    case 12:
        return percent(counts[CUDA_INST_FMA], cycles * 4);
    case 20:
        return (double)counts[CUDA_PCIE_WRITE] / seconds / (1024 * 1024);
    case 21:
        return (double)counts[CUDA_PCIE_READ] / seconds / (1024 * 1024);
    default:
        return 0;
    }
}

int nvmlGpmMetricsGet(struct nvml_metrics *metrics)
{
    const struct gpm_sample *first, *second;
    const struct cuda_chip *chip;
    uint64_t counts[CUDA_COUNTS];

    ENTER();
    if (!metrics || metrics->version != 1 || metrics->count > NVML_GPM_METRICS || !metrics->first ||
        !metrics->second)
        return NVML_INVALID_ARGUMENT;
    first = metrics->first;
    second = metrics->second;
    if (first->ns == 0 || second->ns == 0 || first->gpu != second->gpu)
        return NVML_INVALID_ARGUMENT;
    chip = &cuda_shared()->description.gpus[first->gpu];
    for (int i = 0; i < CUDA_COUNTS; i++)
        counts[i] = second->counts[i] - first->counts[i];
    for (uint32_t i = 0; i < metrics->count; i++) {
        struct nvml_metric *metric = &metrics->metrics[i];
        const struct gpm_name *name = NULL;

        for (size_t k = 0; k < sizeof(gpm_names) / sizeof(gpm_names[0]); k++)
            name = gpm_names[k].id == metric->id ? &gpm_names[k] : name;
        metric->result = NVML_OK;
        metric->short_name = metric->long_name = name ? name->name : NULL;
        metric->unit = name ? name->unit : NULL;
        if (second->ns <= first->ns) /* no new tick */
            metric->value = metric->id == 10 ? NAN : 0;
        else
            metric->value = name ? value_of(metric->id, chip, second->ns - first->ns, counts) : 0;
        metric->value = cuda_value(metric->value);
    }
    return NVML_OK;
}
