/*
 * The inside of a reader of recordings. Only for zeta_recording_*.c and recording_events.c.
 */
#ifndef ZETA_CORE_METRIC_EXPORT_RECORDING_READER_H
#define ZETA_CORE_METRIC_EXPORT_RECORDING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/util/list.h"
#include "zeta/container.h"

/** A payload that later chunks refer to. */
struct zeta_recording_kept {
    uint32_t type; /**< DEVICE, SET or STREAM */
    uint32_t number;
    size_t bytes;
    char text[];
};

struct zeta_recording_reader {
    struct zeta_container_reader *container;
    struct zeta_list kept; /**< of struct zeta_recording_kept */
    struct zeta_container_chunk chunk;
    const void *payload; /**< of the chunk; NULL if it was not read in order */
};

/** What was kept of a number; NULL if there is none. */
const struct zeta_recording_kept *
zeta_recording_reader_find(const struct zeta_recording_reader *reader, uint32_t type,
                           uint32_t number);

/**
 * The description of the stream that the chunk read last is data of.
 * Errors: INVALID_ARGUMENT with a sentence if it is no data, or of a stream without description.
 */
ze_result_t zeta_recording_reader_stream(const struct zeta_recording_reader *reader,
                                         const struct zeta_recording_kept **out_stream,
                                         bool *out_is_tracer);

#endif
