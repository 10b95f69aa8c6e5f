/*
 * Turns: one thread at a time uses an object, without a lock that is held meanwhile.
 *
 * Streams and tracers call plugins in their turn; a plugin may call host services then, which no
 * lock of the core may forbid.
 */
#ifndef ZETA_CORE_CAPTURE_TURN_H
#define ZETA_CORE_CAPTURE_TURN_H

#include <pthread.h>
#include <stdbool.h>

struct zeta_turn {
    pthread_mutex_t lock; /**< of the members below only */
    pthread_cond_t idle;
    bool busy;
    bool closed;
};

void zeta_turn_init(struct zeta_turn *turn);
void zeta_turn_finish(struct zeta_turn *turn);

/** Takes the turn; false if there are none any more, or if it is taken and wait is not set. */
bool zeta_turn_take(struct zeta_turn *turn, bool wait);

/** Ends the turn of the calling thread. */
void zeta_turn_give(struct zeta_turn *turn);

/** Ends the turn of the calling thread, and it was the last one. */
void zeta_turn_give_last(struct zeta_turn *turn);

/** Lets nobody in any more and waits until the last one is out. Any number of times. */
void zeta_turn_close(struct zeta_turn *turn);

#endif
