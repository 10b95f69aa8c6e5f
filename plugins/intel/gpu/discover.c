/*
 * GPUs of the machine: what libdrm lists, as far as it is of the generation and the kernel's driver
 * is one that counts.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <xf86drm.h>

#include <zeta/descriptor.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/kernel.h"

#define DEVICES "/sys/bus/pci/devices"

static const struct zeta_intel_kmd *const kmds[] = {&zeta_intel_i915, &zeta_intel_xe};

/*
 * What GPUs that cannot be used leave behind: the sentence of the first of them, which becomes the
 * reason of the plugin when no other GPU can be used. So it is logged at the end, or not at all.
 */
struct refusal {
    uint32_t result;
    char text[704];
};

static void keep_refusal(const struct zeta_intel *intel, struct refusal *refusal, uint32_t result,
                         const char *text)
{
    if (refusal->result != ZETA_PLUGIN_SUCCESS) {
        zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN, "%s", text);
        return;
    }
    refusal->result = result;
    (void)snprintf(refusal->text, sizeof(refusal->text), "%s", text);
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* Says why a node could not be opened, and what to do. */
static void refuse_node(struct refusal *refusal, const struct zeta_intel_gpu *gpu, int error)
{
    const struct zeta_intel_errno_text why = zeta_intel_errno(error);
    const bool is_forbidden = error == EACCES || error == EPERM;
    char text[sizeof(refusal->text)];
    const struct group *group = NULL;
    struct stat status;

    if (stat(gpu->node, &status) == 0)
        group = getgrgid(status.st_gid);
    if (is_forbidden)
        (void)snprintf(text, sizeof(text),
                       "%s (%s): no permission to open the device node %s: %s. Become a member of "
                       "its group, usually render: sudo usermod -aG %s USER, then log in again; "
                       "in a container pass the device with its group",
                       gpu->name, gpu->id, gpu->node, why.text,
                       group && group->gr_gid != 0 ? group->gr_name : "render");
    else
        (void)snprintf(text, sizeof(text), "%s (%s): the device node %s cannot be opened: %s",
                       gpu->name, gpu->id, gpu->node, why.text);
    keep_refusal(gpu->intel, refusal,
                 is_forbidden ? ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS : ZETA_PLUGIN_NOT_AVAILABLE,
                 text);
}

/* There may be nodes, and nobody can tell. */
static void refuse_list(const struct zeta_intel *intel, struct refusal *refusal, int error)
{
    char text[sizeof(refusal->text)];

    (void)snprintf(text, sizeof(text), "the GPUs in /dev/dri cannot be listed: %s%s",
                   zeta_intel_errno(error).text,
                   error == EMFILE || error == ENFILE
                       ? "; close descriptors, or raise the limit: ulimit -n"
                       : "");
    keep_refusal(intel, refusal, ZETA_PLUGIN_NOT_AVAILABLE, text);
}

/* Opens the render node, or the card where there is no other. */
static bool open_node(struct zeta_intel_gpu *gpu, const drmDevice *device, struct refusal *refusal)
{
    static const int order[] = {DRM_NODE_RENDER, DRM_NODE_PRIMARY};
    int error = 0;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if ((device->available_nodes & (1 << order[i])) == 0)
            continue;
        if (error == 0)
            (void)snprintf(gpu->node, sizeof(gpu->node), "%s", device->nodes[order[i]]);
        gpu->fd = zeta_descriptor_raise(open(device->nodes[order[i]], O_RDWR | O_CLOEXEC));
        if (gpu->fd >= 0) {
            (void)snprintf(gpu->node, sizeof(gpu->node), "%s", device->nodes[order[i]]);
            return true;
        }
        if (error == 0)
            error = errno;
    }
    refuse_node(refusal, gpu, error != 0 ? error : ENOENT);
    return false;
}

/* The directory of the card in sysfs, by the numbers of the node: also where only render is. */
static void find_card(struct zeta_intel_gpu *gpu)
{
    const struct dirent *entry;
    struct stat status;
    char path[128];
    DIR *folder;

    if (fstat(gpu->fd, &status) != 0)
        return;
    (void)snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/drm", major(status.st_rdev),
                   minor(status.st_rdev));
    folder = opendir(path);
    if (!folder)
        return;
    while ((entry = readdir(folder))) {
        if (strncmp(entry->d_name, "card", 4) == 0 && isdigit((unsigned char)entry->d_name[4]))
            (void)snprintf(gpu->card, sizeof(gpu->card), "/sys/class/drm/%.40s", entry->d_name);
    }
    (void)closedir(folder);
}

static const struct zeta_intel_kmd *find_kmd(int fd, char *out_driver, size_t bytes)
{
    drmVersion *version = drmGetVersion(fd);
    const struct zeta_intel_kmd *found = NULL;

    (void)snprintf(out_driver, bytes, "%s", version ? version->name : "unknown");
    for (size_t i = 0; version && i < sizeof(kmds) / sizeof(kmds[0]); i++) {
        if (strcmp(kmds[i]->driver, version->name) == 0)
            found = kmds[i];
    }
    drmFreeVersion(version);
    return found;
}

/* ---- GPUs that no driver which counts has: those have no node, so only sysfs shows them ------ */

/* How a GPU gets a driver that counts on it, behind the sentence that says what is wrong. bound:
 * the driver that has it, NULL: none. */
static void advise(const struct zeta_intel_platform *platform, uint32_t device_id,
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

static void describe_unbound(const struct zeta_intel_platform *platform, uint32_t device_id,
                             const char *address, char *out_text, size_t bytes)
{
    char room[256], advice[256];
    const char *driver = find_driver(address, room, sizeof(room));

    advise(platform, device_id, driver, advice, sizeof(advice));
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

/* Describes the first GPU of the generation that is in the machine and not among intel->gpus,
 * because nothing that counts drives it, or it has no node; false: there is none. */
static bool find_unbound(const struct zeta_intel *intel, char *out_text, size_t bytes)
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
            describe_unbound(platform, device_id, entry->d_name, out_text, bytes);
    }
    (void)closedir(folder);
    return found;
}

/* ---- one GPU ------------------------------------------------------------------------------ */

static void describe(struct zeta_intel_gpu *gpu, const drmDevice *device)
{
    const drmPciBusInfo *bus = device->businfo.pci;

    gpu->device_id = device->deviceinfo.pci->device_id;
    gpu->revision = device->deviceinfo.pci->revision_id;
    gpu->pci_domain = bus->domain;
    gpu->pci_bus = bus->bus;
    gpu->pci_device = bus->dev;
    gpu->pci_function = bus->func;
    gpu->integrated = gpu->platform->integrated;
    (void)snprintf(gpu->id, sizeof(gpu->id), "%04x:%02x:%02x.%x", bus->domain, bus->bus, bus->dev,
                   bus->func);
    (void)snprintf(gpu->name, sizeof(gpu->name), "Intel %s", gpu->platform->name);
    for (uint32_t i = 0; i < ZETA_INTEL_UNITS; i++)
        atomic_init(&gpu->uses[i].fd, -1);
    atomic_init(&gpu->is_lost, false);
}

/* Asks the kernel; a driver that does not count on this platform leaves a GPU without metrics. */
static uint32_t probe(struct zeta_intel_gpu *gpu)
{
    const struct zeta_intel_platform *platform = gpu->platform;
    char advice[256];
    uint32_t result;

    find_card(gpu);
    result = gpu->kmd->probe(gpu);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (platform->set_count == 0 && gpu->note[0] == '\0')
        (void)snprintf(
            gpu->note, sizeof(gpu->note),
            "No metric sets were published for %s (%s), so it has no groups but those of "
            "your own set files.",
            gpu->name, gpu->id);
    if (!gpu->kmd->counts_on(platform)) {
        gpu->unit_count = 0;
        advise(platform, gpu->device_id, gpu->kmd->driver, advice, sizeof(advice));
        (void)snprintf(gpu->no_metrics, sizeof(gpu->no_metrics),
                       "The kernel driver %s does not count on %s. %s.", gpu->kmd->driver,
                       platform->name, advice);
    }
    return ZETA_PLUGIN_SUCCESS;
}

/* Adds a GPU if it can be used; SUCCESS also when it is left out. */
static uint32_t add_gpu(struct zeta_intel *intel, const drmDevice *device, struct refusal *refusal)
{
    struct zeta_intel_gpu *gpu = &intel->gpus[intel->gpu_count];
    char driver[32], text[256];
    uint32_t result;

    *gpu = (struct zeta_intel_gpu){.intel = intel, .host = intel->host, .fd = -1};
    gpu->platform = zeta_intel_platform_find(&intel->platforms, device->deviceinfo.pci->device_id);
    if (!gpu->platform)
        return ZETA_PLUGIN_SUCCESS;
    describe(gpu, device);
    if (!open_node(gpu, device, refusal))
        return ZETA_PLUGIN_SUCCESS;
    gpu->kmd = find_kmd(gpu->fd, driver, sizeof(driver));
    if (!gpu->kmd) {
        (void)snprintf(text, sizeof(text),
                       "%s (%s) is left out: its kernel driver is %s, and only i915 and xe count",
                       gpu->name, gpu->id, driver);
        keep_refusal(intel, refusal, ZETA_PLUGIN_NOT_AVAILABLE, text);
        (void)close(gpu->fd);
        return ZETA_PLUGIN_SUCCESS;
    }
    result = probe(gpu);
    if (result != ZETA_PLUGIN_SUCCESS) {
        (void)close(gpu->fd);
        return result;
    }
    intel->gpu_count++;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- all of them -------------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b)
{
    const drmPciBusInfo *x = (*(drmDevice *const *)a)->businfo.pci;
    const drmPciBusInfo *y = (*(drmDevice *const *)b)->businfo.pci;
    const int values[4] = {x->domain - y->domain, x->bus - y->bus, x->dev - y->dev,
                           x->func - y->func};

    for (int i = 0; i < 4; i++) {
        if (values[i] != 0)
            return values[i];
    }
    return 0;
}

static bool is_intel(const drmDevice *device)
{
    return device->bustype == DRM_BUS_PCI && device->deviceinfo.pci->vendor_id == ZETA_INTEL_VENDOR;
}

static uint32_t add_gpus(struct zeta_intel *intel, drmDevice **devices, int count,
                         struct refusal *refusal)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;
    int used = 0;

    for (int i = 0; i < count; i++) {
        if (is_intel(devices[i])) {
            drmDevice *kept = devices[used];

            devices[used++] = devices[i];
            devices[i] = kept;
        }
    }
    if (used > 1)
        qsort(devices, (size_t)used, sizeof(devices[0]), compare_addresses);
    intel->gpu_count = 0;
    intel->gpus = calloc(used > 0 ? (size_t)used : 1, sizeof(*intel->gpus));
    if (!intel->gpus)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    for (int i = 0; i < used && result == ZETA_PLUGIN_SUCCESS; i++)
        result = add_gpu(intel, devices[i], refusal);
    return result;
}

/* Whether any GPU has metrics: a plugin that offers nothing else is of no use without. */
static bool can_count(const struct zeta_intel *intel)
{
    for (uint32_t i = 0; i < intel->gpu_count; i++) {
        if (intel->gpus[i].no_metrics[0] == '\0')
            return true;
    }
    return false;
}

/* What users should know though the plugin works: the host shows it beside the plugin. */
static void leave_note(const struct zeta_intel *intel, const struct refusal *refusal)
{
    const char *note = refusal->result != ZETA_PLUGIN_SUCCESS ? refusal->text : "";

    for (uint32_t i = 0; i < intel->gpu_count && note[0] == '\0'; i++)
        note = intel->gpus[i].no_metrics;
    for (uint32_t i = 0; i < intel->gpu_count && note[0] == '\0'; i++)
        note = intel->gpus[i].note;
    if (note[0] != '\0')
        (void)zeta_host_fail(intel->host, ZETA_PLUGIN_SUCCESS, "%s", note);
}

/* Logs what is wrong with GPUs, but for the one that the plugin's failure tells. */
static void log_rest(const struct zeta_intel *intel, const struct refusal *refusal)
{
    const bool fails = !can_count(intel);

    for (uint32_t i = fails ? 1 : 0; i < intel->gpu_count; i++) {
        const struct zeta_intel_gpu *gpu = &intel->gpus[i];

        if (gpu->no_metrics[0] != '\0')
            zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN, "%s (%s) has no metrics: %s",
                          gpu->name, gpu->id, gpu->no_metrics);
    }
    if (refusal->result != ZETA_PLUGIN_SUCCESS && (!fails || intel->gpu_count > 0))
        zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN, "%s", refusal->text);
}

uint32_t zeta_intel_discover(struct zeta_intel *intel)
{
    struct refusal refusal = {ZETA_PLUGIN_SUCCESS, ""};
    drmDevice **devices = NULL;
    uint32_t result;
    int count = drmGetDevices2(0, NULL, 0);

    if (count > 0) {
        devices = calloc((size_t)count, sizeof(*devices));
        if (!devices)
            return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        count = drmGetDevices2(DRM_DEVICE_GET_PCI_REVISION, devices, count);
    }
    if (count < 0 && count != -ENOENT)
        refuse_list(intel, &refusal, -count);
    result = add_gpus(intel, devices, count > 0 ? count : 0, &refusal);
    if (count > 0)
        drmFreeDevices(devices, count);
    free(devices);
    /* A GPU without a node, unless one whose node cannot be opened was noted before. */
    if (refusal.result == ZETA_PLUGIN_SUCCESS &&
        find_unbound(intel, refusal.text, sizeof(refusal.text)))
        refusal.result = ZETA_PLUGIN_NOT_AVAILABLE;
    log_rest(intel, &refusal);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (can_count(intel)) {
        leave_note(intel, &refusal);
        return ZETA_PLUGIN_SUCCESS;
    }
    if (intel->gpu_count > 0)
        return zeta_host_fail(intel->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s (%s) has no metrics: %s",
                              intel->gpus[0].name, intel->gpus[0].id, intel->gpus[0].no_metrics);
    if (refusal.result != ZETA_PLUGIN_SUCCESS)
        return zeta_host_fail(intel->host, refusal.result, "%s", refusal.text);
    return ZETA_PLUGIN_SUCCESS;
}
