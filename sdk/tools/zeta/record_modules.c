#include "record_modules.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/container.h>

#include "module_index.h"
#include "say.h"

/* Images beyond that are left out; addresses still have their kernels. */
enum { MAX_IMAGE_BYTES = 64 * 1024 * 1024 };

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
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
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

static int add_module(struct zeta_recording *recording, const char *folder, uint32_t device,
                      const struct zeta_module_entry *module, uint32_t id)
{
    const size_t head_bytes = 8;
    struct zeta_lines lines = {0};
    char *payload = NULL;
    size_t image_bytes;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    zeta_lines_add_u64(&lines, "id", id);
    zeta_lines_add_u64(&lines, "pid", module->pid);
    zeta_lines_add_u64(&lines, "base", module->begin);
    zeta_lines_add_u64(&lines, "end", module->end);
    add_kernels(&lines, module);
    zeta_lines_add(&lines, "image", "elf");
    payload = calloc(1, head_bytes + lines.bytes);
    if (payload && !lines.no_memory) {
        const uint32_t line_bytes = (uint32_t)lines.bytes;

        memcpy(payload, &line_bytes, sizeof(line_bytes));
        memcpy(payload + head_bytes, lines.text, lines.bytes);
        image_bytes = read_image(folder, module->file, &payload, head_bytes + lines.bytes);
        result = zetaRecordingAppend(recording, ZETA_CHUNK_MODULE, device, payload,
                                     head_bytes + lines.bytes + image_bytes);
    }
    free(payload);
    zeta_lines_finish(&lines);
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK
                                       : zeta_say_refusal(result, "cannot record a module");
}

int zeta_record_modules_read(struct zeta_recording *recording, const char *folder, uint32_t device,
                             uint32_t *io_count)
{
    struct zeta_module_index index = {0};
    int status = zeta_module_index_read(&index, folder);

    for (; *io_count < index.count && status == ZETA_EXIT_OK; (*io_count)++)
        status = add_module(recording, folder, device, &index.entries[*io_count], *io_count + 1);
    zeta_module_index_finish(&index);
    return status;
}
