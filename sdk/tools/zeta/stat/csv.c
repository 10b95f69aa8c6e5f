#include "sdk/tools/zeta/stat/report.h"

#include <inttypes.h>
#include <string.h>

/* Quoted where the text would otherwise end the field (RFC 4180). */
static void write_text(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        (void)fputs(text, file);
        return;
    }
    (void)fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', file);
        (void)fputc(*text, file);
    }
    (void)fputc('"', file);
}

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

    write_text(file, group->entry->properties.name);
    (void)fputc(',', file);
    write_text(file, report->device->properties.name);
    (void)fprintf(file, ",%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                  report->device->info.id, group->entry->properties.domain, group->samples,
                  zeta_sampled_group_lost(group), group->losses.breaks, group->losses.lost_ns);
    write_text(file, metric->properties.name);
    (void)fputc(',', file);
    write_text(file, metric->properties.resultUnits);
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
