/*
 * The samples of the guide of the time of 1.9, whose names are those of today. No header for old
 * names is needed; README.md lists where the guide is wrong. C and C++.
 */
#include <time.h>
#include <unistd.h>

#include "instrumentation.h"
#include "world.h"

/* ---------------------------------------------------------------- tracing of API calls */

struct call {
    clock_t begin;
};

static void before_launch(ze_command_list_append_launch_kernel_params_t *params, ze_result_t result,
                          void *user, void **call)
{
    struct call *begun = (struct call *)malloc(sizeof(*begun));

    (void)params;
    (void)result;
    (void)user;
    *call = begun;
    if (begun)
        begun->begin = clock();
}

static void after_launch(ze_command_list_append_launch_kernel_params_t *params, ze_result_t result,
                         void *user, void **call)
{
    struct call *begun = (struct call *)*call;
    uint32_t *complete = (uint32_t *)user;

    (void)params;
    if (begun && result == ZE_RESULT_SUCCESS && clock() >= begun->begin)
        ++*complete;
    free(begun);
}

static void sample__api_tracing__times_each_launch(void **state)
{
    struct world *w = (struct world *)*state;
    zet_tracer_exp_handle_t tracer = NULL;
    zet_tracer_exp_desc_t desc = {ZET_STRUCTURE_TYPE_TRACER_EXP_DESC, NULL, NULL};
    zet_core_callbacks_t enter;
    zet_core_callbacks_t leave;
    uint32_t complete = 0;

    desc.pUserData = &complete;
    assert_success(zetTracerExpCreate(w->context, &desc, &tracer));
    memset(&enter, 0, sizeof(enter));
    memset(&leave, 0, sizeof(leave));
    enter.CommandList.pfnAppendLaunchKernelCb = before_launch;
    leave.CommandList.pfnAppendLaunchKernelCb = after_launch;
    assert_success(zetTracerExpSetPrologues(tracer, &enter));
    assert_success(zetTracerExpSetEpilogues(tracer, &leave));
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    for (int i = 0; i < 3; i++)
        assert_success(
            zeCommandListAppendLaunchKernel(w->list, w->kernel, &w->groups, NULL, 0, NULL));
    assert_success(zetTracerExpSetEnabled(tracer, 0));
    assert_success(zetTracerExpDestroy(tracer));
    assert_int_equal(complete, 3);
    world_execute(w);
}

/* ---------------------------------------------------------------- enumeration and calculation */

static zet_metric_group_handle_t find_group(ze_device_handle_t device, const char *name,
                                            uint32_t sampling)
{
    zet_metric_group_handle_t found = NULL;
    zet_metric_group_handle_t *groups;
    uint32_t count = 0;

    assert_success(zetMetricGroupGet(device, &count, NULL));
    groups = (zet_metric_group_handle_t *)world_room(count * sizeof(*groups));
    assert_success(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count && !found; i++) {
        zet_metric_group_properties_t p;

        memset(&p, 0, sizeof(p));
        p.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
        assert_success(zetMetricGroupGetProperties(groups[i], &p));
        if ((p.samplingType & sampling) == sampling && strcmp(p.name, name) == 0)
            found = groups[i];
    }
    free(groups);
    return found;
}

/* The number of reports; each value has the type that its metric promises. */
static uint32_t calculate(zet_metric_group_handle_t group, size_t bytes, const uint8_t *raw)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    zet_metric_handle_t metrics[64];
    uint32_t metric_count = 64;
    zet_typed_value_t *values;
    uint32_t count = 0;

    assert_success(zetMetricGroupCalculateMetricValues(group, type, bytes, raw, &count, NULL));
    values = (zet_typed_value_t *)world_room(count * sizeof(*values));
    assert_success(zetMetricGroupCalculateMetricValues(group, type, bytes, raw, &count, values));
    assert_success(zetMetricGet(group, &metric_count, metrics));
    assert_int_equal(count % metric_count, 0);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t p;

        memset(&p, 0, sizeof(p));
        p.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
        assert_success(zetMetricGetProperties(metrics[i % metric_count], &p));
        assert_int_equal(values[i].type, p.resultType);
    }
    free(values);
    return count / metric_count;
}

/* ---------------------------------------------------------------- collection */

struct signal {
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
};

static struct signal create_signal(struct world *w)
{
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL, 0, 1};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
    struct signal made = {NULL, NULL};

    assert_success(zeEventPoolCreate(w->context, &pool_desc, 1, &w->device, &made.pool));
    event_desc.index = 0;
    event_desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event_desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    assert_success(zeEventCreate(made.pool, &event_desc, &made.event));
    return made;
}

static void destroy_signal(struct signal made)
{
    assert_success(zeEventDestroy(made.event));
    assert_success(zeEventPoolDestroy(made.pool));
}

static void sample__metric_streamer__measures_the_workload(void **state)
{
    struct world *w = (struct world *)*state;
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC};
    zet_metric_streamer_handle_t streamer = NULL;
    zet_metric_group_handle_t group =
        find_group(w->device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    struct signal ready;
    size_t bytes = 0;
    uint8_t *raw;

    assert_success(zetContextActivateMetricGroups(w->context, w->device, 1, &group));
    ready = create_signal(w);
    desc.samplingPeriod = 1000000;
    desc.notifyEveryNReports = 4;
    assert_success(
        zetMetricStreamerOpen(w->context, w->device, group, &desc, ready.event, &streamer));
    world_work(w, 50);
    assert_success(zeEventHostSynchronize(ready.event, UINT64_MAX));
    assert_success(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, NULL));
    raw = (uint8_t *)world_room(bytes);
    assert_success(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw));
    assert_success(zetMetricStreamerClose(streamer));
    destroy_signal(ready);
    assert_success(zetContextActivateMetricGroups(w->context, w->device, 0, NULL));
    assert_true(calculate(group, bytes, raw) >= 4);
    free(raw);
}

static void measure_by_query(struct world *w, zet_metric_query_pool_handle_t queries,
                             zet_metric_group_handle_t group)
{
    struct signal complete = create_signal(w);
    zet_metric_query_handle_t query = NULL;
    size_t bytes = 0;
    uint8_t *raw;

    assert_success(zetMetricQueryCreate(queries, 0, &query));
    assert_success(zetCommandListAppendMetricQueryBegin(w->list, query));
    assert_success(zeCommandListAppendLaunchKernel(w->list, w->kernel, &w->groups, NULL, 0, NULL));
    assert_success(zetCommandListAppendMetricQueryEnd(w->list, query, complete.event, 0, NULL));
    world_execute(w);
    assert_success(zeEventHostSynchronize(complete.event, UINT64_MAX));
    assert_success(zetMetricQueryGetData(query, &bytes, NULL));
    raw = (uint8_t *)world_room(bytes);
    assert_success(zetMetricQueryGetData(query, &bytes, raw));
    assert_success(zetMetricQueryDestroy(query));
    destroy_signal(complete);
    assert_success(zetMetricQueryPoolDestroy(queries));
    assert_int_equal(calculate(group, bytes, raw), 1);
    free(raw);
}

static void sample__metric_query__measures_a_kernel(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer wants a list of no events to wait for");
    struct world *w = (struct world *)*state;
    zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC};
    zet_metric_query_pool_handle_t queries = NULL;
    zet_metric_group_handle_t group =
        find_group(w->device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);

    assert_non_null(group);
    assert_success(zetContextActivateMetricGroups(w->context, w->device, 1, &group));
    desc.type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    desc.count = 1000;
    assert_success(zetMetricQueryPoolCreate(w->context, w->device, group, &desc, &queries));
    measure_by_query(w, queries, group);
    assert_success(zetContextActivateMetricGroups(w->context, w->device, 0, NULL));
}

/* ---------------------------------------------------------------- program debug */

static void sample__debug_threads__are_a_product_of_properties(void **state)
{
    struct world *w = (struct world *)*state;
    ze_device_properties_t p;
    uint64_t threads;

    memset(&p, 0, sizeof(p));
    p.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    assert_success(zeDeviceGetProperties(w->device, &p));
    threads =
        (uint64_t)p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice * p.numThreadsPerEU;
    assert_true(threads > 0);
}

/* What the guide does in a session takes two processes: examples/debug_attach.c. Rule 27.2. */
static void sample__debug_session__not_of_the_own_process(void **state)
{
    struct world *w = (struct world *)*state;
    zet_debug_session_handle_t session = NULL;
    zet_debug_regset_properties_t sets[16];
    zet_device_debug_properties_t p;
    zet_debug_config_t config;
    uint32_t set_count = 16;

    memset(&p, 0, sizeof(p));
    p.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES;
    assert_success(zetDeviceGetDebugProperties(w->device, &p));
    assert_int_equal(p.flags, ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH);
    memset(sets, 0, sizeof(sets));
    assert_success(zetDebugGetRegisterSetProperties(w->device, &set_count, sets));
    assert_true(set_count >= 3);
    memset(&config, 0, sizeof(config));
    config.pid = (uint32_t)getpid();
    assert_int_equal(zetDebugAttach(w->device, &config, &session),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/* ---------------------------------------------------------------- instrumentation */

static void chapter__instrumentation__gives_profile_and_debug_information(void **state)
{
    struct world *w = (struct world *)*state;
    zet_profile_properties_t p;
    uint8_t *file;
    size_t bytes = 0;

    memset(&p, 0, sizeof(p));
    p.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES;
    assert_success(zetKernelGetProfileInfo(w->kernel, &p));
    assert_int_equal(p.flags, ZET_PROFILE_FLAG_REGISTER_REALLOCATION);
    assert_success(
        zetModuleGetDebugInfo(w->module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &bytes, NULL));
    file = (uint8_t *)world_room(bytes);
    assert_success(
        zetModuleGetDebugInfo(w->module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &bytes, file));
    assert_memory_equal(file, "\177ELF", 4);
    free(file);
}

static void chapter__instrumentation__replaces_what_the_application_uses(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "a tracer sees the driver's handles there");
    struct world *w = (struct world *)*state;
    struct instrumentation tool;
    zet_core_callbacks_t enter;
    zet_core_callbacks_t leave;
    zet_tracer_exp_handle_t tracer = NULL;
    zet_tracer_exp_desc_t desc = {ZET_STRUCTURE_TYPE_TRACER_EXP_DESC, NULL, &tool};

    assert_success(zetTracerExpCreate(w->context, &desc, &tracer));
    instrumentation_callbacks(&enter, &leave);
    instrumentation_open(w, &tool);
    assert_success(zetTracerExpSetPrologues(tracer, &enter));
    assert_success(zetTracerExpSetEpilogues(tracer, &leave));
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    instrumentation_work(w, &tool);
    assert_success(zetTracerExpSetEnabled(tracer, 0));
    assert_success(zetTracerExpDestroy(tracer));
    instrumentation_close(w, &tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample__api_tracing__times_each_launch),
        cmocka_unit_test(sample__metric_streamer__measures_the_workload),
        cmocka_unit_test(sample__metric_query__measures_a_kernel),
        cmocka_unit_test(sample__debug_threads__are_a_product_of_properties),
        cmocka_unit_test(sample__debug_session__not_of_the_own_process),
        cmocka_unit_test(chapter__instrumentation__gives_profile_and_debug_information),
        cmocka_unit_test(chapter__instrumentation__replaces_what_the_application_uses),
    };

    return cmocka_run_group_tests_name("samples of 1.9", tests, world_open, world_close);
}
