/*
 * A time line of few values, drawn with block characters.
 */
#ifndef ZETA_TOOLS_OUTPUT_SPARKLINE_H
#define ZETA_TOOLS_OUTPUT_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

enum {
    ZETA_SPARKLINE_VALUES = 64,
    /** Lines of 64, 32, 16, 8 and 4 values. */
    ZETA_SPARKLINE_LEVELS = 5,
    /** Longest text: three bytes per column and the terminator. */
    ZETA_SPARKLINE_TEXT_BYTES = 3 * ZETA_SPARKLINE_VALUES + 1
};

/**
 * The same time at several widths: each level has half as many values as the one before. All zero
 * is an empty line.
 */
struct zeta_sparkline {
    uint32_t counts[ZETA_SPARKLINE_LEVELS]; /**< values that are used; 0: no such level */
    double values[ZETA_SPARKLINE_LEVELS][ZETA_SPARKLINE_VALUES]; /**< NaN where nothing is known */
};

/**
 * Draws the longest level of at most columns characters, scaled from 0 to the largest value, a
 * blank where nothing is known. out_text has ZETA_SPARKLINE_TEXT_BYTES bytes. Gives the number of
 * columns drawn.
 */
unsigned zeta_sparkline_draw(const struct zeta_sparkline *line, unsigned columns, char *out_text);

#endif
