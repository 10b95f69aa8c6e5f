#ifndef ZETA_PLUGINS_INTEL_GPU_INTEL_H
#define ZETA_PLUGINS_INTEL_GPU_INTEL_H

/*
 * What the files of the plugin share: the plugin object (one per manifest, that is: per
 * generation), its GPUs, and the platforms of the generation, which are data.
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

/** init() of the plugin: reads the platforms, looks for GPUs. */
uint32_t zeta_intel_init(struct zeta_plugin *self);
/** finish() of the plugin. */
void zeta_intel_finish(struct zeta_plugin *self);

/** Makes the state of a plugin object anew in a child of fork(). */
uint32_t zeta_intel_child_after_fork(struct zeta_plugin *self);

/* ---- discovery (discover.c, device.c) ----------------------------------------------------- */

/**
 * Fills intel->gpus with those GPUs of the machine that are of the platforms and can be opened.
 * None is SUCCESS, unless some are there and not one can be opened or count: the sentence says why.
 */
uint32_t zeta_intel_discover(struct zeta_intel *intel);

/** Makes the devices, with their symbols, out of the GPUs. OUT_OF_HOST_MEMORY. */
uint32_t zeta_intel_devices_make(struct zeta_intel *intel);

/** Tile of a device, never null. */
const struct zeta_intel_tile *zeta_intel_device_tile(const struct zeta_plugin_device *device);

/**
 * Ticks per second of the device's timer: the OA clock of the tile's OAG unit, else the command
 * streamer's. Never 0.
 */
uint64_t zeta_intel_timer_hz(const struct zeta_plugin_device *device);

/**
 * Reads the clock of a unit, not wrapped, and that of the host at the same time. As clock() of
 * struct zeta_intel_kmd.
 */
uint32_t zeta_intel_unit_clock(struct zeta_plugin_device *device,
                               const struct zeta_intel_unit *unit, uint64_t *out_ticks,
                               uint64_t *out_host_ns);

/* ---- units and programs (unit.c, program.c) ----------------------------------------------- */

/** The unit of that name on a device's tile; NULL if there is none. */
const struct zeta_intel_unit *zeta_intel_unit_find(const struct zeta_plugin_device *device,
                                                   struct zeta_plugin_string name);

/**
 * As zeta_intel_unit_find(); without such a unit a sentence says which there are, or why there are
 * none. UNSUPPORTED_FEATURE; NOT_AVAILABLE where the GPU has no metrics.
 */
uint32_t zeta_intel_unit_get(const struct zeta_plugin_device *device,
                             struct zeta_plugin_string name,
                             const struct zeta_intel_unit **out_unit);

/**
 * Fills the format and the size of reports of request->unit. INVALID_ARGUMENT with a sentence if
 * the layout of the set has records of another size, or the kernel's driver has no such reports.
 */
uint32_t zeta_intel_unit_reports(const struct zeta_plugin_device *device,
                                 struct zeta_plugin_string set, uint32_t record_bytes,
                                 struct zeta_intel_stream_request *request);

/** Whether reports of a unit have headers of 64 bits, with time stamps of 56. */
bool zeta_intel_unit_is_wide(const struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit);

/**
 * The exponents whose period is at least so long, and at most the other (0: any). NOT_AVAILABLE
 * with a sentence if there are none.
 */
uint32_t zeta_intel_period_range(const struct zeta_plugin_device *device,
                                 const struct zeta_intel_unit *unit, uint64_t least_ns,
                                 uint64_t most_ns, uint32_t *out_least, uint32_t *out_most);

/** The exponent from least to most whose period is nearest to the wanted one. */
uint32_t zeta_intel_period_exponent(const struct zeta_intel_unit *unit, uint64_t period_ns,
                                    uint32_t least, uint32_t most);

/*
 * Periods of EU stall sampling. The kernel takes a few fixed distances between two samples, in
 * cycles of the core clock; users say nanoseconds. Both meet at the highest clock of the tile, that
 * of a GPU which is busy: at a lower clock the samples lie further apart.
 */

/** Clock to reckon with while the kernel tells none. */
#define ZETA_INTEL_STALL_HZ 1000000000u

/**
 * Nanoseconds between two samples at one of the unit's rates, rounded up; 0 if it has no such rate.
 *
 * @max_hz  of the tile's core clock, 0: unknown
 */
uint64_t zeta_intel_stall_period(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                 uint32_t index);

/**
 * Index of the rate whose period is nearest to the wanted one; of two that are as near, the
 * shorter.
 */
uint32_t zeta_intel_stall_nearest(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                  uint64_t period_ns);

/** The shortest and the longest period; both 0 for a unit without rates. */
void zeta_intel_stall_limits(const struct zeta_intel_unit *unit, uint64_t max_hz,
                             uint64_t *out_min_ns, uint64_t *out_max_ns);

/**
 * Opens the one stream of a unit that this process may have, and starts it. holder says what for.
 * HANDLE_OBJECT_IN_USE: this process has it; else as stream_open() of the kmd.
 */
uint32_t zeta_intel_unit_open(struct zeta_intel_gpu *gpu,
                              const struct zeta_intel_stream_request *request, const char *holder,
                              struct zeta_intel_kernel_stream **out_stream);
/** Closes it and gives up the unit. */
void zeta_intel_unit_close(struct zeta_intel_kernel_stream *stream);

/**
 * Makes a program of what the host gives. INVALID_ARGUMENT with a sentence, also for a register
 * that set files do not let programs write. Freed with zeta_intel_program_finish(), also after a
 * failure.
 *
 * @entries  of struct zeta_plugin_program_entry
 * @uuid     may be empty
 */
uint32_t zeta_intel_program_make(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_plugin_array *entries,
                                 struct zeta_plugin_string set, struct zeta_plugin_string uuid,
                                 struct zeta_intel_program *out_program);
void zeta_intel_program_finish(struct zeta_intel_program *program);

/* Time-based streams (stream.c), as zeta/plugin.h has them. There is no stop: the host takes what
 * is left and closes, which gives up the unit as well. */
uint32_t zeta_intel_stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_stream_desc *desc,
                                struct zeta_plugin_stream **out_stream);
uint32_t zeta_intel_stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                                void *buffer, uint64_t capacity_bytes,
                                struct zeta_plugin_read *out_read);
int32_t zeta_intel_stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
void zeta_intel_stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream);

/** The operations, each group in the file of its name. */
extern const struct zeta_plugin_device_ops zeta_intel_device_ops;
extern const struct zeta_plugin_compute_ops zeta_intel_queue_ops;
extern const struct zeta_plugin_metric_ops zeta_intel_metric_ops;

#endif
