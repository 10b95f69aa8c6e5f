#ifndef ZETA_PLUGINS_INTEL_KMD_BINDING_H
#define ZETA_PLUGINS_INTEL_KMD_BINDING_H

/*
 * Which driver of the kernel has a GPU, for GPUs that no driver which counts has: those have no
 * node, so only sysfs shows them.
 */

#include <stdbool.h>
#include <stddef.h>

#include "../intel.h"

/**
 * Says how a GPU gets a driver that counts on it: one more sentence behind the one that says what
 * is wrong.
 *
 * @bound  the driver that has it, NULL: none
 */
void zeta_intel_binding_advice(const struct zeta_intel_platform *platform, uint32_t device_id,
                               const char *bound, char *out_text, size_t bytes);

/**
 * Looks for a GPU of the generation that is in the machine and not among intel->gpus, because
 * nothing that counts drives it, or it has no node. Writes a sentence about the first; false: there
 * is none.
 */
bool zeta_intel_binding_find(const struct zeta_intel *intel, char *out_text, size_t bytes);

#endif
