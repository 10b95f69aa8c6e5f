/*
 * The parts of the samples that read the same in the guides of 0.91 and of the provisional 1.0.
 * Include it after the header of the level.
 */
#ifndef ZETA_TESTS_COMPAT_GUIDES_H
#define ZETA_TESTS_COMPAT_GUIDES_H

#include <time.h>

#include "world.h"

/* ---------------------------------------------------------------- tracing of API calls */

struct tool {
    uint32_t calls;
    uint32_t complete; /* epilogues that found the data of their prologue */
    ze_kernel_handle_t kernel;
    double total_ms;
};

struct call {
    clock_t begin;
};

static void before_launch(ze_command_list_append_launch_function_params_t *params,
                          ze_result_t result, void *tool, void **call)
{
    struct call *begun = (struct call *)malloc(sizeof(*begun));

    (void)params;
    (void)result;
    (void)tool;
    *call = begun;
    if (begun)
        begun->begin = clock();
}

static void after_launch(ze_command_list_append_launch_function_params_t *params,
                         ze_result_t result, void *user, void **call)
{
    const clock_t end = clock();
    struct tool *tool = (struct tool *)user;
    struct call *begun = (struct call *)*call;

    tool->calls++;
    if (!begun || result != ZE_RESULT_SUCCESS)
        return;
    tool->complete++;
    tool->kernel = *params->phKernel;
    tool->total_ms += 1000.0 * (double)(end - begun->begin) / CLOCKS_PER_SEC;
    free(begun);
}

static void trace(struct world *w, zet_tracer_handle_t tracer)
{
    zet_core_callbacks_t enter;
    zet_core_callbacks_t leave;

    memset(&enter, 0, sizeof(enter));
    memset(&leave, 0, sizeof(leave));
    enter.CommandList.pfnAppendLaunchFunction = before_launch;
    leave.CommandList.pfnAppendLaunchFunction = after_launch;
    assert_success(zetTracerSetPrologues(tracer, &enter));
    assert_success(zetTracerSetEpilogues(tracer, &leave));

    assert_success(zetTracerSetEnabled(tracer, 1));
    for (int i = 0; i < 3; i++)
        assert_success(
            zeCommandListAppendLaunchKernel(w->list, w->kernel, &w->groups, NULL, 0, NULL));
    assert_success(zetTracerSetEnabled(tracer, 0));
    assert_success(zeCommandListAppendLaunchKernel(w->list, w->kernel, &w->groups, NULL, 0, NULL));
    assert_success(zetTracerDestroy(tracer));
    world_execute(w);
}

/* ---------------------------------------------------------------- enumeration */

static zet_metric_group_handle_t find_group(ze_device_handle_t device, const char *name,
                                            uint32_t sampling, uint32_t *out_metrics)
{
    zet_metric_group_handle_t found = NULL;
    zet_metric_group_handle_t *groups;
    uint32_t count = 0;

    assert_success(zetMetricGroupGet(device, &count, NULL));
    assert_true(count > 0);
    groups = (zet_metric_group_handle_t *)world_room(count * sizeof(*groups));
    assert_success(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count && !found; i++) {
        zet_metric_group_properties_t p;

        memset(&p, 0xa5, sizeof(p));
        assert_success(zetMetricGroupGetProperties(groups[i], &p));
        if ((p.samplingType & sampling) == sampling && strcmp(p.name, name) == 0) {
            found = groups[i];
            *out_metrics = p.metricCount;
        }
    }
    free(groups);
    return found;
}

/* ---------------------------------------------------------------- calculation */

static double as_number(const zet_typed_value_t *value)
{
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT32:
        return value->value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return (double)value->value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return (double)value->value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return value->value.fp64;
    case ZET_VALUE_TYPE_BOOL8:
        return value->value.b8;
    default:
        fail_msg("a value of type %d", (int)value->type);
        return 0;
    }
}

/* The sum of one metric over all reports. */
static double calculate(zet_metric_group_handle_t group, size_t bytes, const uint8_t *raw,
                        const char *name, uint32_t *out_reports)
{
    zet_metric_handle_t metrics[64];
    zet_typed_value_t *values;
    uint32_t metric_count = 64;
    uint32_t count = 0;
    double sum = 0;

    assert_success(zetMetricGroupCalculateMetricValues(group, bytes, raw, &count, NULL));
    values = (zet_typed_value_t *)world_room(count * sizeof(*values));
    assert_success(zetMetricGroupCalculateMetricValues(group, bytes, raw, &count, values));
    assert_success(zetMetricGet(group, &metric_count, metrics));
    *out_reports = count / metric_count;
    for (uint32_t i = 0; i < metric_count; i++) {
        zet_metric_properties_t p;

        memset(&p, 0xa5, sizeof(p));
        assert_success(zetMetricGetProperties(metrics[i], &p));
        for (uint32_t report = 0; report < *out_reports; report++) {
            const zet_typed_value_t *value = &values[report * metric_count + i];

            assert_int_equal(value->type, p.resultType);
            if (strcmp(p.name, name) == 0)
                sum += as_number(value);
        }
    }
    free(values);
    return sum;
}

/* ---------------------------------------------------------------- queries */

static zet_metric_group_handle_t find_query_group(ze_device_handle_t device)
{
    uint32_t metrics = 0;
    zet_metric_group_handle_t group =
        find_group(device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_EVENT_BASED, &metrics);

    assert_non_null(group);
    return group;
}

#endif
