#ifndef ZETA_PLUGINS_VGPU_TILE_TILE_H
#define ZETA_PLUGINS_VGPU_TILE_TILE_H

/*
 * One tile of the virtual device in this process: its engine, its copy engine, what it does now,
 * and how that reaches the counters of the instance.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "eu_watch.h"
#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/trace/trace.h"
#include "turns.h"

struct zeta_vgpu;
struct zeta_vgpu_meter;
struct zeta_plugin_stream;

/** How fast epochs were lately. */
struct zeta_vgpu_speed {
    double instruction_ns;  /**< what an instruction took, the median */
    double time_ns, clocks; /**< of an epoch, on average */
};

struct zeta_vgpu_tile {
    struct zeta_vgpu *vgpu;
    uint32_t index;
    uint32_t rows; /**< of counters: one per subslice, then the copy engine */

    pthread_mutex_t lock; /**< guards all down to streams_lock; never held while a kernel runs */
    struct zeta_vgpu_engine *engine; /**< NULL before the first queue */
    struct zeta_vgpu_turns turns;    /**< of launches */
    uint32_t busy_depth;             /**< commands that run now */
    uint64_t commands;               /**< that began so far */
    bool metered;                    /**< the launch that has its turn; of the one who launches */
    struct zeta_vgpu_activity activity;
    uint64_t copied[ZETA_VGPU_COUNTER_COUNT]; /**< counters of the copy engine */

    struct zeta_vgpu_eu_watch eu_watch;

    struct zeta_vgpu_speed speed;   /**< of who publishes */
    _Atomic uint64_t kernel_clocks; /**< modelled clocks of kernels, published ones */
    _Atomic uint64_t copy_clocks;   /**< modelled clocks of the copy engine */
    _Atomic uint32_t lost_queues;   /**< queues that faulted and still exist */

    struct zeta_vgpu_trace_writer trace; /**< events for tracers */

    pthread_mutex_t streams_lock;       /**< guards streams; a leaf */
    struct zeta_plugin_stream *streams; /**< of virtual time, which this process drives */
};

/** Sets up a tile without an engine. */
void zeta_vgpu_tile_init(struct zeta_vgpu_tile *tile, struct zeta_vgpu *vgpu, uint32_t index);

/** Ends the engine. No queue exists any more. */
void zeta_vgpu_tile_finish(struct zeta_vgpu_tile *tile);

/**
 * Makes the engine and takes a slot in the instance; idempotent, any thread.
 * Returns a result code of the plugin interface and leaves a sentence on failure.
 */
uint32_t zeta_vgpu_tile_prepare(struct zeta_vgpu_tile *tile);

/**
 * Runs a kernel when it is its turn. As zeta_vgpu_engine_launch(), and the wait for the turn can be
 * interrupted too.
 *
 * @context  id of the queue for the counters
 * @rank     a launch waits while one of a better rank does
 * @meter    counts what the launch does; NULL: nobody wants to know
 */
enum zeta_vgpu_result zeta_vgpu_tile_launch(struct zeta_vgpu_tile *tile,
                                            const struct zeta_vgpu_launch *launch, uint32_t context,
                                            enum zeta_vgpu_rank rank, struct zeta_vgpu_meter *meter,
                                            struct zeta_vgpu_fault *out_fault);

/** Wakes launches that wait for their turn, so that they see their interrupt flag. */
void zeta_vgpu_tile_wake(struct zeta_vgpu_tile *tile);

/** Bytes that the modelled copy engine of a tile moves in a clock. */
#define ZETA_VGPU_COPY_BYTES_PER_CLOCK 64u

/** A copy that the copy engine works on. */
struct zeta_vgpu_tile_copy {
    struct zeta_vgpu_tile *tile;
    struct zeta_vgpu_meter *meter;
    uint64_t read_bytes, written_bytes; /**< counted so far */
    uint64_t since_ns;                  /**< host time from which the rest is executed */
};

/** The copy engine begins to work for a context; the meter, or NULL, counts what it does. */
void zeta_vgpu_tile_copy_begin(struct zeta_vgpu_tile *tile, uint32_t context,
                               struct zeta_vgpu_meter *meter, struct zeta_vgpu_tile_copy *out_copy);

/** It has read and written so many bytes of memory since then. */
void zeta_vgpu_tile_copy_moved(struct zeta_vgpu_tile_copy *copy, uint64_t read_bytes,
                               uint64_t written_bytes);

/** It ends; what it moved is counted. */
void zeta_vgpu_tile_copy_end(struct zeta_vgpu_tile_copy *copy);

/** Commands that began on the tile so far, and whether one runs now. Any thread. */
uint64_t zeta_vgpu_tile_commands(struct zeta_vgpu_tile *tile, bool *out_running);

/**
 * Sets a marker on the tile: the value appears in the data of a unit, with the totals of now.
 *
 * @token      of the stream that shall have it; 0: any
 * @interrupt  ends a wait for a reader that is late
 */
void zeta_vgpu_tile_mark(struct zeta_vgpu_tile *tile, uint32_t unit, uint64_t value, uint64_t token,
                         const atomic_bool *interrupt);

/** Modelled clocks of all work of this process on the tile. Any thread. */
uint64_t zeta_vgpu_tile_clocks(const struct zeta_vgpu_tile *tile);

#endif
