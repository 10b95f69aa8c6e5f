#include "order.h"

#include <string.h>

/* More reports than that never have the same time. */
#define SAME_TICKS 16

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

/* How far a time stamp lies behind the last one: nearly all of the range where it is ahead. */
static uint64_t ticks_behind(const struct zeta_intel_order *order, uint64_t time)
{
    const uint64_t mask = order->is_wide ? (UINT64_C(1) << 56) - 1 : UINT32_MAX;

    return (order->time - time) & mask;
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
        order->is_started = true;
        order->id = id;
        order->time = time;
    }
}

bool zeta_intel_order_goes_back(const struct zeta_intel_order *order, const void *report)
{
    const uint64_t behind = ticks_behind(order, read_word(report, 1, order->is_wide));
    const uint64_t half = UINT64_C(1) << (order->is_wide ? 55 : 31);

    return order->is_started && behind > SAME_TICKS && behind < half;
}

uint64_t zeta_intel_order_until_reset(const struct zeta_intel_order *order, const void *reports,
                                      uint64_t bytes, uint32_t report_bytes)
{
    struct zeta_intel_order before = *order;
    const uint8_t *report = reports;
    uint64_t done = 0;

    while (done < bytes && !zeta_intel_order_goes_back(&before, report)) {
        before.is_started = true;
        before.time = read_word(report, 1, order->is_wide);
        done += report_bytes;
        report += report_bytes;
    }
    return done;
}
