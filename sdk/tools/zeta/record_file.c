#include "record_file.h"

#include <string.h>

#include <zeta/container.h>

#include "say.h"

/* So many of the largest pieces a bounded file holds at least. */
enum { PIECES = 8 };

int zeta_record_file_create(struct zeta_record_file *file, const char *path, uint64_t limit_bytes)
{
    const struct zeta_recording_desc description = {
        .struct_size = sizeof(description), .path = path, .limit_bytes = limit_bytes};
    ze_result_t result;

    *file = (struct zeta_record_file){.path = path, .limit_bytes = limit_bytes};
    result = zetaRecordingCreate(&description, &file->recording);
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK : zeta_say_refusal(result, "cannot record");
}

size_t zeta_record_file_piece_bytes(const struct zeta_record_file *file)
{
    if (file->limit_bytes == 0 || file->limit_bytes / PIECES > ZETA_CHUNK_PIECE_BYTES)
        return ZETA_CHUNK_PIECE_BYTES;
    return (size_t)(file->limit_bytes / PIECES);
}

/* A second failure would only repeat what the first said. */
static int fail(struct zeta_record_file *file, ze_result_t result)
{
    const bool was_said = file->has_failed;

    file->has_failed = true;
    return was_said ? ZETA_EXIT_FAILED : zeta_say_refusal(result, "cannot write %s", file->path);
}

int zeta_record_file_try(struct zeta_record_file *file, uint32_t type, uint32_t number,
                         const void *payload, size_t bytes, bool *out_fits)
{
    ze_result_t result;

    *out_fits = false;
    if (file->has_failed)
        return ZETA_EXIT_FAILED;
    result = zetaRecordingAppend(file->recording, type, number, payload, bytes);
    *out_fits = result == ZE_RESULT_SUCCESS;
    if (result == ZE_RESULT_SUCCESS ||
        (result == ZE_RESULT_ERROR_INVALID_SIZE && file->limit_bytes))
        return ZETA_EXIT_OK;
    return fail(file, result);
}

int zeta_record_file_append(struct zeta_record_file *file, uint32_t type, uint32_t number,
                            const void *payload, size_t bytes)
{
    ze_result_t result;

    if (file->has_failed)
        return ZETA_EXIT_FAILED;
    result = zetaRecordingAppend(file->recording, type, number, payload, bytes);
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK : fail(file, result);
}

int zeta_record_file_append_lines(struct zeta_record_file *file, const char *lines, size_t bytes)
{
    const size_t most = zeta_record_file_piece_bytes(file);
    int status = ZETA_EXIT_OK;

    while (bytes > 0 && status == ZETA_EXIT_OK) {
        size_t piece = bytes;

        if (piece > most) {
            const char *end = memrchr(lines, '\n', most);

            /* A line that is longer stays whole. */
            if (!end)
                end = memchr(lines + most, '\n', bytes - most);
            piece = end ? (size_t)(end - lines) + 1 : bytes;
        }
        status = zeta_record_file_append(file, ZETA_CHUNK_TRACE, 0, lines, piece);
        lines += piece;
        bytes -= piece;
    }
    return status;
}

int zeta_record_file_flush(struct zeta_record_file *file)
{
    ze_result_t result;

    if (file->has_failed)
        return ZETA_EXIT_FAILED;
    result = zetaRecordingFlush(file->recording);
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK : fail(file, result);
}

int zeta_record_file_finish(struct zeta_record_file *file)
{
    ze_result_t result = zetaRecordingFinish(file->recording);

    file->recording = NULL;
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK : fail(file, result);
}
