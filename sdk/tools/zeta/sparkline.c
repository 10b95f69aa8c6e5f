#include "sparkline.h"

#include <math.h>
#include <string.h>

static const char *const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
enum { LEVEL_COUNT = 8 };

static void fold(struct zeta_sparkline *line)
{
    for (uint32_t i = 0; i < ZETA_SPARKLINE_BUCKETS / 2; i++) {
        line->buckets[i].sum = line->buckets[2 * i].sum + line->buckets[2 * i + 1].sum;
        line->buckets[i].weight = line->buckets[2 * i].weight + line->buckets[2 * i + 1].weight;
    }
    line->used = ZETA_SPARKLINE_BUCKETS / 2;
    line->rows_per_bucket *= 2;
    line->rows_in_last = line->rows_per_bucket;
}

void zeta_sparkline_add(struct zeta_sparkline *line, double sum, double weight)
{
    if (line->rows_per_bucket == 0)
        line->rows_per_bucket = 1;
    if (line->used == 0 || line->rows_in_last == line->rows_per_bucket) {
        if (line->used == ZETA_SPARKLINE_BUCKETS)
            fold(line);
        line->buckets[line->used].sum = 0.0;
        line->buckets[line->used].weight = 0.0;
        line->used++;
        line->rows_in_last = 0;
    }
    line->buckets[line->used - 1].sum += sum;
    line->buckets[line->used - 1].weight += weight;
    line->rows_in_last++;
}

/* The value of one column, which joins neighbouring buckets; NaN where nothing is known. */
static double column_value(const struct zeta_sparkline *line, unsigned column, unsigned columns)
{
    const uint32_t first = column * line->used / columns;
    const uint32_t end = (column + 1) * line->used / columns;
    double sum = 0.0;
    double weight = 0.0;

    for (uint32_t i = first; i < end; i++) {
        sum += line->buckets[i].sum;
        weight += line->buckets[i].weight;
    }
    return weight > 0.0 ? sum / weight : (double)NAN;
}

unsigned zeta_sparkline_draw(const struct zeta_sparkline *line, unsigned columns, char *out_text)
{
    double max = 0.0;
    char *end = out_text;

    if (columns > line->used)
        columns = line->used;
    for (unsigned i = 0; i < columns; i++)
        max = fmax(max, column_value(line, i, columns));
    for (unsigned i = 0; i < columns; i++) {
        const double value = column_value(line, i, columns);
        unsigned level = 0;

        if (isnan(value)) {
            *end++ = ' ';
            continue;
        }
        if (max > 0.0 && value > 0.0)
            level = (unsigned)(value / max * (LEVEL_COUNT - 1) + 0.5);
        memcpy(end, levels[level], 3);
        end += 3;
    }
    *end = '\0';
    return columns;
}
