/*
 * What all parts of the interface between libzeta and its backends share: versions, results, text,
 * arrays and the objects of both sides. Backends include zeta/plugin.h, where the rules are.
 */
#ifndef ZETA_PLUGIN_BASE_H
#define ZETA_PLUGIN_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The newest version of this interface that the header describes. */
#define ZETA_PLUGIN_ABI 1u

/** True if the table or struct that p points to is large enough to hold member m. */
#define ZETA_PLUGIN_HAS(p, m)                                                                      \
    ((p)->struct_size >= (uint64_t)((const char *)(&(p)->m + 1) - (const char *)(p)))

/** Result codes, numerically those of ze_result_t. */
enum {
    ZETA_PLUGIN_SUCCESS = 0,
    ZETA_PLUGIN_NOT_READY = 1,
    ZETA_PLUGIN_DEVICE_LOST = 0x70000001,
    ZETA_PLUGIN_OUT_OF_HOST_MEMORY = 0x70000002,
    ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY = 0x70000003,
    ZETA_PLUGIN_MODULE_BUILD_FAILURE = 0x70000004,
    ZETA_PLUGIN_MODULE_LINK_FAILURE = 0x70000005,
    ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS = 0x70010000,
    ZETA_PLUGIN_NOT_AVAILABLE = 0x70010001,
    ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE = 0x70020000,
    ZETA_PLUGIN_UNSUPPORTED_VERSION = 0x78000002,
    ZETA_PLUGIN_UNSUPPORTED_FEATURE = 0x78000003,
    ZETA_PLUGIN_INVALID_ARGUMENT = 0x78000004,
    ZETA_PLUGIN_HANDLE_OBJECT_IN_USE = 0x78000006,
    ZETA_PLUGIN_INVALID_SIZE = 0x78000008,
    ZETA_PLUGIN_UNSUPPORTED_SIZE = 0x78000009,
    ZETA_PLUGIN_INVALID_NATIVE_BINARY = 0x7800000f,
    ZETA_PLUGIN_INVALID_GLOBAL_NAME = 0x78000010,
    ZETA_PLUGIN_INVALID_KERNEL_NAME = 0x78000011,
    ZETA_PLUGIN_INVALID_FUNCTION_NAME = 0x78000012,
    ZETA_PLUGIN_UNKNOWN = 0x7ffffffe
};

/** Text with an explicit length in bytes. data may be null when size is 0. */
struct zeta_plugin_string {
    const char *data;
    uint64_t size;
};

/** A read-only array whose elements are stride bytes apart. Owned by the side that made it. */
struct zeta_plugin_array {
    const void *data;
    uint64_t count;
    uint64_t stride;
};

/* Objects of the host that a plugin only passes back. */
struct zeta_plugin_host;
struct zeta_plugin_event;

/* Objects of the plugin that the host only passes back. */
struct zeta_plugin;
struct zeta_plugin_device;
struct zeta_plugin_module;
struct zeta_plugin_kernel;
struct zeta_plugin_queue;
struct zeta_plugin_stream;
struct zeta_plugin_query_pool;
struct zeta_plugin_tracer;
struct zeta_plugin_physical;
struct zeta_plugin_debug_session;

#ifdef __cplusplus
}
#endif

#endif
