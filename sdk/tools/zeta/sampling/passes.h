/*
 * Passes: which groups are sampled together, and which in a further run of the program.
 */
#ifndef ZETA_TOOLS_SAMPLING_PASSES_H
#define ZETA_TOOLS_SAMPLING_PASSES_H

#include <stdint.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/inventory/group_list.h"

/** Most groups that one command line names. */
enum { ZETA_PASSES_MAX = 16 };

struct zeta_passes {
    uint32_t counts[ZETA_PASSES_MAX]; /**< groups of each pass */
    uint32_t count;
};

/**
 * Sorts groups into as few passes as the device needs; those of a pass stand together then. On
 * failure says why.
 *
 * @count  1 to ZETA_PASSES_MAX
 */
int zeta_passes_plan(const struct zeta_device_entry *device, struct zeta_group_entry **groups,
                     uint32_t count, struct zeta_passes *out_passes);

/** Says why more than one pass is needed, and what to do. Gives ZETA_EXIT_FAILED. */
int zeta_passes_refuse(const struct zeta_device_entry *device,
                       struct zeta_group_entry *const *groups, const struct zeta_passes *passes);

#endif
