/*
 * What the programs that tests of loaders start have in common: a way to give up.
 */
#ifndef ZETA_TESTS_LOADER_CLIENT_H
#define ZETA_TESTS_LOADER_CLIENT_H

#include <stdio.h>
#include <stdlib.h>

/** Ends the program with status 1 and a line on standard error unless the condition holds. */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/** The same unless the call gives the wanted result. */
#define NEED_RESULT(wanted, call)                                                                  \
    do {                                                                                           \
        const unsigned need_result = (unsigned)(call);                                             \
        if (need_result != (unsigned)(wanted)) {                                                   \
            (void)fprintf(stderr, "%s:%d: %s gives 0x%x instead of 0x%x\n", __FILE__, __LINE__,    \
                          #call, need_result, (unsigned)(wanted));                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define NEED_OK(call) NEED_RESULT(ZE_RESULT_SUCCESS, call)

#endif
