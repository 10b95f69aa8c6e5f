/*
 * Metrics of the fake device: queries count what its queues did, streams hold the markers that
 * command lists set. Between compute.c, bare.c and metrics.c.
 */
#ifndef ZETA_TESTS_HARNESS_DEVICE_METRICS_H
#define ZETA_TESTS_HARNESS_DEVICE_METRICS_H

#include <stdint.h>

#include <zeta/plugin.h>

#define FAKE_DEVICE_COUNT 3u /* a root and its two tiles */

struct zeta_plugin_device {
    uint32_t index;
};

/** What a queue did; written by the thread that runs its commands. */
struct fake_work {
    uint32_t device; /**< index; work of the root is that of its first tile */
    uint32_t context;
    uint64_t launches;
    uint64_t added; /**< sum of what kernels "add" added, which may need all 64 bits */
    uint64_t copies;
    uint64_t bytes; /**< copied */
};

extern const struct zeta_plugin_metric_ops fake_metric_ops;

/** Runs QUERY_BEGIN, QUERY_END or MARKER at a time. INVALID_ARGUMENT: an end without its begin. */
uint32_t fake_metrics_execute(const struct fake_work *work,
                              const struct zeta_plugin_command *command, uint64_t ticks);

/** What tests ask and say through compute_control. */
uint32_t fake_metrics_live_pools(void);
void fake_metrics_refuse_pools(uint32_t result);
void fake_metrics_refuse_queries(uint32_t result);

#endif
