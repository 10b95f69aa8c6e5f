#include "sdk/tools/zeta/stat/report.h"

#include <json-c/json.h>

#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/stat/ip.h"

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

void zeta_stat_losses_put_json(struct json_object *object, const struct zeta_sampled_group *group)
{
    zeta_json_put_u64(object, "lost", zeta_sampled_group_lost(group));
    zeta_json_put_u64(object, "breaks", group->losses.breaks);
    zeta_json_put_u64(object, "lost_time_ns", group->losses.lost_ns);
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
    zeta_stat_losses_put_json(object, group);
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
            (void)json_object_array_add(array, json_object_new_string(*word));
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
