#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "zeta-vgpu-trace"

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

bool zeta_vgpu_trace_file_create(struct zeta_vgpu_trace_file *file, uint64_t number,
                                 uint32_t places, struct zeta_vgpu_message *out_message)
{
    const struct zeta_vgpu_trace_header header = {
        .magic = ZETA_VGPU_TRACE_MAGIC, .number = number, .places = places};
    void *address;

    file->address = NULL;
    file->size_bytes = ring_offset(places, 0);
    file->descriptor = zeta_vgpu_shared_file_create(FILE_NAME, file->size_bytes);
    if (file->descriptor < 0 ||
        pwrite(file->descriptor, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
        return fail(file, "memory", out_message);
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

/* True if it is the file of that tracer and has the place. */
static bool check_file(int descriptor, const struct zeta_vgpu_trace_place *place)
{
    struct zeta_vgpu_trace_header header;
    struct stat status;

    return fstat(descriptor, &status) == 0 &&
           pread(descriptor, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
           header.magic == ZETA_VGPU_TRACE_MAGIC && header.number == place->number &&
           place->index < ZETA_VGPU_TRACE_PLACES &&
           (uint64_t)status.st_size >= ring_offset((uint64_t)place->index + 1, 0);
}

struct zeta_vgpu_trace_ring *zeta_vgpu_trace_ring_map(const struct zeta_vgpu_trace_place *place,
                                                      uint32_t slot)
{
    const int descriptor = zeta_vgpu_shared_file_open(place->pid, place->descriptor, FILE_NAME);
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
