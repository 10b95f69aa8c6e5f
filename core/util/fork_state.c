#include "core/util/fork_state.h"

#include <stdlib.h>

void *zeta_fork_state_get(struct zeta_fork_root *root, size_t size_bytes)
{
    struct zeta_fork_state *life = atomic_load(&root->current);
    struct zeta_fork_state *made;

    if (life)
        return life;
    made = calloc(1, size_bytes);
    if (!made)
        return NULL;
    made->before = atomic_load(&root->before);
    (void)pthread_mutex_init(&made->lock, NULL);
    if (atomic_compare_exchange_strong(&root->current, &life, made))
        return made;
    (void)pthread_mutex_destroy(&made->lock);
    free(made);
    return life;
}

/* Atomics alone: what a thread of the parent did before it ended may not have been waited for. */
void zeta_fork_state_leave(struct zeta_fork_root *root)
{
    struct zeta_fork_state *old = atomic_exchange(&root->current, NULL);

    if (old)
        atomic_store(&root->before, old);
}
