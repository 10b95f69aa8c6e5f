/*
 * Backends: active plugins, and the devices that they provide.
 *
 * Callers reach a backend through the tables in struct zeta_backend. They are full size, and every
 * function that the plugin lacks is a stub that returns UNSUPPORTED_FEATURE or does nothing, so
 * nobody tests a slot before calling it (stream_pending answers UINT64_MAX when the plugin does not
 * know, stream_descriptor -1, status SUCCESS):
 *
 *     const struct zeta_provider *p = &device->providers[ZETA_GROUP_METRIC_STREAM];
 *     if (!p->backend)
 *         return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ...);
 *     p->backend->metric.limits(p->backend->self, p->device, unit, &limits);
 */
#ifndef ZETA_CORE_PLUGIN_BACKEND_H
#define ZETA_CORE_PLUGIN_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <level_zero/ze_api.h>

#include "zeta/plugin.h"

/** Groups of the API that a plugin can provide; the keys of a manifest's "provides". */
enum zeta_api_group {
    ZETA_GROUP_COMPUTE,
    ZETA_GROUP_METRIC_STREAM,
    ZETA_GROUP_METRIC_QUERY,
    ZETA_GROUP_METRIC_TRACER,
    ZETA_GROUP_METRIC_PROGRAMMABLE,
    ZETA_GROUP_DEBUG,
    ZETA_GROUP_INSTRUMENT,
    ZETA_GROUP_COUNT
};

/** Name of a group as manifests write it: "metric.stream". Static. */
const char *zeta_api_group_name(enum zeta_api_group group);

/**
 * Whether a plugin drives hardware, shows what was recorded, or computes its devices. Devices are
 * listed in this order.
 */
enum zeta_device_class {
    ZETA_CLASS_HARDWARE,
    ZETA_CLASS_REPLAY,
    ZETA_CLASS_SOFTWARE,
    ZETA_CLASS_COUNT
};

/** "hardware", "replay" or "software". Static. */
const char *zeta_device_class_name(enum zeta_device_class device_class);

/** One active plugin. Valid until zeta_plugin_host_stop(); read-only for everybody but the host. */
struct zeta_backend {
    const char *id;       /**< of the manifest */
    const char *version;  /**< that the plugin reported, "" if none */
    const char *manifest; /**< path */
    const char *data_dir; /**< absolute directory of the manifest's data */
    enum zeta_device_class device_class;

    const char *const *set_files; /**< paths of the manifest's set files, globs expanded, sorted */
    size_t set_file_count;

    struct zeta_plugin *self; /**< first argument of every operation */
    bool has_stream_pending;  /**< stream_pending is the plugin's own, not a stub */
    bool has_stream_stop;     /**< the same for stream_stop */
    bool has_sharing;         /**< memory can be exported and imported */
    struct zeta_plugin_device_ops device;
    struct zeta_plugin_compute_ops compute; /**< stubs where it has nothing */
    struct zeta_plugin_metric_ops metric;
    struct zeta_plugin_tracer_ops tracer;
    struct zeta_plugin_debug_ops debug;
};

/** Who provides one group of the API for one device. */
struct zeta_provider {
    struct zeta_backend *backend;      /**< NULL when nobody does */
    struct zeta_plugin_device *device; /**< the backend's own name of the device */
};

/** One device, merged from all plugins that see it. Roots come before their tiles. */
struct zeta_backend_device {
    const char *id; /**< PCI address or virtual id; tiles: the id that their plugin gave */
    size_t parent;  /**< index of the root in zeta_plugin_host_devices(), SIZE_MAX for a root */
    uint32_t tile;  /**< number on its root, 0 for a root */

    /**
     * The plugin whose properties these are: who computes, else who has queries and so the queues,
     * else the first in order.
     */
    struct zeta_provider identity;
    /** Of the identity; full size, zero where the plugin's struct is shorter. */
    struct zeta_plugin_device_properties properties;

    struct zeta_provider providers[ZETA_GROUP_COUNT];
};

/**
 * Turns the result of a plugin's function into one of ours: the same number, and a sentence that
 * names the plugin if the plugin left none through host->fail() during the call.
 * what: what was being done, "opening a stream of ComputeBasic on vgpu0".
 */
ze_result_t zeta_backend_result(const struct zeta_backend *backend, uint32_t result,
                                const char *what);

/** The sentence that a call left on this thread though it succeeded; NULL: none. As
 * zeta_error_describe(). */
const char *zeta_backend_note(const struct zeta_backend *backend);

/** An element of an array of a plugin, whose stride may differ from our struct's size. */
static inline const void *zeta_array_at(const struct zeta_plugin_array *array, uint64_t index)
{
    return (const char *)array->data + index * array->stride;
}

/** Copies an element, whose stride may be smaller than our struct; the rest is zero. */
static inline void zeta_array_read(const struct zeta_plugin_array *array, uint64_t index, void *out,
                                   size_t out_bytes)
{
    size_t known = array->stride < out_bytes ? (size_t)array->stride : out_bytes;

    memset(out, 0, out_bytes);
    memcpy(out, (const char *)array->data + index * array->stride, known);
}

#endif
