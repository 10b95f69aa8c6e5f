/* Memory of the program, the sysctls, and what the caller may do. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/kmd/kmd_priv.h"
#include "tests/kmd/real.h"

/* The kernel checks the addresses, as it does for real calls, and a bad one harms nobody. */
int kmd_copy_in(void *to, uint64_t from, size_t bytes)
{
    struct iovec local = {.iov_base = to, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};

    if (bytes == 0)
        return 0;
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes ? 0 : -EFAULT;
}

int kmd_copy_out(uint64_t to, const void *from, size_t bytes)
{
    struct iovec local = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)to, .iov_len = bytes};

    if (bytes == 0)
        return 0;
    return process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes ? 0 : -EFAULT;
}

uint64_t kmd_sysctl(const char *name)
{
    const struct kmd_real *real = kmd_real();
    char path[PATH_MAX];
    char text[32] = "";
    ssize_t length;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/proc/sys/dev/%s", kmd_root(), name);
    fd = real->open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    length = real->read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    return length > 0 ? strtoull(text, NULL, 10) : 0;
}

bool kmd_is_capable(void)
{
    return kmd_shared()->is_privileged;
}

bool kmd_may_observe(const struct kmd_gpu *gpu)
{
    return kmd_is_capable() ||
           kmd_sysctl(gpu->is_xe ? "xe/observation_paranoid" : "i915/perf_stream_paranoid") == 0;
}

bool kmd_uuid_is_valid(const char text[36])
{
    for (int i = 0; i < 36; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text[i] != '-')
                return false;
        } else if (!isxdigit((unsigned char)text[i])) {
            return false;
        }
    }
    return true;
}
