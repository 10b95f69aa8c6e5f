/*
 * The command line for people.
 */
#ifndef ZETA_VGPU_CC_COMMAND_H
#define ZETA_VGPU_CC_COMMAND_H

#include "compile.h"

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
 * Reads the arguments behind the name of the program. What is wrong is said on the standard error;
 * then gives ZETA_CC_EXIT_USAGE.
 */
int zeta_cc_command_read(struct zeta_cc_command *command, int count, char *const *arguments);

/** Does what it says. Messages go to the standard error. */
int zeta_cc_command_run(struct zeta_cc_command *command, const struct zeta_cc_paths *paths);

/** Frees what reading made, also after a failure. */
void zeta_cc_command_finish(struct zeta_cc_command *command);

#endif
