/*
 * Scope-bound cleanup. The only place of core where GNU extensions are used.
 */
#ifndef ZETA_CORE_UTIL_CLEANUP_H
#define ZETA_CORE_UTIL_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

/** Calls function(&variable) when the variable goes out of scope; nothing else need use it. */
#define ZETA_CLEANUP(function) __attribute__((cleanup(function), unused))

/** Hands ownership of a pointer over: gives its value and leaves null behind. */
#define ZETA_TAKE(pointer)                                                                         \
    __extension__({                                                                                \
        __typeof__(pointer) zeta_taken_ = (pointer);                                               \
        (pointer) = NULL;                                                                          \
        zeta_taken_;                                                                               \
    })

/** Marks a function argument that an interface demands and an implementation does not need. */
#define ZETA_UNUSED __attribute__((unused))

/** Makes a function part of each of its callers, however many there are. */
#define ZETA_ALWAYS_INLINE inline __attribute__((always_inline))

/** A variable of this library alone, so that it is reached without the table of others. */
#define ZETA_HIDDEN __attribute__((visibility("hidden")))

/** Keeps a function apart from its callers, whose constants gcc would make a copy of it for. */
#ifdef __clang__
#define ZETA_NOINLINE __attribute__((noinline))
#else
#define ZETA_NOINLINE __attribute__((noinline, noclone))
#endif

/** Keeps a function that seldom runs out of the way of its callers. */
#define ZETA_COLD __attribute__((cold, noinline))

/** Marks a function that runs when the library is loaded; it may store to static variables. */
#define ZETA_AT_LOAD __attribute__((constructor))

/** Marks the function that runs when the library is unloaded or the process exits. */
#define ZETA_AT_UNLOAD __attribute__((destructor))

/** ZETA_CLEANUP(zeta_freep) char *text = ...; */
static inline void zeta_freep(void *pointer)
{
    void **target = pointer;

    free(*target);
    *target = NULL;
}

/** ZETA_CLEANUP(zeta_closep) int fd = ...; -1 is left alone. */
static inline void zeta_closep(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

#endif
