/*
 * A flat profile: where threads of the device were seen and what they did there, by kernel and by
 * line of its source.
 */
#ifndef ZETA_TOOLS_PROFILE_IP_PROFILE_H
#define ZETA_TOOLS_PROFILE_IP_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "sdk/tools/zeta/inventory/group_list.h"

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
    const char *kernel; /**< or function; null: nobody knows what lies there */
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
struct zeta_ip_source;

struct zeta_ip_profile {
    const char *reason_names[ZETA_IP_REASONS]; /**< of the group's metrics */
    struct zeta_ip_address *addresses;         /**< a table of hashes */
    uint32_t room, used;
    struct zeta_ip_counts all;
    uint64_t rows;

    /* Known after zeta_ip_profile_resolve(). */
    struct zeta_ip_source *source;
    struct zeta_ip_line *lines; /**< most samples first */
    uint32_t line_count;
    struct zeta_ip_kernel *kernels; /**< most samples first */
    uint32_t kernel_count;
    uint64_t without_lines; /**< samples in modules that have no lines */
};

/**
 * Prepares for rows of a group.
 *
 * @entry  with its metrics; must outlive the profile
 *
 * On failure (another group than ZETA_IP_GROUP) prints why. zeta_ip_profile_finish ends it either
 * way.
 */
int zeta_ip_profile_init(struct zeta_ip_profile *profile, const struct zeta_group_entry *entry);

/** Adds one row: a value per metric, in the group's order. False without memory. */
bool zeta_ip_profile_add_row(struct zeta_ip_profile *profile, const zet_typed_value_t *values);

/**
 * Finds out what lies at the addresses, once; no row is added afterwards.
 *
 * @folder  of ZETA_MODULE_DUMP; null: none, all addresses stay unknown
 *
 * On failure prints why.
 */
int zeta_ip_profile_resolve(struct zeta_ip_profile *profile, const char *folder);

void zeta_ip_profile_finish(struct zeta_ip_profile *profile);

#endif
