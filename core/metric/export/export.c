#include "core/metric/export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "core/metric/group/group.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"
#include "zeta_impl.h"

ze_result_t zeta_export_result(enum zeta_container_result result, const char *sentence)
{
    switch (result) {
    case ZETA_CONTAINER_OK:
    case ZETA_CONTAINER_AT_END:
        return ZE_RESULT_SUCCESS;
    case ZETA_CONTAINER_NEWER:
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "%s", sentence);
    case ZETA_CONTAINER_IO:
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE, "%s", sentence);
    case ZETA_CONTAINER_FULL:
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE, "%s", sentence);
    case ZETA_CONTAINER_NO_MEMORY:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    default:
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s", sentence);
    }
}

ze_result_t zeta_export_append(struct zeta_container_writer *writer, enum zeta_chunk_type type,
                               uint32_t number, struct zeta_container_part payload)
{
    return zeta_export_result(zeta_container_append(writer, type, number, &payload, 1),
                              zeta_container_writer_problem(writer));
}

/* Writing ------------------------------------------------------------------------------------- */

/** Describes the set of one tile, and adds the lines that name it. */
static ze_result_t describe_tile(struct zeta_list *sets, const struct zeta_compiled *compiled,
                                 struct zeta_lines *lines)
{
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text text = {0};
    ze_result_t result = zeta_describe_set(compiled, &text);
    char digest[24];
    size_t place = 0;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)snprintf(digest, sizeof(digest), "%016" PRIx64,
                   zeta_describe_digest(text.data, text.length));
    while (place < sets->count && strcmp(sets->items[place], zeta_text_get(&text)) != 0)
        place++;
    if (place == sets->count) {
        if (!zeta_list_add(sets, text.data))
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        text = (struct zeta_text){0}; /* it is the list's now */
    }
    zeta_lines_add_u64(lines, "set", place + 1);
    zeta_lines_add(lines, "digest", digest);
    return ZE_RESULT_SUCCESS;
}

/** Describes a group: its sets, as far as they are new, and the lines of its stream. */
static ze_result_t describe_group(struct zeta_list *sets, const struct zeta_metric_group *group,
                                  struct zeta_lines *lines)
{
    const char *sampling = "tracer";

    if (group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
        sampling = "time";
    else if (group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        sampling = "event";
    zeta_lines_add(lines, "group", group->properties->name);
    zeta_lines_add(lines, "sampling", sampling);
    zeta_lines_add_u64(lines, "record", zeta_compiled_record_bytes(group->compiled[0]));
    zeta_lines_add_u64(lines, "tiles", group->compiled_count);
    for (uint32_t i = 0; i < group->compiled_count; i++) {
        ze_result_t result = describe_tile(sets, group->compiled[i], lines);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return lines->no_memory ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

static struct zeta_container_part text_part(const char *text)
{
    return (struct zeta_container_part){text, strlen(text)};
}

ze_result_t zeta_export_add_group(struct zeta_export_target *target,
                                  const struct zeta_metric_group *group, uint32_t stream,
                                  struct zeta_lines *lines)
{
    struct zeta_list *sets = &target->sets;
    size_t written = sets->count;
    ze_result_t result = describe_group(sets, group, lines);

    while (result == ZE_RESULT_SUCCESS && written < sets->count) {
        result = zeta_export_append(target->writer, ZETA_CHUNK_SET, (uint32_t)written + 1,
                                    text_part(sets->items[written]));
        written += result == ZE_RESULT_SUCCESS;
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_export_append(target->writer, ZETA_CHUNK_STREAM, stream,
                                    (struct zeta_container_part){lines->text, lines->bytes});
    /* What is not in the container must not be referred to later. */
    while (sets->count > written)
        free(sets->items[--sets->count]);
    zeta_lines_finish(lines);
    return result;
}

void zeta_export_target_finish(struct zeta_export_target *target)
{
    for (size_t i = 0; i < target->sets.count; i++)
        free(target->sets.items[i]);
    zeta_list_finish(&target->sets);
}

ze_result_t zeta_export_write(const struct zeta_export_content *content, size_t *size,
                              uint8_t *data)
{
    const size_t capacity = data ? *size : 0;

    /* First without memory, which only counts. */
    for (int pass = 0; pass < 2; pass++) {
        struct zeta_container_writer *writer = NULL;
        ze_result_t result = zeta_export_result(
            zeta_container_create_memory(pass == 0 ? NULL : data, pass == 0 ? 0 : capacity,
                                         ZETA_CONTAINER_EXPORT, &writer),
            "");

        if (result != ZE_RESULT_SUCCESS)
            return result;
        for (uint32_t i = 0; i < content->set_count && result == ZE_RESULT_SUCCESS; i++)
            result = zeta_export_append(writer, ZETA_CHUNK_SET, i + 1, content->sets[i]);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_export_append(writer, ZETA_CHUNK_STREAM, 1, content->stream);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_export_append(writer, ZETA_CHUNK_DATA, 1, content->raw);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_export_result(zeta_container_finish(writer),
                                        zeta_container_writer_problem(writer));
        if (result == ZE_RESULT_SUCCESS)
            *size = (size_t)zeta_container_size(writer);
        zeta_container_writer_destroy(writer);
        if (result != ZE_RESULT_SUCCESS || capacity == 0)
            return result;
        if (capacity < *size)
            return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                              "the exported data needs %zu bytes and the buffer has %zu", *size,
                              capacity);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricGroupGetExportDataExp(zet_metric_group_handle_t hMetricGroup,
                                                           const uint8_t *pRawData,
                                                           size_t rawDataSize,
                                                           size_t *pExportDataSize,
                                                           uint8_t *pExportData)
{
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    ZETA_CLEANUP(zeta_lines_finish) struct zeta_lines lines = {0};
    ZETA_CLEANUP(zeta_export_target_finish)
    struct zeta_export_target target = {0};
    struct zeta_export_content content = {.raw = {pRawData, rawDataSize}};
    const struct zeta_metric_group *group;
    uint32_t record_bytes;
    ze_result_t result = zeta_group_view_acquire(hMetricGroup, "zetMetricGroupGetExportDataExp",
                                                 "hMetricGroup", &view);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    group = view.group;
    record_bytes = zeta_compiled_record_bytes(group->compiled[0]);
    if (group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the data of tracer group %s is decoded (zetMetricTracerDecodeExp), not "
                          "calculated, so it is not exported; record it with 'zeta record'",
                          group->properties->name);
    if (rawDataSize % record_bytes != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%zu bytes are no raw data of group %s, whose records have %u bytes",
                          rawDataSize, group->properties->name, record_bytes);
    result = describe_group(&target.sets, group, &lines);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (target.sets.count > ZETA_EXPORT_MAX_TILES)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the tiles of group %s have %zu sets, and exported data at most %u",
                          group->properties->name, target.sets.count, ZETA_EXPORT_MAX_TILES);
    while (content.set_count < target.sets.count) {
        content.sets[content.set_count] = text_part(target.sets.items[content.set_count]);
        content.set_count++;
    }
    content.stream = (struct zeta_container_part){lines.text, lines.bytes};
    return zeta_export_write(&content, pExportDataSize, pExportData);
}

/* Reading, without a device ------------------------------------------------------------------- */

static ze_result_t refuse(const char *sentence)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s", sentence);
}

/** Notes where the parts are; chunks of other types are skipped. */
static ze_result_t read_chunks(struct zeta_container_reader *reader,
                               struct zeta_export_content *content)
{
    struct zeta_container_part part = {NULL, 0};
    struct zeta_container_chunk chunk;
    enum zeta_container_result found;

    if (zeta_container_reader_kind(reader) != ZETA_CONTAINER_EXPORT)
        return refuse("these bytes are a recording, not the export of one piece of raw data; "
                      "calculate it with 'zeta calc' or 'zeta report'");
    while ((found = zeta_container_next(reader, &chunk)) == ZETA_CONTAINER_OK) {
        found = zeta_container_payload(reader, &part.data);
        if (found != ZETA_CONTAINER_OK)
            break;
        part.bytes = (size_t)chunk.payload_bytes;
        if (chunk.type == ZETA_CHUNK_SET) {
            if (content->set_count == ZETA_EXPORT_MAX_TILES ||
                chunk.stream != content->set_count + 1)
                return refuse(
                    "the sets in the exported data are not numbered from 1 to at most 64");
            content->sets[content->set_count++] = part;
        } else if (chunk.type == ZETA_CHUNK_STREAM) {
            if (content->stream.data)
                return refuse("the exported data describes more than one stream");
            content->stream = part;
        } else if (chunk.type == ZETA_CHUNK_DATA) {
            if (content->raw.data)
                return refuse("the exported data has more than one piece of raw data");
            content->raw = part;
        }
    }
    if (found != ZETA_CONTAINER_AT_END)
        return zeta_export_result(found, zeta_container_reader_problem(reader));
    if (!content->stream.data || !content->raw.data || content->set_count == 0)
        return refuse("the exported data lacks its set, its stream or its raw data");
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_export_add_tile(struct zeta_export *export, struct zeta_container_part set)
{
    struct zeta_description **description = &export->descriptions[export->tile_count];
    ze_result_t result = zeta_description_get(
        set.data, set.bytes, (zet_metric_group_sampling_type_flag_t) export->sampling, description);

    if (result == ZE_RESULT_SUCCESS)
        export->compiled[export->tile_count++] = zeta_description_compiled(*description);
    return result;
}

/** Finds the description of the next tile. */
static ze_result_t open_tile(struct zeta_export *export, const struct zeta_export_content *content)
{
    const struct zeta_container_part stream = content->stream;
    const uint32_t tile = export->tile_count;
    char number[16] = "";
    char digest[24] = "";
    char expected[24];
    unsigned long index;
    ze_result_t result;

    if (!zeta_lines_find(stream.data, stream.bytes, "set", tile, number, sizeof(number)) ||
        !zeta_lines_find(stream.data, stream.bytes, "digest", tile, digest, sizeof(digest)))
        return refuse("the stream in the exported data does not name a set for each tile");
    index = strtoul(number, NULL, 10);
    if (index == 0 || index > content->set_count)
        return refuse("the stream in the exported data names a set that is not there");
    result = zeta_export_add_tile(export, content->sets[index - 1]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)snprintf(expected, sizeof(expected), "%016" PRIx64,
                   zeta_description_digest(export->descriptions[tile]));
    if (strcmp(digest, expected) != 0)
        return refuse("the digest of a set in the exported data is wrong");
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_export_open(const void *data, size_t bytes, struct zeta_export *out_export)
{
    struct zeta_container_problem problem = {""};
    struct zeta_container_reader *reader = NULL;
    struct zeta_export_content content = {0};
    const struct zeta_container_part *stream = &content.stream;
    char sampling[16] = "";
    uint32_t record_bytes;
    uint64_t tiles;
    ze_result_t result = zeta_export_result(
        zeta_container_open_memory(data, bytes, &problem, &reader), problem.text);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = read_chunks(reader, &content);
    zeta_container_reader_destroy(reader);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)zeta_lines_find(stream->data, stream->bytes, "sampling", 0, sampling, sizeof(sampling));
    tiles = zeta_lines_find_u64(stream->data, stream->bytes, "tiles", 0);
    if (tiles == 0 || tiles > ZETA_EXPORT_MAX_TILES)
        return refuse("the exported data has no number of tiles");
    if (strcmp(sampling, "tracer") == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the data is of a tracer, which is decoded and not calculated");
    if (strcmp(sampling, "time") != 0 && strcmp(sampling, "event") != 0)
        return refuse("the exported data has neither 'sampling: time' nor 'sampling: event'");
    *out_export =
        (struct zeta_export){.raw = content.raw.data,
                             .raw_bytes = content.raw.bytes,
                             .sampling = strcmp(sampling, "event") == 0
                                             ? ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED
                                             : ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED};
    while (result == ZE_RESULT_SUCCESS && out_export->tile_count < tiles)
        result = open_tile(out_export, &content);
    if (result != ZE_RESULT_SUCCESS)
        goto close;
    record_bytes = zeta_compiled_record_bytes(out_export->compiled[0]);
    for (uint32_t i = 1; i < tiles && result == ZE_RESULT_SUCCESS; i++) {
        if (zeta_compiled_record_bytes(out_export->compiled[i]) != record_bytes ||
            zeta_compiled_metric_count(out_export->compiled[i]) !=
                zeta_compiled_metric_count(out_export->compiled[0]))
            result = refuse("the sets of the tiles in the exported data do not fit together");
    }
    if (result == ZE_RESULT_SUCCESS &&
        (content.raw.bytes % record_bytes != 0 ||
         zeta_lines_find_u64(stream->data, stream->bytes, "record", 0) != record_bytes))
        result = refuse("the raw data in the exported data is not made of records of its set");
close:
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

/* Functions of zeta.h ------------------------------------------------------------------------- */

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
    found.properties.metricCount = zeta_compiled_metric_count(export.compiled[0]);
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
