/*
 * The pace "recorded": reports come when as much time has passed as when they were recorded. The
 * test never asks that something is fast, only that nothing comes early and everything comes.
 */
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

#include "tests/replay/reading.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

#define RECORDS 2000u /* half a second */

static struct tape tape;

static void write_tape(void)
{
    struct tape_data data = {0};

    tape_begin(&tape, "paced.zrec");
    tape_device(&tape, 1, "Paced", UINT32_MAX, 0);
    tape_device(&tape, 2, "Tiled", UINT32_MAX, 0);
    tape_device(&tape, 3, "tile 0", 2, 0);
    tape_device(&tape, 4, "tile 1", 2, 1);
    tape_set(&tape, 1, "Timed", "first", 1);
    tape_stream(&tape, 1, 1, "time", 250000, 1, 1);
    tape_set(&tape, 2, "Both", "first", 1);
    tape_set(&tape, 3, "Both", "first", 1);
    tape_stream(&tape, 2, 2, "time", 250000, 2, 2);
    for (uint32_t n = 0; n < RECORDS; n += 500) {
        tape_put_records(&data, n, n + 499, 0);
        tape_write(&tape, 1, &data);
        tape_put_tile(&data, 0);
        tape_put_records(&data, n, n + 499, 0);
        tape_put_tile(&data, 1);
        tape_put_records(&data, n, n + 499, 1);
        tape_write(&tape, 2, &data);
    }
    tape_end(&tape, true);
}

/** Number of a record. */
static uint32_t number_of(const unsigned char *slot)
{
    struct tape_record record;

    memcpy(&record, slot, sizeof(record));
    return record.id - 1;
}

/* Rule 17.8. */
static void stream__recorded_pace__gives_nothing_early_and_all_in_the_end(void **state)
{
    struct reading reading = reading_begin("Paced (recording)");
    zet_metric_group_handle_t group = find_group(reading.device, "Timed", TIME_BASED, NULL);
    const uint64_t start = zeta_monotonic_ns();
    zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 0, NULL);
    unsigned char *buffer = malloc((size_t)(RECORDS + 1) * TAPE_RECORD_BYTES);
    uint32_t last = 0;

    (void)state;
    assert_non_null(buffer);
    while (last < RECORDS - 1) {
        size_t size = (size_t)(RECORDS + 1) * TAPE_RECORD_BYTES;
        uint64_t passed;

        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer));
        passed = zeta_monotonic_ns() - start;
        if (size > 0)
            last = number_of(buffer + size - TAPE_RECORD_BYTES);
        assert_cmp((uint64_t)last * TAPE_TICKS * (1000000000 / TAPE_HZ), <=, passed);
        sleep_ms(2);
    }
    assert_true(reading_has_ended(streamer));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    free(buffer);
    reading_end(&reading);
}

/* Rule 11.16. */
static void event__recorded_pace__is_signalled_in_time_and_at_the_end(void **state)
{
    struct reading reading = reading_begin("Paced (recording)");
    zet_metric_group_handle_t group = find_group(reading.device, "Timed", TIME_BASED, NULL);
    struct test_event event = make_event(reading.context);
    const uint64_t start = zeta_monotonic_ns();
    zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 700, event.event);
    unsigned char *buffer = malloc((size_t)(RECORDS + 1) * TAPE_RECORD_BYTES);
    uint32_t records = 0;

    (void)state;
    assert_non_null(buffer);
    /* Three rounds: 700, 1400, and the 599 that are left. */
    while (records < RECORDS - 1) {
        struct zeta_stream_info info = {.struct_size = sizeof(info)};
        size_t size = (size_t)(RECORDS + 1) * TAPE_RECORD_BYTES;

        EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer));
        EXPECT_OK(zetaMetricStreamerGetInfo(streamer, &info));
        assert_true(info.records >= records + 700 || info.records == RECORDS - 1);
        records = (uint32_t)info.records;
        assert_cmp((uint64_t)records * TAPE_TICKS * (1000000000 / TAPE_HZ), <=,
                   zeta_monotonic_ns() - start);
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    destroy_event(&event);
    free(buffer);
    reading_end(&reading);
}

/* Rule 17.8. */
static void tiles__recorded_pace__are_given_up_to_one_time(void **state)
{
    struct reading reading = reading_begin("Tiled (recording)");
    zet_metric_group_handle_t group = find_group(reading.device, "Both", TIME_BASED, NULL);
    zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 0, NULL);
    struct tape_data raw = {0}, wanted = {0};

    (void)state;
    (void)reading_drain(streamer, 4000, &raw);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    tape_put_tile(&wanted, 0);
    tape_put_records(&wanted, 0, RECORDS - 1, 0);
    tape_put_tile(&wanted, 1);
    tape_put_records(&wanted, 0, RECORDS - 1, 1);
    expect_same_sets(group, &wanted, &raw, 2);
    tape_data_finish(&raw);
    tape_data_finish(&wanted);
    reading_end(&reading);
}

static int set_up(void **state)
{
    (void)state;
    write_tape();
    (void)setenv("ZETA_REPLAY", tape.path, 1);
    (void)setenv("ZETA_PLUGIN_REPLAY_PACE", "recorded", 1);
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tape_remove(&tape);
    return 0;
}

SUITE(pace)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream__recorded_pace__gives_nothing_early_and_all_in_the_end),
        cmocka_unit_test(event__recorded_pace__is_signalled_in_time_and_at_the_end),
        cmocka_unit_test(tiles__recorded_pace__are_given_up_to_one_time),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
