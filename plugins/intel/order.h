#ifndef ZETA_PLUGINS_INTEL_ORDER_H
#define ZETA_PLUGINS_INTEL_ORDER_H

/*
 * The order of reports in time: two of the same tick, and the break that a reset of the device
 * leaves.
 */

#include <stdbool.h>
#include <stdint.h>

/** The last report of a sequence. Times of the host are in ticks of the reports. */
struct zeta_intel_order {
    bool is_wide; /**< reports have headers of 64 bits */
    uint64_t hz;  /**< of their time stamps */
    bool is_started;
    uint64_t id, time;
    uint64_t oldest; /**< host: it was not made earlier */
    uint64_t empty;  /**< host: what is read from now on was not made earlier */
    uint64_t now;    /**< host: it was made before */
};

/** Says that at this time of the host the kernel had no report that was not read. */
void zeta_intel_order_empty_at(struct zeta_intel_order *order, uint64_t host_ns);

/** Says that the reports which follow were made before this time of the host. Never goes back. */
void zeta_intel_order_look_at(struct zeta_intel_order *order, uint64_t host_ns);

/**
 * Moves a report whose time stamp is that of the report before it one tick later: rows that last no
 * time have no rates. A copy of the report before, with the same id too, is left as it is.
 */
void zeta_intel_order_fix(struct zeta_intel_order *order, void *reports, uint64_t bytes,
                          uint32_t report_bytes);

/**
 * True if the device was reset before a report: its time stamp is further from that of the last one
 * than the host's clock can have gone meanwhile, and not behind by ticks that
 * zeta_intel_order_fix() added. Time stamps wrap, so a report after a long sleep may seem to lie
 * behind, and one after a reset ahead; a reset is missed if what it makes of the time is within 4 s
 * of what could be.
 */
bool zeta_intel_order_goes_back(const struct zeta_intel_order *order, const void *report);

/** Bytes of the reports before the first that goes back. */
uint64_t zeta_intel_order_until_reset(const struct zeta_intel_order *order, const void *reports,
                                      uint64_t bytes, uint32_t report_bytes);

#endif
