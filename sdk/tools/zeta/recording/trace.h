/*
 * Lines of the API trace in a recording.
 */
#ifndef ZETA_TOOLS_RECORDING_TRACE_H
#define ZETA_TOOLS_RECORDING_TRACE_H

#include "sdk/tools/zeta/recording/data.h"
#include "sdk/tools/zeta/trace/line.h"

/** Begins to read the lines of a TRACE chunk, cleaned. False without memory. */
bool zeta_report_trace_begin(struct zeta_report *report, const struct zeta_recording_chunk *chunk,
                             struct zeta_trace_reader *out_lines);

/** When a line was, in the time of the host. False for one that has no time, or none that fits. */
bool zeta_report_trace_time(const struct zeta_report *report, const struct zeta_trace_line *line,
                            int64_t *out_begin_ns, int64_t *out_end_ns);

/** Takes clocks, work of the device and names of queues out of a line. False without memory. */
bool zeta_report_trace_index(struct zeta_report *report, const struct zeta_trace_line *line);

/** Second reading: counts a line if it is in the range, and hands it on. False without memory. */
bool zeta_report_trace_read(struct zeta_report *report, const struct zeta_trace_line *line);

#endif
