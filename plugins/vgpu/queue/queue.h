#ifndef ZETA_PLUGINS_VGPU_QUEUE_QUEUE_H
#define ZETA_PLUGINS_VGPU_QUEUE_QUEUE_H

/*
 * Command queues: software queues of the SDK whose commands run on the engine of a tile and on the
 * copy engine. A queue whose command faulted is lost; destroying it gives the device back.
 */

#include <zeta/plugin.h>

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

#endif
