#ifndef ZETA_PLUGINS_INTEL_KMD_I915_H
#define ZETA_PLUGINS_INTEL_KMD_I915_H

/*
 * The parts of the table of i915, each in the file of its name.
 */

#include "plugins/intel/kmd/kmd.h"

/** Revisions of the perf interface that brought something that is used here. */
enum {
    ZETA_INTEL_I915_POLL_PERIOD = 5,  /**< how often the kernel looks for reports */
    ZETA_INTEL_I915_ENGINE = 6,       /**< the unit is chosen by an engine */
    ZETA_INTEL_I915_MEDIA_ENGINES = 7 /**< units of media engines */
};

/*
 * What read() of a stream gives: records, each behind a header of 8 bytes. Reports are taken out of
 * them; records of lost buffers become breaks.
 */

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

uint32_t zeta_intel_i915_probe(struct zeta_intel_gpu *gpu);
uint32_t zeta_intel_i915_stream_open(struct zeta_intel_gpu *gpu,
                                     const struct zeta_intel_stream_request *request,
                                     struct zeta_intel_kernel_stream **out_stream);
uint32_t zeta_intel_i915_stream_read(struct zeta_intel_kernel_stream *stream, void *buffer,
                                     uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
void zeta_intel_i915_stream_close(struct zeta_intel_kernel_stream *stream);

uint64_t zeta_intel_i915_min_period_ns(const struct zeta_intel_unit *unit, bool for_everybody);

/** Revision of the perf interface; 0: the kernel has none. */
uint32_t zeta_intel_i915_perf_revision(const struct zeta_intel_gpu *gpu);

/**
 * Turns the kernel's answer to a call about perf into a result with a sentence.
 *
 * @error  errno, positive
 * @what   what was asked: "to open a stream of the unit oa"
 */
uint32_t zeta_intel_i915_fail(struct zeta_intel_gpu *gpu, int error, const char *what);

#endif
