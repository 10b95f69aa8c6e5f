/*
 * The whole way from sources to a kernel file.
 */
#ifndef ZETA_VGPU_CC_COMPILE_H
#define ZETA_VGPU_CC_COMPILE_H

#include "sdk/tools/zeta-vgpu-cc/front_end/front_end.h"

/** What shall come out. */
enum zeta_cc_output {
    ZETA_CC_ELF,     /**< a kernel file */
    ZETA_CC_OBJECT,  /**< -c: an object with entries, to be linked by hand */
    ZETA_CC_BITCODE, /**< -emit-llvm: what would be emitted */
    ZETA_CC_TEXT     /**< -S: the same as LLVM assembly */
};

/** A compilation. */
struct zeta_cc_job {
    const struct zeta_cc_input *inputs;
    size_t input_count;
    struct zeta_cc_options options; /**< what concerns the program as a whole */
    struct zeta_cc_paths paths;
    enum zeta_cc_output output;
};

/**
 * Compiles each input, links all, and appends what came out.
 *
 * @log  messages of all parts; also something when all went well, such as warnings and imports
 */
enum vgpu_compile_status zeta_cc_compile(const struct zeta_cc_job *job,
                                         struct zeta_cc_buffer *out_result,
                                         struct zeta_cc_buffer *log);

#endif
