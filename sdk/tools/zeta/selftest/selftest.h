/*
 * zeta selftest: whether what a device counts can be true, found out in a few seconds.
 */
#ifndef ZETA_TOOLS_SELFTEST_SELFTEST_H
#define ZETA_TOOLS_SELFTEST_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/inventory/group_list.h"

/** What became of one check. */
enum zeta_selftest_verdict {
    ZETA_SELFTEST_OK,
    ZETA_SELFTEST_FAILED,
    ZETA_SELFTEST_SKIPPED /**< the device does not offer it, or slept */
};

/** Checks of a device and how they went. */
struct zeta_selftest {
    const struct zeta_device_entry *device;
    const struct zeta_group_list *groups;
    uint64_t period_ns; /**< between samples */
    uint64_t for_ns;    /**< how long each group is sampled */
    uint32_t count, failed, skipped;
};

/** Prints the line of a check and counts it. */
void zeta_selftest_print(struct zeta_selftest *test, enum zeta_selftest_verdict verdict,
                         const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The clock of the device never goes back and runs at its stated rate, by the host's. */
void zeta_selftest_clock(struct zeta_selftest *test);

/**
 * A group's rows: they come as often as was asked for, their time stamps rise and cover the time,
 * none is lost, the core clock is one that the device can have, and the counters of TestOa have the
 * proportions that its set is known for.
 *
 * @group  time-based, with its metrics loaded
 */
void zeta_selftest_stream(struct zeta_selftest *test, struct zeta_group_entry *group);

/** A query around a known time gives that time. group: event-based, with its metrics loaded. */
void zeta_selftest_query(struct zeta_selftest *test, struct zeta_group_entry *group);

#endif
