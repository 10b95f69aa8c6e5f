#ifndef ZETA_PLUGINS_VGPU_QUEUE_COPY_H
#define ZETA_PLUGINS_VGPU_QUEUE_COPY_H

/*
 * The copy engine: moves bytes between addresses that nobody promised to be valid.
 *
 * Allocations of the device are copied directly. Every other address is memory of the application
 * (heap, stack) or wild; the kernel of the host moves those bytes and reports what is not mapped,
 * so a wild pointer is a fault of the device and never one of the process.
 */

#include <stdatomic.h>

#include <zeta/plugin.h>

#include "plugins/vgpu/engine/engine.h"

struct zeta_vgpu_space;

/** A copy in progress. */
struct zeta_vgpu_copy {
    struct zeta_vgpu_space *space;
    const atomic_bool *interrupt; /**< becomes true when it shall stop */
    uint64_t read_bytes;          /**< counted up while it works */
    uint64_t written_bytes;
    /** Hears while it works how far it is, some 100 KiB after the last time; NULL: nobody does. */
    void (*moved)(void *user, uint64_t read_bytes, uint64_t written_bytes);
    void *user;
    uint64_t told_bytes;              /**< written when it heard last */
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
