/* What a read gives: baselines, breaks, limits, sizes, errors. */
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

#define MIB (1024u * 1024u)

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** Every rule holds whether records wait in the backend or in a ring of the core. */
struct way {
    const char *device;
    bool event; /**< with an event, "bare0" gets a ring of the core */
};

static const struct way ways[] = {
    {"fake0", false}, {"fake0", true}, {"bare0", false}, {"bare0", true}};
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

struct open_stream {
    struct stream_bed bed;
    struct test_event event;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
};

static struct open_stream open_on(const struct way *way, const char *group)
{
    struct open_stream made = {.bed = bed_make(way->device)};

    made.event = make_event(made.bed.context);
    made.group = bed_activate(&made.bed, group);
    made.streamer = bed_open(&made.bed, made.group, 100, way->event ? made.event.event : NULL);
    return made;
}

static void end(struct open_stream *made)
{
    EXPECT_OK(zetMetricStreamerClose(made->streamer));
    destroy_event(&made->event);
    bed_free(&made->bed);
}

/* Rule 11.6. */
static void read__one_after_the_other__repeats_the_last_record(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct slot slots[16];

        /* 30: nothing available is success with size 0. */
        assert_int_equal(bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0);
        made.bed.control->push(ways[w].device, "u0", 3);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0,
                       3);
        assert_int_equal(bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0);
        made.bed.control->push(ways[w].device, "u0", 1);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 3,
                       4);
        end(&made);
    }
}

/* Rule 11.5. */
static void read__first_record_later_than_open__is_only_the_baseline(void **state)
{
    const struct stream_control *control = harness_control("stream_control");

    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made;
        struct slot slots[16];

        control->first_at_open(false);
        made.bed = bed_make(ways[w].device);
        made.bed.control->first_at_open(false);
        made.event = make_event(made.bed.context);
        made.group = bed_activate(&made.bed, "Basic");
        made.streamer =
            bed_open(&made.bed, made.group, 100, ways[w].event ? made.event.event : NULL);
        assert_int_equal(bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0);
        made.bed.control->push(ways[w].device, "u0", 1);
        assert_int_equal(bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0);
        made.bed.control->push(ways[w].device, "u0", 2);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0,
                       2);
        end(&made);
    }
}

/* Rule 11.10. */
static void read__records_lost_before_the_first__are_told(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made;
        struct slot slots[16];

        made.bed = bed_make(ways[w].device);
        made.bed.control->first_at_open(false);
        made.event = make_event(made.bed.context);
        made.group = bed_activate(&made.bed, "Basic");
        made.streamer =
            bed_open(&made.bed, made.group, 100, ways[w].event ? made.event.event : NULL);
        made.bed.control->gap(ways[w].device, "u0", 5, 2);
        made.bed.control->push(ways[w].device, "u0", 3);
        assert_int_equal(
            bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_WARNING_DROPPED_DATA, slots), 4);
        assert_int_equal(slots[0].form, SLOT_BREAK);
        assert_int_equal(slots[0].lost, 5);
        expect_records(slots + 1, 3, 5, 7);
        end(&made);
    }
}

/* Rule 11.6. */
static void read__max_report_count__does_not_count_the_repeated_record(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct slot slots[16];

        made.bed.control->push(ways[w].device, "u0", 5);
        assert_int_equal(bed_read(made.streamer, 0, 16, ZE_RESULT_SUCCESS, slots), 0);
        expect_records(slots, bed_read(made.streamer, 2, 16, ZE_RESULT_SUCCESS, slots), 0, 2);
        expect_records(slots, bed_read(made.streamer, 2, 16, ZE_RESULT_SUCCESS, slots), 2, 4);
        expect_records(slots, bed_read(made.streamer, 2, 16, ZE_RESULT_SUCCESS, slots), 4, 5);
        end(&made);
    }
}

/* Rule 11.6. */
static void read__small_buffers__fill_them_with_whole_records(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct slot slots[16];

        made.bed.control->push(ways[w].device, "u0", 9);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 4, ZE_RESULT_SUCCESS, slots), 0,
                       3);
        /* One slot: only the new record. */
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 1, ZE_RESULT_SUCCESS, slots), 4,
                       4);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 1, ZE_RESULT_SUCCESS, slots), 5,
                       5);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 2, ZE_RESULT_SUCCESS, slots), 5,
                       6);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 3, ZE_RESULT_SUCCESS, slots), 6,
                       8);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 8,
                       9);
        end(&made);
    }
}

/* Rule 11.9. */
static void read__break_in_the_middle__stands_between_and_warns(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct zeta_stream_info info = {.struct_size = sizeof(info)};
        struct slot slots[16];
        uint32_t count;

        made.bed.control->push(ways[w].device, "u0", 2);
        made.bed.control->gap(ways[w].device, "u0", 7, 2);
        made.bed.control->push(ways[w].device, "u0", 2);
        count = bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_WARNING_DROPPED_DATA, slots);
        assert_int_equal(count, 6);
        expect_records(slots, 3, 0, 2);
        assert_int_equal(slots[3].form, SLOT_BREAK);
        assert_int_equal(slots[3].number, 2);
        assert_int_equal(slots[3].lost, 7);
        expect_records(slots + 4, 2, 10, 11);
        EXPECT_OK(zetaMetricStreamerGetInfo(made.streamer, &info));
        assert_int_equal(info.records, 4);
        assert_int_equal(info.lost, 7);
        assert_int_equal(info.breaks, 1);
        assert_int_equal(info.bytes, 6 * FAKE_RECORD_BYTES);
        assert_int_equal(info.period_ns, 100000);
        end(&made);
    }
}

static void read__break_first__takes_the_place_of_the_repeated_record(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct slot slots[16];

        made.bed.control->push(ways[w].device, "u0", 2);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0,
                       2);
        made.bed.control->gap(ways[w].device, "u0", 0, 3);
        made.bed.control->push(ways[w].device, "u0", 2);
        assert_int_equal(
            bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_WARNING_DROPPED_DATA, slots), 3);
        assert_int_equal(slots[0].form, SLOT_BREAK);
        assert_int_equal(slots[0].number, 3);
        assert_int_equal(slots[0].lost, 0);
        expect_records(slots + 1, 2, 3, 4);
        made.bed.control->push(ways[w].device, "u0", 1);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 4,
                       5);
        end(&made);
    }
}

/** A BREAK is never left out, and a read never consists of it alone. */
static void read__break_and_room_for_one_slot__is_invalid_size_and_loses_nothing(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        uint8_t buffer[FAKE_RECORD_BYTES];
        struct slot slots[16];
        size_t size = sizeof(buffer);

        made.bed.control->push(ways[w].device, "u0", 1);
        made.bed.control->gap(ways[w].device, "u0", 4, 2);
        made.bed.control->push(ways[w].device, "u0", 2);
        /* The room ends before the break: it waits for the next read. */
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 3, ZE_RESULT_SUCCESS, slots), 0,
                       1);
        for (int i = 0; i < 2; i++) {
            size = sizeof(buffer);
            EXPECT_RESULT(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, buffer),
                          ZE_RESULT_ERROR_INVALID_SIZE);
            assert_int_equal(size, 2 * FAKE_RECORD_BYTES);
        }
        assert_int_equal(
            bed_read(made.streamer, UINT32_MAX, 2, ZE_RESULT_WARNING_DROPPED_DATA, slots), 2);
        assert_int_equal(slots[0].form, SLOT_BREAK);
        assert_int_equal(slots[0].lost, 4);
        expect_records(slots + 1, 1, 6, 6);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 8, ZE_RESULT_SUCCESS, slots), 6,
                       7);
        end(&made);
    }
}

static void read__many_breaks_and_any_room__gives_every_slot_once(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        for (uint32_t room = 2; room <= 9; room++) {
            struct open_stream made = open_on(&ways[w], "Basic");
            uint32_t expected = 0; /* number of the next new record */
            uint32_t breaks = 0;
            struct slot slots[16];

            for (uint32_t i = 0; i < 6; i++) {
                made.bed.control->push(ways[w].device, "u0", 1 + i % 4);
                made.bed.control->gap(ways[w].device, "u0", 3, 2);
            }
            made.bed.control->push(ways[w].device, "u0", 1);
            for (uint32_t reads = 0; reads < 100; reads++) {
                uint8_t buffer[16 * FAKE_RECORD_BYTES];
                size_t size = (size_t)room * FAKE_RECORD_BYTES;
                ze_result_t result =
                    zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, buffer);
                bool saw_break = false;

                assert_cmp(size, <=, (size_t)room * FAKE_RECORD_BYTES);
                for (size_t at = 0; at < size; at += FAKE_RECORD_BYTES) {
                    struct fake_record record;

                    memcpy(&record, buffer + at, sizeof(record));
                    if (record.timestamp != record.report_id * FAKE_TICKS_PER_RECORD) {
                        breaks++;
                        saw_break = true;
                        expected += 3;
                    } else if (record.report_id + 1 == expected) {
                        assert_int_equal(at, 0); /* the repeated one */
                    } else {
                        assert_int_equal(record.report_id, expected);
                        expected++;
                    }
                }
                assert_int_equal(result,
                                 saw_break ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS);
                if (size == 0)
                    break;
            }
            assert_int_equal(breaks, 6);
            assert_int_equal(expected, 1 + 13 + 6 * 3 + 1);
            assert_int_equal(bed_read(made.streamer, UINT32_MAX, 4, ZE_RESULT_SUCCESS, slots), 0);
            end(&made);
        }
    }
}

/* Rule 11.7. */
static void read__sample_layout__repeats_nothing(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Samples");
        struct slot slots[16];

        made.bed.control->push(ways[w].device, "u2", 2);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0,
                       2);
        made.bed.control->push(ways[w].device, "u2", 1);
        made.bed.control->gap(ways[w].device, "u2", 1, 1);
        made.bed.control->push(ways[w].device, "u2", 2);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 1, ZE_RESULT_SUCCESS, slots), 3,
                       3);
        assert_int_equal(
            bed_read(made.streamer, UINT32_MAX, 3, ZE_RESULT_WARNING_DROPPED_DATA, slots), 3);
        assert_int_equal(slots[0].form, SLOT_BREAK);
        expect_records(slots + 1, 2, 5, 6);
        end(&made);
    }
}

/** Places of the ring behind a stream: the backend's, which is asked to have many, or as many. */
static uint64_t ring_of(uint64_t least)
{
    const uint64_t backend_ring = 65536;

    return least > backend_ring ? least : backend_ring;
}

/* 29: > 0 when nothing is there, never above 32 MiB, independent of the data. Rule 11.3. */
static void size_query__any_state__is_ring_capacity_or_max_count(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct zeta_stream_info info = {.struct_size = sizeof(info)};
        const uint64_t ring = ring_of(4096);
        uint8_t byte;
        size_t size = 0;

        EXPECT_OK(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, NULL));
        assert_int_equal(size, ring * FAKE_RECORD_BYTES);
        made.bed.control->push(ways[w].device, "u0", 10);
        size = 0;
        EXPECT_OK(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, &byte));
        assert_int_equal(size, ring * FAKE_RECORD_BYTES);
        size = 1234;
        EXPECT_OK(zetMetricStreamerReadData(made.streamer, 100, &size, NULL));
        assert_int_equal(size, 100 * FAKE_RECORD_BYTES);
        size = 0;
        EXPECT_OK(zetMetricStreamerReadData(made.streamer, 0, &size, NULL));
        assert_int_equal(size, FAKE_RECORD_BYTES);
        EXPECT_OK(zetaMetricStreamerGetInfo(made.streamer, &info));
        assert_int_equal(info.ring_records, ring);
        assert_int_equal(info.records, 0);
        end(&made);
    }
}

/* Rule 3.9. */
static void read__buffer_below_one_record__is_invalid_size(void **state)
{
    struct open_stream made = open_on(&ways[0], "Basic");
    uint8_t buffer[FAKE_RECORD_BYTES];
    size_t size = FAKE_RECORD_BYTES - 1;

    (void)state;
    EXPECT_RESULT(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, buffer),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, FAKE_RECORD_BYTES);
    EXPECT_RESULT(zetMetricStreamerReadData(made.streamer, UINT32_MAX, NULL, buffer),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    end(&made);
}

static void open_and_read__null__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    struct open_stream made = open_on(&ways[0], "Basic");
    struct stream_bed *bed = &made.bed;
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 10, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;
    uint8_t buffer[FAKE_RECORD_BYTES] = {7};
    size_t size = sizeof(buffer);

#define OPEN(context, device, group, desc, out)                                                    \
    zetMetricStreamerOpen(context, device, group, desc, NULL, out)
    (void)state;
    EXPECT_RESULT(OPEN(NULL, bed->device, made.group, &desc, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(OPEN(bed->context, NULL, made.group, &desc, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(OPEN(bed->context, bed->device, NULL, &desc, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(OPEN(bed->context, bed->device, made.group, NULL, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(OPEN(bed->context, bed->device, made.group, &desc, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
#undef OPEN
    EXPECT_RESULT(zetMetricStreamerOpen(bed->context, bed->device, made.group, &desc,
                                        (ze_event_handle_t)bed->context, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(streamer);
    EXPECT_RESULT(zetMetricStreamerReadData(NULL, UINT32_MAX, &size, buffer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(size, sizeof(buffer));
    assert_int_equal(buffer[0], 7);
    EXPECT_RESULT(zetMetricStreamerClose(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    end(&made);
}

/* Rule 11.20. */
static void read__device_lost__gives_what_is_left_and_then_the_error(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct slot slots[16];

        made.bed.control->push(ways[w].device, "u0", 2);
        made.bed.control->fail_reads(ways[w].device, "u0", ZE_RESULT_ERROR_DEVICE_LOST);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0,
                       2);
        (void)bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_ERROR_DEVICE_LOST, slots);
        expect_sentence("fake-");
        (void)bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_ERROR_DEVICE_LOST, slots);
        end(&made);
    }
}

/* 28: periods and N that are in use, and those that cannot be. Rule 11.1. */
static void open__period_and_count__are_brought_into_range_and_written_back(void **state)
{
    static const struct {
        uint32_t period, got_period, notify, got_notify;
        uint64_t ring;
    } cases[] = {
        {50000, 50000, 20, 20, 4096},
        {100000, 100000, 1024, 1024, 4096},
        {200000, 200000, 2048, 2048, 4096},
        {400000, 400000, 32768, 32768, 65536},
        {500000, 500000, 65536, 65536, 131072},
        {1000000, 1000000, UINT32_MAX, 32 * MIB / FAKE_RECORD_BYTES, 32 * MIB / FAKE_RECORD_BYTES},
        {10000000, 10000000, 0, 0, 4096},
        {0, 10000, 1, 1, 4096},
        {9999, 10000, 1, 1, 4096},
        {12345, 12000, 1, 1, 4096},
        {UINT32_MAX, 1000000000, 1, 1, 4096},
    };

    (void)state;
    for (size_t w = 0; w < 2; w++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            const char *device = w == 0 ? "fake0" : "bare0";
            struct stream_bed bed = bed_make(device);
            struct test_event event = make_event(bed.context);
            zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
            zet_metric_streamer_desc_t desc = {.notifyEveryNReports = cases[i].notify,
                                               .samplingPeriod = cases[i].period};
            zet_metric_streamer_handle_t streamer;
            size_t size = 0;

            EXPECT_OK(zetMetricStreamerOpen(bed.context, bed.device, group, &desc, event.event,
                                            &streamer));
            assert_int_equal(desc.samplingPeriod, cases[i].got_period);
            assert_int_equal(desc.notifyEveryNReports, cases[i].got_notify);
            EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, NULL));
            assert_int_equal(size, ring_of(cases[i].ring) * FAKE_RECORD_BYTES);
            assert_cmp(size, <=, 32 * MIB);
            EXPECT_OK(zetMetricStreamerClose(streamer));
            destroy_event(&event);
            bed_free(&bed);
        }
    }
}

/* Rules 12.18, 26.6. */
static void open__backend__gets_the_program_and_its_digest(void **state)
{
    static const char *const classes[] = {"", "", "place", "pick", "pick"};
    struct stream_counts first;
    struct stream_counts second;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct open_stream made = open_on(&ways[0], i == 0 ? "Basic" : "Other");

        *(i == 0 ? &first : &second) = made.bed.control->counts("fake0", "u0");
        end(&made);
    }
    assert_int_equal(first.program_entries, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(first.register_classes[i], classes[i]);
    assert_int_equal(second.program_entries, 0);
    assert_int_equal(strlen(first.digest), 16);
    assert_string_not_equal(first.digest, second.digest);
    assert_string_equal(first.uuid, "0c7e5a11-90b2-4f3d-8a6e-b1d2c3e4f506");
    assert_string_equal(second.uuid, "");
    assert_int_equal(first.period_ns, 100000);
}

/** A slow reader loses nothing before the ring is full, and then the oldest. Rule 11.9. */
static void read__ring_of_the_core_is_full__drops_the_oldest_and_says_so(void **state)
{
    struct open_stream made = {.bed = bed_make("bare0")};
    struct slot *slots = calloc(8192, sizeof(*slots));
    uint32_t count;

    (void)state;
    assert_non_null(slots);
    made.bed.control->ring(4000);
    made.event = make_event(made.bed.context);
    made.group = bed_activate(&made.bed, "Basic");
    made.streamer = bed_open(&made.bed, made.group, 100, made.event.event);
    for (int i = 0; i < 5; i++) {
        const uint32_t reads = made.bed.control->counts("bare0", "u0").reads;

        made.bed.control->push("bare0", "u0", 1000);
        /* The reactor empties the backend's own ring meanwhile: most of the pushes fit there. */
        for (int ms = 0; ms < 20000 && made.bed.control->counts("bare0", "u0").reads == reads; ms++)
            sleep_ms(1);
    }
    count = bed_read(made.streamer, UINT32_MAX, 8192, ZE_RESULT_WARNING_DROPPED_DATA, slots);
    assert_int_equal(count, 4097);
    assert_int_equal(slots[0].form, SLOT_BREAK);
    assert_int_equal(slots[0].number, 1);
    assert_int_equal(slots[0].lost, 5000 - 4096);
    expect_records(slots + 1, 4096, 5000 - 4095, 5000);
    free(slots);
    end(&made);
}

/** Plugin calls of the library from inside a plugin call: no lock is held, so nothing hangs. */
static void use_the_api(void *context)
{
    struct open_stream *made = context;
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    zet_metric_group_handle_t group = find_group(made->bed.device, "Second", TIME_BASED, NULL);
    zet_metric_group_handle_t both[2] = {made->group, group};
    zet_metric_streamer_desc_t desc = {.samplingPeriod = 100000};
    zet_metric_streamer_handle_t second;

    made->bed.control->hook(NULL, NULL);
    EXPECT_OK(zetaMetricGroupGetInfo(made->group, &info));
    EXPECT_OK(zetContextActivateMetricGroups(made->bed.context, made->bed.device, 2, both));
    EXPECT_OK(
        zetMetricStreamerOpen(made->bed.context, made->bed.device, group, &desc, NULL, &second));
    EXPECT_OK(zetMetricStreamerClose(second));
    EXPECT_OK(zeEventHostReset(made->event.event));
    (void)zeEventQueryStatus(made->event.event);
}

static void read__plugin_inside_its_call__no_lock_of_the_library_is_held(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");
        struct slot slots[16];

        made.bed.control->hook(use_the_api, &made);
        made.bed.control->push(ways[w].device, "u0", 2);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0,
                       2);
        made.bed.control->hook(NULL, NULL);
        end(&made);
    }
}

static void push_one(void *context)
{
    const struct open_stream *made = context;

    made->bed.control->push("fake0", "u0", 1);
}

/** A device that is as fast as the reads of its records. Rule 11.8. */
static void read__records_come_while_it_runs__ends_with_what_was_there(void **state)
{
    static struct slot slots[2048];
    const struct way direct = {"fake0", false};
    struct open_stream made = open_on(&direct, "Basic");
    uint32_t count;

    (void)state;
    made.bed.control->push("fake0", "u0", 500);
    made.bed.control->hook(push_one, &made);
    count = bed_read(made.streamer, UINT32_MAX, 2048, ZE_RESULT_SUCCESS, slots);
    assert_in_range(count, 501, 510);
    expect_records(slots, count, 0, count - 1);
    made.bed.control->hook(NULL, NULL);
    end(&made);
}

static void close__unread_data__is_fine(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAY_COUNT; w++) {
        struct open_stream made = open_on(&ways[w], "Basic");

        made.bed.control->push(ways[w].device, "u0", 500);
        end(&made); /* 33 */
    }
}

SUITE(read)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__one_after_the_other__repeats_the_last_record),
        cmocka_unit_test(read__first_record_later_than_open__is_only_the_baseline),
        cmocka_unit_test(read__records_lost_before_the_first__are_told),
        cmocka_unit_test(read__max_report_count__does_not_count_the_repeated_record),
        cmocka_unit_test(read__small_buffers__fill_them_with_whole_records),
        cmocka_unit_test(read__break_in_the_middle__stands_between_and_warns),
        cmocka_unit_test(read__break_first__takes_the_place_of_the_repeated_record),
        cmocka_unit_test(read__break_and_room_for_one_slot__is_invalid_size_and_loses_nothing),
        cmocka_unit_test(read__many_breaks_and_any_room__gives_every_slot_once),
        cmocka_unit_test(read__sample_layout__repeats_nothing),
        cmocka_unit_test(size_query__any_state__is_ring_capacity_or_max_count),
        cmocka_unit_test(read__buffer_below_one_record__is_invalid_size),
        cmocka_unit_test(open_and_read__null__documented_results),
        cmocka_unit_test(read__device_lost__gives_what_is_left_and_then_the_error),
        cmocka_unit_test(open__period_and_count__are_brought_into_range_and_written_back),
        cmocka_unit_test(open__backend__gets_the_program_and_its_digest),
        cmocka_unit_test(read__ring_of_the_core_is_full__drops_the_oldest_and_says_so),
        cmocka_unit_test(read__plugin_inside_its_call__no_lock_of_the_library_is_held),
        cmocka_unit_test(read__records_come_while_it_runs__ends_with_what_was_there),
        cmocka_unit_test(close__unread_data__is_fine),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
