#ifndef ZETA_PLUGINS_VGPU_INSTANCE_SHARED_FILE_H
#define ZETA_PLUGINS_VGPU_INSTANCE_SHARED_FILE_H

/*
 * Files in memory that processes of a user share and map. They have no name that somebody could
 * write to, and nobody can make them shorter, so touching what is mapped never ends a process.
 * Others open them through /proc and the descriptor of somebody who has them.
 */

#include <stdint.h>

/** A new one of zeros, mode 0600, of a size that stays. -1 with errno. */
int zeta_vgpu_shared_file_create(const char *name, uint64_t size_bytes);

/**
 * Opens the one that a process has at a descriptor; -1 when that is anything else, which is not
 * opened, because that could do something.
 */
int zeta_vgpu_shared_file_open(uint32_t pid, uint32_t descriptor, const char *name);

#endif
