/*
 * Starting programs of the tests of loaders, with variables of their own, and looking at what they
 * leave: status and both outputs.
 */
#ifndef ZETA_TESTS_LOADER_RUN_CLIENT_H
#define ZETA_TESTS_LOADER_RUN_CLIENT_H

/** Values of ZE_ENABLE_ALT_DRIVERS. */
extern const char libzeta[];             /**< the library alone */
extern const char libzeta_and_copy[];    /**< and a copy of it, a second library to the process */
extern const char libzeta_and_nothing[]; /**< and a name that begins with a blank */
extern const char other_driver[];        /**< the one of other_driver.c */
extern const char other_driver_and_libzeta[];

/** Path of the stand-in. */
extern const char standin[];

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
