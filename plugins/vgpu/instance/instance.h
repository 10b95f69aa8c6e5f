#ifndef ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_H
#define ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_H

/*
 * The part of a virtual device that processes share: counters, the holders of its units, the
 * logs of context switches and markers and the shift of its clock, in memory that nobody can make
 * shorter (file.c).
 *
 * Each process that executes has a slot, to which only it writes; readers add up the slots and a
 * base. The slot of a dead process is folded into the base by whoever sees it, in one step that
 * either happened or did not, so totals never fall and never count twice, whoever is killed where.
 *
 * A row is what one process counted on one subslice. Rows of a tile lie behind each other: its
 * subslices, then one row for its copy engine.
 */

#include <stdatomic.h>
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

struct zeta_vgpu;
struct zeta_vgpu_instance;

/** Which instance, and its shape. */
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
 * what it counts means nothing. The message names the repair.
 */
bool zeta_vgpu_instance_damaged(const struct zeta_vgpu_instance *instance,
                                struct zeta_vgpu_message *out_message);

/** Ticks that every process of the instance adds to its clock. */
uint64_t zeta_vgpu_instance_offset(const struct zeta_vgpu_instance *instance);

/**
 * Takes a slot for this process, if it has none yet. OUT_OF_MEMORY when the file system of the
 * instance has no room for it, INVALID_ARGUMENT when all slots are in use by the living or the
 * instance is damaged; the message gives the reason.
 */
enum zeta_vgpu_result zeta_vgpu_instance_join(struct zeta_vgpu_instance *instance,
                                              struct zeta_vgpu_message *out_message);

/**
 * Publishes the totals of all subslices of a tile of this process, or of its copy engine, as one: a
 * reader never sees parts of two snapshots. Never blocks, costs two copies of the rows. One thread
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

/** Publishes how often this process, the holder of a unit, samples; until the release. */
void zeta_vgpu_instance_request_period(struct zeta_vgpu_instance *instance, uint32_t tile,
                                       uint32_t unit, uint64_t period_ns);

/** The shortest period that somebody samples a tile with; 0: nobody does. Some loads; any thread.
 */
uint64_t zeta_vgpu_instance_period(struct zeta_vgpu_instance *instance, uint32_t tile);

/**
 * Takes time of a tile's clock, which is one for all processes: work that was executed from
 * begin_ns on and takes time_ns at the nominal frequency. Returns the end of that time, after what
 * others took, before which the work does not count as done. Any thread.
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

/*
 * Counters of single EUs between processes.
 *
 * The holder of an OA unit requests counters of EUs; a request has a number.
 * Processes that execute see it and publish what these counters have become since they saw it, with
 * the number. Nothing is counted for EUs while nobody wants it.
 */

/** Units whose counters can be of EUs: oa and dispatch, the first ones. */
#define ZETA_VGPU_EU_UNITS 2u
/** Counters that can be wanted in a unit. */
#define ZETA_VGPU_EU_REQUESTS 16u

/** A counter of an EU; of a tile, its EUs subslice by subslice. */
struct zeta_vgpu_eu_request {
    bool used;
    uint32_t eu;
    uint32_t counter; /**< enum zeta_vgpu_counter */
};

/** Publishes the request of the holder of a unit. Returns its number, 0 if that failed. */
uint64_t
zeta_vgpu_instance_request_eus(struct zeta_vgpu_instance *instance, uint32_t tile, uint32_t unit,
                               const struct zeta_vgpu_eu_request requests[ZETA_VGPU_EU_REQUESTS]);

/** The holder wants no EUs any more. */
void zeta_vgpu_instance_withdraw_eus(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit);

/** Number of the present request of a unit, 0: none. One load. */
uint64_t zeta_vgpu_instance_eu_request_number(const struct zeta_vgpu_instance *instance,
                                              uint32_t tile, uint32_t unit);

/**
 * One of the counters that are wanted; false if there is none, or the request is another one now.
 * The content must be checked: it comes from shared memory.
 */
bool zeta_vgpu_instance_eu_request(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number,
                                   struct zeta_vgpu_eu_request *out_request);

/** Publishes a counter of this process. One thread per counter at a time. */
void zeta_vgpu_instance_publish_eu(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number, uint64_t value);

/**
 * Adds up what all processes counted for a request, living and dead. False, with out_values
 * undefined, if writers did not let it finish.
 */
bool zeta_vgpu_instance_eu_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                  uint32_t unit, uint64_t number,
                                  uint64_t out_values[ZETA_VGPU_EU_REQUESTS]);

/*
 * Snapshots that processes share: the totals of a tile at a context switch or a marker, in logs of
 * limited size.
 *
 *   switches   one log per tile, which every holder of a unit reads. Nobody waits for readers: who
 *              is late finds that switches are missing.
 *   markers    one log per unit of a tile, read by its holder alone. Who sets a marker waits for
 *              a reader that is late, and what is overwritten nevertheless is counted.
 *
 * All snapshots of an instance are written one after another, in the order of their times.
 */

/** The first units of a tile take markers: those that count. */
#define ZETA_VGPU_MARKER_UNITS 2u

/** The logs of a tile. That of a unit's markers is ZETA_VGPU_LOG_MARKERS + unit. */
enum zeta_vgpu_log { ZETA_VGPU_LOG_SWITCHES, ZETA_VGPU_LOG_MARKERS };
#define ZETA_VGPU_LOGS (ZETA_VGPU_LOG_MARKERS + ZETA_VGPU_MARKER_UNITS)

/** A snapshot. */
struct zeta_vgpu_snapshot {
    uint64_t ticks;
    uint64_t order; /**< grows from snapshot to snapshot of the instance */
    uint64_t value; /**< context that runs from here on, 0: none; or the value of the marker */
    uint64_t totals[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];
    /** By unit: what was counted of EUs for the request with that number; 0: nothing is known. */
    uint64_t eu_numbers[ZETA_VGPU_EU_UNITS];
    uint64_t eus[ZETA_VGPU_EU_UNITS][ZETA_VGPU_EU_REQUESTS];
};

/** Where the time of a snapshot comes from; asked when it is written. */
struct zeta_vgpu_snapshot_clock {
    uint64_t (*ticks)(void *context);
    void *context;
};

/** True if somebody holds a unit of the tile and wants context switches. One load per unit. */
bool zeta_vgpu_instance_switches_wanted(const struct zeta_vgpu_instance *instance, uint32_t tile);

/** Appends a switch to the log of a tile. */
void zeta_vgpu_instance_log_switch(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint64_t context, const struct zeta_vgpu_snapshot_clock *clock);

/** A number that no holder of a unit had before; 0 when the instance is damaged. */
uint64_t zeta_vgpu_instance_new_token(struct zeta_vgpu_instance *instance);

/**
 * Asks for markers of a unit that this process holds, until it is released. Reading begins behind
 * the newest one.
 *
 * @token     for this holder
 * @own_only  only markers of this process
 */
void zeta_vgpu_instance_request_markers(struct zeta_vgpu_instance *instance, uint32_t tile,
                                        uint32_t unit, uint64_t token, bool own_only);

/** A marker for a unit of a tile. */
struct zeta_vgpu_marker {
    uint32_t tile;
    uint32_t unit;
    uint64_t value;
    uint64_t token;               /**< of the holder that shall get it; 0: whoever it is */
    bool own_only;                /**< only if this process is the holder; it reads by itself */
    const atomic_bool *interrupt; /**< ends the wait for a slow reader */
};

/**
 * Appends a marker to the log of its unit; nobody wants it: does nothing. Waits while the log holds
 * nothing but what the holder has not read: for a holder in this process, whose sampler runs as
 * this thread does, as long as it takes; for one in another process, which may be stopped, up to
 * ZETA_VGPU_MARKER_WAIT_MS, and when that was in vain, the next ones do not wait until it reads
 * again.
 */
void zeta_vgpu_instance_log_marker(struct zeta_vgpu_instance *instance,
                                   const struct zeta_vgpu_marker *marker,
                                   const struct zeta_vgpu_snapshot_clock *clock);

/** How long a marker waits for its reader in another process. */
#define ZETA_VGPU_MARKER_WAIT_MS 200u

/** Publishes up to where this process, the holder of the unit, has read its markers. */
void zeta_vgpu_instance_markers_read(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit, uint64_t cursor);

/** True if the unit has markers that its holder has not read. Two loads. */
bool zeta_vgpu_instance_markers_wait(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit);

/** Position behind the newest snapshot of a log, to begin reading there. */
uint64_t zeta_vgpu_instance_log_head(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t log);

/**
 * Reads the snapshot at *cursor and moves the cursor behind it; false when there is none.
 *
 * @out_lost  snapshots that were overwritten before they were read and are passed over
 */
bool zeta_vgpu_instance_next_snapshot(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t log, uint64_t *cursor,
                                      struct zeta_vgpu_snapshot *out_snapshot, uint64_t *out_lost);

/*
 * Samples of instruction pointers between processes: the process that has the unit "ip" of a tile
 * requests them, and every process that executes puts its own into a log that all share. Readers
 * are never waited for; what they did not read in time is lost, and they learn how much.
 */

/** Entries of the log of a tile. */
#define ZETA_VGPU_IP_LOG_SIZE 16384u

/** Samples of one process. */
struct zeta_vgpu_ip_event {
    uint64_t address;
    uint32_t pid;
    uint32_t stall; /**< enum zeta_vgpu_stall */
    uint32_t count; /**< 1..ZETA_VGPU_IP_COUNT_MAX */
};

/** Most samples of an entry. */
#define ZETA_VGPU_IP_COUNT_MAX 0xffffffu

/**
 * Begins to want samples of a tile whose unit this process took.
 *
 * @period_ticks  between samples of a thread; a power of two
 * @out_cursor    where to begin to read
 * False when there is no memory for the log, or the instance is damaged.
 */
bool zeta_vgpu_instance_ip_begin(struct zeta_vgpu_instance *instance, uint32_t tile,
                                 uint64_t period_ticks, uint64_t *out_cursor);

/** Ends that, before the unit is released. */
void zeta_vgpu_instance_ip_end(struct zeta_vgpu_instance *instance, uint32_t tile);

/**
 * Period in ticks of whoever wants samples of a tile, 0: nobody. One load.
 *
 * @out_session  another number each time that somebody begins
 */
uint64_t zeta_vgpu_instance_ip_period(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint64_t *out_session);

/**
 * Appends samples of this process, and how many it lost. Ends the sampling of a process that died.
 */
void zeta_vgpu_instance_ip_append(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                                  uint64_t lost);

/**
 * Reads the entry at *cursor and moves the cursor behind it; false when there is none. What was
 * overwritten before it was read, or lost by its writer, is added to *lost.
 */
bool zeta_vgpu_instance_ip_next(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                uint64_t *cursor, struct zeta_vgpu_ip_event *out_event,
                                uint64_t *lost);

/*
 * What processes share about tracers: which events somebody wants, where the holder of a tracer
 * has its rings, and how many events there were.
 *
 * Processes that execute read one word per tile, and the rest when an event is to be written.
 * Nothing of it is trusted: who follows a place checks what is there.
 */

/** Sources of events of a tile. Each is a unit that one tracer at a time has. */
enum zeta_vgpu_source {
    ZETA_VGPU_SOURCE_WORK,   /**< kernels and work-groups */
    ZETA_VGPU_SOURCE_DEVICE, /**< barriers, copies, markers, faults */
    ZETA_VGPU_SOURCES
};

/** Where the tracer of a source of a tile has its rings. */
struct zeta_vgpu_trace_place {
    uint64_t number;     /**< of the tracer among all that the instance had, not 0 */
    uint32_t pid;        /**< of its holder */
    uint32_t descriptor; /**< of its file, there */
    uint32_t index;      /**< of the rings for this tile and source in the file */
};

/** Events of a source of a tile. The first two never fall. */
struct zeta_vgpu_event_counts {
    uint64_t written;  /**< that tracers were to get */
    uint64_t lost;     /**< of these, lost on the way to a reader */
    uint64_t waiting;  /**< records in the ring of the tracer, from all its sources */
    uint64_t capacity; /**< of that ring; 0: no tracer */
};

/**
 * The word with the sources of a tile have a tracer that is on: bits 1 << source. Anybody
 * may change it at any time; load it with memory_order_relaxed. Valid until the detach.
 */
const _Atomic uint32_t *zeta_vgpu_instance_watched(const struct zeta_vgpu_instance *instance,
                                                   uint32_t tile);

/** A number for a new tracer; 0 when the instance is damaged. */
uint64_t zeta_vgpu_instance_trace_number(struct zeta_vgpu_instance *instance);

/** Makes a place known. Only by who holds the unit of the source. */
void zeta_vgpu_instance_offer_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                    enum zeta_vgpu_source source,
                                    const struct zeta_vgpu_trace_place *place);

/** Asks for events of a source, or for none any more. Only by who offered a place. */
void zeta_vgpu_instance_watch(struct zeta_vgpu_instance *instance, uint32_t tile,
                              enum zeta_vgpu_source source, bool on);

/** Takes back watch and place. */
void zeta_vgpu_instance_end_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source);

/** Number of the tracer of a source, 0 if there is none. */
uint64_t zeta_vgpu_instance_trace(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source);

/** Reads the place of a tracer; false when it changed meanwhile or there is none. */
bool zeta_vgpu_instance_find_trace(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source,
                                   struct zeta_vgpu_trace_place *out_place);

/** Announces that this process, in its slot, writes into the rings of the place from now on. */
void zeta_vgpu_instance_join_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source);

/** Slots of the processes that did so since the place was offered, as bits. */
uint64_t zeta_vgpu_instance_trace_writers(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                          enum zeta_vgpu_source source);

/** True if the process that has a slot is alive. Slow. */
bool zeta_vgpu_instance_slot_alive(const struct zeta_vgpu_instance *instance, uint32_t slot);

/** Counts an event that could not be written anywhere. */
void zeta_vgpu_instance_miss_event(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source);

/** Events that could not be written anywhere, ever. */
uint64_t zeta_vgpu_instance_missed_events(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                          enum zeta_vgpu_source source);

/** Adds what was written and lost, and sets the rest. Only by who offered the place. */
void zeta_vgpu_instance_count_events(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     enum zeta_vgpu_source source,
                                     const struct zeta_vgpu_event_counts *more);

/** Reads the counts. */
void zeta_vgpu_instance_event_counts(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     enum zeta_vgpu_source source,
                                     struct zeta_vgpu_event_counts *out_counts);

/* ---- this process and its instance ---- */

/**
 * The instance that this process shares with others, attached on first use. Any thread.
 * Errors: what zeta_vgpu_instance_attach() gives, NOT_AVAILABLE when it was overwritten since; a
 * sentence was left.
 */
uint32_t zeta_vgpu_instance_get(struct zeta_vgpu *vgpu, struct zeta_vgpu_instance **out_instance);

/**
 * Leaves the reason why a unit could not be taken, and returns the result for it.
 * @what    "stream on unit", "tracer on"
 * @holder  as zeta_vgpu_instance_take_unit() gave it
 */
uint32_t zeta_vgpu_refuse_unit(const struct zeta_vgpu *vgpu, const char *what, const char *unit,
                               const char *device, uint32_t holder);

/** Logs once that the instance was overwritten, if it was: what it counts means nothing then. */
void zeta_vgpu_report_damage(struct zeta_vgpu *vgpu);

/**
 * Device time of a tile in ticks, unmasked: the system-wide monotonic clock, shifted when the
 * instance tests a wrap, or the virtual time of the tile.
 */
uint64_t zeta_vgpu_ticks(const struct zeta_vgpu *vgpu, uint32_t tile);

#endif
