#ifndef ZETA_PLUGINS_INTEL_INTEL_H
#define ZETA_PLUGINS_INTEL_INTEL_H

/*
 * What the files of the plugin share: the plugin object (one per manifest, that is: per
 * generation), its GPUs, and the platforms of the generation, which are data.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "kmd.h"
#include "platform.h"

/** One GPU of the machine. Lives from init() to finish(). */
struct zeta_intel_gpu {
    struct zeta_intel *intel;
    const struct zeta_intel_kmd *kmd;
    const struct zeta_intel_platform *platform;
    int fd;      /**< of the render node, else of the card; -1: could not be opened */
    char id[24]; /**< PCI address: "0000:03:00.0" */
    char name[128];
    char node[64]; /**< path of the node that fd is of */
    char card[64]; /**< directory of the card in sysfs: "/sys/class/drm/card0" */
    uint32_t device_id, revision;
    uint32_t pci_domain, pci_bus, pci_device, pci_function;
    bool integrated;
    uint32_t tile_count; /**< at least 1 */
    struct zeta_intel_tile tiles[ZETA_INTEL_TILES];
    uint32_t unit_count;
    struct zeta_intel_unit units[ZETA_INTEL_UNITS];
    char no_metrics[512]; /**< not empty: it has no metrics, for this reason (a sentence) */
};

/** A GPU or one of its tiles as the host sees it. */
struct zeta_plugin_device {
    struct zeta_intel_gpu *gpu;
    uint32_t tile;   /**< of a tile; 0 for a root */
    bool is_tile;    /**< a tile of a root; GPUs with one tile have a root only */
    uint32_t parent; /**< index of the root, UINT32_MAX for a root */
    char id[32];     /**< "0000:03:00.0", tiles "0000:03:00.0.1" */
    uint8_t uuid[16];
    struct zeta_plugin_symbol *symbols;
    uint32_t symbol_count;
};

/** The state of an initialised plugin object. */
struct zeta_intel {
    struct zeta_plugin *self;
    struct zeta_intel_platforms platforms; /**< of the generation */
    struct zeta_intel_gpu *gpus;
    uint32_t gpu_count;
    struct zeta_plugin_device *devices;
    uint32_t device_count;
    pthread_mutex_t lock; /**< of what streams and pools share; a leaf */
};

struct zeta_plugin {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
    char id[64];
    char data_dir[512];
    struct zeta_intel *intel; /**< NULL: not initialised */
};

/** Leaves a sentence for the user and returns the result. */
uint32_t zeta_intel_fail(const struct zeta_intel *intel, uint32_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Writes a message to the log of the host (ZETA_PLUGIN_LOG_*). */
void zeta_intel_log(const struct zeta_intel *intel, uint32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The unit of that name on a device's tile; NULL if there is none. */
const struct zeta_intel_unit *zeta_intel_unit_find(const struct zeta_plugin_device *device,
                                                   struct zeta_plugin_string name);

/** The operations, each group in the file of its name. */
extern const struct zeta_plugin_device_ops zeta_intel_device_ops;
extern const struct zeta_plugin_compute_ops zeta_intel_queue_ops;
extern const struct zeta_plugin_metric_ops zeta_intel_metric_ops;

#endif
