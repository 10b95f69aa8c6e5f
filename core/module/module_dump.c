/*
 * ZETA_MODULE_DUMP=DIRECTORY: images of modules for other processes, which see addresses of
 * instructions and need the code there. sdk/doc/formats.md describes the files.
 *
 * The directory has to exist and to be the user's own; nothing is written for a process with more
 * rights than its caller. A module is created whether its image can be written or not.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/module/module.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/descriptor.h"
#include "core/util/log.h"

/* Names that are tried: a process id comes again after a while. */
#define NAMES_MAX 100000u

enum { NAME_BYTES = 48 };

/* Modules of this process so far, so that files have names of their own. */
static _Atomic uint32_t numbers;

/* The reason why nothing is written is logged once. */
static atomic_bool warned;

static void warn_once(const char *path, const char *what, int error)
{
    if (!atomic_exchange(&warned, true))
        zeta_log(ZETA_LOG_WARN, "module", "ZETA_MODULE_DUMP: no image is written to %s: %s%s%s",
                 path, what, error ? ": " : "", error ? strerror(error) : "");
}

/* The directory, or -1: there is none to write to. */
static int open_directory(void)
{
    const char *path = secure_getenv("ZETA_MODULE_DUMP");
    struct stat status;
    int directory;

    if (!path || !*path)
        return -1;
    directory = zeta_descriptor_raise(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory < 0) {
        warn_once(path, "it cannot be opened", errno);
        return -1;
    }
    if (fstat(directory, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return directory;
    warn_once(path, "it has to be a directory of this user that nobody else can write to", 0);
    (void)close(directory);
    return -1;
}

static bool write_all(int file, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t n = write(file, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* The image under a name that is there only when all of it is. */
static bool write_image(int directory, const struct zeta_plugin_array *image,
                        char out_name[NAME_BYTES])
{
    char temporary[NAME_BYTES + 1];
    int file = -1;
    bool fine;

    for (uint32_t i = 0; i < NAMES_MAX && file < 0; i++) {
        const unsigned number = atomic_fetch_add(&numbers, 1);

        (void)snprintf(out_name, NAME_BYTES, "%ld-%u.elf", (long)getpid(), number);
        (void)snprintf(temporary, sizeof(temporary), ".%s", out_name);
        if (faccessat(directory, out_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        file = zeta_descriptor_raise(openat(directory, temporary,
                                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                            S_IRUSR | S_IWUSR));
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (file < 0)
        return false;
    fine = write_all(file, image->data, (size_t)image->count);
    fine = close(file) == 0 && fine;
    fine = fine && renameat(directory, temporary, directory, out_name) == 0;
    if (!fine)
        (void)unlinkat(directory, temporary, 0);
    return fine;
}

/* One write, so that lines of several processes never mix. */
static bool append_line(int directory, const char *line, size_t size)
{
    const int file = zeta_descriptor_raise(openat(
        directory, "index", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
        S_IRUSR | S_IWUSR));
    bool fine;

    if (file < 0)
        return false;
    fine = write(file, line, size) == (ssize_t)size;
    (void)close(file);
    return fine;
}

/* Names have no tab, no equals sign, and nothing that is not printed. */
static void add_name(FILE *line, const char *name)
{
    for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
        if (*at > ' ' && *at < 0x7f && *at != '%' && *at != '=')
            (void)fputc(*at, line);
        else
            (void)fprintf(line, "%%%02x", *at);
    }
}

static bool write_load(int directory, const struct zeta_module *module, uint64_t end,
                       const char *file)
{
    struct zeta_backend *backend = module->backend;
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    bool fine;

    if (!line)
        return false;
    (void)fprintf(line, "load\t%ld\t%" PRIx64 "\t%" PRIx64 "\t%s", (long)getpid(),
                  module->dumped_begin, end, file);
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        const struct zeta_plugin_string name = {.data = module->kernel_names[i],
                                                .size = strlen(module->kernel_names[i])};
        struct zeta_plugin_kernel *kernel = NULL;
        uint64_t address = 0;

        /* Kernels that cannot be made are left out. */
        if (backend->compute.kernel_create(backend->self, module->plugin_module, name, &kernel) !=
            ZETA_PLUGIN_SUCCESS)
            continue;
        if (backend->compute.kernel_code(backend->self, kernel, &address) == ZETA_PLUGIN_SUCCESS) {
            (void)fputc('\t', line);
            add_name(line, module->kernel_names[i]);
            (void)fprintf(line, "=%" PRIx64, address);
        }
        backend->compute.kernel_destroy(backend->self, kernel);
    }
    (void)fputc('\n', line);
    fine = fclose(line) == 0 && append_line(directory, text, size);
    free(text);
    return fine;
}

void zeta_module_dump(struct zeta_module *module)
{
    struct zeta_backend *backend = module->backend;
    struct zeta_plugin_array image = {0};
    char name[NAME_BYTES];
    uint64_t end = 0;
    ZETA_CLEANUP(zeta_closep) int directory = open_directory();

    if (directory < 0 ||
        backend->compute.module_code(backend->self, module->plugin_module, &module->dumped_begin,
                                     &end) != ZETA_PLUGIN_SUCCESS ||
        backend->compute.module_native_image(backend->self, module->plugin_module, &image) !=
            ZETA_PLUGIN_SUCCESS)
        return;
    module->is_dumped =
        write_image(directory, &image, name) && write_load(directory, module, end, name);
    if (!module->is_dumped)
        warn_once(getenv("ZETA_MODULE_DUMP"), "writing failed", errno);
}

void zeta_module_dump_end(struct zeta_module *module)
{
    ZETA_CLEANUP(zeta_closep) int directory = module->is_dumped ? open_directory() : -1;
    char line[64];

    if (directory < 0)
        return;
    int size = snprintf(line, sizeof(line), "unload\t%ld\t%" PRIx64 "\n", (long)getpid(),
                        module->dumped_begin);
    (void)append_line(directory, line, (size_t)size);
}
