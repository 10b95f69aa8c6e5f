#include "sdk/tools/zeta/inventory/programmable_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/inventory/group_list.h"
#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/table.h"
#include "sdk/tools/zeta/output/text.h"

enum { VALUE_TEXT_BYTES = 64 };

static int load_parameters(struct zeta_programmable_entry *entry)
{
    const char *name = entry->properties.name;
    uint32_t count = entry->properties.parameterCount;
    ze_result_t result = ZE_RESULT_SUCCESS;

    entry->parameters = calloc(count, sizeof(*entry->parameters));
    entry->values = calloc(count, sizeof(*entry->values));
    if (!entry->parameters || !entry->values)
        return zeta_print_failure("no memory for the parameters of %s", name);
    result = zetMetricProgrammableGetParamInfoExp(entry->programmable, &count, entry->parameters);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the parameters of %s", name);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t values = entry->parameters[i].valueInfoCount;

        entry->values[i] = calloc(values, sizeof(**entry->values));
        if (!entry->values[i])
            return zeta_print_failure("no memory for the values of %s", name);
        result = zetMetricProgrammableGetParamValueInfoExp(entry->programmable, i, &values,
                                                           entry->values[i]);
        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot read the values of %s", name);
    }
    return ZETA_EXIT_OK;
}

static int load(zet_metric_programmable_exp_handle_t programmable,
                struct zeta_programmable_entry *entry)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    entry->programmable = programmable;
    entry->properties.stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES;
    result = zetMetricProgrammableGetPropertiesExp(programmable, &entry->properties);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the properties of a programmable");
    return load_parameters(entry);
}

int zeta_programmable_list_init(ze_device_handle_t device, struct zeta_programmable_list *out_list)
{
    zet_metric_programmable_exp_handle_t *handles = NULL;
    uint32_t count = 0;
    int status = ZETA_EXIT_OK;
    ze_result_t result = zetMetricProgrammableGetExp(device, &count, NULL);

    *out_list = (struct zeta_programmable_list){0};
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot list programmables");
    if (count == 0)
        return ZETA_EXIT_OK;
    handles = calloc(count, sizeof(zet_metric_programmable_exp_handle_t));
    out_list->entries = calloc(count, sizeof(*out_list->entries));
    if (!handles || !out_list->entries) {
        free(handles);
        return zeta_print_failure("no memory for a list of %u programmables", count);
    }
    result = zetMetricProgrammableGetExp(device, &count, handles);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot list programmables");
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
        out_list->count = i + 1;
        status = load(handles[i], &out_list->entries[i]);
    }
    free(handles);
    return status;
}

void zeta_programmable_list_finish(struct zeta_programmable_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct zeta_programmable_entry *entry = &list->entries[i];

        for (uint32_t p = 0; entry->values && p < entry->properties.parameterCount; p++)
            free(entry->values[p]);
        free(entry->values);
        free(entry->parameters);
    }
    free(list->entries);
    *list = (struct zeta_programmable_list){0};
}

static const char *parameter_type_name(zet_metric_programmable_param_type_exp_t type)
{
    switch ((uint32_t)type) {
    case ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_DISAGGREGATION:
        return "disaggregation";
    case ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_LATENCY:
        return "latency";
    case ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_UTILIZATION:
        return "utilization";
    case ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_AVERAGE:
        return "average";
    case ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_RATE:
        return "rate";
    case ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_BYTES:
        return "bytes";
    case ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_GENERIC:
        return "generic";
    default:
        return "other";
    }
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

static void print_parameters(const struct zeta_programmable_entry *entry)
{
    for (uint32_t i = 0; i < entry->properties.parameterCount; i++) {
        const zet_metric_programmable_param_info_exp_t *parameter = &entry->parameters[i];

        (void)printf("    %s (%s)\n", parameter->name, parameter_type_name(parameter->type));
        for (uint32_t v = 0; v < parameter->valueInfoCount; v++) {
            char text[VALUE_TEXT_BYTES];

            format_value(parameter, &entry->values[i][v].valueInfo, text);
            (void)printf("      %s: %s\n", text, entry->values[i][v].description);
        }
    }
}

/* The API has one programmable for each way to collect it; they differ in nothing else. */
static bool is_twin(const struct zeta_programmable_entry *a,
                    const struct zeta_programmable_entry *b)
{
    return a->properties.domain == b->properties.domain &&
           a->properties.sourceId == b->properties.sourceId &&
           strcmp(a->properties.name, b->properties.name) == 0;
}

/** All ways to collect it; 0 if an earlier row of the table has them. */
static zet_metric_group_sampling_type_flags_t
row_sampling(const struct zeta_programmable_list *list, uint32_t place)
{
    zet_metric_group_sampling_type_flags_t sampling = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        if (!is_twin(&list->entries[i], &list->entries[place]))
            continue;
        if (i < place)
            return 0;
        sampling |= list->entries[i].properties.samplingType;
    }
    return sampling;
}

void zeta_programmable_list_print(const struct zeta_programmable_list *list, bool is_verbose)
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
        const struct zeta_programmable_entry *entry = &list->entries[i];
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
        if (row_sampling(list, i) == 0)
            continue;
        zeta_table_print_row(&table, i, stdout);
        if (!is_verbose)
            continue;
        zeta_terminal_write_folded(stdout, list->entries[i].properties.description, 4,
                                   zeta_terminal_columns(stdout));
        print_parameters(&list->entries[i]);
        (void)putchar('\n');
    }
    zeta_table_free(&table);
}

void zeta_programmable_list_put_json(const struct zeta_programmable_list *list,
                                     struct json_object *document)
{
    struct json_object *array = zeta_json_put_array(document, "programmables");

    for (uint32_t i = 0; i < list->count; i++) {
        const struct zeta_programmable_entry *entry = &list->entries[i];
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
