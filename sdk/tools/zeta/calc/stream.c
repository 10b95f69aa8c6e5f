#include "sdk/tools/zeta/calc/stream.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/number.h"

static int read_metrics(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece)
{
    uint32_t count = stream->entry.properties.metricCount;
    struct zeta_exported_metric *metrics = calloc(count, sizeof(*metrics));
    ze_result_t result = ZE_RESULT_SUCCESS;

    stream->entry.metrics = calloc(count, sizeof(*stream->entry.metrics));
    if (!metrics || !stream->entry.metrics) {
        free(metrics);
        return zeta_print_failure("no memory for %u metrics", count);
    }
    for (uint32_t i = 0; i < count; i++)
        metrics[i].struct_size = sizeof(metrics[i]);
    result = zetaExportDataGetMetrics(piece->size, piece->data, &count, metrics);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        stream->entry.metrics[i].properties = metrics[i].properties;
        stream->entry.metrics[i].info.metric_class = metrics[i].metric_class;
    }
    free(metrics);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the metrics of stream %u", stream->number);
    return ZETA_EXIT_OK;
}

int zeta_calc_stream_open(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                          bool is_maximum)
{
    const struct zeta_metric_sum_desc rows = {
        .struct_size = sizeof(rows),
        .data = piece->data,
        .data_size = piece->size,
        .type = is_maximum ? ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES
                           : ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
    };
    struct zeta_export_info info = {.struct_size = sizeof(info)};
    const uint64_t period_ns = stream->group.period_ns;
    ze_result_t result = zetaExportDataGetInfo(piece->size, piece->data, &info);
    int status = ZETA_EXIT_OK;

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read stream %u", stream->number);
    stream->entry.properties = info.properties;
    stream->record_bytes = info.record_bytes;
    status = read_metrics(stream, piece);
    if (status != ZETA_EXIT_OK)
        return status;
    if (!zeta_sampled_group_init(&stream->group, &stream->entry, info.tile_count))
        return zeta_print_failure("no memory for the metrics of stream %u", stream->number);
    result = zeta_sampled_group_open(&stream->group, &rows);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_sampled_group_finish(&stream->group);
        return zeta_print_refusal(result, "cannot calculate stream %u", stream->number);
    }
    stream->group.period_ns = period_ns;
    /* Without a period nobody can tell a gap from the usual distance. */
    if (period_ns == 0)
        stream->group.end_index = -1;
    stream->is_open = true;
    return ZETA_EXIT_OK;
}

/** A row on its way. */
struct passing {
    struct zeta_calc_stream *stream;
    const struct zeta_calc_choice *choice;
};

static void write_row(const struct zeta_calc_stream *stream, const struct zeta_metric_row *row,
                      FILE *rows)
{
    (void)fprintf(rows, "%u,%u", stream->number, row->tile);
    for (uint32_t i = 0; i < row->metric_count; i++) {
        char text[ZETA_NUMBER_TEXT_BYTES];

        zeta_number_format_exact(zeta_number_from_row(row, i), text);
        (void)fprintf(rows, ",%s", text);
    }
    (void)fputc('\n', rows);
}

static uint32_t take_row(void *user, const struct zeta_metric_row *row)
{
    const struct passing *passing = user;
    const struct zeta_calc_choice *choice = passing->choice;

    struct zeta_sampled_group *group = &passing->stream->group;

    if (choice->tile >= 0 && choice->tile != row->tile)
        return 0;
    if (choice->keep && !choice->keep(choice->keep_user, row)) {
        zeta_sampled_group_pass_row(group, row);
        return 0;
    }
    zeta_sampled_group_add_row(group, row);
    if (choice->rows)
        write_row(passing->stream, row, choice->rows);
    return 1;
}

void zeta_calc_stream_write_head(const struct zeta_calc_stream *stream, FILE *rows)
{
    (void)fputs("stream,tile", rows);
    for (uint32_t i = 0; i < stream->entry.properties.metricCount; i++)
        (void)fprintf(rows, ",%s", stream->entry.metrics[i].properties.name);
    (void)fputc('\n', rows);
}

int zeta_calc_stream_add(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                         const struct zeta_calc_choice *choice)
{
    struct passing passing = {stream, choice};
    const struct zeta_metric_data data = {.struct_size = sizeof(data),
                                          .raw_size = piece->raw_bytes,
                                          .raw = piece->raw,
                                          .skip = stream->skip_left,
                                          .each = take_row,
                                          .user = &passing};
    const uint64_t records = zeta_sampled_group_take_slots(&stream->group, piece->raw,
                                                           piece->raw_bytes, stream->record_bytes);
    const ze_result_t result = zetaMetricSumAdd(stream->group.sum, &data);

    stream->skip_left -= records < stream->skip_left ? (uint32_t)records : stream->skip_left;
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot calculate stream %u", stream->number);
    return ZETA_EXIT_OK;
}

void zeta_calc_stream_finish(struct zeta_calc_stream *stream)
{
    if (stream->is_open)
        zeta_sampled_group_finish(&stream->group);
    free(stream->entry.metrics);
}
