#ifndef ZETA_TESTS_NVIDIA_BED_H
#define ZETA_TESTS_NVIDIA_BED_H

/*
 * Tests of the plugin on machines with GPUs that do not exist (tests/cuda). A process sees one
 * machine and opens its libraries once, so each case has a process of its own.
 *
 * With ZETA_TEST_NVIDIA=device cases that ask for no more than an H100 run on the GPU of this
 * machine, and the others are skipped.
 */

#include <zeta/zeta.h>

#include "tests/cuda/cuda.h"
#include "tests/metric_api/harness.h"
#include "tests/support/suite.h"

/** The machine of the case. */
extern struct cuda_machine *bed_machine;

/**
 * Runs body in a process of its own, whose plugin finds a machine of that description (tests/cuda)
 * and nothing else. Fails the test if the body fails, or the process does not end by itself.
 */
void bed_run(const char *description, void (*body)(void));

/** The same for a body that uses nothing of bed_machine, on an H100 that may be a real one. */
void bed_run_anywhere(void (*body)(void));

/** Whether the GPU is a real one. */
bool bed_is_real(void);

/**
 * Sets a setting of the plugin ("libcupti"), before zeInit(); NULL: as if nobody had set it.
 * bed_run() sets the libraries and the root.
 */
void bed_set(const char *setting, const char *value);

/** Writes a file below the machine's root ("proc/driver/nvidia/params"); NULL removes it. */
void bed_file(const char *name, const char *text);

/** zeInit(), and all devices of all drivers; fails unless there are so many. */
void bed_devices(uint32_t count, ze_device_handle_t *out_devices);

/** zeInit(), and the one device. */
ze_device_handle_t bed_device(void);

/** zeInit() whatever comes of it, and state and reason of the plugin; the reason is the library's.
 */
uint32_t bed_plugin(const char **out_reason);

/** Fails unless the plugin is in that state with a reason that has all parts, NULL at the end. */
void bed_expect_plugin(uint32_t state, const char *const *parts);

#endif
