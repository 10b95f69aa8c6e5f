#ifndef ZETA_PLUGINS_VGPU_MEMORY_SHARE_H
#define ZETA_PLUGINS_VGPU_MEMORY_SHARE_H

/*
 * Parts of the device's memory in other processes.
 *
 * A part is an extent from some page to its end. It goes out as a descriptor of the pool's file
 * with an open file description of its own. The description identifies the part by itself: its
 * position is the offset plus the kind of memory, and it holds a shared lock on exactly the bytes
 * of the extent. An import takes such a lock too, with a description that only its mapping keeps
 * open. So the owner sees from the locks whether somebody still has the extent, and an import sees
 * that it was freed: nobody has a lock then.
 */

#include <zeta/plugin.h>

#include "plugins/vgpu/engine/engine.h"
#include "pool.h"

/**
 * Makes a descriptor for an extent from a byte on that begins a page. The caller closes it.
 * Errors: OUT_OF_MEMORY (no descriptor, no /proc), with a message.
 */
enum zeta_vgpu_result zeta_vgpu_share_export(struct zeta_vgpu_pool *pool,
                                             struct zeta_vgpu_extent *extent, uint64_t start_bytes,
                                             uint32_t kind, struct zeta_vgpu_message *out_message,
                                             struct zeta_plugin_share *out_share);

/**
 * Checks what somebody gave us and takes the part: gives a descriptor whose description holds the
 * lock. size_bytes 0 in share: the descriptor identifies the part, and share is filled in.
 * Errors: INVALID_ARGUMENT with a message when it is no part of such a file, or was freed;
 * OUT_OF_MEMORY when there is no descriptor.
 */
enum zeta_vgpu_result zeta_vgpu_share_open(struct zeta_plugin_share *share,
                                           struct zeta_vgpu_message *out_message,
                                           int *out_descriptor);

#endif
