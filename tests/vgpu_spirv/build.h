/*
 * SPIR-V modules of the virtual GPU through the plugin interface.
 */
#ifndef ZETA_TESTS_VGPU_SPIRV_BUILD_H
#define ZETA_TESTS_VGPU_SPIRV_BUILD_H

#include "tests/vgpu_plugin/host.h"

/** What a build left. */
struct build {
    uint32_t result;
    struct zeta_plugin_module *module; /**< NULL when it failed */
    char log[70000];                   /**< terminated */
};

/** Builds a module whose image has a SPIR-V header and size_bytes behind it. */
void build_module(struct host *host, const char *options, const void *bytes, size_t size_bytes,
                  struct build *out_build);

/** The ELF file of kernels that the fake compiler gives; to be freed. */
void *build_kernels(size_t *out_size);

/** Builds the kernels with the fake compiler. */
void build_with(struct host *host, const char *options, struct build *out_build);

/** The process id in the log of a build, 0 if there is none. */
long build_pid(const struct build *build);

#endif
