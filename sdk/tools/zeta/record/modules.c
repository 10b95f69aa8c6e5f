#include "sdk/tools/zeta/record/modules.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/profile/module_index.h"

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
    int status = zeta_module_index_read_on(&index, folder, &modules->offset);

    for (uint32_t i = 0; i < index.count && status == ZETA_EXIT_OK; i++)
        status = add_module(modules, file, folder, device, &index.entries[i]);
    zeta_module_index_finish(&index);
    return status;
}
