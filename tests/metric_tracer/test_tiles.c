/* Tracers of a root with tiles: one per tile, records in the order of time, entries in sets. */
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** Events of both tiles, in turn but not evenly. */
static void push_both(struct trace_bed *bed, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        bed->control->push("trace1.0", "kernels", TRACE_BEGIN, 1 + i % 3);
        bed->control->push("trace1.1", "kernels", TRACE_END, 1 + i % 2);
    }
}

static void tiles__root__opens_a_tracer_on_each(void **state)
{
    struct trace_bed bed = bed_make("trace1");

    (void)state;
    bed_start(&bed);
    assert_true(bed.control->is_held("trace1.0", "kernels"));
    assert_true(bed.control->is_held("trace1.1", "kernels"));
    assert_false(bed.control->is_held("trace1", "kernels"));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

static void tiles__second_tile_refuses__nothing_stays_open(void **state)
{
    struct trace_bed bed = bed_make("trace1");
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    bed.control->refuse_open("trace1.1", ZE_RESULT_ERROR_NOT_AVAILABLE, "process 12 has it");
    EXPECT_RESULT(
        zetMetricTracerCreateExp(bed.context, bed.device, 1, bed.groups, &desc, NULL, &bed.tracer),
        ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("process 12");
    assert_false(bed.control->is_held("trace1.0", "kernels"));
    assert_null(bed.tracer);
    bed_free(&bed);
}

/* Rule 13.7. */
static void tiles__second_tile_cannot_be_enabled__first_is_off_again(void **state)
{
    struct trace_bed bed = bed_make("trace1");

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 0, NULL);
    bed.control->refuse_switch("trace1.1", ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zetMetricTracerEnableExp(bed.tracer, 1), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(bed.control->counts("trace1.0").disables, 1);
    bed_free(&bed); /* it is not enabled */
}

/* Rule 13.11. */
static void tiles__root_read__records_of_all_tiles_in_order_of_time(void **state)
{
    struct trace_bed bed = bed_make("trace1");
    size_t records;

    (void)state;
    bed_start(&bed);
    push_both(&bed, 30);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    for (;;) {
        size_t size = bytes_of(5);
        ze_result_t result = zetMetricTracerReadDataExp(bed.tracer, &size, bed.raw + bed.raw_bytes);

        if (result == ZE_RESULT_NOT_READY)
            break;
        EXPECT_OK(result);
        bed.raw_bytes += size;
    }
    records = bed.raw_bytes / TRACE_RECORD_BYTES;
    assert_int_equal(records, 4 + 60 + 45);
    for (size_t i = 0; i < records; i++)
        assert_int_equal(bed_record(&bed, i).id, i + 1);
    bed_free(&bed);
}

/* Rule 13.11. */
static void tiles__one_tile_idle__other_is_not_held_back(void **state)
{
    struct trace_bed bed = bed_make("trace1");

    (void)state;
    bed_start(&bed);
    (void)bed_read(&bed, 1024, ZE_RESULT_SUCCESS);
    bed.control->push("trace1.1", "kernels", TRACE_BEGIN, 10);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(10));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

static void tiles__loss_on_one_tile__break_stands_before_its_next_record(void **state)
{
    struct trace_bed bed = bed_make("trace1");

    (void)state;
    bed_start(&bed);
    bed.control->push("trace1.0", "kernels", TRACE_BEGIN, 2);
    bed.control->push("trace1.1", "kernels", TRACE_BEGIN, 1);
    bed.control->lose("trace1.0", "kernels", 4);
    bed.control->push("trace1.0", "kernels", TRACE_BEGIN, 1);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_WARNING_DROPPED_DATA), bytes_of(7));
    assert_int_equal(bed_record(&bed, 4).id, 5);
    assert_int_equal(bed_record(&bed, 6).id, 10);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.8. */
static void tiles__asynchronous_enable__is_ready_when_all_tiles_are(void **state)
{
    struct trace_bed bed = bed_make("trace1");

    (void)state;
    bed.control->hold("trace1.0", true);
    bed.control->hold("trace1.1", true);
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 0, NULL);
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 0));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    bed.control->hold("trace1.1", false);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    bed.control->hold("trace1.0", false);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(2));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.20. */
static void tiles__root_decode__one_set_per_tile(void **state)
{
    struct trace_bed bed = bed_make("trace1");
    struct trace_decoder decoder;
    struct trace_entries got;

    (void)state;
    bed_start(&bed);
    decoder = bed_decoder(&bed);
    push_both(&bed, 6); /* 12 begins, 9 ends */
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    (void)bed_read(&bed, 4096, ZE_RESULT_SUCCESS);
    got = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);
    assert_int_equal(got.sets, 2);
    assert_int_equal(got.per_set[0], 36);
    assert_int_equal(got.per_set[1], 36);
    assert_int_equal(got.count, 72);
    for (uint32_t i = 0; i < 72; i++) {
        assert_true(got.entries[i].onSubdevice);
        assert_int_equal(got.entries[i].subdeviceId, i / 36);
        if (i % 36 != 0)
            assert_cmp(got.entries[i].timeStamp, >=, got.entries[i - 1].timeStamp);
    }
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/* Rule 13.20. */
static void tiles__root_decode_in_parts__loses_and_repeats_nothing(void **state)
{
    struct trace_bed bed = bed_make("trace1");
    struct trace_decoder decoder;
    uint32_t given[2] = {0, 0};
    size_t at = 0;

    (void)state;
    bed_start(&bed);
    decoder = bed_decoder(&bed);
    push_both(&bed, 20);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    (void)bed_read(&bed, 8192, ZE_RESULT_SUCCESS);
    while (at < bed.raw_bytes) {
        struct trace_entries part = decode_some(&decoder, bed.raw + at, bed.raw_bytes - at, 11);

        assert_int_equal(part.count, part.per_set[0] + part.per_set[1]);
        given[0] += part.per_set[0];
        given[1] += part.per_set[1];
        assert_cmp(part.consumed, >, 0);
        at += part.consumed;
    }
    assert_int_equal(given[0], 39 * 3);
    assert_int_equal(given[1], 30 * 4);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

static void tiles__one_set_asked__entries_of_the_first_tile(void **state)
{
    struct trace_bed bed = bed_make("trace1");
    struct trace_decoder decoder;
    zet_metric_entry_exp_t entries[64];
    uint32_t per_set[1];
    uint32_t sets = 1;
    uint32_t count = 64;
    size_t size;

    (void)state;
    bed_start(&bed);
    decoder = bed_decoder(&bed);
    push_both(&bed, 6);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    (void)bed_read(&bed, 4096, ZE_RESULT_SUCCESS);
    size = bed.raw_bytes;
    EXPECT_OK(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, decoder.count,
                                       decoder.metrics, &sets, per_set, &count, entries));
    assert_int_equal(sets, 1);
    assert_int_equal(count, 36);
    assert_int_equal(per_set[0], 36);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/** A tile alone has one set, and no sub-device to name. Rule 13.20. */
static void tiles__tile_alone__has_one_set(void **state)
{
    struct trace_bed bed = bed_make("trace1.1");
    struct trace_decoder decoder;
    struct trace_entries got;

    (void)state;
    bed_start(&bed);
    decoder = bed_decoder(&bed);
    bed.control->push("trace1.1", "kernels", TRACE_BEGIN, 2);
    (void)bed_read(&bed, 4096, ZE_RESULT_SUCCESS);
    assert_int_equal(bed_record(&bed, 1).tile, 1);
    got = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);
    assert_int_equal(got.sets, 1);
    assert_int_equal(got.count, 6);
    assert_false(got.entries[0].onSubdevice);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/* Rule 13.3. */
static void tiles__tracer_on_a_tile__root_cannot_have_one(void **state)
{
    struct trace_bed bed = bed_make("trace1");
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    ze_device_handle_t tile = find_device("trace1.0");
    zet_metric_group_handle_t group = find_group(tile, "KernelEvents", TRACER_BASED, NULL);
    zet_metric_tracer_exp_handle_t tracer = NULL;

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL); /* covers the tiles */
    EXPECT_OK(zetMetricTracerCreateExp(bed.context, tile, 1, &group, &desc, NULL, &tracer));
    EXPECT_RESULT(
        zetMetricTracerCreateExp(bed.context, bed.device, 1, bed.groups, &desc, NULL, &bed.tracer),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetMetricTracerEnableExp(tracer, 1));
    /* Deactivation of the root ends what runs on its tiles. */
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, NULL));
    EXPECT_OK(zetMetricTracerDestroyExp(tracer));
    bed_free(&bed);
}

/* Rule 13.5. */
static void tiles__event_of_a_root__counts_all_tiles(void **state)
{
    struct trace_bed bed = bed_make("trace1");
    struct test_event event = make_event(bed.context);

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    assert_int_equal(bed_create(&bed, 192, event.event), 192);
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 1));
    bed.control->push("trace1.0", "kernels", TRACE_BEGIN, 2);
    EXPECT_RESULT(zeEventQueryStatus(event.event), ZE_RESULT_NOT_READY);
    bed.control->push("trace1.1", "kernels", TRACE_BEGIN, 2);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_cmp(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), >=, 192);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    destroy_event(&event);
    bed_free(&bed);
}

SUITE(tiles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles__root__opens_a_tracer_on_each),
        cmocka_unit_test(tiles__second_tile_refuses__nothing_stays_open),
        cmocka_unit_test(tiles__second_tile_cannot_be_enabled__first_is_off_again),
        cmocka_unit_test(tiles__root_read__records_of_all_tiles_in_order_of_time),
        cmocka_unit_test(tiles__one_tile_idle__other_is_not_held_back),
        cmocka_unit_test(tiles__loss_on_one_tile__break_stands_before_its_next_record),
        cmocka_unit_test(tiles__asynchronous_enable__is_ready_when_all_tiles_are),
        cmocka_unit_test(tiles__root_decode__one_set_per_tile),
        cmocka_unit_test(tiles__root_decode_in_parts__loses_and_repeats_nothing),
        cmocka_unit_test(tiles__one_set_asked__entries_of_the_first_tile),
        cmocka_unit_test(tiles__tile_alone__has_one_set),
        cmocka_unit_test(tiles__tracer_on_a_tile__root_cannot_have_one),
        cmocka_unit_test(tiles__event_of_a_root__counts_all_tiles),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
