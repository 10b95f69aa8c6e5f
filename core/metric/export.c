#include "core/metric/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/metric/compile.h"
#include "core/metric/describe.h"
#include "core/metric/group.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
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

void zeta_export_target_finish(struct zeta_export_target *target)
{
    for (size_t i = 0; i < target->sets.count; i++)
        free(target->sets.items[i]);
    zeta_list_finish(&target->sets);
}

static ze_result_t append(struct zeta_export_target *target, enum zeta_chunk_type type,
                          uint32_t stream, const void *payload, size_t bytes)
{
    const struct zeta_container_part part = {payload, bytes};

    return zeta_export_result(zeta_container_append(target->writer, type, stream, &part, 1),
                              zeta_container_writer_problem(target->writer));
}

/** The number of the SET chunk with that text, which is added if there is none. */
static ze_result_t add_set(struct zeta_export_target *target, struct zeta_text *text,
                           uint32_t *out_number)
{
    char *data = text->data;
    const size_t length = text->length;

    for (size_t i = 0; i < target->sets.count; i++) {
        *out_number = (uint32_t)i + 1;
        if (strcmp(target->sets.items[i], zeta_text_get(text)) == 0)
            return ZE_RESULT_SUCCESS;
    }
    if (!zeta_list_add(&target->sets, data))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *out_number = (uint32_t)target->sets.count;
    *text = (struct zeta_text){0}; /* it is the list's now */
    return append(target, ZETA_CHUNK_SET, *out_number, data, length);
}

/** Adds the set of one tile, and the lines that name it. */
static ze_result_t add_tile(struct zeta_export_target *target, const struct zeta_compiled *compiled,
                            struct zeta_lines *lines)
{
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text text = {0};
    ze_result_t result = zeta_describe_set(compiled, &text);
    char digest[24];
    uint32_t number = 0;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)snprintf(digest, sizeof(digest), "%016" PRIx64,
                   zeta_describe_digest(text.data, text.length));
    result = add_set(target, &text, &number);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_lines_add_u64(lines, "set", number);
    zeta_lines_add(lines, "digest", digest);
    return ZE_RESULT_SUCCESS;
}

static const char *sampling_word(const struct zeta_metric_group *group)
{
    switch (group->properties->samplingType) {
    case ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED:
        return "time";
    case ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED:
        return "event";
    default:
        return "tracer";
    }
}

static ze_result_t add_stream(struct zeta_export_target *target,
                              const struct zeta_metric_group *group, uint32_t stream,
                              struct zeta_lines *lines)
{
    zeta_lines_add(lines, "group", group->properties->name);
    zeta_lines_add(lines, "sampling", sampling_word(group));
    zeta_lines_add_u64(lines, "record", zeta_compiled_record_bytes(group->compiled[0]));
    zeta_lines_add_u64(lines, "tiles", group->compiled_count);
    for (uint32_t i = 0; i < group->compiled_count; i++) {
        ze_result_t result = add_tile(target, group->compiled[i], lines);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    if (lines->no_memory)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return append(target, ZETA_CHUNK_STREAM, stream, lines->text, lines->bytes);
}

ze_result_t zeta_export_add_group(struct zeta_export_target *target,
                                  const struct zeta_metric_group *group, uint32_t stream,
                                  struct zeta_lines *lines)
{
    struct zeta_lines own = {0};
    ze_result_t result = add_stream(target, group, stream, lines ? lines : &own);

    zeta_lines_finish(lines ? lines : &own);
    return result;
}

/** Writes the whole export; what does not fit the capacity is counted. */
static ze_result_t write_export(const struct zeta_metric_group *group, const uint8_t *raw,
                                size_t raw_bytes, uint8_t *data, size_t capacity, size_t *out_bytes)
{
    struct zeta_export_target target = {0};
    ze_result_t result = zeta_export_result(
        zeta_container_create_memory(data, capacity, ZETA_CONTAINER_EXPORT, &target.writer), "");

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_export_add_group(&target, group, ZETA_EXPORT_STREAM, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = append(&target, ZETA_CHUNK_DATA, ZETA_EXPORT_STREAM, raw, raw_bytes);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_export_result(zeta_container_finish(target.writer),
                                    zeta_container_writer_problem(target.writer));
    *out_bytes = (size_t)zeta_container_size(target.writer);
    zeta_export_target_finish(&target);
    zeta_container_writer_destroy(target.writer);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupGetExportDataExp(zet_metric_group_handle_t hMetricGroup,
                                                           const uint8_t *pRawData,
                                                           size_t rawDataSize,
                                                           size_t *pExportDataSize,
                                                           uint8_t *pExportData)
{
    const struct zeta_metric_group *group = (const struct zeta_metric_group *)hMetricGroup;
    const uint32_t record_bytes = zeta_compiled_record_bytes(group->compiled[0]);
    size_t needed = 0;
    ze_result_t result;

    if (group->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the data of tracer group %s is decoded (zetMetricTracerDecodeExp), not "
                          "calculated, so it is not exported; record it with 'zeta record'",
                          group->properties->name);
    if (rawDataSize % record_bytes != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%zu bytes are no raw data of group %s, whose records have %u bytes",
                          rawDataSize, group->properties->name, record_bytes);
    result = write_export(group, pRawData, rawDataSize, NULL, 0, &needed);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (*pExportDataSize == 0 || !pExportData) {
        *pExportDataSize = needed;
        return ZE_RESULT_SUCCESS;
    }
    if (*pExportDataSize < needed) {
        result = zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                            "the export needs %zu bytes and the buffer has %zu", needed,
                            *pExportDataSize);
        *pExportDataSize = needed;
        return result;
    }
    return write_export(group, pRawData, rawDataSize, pExportData, *pExportDataSize,
                        pExportDataSize);
}
