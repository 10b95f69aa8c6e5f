/*
 * What the sanitizers cannot follow.
 */
#ifndef ZETA_TESTS_METRIC_API_SANITIZER_H
#define ZETA_TESTS_METRIC_API_SANITIZER_H

/**
 * 1 where threads of a forked child cannot be tested: the thread sanitizer ends a child that starts
 * threads after its parent had some.
 */
#if defined(__SANITIZE_THREAD__)
#define NO_THREADS_AFTER_FORK 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_THREADS_AFTER_FORK 1
#endif
#endif
#ifndef NO_THREADS_AFTER_FORK
#define NO_THREADS_AFTER_FORK 0
#endif

/**
 * 1 where a process with busy threads cannot be forked: the address sanitizer's own allocator may
 * be locked in the child by a thread that is not there.
 */
#if defined(__SANITIZE_ADDRESS__)
#define NO_FORK_OF_BUSY_THREADS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_FORK_OF_BUSY_THREADS 1
#endif
#endif
#ifndef NO_FORK_OF_BUSY_THREADS
#define NO_FORK_OF_BUSY_THREADS NO_THREADS_AFTER_FORK
#endif

#endif
