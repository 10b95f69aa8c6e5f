#ifndef ZETA_PLUGINS_NVIDIA_LIBRARY_DRIVER_H
#define ZETA_PLUGINS_NVIDIA_LIBRARY_DRIVER_H

/*
 * The CUDA driver API, libcuda.so.1, as far as it is used here. Declarations of our own: handles
 * are void *, devices int, device addresses 64 bits; all functions return an int, 0 for success.
 * Any thread, but cuInit.
 */

#include "plugins/nvidia/library/library.h"

/* Results that are told apart. */
enum {
    NVIDIA_CUDA_SUCCESS = 0,
    NVIDIA_CUDA_OUT_OF_MEMORY = 2,
    NVIDIA_CUDA_STUB_LIBRARY = 34,
    NVIDIA_CUDA_NEWER_DRIVER = 36,
    NVIDIA_CUDA_DEVICE_UNAVAILABLE = 46,
    NVIDIA_CUDA_NO_DEVICE = 100,
    NVIDIA_CUDA_INVALID_DEVICE = 101,
    NVIDIA_CUDA_SYSTEM_NOT_READY = 802,
    NVIDIA_CUDA_DRIVER_MISMATCH = 803,
    NVIDIA_CUDA_NO_FORWARD_COMPATIBILITY = 804,
    NVIDIA_CUDA_UNKNOWN = 999
};

/* What cuDeviceGetAttribute is asked for. */
enum {
    NVIDIA_ATTRIBUTE_GROUP_SIZE = 1,    /* threads */
    NVIDIA_ATTRIBUTE_GROUP_SIZE_X = 2,  /* and Y, Z */
    NVIDIA_ATTRIBUTE_GROUP_COUNT_X = 5, /* and Y, Z */
    NVIDIA_ATTRIBUTE_GROUP_SHARED = 8,  /* bytes */
    NVIDIA_ATTRIBUTE_SM_KHZ = 13,
    NVIDIA_ATTRIBUTE_SMS = 16,
    NVIDIA_ATTRIBUTE_INTEGRATED = 18,
    NVIDIA_ATTRIBUTE_COMPUTE_MODE = 20, /* 2 prohibited, 3 exclusive process */
    NVIDIA_ATTRIBUTE_ECC = 32,
    NVIDIA_ATTRIBUTE_PCI_BUS = 33,
    NVIDIA_ATTRIBUTE_PCI_DEVICE = 34,
    NVIDIA_ATTRIBUTE_MEMORY_KHZ = 36,
    NVIDIA_ATTRIBUTE_BUS_BITS = 37,
    NVIDIA_ATTRIBUTE_L2_BYTES = 38,
    NVIDIA_ATTRIBUTE_THREADS_PER_SM = 39,
    NVIDIA_ATTRIBUTE_COPY_ENGINES = 40,
    NVIDIA_ATTRIBUTE_PCI_DOMAIN = 50,
    NVIDIA_ATTRIBUTE_CC_MAJOR = 75,
    NVIDIA_ATTRIBUTE_CC_MINOR = 76,
    NVIDIA_ATTRIBUTE_PAGEABLE = 88, /* the device reaches memory of malloc() */
    NVIDIA_ATTRIBUTE_COOPERATIVE = 95,
    NVIDIA_ATTRIBUTE_GROUP_SHARED_MOST = 97 /* bytes, for kernels that ask for it */
};

/*
 * Each function is one line, REQUIRED(name, (parameters)) or OPTIONAL() for one that came after
 * CUDA 12.0 or that only messages use.
 */
#define NVIDIA_DRIVER_FUNCTIONS(REQUIRED, OPTIONAL)                                                \
    REQUIRED(cuInit, (unsigned flags))                                                             \
    REQUIRED(cuDriverGetVersion, (int *out_version))                                               \
    OPTIONAL(cuGetErrorName, (int result, const char **out_name))                                  \
    OPTIONAL(cuGetErrorString, (int result, const char **out_text))                                \
    REQUIRED(cuDeviceGetCount, (int *out_count))                                                   \
    REQUIRED(cuDeviceGet, (int *out_device, int ordinal))                                          \
    REQUIRED(cuDeviceGetName, (char *out_name, int bytes, int device))                             \
    REQUIRED(cuDeviceTotalMem_v2, (size_t * out_bytes, int device))                                \
    REQUIRED(cuDeviceGetUuid_v2, (void *out_uuid, int device))                                     \
    REQUIRED(cuDeviceGetAttribute, (int *out_value, int attribute, int device))

/** The functions; optional ones may be NULL. Constant after nvidia_driver_open(). */
struct nvidia_driver {
    struct nvidia_library lib;
#define NVIDIA_DRIVER_MEMBER(name, parameters) int(*name) parameters;
    NVIDIA_DRIVER_FUNCTIONS(NVIDIA_DRIVER_MEMBER, NVIDIA_DRIVER_MEMBER)
#undef NVIDIA_DRIVER_MEMBER
};

/** Opens libcuda.so.1. False with lib.problem. */
bool nvidia_driver_open(struct nvidia_driver *driver, const struct zeta_host *host,
                        const char *root);

/** Room for a result in words. */
struct nvidia_driver_text {
    char text[200];
};

/** A result by number, name and in words: "100 CUDA_ERROR_NO_DEVICE (no CUDA-capable ...)". */
struct nvidia_driver_text nvidia_driver_text(const struct nvidia_driver *driver, int result);

#endif
