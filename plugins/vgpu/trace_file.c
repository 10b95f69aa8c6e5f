#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#define FILE_NAME "zeta-vgpu-trace"

/* Where the links in /proc of such a file point. */
#define LINK_TARGET "/memfd:" FILE_NAME " (deleted)"

static uint64_t ring_offset(uint64_t place, uint64_t slot)
{
    return ZETA_VGPU_TRACE_HEADER_BYTES +
           (place * ZETA_VGPU_SLOTS + slot) * sizeof(struct zeta_vgpu_trace_ring);
}

static bool fail(struct zeta_vgpu_trace_file *file, const char *what,
                 struct zeta_vgpu_message *out_message)
{
    snprintf(out_message->text, sizeof(out_message->text),
             "the file for events cannot be made: %s: %s", what, strerror(errno));
    zeta_vgpu_trace_file_destroy(file);
    return false;
}

/* A larger file would end the process with SIGXFSZ. */
static bool size_allowed(uint64_t size_bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size_bytes)
        return true;
    errno = EFBIG;
    return false;
}

bool zeta_vgpu_trace_file_create(struct zeta_vgpu_trace_file *file, uint64_t number,
                                 uint32_t places, struct zeta_vgpu_message *out_message)
{
    const struct zeta_vgpu_trace_header header = {
        .magic = ZETA_VGPU_TRACE_MAGIC, .number = number, .places = places};
    void *address;

    file->address = NULL;
    file->size_bytes = ring_offset(places, 0);
    file->descriptor =
        zeta_plugin_descriptor_raise(memfd_create(FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file->descriptor < 0)
        return fail(file, "memfd_create", out_message);
    if (!size_allowed(file->size_bytes) || fchmod(file->descriptor, 0600) != 0 ||
        ftruncate(file->descriptor, (off_t)file->size_bytes) != 0 ||
        pwrite(file->descriptor, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        fcntl(file->descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return fail(file, "size and seals", out_message);
    address = mmap(NULL, file->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                   file->descriptor, 0);
    if (address == MAP_FAILED)
        return fail(file, "mmap", out_message);
    file->address = address;
    return true;
}

void zeta_vgpu_trace_file_destroy(struct zeta_vgpu_trace_file *file)
{
    if (file->address)
        munmap(file->address, file->size_bytes);
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->address = NULL;
    file->descriptor = -1;
}

struct zeta_vgpu_trace_ring *zeta_vgpu_trace_file_ring(const struct zeta_vgpu_trace_file *file,
                                                       uint32_t place, uint32_t slot)
{
    return (struct zeta_vgpu_trace_ring *)(void *)(file->address + ring_offset(place, slot));
}

/*
 * Opens what a process has at a descriptor, if that is the file of a tracer: opening anything else
 * could do something.
 */
static int open_file(const struct zeta_vgpu_trace_place *place)
{
    char path[64], target[sizeof(LINK_TARGET) + 1];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%u/fd/%u", place->pid, place->descriptor);
    length = readlink(path, target, sizeof(target));
    if (length != (ssize_t)strlen(LINK_TARGET) ||
        memcmp(target, LINK_TARGET, strlen(LINK_TARGET)) != 0)
        return -1;
    return zeta_plugin_descriptor_raise(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

/* True if it is the file of that tracer, has the place, and can never become shorter. */
static bool check_file(int descriptor, const struct zeta_vgpu_trace_place *place)
{
    struct zeta_vgpu_trace_header header;
    struct stat status;

    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
           (fcntl(descriptor, F_GET_SEALS) & F_SEAL_SHRINK) != 0 &&
           pread(descriptor, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
           header.magic == ZETA_VGPU_TRACE_MAGIC && header.number == place->number &&
           place->index < ZETA_VGPU_TRACE_PLACES &&
           (uint64_t)status.st_size >= ring_offset((uint64_t)place->index + 1, 0);
}

struct zeta_vgpu_trace_ring *zeta_vgpu_trace_ring_map(const struct zeta_vgpu_trace_place *place,
                                                      uint32_t slot)
{
    const int descriptor = open_file(place);
    void *address = MAP_FAILED;

    if (descriptor < 0)
        return NULL;
    if (check_file(descriptor, place))
        address =
            mmap(NULL, sizeof(struct zeta_vgpu_trace_ring), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_NORESERVE, descriptor, (off_t)ring_offset(place->index, slot));
    close(descriptor);
    return address == MAP_FAILED ? NULL : address;
}

void zeta_vgpu_trace_ring_unmap(struct zeta_vgpu_trace_ring *ring)
{
    if (ring)
        munmap(ring, sizeof(*ring));
}
