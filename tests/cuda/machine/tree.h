#ifndef ZETA_TESTS_CUDA_MACHINE_TREE_H
#define ZETA_TESTS_CUDA_MACHINE_TREE_H

/* Files of a machine that stand for those of /dev, /proc and /sys. */

#include "tests/cuda/machine/machine.h"

/* Writes them below FOLDER/root; false: not all could be written. */
bool cuda_tree_write(const char *folder, const struct cuda_description *machine);

#endif
