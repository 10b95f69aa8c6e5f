/*
 * Tests of the plugin on emulated machines. A process sees one machine, and a library one set of
 * devices, so each case of these programs runs in a process of its own: the program starts itself
 * again with the name of the case.
 */
#ifndef ZETA_TESTS_INTEL_MACHINE_BED_H
#define ZETA_TESTS_INTEL_MACHINE_BED_H

#include "tests/kmd/kmd.h"
#include "tests/metric_api/harness.h"

/**
 * Runs the cases, each in a process; with a name as the argument that one, here. What main()
 * returns. A case whose initial state is a list of texts, ended by NULL, runs once with each of
 * them as its state. The machine of a case is stopped, whatever became of the case.
 */
int bed_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/** A machine with one device, time standing still; change it before bed_start(). */
struct kmd_config bed_config(const char *platform, const char *driver);

/** Starts the machine and initialises the library. Fails the case if either fails. */
struct kmd_machine *bed_start(const struct kmd_config *config);

/** Starts the machine alone. */
struct kmd_machine *bed_start_machine(const struct kmd_config *config);

/** The machine of the case. */
struct kmd_machine *bed_machine(void);

/** The one device. */
ze_device_handle_t bed_device(void);

/** Writes a sysctl of the machine. */
void bed_sysctl(const char *path, const char *value);

#endif
