#include "plugins/intel/gpu/intel.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices"

void zeta_intel_binding_advice(const struct zeta_intel_platform *platform, uint32_t device_id,
                               const char *bound, char *out_text, size_t bytes)
{
    const char *wanted = platform->has_i915 ? "i915" : "xe";

    if (!bound)
        (void)snprintf(
            out_text, bytes,
            "Load the driver: sudo modprobe %s; where the kernel takes this GPU only when "
            "told to, boot with %s.force_probe=%04x",
            wanted, wanted, device_id);
    else if (strcmp(bound, "i915") == 0 && !platform->has_i915)
        (void)snprintf(out_text, bytes,
                       "Boot with i915.force_probe=!%04x xe.force_probe=%04x to give it to xe",
                       device_id, device_id);
    else if (strcmp(bound, "xe") == 0 && !platform->has_xe)
        (void)snprintf(out_text, bytes,
                       "Boot with xe.force_probe=!%04x i915.force_probe=%04x to give it to i915",
                       device_id, device_id);
    else
        (void)snprintf(out_text, bytes, "Unbind %s from it, then: sudo modprobe %s", bound, wanted);
}

/* A number in hexadecimal from a file of a PCI device; UINT32_MAX: there is none. */
static uint32_t read_hex(const char *address, const char *name)
{
    char path[128], text[32];
    ssize_t got;
    int fd;

    (void)snprintf(path, sizeof(path), DEVICES "/%.32s/%s", address, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return UINT32_MAX;
    got = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    if (got <= 0)
        return UINT32_MAX;
    text[got] = '\0';
    return (uint32_t)strtoul(text, NULL, 16);
}

/* Name of the driver that has a PCI device, in the caller's room; NULL: none has. */
static const char *find_driver(const char *address, char *room, size_t bytes)
{
    char path[128];
    const char *name;
    ssize_t length;

    (void)snprintf(path, sizeof(path), DEVICES "/%.32s/driver", address);
    length = readlink(path, room, bytes - 1);
    if (length <= 0)
        return NULL;
    room[length] = '\0';
    name = strrchr(room, '/');
    return name ? name + 1 : room;
}

/* Whether the GPU at a PCI address was found by its node. */
static bool is_known(const struct zeta_intel *intel, const char *address)
{
    for (uint32_t i = 0; i < intel->gpu_count; i++) {
        if (strcmp(intel->gpus[i].id, address) == 0)
            return true;
    }
    return false;
}

static void describe(const struct zeta_intel_platform *platform, uint32_t device_id,
                     const char *address, char *out_text, size_t bytes)
{
    char room[256], advice[256];
    const char *driver = find_driver(address, room, sizeof(room));

    zeta_intel_binding_advice(platform, device_id, driver, advice, sizeof(advice));
    if (!driver)
        (void)snprintf(out_text, bytes, "Intel %s (%.32s) has no kernel driver. %s", platform->name,
                       address, advice);
    else if (strcmp(driver, "i915") == 0 || strcmp(driver, "xe") == 0)
        (void)snprintf(out_text, bytes,
                       "Intel %s (%.32s) has the kernel driver %s, but no node in /dev/dri; in a "
                       "container pass it the devices, such as --device /dev/dri",
                       platform->name, address, driver);
    else
        (void)snprintf(out_text, bytes,
                       "Intel %s (%.32s) is bound to the kernel driver %s; only i915 and xe count. "
                       "%s",
                       platform->name, address, driver, advice);
}

bool zeta_intel_binding_find(const struct zeta_intel *intel, char *out_text, size_t bytes)
{
    DIR *folder = opendir(DEVICES);
    const struct dirent *entry;
    bool found = false;

    if (!folder)
        return false;
    while (!found && (entry = readdir(folder))) {
        const struct zeta_intel_platform *platform;
        uint32_t device_id;

        if (entry->d_name[0] == '.' || is_known(intel, entry->d_name) ||
            read_hex(entry->d_name, "vendor") != ZETA_INTEL_VENDOR)
            continue;
        device_id = read_hex(entry->d_name, "device");
        platform = zeta_intel_platform_find(&intel->platforms, device_id);
        found = platform != NULL;
        if (found)
            describe(platform, device_id, entry->d_name, out_text, bytes);
    }
    (void)closedir(folder);
    return found;
}
