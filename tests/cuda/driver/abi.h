#ifndef ZETA_TESTS_CUDA_DRIVER_ABI_H
#define ZETA_TESTS_CUDA_DRIVER_ABI_H

/*
 * The driver API as far as the library has it. Declarations of our own: handles are void *, device
 * addresses 64 bits. FUNCTION(name, parameters) for each; all return a CUresult.
 */

#include <stddef.h>
#include <stdint.h>

enum {
    CU_OK,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_INITIALIZED = 3,
    CU_DEVICE_UNAVAILABLE = 46,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_IMAGE = 200,
    CU_INVALID_CONTEXT = 201,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_INVALID_PTX = 218,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_INVALID_HANDLE = 400,
    CU_NOT_FOUND = 500,
    CU_NOT_READY = 600,
    CU_ILLEGAL_ADDRESS = 700,
    CU_LAUNCH_OUT_OF_RESOURCES = 701,
    CU_COOPERATIVE_TOO_LARGE = 720,
    CU_NOT_SUPPORTED = 801,
    CU_UNKNOWN = 999
};

/* A copy of a box of bytes: CUDA_MEMCPY3D. Types of memory: 1 host, 2 device, 4 unified. */
struct cu_side {
    size_t x, y, z, level;
    uint32_t type;
    void *host;
    uint64_t device;
    void *array;
    void *reserved;
    size_t pitch, height;
};

struct cu_copy {
    struct cu_side source, target;
    size_t width, height, depth;
};

#define CUDA_API(FUNCTION)                                                                         \
    FUNCTION(cuInit, (unsigned flags))                                                             \
    FUNCTION(cuDriverGetVersion, (int *out))                                                       \
    FUNCTION(cuGetErrorName, (int error, const char **out))                                        \
    FUNCTION(cuGetErrorString, (int error, const char **out))                                      \
    FUNCTION(cuDeviceGetCount, (int *out))                                                         \
    FUNCTION(cuDeviceGet, (int *out, int ordinal))                                                 \
    FUNCTION(cuDeviceGetName, (char *out, int size, int device))                                   \
    FUNCTION(cuDeviceTotalMem_v2, (size_t * out, int device))                                      \
    FUNCTION(cuDeviceGetUuid_v2, (void *out, int device))                                          \
    FUNCTION(cuDeviceGetPCIBusId, (char *out, int size, int device))                               \
    FUNCTION(cuDeviceGetAttribute, (int *out, int attribute, int device))                          \
    FUNCTION(cuDevicePrimaryCtxRetain, (void **out, int device))                                   \
    FUNCTION(cuDevicePrimaryCtxRelease_v2, (int device))                                           \
    FUNCTION(cuCtxSetCurrent, (void *context))                                                     \
    FUNCTION(cuCtxGetCurrent, (void **out))                                                        \
    FUNCTION(cuCtxGetDevice, (int *out))                                                           \
    FUNCTION(cuCtxSynchronize, (void))                                                             \
    FUNCTION(cuMemGetInfo_v2, (size_t * free_bytes, size_t * total))                               \
    FUNCTION(cuMemAlloc_v2, (uint64_t * out, size_t bytes))                                        \
    FUNCTION(cuMemFree_v2, (uint64_t address))                                                     \
    FUNCTION(cuMemHostAlloc, (void **out, size_t bytes, unsigned flags))                           \
    FUNCTION(cuMemFreeHost, (void *address))                                                       \
    FUNCTION(cuMemAllocManaged, (uint64_t * out, size_t bytes, unsigned flags))                    \
    FUNCTION(cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags))                  \
    FUNCTION(cuMemHostUnregister, (void *address))                                                 \
    FUNCTION(cuPointerGetAttribute, (void *out, int attribute, uint64_t address))                  \
    FUNCTION(cuMemGetAddressRange_v2, (uint64_t * base, size_t * bytes, uint64_t address))         \
    FUNCTION(cuMemGetAllocationGranularity, (size_t * out, const void *properties, int option))    \
    FUNCTION(cuMemAddressReserve,                                                                  \
             (uint64_t * out, size_t bytes, size_t alignment, uint64_t hint, uint64_t flags))      \
    FUNCTION(cuMemAddressFree, (uint64_t address, size_t bytes))                                   \
    FUNCTION(cuMemCreate, (uint64_t * out, size_t bytes, const void *properties, uint64_t flags))  \
    FUNCTION(cuMemRelease, (uint64_t handle))                                                      \
    FUNCTION(cuMemMap,                                                                             \
             (uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags))     \
    FUNCTION(cuMemUnmap, (uint64_t address, size_t bytes))                                         \
    FUNCTION(cuMemSetAccess,                                                                       \
             (uint64_t address, size_t bytes, const void *descriptors, size_t count))              \
    FUNCTION(cuMemExportToShareableHandle, (void *out, uint64_t handle, int type, uint64_t flags)) \
    FUNCTION(cuMemImportFromShareableHandle, (uint64_t * out, void *os_handle, int type))          \
    FUNCTION(cuMemcpy, (uint64_t target, uint64_t source, size_t bytes))                           \
    FUNCTION(cuMemcpyHtoD_v2, (uint64_t target, const void *source, size_t bytes))                 \
    FUNCTION(cuMemcpyDtoH_v2, (void *target, uint64_t source, size_t bytes))                       \
    FUNCTION(cuMemcpyAsync, (uint64_t target, uint64_t source, size_t bytes, void *stream))        \
    FUNCTION(cuMemcpyHtoDAsync_v2,                                                                 \
             (uint64_t target, const void *source, size_t bytes, void *stream))                    \
    FUNCTION(cuMemcpyDtoHAsync_v2, (void *target, uint64_t source, size_t bytes, void *stream))    \
    FUNCTION(cuMemcpy3DAsync_v2, (const struct cu_copy *copy, void *stream))                       \
    FUNCTION(cuMemsetD8Async, (uint64_t target, unsigned char value, size_t count, void *stream))  \
    FUNCTION(cuMemsetD16Async,                                                                     \
             (uint64_t target, unsigned short value, size_t count, void *stream))                  \
    FUNCTION(cuMemsetD32Async, (uint64_t target, unsigned value, size_t count, void *stream))      \
    FUNCTION(cuModuleLoadData, (void **out, const void *image))                                    \
    FUNCTION(cuModuleLoadDataEx,                                                                   \
             (void **out, const void *image, unsigned count, int *options, void **values))         \
    FUNCTION(cuModuleUnload, (void *module))                                                       \
    FUNCTION(cuModuleGetFunction, (void **out, void *module, const char *name))                    \
    FUNCTION(cuModuleGetFunctionCount, (unsigned *out, void *module))                              \
    FUNCTION(cuModuleEnumerateFunctions, (void **out, unsigned count, void *module))               \
    FUNCTION(cuModuleGetGlobal_v2, (uint64_t * out, size_t * bytes, void *module, const char *n))  \
    FUNCTION(cuLinkCreate_v2, (unsigned count, int *options, void **values, void **out))           \
    FUNCTION(cuLinkAddData_v2, (void *link, int type, void *data, size_t bytes, const char *name,  \
                                unsigned count, int *options, void **values))                      \
    FUNCTION(cuLinkComplete, (void *link, void **out, size_t *bytes))                              \
    FUNCTION(cuLinkDestroy, (void *link))                                                          \
    FUNCTION(cuFuncGetName, (const char **out, void *function))                                    \
    FUNCTION(cuFuncGetParamInfo, (void *function, size_t index, size_t *offset, size_t *size))     \
    FUNCTION(cuFuncGetAttribute, (int *out, int attribute, void *function))                        \
    FUNCTION(cuFuncSetAttribute, (void *function, int attribute, int value))                       \
    FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                          \
             (int *out, void *function, int threads, size_t shared))                               \
    FUNCTION(cuOccupancyMaxPotentialBlockSize,                                                     \
             (int *grid, int *block, void *function, void *shared_of, size_t shared, int limit))   \
    FUNCTION(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,   \
                              unsigned block_x, unsigned block_y, unsigned block_z,                \
                              unsigned shared, void *stream, void **parameters, void **extra))     \
    FUNCTION(cuLaunchCooperativeKernel,                                                            \
             (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
              unsigned block_y, unsigned block_z, unsigned shared, void *stream,                   \
              void **parameters))                                                                  \
    FUNCTION(cuLaunchHostFunc, (void *stream, void (*function)(void *), void *data))               \
    FUNCTION(cuStreamCreate, (void **out, unsigned flags))                                         \
    FUNCTION(cuStreamCreateWithPriority, (void **out, unsigned flags, int priority))               \
    FUNCTION(cuStreamDestroy_v2, (void *stream))                                                   \
    FUNCTION(cuStreamSynchronize, (void *stream))                                                  \
    FUNCTION(cuStreamQuery, (void *stream))                                                        \
    FUNCTION(cuStreamWaitEvent, (void *stream, void *event, unsigned flags))                       \
    FUNCTION(cuEventCreate, (void **out, unsigned flags))                                          \
    FUNCTION(cuEventDestroy_v2, (void *event))                                                     \
    FUNCTION(cuEventRecord, (void *event, void *stream))                                           \
    FUNCTION(cuEventQuery, (void *event))                                                          \
    FUNCTION(cuEventSynchronize, (void *event))                                                    \
    FUNCTION(cuEventElapsedTime, (float *out, void *start, void *end))

#endif
