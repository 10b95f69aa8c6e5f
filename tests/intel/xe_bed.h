/*
 * What tests of Intel GPUs behind the xe driver share: a machine of the emulated kernel that the
 * library finds, and streams from their group to all that was read.
 */
#ifndef ZETA_TESTS_INTEL_XE_BED_H
#define ZETA_TESTS_INTEL_XE_BED_H

#include "tests/kmd/kmd.h"
#include "tests/metric_api/harness.h"

/** Starts a machine and the library on it. One in a process. */
struct kmd_machine *xe_machine_start(const struct kmd_config *config);

/** Stops the machine; what is open on it is dead. */
void xe_machine_stop(struct kmd_machine *machine);

/** Groups of a device by name; 0: it has none of that name. */
uint32_t xe_group_count(ze_device_handle_t device, const char *name);

/** A stream and what it gave. */
struct xe_source {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    ze_event_handle_t event; /**< in: to be signalled; may be NULL */
    uint32_t record_bytes;
    uint32_t metrics;   /**< of the group */
    uint32_t period_ns; /**< in: wanted; out: used */
    uint32_t notify;    /**< in: wanted; out: used */
    uint8_t *raw;       /**< of all reads */
    size_t capacity;    /**< room there */
    size_t bytes;       /**< of it */
    size_t chunk_bytes; /**< of one read */
    uint32_t warnings;  /**< reads that said that data was dropped */
    bool is_sample;     /**< no record is repeated, and two may be equal */
    bool is_shared;     /**< the context is another source's, which has made the group active */
};

/** The group of a name that is sampled over time, not opened yet. */
struct xe_source xe_source_of(ze_device_handle_t device, const char *group);

/** Makes the groups of these sources of one device active, all in the context of the first. */
void xe_sources_activate(struct xe_source *const *sources, uint32_t count);

/** Opens the stream of a source, which must be active. */
ze_result_t xe_source_try_open(struct xe_source *source);
void xe_source_open(struct xe_source *source);

/** Activates and opens one source. */
void xe_source_start(struct xe_source *source);

/** Reads once, and until nothing is left. The result of the last read that failed, or SUCCESS. */
ze_result_t xe_source_read(struct xe_source *source);
ze_result_t xe_source_drain(struct xe_source *source);

/** Closes the stream, drops the context and what was read. */
void xe_source_close(struct xe_source *source);

/** Records in the order of time, without repeated ones and what the library says in between. */
uint32_t xe_record_count(const struct xe_source *source);
const uint8_t *xe_record(const struct xe_source *source, uint32_t index);

/** Breaks of that reason (ZETA_PLUGIN_BREAK_*) in what was read. */
uint32_t xe_break_count(const struct xe_source *source, uint32_t reason);

/** Value of a metric in a row of everything that was read. */
struct xe_rows {
    zet_typed_value_t *values;
    uint32_t rows, metrics;
};
struct xe_rows xe_source_calculate(const struct xe_source *source);
zet_value_t xe_value(const struct xe_source *source, const struct xe_rows *rows, uint32_t row,
                     const char *metric);
void xe_rows_free(struct xe_rows *rows);

/** A number of so many bytes in a record. */
uint64_t xe_get(const uint8_t *record, size_t at, size_t bytes);

/** Writes a sysctl of the machine. */
void xe_sysctl(const char *path, const char *value);

#endif
