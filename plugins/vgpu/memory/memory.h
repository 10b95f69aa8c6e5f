#ifndef ZETA_PLUGINS_VGPU_MEMORY_MEMORY_H
#define ZETA_PLUGINS_VGPU_MEMORY_MEMORY_H

/*
 * Allocations. Host, device and shared memory are all parts of one file (pool.h), mapped at one
 * address for host and kernels; what differs is what they are counted against. Memory of other
 * processes and of the application itself is in the same table.
 */

#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

struct zeta_vgpu_memory;
struct zeta_vgpu_pool;
struct zeta_vgpu_space;

/** Makes an empty table of parts of pool whose allocations appear in space. NULL without memory. */
struct zeta_vgpu_memory *zeta_vgpu_memory_create(struct zeta_vgpu_pool *pool,
                                                 struct zeta_vgpu_space *space);

/** Frees the table and every allocation left. NULL is allowed. */
void zeta_vgpu_memory_destroy(struct zeta_vgpu_memory *memory);

/**
 * The first bytes of [begin, end) that somebody has written to, or that are another's memory, of
 * which that is not known. Reading others would make the system provide them. False: there are
 * none. Any thread.
 * @base  where the range of the space begins that has them
 */
bool zeta_vgpu_memory_find_data(struct zeta_vgpu_memory *memory, uint64_t base, uint64_t begin,
                                uint64_t end, uint64_t *out_begin, uint64_t *out_end);

/* Operations of struct zeta_plugin_compute_ops with the same names. */
uint32_t zeta_vgpu_memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   const struct zeta_plugin_memory_desc *desc, void **out_address);
uint32_t zeta_vgpu_memory_free(struct zeta_plugin *self, void *address);
uint32_t zeta_vgpu_memory_export(struct zeta_plugin *self, void *base,
                                 struct zeta_plugin_share *out_share);
uint32_t zeta_vgpu_memory_import(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 struct zeta_plugin_share *share, void **out_address);
uint32_t zeta_vgpu_memory_adopt(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                                uint32_t access);
uint32_t zeta_vgpu_memory_unused(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 uint64_t *out_bytes);

/*
 * Virtual memory: reserved addresses, physical memory, mappings between them. Physical memory is a
 * part of the device's file (pool.h); a mapping is one of the system, with the protection that the
 * access asks for, and the same rights for kernels.
 */
uint64_t zeta_vgpu_virtual_page_bytes(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                      uint64_t size_bytes);
uint32_t zeta_vgpu_virtual_reserve(struct zeta_plugin *self, void *wanted, uint64_t size_bytes,
                                   void **out_address);
uint32_t zeta_vgpu_virtual_free(struct zeta_plugin *self, void *address, uint64_t size_bytes);
uint32_t zeta_vgpu_virtual_map(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                               struct zeta_plugin_physical *physical, uint64_t offset_bytes,
                               uint32_t access);
uint32_t zeta_vgpu_virtual_unmap(struct zeta_plugin *self, void *address, uint64_t size_bytes);
uint32_t zeta_vgpu_virtual_access(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                                  uint32_t access);
uint32_t zeta_vgpu_physical_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   uint32_t kind, uint64_t size_bytes,
                                   struct zeta_plugin_physical **out_physical);
void zeta_vgpu_physical_destroy(struct zeta_plugin *self, struct zeta_plugin_physical *physical);
uint32_t zeta_vgpu_physical_export(struct zeta_plugin *self, struct zeta_plugin_physical *physical,
                                   struct zeta_plugin_share *share);
uint32_t zeta_vgpu_physical_import(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   struct zeta_plugin_share *share,
                                   struct zeta_plugin_physical **out_physical);

#endif
