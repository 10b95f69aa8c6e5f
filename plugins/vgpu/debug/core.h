#ifndef ZETA_PLUGINS_VGPU_DEBUG_CORE_H
#define ZETA_PLUGINS_VGPU_DEBUG_CORE_H

/*
 * Core dumps: a file with the threads and the memory that a fault has left, for
 * "gdb-multiarch --core=FILE" (sdk/doc/core-dumps.md).
 */

#include "plugins/vgpu/engine/engine.h"

struct zeta_vgpu_tile;

/** Most core dumps that a process leaves, so that a program whose kernels all fault fills no disk.
 */
#define ZETA_VGPU_CORE_DUMPS 16u

/**
 * Writes one if the setting core_dir asks for it, and logs where it is and what opens it, or why
 * there is none. In the callback faulted of a launch on the tile; all tiles wait meanwhile.
 */
void zeta_vgpu_core_dump(struct zeta_vgpu_tile *tile, const struct zeta_vgpu_launch *launch,
                         const struct zeta_vgpu_fault *fault);

#endif
