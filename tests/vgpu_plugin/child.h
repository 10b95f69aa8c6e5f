/*
 * Children of a test, each with two pipes: it says when it is ready, and is told when to go on.
 */
#ifndef ZETA_TESTS_VGPU_PLUGIN_CHILD_H
#define ZETA_TESTS_VGPU_PLUGIN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    int from, to;
};

/** What a child does; it ends with 0 when it returns. */
typedef void (*child_fn)(const struct child *parent);

/**
 * Starts a child, which ends with its parent, with an assertion that fails, or after ten minutes.
 * Before this process has threads, so that the child can start its own.
 */
struct child child_start(child_fn function);

/** Lets the other side go on. */
void child_say(int descriptor);

/** Waits for that. False at the end of the talk: a pipe that nobody has, or the end of the test. */
bool child_hear(int descriptor);

/** Ends the talk, waits for the child's end and gives its status. */
int child_end(struct child *child);

/** A teardown for cmocka: kills the children that a test which failed has left. */
int child_teardown(void **state);

#endif
