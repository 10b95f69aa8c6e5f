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

#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/trace/trace.h"

struct zeta_vgpu;
struct zeta_vgpu_meter;
struct zeta_plugin_stream;

/*
 * Whose launch is next: one at a time, and of those that wait one of the best rank. All functions
 * expect the lock with which the owner guards the turns.
 */

/** Whose launch comes first when several wait; among equals nobody is promised anything. */
enum zeta_vgpu_rank {
    ZETA_VGPU_RANK_HIGH,
    ZETA_VGPU_RANK_NORMAL,
    ZETA_VGPU_RANK_LOW,
    ZETA_VGPU_RANK_COUNT
};

struct zeta_vgpu_turns {
    pthread_cond_t changed; /**< launches wait here for each other */
    bool taken;
    uint32_t waiting[ZETA_VGPU_RANK_COUNT]; /**< launches that wait for their turn */
};

/** Sets up turns that nobody has, and ends them when nobody waits. */
void zeta_vgpu_turns_init(struct zeta_vgpu_turns *turns);
void zeta_vgpu_turns_finish(struct zeta_vgpu_turns *turns);

/**
 * Waits for a turn, while the turn is taken or one of a better rank waits. The lock is released
 * meanwhile. False when the flag was set before the turn came.
 */
bool zeta_vgpu_turns_take_locked(struct zeta_vgpu_turns *turns, pthread_mutex_t *lock,
                                 const atomic_bool *interrupt, enum zeta_vgpu_rank rank);

/** Gives up the turn. */
void zeta_vgpu_turns_pass_locked(struct zeta_vgpu_turns *turns);

/** Wakes all who wait, so that they see their interrupt flag. */
void zeta_vgpu_turns_wake_locked(struct zeta_vgpu_turns *turns);

/** A counter that is wished for. */
struct zeta_vgpu_eu_seen {
    uint64_t number; /**< of the wish */
    uint64_t base;   /**< what the engine had counted when it was seen */
    uint64_t whole;  /**< what it had counted when an epoch was over last */
};

/** What a tile has published for which wish. Of the thread that publishes. */
struct zeta_vgpu_eu_watch {
    atomic_bool counts; /**< the engine counts for us */
    struct zeta_vgpu_eu_seen seen[ZETA_VGPU_EU_UNITS][ZETA_VGPU_EU_WISHES];
};

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

    struct zeta_vgpu_speed speed; /**< of who publishes */
    _Atomic uint32_t lost_queues; /**< queues that faulted and still exist */

    struct zeta_vgpu_trace_writer trace; /**< events for tracers */

    void (*advance)(struct zeta_vgpu_tile *tile); /**< see zeta_vgpu_tile_init() */
    pthread_mutex_t streams_lock;                 /**< guards streams; a leaf */
    struct zeta_plugin_stream *streams;           /**< of virtual time, which this process drives */
};

/**
 * Sets up a tile without an engine.
 * @advance  called when virtual time has moved on, on the thread that executes; no lock is held
 */
void zeta_vgpu_tile_init(struct zeta_vgpu_tile *tile, struct zeta_vgpu *vgpu, uint32_t index,
                         void (*advance)(struct zeta_vgpu_tile *tile));

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

/*
 * Counters of EUs that others want of this process: looks for wishes, lets the engine count, and
 * publishes.
 */

/**
 * Publishes what is wished for: in the callback of the engine that publishes, and while no launch
 * runs.
 *
 * @part  what of the last epoch is over
 */
void zeta_vgpu_eu_watch_publish(struct zeta_vgpu_tile *tile, struct zeta_vgpu_part part);

/** Before a launch: what it does counts for the wishes of now. */
void zeta_vgpu_eu_watch_begin(struct zeta_vgpu_tile *tile);

/*
 * What one queue did on its tile, to the last count. Launches take turns on a tile, so what the
 * engine counted more after a launch than before it is the work of that launch; the copy engine
 * says of each command what it did.
 *
 * A meter counts only while queries are open on it. It belongs to its queue and to the queries that
 * were begun on it: they find out there when the queue is no more.
 */

struct zeta_vgpu_tile;

struct zeta_vgpu_meter {
    atomic_uint references;
    atomic_uint open;  /**< queries that count with it */
    atomic_bool ended; /**< the queue is lost or gone */

    /* All else belongs to the thread that executes the queue. */
    struct zeta_vgpu_tile *tile;
    uint32_t rows;
    uint64_t commands; /**< of the queue on the tile; meaningful as a difference, like the rest */
    uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT]; /**< of the rows of a tile */
    uint64_t (*before)[ZETA_VGPU_COUNTER_COUNT]; /**< totals of the engine before a launch */
    atomic_uint open_eus;                        /**< of the open queries those that select EUs */
    uint64_t (*eu_totals)[ZETA_VGPU_COUNTER_COUNT]; /**< of the EUs of the tile; NULL before */
    uint64_t (*eu_before)[ZETA_VGPU_COUNTER_COUNT];
};

/** Makes the meter of a queue, with one reference. NULL without memory. */
struct zeta_vgpu_meter *zeta_vgpu_meter_create(struct zeta_vgpu_tile *tile);

/** The queue is lost or destroyed: what is open on the meter will have no end. NULL is allowed. */
void zeta_vgpu_meter_end(struct zeta_vgpu_meter *meter);

/** One more reference, and one less; the last one frees it. NULL is allowed. */
void zeta_vgpu_meter_ref(struct zeta_vgpu_meter *meter);
void zeta_vgpu_meter_unref(struct zeta_vgpu_meter *meter);

/** The meter if it counts now, else NULL. */
static inline struct zeta_vgpu_meter *zeta_vgpu_meter_counting(struct zeta_vgpu_meter *meter)
{
    return meter && atomic_load_explicit(&meter->open, memory_order_relaxed) > 0 ? meter : NULL;
}

/** Around a launch, while the queue has its turn on the tile. */
void zeta_vgpu_meter_launch_begin(struct zeta_vgpu_meter *meter,
                                  const struct zeta_vgpu_engine *engine);
void zeta_vgpu_meter_launch_end(struct zeta_vgpu_meter *meter,
                                const struct zeta_vgpu_engine *engine);

/** A copy added these counters; and it has ended. */
void zeta_vgpu_meter_copied(struct zeta_vgpu_meter *meter,
                            const uint64_t added[ZETA_VGPU_COUNTER_COUNT]);
void zeta_vgpu_meter_command_ended(struct zeta_vgpu_meter *meter);

/** EUs are counted from now on, or once less often. False without memory. */
bool zeta_vgpu_meter_count_eus(struct zeta_vgpu_meter *meter, bool on);

/** Modelled clocks of the queue's work. */
uint64_t zeta_vgpu_meter_core_clocks(const struct zeta_vgpu_meter *meter);

/** A moment between two commands of a queue. */
struct zeta_vgpu_meter_mark {
    uint64_t ticks;
    uint64_t core_clocks; /**< modelled ones of the queue */
    uint64_t commands;
    uint64_t tile_commands; /**< of all queues of the process */
    bool others;            /**< one of another queue runs at this moment */
};

/** Takes a mark of now. */
void zeta_vgpu_meter_mark(const struct zeta_vgpu_meter *meter,
                          struct zeta_vgpu_meter_mark *out_mark);

/** True if a command of another queue ran on the tile between two marks. */
bool zeta_vgpu_meter_split(const struct zeta_vgpu_meter_mark *begin,
                           const struct zeta_vgpu_meter_mark *end);

#endif
