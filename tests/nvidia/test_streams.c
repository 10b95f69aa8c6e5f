/*
 * Streams of PM sampling through the API, while kernels run: real time passes, so a case that the
 * machine was too busy for is told so by the stream, and begins again.
 */

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/nvidia/computing.h"
#include "tests/nvidia/streaming.h"
#include "tests/support/compare.h"

enum { GROUPS = 528, GROUP = 256, WARPS = GROUPS * GROUP / 32 };

#define MS 1000000u

/* ---- kernels ------------------------------------------------------------------------------ */

static struct {
    int (*cuDevicePrimaryCtxRetain)(void **out_context, int device);
    int (*cuCtxSetCurrent)(void *context);
    int (*cuModuleLoadDataEx)(void **out_module, const void *image, unsigned count, int *options,
                              void **values);
    int (*cuModuleGetFunction)(void **out_function, void *module, const char *name);
    int (*cuMemAlloc_v2)(uint64_t *out_address, size_t bytes);
    int (*cuLaunchKernel)(void *function, unsigned x, unsigned y, unsigned z, unsigned group_x,
                          unsigned group_y, unsigned group_z, unsigned shared, void *queue,
                          void **arguments, void **extra);
    int (*cuStreamSynchronize)(void *queue);
    int (*cuStreamQuery)(void *queue);
} cu;

static void *fma_loop;
static uint64_t memory;

/* An application beside the plugin, in the same process; zeInit() has started CUDA. */
static void load_kernels(void)
{
    static char text[65536];
    void *library = dlopen(CUDA_LIBRARIES "/libcuda.so.1", RTLD_NOW), *context, *module;
    FILE *file = fopen(ZETA_SOURCE_DIR "/tests/cuda/kernels/kernels.ptx", "r");

    assert_non_null(library);
    assert_non_null(file);
    assert_cmp(fread(text, 1, sizeof(text) - 1, file), >, 0);
    (void)fclose(file);
#define FIND(name) *(void **)&cu.name = dlsym(library, #name)
    FIND(cuDevicePrimaryCtxRetain);
    FIND(cuCtxSetCurrent);
    FIND(cuModuleLoadDataEx);
    FIND(cuModuleGetFunction);
    FIND(cuMemAlloc_v2);
    FIND(cuLaunchKernel);
    FIND(cuStreamSynchronize);
    FIND(cuStreamQuery);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu.cuCtxSetCurrent(context), 0);
    assert_int_equal(cu.cuModuleLoadDataEx(&module, text, 0, NULL, NULL), 0);
    assert_int_equal(cu.cuModuleGetFunction(&fma_loop, module, "fma_loop"), 0);
    assert_int_equal(cu.cuMemAlloc_v2(&memory, (size_t)GROUPS * GROUP * sizeof(float)), 0);
}

static void launch(uint32_t turns)
{
    float a = 0.5f, b = 0.25f;
    void *arguments[] = {&memory, &turns, &a, &b};

    assert_int_equal(
        cu.cuLaunchKernel(fma_loop, GROUPS, 1, 1, GROUP, 1, 1, 0, NULL, arguments, NULL), 0);
}

static double instructions(uint32_t turns)
{
    return (double)WARPS * (67.0 * turns + 28);
}

/* ---- streams ------------------------------------------------------------------------------ */

/* Records one behind the other, each beginning where the last one ended. */
static void expect_contiguous(const struct stream *stream)
{
    struct nvidia_interval last = {0}, record;

    for (size_t at = 0; at < stream->bytes; at += sizeof(record)) {
        memcpy(&record, stream->raw + at, sizeof(record));
        if (last.end_ns != 0) {
            assert_true(record.start_ns == last.end_ns);
            assert_true(record.sequence == last.sequence + 1);
        }
        assert_true(record.end_ns > record.start_ns);
        /* But for what was cut off by Stop. */
        assert_true((record.end_ns - record.start_ns) % 32 == 0 ||
                    at + sizeof(record) == stream->bytes);
        assert_int_equal(record.flags, 0);
        last = record;
    }
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* A period for a machine that is too slow for this one: it lost records. */
static uint32_t longer(uint32_t period_ns)
{
    if (period_ns >= 20 * MS)
        fail_msg("records are lost even every %u ns", period_ns);
    return 2 * period_ns;
}

/* Kernels all the while, decoded and read meanwhile; false if records were lost. */
static bool sum_is_exact(ze_device_handle_t device, const char *group, uint32_t period_ns)
{
    enum { LAUNCHES = 8, TURNS = 40000 };
    struct stream stream = stream_make(device, group, period_ns);
    bool is_whole;

    EXPECT_OK(stream_open(&stream, NULL));
    assert_int_equal(stream.period_ns, period_ns);
    stream_wait(&stream, 2);
    for (int i = 0; i < LAUNCHES; i++) {
        launch(TURNS);
        stream_wait(&stream, 1);
    }
    assert_int_equal(cu.cuStreamSynchronize(NULL), 0);
    stream_wait_now(&stream);
    is_whole = !stream.is_broken;
    if (is_whole) {
        expect_contiguous(&stream);
        assert_true(stream_sum(&stream, "Instructions") == LAUNCHES * instructions(TURNS));
        assert_true(stream_sum(&stream, "GroupsLaunched") == (double)LAUNCHES * GROUPS);
    }
    stream_close(&stream);
    return is_whole;
}

static void check_sums(void)
{
    static const uint32_t periods[] = {MS, 200000};
    ze_device_handle_t device;

    bed_set("decode_buffer_mib", "1024");
    device = bed_device();
    load_kernels();
    for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
        uint32_t period_ns = periods[i];

        while (!sum_is_exact(device, "ComputeBasic", period_ns))
            period_ns = longer(period_ns);
    }
}

static void sums__while_kernels_run__closed_forms(void **state)
{
    (void)state;
    bed_run("gh100", check_sums);
}

/* Launches in a row; false if records were lost. */
static bool launches_are_exact(ze_device_handle_t device, uint32_t period_ns)
{
    enum { LAUNCHES = 4, TURNS = 40000 };
    struct stream stream = stream_make(device, "Occupancy", period_ns);
    bool is_whole;

    EXPECT_OK(stream_open(&stream, NULL));
    assert_int_equal(stream.period_ns, period_ns);
    stream_wait(&stream, 2);
    for (int i = 0; i < LAUNCHES; i++)
        launch(TURNS);
    while (cu.cuStreamQuery(NULL) != 0)
        stream_wait(&stream, 1);
    stream_wait_now(&stream);
    is_whole = !stream.is_broken;
    if (is_whole) {
        expect_contiguous(&stream);
        assert_true(stream_sum(&stream, "WarpsLaunched") == (double)LAUNCHES * WARPS);
        assert_true(stream_sum(&stream, "GroupsLaunched") == (double)LAUNCHES * GROUPS);
    }
    stream_close(&stream);
    return is_whole;
}

/* At 100 us, with a set that sustains it. */
static void check_sum_100us(void)
{
    ze_device_handle_t device;
    uint32_t period_ns = 100000;

    bed_set("decode_buffer_mib", "1024");
    device = bed_device();
    load_kernels();
    while (!launches_are_exact(device, period_ns))
        period_ns = longer(period_ns);
}

static void sums__at_100_us__closed_forms(void **state)
{
    (void)state;
    bed_run("gh100", check_sum_100us);
}

/* Work of another process is counted: sampling sees the whole GPU. */
static void check_other_process(void)
{
    ze_device_handle_t device;
    uint32_t period_ns = MS;
    bool is_whole = false;
    int status, gate[2];
    pid_t child;
    char go;

    /* CUDA cannot be used behind a fork, so the other process is there before. */
    assert_int_equal(pipe(gate), 0);
    child = fork_child();
    if (child == 0) {
        (void)bed_device();
        load_kernels();
        while (read(gate[0], &go, 1) == 1 && go == 'g') {
            launch(20000);
            assert_int_equal(cu.cuStreamSynchronize(NULL), 0);
        }
        _exit(0);
    }
    device = bed_device();
    while (!is_whole) {
        struct stream stream = stream_make(device, "ComputeBasic", period_ns);

        EXPECT_OK(stream_open(&stream, NULL));
        stream_wait(&stream, 2);
        assert_int_equal(write(gate[1], "g", 1), 1);
        while (stream_sum(&stream, "GroupsLaunched") < GROUPS && !stream.is_broken)
            stream_wait(&stream, 10);
        stream_wait(&stream, 100);
        is_whole = !stream.is_broken;
        if (is_whole)
            assert_true(stream_sum(&stream, "Instructions") == instructions(20000));
        else
            period_ns = longer(period_ns);
        stream_close(&stream);
    }
    assert_int_equal(write(gate[1], "e", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void sums__of_another_process__are_seen(void **state)
{
    (void)state;
    bed_run("gh100", check_other_process);
}

/* ---- periods ------------------------------------------------------------------------------ */

static void check_periods(void)
{
    static const struct {
        const char *group;
        uint32_t wanted_ns, used_ns;
    } cases[] = {
        {"ComputeBasic", MS, MS},         {"ComputeBasic", 0, 200000},
        {"ComputeBasic", 1, 200000},      {"ComputeBasic", 200010, 200000},
        {"ComputeBasic", 200020, 200032}, {"ComputeBasic", UINT32_MAX, 4294967264u},
        {"Occupancy", 100, 100000},       {"Occupancy", 100001, 100000},
        {"ComputeFull", 100000, MS},      {"L2Cache", 100000, 200000},
    };
    const ze_device_handle_t device = bed_device();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stream stream = stream_make(device, cases[i].group, cases[i].wanted_ns);

        EXPECT_OK(stream_open(&stream, NULL));
        assert_int_equal(stream.period_ns, cases[i].used_ns);
        stream_close(&stream);
    }
}

/* What a group tells as its shortest period is what its stream has when none is asked for. */
static void check_told(void)
{
    static const struct {
        const char *group;
        uint64_t shortest_ns;
    } cases[] = {{"Occupancy", 100000}, {"ComputeBasic", 200000}, {"ComputeFull", MS}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stream stream = stream_make(bed_device(), cases[i].group, 1);
        struct zeta_group_info info = {.struct_size = sizeof(info)};

        EXPECT_OK(zetaMetricGroupGetInfo(stream.group, &info));
        assert_int_equal(info.min_period_ns, cases[i].shortest_ns);
        EXPECT_OK(stream_open(&stream, NULL));
        assert_int_equal(stream.period_ns, info.min_period_ns);
        stream_close(&stream);
    }
}

static void period__shortest_of_each_group__is_told(void **state)
{
    (void)state;
    bed_run("gh100", check_told);
}

static void period__brought_to_ticks_and_range__written_back(void **state)
{
    (void)state;
    bed_run("gh100", check_periods);
}

static void check_shorter(void)
{
    struct stream stream;

    bed_set("shortest_period_ns", "20000");
    stream = stream_make(bed_device(), "ComputeBasic", 20000);
    EXPECT_OK(stream_open(&stream, NULL));
    assert_int_equal(stream.period_ns, 20000);
    stream_wait(&stream, 10);
    stream_close(&stream);
}

static void period__shorter_by_the_setting__is_used(void **state)
{
    (void)state;
    bed_run("gh100", check_shorter);
}

/* Chips that count cycles instead of time: the rate of their clock is measured. */
static void check_cycles(void)
{
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);
    struct nvidia_interval record;

    EXPECT_OK(stream_open(&stream, NULL));
    assert_cmp(stream.period_ns, >, 990000);
    assert_cmp(stream.period_ns, <, 1010000);
    stream_wait(&stream, 5);
    memcpy(&record, stream.raw + 2 * sizeof(record), sizeof(record));
    assert_cmp(record.end_ns - record.start_ns, >, 990000);
    assert_cmp(record.end_ns - record.start_ns, <, 1010000);
    stream_close(&stream);
}

static void period__of_chips_without_a_time_trigger__is_measured(void **state)
{
    (void)state;
    bed_run("ga100", check_cycles);
    bed_run("tu102", check_cycles);
}

/* ---- reading ------------------------------------------------------------------------------ */

static void check_notification(void)
{
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);
    struct test_event event = make_event(stream.context);
    size_t bytes = 0;

    stream.notify = 32768;
    EXPECT_OK(stream_open(&stream, event.event));
    assert_int_equal(stream.notify, 32768);
    EXPECT_OK(zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &bytes, NULL));
    assert_cmp(bytes, >=, NVIDIA_RECORD_BYTES);
    assert_cmp(bytes, <=, 32u << 20);
    EXPECT_OK(zetMetricStreamerClose(stream.streamer));
    stream.notify = 20;
    EXPECT_OK(stream_open(&stream, event.event));
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_cmp(stream_read(&stream), >=, 20 * NVIDIA_RECORD_BYTES);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    EXPECT_OK(zetMetricStreamerClose(stream.streamer)); /* with unread data */
    stream.streamer = NULL;
    destroy_event(&event);
    stream_close(&stream);
}

static void notification__of_n_records__is_a_level(void **state)
{
    (void)state;
    bed_run("gh100", check_notification);
}

/* What was collected stays readable when the group is deactivated, and the unit is free then. */
static void check_stop(void)
{
    const ze_device_handle_t device = bed_device();
    struct stream stream = stream_make(device, "ComputeBasic", MS), next;

    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 3);
    EXPECT_OK(zetContextActivateMetricGroups(stream.context, device, 0, NULL));
    next = stream_make(device, "Tensor", MS);
    EXPECT_OK(stream_open(&next, NULL));
    stream_wait(&next, 3);
    while (stream_read(&stream) > 0)
        continue;
    expect_contiguous(&stream);
    stream_close(&next);
    stream_close(&stream);
}

static void deactivation__stream_open__gives_up_the_unit(void **state)
{
    (void)state;
    bed_run("gh100", check_stop);
}

/* What was exported is calculated without the device, to the same bits. */
static void expect_same_offline(const struct stream *stream, const zet_typed_value_t *values,
                                uint32_t count)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint32_t sets = 0, total = 0, *counts;
    zet_typed_value_t *offline;
    size_t bytes = 0;
    uint8_t *data;

    EXPECT_OK(
        zetMetricGroupGetExportDataExp(stream->group, stream->raw, stream->bytes, &bytes, NULL));
    data = malloc(bytes);
    assert_non_null(data);
    EXPECT_OK(
        zetMetricGroupGetExportDataExp(stream->group, stream->raw, stream->bytes, &bytes, data));
    EXPECT_OK(zetMetricGroupCalculateMetricExportDataExp(
        driver_of(stream->device), ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, data,
        &desc, &sets, &total, NULL, NULL));
    assert_int_equal(sets, 1);
    assert_int_equal(total, count);
    counts = calloc(sets, sizeof(*counts));
    offline = calloc(total, sizeof(*offline));
    assert_non_null(counts);
    assert_non_null(offline);
    EXPECT_OK(zetMetricGroupCalculateMetricExportDataExp(
        driver_of(stream->device), ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, data,
        &desc, &sets, &total, counts, offline));
    assert_int_equal(total, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(offline[i].type, values[i].type);
        assert_true(offline[i].value.ui64 == values[i].value.ui64);
    }
    free(offline);
    free(counts);
    free(data);
}

static void check_metrics(void)
{
    static const struct {
        const char *metric;
        double least, most;
    } ranges[] = {
        {"GpuTime", 999900, 1000100},
        {"GpuCoreClocks", 1979000, 1981000},
        {"AvgGpuCoreFrequencyMHz", 1979, 1981},
    };
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);
    const uint32_t metrics = stream.properties.metricCount;
    zet_typed_value_t *values;
    uint32_t count = 0;

    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 20);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(stream.group,
                                                  ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                  stream.bytes, stream.raw, &count, NULL));
    assert_int_equal(count, stream.bytes / NVIDIA_RECORD_BYTES * metrics);
    values = calloc(count, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(stream.group,
                                                  ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                                  stream.bytes, stream.raw, &count, values));
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const uint32_t index = metric_index(stream.group, ranges[i].metric);

        for (uint32_t row = 0; row < count / metrics; row++) {
            const double value = (double)values[row * metrics + index].value.ui64;

            assert_true(value >= ranges[i].least && value <= ranges[i].most);
        }
    }
    expect_same_offline(&stream, values, count);
    free(values);
    stream_close(&stream);
}

static void rows__idle_gpu__time_and_clocks(void **state)
{
    (void)state;
    bed_run("gh100", check_metrics);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void check_in_use(void)
{
    const ze_device_handle_t device = bed_device();
    struct stream first = stream_make(device, "ComputeBasic", MS), second = first;

    EXPECT_OK(stream_open(&first, NULL));
    EXPECT_RESULT(stream_open(&second, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("in this process uses the same source perfmon; close it first");
    stream_wait(&first, 10);
    stream_close(&first);
}

static void second_stream__of_this_process__in_use(void **state)
{
    (void)state;
    bed_run("gh100", check_in_use);
}

static void check_busy(void)
{
    ze_device_handle_t device;
    struct stream stream;
    int status, to[2], back[2];
    char letter = 0;
    pid_t child;

    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(back), 0);
    child = fork_child();
    if (child == 0) {
        struct stream other = stream_make(bed_device(), "ComputeBasic", MS);

        EXPECT_OK(stream_open(&other, NULL));
        assert_int_equal(write(back[1], "o", 1), 1);
        (void)!read(to[0], &letter, 1);
        _exit(0); /* without closing it */
    }
    assert_int_equal(read(back[0], &letter, 1), 1);
    device = bed_device();
    stream = stream_make(device, "ComputeBasic", MS);
    EXPECT_RESULT(stream_open(&stream, NULL), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("another profiler");
    assert_int_equal(write(to[1], "e", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    EXPECT_OK(stream_open(&stream, NULL));
    stream_close(&stream);
}

static void stream__another_process_samples__not_available(void **state)
{
    (void)state;
    bed_run("gh100", check_busy);
}

/* A description whose GPU refuses counters: result and a part of the sentence. */
static ze_result_t wanted_result;
static const char *wanted_part;

static void check_refused(void)
{
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);

    EXPECT_RESULT(stream_open(&stream, NULL), wanted_result);
    expect_sentence(wanted_part);
    stream_close(&stream);
}

static void stream__gpu_without_counters__says_why(void **state)
{
    static const struct {
        const char *machine;
        ze_result_t result;
        const char *part;
    } cases[] = {
        {"{format: 1, permits: false, gpus: [{chip: gh100}]}",
         ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "NVreg_RestrictProfilingToAdminUsers=0"},
        {"{format: 1, gpus: [{chip: gh100, mode: confidential}]}", ZE_RESULT_ERROR_NOT_AVAILABLE,
         "confidential"},
        {"{format: 1, gpus: [{chip: gh100, mode: vgpu}]}", ZE_RESULT_ERROR_NOT_AVAILABLE, "vGPU"},
        {"{format: 1, gpus: [{chip: gh100, mode: wsl}]}", ZE_RESULT_ERROR_NOT_AVAILABLE, "WSL"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        wanted_result = cases[i].result;
        wanted_part = cases[i].part;
        bed_run(cases[i].machine, check_refused);
    }
}

static void check_no_groups(void)
{
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    zet_metric_group_handle_t groups[16];
    uint32_t count = 16;

    EXPECT_OK(zetMetricGroupGet(bed_device(), &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        assert_int_not_equal(properties.domain, 0); /* GPM and the tracer have their own */
    }
}

static void check_old_cupti(void)
{
    bed_set("libcupti", CUDA_LIBRARIES "/libcupti.so.12");
    check_no_groups();
}

static void check_no_cupti(void)
{
    bed_set("libcupti", "/nowhere/libcupti.so.13");
    check_no_groups();
}

static void groups__without_pm_sampling__are_none(void **state)
{
    (void)state;
    bed_run("gv100", check_no_groups);
    bed_run("gh100", check_old_cupti);
    bed_run("gh100", check_no_cupti);
}

/* The GPU falls off: what was there is read, then the reason. */
static void check_falls_off(void)
{
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);
    ze_result_t result = ZE_RESULT_SUCCESS;
    size_t bytes;

    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 3);
    assert_true(cuda_fault(bed_machine, "cuptiPm*=999@1+"));
    while (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA) {
        bytes = STREAM_RAW_BYTES;
        result = zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &bytes, stream.raw);
    }
    EXPECT_RESULT(result, ZE_RESULT_ERROR_UNKNOWN);
    expect_sentence("go on with sampling ComputeBasic");
    stream_close(&stream);
}

static void stream__gpu_falls_off__says_so(void **state)
{
    (void)state;
    bed_run("gh100", check_falls_off);
}

/* A hundred times, with different sets. */
static void check_reopen(void)
{
    static const char *const sets[] = {"ComputeBasic", "L2Cache", "Links", "Engines"};
    const ze_device_handle_t device = bed_device();

    for (int i = 0; i < 100; i++) {
        struct stream stream = stream_make(device, sets[i % 4], MS);

        EXPECT_OK(stream_open(&stream, NULL));
        if (i % 10 == 0)
            stream_wait(&stream, 1);
        stream_close(&stream);
    }
}

static void streams__opened_again_and_again__work(void **state)
{
    (void)state;
    bed_run("gh100", check_reopen);
}

/* Two GPUs at a time; their times are of one clock. */
static void check_two(void)
{
    ze_device_handle_t devices[2];
    struct stream streams[2];

    bed_devices(2, devices);
    for (int i = 0; i < 2; i++) {
        streams[i] = stream_make(devices[i], "ComputeBasic", MS);
        EXPECT_OK(stream_open(&streams[i], NULL));
    }
    for (int i = 0; i < 2; i++)
        stream_wait(&streams[i], 20);
    for (int i = 0; i < 2; i++)
        stream_close(&streams[i]);
}

/* All eight of a large machine, each with its own work. */
static void check_eight(void)
{
    enum { GPUS = 8 };
    ze_device_handle_t devices[GPUS];
    struct stream streams[GPUS];

    bed_devices(GPUS, devices);
    for (uint32_t i = 0; i < GPUS; i++) {
        streams[i] = stream_make(devices[i], "ComputeBasic", 10 * MS);
        EXPECT_OK(stream_open(&streams[i], NULL));
        stream_wait(&streams[i], 1);
    }
    for (uint32_t i = 0; i < GPUS; i++) {
        const struct computing c = computing_open_on(devices[i], "api.ptx");

        computing_launch(&c, "store", i + 1, computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 64, 8), 1);
        computing_close(&c);
    }
    for (uint32_t i = 0; i < GPUS; i++) {
        stream_wait_now(&streams[i]);
        if (!streams[i].is_broken) /* else this machine was too busy for it, and it says so */
            assert_true(stream_sum(&streams[i], "GroupsLaunched") == i + 1);
        stream_close(&streams[i]);
    }
}

static void streams__of_eight_gpus__each_its_own(void **state)
{
    static const char gpu[] = "{chip: gh100, pci: \"0000:%02x:00.0\"}, ";
    char description[1024] = "{format: 1, gpus: [";

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        (void)snprintf(description + strlen(description), sizeof(gpu) + 8, gpu, 0x10 + i);
    (void)strcat(description, "]}");
    bed_run(description, check_eight);
}

/* Two threads read one stream: each record goes to one of them. */
struct reader {
    struct stream *stream;
    const atomic_bool *is_over;
    size_t bytes;
    bool is_broken;
};

static void *read_along(void *argument)
{
    static _Thread_local uint8_t raw[64 * NVIDIA_RECORD_BYTES];
    struct reader *reader = argument;

    while (!atomic_load(reader->is_over)) {
        size_t bytes = sizeof(raw);
        const ze_result_t result =
            zetMetricStreamerReadData(reader->stream->streamer, UINT32_MAX, &bytes, raw);

        if (result == ZE_RESULT_WARNING_DROPPED_DATA)
            reader->is_broken = true;
        else if (result != ZE_RESULT_SUCCESS)
            abort();
        reader->bytes += bytes;
        if (bytes == 0)
            (void)usleep(500);
    }
    return NULL;
}

static void check_two_readers(void)
{
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    struct reader readers[2];
    pthread_t threads[2];
    atomic_bool is_over = false;

    EXPECT_OK(stream_open(&stream, NULL));
    for (int i = 0; i < 2; i++) {
        readers[i] = (struct reader){.stream = &stream, .is_over = &is_over};
        assert_int_equal(pthread_create(&threads[i], NULL, read_along, &readers[i]), 0);
    }
    while (info.records < 300) {
        EXPECT_OK(zetaMetricStreamerGetInfo(stream.streamer, &info));
        (void)usleep(1000);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    info = (struct zeta_stream_info){.struct_size = sizeof(info)};
    EXPECT_OK(zetaMetricStreamerGetInfo(stream.streamer, &info));
    if (!readers[0].is_broken && !readers[1].is_broken) /* without slots that say so */
        assert_int_equal(readers[0].bytes + readers[1].bytes, info.bytes);
    stream_close(&stream);
}

static void stream__two_readers__each_record_once(void **state)
{
    (void)state;
    bed_run("gh100", check_two_readers);
}

static void streams__of_two_gpus__side_by_side(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100}, {chip: ad102, pci: \"0000:07:00.0\"}]}", check_two);
}

/* Under MIG nothing of device memory is there, and the rest is. */
static void check_instances(void)
{
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);

    assert_int_equal(metric_find(stream.group, "DramRead"), UINT32_MAX);
    assert_int_not_equal(metric_find(stream.group, "Instructions"), UINT32_MAX);
    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 5);
    assert_false(stream.is_broken);
    stream_close(&stream);
}

static void metrics__of_mig_instances__lack_device_memory(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100, instances: 2}]}", check_instances);
}

/* Counters of NVLink are there where it is, and beside those of PCIe. */
static void check_links(void)
{
    struct stream stream = stream_make(bed_device(), "Links", MS);

    assert_int_not_equal(metric_find(stream.group, "PcieRead"), UINT32_MAX);
    assert_int_not_equal(metric_find(stream.group, "NvlinkReceive"), UINT32_MAX);
    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 5);
    stream_close(&stream);
}

static void check_no_links(void)
{
    struct stream stream = stream_make(bed_device(), "Links", MS);

    assert_int_equal(metric_find(stream.group, "NvlinkReceive"), UINT32_MAX);
    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 5);
    stream_close(&stream);
}

static void check_no_nvml(void)
{
    bed_set("libnvidia_ml", "/nowhere/libnvidia-ml.so.1");
    check_no_links();
}

static void metrics__of_nvlink__are_there_where_it_is(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100, has_links: true}]}", check_links);
    bed_run("gh100", check_no_links);
    bed_run("{format: 1, gpus: [{chip: gh100, has_links: true}]}", check_no_nvml);
}

SUITE(streams)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums__while_kernels_run__closed_forms),
        cmocka_unit_test(sums__at_100_us__closed_forms),
        cmocka_unit_test(sums__of_another_process__are_seen),
        cmocka_unit_test(period__brought_to_ticks_and_range__written_back),
        cmocka_unit_test(period__shortest_of_each_group__is_told),
        cmocka_unit_test(period__shorter_by_the_setting__is_used),
        cmocka_unit_test(period__of_chips_without_a_time_trigger__is_measured),
        cmocka_unit_test(notification__of_n_records__is_a_level),
        cmocka_unit_test(deactivation__stream_open__gives_up_the_unit),
        cmocka_unit_test(rows__idle_gpu__time_and_clocks),
        cmocka_unit_test(second_stream__of_this_process__in_use),
        cmocka_unit_test(stream__another_process_samples__not_available),
        cmocka_unit_test(stream__gpu_without_counters__says_why),
        cmocka_unit_test(groups__without_pm_sampling__are_none),
        cmocka_unit_test(stream__gpu_falls_off__says_so),
        cmocka_unit_test(streams__opened_again_and_again__work),
        cmocka_unit_test(streams__of_two_gpus__side_by_side),
        cmocka_unit_test(streams__of_eight_gpus__each_its_own),
        cmocka_unit_test(stream__two_readers__each_record_once),
        cmocka_unit_test(metrics__of_mig_instances__lack_device_memory),
        cmocka_unit_test(metrics__of_nvlink__are_there_where_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
