/*
 * Rows of metric values of a recording: when they were, and where they go.
 */
#ifndef ZETA_TOOLS_RECORDING_ROWS_H
#define ZETA_TOOLS_RECORDING_ROWS_H

#include "sdk/tools/zeta/recording/data.h"

/** Notes when the first row of a piece began. On failure prints why. */
int zeta_report_rows_find_first(struct zeta_report *report, struct zeta_report_stream *stream,
                                const struct zeta_calc_piece *piece);

/** Calculates a piece. On failure prints why. */
int zeta_report_rows_read(struct zeta_report *report, struct zeta_report_stream *stream,
                          const struct zeta_calc_piece *piece);

#endif
