#include "core/plugin/match.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/plugin/entry.h"
#include "core/settings/paths.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/log.h"

static bool read_small_file(int directory, const char *name, char *out_text, size_t size_bytes)
{
    ZETA_CLEANUP(zeta_closep) int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, out_text, size_bytes - 1);

    if (length <= 0)
        return false;
    out_text[length] = '\0';
    return true;
}

/* Last part of the link "driver" of a device. */
static void read_driver(int directory, const char *link, char *out_name, size_t size_bytes)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(directory, link, target, sizeof(target) - 1);
    const char *slash;

    out_name[0] = '\0';
    if (length <= 0)
        return;
    target[length] = '\0';
    slash = strrchr(target, '/');
    (void)snprintf(out_name, size_bytes, "%.31s", slash ? slash + 1 : target);
}

/* "pci:v00008086d00009A49sv..." in one file; older or emulated trees have three. */
static bool read_pci_ids(int directory, struct zeta_pci_device *device)
{
    char text[128];

    if (read_small_file(directory, "modalias", text, sizeof(text)) &&
        sscanf(text, "pci:v%8xd%8xsv%*8xsd%*8xbc%2x", &device->vendor, &device->device,
               &device->base_class) >= 2)
        return true;
    if (!read_small_file(directory, "vendor", text, sizeof(text)))
        return false;
    device->vendor = (uint32_t)strtoul(text, NULL, 16);
    if (!read_small_file(directory, "device", text, sizeof(text)))
        return false;
    device->device = (uint32_t)strtoul(text, NULL, 16);
    if (read_small_file(directory, "class", text, sizeof(text)))
        device->base_class = (uint32_t)strtoul(text, NULL, 16) >> 16;
    return true;
}

static bool is_out_of_descriptors(int error)
{
    return error == EMFILE || error == ENFILE;
}

/*
 * A machine without such a bus has no directory; any other reason hides hardware that is there, so
 * that a software device would take its place unnoticed.
 */
static void warn_unread(const char *path, int error)
{
    char reason_text[64];

    if (error == ENOENT || error == ENOTDIR)
        return;
    zeta_log(ZETA_LOG_WARN, "plugin", "%s cannot be read: %s%s; hardware in it is not found", path,
             strerror_r(error, reason_text, sizeof(reason_text)),
             is_out_of_descriptors(error) ? " (close some, or raise the limit: ulimit -n)" : "");
}

/* Opens a directory below the root of fixed paths; NULL, with a warning, if it cannot be read. */
static DIR *open_bus(const char *below_root, char out_path[PATH_MAX + 64])
{
    DIR *bus;

    (void)snprintf(out_path, PATH_MAX + 64, "%s%s", zeta_paths_root(), below_root);
    bus = opendir(out_path);
    if (!bus)
        warn_unread(out_path, errno);
    return bus;
}

static void read_pci(struct zeta_machine *machine)
{
    char path[PATH_MAX + 64];
    struct dirent *entry;
    DIR *all = open_bus("/sys/bus/pci/devices", path);

    machine->pci_read = true;
    while (all && (entry = readdir(all)) != NULL) {
        struct zeta_pci_device device = {0};
        struct zeta_pci_device *grown;
        ZETA_CLEANUP(zeta_closep)
        int fd = -1;

        if (entry->d_name[0] == '.')
            continue;
        errno = 0;
        fd = openat(dirfd(all), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || !read_pci_ids(fd, &device)) {
            if (!is_out_of_descriptors(errno))
                continue;
            warn_unread(path, errno); /* it is so for all that follow */
            break;
        }
        (void)snprintf(device.address, sizeof(device.address), "%.15s", entry->d_name);
        read_driver(fd, "driver", device.driver, sizeof(device.driver));
        grown = realloc(machine->pci, (machine->pci_count + 1) * sizeof(*grown));
        if (!grown)
            break;
        grown[machine->pci_count++] = device;
        machine->pci = grown;
    }
    if (all)
        (void)closedir(all);
}

static void read_drm(struct zeta_machine *machine)
{
    char path[PATH_MAX + 64];
    struct dirent *entry;
    DIR *all = open_bus("/sys/class/drm", path);

    machine->drm_read = true;
    while (all && (entry = readdir(all)) != NULL) {
        char link[300];
        char driver[32];
        char *copy;

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(link, sizeof(link), "%s/device/driver", entry->d_name);
        read_driver(dirfd(all), link, driver, sizeof(driver));
        copy = driver[0] ? strdup(driver) : NULL;
        if (copy && !zeta_list_add(&machine->drm_drivers, copy))
            free(copy);
    }
    if (all)
        (void)closedir(all);
}

static bool has_text(const struct zeta_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (strcmp(texts->items[i], text) == 0)
            return true;
    }
    return false;
}

static bool has_device_id(const struct zeta_manifest_match *match, uint32_t device)
{
    for (size_t i = 0; i < match->device_id_count; i++) {
        if (match->device_ids[i] == device)
            return true;
    }
    return match->device_id_count == 0;
}

/* A driver that is asked for beside a PCI id is the driver of that very device. */
static bool fits_pci(const struct zeta_manifest_match *match, const struct zeta_pci_device *device)
{
    return match->has_vendor && device->vendor == match->vendor &&
           has_device_id(match, device->device) &&
           (!match->has_pci_class || device->base_class == match->pci_class) &&
           (match->drivers.count == 0 || has_text(&match->drivers, device->driver));
}

static bool is_named(const struct zeta_list *entries, const struct zeta_pci_device *device)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct zeta_manifest *manifest =
            &((const struct zeta_plugin_host *)entries->items[i])->manifest;

        if (manifest->unnamed)
            continue; /* it speaks of devices and has no plugin for them */
        for (size_t m = 0; m < manifest->match_count; m++) {
            const struct zeta_manifest_match *match = &manifest->matches[m];

            if (match->has_vendor && match->vendor == device->vendor &&
                match->device_id_count > 0 && has_device_id(match, device->device))
                return true;
        }
    }
    return false;
}

const struct zeta_pci_device *zeta_machine_find_unnamed(struct zeta_machine *machine,
                                                        const struct zeta_manifest *manifest,
                                                        const struct zeta_list *entries)
{
    if (!machine->pci_read)
        read_pci(machine);
    for (size_t i = 0; i < machine->pci_count; i++) {
        for (size_t m = 0; m < manifest->match_count; m++) {
            if (fits_pci(&manifest->matches[m], &machine->pci[i]) &&
                !is_named(entries, &machine->pci[i]))
                return &machine->pci[i];
        }
    }
    return NULL;
}

/* Whether an entry names devices of a vendor and asks for nothing else. */
static bool is_id_list(const struct zeta_manifest_match *match)
{
    return match->has_vendor && match->device_id_count > 0 && match->drivers.count == 0 &&
           !match->device_glob && !match->setting;
}

/* Whether entry i is a list of the same vendor as the list that is entry number first. */
static bool is_joined(const struct zeta_manifest *manifest, size_t first, size_t i)
{
    return i == first ||
           (is_id_list(&manifest->matches[first]) && is_id_list(&manifest->matches[i]) &&
            manifest->matches[first].vendor == manifest->matches[i].vendor);
}

/* All lists of a vendor as one; of long ones the beginning. */
static void describe_pci(const struct zeta_manifest *manifest, size_t first, struct zeta_text *text)
{
    const struct zeta_manifest_match *matches = manifest->matches;
    size_t count = 0, shown = 0;

    for (size_t i = first; i < manifest->match_count; i++)
        count += is_joined(manifest, first, i) ? matches[i].device_id_count : 0;
    zeta_text_add(text, "a PCI device 0x%04x:%s", matches[first].vendor, count > 0 ? "" : "*");
    for (size_t i = first; i < manifest->match_count; i++) {
        for (size_t id = 0; is_joined(manifest, first, i) && id < matches[i].device_id_count &&
                            shown < (count > 8 ? 3 : count);
             id++)
            zeta_text_add(text, "%s0x%04x", shown++ > 0 ? "," : "", matches[i].device_ids[id]);
    }
    if (count > shown)
        zeta_text_add(text, "... (%zu ids)", count);
}

static void describe(const struct zeta_manifest *manifest, size_t index, struct zeta_text *text)
{
    const struct zeta_manifest_match *match = &manifest->matches[index];
    const size_t start = text->length;

    if (match->has_vendor)
        describe_pci(manifest, index, text);
    for (size_t i = 0; i < match->drivers.count; i++)
        zeta_text_add(text, "%s%s",
                      i > 0               ? " or "
                      : match->has_vendor ? " with the kernel driver "
                                          : "a device of the kernel driver ",
                      match->drivers.items[i]);
    if (match->device_glob)
        zeta_text_add(text, "%s%s",
                      text->length > 0 && match->has_vendor ? " and a file " : "a file ",
                      match->device_glob);
    if (!match->setting)
        return;
    zeta_text_add(text, "%sa value of the setting plugins.%s.%s",
                  text->length > start ? " and " : "", manifest->id, match->setting);
    for (size_t i = 0; i < manifest->setting_count; i++) {
        const struct zeta_manifest_setting *setting = &manifest->settings[i];

        if (strcmp(setting->key, match->setting) == 0 && setting->variable)
            zeta_text_add(text, " (variable %s)", setting->variable);
    }
}

/* Whether all that an entry asks for is there. */
static bool holds(struct zeta_machine *machine, const struct zeta_manifest *manifest,
                  const struct zeta_manifest_match *match)
{
    bool is_there = false;

    if (match->has_vendor) {
        if (!machine->pci_read)
            read_pci(machine);
        for (size_t i = 0; !is_there && i < machine->pci_count; i++)
            is_there = fits_pci(match, &machine->pci[i]);
    } else if (match->drivers.count > 0) {
        if (!machine->drm_read)
            read_drm(machine);
        for (size_t i = 0; !is_there && i < machine->drm_drivers.count; i++)
            is_there = has_text(&match->drivers, machine->drm_drivers.items[i]);
    } else {
        is_there = true;
    }
    if (!is_there)
        return false;
    if (match->device_glob) {
        char path[PATH_MAX + 64];
        glob_t found = {0};
        bool any;

        (void)snprintf(path, sizeof(path), "%s%.4000s", zeta_paths_root(), match->device_glob);
        any = glob(path, GLOB_NOSORT, NULL, &found) == 0 && found.gl_pathc > 0;
        globfree(&found);
        if (!any)
            return false;
    }
    if (match->setting) {
        const char *value = zeta_settings_plugin(manifest->id, match->setting);

        return value && *value;
    }
    return match->always || match->has_vendor || match->drivers.count > 0 || match->device_glob;
}

/* A device without the file that its driver makes: says so, and what driver it has instead. */
static bool describe_without_file(const struct zeta_machine *machine,
                                  const struct zeta_manifest *manifest, struct zeta_text *reason)
{
    for (size_t i = 0; i < manifest->match_count; i++) {
        const struct zeta_manifest_match *match = &manifest->matches[i];

        for (size_t d = 0; match->device_glob && d < machine->pci_count; d++) {
            const struct zeta_pci_device *device = &machine->pci[d];

            if (!fits_pci(match, device))
                continue;
            zeta_text_add(reason,
                          "The PCI device 0x%04x:0x%04x at %s has %s%s, and there is no file %s, "
                          "which the driver of its vendor makes: install or load that driver, and "
                          "in a container pass the file.",
                          device->vendor, device->device, device->address,
                          device->driver[0] ? "the kernel driver " : "no kernel driver",
                          device->driver, match->device_glob);
            return true;
        }
    }
    return false;
}

bool zeta_machine_matches(struct zeta_machine *machine, const struct zeta_manifest *manifest,
                          struct zeta_text *reason, bool *out_has_hardware)
{
    for (size_t i = 0; i < manifest->match_count; i++) {
        if (holds(machine, manifest, &manifest->matches[i]))
            return true;
    }
    if (describe_without_file(machine, manifest, reason)) {
        *out_has_hardware = true;
        return false;
    }
    if (manifest->match_count == 0) {
        zeta_text_add(reason, "The manifest has no \"matches\", so it fits no machine by itself.");
        return false;
    }
    zeta_text_add(reason, "Nothing on this machine matches: looked for ");
    for (size_t i = 0; i < manifest->match_count; i++) {
        size_t earlier = 0;

        /* An earlier list of the vendor has described the ids of this one too. */
        while (earlier < i && !is_joined(manifest, earlier, i))
            earlier++;
        if (earlier < i)
            continue;
        if (i > 0)
            zeta_text_add(reason, "; or ");
        describe(manifest, i, reason);
    }
    zeta_text_add(reason, ".");
    return false;
}

void zeta_machine_finish(struct zeta_machine *machine)
{
    for (size_t i = 0; i < machine->drm_drivers.count; i++)
        free(machine->drm_drivers.items[i]);
    zeta_list_finish(&machine->drm_drivers);
    free(machine->pci);
    *machine = (struct zeta_machine){0};
}
