#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_CONFIG_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_CONFIG_H

/*
 * What hardware has to do to count some metrics of a chip, and how their values come out of its
 * data: the host side of CUPTI, which needs no GPU.
 */

#include "plugins/nvidia/library/cupti.h"

/** Makes values of some metrics. One thread at a time. */
struct nvidia_config {
    const struct nvidia_cupti *cupti;
    void *host;
    uint8_t *image; /**< CUPTI keeps the pointer while a session has the configuration */
    size_t image_bytes;
    size_t passes; /**< how often the work has to run */
    const char **names;
    size_t count;
};

/**
 * Makes the configuration of names for a chip ("GH100"); some milliseconds. It refers to the names.
 *
 * @type  NVIDIA_PM_SAMPLING or NVIDIA_RANGE_PROFILER
 * Result of CUPTI; NVIDIA_CUPTI_INVALID_METRIC_NAME for a name that the chip does not have, with
 * its place in *out_wrong. Freed with nvidia_config_finish(), also after a failure.
 */
int nvidia_config_make(const struct nvidia_cupti *cupti, int32_t type, const char *chip,
                       const char **names, size_t count, struct nvidia_config *out_config,
                       size_t *out_wrong);
void nvidia_config_finish(struct nvidia_config *config);

/** The values of all names in a sample or range of an image, in order. Result of CUPTI. */
int nvidia_config_evaluate(const struct nvidia_config *config, const uint8_t *image,
                           size_t image_bytes, size_t index, double *out_values);

#endif
