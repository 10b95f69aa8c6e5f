/*
 * Clients that ask for odd things, of a GPU on each driver: what they are told is what the rules of
 * the library say, whatever the kernel underneath.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#include "tests/intel_query/query_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { PERIOD_NS = 1000000, ROOM = 32 << 20 };

static const char *const both[] = {"tgl-gt2", "bmg", NULL};

static ze_device_handle_t start(const char *platform)
{
    const struct kmd_config config =
        bed_config(platform, strcmp(platform, "bmg") == 0 ? "xe" : "i915");

    (void)bed_start(&config);
    return bed_device();
}

/* ---- units and activation ------------------------------------------------------------------- */

struct client {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t time, other_time, event, other_event;
    zet_metric_streamer_handle_t streamer;
    zet_metric_query_pool_handle_t pool;
};

static struct client make_client(const char *platform)
{
    struct client client = {.device = start(platform)};

    client.context = make_context(client.device);
    client.time = find_group(client.device, "RenderBasic", TIME_BASED, NULL);
    client.event = find_group(client.device, "RenderBasic", EVENT_BASED, NULL);
    client.other_time = find_group(client.device, "TestOa", TIME_BASED, NULL);
    client.other_event = find_group(client.device, "TestOa", EVENT_BASED, NULL);
    return client;
}

static ze_result_t activate(struct client *client, uint32_t count, zet_metric_group_handle_t first,
                            zet_metric_group_handle_t second)
{
    zet_metric_group_handle_t groups[2] = {first, second};

    return zetContextActivateMetricGroups(client->context, client->device, count, groups);
}

static ze_result_t open_streamer(struct client *client, zet_metric_group_handle_t group,
                                 zet_metric_streamer_handle_t *out_streamer)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = PERIOD_NS};

    return zetMetricStreamerOpen(client->context, client->device, group, &desc, NULL, out_streamer);
}

static ze_result_t make_pool(struct client *client, zet_metric_group_handle_t group,
                             zet_metric_query_pool_handle_t *out_pool)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 2};

    return zetMetricQueryPoolCreate(client->context, client->device, group, &desc, out_pool);
}

/* Only streams need activation to begin; what is open keeps its group, and one unit has one user.
 */
static void unit__wanted_twice__is_told_as_the_rules_say(void **state)
{
    struct client client = make_client((const char *)*state);
    zet_metric_streamer_handle_t second = NULL;
    zet_metric_query_pool_handle_t another = NULL;

    EXPECT_RESULT(open_streamer(&client, client.time, &client.streamer), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(open_streamer(&client, client.event, &client.streamer),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(make_pool(&client, client.time, &client.pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(activate(&client, 2, client.time, client.other_time),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(activate(&client, 2, client.time, client.event),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(activate(&client, 1, client.time, NULL));
    EXPECT_OK(open_streamer(&client, client.time, &client.streamer));
    EXPECT_RESULT(open_streamer(&client, client.time, &second),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(activate(&client, 1, client.other_time, NULL),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(make_pool(&client, client.event, &client.pool), ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_OK(zetMetricStreamerClose(client.streamer));
    EXPECT_RESULT(zetMetricStreamerClose(client.streamer), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(make_pool(&client, client.event, &client.pool));
    EXPECT_OK(make_pool(&client, client.event, &another));
    EXPECT_OK(zetMetricQueryPoolDestroy(another));
    EXPECT_RESULT(make_pool(&client, client.other_event, &another), ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(open_streamer(&client, client.time, &client.streamer),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    /* Pools are no use of a group: it may be deactivated, and they live on. */
    EXPECT_OK(activate(&client, 0, NULL, NULL));
    EXPECT_OK(zetMetricQueryPoolDestroy(client.pool));
    EXPECT_RESULT(zetMetricQueryPoolDestroy(client.pool), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(activate(&client, 1, client.time, NULL));
    EXPECT_OK(open_streamer(&client, client.time, &client.streamer));
    /* Count 0 stops the stream and gives the unit back. */
    EXPECT_OK(activate(&client, 0, NULL, NULL));
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_STREAMS_OPEN), 0);
    EXPECT_OK(zetMetricStreamerClose(client.streamer));
    EXPECT_OK(zeContextDestroy(client.context));
}

/* What is thrown away in the wrong order leaves nothing behind. */
static void objects__left_or_ended_in_any_order__give_the_unit_back(void **state)
{
    struct client client = make_client((const char *)*state);
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_handle_t list = NULL;
    zet_metric_query_handle_t query = NULL;
    uint8_t record[QUERY_MOST_BYTES];
    size_t bytes = sizeof(record);

    EXPECT_OK(activate(&client, 1, client.event, NULL));
    EXPECT_OK(make_pool(&client, client.event, &client.pool));
    EXPECT_OK(zetMetricQueryCreate(client.pool, 1, &query));
    EXPECT_RESULT(zetMetricQueryGetData(query, &bytes, record), ZE_RESULT_NOT_READY);
    EXPECT_OK(zeCommandListCreateImmediate(client.context, client.device, &desc, &list));
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(list, query));
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    EXPECT_OK(zetMetricQueryReset(query));
    EXPECT_RESULT(zetMetricQueryGetData(query, &bytes, record), ZE_RESULT_NOT_READY);
    EXPECT_OK(zeContextDestroy(client.context));
    EXPECT_OK(zetMetricQueryDestroy(query));
    EXPECT_OK(zetMetricQueryPoolDestroy(client.pool));
    EXPECT_OK(zeCommandListDestroy(list));
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_STREAMS_OPEN), 0);
    client.context = make_context(client.device);
    EXPECT_OK(activate(&client, 0, NULL, NULL));
    EXPECT_OK(activate(&client, 1, client.time, NULL));
    EXPECT_OK(open_streamer(&client, client.time, &client.streamer));
    EXPECT_OK(zeContextDestroy(client.context));
    EXPECT_OK(zetMetricStreamerClose(client.streamer));
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_STREAMS_OPEN), 0);
}

/* ---- reads and notification ----------------------------------------------------------------- */

static void reads__of_any_size__keep_to_records_and_end(void **state)
{
    struct client client = make_client((const char *)*state);
    uint8_t *room = malloc(ROOM);
    struct bed_stream stream;
    size_t bytes;
    uint32_t rounds = 0;

    assert_non_null(room);
    EXPECT_OK(zeContextDestroy(client.context));
    stream = bed_open(client.device, "RenderBasic", PERIOD_NS);
    EXPECT_RESULT(zetMetricStreamerReadData(stream.streamer, 1, NULL, room),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    for (uint32_t most = 0; most < 3; most++) {
        bytes = 0;
        EXPECT_OK(zetMetricStreamerReadData(stream.streamer, most == 2 ? UINT32_MAX : most, &bytes,
                                            NULL));
        assert_cmp(bytes, >=, stream.record_bytes);
        assert_cmp(bytes % stream.record_bytes, ==, 0);
    }
    query_bed_pass(UINT64_C(20) * PERIOD_NS);
    /* Less than a record, then a record and a bit: no byte behind whole records is touched. */
    memset(room, 0xa5, ROOM);
    bytes = stream.record_bytes - 1;
    (void)zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &bytes, room);
    assert_int_equal(room[0], 0xa5);
    bytes = stream.record_bytes + 7;
    EXPECT_OK(zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &bytes, room));
    assert_int_equal(bytes, stream.record_bytes);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(room[stream.record_bytes + i], 0xa5);
    bytes = ROOM;
    EXPECT_OK(zetMetricStreamerReadData(stream.streamer, 3, &bytes, room));
    assert_int_equal(bytes, 4 * stream.record_bytes); /* with the last one of the read before */
    do {
        bytes = ROOM;
        EXPECT_OK(zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &bytes, room));
    } while (bytes > 0 && ++rounds < 1000);
    assert_cmp(rounds, <, 1000);
    bed_close(&stream);
    free(room);
}

/* Clients check that the number comes back as it was, also where it takes hours to be reached. */
static void notification__of_any_number__comes_back_and_is_reached(void **state)
{
    static const uint32_t numbers[] = {1, 2, 3, 100, 4096, 4097, 32767, 32768};
    static const uint32_t periods[] = {100000, 1000000, 1000000000, 4000000000};
    struct client client = make_client((const char *)*state);
    struct test_event event = make_event(client.context);
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    EXPECT_OK(activate(&client, 1, client.time, NULL));
    EXPECT_OK(zetaMetricGroupGetInfo(client.time, &info));
    for (uint32_t i = 0; i < 32; i++) {
        const uint64_t half_ns = periods[i / 8] / 2;
        zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                           .notifyEveryNReports = numbers[i % 8],
                                           .samplingPeriod = periods[i / 8]};

        EXPECT_OK(zetMetricStreamerOpen(client.context, client.device, client.time, &desc,
                                        event.event, &client.streamer));
        assert_int_equal(desc.notifyEveryNReports, numbers[i % 8]);
        assert_in_range(desc.samplingPeriod,
                        half_ns < info.max_period_ns ? half_ns : info.max_period_ns, UINT32_MAX);
        if (i / 8 < 2 && numbers[i % 8] <= 4097) {
            expect_event(event.event, ZE_RESULT_NOT_READY);
            query_bed_pass((uint64_t)desc.samplingPeriod * (numbers[i % 8] + 2));
            expect_event(event.event, ZE_RESULT_SUCCESS);
        }
        EXPECT_OK(zetMetricStreamerClose(client.streamer));
        EXPECT_OK(zeEventHostReset(event.event));
    }
    destroy_event(&event);
    EXPECT_OK(activate(&client, 0, NULL, NULL));
    EXPECT_OK(zeContextDestroy(client.context));
}

/* ---- lists of a device that nobody computes on ---------------------------------------------- */

/* Rule 26.34. */
static void commands__of_every_kind__work_or_are_refused_when_appended(void **state)
{
    const ze_device_handle_t device = start((const char *)*state);
    const ze_context_handle_t context = make_context(device);
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_device_mem_alloc_desc_t local = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = 4,
                                          .pInputModule = (const uint8_t *)"none"};
    const struct test_event event = make_event(context);
    const ze_copy_region_t region = {.width = 4, .height = 1, .depth = 1};
    ze_kernel_timestamp_result_t on_stack;
    ze_command_list_handle_t list = NULL;
    ze_module_handle_t module = NULL;
    uint64_t stack[4] = {0}, *memory = NULL;
    const size_t size = sizeof(stack);
    const void *range = stack;
    void *room = NULL;

    EXPECT_OK(zeCommandListCreateImmediate(context, device, &desc, &list));
    EXPECT_RESULT(zeModuleCreate(context, device, &module_desc, &module, NULL),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_RESULT(zeMemAllocDevice(context, &local, 64, 64, device, &room),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_RESULT(zeMemAllocShared(context, &local, &host, 64, 64, device, &room),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_OK(zeMemAllocHost(context, &host, 64, 64, (void **)&memory));
    memset(memory, 0, 64);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, memory, stack, 8, NULL, 0, NULL),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_RESULT(zeCommandListAppendMemoryCopyRegion(list, memory, &region, 0, 0, stack, &region,
                                                      0, 0, NULL, 0, NULL),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, memory, stack, 1, 8, NULL, 0, NULL),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    (void)zeCommandListAppendMemoryPrefetch(list, stack, 8);
    (void)zeCommandListAppendMemAdvise(list, device, stack, 8, ZE_MEMORY_ADVICE_SET_READ_MOSTLY);
    (void)zeCommandListAppendMemoryRangesBarrier(list, 1, &size, &range, NULL, 0, NULL);
    EXPECT_RESULT(zeCommandListAppendWriteGlobalTimestamp(list, stack, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendWriteGlobalTimestamp(list, memory + 8, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zeCommandListAppendSignalEvent(list, event.event));
    (void)zeCommandListAppendQueryKernelTimestamps(list, 1, (ze_event_handle_t *)&event.event,
                                                   &on_stack, NULL, NULL, 0, NULL);
    EXPECT_RESULT(zetCommandListAppendMetricStreamerMarker(list, NULL, 7),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(zetCommandListAppendMetricMemoryBarrier(list));
    EXPECT_OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    EXPECT_OK(zeCommandListAppendWriteGlobalTimestamp(list, memory, NULL, 0, NULL));
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_cmp(memory[0], !=, 0);
    assert_int_equal(stack[0], 0);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeMemFree(context, memory));
    struct test_event done = event;
    destroy_event(&done);
    EXPECT_OK(zeContextDestroy(context));
}

/* Rule 26.34. */
static void marker__on_a_stream_without_any__is_refused_when_appended(void **state)
{
    struct client client = make_client((const char *)*state);
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_handle_t list = NULL;

    EXPECT_OK(activate(&client, 1, client.time, NULL));
    EXPECT_OK(open_streamer(&client, client.time, &client.streamer));
    EXPECT_OK(zeCommandListCreateImmediate(client.context, client.device, &desc, &list));
    EXPECT_RESULT(zetCommandListAppendMetricStreamerMarker(list, client.streamer, 7),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zetMetricStreamerClose(client.streamer));
    EXPECT_OK(zeContextDestroy(client.context));
}

SUITE_WITH_ARGUMENTS(client, argc, argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(unit__wanted_twice__is_told_as_the_rules_say, (void *)both),
        cmocka_unit_test_prestate(objects__left_or_ended_in_any_order__give_the_unit_back,
                                  (void *)both),
        cmocka_unit_test_prestate(reads__of_any_size__keep_to_records_and_end, (void *)both),
        cmocka_unit_test_prestate(commands__of_every_kind__work_or_are_refused_when_appended,
                                  (void *)both),
        cmocka_unit_test_prestate(marker__on_a_stream_without_any__is_refused_when_appended,
                                  (void *)both),
        cmocka_unit_test_prestate(notification__of_any_number__comes_back_and_is_reached,
                                  (void *)both),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
