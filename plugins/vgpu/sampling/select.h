#ifndef ZETA_PLUGINS_VGPU_SAMPLING_SELECT_H
#define ZETA_PLUGINS_VGPU_SAMPLING_SELECT_H

/*
 * Programs of the OA units: what the counters B0..B7 and C0..C7 count.
 *
 *   B0=counter:InstRetired             a counter of the whole device
 *   B1=counter:L1Hits@slice=1          of one slice, counted over the device
 *   B2=counter:L1Hits@subslice=2       of one subslice, counted over the device
 *   B3=counter:FpOps@eu=33             of one EU, where the counter is known of single EUs
 *   C0=ticks/4                         timestamp ticks, divided
 *   C1=reports                         reports written so far
 *   C2=constant:305419896              a number that is added with each report
 *   B0=events:written@work             events of the source work or device: written, lost;
 *   B1=events:waiting@work             records that wait in the ring of its tracer; its capacity
 *   switches                           context switches give reports too
 */

#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/instance/instance.h"

/** Selectable counters: B0..B7, then C0..C7. */
#define ZETA_VGPU_SELECTIONS 16u

enum zeta_vgpu_selection_kind {
    ZETA_VGPU_SELECT_NOTHING, /**< reads as 0 */
    ZETA_VGPU_SELECT_COUNTER,
    ZETA_VGPU_SELECT_EU,
    ZETA_VGPU_SELECT_TICKS,
    ZETA_VGPU_SELECT_REPORTS,
    ZETA_VGPU_SELECT_CONSTANT,
    ZETA_VGPU_SELECT_EVENTS
};

/** What of the events of a source is selected; the members of struct zeta_vgpu_event_counts. */
enum zeta_vgpu_event_count {
    ZETA_VGPU_EVENTS_WRITTEN,
    ZETA_VGPU_EVENTS_LOST,
    ZETA_VGPU_EVENTS_WAITING,
    ZETA_VGPU_EVENTS_CAPACITY,
    ZETA_VGPU_EVENTS_COUNT
};

struct zeta_vgpu_selection {
    enum zeta_vgpu_selection_kind kind;
    uint32_t counter;   /**< enum zeta_vgpu_counter, of EVENTS enum zeta_vgpu_event_count */
    uint32_t tile;      /**< of first_row, counted from the first tile of the stream */
    uint32_t first_row; /**< of the tile */
    uint32_t row_count; /**< 0: all rows of all tiles */
    uint32_t eu;        /**< of EU: on its tile, subslice by subslice */
    uint32_t value;     /**< divisor or constant; of EVENTS the source */
};

struct zeta_vgpu_program {
    struct zeta_vgpu_selection selections[ZETA_VGPU_SELECTIONS];
    bool switches;
    bool eus;    /**< some selection is of an EU */
    bool events; /**< some selection is of events */
};

/**
 * Reads a program.
 *
 * @entries      array of struct zeta_plugin_program_entry; only selections are possible
 * @topology     of a tile
 * @tiles        of the stream
 * @out_message  on failure which entry is wrong and why
 */
bool zeta_vgpu_program_parse(const struct zeta_plugin_array *entries,
                             const struct zeta_vgpu_topology *topology, uint32_t tiles,
                             struct zeta_vgpu_program *out_program,
                             struct zeta_vgpu_message *out_message);

#endif
