/*
 * From the clock of a device to that of the host, as CLOCK chunks give it.
 */
#ifndef ZETA_TOOLS_RECORDING_CLOCK_H
#define ZETA_TOOLS_RECORDING_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Times of a report lie between this and its negative, 73 years: recordings of strangers may hold
 * anything, and the distance of any two, a row's length added, has to fit.
 */
#define ZETA_REPORT_TIME_MAX (INT64_MAX / 4)

/** All zero bytes: nothing is known, and the clock of the device is taken for that of the host. */
struct zeta_report_clock {
    uint64_t hz;
    uint64_t wrap_ns;   /**< time stamps start again from 0 here; 0: never */
    bool is_known;      /**< a CLOCK chunk was seen */
    bool is_set;        /**< the two times below are */
    uint64_t device_ns; /**< at one instant, modulo the wrap */
    int64_t host_ns;
    uint64_t error_ns; /**< largest that a chunk gave */
};

/** Prepares for a timer of so many ticks per second and valid bits. */
void zeta_report_clock_init(struct zeta_report_clock *clock, uint64_t hz, uint32_t bits);

/** Takes the payload of a CLOCK chunk. False if it is none. */
bool zeta_report_clock_take(struct zeta_report_clock *clock, const void *payload, uint64_t bytes);

/**
 * The time of the host at an instant of the device, less than half a wrap from the chunk that was
 * taken last. Without any chunk the instant itself, followed over wraps. Cut to
 * ZETA_REPORT_TIME_MAX.
 */
int64_t zeta_report_clock_host(struct zeta_report_clock *clock, uint64_t device_ns);

#endif
