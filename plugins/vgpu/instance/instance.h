#ifndef ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_H
#define ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_H

/*
 * The part of a virtual device that processes share: counters, the holders of its units, the
 * logs of context switches and markers (instance_log.h) and the shift of its clock, in memory that
 * nobody can make shorter (instance_file.h).
 *
 * Each process that executes has a slot, to which only it writes; readers add up the slots and a
 * base. The slot of a dead process is folded into the base by whoever sees it, in one step that
 * either happened or did not, so totals never fall and never count twice, whoever is killed where.
 *
 * A row is what one process counted on one subslice. Rows of a tile lie behind each other: its
 * subslices, then one row for its copy engine.
 */

#include <stdbool.h>
#include <stdint.h>

#include "plugins/vgpu/device/describe.h"
#include "plugins/vgpu/engine/engine.h"

/** Processes that can execute on an instance at the same time. */
#define ZETA_VGPU_SLOTS 64u

/** Most rows of a tile. */
#define ZETA_VGPU_TILE_ROWS 65u

/** Units of a tile that one process at a time can have; the numbers are those of the holders. */
enum zeta_vgpu_unit {
    ZETA_VGPU_UNIT_OA,
    ZETA_VGPU_UNIT_DISPATCH,
    ZETA_VGPU_UNIT_IP, /**< instruction-pointer samples */
    ZETA_VGPU_UNIT_TRACE_WORK_STATUS,
    ZETA_VGPU_UNIT_TRACE_DEVICE_STATUS,
    ZETA_VGPU_UNIT_TRACE_WORK, /**< from here on: sources of events, which tracers have */
    ZETA_VGPU_UNIT_TRACE_DEVICE,
    ZETA_VGPU_UNITS
};

/** No process has this id. */
#define ZETA_VGPU_NO_PROCESS UINT32_MAX

struct zeta_vgpu_instance;

/** Which instance, and what it must look like. */
struct zeta_vgpu_instance_desc {
    const char *directory; /**< NULL: that of zeta_vgpu_instance_folder() */
    const char *name;
    uint32_t tiles;         /**< 1..ZETA_VGPU_MAX_TILES */
    uint32_t rows_per_tile; /**< 2..ZETA_VGPU_TILE_ROWS */
    uint64_t wrap_soon_s; /**< not 0: the timestamp wraps so many seconds after the first attach */
};

/**
 * Attaches to an instance, makes it when there is none, and removes instances nobody uses.
 *
 * The first process decides topology and clock; a file that nobody uses is begun anew when it does
 * not fit. The file has mode 0600; links and files of other users are refused.
 * @out_message  on failure what is wrong and what to do
 * Errors: OUT_OF_MEMORY; INVALID_ARGUMENT (cannot be opened, not ours, other topology in use).
 */
enum zeta_vgpu_result zeta_vgpu_instance_attach(const struct zeta_vgpu_instance_desc *desc,
                                                struct zeta_vgpu_message *out_message,
                                                struct zeta_vgpu_instance **out_instance);

/** Folds our slot into the base, gives up our units, unmaps; the last one removes the file. */
void zeta_vgpu_instance_detach(struct zeta_vgpu_instance *instance);

/** In a child of fork(): unmaps and closes without touching what belongs to the parent. */
void zeta_vgpu_instance_abandon(struct zeta_vgpu_instance *instance);

/**
 * True once the file turned out to be overwritten by somebody: its lock is never taken again, and
 * what it counts means nothing. The message says what to do.
 */
bool zeta_vgpu_instance_damaged(const struct zeta_vgpu_instance *instance,
                                struct zeta_vgpu_message *out_message);

/** Ticks that every process of the instance adds to its clock. */
uint64_t zeta_vgpu_instance_offset(const struct zeta_vgpu_instance *instance);

/**
 * Takes a slot for this process, if it has none yet. OUT_OF_MEMORY when the file system of the
 * instance has no room for it, INVALID_ARGUMENT when all slots are in use by the living or the
 * instance is damaged; the message says so.
 */
enum zeta_vgpu_result zeta_vgpu_instance_join(struct zeta_vgpu_instance *instance,
                                              struct zeta_vgpu_message *out_message);

/**
 * Publishes the totals of all subslices of a tile of this process, or of its copy engine, as one: a
 * reader never sees parts of two moments. Never blocks, costs two copies of the rows. One thread
 * per tile and function at a time. Ignored without a slot.
 */
void zeta_vgpu_instance_publish_kernels(struct zeta_vgpu_instance *instance, uint32_t tile,
                                        const uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT]);
void zeta_vgpu_instance_publish_copies(struct zeta_vgpu_instance *instance, uint32_t tile,
                                       const uint64_t totals[ZETA_VGPU_COUNTER_COUNT]);

/** What a process does on a tile. */
struct zeta_vgpu_activity {
    uint64_t since_ns; /**< CLOCK_MONOTONIC when it began to be busy, 0: idle */
    uint64_t context;  /**< id of the context that runs, 0: none */
};

/** Publishes it. One thread per tile at a time. */
void zeta_vgpu_instance_set_activity(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     const struct zeta_vgpu_activity *activity);

/** Reads the activity of the process in a slot. False when nobody is there. */
bool zeta_vgpu_instance_activity(const struct zeta_vgpu_instance *instance, uint32_t slot,
                                 uint32_t tile, struct zeta_vgpu_activity *out_activity);

/**
 * Adds up all rows of a tile over all processes, living and dead.
 * Lock-free. False, with out_totals undefined, if writers did not let it finish.
 */
bool zeta_vgpu_instance_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                               uint64_t (*out_totals)[ZETA_VGPU_COUNTER_COUNT]);

/**
 * Folds the slots of processes that died, and forgets what they wanted. Notes for others that we
 * have the memory, where there was no room for that before.
 */
void zeta_vgpu_instance_reap(struct zeta_vgpu_instance *instance);

/** Says how often the holder of a unit, which we are, samples; until it gives the unit up. */
void zeta_vgpu_instance_want_period(struct zeta_vgpu_instance *instance, uint32_t tile,
                                    uint32_t unit, uint64_t period_ns);

/** The shortest period that somebody samples a tile with; 0: nobody does. Some loads; any thread.
 */
uint64_t zeta_vgpu_instance_period(struct zeta_vgpu_instance *instance, uint32_t tile);

/**
 * Takes time of a tile's clock, which is one for all processes: work that was executed from
 * begin_ns on and takes time_ns at the nominal frequency. Returns the end of that time, after what
 * others took, and before which the work may not be said to be done. Any thread.
 */
uint64_t zeta_vgpu_instance_take_time(struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint64_t begin_ns, uint64_t time_ns);

/** Number of this process's slot + 1, 0 without one. */
uint32_t zeta_vgpu_instance_slot(const struct zeta_vgpu_instance *instance);

/**
 * Takes a unit of a tile for this process. A dead holder is replaced.
 *
 * @wants_switches  log context switches while we hold it
 * Returns 0, or the process id of the holder (which can be our own), or ZETA_VGPU_NO_PROCESS if the
 * instance is damaged.
 */
uint32_t zeta_vgpu_instance_take_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t unit, bool wants_switches);

/** Gives up a unit that this process took. */
void zeta_vgpu_instance_release_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit);

/** Process id of a living holder, 0 if the unit is free. */
uint32_t zeta_vgpu_instance_unit_holder(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                        uint32_t unit);

#endif
