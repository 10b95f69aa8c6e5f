/*
 * The program that zeta stat runs, and the signals that end both.
 */
#ifndef ZETA_TOOLS_PROGRAM_CHILD_H
#define ZETA_TOOLS_PROGRAM_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct zeta_child {
    int signal_fd;
    sigset_t mask_before; /**< what the program gets */
    pid_t pid;            /**< 0: not started */
    bool has_ended;
    int wait_status;
    unsigned interrupts; /**< signals that ask to end */
    int last_interrupt;  /**< number of the latest of them */
};

/**
 * Takes over the signals that end a process, for the whole process: call it before anything
 * starts a thread. On failure prints why.
 */
int zeta_child_init(struct zeta_child *child);

void zeta_child_finish(struct zeta_child *child);

/**
 * Starts a program, found along PATH, with the standard streams of this process.
 *
 * @arguments, @environment  null-terminated
 *
 * On failure prints why and gives ZETA_EXIT_NOT_FOUND or ZETA_EXIT_NOT_EXECUTABLE.
 */
int zeta_child_start(struct zeta_child *child, char **arguments, char **environment);

/** Forgets a program that has ended, so that it can be started again. */
void zeta_child_again(struct zeta_child *child);

/**
 * Says why a program cannot be run. Gives ZETA_EXIT_NOT_FOUND or ZETA_EXIT_NOT_EXECUTABLE.
 *
 * @error  number of the error with which its start failed
 */
int zeta_child_explain(const char *program, int error);

/**
 * Waits until the program ends, somebody asks to end, or the time is over. A request to end is
 * passed on to a running program; from the second one on it is asked with growing force.
 */
void zeta_child_wait(struct zeta_child *child, uint64_t timeout_ns);

/** Exit code of the program as a shell would give it: 128 + signal when it was killed. */
int zeta_child_exit_code(const struct zeta_child *child);

#endif
