#ifndef ZETA_PLUGINS_VGPU_SAMPLING_REPORT_H
#define ZETA_PLUGINS_VGPU_SAMPLING_REPORT_H

/*
 * The report of the OA units: 256 bytes, little endian, in the form of the common format with 32
 * counters of 40 bits, 4 of 32 bits and twice 8 selectable ones.
 *
 *     0 report id, but for its last two bits: of them and
 *     4              the time stamp of 34 bits      8 context id    12 core clocks
 *    16 A0..A31 low words   144 A32..A35   160 A0..A31 high bytes   192 B0..B7   224 C0..C7
 */

#include <stdint.h>

#include "plugins/vgpu/device/ring.h"
#include "plugins/vgpu/engine/engine.h"
#include "select.h"

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
    const struct zeta_vgpu_event_counts *events;
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
