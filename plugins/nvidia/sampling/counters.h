#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_COUNTERS_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_COUNTERS_H

/* Every counter of a chip that streams or queries can have, as programmables: what the host side of
 * CUPTI lists. */

#include "plugins/nvidia/library/cupti.h"

/**
 * Hands them out as set files, with the units and descriptions of CUPTI and its names, whose dots
 * become underscores; some ten milliseconds.
 * Which of them go together, and which need several passes, only CUPTI knows when a group is made.
 *
 * @curated    text of a set file whose programmables are left out: they have these names already
 * @has_links  whether counters of NVLink may be asked for
 * Result of CUPTI, or NVIDIA_CUPTI_OUT_OF_MEMORY.
 */
int nvidia_counters_write(const struct nvidia_cupti *cupti, const char *chip, bool has_links,
                          const char *curated, const struct zeta_plugin_text_sink *sink);

#endif
