/*
 * Recordings that are written: what their chunks say about devices and streams.
 */
#ifndef ZETA_CORE_METRIC_EXPORT_RECORDING_H
#define ZETA_CORE_METRIC_EXPORT_RECORDING_H

#include <stdint.h>

#include "core/util/list.h"
#include "zeta/container.h"

struct zeta_device;

/**
 * The lines of a DEVICE chunk.
 *
 * @parent  number of the root in the recording, 0 for a root
 */
void zeta_recording_describe_device(const struct zeta_device *device, uint32_t parent,
                                    struct zeta_lines *lines);

#endif
