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

/* Operations of struct zeta_plugin_compute_ops with the same names. */
uint32_t zeta_vgpu_queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_queue_desc *desc,
                                struct zeta_plugin_queue **out_queue);
void zeta_vgpu_queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue);
uint32_t zeta_vgpu_queue_submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                const struct zeta_plugin_array *commands, void *cookie);
uint32_t zeta_vgpu_queue_submit_here(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                     const struct zeta_plugin_array *commands, void *cookie);
void zeta_vgpu_queue_wake(struct zeta_plugin *self);
uint32_t zeta_vgpu_kernel_resident_groups(struct zeta_plugin *self,
                                          struct zeta_plugin_kernel *kernel,
                                          const uint32_t group_size[3], const void *arguments,
                                          uint64_t *out_groups);

/** Destroys the queues that the host left behind; what they had to do ends with DEVICE_LOST. */
void zeta_vgpu_queues_abandon(struct zeta_vgpu *vgpu);
uint32_t zeta_vgpu_queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue);

/*
 * Modules and kernels as the plugin interface knows them, on top of the engine's images.
 */

struct zeta_plugin_kernel {
    struct zeta_plugin_module *module;
    const struct zeta_vgpu_image *image;
    const struct zeta_vgpu_kernel *kernel;  /**< of the image */
    struct zeta_plugin_argument *arguments; /**< kernel->argument_count of them */
    uint8_t uuid[16];
};

/* Operations of struct zeta_plugin_compute_ops with the same names. */
uint32_t zeta_vgpu_module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 const struct zeta_plugin_module_desc *desc,
                                 const struct zeta_plugin_log_sink *log,
                                 struct zeta_plugin_module **out_module);
void zeta_vgpu_module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module);
uint32_t zeta_vgpu_module_kernel_names(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                       struct zeta_plugin_array *out_names);
uint32_t zeta_vgpu_module_native_image(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                       struct zeta_plugin_array *out_bytes);
uint32_t zeta_vgpu_module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                 struct zeta_plugin_string name, void **out_address,
                                 uint64_t *out_bytes);
uint32_t zeta_vgpu_module_function(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                   struct zeta_plugin_string name, void **out_address);
uint32_t zeta_vgpu_module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                  uint32_t kind, struct zeta_plugin_array *out_names);
uint32_t zeta_vgpu_module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                               const struct zeta_plugin_log_sink *log);
uint32_t zeta_vgpu_kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                 struct zeta_plugin_string name,
                                 struct zeta_plugin_kernel **out_kernel);
void zeta_vgpu_kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel);
uint32_t zeta_vgpu_kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                     struct zeta_plugin_kernel_properties *out_properties);
uint32_t zeta_vgpu_module_code(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint64_t *out_begin, uint64_t *out_end);
uint32_t zeta_vgpu_kernel_code(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                               uint64_t *out_begin);
uint32_t zeta_vgpu_kernel_image(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                struct zeta_plugin_array *out_bytes);

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
