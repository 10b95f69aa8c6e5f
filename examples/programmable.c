/*
 * programmable: makes metrics that no group has, and samples them.
 *
 * A programmable is a counter with parameters: how finely it is split, how it is normalised. Choose
 * values for the parameters, create metrics from them, let the driver pack the metrics into groups,
 * and use the groups like any other.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"

enum { MATRIX_SIZE = 128, MAX_PROGRAMMABLES = 256, MAX_METRICS = 64, MAX_GROUPS = 64 };

/* What counts the work of the product: of the virtual GPU, of NVIDIA's. */
static const char *const counters[] = {"FpOps", "sm__inst_executed_pipe_fma"};

struct program {
    ze_driver_handle_t driver;
    ze_context_handle_t context;
    ze_device_handle_t device;
};

static void work(void *user)
{
    const struct program *program = user;

    matrix_multiply_checked(program->context, program->device, MATRIX_SIZE);
}

static bool is_counter(const char *name)
{
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        if (strcmp(counters[i], name) == 0)
            return true;
    }
    return false;
}

/* Lists what can be sampled over time, and gives the one that counts the work. */
static zet_metric_programmable_exp_handle_t find_programmable(ze_device_handle_t device)
{
    zet_metric_programmable_exp_handle_t all[MAX_PROGRAMMABLES] = {NULL};
    zet_metric_programmable_exp_handle_t found = NULL;
    uint32_t count = MAX_PROGRAMMABLES;

    example_check(zetMetricProgrammableGetExp(device, &count, all), "zetMetricProgrammableGetExp");
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_exp_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES,
        };

        example_check(zetMetricProgrammableGetPropertiesExp(all[i], &properties),
                      "zetMetricProgrammableGetPropertiesExp");
        if (!(properties.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED))
            continue;
        (void)printf("%-24s %" PRIu32 " parameters, %s\n", properties.name,
                     properties.parameterCount, properties.description);
        if (is_counter(properties.name))
            found = all[i];
    }
    if (!found)
        example_fail("the device has no programmable %s or %s", counters[0], counters[1]);
    return found;
}

/* Prints the values that a parameter may have; gives the last one, the finest split. */
static zet_value_t choose(zet_metric_programmable_exp_handle_t programmable, uint32_t ordinal,
                          const zet_metric_programmable_param_info_exp_t *parameter)
{
    zet_metric_programmable_param_value_info_exp_t infos[32] = {0};
    uint32_t count = parameter->valueInfoCount < 32 ? parameter->valueInfoCount : 32;
    zet_value_t value = parameter->defaultValue;

    for (uint32_t i = 0; i < count; i++)
        infos[i].stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_PARAM_VALUE_INFO_EXP;
    example_check(zetMetricProgrammableGetParamValueInfoExp(programmable, ordinal, &count, infos),
                  "zetMetricProgrammableGetParamValueInfoExp");
    for (uint32_t i = 0; i < count; i++) {
        (void)printf("  %s = %" PRIu64 ": %s\n", parameter->name, (uint64_t)infos[i].valueInfo.ui32,
                     infos[i].description);
        if (parameter->type == ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_DISAGGREGATION &&
            strstr(infos[i].description, "ubslice"))
            value.ui32 = infos[i].valueInfo.ui32;
    }
    return value;
}

/* Creates the metrics of a programmable, one for each subslice. */
static uint32_t create_metrics(zet_metric_programmable_exp_handle_t programmable,
                               zet_metric_handle_t metrics[MAX_METRICS])
{
    zet_metric_programmable_param_info_exp_t parameters[8] = {0};
    zet_metric_programmable_param_value_exp_t values[8] = {0};
    uint32_t parameter_count = 8;
    uint32_t metric_count = 0;

    for (uint32_t i = 0; i < parameter_count; i++)
        parameters[i].stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_PARAM_INFO_EXP;
    example_check(zetMetricProgrammableGetParamInfoExp(programmable, &parameter_count, parameters),
                  "zetMetricProgrammableGetParamInfoExp");
    for (uint32_t i = 0; i < parameter_count; i++)
        values[i].value = choose(programmable, i, &parameters[i]);
    example_check(zetMetricCreateFromProgrammableExp2(programmable, parameter_count, values,
                                                      "Operations", "Floating operations",
                                                      &metric_count, NULL),
                  "zetMetricCreateFromProgrammableExp2");
    if (metric_count > MAX_METRICS)
        metric_count = MAX_METRICS;
    example_check(zetMetricCreateFromProgrammableExp2(programmable, parameter_count, values,
                                                      "Operations", "Floating operations",
                                                      &metric_count, metrics),
                  "zetMetricCreateFromProgrammableExp2");
    return metric_count;
}

/* Samples one group and prints the metrics that were made for it. */
static uint32_t show(struct program *program, zet_metric_group_handle_t group)
{
    static zet_metric_properties_t properties[MAX_METRICS];
    zet_metric_handle_t members[MAX_METRICS] = {NULL};
    const char *names[MAX_METRICS];
    uint32_t member_count = MAX_METRICS;
    uint32_t name_count = 0;
    uint32_t rows = 0;
    size_t bytes = 0;
    uint8_t *raw = NULL;

    example_check(zetMetricGet(group, &member_count, members), "zetMetricGet");
    for (uint32_t i = 0; i < member_count; i++) {
        properties[i].stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        example_check(zetMetricGetProperties(members[i], &properties[i]), "zetMetricGetProperties");
        if (strncmp(properties[i].name, "Operations", strlen("Operations")) == 0)
            names[name_count++] = properties[i].name;
    }
    raw = example_sample(program->context, program->device, group, work, program, &bytes);
    rows = example_print_rows(program->driver, group, raw, bytes, names, name_count);
    free(raw);
    return rows;
}

int main(void)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_handle_t metrics[MAX_METRICS] = {NULL};
    zet_metric_group_handle_t groups[MAX_GROUPS] = {NULL};
    struct program program = {.device = NULL};
    uint32_t metric_count = 0;
    uint32_t group_count = MAX_GROUPS;
    uint32_t rows = 0;

    example_find_computing_device(&program.driver, &program.device);
    example_check(zetDeviceEnableMetricsExp(program.device), "zetDeviceEnableMetricsExp");
    example_check(zeContextCreate(program.driver, &description, &program.context),
                  "zeContextCreate");
    metric_count = create_metrics(find_programmable(program.device), metrics);
    example_check(zetDeviceCreateMetricGroupsFromMetricsExp(program.device, metric_count, metrics,
                                                            "Example", "Operations by subslice",
                                                            &group_count, groups),
                  "zetDeviceCreateMetricGroupsFromMetricsExp");
    (void)printf("%" PRIu32 " metrics in %" PRIu32 " groups\n", metric_count, group_count);
    for (uint32_t i = 0; i < group_count; i++)
        rows += show(&program, groups[i]);
    /* Groups first: a metric in a group cannot be destroyed. */
    for (uint32_t i = 0; i < group_count; i++)
        example_check(zetMetricGroupDestroyExp(groups[i]), "zetMetricGroupDestroyExp");
    for (uint32_t i = 0; i < metric_count; i++)
        example_check(zetMetricDestroyExp(metrics[i]), "zetMetricDestroyExp");
    example_check(zeContextDestroy(program.context), "zeContextDestroy");
    return rows > 0 ? 0 : 1;
}
