/* Streams: FIFOs whose level says "readable" and whose lock says "in use". */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

enum { FIRST_CONTEXT = 0x20 };

static void stream_path(const struct kmd_stream *stream, char *out_path, size_t bytes)
{
    (void)snprintf(out_path, bytes, "%s/streams/%llu", kmd_root(),
                   (unsigned long long)stream->serial);
}

static int open_fifo(const struct kmd_stream *stream, int flags)
{
    char path[PATH_MAX];

    stream_path(stream, path, sizeof(path));
    return kmd_real()->open(path, O_RDWR | flags);
}

bool kmd_stream_is_alive(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;
    char path[PATH_MAX];
    bool alive;
    int fd;

    (void)gpu;
    if (!stream->is_open)
        return false;
    fd = open_fifo(stream, O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        /* Out of descriptors says nothing about the stream. */
        alive = errno != ENOENT;
    else
        alive = flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (!alive) {
        stream_path(stream, path, sizeof(path));
        (void)unlink(path);
        stream->is_open = stream->enabled = false;
        atomic_store(&stream->inode, 0);
    }
    if (fd >= 0)
        (void)close(fd);
    return alive;
}

bool kmd_unit_is_busy(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    return kmd_stream_is_alive(gpu, unit);
}

/* Makes the FIFO with its lock. The descriptor or a negative errno. */
static int make_fifo(const struct kmd_stream *stream, int flags, uint64_t *out_inode)
{
    char path[PATH_MAX];
    struct stat status;
    int fd;

    stream_path(stream, path, sizeof(path));
    if (mkfifo(path, 0600) != 0)
        return -errno;
    fd = open_fifo(stream, flags & (O_CLOEXEC | O_NONBLOCK));
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || kmd_real()->fstat(fd, &status) != 0) {
        const int error = errno;

        (void)unlink(path);
        if (fd >= 0)
            (void)close(fd);
        return -error;
    }
    *out_inode = status.st_ino;
    return fd;
}

int kmd_stream_make(struct kmd_call *call, struct kmd_unit *unit, int flags)
{
    struct kmd_gpu *gpu = call->gpu;
    struct kmd_stream *stream = &unit->stream;
    uint64_t inode = 0;
    int fd;

    memset(stream, 0, sizeof(*stream));
    stream->serial = atomic_fetch_add(&kmd_shared()->next_serial, 1) + 1;
    fd = make_fifo(stream, flags, &inode);
    if (fd < 0)
        return fd;
    stream->pid = getpid();
    stream->poll_ns = 5000000;
    stream->ring_bytes = 16u << 20;
    stream->context = FIRST_CONTEXT;
    stream->lose = gpu->fault_lose;
    stream->short_reads = gpu->fault_short_reads;
    gpu->fault_lose = 0;
    stream->is_open = true;
    atomic_store(&stream->inode, inode);
    call->made = unit;
    kmd_count(gpu, KMD_STAT_STREAMS_OPENED, 1);
    return fd;
}

void kmd_stream_set_readable(struct kmd_gpu *gpu, struct kmd_unit *unit, int fd, bool readable)
{
    struct kmd_stream *stream = &unit->stream;
    int own = fd;
    int pending = 0;
    char byte = 0;

    (void)gpu;
    if (stream->readable == readable)
        return;
    if (own < 0)
        own = open_fifo(stream, O_NONBLOCK | O_CLOEXEC);
    if (own < 0)
        return;
    if (readable) {
        stream->readable = write(own, &byte, 1) == 1;
    } else {
        /* The descriptor may block, so never read what is not there. */
        if (kmd_real()->ioctl(own, FIONREAD, &pending) == 0 && pending > 0)
            (void)kmd_real()->read(own, &byte, 1);
        stream->readable = false;
    }
    if (own != fd)
        (void)close(own);
}

void kmd_stream_tick(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    const struct kmd_stream *stream = &unit->stream;

    if (kmd_gpu_driver(gpu)->stream_look(gpu, unit) || stream->false_polls > 0 ||
        atomic_load(&gpu->is_unplugged))
        kmd_stream_set_readable(gpu, unit, -1, true);
}
