/*
 * The library of a plugin: where it is, whether it may and can be opened, and opening it.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin/entry.h"
#include "core/settings/paths.h"
#include "core/util/cleanup.h"
#include "core/util/trust.h"

#define ENTRY_SYMBOL "zeta_plugin_negotiate"

/* Machines that plugins of this format can be for; others are named by number. */
static const struct {
    uint16_t machine;
    const char *name;
} machines[] = {
    {EM_X86_64, "x86_64"}, {EM_386, "i386"},    {EM_AARCH64, "aarch64"}, {EM_ARM, "arm"},
    {EM_RISCV, "riscv"},   {EM_PPC64, "ppc64"}, {EM_S390, "s390"},       {258, "loongarch"},
};

static uint16_t own_machine(void)
{
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__aarch64__)
    return EM_AARCH64;
#elif defined(__riscv)
    return EM_RISCV;
#elif defined(__powerpc64__)
    return EM_PPC64;
#elif defined(__loongarch64)
    return 258;
#else
    return EM_NONE;
#endif
}

static void machine_name(uint16_t machine, char *out_name, size_t size_bytes)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (machines[i].machine == machine) {
            (void)snprintf(out_name, size_bytes, "%s", machines[i].name);
            return;
        }
    }
    (void)snprintf(out_name, size_bytes, "machine %u", machine);
}

/* Absolute; with a slash: from the manifest's directory; bare: from the plugin libraries. */
static bool resolve(struct zeta_plugin_host *entry)
{
    const char *written = entry->manifest.library;
    char base[PATH_MAX];
    char path[2 * PATH_MAX];
    char real[PATH_MAX];
    bool has_dots = false;

    if (written[0] == '/') {
        (void)snprintf(path, sizeof(path), "%s", written);
    } else if (strchr(written, '/')) {
        (void)snprintf(path, sizeof(path), "%s/%s", entry->directory, written);
    } else {
        zeta_paths_plugin_libraries(base, sizeof(base));
        (void)snprintf(path, sizeof(path), "%s/%s", base, written);
    }
    for (const char *at = written; (at = strstr(at, "..")) != NULL && !has_dots; at += 2)
        has_dots = (at == written || at[-1] == '/') && (at[2] == '/' || at[2] == '\0');
    if (has_dots && realpath(path, real) &&
        (strncmp(real, entry->tree, strlen(entry->tree)) != 0 || real[strlen(entry->tree)] != '/'))
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The library %s leaves the directory %s of its manifest; write an "
                               "absolute path if that is wanted.",
                               written, entry->tree);
    entry->library = strdup(path);
    return entry->library || zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED,
                                             "There is no memory for the path of its library.");
}

/* An ELF file that this process could map: of the same class and machine, and shared. */
static bool check_file(struct zeta_plugin_host *entry, int fd)
{
    static const char here;
    Elf64_Ehdr header = {0}; /* the members used here are at the same place in both classes */
    char reason[PATH_MAX + 128];
    char theirs[32];
    char ours[32];
    struct stat status;
    struct stat own;
    Dl_info info;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE, "%s is not a regular file.",
                               entry->library);
    if (!zeta_trust_check(fd, zeta_trust_level(), entry->named, reason, sizeof(reason)))
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED, "%s is not trusted: %s.",
                               entry->library, reason);
    if (dladdr(&here, &info) != 0 && info.dli_fname && stat(info.dli_fname, &own) == 0 &&
        own.st_dev == status.st_dev && own.st_ino == status.st_ino)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The manifest names libzeta itself (%s) as its plugin.",
                               entry->library);
    if (pread(fd, &header, sizeof(header), 0) < (ssize_t)sizeof(Elf32_Ehdr) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                               "%s is not an ELF file, so it is no shared library; install the "
                               "plugin again.",
                               entry->library);
    machine_name(own_machine(), ours, sizeof(ours));
    machine_name(header.e_machine, theirs, sizeof(theirs));
    if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header.e_machine != own_machine())
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                               "%s is for another architecture (%s, %s bit); this program is for "
                               "%s, %zu bit. Install the plugin for %s.",
                               entry->library, theirs,
                               header.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32", ours,
                               8 * sizeof(void *), ours);
    if (header.e_type != ET_DYN)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                               "%s is an ELF file of type %u, not a shared library.",
                               entry->library, header.e_type);
    return true;
}

bool zeta_library_open(struct zeta_plugin_host *entry, zeta_plugin_negotiate_fn *out_negotiate)
{
    const char *name;
    char descriptor[64];
    const char *reason;
    void *library;
    void *symbol;
    int fd;

    if (!resolve(entry))
        return false;
    fd = open(entry->library, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                               "Its library %s cannot be opened (%s); install the plugin again or "
                               "remove the manifest.",
                               entry->library, strerrordesc_np(errno));
    if (!check_file(entry, fd)) {
        (void)close(fd);
        return false;
    }
    name = entry->library;
    /*
     * What was checked is what is mapped: a privileged process opens the library through the
     * descriptor. It stays open then, because the dynamic linker knows libraries by the name they
     * were opened with, and the number must not come to mean another file.
     */
    if (zeta_trust_level() == ZETA_TRUST_PRIVILEGED) {
        (void)snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", fd);
        name = descriptor;
    } else {
        (void)close(fd);
    }
    (void)dlerror();
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        reason = dlerror();
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                               "Its library %s cannot be loaded: %s. \"ldd -r %s\" lists what is "
                               "missing.",
                               entry->library, reason ? reason : "no reason given", entry->library);
    }
    symbol = dlsym(library, ENTRY_SYMBOL);
    if (!symbol)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                               "%s does not export " ENTRY_SYMBOL ", so it is no plugin of Zeta.",
                               entry->library);
    memcpy(out_negotiate, &symbol, sizeof(symbol)); /* POSIX makes the two the same */
    return true;
}
