#include "sdk/tools/zeta/recording/envelope.h"

#include <stdlib.h>
#include <string.h>

static void widen(struct zeta_envelope *line)
{
    for (uint32_t i = 0; i < ZETA_ENVELOPE_POINTS / 2; i++)
        line->points[i] = line->points[2 * i] + line->points[2 * i + 1];
    memset(&line->points[ZETA_ENVELOPE_POINTS / 2], 0,
           ZETA_ENVELOPE_POINTS / 2 * sizeof(*line->points));
    line->used = (line->used + 1) / 2;
    line->width_ns *= 2;
}

bool zeta_envelope_add(struct zeta_envelope *line, uint64_t time_ns, uint64_t width_ns)
{
    uint64_t at;

    if (time_ns > INT64_MAX)
        return true;
    if (!line->points) {
        line->points = calloc(ZETA_ENVELOPE_POINTS, sizeof(*line->points));
        line->width_ns = width_ns;
    }
    if (!line->points)
        return false;
    while ((at = time_ns / line->width_ns) >= ZETA_ENVELOPE_POINTS)
        widen(line);
    line->points[at]++;
    if (at >= line->used)
        line->used = (uint32_t)at + 1;
    return true;
}

void zeta_envelope_finish(struct zeta_envelope *line)
{
    free(line->points);
    *line = (struct zeta_envelope){0};
}
