#include "sdk/tools/zeta/stat/report.h"

#include <inttypes.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/duration.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/terminal.h"
#include "sdk/tools/zeta/stat/ip.h"

enum {
    VALUE_WIDTH = 16,  /* longest value: exact up to 16 digits */
    BOUND_WIDTH = 7,   /* minimum and maximum */
    MIN_LINE_WIDTH = 6 /* a shorter time line shows nothing */
};

/* Widths of the columns that depend on what stands in them. */
struct table {
    FILE *stream;
    int name_width;
    int value_width;
    int unit_width;
    unsigned line_width; /* 0: no time lines */
};

struct zeta_stat_style zeta_stat_style_of(FILE *stream)
{
    const unsigned columns = zeta_terminal_columns(stream);

    return (struct zeta_stat_style){
        .columns = columns,
        .has_sparklines = columns > 0 && zeta_terminal_has_utf8(),
    };
}

static int longest(int width, const char *text)
{
    const int length = (int)strlen(text);

    return length > width ? length : width;
}

static struct table lay_out(const struct zeta_sampled_group *group,
                            const struct zeta_stat_style *style, FILE *stream)
{
    struct table table = {.stream = stream, .name_width = 6, .value_width = 5, .unit_width = 4};
    char value[ZETA_NUMBER_TEXT_BYTES];
    int used = 0;

    for (uint32_t i = 0; i < group->entry->properties.metricCount; i++) {
        const zet_metric_properties_t *metric = &group->entry->metrics[i].properties;

        table.name_width = longest(table.name_width, metric->name);
        table.unit_width = longest(table.unit_width, metric->resultUnits);
        zeta_number_format(group->accounts[i].value, VALUE_WIDTH, value);
        table.value_width = longest(table.value_width, value);
    }
    used =
        table.name_width + 1 + table.value_width + 6 + 2 * (1 + BOUND_WIDTH) + 1 + table.unit_width;
    if (style->has_sparklines && (int)style->columns >= used + 1 + MIN_LINE_WIDTH)
        table.line_width = style->columns - (unsigned)used - 1;
    return table;
}

static void print_metric(const struct table *table, const struct zeta_metric_entry *metric,
                         const struct zeta_account *account)
{
    char value[ZETA_NUMBER_TEXT_BYTES];
    char min[ZETA_NUMBER_TEXT_BYTES];
    char max[ZETA_NUMBER_TEXT_BYTES];
    char line[ZETA_SPARKLINE_TEXT_BYTES] = "";

    zeta_number_format(account->value, VALUE_WIDTH, value);
    zeta_number_format_short(account->min, min);
    zeta_number_format_short(account->max, max);
    if (table->line_width > 0)
        (void)zeta_sparkline_draw(&account->line, table->line_width, line);
    (void)fprintf(table->stream, "%-*s %*s %-5s %*s %*s", table->name_width,
                  metric->properties.name, table->value_width, value,
                  zeta_account_kind_name(account->kind), BOUND_WIDTH, min, BOUND_WIDTH, max);
    if (line[0])
        (void)fprintf(table->stream, " %-*s %s\n", table->unit_width,
                      metric->properties.resultUnits, line);
    else if (metric->properties.resultUnits[0])
        (void)fprintf(table->stream, " %s\n", metric->properties.resultUnits);
    else
        (void)fputc('\n', table->stream);
}

void zeta_stat_losses_format(const struct zeta_sampled_group *group, bool has_figures,
                             char out_text[ZETA_STAT_LOSSES_BYTES])
{
    const uint64_t lost = zeta_sampled_group_lost(group);
    const char *plural = lost == 1 ? "" : "s";
    char time[ZETA_DURATION_TEXT_BYTES];

    zeta_duration_format(group->losses.lost_ns, time);
    if (lost == 0)
        (void)snprintf(out_text, ZETA_STAT_LOSSES_BYTES, "none lost");
    else if (group->losses.lost_ns > 0)
        (void)snprintf(out_text, ZETA_STAT_LOSSES_BYTES, "%" PRIu64 " report%s lost (%s%s)", lost,
                       plural, time, has_figures ? ", in no figure below" : "");
    else /* by a reset, whose time no clock tells, or without times in rows */
        (void)snprintf(out_text, ZETA_STAT_LOSSES_BYTES, "%s%" PRIu64 " report%s lost",
                       group->losses.untold > 0 ? "at least " : "", lost, plural);
}

void zeta_stat_losses_say(const struct zeta_sampled_group *group)
{
    char losses[ZETA_STAT_LOSSES_BYTES];

    if (zeta_sampled_group_lost(group) == 0)
        return;
    zeta_stat_losses_format(group, false, losses);
    zeta_say_note("%s: %s", group->entry->properties.name, losses);
}

void zeta_stat_lost_events_format(uint64_t lost, bool has_figures,
                                  char out_text[ZETA_STAT_LOSSES_BYTES])
{
    if (lost == 0)
        (void)snprintf(out_text, ZETA_STAT_LOSSES_BYTES, "no event lost");
    else
        (void)snprintf(out_text, ZETA_STAT_LOSSES_BYTES, "%" PRIu64 " event%s lost%s", lost,
                       lost == 1 ? "" : "s", has_figures ? ", in no figure below" : "");
}

void zeta_stat_group_print(const struct zeta_sampled_group *group,
                           const struct zeta_stat_style *style, FILE *stream)
{
    const struct table table = lay_out(group, style, stream);
    char period[ZETA_DURATION_TEXT_BYTES];
    char losses[ZETA_STAT_LOSSES_BYTES];
    char tiles[48] = "";

    zeta_duration_format(group->period_ns, period);
    zeta_stat_losses_format(group, true, losses);
    if (group->tile_count > 1)
        (void)snprintf(tiles, sizeof(tiles), " of %u tiles added up", group->tile_count);
    (void)fprintf(stream, "\n%s, domain %u%s%s: %" PRIu64 " samples%s, %s",
                  group->entry->properties.name, group->entry->properties.domain,
                  group->period_ns > 0 ? ", every " : "", group->period_ns > 0 ? period : "",
                  group->samples, tiles, losses);
    (void)fprintf(stream, "\n\n%-*s %*s       %*s %*s Unit", table.name_width, "Metric",
                  table.value_width, "Value", BOUND_WIDTH, "Min", BOUND_WIDTH, "Max");
    if (table.line_width > 0)
        (void)fprintf(stream, "%*s Time line", table.unit_width - 4, "");
    (void)fputc('\n', stream);
    for (uint32_t i = 0; i < group->entry->properties.metricCount; i++)
        print_metric(&table, &group->entry->metrics[i], &group->accounts[i]);
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
