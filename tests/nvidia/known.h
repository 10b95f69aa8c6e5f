#ifndef ZETA_TESTS_NVIDIA_KNOWN_H
#define ZETA_TESTS_NVIDIA_KNOWN_H

/*
 * The kernels of tests/cuda/kernels whose counts are known, with arguments for programs that
 * measure them: in groups of 256 threads, and with one size, of which the counts are a linear
 * function.
 */

#include <stdbool.h>
#include <stdint.h>

enum { KNOWN_GROUP = 256, KNOWN_MOST_ARGUMENTS = 4 };

/** An argument: memory of its own, the size, or a number. */
struct known_argument {
    uint8_t bytes;
    enum { KNOWN_MEMORY, KNOWN_SIZE, KNOWN_NUMBER } kind;
    uint64_t bits; /**< of a number */
};

struct known_kernel {
    const char *name, *file; /**< the entry, and its file of tests/cuda/kernels */
    uint32_t groups;         /**< 0: as many as the size has threads */
    uint32_t memory_bytes;   /**< of each memory, for each thread */
    uint32_t argument_count;
    struct known_argument arguments[KNOWN_MOST_ARGUMENTS];
};

/** The kernel of that name, or NULL. Any thread. */
const struct known_kernel *known_find(const char *name);

/** How many groups a kernel has with that size. */
uint32_t known_groups(const struct known_kernel *kernel, uint32_t size);

/** Reads the PTX of a kernel, which ends with a zero; the caller frees it. NULL: says why not. */
char *known_read(const struct known_kernel *kernel);

#endif
