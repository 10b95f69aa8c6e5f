#include "core/util/fork_state.h"

#include <stdlib.h>

/* All states, which a child of fork() only keeps. */
static _Atomic(struct zeta_fork_state *) states;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* Atomics alone: what a thread of the parent did before it ended may not have been waited for. */
static void leave_to_parent(void)
{
    for (struct zeta_fork_state *state = atomic_load(&states); state; state = state->next) {
        if (atomic_exchange(&state->root->current, NULL) && state->root->in_child)
            state->root->in_child();
    }
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, leave_to_parent);
}

void *zeta_fork_state_get(struct zeta_fork_root *root, size_t size_bytes)
{
    struct zeta_fork_state *current = atomic_load(&root->current);
    struct zeta_fork_state *made;

    if (current)
        return current;
    (void)pthread_once(&fork_once, watch_forks);
    made = calloc(1, size_bytes);
    if (!made)
        return NULL;
    made->root = root;
    (void)pthread_mutex_init(&made->lock, NULL);
    /* Listed before it can be used, so that no fork finds a used one that is not; a state that lost
     * against another thread's stays there unused. */
    made->next = atomic_load(&states);
    while (!atomic_compare_exchange_weak(&states, &made->next, made))
        continue;
    return atomic_compare_exchange_strong(&root->current, &current, made) ? made : current;
}
