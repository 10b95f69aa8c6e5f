/*
 * The files of a machine. Links are relative and lead where those of a kernel lead; folders of
 * devices have the attributes that libdrm, libudev, the tools of igt and libzeta read.
 */

#include "tests/kmd/machine/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"

enum { VENDOR = 0x8086 };

struct place {
    const char *root;
    char directory[64]; /* of the device, below the root, with a slash before it */
    bool failed;
};

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
}

static void fail(struct place *place, const char *path)
{
    (void)fprintf(stderr, "kmd: %s cannot be written: %s\n", path, strerror(errno));
    place->failed = true;
}

/* Writes a file; name begins with a slash, from the root on. */
static void put(struct place *place, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put(struct place *place, const char *name, const char *format, ...)
{
    char path[PATH_MAX + 256];
    char text[512];
    va_list list;
    int length;
    int fd;

    va_start(list, format);
    length = vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    (void)snprintf(path, sizeof(path), "%s%s", place->root, name);
    make_parents(path);
    fd = kmd_real()->open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, (size_t)length) != length)
        fail(place, path);
    if (fd >= 0)
        (void)close(fd);
}

static void put_link(struct place *place, const char *name, const char *target)
{
    char path[PATH_MAX + 256];

    (void)snprintf(path, sizeof(path), "%s%s", place->root, name);
    make_parents(path);
    if (symlink(target, path) != 0 && errno != EEXIST)
        fail(place, path);
}

static void put_folder(struct place *place, const char *name)
{
    char path[PATH_MAX + 256];

    (void)snprintf(path, sizeof(path), "%s%s", place->root, name);
    make_parents(path);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        fail(place, path);
}

/* As put(), below the folder of the device. */
#define PUT_DEVICE(place, name, ...)                                                               \
    do {                                                                                           \
        char path_[256];                                                                           \
        (void)snprintf(path_, sizeof(path_), "%s%s", (place)->directory, name);                    \
        put(place, path_, __VA_ARGS__);                                                            \
    } while (0)

static void put_pci(struct place *place, const struct kmd_gpu *gpu)
{
    const char *driver = gpu->is_xe ? "xe" : "i915";
    char name[192];
    char target[128];

    PUT_DEVICE(place, "/vendor", "0x%04x\n", VENDOR);
    PUT_DEVICE(place, "/device", "0x%04x\n", gpu->pci_id);
    PUT_DEVICE(place, "/subsystem_vendor", "0x%04x\n", VENDOR);
    PUT_DEVICE(place, "/subsystem_device", "0x2212\n");
    PUT_DEVICE(place, "/revision", "0x%02x\n", gpu->revision);
    PUT_DEVICE(place, "/class", "0x030000\n");
    PUT_DEVICE(place, "/enable", "1\n");
    PUT_DEVICE(place, "/numa_node", "-1\n");
    PUT_DEVICE(place, "/modalias", "pci:v%08Xd%08Xsv%08Xsd%08Xbc03sc00i00\n", VENDOR, gpu->pci_id,
               VENDOR, 0x2212);
    PUT_DEVICE(place, "/uevent",
               "DRIVER=%s\nPCI_CLASS=30000\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:2212\n"
               "PCI_SLOT_NAME=%s\nMODALIAS=pci:v%08Xd%08Xsv%08Xsd%08Xbc03sc00i00\n",
               driver, VENDOR, gpu->pci_id, VENDOR, gpu->slot, VENDOR, gpu->pci_id, VENDOR, 0x2212);
    (void)snprintf(name, sizeof(name), "%s/subsystem", place->directory);
    put_link(place, name, "../../../bus/pci");
    (void)snprintf(name, sizeof(name), "%s/driver", place->directory);
    (void)snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
    put_link(place, name, target);
    (void)snprintf(name, sizeof(name), "/sys/bus/pci/devices/%s", gpu->slot);
    (void)snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s", gpu->slot);
    put_link(place, name, target);
    (void)snprintf(name, sizeof(name), "/sys/bus/pci/drivers/%s/%s", driver, gpu->slot);
    (void)snprintf(target, sizeof(target), "../../../../devices/pci0000:00/%s", gpu->slot);
    put_link(place, name, target);
}

/* A minor: its folder, its places in /sys/class and /sys/dev, and its node. */
static void put_minor(struct place *place, const struct kmd_gpu *gpu, bool is_render)
{
    const uint32_t minor = kmd_minor(gpu, is_render);
    char node[32];
    char folder[64];
    char name[160];
    char target[160];

    (void)snprintf(node, sizeof(node), "%s%u", is_render ? "renderD" : "card", minor);
    (void)snprintf(folder, sizeof(folder), "/drm/%s", node);
    (void)snprintf(name, sizeof(name), "%s/dev", folder);
    PUT_DEVICE(place, name, "226:%u\n", minor);
    (void)snprintf(name, sizeof(name), "%s/uevent", folder);
    PUT_DEVICE(place, name, "MAJOR=226\nMINOR=%u\nDEVNAME=dri/%s\nDEVTYPE=drm_minor\n", minor,
               node);
    (void)snprintf(name, sizeof(name), "%s%s/device", place->directory, folder);
    (void)snprintf(target, sizeof(target), "../../../%s", gpu->slot);
    put_link(place, name, target);
    (void)snprintf(name, sizeof(name), "%s%s/subsystem", place->directory, folder);
    put_link(place, name, "../../../../../class/drm");
    (void)snprintf(target, sizeof(target), "../../devices/pci0000:00/%s%s", gpu->slot, folder);
    (void)snprintf(name, sizeof(name), "/sys/class/drm/%s", node);
    put_link(place, name, target);
    (void)snprintf(name, sizeof(name), "/sys/dev/char/226:%u", minor);
    put_link(place, name, target);
    (void)snprintf(name, sizeof(name), "/dev/dri/%s", node);
    if (is_render || !gpu->has_render_node_only)
        put(place, name, "%s", "");
}

static void put_i915(struct place *place, const struct kmd_gpu *gpu)
{
    static const char *const of_card[] = {"gt_min_freq_mhz", "gt_max_freq_mhz", "gt_boost_freq_mhz",
                                          "gt_cur_freq_mhz", "gt_act_freq_mhz", "gt_RP0_freq_mhz",
                                          "gt_RP1_freq_mhz", "gt_RPn_freq_mhz"};
    static const char *const of_gt[] = {
        "rps_min_freq_mhz", "rps_max_freq_mhz", "rps_boost_freq_mhz", "rps_cur_freq_mhz",
        "rps_act_freq_mhz", "rps_RP0_freq_mhz", "rps_RP1_freq_mhz",   "rps_RPn_freq_mhz"};
    char name[128];

    for (size_t i = 0; i < sizeof(of_card) / sizeof(of_card[0]); i++) {
        const uint32_t mhz = i == 0 || i == 7 ? gpu->min_mhz : gpu->max_mhz;

        (void)snprintf(name, sizeof(name), "/drm/card%u/%s", gpu->index, of_card[i]);
        PUT_DEVICE(place, name, "%u\n", mhz);
        (void)snprintf(name, sizeof(name), "/drm/card%u/gt/gt0/%s", gpu->index, of_gt[i]);
        PUT_DEVICE(place, name, "%u\n", mhz);
    }
    (void)snprintf(name, sizeof(name), "/drm/card%u/gt/gt0/id", gpu->index);
    PUT_DEVICE(place, name, "0\n");
}

static void put_xe_gt(struct place *place, const struct kmd_gpu *gpu, uint32_t tile, uint32_t gt)
{
    static const char *const names[] = {"min_freq", "rpn_freq", "max_freq", "cur_freq",
                                        "act_freq", "rp0_freq", "rpe_freq"};
    char name[128];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(name, sizeof(name), "/tile%u/gt%u/freq0/%s", tile, gt, names[i]);
        PUT_DEVICE(place, name, "%u\n", i < 2 ? gpu->min_mhz : gpu->max_mhz);
    }
}

static void put_xe(struct place *place, const struct kmd_gpu *gpu)
{
    for (uint32_t tile = 0; tile < gpu->tiles; tile++)
        put_xe_gt(place, gpu, tile, tile);
    if (kmd_gpu_platform(gpu)->media)
        put_xe_gt(place, gpu, 0, gpu->tiles);
}

static void put_gpu(struct place *place, struct kmd_gpu *gpu)
{
    char name[192];

    (void)snprintf(place->directory, sizeof(place->directory), "/sys/devices/pci0000:00/%s",
                   gpu->slot);
    put_pci(place, gpu);
    put_minor(place, gpu, false);
    put_minor(place, gpu, true);
    if (gpu->is_xe)
        put_xe(place, gpu);
    else
        put_i915(place, gpu);
    (void)snprintf(name, sizeof(name), "%s/drm/card%u/metrics", place->directory, gpu->index);
    if (!gpu->has_no_metrics_folder && !gpu->has_no_oa)
        put_folder(place, name);
}

static uint64_t find_inode(const char *root, const char *node, uint32_t minor)
{
    char path[PATH_MAX];
    struct stat status;

    (void)snprintf(path, sizeof(path), "%s/dev/dri/%s%u", root, node, minor);
    return kmd_real()->stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* Integrated parts are where they always are, the others behind them. */
static void choose_slot(struct kmd_gpu *gpu)
{
    const bool has_vram = kmd_gpu_platform(gpu)->vram_bytes > 0;

    (void)snprintf(gpu->slot, sizeof(gpu->slot), "0000:%02x:%02x.0",
                   has_vram ? (3 + gpu->index) & 0xff : 0, has_vram ? 0 : (2 + gpu->index) & 0x1f);
}

bool kmd_tree_write(const char *root, struct kmd_shared *shared, bool is_paranoid,
                    uint32_t max_sample_rate)
{
    struct place place = {.root = root};

    put_folder(&place, "/streams");
    put_folder(&place, "/registers");
    put_folder(&place, "/dev/dri");
    put_folder(&place, "/sys/dev/char");
    put_folder(&place, "/sys/bus/pci/devices");
    put(&place, "/sys/class/drm/version", "drm 1.1.0 20060810\n");
    put(&place, "/sys/devices/pci0000:00/uevent", "%s", "");
    for (uint32_t i = 0; i < shared->gpu_count; i++) {
        struct kmd_gpu *gpu = &shared->gpus[i];

        choose_slot(gpu);
        put_gpu(&place, gpu);
        gpu->card_inode = find_inode(root, "card", kmd_minor(gpu, false));
        gpu->render_inode = find_inode(root, "renderD", kmd_minor(gpu, true));
        if (gpu->is_xe) {
            put(&place, "/proc/sys/dev/xe/observation_paranoid", "%d\n", is_paranoid);
        } else {
            put(&place, "/proc/sys/dev/i915/perf_stream_paranoid", "%d\n", is_paranoid);
            put(&place, "/proc/sys/dev/i915/oa_max_sample_rate", "%u\n", max_sample_rate);
        }
    }
    return !place.failed;
}
