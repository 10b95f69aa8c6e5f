#include "sdk/tools/zeta/recording/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/message.h"

enum { HEAD_BYTES = 8, KERNEL_BYTES = 4096 };

/* A chunk, taken apart. */
struct module {
    const char *lines;
    size_t line_bytes;
    const unsigned char *image;
    size_t image_bytes;
    uint64_t base, end;
};

/* "address size name": gives the name, null if it is none. */
static const char *read_kernel(const char *value, uint64_t *out_address, uint64_t *out_size)
{
    char *at = NULL;

    *out_address = strtoull(value, &at, 10);
    if (at == value || *at != ' ')
        return NULL;
    value = at + 1;
    *out_size = strtoull(value, &at, 10);
    return at != value && *at == ' ' && at[1] ? at + 1 : NULL;
}

static uint64_t end_of_kernels(const struct module *module)
{
    char value[KERNEL_BYTES];
    uint64_t end = 0;

    for (uint32_t i = 0;
         zeta_lines_find(module->lines, module->line_bytes, "kernel", i, value, sizeof(value));
         i++) {
        uint64_t address, size;

        if (read_kernel(value, &address, &size) && address + size > end)
            end = address + size;
    }
    return end;
}

static bool take_apart(const void *payload, uint64_t bytes, struct module *module)
{
    uint32_t line_bytes = 0;

    *module = (struct module){0};
    if (bytes < HEAD_BYTES)
        return false;
    memcpy(&line_bytes, payload, sizeof(line_bytes));
    if (line_bytes > bytes - HEAD_BYTES)
        return false;
    module->lines = (const char *)payload + HEAD_BYTES;
    module->line_bytes = line_bytes;
    module->image = (const unsigned char *)module->lines + line_bytes;
    module->image_bytes = (size_t)bytes - HEAD_BYTES - line_bytes;
    module->base = zeta_lines_find_u64(module->lines, line_bytes, "base", 0);
    module->end = zeta_lines_find_u64(module->lines, line_bytes, "end", 0);
    if (module->end == 0)
        module->end = end_of_kernels(module);
    return module->base < module->end;
}

static void write_name(FILE *index, const char *name)
{
    for (; *name; name++) {
        const unsigned char byte = (unsigned char)*name;

        if (byte <= ' ' || byte > '~' || byte == '%' || byte == '=')
            (void)fprintf(index, "%%%02x", byte);
        else
            (void)fputc(byte, index);
    }
}

static void write_entry(FILE *index, const struct module *module, uint32_t number)
{
    char value[KERNEL_BYTES];

    (void)fprintf(index, "load\t%" PRIu32 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIu32 ".elf",
                  (uint32_t)zeta_lines_find_u64(module->lines, module->line_bytes, "pid", 1),
                  module->base, module->end, number);
    for (uint32_t i = 0;
         zeta_lines_find(module->lines, module->line_bytes, "kernel", i, value, sizeof(value));
         i++) {
        uint64_t address, size;
        const char *name = read_kernel(value, &address, &size);

        if (!name)
            continue;
        (void)fputc('\t', index);
        write_name(index, name);
        (void)fprintf(index, "=%" PRIx64, address);
    }
    (void)fputc('\n', index);
}

/* Opens a file of the folder to write to; on failure prints why. */
static FILE *open_file(const char *folder, const char *name, const char *mode)
{
    char *path = NULL;
    FILE *file = NULL;

    if (asprintf(&path, "%s/%s", folder, name) >= 0) {
        file = fopen(path, mode);
        free(path);
    }
    if (!file)
        (void)zeta_print_failure("cannot write to %s: %s", folder, strerror(errno));
    return file;
}

int zeta_report_modules_add(struct zeta_run_folder *folder, uint32_t number, const void *payload,
                            uint64_t bytes)
{
    struct module module;
    char name[32];
    FILE *file;

    if (!take_apart(payload, bytes, &module))
        return ZETA_EXIT_OK;
    if (!folder->path &&
        zeta_run_folder_make(folder, zeta_run_folder_place(), "report") != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    (void)snprintf(name, sizeof(name), "%" PRIu32 ".elf", number);
    if (module.image_bytes > 0) {
        file = open_file(folder->path, name, "wbe");
        if (!file)
            return ZETA_EXIT_FAILED;
        (void)fwrite(module.image, 1, module.image_bytes, file);
        if (fclose(file) != 0)
            return zeta_print_failure("cannot write to %s: %s", folder->path, strerror(errno));
    }
    file = open_file(folder->path, "index", "abe");
    if (!file)
        return ZETA_EXIT_FAILED;
    write_entry(file, &module, number);
    if (fclose(file) != 0)
        return zeta_print_failure("cannot write to %s: %s", folder->path, strerror(errno));
    return ZETA_EXIT_OK;
}
