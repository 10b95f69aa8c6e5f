#ifndef ZETA_TESTS_CC_RUN_H
#define ZETA_TESTS_CC_RUN_H

/* Runs zeta-vgpu-cc as people do. COMPILER must be defined. Failures to start end the test. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** What a program did. */
struct run_result {
    int status; /**< as of waitpid */
    char *output;
    size_t output_size;
    char *messages; /**< terminated, as is the output */
};

/**
 * Runs a program to its end.
 *
 * @input  its standard input, size bytes; may be null when there are none
 */
void run_program(struct run_result *result, char *const *words, const void *input, size_t size);

void run_finish(struct run_result *result);

/** Exit status, or -1 after a signal. */
int run_exit(const struct run_result *result);

/** A new folder of the test's own, with a file in it; the names are static storage. */
const char *run_folder(void);
const char *run_file(const char *name, const char *text);

/** The name of a file in that folder, which need not exist. Static storage for 8 names in turn. */
const char *run_path(const char *name);

/** Removes the folder with all its files, as the teardown of a group of tests. */
int run_clean(void **state);

/** The compiler with words up to NULL; gives its exit status and keeps its messages. */
int run_compiler(struct run_result *result, ...) __attribute__((sentinel));

#define CC(result, ...) run_compiler(result, __VA_ARGS__, NULL)

#endif
