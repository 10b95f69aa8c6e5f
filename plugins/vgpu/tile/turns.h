#ifndef ZETA_PLUGINS_VGPU_TILE_TURNS_H
#define ZETA_PLUGINS_VGPU_TILE_TURNS_H

/*
 * Whose launch is next: one at a time, and of those that wait one of the best rank. All functions
 * expect the lock with which the owner guards the turns.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** Whose launch comes first when several wait; among equals nobody is promised anything. */
enum zeta_vgpu_rank {
    ZETA_VGPU_RANK_HIGH,
    ZETA_VGPU_RANK_NORMAL,
    ZETA_VGPU_RANK_LOW,
    ZETA_VGPU_RANK_COUNT
};

struct zeta_vgpu_turns {
    pthread_cond_t changed; /**< launches wait here for each other */
    bool taken;
    uint32_t waiting[ZETA_VGPU_RANK_COUNT]; /**< launches that wait for their turn */
};

/** Sets up turns that nobody has, and ends them when nobody waits. */
void zeta_vgpu_turns_init(struct zeta_vgpu_turns *turns);
void zeta_vgpu_turns_finish(struct zeta_vgpu_turns *turns);

/**
 * Waits for a turn, while the turn is taken or one of a better rank waits. The lock is released
 * meanwhile. False when the flag was set before the turn came.
 */
bool zeta_vgpu_turns_take_locked(struct zeta_vgpu_turns *turns, pthread_mutex_t *lock,
                                 const atomic_bool *interrupt, enum zeta_vgpu_rank rank);

/** Gives up the turn. */
void zeta_vgpu_turns_pass_locked(struct zeta_vgpu_turns *turns);

/** Wakes all who wait, so that they see their interrupt flag. */
void zeta_vgpu_turns_wake_locked(struct zeta_vgpu_turns *turns);

#endif
