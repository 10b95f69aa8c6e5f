#include "core/util/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/cleanup.h"

int zeta_descriptor_pipe(int out_ends[2], int flags)
{
    if (pipe2(out_ends, flags) != 0)
        return -1;
    out_ends[0] = zeta_descriptor_raise(out_ends[0]);
    out_ends[1] = zeta_descriptor_raise(out_ends[1]);
    if (out_ends[0] >= 0 && out_ends[1] >= 0)
        return 0;
    zeta_closep(&out_ends[0]);
    zeta_closep(&out_ends[1]);
    errno = EMFILE;
    return -1;
}

static bool is_file(const struct stat *status, uint64_t device, uint64_t inode)
{
    return (uint64_t)status->st_dev == device && (uint64_t)status->st_ino == inode;
}

static int open_elsewhere(int pid, int descriptor, uint64_t device, uint64_t inode)
{
    struct stat status;
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, descriptor);
    if (stat(path, &status) != 0)
        return -1;
    int fd = -1;
    if (is_file(&status, device, inode)) {
        fd = zeta_descriptor_raise(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        if (fd < 0)
            return -1;
    }
    /* It may have changed between the two calls. */
    if (fd >= 0 && fstat(fd, &status) == 0 && is_file(&status, device, inode))
        return fd;
    zeta_closep(&fd);
    errno = ESTALE;
    return -1;
}

int zeta_descriptor_open_of(int pid, int descriptor, uint64_t device, uint64_t inode)
{
    struct stat status;
    int fd = open_elsewhere(pid, descriptor, device, inode);
    int error = errno;

    if (fd < 0 && fstat(descriptor, &status) == 0 && is_file(&status, device, inode))
        fd = zeta_descriptor_raise(fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    errno = error;
    return fd;
}
