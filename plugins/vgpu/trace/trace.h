#ifndef ZETA_PLUGINS_VGPU_TRACE_TRACE_H
#define ZETA_PLUGINS_VGPU_TRACE_TRACE_H

/*
 * Events of the device and tracers of them.
 *
 *   writer.c  what becomes an event, and the ring of a tracer that this process writes it to
 *   file.h    the file with these rings, which the process with the tracer makes
 *   tracer.c  in that process: all rings into one, in the order of time, and the tracer
 *
 * The process with a tracer makes a file in memory with a ring for each process, tile and source.
 * A writer waits a little for room, in case the reader lacks a CPU. An event for which there is no
 * room then is lost, and the next one carries their number.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/instance/instance.h"

struct zeta_vgpu;
struct zeta_vgpu_trace_ring;

/** Types of events, as in metrics/events.yaml. */
enum zeta_vgpu_event_type {
    ZETA_VGPU_EVENT_TYPE_ENABLED = 1,
    ZETA_VGPU_EVENT_TYPE_DISABLED = 2,
    ZETA_VGPU_EVENT_TYPE_KERNEL_BEGIN = 3,
    ZETA_VGPU_EVENT_TYPE_KERNEL_END = 4,
    ZETA_VGPU_EVENT_TYPE_GROUP_BEGIN = 5,
    ZETA_VGPU_EVENT_TYPE_GROUP_END = 6,
    ZETA_VGPU_EVENT_TYPE_BARRIER = 7,
    ZETA_VGPU_EVENT_TYPE_COPY_BEGIN = 8,
    ZETA_VGPU_EVENT_TYPE_COPY_END = 9,
    ZETA_VGPU_EVENT_TYPE_MARKER = 10,
    ZETA_VGPU_EVENT_TYPE_FAULT = 11
};

/** An event record; little endian. */
struct zeta_vgpu_event {
    uint16_t type; /**< enum zeta_vgpu_event_type */
    uint8_t tile;
    uint8_t subslice; /**< of groups, barriers and faults, counts over slices; else 255 */
    uint32_t lost;    /**< in shared rings: events of the ring lost so far, cut; else 0 */
    uint64_t ticks;   /**< unmasked */
    uint32_t process;
    uint32_t context; /**< id of the queue, as in reports */
    uint64_t object;  /**< kernels, groups, barriers, faults: address of the kernel's code;
                           copies: target; markers: token of the stream, 0 for all */
    uint32_t x, y, z; /**< kernels: numbers of groups; groups, barriers, faults: id of the group */
    uint32_t detail;  /**< kernels: work-items of a group; barriers: work-items that waited;
                           copies: 0 copy, 1 region, 2 fill; faults: reason, 0 of a copy */
    uint64_t value;   /**< kernels, groups, barriers: number of the launch in the process; copies:
                           bytes, at the end those that were written; markers: value;
                           faults: address of the access */
    uint64_t extra;   /**< copies: source, 0 for fills; faults: program counter */
};

#define ZETA_VGPU_EVENT_BYTES 64u
_Static_assert(sizeof(struct zeta_vgpu_event) == ZETA_VGPU_EVENT_BYTES, "record of a tracer");

/** Way from one tile of this process to the tracer of a source. */
struct zeta_vgpu_trace_link {
    pthread_mutex_t lock; /**< guards the rest; a leaf; one event is written at a time */
    uint64_t number;      /**< of the tracer, 0: none */
    struct zeta_vgpu_trace_ring *ring; /**< NULL: that one cannot be reached */
    uint64_t tail;
    uint64_t lost;
    uint64_t last_ticks;
    uint32_t process;
    bool gave_up; /**< waited for room in vain while the reader stood at gave_up_head */
    uint64_t gave_up_head;
};

/** The events of a tile. */
struct zeta_vgpu_trace_writer {
    struct zeta_vgpu *vgpu;
    uint32_t tile;
    struct zeta_vgpu_trace_link links[ZETA_VGPU_SOURCES];
    atomic_bool linked; /**< some ring is mapped */

    /* The running launch; written before it begins, by the thread that launches. */
    const struct zeta_vgpu_launch *launch;
    uint64_t launch_number;
    uint32_t context;
};

void zeta_vgpu_trace_writer_init(struct zeta_vgpu_trace_writer *writer, struct zeta_vgpu *vgpu,
                                 uint32_t tile);

/** Gives up rings: no event is written any more, or, in a child of fork(), by the parent only. */
void zeta_vgpu_trace_writer_finish(struct zeta_vgpu_trace_writer *writer);
void zeta_vgpu_trace_writer_abandon(struct zeta_vgpu_trace_writer *writer);

/** Gives up the rings of tracers that are gone. Between commands; one load when there are none. */
void zeta_vgpu_trace_rest(struct zeta_vgpu_trace_writer *writer);

/** A launch begins: events of the engine are about this one. */
void zeta_vgpu_trace_launch(struct zeta_vgpu_trace_writer *writer,
                            const struct zeta_vgpu_launch *launch, uint32_t context);

/** The engine reports an event of the running launch. Several threads at a time. */
void zeta_vgpu_trace_engine_event(struct zeta_vgpu_trace_writer *writer,
                                  const struct zeta_vgpu_engine_event *event);

/** A copy, region or fill begins (COPY_BEGIN), or ended after it wrote so many bytes (COPY_END).
 * plain: of a copy, with its indirection resolved. */
void zeta_vgpu_trace_copy(struct zeta_vgpu_trace_writer *writer, enum zeta_vgpu_event_type type,
                          uint32_t context, const struct zeta_plugin_command *command,
                          const struct zeta_plugin_copy *plain, uint64_t written_bytes);

/** A copy met an address that it may not touch. */
void zeta_vgpu_trace_copy_fault(struct zeta_vgpu_trace_writer *writer, uint32_t context,
                                const void *address);

/** A marker was set; token of the stream that it is for, 0 for all. */
void zeta_vgpu_trace_marker(struct zeta_vgpu_trace_writer *writer, uint32_t context, uint64_t value,
                            uint64_t token);

/** Closes the tracers that the host left behind. */
void zeta_vgpu_tracers_abandon(struct zeta_vgpu *vgpu);

/** In a child of fork(): gives up files and mappings of the parent's tracers. */
void zeta_vgpu_tracers_forget(struct zeta_vgpu *vgpu);

extern const struct zeta_plugin_tracer_ops zeta_vgpu_tracer_ops;

#endif
