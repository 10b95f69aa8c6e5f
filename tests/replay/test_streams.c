/* A recording with devices, tiles and several streams, through the API and value by value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/replay/reading.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/slot.h"
#include "zeta/zeta.h"

#define RECORDS 5000u
#define SHORT_RECORDS 100u

static struct tape tape;
/** What was recorded, to compare with. */
static struct tape_data whole, broken, joined, tiled, on_tile;

static void copy_data(struct tape_data *to, const struct tape_data *from)
{
    tape_put(to, from->bytes, from->size);
}

/** Reads of a stream, each of which begins with the last record of the one before. */
static void write_whole(void)
{
    for (uint32_t n = 0; n < RECORDS; n += 100) {
        struct tape_data data = {0};

        tape_put_records(&data, n == 0 ? 0 : n - 1, n + 99, 0);
        if (n == 300)
            tape_put_padding(&data);
        copy_data(&whole, &data);
        tape_write(&tape, 10, &data);
    }
}

static void write_broken(void)
{
    struct tape_data data = {0};

    tape_put_records(&data, 0, 9, 0);
    tape_put_break(&data, ZETA_PLUGIN_BREAK_OVERFLOW, 5);
    tape_put_records(&data, 15, 20, 0);
    tape_put_break(&data, ZETA_PLUGIN_BREAK_RESET, 0);
    tape_put_records(&data, 1000, 1010, 0);
    copy_data(&broken, &data);
    tape_write(&tape, 11, &data);
}

static void write_joined(void)
{
    struct tape_data data = {0};

    tape_put_records(&data, 0, 49, 0);
    copy_data(&joined, &data);
    tape_put_end(&data); /* says the same as the change of the stream */
    tape_write(&tape, 12, &data);
    tape_put_break(&joined, ZETA_PLUGIN_BREAK_LOST, 0);
    tape_put_records(&data, 2000, 2049, 0);
    copy_data(&joined, &data);
    tape_write(&tape, 13, &data);
}

/** Reads of a root: the part of tile 0, then that of tile 1, which ends early. */
static void write_tiled(void)
{
    for (uint32_t n = 0; n < RECORDS; n += 100) {
        struct tape_data data = {0};

        tape_put_tile(&data, 0);
        tape_put_records(&data, n == 0 ? 0 : n - 1, n + 99, 0);
        if (n < SHORT_RECORDS) {
            tape_put_tile(&data, 1);
            tape_put_records(&data, n == 0 ? 0 : n - 1, n + 99, 1);
        }
        copy_data(&tiled, &data);
        tape_write(&tape, 20, &data);
    }
}

static void write_on_tile(void)
{
    struct tape_data data = {0};

    tape_put_records(&data, 7, 77, 1);
    copy_data(&on_tile, &data);
    tape_write(&tape, 21, &data);
}

static void write_events(void)
{
    struct tape_data data = {0};
    struct tape_event event;

    tape_make_event(1, 0, &event);
    tape_put(&data, &event, sizeof(event));
    for (uint32_t n = 1; n < 500; n++) {
        tape_make_event(3, n, &event);
        tape_put(&data, &event, sizeof(event));
    }
    tape_make_event(2, 500, &event);
    tape_put(&data, &event, sizeof(event));
    tape_write(&tape, 30, &data);
}

static void write_tape(void)
{
    tape_begin(&tape, "all.zrec");
    tape_device(&tape, 1, "Plain", UINT32_MAX, 0);
    tape_device(&tape, 2, "Tiled", UINT32_MAX, 0);
    tape_device(&tape, 3, "Tiled tile 0", 2, 0);
    tape_device(&tape, 4, "Tiled tile 1", 2, 1);
    tape_clock(&tape, 1, UINT64_C(0x2fffff000), 12345678);
    tape_set(&tape, 1, "Whole", "first", 2);
    tape_set(&tape, 2, "Broken", "second", 2);
    tape_set(&tape, 3, "Joined", "first", 2);
    tape_set(&tape, 4, "Unused", "first", 2);
    tape_set(&tape, 5, "Empty", "second", 2);
    tape_set(&tape, 6, "Tiles", "first", 3);
    tape_set(&tape, 7, "Tiles", "first", 5);
    tape_set(&tape, 8, "OnTile", "second", 5);
    tape_event_set(&tape, 9, "Happenings", "source");
    tape_stream(&tape, 10, 1, "time", 250000, 1, 1);
    tape_stream(&tape, 11, 1, "time", 500000, 1, 2);
    tape_stream(&tape, 12, 1, "time", 250000, 1, 3);
    tape_stream(&tape, 13, 1, "time", 250000, 1, 3);
    tape_stream(&tape, 14, 1, "time", 250000, 1, 5);
    tape_stream(&tape, 20, 2, "time", 250000, 2, 6);
    tape_stream(&tape, 21, 4, "time", 250000, 1, 8);
    tape_stream(&tape, 30, 1, "tracer", 0, 1, 9);
    tape_stream(&tape, 31, 1, "event", 0, 1, 1);
    write_whole();
    write_broken();
    write_joined();
    write_tiled();
    write_on_tile();
    write_events();
    tape_end(&tape, true);
}

static zet_metric_group_handle_t group_of(const struct reading *reading, const char *name)
{
    return find_group(reading->device, name, TIME_BASED, NULL);
}

/* Devices and groups ----------------------------------------------------------------------------
 */

/* Rule 17.1. */
static void device__properties__are_those_of_the_recording(void **state)
{
    static const uint8_t recorded[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    ze_device_handle_t device = find_device("Plain (recording)");
    uint32_t count = 0;

    (void)state;
    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    assert_int_equal(properties.type, ZE_DEVICE_TYPE_GPU);
    assert_int_equal(properties.vendorId, 0x8086);
    assert_int_equal(properties.deviceId, 0x1234);
    assert_int_equal(properties.coreClockRate, 1300);
    assert_int_equal(properties.numSlices, 2);
    assert_int_equal(properties.numSubslicesPerSlice, 3);
    assert_int_equal(properties.numEUsPerSubslice, 4);
    assert_int_equal(properties.numThreadsPerEU, 5);
    assert_int_equal(properties.timerResolution, 1000);
    assert_int_equal(properties.timestampValidBits, 36);
    assert_cmp(memcmp(properties.uuid.id, recorded, 16), !=, 0);
    EXPECT_OK(zetaDeviceGetInfo(device, &info));
    assert_string_equal(info.id, "replay0");
    assert_string_equal(info.device_class, "replay");
    assert_string_equal(info.compute, "");
    assert_string_equal(info.stream, "replay");
    assert_string_equal(info.query, "");
    assert_string_equal(info.tracer, "replay");
    EXPECT_OK(zeDeviceGetSubDevices(find_device("Tiled (recording)"), &count, NULL));
    assert_int_equal(count, 2);
    /* Nothing else is there: no virtual GPU. */
    count = 0;
    EXPECT_OK(zeDriverGet(&count, NULL));
    assert_int_equal(count, 1);
}

/* Rule 17.2. */
static void device__clock__begins_where_the_recording_begins(void **state)
{
    ze_device_handle_t device = find_device("Plain (recording)");
    uint64_t host[2], ticks[2];

    (void)state;
    EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host[0], &ticks[0]));
    sleep_ms(20);
    EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host[1], &ticks[1]));
    assert_cmp(ticks[0], >=, UINT64_C(0x2fffff000));
    assert_cmp(ticks[0], <, UINT64_C(0x2fffff000) + UINT64_C(600) * TAPE_HZ);
    /* A tick is a microsecond; both clocks are read together. */
    assert_in_range((host[1] - host[0]) / 1000 - (ticks[1] - ticks[0]) + 2, 0, 4);
}

/* Rule 17.1. */
static void groups__of_a_device__are_what_was_recorded_there(void **state)
{
    static const char *const names[] = {"Whole",  "Joined", "Unused",
                                        "Broken", "Empty",  "Happenings"};
    ze_device_handle_t device = find_device("Plain (recording)");
    zet_metric_group_handle_t groups[16];
    uint32_t count = 16;
    bool seen[6] = {false};

    (void)state;
    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    assert_int_equal(count, 6);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        for (uint32_t n = 0; n < 6; n++)
            seen[n] = seen[n] || strcmp(properties.name, names[n]) == 0;
    }
    for (uint32_t n = 0; n < 6; n++)
        assert_true(seen[n]);
    count = 0;
    EXPECT_OK(zetMetricGroupGet(find_device("Tiled (recording)"), &count, NULL));
    assert_int_equal(count, 2); /* Tiles, and Unused, which is of no device */
}

/* Rule 17.6. */
static void group__info__names_the_recorded_period(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    zet_metric_streamer_handle_t streamer;
    struct zeta_stream_info stream = {.struct_size = sizeof(stream)};

    (void)state;
    EXPECT_OK(zetaMetricGroupGetInfo(group_of(&reading, "Whole"), &info));
    assert_string_equal(info.plugin, "replay");
    assert_string_equal(info.unit, "first");
    assert_int_equal(info.min_period_ns, 250000);
    assert_int_equal(info.max_period_ns, 250000);
    EXPECT_OK(zetaMetricGroupGetInfo(group_of(&reading, "Broken"), &info));
    assert_int_equal(info.min_period_ns, 250000);
    assert_int_equal(info.max_period_ns, 500000);
    streamer = reading_open(&reading, group_of(&reading, "Broken"), 0, NULL);
    EXPECT_OK(zetaMetricStreamerGetInfo(streamer, &stream));
    assert_int_equal(stream.period_ns, 500000);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    reading_end(&reading);
}

/* Streams ---------------------------------------------------------------------------------------
 */

/** Reads everything with some size of reads and compares slots and values. */
static void expect_replayed(const char *name, const struct tape_data *recorded, uint32_t room,
                            uint32_t warnings)
{
    struct reading reading = reading_begin("Plain (recording)");
    zet_metric_group_handle_t group = group_of(&reading, name);
    zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 0, NULL);
    struct tape_data raw = {0}, plain = {0}, wanted = {0}, padding_free = {0};

    assert_int_equal(reading_drain(streamer, room, &raw), warnings);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    for (size_t at = 0; at < recorded->size; at += TAPE_RECORD_BYTES) {
        if (recorded->bytes[at] != 0 ||
            memcmp(recorded->bytes + at, recorded->bytes + at + 1, TAPE_RECORD_BYTES - 1) != 0)
            tape_put(&padding_free, recorded->bytes + at, TAPE_RECORD_BYTES);
    }
    reading_strip(&padding_free, &wanted);
    reading_strip(&raw, &plain);
    assert_int_equal(plain.size, wanted.size);
    assert_memory_equal(plain.bytes, wanted.bytes, wanted.size);
    expect_same_values(group, recorded, &raw);
    tape_data_finish(&raw);
    tape_data_finish(&plain);
    tape_data_finish(&wanted);
    tape_data_finish(&padding_free);
    reading_end(&reading);
}

/* Rule 17.3. */
static void stream__any_size_of_reads__gives_every_record(void **state)
{
    static const uint32_t rooms[] = {2, 3, 7, 100, 4096, 20000};

    (void)state;
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
        expect_replayed("Whole", &whole, rooms[i], 0);
}

/* Rule 17.4. */
static void stream__breaks__stand_where_they_were_recorded(void **state)
{
    (void)state;
    expect_replayed("Broken", &broken, 1000, 1);
    expect_replayed("Broken", &broken, 8, 2);
}

/* Rule 17.4. */
static void stream__two_of_one_set__follow_each_other_with_a_break(void **state)
{
    (void)state;
    expect_replayed("Joined", &joined, 1000, 1);
}

/* Rule 17.7. */
static void stream__opened_again__begins_anew(void **state)
{
    (void)state;
    expect_replayed("Broken", &broken, 1000, 1);
    expect_replayed("Broken", &broken, 1000, 1);
}

/* Rule 11.16. */
static void stream__without_data__ends_at_once(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    zet_metric_streamer_handle_t streamer =
        reading_open(&reading, group_of(&reading, "Empty"), 0, NULL);
    struct tape_data raw = {0};

    (void)state;
    assert_true(reading_has_ended(streamer));
    assert_int_equal(reading_drain(streamer, 10, &raw), 0);
    assert_int_equal(raw.size, 0);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    reading_end(&reading);
}

/* Rule 17.6. */
static void stream__set_without_data__is_refused_with_what_there_is(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    zet_metric_group_handle_t group = group_of(&reading, "Unused");
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000};
    zet_metric_streamer_handle_t streamer = NULL;

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(reading.context, reading.device, 1, &group));
    EXPECT_RESULT(
        zetMetricStreamerOpen(reading.context, reading.device, group, &desc, NULL, &streamer),
        ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("no data of Unused on replay0");
    expect_sentence("Whole, Broken, Joined");
    reading_end(&reading);
}

/* Rule 17.7. */
static void streams__of_two_units__are_read_side_by_side(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    zet_metric_group_handle_t groups[2] = {group_of(&reading, "Whole"),
                                           group_of(&reading, "Broken")};
    zet_metric_streamer_handle_t streamers[2];
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000};
    struct tape_data raw[2] = {{0}, {0}};

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(reading.context, reading.device, 2, groups));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(zetMetricStreamerOpen(reading.context, reading.device, groups[i], &desc, NULL,
                                        &streamers[i]));
    for (int i = 0; i < 2; i++) {
        (void)reading_drain(streamers[i], 50, &raw[i]);
        EXPECT_OK(zetMetricStreamerClose(streamers[i]));
    }
    expect_same_values(groups[0], &whole, &raw[0]);
    expect_same_values(groups[1], &broken, &raw[1]);
    tape_data_finish(&raw[0]);
    tape_data_finish(&raw[1]);
    reading_end(&reading);
}

static void stream__stopped_by_deactivation__gives_what_was_pending(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    zet_metric_streamer_handle_t streamer =
        reading_open(&reading, group_of(&reading, "Broken"), 0, NULL);
    unsigned char buffer[64 * TAPE_RECORD_BYTES];
    size_t size = sizeof(buffer);

    (void)state;
    reading_deactivate(&reading);
    EXPECT_RESULT(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    assert_int_equal(size, broken.size);
    assert_memory_equal(buffer, broken.bytes, broken.size);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    reading_end(&reading);
}

/* Rule 17.6. */
static void stream__file_was_replaced__is_refused(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    zet_metric_group_handle_t group = group_of(&reading, "Whole");
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000};
    zet_metric_streamer_handle_t streamer = NULL;
    char aside[300];
    FILE *other;

    (void)state;
    (void)snprintf(aside, sizeof(aside), "%s.aside", tape.path);
    assert_int_equal(rename(tape.path, aside), 0);
    EXPECT_OK(zetContextActivateMetricGroups(reading.context, reading.device, 1, &group));
    EXPECT_RESULT(
        zetMetricStreamerOpen(reading.context, reading.device, group, &desc, NULL, &streamer),
        ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("is gone");
    other = fopen(tape.path, "w");
    assert_non_null(other);
    (void)fclose(other);
    EXPECT_RESULT(
        zetMetricStreamerOpen(reading.context, reading.device, group, &desc, NULL, &streamer),
        ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("another file has taken the place");
    assert_int_equal(rename(aside, tape.path), 0);
    EXPECT_OK(
        zetMetricStreamerOpen(reading.context, reading.device, group, &desc, NULL, &streamer));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    reading_end(&reading);
}

/* The end ---------------------------------------------------------------------------------------
 */

/* Rule 11.16. */
static void event__fewer_reports_than_wanted_left__is_signalled(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    struct test_event event = make_event(reading.context);
    zet_metric_streamer_handle_t streamer =
        reading_open(&reading, group_of(&reading, "Whole"), 3000, event.event);
    unsigned char *buffer = malloc((size_t)4000 * TAPE_RECORD_BYTES);
    size_t size = (size_t)4000 * TAPE_RECORD_BYTES;

    (void)state;
    assert_non_null(buffer);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    EXPECT_OK(zetMetricStreamerReadData(streamer, 3500, &size, buffer));
    assert_int_equal(size, (size_t)3501 * TAPE_RECORD_BYTES);
    /* 1499 are left, which is the end of the recording. */
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    size = (size_t)4000 * TAPE_RECORD_BYTES;
    EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer));
    assert_int_equal(size, (size_t)1500 * TAPE_RECORD_BYTES);
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
        size = (size_t)4000 * TAPE_RECORD_BYTES;
        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer));
        assert_int_equal(size, 0);
    }
    assert_true(reading_has_ended(streamer));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    destroy_event(&event);
    free(buffer);
    reading_end(&reading);
}

/* Tiles -----------------------------------------------------------------------------------------
 */

/* Rule 17.5. */
static void tiles__of_different_length__are_given_to_their_ends(void **state)
{
    static const uint32_t rooms[] = {50, 1000, 20000};

    (void)state;
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        struct reading reading = reading_begin("Tiled (recording)");
        zet_metric_group_handle_t group = group_of(&reading, "Tiles");
        zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 0, NULL);
        struct tape_data raw = {0};

        assert_int_equal(reading_drain(streamer, rooms[i], &raw), 0);
        EXPECT_OK(zetMetricStreamerClose(streamer));
        expect_same_sets(group, &tiled, &raw, 2);
        tape_data_finish(&raw);
        reading_end(&reading);
    }
}

/* Rule 17.5. */
static void tile__stream_of_the_root__gives_its_part(void **state)
{
    struct reading reading = reading_begin("Tiled tile 1 (recording)");
    zet_metric_group_handle_t group = group_of(&reading, "Tiles");
    zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 0, NULL);
    struct tape_data raw = {0}, wanted = {0};

    (void)state;
    (void)reading_drain(streamer, 1000, &raw);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    tape_put_records(&wanted, 0, SHORT_RECORDS - 1, 1);
    assert_int_equal(raw.size, wanted.size);
    assert_memory_equal(raw.bytes, wanted.bytes, wanted.size);
    tape_data_finish(&raw);
    tape_data_finish(&wanted);
    reading_end(&reading);
}

/* Rule 17.5. */
static void tile__stream_of_its_own__is_not_on_the_other_tile(void **state)
{
    struct reading reading = reading_begin("Tiled tile 1 (recording)");
    zet_metric_group_handle_t group = group_of(&reading, "OnTile");
    zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 0, NULL);
    struct tape_data raw = {0};
    uint32_t count = 0;

    (void)state;
    (void)reading_drain(streamer, 1000, &raw);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    expect_same_values(group, &on_tile, &raw);
    tape_data_finish(&raw);
    reading_end(&reading);
    EXPECT_OK(zetMetricGroupGet(find_device("Tiled tile 0 (recording)"), &count, NULL));
    assert_int_equal(count, 2); /* Tiles and Unused */
}

/* Processes -------------------------------------------------------------------------------------
 */

/** The group of that name; NULL: none. No assertions: they belong to the parent. */
static zet_metric_group_handle_t child_group(ze_device_handle_t device, const char *name)
{
    zet_metric_group_handle_t groups[16];
    uint32_t count = 16;

    if (zetMetricGroupGet(device, &count, groups) != ZE_RESULT_SUCCESS)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        if (zetMetricGroupGetProperties(groups[i], &properties) == ZE_RESULT_SUCCESS &&
            strcmp(properties.name, name) == 0)
            return groups[i];
    }
    return NULL;
}

/** Opens "Whole" on the first device; NULL: it failed. */
static zet_metric_streamer_handle_t child_open(void)
{
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000};
    zet_metric_streamer_handle_t streamer = NULL;
    zet_metric_group_handle_t group;
    ze_context_handle_t context;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    uint32_t count = 1;

    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS ||
        zeDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS ||
        zeContextCreate(driver, &context_desc, &context) != ZE_RESULT_SUCCESS)
        return NULL;
    group = child_group(device, "Whole");
    if (!group || zetContextActivateMetricGroups(context, device, 1, &group) != ZE_RESULT_SUCCESS)
        return NULL;
    (void)zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer);
    return streamer;
}

/** 0: the child got all records. */
static int child_reads(void)
{
    const size_t bytes = (size_t)(RECORDS + 10) * TAPE_RECORD_BYTES;
    zet_metric_streamer_handle_t streamer = child_open();
    unsigned char *buffer = malloc(bytes);
    size_t size = bytes;

    if (!streamer || !buffer)
        return 1;
    if (zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer) != ZE_RESULT_SUCCESS ||
        size != (size_t)RECORDS * TAPE_RECORD_BYTES)
        return 2;
    for (uint32_t n = 0; n < RECORDS; n++) {
        struct tape_record record;

        tape_make_record(n, 0, &record);
        if (memcmp(buffer + (size_t)n * TAPE_RECORD_BYTES, &record, sizeof(record)) != 0)
            return 3;
    }
    free(buffer);
    return zetMetricStreamerClose(streamer) == ZE_RESULT_SUCCESS ? 0 : 4;
}

/* Rule 17.7. */
static void process__forked_child__reads_beside_its_parent(void **state)
{
    struct reading reading = reading_begin("Plain (recording)");
    zet_metric_group_handle_t group = group_of(&reading, "Whole");
    zet_metric_streamer_handle_t streamer = reading_open(&reading, group, 0, NULL);
    struct tape_data raw = {0};
    int status = -1;
    const pid_t child = fork_child();

    (void)state;
    assert_cmp(child, >=, 0);
    if (child == 0)
        _exit(child_reads());
    (void)reading_drain(streamer, 900, &raw);
    expect_same_values(group, &whole, &raw);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    tape_data_finish(&raw);
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
    tape_data_finish(&whole);
    tape_data_finish(&broken);
    tape_data_finish(&joined);
    tape_data_finish(&tiled);
    tape_data_finish(&on_tile);
    tape_remove(&tape);
    return 0;
}

SUITE(streams)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device__properties__are_those_of_the_recording),
        cmocka_unit_test(device__clock__begins_where_the_recording_begins),
        cmocka_unit_test(groups__of_a_device__are_what_was_recorded_there),
        cmocka_unit_test(group__info__names_the_recorded_period),
        cmocka_unit_test(stream__any_size_of_reads__gives_every_record),
        cmocka_unit_test(stream__breaks__stand_where_they_were_recorded),
        cmocka_unit_test(stream__two_of_one_set__follow_each_other_with_a_break),
        cmocka_unit_test(stream__opened_again__begins_anew),
        cmocka_unit_test(stream__without_data__ends_at_once),
        cmocka_unit_test(stream__set_without_data__is_refused_with_what_there_is),
        cmocka_unit_test(streams__of_two_units__are_read_side_by_side),
        cmocka_unit_test(stream__stopped_by_deactivation__gives_what_was_pending),
        cmocka_unit_test(stream__file_was_replaced__is_refused),
        cmocka_unit_test(event__fewer_reports_than_wanted_left__is_signalled),
        cmocka_unit_test(tiles__of_different_length__are_given_to_their_ends),
        cmocka_unit_test(tile__stream_of_the_root__gives_its_part),
        cmocka_unit_test(tile__stream_of_its_own__is_not_on_the_other_tile),
        cmocka_unit_test(process__forked_child__reads_beside_its_parent),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
