#ifndef ZETA_PLUGINS_INTEL_ORDER_H
#define ZETA_PLUGINS_INTEL_ORDER_H

/*
 * The order of reports in time: two of the same tick, and the break that a reset of the device
 * leaves.
 */

#include <stdbool.h>
#include <stdint.h>

/** The last report of a sequence. */
struct zeta_intel_order {
    bool is_wide;    /**< reports have headers of 64 bits */
    bool is_started; /**< there was one */
    uint64_t id, time;
};

/**
 * Moves a report whose time stamp is that of the report before it one tick later: rows that last no
 * time have no rates. A copy of the report before, with the same id too, is left as it is.
 */
void zeta_intel_order_fix(struct zeta_intel_order *order, void *reports, uint64_t bytes,
                          uint32_t report_bytes);

/**
 * True if a report is older than the last one, by up to half of what a time stamp holds (beyond
 * that it is ahead), and not just by ticks that zeta_intel_order_fix() added. The device was reset.
 */
bool zeta_intel_order_goes_back(const struct zeta_intel_order *order, const void *report);

/** Bytes of the reports before the first that goes back. */
uint64_t zeta_intel_order_until_reset(const struct zeta_intel_order *order, const void *reports,
                                      uint64_t bytes, uint32_t report_bytes);

#endif
