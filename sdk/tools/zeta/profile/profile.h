/*
 * A flat profile: where threads of the device were seen and what they did there, by kernel and by
 * line of its source.
 */
#ifndef ZETA_TOOLS_PROFILE_PROFILE_H
#define ZETA_TOOLS_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "sdk/tools/zeta/inventory/inventory.h"

/** An image that was opened. */
struct zeta_code_lines;

/** A place in the source. The texts live as long as the image is open. */
struct zeta_code_place {
    const char *function; /**< of the symbol table; null: unknown */
    const char *file;     /**< path as the compiler was given it, absolute; null: unknown */
    uint32_t line;        /**< from 1; 0: of none in particular, or unknown */
};

/** Whether this program can find lines at all. */
bool zeta_code_lines_work(void);

/** Opens an image, whose code was loaded at begin. Null when it is none, or cannot be read. */
struct zeta_code_lines *zeta_code_lines_open(const char *path, uint64_t begin);

void zeta_code_lines_close(struct zeta_code_lines *lines);

/** Looks an address up, as it was when the image was loaded. What is unknown is null or 0. */
void zeta_code_lines_find(struct zeta_code_lines *lines, uint64_t address,
                          struct zeta_code_place *out_place);

/** Whether the image has lines at all: it was built with -g. */
bool zeta_code_lines_has_lines(const struct zeta_code_lines *lines);

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
    struct zeta_code_lines *image; /**< owned; null: not opened, or none */
    bool was_opened;               /**< or tried */
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
 * Reads the file "index" of a folder; none is an empty index. io_offset: null for all of it, else
 * only the lines behind this offset, which moves behind them: a last line without an end waits for
 * the next call, and modules that these lines unload are known only if they load them too. On
 * failure prints why.
 */
int zeta_module_index_read(struct zeta_module_index *index, const char *folder,
                           uint64_t *io_offset);

void zeta_module_index_finish(struct zeta_module_index *index);

/**
 * The module at an address, of which the low 32 bits count: devices sample no more of an
 * instruction pointer. One that is loaded goes before those that were unloaded, a later one before
 * earlier ones. Null when there is none.
 */
struct zeta_module_entry *zeta_module_index_find(const struct zeta_module_index *index,
                                                 uint64_t address);

/** The kernel whose code begins last before an address of the module, null when there is none. */
const struct zeta_module_kernel *zeta_module_entry_kernel(const struct zeta_module_entry *entry,
                                                          uint64_t address);

/** What a thread was seen doing: as many as the group has metrics beside IP. */
enum { ZETA_IP_REASONS = 9 };

/** Name of the group that samples instruction pointers. */
#define ZETA_IP_GROUP "EuStallSampling"

/** Samples of one address, or summed up of several. */
struct zeta_ip_counts {
    uint64_t reasons[ZETA_IP_REASONS];
    uint64_t total;
};

/** A line of the profile. */
struct zeta_ip_line {
    const char *kernel; /**< or function; null: unknown */
    const char *file;   /**< of the source; null: unknown */
    bool is_address;    /**< without lines: one address */
    uint32_t line;      /**< 0: code of the file that the compiler made for no line of it */
    uint64_t address;   /**< lowest that was seen */
    struct zeta_ip_counts counts;
};

/** A kernel, or another function that was called. */
struct zeta_ip_kernel {
    const char *name; /**< null: unknown */
    struct zeta_ip_counts counts;
};

struct zeta_ip_address;

struct zeta_ip_profile {
    const char *reason_names[ZETA_IP_REASONS]; /**< of the group's metrics */
    struct zeta_ip_address *addresses;         /**< a table of hashes */
    uint32_t room, used;
    struct zeta_ip_counts all;
    uint64_t rows;

    /* Known after zeta_ip_profile_resolve(). */
    bool is_resolved;
    struct zeta_module_index modules;
    struct zeta_ip_line *lines; /**< most samples first */
    uint32_t line_count;
    struct zeta_ip_kernel *kernels; /**< most samples first */
    uint32_t kernel_count;
    uint64_t without_lines; /**< samples in modules that have no lines */
};

/**
 * Prepares for rows of a group with its metrics, which outlives the profile. On failure (another
 * group than ZETA_IP_GROUP) prints why. zeta_ip_profile_finish ends it either way.
 */
int zeta_ip_profile_init(struct zeta_ip_profile *profile, const struct zeta_group_entry *entry);

/** Adds one row: a value per metric, in the group's order. False without memory. */
bool zeta_ip_profile_add_row(struct zeta_ip_profile *profile, const zet_typed_value_t *values);

/**
 * Finds out what lies at the addresses, once; no row is added afterwards. folder: of
 * ZETA_MODULE_DUMP, null for none: all addresses stay unknown. On failure prints why.
 */
int zeta_ip_profile_resolve(struct zeta_ip_profile *profile, const char *folder);

void zeta_ip_profile_finish(struct zeta_ip_profile *profile);

#endif
