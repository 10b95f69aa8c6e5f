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
#include <sys/queue.h>

#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/trace/trace.h"

struct zeta_vgpu;
struct zeta_vgpu_usage;
struct zeta_plugin_stream;

/** Order of the launches that wait; among equals there is none. */
enum zeta_vgpu_priority {
    ZETA_VGPU_PRIORITY_HIGH,
    ZETA_VGPU_PRIORITY_NORMAL,
    ZETA_VGPU_PRIORITY_LOW,
    ZETA_VGPU_PRIORITY_COUNT
};

/** Exclusive use of the engine by one launch at a time; guarded by the mutex of the owner. */
struct zeta_vgpu_launch_lock {
    pthread_cond_t changed; /**< launches wait here for each other; broadcast: read the flags */
    bool taken;
    uint32_t waiting[ZETA_VGPU_PRIORITY_COUNT];
};

/**
 * Waits while another launch has the engine or one of a better priority waits; releases the mutex
 * meanwhile. False when the flag was set first.
 */
bool zeta_vgpu_launch_lock_acquire_locked(struct zeta_vgpu_launch_lock *launches,
                                          pthread_mutex_t *lock, const atomic_bool *interrupt,
                                          enum zeta_vgpu_priority priority);
void zeta_vgpu_launch_lock_release_locked(struct zeta_vgpu_launch_lock *launches);

/** A counter that is requested. */
struct zeta_vgpu_eu_seen {
    uint64_t number; /**< of the request */
    uint64_t base;   /**< what the engine had counted when it was seen */
    uint64_t whole;  /**< what it had counted when an epoch was over last */
};

/** What a tile has published for which request. Of the thread that publishes. */
struct zeta_vgpu_eu_watch {
    atomic_bool counts; /**< the engine counts for us */
    struct zeta_vgpu_eu_seen seen[ZETA_VGPU_EU_UNITS][ZETA_VGPU_EU_REQUESTS];
};

/** How fast epochs were lately. Zeros before the first. */
struct zeta_vgpu_speed {
    double instruction_ns;       /**< what an instruction took, the median */
    double instructions, clocks; /**< of an epoch, on average */
    uint32_t run;                /**< epochs in turn that were slower, or faster, than that */
    bool faster;                 /**< those of the run */
};

/**
 * Adds an epoch that has instructions and clocks. Returns how long it lasts, in ns, if its clocks
 * take as long as those before: at most 16 times what it took. One thread at a time.
 */
uint64_t zeta_vgpu_speed_add(struct zeta_vgpu_speed *speed, const struct zeta_vgpu_epoch *epoch);

struct zeta_vgpu_tile {
    struct zeta_vgpu *vgpu;
    uint32_t index;
    uint32_t rows; /**< of counters: one per subslice, then the copy engine */

    pthread_mutex_t lock; /**< guards all down to streams_lock; never held while a kernel runs */
    struct zeta_vgpu_engine *engine; /**< NULL before the first queue */
    struct zeta_vgpu_launch_lock launch_lock;
    uint32_t busy_depth; /**< commands that run now */
    uint64_t commands;   /**< that began so far */
    bool measured;       /**< the running launch belongs to a queue with open queries */
    struct zeta_vgpu_activity activity;
    uint64_t copied[ZETA_VGPU_COUNTER_COUNT]; /**< counters of the copy engine */

    struct zeta_vgpu_eu_watch eu_watch;

    struct zeta_vgpu_speed speed; /**< of who publishes */
    _Atomic uint32_t lost_queues; /**< queues that faulted and still exist */

    struct zeta_vgpu_trace_writer trace; /**< events for tracers */

    void (*advance)(struct zeta_vgpu_tile *tile); /**< see zeta_vgpu_tile_init() */
    pthread_mutex_t streams_lock;                 /**< guards streams; a leaf */
    LIST_HEAD(, zeta_plugin_stream) streams;      /**< of virtual time, which this process drives */
};

/** Sets up a tile without an engine. advance is called when virtual time has moved on, on the
 * thread that executes; no lock is held. */
void zeta_vgpu_tile_init(struct zeta_vgpu_tile *tile, struct zeta_vgpu *vgpu, uint32_t index,
                         void (*advance)(struct zeta_vgpu_tile *tile));

/** Ends the engine. No queue exists any more. */
void zeta_vgpu_tile_finish(struct zeta_vgpu_tile *tile);

/** Makes the engine and takes a slot in the instance; idempotent, any thread. Returns a result code
 * of the plugin interface and leaves a sentence on failure. */
uint32_t zeta_vgpu_tile_prepare(struct zeta_vgpu_tile *tile);

/**
 * Runs a kernel for a context (the id of a queue) once no other launch has the engine. As
 * zeta_vgpu_engine_launch(); the wait can be interrupted too. The usage, or NULL, counts what the
 * launch does.
 */
enum zeta_vgpu_result zeta_vgpu_tile_launch(struct zeta_vgpu_tile *tile,
                                            const struct zeta_vgpu_launch *launch, uint32_t context,
                                            enum zeta_vgpu_priority priority,
                                            struct zeta_vgpu_usage *usage,
                                            struct zeta_vgpu_fault *out_fault);

/** Wakes launches that wait, so that they read their interrupt flag. */
void zeta_vgpu_tile_wake(struct zeta_vgpu_tile *tile);

/** Bytes that the modelled copy engine of a tile moves in a clock. */
#define ZETA_VGPU_COPY_BYTES_PER_CLOCK 64u

/** A copy that the copy engine works on. */
struct zeta_vgpu_tile_copy {
    struct zeta_vgpu_tile *tile;
    struct zeta_vgpu_usage *usage;
    uint64_t read_bytes, written_bytes; /**< counted so far */
    uint64_t since_ns;                  /**< host time from which the rest is executed */
};

/** The copy engine begins to work for a context; the usage, or NULL, counts what it does. */
void zeta_vgpu_tile_copy_begin(struct zeta_vgpu_tile *tile, uint32_t context,
                               struct zeta_vgpu_usage *usage, struct zeta_vgpu_tile_copy *out_copy);

/** It has read and written so many bytes of memory since then. */
void zeta_vgpu_tile_copy_moved(struct zeta_vgpu_tile_copy *copy, uint64_t read_bytes,
                               uint64_t written_bytes);

/** It ends; what it moved is counted. */
void zeta_vgpu_tile_copy_end(struct zeta_vgpu_tile_copy *copy);

/** Sets a marker on the tile: the value appears in the data of a unit, with the totals of now, for
 * the stream with the token, 0: any. The flag ends a wait for a reader that is late. */
void zeta_vgpu_tile_mark(struct zeta_vgpu_tile *tile, uint32_t unit, uint64_t value, uint64_t token,
                         const atomic_bool *interrupt);

/** Publishes the counters of EUs that others request of this process: in the callback of the engine
 * that publishes, and while no launch runs. part: what of the last epoch is over. */
void zeta_vgpu_eu_watch_publish(struct zeta_vgpu_tile *tile, struct zeta_vgpu_part part);

/*
 * What one queue did on its tile, to the last count. One launch at a time runs on a tile, so
 * the counters of the engine grow from its begin to its end by what it did; the copy engine
 * reports what each command did.
 *
 * A usage counts only while queries are open on it. It belongs to its queue and to the queries that
 * were begun on it: they find out there when the queue is no more.
 */

struct zeta_vgpu_usage {
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

/** Makes the usage of a queue, with one reference. NULL without memory. */
struct zeta_vgpu_usage *zeta_vgpu_usage_create(struct zeta_vgpu_tile *tile);

/** The queue is lost or destroyed: what is open on the usage will have no end. NULL is allowed. */
void zeta_vgpu_usage_end(struct zeta_vgpu_usage *usage);

/** One reference less; the last one frees it. NULL is allowed. */
void zeta_vgpu_usage_unref(struct zeta_vgpu_usage *usage);

/** The usage if it counts now, else NULL. */
static inline struct zeta_vgpu_usage *zeta_vgpu_usage_counting(struct zeta_vgpu_usage *usage)
{
    return usage && atomic_load_explicit(&usage->open, memory_order_relaxed) > 0 ? usage : NULL;
}

/** EUs are counted from now on, or once less often. False without memory. */
bool zeta_vgpu_usage_count_eus(struct zeta_vgpu_usage *usage, bool on);

/** Modelled clocks of the queue's work. */
uint64_t zeta_vgpu_usage_core_clocks(const struct zeta_vgpu_usage *usage);

/** The state between two commands of a queue. */
struct zeta_vgpu_usage_mark {
    uint64_t ticks;
    uint64_t core_clocks; /**< modelled ones of the queue */
    uint64_t commands;
    uint64_t tile_commands; /**< of all queues of the process */
    bool others;            /**< one of another queue runs now */
};

/** Takes a mark of now. */
void zeta_vgpu_usage_mark(const struct zeta_vgpu_usage *usage,
                          struct zeta_vgpu_usage_mark *out_mark);

#endif
