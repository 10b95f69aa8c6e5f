/*
 * Events of a recording, decoded without a device.
 */
#ifndef ZETA_CORE_METRIC_EXPORT_RECORDING_EVENTS_H
#define ZETA_CORE_METRIC_EXPORT_RECORDING_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/metric/export/export.h"

struct zeta_decode_plan;
struct zeta_recording_reader;

/** What decodes the DATA chunk that a reader read last. */
struct zeta_recorded_events {
    const void *raw; /**< the reader's */
    size_t raw_bytes;
    struct zeta_description *descriptions[ZETA_EXPORT_MAX_TILES];
    struct zeta_compiled *compiled[ZETA_EXPORT_MAX_TILES];
    uint32_t tile_count;
    struct zeta_decode_plan *plan;
    uint32_t metric_count;
    uint32_t set_count;
};

/**
 * Prepares to decode. zeta_recorded_events_close() ends it either way.
 * Errors, with a sentence: INVALID_ARGUMENT if the last chunk is no data of a tracer, or its
 * stream, sets or device are not described; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_recorded_events_open(const struct zeta_recording_reader *reader,
                                      struct zeta_recorded_events *out_events);

/** A metric: zeroed properties but for stype and pNext; how its values come about. */
void zeta_recorded_events_describe(const struct zeta_recorded_events *events, uint32_t index,
                                   zet_metric_properties_t *out_properties, uint32_t *out_class);

/**
 * Counts the entries of each set, and writes them if there is room.
 *
 * @counts          set_count numbers
 * @io_entry_count  room of entries; becomes the number that there is
 * @entries         NULL: only count
 *
 * Errors: INVALID_SIZE without enough room, nothing is written then; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_recorded_events_decode(const struct zeta_recorded_events *events, uint64_t *counts,
                                        uint32_t *io_entry_count, zet_metric_entry_exp_t *entries);

void zeta_recorded_events_close(struct zeta_recorded_events *events);

#endif
