#ifndef ZETA_TESTS_KMD_TREE_H
#define ZETA_TESTS_KMD_TREE_H

/* The files of a machine's folder: what stands for /dev/dri, /sys and /proc/sys. */

#include <stdbool.h>

#include "tests/kmd/machine/kmd_priv.h"

/** Writes everything below the folder; fills slots and inodes of the GPUs. False after perror(). */
bool kmd_tree_write(const char *root, struct kmd_shared *shared, bool is_paranoid,
                    uint32_t max_sample_rate);

/** Minor number of a GPU's node. */
static inline uint32_t kmd_minor(const struct kmd_gpu *gpu, bool is_render)
{
    return gpu->index + (is_render ? 128 : 0);
}

#endif
