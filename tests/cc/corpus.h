#ifndef ZETA_TESTS_CC_CORPUS_H
#define ZETA_TESTS_CC_CORPUS_H

/*
 * Kernels of corpus/, compiled from OpenCL C, through SPIR-V, and without optimisation. A case runs
 * a kernel and compares with what the host computes; every case is run for each way.
 */

#include "tests/vgpu/rig.h"

/** One kernel of a file. */
struct corpus_case {
    const char *name;
    void (*run)(struct rig *rig);
};

#define CORPUS_CASE(function)                                                                      \
    {                                                                                              \
#function, function                                                                        \
    }

/** Runs all cases for each way; the main function of a test. @file: name in corpus/, no suffix. */
int corpus_main(const char *file, const struct corpus_case *cases, size_t count);

/**
 * Runs a kernel in one dimension, with arguments laid out as the compiler says.
 *
 * @values  one pointer per argument; for local memory a pointer to its size, a uint32_t
 */
void corpus_run(struct rig *rig, const char *kernel, uint32_t groups, uint32_t group_size,
                const void *const *values);

/** The same in three dimensions. */
void corpus_run_3d(struct rig *rig, const char *kernel, const uint32_t groups[3],
                   const uint32_t group_size[3], const void *const *values);

/** CORPUS_RUN(rig, "kernel", groups, size, &argument, ...) */
#define CORPUS_RUN(rig, kernel, groups, group_size, ...)                                           \
    corpus_run(rig, kernel, groups, group_size, (const void *const[]){__VA_ARGS__, NULL})

#endif
