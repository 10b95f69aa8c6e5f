/*
 * A time line in a fixed number of buckets, drawn with block characters.
 */
#ifndef ZETA_TOOLS_SPARKLINE_H
#define ZETA_TOOLS_SPARKLINE_H

#include <stddef.h>
#include <stdint.h>

enum {
    ZETA_SPARKLINE_BUCKETS = 64,
    /** Longest text: three bytes per column and the terminator. */
    ZETA_SPARKLINE_TEXT_BYTES = 3 * ZETA_SPARKLINE_BUCKETS + 1
};

/**
 * Every bucket covers the same number of rows. When all are full, neighbours are joined and each
 * covers twice as many, so any length of run fits. All zero is an empty line.
 */
struct zeta_sparkline {
    struct {
        double sum;
        double weight;
    } buckets[ZETA_SPARKLINE_BUCKETS];
    uint32_t used;            /**< buckets with rows; the last may be partly filled */
    uint64_t rows_per_bucket; /**< 0 until the first row */
    uint64_t rows_in_last;
};

/** Adds a row; what is drawn is sum / weight of the rows of a bucket. weight 0: nothing known. */
void zeta_sparkline_add(struct zeta_sparkline *line, double sum, double weight);

/**
 * Draws at most columns characters, scaled from 0 to the largest value, a blank where nothing is
 * known. out_text has ZETA_SPARKLINE_TEXT_BYTES bytes. Gives the number of columns drawn.
 */
unsigned zeta_sparkline_draw(const struct zeta_sparkline *line, unsigned columns, char *out_text);

#endif
