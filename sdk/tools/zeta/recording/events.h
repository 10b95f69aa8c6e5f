/*
 * Events of a recording.
 */
#ifndef ZETA_TOOLS_RECORDING_EVENTS_H
#define ZETA_TOOLS_RECORDING_EVENTS_H

#include "sdk/tools/zeta/recording/data.h"

/** Reads the metrics of a stream from the piece that was read last. On failure prints why. */
int zeta_report_events_open(struct zeta_report_stream *stream,
                            struct zeta_recording_reader *reader);

/** Decodes the piece that was read last and counts its events. On failure prints why. */
int zeta_report_events_read(struct zeta_report *report, struct zeta_report_stream *stream,
                            struct zeta_recording_reader *reader,
                            const struct zeta_recording_chunk *chunk);

#endif
