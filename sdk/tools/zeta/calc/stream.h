/*
 * One stream of a file while it is calculated.
 */
#ifndef ZETA_TOOLS_CALC_STREAM_H
#define ZETA_TOOLS_CALC_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "sdk/tools/zeta/calc/calc.h"

/** Exported data, with the raw data that it was made of. */
struct zeta_calc_piece {
    const uint8_t *data;
    size_t size;
    const uint8_t *raw;
    size_t raw_bytes;
};

/**
 * Reads the group and the metrics of a stream from its first piece. On failure prints why.
 *
 * @is_maximum  its values are the greatest possible ones
 */
int zeta_calc_stream_open(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                          bool is_maximum);

/** Calculates a piece and adds its rows. On failure prints why. */
int zeta_calc_stream_add(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                         const struct zeta_calc_choice *choice);

/** Writes the first line of a stream's rows. */
void zeta_calc_stream_write_head(const struct zeta_calc_stream *stream, FILE *rows);

void zeta_calc_stream_finish(struct zeta_calc_stream *stream);

#endif
