/* Metric groups, metrics and programmables of a device, and zeta groups. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"

/* The name of a value; the table has pairs. */
struct name {
    uint32_t value;
    const char *name;
};

static const char *find_name(const struct name *names, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i].value == value)
            return names[i].name;
    }
    return "other";
}

const char *zeta_metric_type_name(zet_metric_type_t type)
{
    static const struct name names[] = {
        {ZET_METRIC_TYPE_DURATION, "duration"},
        {ZET_METRIC_TYPE_EVENT, "event"},
        {ZET_METRIC_TYPE_EVENT_WITH_RANGE, "event_with_range"},
        {ZET_METRIC_TYPE_THROUGHPUT, "throughput"},
        {ZET_METRIC_TYPE_TIMESTAMP, "timestamp"},
        {ZET_METRIC_TYPE_FLAG, "flag"},
        {ZET_METRIC_TYPE_RATIO, "ratio"},
        {ZET_METRIC_TYPE_RAW, "raw"},
        {ZET_METRIC_TYPE_IP, "ip"},
    };

    return find_name(names, sizeof(names) / sizeof(names[0]), type);
}

const char *zeta_metric_class_name(uint32_t metric_class)
{
    static const char *const names[] = {
        [ZETA_METRIC_CLASS_EXACT] = "exact",
        [ZETA_METRIC_CLASS_SIMULATED] = "simulated",
        [ZETA_METRIC_CLASS_MODELLED] = "modelled",
        [ZETA_METRIC_CLASS_MEASURED] = "measured",
    };
    const char *name = metric_class < sizeof(names) / sizeof(names[0]) ? names[metric_class] : NULL;

    return name ? name : "unknown";
}

const char *zeta_sampling_name(zet_metric_group_sampling_type_flags_t sampling)
{
    if (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
        return "time";
    if (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        return "event";
    if (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
        return "tracer";
    return "none";
}

int zeta_group_list_init(ze_device_handle_t device, struct zeta_group_list *out_list)
{
    zet_metric_group_handle_t *groups;
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    uint32_t count = 0;
    ze_result_t result = zetDeviceEnableMetricsExp(device);

    *out_list = (struct zeta_group_list){.note = ""};
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot turn on the metrics of the device");
    result = zetMetricGroupGet(device, &count, NULL);
    groups = zeta_allocate(count, sizeof(zet_metric_group_handle_t));
    if (result == ZE_RESULT_SUCCESS && count > 0)
        result = zetMetricGroupGet(device, &count, groups);
    if (result != ZE_RESULT_SUCCESS) {
        free(groups);
        return zeta_print_refusal(result, "cannot list metric groups");
    }
    if (zetaDeviceGetInfo(device, &info) == ZE_RESULT_SUCCESS)
        out_list->note = info.metric_note;
    out_list->entries = zeta_allocate(count, sizeof(*out_list->entries));
    for (; out_list->count < count && result == ZE_RESULT_SUCCESS; out_list->count++) {
        struct zeta_group_entry *entry = &out_list->entries[out_list->count];

        entry->group = groups[out_list->count];
        entry->clock.stype = ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP;
        entry->properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
        entry->properties.pNext = &entry->clock;
        entry->info.struct_size = sizeof(entry->info);
        result = zetMetricGroupGetProperties(entry->group, &entry->properties);
        entry->properties.pNext = NULL;
        if (result == ZE_RESULT_SUCCESS)
            result = zetaMetricGroupGetInfo(entry->group, &entry->info);
    }
    free(groups);
    return result == ZE_RESULT_SUCCESS
               ? ZETA_EXIT_OK
               : zeta_print_refusal(result, "cannot read the properties of a metric group");
}

void zeta_group_list_finish(struct zeta_group_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->entries[i].metrics);
    free(list->entries);
    *list = (struct zeta_group_list){0};
}

int zeta_group_entry_load_metrics(struct zeta_group_entry *entry)
{
    uint32_t count = entry->properties.metricCount;
    zet_metric_handle_t *metrics = zeta_allocate(count, sizeof(zet_metric_handle_t));
    ze_result_t result = zetMetricGet(entry->group, &count, metrics);

    entry->metrics = zeta_allocate(count, sizeof(*entry->metrics));
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_metric_entry *metric = &entry->metrics[i];

        metric->metric = metrics[i];
        metric->properties.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        metric->info.struct_size = sizeof(metric->info);
        result = zetMetricGetProperties(metrics[i], &metric->properties);
        if (result == ZE_RESULT_SUCCESS)
            result = zetaMetricGetInfo(metrics[i], &metric->info);
    }
    free(metrics);
    return result == ZE_RESULT_SUCCESS ? ZETA_EXIT_OK
                                       : zeta_print_refusal(result, "cannot read the metrics of %s",
                                                            entry->properties.name);
}

struct zeta_group_entry *zeta_group_list_find(const struct zeta_group_list *list, const char *name,
                                              zet_metric_group_sampling_type_flags_t sampling)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct zeta_group_entry *entry = &list->entries[i];

        if (entry->properties.samplingType & sampling && strcmp(entry->properties.name, name) == 0)
            return entry;
    }
    return NULL;
}

int32_t zeta_group_find_metric(const struct zeta_group_entry *entry, const char *name)
{
    for (uint32_t i = 0; i < entry->properties.metricCount; i++) {
        if (strcmp(entry->metrics[i].properties.name, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

static int refuse_unknown(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *name,
                          zet_metric_group_sampling_type_flags_t sampling)
{
    const bool is_events = sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED;

    if (!is_events &&
        zeta_group_list_find(list, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED))
        return zeta_print_failure("cannot sample %s over time: it is a group of events; "
                                  "'zeta record -e %s' records them",
                                  name, name);
    if (list->count == 0)
        return zeta_print_failure("%s has no metric groups%s%s", device->properties.name,
                                  list->note[0] ? ": " : "; 'zeta doctor' shows why", list->note);
    (void)zeta_print_failure("%s has no group '%s' %s; it has:", device->properties.name, name,
                             is_events ? "of events" : "that can be sampled over time");
    for (uint32_t i = 0; i < list->count; i++) {
        const zet_metric_group_properties_t *group = &list->entries[i].properties;

        if (group->samplingType & sampling)
            (void)fprintf(stderr, "  %s (domain %u)\n", group->name, group->domain);
    }
    return ZETA_EXIT_FAILED;
}

int zeta_group_choose_any(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *const *names,
                          uint32_t count, zet_metric_group_sampling_type_flags_t sampling,
                          struct zeta_group_entry **out_groups)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
        out_groups[i] = zeta_group_list_find(list, names[i], sampling);
        status = out_groups[i] ? zeta_group_entry_load_metrics(out_groups[i])
                               : refuse_unknown(list, device, names[i], sampling);
    }
    return status;
}

int zeta_group_choose(const struct zeta_group_list *list, const struct zeta_device_entry *device,
                      const char *const *names, uint32_t count,
                      struct zeta_group_entry **out_groups)
{
    if (zeta_group_choose_any(list, device, names, count,
                              ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
                              out_groups) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    /* Groups of one domain need the same counters of the device: only one can be counted. */
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const zet_metric_group_properties_t *first = &out_groups[k]->properties;
            const zet_metric_group_properties_t *second = &out_groups[i]->properties;

            if (first->domain == second->domain)
                return zeta_print_failure(
                    "cannot sample %s and %s together: both use the counters of domain %u; sample "
                    "them in two runs, or choose groups of different domains ('zeta groups' lists "
                    "them)",
                    first->name, second->name, first->domain);
        }
    }
    return ZETA_EXIT_OK;
}

enum { VALUE_TEXT_BYTES = 64 };

struct programmable_entry {
    zet_metric_programmable_exp_properties_t properties;
    /* properties.parameterCount of each; their values are valueInfoCount of each. */
    zet_metric_programmable_param_info_exp_t *parameters;
    zet_metric_programmable_param_value_info_exp_t **values;
};

struct programmable_list {
    struct programmable_entry *entries;
    uint32_t count;
};

static int programmables_init(ze_device_handle_t device, struct programmable_list *out_list)
{
    uint32_t count = 0;
    ze_result_t result = zetMetricProgrammableGetExp(device, &count, NULL);
    zet_metric_programmable_exp_handle_t *handles =
        zeta_allocate(count, sizeof(zet_metric_programmable_exp_handle_t));

    if (result == ZE_RESULT_SUCCESS && count > 0)
        result = zetMetricProgrammableGetExp(device, &count, handles);
    out_list->entries = zeta_allocate(count, sizeof(*out_list->entries));
    while (out_list->count < count && result == ZE_RESULT_SUCCESS) {
        const zet_metric_programmable_exp_handle_t handle = handles[out_list->count];
        struct programmable_entry *entry = &out_list->entries[out_list->count++];
        uint32_t parameters;

        entry->properties.stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES;
        result = zetMetricProgrammableGetPropertiesExp(handle, &entry->properties);
        if (result != ZE_RESULT_SUCCESS)
            break;
        parameters = entry->properties.parameterCount;
        entry->parameters = zeta_allocate(parameters, sizeof(*entry->parameters));
        entry->values = zeta_allocate(parameters, sizeof(*entry->values));
        result = zetMetricProgrammableGetParamInfoExp(handle, &parameters, entry->parameters);
        for (uint32_t i = 0; i < parameters && result == ZE_RESULT_SUCCESS; i++) {
            uint32_t values = entry->parameters[i].valueInfoCount;

            entry->values[i] = zeta_allocate(values, sizeof(**entry->values));
            result =
                zetMetricProgrammableGetParamValueInfoExp(handle, i, &values, entry->values[i]);
        }
    }
    free(handles);
    return result == ZE_RESULT_SUCCESS
               ? ZETA_EXIT_OK
               : zeta_print_refusal(result, "cannot read the programmables");
}

static const char *parameter_type_name(zet_metric_programmable_param_type_exp_t type)
{
    static const struct name names[] = {
        {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_DISAGGREGATION, "disaggregation"},
        {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_LATENCY, "latency"},
        {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_UTILIZATION, "utilization"},
        {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_AVERAGE, "average"},
        {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_RATE, "rate"},
        {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_BYTES, "bytes"},
        {ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_GENERIC, "generic"},
    };

    return find_name(names, sizeof(names) / sizeof(names[0]), type);
}

static void format_value(const zet_metric_programmable_param_info_exp_t *parameter,
                         const zet_value_info_exp_t *info, char text[VALUE_TEXT_BYTES])
{
    switch ((uint32_t)parameter->valueInfoType) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT64:
        (void)snprintf(text, VALUE_TEXT_BYTES, "%" PRIu64, info->ui64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        (void)zeta_c_snprintf(text, VALUE_TEXT_BYTES, "%g", (double)info->fp32);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
        (void)zeta_c_snprintf(text, VALUE_TEXT_BYTES, "%g", info->fp64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        (void)snprintf(text, VALUE_TEXT_BYTES, "%s", info->b8 ? "true" : "false");
        break;
    case ZET_VALUE_INFO_TYPE_EXP_UINT8:
        (void)snprintf(text, VALUE_TEXT_BYTES, "%u", info->ui8);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_UINT16:
        (void)snprintf(text, VALUE_TEXT_BYTES, "%u", info->ui16);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        (void)snprintf(text, VALUE_TEXT_BYTES, "%" PRIu64 " to %" PRIu64, info->ui64Range.ui64Min,
                       info->ui64Range.ui64Max);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        (void)zeta_c_snprintf(text, VALUE_TEXT_BYTES, "%g to %g", info->fp64Range.fp64Min,
                              info->fp64Range.fp64Max);
        break;
    default:
        (void)snprintf(text, VALUE_TEXT_BYTES, "%" PRIu32, info->ui32);
        break;
    }
}

/**
 * All ways to collect it: the API has one programmable for each, which differ in nothing else. 0 if
 * an earlier row of the table has them.
 */
static zet_metric_group_sampling_type_flags_t row_sampling(const struct programmable_list *list,
                                                           uint32_t place)
{
    const zet_metric_programmable_exp_properties_t *wanted = &list->entries[place].properties;
    zet_metric_group_sampling_type_flags_t sampling = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        const zet_metric_programmable_exp_properties_t *other = &list->entries[i].properties;

        if (other->domain != wanted->domain || other->sourceId != wanted->sourceId ||
            strcmp(other->name, wanted->name) != 0)
            continue;
        if (i < place)
            return 0;
        sampling |= other->samplingType;
    }
    return sampling;
}

static void programmables_print(const struct programmable_list *list, bool is_verbose)
{
    enum { DOMAIN, NAME, SAMPLING, PARAMETERS, COLUMN_COUNT };
    static const struct zeta_table_column columns[COLUMN_COUNT] = {
        [DOMAIN] = {.title = "Domain", .is_right = true},
        [NAME] = {.title = "Programmable", .gap = 2},
        [SAMPLING] = {.title = "Sampling", .gap = 1},
        [PARAMETERS] = {.title = "Parameters", .gap = 2},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};

    if (list->count == 0)
        return;
    (void)putchar('\n');
    for (uint32_t i = 0; i < list->count; i++) {
        const struct programmable_entry *entry = &list->entries[i];
        const zet_metric_group_sampling_type_flags_t sampling = row_sampling(list, i);
        const bool is_both = (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) &&
                             (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
        char names[512] = "";
        size_t used = 0;

        for (uint32_t p = 0; p < entry->properties.parameterCount && used < sizeof(names); p++)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", p > 0 ? ", " : "",
                                     entry->parameters[p].name);
        zeta_table_set(&table, i, DOMAIN, "%u", entry->properties.domain);
        zeta_table_set(&table, i, NAME, "%s", entry->properties.name);
        zeta_table_set(&table, i, SAMPLING, "%s",
                       is_both ? "time, event" : zeta_sampling_name(sampling));
        zeta_table_set(&table, i, PARAMETERS, "%s", names);
    }
    zeta_table_print_head(&table, stdout);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct programmable_entry *entry = &list->entries[i];

        if (row_sampling(list, i) == 0)
            continue;
        zeta_table_print_row(&table, i, stdout);
        if (!is_verbose)
            continue;
        zeta_terminal_write_folded(stdout, entry->properties.description, 4,
                                   zeta_terminal_columns(stdout));
        for (uint32_t p = 0; p < entry->properties.parameterCount; p++) {
            const zet_metric_programmable_param_info_exp_t *parameter = &entry->parameters[p];

            (void)printf("    %s (%s)\n", parameter->name, parameter_type_name(parameter->type));
            for (uint32_t v = 0; v < parameter->valueInfoCount; v++) {
                char text[VALUE_TEXT_BYTES];

                format_value(parameter, &entry->values[p][v].valueInfo, text);
                (void)printf("      %s: %s\n", text, entry->values[p][v].description);
            }
        }
        (void)putchar('\n');
    }
    zeta_table_free(&table);
}

static void programmables_put_json(const struct programmable_list *list,
                                   struct json_object *document)
{
    struct json_object *array = zeta_json_put_array(document, "programmables");

    for (uint32_t i = 0; i < list->count; i++) {
        const struct programmable_entry *entry = &list->entries[i];
        struct json_object *object = zeta_json_append_object(array);
        struct json_object *parameters = NULL;

        zeta_json_put_text(object, "name", entry->properties.name);
        zeta_json_put_text(object, "description", entry->properties.description);
        zeta_json_put_text(object, "component", entry->properties.component);
        zeta_json_put_u64(object, "tier", entry->properties.tierNumber);
        zeta_json_put_u64(object, "domain", entry->properties.domain);
        zeta_json_put_u64(object, "source_id", entry->properties.sourceId);
        zeta_json_put_text(object, "sampling", zeta_sampling_name(entry->properties.samplingType));
        parameters = zeta_json_put_array(object, "parameters");
        for (uint32_t p = 0; p < entry->properties.parameterCount; p++) {
            const zet_metric_programmable_param_info_exp_t *info = &entry->parameters[p];
            struct json_object *parameter = zeta_json_append_object(parameters);
            struct json_object *values = NULL;

            zeta_json_put_text(parameter, "name", info->name);
            zeta_json_put_text(parameter, "type", parameter_type_name(info->type));
            values = zeta_json_put_array(parameter, "values");
            for (uint32_t v = 0; v < info->valueInfoCount; v++) {
                struct json_object *value = zeta_json_append_object(values);
                char text[VALUE_TEXT_BYTES];

                format_value(info, &entry->values[p][v].valueInfo, text);
                zeta_json_put_text(value, "value", text);
                zeta_json_put_text(value, "description", entry->values[p][v].description);
            }
        }
    }
}

static const char *value_type_name(zet_value_type_t type)
{
    static const struct name names[] = {
        {ZET_VALUE_TYPE_UINT8, "u8"},    {ZET_VALUE_TYPE_UINT16, "u16"},
        {ZET_VALUE_TYPE_UINT32, "u32"},  {ZET_VALUE_TYPE_UINT64, "u64"},
        {ZET_VALUE_TYPE_FLOAT32, "f32"}, {ZET_VALUE_TYPE_FLOAT64, "f64"},
        {ZET_VALUE_TYPE_BOOL8, "bool"},
    };

    return find_name(names, sizeof(names) / sizeof(names[0]), type);
}

/* True if the group cannot be counted in one pass. */
static bool needs_passes(const struct zeta_group_entry *group, struct zeta_group_passes *out_passes)
{
    *out_passes = (struct zeta_group_passes){.struct_size = sizeof(*out_passes)};
    return zetaMetricGroupGetPasses(group->group, out_passes) == ZE_RESULT_SUCCESS &&
           out_passes->count != 1;
}

/* What a row of the table has no room for. */
static void print_details(const struct zeta_group_entry *group)
{
    const unsigned columns = zeta_terminal_columns(stdout);
    struct zeta_group_passes passes;

    zeta_terminal_write_folded(stdout, group->properties.description, 4, columns);
    (void)printf("    from %s, plugin %s\n", group->info.origin, group->info.plugin);
    if (*group->info.query_note)
        zeta_terminal_write_folded(stdout, group->info.query_note, 4, columns);
    if (*group->info.stream_note)
        zeta_terminal_write_folded(stdout, group->info.stream_note, 4, columns);
    if (needs_passes(group, &passes)) {
        if (passes.count > 0)
            (void)printf("    needs %u passes, and a group has one:\n", passes.count);
        else
            (void)puts("    cannot be counted:");
        zeta_terminal_write_folded(stdout, passes.reason, 8, columns);
    }
    if (*group->info.no_queries) {
        (void)puts("    no queries:");
        zeta_terminal_write_folded(stdout, group->info.no_queries, 8, columns);
    }
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
    (void)putchar('\n');
}

static void print_none(const struct zeta_group_list *groups)
{
    if (groups->note[0])
        (void)printf("It has no metric groups: %s\n", groups->note);
    else
        (void)puts("It has no metric groups; 'zeta doctor' shows why.");
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
        print_none(groups);
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
    if (groups->note[0])
        (void)printf("\nMore are missing: %s\n", groups->note);
    zeta_table_free(&table);
}

static void put_group(struct json_object *array, const struct zeta_group_entry *group)
{
    struct json_object *object = zeta_json_append_object(array);
    struct json_object *metrics = NULL;
    struct zeta_group_passes passes;

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
    if (*group->info.stream_note)
        zeta_json_put_text(object, "stream_note", group->info.stream_note);
    if (*group->info.no_queries)
        zeta_json_put_text(object, "no_queries", group->info.no_queries);
    if (needs_passes(group, &passes)) {
        zeta_json_put_u64(object, "passes", passes.count);
        zeta_json_put_text(object, "passes_reason", passes.reason);
    }
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

int zeta_command_groups(int count, char **arguments)
{
    struct zeta_list_options options;
    struct zeta_device_list devices = {0};
    struct zeta_group_list groups = {0};
    struct programmable_list programmables = {0};
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
        zeta_group_list_init(device->device, &groups) != ZETA_EXIT_OK ||
        programmables_init(device->device, &programmables) != ZETA_EXIT_OK)
        goto end;
    for (uint32_t i = 0; i < groups.count; i++) {
        if ((options.is_verbose || options.json.is_given) &&
            zeta_group_entry_load_metrics(&groups.entries[i]) != ZETA_EXIT_OK)
            goto end;
    }
    status = ZETA_EXIT_OK;
    if (options.json.is_given) {
        struct json_object *document = zeta_json_new_document("zeta.groups/1");
        struct json_object *array;

        zeta_json_put_text(document, "device", device->properties.name);
        zeta_json_put_text(document, "device_id", device->info.id);
        zeta_json_put_text(document, "device_class", device->info.device_class);
        if (groups.note[0])
            zeta_json_put_text(document, "missing", groups.note);
        array = zeta_json_put_array(document, "groups");
        for (uint32_t i = 0; i < groups.count; i++)
            put_group(array, &groups.entries[i]);
        programmables_put_json(&programmables, document);
        status = zeta_output_put_json(options.json.path, document);
    } else {
        print_groups(device, &groups, options.is_verbose);
        programmables_print(&programmables, options.is_verbose);
    }
end:
    for (uint32_t i = 0; i < programmables.count; i++) {
        struct programmable_entry *entry = &programmables.entries[i];

        for (uint32_t p = 0; entry->values && p < entry->properties.parameterCount; p++)
            free(entry->values[p]);
        free(entry->values);
        free(entry->parameters);
    }
    free(programmables.entries);
    zeta_group_list_finish(&groups);
    zeta_device_list_finish(&devices);
    return status;
}
