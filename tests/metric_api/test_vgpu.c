/* Groups and streams of the virtual GPU, as existing programs use them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/metric_api/harness.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

#define RECORD_BYTES 256u
#define MIB (1024u * 1024u)
#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES
#define MAX_METRICS 64u

static int set_up(void **state)
{
    (void)state;
    /* 6: variables of tools are nobody's business. */
    (void)setenv("ZET_TOOL_VERBOSE", "garbage", 1);
    (void)setenv("ZE_SOMETHING", "1", 1);
    return zeInit(ZE_INIT_FLAG_GPU_ONLY) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** The first device of the first driver, as most programs take it. */
static ze_device_handle_t first_device(ze_driver_handle_t *out_driver)
{
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    uint32_t count = 1;

    EXPECT_OK(zeDriverGet(&count, &driver));
    count = 1;
    EXPECT_OK(zeDeviceGet(driver, &count, &device));
    if (out_driver)
        *out_driver = driver;
    return device;
}

/** Leaves a test that needs a child with threads of its own where that cannot be tested. */
static void need_children(void)
{
    if (!NO_THREADS_AFTER_FORK)
        return;
    print_message("skipped: the thread sanitizer does not follow forked children\n");
    skip();
}

struct running {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
};

static struct running start(const char *name, uint32_t period_ns, uint32_t notify,
                            ze_event_handle_t event)
{
    struct running made = {0};
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = notify,
                                       .samplingPeriod = period_ns};
    ze_driver_handle_t driver;

    made.device = first_device(&driver);
    EXPECT_OK(zeContextCreate(driver, &context_desc, &made.context));
    made.group = find_group(made.device, name, TIME_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(made.context, made.device, 1, &made.group));
    EXPECT_OK(
        zetMetricStreamerOpen(made.context, made.device, made.group, &desc, event, &made.streamer));
    return made;
}

static void stop(struct running *made)
{
    EXPECT_OK(zetMetricStreamerClose(made->streamer));
    EXPECT_OK(zetContextActivateMetricGroups(made->context, made->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(made->context));
}

/** Reads until there are rows; gives them in a new array. */
static zet_typed_value_t *read_rows(struct running *made, uint32_t want, uint32_t *out_rows,
                                    uint32_t *out_metrics)
{
    size_t capacity = 8 * MIB; /* 30: no size query, a large buffer of one's own */
    uint8_t *raw = malloc(capacity);
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    zet_typed_value_t *values;
    uint32_t metrics = 0;
    uint32_t count = 0;
    size_t used = 0;

    assert_non_null(raw);
    EXPECT_OK(zetMetricGet(made->group, &metrics, NULL));
    /* Each read repeats a record, so the number of slots says little. */
    for (int i = 0; i < 5000 && info.records < want; i++) {
        size_t size = capacity - used;

        EXPECT_OK(zetMetricStreamerReadData(made->streamer, UINT32_MAX, &size, raw + used));
        assert_int_equal(size % RECORD_BYTES, 0);
        used += size;
        sleep_ms(1);
        EXPECT_OK(zetaMetricStreamerGetInfo(made->streamer, &info));
    }
    EXPECT_OK(zetMetricGroupCalculateMetricValues(made->group, VALUES, used, raw, &count, NULL));
    assert_int_equal(count, used / RECORD_BYTES * metrics);
    values = calloc(count, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(made->group, VALUES, used, raw, &count, values));
    assert_int_equal(count % metrics, 0);
    *out_rows = count / metrics;
    *out_metrics = metrics;
    assert_cmp(*out_rows, >=, want);
    free(raw);
    return values;
}

/* Rule 1.10. */
static void groups__names_and_order__are_what_tools_expect(void **state)
{
    ze_device_handle_t device = first_device(NULL);
    zet_metric_group_handle_t groups[32];
    uint32_t first_of_domain[16];
    uint32_t count = 32;

    (void)state;
    memset(first_of_domain, 0xff, sizeof(first_of_domain));
    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    assert_cmp(count, >=, 4);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {0};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        assert_null(strpbrk(properties.name, ",.: ")); /* 24 */
        assert_cmp(properties.domain, <, 16);
        if (first_of_domain[properties.domain] == UINT32_MAX) {
            first_of_domain[properties.domain] = i;
            assert_int_equal(properties.samplingType, TIME_BASED);
        }
        if (i == 0)
            assert_string_equal(properties.name, "ComputeBasic"); /* 21 */
    }
    assert_int_not_equal(first_of_domain[1], UINT32_MAX);
    (void)find_group(device, "MemoryProfile", TIME_BASED, NULL);
    (void)find_group(device, "TestOa", TIME_BASED, NULL);
    (void)find_group(device, "ThreadDispatch", TIME_BASED, NULL);
}

/* 22: members and exact value types. 24: units and names. */
static void compute_basic__members__have_the_types_that_programs_assert(void **state)
{
    static const struct {
        const char *name;
        const char *unit;
        zet_value_type_t value;
        zet_metric_type_t type;
    } wanted[] = {
        {"GpuTime", "ns", ZET_VALUE_TYPE_UINT64, ZET_METRIC_TYPE_DURATION},
        {"GpuCoreClocks", "cycles", ZET_VALUE_TYPE_UINT64, ZET_METRIC_TYPE_EVENT},
        {"AvgGpuCoreFrequencyMHz", NULL, ZET_VALUE_TYPE_UINT64, ZET_METRIC_TYPE_RATIO},
        {"XVE_ACTIVE", "percent", ZET_VALUE_TYPE_FLOAT32, ZET_METRIC_TYPE_RATIO},
        {"XVE_STALL", "percent", ZET_VALUE_TYPE_FLOAT32, ZET_METRIC_TYPE_RATIO},
        {"EuActive", "percent", ZET_VALUE_TYPE_FLOAT32, ZET_METRIC_TYPE_RATIO},
        {"EuStall", "percent", ZET_VALUE_TYPE_FLOAT32, ZET_METRIC_TYPE_RATIO},
        {"QueryBeginTime", "ns", ZET_VALUE_TYPE_UINT64, ZET_METRIC_TYPE_TIMESTAMP},
        {"ReportReason", NULL, ZET_VALUE_TYPE_UINT32, ZET_METRIC_TYPE_FLAG},
    };
    zet_metric_group_handle_t group =
        find_group(first_device(NULL), "ComputeBasic", TIME_BASED, NULL);
    zet_metric_handle_t metrics[MAX_METRICS];
    uint32_t count = MAX_METRICS;

    (void)state;
    EXPECT_OK(zetMetricGet(group, &count, metrics));
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        zet_metric_properties_t properties = {0};

        EXPECT_OK(
            zetMetricGetProperties(metrics[metric_index(group, wanted[i].name)], &properties));
        assert_int_equal(properties.resultType, wanted[i].value);
        assert_int_equal(properties.metricType, wanted[i].type);
        if (wanted[i].unit)
            assert_string_equal(properties.resultUnits, wanted[i].unit);
    }
    (void)metric_index(group, "ContextId");
    (void)metric_index(group, "StreamMarker");
}

/* 23: programs take the mean of counts whose description says "percentage" or "Average".
 * Rule 10.15. */
static void metrics__descriptions__lead_to_the_right_mean_or_sum(void **state)
{
    static const char *const groups[] = {"ComputeBasic", "MemoryProfile", "ThreadDispatch"};

    (void)state;
    for (size_t g = 0; g < 3; g++) {
        zet_metric_handle_t metrics[MAX_METRICS];
        uint32_t count = MAX_METRICS;

        EXPECT_OK(zetMetricGet(find_group(first_device(NULL), groups[g], TIME_BASED, NULL), &count,
                               metrics));
        for (uint32_t i = 0; i < count; i++) {
            zet_metric_properties_t p = {0};
            bool mean;

            EXPECT_OK(zetMetricGetProperties(metrics[i], &p));
            mean = strstr(p.description, "percentage") || strstr(p.description, "Average");
            assert_null(strpbrk(p.name, ",.: "));
            assert_cmp(strlen(p.description), >, 0);
            assert_cmp(p.metricType, <=, ZET_METRIC_TYPE_RAW); /* nothing that old tools lack */
            if (p.metricType != ZET_METRIC_TYPE_EVENT && p.metricType != ZET_METRIC_TYPE_DURATION)
                continue;
            assert_int_equal(mean, strncmp(p.name, "Avg", 3) == 0);
        }
    }
}

/* 26: index and name are the identity across processes. Rule 10.4. */
static void groups__another_process__has_the_same_order(void **state)
{
    ze_device_handle_t device = first_device(NULL);
    zet_metric_group_handle_t groups[32];
    char names[32][256];
    uint32_t count = 32;
    int status = 0;
    pid_t child;

    (void)state;
    need_children();
    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {0};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        memcpy(names[i], properties.name, sizeof(names[i]));
    }
    child = fork_child();
    if (child == 0) {
        zet_metric_group_handle_t own[32];
        uint32_t own_count = 32;
        bool same;

        EXPECT_OK(zetMetricGroupGet(first_device(NULL), &own_count, own));
        same = own_count == count;
        for (uint32_t i = 0; same && i < count; i++) {
            zet_metric_group_properties_t properties = {0};

            EXPECT_OK(zetMetricGroupGetProperties(own[i], &properties));
            same = strcmp(properties.name, names[i]) == 0;
        }
        _exit(same ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/*
 * 32: reports come while the device is idle and without any queue. 20: time strictly increases.
 * 22: clocks pass while something runs: a report of an idle device weighs nothing in an average.
 Rule 21.8. */
static void stream__idle_device__gives_rows_with_increasing_time(void **state)
{
    struct running made = start("ComputeBasic", 200000, 0, NULL);
    uint32_t rows = 0;
    uint32_t metrics = 0;
    zet_typed_value_t *values = read_rows(&made, 50, &rows, &metrics);
    uint32_t begin = metric_index(made.group, "QueryBeginTime");
    uint32_t clocks = metric_index(made.group, "GpuCoreClocks");
    uint32_t gpu_time = metric_index(made.group, "GpuTime");

    (void)state;
    for (uint32_t row = 0; row < rows; row++) {
        const zet_typed_value_t *v = values + (size_t)row * metrics;

        assert_int_equal(v[clocks].value.ui64, 0);
        assert_cmp(v[gpu_time].value.ui64, >, 0);
        if (row > 0 && v[begin].value.ui64 > UINT64_C(1000000000))
            assert_cmp(v[begin].value.ui64, >, (v - metrics)[begin].value.ui64);
    }
    free(values);
    stop(&made);
}

/** Device time in ns, masked, as QueryBeginTime is made of it. */
static uint64_t device_ns(ze_device_handle_t device)
{
    uint64_t host = 0;
    uint64_t ticks = 0;

    EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host, &ticks));
    return ticks * 40;
}

/** True if time lies between begin and end on a clock that wraps. */
static bool is_between(uint64_t begin, uint64_t time, uint64_t end)
{
    const uint64_t wrap = (UINT64_C(1) << 34) * 40;

    return (time + wrap - begin) % wrap <= (end + wrap - begin) % wrap;
}

/* 16: one clock for device, groups and reports. 17, 19: its resolution and bits. Rule 7.5. */
static void time__device_group_and_reports__are_one_clock(void **state)
{
    zet_metric_global_timestamps_resolution_exp_t resolution = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP};
    zet_metric_group_properties_t group_properties = {.pNext = &resolution};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    uint64_t begin = device_ns(first_device(NULL));
    struct running made = start("ComputeBasic", 100000, 0, NULL);
    uint64_t global = 0;
    uint64_t metric = 0;
    uint32_t rows = 0;
    uint32_t metrics = 0;
    zet_typed_value_t *values;
    uint64_t end;
    uint32_t index = metric_index(made.group, "QueryBeginTime");

    (void)state;
    EXPECT_OK(zetMetricGroupGetGlobalTimestampsExp(made.group, 0, &global, &metric));
    values = read_rows(&made, 10, &rows, &metrics);
    end = device_ns(made.device);
    assert_int_equal(global, metric);
    assert_true(is_between(begin, metric * 40, end));
    assert_true(is_between(begin, values[(size_t)(rows - 1) * metrics + index].value.ui64, end));
    EXPECT_OK(zetMetricGroupGetGlobalTimestampsExp(made.group, 1, &global, &metric));
    assert_cmp(global, >, 0);
    EXPECT_OK(zetMetricGroupGetProperties(made.group, &group_properties));
    assert_int_equal(resolution.timerResolution, 25000000);
    assert_int_equal(resolution.timestampValidBits, 34);
    EXPECT_OK(zeDeviceGetProperties(made.device, &properties));
    assert_cmp(properties.kernelTimestampValidBits, <=, 34);
    free(values);
    stop(&made);
}

/* 16: also across processes. Rule 7.5. */
static void time__another_process__has_the_same_clock(void **state)
{
    ze_device_handle_t device = first_device(NULL);
    uint64_t begin = device_ns(device);
    uint64_t middle = 0;
    int status = 0;
    int ends[2];
    pid_t child;

    (void)state;
    need_children();
    assert_int_equal(pipe(ends), 0);
    child = fork_child();
    if (child == 0) {
        uint64_t now = device_ns(first_device(NULL));

        _exit(write(ends[1], &now, sizeof(now)) == (ssize_t)sizeof(now) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &middle, sizeof(middle)), sizeof(middle));
    assert_true(is_between(begin, middle, device_ns(device)));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* 28, 29: values in use are accepted, N unchanged; sizes stay below 32 MiB. Rule 11.1. */
static void open__values_in_use__are_accepted(void **state)
{
    static const uint32_t periods[] = {50000, 100000, 200000, 400000, 500000, 1000000, 10000000};
    static const uint32_t counts[] = {20, 1024, 32768, 65536, UINT32_MAX, 0, 1};

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        ze_driver_handle_t driver;
        ze_device_handle_t device = first_device(&driver);
        struct running made = {.device = device};
        struct test_event event;
        zet_metric_streamer_desc_t desc = {.notifyEveryNReports = counts[i],
                                           .samplingPeriod = periods[i]};
        struct zeta_stream_info info = {.struct_size = sizeof(info)};
        size_t size = 0;

        made.context = make_context(device);
        event = make_event(made.context);
        made.group = find_group(device, "ComputeBasic", TIME_BASED, NULL);
        EXPECT_OK(zetContextActivateMetricGroups(made.context, device, 1, &made.group));
        EXPECT_OK(zetMetricStreamerOpen(made.context, device, made.group, &desc, event.event,
                                        &made.streamer));
        /* Periods are powers of two of the tick: the nearest one is at most a third away. */
        assert_in_range(desc.samplingPeriod, periods[i] / 3 * 2, periods[i] / 3 * 4 + 4);
        if (counts[i] <= 65536)
            assert_int_equal(desc.notifyEveryNReports, counts[i]);
        else
            assert_cmp(desc.notifyEveryNReports, >=, 65536);
        EXPECT_OK(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, NULL));
        assert_cmp(size, >, 0);
        assert_cmp(size, <=, 32 * MIB);
        EXPECT_OK(zetaMetricStreamerGetInfo(made.streamer, &info));
        assert_cmp(info.ring_records, >=, desc.notifyEveryNReports);
        EXPECT_OK(zetMetricStreamerClose(made.streamer));
        EXPECT_OK(zetContextActivateMetricGroups(made.context, device, 0, NULL));
        destroy_event(&event);
        EXPECT_OK(zeContextDestroy(made.context));
    }
}

/* Rule 11.1. */
static void open__longest_period__is_one_that_can_be_written_back(void **state)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = UINT32_MAX};
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    struct zeta_group_info group = {.struct_size = sizeof(group)};
    struct running made = start("ComputeBasic", 1000000, 1, NULL);

    (void)state;
    EXPECT_OK(zetMetricStreamerClose(made.streamer));
    EXPECT_OK(
        zetMetricStreamerOpen(made.context, made.device, made.group, &desc, NULL, &made.streamer));
    EXPECT_OK(zetaMetricStreamerGetInfo(made.streamer, &info));
    assert_int_equal(info.period_ns, desc.samplingPeriod);
    /* Clocks of 128 EUs with 16 threads at 1 GHz, 40 bits: 2^23 ticks are less than 403 ms. */
    assert_int_equal(desc.samplingPeriod, 335544320);
    EXPECT_OK(zetaMetricGroupGetInfo(made.group, &group));
    assert_int_equal(group.max_period_ns, desc.samplingPeriod);
    stop(&made);
}

/* 31: an event that is polled without a pause and reset all the time still works. Rule 11.15. */
static void event__polled_without_a_pause__reports_keep_coming(void **state)
{
    ze_driver_handle_t driver;
    ze_device_handle_t device = first_device(&driver);
    ze_context_handle_t context = make_context(device);
    struct test_event event = make_event(context);
    struct running made = start("ComputeBasic", 100000, 100, event.event);
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    uint8_t *raw = malloc(8 * MIB);
    uint32_t signals = 0;

    (void)state;
    assert_non_null(raw);
    /* 10 signals of 100 reports every 0.1 ms take 0.1 s; a busy machine may take longer. */
    for (uint64_t i = 0; i < UINT64_C(400000000) && signals < 10; i++) {
        size_t size = 8 * MIB;

        if (zeEventQueryStatus(event.event) != ZE_RESULT_SUCCESS)
            continue;
        EXPECT_OK(zeEventHostReset(event.event));
        EXPECT_OK(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, raw));
        assert_cmp(size, >=, 100 * RECORD_BYTES); /* at least N were unread */
        signals++;
    }
    assert_int_equal(signals, 10);
    EXPECT_OK(zetaMetricStreamerGetInfo(made.streamer, &info));
    assert_cmp(info.records, >=, 1000);
    assert_int_equal(info.lost, 0); /* a busy core must not cause loss */
    free(raw);
    stop(&made);
    destroy_event(&event);
    EXPECT_OK(zeContextDestroy(context));
}

/* 31: waits of 10 ms, N = 20. */
static void event__waited_for__n_reports_are_there(void **state)
{
    ze_driver_handle_t driver;
    ze_device_handle_t device = first_device(&driver);
    ze_context_handle_t context = make_context(device);
    struct test_event event = make_event(context);
    struct running made = start("ThreadDispatch", 500000, 20, event.event);
    uint8_t *raw = malloc(8 * MIB);
    uint32_t signals = 0;

    (void)state;
    assert_non_null(raw);
    for (int i = 0; i < 2000 && signals < 5; i++) {
        size_t size = 8 * MIB;

        if (zeEventHostSynchronize(event.event, 10000000) != ZE_RESULT_SUCCESS)
            continue;
        EXPECT_OK(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, raw));
        assert_cmp(size, >=, 20 * RECORD_BYTES);
        signals++;
    }
    assert_int_equal(signals, 5);
    free(raw);
    stop(&made);
    destroy_event(&event);
    EXPECT_OK(zeContextDestroy(context));
}

/* 33: close and deactivate in any order, with data unread; 34: a refusal comes at once. */
static void stream__ended_in_odd_ways__can_be_opened_again(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct running made = start("ComputeBasic", 100000, 50, NULL);
        zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 32768, .samplingPeriod = 100000};
        zet_metric_streamer_handle_t second = NULL;

        sleep_ms(10);
        EXPECT_RESULT(
            zetMetricStreamerOpen(made.context, made.device, made.group, &desc, NULL, &second),
            ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        if (round == 0)
            EXPECT_OK(zetContextActivateMetricGroups(made.context, made.device, 0, NULL));
        EXPECT_OK(zetMetricStreamerClose(made.streamer));
        if (round == 1) {
            /* Context destroy without deactivation. */
            EXPECT_OK(zeContextDestroy(made.context));
            made.context = make_context(made.device);
        }
        EXPECT_OK(zetContextActivateMetricGroups(made.context, made.device, 0, NULL));
        EXPECT_OK(zeContextDestroy(made.context));
    }
}

/** A unit of another process: refused, with its number in the sentence. */
static void open__unit_of_another_process__names_it(void **state)
{
    struct running made;
    char parent[32];
    int status = 0;
    pid_t child;

    (void)state;
    if (NO_FORK_OF_BUSY_THREADS)
        skip(); /* the one that samples is busy */
    made = start("ComputeBasic", 1000000, 0, NULL);
    (void)snprintf(parent, sizeof(parent), "%d", (int)getpid());
    child = fork_child();
    if (child == 0) {
        ze_device_handle_t device = first_device(NULL);
        ze_context_handle_t context = make_context(device);
        zet_metric_group_handle_t group = find_group(device, "MemoryProfile", TIME_BASED, NULL);
        zet_metric_streamer_desc_t desc = {.samplingPeriod = 1000000};
        zet_metric_streamer_handle_t streamer = NULL;
        struct zeta_group_info info = {.struct_size = sizeof(info)};
        bool good;

        EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
        good = zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer) ==
                   ZE_RESULT_ERROR_NOT_AVAILABLE &&
               strstr(zetaGetLastError(), parent) != NULL;
        good = good && zetaMetricGroupGetInfo(group, &info) == ZE_RESULT_SUCCESS &&
               info.holder_pid == (uint32_t)getppid();
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    stop(&made);
}

/* 27: raw bytes mean the same in another process. Rule 14.7. */
static void calculate__bytes_of_another_process__give_the_same_values(void **state)
{
    struct running made;
    static uint8_t raw[64 * RECORD_BYTES];
    static zet_typed_value_t values[64 * MAX_METRICS];
    uint32_t count = 64 * MAX_METRICS;
    size_t size = 0;
    int status = 0;
    pid_t child;

    (void)state;
    need_children();
    made = start("TestOa", 200000, 0, NULL);
    for (int i = 0; i < 1000 && size < sizeof(raw) / 2; i++) {
        size = sizeof(raw);
        sleep_ms(10);
        EXPECT_OK(zetMetricStreamerReadData(made.streamer, UINT32_MAX, &size, raw));
    }
    memset(values, 0, sizeof(values));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(made.group, VALUES, size, raw, &count, values));
    assert_cmp(count, >, 0);
    stop(&made); /* 27: also after the context went */
    child = fork_child();
    if (child == 0) {
        static zet_typed_value_t own[64 * MAX_METRICS];
        uint32_t own_count = 64 * MAX_METRICS;

        EXPECT_OK(zetMetricGroupCalculateMetricValues(
            find_group(first_device(NULL), "TestOa", TIME_BASED, NULL), VALUES, size, raw,
            &own_count, own));
        _exit(own_count == count && memcmp(own, values, count * sizeof(own[0])) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* 14: the barrier that some programs insist on. */
static void barrier__in_a_list__is_accepted_and_runs(void **state)
{
    ze_driver_handle_t driver;
    ze_device_handle_t device = first_device(&driver);
    ze_context_handle_t context = make_context(device);
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_handle_t list;
    ze_command_queue_handle_t queue;

    (void)state;
    EXPECT_OK(zeCommandListCreate(context, device, &list_desc, &list));
    EXPECT_OK(zetCommandListAppendMetricMemoryBarrier(list));
    EXPECT_OK(zeCommandListClose(list));
    EXPECT_OK(zeCommandQueueCreate(context, device, &queue_desc, &queue));
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT_OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT_OK(zeCommandQueueDestroy(queue));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_RESULT(zetCommandListAppendMetricMemoryBarrier(NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(zeContextDestroy(context));
}

SUITE(vgpu)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups__names_and_order__are_what_tools_expect),
        cmocka_unit_test(compute_basic__members__have_the_types_that_programs_assert),
        cmocka_unit_test(metrics__descriptions__lead_to_the_right_mean_or_sum),
        cmocka_unit_test(groups__another_process__has_the_same_order),
        cmocka_unit_test(stream__idle_device__gives_rows_with_increasing_time),
        cmocka_unit_test(time__device_group_and_reports__are_one_clock),
        cmocka_unit_test(time__another_process__has_the_same_clock),
        cmocka_unit_test(open__values_in_use__are_accepted),
        cmocka_unit_test(open__longest_period__is_one_that_can_be_written_back),
        cmocka_unit_test(event__polled_without_a_pause__reports_keep_coming),
        cmocka_unit_test(event__waited_for__n_reports_are_there),
        cmocka_unit_test(stream__ended_in_odd_ways__can_be_opened_again),
        cmocka_unit_test(open__unit_of_another_process__names_it),
        cmocka_unit_test(calculate__bytes_of_another_process__give_the_same_values),
        cmocka_unit_test(barrier__in_a_list__is_accepted_and_runs),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
