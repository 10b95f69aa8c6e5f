#ifndef ZETA_PLUGINS_VGPU_MEMORY_H
#define ZETA_PLUGINS_VGPU_MEMORY_H

/*
 * Allocations. Host, device and shared memory are all memory of the process at the same address on
 * both sides; what differs is what they are counted against.
 */

#include <zeta/plugin.h>

struct zeta_vgpu_memory;
struct zeta_vgpu_space;

/**
 * Makes an empty table whose allocations appear in space.
 * @device_bytes  what device and shared allocations may take together
 * NULL without memory.
 */
struct zeta_vgpu_memory *zeta_vgpu_memory_create(struct zeta_vgpu_space *space,
                                                 uint64_t device_bytes);

/** Frees the table and every allocation left. NULL is allowed. */
void zeta_vgpu_memory_destroy(struct zeta_vgpu_memory *memory);

/** memory_allocate of struct zeta_plugin_compute_ops. */
uint32_t zeta_vgpu_memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   const struct zeta_plugin_memory_desc *desc, void **out_address);

/** memory_free of struct zeta_plugin_compute_ops. */
uint32_t zeta_vgpu_memory_free(struct zeta_plugin *self, void *address);

#endif
