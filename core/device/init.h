/*
 * Drivers as they are made, and which of their devices a process sees.
 */
#ifndef ZETA_CORE_DEVICE_INIT_H
#define ZETA_CORE_DEVICE_INIT_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_driver;

/** Drivers of the process; what zeta_drivers_create() made. */
struct zeta_driver_set {
    struct zeta_driver **drivers;
    uint32_t count;
};

/**
 * Makes a driver for each compute provider, one named "Zeta" for devices that nobody computes on
 * (also when there is no device at all), and their devices.
 * Errors: OUT_OF_HOST_MEMORY. Threading: the caller holds the initialisation lock.
 */
ze_result_t zeta_drivers_create(struct zeta_driver_set *out_set);

/** The drivers in their order, at least one; of a library that is initialised. Lock-free. */
const struct zeta_driver_set *zeta_core_drivers(void);

/*
 * ---- Which devices a process sees, and in what order: the environment variables of the
 * specification.
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
