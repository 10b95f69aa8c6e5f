/*
 * Streams through i915, on emulated machines: reports are what the counters were, bit by bit.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/plugin_metric.h>
#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { ROOM = 1 << 20 };

static uint8_t data[ROOM];

static uint32_t word(const uint8_t *report, uint32_t at)
{
    uint32_t value;

    memcpy(&value, report + at, sizeof(value));
    return value;
}

/* The 64-bit time of a report: the first at or after a known time that has these 32 bits. */
static uint64_t unwrap(uint64_t after, uint32_t ticks)
{
    return after + (uint32_t)(ticks - (uint32_t)after);
}

static const char *uuid_of_test_oa = "6607f034-d053-40d1-8215-67c07f3041bb";

/* Compares every counter of an A32u40_A4u32_B8_C8 report with what it stood at. */
static void expect_a32(const uint8_t *report, const char *uuid, uint64_t ticks)
{
    struct kmd_machine *machine = bed_machine();

    assert_int_equal(word(report, 12),
                     (uint32_t)kmd_counter(machine, 0, 0, uuid, KMD_BANK_CLOCK, 0, ticks));
    for (uint32_t a = 0; a < 36; a++) {
        const uint64_t full = kmd_counter(machine, 0, 0, uuid, KMD_BANK_A, a, ticks);

        assert_int_equal(word(report, 16 + 4 * a), (uint32_t)full);
        if (a < 32)
            assert_int_equal(report[160 + a], (uint8_t)(full >> 32));
    }
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(word(report, 192 + 4 * i),
                         (uint32_t)kmd_counter(machine, 0, 0, uuid, KMD_BANK_B, i, ticks));
        assert_int_equal(word(report, 224 + 4 * i),
                         (uint32_t)kmd_counter(machine, 0, 0, uuid, KMD_BANK_C, i, ticks));
    }
}

/* Rule 26.3. */
static void stream__of_gen12__gives_reports_bit_by_bit(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct bed_stream stream;
    uint64_t ticks;
    uint32_t slots;

    (void)state;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "TestOa", 1000000);
    slots = bed_collect(&stream, 20, data, sizeof(data));
    ticks = config.first_ticks;
    for (uint32_t i = 0; i < slots; i++) {
        const uint8_t *report = data + (size_t)i * stream.record_bytes;

        ticks = unwrap(ticks, word(report, 4));
        expect_a32(report, uuid_of_test_oa, ticks);
    }
    bed_close(&stream);
}

/* A45_B8_C8 of Haswell: a header of 12 bytes, and counters of 32 bits only. */
static void expect_a45(const uint8_t *report, uint64_t ticks)
{
    for (uint32_t a = 0; a < 45; a++)
        assert_int_equal(word(report, 12 + 4 * a),
                         (uint32_t)kmd_counter(bed_machine(), 0, 0, "", KMD_BANK_A, a, ticks));
    for (uint32_t b = 0; b < 8; b++)
        assert_int_equal(word(report, 192 + 4 * b),
                         (uint32_t)kmd_counter(bed_machine(), 0, 0, "", KMD_BANK_B, b, ticks));
}

/* A24u40_A14u32_B8_C8: the first and some of the last counters have 32 bits, the rest 40. */
static void expect_a24(const uint8_t *report, uint64_t ticks)
{
    for (uint32_t a = 0; a < 38; a++) {
        const uint64_t full = kmd_counter(bed_machine(), 0, 0, "", KMD_BANK_A, a, ticks);
        const uint32_t at = a == 36 ? 160 : a == 37 ? 184 : 16 + 4 * a;
        const bool is_wide = (a >= 4 && a < 24) || (a >= 28 && a < 32);

        assert_int_equal(word(report, at), (uint32_t)full);
        if (is_wide)
            assert_int_equal(report[160 + a], (uint8_t)(full >> 32));
    }
}

/* Rule 26.3. */
static void stream__of_other_formats__gives_reports_bit_by_bit(void **state)
{
    struct kmd_config config = bed_config(*state, "i915");
    const bool is_haswell = strncmp(*state, "hsw", 3) == 0;
    struct bed_stream stream;
    uint64_t ticks;
    uint32_t slots;

    config.first_ticks = UINT64_C(3000000000);
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    slots = bed_collect(&stream, 20, data, sizeof(data));
    ticks = config.first_ticks;
    for (uint32_t i = 0; i < slots; i++) {
        const uint8_t *report = data + (size_t)i * stream.record_bytes;

        ticks = unwrap(ticks, word(report, 4));
        if (is_haswell)
            expect_a45(report, ticks);
        else
            expect_a24(report, ticks);
    }
    bed_close(&stream);
}

static void stream__near_the_wrap_of_time__goes_on(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct bed_stream stream;
    uint64_t ticks;
    uint32_t slots, wraps = 0;

    (void)state;
    config.first_ticks = (UINT64_C(1) << 32) - 100000; /* 5 ms */
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    slots = bed_collect(&stream, 20, data, sizeof(data));
    ticks = config.first_ticks;
    for (uint32_t i = 0; i < slots; i++) {
        const uint8_t *report = data + (size_t)i * stream.record_bytes;

        wraps += i > 0 && word(report, 4) < word(report - stream.record_bytes, 4);
        ticks = unwrap(ticks, word(report, 4));
        assert_int_equal(word(report, 12),
                         (uint32_t)kmd_counter(bed_machine(), 0, 0, "", KMD_BANK_CLOCK, 0, ticks));
    }
    assert_int_equal(wraps, 1);
    bed_close(&stream);
}

/* Rule 26.1. */
static void period__wanted__is_the_nearest_power_of_two_and_told(void **state)
{
    /* Ticks of 19.2 MHz: 2^14 are 853.3 us, 2^15 1.7 ms. */
    static const struct {
        uint32_t wanted_ns, used_ns;
        uint32_t ticks;
    } periods[] = {
        {1000000, 853334, 1 << 14}, {1500000, 1706667, 1 << 15}, {100000, 106667, 1 << 11}};
    struct kmd_config config = bed_config("tgl-gt2", "i915");

    (void)state;
    (void)bed_start(&config);
    for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
        struct bed_stream stream = bed_open(bed_device(), "RenderBasic", periods[i].wanted_ns);
        uint32_t slots = bed_collect(&stream, 5, data, sizeof(data));

        assert_int_equal(stream.period_ns, periods[i].used_ns);
        for (uint32_t s = 1; s < slots; s++)
            assert_int_equal(word(data + (size_t)s * 256, 4) -
                                 word(data + (size_t)(s - 1) * 256, 4),
                             periods[i].ticks);
        bed_close(&stream);
    }
}

/* Values of all metrics of a group, row by row. */
static zet_typed_value_t *calculate(const struct bed_stream *stream, uint32_t slots,
                                    uint32_t *out_count)
{
    zet_typed_value_t *values;

    *out_count = 0;
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        stream->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
        (size_t)slots * stream->record_bytes, data, out_count, NULL));
    values = calloc(*out_count, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        stream->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
        (size_t)slots * stream->record_bytes, data, out_count, values));
    return values;
}

static void test_oa__sampled__is_what_its_counters_counted(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_open(bed_device(), "TestOa", 1000000);
    const uint32_t slots = bed_collect(&stream, 10, data, sizeof(data));
    zet_typed_value_t *values;
    uint64_t before = unwrap(config.first_ticks, word(data, 4));
    uint32_t count;

    (void)state;
    values = calculate(&stream, slots, &count);
    assert_int_equal(count, (slots - 1) * stream.properties.metricCount);
    for (uint32_t row = 0; row + 1 < slots; row++) {
        const zet_typed_value_t *line = values + (size_t)row * stream.properties.metricCount;
        const uint64_t after =
            unwrap(before, word(data + (size_t)(row + 1) * stream.record_bytes, 4));
        const uint64_t clocks =
            kmd_counter(machine, 0, 0, uuid_of_test_oa, KMD_BANK_CLOCK, 0, after) -
            kmd_counter(machine, 0, 0, uuid_of_test_oa, KMD_BANK_CLOCK, 0, before);

        assert_int_equal(bed_value(&line[metric_index(stream.group, "GpuTime")]),
                         (after - before) * 1000000000 / 19200000);
        assert_int_equal(bed_value(&line[metric_index(stream.group, "GpuCoreClocks")]), clocks);
        for (uint32_t i = 0; i < 8; i++) {
            char name[16];

            (void)snprintf(name, sizeof(name), "Counter%u", i);
            assert_int_equal(
                bed_value(&line[metric_index(stream.group, name)]),
                kmd_counter(machine, 0, 0, uuid_of_test_oa, KMD_BANK_B, i, after) -
                    kmd_counter(machine, 0, 0, uuid_of_test_oa, KMD_BANK_B, i, before));
        }
        before = after;
    }
    free(values);
    bed_close(&stream);
}

/* Rule 26.7. */
static void stream__opened_twice__uploads_its_configuration_once(void **state)
{
    struct kmd_config config = bed_config("skl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    ze_device_handle_t device = bed_device();

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bed_stream stream = bed_open(device, "RenderBasic", 1000000);

        assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 1);
        bed_close(&stream);
        assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 0);
    }
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_ADDED), 1);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_REMOVED), 0);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPENED), 3);
}

/* A set of a file in metrics.d has no uuid: the plugin names its configuration by its registers.
 * Rule 26.7. */
static void set__of_a_user__is_sampled_and_leaves_nothing(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    zet_typed_value_t *values;
    uint32_t count, slots;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bed_stream stream = bed_open(bed_device(), "UserClocks", 1000000);

        slots = bed_collect(&stream, 5, data, sizeof(data));
        values = calculate(&stream, slots, &count);
        for (uint32_t row = 0; row < count; row += stream.properties.metricCount)
            assert_int_equal(bed_value(&values[row + metric_index(stream.group, "Ticks")]),
                             1 << 14);
        free(values);
        bed_close(&stream);
    }
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_ADDED), 2);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_REMOVED), 2);
}

/* Opens a stream of another group beside the one that is open. */
static struct bed_stream open_beside(const struct bed_stream *first, const char *group)
{
    struct bed_stream second = *first;
    zet_metric_group_handle_t both[2] = {first->group, NULL};
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};

    second.group = find_group(first->device, group, TIME_BASED, &second.properties);
    both[1] = second.group;
    EXPECT_OK(zetaMetricGroupGetInfo(second.group, &info));
    second.record_bytes = info.record_bytes;
    EXPECT_OK(zetContextActivateMetricGroups(first->context, first->device, 2, both));
    EXPECT_OK(zetMetricStreamerOpen(first->context, first->device, second.group, &desc, NULL,
                                    &second.streamer));
    return second;
}

static void unit__of_media__samples_beside_the_other(void **state)
{
    struct kmd_config config = bed_config("mtl-gt3", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream render = bed_open(bed_device(), "RenderBasic", 1000000);
    struct bed_stream media = open_beside(&render, "MediaSet1");
    uint64_t ticks, before = 0;
    uint32_t slots;

    (void)state;
    assert_int_equal(media.record_bytes, 128);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 2);
    slots = bed_collect(&media, 10, data, sizeof(data));
    for (uint32_t i = 0; i < slots; i++) {
        const uint8_t *report = data + (size_t)i * media.record_bytes;

        memcpy(&ticks, report + 8, sizeof(ticks));
        assert_cmp(ticks, >, before);
        before = ticks;
        for (uint32_t c = 0; c < 8; c++) {
            assert_int_equal(word(report, 32 + 4 * c),
                             (uint32_t)kmd_counter(machine, 0, 1, "", KMD_BANK_PEC, c, ticks));
            assert_int_equal(word(report, 96 + 4 * c),
                             (uint32_t)kmd_counter(machine, 0, 1, "", KMD_BANK_C, c, ticks));
        }
    }
    assert_true(bed_read(&render, data, sizeof(data), ZE_RESULT_SUCCESS) >= (size_t)10 * 256);
    EXPECT_OK(zetMetricStreamerClose(media.streamer));
    bed_close(&render);
}

/* With an older perf interface i915 cannot be told which unit is meant, and media has none. */
static void unit__of_media__is_not_there_before_revision_7(void **state)
{
    struct kmd_config config = bed_config("mtl-gt3", "i915");
    zet_metric_group_handle_t groups[512];
    uint32_t count = 512;

    (void)state;
    config.devices[0].perf_revision = 6;
    (void)bed_start(&config);
    EXPECT_OK(zetMetricGroupGet(bed_device(), &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        assert_null(strstr(properties.name, "Media"));
    }
}

/* Reads until a result that is a loss came. */
static void expect_loss(struct bed_stream *stream)
{
    for (uint32_t step = 0; step < BED_STEPS; step++) {
        size_t bytes = sizeof(data);
        const ze_result_t result =
            zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &bytes, data);

        if (result == ZE_RESULT_WARNING_DROPPED_DATA)
            return;
        assert_int_equal(result, ZE_RESULT_SUCCESS);
        kmd_advance(bed_machine(), BED_STEP_NS);
    }
    fail_msg("no loss was told");
}

/* Rule 26.4. */
static void losses__of_reports_and_of_the_buffer__are_told_and_end(void **state)
{
    static const enum kmd_fault faults[] = {KMD_FAULT_LOSE_REPORTS, KMD_FAULT_LOSE_BUFFER};
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_open(bed_device(), "RenderBasic", 1000000);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct zeta_stream_info info = {.struct_size = sizeof(info)};

        (void)bed_collect(&stream, 10, data, sizeof(data));
        kmd_fault(machine, 0, faults[i], 3);
        expect_loss(&stream);
        (void)bed_collect(&stream, 10, data, sizeof(data));
        EXPECT_OK(zetaMetricStreamerGetInfo(stream.streamer, &info));
        assert_int_equal(info.breaks, i + 1);
    }
    bed_close(&stream);
}

/*
 * Loses reports between others that nobody has read, time after time: each time there is a break,
 * and every row between healthy reports is there.
 */
static void expect_gaps(const char *platform, uint32_t gaps)
{
    struct kmd_config config = bed_config(platform, "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_stream_of(bed_device(), "RenderBasic");
    struct bed_rows rows;

    bed_stream_start(&stream);
    kmd_advance(machine, 10 * BED_STEP_NS);
    EXPECT_OK(bed_stream_drain(&stream));
    for (uint32_t i = 0; i < gaps; i++) {
        kmd_advance(machine, 10 * BED_STEP_NS);
        kmd_fault(machine, 0, KMD_FAULT_LOSE_REPORTS, 3);
        kmd_advance(machine, 10 * BED_STEP_NS);
        EXPECT_OK(bed_stream_drain(&stream));
    }
    kmd_advance(machine, 10 * BED_STEP_NS);
    EXPECT_OK(bed_stream_drain(&stream));
    assert_int_equal(bed_break_count(&stream, ZETA_PLUGIN_BREAK_LOST), gaps);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 3 * gaps);
    rows = bed_calculate(&stream);
    assert_int_equal(rows.rows, bed_record_count(&stream) - 1 - gaps);
    for (uint32_t row = 0; row < rows.rows; row++)
        assert_in_range(bed_row_value(&stream, &rows, row, "GpuTime").ui64, stream.period_ns - 1,
                        stream.period_ns);
    bed_rows_free(&rows);
    bed_close(&stream);
}

/* The kernel tells of a loss before it gives the reports around it. Rule 26.5. */
static void loss__between_unread_reports__breaks_where_they_are_missing(void **state)
{
    (void)state;
    expect_gaps("tgl-gt2", 3);
}

/* It tells of the first one alone. Rule 26.5. */
static void losses__of_haswell__break_where_reports_are_missing(void **state)
{
    (void)state;
    expect_gaps("hsw-gt2", 3);
}

/* Counters and time begin at 0 again: nothing is calculated across that. Rule 26.10. */
static void device__that_is_reset__breaks_the_stream_and_goes_on(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine;
    struct bed_stream stream;
    zet_typed_value_t *values;
    uint32_t slots, count;

    (void)state;
    config.first_ticks = 200000000; /* 10 s */
    machine = bed_start(&config);
    stream = bed_open(bed_device(), "RenderBasic", 1000000);
    (void)bed_collect(&stream, 10, data, sizeof(data));
    kmd_fault(machine, 0, KMD_FAULT_RESET, 1);
    expect_loss(&stream);
    slots = bed_collect(&stream, 10, data, sizeof(data));
    values = calculate(&stream, slots, &count);
    for (uint32_t row = 0; row < count; row += stream.properties.metricCount)
        assert_in_range(bed_value(&values[row + metric_index(stream.group, "GpuTime")]), 853333,
                        853334);
    free(values);
    bed_close(&stream);
}

/* Reports of context switches are points of the curve like all others. Rule 26.10. */
static void switches__of_contexts__are_reports_in_between(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_open(bed_device(), "RenderBasic", 1000000);
    uint64_t ticks = config.first_ticks;
    uint32_t slots, switches = 0;

    (void)state;
    kmd_fault(machine, 0, KMD_FAULT_CONTEXT_SWITCH, 5);
    slots = bed_collect(&stream, 20, data, sizeof(data));
    for (uint32_t i = 0; i < slots; i++) {
        const uint8_t *report = data + (size_t)i * stream.record_bytes;

        ticks = unwrap(ticks, word(report, 4));
        switches += (word(report, 0) >> 19 & 8) != 0;
        assert_int_equal(word(report, 12),
                         (uint32_t)kmd_counter(machine, 0, 0, "", KMD_BANK_CLOCK, 0, ticks));
    }
    assert_in_range(switches, 4, 5); /* the first may have been before the baseline */
    bed_close(&stream);
}

/* A GPU that sleeps writes nothing; the first report after it belongs to the ones before.
 * Rule 26.10. */
static void device__that_sleeps__gives_no_reports_and_no_break(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_open(bed_device(), "RenderBasic", 1000000);
    struct zeta_stream_info info = {.struct_size = sizeof(info)};

    (void)state;
    (void)bed_collect(&stream, 10, data, sizeof(data));
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 1);
    (void)bed_read(&stream, data, sizeof(data), ZE_RESULT_SUCCESS);
    /* The time of the machine runs ahead of the host's, so by less than what makes a reset. */
    kmd_advance(machine, UINT64_C(1500000000));
    (void)bed_read(&stream, data, sizeof(data), ZE_RESULT_SUCCESS);
    kmd_advance(machine, UINT64_C(1500000000));
    assert_int_equal(bed_read(&stream, data, sizeof(data), ZE_RESULT_SUCCESS), 0);
    kmd_fault(machine, 0, KMD_FAULT_IDLE, 0);
    (void)bed_collect(&stream, 10, data, sizeof(data));
    EXPECT_OK(zetaMetricStreamerGetInfo(stream.streamer, &info));
    assert_int_equal(info.breaks, 0);
    bed_close(&stream);
}

/* Rule 26.4. */
static void reads__that_fail_or_give_little__lose_nothing(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_open(bed_device(), "RenderBasic", 1000000);
    uint32_t slots;

    (void)state;
    kmd_fault(machine, 0, KMD_FAULT_SHORT_READS, 1);
    kmd_fault(machine, 0, KMD_FAULT_READ_ERRNO, EAGAIN);
    slots = bed_collect(&stream, 10, data, sizeof(data));
    kmd_fault(machine, 0, KMD_FAULT_READ_ERRNO, EINTR);
    kmd_advance(machine, 10 * BED_STEP_NS);
    assert_true(bed_read(&stream, data + (size_t)slots * 256, sizeof(data) / 2, ZE_RESULT_SUCCESS) >
                0);
    kmd_fault(machine, 0, KMD_FAULT_READ_ERRNO, ENOSPC);
    kmd_advance(machine, 10 * BED_STEP_NS);
    (void)bed_read(&stream, data, sizeof(data), ZE_RESULT_SUCCESS);
    assert_true(bed_read(&stream, data, sizeof(data), ZE_RESULT_SUCCESS) > 0);
    for (uint32_t i = 1; i < slots; i++)
        assert_int_equal(word(data + (size_t)i * 256, 4) - word(data + (size_t)(i - 1) * 256, 4),
                         1 << 14);
    bed_close(&stream);
}

/* Rule 26.4. */
static void read__that_answers_eio__starts_again_with_a_break(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    struct bed_stream stream = bed_open(bed_device(), "RenderBasic", 1000000);

    (void)state;
    (void)bed_collect(&stream, 5, data, sizeof(data));
    kmd_fault(machine, 0, KMD_FAULT_READ_ERRNO, EIO);
    expect_loss(&stream);
    (void)bed_collect(&stream, 5, data, sizeof(data));
    bed_close(&stream);
}

static void device__unplugged__is_lost(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    struct kmd_machine *machine = bed_start(&config);
    ze_device_handle_t device = bed_device();
    struct bed_stream stream = bed_open(device, "RenderBasic", 1000000);
    ze_result_t result = ZE_RESULT_SUCCESS;

    (void)state;
    (void)bed_collect(&stream, 5, data, sizeof(data));
    EXPECT_OK(zeDeviceGetStatus(device));
    kmd_fault(machine, 0, KMD_FAULT_UNPLUG, 1);
    /* What came before may still be there. */
    for (uint32_t i = 0; i < 5 && result == ZE_RESULT_SUCCESS; i++) {
        size_t bytes = sizeof(data);

        result = zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &bytes, data);
    }
    assert_int_equal(result, ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("ENODEV");
    EXPECT_RESULT(zeDeviceGetStatus(device), ZE_RESULT_ERROR_DEVICE_LOST);
    bed_close(&stream);
}

static void event__with_reports_enough__is_signalled(void **state)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    ze_device_handle_t device;
    struct bed_stream stream;
    struct test_event event;
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 10,
                                       .samplingPeriod = 1000000};

    (void)state;
    config.is_manual = false;
    (void)bed_start(&config);
    device = bed_device();
    stream = bed_open(device, "RenderBasic", 1000000);
    EXPECT_OK(zetMetricStreamerClose(stream.streamer));
    event = make_event(stream.context);
    EXPECT_OK(zetMetricStreamerOpen(stream.context, device, stream.group, &desc, event.event,
                                    &stream.streamer));
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_true(bed_read(&stream, data, sizeof(data), ZE_RESULT_SUCCESS) >= (size_t)10 * 256);
    bed_close(&stream);
    destroy_event(&event);
}

SUITE_WITH_ARGUMENTS(streams, argc, argv)
{
    static const char *const others[] = {"hsw-gt2", "dg2-g10", "mtl-gt3", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream__of_gen12__gives_reports_bit_by_bit),
        cmocka_unit_test_prestate(stream__of_other_formats__gives_reports_bit_by_bit,
                                  (void *)others),
        cmocka_unit_test(stream__near_the_wrap_of_time__goes_on),
        cmocka_unit_test(period__wanted__is_the_nearest_power_of_two_and_told),
        cmocka_unit_test(test_oa__sampled__is_what_its_counters_counted),
        cmocka_unit_test(stream__opened_twice__uploads_its_configuration_once),
        cmocka_unit_test(set__of_a_user__is_sampled_and_leaves_nothing),
        cmocka_unit_test(unit__of_media__samples_beside_the_other),
        cmocka_unit_test(unit__of_media__is_not_there_before_revision_7),
        cmocka_unit_test(losses__of_reports_and_of_the_buffer__are_told_and_end),
        cmocka_unit_test(loss__between_unread_reports__breaks_where_they_are_missing),
        cmocka_unit_test(losses__of_haswell__break_where_reports_are_missing),
        cmocka_unit_test(device__that_is_reset__breaks_the_stream_and_goes_on),
        cmocka_unit_test(switches__of_contexts__are_reports_in_between),
        cmocka_unit_test(device__that_sleeps__gives_no_reports_and_no_break),
        cmocka_unit_test(reads__that_fail_or_give_little__lose_nothing),
        cmocka_unit_test(read__that_answers_eio__starts_again_with_a_break),
        cmocka_unit_test(device__unplugged__is_lost),
        cmocka_unit_test(event__with_reports_enough__is_signalled),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
