/*
 * Starting programs of the tests of loaders, with variables of their own, and looking at what they
 * leave: status and both outputs.
 */
#ifndef ZETA_TESTS_LOADER_RUN_CLIENT_H
#define ZETA_TESTS_LOADER_RUN_CLIENT_H

/** Path of libzeta, and of a copy of it, which a process loads as a second library. */
#define LIBZETA ZETA_BUILD_DIR "/lib/libzeta.so.0"
#define LIBZETA_COPY ZETA_BUILD_DIR "/lib/libzeta-copy.so"
#define OTHER_DRIVER ZETA_BUILD_DIR "/tests/harness/loader/libze_other.so"
#define STANDIN ZETA_BUILD_DIR "/tests/harness/loader/libze_standin.so"

/**
 * Runs a program of tests/ with one argument. variables: pairs of name and value, ended by NULL.
 * Fails the test unless it ends with status 0 and wrote nothing to standard output; both outputs
 * are printed then.
 */
void run_client(const char *program, const char *argument, const char *const *variables);

/** The same with the variables as arguments: RUN_CLIENT("use", "NAME", "value", ...). */
#define RUN_CLIENT(scenario, ...)                                                                  \
    run_client("loader_client", scenario, (const char *const[]){__VA_ARGS__, NULL})

#endif
