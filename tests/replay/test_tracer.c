/* What a tracer gave, given again: bytes, end, decoded entries. */
#include <stdlib.h>
#include <string.h>

#include "tests/replay/reading.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

#define EVENTS 5000u /* more than wait at one time */
#define TILED_EVENTS 300u

static struct tape tape;
static struct tape_data recorded;
/** Events of two tiles, one after the other in time. */
static struct tape_data tiled;

static void write_tape(void)
{
    struct tape_data data = {0};
    struct tape_event event;

    tape_begin(&tape, "events.zrec");
    tape_device(&tape, 1, "Traced", UINT32_MAX, 0);
    tape_event_set(&tape, 1, "Happenings", "source");
    tape_event_set(&tape, 2, "Others", "elsewhere");
    tape_stream(&tape, 5, 1, "tracer", 0, 1, 1);
    tape_name(&tape, 5, 7, "seventh");
    tape_name(&tape, 6, 8, "of another stream");
    for (uint32_t n = 0; n <= EVENTS; n++) {
        tape_make_event(n == 0 ? 1 : n == EVENTS ? 2 : 3, n, &event);
        tape_put(&data, &event, sizeof(event));
        tape_put(&recorded, &event, sizeof(event));
        if (n % 1000 == 999 || n == EVENTS)
            tape_write(&tape, 5, &data);
    }
    tape_name(&tape, 5, 9, "at the end");
    tape_device(&tape, 2, "Root", UINT32_MAX, 0);
    tape_device(&tape, 3, "Root tile 0", 2, 0);
    tape_device(&tape, 4, "Root tile 1", 2, 1);
    tape_event_set(&tape, 3, "Happenings", "source");
    tape_event_set(&tape, 4, "Happenings", "source");
    tape_stream(&tape, 6, 2, "tracer", 0, 2, 3);
    for (uint32_t n = 0; n < TILED_EVENTS; n++) {
        tape_make_event(3, n, &event);
        event.tile = n % 3 == 0 ? 0 : 1;
        tape_put(&data, &event, sizeof(event));
        tape_put(&tiled, &event, sizeof(event));
    }
    tape_write(&tape, 6, &data);
    tape_end(&tape, true);
}

struct tracing {
    struct reading reading;
    zet_metric_group_handle_t group;
    zet_metric_tracer_exp_handle_t tracer;
};

static struct tracing open_tracer(uint32_t notify_bytes, ze_event_handle_t event,
                                  struct reading reading)
{
    struct tracing tracing = {.reading = reading};
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
                                         .notifyEveryNBytes = notify_bytes};

    tracing.group = find_group(reading.device, "Happenings",
                               ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(reading.context, reading.device, 1, &tracing.group));
    EXPECT_OK(zetMetricTracerCreateExp(reading.context, reading.device, 1, &tracing.group, &desc,
                                       event, &tracing.tracer));
    return tracing;
}

/** Reads until the tracer has nothing, or says that it is drained. */
static ze_result_t read_all(const struct tracing *tracing, struct tape_data *data)
{
    unsigned char buffer[100 * sizeof(struct tape_event)];

    for (;;) {
        size_t size = sizeof(buffer);
        const ze_result_t result = zetMetricTracerReadDataExp(tracing->tracer, &size, buffer);

        tape_put(data, buffer, size);
        if (result != ZE_RESULT_SUCCESS || size == 0)
            return result;
    }
}

/* Rule 17.9. */
static void tracer__enabled__gives_what_was_recorded(void **state)
{
    struct tracing tracing = open_tracer(512, NULL, reading_begin("Traced (recording)"));
    struct tape_data data = {0};
    size_t size = 4096;

    (void)state;
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 1));
    EXPECT_RESULT(read_all(&tracing, &data), ZE_RESULT_SUCCESS);
    assert_int_equal(data.size, recorded.size);
    assert_memory_equal(data.bytes, recorded.bytes, recorded.size);
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 1));
    EXPECT_RESULT(zetMetricTracerReadDataExp(tracing.tracer, &size, data.bytes),
                  ZE_RESULT_NOT_READY);
    assert_int_equal(size, 0);
    EXPECT_OK(zetMetricTracerDestroyExp(tracing.tracer));
    tape_data_finish(&data);
    reading_end(&tracing.reading);
}

/* Rules 13.22, 16.18. */
static void tracer__names__those_of_the_records_read(void **state)
{
    struct tracing tracing = open_tracer(512, NULL, reading_begin("Traced (recording)"));
    struct tape_data data = {0};
    char name[32];
    size_t size = sizeof(name);

    (void)state;
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 1));
    EXPECT_RESULT(read_all(&tracing, &data), ZE_RESULT_SUCCESS);
    EXPECT_OK(zetaMetricTracerGetName(tracing.tracer, 7, &size, name));
    assert_string_equal(name, "seventh");
    size = sizeof(name);
    EXPECT_OK(zetaMetricTracerGetName(tracing.tracer, 9, &size, name));
    assert_string_equal(name, "at the end");
    EXPECT_RESULT(zetaMetricTracerGetName(tracing.tracer, 8, &size, name),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(tracing.tracer));
    tape_data_finish(&data);
    reading_end(&tracing.reading);
}

/* Rule 17.9. */
static void tracer__disabled_and_enabled__goes_on_where_it_stopped(void **state)
{
    struct tracing tracing = open_tracer(512, NULL, reading_begin("Traced (recording)"));
    struct tape_data data = {0};

    (void)state;
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 1));
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 1));
    EXPECT_RESULT(read_all(&tracing, &data), ZE_RESULT_NOT_READY);
    assert_in_range(data.size, 1, recorded.size - 1);
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 1));
    EXPECT_RESULT(read_all(&tracing, &data), ZE_RESULT_SUCCESS);
    assert_int_equal(data.size, recorded.size);
    assert_memory_equal(data.bytes, recorded.bytes, recorded.size);
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(tracing.tracer));
    tape_data_finish(&data);
    reading_end(&tracing.reading);
}

/* Rule 17.9. */
static void tracer__at_the_end__waits_for_nothing(void **state)
{
    struct reading reading = reading_begin("Traced (recording)");
    struct test_event event = make_event(reading.context);
    struct tracing tracing = open_tracer(1024, event.event, reading);
    struct tape_data data = {0};

    (void)state;
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 1));
    EXPECT_RESULT(read_all(&tracing, &data), ZE_RESULT_SUCCESS);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(tracing.tracer));
    destroy_event(&event);
    tape_data_finish(&data);
    reading_end(&tracing.reading);
}

static void tracer__decoded__gives_the_values_of_the_events(void **state)
{
    struct tracing tracing = open_tracer(512, NULL, reading_begin("Traced (recording)"));
    zet_metric_decoder_exp_handle_t decoder;
    zet_metric_entry_exp_t *entries;
    zet_metric_handle_t metric = NULL;
    uint32_t count = 1, sets = 0, total = 0;
    size_t size = recorded.size;

    (void)state;
    EXPECT_OK(zetMetricDecoderCreateExp(tracing.tracer, &decoder));
    EXPECT_OK(zetMetricDecoderGetDecodableMetricsExp(decoder, &count, &metric));
    EXPECT_OK(zetMetricTracerDecodeExp(decoder, &size, recorded.bytes, 1, &metric, &sets, NULL,
                                       &total, NULL));
    assert_int_equal(total, EVENTS - 1);
    entries = calloc(total, sizeof(*entries));
    assert_non_null(entries);
    EXPECT_OK(zetMetricTracerDecodeExp(decoder, &size, recorded.bytes, 1, &metric, &sets, NULL,
                                       &total, entries));
    for (uint32_t i = 0; i < total; i++) {
        struct tape_event event;

        tape_make_event(3, i + 1, &event);
        assert_int_equal(entries[i].value.ui64, event.value);
        assert_int_equal(entries[i].timeStamp, event.ticks * (1000000000 / TAPE_HZ));
    }
    free(entries);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder));
    EXPECT_OK(zetMetricTracerDestroyExp(tracing.tracer));
    reading_end(&tracing.reading);
}

/* Rule 17.10. */
static void tracer__root_with_tiles__gives_the_events_of_both_in_order(void **state)
{
    struct tracing tracing = open_tracer(512, NULL, reading_begin("Root (recording)"));
    struct tape_data data = {0};

    (void)state;
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 1));
    EXPECT_RESULT(read_all(&tracing, &data), ZE_RESULT_SUCCESS);
    assert_int_equal(data.size, tiled.size);
    assert_memory_equal(data.bytes, tiled.bytes, tiled.size);
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(tracing.tracer));
    tape_data_finish(&data);
    reading_end(&tracing.reading);
}

/* Rule 17.10. */
static void tracer__tile_of_a_root__gives_its_events(void **state)
{
    struct tracing tracing = open_tracer(512, NULL, reading_begin("Root tile 1 (recording)"));
    struct tape_data data = {0};
    uint32_t events = 0;

    (void)state;
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 1));
    EXPECT_RESULT(read_all(&tracing, &data), ZE_RESULT_SUCCESS);
    for (uint32_t n = 0; n < TILED_EVENTS; n++) {
        if (n % 3 != 0)
            assert_memory_equal(data.bytes + events++ * sizeof(struct tape_event),
                                tiled.bytes + n * sizeof(struct tape_event),
                                sizeof(struct tape_event));
    }
    assert_int_equal(data.size, events * sizeof(struct tape_event));
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(tracing.tracer));
    tape_data_finish(&data);
    reading_end(&tracing.reading);
}

static void tracer__group_without_events__is_refused(void **state)
{
    struct reading reading = reading_begin("Traced (recording)");
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
                                         .notifyEveryNBytes = 512};
    zet_metric_tracer_exp_handle_t tracer = NULL;
    zet_metric_group_handle_t group = find_group(
        reading.device, "Others", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED, NULL);

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(reading.context, reading.device, 1, &group));
    EXPECT_RESULT(
        zetMetricTracerCreateExp(reading.context, reading.device, 1, &group, &desc, NULL, &tracer),
        ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("no events of these groups on replay0");
    reading_end(&reading);
}

static int set_up(void **state)
{
    (void)state;
    write_tape();
    (void)setenv("ZETA_REPLAY", tape.path, 1);
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tape_data_finish(&recorded);
    tape_data_finish(&tiled);
    tape_remove(&tape);
    return 0;
}

SUITE(tracer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracer__enabled__gives_what_was_recorded),
        cmocka_unit_test(tracer__names__those_of_the_records_read),
        cmocka_unit_test(tracer__disabled_and_enabled__goes_on_where_it_stopped),
        cmocka_unit_test(tracer__at_the_end__waits_for_nothing),
        cmocka_unit_test(tracer__decoded__gives_the_values_of_the_events),
        cmocka_unit_test(tracer__root_with_tiles__gives_the_events_of_both_in_order),
        cmocka_unit_test(tracer__tile_of_a_root__gives_its_events),
        cmocka_unit_test(tracer__group_without_events__is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
