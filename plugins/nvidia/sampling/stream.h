#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_STREAM_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_STREAM_H

/*
 * Streams of PM sampling for libzeta: a session, the thread that fetches its samples, and a ring of
 * records. And the periods that they have.
 */

#include "plugins/nvidia/gpu/nvidia.h"
#include "plugins/nvidia/sampling/program.h"

/** Steps of a period in ns: a tick of the GPU's timer. */
#define NVIDIA_TICK_NS 32u

/**
 * Periods of the streams of a program (NULL: of any), from the shortest that a processor core
 * sustains, or that the setting shortest_period_ns says, to the longest that CUPTI takes.
 */
void nvidia_period_range(const struct nvidia *nvidia, const struct nvidia_program *program,
                         uint64_t *out_least_ns, uint64_t *out_most_ns);

/**
 * The period nearest to the wanted one that a program can have, in ticks. NOT_AVAILABLE with a
 * sentence where the caller wants none as long (most_ns; 0: any).
 */
uint32_t nvidia_period_choose(const struct zeta_plugin_device *device, const char *set,
                              const struct nvidia_program *program, uint64_t wanted_ns,
                              uint64_t most_ns, uint64_t *out_period_ns);

/** As stream_open() of zeta/plugin_metric.h, for the unit perfmon. */
uint32_t nvidia_sampling_open(struct zeta_plugin_device *device,
                              struct zeta_plugin_stream_desc *desc,
                              struct zeta_plugin_stream **out_stream);

#endif
