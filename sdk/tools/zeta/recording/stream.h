/*
 * Values of one stream of a recording.
 */
#ifndef ZETA_TOOLS_RECORDING_STREAM_H
#define ZETA_TOOLS_RECORDING_STREAM_H

#include "sdk/tools/zeta/recording/data.h"

/** First reading: notes who the stream is and when it began. On failure prints why. */
int zeta_report_stream_index(struct zeta_report *report, struct zeta_recording_reader *reader,
                             const struct zeta_recording_chunk *chunk);

/** Second reading: calculates or decodes a piece. On failure prints why. */
int zeta_report_stream_read(struct zeta_report *report, struct zeta_recording_reader *reader,
                            const struct zeta_recording_chunk *chunk);

/** Writes the first line of the rows of a stream. */
void zeta_report_stream_write_head(const struct zeta_report_stream *stream, FILE *rows);

void zeta_report_stream_finish(struct zeta_report_stream *stream);

#endif
