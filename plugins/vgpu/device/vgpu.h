#ifndef ZETA_PLUGINS_VGPU_DEVICE_VGPU_H
#define ZETA_PLUGINS_VGPU_DEVICE_VGPU_H

/*
 * The plugin object of the virtual GPU: one per manifest, made by zeta_plugin_negotiate().
 *
 * struct zeta_plugin lives until the process ends. Everything that init() makes hangs off
 * struct zeta_vgpu, so that finish() and a fork leave nothing behind but an empty pointer.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <zeta/plugin.h>
#include <zeta/plugin_host.h>
#include <zeta/softqueue.h>

#include "describe.h"
#include "plugins/vgpu/engine/engine.h"

struct zeta_compiler;
struct zeta_vgpu_instance;
struct zeta_vgpu_memory;
struct zeta_vgpu_pool;
struct zeta_vgpu_space;
struct zeta_vgpu_target;
struct zeta_vgpu_tile;

/** Numbers that expressions of set files may use. */
#define ZETA_VGPU_SYMBOLS 7u

/** A device as the host sees it: the root, or one of its tiles when there are several. */
struct zeta_plugin_device {
    struct zeta_vgpu *vgpu;
    char id[ZETA_VGPU_ID_BYTES + 12];
    uint32_t parent;     /**< index of the root, UINT32_MAX for the root itself */
    uint32_t first_tile; /**< what it consists of */
    uint32_t tile_count;
    struct zeta_plugin_memory memory;
    struct zeta_plugin_cache caches[2]; /**< L1 of a subslice, L3 of a tile */
    struct zeta_plugin_symbol symbols[ZETA_VGPU_SYMBOLS];
};

/** What this process has executed on a tile, in modelled clocks: the virtual time of the tile. */
struct zeta_vgpu_work {
    _Atomic uint64_t kernel_clocks; /**< as the engine published them */
    _Atomic uint64_t copy_clocks;   /**< of the copy engine */
};

/** The state of an initialised plugin object. */
struct zeta_vgpu {
    struct zeta_plugin *self;
    struct zeta_vgpu_description description;
    uint32_t workers; /**< threads per tile that execute kernels */

    struct zeta_vgpu_space *space;   /**< memory that kernels may touch */
    struct zeta_vgpu_pool *pool;     /**< the file that memory is part of */
    struct zeta_vgpu_memory *memory; /**< allocations */
    struct zeta_softqueue_pool *queues;
    struct zeta_compiler *compiler;  /**< of SPIR-V modules */
    struct zeta_vgpu_target *target; /**< what debuggers attach to */

    uint32_t device_count;
    struct zeta_plugin_device devices[1 + ZETA_VGPU_MAX_TILES];
    struct zeta_vgpu_tile *tiles;                    /**< description.tiles of them */
    struct zeta_vgpu_work work[ZETA_VGPU_MAX_TILES]; /**< by tile */

    pthread_mutex_t objects_lock; /**< guards the lists of what the host has; a leaf */
    LIST_HEAD(, zeta_plugin_queue) open_queues;
    LIST_HEAD(, zeta_plugin_stream) open_streams;
    LIST_HEAD(, zeta_plugin_tracer) open_tracers;
    LIST_HEAD(, zeta_plugin_query_pool) open_pools;

    _Atomic uint64_t launches;    /**< counted while fault.device_lost is set */
    _Atomic uint32_t queues_made; /**< gives queues their ids */
    _Atomic uint32_t core_dumps;  /**< that this process has begun to write */
    atomic_bool lost;             /**< the whole device, by fault.device_lost */

    pthread_mutex_t instance_lock; /**< guards the making of instance */
    struct zeta_vgpu_instance *_Atomic instance;
    atomic_bool damage_reported; /**< that the instance was overwritten */
};

struct zeta_plugin {
    struct zeta_host host;
    struct zeta_vgpu *vgpu; /**< NULL before init() and after finish() */
};

#endif
