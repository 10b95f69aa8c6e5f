/*
 * Recordings made by a test, with the writer of zeta/container.h.
 *
 * Records are made of their number n and their tile, so that a reader can tell which ones it got.
 */
#ifndef ZETA_TESTS_REPLAY_TAPE_H
#define ZETA_TESTS_REPLAY_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zeta/container.h"
#include "zeta/plugin.h"

#define TAPE_HZ 1000000u /**< of the clock: a tick is a microsecond */
#define TAPE_TICKS 250u  /**< between two records */
#define TAPE_RECORD_BYTES 64u
#define TAPE_FIRST_TICKS UINT64_C(0xfffff000) /**< of record 0: the clock wraps soon */

/** A record of the layout "taped", little-endian. */
struct tape_record {
    uint32_t id;    /**< n + 1, never 0 */
    uint32_t ticks; /**< TAPE_FIRST_TICKS + n * TAPE_TICKS */
    uint32_t tile;
    uint32_t reserved;
    uint64_t a[4]; /**< n, n * n, 1000 * tile + 3 * n, 2^63 + n */
    uint32_t b[4]; /**< n * 0x10000001, wraps */
};

/** An event record of the layout "happened". */
struct tape_event {
    uint32_t type; /**< 1 enabled, 2 disabled, 3 an event */
    uint32_t tile;
    uint64_t ticks;
    uint64_t value;
    uint64_t zero;
};

void tape_make_record(uint32_t n, uint32_t tile, struct tape_record *out_record);
void tape_make_event(uint32_t type, uint32_t n, struct tape_event *out_event);

/** Raw data being made. Grows; freed with tape_data_finish(). */
struct tape_data {
    unsigned char *bytes;
    size_t size, capacity;
};

void tape_put(struct tape_data *data, const void *bytes, size_t size);
/** Records first to last of a tile. */
void tape_put_records(struct tape_data *data, uint32_t first, uint32_t last, uint32_t tile);
void tape_put_break(struct tape_data *data, uint32_t reason, uint64_t lost);
void tape_put_tile(struct tape_data *data, uint32_t tile);
void tape_put_end(struct tape_data *data);
void tape_put_padding(struct tape_data *data);
void tape_data_finish(struct tape_data *data);

/** A recording being written. */
struct tape {
    struct zeta_container_writer *writer;
    char path[256];
};

/** Starts a file in a new folder below the build folder; aborts the program if it cannot. */
void tape_begin(struct tape *tape, const char *name);
/** A device; parent UINT32_MAX: a root. */
void tape_device(struct tape *tape, uint32_t number, const char *name, uint32_t parent,
                 uint32_t tile);
/** The text of a set over the layout "taped" of a unit; the symbol $Scale has that value. */
void tape_set(struct tape *tape, uint32_t number, const char *name, const char *unit,
              uint32_t scale);
/** The text of any set. */
void tape_set_text(struct tape *tape, uint32_t number, const char *text);
/** The text of a set of tracers. */
void tape_event_set(struct tape *tape, uint32_t number, const char *name, const char *unit);
/** A stream of a device over one set for each tile. */
void tape_stream(struct tape *tape, uint32_t number, uint32_t device, const char *sampling,
                 uint64_t period_ns, uint32_t tiles, uint32_t first_set);
/** The data go into a DATA chunk and are freed. */
void tape_write(struct tape *tape, uint32_t stream, struct tape_data *data);
void tape_name(struct tape *tape, uint32_t stream, uint64_t id, const char *text);
void tape_clock(struct tape *tape, uint32_t device, uint64_t ticks, uint64_t host_ns);
/** Ends the file; complete: with its end chunk. */
void tape_end(struct tape *tape, bool complete);
/** Removes the file and its folder. */
void tape_remove(struct tape *tape);

#endif
