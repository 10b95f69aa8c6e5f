/*
 * Threads of the library: they have names and block every signal.
 */
#ifndef ZETA_CORE_UTIL_THREAD_H
#define ZETA_CORE_UTIL_THREAD_H

#include <pthread.h>

#include <level_zero/ze_api.h>

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

#endif
