#ifndef ZETA_PLUGINS_VGPU_INSTANCE_LOG_H
#define ZETA_PLUGINS_VGPU_INSTANCE_LOG_H

/*
 * Moments that processes share: context switches and markers, each with the totals of its tile at
 * that time, in logs of limited size.
 *
 *   switches   one log per tile, which every holder of a unit reads. Nobody waits for readers: who
 *              is late finds that switches are missing.
 *   markers    one log per unit of a tile, read by its holder alone. Who sets a marker waits for
 *              a reader that is late, and what is overwritten nevertheless is counted.
 *
 * All moments of an instance are written one after another, in the order of their times.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "eu.h"
#include "instance.h"

/** The first units of a tile take markers: those that count. */
#define ZETA_VGPU_MARKER_UNITS 2u

/** The logs of a tile. That of a unit's markers is ZETA_VGPU_LOG_MARKERS + unit. */
enum zeta_vgpu_log { ZETA_VGPU_LOG_SWITCHES, ZETA_VGPU_LOG_MARKERS };
#define ZETA_VGPU_LOGS (ZETA_VGPU_LOG_MARKERS + ZETA_VGPU_MARKER_UNITS)

/** A moment. */
struct zeta_vgpu_moment {
    uint64_t ticks;
    uint64_t order; /**< grows from moment to moment of the instance */
    uint64_t value; /**< context that runs from here on, 0: none; or the value of the marker */
    uint64_t totals[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];
    /** By unit: what was counted of EUs for the wish with that number; 0: nothing is known. */
    uint64_t eu_numbers[ZETA_VGPU_EU_UNITS];
    uint64_t eus[ZETA_VGPU_EU_UNITS][ZETA_VGPU_EU_WISHES];
};

/** Where the time of a moment comes from; asked when it is its turn. */
struct zeta_vgpu_moment_clock {
    uint64_t (*ticks)(void *context);
    void *context;
};

/** True if somebody holds a unit of the tile and wants context switches. One load per unit. */
bool zeta_vgpu_instance_switches_wanted(const struct zeta_vgpu_instance *instance, uint32_t tile);

/** Appends a switch to the log of a tile. */
void zeta_vgpu_instance_log_switch(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint64_t context, const struct zeta_vgpu_moment_clock *clock);

/** A number that no holder of a unit had before; 0 when the instance is damaged. */
uint64_t zeta_vgpu_instance_new_token(struct zeta_vgpu_instance *instance);

/**
 * Asks for markers of a unit that this process holds, until it is released. Reading begins behind
 * the newest one.
 *
 * @token     for this holder
 * @own_only  only markers of this process
 */
void zeta_vgpu_instance_want_markers(struct zeta_vgpu_instance *instance, uint32_t tile,
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
                                   const struct zeta_vgpu_moment_clock *clock);

/** How long a marker waits for its reader in another process. */
#define ZETA_VGPU_MARKER_WAIT_MS 200u

/** Tells those who wait up to where this process, the holder of the unit, has read its markers. */
void zeta_vgpu_instance_markers_read(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit, uint64_t cursor);

/** True if the unit has markers that its holder has not read. Two loads. */
bool zeta_vgpu_instance_markers_wait(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit);

/** Position behind the newest moment of a log, to begin reading there. */
uint64_t zeta_vgpu_instance_log_head(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t log);

/**
 * Reads the moment at *cursor and moves the cursor behind it; false when there is none.
 *
 * @out_lost  moments that were overwritten before they were read and are passed over
 */
bool zeta_vgpu_instance_next_moment(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                    uint32_t log, uint64_t *cursor,
                                    struct zeta_vgpu_moment *out_moment, uint64_t *out_lost);

#endif
