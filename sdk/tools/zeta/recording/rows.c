#include "sdk/tools/zeta/recording/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/counters.h"
#include "sdk/tools/zeta/recording/kernels.h"

/* A row on its way. */
struct passing {
    struct zeta_report *report;
    struct zeta_report_stream *stream;
};

/* When a row was, on the clock of the device. */
static uint64_t row_end(const struct zeta_report_stream *stream, const struct zeta_metric_row *row,
                        uint64_t *out_length_ns)
{
    const struct zeta_sampled_group *group = &stream->calc.group;

    *out_length_ns = zeta_number_from_row(row, (uint32_t)group->time_index).u64;
    return zeta_number_from_row(row, (uint32_t)group->end_index).u64;
}

static bool take_first(void *user, const struct zeta_metric_row *row)
{
    const struct passing *passing = user;
    struct zeta_report_stream *stream = passing->stream;
    uint64_t length_ns = 0;

    if (!stream->was_placed) {
        const struct zeta_report_device *device = zeta_report_device_of(passing->report, stream);
        const uint64_t end_ns = row_end(stream, row, &length_ns);
        const uint64_t wrap_ns = device->clock.wrap_ns;

        stream->was_placed = true;
        stream->has_first = true;
        stream->first_ns = end_ns - length_ns;
        if (end_ns < length_ns && wrap_ns > 0)
            stream->first_ns += wrap_ns;
    }
    return false;
}

int zeta_report_rows_find_first(struct zeta_report *report, struct zeta_report_stream *stream,
                                const struct zeta_calc_piece *piece)
{
    struct passing passing = {report, stream};
    const struct zeta_calc_choice choice = {.tile = -1, .keep = take_first, .keep_user = &passing};
    const int status = zeta_calc_stream_add(&stream->calc, piece, &choice);

    /* The second reading counts. */
    zeta_sampled_group_forget_losses(&stream->calc.group);
    return status;
}

/* ---- second reading ------------------------------------------------------------------------ */

static void write_row(const struct zeta_report *report, const struct zeta_report_stream *stream,
                      const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    FILE *rows = report->rows;

    (void)fprintf(rows, "%" PRIu32 ",", stream->number);
    zeta_text_write_csv(rows, stream->calc.entry.properties.name);
    (void)fprintf(rows, ",%" PRIu32 ",", row->tile);
    if (stream->has_time)
        (void)fprintf(rows, "%" PRId64 ",%" PRId64, times_ns[0] - report->begin_ns,
                      times_ns[1] - report->begin_ns);
    else
        (void)fputc(',', rows);
    for (uint32_t i = 0; i < stream->calc.entry.properties.metricCount; i++) {
        char text[ZETA_NUMBER_TEXT_BYTES];

        zeta_number_format_exact(zeta_number_from_row(row, i), text);
        (void)fprintf(rows, ",%s", text);
    }
    (void)fputc('\n', rows);
}

/* Points of a plot before any are joined: as long as a row. */
static uint64_t point_width(const struct zeta_report_stream *stream)
{
    return stream->period_ns > 0 ? stream->period_ns : 1000;
}

static bool draw_row(struct zeta_report *report, struct zeta_report_stream *stream,
                     const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    const uint32_t tiles = stream->calc.group.tile_count;
    const int64_t middle_ns = times_ns[0] + (times_ns[1] - times_ns[0]) / 2 - report->begin_ns;

    if (!stream->lines) {
        stream->lines = calloc(tiles, sizeof(*stream->lines));
        for (uint32_t i = 0; stream->lines && i < tiles; i++)
            stream->lines[i].most = ZETA_REPORT_POINTS;
    }
    return stream->lines &&
           zeta_sum_line_add(&stream->lines[row->tile], stream->calc.group.sum,
                             middle_ns > 0 ? (uint64_t)middle_ns : 0, point_width(stream), row);
}

/* A row that ends with the report of a marker has its value. */
static bool take_marker(struct zeta_report *report, const struct zeta_report_stream *stream,
                        int64_t end_ns, const struct zeta_metric_row *row)
{
    if (stream->marker_index < 0)
        return true;
    const struct zeta_number value = zeta_number_from_row(row, (uint32_t)stream->marker_index);

    return value.kind != ZETA_NUMBER_U64 || value.u64 == 0 ||
           zeta_report_add_marker(report, end_ns, value.u64, "StreamMarker");
}

static bool use_row(struct zeta_report *report, struct zeta_report_stream *stream,
                    const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    if (!stream->has_time)
        return true;
    return take_marker(report, stream, times_ns[1], row) &&
           (!report->kernels || zeta_report_kernels_add_row(report, stream, times_ns, row)) &&
           (!report->options.html_path || draw_row(report, stream, times_ns, row)) &&
           (!report->trace || zeta_report_counters_add_row(report, stream, times_ns[0], row));
}

static bool take_row(void *user, const struct zeta_metric_row *row)
{
    const struct passing *passing = user;
    struct zeta_report *report = passing->report;
    struct zeta_report_stream *stream = passing->stream;
    int64_t times_ns[2] = {0, 0};

    if (stream->kind == ZETA_REPORT_SAMPLES && report->only_stream == 0) {
        /* They do not say when they were. */
        if (stream == report->profile_stream &&
            !zeta_ip_profile_add_row(&report->profile, row->values))
            report->has_no_memory = true;
        return false;
    }
    if (stream->has_time) {
        struct zeta_report_device *device = zeta_report_device_of(report, stream);
        uint64_t length_ns = 0;

        times_ns[1] = zeta_report_clock_host(&device->clock, row_end(stream, row, &length_ns));
        times_ns[0] = times_ns[1] - (int64_t)(length_ns < ZETA_REPORT_TIME_MAX
                                                  ? length_ns
                                                  : (uint64_t)ZETA_REPORT_TIME_MAX);
    }
    if (report->options.has_range &&
        (!stream->has_time || !zeta_report_in_range(report, times_ns[0], times_ns[1]))) {
        stream->outside += stream->has_time;
        stream->timeless += !stream->has_time;
        return false;
    }
    if (report->only_stream != 0) {
        write_row(report, stream, times_ns, row);
        return false;
    }
    if (!use_row(report, stream, times_ns, row))
        report->has_no_memory = true;
    return true;
}

int zeta_report_rows_read(struct zeta_report *report, struct zeta_report_stream *stream,
                          const struct zeta_calc_piece *piece)
{
    struct passing passing = {report, stream};
    const struct zeta_calc_choice choice = {.tile = -1, .keep = take_row, .keep_user = &passing};

    return zeta_calc_stream_add(&stream->calc, piece, &choice);
}
