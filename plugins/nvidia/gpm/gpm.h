#ifndef ZETA_PLUGINS_NVIDIA_GPM_GPM_H
#define ZETA_PLUGINS_NVIDIA_GPM_GPM_H

/*
 * Streams of GPM: NVML takes a sample of a GPU's counters now and then, and calculates values of
 * the time between two of them. It needs no privilege and works beside everything else.
 *
 *     pump's thread, each period:  nvmlGpmSampleGet --> new
 *                                  nvmlGpmMetricsGet(old, new) --> a record, if there was a tick
 *
 * The GPU updates what is sampled in ticks of about 100 ms. Two samples within a tick have no
 * values (all 0, that of device memory NaN): they make no record, and the old sample stays. Values
 * describe a time that ended 0.1 to 0.2 s before the sample was taken; the times of a record are
 * those at which the samples were taken.
 *
 * Records are struct nvidia_interval. A program has entries "F0=10": value 10 of GPM into F[0].
 */

#include <zeta/record_ring.h>

#include "plugins/nvidia/gpu/nvidia.h"

/** The counting unit, as set files call it. */
#define NVIDIA_GPM_UNIT "gpm"

/**
 * Fills the range of periods. UNSUPPORTED_FEATURE with a sentence where the GPU or its driver has
 * no GPM; NOT_AVAILABLE where no period is as short as asked. Any thread.
 */
uint32_t nvidia_gpm_limits(struct zeta_plugin_device *device,
                           struct zeta_plugin_limits *out_limits);

/** As stream_open() of zeta/plugin_metric.h, for that unit. No other process ever has it. */
uint32_t nvidia_gpm_open(struct zeta_plugin_device *device, struct zeta_plugin_stream_desc *desc,
                         struct zeta_plugin_stream **out_stream);

#endif
