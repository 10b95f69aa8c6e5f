#ifndef ZETA_TESTS_KMD_REAL_H
#define ZETA_TESTS_KMD_REAL_H

/*
 * The functions of libc behind those that interpose*.c define: the next ones in the order of
 * symbols, so those of a sanitizer where there is one.
 */

#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <sys/uio.h>

struct kmd_real {
    int (*open)(const char *path, int flags, ...);
    int (*openat)(int directory, const char *path, int flags, ...);
    FILE *(*fopen)(const char *path, const char *mode);
    DIR *(*opendir)(const char *path);
    struct dirent *(*readdir)(DIR *directory);
    int (*scandir)(const char *path, struct dirent ***out_list,
                   int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **));
    int (*ioctl)(int fd, unsigned long request, ...);
    ssize_t (*read)(int fd, void *buffer, size_t bytes);
    ssize_t (*readv)(int fd, const struct iovec *parts, int count);
    void *(*mmap)(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
    int (*stat)(const char *path, struct stat *out_stat);
    int (*lstat)(const char *path, struct stat *out_stat);
    int (*fstat)(int fd, struct stat *out_stat);
    int (*fstatat)(int directory, const char *path, struct stat *out_stat, int flags);
    int (*statx)(int directory, const char *path, int flags, unsigned mask, struct statx *out_stat);
    int (*statfs)(const char *path, struct statfs *out_stat);
    int (*fstatfs)(int fd, struct statfs *out_stat);
    int (*access)(const char *path, int mode);
    int (*faccessat)(int directory, const char *path, int mode, int flags);
    ssize_t (*readlink)(const char *path, char *buffer, size_t bytes);
    ssize_t (*readlinkat)(int directory, const char *path, char *buffer, size_t bytes);
    char *(*realpath)(const char *path, char *resolved);
    int (*glob)(const char *pattern, int flags, int (*problem)(const char *, int), glob_t *out);
};

/** Whether the program has started: before, only the kernel itself can be called. */
bool kmd_real_is_ready(void);

/** All of them, found at the first call. */
const struct kmd_real *kmd_real(void);

#endif
