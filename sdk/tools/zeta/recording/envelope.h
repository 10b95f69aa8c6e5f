/*
 * How often something happened over time, in a fixed number of points, however often it did.
 */
#ifndef ZETA_TOOLS_RECORDING_ENVELOPE_H
#define ZETA_TOOLS_RECORDING_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

/** Points at most; even, because neighbours are joined. */
enum { ZETA_ENVELOPE_POINTS = 2048 };

/**
 * The first point begins at time 0. When something lies behind the last, neighbours are joined and
 * each point covers twice as long. All zero bytes is an empty line.
 */
struct zeta_envelope {
    uint64_t *points;
    uint32_t used;     /**< up to the last that is not 0 */
    uint64_t width_ns; /**< of a point */
};

/**
 * Counts something at a time. False without memory.
 *
 * @width_ns  of the points before any are joined, above 0; only that of the first time counts
 */
bool zeta_envelope_add(struct zeta_envelope *line, uint64_t time_ns, uint64_t width_ns);

void zeta_envelope_finish(struct zeta_envelope *line);

#endif
