/* Calculation from exported data: with a driver handle, and without a device. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/describe/description.h"
#include "core/formula/record/slot.h"
#include "core/metric/calculate/calculate.h"
#include "core/metric/export/export.h"
#include "core/metric/group/group.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** What exported data holds, each at most once but for the sets. */
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

/** Notes what one chunk holds; chunks of other types are none of ours. */
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
        return refuse("the exported data does not say how many tiles it is of");
    if (strcmp(sampling, "tracer") == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the data is of a tracer, which is decoded and not calculated");
    if (strcmp(sampling, "time") != 0 && strcmp(sampling, "event") != 0)
        return refuse("the exported data says neither 'sampling: time' nor 'sampling: event'");
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

void zeta_export_describe(const struct zeta_export *export,
                          zet_metric_group_properties_t *out_properties, uint32_t *out_record_bytes)
{
    zeta_metric_group_describe(export->compiled[0], export->sampling, out_properties);
    *out_record_bytes = zeta_compiled_record_bytes(export->compiled[0]);
}

void zeta_export_describe_metric(const struct zeta_export *export, uint32_t index,
                                 zet_metric_properties_t *out_properties, uint32_t *out_class)
{
    const struct zeta_metric *metric = zeta_compiled_metric(export->compiled[0], index);

    zeta_metric_describe(metric, out_properties);
    *out_class = (uint32_t)metric->metric_class;
}

void zeta_export_close(struct zeta_export *export)
{
    for (uint32_t i = 0; i < export->tile_count; i++)
        zeta_description_release(export->descriptions[i]);
    export->tile_count = 0;
}

ze_result_t ZE_APICALL impl_zetMetricGroupCalculateMetricExportDataExp(
    ze_driver_handle_t hDriver ZETA_UNUSED, zet_metric_group_calculation_type_t type,
    size_t exportDataSize, const uint8_t *pExportData,
    zet_metric_calculate_exp_desc_t *pCalculateDescriptor, uint32_t *pSetCount,
    uint32_t *pTotalMetricValueCount, uint32_t *pMetricCounts, zet_typed_value_t *pMetricValues)
{
    struct zeta_export export;
    struct zeta_calculation calculation;
    size_t skipped;
    ze_result_t result = zeta_export_open(pExportData, exportDataSize, &export);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    calculation =
        (struct zeta_calculation){.compiled = export.compiled, .compiled_count = export.tile_count};
    skipped =
        zeta_slot_skip(export.raw, export.raw_bytes, zeta_compiled_record_bytes(export.compiled[0]),
                       pCalculateDescriptor->rawReportSkipCount, &calculation.first_tile);
    calculation.raw = export.raw + skipped;
    calculation.raw_bytes = export.raw_bytes - skipped;
    result = zeta_calculate_sets(&calculation, type, pSetCount, pTotalMetricValueCount,
                                 pMetricCounts, pMetricValues);
    zeta_export_close(&export);
    return result;
}
