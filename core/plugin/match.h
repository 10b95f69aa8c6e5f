/*
 * Whether a manifest speaks of something that this machine has.
 */
#ifndef ZETA_CORE_PLUGIN_MATCH_H
#define ZETA_CORE_PLUGIN_MATCH_H

#include <stdbool.h>

#include "core/util/list.h"

struct zeta_manifest;

/** One PCI device, as sysfs shows it. */
struct zeta_pci_device {
    uint32_t vendor;
    uint32_t device;
    uint32_t base_class; /**< upper byte of its class code */
    char address[16];    /**< such as 0000:00:02.0 */
    char driver[32];     /**< of the kernel, "" if none is bound */
};

/** What the machine has; read when first needed. All zero bytes is a valid start. */
struct zeta_machine {
    bool pci_read;
    struct zeta_pci_device *pci;
    size_t pci_count;
    bool drm_read;
    struct zeta_list drm_drivers; /**< of char *, names of drivers of DRM devices */
};

/**
 * True if one entry of "matches" holds. Otherwise reason receives a sentence with what was
 * looked for. Reads below zeta_paths_root(); the plugin's settings were declared before.
 *
 * @out_has_hardware  none holds, but one for want of a file alone: its PCI device is there, and the
 *                    reason names both. Else untouched.
 */
bool zeta_machine_matches(struct zeta_machine *machine, const struct zeta_manifest *manifest,
                          struct zeta_text *reason, bool *out_has_hardware);

/**
 * The first PCI device that a manifest matches and that none of a list of entries
 * (zeta_plugin_host) names by its id; NULL: there is none. Valid as long as the machine.
 */
const struct zeta_pci_device *zeta_machine_find_unnamed(struct zeta_machine *machine,
                                                        const struct zeta_manifest *manifest,
                                                        const struct zeta_list *entries);

/** Frees what was read. */
void zeta_machine_finish(struct zeta_machine *machine);

#endif
