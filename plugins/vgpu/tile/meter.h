#ifndef ZETA_PLUGINS_VGPU_TILE_METER_H
#define ZETA_PLUGINS_VGPU_TILE_METER_H

/*
 * What one queue did on its tile, to the last count. Launches take turns on a tile, so what the
 * engine counted more after a launch than before it is the work of that launch; the copy engine
 * says of each command what it did.
 *
 * A meter counts only while queries are open on it. It belongs to its queue and to the queries that
 * were begun on it: they find out there when the queue is no more.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugins/vgpu/engine/engine.h"

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
