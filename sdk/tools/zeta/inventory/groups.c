#include "sdk/tools/zeta/command_line/commands.h"

#include <stdio.h>
#include <string.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/inventory/group_list.h"
#include "sdk/tools/zeta/inventory/programmable_list.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/number.h"
#include "sdk/tools/zeta/output/table.h"
#include "sdk/tools/zeta/output/text.h"

static const char *value_type_name(zet_value_type_t type)
{
    switch ((int)type) {
    case ZET_VALUE_TYPE_UINT8:
        return "u8";
    case ZET_VALUE_TYPE_UINT16:
        return "u16";
    case ZET_VALUE_TYPE_UINT32:
        return "u32";
    case ZET_VALUE_TYPE_UINT64:
        return "u64";
    case ZET_VALUE_TYPE_FLOAT32:
        return "f32";
    case ZET_VALUE_TYPE_FLOAT64:
        return "f64";
    case ZET_VALUE_TYPE_BOOL8:
        return "bool";
    default:
        return "other";
    }
}

static void print_metrics(const struct zeta_group_entry *group)
{
    const unsigned columns = zeta_terminal_columns(stdout);

    for (uint32_t i = 0; i < group->properties.metricCount; i++) {
        const struct zeta_metric_entry *metric = &group->metrics[i];
        const zet_metric_properties_t *properties = &metric->properties;

        (void)printf("    %s: %s%s%s, %s, %s, tier %u\n", properties->name,
                     zeta_metric_type_name(properties->metricType),
                     properties->resultUnits[0] ? " in " : "", properties->resultUnits,
                     value_type_name(properties->resultType),
                     zeta_metric_class_name(metric->info.metric_class), properties->tierNumber);
        zeta_terminal_write_folded(stdout, properties->description, 8, columns);
    }
}

/* What a row of the table has no room for. */
static void print_details(const struct zeta_group_entry *group)
{
    const unsigned columns = zeta_terminal_columns(stdout);

    zeta_terminal_write_folded(stdout, group->properties.description, 4, columns);
    (void)printf("    from %s, plugin %s\n", group->info.origin, group->info.plugin);
    if (*group->info.query_note)
        zeta_terminal_write_folded(stdout, group->info.query_note, 4, columns);
    if (*group->info.no_queries) {
        (void)puts("    no queries:");
        zeta_terminal_write_folded(stdout, group->info.no_queries, 8, columns);
    }
    print_metrics(group);
    (void)putchar('\n');
}

static void print_groups(const struct zeta_device_entry *device,
                         const struct zeta_group_list *groups, bool is_verbose)
{
    enum { DOMAIN, GROUP, SAMPLING, METRICS, UNIT, PERIOD, HOLDER, COLUMN_COUNT };
    static const struct zeta_table_column columns[COLUMN_COUNT] = {
        [DOMAIN] = {.title = "Domain", .is_right = true},
        [GROUP] = {.title = "Group", .gap = 2},
        [SAMPLING] = {.title = "Sampling", .gap = 2},
        [METRICS] = {.title = "Metrics", .gap = 1, .is_right = true},
        [UNIT] = {.title = "Unit", .gap = 2, .least = 8},
        [PERIOD] = {.title = "Period", .gap = 2},
        [HOLDER] = {.title = "", .gap = 2},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};

    (void)printf("%s (%s, %s)\n\n", device->properties.name, device->info.device_class,
                 device->info.id);
    if (groups->count == 0) {
        (void)puts("It has no metric groups; 'zeta doctor' shows why.");
        return;
    }
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct zeta_group_entry *group = &groups->entries[i];
        const struct zeta_group_info *info = &group->info;
        char min[ZETA_DURATION_TEXT_BYTES];
        char max[ZETA_DURATION_TEXT_BYTES];

        zeta_duration_format(info->min_period_ns, min);
        zeta_duration_format(info->max_period_ns, max);
        zeta_table_set(&table, i, DOMAIN, "%u", group->properties.domain);
        zeta_table_set(&table, i, GROUP, "%s", group->properties.name);
        zeta_table_set(&table, i, SAMPLING, "%s",
                       zeta_sampling_name(group->properties.samplingType));
        zeta_table_set(&table, i, METRICS, "%u", group->properties.metricCount);
        zeta_table_set(&table, i, UNIT, "%s", info->unit);
        if (info->max_period_ns == 0)
            zeta_table_set(&table, i, PERIOD, "%s", "");
        else if (info->max_period_ns == info->min_period_ns)
            zeta_table_set(&table, i, PERIOD, "%s", min);
        else
            zeta_table_set(&table, i, PERIOD, "%s to %s", min, max);
        if (info->holder_pid)
            zeta_table_set(&table, i, HOLDER, "held by process %u", info->holder_pid);
    }
    zeta_table_print_head(&table, stdout);
    for (uint32_t i = 0; i < groups->count; i++) {
        zeta_table_print_row(&table, i, stdout);
        if (is_verbose)
            print_details(&groups->entries[i]);
    }
    zeta_table_free(&table);
}

static void put_group(struct json_object *array, const struct zeta_group_entry *group)
{
    struct json_object *object = zeta_json_append_object(array);
    struct json_object *metrics = NULL;

    zeta_json_put_text(object, "name", group->properties.name);
    zeta_json_put_text(object, "description", group->properties.description);
    zeta_json_put_u64(object, "domain", group->properties.domain);
    zeta_json_put_text(object, "sampling", zeta_sampling_name(group->properties.samplingType));
    zeta_json_put_text(object, "plugin", group->info.plugin);
    zeta_json_put_text(object, "unit", group->info.unit);
    zeta_json_put_text(object, "origin", group->info.origin);
    zeta_json_put_u64(object, "min_period_ns", group->info.min_period_ns);
    zeta_json_put_u64(object, "max_period_ns", group->info.max_period_ns);
    zeta_json_put_u64(object, "holder_pid", group->info.holder_pid);
    if (*group->info.query_note)
        zeta_json_put_text(object, "query_note", group->info.query_note);
    if (*group->info.no_queries)
        zeta_json_put_text(object, "no_queries", group->info.no_queries);
    metrics = zeta_json_put_array(object, "metrics");
    for (uint32_t i = 0; i < group->properties.metricCount; i++) {
        const struct zeta_metric_entry *metric = &group->metrics[i];
        struct json_object *member = zeta_json_append_object(metrics);

        zeta_json_put_text(member, "name", metric->properties.name);
        zeta_json_put_text(member, "description", metric->properties.description);
        zeta_json_put_text(member, "component", metric->properties.component);
        zeta_json_put_text(member, "unit", metric->properties.resultUnits);
        zeta_json_put_text(member, "type", zeta_metric_type_name(metric->properties.metricType));
        zeta_json_put_text(member, "value_type", value_type_name(metric->properties.resultType));
        zeta_json_put_text(member, "class", zeta_metric_class_name(metric->info.metric_class));
        zeta_json_put_u64(member, "tier", metric->properties.tierNumber);
    }
}

static int put_groups(const struct zeta_device_entry *device, const struct zeta_group_list *groups,
                      const struct zeta_programmable_list *programmables, const char *path)
{
    struct json_object *document = json_object_new_object();
    struct json_object *array = NULL;

    if (document) {
        zeta_json_put_text(document, "schema", "zeta.groups/1");
        zeta_json_put_text(document, "device", device->properties.name);
        zeta_json_put_text(document, "device_id", device->info.id);
        zeta_json_put_text(document, "device_class", device->info.device_class);
        array = zeta_json_put_array(document, "groups");
        for (uint32_t i = 0; i < groups->count; i++)
            put_group(array, &groups->entries[i]);
        zeta_programmable_list_put_json(programmables, document);
    }
    return zeta_output_put_json(path, document);
}

int zeta_command_groups(int count, char **arguments)
{
    struct zeta_list_options options;
    struct zeta_device_list devices = {0};
    struct zeta_group_list groups = {0};
    struct zeta_programmable_list programmables = {0};
    const struct zeta_device_entry *device = NULL;
    int status = zeta_list_options_read(&options, true, count, arguments);

    if (status == ZETA_EXIT_OK && options.rest_count > 0)
        status = zeta_print_usage_error("groups: takes no argument '%s'; -d chooses a device",
                                        options.rest[0]);
    if (status != ZETA_EXIT_OK)
        return status;
    status = ZETA_EXIT_FAILED;
    if (zeta_device_list_init(&devices) != ZETA_EXIT_OK ||
        zeta_device_list_find(&devices, options.device, &device) != ZETA_EXIT_OK ||
        zeta_group_list_init(device->device, &groups) != ZETA_EXIT_OK)
        goto end;
    for (uint32_t i = 0; i < groups.count; i++) {
        if ((options.is_verbose || options.json.is_given) &&
            zeta_group_entry_load_metrics(&groups.entries[i]) != ZETA_EXIT_OK)
            goto end;
    }
    if (zeta_programmable_list_init(device->device, &programmables) != ZETA_EXIT_OK)
        goto end;
    status = ZETA_EXIT_OK;
    if (options.json.is_given) {
        status = put_groups(device, &groups, &programmables, options.json.path);
    } else {
        print_groups(device, &groups, options.is_verbose);
        zeta_programmable_list_print(&programmables, options.is_verbose);
    }
end:
    zeta_programmable_list_finish(&programmables);
    zeta_group_list_finish(&groups);
    zeta_device_list_finish(&devices);
    return status;
}
