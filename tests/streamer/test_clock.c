/*
 * The clock of metrics: what belongs together is read together, and everything that has a time
 * agrees while the 32-bit clock starts anew. The first case needs the wrap of this instance.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "streaming.h"

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
    uint64_t before_ns, after_ns; /**< of the device, around all of it */
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
    moment->kernel_begin_ns = (times.global.kernelStart & UINT32_MAX) * TICK_NS;
    moment->kernel_end_ns = (times.global.kernelEnd & UINT32_MAX) * TICK_NS;
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

        assert_true(time < STREAMING_WRAP_NS);
        assert_true(length > 0 && length <= stream->period_ns);
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

        assert_true(entries[i].timeStamp < STREAMING_WRAP_NS);
        assert_true(is_between(m->query_begin_ns, entries[i].timeStamp, m->kernel_end_ns));
    }
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder));
    free(entries);
    free(raw);
}

static void wrap__everything_with_a_time__agrees_across_it(void **state)
{
    static struct wrap wrap;
    uint64_t now = streaming_now_ns(((struct bed *)*state)->device);
    bool over = false;

    wrap.bed = *state;
    /* The wrap lies ahead, by less than the setting says. */
    assert_in_range(STREAMING_WRAP_NS - now, 1, UINT64_C(12000000000));
    /* Seconds before it, so that a machine that stands still does not pass over it. */
    while (STREAMING_WRAP_NS - now > UINT64_C(5000000000)) {
        sleep_ms(10);
        now = streaming_now_ns(wrap.bed->device);
        assert_true(now > STREAMING_WRAP_NS / 2);
    }
    begin_all(&wrap);
    for (uint32_t after = 0; after < 20; after += over) {
        do_work(&wrap);
        now = streaming_now_ns(wrap.bed->device);
        over = now < STREAMING_WRAP_NS / 2;
        assert_true(wrap.count < STEPS_MOST);
        if (!over)
            sleep_ms(STREAMING_WRAP_NS - now > UINT64_C(100000000) ? 50 : 1);
    }
    expect_moments(&wrap);
    expect_rows(&wrap);
    expect_entries(&wrap);
    end_all(&wrap);
}

/** Both numbers of a call are of one moment, between the reads of the host around it. */
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
        assert_true(metric <= UINT32_MAX);
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
        assert_true(least <= most);
        assert_true(metric >= last_metric); /* the wrap was before, the next one is far */
        last_metric = metric;
    }
}

/* 17, 19: every group that can be measured tells resolution and bits. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrap__everything_with_a_time__agrees_across_it),
        cmocka_unit_test(timestamps__read_often__belong_together),
        cmocka_unit_test(resolution__of_every_group__is_that_of_the_device),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
