#include "core/metric/export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "core/metric/group/group.h"
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

ze_result_t zeta_export_append(struct zeta_container_writer *writer, enum zeta_chunk_type type,
                               uint32_t number, const void *payload, size_t bytes)
{
    const struct zeta_container_part part = {payload, bytes};

    return zeta_export_result(zeta_container_append(writer, type, number, &part, 1),
                              zeta_container_writer_problem(writer));
}

/** The number of the set with that text, which is taken into the list if it is new. */
static ze_result_t number_set(struct zeta_list *sets, struct zeta_text *text, uint32_t *out_number)
{
    for (size_t i = 0; i < sets->count; i++) {
        *out_number = (uint32_t)i + 1;
        if (strcmp(sets->items[i], zeta_text_get(text)) == 0)
            return ZE_RESULT_SUCCESS;
    }
    if (!zeta_list_add(sets, text->data))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *text = (struct zeta_text){0}; /* it is the list's now */
    *out_number = (uint32_t)sets->count;
    return ZE_RESULT_SUCCESS;
}

/** Describes the set of one tile, and adds the lines that name it. */
static ze_result_t describe_tile(struct zeta_list *sets, const struct zeta_compiled *compiled,
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
    result = number_set(sets, &text, &number);
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

/** Describes a group: its sets, as far as they are new, and the lines of its stream. */
static ze_result_t describe_group(struct zeta_list *sets, const struct zeta_metric_group *group,
                                  struct zeta_lines *lines)
{
    zeta_lines_add(lines, "group", group->properties->name);
    zeta_lines_add(lines, "sampling", sampling_word(group));
    zeta_lines_add_u64(lines, "record", zeta_compiled_record_bytes(group->compiled[0]));
    zeta_lines_add_u64(lines, "tiles", group->compiled_count);
    for (uint32_t i = 0; i < group->compiled_count; i++) {
        ze_result_t result = describe_tile(sets, group->compiled[i], lines);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return lines->no_memory ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

/** Writes the sets of the list from first on, and the stream. *out_written: sets in the list. */
static ze_result_t append_group(struct zeta_container_writer *writer, const struct zeta_list *sets,
                                size_t first, uint32_t stream, const struct zeta_lines *lines,
                                size_t *out_written)
{
    for (*out_written = first; *out_written < sets->count; (*out_written)++) {
        const char *text = sets->items[*out_written];
        ze_result_t result = zeta_export_append(writer, ZETA_CHUNK_SET, (uint32_t)*out_written + 1,
                                                text, strlen(text));

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return zeta_export_append(writer, ZETA_CHUNK_STREAM, stream, lines->text, lines->bytes);
}

ze_result_t zeta_export_add_group(struct zeta_export_target *target,
                                  const struct zeta_metric_group *group, uint32_t stream,
                                  struct zeta_lines *lines)
{
    const size_t first = target->sets.count;
    size_t written = first;
    ze_result_t result = describe_group(&target->sets, group, lines);

    if (result == ZE_RESULT_SUCCESS)
        result = append_group(target->writer, &target->sets, first, stream, lines, &written);
    /* What is not in the container must not be referred to later. */
    while (target->sets.count > written)
        free(target->sets.items[--target->sets.count]);
    zeta_lines_finish(lines);
    return result;
}

ze_result_t zeta_export_write(const struct zeta_export_job *job, size_t *size, uint8_t *data)
{
    const size_t capacity = data ? *size : 0;
    size_t needed = 0;

    /* First without memory, which only counts. */
    for (int pass = 0; pass < 2; pass++) {
        struct zeta_container_writer *writer = NULL;
        ze_result_t result = zeta_export_result(
            zeta_container_create_memory(pass == 0 ? NULL : data, pass == 0 ? 0 : capacity,
                                         ZETA_CONTAINER_EXPORT, &writer),
            "");

        if (result != ZE_RESULT_SUCCESS)
            return result;
        result = job->describe(job->context, writer);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_export_append(writer, ZETA_CHUNK_DATA, ZETA_EXPORT_STREAM, job->raw,
                                        job->raw_bytes);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_export_result(zeta_container_finish(writer),
                                        zeta_container_writer_problem(writer));
        needed = (size_t)zeta_container_size(writer);
        zeta_container_writer_destroy(writer);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        *size = needed;
        if (capacity == 0)
            break;
        if (capacity < needed)
            return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                              "the exported data needs %zu bytes and the buffer has %zu", needed,
                              capacity);
    }
    return ZE_RESULT_SUCCESS;
}

/** What describes the exported group. */
struct description {
    struct zeta_export_target target;
    struct zeta_lines lines;
};

static ze_result_t write_description(const void *context, struct zeta_container_writer *writer)
{
    const struct description *description = context;
    size_t written;

    return append_group(writer, &description->target.sets, 0, ZETA_EXPORT_STREAM,
                        &description->lines, &written);
}

/** As the entry point; the group is viewed. */
static ze_result_t export_group(const struct zeta_metric_group *group, const uint8_t *pRawData,
                                size_t rawDataSize, size_t *pExportDataSize, uint8_t *pExportData)
{
    const uint32_t record_bytes = zeta_compiled_record_bytes(group->compiled[0]);
    struct description description = {0};
    const struct zeta_export_job job = {.describe = write_description,
                                        .context = &description,
                                        .raw = pRawData,
                                        .raw_bytes = rawDataSize};
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
    result = describe_group(&description.target.sets, group, &description.lines);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_export_write(&job, pExportDataSize, pExportData);
    zeta_lines_finish(&description.lines);
    zeta_export_target_finish(&description.target);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGroupGetExportDataExp(zet_metric_group_handle_t hMetricGroup,
                                                           const uint8_t *pRawData,
                                                           size_t rawDataSize,
                                                           size_t *pExportDataSize,
                                                           uint8_t *pExportData)
{
    struct zeta_group_view view;
    ze_result_t result = zeta_group_view_acquire(hMetricGroup, "zetMetricGroupGetExportDataExp",
                                                 "hMetricGroup", &view);

    if (result == ZE_RESULT_SUCCESS)
        result = export_group(view.group, pRawData, rawDataSize, pExportDataSize, pExportData);
    zeta_group_view_release(&view);
    return result;
}
