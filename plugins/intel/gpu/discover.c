/*
 * GPUs of the machine: what libdrm lists, as far as it is of the generation and the kernel's driver
 * is one that counts.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <xf86drm.h>

#include <zeta/c_locale.h>
#include <zeta/descriptor.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/kernel.h"

#define DEVICES "/sys/bus/pci/devices"

static const struct zeta_intel_kmd *const kmds[] = {&zeta_intel_i915, &zeta_intel_xe};

/*
 * Why the first GPU that cannot be used is left out: the reason of the plugin when no other GPU can
 * be used. So it is logged at the end, or not at all.
 */
struct refusal {
    uint32_t result;
    char text[704];
};

static void refuse(const struct zeta_intel *intel, struct refusal *refusal, uint32_t result,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

static void refuse(const struct zeta_intel *intel, struct refusal *refusal, uint32_t result,
                   const char *format, ...)
{
    struct refusal next = {.result = result};
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(next.text, sizeof(next.text), format, arguments);
    va_end(arguments);
    if (refusal->result == ZETA_PLUGIN_SUCCESS)
        *refusal = next;
    else
        zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN, "%s", next.text);
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* Opens the render node, or the card where there is no other. */
static bool open_node(struct zeta_intel_gpu *gpu, const drmDevice *device, struct refusal *refusal)
{
    static const int order[] = {DRM_NODE_RENDER, DRM_NODE_PRIMARY};
    const struct group *group = NULL;
    struct stat status;
    int error = 0;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if ((device->available_nodes & (1 << order[i])) == 0)
            continue;
        gpu->fd = zeta_descriptor_raise(open(device->nodes[order[i]], O_RDWR | O_CLOEXEC));
        if (gpu->fd < 0 && error != 0)
            continue;
        error = errno;
        (void)snprintf(gpu->node, sizeof(gpu->node), "%s", device->nodes[order[i]]);
        if (gpu->fd >= 0)
            return true;
    }
    if (stat(gpu->node, &status) == 0)
        group = getgrgid(status.st_gid);
    if (error == EACCES || error == EPERM)
        refuse(gpu->intel, refusal, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
               "%s (%s): no permission to open the device node %s: %s. Become a member of its "
               "group, usually render: sudo usermod -aG %s USER, then log in again; in a container "
               "pass the device with its group",
               gpu->name, gpu->id, gpu->node, zeta_intel_errno(error).text,
               group && group->gr_gid != 0 ? group->gr_name : "render");
    else
        refuse(gpu->intel, refusal, ZETA_PLUGIN_NOT_AVAILABLE,
               "%s (%s): the device node %s cannot be opened: %s", gpu->name, gpu->id, gpu->node,
               zeta_intel_errno(error != 0 ? error : ENOENT).text);
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

/* ---- GPUs without a node: no driver that counts has them, so only sysfs shows them ---------- */

/* How a GPU gets a driver that counts on it. bound: the driver that has it, NULL: none. */
static void advise(const struct zeta_intel_platform *platform, uint32_t device_id,
                   const char *bound, char *out_text, size_t bytes)
{
    const char *wanted = platform->has_i915 ? "i915" : "xe";
    const bool is_i915 = bound && strcmp(bound, "i915") == 0;
    const bool is_xe = bound && strcmp(bound, "xe") == 0;

    if (!bound)
        (void)snprintf(
            out_text, bytes,
            "Load the driver: sudo modprobe %s; where the kernel takes this GPU only when "
            "told to, boot with %s.force_probe=%04x",
            wanted, wanted, device_id);
    else if ((is_i915 && !platform->has_i915) || (is_xe && !platform->has_xe))
        (void)snprintf(out_text, bytes,
                       "Boot with %s.force_probe=!%04x %s.force_probe=%04x to give it to %s", bound,
                       device_id, is_i915 ? "xe" : "i915", device_id, is_i915 ? "xe" : "i915");
    else
        (void)snprintf(out_text, bytes, "Unbind %s from it, then: sudo modprobe %s", bound, wanted);
}

/* A number from a file of a PCI device; UINT32_MAX: there is none. */
static uint32_t read_number(const char *address, const char *name)
{
    char path[128];
    uint64_t value;

    (void)snprintf(path, sizeof(path), DEVICES "/%.32s/%s", address, name);
    return zeta_intel_file_read_u64(path, &value) ? (uint32_t)value : UINT32_MAX;
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

/* Refuses the first GPU of the generation that is in the machine and not among intel->gpus. */
static void find_unbound(const struct zeta_intel *intel, struct refusal *refusal)
{
    DIR *folder = opendir(DEVICES);
    const struct dirent *entry;
    char path[128], link[256], advice[256];

    while (refusal->result == ZETA_PLUGIN_SUCCESS && folder && (entry = readdir(folder))) {
        const struct zeta_intel_platform *platform;
        const char *address = entry->d_name, *driver = NULL;
        uint32_t device_id;
        ssize_t length;

        if (address[0] == '.' || is_known(intel, address) ||
            read_number(address, "vendor") != ZETA_INTEL_VENDOR)
            continue;
        device_id = read_number(address, "device");
        platform = zeta_intel_platform_find(&intel->platforms, device_id);
        if (!platform)
            continue;
        (void)snprintf(path, sizeof(path), DEVICES "/%.32s/driver", address);
        length = readlink(path, link, sizeof(link) - 1);
        if (length > 0) {
            link[length] = '\0';
            driver = strrchr(link, '/') ? strrchr(link, '/') + 1 : link;
        }
        advise(platform, device_id, driver, advice, sizeof(advice));
        if (!driver)
            refuse(intel, refusal, ZETA_PLUGIN_NOT_AVAILABLE,
                   "Intel %s (%.32s) has no kernel driver. %s", platform->name, address, advice);
        else if (strcmp(driver, "i915") == 0 || strcmp(driver, "xe") == 0)
            refuse(intel, refusal, ZETA_PLUGIN_NOT_AVAILABLE,
                   "Intel %s (%.32s) has the kernel driver %s, but no node in /dev/dri; in a "
                   "container pass it the devices, such as --device /dev/dri",
                   platform->name, address, driver);
        else
            refuse(intel, refusal, ZETA_PLUGIN_NOT_AVAILABLE,
                   "Intel %s (%.32s) is bound to the kernel driver %s; only i915 and xe count. %s",
                   platform->name, address, driver, advice);
    }
    if (folder)
        (void)closedir(folder);
}

/* ---- one GPU ------------------------------------------------------------------------------ */

/* Adds a GPU if it can be used; SUCCESS also when it is left out. */
static uint32_t add_gpu(struct zeta_intel *intel, const drmDevice *device, struct refusal *refusal)
{
    struct zeta_intel_gpu *gpu = &intel->gpus[intel->gpu_count];
    const struct zeta_intel_platform *platform =
        zeta_intel_platform_find(&intel->platforms, device->deviceinfo.pci->device_id);
    const drmPciBusInfo *bus = device->businfo.pci;
    char advice[256];
    drmVersion *version;
    uint32_t result;

    if (!platform)
        return ZETA_PLUGIN_SUCCESS;
    *gpu = (struct zeta_intel_gpu){
        .intel = intel,
        .host = intel->host,
        .platform = platform,
        .fd = -1,
        .device_id = device->deviceinfo.pci->device_id,
        .revision = device->deviceinfo.pci->revision_id,
        .pci_domain = bus->domain,
        .pci_bus = bus->bus,
        .pci_device = bus->dev,
        .pci_function = bus->func,
    };
    (void)snprintf(gpu->id, sizeof(gpu->id), "%04x:%02x:%02x.%x", bus->domain, bus->bus, bus->dev,
                   bus->func);
    (void)snprintf(gpu->name, sizeof(gpu->name), "Intel %s", platform->name);
    for (uint32_t i = 0; i < ZETA_INTEL_UNITS; i++)
        atomic_init(&gpu->uses[i].fd, -1);
    if (!open_node(gpu, device, refusal))
        return ZETA_PLUGIN_SUCCESS;
    version = drmGetVersion(gpu->fd);
    for (size_t i = 0; version && i < sizeof(kmds) / sizeof(kmds[0]); i++) {
        if (strcmp(kmds[i]->driver, version->name) == 0)
            gpu->kmd = kmds[i];
    }
    if (!gpu->kmd)
        refuse(intel, refusal, ZETA_PLUGIN_NOT_AVAILABLE,
               "%s (%s) is left out: its kernel driver is %s, and only i915 and xe count",
               gpu->name, gpu->id, version ? version->name : "unknown");
    drmFreeVersion(version);
    find_card(gpu);
    result = gpu->kmd ? gpu->kmd->probe(gpu) : (uint32_t)ZETA_PLUGIN_SUCCESS;
    if (!gpu->kmd || result != ZETA_PLUGIN_SUCCESS) {
        (void)close(gpu->fd);
        return result;
    }
    intel->gpu_count++;
    if (platform->set_count == 0 && gpu->note[0] == '\0')
        (void)snprintf(
            gpu->note, sizeof(gpu->note),
            "No metric sets were published for %s (%s), so it has no groups but those of "
            "your own set files.",
            gpu->name, gpu->id);
    /* A driver that does not count on this platform leaves a GPU without metrics. */
    if (gpu->kmd->is_xe ? !platform->has_xe : !platform->has_i915) {
        gpu->unit_count = 0;
        advise(platform, gpu->device_id, gpu->kmd->driver, advice, sizeof(advice));
        (void)snprintf(gpu->no_metrics, sizeof(gpu->no_metrics),
                       "The kernel driver %s does not count on %s. %s.", gpu->kmd->driver,
                       platform->name, advice);
    }
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

/* Adds the GPUs of a list of libdrm, whose elements change places. */
static uint32_t add_gpus(struct zeta_intel *intel, drmDevice **devices, int count,
                         struct refusal *refusal)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;
    int used = 0;

    for (int i = 0; i < count; i++) {
        drmDevice *device = devices[i];

        if (device->bustype != DRM_BUS_PCI ||
            device->deviceinfo.pci->vendor_id != ZETA_INTEL_VENDOR)
            continue;
        devices[i] = devices[used];
        devices[used++] = device;
    }
    if (used > 1)
        qsort(devices, (size_t)used, sizeof(devices[0]), compare_addresses);
    intel->gpus = calloc(used > 0 ? (size_t)used : 1, sizeof(*intel->gpus));
    if (!intel->gpus)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    for (int i = 0; i < used && result == ZETA_PLUGIN_SUCCESS; i++)
        result = add_gpu(intel, devices[i], refusal);
    return result;
}

/*
 * Says what is wrong: a plugin of which no GPU has metrics fails with the first reason; beside one
 * that works the host shows the first reason. The others go to the log.
 */
static uint32_t conclude(const struct zeta_intel *intel, const struct refusal *refusal)
{
    const char *note = refusal->result != ZETA_PLUGIN_SUCCESS ? refusal->text : "";
    bool can_count = false;

    for (uint32_t i = 0; i < intel->gpu_count; i++)
        can_count = can_count || intel->gpus[i].no_metrics[0] == '\0';
    for (uint32_t i = can_count ? 0 : 1; i < intel->gpu_count; i++) {
        const struct zeta_intel_gpu *gpu = &intel->gpus[i];

        if (gpu->no_metrics[0] != '\0')
            zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN, "%s (%s) has no metrics: %s",
                          gpu->name, gpu->id, gpu->no_metrics);
    }
    if (note[0] != '\0' && intel->gpu_count > 0)
        zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN, "%s", note);
    if (!can_count && intel->gpu_count > 0)
        return zeta_host_fail(intel->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s (%s) has no metrics: %s",
                              intel->gpus[0].name, intel->gpus[0].id, intel->gpus[0].no_metrics);
    for (uint32_t i = 0; i < intel->gpu_count && note[0] == '\0'; i++)
        note = intel->gpus[i].no_metrics;
    for (uint32_t i = 0; i < intel->gpu_count && note[0] == '\0'; i++)
        note = intel->gpus[i].note;
    if (note[0] == '\0')
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(intel->host, can_count ? (uint32_t)ZETA_PLUGIN_SUCCESS : refusal->result,
                          "%s", note);
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
        refuse(intel, &refusal, ZETA_PLUGIN_NOT_AVAILABLE,
               "the GPUs in /dev/dri cannot be listed: %s%s", zeta_intel_errno(-count).text,
               count == -EMFILE || count == -ENFILE
                   ? "; close descriptors, or raise the limit: ulimit -n"
                   : "");
    result = add_gpus(intel, devices, count > 0 ? count : 0, &refusal);
    if (count > 0)
        drmFreeDevices(devices, count);
    free(devices);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    /* A GPU without a node, unless one whose node cannot be opened was noted before. */
    find_unbound(intel, &refusal);
    return conclude(intel, &refusal);
}
