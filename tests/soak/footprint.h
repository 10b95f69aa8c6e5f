/*
 * What a process holds: memory, descriptors, mappings, files of the virtual GPU.
 */
#ifndef ZETA_TESTS_SOAK_FOOTPRINT_H
#define ZETA_TESTS_SOAK_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

struct footprint {
    int64_t heap_bytes; /**< allocated and not freed, in every arena and in mappings of malloc */
    int64_t resident_bytes; /**< VmRSS */
    int64_t descriptors;
    int64_t mappings;
    int64_t threads;
};

/** The footprint of this process now; ends the program if /proc cannot be read. */
struct footprint footprint_take(void);

/**
 * Prints both and what was added. True if more was added than noise explains: 64 KiB of heap, one
 * MiB resident (only if resident is true: objects whose slots are not reused yet grow honestly),
 * one mapping of a thread's stack or arena each.
 */
bool footprint_grew(const struct footprint *before, const struct footprint *after, bool resident);

#endif
