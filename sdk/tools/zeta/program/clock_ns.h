/*
 * Clocks of the system as one number.
 */
#ifndef ZETA_TOOLS_PROGRAM_CLOCK_NS_H
#define ZETA_TOOLS_PROGRAM_CLOCK_NS_H

#include <stdint.h>
#include <time.h>

/** Nanoseconds of a clock that every system has, such as CLOCK_MONOTONIC. Any thread. */
static inline uint64_t zeta_clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
