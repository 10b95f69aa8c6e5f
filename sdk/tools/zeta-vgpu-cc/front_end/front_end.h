/*
 * From sources to LLVM bitcode, by the programs that know them.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_FRONT_END_FRONT_END_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_FRONT_END_FRONT_END_H

#include <stdint.h>

#include "child.h"
#include "sdk/tools/zeta-vgpu-cc/request/options.h"
#include "vgpu_compile.h"

/** Languages. */
enum zeta_cc_language {
    ZETA_CC_OPENCL_C,
    ZETA_CC_C,
    ZETA_CC_IR, /**< bitcode or LLVM assembly */
    ZETA_CC_SPIRV
};

/** One source. */
struct zeta_cc_input {
    enum zeta_cc_language language;
    const char *name; /**< for messages; the path of a file when is_file */
    bool is_file;     /**< the compiler may open it by its name, for what it includes */
    const void *bytes;
    size_t size;
    struct zeta_cc_options options;
};

/** Where the parts of the compiler are. */
struct zeta_cc_paths {
    const char *clang;
    const char *translator;
    const char *linker;
    const char *data; /**< folder with the runtime library and the linker script */
};

/** A front end at work. All zero is none. */
struct zeta_cc_front_end {
    struct zeta_cc_child child;
    const struct zeta_cc_input *input;
    bool is_running;
};

/** Starts the program that reads the input; none for IR. What is wrong comes with the end. */
enum vgpu_compile_status zeta_cc_front_end_start(struct zeta_cc_front_end *front_end,
                                                 const struct zeta_cc_input *input,
                                                 const struct zeta_cc_paths *paths, unsigned level,
                                                 struct zeta_cc_buffer *log);

/** Waits for it and appends the bitcode. */
enum vgpu_compile_status zeta_cc_front_end_finish(struct zeta_cc_front_end *front_end,
                                                  struct zeta_cc_buffer *out_bitcode,
                                                  struct zeta_cc_buffer *log);

/** Waits for it when nobody wants its bitcode any more. */
void zeta_cc_front_end_abandon(struct zeta_cc_front_end *front_end);

/**
 * Appends the messages of a child to the log, with @name in place of the file that it read, and the
 * status that its end means.
 *
 * @program  its path; @package: the Debian package that has it
 */
enum vgpu_compile_status zeta_cc_child_status(enum zeta_cc_child_end end,
                                              const struct zeta_cc_child *child,
                                              const struct zeta_cc_buffer *messages,
                                              const char *program, const char *package,
                                              const char *name, struct zeta_cc_buffer *log);

#endif
