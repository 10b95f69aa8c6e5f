#include "core/capture/turn.h"

void zeta_turn_init(struct zeta_turn *turn)
{
    (void)pthread_mutex_init(&turn->lock, NULL);
    (void)pthread_cond_init(&turn->idle, NULL);
    turn->busy = false;
    turn->closed = false;
}

void zeta_turn_finish(struct zeta_turn *turn)
{
    (void)pthread_mutex_destroy(&turn->lock);
    (void)pthread_cond_destroy(&turn->idle);
}

bool zeta_turn_take(struct zeta_turn *turn, bool wait)
{
    bool taken;

    (void)pthread_mutex_lock(&turn->lock);
    while (wait && turn->busy && !turn->closed)
        (void)pthread_cond_wait(&turn->idle, &turn->lock);
    taken = !turn->busy && !turn->closed;
    if (taken)
        turn->busy = true;
    (void)pthread_mutex_unlock(&turn->lock);
    return taken;
}

static void give(struct zeta_turn *turn, bool last)
{
    (void)pthread_mutex_lock(&turn->lock);
    turn->busy = false;
    turn->closed |= last;
    (void)pthread_cond_broadcast(&turn->idle);
    (void)pthread_mutex_unlock(&turn->lock);
}

void zeta_turn_give(struct zeta_turn *turn)
{
    give(turn, false);
}

void zeta_turn_give_last(struct zeta_turn *turn)
{
    give(turn, true);
}

void zeta_turn_close(struct zeta_turn *turn)
{
    (void)pthread_mutex_lock(&turn->lock);
    turn->closed = true;
    (void)pthread_cond_broadcast(&turn->idle);
    while (turn->busy)
        (void)pthread_cond_wait(&turn->idle, &turn->lock);
    (void)pthread_mutex_unlock(&turn->lock);
}
