/*
 * State that a child of fork() begins anew: a lock, and what it guards. A thread of the parent may
 * have held the lock at the time of the fork, so the child abandons all of it.
 */
#ifndef ZETA_CORE_UTIL_FORK_STATE_H
#define ZETA_CORE_UTIL_FORK_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct zeta_fork_root;

/** First member of such a state. */
struct zeta_fork_state {
    struct zeta_fork_state *next; /**< of all that were made, those of parents too */
    struct zeta_fork_root *root;
    pthread_mutex_t lock; /**< for the owner of the state */
};

/** Where the state of this process is; a static variable. */
struct zeta_fork_root {
    _Atomic(struct zeta_fork_state *) current; /**< NULL: none was needed yet */
    /** Runs in a child of fork() whose parent had a state; async-signal-safe steps only. Or NULL.
     */
    void (*in_child)(void);
};

/**
 * The state of this process. When there is none yet it is made: of size_bytes, zero but for its
 * head. NULL without memory. Of any thread; all get the same.
 */
void *zeta_fork_state_get(struct zeta_fork_root *root, size_t size_bytes);

/** The state of this process; NULL if there is none. */
static inline void *zeta_fork_state_peek(struct zeta_fork_root *root)
{
    return atomic_load(&root->current);
}

#endif
