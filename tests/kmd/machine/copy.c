/* Memory of the program, the sysctls, and what the caller may do. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/kmd_priv.h"

/*
 * The kernel checks the addresses, as it does for real calls, and a bad one harms nobody. Where a
 * container forbids the first way, the memory is a file.
 */
static bool copy_as_file(void *own, uint64_t other, size_t bytes, bool is_out)
{
    const int fd = kmd_real()->open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    ssize_t done;

    if (fd < 0)
        return false;
    done = is_out ? pwrite(fd, own, bytes, (off_t)other) : pread(fd, own, bytes, (off_t)other);
    (void)close(fd);
    return done == (ssize_t)bytes;
}

static int copy(void *own, uint64_t other, size_t bytes, bool is_out)
{
    struct iovec local = {.iov_base = own, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)other, .iov_len = bytes};
    ssize_t done;

    if (bytes == 0)
        return 0;
    done = is_out ? process_vm_writev(getpid(), &local, 1, &remote, 1, 0)
                  : process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (done < 0 && (errno == EPERM || errno == ENOSYS))
        return copy_as_file(own, other, bytes, is_out) ? 0 : -EFAULT;
    return done == (ssize_t)bytes ? 0 : -EFAULT;
}

int kmd_copy_in(void *to, uint64_t from, size_t bytes)
{
    return copy(to, from, bytes, false);
}

int kmd_copy_out(uint64_t to, const void *from, size_t bytes)
{
    return copy((void *)(uintptr_t)from, to, bytes, true);
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
