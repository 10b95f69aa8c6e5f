/* Markers of streamers and of groups. */
#include "tests/query_api/query_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static zet_metric_streamer_handle_t open_streamer(const struct harness *h, const char *group)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_group_handle_t handle = query_bed_group(h, group, TIME_BASED);
    zet_metric_streamer_handle_t streamer = NULL;

    query_bed_activate(h, handle);
    assert_success(zetMetricStreamerOpen(h->context, h->device, handle, &desc, NULL, &streamer));
    return streamer;
}

static size_t read_all(zet_metric_streamer_handle_t streamer, uint8_t *raw, size_t capacity)
{
    size_t bytes = capacity;

    assert_success(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw));
    return bytes;
}

/** Values of StreamMarker of all rows of one tile (0 without tiles), in order; their number. */
static uint32_t markers_in(const struct harness *h, const char *name, const uint8_t *raw,
                           size_t bytes, uint32_t tile, uint64_t *out_markers)
{
    zet_metric_group_handle_t group = query_bed_group(h, name, TIME_BASED);
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    zet_typed_value_t values[512];
    uint32_t counts[4] = {0};
    uint32_t sets = 4;
    uint32_t count = 512;
    uint32_t first = 0;

    assert_success(zetMetricGroupGetProperties(group, &properties));
    assert_success(zetMetricGroupCalculateMultipleMetricValuesExp(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &sets, &count, counts,
        values));
    for (uint32_t i = 0; i < tile; i++)
        first += counts[i];
    /* StreamMarker is the last metric of these groups. */
    for (uint32_t row = 0; row < counts[tile] / properties.metricCount; row++)
        out_markers[row] = values[first + (row + 1) * properties.metricCount - 1].value.ui64;
    return counts[tile] / properties.metricCount;
}

static zet_metric_group_type_exp_flags_t type_of(zet_metric_group_handle_t group)
{
    zet_metric_group_type_exp_t type = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP};
    zet_metric_group_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
                                                .pNext = &type};

    assert_success(zetMetricGroupGetProperties(group, &properties));
    return type.type;
}

/* Rule 12.14. */
static void group_type__unit_with_markers_and_a_metric_for_them__marker(void **state)
{
    const struct harness *h = *state;
    const struct {
        const char *group;
        zet_metric_group_sampling_type_flags_t sampling;
        bool marker;
    } cases[] = {{"Work", TIME_BASED, true},    {"Work", EVENT_BASED, true},
                 {"Narrow", TIME_BASED, true},  {"Plain", TIME_BASED, false},
                 {"Plain", EVENT_BASED, false}, {"Unmarked", TIME_BASED, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        zet_metric_group_type_exp_flags_t type =
            type_of(query_bed_group(h, cases[i].group, cases[i].sampling));

        assert_cmp((type & ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER), !=, 0);
        assert_int_equal((type & ZET_METRIC_GROUP_TYPE_EXP_FLAG_MARKER) != 0, cases[i].marker);
    }
}

static void driver__extensions__names_group_markers(void **state)
{
    skip_in(HARNESS_ANY_LOADER, "the loader lists extensions of its own");
    const struct harness *h = *state;
    ze_driver_extension_properties_t extensions[128];
    uint32_t count = 128;
    bool found = false;

    assert_success(zeDriverGetExtensionProperties(h->driver, &count, extensions));
    for (uint32_t i = 0; i < count; i++)
        found |= strcmp(extensions[i].name, ZET_METRIC_GROUP_MARKER_EXP_NAME) == 0;
    assert_true(found);
}

/* Rule 12.13. */
static void streamer__markers_in_lists__rows_in_their_order(void **state)
{
    const struct harness *h = *state;
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Work");
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    uint64_t markers[64] = {0};
    uint8_t raw[4096];
    size_t bytes;

    for (uint32_t i = 1; i <= 3; i++)
        assert_success(zetCommandListAppendMetricStreamerMarker(immediate, streamer, i));
    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, UINT32_MAX));
    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, 5));
    query_bed_run(h, list);
    bytes = read_all(streamer, raw, sizeof(raw));
    assert_int_equal(markers_in(h, "Work", raw, bytes, 0, markers), 5);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(markers[i], i + 1);
    assert_int_equal(markers[3], UINT32_MAX);
    assert_int_equal(markers[4], 5);
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(immediate));
}

/* Rule 12.13. */
static void streamer__closed_since__marker_is_for_nobody(void **state)
{
    const struct harness *h = *state;
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Work");
    ze_command_list_handle_t list = harness_list(h);
    uint64_t markers[64] = {0};
    uint8_t raw[4096];
    size_t bytes;

    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, 1));
    assert_success(zetMetricStreamerClose(streamer));
    streamer = open_streamer(h, "Work");
    query_bed_run(h, list);
    assert_success(zeCommandListReset(list));
    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, 2));
    query_bed_run(h, list);
    bytes = read_all(streamer, raw, sizeof(raw));
    assert_int_equal(markers_in(h, "Work", raw, bytes, 0, markers), 1);
    assert_int_equal(markers[0], 2);
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.13. */
static void streamer__set_or_unit_without_markers__unsupported(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = harness_list(h);
    const char *const groups[2] = {"Plain", "Unmarked"};

    for (int i = 0; i < 2; i++) {
        zet_metric_streamer_handle_t streamer = open_streamer(h, groups[i]);

        assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      zetCommandListAppendMetricStreamerMarker(list, streamer, 1));
        assert_success(zetMetricStreamerClose(streamer));
    }
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.14. */
static void streamer__value_above_the_bits_of_the_unit__invalid_argument(void **state)
{
    const struct harness *h = *state;
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Narrow");
    ze_command_list_handle_t list = harness_list(h);

    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, 255));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetCommandListAppendMetricStreamerMarker(list, streamer, 256));
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.13. */
static void streamer__other_device_or_context__invalid_argument(void **state)
{
    const struct harness *h = *state;
    struct harness other = query_bed_other(h);
    struct harness apart = *h;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Work");
    ze_command_list_handle_t list = harness_list(&other);

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetCommandListAppendMetricStreamerMarker(list, streamer, 1));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeContextCreate(h->driver, &desc, &apart.context));
    list = harness_list(&apart);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetCommandListAppendMetricStreamerMarker(list, streamer, 1));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeContextDestroy(apart.context));
    assert_success(zetMetricStreamerClose(streamer));
}

/* Rule 12.13. */
static void streamer__stopped_by_deactivation__not_ready(void **state)
{
    const struct harness *h = *state;
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Work");
    ze_command_list_handle_t list = harness_list(h);

    query_bed_activate(h, NULL);
    assert_result(ZE_RESULT_NOT_READY, zetCommandListAppendMetricStreamerMarker(list, streamer, 1));
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
}

static void append__closed_list_or_group_without_metrics__refused(void **state)
{
    const struct harness *h = *state;
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .commandQueueGroupOrdinal = 1};
    zet_metric_group_handle_t work = query_bed_group(h, "Work", TIME_BASED);
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Work");
    ze_command_list_handle_t list = harness_list(h);
    ze_command_list_handle_t copies = NULL;

    assert_success(zeCommandListCreate(h->context, h->device, &desc, &copies));
    assert_success(zeCommandListClose(list));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetCommandListAppendMetricStreamerMarker(list, streamer, 1));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zetCommandListAppendMetricStreamerMarker(copies, streamer, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zetCommandListAppendMarkerExp(list, work, 1));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zetCommandListAppendMarkerExp(copies, work, 1));
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(copies));
}

static void append__null__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    const struct harness *h = *state;
    zet_metric_group_handle_t work = query_bed_group(h, "Work", TIME_BASED);
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Work");
    ze_command_list_handle_t list = harness_list(h);

    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMetricStreamerMarker(NULL, streamer, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMetricStreamerMarker(list, NULL, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMarkerExp(NULL, work, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMarkerExp(list, NULL, 1));
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.14. */
static void group__marker_of_its_unit__seen_by_the_stream(void **state)
{
    const struct harness *h = *state;
    const zet_metric_group_sampling_type_flags_t forms[2] = {TIME_BASED, EVENT_BASED};
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Narrow");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint64_t markers[64] = {0};
    uint8_t raw[4096];
    size_t bytes;

    for (uint32_t i = 0; i < 2; i++)
        assert_success(
            zetCommandListAppendMarkerExp(list, query_bed_group(h, "Narrow", forms[i]), 10 + i));
    /* Of another unit: not seen here. */
    assert_success(zetCommandListAppendMarkerExp(list, query_bed_group(h, "Work", TIME_BASED), 77));
    bytes = read_all(streamer, raw, sizeof(raw));
    assert_int_equal(markers_in(h, "Narrow", raw, bytes, 0, markers), 2);
    assert_int_equal(markers[0], 10);
    assert_int_equal(markers[1], 11);
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.14. */
static void group__bad_arguments__refused(void **state)
{
    const struct harness *h = *state;
    struct harness other = query_bed_other(h);
    ze_command_list_handle_t list = harness_list(h);
    const struct {
        const struct harness *of;
        const char *group;
        uint32_t value;
        ze_result_t result;
    } cases[] = {
        {h, "Narrow", 255, ZE_RESULT_SUCCESS},
        {h, "Narrow", 256, ZE_RESULT_ERROR_INVALID_ARGUMENT},
        {h, "Work", UINT32_MAX, ZE_RESULT_SUCCESS},
        {h, "Plain", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        {h, "Unmarked", 1, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        {&other, "Work", 1, ZE_RESULT_ERROR_INVALID_ARGUMENT},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_result(
            cases[i].result,
            zetCommandListAppendMarkerExp(
                list, query_bed_group(cases[i].of, cases[i].group, TIME_BASED), cases[i].value));
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.14. */
static void group__nobody_collects__nothing_happens(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    query_bed_activate(h, NULL);
    assert_success(zetCommandListAppendMarkerExp(list, query_bed_group(h, "Work", TIME_BASED), 1));
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.12. */
static void between_execution_query__marker__not_set(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool_of(h, "Plain", EXECUTION, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);
    zet_metric_streamer_handle_t streamer = open_streamer(h, "Work");
    zet_metric_group_handle_t groups[2] = {query_bed_group(h, "Work", TIME_BASED),
                                           query_bed_group(h, "Plain", EVENT_BASED)};
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint64_t markers[64] = {0};
    uint8_t raw[4096];
    size_t bytes;

    assert_success(zetContextActivateMetricGroups(h->context, h->device, 2, groups));
    assert_success(zetCommandListAppendMetricQueryBegin(list, query));
    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, 1));
    assert_success(query_bed_append_end(list, query, NULL));
    assert_success(zetCommandListAppendMetricStreamerMarker(list, streamer, 2));
    bytes = read_all(streamer, raw, sizeof(raw));
    assert_int_equal(markers_in(h, "Work", raw, bytes, 0, markers), 1);
    assert_int_equal(markers[0], 2);
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(list));
    query_bed_drop(pool, &query, 1);
}

/* Rule 12.15. */
static void root__streamer_of_it__tile_lists_mark_their_tile(void **state)
{
    const struct harness *h = *state;
    struct harness root = query_bed_root(h);
    struct harness other = query_bed_other(h);
    zet_metric_streamer_handle_t streamer;
    ze_command_list_handle_t all;
    ze_command_list_handle_t second;
    uint64_t markers[64] = {0};
    uint8_t raw[8192];
    size_t bytes;

    query_bed_activate(h, NULL);
    streamer = open_streamer(&root, "Work");
    all = harness_immediate(&root, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    second = harness_immediate(&other, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    assert_success(zetCommandListAppendMetricStreamerMarker(second, streamer, 3));
    assert_success(
        zetCommandListAppendMarkerExp(second, query_bed_group(&root, "Work", TIME_BASED), 4));
    assert_success(zetCommandListAppendMetricStreamerMarker(all, streamer, 5));
    assert_success(zetMetricStreamerClose(streamer));
    streamer = open_streamer(&root, "Work");
    assert_success(zetCommandListAppendMetricStreamerMarker(second, streamer, 6));
    assert_success(zetCommandListAppendMetricStreamerMarker(all, streamer, 7));
    assert_success(zetCommandListAppendMetricStreamerMarker(all, streamer, 8));
    bytes = read_all(streamer, raw, sizeof(raw));
    if (bytes > 0) {
        /* Tiles are given up to one instant, so the last of them may still wait. */
        uint32_t first = markers_in(&root, "Work", raw, bytes, 0, markers);

        assert_in_range(first, 1, 2);
        assert_int_equal(markers[0], 7);
        assert_in_range(markers_in(&root, "Work", raw, bytes, 1, markers), 1, 3);
        assert_int_equal(markers[0], 6);
    }
    assert_cmp(bytes, >, 0);
    assert_success(zetMetricStreamerClose(streamer));
    assert_success(zeCommandListDestroy(second));
    assert_success(zeCommandListDestroy(all));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, query_bed_begin, query_bed_end)

SUITE(marker)
{
    const struct CMUnitTest tests[] = {
        TEST(group_type__unit_with_markers_and_a_metric_for_them__marker),
        TEST(driver__extensions__names_group_markers),
        TEST(streamer__markers_in_lists__rows_in_their_order),
        TEST(streamer__closed_since__marker_is_for_nobody),
        TEST(streamer__set_or_unit_without_markers__unsupported),
        TEST(streamer__value_above_the_bits_of_the_unit__invalid_argument),
        TEST(streamer__other_device_or_context__invalid_argument),
        TEST(streamer__stopped_by_deactivation__not_ready),
        TEST(append__closed_list_or_group_without_metrics__refused),
        TEST(append__null__documented_results),
        TEST(group__marker_of_its_unit__seen_by_the_stream),
        TEST(group__bad_arguments__refused),
        TEST(group__nobody_collects__nothing_happens),
        TEST(between_execution_query__marker__not_set),
        TEST(root__streamer_of_it__tile_lists_mark_their_tile),
    };

    return cmocka_run_group_tests(tests, query_bed_setup, query_bed_teardown);
}
