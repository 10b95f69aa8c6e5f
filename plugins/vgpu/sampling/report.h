#ifndef ZETA_PLUGINS_VGPU_SAMPLING_REPORT_H
#define ZETA_PLUGINS_VGPU_SAMPLING_REPORT_H

/*
 * The report of the OA units: 256 bytes, little endian, in the form of the common format with 32
 * counters of 40 bits, 4 of 32 bits and twice 8 selectable ones.
 *
 *     0 report id, but for its last two bits: of them and
 *     4              the time stamp of 34 bits      8 context id    12 core clocks
 *    16 A0..A31 low words   144 A32..A35   160 A0..A31 high bytes   192 B0..B7   224 C0..C7
 *
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

/** What of the events of a source is selected; as in struct zeta_vgpu_trace. */
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

/** Bytes of a report. */
#define ZETA_VGPU_REPORT_BYTES 256u

/** Why a report was written: bits of the report id. The low 16 bits are the number of the unit. */
enum zeta_vgpu_report_reason {
    ZETA_VGPU_REASON_TIMER = 1u << 19,
    ZETA_VGPU_REASON_OVERFLOW = 1u << 21,
    ZETA_VGPU_REASON_SWITCH = 1u << 22,
    ZETA_VGPU_REASON_MARKER = 1u << 23
};

/** What goes into a report. */
struct zeta_vgpu_sample {
    uint32_t report_id;
    uint64_t ticks; /**< unmasked */
    uint32_t context;
    uint64_t core_clocks; /**< of the device: its tiles work side by side */
    uint64_t number;      /**< of the report in its stream, from 1 */
    /** Totals of tiles x rows_per_tile rows. */
    const uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT];
    uint32_t tiles;
    uint32_t rows_per_tile;
    const uint64_t *eus; /**< by selection; NULL: the program selects none */
    /** By source; NULL: the program selects none, or nothing is known. */
    const uint64_t (*events)[ZETA_VGPU_EVENTS_COUNT];
};

/** Words of a report, and the places of A0 and B0 among them. */
#define ZETA_VGPU_REPORT_WORDS (ZETA_VGPU_REPORT_BYTES / 4)
#define ZETA_VGPU_REPORT_COUNTERS 4u
#define ZETA_VGPU_REPORT_SELECTED 48u

/**
 * What the words of a report hold, before it is cut to their width: 64 bits of each number at the
 * place of its low word, and 0 at the places of high bytes.
 */
void zeta_vgpu_report_values(const struct zeta_vgpu_sample *sample,
                             const struct zeta_vgpu_program *program,
                             uint64_t out_values[ZETA_VGPU_REPORT_WORDS]);

/** Encodes a report. */
void zeta_vgpu_report_encode(const struct zeta_vgpu_sample *sample,
                             const struct zeta_vgpu_program *program,
                             uint8_t out_report[ZETA_VGPU_REPORT_BYTES]);

#endif
