/*
 * A suite is a file of tests. The suites of a folder that link the same libraries are one program,
 * `PROGRAM SUITE [CASES]`, and each is a ctest entry with a process of its own (tests.cmake).
 */
#ifndef ZETA_TESTS_SUPPORT_SUITE_H
#define ZETA_TESTS_SUPPORT_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** Instead of `int main(void)`: runs the suite; 0 passed, 77 skipped, anything else failed. */
#define SUITE(name)                                                                                \
    int suite_##name(int argc, char **argv);                                                       \
    static int body_of_suite_##name(void);                                                         \
    int suite_##name(int argc, char **argv)                                                        \
    {                                                                                              \
        if (argc > 1)                                                                              \
            cmocka_set_test_filter(argv[1]);                                                       \
        return body_of_suite_##name();                                                             \
    }                                                                                              \
    static int body_of_suite_##name(void)

/**
 * The same for a suite that starts its program again, as `PROGRAM SUITE ...`: argv[0] is the name
 * of the suite, what follows is its own.
 */
#define SUITE_WITH_ARGUMENTS(name, argc, argv)                                                     \
    int suite_##name(int argc, char **argv);                                                       \
    int suite_##name(int argc, char **argv)

#endif
