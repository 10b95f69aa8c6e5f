#ifndef ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_PRIV_H
#define ZETA_PLUGINS_VGPU_INSTANCE_INSTANCE_PRIV_H

/*
 * What lies in the shared file of an instance. Private to this folder.
 *
 * Nothing read from it is used as an index, a size or an address. Every group of words that has to
 * be read together exists twice: the writer fills the copy that is not current and then makes it
 * current by adding one to the sequence. A writer that dies in between leaves the old copy current.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "instance.h"

#define ZETA_VGPU_LAYOUT_VERSION 8u
#define ZETA_VGPU_LAYOUT_MAGIC UINT64_C(0x7570672d6174657a) /* "zeta-gpu" */
#define ZETA_VGPU_LOG_EUS (1u + ZETA_VGPU_EU_REQUESTS)      /* words of a unit */
#define ZETA_VGPU_LOG_HEADER (4u + ZETA_VGPU_EU_UNITS * ZETA_VGPU_LOG_EUS)
/* Room for 64 switches and 32 markers of the largest tile, and for many more of a usual one. */
#define ZETA_VGPU_LARGEST_ENTRY                                                                    \
    (ZETA_VGPU_LOG_HEADER + ZETA_VGPU_TILE_ROWS * ZETA_VGPU_COUNTER_COUNT)
#define ZETA_VGPU_SWITCH_WORDS (64u * ZETA_VGPU_LARGEST_ENTRY)
#define ZETA_VGPU_MARKER_WORDS (32u * ZETA_VGPU_LARGEST_ENTRY)
#define ZETA_VGPU_ACTIVITY_WORDS 2u
#define ZETA_VGPU_KERNEL_WORDS ((ZETA_VGPU_TILE_ROWS - 1) * ZETA_VGPU_COUNTER_COUNT)

/** Words in two copies; the one that sequence & 1 chooses is current. */
#define ZETA_VGPU_CELL(words)                                                                      \
    struct {                                                                                       \
        _Alignas(64) _Atomic uint64_t sequence;                                                    \
        _Atomic uint64_t copies[2][words];                                                         \
    }

/** A counter of an EU, and for which request it counts; see instance.h. */
struct zeta_vgpu_eu_count {
    _Atomic uint64_t number;
    _Atomic uint64_t value;
};

/** What the holder of a unit wants of EUs. */
struct zeta_vgpu_eu_wanted {
    _Atomic uint64_t number; /**< 0: nothing */
    _Atomic uint64_t requests[ZETA_VGPU_EU_REQUESTS];
};

struct zeta_vgpu_slot {
    ZETA_VGPU_CELL(ZETA_VGPU_ACTIVITY_WORDS) activity[ZETA_VGPU_MAX_TILES];
    /** Subslices x ZETA_VGPU_COUNTER_COUNT words, of one instant. */
    ZETA_VGPU_CELL(ZETA_VGPU_KERNEL_WORDS) kernels[ZETA_VGPU_MAX_TILES];
    ZETA_VGPU_CELL(ZETA_VGPU_COUNTER_COUNT) copies[ZETA_VGPU_MAX_TILES];
    struct zeta_vgpu_eu_count eus[ZETA_VGPU_MAX_TILES][ZETA_VGPU_EU_UNITS][ZETA_VGPU_EU_REQUESTS];
};

/** Who is in a slot. */
struct zeta_vgpu_attached {
    _Atomic uint64_t generation; /**< one more with each process */
    _Atomic uint64_t
        start_time;       /**< of the process, distinguishes it from a later one with its id */
    _Atomic uint32_t pid; /**< 0: free */
};

/** Sums of the processes that are gone. */
struct zeta_vgpu_base {
    _Atomic uint64_t sequence;
    struct {
        /** Processes up to this generation are contained in the counters. */
        _Atomic uint64_t folded[ZETA_VGPU_SLOTS];
        _Atomic uint64_t rows[ZETA_VGPU_MAX_TILES][ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];
        struct zeta_vgpu_eu_count eus[ZETA_VGPU_MAX_TILES][ZETA_VGPU_EU_UNITS]
                                     [ZETA_VGPU_EU_REQUESTS];
    } copies[2];
};

struct zeta_vgpu_holder {
    _Atomic uint64_t start_time;
    _Atomic uint32_t pid; /**< 0: free */
    _Atomic uint32_t wants_switches;
    _Atomic uint64_t period_ns;    /**< with which it samples, 0: it does not */
    _Atomic uint32_t own_markers;  /**< only of its process */
    _Atomic uint64_t token;        /**< 0: wants no markers */
    _Atomic uint64_t markers_read; /**< position in the log of its markers */
    _Atomic uint64_t given_up;     /**< that position + 1 when a marker last waited in vain */
};

/**
 * The logs of a tile. An entry is its position + 1, ticks, order and value, for each unit the
 * number of its request for EUs and what was counted for it, then the totals of as many rows as
 * tiles of the instance have; it is valid while its first word is right.
 */
struct zeta_vgpu_tile_logs {
    _Atomic uint64_t heads[ZETA_VGPU_LOGS]; /**< position of the next entry */
    _Atomic uint64_t switches[ZETA_VGPU_SWITCH_WORDS];
    _Atomic uint64_t markers[ZETA_VGPU_MARKER_UNITS][ZETA_VGPU_MARKER_WORDS];
};

struct zeta_vgpu_ip_entry {
    _Atomic uint64_t number; /**< position + 1 when the rest is valid */
    _Atomic uint64_t address;
    _Atomic uint64_t what; /**< process, stall and count */
};

struct zeta_vgpu_ip_log {
    _Atomic uint64_t head; /**< position of the next entry */
    struct zeta_vgpu_ip_entry entries[ZETA_VGPU_IP_LOG_SIZE];
};

struct zeta_vgpu_segment {
    _Atomic uint64_t magic; /**< written last */
    uint32_t tiles;
    uint32_t rows_per_tile;
    uint64_t offset_ticks;
    pthread_mutex_t lock; /**< robust; for attached, base, holders and logs */
    struct zeta_vgpu_holder holders[ZETA_VGPU_MAX_TILES][ZETA_VGPU_UNITS];
    struct zeta_vgpu_attached attached[ZETA_VGPU_SLOTS];
    struct zeta_vgpu_base base;
    _Atomic uint64_t taken_ns[ZETA_VGPU_MAX_TILES]; /**< up to then the clock's time is taken */
    struct zeta_vgpu_eu_wanted eu_wanted[ZETA_VGPU_MAX_TILES][ZETA_VGPU_EU_UNITS];
    _Atomic uint64_t snapshots; /**< in all logs so far */
    _Atomic uint64_t numbers;   /**< given out so far: of requests, readers and tracers */
    struct zeta_vgpu_tile_traces traces[ZETA_VGPU_MAX_TILES];
    _Atomic uint64_t ip_wanted[ZETA_VGPU_MAX_TILES];      /**< by the holder of the unit "ip" */
    struct zeta_vgpu_tile_logs logs[ZETA_VGPU_MAX_TILES]; /**< only those of tiles have memory */
    struct zeta_vgpu_slot slots[ZETA_VGPU_SLOTS];
    struct zeta_vgpu_ip_log ip_logs[ZETA_VGPU_MAX_TILES]; /**< have memory once they were wanted */
};

struct zeta_vgpu_instance {
    struct zeta_vgpu_segment *segment;
    char path[512]; /**< of the file with a name */
    int descriptor; /**< of that file, with the lock */
    int memory;     /**< descriptor of what is mapped */
    uint32_t tiles;
    uint32_t rows_per_tile;
    uint64_t offset_ticks;
    uint64_t start_time;    /**< of this process */
    _Atomic uint32_t slot;  /**< own slot + 1, 0: none */
    atomic_bool damaged;    /**< the lock could not be had; set once */
    uint64_t ip_checked_ns; /**< last check that the reader of samples is alive; with the lock */
    _Atomic uint64_t checked_ns; /**< last check that samplers are alive */
};

/**
 * Takes the lock of the segment, also from a process that died with it. False when the segment was
 * overwritten: at once when its beginning is not ours, after some seconds when nobody gives the
 * lock up. From then on always, so that nobody waits twice.
 */
bool zeta_vgpu_instance_lock(struct zeta_vgpu_instance *instance);
void zeta_vgpu_instance_unlock(struct zeta_vgpu_instance *instance);

/**
 * Gives bytes of the file memory of their own, so that touching them cannot fail. 0, or an errno
 * value. Signals wait meanwhile: they could end it with EINTR, again and again.
 */
int zeta_vgpu_instance_back(int descriptor, size_t begin, size_t size_bytes);

/** With the lock: adds a slot to the base and frees it. */
void zeta_vgpu_instance_fold_locked(struct zeta_vgpu_instance *instance, uint32_t slot);

/** With the lock: forgets periods and ends tracers of processes that died. */
void zeta_vgpu_instance_reap_units(struct zeta_vgpu_instance *instance);

/** Start time of a process in ticks of the kernel; false when it is gone or a zombie. */
bool zeta_vgpu_process_start(pid_t pid, uint64_t *out_start_time);

/** True if the process with this id is still the one that started then. */
bool zeta_vgpu_process_alive(uint32_t pid, uint64_t start_time);

/*
 * How processes find the memory of an instance (file.c).
 *
 * The memory is a file without a name. A small file with a name identifies it, and where it can be
 * opened: at descriptors of processes that are attached. It is read and written, never mapped, so
 * whatever somebody does to it ends nobody.
 *
 * Locks of the small file (flock): shared while attached, exclusive while it is begun or removed.
 * So who gets the exclusive lock knows that nobody is attached, also after processes were killed.
 */

/** True for a regular file of this user that nobody else can open. */
bool zeta_vgpu_instance_file_is_ours(int file);

/** Removes files of instances that nobody uses any more; kept is our own name. */
void zeta_vgpu_instance_sweep(const char *folder, const char *kept);

/** With the exclusive lock: writes which memory it is. 0, or an errno value. */
int zeta_vgpu_instance_file_begin(int file, int memory);

/**
 * With the shared lock: finds the memory that the file means, of a size. *io_memory is a descriptor
 * that may be the one, or -1; it is closed if it is not. False when nobody can be found who has it.
 */
bool zeta_vgpu_instance_file_find(int file, uint64_t size_bytes, int *io_memory);

/**
 * With the lock of the segment: adds this process to those that have it, unless it is there. Where
 * 64 living processes are noted already, those have to do until some have ended, and it is called
 * again.
 */
void zeta_vgpu_instance_file_join(int file, int memory, uint64_t start_time);

/** Name of the memory, as links in /proc show it. */
#define ZETA_VGPU_INSTANCE_MEMORY "zeta-vgpu-instance"

#endif
