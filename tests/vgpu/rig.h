#ifndef ZETA_TESTS_VGPU_RIG_H
#define ZETA_TESTS_VGPU_RIG_H

/* An engine with one kernel file and some memory, for tests. Failures end the test. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugins/vgpu/engine/engine.h"

enum { RIG_MEMORY_BYTES = 1 << 20, RIG_TEXT_BYTES = 4096 };

struct rig {
    struct zeta_vgpu_space *space;
    struct zeta_vgpu_engine *engine;
    struct zeta_vgpu_image *image;
    unsigned char *memory;        /* RIG_MEMORY_BYTES that kernels may use, zero at first */
    struct zeta_vgpu_fault fault; /* of the last launch */
    char text[RIG_TEXT_BYTES];    /* what kernels printed */
    size_t text_bytes;
};

/** Settings with the default shape and @workers. */
struct zeta_vgpu_engine_config rig_config(uint32_t workers);

/** Makes a rig with the test kernels file @name, of KERNEL_DIR, which must be defined, or of
 * RIG_KERNELS in the environment, for a build that was moved. */
void rig_open(struct rig *rig, const char *name, const struct zeta_vgpu_engine_config *config);

/** The same with a kernel file at any place. */
void rig_open_path(struct rig *rig, const char *path, const struct zeta_vgpu_engine_config *config);

void rig_close(struct rig *rig);

/** Launches with one-dimensional groups. */
enum zeta_vgpu_result rig_run(struct rig *rig, const char *kernel, const void *arguments,
                              uint32_t groups, uint32_t group_size);

/** Launches anything; image and kernel are filled in. */
enum zeta_vgpu_result rig_launch(struct rig *rig, const char *kernel,
                                 struct zeta_vgpu_launch *launch);

/** Sum of a counter over all subslices. */
uint64_t rig_counter(const struct rig *rig, enum zeta_vgpu_counter counter);

/** Whole content of a file, to be freed. */
void *rig_read_file(const char *path, size_t *out_size);

/** Exit status for a test program whose kernels could not be built; 0 when they are there. */
int rig_missing(void);

#endif
