#ifndef ZETA_PLUGINS_VGPU_MEMORY_ADOPT_H
#define ZETA_PLUGINS_VGPU_MEMORY_ADOPT_H

/*
 * Memory that the application got elsewhere and wants kernels to use.
 */

#include <stdbool.h>
#include <stdint.h>

#include "plugins/vgpu/engine/engine.h"

/**
 * True if [address, address + size_bytes) are whole pages that this process can read, and write if
 * that is asked for. They may still be unmapped later: that is up to the application.
 * @out_message  why not
 */
bool zeta_vgpu_adopt_check(const void *address, uint64_t size_bytes, bool writable,
                           struct zeta_vgpu_message *out_message);

#endif
