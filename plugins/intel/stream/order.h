#ifndef ZETA_PLUGINS_INTEL_STREAM_ORDER_H
#define ZETA_PLUGINS_INTEL_STREAM_ORDER_H

/*
 * The order of reports in time: two of the same tick, and the breaks that a reset of the device and
 * lost reports leave.
 */

#include <stdbool.h>
#include <stdint.h>

/** The last report of a sequence. Times of the host are in ticks of the reports. */
struct zeta_intel_order {
    bool is_wide;         /**< reports have headers of 64 bits */
    uint64_t hz;          /**< of their time stamps */
    uint64_t period;      /**< ticks between two reports of the timer */
    bool tells_loss_once; /**< once told, every gap is a loss */
    bool is_started;
    uint64_t id, time;
    uint64_t oldest;     /**< host: it was not made earlier */
    uint64_t empty;      /**< host: what is read from now on was not made earlier */
    uint64_t now;        /**< host: it was made before */
    uint32_t loss;       /**< ZETA_PLUGIN_BREAK_*, reported; gaps after it are breaks */
    uint64_t loss_ticks; /**< when */
    uint64_t loss_left;  /**< ticks: the gap begins no further behind the last report */
    bool loss_found;     /**< one of its gaps */
};

/** At this time of the host every report of the kernel was read. */
void zeta_intel_order_empty_at(struct zeta_intel_order *order, uint64_t host_ns);

/** The reports that follow were made before this time of the host, which never goes back. */
void zeta_intel_order_look_at(struct zeta_intel_order *order, uint64_t host_ns);

/**
 * Moves a report whose time stamp is that of the report before it one tick later: rows that last no
 * time have no rates. A copy of the report before, with the same id too, is left as it is.
 */
void zeta_intel_order_fix(struct zeta_intel_order *order, void *reports, uint64_t bytes,
                          uint32_t report_bytes);

/**
 * Some of the reports until a time (of the unit's clock, of which the bits of time stamps count)
 * were lost, for a reason ZETA_PLUGIN_BREAK_*.
 */
void zeta_intel_order_lose(struct zeta_intel_order *order, uint32_t reason, uint64_t ticks);

/**
 * Why the sequence is interrupted before a report: ZETA_PLUGIN_BREAK_*, NONE if it is not.
 *
 * RESET: its time stamp is further from that of the last one than the host's clock can have gone
 * meanwhile, and not behind by ticks that zeta_intel_order_fix() added. Time stamps wrap, so a
 * report after a long sleep may seem to lie behind, and one after a reset ahead; a reset is missed
 * if what it makes of the time is within 4 s of what could be.
 *
 * The reason of zeta_intel_order_lose(): it is more than one and a half periods later than the one
 * before, which is not later than the loss; it is the first of all; or all until the loss were as
 * near as ever, and the reader has to know of it.
 */
uint32_t zeta_intel_order_break(const struct zeta_intel_order *order, const void *report);

/** The sequence begins anew with a report, for a reason of zeta_intel_order_break() or another. */
void zeta_intel_order_begin(struct zeta_intel_order *order, uint32_t reason, const void *report);

/** Bytes of the reports before the first that has a break before it. */
uint64_t zeta_intel_order_until_break(const struct zeta_intel_order *order, const void *reports,
                                      uint64_t bytes, uint32_t report_bytes);

#endif
