/*
 * Metric values and events as lines of a trace, for the writers of traces.
 */
#ifndef ZETA_TOOLS_RECORDING_COUNTERS_H
#define ZETA_TOOLS_RECORDING_COUNTERS_H

#include "sdk/tools/zeta/recording/data.h"

/** Writes the values of a row, from the time on that it began. False without memory. */
bool zeta_report_counters_add_row(struct zeta_report *report,
                                  const struct zeta_report_stream *stream, int64_t begin_ns,
                                  const struct zeta_metric_row *row);

/** Writes an event. False without memory. */
bool zeta_report_counters_add_event(struct zeta_report *report,
                                    const struct zeta_report_stream *stream, uint32_t tile,
                                    int64_t time_ns, const zet_metric_entry_exp_t *entry);

/** Writes the names of the tracks, once before everything else. False without memory. */
bool zeta_report_counters_begin(struct zeta_report *report);

#endif
