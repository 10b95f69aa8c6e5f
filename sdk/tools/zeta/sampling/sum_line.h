/*
 * A line of sums: rows in a fixed number of equal pieces, however many rows there are, so that what
 * is drawn of a piece is the value of its rows.
 */
#ifndef ZETA_TOOLS_SAMPLING_SUM_LINE_H
#define ZETA_TOOLS_SAMPLING_SUM_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/zeta.h>

/**
 * The first piece begins at 0. When a row lies behind the last, neighbours are joined and each
 * piece is twice as wide. All zero bytes but most is an empty line.
 */
struct zeta_sum_line {
    uint32_t most;                   /**< pieces at most; even */
    struct zeta_metric_sum **pieces; /**< null: without rows */
    uint32_t used;                   /**< up to the last with rows */
    uint64_t width;                  /**< of a piece */
};

/**
 * Adds a row at a place. False without memory.
 *
 * @like   a sum of the same group
 * @width  of the pieces before any are joined, above 0; only that of the first row counts
 */
bool zeta_sum_line_add(struct zeta_sum_line *line, const struct zeta_metric_sum *like, uint64_t at,
                       uint64_t width, const struct zeta_metric_row *row);

/** Joins neighbours: half as many pieces, each twice as wide. */
void zeta_sum_line_join(struct zeta_sum_line *line);

void zeta_sum_line_finish(struct zeta_sum_line *line);

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
