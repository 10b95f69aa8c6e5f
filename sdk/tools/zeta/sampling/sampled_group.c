#include "sdk/tools/zeta/sampling/sampled_group.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/slot.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/profile/profile.h"

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

void zeta_sampled_group_init(struct zeta_sampled_group *group, const struct zeta_group_entry *entry,
                             uint32_t tile_count)
{
    *group = (struct zeta_sampled_group){
        .entry = entry, .tile_count = tile_count, .line = {.most = ZETA_SPARKLINE_VALUES}};
    group->accounts = zeta_allocate(entry->properties.metricCount, sizeof(*group->accounts));
    group->tiles = zeta_allocate(tile_count, sizeof(*group->tiles));
    for (uint32_t i = 0; i < entry->properties.metricCount; i++) {
        const zet_metric_properties_t *metric = &entry->metrics[i].properties;

        group->accounts[i].kind = zeta_account_kind_of(metric->metricType, metric->description);
    }
    group->time_index = zeta_group_find_metric(entry, "GpuTime");
    group->end_index = zeta_group_find_metric(entry, "QueryBeginTime");
    /* The clock wraps after 2^bits ticks: at a whole number of ns only when a tick is one. */
    if (entry->clock.timestampValidBits < 64 && entry->clock.timerResolution > 0)
        group->wrap_ns = (uint64_t)((double)(UINT64_C(1) << entry->clock.timestampValidBits) * 1e9 /
                                    (double)entry->clock.timerResolution);
    group->is_profile = strcmp(entry->properties.name, ZETA_IP_GROUP) == 0;
}

void zeta_sampled_group_finish(struct zeta_sampled_group *group)
{
    zetaMetricSumDestroy(group->sum);
    zeta_sum_line_finish(&group->line);
    free(group->accounts);
    free(group->tiles);
    *group = (struct zeta_sampled_group){0};
}

int64_t zeta_elapsed_ns(uint64_t wrap_ns, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t difference = to_ns - from_ns;

    if (wrap_ns == 0)
        return (int64_t)difference;
    if (to_ns < from_ns)
        difference += wrap_ns;
    return (int64_t)(difference > wrap_ns / 2 ? difference - wrap_ns : difference);
}

void zeta_sampled_group_pass_row(struct zeta_sampled_group *group,
                                 const struct zeta_metric_row *row)
{
    struct zeta_sampled_tile *tile = &group->tiles[row->tile];

    if (group->time_index < 0 || group->end_index < 0)
        return;
    const uint64_t end_ns = zeta_number_from_row(row, (uint32_t)group->end_index).u64;
    const uint64_t time_ns = zeta_number_from_row(row, (uint32_t)group->time_index).u64;

    if (tile->started) {
        const int64_t gap_ns =
            zeta_elapsed_ns(group->wrap_ns, tile->end_ns, end_ns) - (int64_t)time_ns;

        /* Less than half a period is rounding; else as many reports as periods fit are missing. */
        if (gap_ns > (int64_t)(group->period_ns / 2)) {
            const uint64_t periods =
                group->period_ns > 0 ? ((uint64_t)gap_ns + group->period_ns / 2) / group->period_ns
                                     : 0;

            group->losses.lost_ns += (uint64_t)gap_ns;
            group->losses.estimated += periods > 2 ? periods - 1 : 1;
        }
    }
    tile->started = true;
    tile->end_ns = end_ns;
}

void zeta_sampled_group_end_at(struct zeta_sampled_group *group, uint64_t instant_ns)
{
    if (group->wrap_ns)
        instant_ns %= group->wrap_ns;
    for (uint32_t i = 0; i < group->tile_count; i++) {
        const struct zeta_sampled_tile *tile = &group->tiles[i];
        const int64_t since_ns =
            tile->started ? zeta_elapsed_ns(group->wrap_ns, tile->end_ns, instant_ns) : 0;
        const uint64_t gap_ns = since_ns > 0 ? (uint64_t)since_ns : 0;
        const uint64_t reports = group->period_ns > 0 ? gap_ns / group->period_ns : 0;

        group->losses.breaks++;
        group->losses.uncounted++;
        group->losses.lost_ns += gap_ns;
        group->losses.estimated += reports > 0 ? reports : 1;
    }
}

void zeta_sampled_group_add_row(struct zeta_sampled_group *group, const struct zeta_metric_row *row)
{
    zeta_sampled_group_pass_row(group, row);
    if (!zeta_sum_line_add(&group->line, group->sum, group->rows, 1, row))
        group->has_no_memory = true;
    group->rows++;
    group->samples += !group->is_profile;
    /* Behind the instruction pointer a record has the samples of each reason. */
    for (uint32_t i = 1; group->is_profile && i < row->metric_count; i++)
        group->samples += zeta_number_from_row(row, i).u64;
}

uint64_t zeta_sampled_group_take_slots(struct zeta_sampled_group *group, const uint8_t *raw,
                                       size_t bytes, size_t record_bytes)
{
    uint64_t records = 0;

    if (record_bytes < ZETA_SLOT_CONTROL_BYTES)
        return 0;
    for (size_t at = 0; at + record_bytes <= bytes; at += record_bytes) {
        const uint8_t *slot = raw + at;
        struct zeta_slot_control control;

        if (!zeta_slot_is_control(slot)) {
            records += !zeta_slot_is_padding(slot, record_bytes);
        } else if (zeta_slot_read(slot, &control) && control.kind == ZETA_SLOT_BREAK) {
            group->losses.breaks++;
            group->losses.counted += control.lost_records;
            group->losses.uncounted += control.lost_records == 0;
        }
    }
    return records;
}

uint64_t zeta_slots_lost(const uint8_t *raw, size_t bytes, size_t record_bytes)
{
    struct zeta_sampled_group group = {0};

    (void)zeta_sampled_group_take_slots(&group, raw, bytes, record_bytes);
    return group.losses.counted + group.losses.uncounted;
}

uint64_t zeta_sampled_group_lost(const struct zeta_sampled_group *group)
{
    const uint64_t counted = group->losses.counted + group->losses.uncounted;

    if (group->losses.breaks > 0 && group->losses.uncounted == 0)
        return counted;
    return counted > group->losses.estimated ? counted : group->losses.estimated;
}

void zeta_sampled_group_forget_losses(struct zeta_sampled_group *group)
{
    group->losses = (struct zeta_sampled_losses){0};
    for (uint32_t i = 0; i < group->tile_count; i++)
        group->tiles[i].started = false;
}

/* What a line shows of an amount is how much came per time, since rows may differ in length. */
static double drawn(const struct zeta_sampled_group *group, enum zeta_account_kind kind,
                    const struct zeta_metric_value *values, uint32_t metric)
{
    const struct zeta_metric_value *value = &values[metric];
    double divisor = (double)value->rows;

    if (!value->has_value || kind == ZETA_ACCOUNT_LAST)
        return NAN;
    if (kind == ZETA_ACCOUNT_RATE)
        return zeta_number_as_double(zeta_number_from_value(&value->value));
    if (group->time_index >= 0)
        divisor = zeta_number_as_double(zeta_number_from_value(&values[group->time_index].value));
    return divisor > 0.0 ? zeta_number_as_double(zeta_number_from_value(&value->value)) / divisor
                         : NAN;
}

int zeta_sampled_group_settle(struct zeta_sampled_group *group)
{
    uint32_t count = group->entry->properties.metricCount;
    struct zeta_metric_value *values = calloc(count, sizeof(*values));
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    for (uint32_t m = 0; values && m < count; m++)
        values[m].struct_size = sizeof(values[m]);
    if (values && !group->has_no_memory)
        result = zetaMetricSumGetValues(group->sum, &count, values);
    for (uint32_t m = 0; m < count && result == ZE_RESULT_SUCCESS; m++)
        zeta_account_set(&group->accounts[m], &values[m]);
    for (unsigned level = 0; level < ZETA_SPARKLINE_LEVELS; level++) {
        for (uint32_t i = 0; i < group->line.used && result == ZE_RESULT_SUCCESS; i++) {
            result = zetaMetricSumGetValues(group->line.pieces[i], &count, values);
            for (uint32_t m = 0; m < count && result == ZE_RESULT_SUCCESS; m++) {
                struct zeta_account *account = &group->accounts[m];

                account->line.counts[level] = account->kind == ZETA_ACCOUNT_LAST ? 0 : i + 1;
                account->line.values[level][i] = drawn(group, account->kind, values, m);
            }
        }
        if (group->line.used > 0)
            zeta_sum_line_join(&group->line);
    }
    zeta_sum_line_finish(&group->line);
    free(values);
    return result == ZE_RESULT_SUCCESS
               ? ZETA_EXIT_OK
               : zeta_print_failure("no memory for the rows of %s", group->entry->properties.name);
}

bool zeta_sampled_group_reaches(const struct zeta_sampled_group *group, uint64_t instant_ns,
                                uint64_t before_ns)
{
    if (group->wrap_ns)
        instant_ns %= group->wrap_ns;
    for (uint32_t i = 0; i < group->tile_count; i++) {
        const struct zeta_sampled_tile *tile = &group->tiles[i];

        if (!tile->started ||
            zeta_elapsed_ns(group->wrap_ns, instant_ns, tile->end_ns) < -(int64_t)before_ns)
            return false;
    }
    return true;
}

enum zeta_account_kind zeta_account_kind_of(zet_metric_type_t type, const char *description)
{
    switch ((uint32_t)type) {
    case ZET_METRIC_TYPE_DURATION:
    case ZET_METRIC_TYPE_EVENT:
    case ZET_METRIC_TYPE_EVENT_WITH_RANGE:
        return strcasestr(description, "average") || strcasestr(description, "percentage")
                   ? ZETA_ACCOUNT_RATE
                   : ZETA_ACCOUNT_TOTAL;
    case ZET_METRIC_TYPE_THROUGHPUT:
    case ZET_METRIC_TYPE_RATIO:
        return ZETA_ACCOUNT_RATE;
    default:
        return ZETA_ACCOUNT_LAST;
    }
}

void zeta_account_set(struct zeta_account *account, const struct zeta_metric_value *value)
{
    account->rows = value->rows;
    account->value = value->has_value ? zeta_number_from_value(&value->value) : zeta_number_none();
    account->min = account->max = account->last = zeta_number_none();
    if (value->rows == 0)
        return;
    account->min = zeta_number_from_value(&value->min);
    account->max = zeta_number_from_value(&value->max);
    account->last = zeta_number_from_value(&value->last);
}

struct zeta_number zeta_account_total(const struct zeta_account *account)
{
    return account->kind == ZETA_ACCOUNT_TOTAL ? account->value : zeta_number_none();
}

const char *zeta_account_kind_name(enum zeta_account_kind kind)
{
    static const char *const names[] = {
        [ZETA_ACCOUNT_TOTAL] = "total", [ZETA_ACCOUNT_RATE] = "", [ZETA_ACCOUNT_LAST] = "last"};

    return names[kind];
}

void zeta_losses_format(const struct zeta_sampled_group *group, bool has_figures,
                        char out_text[ZETA_LOSSES_BYTES])
{
    const uint64_t lost = zeta_sampled_group_lost(group);
    const char *plural = lost == 1 ? "" : "s";
    char time[ZETA_DURATION_TEXT_BYTES];

    zeta_duration_format(group->losses.lost_ns, time);
    if (lost == 0)
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "none lost");
    else if (group->losses.lost_ns > 0)
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "%" PRIu64 " report%s lost (%s%s)", lost,
                       plural, time, has_figures ? ", in no figure below" : "");
    else /* by a reset, whose time is unknown, or without times in rows */
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "%s%" PRIu64 " report%s lost",
                       group->losses.uncounted > 0 ? "at least " : "", lost, plural);
}

void zeta_losses_print(const struct zeta_sampled_group *group)
{
    char losses[ZETA_LOSSES_BYTES];

    if (zeta_sampled_group_lost(group) == 0)
        return;
    zeta_losses_format(group, false, losses);
    zeta_print_note("%s: %s", group->entry->properties.name, losses);
}

void zeta_lost_events_format(uint64_t lost, bool has_figures, char out_text[ZETA_LOSSES_BYTES])
{
    if (lost == 0)
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "no event lost");
    else
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "%" PRIu64 " event%s lost%s", lost,
                       lost == 1 ? "" : "s", has_figures ? ", in no figure below" : "");
}

void zeta_losses_put_json(struct json_object *object, const struct zeta_sampled_group *group)
{
    zeta_json_put_u64(object, "lost", zeta_sampled_group_lost(group));
    zeta_json_put_u64(object, "breaks", group->losses.breaks);
    zeta_json_put_u64(object, "lost_time_ns", group->losses.lost_ns);
}
