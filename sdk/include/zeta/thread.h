/*
 * Threads of libzeta and of backends. Static helper: linked into each, no part of the plugin
 * interface.
 */
#ifndef ZETA_THREAD_H
#define ZETA_THREAD_H

#include <pthread.h>
#include <stdint.h>

#include <zeta/clock.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Waits until CLOCK_MONOTONIC is at until_ns, to within some microseconds on a free processor. A
 * signal may end it early. The calling thread can be the application's: what is changed of it
 * meanwhile is put back.
 */
void zeta_sleep_until(uint64_t until_ns);

/** Makes a condition whose timed waits use CLOCK_MONOTONIC. */
void zeta_condition_init(pthread_cond_t *out_condition);

/**
 * Starts a thread with every signal blocked: handlers are the application's business.
 *
 * @name  of the thread, at most 15 characters
 * Returns 0, or an errno value.
 */
int zeta_thread_start(pthread_t *out_thread, void *(*run)(void *argument), void *argument,
                      const char *name);

#ifdef __cplusplus
}
#endif

#endif
