#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_COUNTERS_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_COUNTERS_H

/* Every counter of a chip that PM sampling has, as programmables: what the host side of CUPTI
 * lists. */

#include "plugins/nvidia/library/cupti.h"

/**
 * Makes a set file of them, with the units and descriptions of CUPTI and its names, whose dots
 * become underscores; some ten milliseconds.
 * Which of them go together, and which need several passes, only CUPTI knows when a group is made.
 *
 * @curated    text of a set file whose programmables are left out: they have these names already
 * @has_links  whether counters of NVLink may be asked for
 * NULL with the result of CUPTI, or NVIDIA_CUPTI_OUT_OF_MEMORY; the caller frees the text.
 */
char *nvidia_counters_write(const struct nvidia_cupti *cupti, const char *chip, bool has_links,
                            const char *curated, int *out_result);

#endif
