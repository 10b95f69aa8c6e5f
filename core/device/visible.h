/*
 * Which devices a process sees, and in what order: the environment variables of the specification.
 *
 * ZE_AFFINITY_MASK, "0,1.2": devices by their number, or single tiles of them. All tiles of a
 * device that is named without a tile. A device of which one tile is left is shown as that tile,
 * without a root; one that keeps several has a root, whose work runs on the first of them.
 *
 * ZE_FLAT_DEVICE_HIERARCHY, COMPOSITE: root devices with tiles (as without the variable); FLAT:
 * tiles as devices of their own; COMBINED: the same, but each has its root. The numbers of the
 * mask are those of what is shown.
 *
 * ZE_ENABLE_PCI_ID_DEVICE_ORDER, 1: devices of a driver in order of their PCI addresses.
 */
#ifndef ZETA_CORE_DEVICE_VISIBLE_H
#define ZETA_CORE_DEVICE_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device/init.h"

/** Most entries of a mask that are read. */
#define ZETA_MASK_ENTRIES 256u

/** One entry of a mask. */
struct zeta_mask_entry {
    uint32_t device;
    uint32_t tile; /**< UINT32_MAX: all of them */
};

/**
 * Reads a mask. Blanks around entries are allowed. Returns the number of entries.
 * @out_bad  the first character that cannot be understood, or NULL when all could; what comes
 *           behind it is not read
 */
size_t zeta_mask_parse(const char *text, struct zeta_mask_entry entries[ZETA_MASK_ENTRIES],
                       const char **out_bad);

/** Applies the variables of the process to drivers that were just made. A bad value is logged. */
void zeta_visible_apply(struct zeta_driver_set *set);

#endif
