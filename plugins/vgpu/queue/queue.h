#ifndef ZETA_PLUGINS_VGPU_QUEUE_QUEUE_H
#define ZETA_PLUGINS_VGPU_QUEUE_QUEUE_H

/*
 * Command queues: software queues of the SDK whose commands run on the engine of a tile and on the
 * copy engine. A queue whose command faulted is lost; destroying it gives the device back.
 */

#include <stdatomic.h>
#include <zeta/plugin.h>

#include "plugins/vgpu/engine/engine.h"

struct zeta_vgpu;

/** Ordinals of the queue groups. */
enum { ZETA_VGPU_QUEUES_COMPUTE, ZETA_VGPU_QUEUES_COPY, ZETA_VGPU_QUEUES_COUNT };

/** Queues of each group. */
#define ZETA_VGPU_COMPUTE_QUEUES 4u
#define ZETA_VGPU_COPY_QUEUES 2u

/** Longest pattern of a fill; every allocation is aligned to it. */
#define ZETA_VGPU_PATTERN_BYTES 4096u

/** The operations of compute: modules, kernels and queues, and memory. */
extern const struct zeta_plugin_compute_ops zeta_vgpu_compute_ops;

/** Destroys the queues that the host left behind; what they had to do ends with DEVICE_LOST. */
void zeta_vgpu_queues_abandon(struct zeta_vgpu *vgpu);

/*
 * The copy engine: moves bytes between addresses that nobody promised to be valid.
 *
 * Allocations of the device are copied directly. Every other address is memory of the application
 * (heap, stack) or wild; the kernel of the host moves those bytes and reports what is not mapped,
 * so a wild pointer is a fault of the device and never one of the process.
 */

struct zeta_vgpu_space;

/** A copy in progress. */
struct zeta_vgpu_copy {
    struct zeta_vgpu_space *space;
    const atomic_bool *interrupt; /**< becomes true when it shall stop */
    uint64_t read_bytes;          /**< counted up while it works */
    uint64_t written_bytes;
    /** Called every 100 KiB or so with the progress; may be NULL. */
    void (*moved)(void *user, uint64_t read_bytes, uint64_t written_bytes);
    void *user;
    uint64_t reported_bytes;          /**< written at the last call */
    struct zeta_vgpu_message message; /**< of a fault */
    const void *fault_address;        /**< what may not be touched */
};

/**
 * Copies size_bytes.
 * Errors: FAULT with a message that names the address; INTERRUPTED.
 */
enum zeta_vgpu_result zeta_vgpu_copy_bytes(struct zeta_vgpu_copy *copy, void *target,
                                           const void *source, uint64_t size_bytes);

/** Copies a box of bytes; errors as above. */
enum zeta_vgpu_result zeta_vgpu_copy_region(struct zeta_vgpu_copy *copy,
                                            const struct zeta_plugin_copy_region *region);

/**
 * Repeats a pattern, the last time perhaps only a part of it. The pattern itself is trusted.
 * Errors as above, OUT_OF_MEMORY, INVALID_ARGUMENT for an empty pattern.
 */
enum zeta_vgpu_result zeta_vgpu_copy_fill(struct zeta_vgpu_copy *copy,
                                          const struct zeta_plugin_fill *fill);

#endif
