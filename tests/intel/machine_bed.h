/*
 * Tests of the plugin on emulated machines. A process sees one machine, and a library one set of
 * devices, so each case of these programs runs in a process of its own: the program starts itself
 * again with the name of the case.
 */
#ifndef ZETA_TESTS_INTEL_MACHINE_BED_H
#define ZETA_TESTS_INTEL_MACHINE_BED_H

#include "tests/kmd/kmd.h"
#include "tests/metric_api/harness.h"

/** Time of a manual machine that passes while something is waited for, and how often. */
enum { BED_STEP_NS = 1000000, BED_STEPS = 20000 };

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

/** All root devices; fails unless there are so many. */
void bed_devices(uint32_t count, ze_device_handle_t *out_devices);

/** The one device. */
ze_device_handle_t bed_device(void);

/** State and reason of a plugin ("intel-gen12lp"); reason is the library's. */
uint32_t bed_plugin(const char *id, const char **out_reason);

/** A stream with all that it needs. */
struct bed_stream {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    zet_metric_group_properties_t properties;
    uint32_t record_bytes;
    uint32_t period_ns; /**< in use */
};

/** Activates a group and opens a stream. */
struct bed_stream bed_open(ze_device_handle_t device, const char *group, uint32_t period_ns);

/** The same, when opening has to fail; the case looks at the sentence next, and ends. */
void bed_open_fails(ze_device_handle_t device, const char *group, uint32_t period_ns,
                    ze_result_t wanted);

/** Closes and deactivates. */
void bed_close(struct bed_stream *stream);

/** Reads what is there; the bytes. Fails unless the result is the wanted one. */
size_t bed_read(struct bed_stream *stream, uint8_t *data, size_t bytes, ze_result_t wanted);

/**
 * Lets time pass until at least so many reports came, and reads them; the number of slots, of which
 * the first may be the baseline.
 */
uint32_t bed_collect(struct bed_stream *stream, uint32_t reports, uint8_t *data, size_t bytes);

/** A calculated value as a whole number. */
uint64_t bed_value(const zet_typed_value_t *value);

#endif
