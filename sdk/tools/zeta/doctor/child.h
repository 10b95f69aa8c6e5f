/*
 * A helper program that may crash or hang.
 */
#ifndef ZETA_TOOLS_DOCTOR_CHILD_H
#define ZETA_TOOLS_DOCTOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zeta_doctor_answer {
    int start_error; /**< number of the error when it could not be started, else 0 */
    bool hung;       /**< it was killed after its time */
    int wait_status; /**< as waitpid gives it */
    char *output;    /**< what it wrote, terminated; owned by the caller */
    size_t output_size;
};

/**
 * Runs a program, given by its path, with this environment without what would make it record, and
 * collects what it writes, at most a mebibyte.
 *
 * @input        what it reads as standard input, -1: nothing
 * @stream       the stream that is collected, 1 or 2; the other goes nowhere
 * @patience_ns  it is killed after that
 *
 * False when there is no memory or no pipe.
 */
bool zeta_doctor_run(char **arguments, int input, int stream, uint64_t patience_ns,
                     struct zeta_doctor_answer *out_answer);

#endif
