#include "sdk/tools/zeta/sampling/sum_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void zeta_sum_line_join(struct zeta_sum_line *line)
{
    for (uint32_t i = 0; i < (line->used + 1) / 2; i++) {
        struct zeta_metric_sum *left = line->pieces[2 * i];
        struct zeta_metric_sum *right = line->pieces[2 * i + 1];

        if (left && right) {
            (void)zetaMetricSumMerge(left, right);
            zetaMetricSumDestroy(right);
        }
        line->pieces[2 * i + 1] = NULL;
        line->pieces[2 * i] = NULL;
        line->pieces[i] = left ? left : right;
    }
    line->used = (line->used + 1) / 2;
    line->width *= 2;
}

bool zeta_sum_line_add(struct zeta_sum_line *line, const struct zeta_metric_sum *like, uint64_t at,
                       uint64_t width, const struct zeta_metric_row *row)
{
    const struct zeta_metric_sum_desc desc = {.struct_size = sizeof(desc), .like = like};
    struct zeta_metric_sum **piece;

    if (!line->pieces) {
        line->pieces = calloc(line->most, sizeof(struct zeta_metric_sum *));
        line->width = width;
    }
    if (!line->pieces)
        return false;
    while (at / line->width >= line->most)
        zeta_sum_line_join(line);
    piece = &line->pieces[at / line->width];
    if (!*piece && zetaMetricSumCreate(&desc, piece) != ZE_RESULT_SUCCESS)
        return false;
    if (at / line->width >= line->used)
        line->used = (uint32_t)(at / line->width) + 1;
    return zetaMetricSumAddRow(*piece, row) == ZE_RESULT_SUCCESS;
}

void zeta_sum_line_finish(struct zeta_sum_line *line)
{
    for (uint32_t i = 0; i < line->used; i++)
        zetaMetricSumDestroy(line->pieces[i]);
    free((void *)line->pieces);
    *line = (struct zeta_sum_line){.most = line->most};
}

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
