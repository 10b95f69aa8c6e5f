#ifndef ZETA_TESTS_NVIDIA_PARTS_H
#define ZETA_TESTS_NVIDIA_PARTS_H

/*
 * Tests of parts of the plugin without libzeta: a host that remembers what it was told, and the
 * libraries of tests/cuda, opened as the plugin opens them. Cases run in processes of their own
 * (bed_run() of tests/cuda/tests/bed.h), whose libraries are the same.
 */

#include "plugins/nvidia/gpu/nvidia.h"

/** A host: settings are those of parts_set(), the last sentence is parts_sentence. */
extern const struct zeta_host parts_host;
extern char parts_sentence[ZETA_HOST_TEXT_BYTES];
extern uint32_t parts_result; /**< that was given with it */

/** Sets a setting ("libcupti"). */
void parts_set(const char *name, const char *value);

/** libcupti of the machine, opened; fails the test without it. */
const struct nvidia_cupti *parts_cupti(void);

/** The plugin initialised on the machine (bed_machine), and its first device. */
struct zeta_plugin_device *parts_device(void);

/** Texts that were logged so far as warnings or errors, and the last one. */
extern uint32_t parts_log_count;
extern char parts_log[ZETA_HOST_TEXT_BYTES];

/** Fails unless the last sentence has the part. */
void parts_expect_sentence(const char *part);

#endif
