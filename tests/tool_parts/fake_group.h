/*
 * A group that no device has, for tests of what is done with its rows.
 */
#ifndef ZETA_TESTS_TOOLS_FAKE_GROUP_H
#define ZETA_TESTS_TOOLS_FAKE_GROUP_H

#include "sdk/tools/zeta/sampling/sampled_group.h"

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

/** Shows the group a row of one tile, which goes into no sum: there is no library behind it. */
void fake_group_add(struct zeta_sampled_group *group, uint32_t tile, uint64_t end_ns,
                    uint64_t time_ns);

/** Shows the group a row that somebody leaves out. */
void fake_group_pass(struct zeta_sampled_group *group, uint32_t tile, uint64_t end_ns,
                     uint64_t time_ns);

/** Fills what is shown as two rows would: 40 operations in 1 ms of work, 2 in 3 ms of idling. */
void fake_group_settle(struct zeta_sampled_group *group);

#endif
