/* Reading recordings: the functions of zeta.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/metric/export/export.h"
#include "core/metric/export/recording_reader.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

static ze_result_t null_reader(const char *function)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "%s: reader is null", function);
}

ze_result_t zetaRecordingOpen(const char *path, struct zeta_recording_reader **out_reader)
{
    struct zeta_container_problem problem = {""};
    struct zeta_recording_reader *reader;
    enum zeta_container_result result;

    if (!path)
        return zeta_own_null_pointer("zetaRecordingOpen", "path");
    if (!out_reader)
        return zeta_own_null_pointer("zetaRecordingOpen", "out_reader");
    reader = calloc(1, sizeof(*reader));
    if (!reader)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_container_open_file(path, &problem, &reader->container);
    if (result != ZETA_CONTAINER_OK) {
        free(reader);
        return zeta_export_result(result, problem.text);
    }
    *out_reader = reader;
    return ZE_RESULT_SUCCESS;
}

const struct zeta_recording_kept *
zeta_recording_reader_find(const struct zeta_recording_reader *reader, uint32_t type,
                           uint32_t number)
{
    for (size_t i = 0; i < reader->kept.count; i++) {
        const struct zeta_recording_kept *kept = reader->kept.items[i];

        if (kept->type == type && kept->number == number)
            return kept;
    }
    return NULL;
}

/** Keeps the payload of a DEVICE, SET or STREAM chunk; the first one of a number counts. */
static ze_result_t keep(struct zeta_recording_reader *reader)
{
    const struct zeta_container_chunk *chunk = &reader->chunk;
    struct zeta_recording_kept *kept;

    if ((chunk->type != ZETA_CHUNK_DEVICE && chunk->type != ZETA_CHUNK_SET &&
         chunk->type != ZETA_CHUNK_STREAM) ||
        zeta_recording_reader_find(reader, chunk->type, chunk->stream))
        return ZE_RESULT_SUCCESS;
    kept = malloc(sizeof(*kept) + (size_t)chunk->payload_bytes);
    if (!kept || !zeta_list_add(&reader->kept, kept)) {
        free(kept);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    kept->type = chunk->type;
    kept->number = chunk->stream;
    kept->bytes = (size_t)chunk->payload_bytes;
    if (kept->bytes > 0)
        memcpy(kept->text, reader->payload, kept->bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaRecordingNext(struct zeta_recording_reader *reader,
                              struct zeta_recording_chunk *chunk)
{
    struct zeta_recording_chunk found = {0};
    enum zeta_container_result result;
    ze_result_t kept;

    if (!reader)
        return null_reader("zetaRecordingNext");
    kept = zeta_own_struct_check("zetaRecordingNext", chunk);
    if (kept != ZE_RESULT_SUCCESS)
        return kept;
    reader->payload = NULL;
    result = zeta_container_next(reader->container, &reader->chunk);
    if (result == ZETA_CONTAINER_AT_CUT)
        return ZE_RESULT_NOT_READY;
    if (result == ZETA_CONTAINER_AT_END) {
        found.type = ZETA_CHUNK_END;
        zeta_own_struct_copy(chunk, chunk->struct_size, &found, sizeof(found));
        return ZE_RESULT_SUCCESS;
    }
    if (result == ZETA_CONTAINER_OK)
        result = zeta_container_payload(reader->container, &reader->payload);
    if (result != ZETA_CONTAINER_OK)
        return zeta_export_result(result, zeta_container_reader_problem(reader->container));
    kept = keep(reader);
    if (kept != ZE_RESULT_SUCCESS)
        return kept;
    found.type = reader->chunk.type;
    found.number = reader->chunk.stream;
    found.payload = reader->payload;
    found.payload_bytes = reader->chunk.payload_bytes;
    found.offset = reader->chunk.offset;
    zeta_own_struct_copy(chunk, chunk->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

/** Adds the sets of the tiles with numbers of their own, and the lines that name them. */
static ze_result_t add_sets(const struct zeta_recording_reader *reader,
                            const struct zeta_recording_kept *stream,
                            struct zeta_container_writer *writer, struct zeta_lines *lines)
{
    uint32_t used[ZETA_EXPORT_MAX_TILES];
    uint32_t used_count = 0;
    char text[24];

    for (uint32_t tile = 0;
         zeta_lines_find(stream->text, stream->bytes, "set", tile, text, sizeof(text)); tile++) {
        const uint32_t number = (uint32_t)strtoul(text, NULL, 10);
        const struct zeta_recording_kept *set =
            zeta_recording_reader_find(reader, ZETA_CHUNK_SET, number);
        uint32_t own = 0;
        ze_result_t result = ZE_RESULT_SUCCESS;

        if (!set || tile == ZETA_EXPORT_MAX_TILES)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "stream %u of the recording names set %u, which is not there",
                              stream->number, number);
        while (own < used_count && used[own] != number)
            own++;
        if (own == used_count) {
            used[used_count++] = number;
            result = zeta_export_append(writer, ZETA_CHUNK_SET, own + 1, set->text, set->bytes);
        }
        if (result != ZE_RESULT_SUCCESS)
            return result;
        zeta_lines_add_u64(lines, "set", own + 1);
        if (zeta_lines_find(stream->text, stream->bytes, "digest", tile, text, sizeof(text)))
            zeta_lines_add(lines, "digest", text);
    }
    return ZE_RESULT_SUCCESS;
}

/** Writes the stream's description as that of exported data. */
static ze_result_t describe_stream(const void *context, struct zeta_container_writer *writer)
{
    const struct zeta_recording_reader *reader = context;
    const struct zeta_recording_kept *stream =
        zeta_recording_reader_find(reader, ZETA_CHUNK_STREAM, reader->chunk.stream);
    static const char *const copied[] = {"group", "sampling", "record", "tiles"};
    struct zeta_lines lines = {0};
    char value[ZET_MAX_METRIC_GROUP_NAME + 1];
    ze_result_t result;

    for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
        if (zeta_lines_find(stream->text, stream->bytes, copied[i], 0, value, sizeof(value)))
            zeta_lines_add(&lines, copied[i], value);
    }
    result = add_sets(reader, stream, writer, &lines);
    if (result == ZE_RESULT_SUCCESS && lines.no_memory)
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_export_append(writer, ZETA_CHUNK_STREAM, ZETA_EXPORT_STREAM, lines.text,
                                    lines.bytes);
    zeta_lines_finish(&lines);
    return result;
}

ze_result_t zeta_recording_reader_stream(const struct zeta_recording_reader *reader,
                                         const struct zeta_recording_kept **out_stream,
                                         bool *out_is_tracer)
{
    const struct zeta_recording_kept *stream;
    char sampling[16] = "";

    if (!reader->payload || reader->chunk.type != ZETA_CHUNK_DATA)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the chunk of the recording that was read last is no data");
    stream = zeta_recording_reader_find(reader, ZETA_CHUNK_STREAM, reader->chunk.stream);
    if (!stream)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the recording has data of stream %u and no description of it",
                          reader->chunk.stream);
    (void)zeta_lines_find(stream->text, stream->bytes, "sampling", 0, sampling, sizeof(sampling));
    *out_stream = stream;
    *out_is_tracer = strcmp(sampling, "tracer") == 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaRecordingGetExportData(struct zeta_recording_reader *reader, size_t *size,
                                       uint8_t *data)
{
    struct zeta_export_job job = {.describe = describe_stream, .context = reader};
    const struct zeta_recording_kept *stream = NULL;
    bool is_tracer = false;
    ze_result_t result;

    if (!reader)
        return null_reader("zetaRecordingGetExportData");
    if (!size)
        return zeta_own_null_pointer("zetaRecordingGetExportData", "size");
    result = zeta_recording_reader_stream(reader, &stream, &is_tracer);
    if (result == ZE_RESULT_SUCCESS && is_tracer)
        result = zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            "stream %u of the recording is of a tracer, which is decoded and not "
                            "calculated; zetaRecordingDecodeEvents does that",
                            reader->chunk.stream);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    job.raw = reader->payload;
    job.raw_bytes = (size_t)reader->chunk.payload_bytes;
    return zeta_export_write(&job, size, data);
}

void zetaRecordingClose(struct zeta_recording_reader *reader)
{
    if (!reader)
        return;
    zeta_container_reader_destroy(reader->container);
    for (size_t i = 0; i < reader->kept.count; i++)
        free(reader->kept.items[i]);
    zeta_list_finish(&reader->kept);
    free(reader);
}
