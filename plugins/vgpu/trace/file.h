#ifndef ZETA_PLUGINS_VGPU_TRACE_FILE_H
#define ZETA_PLUGINS_VGPU_TRACE_FILE_H

/*
 * The file of a tracer: a header, then for each place (tile and source) a ring per slot of the
 * instance. Private to this folder.
 *
 * A file without a name (memfd) that nobody can shrink, so no page of it ever vanishes under a
 * process. Its pages come with use. Writers open it by way of /proc and the descriptor that the
 * process with the tracer made known in the instance; it is gone with the last process that has it
 * mapped.
 *
 * A ring has one writing process and one reader. Nothing read from it is used as an index, a size
 * or an address: each side keeps its own position and takes the other's only to know how much
 * there is, which is checked.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/vgpu/instance/instance.h"
#include "trace.h"

/** Name of the file, as links in /proc show it. */
#define ZETA_VGPU_TRACE_FILE "zeta-vgpu-trace"
#define ZETA_VGPU_TRACE_MAGIC UINT64_C(0x6563617274) /* "trace" */

/** Events of a ring, a power of two: 8 MiB, some 20 ms of the fastest writer. */
#define ZETA_VGPU_TRACE_RING_EVENTS 131072u

/** Most places of a file. */
#define ZETA_VGPU_TRACE_PLACES (ZETA_VGPU_MAX_TILES * ZETA_VGPU_SOURCES)

struct zeta_vgpu_trace_ring {
    /**
     * Of the writer. While claim is 1 an event may come whose time is already fixed; after it was
     * seen as 0, events have times not before that.
     */
    _Alignas(4096) _Atomic uint64_t tail; /**< behind the newest; positions count up for ever */
    _Atomic uint64_t lost;                /**< events for which there was no room */
    _Atomic uint32_t claim;
    _Alignas(64) _Atomic uint64_t head; /**< of the reader: oldest event that it did not take */
    _Alignas(4096) struct zeta_vgpu_event events[ZETA_VGPU_TRACE_RING_EVENTS];
};

struct zeta_vgpu_trace_file {
    uint64_t magic;
    uint64_t number; /**< of the tracer */
    uint64_t places;
    struct zeta_vgpu_trace_ring rings[ZETA_VGPU_TRACE_PLACES][ZETA_VGPU_SLOTS]; /**< of places */
};

/** Bytes of a file with so many places. */
static inline uint64_t zeta_vgpu_trace_file_bytes(uint64_t places)
{
    return offsetof(struct zeta_vgpu_trace_file, rings) +
           places * ZETA_VGPU_SLOTS * sizeof(struct zeta_vgpu_trace_ring);
}

#endif
