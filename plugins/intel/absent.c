/*
 * GPUs that are in the machine and cannot be used, because nothing that counts drives them: so that
 * nobody has to guess why none is listed.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "intel.h"

#define DEVICES "/sys/bus/pci/devices"

/* A number as "0x8086" in a file of a PCI device; 0 if there is none. */
static uint32_t read_hex(const char *address, const char *name)
{
    char path[300];
    unsigned number = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), DEVICES "/%.64s/%s", address, name);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%x", &number) != 1)
        number = 0;
    (void)fclose(file);
    return number;
}

/* Name of the driver that a PCI device is bound to; empty: none. */
static void read_driver(const char *address, char *out_name, size_t bytes)
{
    char path[300], target[300];
    const char *slash;
    ssize_t length;

    (void)snprintf(path, sizeof(path), DEVICES "/%.64s/driver", address);
    length = readlink(path, target, sizeof(target) - 1);
    target[length > 0 ? length : 0] = '\0';
    slash = strrchr(target, '/');
    (void)snprintf(out_name, bytes, "%.60s", slash ? slash + 1 : target);
}

static void describe(const struct zeta_intel_platform *platform, const char *address,
                     char *out_reason, size_t bytes)
{
    char driver[64];

    read_driver(address, driver, sizeof(driver));
    if (driver[0] == '\0')
        (void)snprintf(out_reason, bytes,
                       "Intel %s (%s) has no kernel driver; load one that counts: sudo modprobe %s",
                       platform->name, address, platform->has_i915 ? "i915" : "xe");
    else if (strcmp(driver, "i915") != 0 && strcmp(driver, "xe") != 0)
        (void)snprintf(out_reason, bytes,
                       "Intel %s (%s) is bound to the kernel driver %s; only i915 and xe count",
                       platform->name, address, driver);
    else
        (void)snprintf(out_reason, bytes,
                       "Intel %s (%s) has the kernel driver %s, but no node in /dev/dri; in a "
                       "container pass it the devices, such as --device /dev/dri",
                       platform->name, address, driver);
}

bool zeta_intel_absent_find(const struct zeta_intel *intel, char *out_reason, size_t bytes)
{
    DIR *folder = opendir(DEVICES);
    const struct dirent *entry;
    bool found = false;

    while (folder && !found && (entry = readdir(folder))) {
        const struct zeta_intel_platform *platform;

        if (entry->d_name[0] == '.' || read_hex(entry->d_name, "vendor") != ZETA_INTEL_VENDOR)
            continue;
        platform = zeta_intel_platform_find(&intel->platforms, read_hex(entry->d_name, "device"));
        found = platform != NULL;
        if (found)
            describe(platform, entry->d_name, out_reason, bytes);
    }
    if (folder)
        (void)closedir(folder);
    return found;
}
