/* stat and its kin, old names included; access. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/kmd/interpose/interpose.h"
#include "tests/kmd/interpose/path.h"
#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

enum { SYSFS_KIND = 0x62656572 };

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "stat has 64-bit members");
_Static_assert(sizeof(struct statfs) == sizeof(struct statfs64), "statfs has 64-bit members");

static int done(int result, struct stat *out_stat)
{
    if (result == 0)
        kmd_stat_node(out_stat);
    return result;
}

KMD_EXPORT int stat(const char *path, struct stat *out_stat)
{
    char buffer[PATH_MAX];

    return done(kmd_real()->stat(kmd_path(AT_FDCWD, path, buffer), out_stat), out_stat);
}

KMD_EXPORT int lstat(const char *path, struct stat *out_stat)
{
    char buffer[PATH_MAX];

    return done(kmd_real()->lstat(kmd_path(AT_FDCWD, path, buffer), out_stat), out_stat);
}

KMD_EXPORT int fstat(int fd, struct stat *out_stat)
{
    return done(kmd_real()->fstat(fd, out_stat), out_stat);
}

KMD_EXPORT int fstatat(int directory, const char *path, struct stat *out_stat, int flags)
{
    char buffer[PATH_MAX];

    return done(kmd_real()->fstatat(directory, kmd_path(directory, path, buffer), out_stat, flags),
                out_stat);
}

KMD_EXPORT int stat64(const char *path, struct stat64 *out_stat)
{
    return stat(path, (struct stat *)out_stat);
}

KMD_EXPORT int lstat64(const char *path, struct stat64 *out_stat)
{
    return lstat(path, (struct stat *)out_stat);
}

KMD_EXPORT int fstat64(int fd, struct stat64 *out_stat)
{
    return fstat(fd, (struct stat *)out_stat);
}

KMD_EXPORT int fstatat64(int directory, const char *path, struct stat64 *out_stat, int flags)
{
    return fstatat(directory, path, (struct stat *)out_stat, flags);
}

/* What programs call that were built before these functions were in libc.so. */
int __xstat(int version, const char *path, struct stat *out_stat);
int __lxstat(int version, const char *path, struct stat *out_stat);
int __fxstat(int version, int fd, struct stat *out_stat);
int __fxstatat(int version, int directory, const char *path, struct stat *out_stat, int flags);
int __xstat64(int version, const char *path, struct stat64 *out_stat);
int __lxstat64(int version, const char *path, struct stat64 *out_stat);
int __fxstat64(int version, int fd, struct stat64 *out_stat);
int __fxstatat64(int version, int directory, const char *path, struct stat64 *out_stat, int flags);

KMD_EXPORT int __xstat(int version, const char *path, struct stat *out_stat)
{
    (void)version;
    return stat(path, out_stat);
}

KMD_EXPORT int __lxstat(int version, const char *path, struct stat *out_stat)
{
    (void)version;
    return lstat(path, out_stat);
}

KMD_EXPORT int __fxstat(int version, int fd, struct stat *out_stat)
{
    (void)version;
    return fstat(fd, out_stat);
}

KMD_EXPORT int __fxstatat(int version, int directory, const char *path, struct stat *out_stat,
                          int flags)
{
    (void)version;
    return fstatat(directory, path, out_stat, flags);
}

KMD_EXPORT int __xstat64(int version, const char *path, struct stat64 *out_stat)
{
    return __xstat(version, path, (struct stat *)out_stat);
}

KMD_EXPORT int __lxstat64(int version, const char *path, struct stat64 *out_stat)
{
    return __lxstat(version, path, (struct stat *)out_stat);
}

KMD_EXPORT int __fxstat64(int version, int fd, struct stat64 *out_stat)
{
    return __fxstat(version, fd, (struct stat *)out_stat);
}

KMD_EXPORT int __fxstatat64(int version, int directory, const char *path, struct stat64 *out_stat,
                            int flags)
{
    return __fxstatat(version, directory, path, (struct stat *)out_stat, flags);
}

KMD_EXPORT int statx(int directory, const char *path, int flags, unsigned mask,
                     struct statx *out_stat)
{
    char buffer[PATH_MAX];
    struct stat status = {0};

    if (kmd_real()->statx(directory, kmd_path(directory, path, buffer), flags, mask, out_stat) != 0)
        return -1;
    status.st_dev = makedev(out_stat->stx_dev_major, out_stat->stx_dev_minor);
    status.st_ino = out_stat->stx_ino;
    status.st_mode = out_stat->stx_mode;
    kmd_stat_node(&status);
    out_stat->stx_mode = (uint16_t)status.st_mode;
    if (S_ISCHR(status.st_mode) && status.st_rdev != 0) {
        out_stat->stx_rdev_major = major(status.st_rdev);
        out_stat->stx_rdev_minor = minor(status.st_rdev);
    }
    return 0;
}

/* libudev believes in a device only when its folder is on sysfs. */
static void set_file_system(const char *path, struct statfs *out_stat)
{
    const size_t root = strlen(kmd_root());

    if (strncmp(path, kmd_root(), root) == 0 && strncmp(path + root, "/sys/", 5) == 0)
        out_stat->f_type = SYSFS_KIND;
}

KMD_EXPORT int statfs(const char *path, struct statfs *out_stat)
{
    char buffer[PATH_MAX];
    const char *used = kmd_path(AT_FDCWD, path, buffer);
    const int result = kmd_real()->statfs(used, out_stat);

    if (result == 0 && used == buffer)
        set_file_system(used, out_stat);
    return result;
}

KMD_EXPORT int fstatfs(int fd, struct statfs *out_stat)
{
    const int result = kmd_real()->fstatfs(fd, out_stat);
    char link[64];
    char path[PATH_MAX];
    ssize_t length;

    if (result != 0 || !kmd_shared())
        return result;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = kmd_real()->readlink(link, path, sizeof(path) - 1);
    if (length > 0) {
        path[length] = '\0';
        set_file_system(path, out_stat);
    }
    return result;
}

KMD_EXPORT int statfs64(const char *path, struct statfs64 *out_stat)
{
    return statfs(path, (struct statfs *)out_stat);
}

KMD_EXPORT int fstatfs64(int fd, struct statfs64 *out_stat)
{
    return fstatfs(fd, (struct statfs *)out_stat);
}

/* A node that is forbidden is there, but neither readable nor writable. */
static bool is_refused(const char *used, int mode)
{
    if (!used || (mode & (R_OK | W_OK)) == 0 || !kmd_path_is_forbidden(used))
        return false;
    errno = EACCES;
    return true;
}

KMD_EXPORT int access(const char *path, int mode)
{
    char buffer[PATH_MAX];
    const char *used = kmd_path(AT_FDCWD, path, buffer);

    return is_refused(used, mode) ? -1 : kmd_real()->access(used, mode);
}

KMD_EXPORT int faccessat(int directory, const char *path, int mode, int flags)
{
    char buffer[PATH_MAX];
    const char *used = kmd_path(directory, path, buffer);

    return is_refused(used, mode) ? -1 : kmd_real()->faccessat(directory, used, mode, flags);
}
