#include "turns.h"

#include <string.h>

void zeta_vgpu_turns_init(struct zeta_vgpu_turns *turns)
{
    memset(turns, 0, sizeof(*turns));
    pthread_cond_init(&turns->changed, NULL);
}

void zeta_vgpu_turns_finish(struct zeta_vgpu_turns *turns)
{
    pthread_cond_destroy(&turns->changed);
}

static bool must_wait(const struct zeta_vgpu_turns *turns, enum zeta_vgpu_rank rank)
{
    bool wait = turns->taken;

    for (uint32_t better = 0; better < (uint32_t)rank; better++)
        wait |= turns->waiting[better] > 0;
    return wait;
}

bool zeta_vgpu_turns_take_locked(struct zeta_vgpu_turns *turns, pthread_mutex_t *lock,
                                 const atomic_bool *interrupt, enum zeta_vgpu_rank rank)
{
    turns->waiting[rank]++;
    while (must_wait(turns, rank) && !atomic_load(interrupt))
        pthread_cond_wait(&turns->changed, lock);
    turns->waiting[rank]--;
    if (!atomic_load(interrupt)) {
        turns->taken = true;
        return true;
    }
    /* Others may have waited only because this one did. */
    if (turns->waiting[rank] == 0)
        pthread_cond_broadcast(&turns->changed);
    return false;
}

void zeta_vgpu_turns_pass_locked(struct zeta_vgpu_turns *turns)
{
    turns->taken = false;
    pthread_cond_broadcast(&turns->changed);
}

void zeta_vgpu_turns_wake_locked(struct zeta_vgpu_turns *turns)
{
    pthread_cond_broadcast(&turns->changed);
}
