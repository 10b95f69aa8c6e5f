/*
 * Clocks of the host in nanoseconds, for programs that see the clocks of POSIX (_POSIX_C_SOURCE or
 * _GNU_SOURCE).
 */
#ifndef ZETA_CLOCK_H
#define ZETA_CLOCK_H

#include <stdint.h>
#include <time.h>

#define ZETA_NS_PER_S UINT64_C(1000000000)

#ifdef CLOCK_MONOTONIC

/** Reads a clock, CLOCK_MONOTONIC for example; 0 if the system has none such. Any thread. */
static inline uint64_t zeta_clock_ns(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * ZETA_NS_PER_S + (uint64_t)now.tv_nsec;
}

/** CLOCK_MONOTONIC: for time-outs, because condition variables and poll use it. */
static inline uint64_t zeta_monotonic_ns(void)
{
    return zeta_clock_ns(CLOCK_MONOTONIC);
}

/** CLOCK_MONOTONIC_RAW: for correlation with device clocks, because nothing disciplines it. */
static inline uint64_t zeta_clock_raw_ns(void)
{
    return zeta_clock_ns(CLOCK_MONOTONIC_RAW);
}

/** zeta_monotonic_ns() when a timeout ends that begins now; UINT64_MAX: never. */
static inline uint64_t zeta_clock_deadline(uint64_t timeout_ns)
{
    const uint64_t now_ns = zeta_monotonic_ns();

    return timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
}

/** A count of nanoseconds as struct timespec. */
static inline struct timespec zeta_clock_timespec(uint64_t ns)
{
    struct timespec time;

    time.tv_sec = (time_t)(ns / ZETA_NS_PER_S);
    time.tv_nsec = (long)(ns % ZETA_NS_PER_S);
    return time;
}

#endif
#endif
