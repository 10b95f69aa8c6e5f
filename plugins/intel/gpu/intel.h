#ifndef ZETA_PLUGINS_INTEL_GPU_INTEL_H
#define ZETA_PLUGINS_INTEL_GPU_INTEL_H

/*
 * What the files of the plugin share: the plugin object (one per manifest, so one per generation)
 * and its devices.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugins/intel/kmd/kmd.h"

/** PCI vendor of all GPUs here. */
#define ZETA_INTEL_VENDOR 0x8086u

/** The id of a device: a PCI address, and ".1" for a tile, whatever its number. */
#define ZETA_INTEL_ID_BYTES 36u

/** A GPU or one of its tiles as the host sees it. */
struct zeta_plugin_device {
    struct zeta_intel_gpu *gpu;
    uint32_t tile;                /**< of a tile; 0 for a root */
    bool is_tile;                 /**< a tile of a root; GPUs with one tile have a root only */
    uint32_t parent;              /**< index of the root, UINT32_MAX for a root */
    char id[ZETA_INTEL_ID_BYTES]; /**< "0000:03:00.0", tiles "0000:03:00.0.1" */
    char name[160];
    uint8_t uuid[16];
    struct zeta_plugin_queue_group queue_group;
    struct zeta_plugin_memory memory;
    struct zeta_plugin_symbol *symbols;
    uint32_t symbol_count;
};

/** The state of an initialised plugin object. */
struct zeta_intel {
    struct zeta_plugin *self;
    const struct zeta_host *host;          /**< of self */
    struct zeta_intel_platforms platforms; /**< of the generation */
    struct zeta_intel_gpu *gpus;
    uint32_t gpu_count;
    struct zeta_plugin_device *devices;
    uint32_t device_count;
    pthread_mutex_t lock; /**< of what streams and pools share; a leaf */
    struct zeta_softqueue_pool *queues;
    pthread_mutex_t sampler_lock;        /**< of the list; held while units are opened and closed */
    struct zeta_intel_sampler *samplers; /**< of query pools (sampler.h) */
};

struct zeta_plugin {
    struct zeta_host host;
    struct zeta_intel *intel; /**< NULL: not initialised */
};

/* Operations of the plugin object (state.c), as zeta/plugin.h has them. */
uint32_t zeta_intel_init(struct zeta_plugin *self);
void zeta_intel_finish(struct zeta_plugin *self);
uint32_t zeta_intel_child_after_fork(struct zeta_plugin *self);

/* ---- discovery (discover.c, device.c) ----------------------------------------------------- */

/**
 * Fills intel->gpus with those GPUs of the machine that are of the platforms and can be opened.
 * None is SUCCESS, unless some are there and not one can be opened or count.
 */
uint32_t zeta_intel_discover(struct zeta_intel *intel);

/** Makes the devices, with their symbols, out of the GPUs. OUT_OF_HOST_MEMORY. */
uint32_t zeta_intel_devices_make(struct zeta_intel *intel);

static inline const struct zeta_intel_tile *
zeta_intel_device_tile(const struct zeta_plugin_device *device)
{
    return &device->gpu->tiles[device->tile];
}

/** Ticks or times of one rate in another; in two parts, because the product need not fit. */
static inline uint64_t zeta_intel_scale(uint64_t value, uint64_t to, uint64_t from)
{
    return value / from * to + value % from * to / from;
}

/**
 * Ticks per second of the device's timer: the OA clock of the tile's OAG unit, else the command
 * streamer's. Never 0.
 */
uint64_t zeta_intel_timer_hz(const struct zeta_plugin_device *device);

/** Two clocks at one time. */
struct zeta_intel_reading {
    uint64_t ticks; /**< of the unit, not wrapped */
    uint64_t host_ns;
};

/** As clock() of struct zeta_intel_kmd. */
uint32_t zeta_intel_unit_clock(struct zeta_plugin_device *device,
                               const struct zeta_intel_unit *unit,
                               struct zeta_intel_reading *out_reading);

/* ---- units and programs (unit.c, program.c) ----------------------------------------------- */

/**
 * The unit of that name on a device's tile. UNSUPPORTED_FEATURE, with those that there are;
 * NOT_AVAILABLE where the GPU has no metrics.
 */
uint32_t zeta_intel_unit_get(const struct zeta_plugin_device *device,
                             struct zeta_plugin_string name,
                             const struct zeta_intel_unit **out_unit);

/**
 * Fills the format and the size of reports of request->unit. INVALID_ARGUMENT if the layout of the
 * set has records of another size, or the kernel's driver has no such reports.
 */
uint32_t zeta_intel_unit_reports(const struct zeta_plugin_device *device,
                                 struct zeta_plugin_string set, uint32_t record_bytes,
                                 struct zeta_intel_stream_request *request);

/** The least exponent that the kernel lets this process have, or every process. */
uint32_t zeta_intel_period_least(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_intel_unit *unit, bool for_everybody);

/** From that to the exponent of most_ns (0: any). NOT_AVAILABLE if there are none. */
uint32_t zeta_intel_period_range(const struct zeta_plugin_device *device,
                                 const struct zeta_intel_unit *unit, bool for_everybody,
                                 uint64_t most_ns, uint32_t *out_least, uint32_t *out_most);

/** The exponent from least to most whose period is nearest to the wanted one. */
uint32_t zeta_intel_period_exponent(const struct zeta_intel_unit *unit, uint64_t period_ns,
                                    uint32_t least, uint32_t most);

/**
 * Opens the one stream of a unit that this process may have, and starts it.
 *
 * @holder  what for: "a stream of RenderBasic"
 * HANDLE_OBJECT_IN_USE: this process has it; else as stream_open() of the kmd.
 */
uint32_t zeta_intel_unit_open(struct zeta_intel_gpu *gpu,
                              const struct zeta_intel_stream_request *request, const char *holder,
                              struct zeta_intel_kernel_stream **out_stream);
/** Closes it and gives up the unit. */
void zeta_intel_unit_close(struct zeta_intel_kernel_stream *stream);

/**
 * Makes a program of entries (struct zeta_plugin_program_entry). INVALID_ARGUMENT, also for a
 * register that set files do not let programs write. The uuid may be empty. Freed with
 * zeta_intel_program_finish(), also after a failure.
 */
uint32_t zeta_intel_program_make(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_plugin_array *entries,
                                 struct zeta_plugin_string set, struct zeta_plugin_string uuid,
                                 struct zeta_intel_program *out_program);
void zeta_intel_program_finish(struct zeta_intel_program *program);

/** The operations, each group in the file of its name. */
extern const struct zeta_plugin_device_ops zeta_intel_device_ops;
extern const struct zeta_plugin_compute_ops zeta_intel_queue_ops;
extern const struct zeta_plugin_metric_ops zeta_intel_metric_ops;
extern const struct zeta_plugin_debug_ops zeta_intel_debug_ops;

#endif
