/*
 * The clock of metrics: what belongs together is read together, and everything that has a time
 * agrees while the clock of 34 bits starts anew. The first case needs the wrap of this instance.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "streaming.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { STEPS_MOST = 400, TICK_NS = 40 };

#define TRACER_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** True if begin, time and end come in this order on the clock that starts anew. */
static bool is_between(uint64_t begin, uint64_t time, uint64_t end)
{
    return streaming_between_ns(begin, time) <= streaming_between_ns(begin, end);
}

/** Everything that tells the time of one piece of work. */
struct moment {
    uint64_t before_ns, after_ns;      /**< of the device, around all of it */
    uint64_t kernel_begin, kernel_end; /**< ticks */
    uint64_t kernel_begin_ns, kernel_end_ns;
    uint64_t query_begin_ns, query_ns; /**< begin and length */
};

struct wrap {
    const struct bed *bed;
    struct streaming stream;
    zet_metric_tracer_exp_handle_t tracer;
    zet_metric_group_handle_t traced, queried;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    struct test_event event;
    ze_command_list_handle_t list;
    uint32_t *counter;
    ze_kernel_handle_t kernel;
    struct moment moments[STEPS_MOST];
    uint32_t count;
};

static void begin_all(struct wrap *wrap)
{
    const struct bed *bed = wrap->bed;
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                     ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                            .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_group_handle_t groups[3];

    wrap->stream = streaming_of(bed->device, "ComputeBasic");
    wrap->queried = bed->dispatch;
    wrap->traced = find_group(bed->device, "KernelEvents", TRACER_BASED, NULL);
    groups[0] = wrap->stream.group;
    groups[1] = wrap->queried;
    groups[2] = wrap->traced;
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 3, groups));
    streaming_open(bed, &wrap->stream, 100000, 0, NULL);
    EXPECT_OK(zetMetricTracerCreateExp(bed->context, bed->device, 1, &wrap->traced, &desc, NULL,
                                       &wrap->tracer));
    EXPECT_OK(zetMetricTracerEnableExp(wrap->tracer, 1));
    wrap->pool = bed_pool(bed, wrap->queried, 1);
    wrap->query = bed_query(wrap->pool, 0);
    wrap->list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    wrap->counter = bed_memory(bed, 64);
    wrap->kernel = bed_count(bed, wrap->counter);
    EXPECT_OK(zeEventPoolCreate(bed->context, &pool_desc, 1, (ze_device_handle_t[]){bed->device},
                                &wrap->event.pool));
    EXPECT_OK(zeEventCreate(wrap->event.pool, &event_desc, &wrap->event.event));
}

static void end_all(struct wrap *wrap)
{
    const struct bed *bed = wrap->bed;

    destroy_event(&wrap->event);
    EXPECT_OK(zeKernelDestroy(wrap->kernel));
    EXPECT_OK(zeMemFree(bed->context, wrap->counter));
    EXPECT_OK(zeCommandListDestroy(wrap->list));
    bed_pool_drop(wrap->pool, &wrap->query, 1);
    EXPECT_OK(zetMetricTracerDestroyExp(wrap->tracer));
    streaming_close(&wrap->stream);
}

/** A marker, and a kernel that is timed and measured. */
static void do_work(struct wrap *wrap)
{
    const ze_group_count_t one = {1, 1, 1};
    struct moment *moment = &wrap->moments[wrap->count++];
    ze_kernel_timestamp_result_t times;
    struct bed_row row;

    moment->before_ns = streaming_now_ns(wrap->bed->device);
    EXPECT_OK(
        zetCommandListAppendMetricStreamerMarker(wrap->list, wrap->stream.streamer, wrap->count));
    bed_begin(wrap->list, wrap->query);
    EXPECT_OK(zeEventHostReset(wrap->event.event));
    EXPECT_OK(zeCommandListAppendLaunchKernel(wrap->list, wrap->kernel, &one, wrap->event.event, 0,
                                              NULL));
    bed_end(wrap->list, wrap->query, NULL);
    moment->after_ns = streaming_now_ns(wrap->bed->device);
    EXPECT_OK(zeEventQueryKernelTimestamp(wrap->event.event, &times));
    moment->kernel_begin = times.global.kernelStart;
    moment->kernel_end = times.global.kernelEnd;
    moment->kernel_begin_ns = moment->kernel_begin * TICK_NS;
    moment->kernel_end_ns = moment->kernel_end * TICK_NS;
    row = bed_result(wrap->queried, wrap->query);
    moment->query_begin_ns = bed_u64(&row, "QueryBeginTime");
    moment->query_ns = bed_u64(&row, "GpuTime");
}

static void expect_moments(const struct wrap *wrap)
{
    for (uint32_t i = 0; i < wrap->count; i++) {
        const struct moment *m = &wrap->moments[i];
        const uint64_t query_end = (m->query_begin_ns + m->query_ns) % STREAMING_WRAP_NS;

        assert_true(is_between(m->before_ns, m->kernel_begin_ns, m->after_ns));
        assert_true(is_between(m->kernel_begin_ns, m->kernel_end_ns, m->after_ns));
        assert_int_not_equal(m->kernel_begin_ns, m->kernel_end_ns);
        assert_true(is_between(m->before_ns, m->query_begin_ns, m->kernel_begin_ns));
        assert_true(is_between(m->kernel_end_ns, query_end, m->after_ns));
    }
}

/** Each marker ends a row at its time, and rows follow each other without a gap. */
static void expect_rows(struct wrap *wrap)
{
    struct streaming *stream = &wrap->stream;
    uint64_t span = 0, last = 0;
    uint32_t markers = 0, wraps = 0;

    streaming_catch_up(stream);
    streaming_calculate(stream);
    assert_int_equal(stream->warnings, 0);
    for (uint32_t row = 0; row < stream->rows; row++) {
        const uint64_t time = streaming_value(stream, row, "QueryBeginTime")->value.ui64;
        const uint64_t marker = streaming_value(stream, row, "StreamMarker")->value.ui64;
        const uint64_t length = streaming_value(stream, row, "GpuTime")->value.ui64;

        assert_cmp(time, <, STREAMING_WRAP_NS);
        assert_cmp(length, >, 0);
        assert_cmp(length, <=, stream->period_ns);
        if (row > 0)
            assert_int_equal(streaming_between_ns(last, time), length);
        wraps += row > 0 && time < last;
        span += row > 0 ? length : 0;
        last = time;
        if (marker == 0)
            continue;
        assert_int_equal(marker, ++markers);
        assert_true(is_between(wrap->moments[marker - 1].before_ns, time,
                               wrap->moments[marker - 1].after_ns));
    }
    assert_int_equal(markers, wrap->count);
    assert_int_equal(wraps, 1);
    assert_int_equal(
        streaming_between_ns(streaming_value(stream, 0, "QueryBeginTime")->value.ui64, last), span);
}

/** What a tool knows of the clock, which multiplies in 64 bits without care. */
struct tool {
    uint64_t hz, mask;
    uint64_t wrap_ns;
    uint64_t base_ticks, base_ns; /**< the device clock before the first kernel */
};

static struct tool make_tool(const struct wrap *wrap)
{
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    struct tool tool;

    EXPECT_OK(zeDeviceGetProperties(wrap->bed->device, &device));
    assert_int_equal(device.timestampValidBits, device.kernelTimestampValidBits);
    tool.hz = device.timerResolution;
    tool.mask = (UINT64_C(1) << device.kernelTimestampValidBits) - 1;
    tool.wrap_ns = (tool.mask + 1) * 1000000000 / tool.hz;
    tool.base_ns = wrap->moments[0].before_ns;
    tool.base_ticks = tool.base_ns * tool.hz / 1000000000;
    assert_int_equal(tool.wrap_ns, STREAMING_WRAP_NS);
    return tool;
}

/** Nanoseconds since the base of a tool that unwraps ticks, and of one that unwraps nanoseconds. */
static uint64_t since_by_ticks(const struct tool *tool, uint64_t ticks)
{
    return ((ticks - tool->base_ticks) & tool->mask) * 1000000000 / tool->hz;
}

static uint64_t since_by_ns(const struct tool *tool, uint64_t ns)
{
    return ns >= tool->base_ns ? ns - tool->base_ns : ns + tool->wrap_ns - tool->base_ns;
}

/** Rows as the two tools see them: when each ends, and how long it is. */
struct seen {
    uint64_t by_ticks, by_ns, length;
};

static struct seen *see_rows(struct streaming *stream, const struct tool *tool)
{
    struct seen *rows = calloc(stream->rows, sizeof(*rows));

    assert_non_null(rows);
    for (uint32_t row = 0; row < stream->rows; row++) {
        const uint64_t ns = streaming_value(stream, row, "QueryBeginTime")->value.ui64;

        rows[row].by_ticks = since_by_ticks(tool, ns * tool->hz / 1000000000);
        rows[row].by_ns = since_by_ns(tool, ns);
        rows[row].length = streaming_value(stream, row, "GpuTime")->value.ui64;
    }
    return rows;
}

/** Whether a row is of a time, which the two tools give in their own ways. */
static bool has_row(const struct seen *rows, uint32_t count, uint64_t by_ticks, uint64_t by_ns)
{
    bool found_by_ticks = false, found_by_ns = false;

    for (uint32_t i = 0; i < count; i++) {
        found_by_ticks |=
            by_ticks <= rows[i].by_ticks && rows[i].by_ticks < by_ticks + rows[i].length;
        found_by_ns |= by_ns <= rows[i].by_ns && rows[i].by_ns < by_ns + rows[i].length;
    }
    return found_by_ticks && found_by_ns;
}

/** Tools find every kernel in the rows, whichever way they unwrap. */
static void expect_tools(struct wrap *wrap)
{
    const struct tool tool = make_tool(wrap);
    struct seen *rows = see_rows(&wrap->stream, &tool);

    for (uint32_t i = 0; i < wrap->count; i++) {
        const uint64_t times[] = {wrap->moments[i].kernel_begin, wrap->moments[i].kernel_end};

        assert_cmp(since_by_ticks(&tool, times[0]), <, since_by_ticks(&tool, times[1]));
        for (uint32_t k = 0; k < 2; k++) {
            const uint64_t by_ticks = since_by_ticks(&tool, times[k]);
            const uint64_t by_ns = since_by_ns(&tool, times[k] * 1000000000 / tool.hz);

            assert_int_equal(by_ticks, by_ns);
            assert_true(has_row(rows, wrap->stream.rows, by_ticks, by_ns));
        }
    }
    free(rows);
}

/** Each launch is traced at the time that its event says. */
static void expect_entries(struct wrap *wrap)
{
    const size_t capacity = 16u << 20;
    uint8_t *raw = malloc(capacity);
    zet_metric_decoder_exp_handle_t decoder;
    zet_metric_handle_t metrics[64], begin = NULL;
    uint32_t metric_count = 64, sets = 0, entry_count = 0, per_set[2];
    zet_metric_entry_exp_t *entries;
    size_t bytes = capacity;

    assert_non_null(raw);
    EXPECT_OK(zetMetricTracerDisableExp(wrap->tracer, 1));
    EXPECT_OK(zetMetricTracerReadDataExp(wrap->tracer, &bytes, raw));
    EXPECT_OK(zetMetricDecoderCreateExp(wrap->tracer, &decoder));
    EXPECT_OK(zetMetricDecoderGetDecodableMetricsExp(decoder, &metric_count, metrics));
    for (uint32_t i = 0; i < metric_count; i++) {
        zet_metric_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(metrics[i], &p));
        if (strcmp(p.name, "KernelBegin") == 0)
            begin = metrics[i];
    }
    assert_non_null(begin);
    EXPECT_OK(
        zetMetricTracerDecodeExp(decoder, &bytes, raw, 1, &begin, &sets, NULL, &entry_count, NULL));
    assert_int_equal(entry_count, wrap->count);
    entries = calloc(entry_count, sizeof(*entries));
    assert_non_null(entries);
    EXPECT_OK(zetMetricTracerDecodeExp(decoder, &bytes, raw, 1, &begin, &sets, per_set,
                                       &entry_count, entries));
    assert_int_equal(entry_count, wrap->count);
    for (uint32_t i = 0; i < entry_count; i++) {
        const struct moment *m = &wrap->moments[i];

        assert_cmp(entries[i].timeStamp, <, STREAMING_WRAP_NS);
        assert_true(is_between(m->query_begin_ns, entries[i].timeStamp, m->kernel_end_ns));
    }
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder));
    free(entries);
    free(raw);
}

/* Rule 7.8. */
static void wrap__everything_with_a_time__agrees_across_it(void **state)
{
    static struct wrap wrap;
    uint64_t now = streaming_now_ns(((struct bed *)*state)->device);
    bool over = false;

    wrap.bed = *state;
    /* The wrap lies ahead, by less than the setting says: seconds, so that a machine that stands
     * still does not pass over it. */
    assert_in_range(STREAMING_WRAP_NS - now, 1, UINT64_C(4000000000));
    begin_all(&wrap);
    for (uint32_t after = 0; after < 20; after += over) {
        do_work(&wrap);
        now = streaming_now_ns(wrap.bed->device);
        over = now < STREAMING_WRAP_NS / 2;
        assert_cmp(wrap.count, <, STEPS_MOST);
        if (!over)
            sleep_ms(STREAMING_WRAP_NS - now > UINT64_C(100000000) ? 50 : 1);
    }
    expect_moments(&wrap);
    expect_rows(&wrap);
    expect_tools(&wrap);
    expect_entries(&wrap);
    end_all(&wrap);
}

/** Both numbers of a call are of one moment, between the reads of the host around it. Rule 7.6. */
static void timestamps__read_often__belong_together(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t group = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    /* Metric time minus CLOCK_MONOTONIC is one number; each read narrows it down. */
    int64_t least = INT64_MIN, most = INT64_MAX;
    uint64_t last_metric = 0, last_host = 0;

    for (uint32_t i = 0; i < 100000; i++) {
        const bool with_host = i % 2 == 0;
        uint64_t global = 0, metric = 0;
        const uint64_t before_raw = clock_ns(CLOCK_MONOTONIC_RAW);
        const uint64_t before = clock_ns(CLOCK_MONOTONIC);
        uint64_t after, width;

        EXPECT_OK(zetMetricGroupGetGlobalTimestampsExp(group, with_host, &global, &metric));
        after = clock_ns(CLOCK_MONOTONIC);
        width = clock_ns(CLOCK_MONOTONIC_RAW) - before_raw;
        assert_cmp(metric, <, STREAMING_WRAP_NS / TICK_NS);
        if (with_host) {
            /* The host's time is found with an error of half the time that the call takes. */
            assert_in_range(global, before_raw - width / 2, before_raw + width + width / 2);
            assert_true(global >= last_host || last_host - global < width);
            last_host = global;
        } else {
            assert_int_equal(global, metric);
        }
        if ((int64_t)(metric * TICK_NS - after) > least)
            least = (int64_t)(metric * TICK_NS - after);
        if ((int64_t)(metric * TICK_NS + TICK_NS - before) < most)
            most = (int64_t)(metric * TICK_NS + TICK_NS - before);
        assert_cmp(least, <=, most);
        assert_cmp(metric, >=, last_metric); /* the wrap was before, the next one is far */
        last_metric = metric;
    }
}

/* 17, 19: every group that can be measured tells resolution and bits. Rule 7.6. */
static void resolution__of_every_group__is_that_of_the_device(void **state)
{
    const struct bed *bed = *state;
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    zet_metric_group_handle_t groups[64];
    uint32_t count = 64;

    EXPECT_OK(zeDeviceGetProperties(bed->device, &device));
    EXPECT_OK(zetMetricGroupGet(bed->device, &count, groups));
    assert_in_range(count, 10, 63);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_global_timestamps_resolution_exp_t resolution = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP};
        zet_metric_group_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES, .pNext = &resolution};
        uint64_t global = 0, metric = 0;

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        assert_int_equal(resolution.timerResolution, device.timerResolution);
        assert_int_equal(resolution.timestampValidBits, device.timestampValidBits);
        assert_in_range(device.kernelTimestampValidBits, 1, 34);
        EXPECT_OK(zetMetricGroupGetGlobalTimestampsExp(groups[i], 0, &global, &metric));
        assert_int_equal(global, metric);
    }
}

SUITE(clock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrap__everything_with_a_time__agrees_across_it),
        cmocka_unit_test(timestamps__read_often__belong_together),
        cmocka_unit_test(resolution__of_every_group__is_that_of_the_device),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
