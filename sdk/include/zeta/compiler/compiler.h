#ifndef ZETA_COMPILER_H
#define ZETA_COMPILER_H

/*
 * SPIR-V modules of a backend: a program of its own makes them, in a process of its own; what it
 * made is kept. The program is started as "PROGRAM --serve" (protocol.h). In
 * sdk/lib/compiler:
 *
 *   compiler.c   settings, requests and answers, how many processes run, what is kept
 *   needs.c      what the program cannot do without, and whether it is still the same
 *   process.c    the process: started, read, ended
 *   cache_dir.c  what was made before
 *   spirv.c      what is read of a module before it is sent
 *
 * Static helper (library zeta_compiler): linked into the plugin, no part of the plugin interface.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/compiler/cache_dir.h>
#include <zeta/plugin.h>
#include <zeta/plugin_host.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zeta_compiler;

/** The program that compiles for a backend. Lives as long as what is made of it. */
struct zeta_compiler_program {
    const char *name;     /**< "zeta-vgpu-cc": libexec/zeta/NAME; also its package */
    const char *data;     /**< "vgpu": share/zeta/DATA, and the folder of what is kept */
    const char *packages; /**< what it takes to build it: "llvm-15-dev, clang-15" */
};

/** Settings of the compiler. */
struct zeta_compiler_config {
    const struct zeta_compiler_program *program;
    char path[1024];     /**< of the program, absolute */
    uint32_t patience_s; /**< how long one compilation may take */
    struct zeta_cache_dir cache;
};

/**
 * What is compiled: images with their options and constants, in the form of protocol.h. Can be kept
 * and copied; the compiler trusts nothing in it.
 */
struct zeta_compiler_source {
    uint8_t *bytes;
    size_t size;
    uint32_t image_count;
};

/** A source of several that are compiled together. */
struct zeta_compiler_input {
    const struct zeta_compiler_source *source;
    const char *options; /**< before those of each of its images, with a blank at the end */
};

/** What a compilation gave. */
struct zeta_compiled {
    void *answer;         /**< memory of the rest; freed with zeta_compiled_free() */
    const char *log;      /**< not terminated */
    size_t log_bytes;     /**< may be 0 */
    const uint8_t *image; /**< what the program makes; NULL when the module could not be built */
    size_t image_bytes;
    struct zeta_compiler_source source; /**< of zeta_compile(), if the module was built */
};

/**
 * Reads the settings compiler, cache_dir, cache_size_bytes and compiler_timeout_s of a plugin.
 * Errors: INVALID_ARGUMENT with a sentence for a bad number or path.
 */
uint32_t zeta_compiler_configure(const struct zeta_host *host,
                                 const struct zeta_compiler_program *program,
                                 struct zeta_compiler_config *out_config);

/** NULL without memory. The configuration is copied. */
struct zeta_compiler *zeta_compiler_create(const struct zeta_compiler_config *config);

/** No compilation runs any more. NULL is allowed. */
void zeta_compiler_destroy(struct zeta_compiler *compiler);

const struct zeta_compiler_config *zeta_compiler_config(const struct zeta_compiler *compiler);

enum { ZETA_COMPILER_LACK_BYTES = 2048 };

/**
 * True when the program, or something that it needs, is not there: a sentence with the package that
 * has it. Looks at some twenty files. Any thread.
 */
bool zeta_compiler_lacks(const struct zeta_compiler *compiler,
                         char out_sentence[ZETA_COMPILER_LACK_BYTES]);

/**
 * Compiles a module, or takes what was made of the same before. Blocks: as many compilations run at
 * a time as there are CPUs. Any thread.
 *
 * @options  of the backend, before the build options of each image; "" for none
 */
void zeta_compile(struct zeta_compiler *compiler, const char *options,
                  const struct zeta_plugin_module_desc *desc, struct zeta_compiled *out_compiled);

/** The same for sources, which become one program. */
void zeta_compile_sources(struct zeta_compiler *compiler, const struct zeta_compiler_input *inputs,
                          size_t count, struct zeta_compiled *out_compiled);

/** Frees image, log and source. */
void zeta_compiled_free(struct zeta_compiled *compiled);

#ifdef __cplusplus
}
#endif

#endif
