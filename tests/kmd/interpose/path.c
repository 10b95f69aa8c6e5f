#include "tests/kmd/interpose/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

enum { DRM_MAJOR = 226 };

/* The prefix itself or something below it. */
static bool is_below(const char *path, const char *prefix)
{
    const size_t length = strlen(prefix);

    return strncmp(path, prefix, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static bool is_always_ours(const char *path)
{
    static const char character[] = "/sys/dev/char/226:";

    return is_below(path, "/dev/dri") || is_below(path, "/sys/class/drm") ||
           strncmp(path, character, sizeof(character) - 1) == 0 ||
           is_below(path, "/sys/bus/pci/devices") || is_below(path, "/proc/sys/dev/i915") ||
           is_below(path, "/proc/sys/dev/xe") || is_below(path, "/proc/sys/kernel/cap_last_cap");
}

/* Shared by machine and host: each thing in it is looked up on its own. */
static bool is_common(const char *path)
{
    return strcmp(path, "/sys") == 0 || strcmp(path, "/sys/") == 0 ||
           strcmp(path, "/sys/devices") == 0 || strcmp(path, "/sys/devices/") == 0;
}

static const char *lead(const char *path, char buffer[PATH_MAX])
{
    const bool always = is_always_ours(path);
    int length;

    if (!always && (strncmp(path, "/sys/", 5) != 0 || is_common(path)))
        return path;
    length = snprintf(buffer, PATH_MAX, "%s%s", kmd_root(), path);
    if (length < 0 || length >= PATH_MAX)
        return path;
    if (always || kmd_real()->faccessat(AT_FDCWD, buffer, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return buffer;
    return path;
}

/* Path of a directory descriptor that is not in the tree; false: it is, or it cannot be found. */
static bool find_directory(int directory, char out_path[PATH_MAX])
{
    const size_t root = strlen(kmd_root());
    char link[64];
    ssize_t length;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
    length = kmd_real()->readlink(link, out_path, PATH_MAX - 1);
    if (length <= 0)
        return false;
    out_path[length] = '\0';
    return out_path[0] == '/' && !(strncmp(out_path, kmd_root(), root) == 0 &&
                                   (out_path[root] == '/' || out_path[root] == '\0'));
}

const char *kmd_path(int directory, const char *path, char buffer[PATH_MAX])
{
    char base[PATH_MAX];
    char whole[PATH_MAX];
    const char *used;

    if (!path || !kmd_shared())
        return path;
    if (path[0] == '/')
        return lead(path, buffer);
    if (path[0] == '\0' || directory == AT_FDCWD || !find_directory(directory, base))
        return path;
    if (snprintf(whole, sizeof(whole), "%s/%s", strcmp(base, "/") == 0 ? "" : base, path) >=
        (int)sizeof(whole))
        return path;
    used = lead(whole, buffer);
    return used == whole ? path : used;
}

/* A descriptor of the kernel's has a name, no path. */
static bool name_stream(char *path, size_t *length)
{
    const char *number = strrchr(path, '/') + 1;
    const unsigned long long serial = strtoull(number, NULL, 10);
    struct kmd_shared *shared = kmd_shared();

    for (uint32_t i = 0; i < shared->gpu_count; i++) {
        for (uint32_t k = 0; k < shared->gpus[i].unit_count; k++) {
            const struct kmd_unit *unit = &shared->gpus[i].units[k];
            const char *name = !shared->gpus[i].is_xe            ? "anon_inode:[i915_perf]"
                               : unit->kind == KMD_UNIT_EU_STALL ? "anon_inode:[xe_eu_stall]"
                                                                 : "anon_inode:[xe_oa]";

            if (unit->stream.serial != serial)
                continue;
            if (strlen(name) > *length)
                return false;
            *length = strlen(name);
            memcpy(path, name, *length + 1);
            return true;
        }
    }
    return false;
}

bool kmd_path_outside(char *path, size_t *length)
{
    const size_t root = kmd_shared() ? strlen(kmd_root()) : 0;

    if (root == 0 || *length <= root || strncmp(path, kmd_root(), root) != 0 || path[root] != '/')
        return false;
    path[*length] = '\0';
    if (strncmp(path + root, "/streams/", 9) == 0 && name_stream(path, length))
        return true;
    memmove(path, path + root, *length - root + 1);
    *length -= root;
    return true;
}

void kmd_stat_node(struct stat *status)
{
    uint32_t minor;

    if (!kmd_shared() || !S_ISREG(status->st_mode) ||
        !kmd_gpu_of_inode(status->st_dev, status->st_ino, &minor))
        return;
    status->st_mode = S_IFCHR | 0666;
    status->st_rdev = makedev(DRM_MAJOR, minor);
}

bool kmd_path_is_forbidden(const char *used)
{
    const size_t root = kmd_shared() ? strlen(kmd_root()) : 0;

    return root > 0 && kmd_shared()->node_is_forbidden && strncmp(used, kmd_root(), root) == 0 &&
           strncmp(used + root, "/dev/dri/", 9) == 0;
}
