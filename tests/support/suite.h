/*
 * A suite is a file of tests. The suites of a folder that link the same libraries are one program,
 * `PROGRAM SUITE [CASES]`, and each is a ctest entry with a process of its own (tests.cmake).
 */
#ifndef ZETA_TESTS_SUPPORT_SUITE_H
#define ZETA_TESTS_SUPPORT_SUITE_H

/** Instead of `int main(void)`: runs the suite; 0 passed, 77 skipped, anything else failed. */
#define SUITE(name)                                                                                \
    int suite_##name(void);                                                                        \
    int suite_##name(void)

#endif
