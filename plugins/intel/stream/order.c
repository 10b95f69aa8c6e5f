#include "plugins/intel/stream/order.h"

#include <string.h>

#include <zeta/plugin.h>

/* More reports than that never have the same time. */
#define SAME_TICKS 16

/* Reports show late, and no two clocks go alike. */
#define SLACK_S 4u

/* 32-bit headers hold the report's id at 0 and its time at 4, 64-bit ones at 0 and 8. */
static uint64_t read_word(const uint8_t *report, uint32_t index, bool is_wide)
{
    uint32_t narrow;
    uint64_t wide;

    if (is_wide) {
        memcpy(&wide, report + 8 * (size_t)index, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, report + 4 * (size_t)index, sizeof(narrow));
    return narrow;
}

static void write_time(uint8_t *report, uint64_t time, bool is_wide)
{
    const uint32_t narrow = (uint32_t)time;

    if (is_wide)
        memcpy(report + 8, &time, sizeof(time));
    else
        memcpy(report + 4, &narrow, sizeof(narrow));
}

static uint64_t time_mask(const struct zeta_intel_order *order)
{
    return order->is_wide ? (UINT64_C(1) << 56) - 1 : UINT32_MAX;
}

/* How far a time stamp lies behind the last one: nearly all of the range where it is ahead. */
static uint64_t ticks_behind(const struct zeta_intel_order *order, uint64_t time)
{
    return (order->time - time) & time_mask(order);
}

/* How far it lies ahead; nothing where ticks were added to the last one. */
static uint64_t ticks_ahead(const struct zeta_intel_order *order, uint64_t time)
{
    return ticks_behind(order, time) > SAME_TICKS ? (time - order->time) & time_mask(order) : 0;
}

/* In two parts, because the product does not fit. */
static uint64_t ticks_of(const struct zeta_intel_order *order, uint64_t ns)
{
    return ns / 1000000000u * order->hz + ns % 1000000000u * order->hz / 1000000000u;
}

void zeta_intel_order_empty_at(struct zeta_intel_order *order, uint64_t host_ns)
{
    order->empty = ticks_of(order, host_ns);
}

void zeta_intel_order_look_at(struct zeta_intel_order *order, uint64_t host_ns)
{
    order->now = ticks_of(order, host_ns);
}

/* Brings the end of a loss nearer; behind it, gaps are no longer looked for. */
static void pass(struct zeta_intel_order *order, uint64_t ticks)
{
    order->loss_left -= ticks < order->loss_left ? ticks : order->loss_left;
    if (order->loss_left == 0 && order->loss_found && !order->tells_loss_once)
        order->loss = ZETA_PLUGIN_BREAK_NONE;
}

/*
 * Takes a report as the last one. From one to the next the host's clock has gone as far as theirs;
 * where that runs ahead of the host, by their drift, the host wins.
 */
static void follow(struct zeta_intel_order *order, uint64_t id, uint64_t time)
{
    if (order->is_started) {
        order->oldest += ticks_ahead(order, time);
        pass(order, ticks_ahead(order, time));
    }
    if (order->oldest < order->empty)
        order->oldest = order->empty;
    if (order->oldest > order->now)
        order->oldest = order->now;
    order->is_started = true;
    order->id = id;
    order->time = time;
}

void zeta_intel_order_fix(struct zeta_intel_order *order, void *reports, uint64_t bytes,
                          uint32_t report_bytes)
{
    uint8_t *report = reports;

    for (uint64_t done = 0; done < bytes; done += report_bytes, report += report_bytes) {
        const uint64_t id = read_word(report, 0, order->is_wide);
        uint64_t time = read_word(report, 1, order->is_wide);
        const uint64_t behind = ticks_behind(order, time);

        if (order->is_started && behind <= SAME_TICKS && (behind > 0 || id != order->id)) {
            time = order->time + 1;
            write_time(report, time, order->is_wide);
        }
        follow(order, id, time);
    }
}

/* From a report to where a loss ended; clocks and timers are not so exact. */
static uint64_t ticks_until_loss(const struct zeta_intel_order *order, uint64_t time)
{
    const uint64_t ahead = (order->loss_ticks - time) & time_mask(order);

    return (ahead > time_mask(order) / 2 ? 0 : ahead) + 2 * order->period;
}

void zeta_intel_order_lose(struct zeta_intel_order *order, uint32_t reason, uint64_t ticks)
{
    if (order->loss != ZETA_PLUGIN_BREAK_OVERFLOW || order->loss_found)
        order->loss = reason;
    order->loss_ticks = ticks;
    order->loss_left = ticks_until_loss(order, order->time);
    order->loss_found = false;
}

uint32_t zeta_intel_order_break(const struct zeta_intel_order *order, const void *report)
{
    const uint64_t time = read_word(report, 1, order->is_wide);
    const uint64_t ahead = ticks_ahead(order, time);
    const bool is_gap = ahead > order->period + order->period / 2;

    if (!order->is_started)
        return order->loss_found ? ZETA_PLUGIN_BREAK_NONE : order->loss;
    if (ahead > order->now - order->oldest + SLACK_S * order->hz)
        return ZETA_PLUGIN_BREAK_RESET;
    if (order->loss_left == 0 && !order->loss_found)
        return order->loss;
    return is_gap ? order->loss : ZETA_PLUGIN_BREAK_NONE;
}

void zeta_intel_order_begin(struct zeta_intel_order *order, uint32_t reason, const void *report)
{
    const uint64_t time = read_word(report, 1, order->is_wide);

    if (reason == ZETA_PLUGIN_BREAK_RESET && !order->tells_loss_once)
        order->loss = ZETA_PLUGIN_BREAK_NONE;
    if (!order->is_started)
        order->loss_left = ticks_until_loss(order, time);
    order->loss_found = true;
    pass(order, order->is_started ? ticks_ahead(order, time) : 0);
    order->is_started = false;
}

uint64_t zeta_intel_order_until_break(const struct zeta_intel_order *order, const void *reports,
                                      uint64_t bytes, uint32_t report_bytes)
{
    struct zeta_intel_order before = *order;
    const uint8_t *report = reports;
    uint64_t done = 0;

    while (done < bytes && zeta_intel_order_break(&before, report) == ZETA_PLUGIN_BREAK_NONE) {
        follow(&before, 0, read_word(report, 1, order->is_wide));
        done += report_bytes;
        report += report_bytes;
    }
    return done;
}
