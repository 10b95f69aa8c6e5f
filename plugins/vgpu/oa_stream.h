#ifndef ZETA_PLUGINS_VGPU_OA_STREAM_H
#define ZETA_PLUGINS_VGPU_OA_STREAM_H

/*
 * A stream of reports. Private to oa*.c.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "oa_report.h"
#include "oa_ring.h"
#include "oa_select.h"
#include "plugin.h"

/** What a stream knew about a process when it looked last. */
struct zeta_vgpu_seen {
    uint64_t generation;
    uint64_t busy_ns;
};

struct zeta_plugin_stream {
    struct zeta_vgpu *vgpu;
    struct zeta_vgpu_instance *instance;
    uint32_t unit;
    uint32_t first_tile, tile_count;
    uint32_t rows; /**< of each tile */
    bool is_virtual;
    struct zeta_vgpu_program program;
    uint64_t period_ticks; /**< a power of two */
    struct zeta_vgpu_ring ring;

    /* State of sampling; the thread, or in virtual time the lock of the first tile, owns it. */
    uint64_t next_ticks;      /**< the next deadline */
    uint64_t last_ticks;      /**< of the last report */
    uint64_t number;          /**< reports so far, lost ones included */
    uint32_t context;         /**< that ran when we looked last */
    uint64_t modelled_clocks; /**< in the last report */
    uint64_t extra_clocks;    /**< counted while the model had none */
    uint64_t seen_ns;         /**< host time up to which idle_ns is counted */
    uint64_t idle_ns;         /**< since the stream was opened */
    uint64_t reap_ns;         /**< host time of the last look for dead processes */
    struct zeta_vgpu_seen (*seen)[ZETA_VGPU_SLOTS]; /**< per tile */
    uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT];    /**< of tile_count x rows */
    uint64_t (*fresh)[ZETA_VGPU_COUNTER_COUNT];     /**< room for the next ones */
    uint64_t (*origin)[ZETA_VGPU_COUNTER_COUNT];    /**< subtracted; virtual time only */
    uint64_t *switch_cursors;                       /**< per tile */
    struct zeta_vgpu_switch *switch_event; /**< NULL without switches; the next one, if any */
    uint32_t switch_tile;
    bool has_switch;

    /* The thread of wall time. */
    pthread_mutex_t lock; /**< guards stopping */
    pthread_cond_t wake;
    pthread_t thread;
    bool stopping;
    bool running;

    uint32_t units_taken;                 /**< tiles whose unit we hold */
    struct zeta_plugin_stream *next;      /**< in the list of a tile, virtual time only */
    struct zeta_plugin_stream *next_open; /**< in the list of the device */
};

/** Takes the first report and begins to sample. False when no thread can be started. */
bool zeta_vgpu_sampler_start(struct zeta_plugin_stream *stream);

/** Ends sampling; no report is written afterwards. Idempotent. */
void zeta_vgpu_sampler_stop(struct zeta_plugin_stream *stream);

#endif
