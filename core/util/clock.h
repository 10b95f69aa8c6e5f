/*
 * Host time in nanoseconds.
 */
#ifndef ZETA_CORE_UTIL_CLOCK_H
#define ZETA_CORE_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define ZETA_NS_PER_S UINT64_C(1000000000)

/** Reads a POSIX clock, CLOCK_MONOTONIC for example, in nanoseconds. Any thread. */
static inline uint64_t zeta_clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * ZETA_NS_PER_S + (uint64_t)now.tv_nsec;
}

/** CLOCK_MONOTONIC: for time-outs, because condition variables and poll use it. */
static inline uint64_t zeta_clock_monotonic_ns(void)
{
    return zeta_clock_ns(CLOCK_MONOTONIC);
}

/** CLOCK_MONOTONIC_RAW: for correlation with device clocks, because nothing disciplines it. */
static inline uint64_t zeta_clock_raw_ns(void)
{
    return zeta_clock_ns(CLOCK_MONOTONIC_RAW);
}

/** A count of nanoseconds as struct timespec. */
static inline struct timespec zeta_clock_timespec(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / ZETA_NS_PER_S),
                            .tv_nsec = (long)(ns % ZETA_NS_PER_S)};

    return time;
}

#endif
