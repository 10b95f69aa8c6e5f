#ifndef ZETA_PLUGINS_NVIDIA_LIBRARY_NVML_H
#define ZETA_PLUGINS_NVIDIA_LIBRARY_NVML_H

/*
 * NVML, libnvidia-ml.so.1, as far as it is used here. Declarations of our own: handles are void *;
 * all functions return an int, 0 for success. Any thread after nvidia_nvml_open().
 */

#include "plugins/nvidia/library/library.h"

/** Whether a device has GPM. */
struct nvidia_gpm_support {
    uint32_t version; /**< 1 */
    uint32_t is_supported;
};

/** One value of GPM; the texts are the library's. */
struct nvidia_gpm_value {
    uint32_t id;
    int32_t result; /**< of this value: 0 if there is one */
    double value;
    const char *short_name, *long_name, *unit; /**< null: the library has no such id */
};

/** What is asked of two samples. The library may look at more values than asked for. */
struct nvidia_gpm_request {
    uint32_t version; /**< 1 */
    uint32_t count;
    void *before, *after;
    struct nvidia_gpm_value values[333];
};

/* As NVIDIA_DRIVER_FUNCTIONS. */
#define NVIDIA_NVML_FUNCTIONS(REQUIRED, OPTIONAL)                                                  \
    REQUIRED(nvmlInit_v2, (void))                                                                  \
    REQUIRED(nvmlShutdown, (void))                                                                 \
    REQUIRED(nvmlDeviceGetHandleByPciBusId_v2, (const char *address, void **out_device))           \
    OPTIONAL(nvmlDeviceGetHandleByUUID, (const char *uuid, void **out_device))                     \
    OPTIONAL(nvmlDeviceGetGpuInstanceId, (void *device, unsigned *out_instance))                   \
    OPTIONAL(nvmlDeviceGetNvLinkState, (void *device, unsigned link, unsigned *out_is_active))     \
    OPTIONAL(nvmlGpmQueryDeviceSupport, (void *device, struct nvidia_gpm_support *support))        \
    OPTIONAL(nvmlGpmSampleAlloc, (void **out_sample))                                              \
    OPTIONAL(nvmlGpmSampleFree, (void *sample))                                                    \
    OPTIONAL(nvmlGpmSampleGet, (void *device, void *sample))                                       \
    OPTIONAL(nvmlGpmMigSampleGet, (void *device, unsigned instance, void *sample))                 \
    OPTIONAL(nvmlGpmMetricsGet, (struct nvidia_gpm_request * request))

/** The functions; optional ones may be NULL. Constant after nvidia_nvml_open(). */
struct nvidia_nvml {
    struct nvidia_library lib;
#define NVIDIA_NVML_MEMBER(name, parameters) int(*name) parameters;
    NVIDIA_NVML_FUNCTIONS(NVIDIA_NVML_MEMBER, NVIDIA_NVML_MEMBER)
#undef NVIDIA_NVML_MEMBER
    const char *(*nvmlErrorString)(int result);
};

/** Opens libnvidia-ml.so.1 and calls nvmlInit_v2. False with lib.problem. */
bool nvidia_nvml_open(struct nvidia_nvml *nvml, const struct zeta_host *host, const char *root);

/** Calls nvmlShutdown. The library stays open. */
void nvidia_nvml_close(struct nvidia_nvml *nvml);

#endif
