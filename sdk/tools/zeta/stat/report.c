#include "sdk/tools/zeta/stat/report.h"

#include <inttypes.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/number.h"
#include "sdk/tools/zeta/output/table.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/sampling/losses.h"
#include "sdk/tools/zeta/stat/profile.h"

enum { VALUE_WIDTH = 16 /* longest value: exact up to 16 digits */ };

struct zeta_stat_style zeta_stat_style_of(FILE *stream)
{
    const unsigned columns = zeta_terminal_columns(stream);

    return (struct zeta_stat_style){
        .columns = columns,
        .has_sparklines = columns > 0 && zeta_terminal_has_utf8(),
    };
}

void zeta_stat_group_print(const struct zeta_sampled_group *group,
                           const struct zeta_stat_style *style, FILE *stream)
{
    enum { METRIC, VALUE, KIND, MIN, MAX, UNIT, LINE, COLUMN_COUNT, SHORTEST_LINE = 6 };
    static const struct zeta_table_column columns[COLUMN_COUNT] = {
        [METRIC] = {.title = "Metric"},
        [VALUE] = {.title = "Value", .gap = 1, .is_right = true},
        [KIND] = {.title = "", .gap = 1, .least = 5},
        [MIN] = {.title = "Min", .gap = 1, .least = 7, .is_right = true},
        [MAX] = {.title = "Max", .gap = 1, .least = 7, .is_right = true},
        [UNIT] = {.title = "Unit", .gap = 1},
        [LINE] = {.title = "Time line", .gap = 1},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};
    const uint32_t metric_count = group->entry->properties.metricCount;
    char text[ZETA_SPARKLINE_TEXT_BYTES];
    char period[ZETA_DURATION_TEXT_BYTES];
    char losses[ZETA_LOSSES_BYTES];
    int rest;

    zeta_duration_format(group->period_ns, period);
    zeta_losses_format(group, true, losses);
    (void)fprintf(stream, "\n%s, domain %u%s%s: %" PRIu64 " samples", group->entry->properties.name,
                  group->entry->properties.domain, group->period_ns > 0 ? ", every " : "",
                  group->period_ns > 0 ? period : "", group->samples);
    if (group->tile_count > 1)
        (void)fprintf(stream, " of %u tiles added up", group->tile_count);
    (void)fprintf(stream, ", %s\n\n", losses);
    for (uint32_t i = 0; i < metric_count; i++) {
        const zet_metric_properties_t *metric = &group->entry->metrics[i].properties;
        const struct zeta_account *account = &group->accounts[i];

        zeta_table_set(&table, i, METRIC, "%s", metric->name);
        zeta_number_format(account->value, VALUE_WIDTH, text);
        zeta_table_set(&table, i, VALUE, "%s", text);
        zeta_table_set(&table, i, KIND, "%s", zeta_account_kind_name(account->kind));
        zeta_number_format_short(account->min, text);
        zeta_table_set(&table, i, MIN, "%s", text);
        zeta_number_format_short(account->max, text);
        zeta_table_set(&table, i, MAX, "%s", text);
        zeta_table_set(&table, i, UNIT, "%s", metric->resultUnits);
    }
    rest = (int)style->columns - zeta_table_width(&table) - columns[LINE].gap;
    for (uint32_t i = 0; style->has_sparklines && rest >= SHORTEST_LINE && i < metric_count; i++) {
        (void)zeta_sparkline_draw(&group->accounts[i].line, (unsigned)rest, text);
        zeta_table_set(&table, i, LINE, "%s", text);
    }
    zeta_table_finish(&table, stream);
}

static void print_overhead(const struct zeta_stat_report *report, FILE *stream)
{
    char elapsed[ZETA_DURATION_TEXT_BYTES];
    char cpu[ZETA_DURATION_TEXT_BYTES];
    char calculation[ZETA_DURATION_TEXT_BYTES];
    char passes[32] = "";
    const double share =
        report->elapsed_ns ? 100.0 * (double)report->cpu_ns / (double)report->elapsed_ns : 0.0;

    zeta_duration_format(report->elapsed_ns, elapsed);
    zeta_duration_format(report->cpu_ns, cpu);
    zeta_duration_format(report->calculation_ns, calculation);
    if (report->pass_count > 1)
        (void)snprintf(passes, sizeof(passes), " in %u passes", report->pass_count);
    (void)zeta_c_fprintf(stream,
                         "\nSampled for %s%s.\n"
                         "Overhead in CPU time of zeta: %s (%.1f %% of one core),\n"
                         "of which %s to calculate metric values.\n",
                         elapsed, passes, cpu, share, calculation);
}

void zeta_stat_report_print(const struct zeta_stat_report *report,
                            const struct zeta_stat_style *style, FILE *stream)
{
    (void)fprintf(stream, "\n%s (%s, %s)\n", report->device->properties.name,
                  report->device->info.device_class, report->device->info.id);
    for (uint32_t i = 0; i < report->group_count; i++)
        zeta_stat_group_print(report->groups[i], style, stream);
    if (report->profile)
        zeta_stat_ip_print(report->profile, report->profile_group,
                           report->device->info.device_class, style->columns, stream);
    print_overhead(report, stream);
}

/* ---- CSV ---------------------------------------------------------------------------------- */

static void write_number(FILE *file, struct zeta_number number)
{
    char text[ZETA_NUMBER_TEXT_BYTES];

    zeta_number_format_exact(number, text);
    (void)fprintf(file, ",%s", text);
}

static void write_metric(FILE *file, const struct zeta_stat_report *report,
                         const struct zeta_sampled_group *group, uint32_t index)
{
    const struct zeta_metric_entry *metric = &group->entry->metrics[index];
    const struct zeta_account *account = &group->accounts[index];

    zeta_text_write_csv(file, group->entry->properties.name);
    (void)fputc(',', file);
    zeta_text_write_csv(file, report->device->properties.name);
    (void)fprintf(file, ",%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                  report->device->info.id, group->entry->properties.domain, group->samples,
                  zeta_sampled_group_lost(group), group->losses.breaks, group->losses.lost_ns);
    zeta_text_write_csv(file, metric->properties.name);
    (void)fputc(',', file);
    zeta_text_write_csv(file, metric->properties.resultUnits);
    (void)fprintf(file, ",%s,%s", zeta_metric_type_name(metric->properties.metricType),
                  zeta_metric_class_name(metric->info.metric_class));
    write_number(file, account->value);
    write_number(file, account->min);
    write_number(file, account->max);
    (void)fputc('\n', file);
}

void zeta_stat_report_write_csv(const struct zeta_stat_report *report, FILE *file)
{
    (void)fputs(
        "group,device,device_id,domain,samples,lost,breaks,lost_time_ns,metric,unit,type,class,"
        "value,min,max\n",
        file);
    for (uint32_t i = 0; i < report->group_count; i++) {
        const struct zeta_sampled_group *group = report->groups[i];

        for (uint32_t m = 0; m < group->entry->properties.metricCount; m++)
            write_metric(file, report, group, m);
    }
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_metric(struct json_object *array, const struct zeta_metric_entry *metric,
                       const struct zeta_account *account)
{
    struct json_object *object = zeta_json_append_object(array);

    zeta_json_put_text(object, "name", metric->properties.name);
    zeta_json_put_text(object, "unit", metric->properties.resultUnits);
    zeta_json_put_text(object, "type", zeta_metric_type_name(metric->properties.metricType));
    zeta_json_put_text(object, "class", zeta_metric_class_name(metric->info.metric_class));
    zeta_json_put_number(object, "value", account->value);
    zeta_json_put_number(object, "total", zeta_account_total(account));
    zeta_json_put_number(object, "min", account->min);
    zeta_json_put_number(object, "max", account->max);
    zeta_json_put_number(object, "last", account->last);
}

void zeta_stat_group_put_json(struct json_object *array, const struct zeta_device_entry *device,
                              const struct zeta_sampled_group *group)
{
    struct json_object *object = zeta_json_append_object(array);
    struct json_object *metrics = NULL;

    zeta_json_put_text(object, "name", group->entry->properties.name);
    zeta_json_put_text(object, "device", device->properties.name);
    zeta_json_put_text(object, "device_id", device->info.id);
    zeta_json_put_text(object, "device_class", device->info.device_class);
    zeta_json_put_u64(object, "domain", group->entry->properties.domain);
    zeta_json_put_u64(object, "period_ns", group->period_ns);
    zeta_json_put_u64(object, "tiles", group->tile_count);
    zeta_json_put_u64(object, "samples", group->samples);
    zeta_losses_put_json(object, group);
    metrics = zeta_json_put_array(object, "metrics");
    for (uint32_t i = 0; i < group->entry->properties.metricCount; i++)
        put_metric(metrics, &group->entry->metrics[i], &group->accounts[i]);
}

struct json_object *zeta_stat_report_to_json(const struct zeta_stat_report *report)
{
    struct json_object *document = json_object_new_object();
    struct json_object *array = NULL;

    if (!document)
        return NULL;
    zeta_json_put_text(document, "schema", "zeta.stat/1");
    zeta_json_put_text(document, "version", zetaGetVersion());
    if (report->program) {
        array = zeta_json_put_array(document, "program");
        for (char **word = report->program; *word; word++)
            zeta_json_append_text(array, *word);
        zeta_json_put_u64(document, "exit_code", (uint64_t)report->exit_code);
    }
    zeta_json_put_bool(document, "interrupted", report->is_interrupted);
    if (report->pass_count > 1)
        zeta_json_put_u64(document, "passes", report->pass_count);
    zeta_json_put_u64(document, "elapsed_ns", report->elapsed_ns);
    zeta_json_put_u64(document, "overhead_cpu_ns", report->cpu_ns);
    zeta_json_put_u64(document, "overhead_calculation_ns", report->calculation_ns);
    array = zeta_json_put_array(document, "groups");
    for (uint32_t i = 0; i < report->group_count; i++)
        zeta_stat_group_put_json(array, report->device, report->groups[i]);
    if (report->profile)
        zeta_stat_ip_put_json(document, report->profile, report->profile_group);
    return document;
}
