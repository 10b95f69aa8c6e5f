/*
 * fork() for tests: a child never outlives a test that failed, whose standard streams it holds.
 */
#ifndef ZETA_TESTS_FORKED_H
#define ZETA_TESTS_FORKED_H

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/** As fork(); the child is killed when the thread that forked it ends. */
static inline pid_t fork_runner(void)
{
    const pid_t parent = getpid(), child = fork();

    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(1);
    return child;
}

/**
 * The same inside a test: an assertion that fails ends the child too. Otherwise cmocka would go on
 * with the next test there, beside the parent.
 */
static inline pid_t fork_child(void)
{
    const pid_t child = fork_runner();

    if (child == 0)
        (void)setenv("CMOCKA_TEST_ABORT", "1", 1);
    return child;
}

#endif
