#ifndef ZETA_TESTS_CUDA_NVML_NVML_H
#define ZETA_TESTS_CUDA_NVML_NVML_H

/* NVML as far as the library has it, declared anew. All return an nvmlReturn_t. */

#include <stdint.h>

enum {
    NVML_OK,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_UNKNOWN = 999
};

enum { NVML_GPM_METRICS = 333, NVML_LINKS = 18 };

struct nvml_support {
    uint32_t version, supported;
};

struct nvml_metric {
    uint32_t id;
    int32_t result;
    double value;
    const char *short_name, *long_name, *unit;
};

struct nvml_metrics {
    uint32_t version, count;
    void *first, *second;
    struct nvml_metric metrics[NVML_GPM_METRICS];
};

struct nvml_utilization {
    uint32_t gpu, memory; /* percent */
};

#define NVML_API(FUNCTION)                                                                         \
    FUNCTION(nvmlInit_v2, (void))                                                                  \
    FUNCTION(nvmlShutdown, (void))                                                                 \
    FUNCTION(nvmlSystemGetDriverVersion, (char *out, unsigned bytes))                              \
    FUNCTION(nvmlSystemGetNVMLVersion, (char *out, unsigned bytes))                                \
    FUNCTION(nvmlSystemGetCudaDriverVersion_v2, (int *out))                                        \
    FUNCTION(nvmlDeviceGetCount_v2, (unsigned *out))                                               \
    FUNCTION(nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **out))                          \
    FUNCTION(nvmlDeviceGetHandleByPciBusId_v2, (const char *address, void **out))                  \
    FUNCTION(nvmlDeviceGetHandleByUUID, (const char *uuid, void **out))                            \
    FUNCTION(nvmlDeviceGetGpuInstanceId, (void *instance, unsigned *out))                          \
    FUNCTION(nvmlDeviceGetName, (void *device, char *out, unsigned bytes))                         \
    FUNCTION(nvmlDeviceGetClockInfo, (void *device, int clock, unsigned *out_mhz))                 \
    FUNCTION(nvmlDeviceGetMaxClockInfo, (void *device, int clock, unsigned *out_mhz))              \
    FUNCTION(nvmlDeviceGetComputeMode, (void *device, int *out))                                   \
    FUNCTION(nvmlDeviceGetMigMode, (void *device, unsigned *out_now, unsigned *out_next))          \
    FUNCTION(nvmlDeviceGetNvLinkState, (void *device, unsigned link, int *out_is_active))          \
    FUNCTION(nvmlDeviceGetUtilizationRates, (void *device, struct nvml_utilization *out))          \
    FUNCTION(nvmlGpmQueryDeviceSupport, (void *device, struct nvml_support *out))                  \
    FUNCTION(nvmlGpmSampleAlloc, (void **out))                                                     \
    FUNCTION(nvmlGpmSampleFree, (void *sample))                                                    \
    FUNCTION(nvmlGpmSampleGet, (void *device, void *sample))                                       \
    FUNCTION(nvmlGpmMigSampleGet, (void *device, unsigned instance, void *sample))                 \
    FUNCTION(nvmlGpmMetricsGet, (struct nvml_metrics * metrics))

#endif
