#ifndef ZETA_PLUGINS_VGPU_COMPILER_COMPILER_H
#define ZETA_PLUGINS_VGPU_COMPILER_COMPILER_H

/*
 * SPIR-V modules: zeta-vgpu-cc makes them, in a process of its own; what it made is kept.
 *
 *   compiler.c   settings, requests and answers, how many processes run, what is kept
 *   process.c    the process: started, read, ended
 *   cache_dir.c  what was made before
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "cache_dir.h"
#include "plugins/vgpu/engine/engine.h"

struct zeta_vgpu_compiler;

/** Settings of the compiler. */
struct zeta_vgpu_compiler_config {
    char path[1024];     /**< of the program, absolute */
    uint32_t patience_s; /**< how long one compilation may take */
    struct zeta_vgpu_cache_dir cache;
};

/** What a compilation gave. */
struct zeta_vgpu_compiled {
    void *answer;         /**< memory of the rest; freed with zeta_vgpu_compiled_free() */
    const char *log;      /**< not terminated */
    size_t log_bytes;     /**< may be 0 */
    const uint8_t *image; /**< an ELF file, NULL when the module could not be built */
    size_t image_bytes;
};

/** Reads the settings. Errors: INVALID_ARGUMENT with a sentence for a bad number or path. */
uint32_t zeta_vgpu_compiler_configure(const struct zeta_plugin *self,
                                      struct zeta_vgpu_compiler_config *out_config);

/** NULL without memory. The configuration is copied. */
struct zeta_vgpu_compiler *
zeta_vgpu_compiler_create(const struct zeta_vgpu_compiler_config *config);

/** No compilation runs any more. NULL is allowed. */
void zeta_vgpu_compiler_destroy(struct zeta_vgpu_compiler *compiler);

const struct zeta_vgpu_compiler_config *
zeta_vgpu_compiler_config(const struct zeta_vgpu_compiler *compiler);

/** True when the program is there and may be run. */
bool zeta_vgpu_compiler_present(const struct zeta_vgpu_compiler *compiler);

/**
 * Compiles a module, or takes what was made of the same before. Blocks: as many compilations run at
 * a time as there are CPUs. Any thread.
 */
void zeta_vgpu_compile(struct zeta_vgpu_compiler *compiler,
                       const struct zeta_plugin_module_desc *desc,
                       struct zeta_vgpu_compiled *out_compiled);

/** Frees image and log. */
void zeta_vgpu_compiled_free(struct zeta_vgpu_compiled *compiled);

#endif
