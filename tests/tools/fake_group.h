/*
 * A group that no device has, for tests of what is done with its rows.
 */
#ifndef ZETA_TESTS_TOOLS_FAKE_GROUP_H
#define ZETA_TESTS_TOOLS_FAKE_GROUP_H

#include "sampled_group.h"

/** Places of the metrics in a row. */
enum {
    FAKE_TIME, /**< GpuTime, u64 ns, a duration */
    FAKE_OPS,  /**< FpOps, u64, an event */
    FAKE_BUSY, /**< GpuBusy, f32 percent, a ratio */
    FAKE_END,  /**< QueryBeginTime, u64 ns, a timestamp: where the row ends */
    FAKE_COUNT
};

struct fake_group {
    struct zeta_group_entry entry;
    struct zeta_metric_entry metrics[FAKE_COUNT];
};

/** Timer of 25 MHz with 32 bits, so QueryBeginTime wraps at 171798691840 ns. */
void fake_group_init(struct fake_group *fake);

/** Adds a row of one tile. */
void fake_group_add(struct zeta_sampled_group *group, uint32_t tile, uint64_t end_ns,
                    uint64_t time_ns, uint64_t ops, float busy);

#endif
