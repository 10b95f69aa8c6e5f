/*
 * The samples of the guide of the provisional 1.0, in its names.
 *
 * Their course is the guide's. Where the guide is wrong or leaves something to its reader, the
 * code differs; README.md lists each such place as a correction. C and C++.
 */
#include "world.h"

#include <zeta/compat/zet_1_0_provisional.h>

#include "guides.h"
#include "instrumentation.h"

/* ---------------------------------------------------------------- tracing of API calls */

static void sample__api_tracing__times_each_launch(void **state)
{
    struct world *w = (struct world *)*state;
    struct tool tool = {0, 0, NULL, 0};
    zet_tracer_handle_t tracer = NULL;
    zet_tracer_desc_t desc;

    memset(&desc, 0xa5, sizeof(desc)); /* the guide sets two members and leaves pNext */
    desc.stype = ZET_STRUCTURE_TYPE_TRACER_DESC;
    desc.pUserData = &tool;
    assert_success(zetTracerCreate(w->device, &desc, &tracer));
    trace(w, tracer);
    assert_int_equal(tool.calls, 3);
    assert_int_equal(tool.complete, 3);
    assert_true(tool.total_ms >= 0);
    if (!(harness_mode() & HARNESS_READS_HANDLES)) /* there a tracer sees the driver's handles */
        assert_true(tool.kernel == w->kernel);
    /* With a driver, as in 0.91. */
    assert_success(zetTracerCreate(w->driver, &desc, &tracer));
    trace(w, tracer);
    assert_int_equal(tool.complete, 6);
}

/* ---------------------------------------------------------------- enumeration */

static void sample__enumeration__finds_a_group_and_names_its_metrics(void **state)
{
    struct world *w = (struct world *)*state;
    zet_metric_handle_t metrics[64];
    uint32_t promised = 0;
    uint32_t count = 64;
    zet_metric_group_handle_t group =
        find_group(w->device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_TIME_BASED, &promised);

    assert_non_null(group);
    assert_success(zetMetricGet(group, &count, metrics));
    assert_int_equal(count, promised);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t p;

        memset(&p, 0xa5, sizeof(p));
        assert_success(zetMetricGetProperties(metrics[i], &p));
        assert_in_range(strlen(p.name), 1, sizeof(p.name) - 1);
        assert_in_range(strlen(p.description), 1, sizeof(p.description) - 1);
    }
    assert_null(
        find_group(w->device, "NoSuchGroup", ZET_METRIC_GROUP_SAMPLING_TYPE_TIME_BASED, &promised));
}

/* ---------------------------------------------------------------- time-based sampling */

static void sample__metric_streamer__measures_the_workload(void **state)
{
    struct world *w = (struct world *)*state;
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                      ZE_EVENT_POOL_FLAG_DEFAULT, 1};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC};
    zet_metric_streamer_handle_t streamer = NULL;
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;
    uint32_t metrics = 0;
    uint32_t reports = 0;
    size_t bytes = 0;
    uint8_t *raw;
    zet_metric_group_handle_t group =
        find_group(w->device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_TIME_BASED, &metrics);

    assert_success(zetDeviceActivateMetricGroups(w->device, 1, &group));
    assert_success(zeEventPoolCreate(w->driver, &pool_desc, 1, &w->device, &pool));
    event_desc.index = 0;
    event_desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event_desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    assert_success(zeEventCreate(pool, &event_desc, &event));

    desc.samplingPeriod = 1000000;
    desc.notifyEveryNReports = 4;
    assert_success(zetMetricStreamerOpen(w->device, group, &desc, event, &streamer));
    assert_true(desc.samplingPeriod > 0);
    world_work(w, 50);
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_success(zeEventHostReset(event));

    assert_success(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, NULL));
    raw = (uint8_t *)world_room(bytes);
    assert_success(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw));
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zetDeviceActivateMetricGroups(w->device, 0, NULL));

    assert_true(calculate(group, bytes, raw, "GpuTime", &reports) > 0);
    assert_true(reports >= 4);
    free(raw);
}

/* ---------------------------------------------------------------- queries */

static void measure_by_query(struct world *w, zet_metric_query_pool_handle_t queries,
                             zet_metric_group_handle_t group)
{
    ze_event_pool_desc_t pool_desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC};
    ze_event_desc_t event_desc = {ZE_STRUCTURE_TYPE_EVENT_DESC};
    zet_metric_query_handle_t query = NULL;
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;
    uint32_t reports = 0;
    size_t bytes = 0;
    uint8_t *raw;

    pool_desc.flags = ZE_EVENT_POOL_FLAG_DEFAULT;
    pool_desc.count = 1000;
    assert_success(zeEventPoolCreate(w->driver, &pool_desc, 1, &w->device, &pool));
    assert_success(zetMetricQueryCreate(queries, 0, &query));
    assert_success(zetCommandListAppendMetricQueryBegin(w->list, query));
    assert_success(zeCommandListAppendLaunchKernel(w->list, w->kernel, &w->groups, NULL, 0, NULL));
    event_desc.index = 0;
    event_desc.signal = ZE_EVENT_SCOPE_FLAG_HOST;
    event_desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    assert_success(zeEventCreate(pool, &event_desc, &event));
    assert_success(zetCommandListAppendMetricQueryEnd(w->list, query, event, 0, NULL));
    world_execute(w);
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));

    assert_success(zetMetricQueryGetData(query, &bytes, NULL));
    raw = (uint8_t *)world_room(bytes);
    assert_success(zetMetricQueryGetData(query, &bytes, raw));
    assert_success(zetMetricQueryDestroy(query));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zetMetricQueryPoolDestroy(queries));
    assert_success(zetDeviceActivateMetricGroups(w->device, 0, NULL));
    assert_true(calculate(group, bytes, raw, "GpuTime", &reports) > 0);
    assert_int_equal(reports, 1);
    free(raw);
}

static void sample__metric_query__measures_a_kernel(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer wants a list of no events to wait for");
    struct world *w = (struct world *)*state;
    zet_metric_query_pool_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC};
    zet_metric_query_pool_handle_t queries = NULL;
    zet_metric_group_handle_t group = find_query_group(w->device);

    assert_success(zetDeviceActivateMetricGroups(w->device, 1, &group));
    desc.flags = ZET_METRIC_QUERY_POOL_FLAG_PERFORMANCE;
    desc.count = 1000;
    assert_success(zetMetricQueryPoolCreate(w->device, group, &desc, &queries));
    measure_by_query(w, queries, group);
}

/* ---------------------------------------------------------------- instrumentation */

static void chapter__instrumentation__gives_profile_and_debug_information(void **state)
{
    struct world *w = (struct world *)*state;
    zet_profile_info_t info;
    uint8_t *file;
    size_t bytes = 0;

    memset(&info, 0xa5, sizeof(info));
    assert_success(zetKernelGetProfileInfo(w->kernel, &info));
    assert_int_equal(info.flags, ZET_PROFILE_FLAG_REGISTER_REALLOCATION);
    assert_int_equal(info.numTokens, 0);
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
    zet_tracer_handle_t tracer = NULL;
    zet_tracer_desc_t desc;

    memset(&desc, 0xa5, sizeof(desc));
    desc.stype = ZET_STRUCTURE_TYPE_TRACER_DESC;
    desc.pUserData = &tool;
    assert_success(zetTracerCreate(w->device, &desc, &tracer));
    instrumentation_callbacks(&enter, &leave);
    instrumentation_open(w, &tool);
    assert_success(zetTracerSetPrologues(tracer, &enter));
    assert_success(zetTracerSetEpilogues(tracer, &leave));
    assert_success(zetTracerSetEnabled(tracer, 1));
    instrumentation_work(w, &tool);
    assert_success(zetTracerSetEnabled(tracer, 0));
    assert_success(zetTracerDestroy(tracer));
    instrumentation_close(w, &tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample__api_tracing__times_each_launch),
        cmocka_unit_test(sample__enumeration__finds_a_group_and_names_its_metrics),
        cmocka_unit_test(sample__metric_streamer__measures_the_workload),
        cmocka_unit_test(sample__metric_query__measures_a_kernel),
        cmocka_unit_test(chapter__instrumentation__gives_profile_and_debug_information),
        cmocka_unit_test(chapter__instrumentation__replaces_what_the_application_uses),
    };

    return cmocka_run_group_tests_name("samples of the provisional 1.0", tests, world_open,
                                       world_close);
}
