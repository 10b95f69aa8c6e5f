#ifndef ZETA_PLUGINS_NVIDIA_LIBRARY_DRIVER_H
#define ZETA_PLUGINS_NVIDIA_LIBRARY_DRIVER_H

/*
 * The CUDA driver API, libcuda.so.1, as far as it is used here. Declarations of our own: handles
 * are void *, devices int, device addresses 64 bits; all functions return an int, 0 for success.
 * Any thread, but cuInit.
 */

#include "plugins/nvidia/library/library.h"

/* One side of a copy of a box, and the box: CUDA_MEMCPY3D. Types of memory: 4 any, by address. */
struct nvidia_copy_side {
    size_t x, y, z, level; /* x in bytes */
    uint32_t type;
    const void *host;
    uint64_t device;
    void *array, *reserved;
    size_t pitch, height; /* bytes of a row, rows of a slice */
};

struct nvidia_copy_box {
    struct nvidia_copy_side source, target;
    size_t width, height, depth; /* bytes, rows, slices */
};

/* Results that are told apart. */
enum {
    NVIDIA_CUDA_SUCCESS = 0,
    NVIDIA_CUDA_OUT_OF_MEMORY = 2,
    NVIDIA_CUDA_NOT_INITIALIZED = 3,
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
    REQUIRED(cuDeviceGetAttribute, (int *out_value, int attribute, int device))                    \
    REQUIRED(cuDevicePrimaryCtxRetain, (void **out_context, int device))                           \
    REQUIRED(cuDevicePrimaryCtxRelease_v2, (int device))                                           \
    REQUIRED(cuCtxGetCurrent, (void **out_context))                                                \
    REQUIRED(cuCtxSetCurrent, (void *context))                                                     \
    REQUIRED(cuMemGetInfo_v2, (size_t * out_free, size_t * out_total))                             \
    REQUIRED(cuMemAlloc_v2, (uint64_t * out_address, size_t bytes))                                \
    REQUIRED(cuMemFree_v2, (uint64_t address))                                                     \
    REQUIRED(cuMemHostAlloc, (void **out_address, size_t bytes, unsigned flags))                   \
    REQUIRED(cuMemFreeHost, (void *address))                                                       \
    REQUIRED(cuMemAllocManaged, (uint64_t * out_address, size_t bytes, unsigned flags))            \
    REQUIRED(cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags))                  \
    REQUIRED(cuMemHostUnregister, (void *address))                                                 \
    REQUIRED(cuPointerGetAttribute, (void *out_value, int attribute, uint64_t address))            \
    REQUIRED(cuMemGetAllocationGranularity,                                                        \
             (size_t * out_bytes, const void *properties, int option))                             \
    REQUIRED(cuMemAddressReserve, (uint64_t * out_address, size_t bytes, size_t alignment,         \
                                   uint64_t wanted, uint64_t flags))                               \
    REQUIRED(cuMemAddressFree, (uint64_t address, size_t bytes))                                   \
    REQUIRED(cuMemCreate,                                                                          \
             (uint64_t * out_handle, size_t bytes, const void *properties, uint64_t flags))        \
    REQUIRED(cuMemRelease, (uint64_t handle))                                                      \
    REQUIRED(cuMemMap,                                                                             \
             (uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags))     \
    REQUIRED(cuMemUnmap, (uint64_t address, size_t bytes))                                         \
    REQUIRED(cuMemSetAccess, (uint64_t address, size_t bytes, const void *access, size_t count))   \
    REQUIRED(cuMemcpyAsync, (uint64_t target, uint64_t source, size_t bytes, void *stream))        \
    REQUIRED(cuMemcpy3DAsync_v2, (const struct nvidia_copy_box *box, void *stream))                \
    REQUIRED(cuMemsetD8Async, (uint64_t target, unsigned char value, size_t count, void *stream))  \
    REQUIRED(cuMemsetD16Async,                                                                     \
             (uint64_t target, unsigned short value, size_t count, void *stream))                  \
    REQUIRED(cuMemsetD32Async, (uint64_t target, unsigned value, size_t count, void *stream))      \
    REQUIRED(cuModuleLoadDataEx, (void **out_module, const void *image, unsigned count,            \
                                  const int *options, void *const *values))                        \
    REQUIRED(cuModuleUnload, (void *module))                                                       \
    REQUIRED(cuModuleGetFunction, (void **out_function, void *module, const char *name))           \
    OPTIONAL(cuModuleGetFunctionCount, (unsigned *out_count, void *module))                        \
    OPTIONAL(cuModuleEnumerateFunctions, (void **out_functions, unsigned count, void *module))     \
    REQUIRED(cuModuleGetGlobal_v2,                                                                 \
             (uint64_t * out_address, size_t * out_bytes, void *module, const char *name))         \
    REQUIRED(cuLinkCreate_v2,                                                                      \
             (unsigned count, const int *options, void *const *values, void **out_link))           \
    REQUIRED(cuLinkAddData_v2,                                                                     \
             (void *link, int type, const void *data, size_t bytes, const char *name,              \
              unsigned count, const int *options, void *const *values))                            \
    REQUIRED(cuLinkComplete, (void *link, void **out_cubin, size_t *out_bytes))                    \
    REQUIRED(cuLinkDestroy, (void *link))                                                          \
    OPTIONAL(cuFuncGetName, (const char **out_name, void *function))                               \
    OPTIONAL(cuFuncGetParamInfo,                                                                   \
             (void *function, size_t index, size_t *out_offset, size_t *out_bytes))                \
    REQUIRED(cuFuncGetAttribute, (int *out_value, int attribute, void *function))                  \
    REQUIRED(cuFuncSetAttribute, (void *function, int attribute, int value))                       \
    REQUIRED(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                          \
             (int *out_groups, void *function, int threads, size_t shared_bytes))                  \
    REQUIRED(cuLaunchKernel,                                                                       \
             (void *function, unsigned groups_x, unsigned groups_y, unsigned groups_z,             \
              unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,   \
              void *stream, void **parameters, void **extra))                                      \
    REQUIRED(cuLaunchCooperativeKernel,                                                            \
             (void *function, unsigned groups_x, unsigned groups_y, unsigned groups_z,             \
              unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,   \
              void *stream, void **parameters))                                                    \
    REQUIRED(cuStreamCreateWithPriority, (void **out_stream, unsigned flags, int priority))        \
    REQUIRED(cuStreamDestroy_v2, (void *stream))                                                   \
    REQUIRED(cuStreamSynchronize, (void *stream))                                                  \
    REQUIRED(cuStreamQuery, (void *stream))                                                        \
    REQUIRED(cuEventCreate, (void **out_event, unsigned flags))                                    \
    REQUIRED(cuEventDestroy_v2, (void *event))                                                     \
    REQUIRED(cuEventRecord, (void *event, void *stream))                                           \
    REQUIRED(cuEventQuery, (void *event))                                                          \
    REQUIRED(cuEventSynchronize, (void *event))                                                    \
    REQUIRED(cuEventElapsedTime, (float *out_ms, void *begin, void *end))

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
