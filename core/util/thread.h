/*
 * Threads of the library, which are named and deaf to signals; and threads of the application,
 * which may be cancelled, but not while they have a lock or a turn of ours.
 */
#ifndef ZETA_CORE_UTIL_THREAD_H
#define ZETA_CORE_UTIL_THREAD_H

#include <pthread.h>

#include <level_zero/ze_api.h>

#include "core/util/cleanup.h"

/**
 * Starts a joinable thread with every signal blocked, so that handlers of the application never run
 * on it.
 *
 * @name  shown by debuggers and top; at most 15 bytes, "zeta-reactor"
 *
 * Errors: OUT_OF_HOST_MEMORY when the system gives no thread; the sentence names errno.
 */
ze_result_t zeta_thread_start(const char *name, void *(*run)(void *context), void *context,
                              pthread_t *out_thread);

/** For ZETA_NO_CANCEL: makes this thread deaf to pthread_cancel(). Gives the state before. */
static inline int zeta_cancel_disable(void)
{
    int before = PTHREAD_CANCEL_ENABLE;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/** For ZETA_NO_CANCEL: undoes zeta_cancel_disable(). */
static inline void zeta_cancel_restorep(const int *before)
{
    int unused;

    (void)pthread_setcancelstate(*before, &unused);
}

/**
 * Until the end of the block this thread cannot be cancelled; a request waits. For what sleeps, or
 * calls a backend, while others depend on this thread going on.
 */
#define ZETA_NO_CANCEL                                                                             \
    ZETA_CLEANUP(zeta_cancel_restorep)                                                             \
    ZETA_UNUSED const int zeta_cancel_before = zeta_cancel_disable()

#endif
