/*
 * Which sanitizer a test runs under, and what it cannot follow.
 */
#ifndef ZETA_TESTS_SANITIZER_H
#define ZETA_TESTS_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define HAVE_THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define HAVE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAVE_THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer)
#define HAVE_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef HAVE_THREAD_SANITIZER
#define HAVE_THREAD_SANITIZER 0
#endif
#ifndef HAVE_ADDRESS_SANITIZER
#define HAVE_ADDRESS_SANITIZER 0
#endif

/** 1 where a forked child cannot start threads: the thread sanitizer ends such a child. */
#define NO_THREADS_AFTER_FORK HAVE_THREAD_SANITIZER

/**
 * 1 where a process with busy threads cannot be forked: the address sanitizer's own allocator may
 * be locked in the child by a thread that is not there.
 */
#define NO_FORK_OF_BUSY_THREADS (HAVE_THREAD_SANITIZER || HAVE_ADDRESS_SANITIZER)

/** 1 where a process uses several times the memory that it touches: the rest is the sanitizer's. */
#define NO_MEMORY_FIGURES (HAVE_THREAD_SANITIZER || HAVE_ADDRESS_SANITIZER)

#endif
