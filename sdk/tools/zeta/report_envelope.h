/*
 * A line of a plot in a fixed number of points, however many values it is of: smallest, largest and
 * mean value of equal pieces of time.
 */
#ifndef ZETA_TOOLS_REPORT_ENVELOPE_H
#define ZETA_TOOLS_REPORT_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

/** Points at most; even, because neighbours are joined. */
enum { ZETA_ENVELOPE_POINTS = 2048 };

/** Values of one piece of time; count 0: none. */
struct zeta_envelope_point {
    float min, max;
    double sum;
    uint64_t count;
};

/**
 * The first point begins at time 0. When a value lies behind the last, neighbours are joined and
 * each point covers twice as long. All zero bytes is an empty line.
 */
struct zeta_envelope {
    struct zeta_envelope_point *points;
    uint32_t used;     /**< up to the last with a value */
    uint64_t width_ns; /**< of a point */
};

/**
 * Adds a value at a time. NaN and infinite values are left out. False without memory.
 *
 * @width_ns  of the points before any are joined, above 0; only that of the first value counts
 */
bool zeta_envelope_add(struct zeta_envelope *line, uint64_t time_ns, double value,
                       uint64_t width_ns);

void zeta_envelope_finish(struct zeta_envelope *line);

#endif
