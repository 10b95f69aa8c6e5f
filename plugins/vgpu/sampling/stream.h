#ifndef ZETA_PLUGINS_VGPU_SAMPLING_STREAM_H
#define ZETA_PLUGINS_VGPU_SAMPLING_STREAM_H

/*
 * A stream of reports. Private to this folder.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/record_ring.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/tile/tile.h"
#include "report.h"

/** Snapshots that get a report of their own. */
enum zeta_vgpu_snapshot_kind {
    ZETA_VGPU_SNAPSHOT_SWITCH, /**< of the running context, if the program asks for it */
    ZETA_VGPU_SNAPSHOT_MARKER,
    ZETA_VGPU_SNAPSHOT_KINDS
};

/** What a stream has read of the logs of a tile: the next snapshot of each kind. */
struct zeta_vgpu_snapshots {
    uint64_t cursors[ZETA_VGPU_SNAPSHOT_KINDS];
    bool has[ZETA_VGPU_SNAPSHOT_KINDS];
    struct zeta_vgpu_snapshot next[ZETA_VGPU_SNAPSHOT_KINDS];
};

/*
 * The record of the unit "ip", of what the threads of all processes were seen doing: 128 bytes,
 * little endian.
 *
 *     0 address of the instruction (8)   8 process id (4)   12 zero (4)
 *    16 samples by what the thread did: nine counts of 8 bytes, in the order of enum
 *       zeta_vgpu_stall
 *    88 end of the period in ticks (8)  96 zero
 *
 * The process id is 0 in virtual time, where a stream sees its own process only.
 */
#define ZETA_VGPU_IP_RECORD_BYTES 128u

/** Rows that are summed up at once; with more a period gets several records per instruction. */
#define ZETA_VGPU_IP_ROWS 65536u

/** Samples of an instruction in a process, all doing the same. */
struct zeta_vgpu_ip_row {
    uint64_t address;
    uint32_t pid;
    uint32_t stall;
    uint64_t count;
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
    struct zeta_record_ring *ring;
    /* Counters of EUs, if the program selects them: number of our request, and what it has come to.
     */
    uint64_t eu_numbers[ZETA_VGPU_MAX_TILES];
    uint64_t eus[ZETA_VGPU_SELECTIONS];
    uint64_t fresh_eus[ZETA_VGPU_MAX_TILES][ZETA_VGPU_EU_REQUESTS]; /**< as fresh */
    bool has_fresh_eus[ZETA_VGPU_MAX_TILES];

    /* Of the unit "ip", whose samples are summed up for each instruction in a period. */
    struct zeta_vgpu_ip_row *ip_rows; /**< NULL: another unit */
    uint32_t ip_row_count;
    uint64_t ip_cursors[ZETA_VGPU_MAX_TILES];

    /* State of sampling; state_lock, or in virtual time the lock of the first tile, guards it. */
    pthread_mutex_t state_lock;
    _Atomic uint32_t readers; /**< that wait for it; the thread lets them go first */
    uint64_t next_ticks;      /**< the next deadline */
    uint64_t last_ticks;      /**< of the last report */
    uint64_t number;          /**< reports so far, lost ones included */
    uint32_t context;         /**< that ran at the last poll */
    uint64_t core_clocks;     /**< of the device, in the last report */
    uint64_t tile_clocks[ZETA_VGPU_MAX_TILES];   /**< in the last report */
    uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT]; /**< in the last report; tile_count x rows */
    uint64_t (*fresh)[ZETA_VGPU_COUNTER_COUNT];  /**< the newest ones, not yet taken over */
    bool has_fresh[ZETA_VGPU_MAX_TILES];
    uint64_t (*origin)[ZETA_VGPU_COUNTER_COUNT]; /**< subtracted; virtual time only */
    struct zeta_vgpu_snapshots *snapshots;       /**< per tile */

    /* The thread of wall time. */
    pthread_mutex_t lock; /**< guards stopping */
    pthread_cond_t wake;
    pthread_t thread;
    bool stopping;
    bool running;

    uint32_t units_taken; /**< tiles whose unit we hold */
    LIST_ENTRY(zeta_plugin_stream)
    tile_entry; /**< virtual time only: in the list of the first tile */
    LIST_ENTRY(zeta_plugin_stream) entry;
};

/** Begins to sample, reports with a first one. False without memory or a thread. */
bool zeta_vgpu_sampler_start(struct zeta_plugin_stream *stream);

/** Ends sampling; no report is written afterwards. Idempotent. */
void zeta_vgpu_sampler_stop(struct zeta_plugin_stream *stream);

/** Writes what waits in the logs, so that a read gets what is complete. */
void zeta_vgpu_sampler_catch_up(struct zeta_plugin_stream *stream);

#endif
