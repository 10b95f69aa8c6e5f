/*
 * The index of a folder of module images (ZETA_MODULE_DUMP; sdk/doc/formats.md): which module of
 * which process lay at which addresses of a device.
 */
#ifndef ZETA_TOOLS_PROFILE_MODULE_INDEX_H
#define ZETA_TOOLS_PROFILE_MODULE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A kernel of a module. */
struct zeta_module_kernel {
    char *name;
    uint64_t address; /**< where its code begins */
};

/** A module that was loaded. */
struct zeta_module_entry {
    uint32_t pid;
    uint64_t begin, end; /**< of its code, end exclusive */
    char *file;          /**< of its image; a name without a slash */
    struct zeta_module_kernel *kernels;
    uint32_t kernel_count;
    bool is_unloaded;
};

struct zeta_module_index {
    struct zeta_module_entry *entries; /**< in the order of loading */
    uint32_t count;
    uint32_t bad_lines; /**< that mean nothing, and were passed over */
};

/**
 * Reads the text of an index, which may be any bytes. False without memory;
 * zeta_module_index_finish ends it either way.
 */
bool zeta_module_index_parse(struct zeta_module_index *index, const char *text, size_t size);

/**
 * Reads the file "index" of a folder; none is an empty index. On failure prints why and gives the
 * exit code.
 */
int zeta_module_index_read(struct zeta_module_index *index, const char *folder);

/**
 * The same for what was added to the file since: its lines behind *io_offset, which moves behind
 * them. A last line without an end waits for the next call. Modules that these lines unload are
 * known only if they load them too.
 */
int zeta_module_index_read_on(struct zeta_module_index *index, const char *folder,
                              uint64_t *io_offset);

void zeta_module_index_finish(struct zeta_module_index *index);

/**
 * The module at an address, of which the low 32 bits count: devices sample no more of an
 * instruction pointer. One that is loaded goes before those that were unloaded, a later one before
 * earlier ones. Null when there is none.
 */
const struct zeta_module_entry *zeta_module_index_find(const struct zeta_module_index *index,
                                                       uint64_t address);

/** The kernel whose code begins last before an address of the module, null when there is none. */
const struct zeta_module_kernel *zeta_module_entry_kernel(const struct zeta_module_entry *entry,
                                                          uint64_t address);

#endif
