/*
 * From sources to LLVM bitcode, by the programs that know them.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_FRONT_END_FRONT_END_H
#define ZETA_SDK_TOOLS_ZETA_CC_FRONT_END_FRONT_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sdk/tools/zeta-cc/request/options.h"
#include <zeta/compiler/protocol.h>

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

/*
 * Programs that do a part of the work. What goes in and out are files in memory: nothing has a name
 * that others could guess, and nothing is left behind whatever happens.
 */

/** Address space of a child, in bytes. The largest module of the tests, 385 KiB, needs 256 MiB. */
#define ZETA_CC_CHILD_MEMORY_BYTES (UINT64_C(4) << 30)

/** How a child ended. */
enum zeta_cc_child_end {
    ZETA_CC_CHILD_FINE,    /**< exit status 0 */
    ZETA_CC_CHILD_FAILED,  /**< another exit status */
    ZETA_CC_CHILD_CRASHED, /**< by a signal */
    ZETA_CC_CHILD_MISSING  /**< it could not be started */
};

/** A running program. */
struct zeta_cc_child {
    pid_t process; /**< 0: none */
    int error;     /**< errno when it could not be started */
    int status;    /**< of waitpid, once it has ended */
    int input;
    int output;
    int messages;
};

/**
 * Starts arguments->list[0], an absolute path, with a small environment of its own and no more than
 * ZETA_CC_CHILD_MEMORY_BYTES of memory.
 *
 * @input, @size  its standard input, which is a seekable file (/proc/self/fd/0 opens it anew)
 *
 * Always followed by zeta_cc_child_end.
 */
void zeta_cc_child_start(struct zeta_cc_child *child, const struct zeta_cc_strings *arguments,
                         const void *input, size_t size);

/** Waits for the end; appends what it wrote to both streams. */
enum zeta_cc_child_end zeta_cc_child_end(struct zeta_cc_child *child,
                                         struct zeta_cc_buffer *out_output,
                                         struct zeta_cc_buffer *out_messages);

/** A program for messages, and the Debian package that has it. */
struct zeta_cc_tool {
    const char *name;
    const char *package;
};

/**
 * Waits for the end; appends the output, and to the log the messages, with @name in place of the
 * file that the child read. Gives the status that its end means.
 */
enum zeta_compile_status zeta_cc_child_finish(struct zeta_cc_child *child,
                                              const struct zeta_cc_tool *tool, const char *name,
                                              struct zeta_cc_buffer *out_output,
                                              struct zeta_cc_buffer *log);

/** A front end at work. All zero is none. */
struct zeta_cc_front_end {
    struct zeta_cc_child child;
    const struct zeta_cc_input *input;
    bool is_running;
};

/** Starts the program that reads the input; none for IR. What is wrong comes with the end. */
enum zeta_compile_status zeta_cc_front_end_start(struct zeta_cc_front_end *front_end,
                                                 const struct zeta_cc_input *input,
                                                 const struct zeta_cc_paths *paths, unsigned level,
                                                 struct zeta_cc_buffer *log);

/** Waits for it and appends the bitcode. */
enum zeta_compile_status zeta_cc_front_end_finish(struct zeta_cc_front_end *front_end,
                                                  struct zeta_cc_buffer *out_bitcode,
                                                  struct zeta_cc_buffer *log);

/*
 * What is done to SPIR-V before the translator sees it (spirv.c). Source of numbers: SPIR-V
 * specification 1.4, sections 2.3, 3.
 */

/**
 * True for a well-formed stream of instructions of a module for OpenCL with 64-bit addresses.
 *
 * @words  the module; 4-byte aligned, count words
 *
 * Otherwise the log names the problem. What the instructions mean is the translator's affair.
 */
bool zeta_cc_spirv_check(const uint32_t *words, size_t count, struct zeta_cc_buffer *log);

/**
 * Writes the values of constants into a module that was checked. False when one does not exist or
 * has another size; the log lists those that exist.
 */
bool zeta_cc_spirv_specialize(uint32_t *words, size_t count,
                              const struct zeta_cc_constant *constants, size_t constant_count,
                              struct zeta_cc_buffer *log);

/**
 * Makes a module of one that was checked and has no debug information, whose functions have lines:
 * those of the text that spirv-dis prints of it without options. The name of that file is the first
 * 16 digits of the SHA-256 of the module as it was given (before constants got values; as many
 * bytes), and ".spvasm". False, and nothing made, when the module has
 * debug information already or no function.
 */
bool zeta_cc_spirv_add_lines(const uint32_t *words, size_t count, const void *given,
                             struct zeta_cc_buffer *out_words);

#endif
