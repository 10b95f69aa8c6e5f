#include "tests/kmd/interpose/dispatch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

enum { DRM_TYPE = 'd' };
static const unsigned long ioctl_version = 0xc0406400;

/* The GPU or the stream behind a descriptor; false: neither. */
static bool find_target(int fd, struct kmd_call *out_call)
{
    struct stat status;
    uint32_t minor;

    *out_call = (struct kmd_call){.fd = fd};
    if (!kmd_shared() || kmd_real()->fstat(fd, &status) != 0)
        return false;
    if (S_ISREG(status.st_mode))
        out_call->gpu = kmd_gpu_of_inode(status.st_dev, status.st_ino, &minor);
    else if (S_ISFIFO(status.st_mode))
        out_call->unit = kmd_unit_of_inode(status.st_dev, status.st_ino, &out_call->gpu);
    return out_call->gpu != NULL;
}

/* DRM_IOCTL_VERSION: copies as much of each string as there is room for, answers lengths. */
static long get_version(const struct kmd_gpu *gpu, uint64_t argument)
{
    struct {
        int32_t major, minor, patch, pad;
        struct {
            uint64_t length, text;
        } strings[3];
    } version;
    const char *const texts[3] = {gpu->is_xe ? "xe" : "i915", gpu->is_xe ? "20201103" : "20230929",
                                  gpu->is_xe ? "Intel Xe2 Graphics" : "Intel Graphics"};

    if (kmd_copy_in(&version, argument, sizeof(version)) != 0)
        return -EFAULT;
    version.major = 1;
    version.minor = gpu->is_xe ? 1 : 6;
    version.patch = 0;
    for (int i = 0; i < 3; i++) {
        const uint64_t room = version.strings[i].length;
        const uint64_t length = strlen(texts[i]);

        version.strings[i].length = length;
        if (room > 0 && version.strings[i].text != 0 &&
            kmd_copy_out(version.strings[i].text, texts[i], room < length ? room : length) != 0)
            return -EFAULT;
    }
    return kmd_copy_out(argument, &version, sizeof(version));
}

static long call_driver(struct kmd_call *call, unsigned long request, uint64_t argument)
{
    const struct kmd_driver *driver = kmd_gpu_driver(call->gpu);

    if (atomic_load(&call->gpu->is_unplugged))
        return -ENODEV;
    if (call->unit)
        return driver->stream_ioctl(call, request, argument);
    if (((request >> 8) & 0xff) != DRM_TYPE)
        return -ENOTTY;
    if (request == ioctl_version)
        return get_version(call->gpu, argument);
    return driver->ioctl(call, request, argument);
}

static void sleep_us(uint32_t us)
{
    const struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000l};

    if (us > 0)
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

bool kmd_dispatch_ioctl(int fd, unsigned long request, uint64_t argument, long *out_result)
{
    struct kmd_call call;
    long result;

    if (!find_target(fd, &call))
        return false;
    kmd_lock(call.gpu);
    result = call_driver(&call, request, argument);
    if (result == -EINVAL || result == -EFAULT || result == -ENOTTY)
        kmd_count(call.gpu, KMD_STAT_BAD_CALLS, 1);
    kmd_unlock(call.gpu);
    sleep_us(call.sleep_us);
    if (call.unit || call.made)
        kmd_ticker_add(call.gpu, call.unit ? call.unit : call.made);
    *out_result = result;
    return true;
}

/* One attempt, with the faults that all drivers have. The lock is held. */
static ssize_t try_read(struct kmd_call *call, uint64_t buffer, size_t bytes)
{
    struct kmd_stream *stream = &call->unit->stream;
    const uint32_t error = stream->read_errno;

    if (atomic_load(&call->gpu->is_unplugged))
        return -ENODEV;
    if (error != 0) {
        if ((error & KMD_LASTING) == 0)
            stream->read_errno = 0;
        return -(ssize_t)(error & ~KMD_LASTING);
    }
    if (stream->false_polls > 0) {
        stream->false_polls--;
        kmd_stream_set_readable(call->gpu, call->unit, call->fd, false);
        return -EAGAIN;
    }
    return kmd_gpu_driver(call->gpu)->stream_read(call, buffer, bytes);
}

static uint64_t thread_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* An attempt under the lock, and what it costs: so that benchmarks know whose the time is. */
static ssize_t read_once(struct kmd_call *call, uint64_t buffer, size_t bytes)
{
    const uint64_t begin_ns = thread_ns();
    ssize_t result;

    kmd_lock(call->gpu);
    result = try_read(call, buffer, bytes);
    kmd_count(call->gpu, KMD_STAT_READ_NS, thread_ns() - begin_ns);
    kmd_unlock(call->gpu);
    return result;
}

bool kmd_dispatch_read(int fd, uint64_t buffer, size_t bytes, ssize_t *out_result)
{
    struct kmd_call call;

    if (!find_target(fd, &call) || !call.unit)
        return false;
    kmd_ticker_add(call.gpu, call.unit);
    for (;;) {
        struct pollfd readable = {.fd = fd, .events = POLLIN};

        call.is_blocking = (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
        *out_result = read_once(&call, buffer, bytes);
        if (*out_result != -EAGAIN || !call.is_blocking)
            return true;
        if (poll(&readable, 1, -1) < 0) {
            *out_result = -errno;
            return true;
        }
    }
}

bool kmd_dispatch_mmap(int fd, void *address, size_t bytes, int protection, int flags,
                       int64_t offset, void **out_address, int *out_result)
{
    const struct kmd_driver *driver;
    struct kmd_call call;

    if (fd < 0 || !find_target(fd, &call))
        return false;
    driver = kmd_gpu_driver(call.gpu);
    *out_result = -ENODEV;
    if (call.unit && driver->stream_mmap && !atomic_load(&call.gpu->is_unplugged)) {
        kmd_lock(call.gpu);
        *out_result =
            driver->stream_mmap(&call, address, bytes, protection, flags, offset, out_address);
        kmd_unlock(call.gpu);
    }
    return true;
}

int kmd_dispatch_opened(int fd)
{
    struct kmd_call call;

    if (!find_target(fd, &call) || call.unit)
        return 0;
    if (kmd_shared()->node_is_forbidden)
        return -EACCES;
    return atomic_load(&call.gpu->is_unplugged) ? -ENODEV : 0;
}
