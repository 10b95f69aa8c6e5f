#ifndef ZETA_PLUGINS_INTEL_KMD_I915_RECORD_H
#define ZETA_PLUGINS_INTEL_KMD_I915_RECORD_H

/*
 * What read() of a stream of i915 gives: records, each behind a header of 8 bytes. Reports are
 * taken out of them; records of lost buffers become breaks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin.h>

/** Bytes of the header of a record. */
#define ZETA_INTEL_I915_HEADER_BYTES 8u

/** Records that were read and not given yet. */
struct zeta_intel_i915_records {
    const uint8_t *at;
    size_t bytes;          /**< from there on */
    uint32_t report_bytes; /**< of a report; its record is longer by the header */
    uint32_t reason;       /**< ZETA_PLUGIN_BREAK_*: a lost buffer that no report came after yet */
    bool has_loss;         /**< reports were lost; set for whoever asks, and never cleared here */
};

/**
 * Moves reports, as many as there is room for, and stops before a lost buffer that follows a
 * report. The record of lost reports stands before reports that were written earlier than the loss,
 * so it stops nothing.
 *
 * @capacity_bytes  room at out_reports
 * @read            bytes are added to; of a break before its first report it is told too
 * False, with what came before, if the rest is no sequence of records; it is dropped then.
 */
bool zeta_intel_i915_records_take(struct zeta_intel_i915_records *records, void *out_reports,
                                  uint64_t capacity_bytes, struct zeta_plugin_read *read);

#endif
