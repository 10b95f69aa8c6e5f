#include "sdk/tools/zeta/record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/profile/profile.h"

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
    (void)zeta_print_failure("cannot rename %s: %s", file->path, strerror(errno));
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
        (void)zeta_print_failure("cannot restore %s, its data is in %s: %s", file->path,
                                 file->aside, strerror(errno));
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
        zeta_print_note("use --force to replace it");
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

/* Images beyond that are left out; addresses still have their kernels. */
enum { MAX_IMAGE_BYTES = 64 * 1024 * 1024 };

/* Of the payload, before its lines. */
enum { HEAD_BYTES = 8 };

/* Up to the next kernel, or the end of the code. */
static uint64_t size_of(const struct zeta_module_entry *module,
                        const struct zeta_module_kernel *kernel)
{
    uint64_t end = module->end;

    for (uint32_t i = 0; i < module->kernel_count; i++) {
        const uint64_t address = module->kernels[i].address;

        if (address > kernel->address && address < end)
            end = address;
    }
    return end > kernel->address ? end - kernel->address : 0;
}

static void add_kernels(struct zeta_lines *lines, const struct zeta_module_entry *module)
{
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        const struct zeta_module_kernel *kernel = &module->kernels[i];
        char *value = NULL;

        if (asprintf(&value, "%" PRIu64 " %" PRIu64 " %s", kernel->address, size_of(module, kernel),
                     kernel->name) < 0) {
            lines->no_memory = true;
            return;
        }
        zeta_lines_add(lines, "kernel", value);
        free(value);
    }
}

/* Reads the image behind what is in the buffer; one that is not there is left out. */
static size_t read_image(const char *folder, const char *name, char **buffer, size_t used)
{
    char *path = NULL;
    struct stat status = {0};
    char *grown = NULL;
    ssize_t got = 0;
    int fd = -1;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    if (fd < 0)
        return 0;
    if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= MAX_IMAGE_BYTES)
        grown = realloc(*buffer, used + (size_t)status.st_size);
    if (grown) {
        *buffer = grown;
        got = read(fd, grown + used, (size_t)status.st_size);
    }
    (void)close(fd);
    return grown && got == status.st_size ? (size_t)got : 0;
}

/* The payload of the chunk; null without memory. */
static char *build(const struct zeta_module_entry *module, uint32_t id, size_t *out_bytes)
{
    struct zeta_lines lines = {0};
    char *payload = NULL;

    zeta_lines_add_u64(&lines, "id", id);
    zeta_lines_add_u64(&lines, "pid", module->pid);
    zeta_lines_add_u64(&lines, "base", module->begin);
    zeta_lines_add_u64(&lines, "end", module->end);
    add_kernels(&lines, module);
    zeta_lines_add(&lines, "image", "elf");
    if (!lines.no_memory)
        payload = calloc(1, HEAD_BYTES + lines.bytes);
    if (payload) {
        const uint32_t line_bytes = (uint32_t)lines.bytes;

        memcpy(payload, &line_bytes, sizeof(line_bytes));
        memcpy(payload + HEAD_BYTES, lines.text, lines.bytes);
    }
    *out_bytes = HEAD_BYTES + lines.bytes;
    zeta_lines_finish(&lines);
    return payload;
}

static bool has_room(const struct zeta_record_modules *modules, const struct zeta_record_file *file,
                     size_t image_bytes)
{
    return file->limit_bytes == 0 || modules->image_bytes + image_bytes <= file->limit_bytes / 4;
}

static int add_module(struct zeta_record_modules *modules, struct zeta_record_file *file,
                      const char *folder, uint32_t device, const struct zeta_module_entry *module)
{
    size_t bytes = 0;
    size_t image_bytes;
    bool fits = false;
    char *payload = build(module, modules->count + modules->left_out + 1, &bytes);
    int status;

    if (!payload)
        return zeta_print_failure("no memory to record a module");
    image_bytes = read_image(folder, module->file, &payload, bytes);
    if (!has_room(modules, file, image_bytes)) {
        image_bytes = 0;
        modules->without_image++;
    }
    status =
        zeta_record_file_try(file, ZETA_CHUNK_MODULE, device, payload, bytes + image_bytes, &fits);
    modules->image_bytes += fits ? image_bytes : 0;
    modules->count += fits;
    modules->left_out += status == ZETA_EXIT_OK && !fits;
    free(payload);
    return status;
}

int zeta_record_modules_read(struct zeta_record_modules *modules, struct zeta_record_file *file,
                             const char *folder, uint32_t device)
{
    struct zeta_module_index index = {0};
    int status = zeta_module_index_read(&index, folder, &modules->offset);

    for (uint32_t i = 0; i < index.count && status == ZETA_EXIT_OK; i++)
        status = add_module(modules, file, folder, device, &index.entries[i]);
    zeta_module_index_finish(&index);
    return status;
}
