/*
 * Parts of a stream that live in other files of this folder. Only for stream*.c.
 */
#ifndef ZETA_CORE_METRIC_STREAM_STREAM_PRIV_H
#define ZETA_CORE_METRIC_STREAM_STREAM_PRIV_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/metric/stream/stream.h"
#include "zeta/plugin.h"

struct zeta_compiled;
struct zeta_device;
struct zeta_layout;
struct zeta_provider;

/** The program of a set in the form that backends take. */
struct zeta_stream_program {
    struct zeta_plugin_array array; /**< of struct zeta_plugin_program_entry, owned */
    struct zeta_plugin_string digest;
    struct zeta_plugin_string uuid; /**< as the set file says it, or empty */
    char digest_text[17];
};

/**
 * Makes the program of a compiled set; its strings stay those of the catalog. The digest is equal
 * for equal programs in every process. Errors: OUT_OF_HOST_MEMORY. Not to be moved in memory.
 */
ze_result_t zeta_stream_program_make(const struct zeta_compiled *compiled,
                                     struct zeta_stream_program *out_program);

/** Frees a program. */
void zeta_stream_program_free(struct zeta_stream_program *program);

/** Who samples the source of this index: the tile's provider, or the device's. */
const struct zeta_provider *zeta_stream_provider(const struct zeta_device *device, uint32_t index);

/**
 * What the period of a source may not exceed: zet_metric_streamer_desc_t holds it in 32 bits, and
 * nothing that the set reads may come around.
 */
uint64_t zeta_stream_longest_ns(const struct zeta_metric_group *group, uint32_t index);

/**
 * The header field "timestamp" or "ticks" of a layout, by which tiles are aligned; NULL if it has
 * none.
 */
const struct zeta_field *zeta_stream_clock(const struct zeta_layout *layout);

/**
 * Reads a stream with several sources: from each what fits, up to one instant. In one's turn, after
 * the rings were filled.
 */
void zeta_stream_read_tiles(struct zeta_stream *stream, struct zeta_cursor *cursor);

#endif
