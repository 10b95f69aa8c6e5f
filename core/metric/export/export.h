/*
 * Exported data: raw data with the description of its group, in the container of zeta/container.h.
 * sdk/doc/formats.md describes the bytes.
 */
#ifndef ZETA_CORE_METRIC_EXPORT_EXPORT_H
#define ZETA_CORE_METRIC_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/util/list.h"
#include "zeta/container.h"

struct zeta_compiled;
struct zeta_description;
struct zeta_exported_metric;
struct zeta_metric;
struct zeta_metric_group;

/** Most tiles of one stream. */
#define ZETA_EXPORT_MAX_TILES 64u

/** The container that groups are described in. */
struct zeta_export_target {
    struct zeta_container_writer *writer;
    struct zeta_list sets; /**< texts of the SET chunks that are in it; their
                              number is index + 1 */
};

/** Forgets the texts. The writer stays the caller's. */
void zeta_export_target_finish(struct zeta_export_target *target);

/**
 * Adds the SET chunks of a group that are not there yet, and the STREAM chunk
 * of that number.
 *
 * @lines  what else the STREAM chunk contains; finished here
 * Errors, with a sentence: UNSUPPORTED_FEATURE (a device whose symbols cannot
 * be written as text), OUT_OF_HOST_MEMORY, and those of zeta_export_result().
 */
ze_result_t zeta_export_add_group(struct zeta_export_target *target,
                                  const struct zeta_metric_group *group, uint32_t stream,
                                  struct zeta_lines *lines);

/**
 * The result of the API for one of a container, with the sentence: INVALID_ARGUMENT for what is no
 * container or damaged, UNSUPPORTED_VERSION, OUT_OF_HOST_MEMORY, NOT_AVAILABLE for files, and
 * INVALID_SIZE for a full one.
 */
ze_result_t zeta_export_result(enum zeta_container_result result, const char *sentence);

/** Appends a chunk. Errors: those of zeta_export_result(). */
ze_result_t zeta_export_append(struct zeta_container_writer *writer, enum zeta_chunk_type type,
                               uint32_t number, struct zeta_container_part payload);

/** What exported data contains. The payloads are elsewhere. */
struct zeta_export_content {
    struct zeta_container_part sets[ZETA_EXPORT_MAX_TILES]; /**< numbered from 1 */
    uint32_t set_count;
    struct zeta_container_part stream; /**< lines */
    struct zeta_container_part raw;
};

/**
 * Writes exported data in the way of size queries: *size becomes what it needs. Errors:
 * INVALID_SIZE if there is not enough room; those of zeta_export_result().
 */
ze_result_t zeta_export_write(const struct zeta_export_content *content, size_t *size,
                              uint8_t *data);

/** Exported data, opened. */
struct zeta_export {
    const uint8_t *raw; /**< inside the data */
    size_t raw_bytes;
    struct zeta_description *descriptions[ZETA_EXPORT_MAX_TILES];
    struct zeta_compiled *compiled[ZETA_EXPORT_MAX_TILES]; /**< of the descriptions */
    uint32_t tile_count;
    zet_metric_group_sampling_type_flags_t sampling; /**< one bit */
};

/**
 * Opens exported data, every byte of it checked. It must stay as it is until it is closed.
 *
 * Errors, with a sentence and nothing to close: INVALID_ARGUMENT, UNSUPPORTED_VERSION,
 * UNSUPPORTED_FEATURE for data of tracers, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_export_open(const void *data, size_t bytes, struct zeta_export *out_export);

/** Finds or compiles the set of the next tile. Errors: those of zeta_description_get(). */
ze_result_t zeta_export_add_tile(struct zeta_export *export, struct zeta_container_part set);

/** Frees what belongs to opened data; also with ZETA_CLEANUP. */
void zeta_export_close(struct zeta_export *export);

/** Checks the arguments of a function that gives metrics. The result is that of the function. */
ze_result_t zeta_exported_metrics_check(const char *function, const uint32_t *count,
                                        const struct zeta_exported_metric *metrics);

/** Gives a metric, as far as the struct has room for what is known. */
void zeta_exported_metric_copy(const struct zeta_metric *metric,
                               struct zeta_exported_metric *target);

#endif
