/* What is done with descriptors: ioctl, read, mmap. */

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/kmd/interpose/dispatch.h"
#include "tests/kmd/interpose/interpose.h"
#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

static long answer(long result)
{
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

KMD_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    void *argument;
    long result;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    if (kmd_shared() && kmd_dispatch_ioctl(fd, request, (uintptr_t)argument, &result))
        return (int)answer(result);
    return kmd_real()->ioctl(fd, request, argument);
}

KMD_EXPORT ssize_t read(int fd, void *buffer, size_t bytes)
{
    ssize_t result;

    if (kmd_shared() && kmd_dispatch_read(fd, (uintptr_t)buffer, bytes, &result))
        return answer(result);
    return kmd_real()->read(fd, buffer, bytes);
}

ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);

KMD_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
    if (bytes > room)
        abort();
    return read(fd, buffer, bytes);
}

/* As a kernel without a vectored read does: part after part, until one is not filled. */
KMD_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    ssize_t total = 0;

    for (int i = 0; kmd_shared() && i < count; i++) {
        ssize_t result;

        if (!kmd_dispatch_read(fd, (uintptr_t)parts[i].iov_base, parts[i].iov_len, &result))
            break;
        if (result < 0 && total == 0)
            return answer(result);
        total += result > 0 ? result : 0;
        if (result != (ssize_t)parts[i].iov_len || i == count - 1)
            return total;
    }
    return kmd_real()->readv(fd, parts, count);
}

static void *map(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *mapped = MAP_FAILED;
    int result;

    /* The runtime of a sanitizer calls this while it starts: nothing else works yet. */
    if (!kmd_real_is_ready())
        return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
    if (fd >= 0 && kmd_shared() &&
        kmd_dispatch_mmap(fd, address, bytes, protection, flags, offset, &mapped, &result))
        return answer(result) < 0 ? MAP_FAILED : mapped;
    return kmd_real()->mmap(address, bytes, protection, flags, fd, offset);
}

KMD_EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return map(address, bytes, protection, flags, fd, offset);
}

KMD_EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd,
                        off64_t offset)
{
    return map(address, bytes, protection, flags, fd, offset);
}
