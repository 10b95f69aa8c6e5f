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

#endif
