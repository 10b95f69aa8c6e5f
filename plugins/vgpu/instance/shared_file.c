#include "shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* A larger file would end the process with SIGXFSZ. */
static bool size_allowed(uint64_t size_bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size_bytes)
        return true;
    errno = EFBIG;
    return false;
}

int zeta_vgpu_shared_file_create(const char *name, uint64_t size_bytes)
{
    const int descriptor =
        zeta_descriptor_raise(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    int error;

    if (descriptor < 0)
        return -1;
    if (size_allowed(size_bytes) && fchmod(descriptor, 0600) == 0 &&
        ftruncate(descriptor, (off_t)size_bytes) == 0 && fcntl(descriptor, F_ADD_SEALS, SEALS) == 0)
        return descriptor;
    error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int zeta_vgpu_shared_file_open(uint32_t pid, uint32_t descriptor, const char *name)
{
    char path[64], target[128], expected[128];
    struct stat status;
    ssize_t length;
    int file;

    /* Where the links in /proc of such a file point. */
    snprintf(expected, sizeof(expected), "/memfd:%.80s (deleted)", name);
    snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, descriptor);
    length = readlink(path, target, sizeof(target));
    if (length != (ssize_t)strlen(expected) || memcmp(target, expected, (size_t)length) != 0)
        return -1;
    file = zeta_descriptor_raise(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid() && (fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}
