#include "core/util/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/util/cleanup.h"

int zeta_descriptor_raise(int fd)
{
    int raised;
    int error;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    raised = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    error = errno;
    (void)close(fd);
    errno = error;
    return raised;
}

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
