/* Versions, results, devices, and the ways to the other libraries. */

#include "tests/cuda/cupti/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int cuptiGetVersion(uint32_t *out);
EXPORTED int cuptiGetResultString(int result, const char **out);
EXPORTED int cuptiGetTimestamp(uint64_t *out);
EXPORTED int cuptiActivityRegisterTimestampCallback(uint64_t (*callback)(void));

static atomic_bool is_initialised;
static _Atomic(uint64_t (*)(void)) clock_callback;

/* A symbol of the driver that the program has loaded. It is not opened for its sake. */
static void *driver_symbol(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

    return driver ? dlsym(driver, name) : NULL;
}

bool cupti_gpu_of_ordinal(size_t ordinal, uint32_t *out_gpu)
{
    bool (*gpu_of)(int, uint32_t *);

    *(void **)&gpu_of = driver_symbol("cuda_ordinal_gpu");
    return gpu_of && ordinal < CUDA_GPUS && gpu_of((int)ordinal, out_gpu);
}

bool cupti_gpu_of_context(const void *context, uint32_t *out_gpu, int *out_ordinal)
{
    bool (*gpu_of)(const void *, uint32_t *, int *);

    *(void **)&gpu_of = driver_symbol("cuda_context_gpu");
    return gpu_of && gpu_of(context, out_gpu, out_ordinal);
}

void cupti_drain(void *context)
{
    void (*drain)(void *);

    *(void **)&drain = driver_symbol("cuda_context_drain");
    if (drain)
        drain(context);
}

static void seen(const struct cuda_seen *work)
{
    range_seen(work);
    activity_seen(work);
}

bool cupti_watch(void)
{
    static const struct cuda_observer observer = {
        .mark = range_mark, .enqueued = activity_enqueued, .seen = seen};
    void (*observe)(const struct cuda_observer *);

    *(void **)&observe = driver_symbol("cuda_observe");
    if (observe)
        observe(&observer);
    return observe != NULL;
}

int cupti_enter(const char *function, const struct block *block, size_t smallest)
{
    const struct cuda_shared *shared = cuda_shared();
    int forced;

    if (cuda_enter(function, &forced))
        return forced;
    if (!shared)
        return CUPTI_UNKNOWN;
    if (!block || block->priv || block->size < smallest ||
        block->size > smallest + shared->description.growth)
        return CUPTI_INVALID_PARAMETER;
    return CUPTI_OK;
}

int cupti_permission(uint32_t gpu)
{
    /* In the order of enum cuda_mode. */
    static const int results[] = {CUPTI_OK, 44, 33, 41, 42, 45};
    const struct cuda_description *machine = &cuda_shared()->description;

    if (!machine->permits)
        return CUPTI_INSUFFICIENT_PRIVILEGES;
    return results[machine->gpus[gpu].mode];
}

bool cupti_is_initialised(void)
{
    return atomic_load(&is_initialised);
}

EXPORTED int cuptiGetVersion(uint32_t *out)
{
    const struct cuda_shared *shared = cuda_shared();
    int forced;

    if (cuda_enter(__func__, &forced))
        return forced;
    if (!out)
        return CUPTI_INVALID_PARAMETER;
    *out = shared ? (uint32_t)shared->description.cupti : 0;
    return CUPTI_OK;
}

EXPORTED int cuptiGetResultString(int result, const char **out)
{
    static const struct {
        int result;
        const char *name;
    } names[] = {{0, "CUPTI_SUCCESS"},
                 {1, "CUPTI_ERROR_INVALID_PARAMETER"},
                 {2, "CUPTI_ERROR_INVALID_DEVICE"},
                 {3, "CUPTI_ERROR_INVALID_CONTEXT"},
                 {7, "CUPTI_ERROR_INVALID_OPERATION"},
                 {8, "CUPTI_ERROR_OUT_OF_MEMORY"},
                 {12, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
                 {13, "CUPTI_ERROR_NOT_READY"},
                 {15, "CUPTI_ERROR_NOT_INITIALIZED"},
                 {17, "CUPTI_ERROR_INVALID_METRIC_NAME"},
                 {26, "CUPTI_ERROR_HARDWARE_BUSY"},
                 {27, "CUPTI_ERROR_NOT_SUPPORTED"},
                 {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED"},
                 {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
                 {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
                 {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES"},
                 {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED"},
                 {42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED"},
                 {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED"},
                 {44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED"},
                 {45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED"},
                 {46, "CUPTI_ERROR_INVALID_CHIP_NAME"},
                 {999, "CUPTI_ERROR_UNKNOWN"}};

    for (size_t i = 0; out && i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].result == result) {
            *out = names[i].name;
            return CUPTI_OK;
        }
    }
    return CUPTI_INVALID_PARAMETER;
}

uint64_t cupti_timestamp(void)
{
    uint64_t (*callback)(void) = atomic_load(&clock_callback);
    struct timespec now;

    if (callback)
        return callback();
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int64_t cupti_clock_offset(void)
{
    const uint64_t before = cuda_time(cuda_shared()), there = cupti_timestamp();

    return (int64_t)(there - (before + cuda_time(cuda_shared())) / 2);
}

EXPORTED int cuptiGetTimestamp(uint64_t *out)
{
    int forced;

    if (cuda_enter(__func__, &forced))
        return forced;
    if (!out)
        return CUPTI_INVALID_PARAMETER;
    *out = cupti_timestamp();
    return CUPTI_OK;
}

EXPORTED int cuptiActivityRegisterTimestampCallback(uint64_t (*callback)(void))
{
    int forced;

    if (cuda_enter(__func__, &forced))
        return forced;
    if (!callback)
        return CUPTI_INVALID_PARAMETER;
    atomic_store(&clock_callback, callback);
    return CUPTI_OK;
}

int cuptiProfilerInitialize(struct only_head *block)
{
    ENTER(block, only_head, head);
    atomic_store(&is_initialised, true);
    return CUPTI_OK;
}

/* It is not counted: a second one crashes. */
int cuptiProfilerDeInitialize(struct only_head *block)
{
    ENTER(block, only_head, head);
    if (!atomic_exchange(&is_initialised, false)) {
        (void)fprintf(stderr, "fake CUPTI: deinitialised twice\n");
        __builtin_trap();
    }
    return CUPTI_OK;
}

int cuptiDeviceGetChipName(struct chip_name *block)
{
    uint32_t gpu;

    ENTER(block, chip_name, name);
    if (!cupti_gpu_of_ordinal(block->device, &gpu))
        return CUPTI_INVALID_DEVICE;
    block->name = cuda_shared()->description.gpus[gpu].chip;
    return CUPTI_OK;
}

/* Levels: 0 unknown, 1 unsupported, 2 disabled, 3 supported. */
int cuptiProfilerDeviceSupported(struct device_supported *block)
{
    const struct cuda_chip *chip;
    uint32_t gpu;

    ENTER(block, device_supported, api);
    if (block->device < 0 || !cupti_gpu_of_ordinal((size_t)block->device, &gpu))
        return CUPTI_INVALID_DEVICE;
    chip = &cuda_shared()->description.gpus[gpu];
    block->architecture = chip->cc_major * 10 + chip->cc_minor >= 75 ? 3 : 1;
    block->sli = chip->mode == CUDA_MODE_SLI ? 1 : 2;
    block->vgpu = chip->mode == CUDA_MODE_VGPU ? 1 : 2;
    block->confidential = chip->mode == CUDA_MODE_CC ? 1 : 2;
    block->cmp = chip->mode == CUDA_MODE_CMP ? 1 : 2;
    block->wsl = chip->mode == CUDA_MODE_WSL ? 1 : 2;
    block->supported = chip->mode == CUDA_MODE_NONE && block->architecture == 3 &&
                               (block->api == 0 || chip->has_pm_sampling)
                           ? 3
                           : 1;
    return CUPTI_OK;
}
