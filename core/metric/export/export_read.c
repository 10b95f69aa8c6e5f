/* Reading exported data, without a device. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/describe/description.h"
#include "core/metric/export/export.h"
#include "core/metric/group/group.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

/** What exported data contains, each at most once but for the sets. */
struct contents {
    struct {
        const char *text;
        size_t bytes;
    } sets[ZETA_EXPORT_MAX_TILES];
    uint32_t set_count;
    const char *stream;
    size_t stream_bytes;
    const uint8_t *raw;
    size_t raw_bytes;
};

static ze_result_t refuse(const char *sentence)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s", sentence);
}

/** Notes what one chunk contains; chunks of other types are skipped. */
static ze_result_t take_chunk(struct contents *contents, const struct zeta_container_chunk *chunk,
                              const void *payload)
{
    const size_t bytes = (size_t)chunk->payload_bytes;

    if (chunk->type == ZETA_CHUNK_SET) {
        if (contents->set_count == ZETA_EXPORT_MAX_TILES ||
            chunk->stream != contents->set_count + 1)
            return refuse("the sets in the exported data are not numbered from 1 to at most 64");
        contents->sets[contents->set_count].text = payload;
        contents->sets[contents->set_count++].bytes = bytes;
    } else if (chunk->type == ZETA_CHUNK_STREAM) {
        if (contents->stream)
            return refuse("the exported data describes more than one stream");
        contents->stream = payload;
        contents->stream_bytes = bytes;
    } else if (chunk->type == ZETA_CHUNK_DATA) {
        if (contents->raw)
            return refuse("the exported data has more than one piece of raw data");
        contents->raw = payload;
        contents->raw_bytes = bytes;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_chunks(struct zeta_container_reader *reader, struct contents *contents)
{
    struct zeta_container_chunk chunk;
    enum zeta_container_result found;
    ze_result_t result = ZE_RESULT_SUCCESS;
    const void *payload;

    while ((found = zeta_container_next(reader, &chunk)) == ZETA_CONTAINER_OK) {
        found = zeta_container_payload(reader, &payload);
        if (found != ZETA_CONTAINER_OK)
            break;
        result = take_chunk(contents, &chunk, payload);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    if (found != ZETA_CONTAINER_AT_END)
        return zeta_export_result(found, zeta_container_reader_problem(reader));
    if (!contents->stream || !contents->raw || contents->set_count == 0)
        return refuse("the exported data lacks its set, its stream or its raw data");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_contents(const void *data, size_t bytes, struct contents *contents)
{
    struct zeta_container_problem problem = {""};
    struct zeta_container_reader *reader = NULL;
    ze_result_t result = zeta_export_result(
        zeta_container_open_memory(data, bytes, &problem, &reader), problem.text);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_container_reader_kind(reader) != ZETA_CONTAINER_EXPORT)
        result = refuse("these bytes are a recording, not the export of one piece of raw data; "
                        "calculate it with 'zeta calc' or 'zeta report'");
    else
        result = read_chunks(reader, contents);
    zeta_container_reader_destroy(reader);
    return result;
}

/** Finds the description of one tile. */
static ze_result_t open_tile(struct zeta_export *export, const struct contents *contents)
{
    const zet_metric_group_sampling_type_flag_t sampling =
        (zet_metric_group_sampling_type_flag_t) export->sampling;
    const uint32_t tile = export->tile_count;
    char number[16] = "";
    char digest[24] = "";
    char expected[24];
    struct zeta_description *description = NULL;
    unsigned long index;
    ze_result_t result;

    if (!zeta_lines_find(contents->stream, contents->stream_bytes, "set", tile, number,
                         sizeof(number)) ||
        !zeta_lines_find(contents->stream, contents->stream_bytes, "digest", tile, digest,
                         sizeof(digest)))
        return refuse("the stream in the exported data does not name a set for each tile");
    index = strtoul(number, NULL, 10);
    if (index == 0 || index > contents->set_count)
        return refuse("the stream in the exported data names a set that is not there");
    result = zeta_description_get(contents->sets[index - 1].text, contents->sets[index - 1].bytes,
                                  sampling, &description);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)snprintf(expected, sizeof(expected), "%016" PRIx64, zeta_description_digest(description));
    if (strcmp(digest, expected) != 0) {
        zeta_description_release(description);
        return refuse("the digest of a set in the exported data is wrong");
    }
    export->descriptions[tile] = description;
    export->compiled[tile] = zeta_description_compiled(export->descriptions[tile]);
    export->tile_count++;
    return ZE_RESULT_SUCCESS;
}

/** Checks that the tiles have the same metrics and the data is made of their records. */
static ze_result_t check_tiles(const struct zeta_export *export, const struct contents *contents)
{
    const uint32_t record_bytes = zeta_compiled_record_bytes(export->compiled[0]);

    for (uint32_t i = 1; i < export->tile_count; i++) {
        if (zeta_compiled_record_bytes(export->compiled[i]) != record_bytes ||
            zeta_compiled_metric_count(export->compiled[i]) !=
                zeta_compiled_metric_count(export->compiled[0]))
            return refuse("the sets of the tiles in the exported data do not fit together");
    }
    if (contents->raw_bytes % record_bytes != 0 ||
        zeta_lines_find_u64(contents->stream, contents->stream_bytes, "record", 0) != record_bytes)
        return refuse("the raw data in the exported data is not made of records of its set");
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_export_open(const void *data, size_t bytes, struct zeta_export *out_export)
{
    struct contents contents = {0};
    char sampling[16] = "";
    uint64_t tiles;
    ze_result_t result = read_contents(data, bytes, &contents);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_export = (struct zeta_export){.raw = contents.raw,
                                       .raw_bytes = contents.raw_bytes,
                                       .stream = contents.stream,
                                       .stream_bytes = contents.stream_bytes};
    (void)zeta_lines_find(contents.stream, contents.stream_bytes, "sampling", 0, sampling,
                          sizeof(sampling));
    tiles = zeta_lines_find_u64(contents.stream, contents.stream_bytes, "tiles", 0);
    if (tiles == 0 || tiles > ZETA_EXPORT_MAX_TILES)
        return refuse("the exported data has no number of tiles");
    if (strcmp(sampling, "tracer") == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the data is of a tracer, which is decoded and not calculated");
    if (strcmp(sampling, "time") != 0 && strcmp(sampling, "event") != 0)
        return refuse("the exported data has neither 'sampling: time' nor 'sampling: event'");
    out_export->sampling = strcmp(sampling, "event") == 0
                               ? ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED
                               : ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    while (result == ZE_RESULT_SUCCESS && out_export->tile_count < tiles)
        result = open_tile(out_export, &contents);
    if (result == ZE_RESULT_SUCCESS)
        result = check_tiles(out_export, &contents);
    if (result != ZE_RESULT_SUCCESS)
        zeta_export_close(out_export);
    return result;
}

void zeta_export_close(struct zeta_export *export)
{
    for (uint32_t i = 0; i < export->tile_count; i++)
        zeta_description_release(export->descriptions[i]);
    export->tile_count = 0;
}

/* Functions of zeta.h ---------------------------------------------------------------------------
 */

ze_result_t zeta_exported_metrics_check(const char *function, const uint32_t *count,
                                        const struct zeta_exported_metric *metrics)
{
    ze_result_t result = count ? ZE_RESULT_SUCCESS : zeta_own_null_pointer(function, "count");

    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && metrics && i < *count; i++)
        result = zeta_own_struct_check(function, &metrics[i]);
    return result;
}

void zeta_exported_metric_copy(const struct zeta_metric *metric,
                               struct zeta_exported_metric *target)
{
    struct zeta_exported_metric found = {.metric_class = (uint32_t)metric->metric_class};

    zeta_metric_describe(metric, &found.properties);
    zeta_own_struct_copy(target, target->struct_size, &found, sizeof(found));
}

ze_result_t zetaExportDataGetInfo(size_t data_size, const uint8_t *data,
                                  struct zeta_export_info *info)
{
    struct zeta_export_info found = {0};
    struct zeta_export export;
    ze_result_t result = zeta_own_struct_check("zetaExportDataGetInfo", info);

    if (result == ZE_RESULT_SUCCESS && !data)
        result = zeta_own_null_pointer("zetaExportDataGetInfo", "data");
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_export_open(data, data_size, &export);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_metric_group_describe(export.compiled[0], export.sampling, &found.properties);
    found.record_bytes = zeta_compiled_record_bytes(export.compiled[0]);
    found.raw_bytes = export.raw_bytes;
    found.tile_count = export.tile_count;
    found.raw = export.raw;
    zeta_export_close(&export);
    zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaExportDataGetMetrics(size_t data_size, const uint8_t *data, uint32_t *count,
                                     struct zeta_exported_metric *metrics)
{
    const char *function = "zetaExportDataGetMetrics";
    struct zeta_export export;
    ze_result_t result = zeta_exported_metrics_check(function, count, metrics);
    uint32_t room;

    if (result == ZE_RESULT_SUCCESS && !data)
        result = zeta_own_null_pointer(function, "data");
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_export_open(data, data_size, &export);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    room = zeta_count_clip(count, zeta_compiled_metric_count(export.compiled[0]), metrics);
    for (uint32_t i = 0; i < room; i++)
        zeta_exported_metric_copy(zeta_compiled_metric(export.compiled[0], i), &metrics[i]);
    zeta_export_close(&export);
    return ZE_RESULT_SUCCESS;
}
