/* open and its kin. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kmd/interpose/dispatch.h"
#include "tests/kmd/interpose/interpose.h"
#include "tests/kmd/interpose/path.h"
#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    char buffer[PATH_MAX];
    const char *used = kmd_path(directory, path, buffer);
    const int fd = kmd_real()->openat(directory, used, flags, mode);
    const int refused = fd >= 0 && (flags & O_PATH) == 0 ? kmd_dispatch_opened(fd) : 0;

    if (refused == 0)
        return fd;
    (void)close(fd);
    errno = -refused;
    return -1;
}

/* The mode is there only with these flags. */
#define TAKE_MODE(flags, mode)                                                                     \
    do {                                                                                           \
        if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) {                               \
            va_list list_;                                                                         \
            va_start(list_, flags);                                                                \
            (mode) = va_arg(list_, mode_t);                                                        \
            va_end(list_);                                                                         \
        }                                                                                          \
    } while (0)

KMD_EXPORT int open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    TAKE_MODE(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

KMD_EXPORT int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;

    TAKE_MODE(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

KMD_EXPORT int openat(int directory, const char *path, int flags, ...)
{
    mode_t mode = 0;

    TAKE_MODE(flags, mode);
    return open_at(directory, path, flags, mode);
}

KMD_EXPORT int openat64(int directory, const char *path, int flags, ...)
{
    mode_t mode = 0;

    TAKE_MODE(flags, mode);
    return open_at(directory, path, flags, mode);
}

/* What the headers make of calls without a mode in programs built with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);

KMD_EXPORT int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

KMD_EXPORT int __open64_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

KMD_EXPORT int __openat_2(int directory, const char *path, int flags)
{
    return open_at(directory, path, flags, 0);
}

KMD_EXPORT int __openat64_2(int directory, const char *path, int flags)
{
    return open_at(directory, path, flags, 0);
}

KMD_EXPORT FILE *fopen(const char *path, const char *mode)
{
    char buffer[PATH_MAX];

    return kmd_real()->fopen(kmd_path(AT_FDCWD, path, buffer), mode);
}

KMD_EXPORT FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

KMD_EXPORT DIR *opendir(const char *path)
{
    char buffer[PATH_MAX];

    return kmd_real()->opendir(kmd_path(AT_FDCWD, path, buffer));
}

/* Nodes are files in the tree. */
static void set_kind(DIR *directory, struct dirent *entry)
{
    struct stat status;

    if (!entry || !kmd_shared() || entry->d_type != DT_REG ||
        kmd_real()->fstat(dirfd(directory), &status) != 0)
        return;
    status.st_mode = S_IFREG;
    status.st_ino = entry->d_ino;
    kmd_stat_node(&status);
    if (S_ISCHR(status.st_mode))
        entry->d_type = DT_CHR;
}

KMD_EXPORT struct dirent *readdir(DIR *directory)
{
    struct dirent *entry = kmd_real()->readdir(directory);

    set_kind(directory, entry);
    return entry;
}

/* The same structure on the machines that this is for. */
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "dirent has 64-bit members");

KMD_EXPORT struct dirent64 *readdir64(DIR *directory)
{
    return (struct dirent64 *)readdir(directory);
}

KMD_EXPORT int scandir(const char *path, struct dirent ***out_list,
                       int (*filter)(const struct dirent *),
                       int (*compare)(const struct dirent **, const struct dirent **))
{
    char buffer[PATH_MAX];

    return kmd_real()->scandir(kmd_path(AT_FDCWD, path, buffer), out_list, filter, compare);
}

/* The pointers are to functions that take the other name of the same structure. */
KMD_EXPORT int scandir64(const char *path, struct dirent64 ***out_list,
                         int (*filter)(const struct dirent64 *),
                         int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    return scandir(path, (struct dirent ***)out_list, (int (*)(const struct dirent *))filter,
                   (int (*)(const struct dirent **, const struct dirent **))compare);
}

/* Matches in the tree, and shows what the program asked for. */
KMD_EXPORT int glob(const char *pattern, int flags, int (*problem)(const char *, int), glob_t *out)
{
    char buffer[PATH_MAX];
    const int result = kmd_real()->glob(kmd_path(AT_FDCWD, pattern, buffer), flags, problem, out);

    for (size_t i = 0; result == 0 && kmd_shared() && i < out->gl_pathc; i++) {
        char *found = out->gl_pathv[out->gl_offs * ((flags & GLOB_DOOFFS) != 0) + i];
        size_t length = strlen(found);

        (void)kmd_path_outside(found, &length);
    }
    return result;
}

_Static_assert(sizeof(glob_t) == sizeof(glob64_t), "glob_t has 64-bit members");

KMD_EXPORT int glob64(const char *pattern, int flags, int (*problem)(const char *, int),
                      glob64_t *out)
{
    return glob(pattern, flags, problem, (glob_t *)out);
}
