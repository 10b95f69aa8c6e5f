#ifndef ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_H
#define ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_H

/*
 * The part of a virtual device that processes share: counters, who has its units, the logs
 * of context switches and markers and the shift of its clock, in memory that nobody can make
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

/** Units of a tile that one process at a time can have. */
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

/* ---- attaching (instance.c) ----------------------------------------------------------------- */

/** Which instance, and its shape. */
struct zeta_vgpu_instance_desc {
    const char *directory; /**< NULL: that of zeta_vgpu_instance_folder() */
    const char *name;
    uint32_t tiles;         /**< 1..ZETA_VGPU_MAX_TILES */
    uint32_t rows_per_tile; /**< 2..ZETA_VGPU_TILE_ROWS */
    uint64_t wrap_soon_s; /**< not 0: the timestamp wraps so many seconds after the first attach */
};

/**
 * Attaches to an instance, which the first process makes with its topology and clock, and removes
 * instances nobody uses. INVALID_ARGUMENT, with what to do: cannot be opened, not a file of mode
 * 0600 of this user, another topology is in use.
 */
enum zeta_vgpu_result zeta_vgpu_instance_attach(const struct zeta_vgpu_instance_desc *desc,
                                                struct zeta_vgpu_message *out_message,
                                                struct zeta_vgpu_instance **out_instance);

/** Folds our slot into the base, gives up our units, unmaps; the last one removes the file. */
void zeta_vgpu_instance_detach(struct zeta_vgpu_instance *instance);

/** In a child of fork(): unmaps and closes without touching what belongs to the parent. */
void zeta_vgpu_instance_abandon(struct zeta_vgpu_instance *instance);

/** True once the file was overwritten by somebody: its lock is never taken again, and what it
 * counts means nothing. The message names the repair. */
bool zeta_vgpu_instance_damaged(const struct zeta_vgpu_instance *instance,
                                struct zeta_vgpu_message *out_message);

/** Ticks that every process of the instance adds to its clock. */
uint64_t zeta_vgpu_instance_offset(const struct zeta_vgpu_instance *instance);

/** A number that this instance gave to nobody before; 0 when it is damaged. */
uint64_t zeta_vgpu_instance_new_number(struct zeta_vgpu_instance *instance);

/** The instance that this process shares with others, attached on first use. Any thread. Errors,
 * with a sentence: as the attach, NOT_AVAILABLE when it was overwritten since. */
uint32_t zeta_vgpu_instance_get(struct zeta_vgpu *vgpu, struct zeta_vgpu_instance **out_instance);

/** Logs once that the instance was overwritten, if it was: what it counts means nothing then. */
void zeta_vgpu_report_damage(struct zeta_vgpu *vgpu);

/** Device time of a tile in ticks, unmasked: the system-wide monotonic clock, shifted when the
 * instance tests a wrap, or the virtual time of the tile. */
uint64_t zeta_vgpu_ticks(const struct zeta_vgpu *vgpu, uint32_t tile);

/**
 * The folder where processes meet (file.c), which nobody else can write to: XDG_RUNTIME_DIR, else
 * one of this user in /dev/shm, else, if that belongs to somebody else, one in the user's home.
 * False with what to do.
 */
bool zeta_vgpu_instance_folder(char *out_path, size_t path_bytes,
                               struct zeta_vgpu_message *out_message);

/** The folder of a user in /dev/shm, which need not exist. */
void zeta_vgpu_instance_user_folder(char *out_path, size_t path_bytes, uint32_t user);

/*
 * Files in memory that processes of a user share and map (file.c). They have no name that somebody
 * could write to, and nobody can make them shorter, so touching what is mapped never ends a
 * process. Others open them through /proc and the descriptor of a process that has them.
 */

/** A new one of zeros, mode 0600, of a size that stays. -1 with errno. */
int zeta_vgpu_shared_file_create(const char *name, uint64_t size_bytes);

/** Opens the one that a process has at a descriptor; -1 when that is anything else, which is not
 * opened, because that could do something. */
int zeta_vgpu_shared_file_open(uint32_t pid, uint32_t descriptor, const char *name);

/* ---- counters (count.c) --------------------------------------------------------------------- */

/** Takes a slot for this process, if it has none yet. Errors, with the reason: OUT_OF_MEMORY when
 * there is no room for it, INVALID_ARGUMENT when living processes have all slots, or for damage. */
enum zeta_vgpu_result zeta_vgpu_instance_join(struct zeta_vgpu_instance *instance,
                                              struct zeta_vgpu_message *out_message);

/** Number of this process's slot + 1, 0 without one. */
uint32_t zeta_vgpu_instance_slot(const struct zeta_vgpu_instance *instance);

/** True if the process that has a slot is alive. Slow. */
bool zeta_vgpu_instance_slot_alive(const struct zeta_vgpu_instance *instance, uint32_t slot);

/** Folds the slots of processes that died, and forgets what they wanted. Notes for others that we
 * have the memory, where there was no room for that before. */
void zeta_vgpu_instance_reap(struct zeta_vgpu_instance *instance);

/** What a process does on a tile. */
struct zeta_vgpu_activity {
    uint64_t since_ns; /**< CLOCK_MONOTONIC when it began to be busy, 0: idle */
    uint64_t context;  /**< id of the context that runs, 0: none */
};

/**
 * Publish the totals of all subslices of a tile of this process, or of its copy engine, or what it
 * does, as one: a reader never sees parts of two snapshots. Never block, cost two copies of the
 * words. One thread per tile and function at a time. Ignored without a slot.
 */
void zeta_vgpu_instance_publish_kernels(struct zeta_vgpu_instance *instance, uint32_t tile,
                                        const uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT]);
void zeta_vgpu_instance_publish_copies(struct zeta_vgpu_instance *instance, uint32_t tile,
                                       const uint64_t totals[ZETA_VGPU_COUNTER_COUNT]);
void zeta_vgpu_instance_set_activity(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     const struct zeta_vgpu_activity *activity);

/** Reads the activity of the process in a slot. False when nobody is there. */
bool zeta_vgpu_instance_activity(const struct zeta_vgpu_instance *instance, uint32_t slot,
                                 uint32_t tile, struct zeta_vgpu_activity *out_activity);

/** Adds up all rows of a tile over all processes, living and dead. Lock-free. False, with
 * out_totals undefined, if writers did not let it finish. */
bool zeta_vgpu_instance_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                               uint64_t (*out_totals)[ZETA_VGPU_COUNTER_COUNT]);

/*
 * Counters of single EUs: who has an OA unit requests them; a request has a number. Processes that
 * execute see it and publish what these counters have become since they saw it, with the number.
 * Nothing is counted for EUs while nobody wants it.
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

/** Publishes what this process requests until it releases the unit. Returns its number, 0 if that
 * failed. */
uint64_t
zeta_vgpu_instance_request_eus(struct zeta_vgpu_instance *instance, uint32_t tile, uint32_t unit,
                               const struct zeta_vgpu_eu_request requests[ZETA_VGPU_EU_REQUESTS]);

/** Number of the present request of a unit, 0: none. One load. */
uint64_t zeta_vgpu_instance_eu_request_number(const struct zeta_vgpu_instance *instance,
                                              uint32_t tile, uint32_t unit);

/** One of the counters that are wanted; false if there is none, or the request is another one now.
 * The content must be checked: it comes from shared memory. */
bool zeta_vgpu_instance_eu_request(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number,
                                   struct zeta_vgpu_eu_request *out_request);

/** Publishes a counter of this process. One thread per counter at a time. */
void zeta_vgpu_instance_publish_eu(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number, uint64_t value);

/** Adds up what all processes counted for a request, as zeta_vgpu_instance_totals() does. */
bool zeta_vgpu_instance_eu_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                  uint32_t unit, uint64_t number,
                                  uint64_t out_values[ZETA_VGPU_EU_REQUESTS]);

/* ---- units and time (unit.c) ---------------------------------------------------------------- */

/**
 * Takes a unit of a tile for this process, which logs context switches meanwhile if wanted; a dead
 * process loses it. Returns 0, or the id of the process that has it (which can be our own), or
 * ZETA_VGPU_NO_PROCESS if the instance is damaged.
 */
uint32_t zeta_vgpu_instance_take_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t unit, bool wants_switches);

/** Gives up a unit that this process took, and what it requested with it. */
void zeta_vgpu_instance_release_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit);

/** Id of the living process that has a unit, 0 if it is free. */
uint32_t zeta_vgpu_instance_unit_holder(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                        uint32_t unit);

/** Leaves the reason why a unit could not be taken for a "stream on unit" or "tracer on", and
 * returns the result for it; holder as zeta_vgpu_instance_take_unit() gave it. */
uint32_t zeta_vgpu_refuse_unit(const struct zeta_vgpu *vgpu, const char *what, const char *unit,
                               const char *device, uint32_t holder);

/** Publishes how often this process, which has a unit, samples; until the release. */
void zeta_vgpu_instance_request_period(struct zeta_vgpu_instance *instance, uint32_t tile,
                                       uint32_t unit, uint64_t period_ns);

/** The shortest period that a tile is sampled with; 0: nobody does. Some loads; any thread. */
uint64_t zeta_vgpu_instance_period(struct zeta_vgpu_instance *instance, uint32_t tile);

/**
 * Takes time of a tile's clock, which is one for all processes: work that was executed from
 * begin_ns on and takes time_ns at the nominal frequency. Returns the end of that time, after what
 * others took, before which the work does not count as done. Any thread.
 */
uint64_t zeta_vgpu_instance_take_time(struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint64_t begin_ns, uint64_t time_ns);

/*
 * Tracers: which events somebody wants, in which process a tracer has its rings, and how many
 * events there were. Processes that execute read one word per tile, and the rest when an event is
 * to be written. Nothing of it is trusted: who follows a place checks what is there.
 */

/** Sources of events of a tile. Each is a unit that one tracer at a time has. */
enum zeta_vgpu_source {
    ZETA_VGPU_SOURCE_WORK,   /**< kernels and work-groups */
    ZETA_VGPU_SOURCE_DEVICE, /**< barriers, copies, markers, faults */
    ZETA_VGPU_SOURCES
};

/** In shared memory: the tracer of a source of a tile. */
struct zeta_vgpu_trace {
    _Alignas(64) _Atomic uint64_t number; /**< of the tracer, 0: none */
    _Atomic uint64_t writers;             /**< slots that write into its rings, as bits */
    _Atomic uint32_t pid, descriptor;     /**< of its process; of its file, there */
    _Atomic uint32_t index;               /**< of the rings for this tile and source in the file */
    _Alignas(64) _Atomic uint64_t missed; /**< events that could not be written anywhere, ever */
    _Atomic uint64_t written;             /**< that tracers were to get; never falls */
    _Atomic uint64_t lost;                /**< of these, on the way to a reader; never falls */
    _Atomic uint64_t waiting;  /**< records in the ring of the tracer, from all sources */
    _Atomic uint64_t capacity; /**< of that ring; 0: no tracer */
};

/** In shared memory: the tracers of a tile. */
struct zeta_vgpu_tile_traces {
    /** Sources with a tracer that is on: bits 1 << source. Anybody may change it at any time; load
     * it with memory_order_relaxed. */
    _Alignas(64) _Atomic uint32_t watched;
    struct zeta_vgpu_trace sources[ZETA_VGPU_SOURCES];
};

/** The tracers of a tile. Valid until the detach. */
struct zeta_vgpu_tile_traces *zeta_vgpu_instance_traces(const struct zeta_vgpu_instance *instance,
                                                        uint32_t tile);

/** Takes back that a source is watched and has a tracer. */
void zeta_vgpu_instance_end_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source);

/* ---- logs (log.c) --------------------------------------------------------------------------- */

/*
 * Snapshots: the totals of a tile at a context switch or a marker, in logs of limited size.
 *
 *   switches   one log per tile, which every process with a unit reads. Nobody waits for readers:
 *              who is late finds that switches are missing.
 *   markers    one log per unit of a tile, read by the process that has it. Who sets a marker waits
 *              for a reader that is late, and what is overwritten nevertheless is counted.
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

/** Appends a switch to the log of a tile, if somebody wants that: one load per unit. */
void zeta_vgpu_instance_log_switch(const struct zeta_vgpu *vgpu, uint32_t tile, uint64_t context);

/** Asks for markers of a unit that this process has, until it is released, or only for its own.
 * Reading begins behind the newest one. token: a number that nobody had before. */
void zeta_vgpu_instance_request_markers(struct zeta_vgpu_instance *instance, uint32_t tile,
                                        uint32_t unit, uint64_t token, bool own_only);

/** A marker for a unit of a tile. */
struct zeta_vgpu_marker {
    uint32_t tile;
    uint32_t unit;
    uint64_t value;
    uint64_t token;               /**< of the request that shall get it; 0: whichever it is */
    bool own_only;                /**< only if this process has the unit; it reads by itself */
    const atomic_bool *interrupt; /**< ends the wait for a slow reader */
};

/**
 * Appends a marker to the log of its unit, if somebody wants it. Waits while the log contains
 * nothing but what its reader has not read: for a reader in this process, whose sampler runs as
 * this thread does, as long as it takes; for one in another process, which may be stopped, up to
 * ZETA_VGPU_MARKER_WAIT_MS, and when that was in vain, the next ones do not wait until it reads
 * again.
 */
void zeta_vgpu_instance_log_marker(const struct zeta_vgpu *vgpu,
                                   const struct zeta_vgpu_marker *marker);

/** How long a marker waits for its reader in another process. */
#define ZETA_VGPU_MARKER_WAIT_MS 200u

/** Publishes up to where this process, which has the unit, has read its markers. */
void zeta_vgpu_instance_markers_read(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit, uint64_t cursor);

/** True if the unit has markers that were not read. Two loads. */
bool zeta_vgpu_instance_markers_wait(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit);

/** Position behind the newest snapshot of a log, to begin reading there. */
uint64_t zeta_vgpu_instance_log_head(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t log);

/** Reads the snapshot at *cursor and moves the cursor behind it; false when there is none. What was
 * overwritten before it was read is counted in *out_lost. */
bool zeta_vgpu_instance_next_snapshot(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t log, uint64_t *cursor,
                                      struct zeta_vgpu_snapshot *out_snapshot, uint64_t *out_lost);

/*
 * Samples of instruction pointers: the process that has the unit "ip" of a tile requests them, and
 * every process that executes puts its own into a log that all share. Nobody waits for readers;
 * what they did not read in time is lost, and they learn how much.
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

/** Begins to want samples of a tile whose unit this process has, one of a thread each period (a
 * power of two), and where to read them. False without memory for the log, or for damage. */
bool zeta_vgpu_instance_ip_begin(struct zeta_vgpu_instance *instance, uint32_t tile,
                                 uint64_t period_ticks, uint64_t *out_cursor);

/** Ends that, before the unit is released. */
void zeta_vgpu_instance_ip_end(struct zeta_vgpu_instance *instance, uint32_t tile);

/** Period in ticks of whoever wants samples of a tile, 0: nobody. One load. *out_session: another
 * number each time that somebody begins. */
uint64_t zeta_vgpu_instance_ip_period(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint64_t *out_session);

/** Appends samples of this process, and how many it lost. Ends the sampling of a dead process. */
void zeta_vgpu_instance_ip_append(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                                  uint64_t lost);

/** Reads the entry at *cursor and moves the cursor behind it; false when there is none. What was
 * overwritten before it was read, or lost by its writer, is added to *lost. */
bool zeta_vgpu_instance_ip_next(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                uint64_t *cursor, struct zeta_vgpu_ip_event *out_event,
                                uint64_t *lost);

#endif
