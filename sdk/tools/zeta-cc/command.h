/*
 * The way from sources to a kernel file (compile.c), and the command line of a person (command.c).
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_COMMAND_H
#define ZETA_SDK_TOOLS_ZETA_CC_COMMAND_H

#include "sdk/tools/zeta-cc/front_end/front_end.h"

/* ---- compile.c ---- */

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
enum zeta_compile_status zeta_cc_compile(const struct zeta_cc_job *job,
                                         struct zeta_cc_buffer *out_result,
                                         struct zeta_cc_buffer *log);

/* ---- command.c ---- */

/** Exit statuses. */
enum { ZETA_CC_EXIT_OK = 0, ZETA_CC_EXIT_FAILED = 1, ZETA_CC_EXIT_USAGE = 2 };

/** A command line, read. All zero is empty; strings point into the arguments. */
struct zeta_cc_command {
    struct zeta_cc_input *inputs; /**< owned; without bytes */
    size_t input_count;
    struct zeta_cc_options options;
    const char *target; /**< -o; null: after the first input; "-": standard output */
    const char *data;   /**< --data; null: beside the program */
    enum zeta_cc_output output;
    bool wants_help;
    bool wants_version;
};

/**
 * Reads the arguments behind the name of the program. What is wrong is printed on the standard
 * error; then returns ZETA_CC_EXIT_USAGE.
 */
int zeta_cc_command_read(struct zeta_cc_command *command, int count, char *const *arguments);

/** Executes it. Messages go to the standard error. */
int zeta_cc_command_run(struct zeta_cc_command *command, const struct zeta_cc_paths *paths);

/** Frees what reading made, also after a failure. */
void zeta_cc_command_finish(struct zeta_cc_command *command);

#endif
