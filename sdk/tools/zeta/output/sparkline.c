#include "sdk/tools/zeta/output/sparkline.h"

#include <math.h>
#include <string.h>

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
enum { BLOCK_COUNT = 8 };

unsigned zeta_sparkline_draw(const struct zeta_sparkline *line, unsigned columns, char *out_text)
{
    unsigned level = 0;
    const double *values;
    double max = 0.0;
    char *end = out_text;

    while (level + 1 < ZETA_SPARKLINE_LEVELS && line->counts[level] > columns)
        level++;
    values = line->values[level];
    if (columns > line->counts[level])
        columns = line->counts[level];
    for (unsigned i = 0; i < columns; i++)
        max = fmax(max, values[i]);
    for (unsigned i = 0; i < columns; i++) {
        unsigned block = 0;

        if (isnan(values[i])) {
            *end++ = ' ';
            continue;
        }
        if (max > 0.0 && values[i] > 0.0)
            block = (unsigned)(values[i] / max * (BLOCK_COUNT - 1) + 0.5);
        memcpy(end, blocks[block], 3);
        end += 3;
    }
    *end = '\0';
    return columns;
}
