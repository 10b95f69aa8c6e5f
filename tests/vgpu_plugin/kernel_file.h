/*
 * The compiled test kernels (kernels/plugin_kernels.c) for tests that launch.
 */
#ifndef ZETA_TESTS_VGPU_PLUGIN_KERNEL_FILE_H
#define ZETA_TESTS_VGPU_PLUGIN_KERNEL_FILE_H

#include "host.h"

/** Loads the file of kernels as a module; fails the test if that is not possible. */
struct zeta_plugin_module *kernel_file_load(struct host *host);

struct zeta_plugin_kernel *kernel_create(struct host *host, struct zeta_plugin_module *module,
                                         const char *name);

/** A launch in one dimension. The arguments must live until it is done. */
struct zeta_plugin_command kernel_launch(struct zeta_plugin_kernel *kernel, const void *arguments,
                                         uint32_t groups, uint32_t items);

/** Waits (at most 20 s) until a kernel wrote 1; fails the test if it does not. */
void kernel_wait_for(const _Atomic uint32_t *flag);

#endif
