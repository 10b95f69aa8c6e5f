#include "sdk/tools/zeta/record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"

/* So many of the largest pieces a bounded file holds at least. */
enum { PIECES = 8 };

/* A run that does not come about leaves what was there, so it only loses its name for now. */
static int put_aside(struct zeta_record_file *file)
{
    int descriptor;

    if (asprintf(&file->aside, "%s.XXXXXX", file->path) < 0) {
        file->aside = NULL;
        return zeta_print_failure("no memory for the name of a file");
    }
    descriptor = mkostemp(file->aside, O_CLOEXEC);
    if (descriptor >= 0 && rename(file->path, file->aside) == 0) {
        (void)close(descriptor);
        return ZETA_EXIT_OK;
    }
    (void)zeta_print_failure("cannot put %s aside: %s", file->path, strerror(errno));
    if (descriptor >= 0) {
        (void)close(descriptor);
        (void)unlink(file->aside);
    }
    free(file->aside);
    file->aside = NULL;
    return ZETA_EXIT_FAILED;
}

static void put_back(struct zeta_record_file *file)
{
    if (file->aside && rename(file->aside, file->path) != 0)
        (void)zeta_print_failure("what was in %s is in %s now: %s", file->path, file->aside,
                                 strerror(errno));
    free(file->aside);
    file->aside = NULL;
}

int zeta_record_file_create(struct zeta_record_file *file, const char *path, uint64_t limit_bytes,
                            bool is_forced)
{
    const struct zeta_recording_desc description = {
        .struct_size = sizeof(description), .path = path, .limit_bytes = limit_bytes};
    struct stat about;
    const bool is_there = lstat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    int status = zeta_output_check_input(path);
    ze_result_t result;

    *file = (struct zeta_record_file){.path = path, .limit_bytes = limit_bytes};
    if (status == ZETA_EXIT_OK && is_there && is_forced)
        status = put_aside(file);
    if (status != ZETA_EXIT_OK)
        return status;
    result = zetaRecordingCreate(&description, &file->recording);
    if (result == ZE_RESULT_SUCCESS)
        return ZETA_EXIT_OK;
    status = zeta_print_refusal(result, "cannot record");
    if (is_there && !is_forced)
        zeta_print_note("or replace it with --force");
    put_back(file);
    return status;
}

size_t zeta_record_file_piece_bytes(const struct zeta_record_file *file)
{
    if (file->limit_bytes == 0 || file->limit_bytes / PIECES > ZETA_CHUNK_PIECE_BYTES)
        return ZETA_CHUNK_PIECE_BYTES;
    return (size_t)(file->limit_bytes / PIECES);
}

/* A second failure would only repeat the first. */
static int fail(struct zeta_record_file *file, ze_result_t result)
{
    const bool was_said = file->has_failed;

    file->has_failed = true;
    return was_said ? ZETA_EXIT_FAILED : zeta_print_refusal(result, "cannot write %s", file->path);
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

int zeta_record_file_finish(struct zeta_record_file *file, bool is_kept)
{
    ze_result_t result = zetaRecordingFinish(file->recording);

    file->recording = NULL;
    if (!is_kept) {
        (void)unlink(file->path);
        put_back(file);
    } else if (file->aside) {
        (void)unlink(file->aside);
    }
    free(file->aside);
    file->aside = NULL;
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK : fail(file, result);
}
