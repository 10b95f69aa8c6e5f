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
    char driver[32]; /**< of the kernel, "" if none is bound */
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
 * True if one entry of "matches" holds. Otherwise reason receives a sentence that says what was
 * looked for. Reads below zeta_paths_root(); the plugin's settings were declared before.
 */
bool zeta_machine_matches(struct zeta_machine *machine, const struct zeta_manifest *manifest,
                          struct zeta_text *reason);

/** Frees what was read. */
void zeta_machine_finish(struct zeta_machine *machine);

#endif
