/*
 * What goes wrong from outside: sets of users, GPUs that fall off in each state, processes that are
 * killed in each state.
 */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/nvidia/computing.h"
#include "tests/nvidia/streaming.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/tracer/tracing.h"

#define MS 1000000u

/* ---- sets of users ------------------------------------------------------------------------ */

/* A set file as a user writes it, with one program of this name each. */
static void write_user_sets(void)
{
    static const struct {
        const char *set, *entries;
    } sets[] = {
        {"Right", "\"C0=sm__warps_launched.sum\""},
        {"Unknown", "\"C0=sm__cycles_active.sum\", \"C1=sm__no_such_thing.sum\""},
        {"Blank", "\"C0=sm__cycles active.sum\""},
        {"BlankBehind", "\"C0=sm__cycles_active.sum \""},
        {"Bare", "\"C0=sm__cycles_active\""},
        {"TwoPasses", "\"C0=sm__inst_executed_pipe_tensor.sum\""},
        {"ManyPasses", "\"F0=sm__throughput.avg.pct_of_peak_sustained_elapsed\""},
        {"NoField", "\"C40=sm__cycles_active.sum\""},
        {"Twice", "\"C0=sm__cycles_active.sum\", \"C0=sm__warps_launched.sum\""},
        {"NoMetric", "\"C0=\""},
        {"Instrumented", "\"C0=smsp__sass_thread_inst_executed_op_ffma_pred_on.sum\""},
    };
    char path[4096], search[8192];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%.3000s/root", cuda_folder(bed_machine));
    (void)snprintf(search, sizeof(search), "%.4000s:%.3000s", getenv("ZETA_PLUGIN_PATH"), path);
    assert_int_equal(setenv("ZETA_PLUGIN_PATH", search, 1), 0);
    (void)strcat(path, "/metrics.d");
    assert_int_equal(mkdir(path, 0700), 0);
    (void)strcat(path, "/own.yaml");
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("format: 2\nkinds:\n  interval: {domain: 0, unit: perfmon, layout: nv-interval}\n"
                "sets:\n",
                file);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        (void)fprintf(file,
                      "  - name: %s\n    kind: interval\n    description: \"of a user\"\n"
                      "    sampling: [time]\n    program: [{select: [%s]}]\n"
                      "    metrics:\n      - {name: One, component: SM, type: event, "
                      "value_type: u64, class: exact, unit: \"\", value: \"C[0]\", "
                      "description: \"of a user\"}\n",
                      sets[i].set, sets[i].entries);
    assert_int_equal(fclose(file), 0);
}

static void check_user_sets(void)
{
    static const struct {
        const char *set, *part;
    } wrong[] = {
        {"Unknown", "has no metric sm__no_such_thing.sum"},
        {"Blank", "that is no name of a metric"},
        {"BlankBehind", "that is no name of a metric"},
        {"Bare", "has no metric sm__cycles_active"},
        {"TwoPasses", "need 2 passes"},
        {"ManyPasses", "need 19 passes"},
        {"NoField", "the record has no such field"},
        {"Twice", "another entry has the same field"},
        {"NoMetric", "that is no name of a metric"},
        {"Instrumented", "has no metric smsp__sass"},
    };
    ze_device_handle_t device;
    struct stream stream;

    write_user_sets();
    device = bed_device();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ze_result_t result;

        stream = stream_make(device, wrong[i].set, MS);
        result = stream_open(&stream, NULL);
        if (result != ZE_RESULT_ERROR_INVALID_ARGUMENT &&
            result != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
            fail_msg("%s gives 0x%x", wrong[i].set, result);
        expect_sentence(wrong[i].part);
        expect_sentence(wrong[i].set);
        stream_close(&stream);
    }
    stream = stream_make(device, "Right", MS); /* nothing is left behind */
    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 3);
    stream_close(&stream);
}

static void sets__of_users_that_are_wrong__name_the_mistake(void **state)
{
    (void)state;
    bed_run("gh100", check_user_sets);
}

/* ---- GPUs that fall off --------------------------------------------------------------------- */

static void lose_all(void)
{
    assert_true(cuda_fault(bed_machine, "*=999@1+"));
}

/* Behind zeInit(): what is known of the device stays; its groups cannot be had any more. */
static void check_enumeration(void)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_handle_t device = bed_device();
    uint32_t count = 0;

    lose_all();
    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    EXPECT_OK(zetMetricGroupGet(device, &count, NULL));
}

static void check_open(void)
{
    const ze_device_handle_t device = bed_device();
    struct stream stream = stream_make(device, "ComputeBasic", MS), gpm;

    lose_all();
    EXPECT_RESULT(stream_open(&stream, NULL), ZE_RESULT_ERROR_UNKNOWN);
    expect_sentence("ComputeBasic");
    stream_close(&stream);
    gpm = stream_make(device, "Gpm", 100 * MS);
    if (stream_open(&gpm, NULL) == ZE_RESULT_SUCCESS)
        fail_msg("a stream of GPM opens without a GPU");
    stream_close(&gpm);
    cuda_no_faults(bed_machine); /* the units were given up */
    stream = stream_make(device, "ComputeBasic", MS);
    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 3);
    stream_close(&stream);
}

/* What was there is read, and then that it is over; closing works. */
static void check_stream(void)
{
    struct stream stream = stream_make(bed_device(), "ComputeBasic", MS);
    ze_result_t result = ZE_RESULT_SUCCESS;
    size_t bytes;

    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 3);
    lose_all();
    while (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA) {
        bytes = STREAM_RAW_BYTES;
        result = zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &bytes, stream.raw);
    }
    EXPECT_RESULT(result, ZE_RESULT_ERROR_UNKNOWN);
    stream_close(&stream);
}

/* NVML does not answer for a while: rows stay away, and come again. */
static void check_gpm(void)
{
    struct stream stream = stream_make(bed_device(), "Gpm", 100 * MS);
    uint64_t calls;

    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 1);
    lose_all();
    calls = cuda_calls(bed_machine, "nvmlGpmSampleGet");
    while (cuda_calls(bed_machine, "nvmlGpmSampleGet") < calls + 3)
        (void)stream_read(&stream);
    cuda_no_faults(bed_machine);
    stream_wait(&stream, 1);
    lose_all();
    stream_close(&stream);
}

/* A tracer that is on: it can be turned off, read and destroyed. */
static void check_tracer(void)
{
    const struct computing c = computing_open("api.ptx");
    zet_metric_group_handle_t group = find_group(c.device, "Events", TRACER_BASED, NULL);
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 4096, 0);
    struct tracing tracing;

    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 1, &group));
    tracing = tracing_open(c.context, c.device, 1, &group);
    tracing_enable(&tracing);
    computing_launch(&c, "add", 1, memory, 1);
    lose_all();
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    if (zetMetricTracerEnableExp(tracing.tracer, 1) == ZE_RESULT_SUCCESS)
        fail_msg("a tracer can be enabled without a GPU");
    tracing_end(&tracing);
}

/* Work in flight: whoever waits for it learns that the device is lost, for good. */
static void check_compute(void)
{
    const struct computing c = computing_open("api.ptx");
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t wait = computing_kernel(&c, "wait_for");
    uint64_t *numbers = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 256, 0);
    uint64_t *gate = &numbers[0], *seen = &numbers[1];
    const ze_group_count_t one = {1, 1, 1};
    void *memory = NULL;

    __atomic_store_n(gate, 0, __ATOMIC_SEQ_CST);
    EXPECT_OK(zeKernelSetArgumentValue(wait, 0, sizeof(gate), &gate));
    EXPECT_OK(zeKernelSetArgumentValue(wait, 1, sizeof(seen), &seen));
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wait, &one, NULL, 0, NULL));
    lose_all();
    __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
    EXPECT_RESULT(zeCommandListHostSynchronize(list, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    cuda_no_faults(bed_machine);
    EXPECT_RESULT(zeMemAllocDevice(c.context, &desc, 100, 0, c.device, &memory),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("the GPU may be gone");
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(wait));
    computing_close(&c);
}

static void gpu__falls_off_in_each_state__is_told_and_survived(void **state)
{
    static void (*const checks[])(void) = {check_enumeration, check_open,   check_stream,
                                           check_gpm,         check_tracer, check_compute};

    (void)state;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        bed_run("gh100", checks[i]);
}

/* ---- processes that are killed, or fork ----------------------------------------------------- */

/* Queries of ComputeBasic. */
struct counting {
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t queries[2];
};

static struct counting counting_make(const struct computing *c, uint32_t count)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = count};
    struct counting q = {.group = find_group(c->device, "ComputeBasic", EVENT_BASED, NULL)};

    EXPECT_OK(zetContextActivateMetricGroups(c->context, c->device, 1, &q.group));
    EXPECT_OK(zetMetricQueryPoolCreate(c->context, c->device, q.group, &desc, &q.pool));
    for (uint32_t i = 0; i < count; i++)
        EXPECT_OK(zetMetricQueryCreate(q.pool, i, &q.queries[i]));
    return q;
}

/* Work without end, so that the process is killed in its middle. */
static void work_for_ever(const struct computing *c)
{
    ze_command_list_handle_t list = computing_list(c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t wait = computing_kernel(c, "wait_for");
    uint64_t *numbers = computing_memory(c, ZE_MEMORY_TYPE_SHARED, 256, 0);
    uint64_t *gate = &numbers[0], *seen = &numbers[1];
    const ze_group_count_t one = {1, 1, 1};

    memset(numbers, 0, 256);
    EXPECT_OK(zeKernelSetArgumentValue(wait, 0, sizeof(gate), &gate));
    EXPECT_OK(zeKernelSetArgumentValue(wait, 1, sizeof(seen), &seen));
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wait, &one, NULL, 0, NULL));
    while (__atomic_load_n(seen, __ATOMIC_SEQ_CST) == 0)
        (void)usleep(100);
}

static struct stream begun; /* the stream of the state */

static void begin_nothing(void)
{
    (void)bed_device();
}

static void begin_stream(void)
{
    begun = stream_make(bed_device(), "ComputeBasic", MS);
    EXPECT_OK(stream_open(&begun, NULL));
    stream_wait(&begun, 3);
}

static void begin_gpm(void)
{
    begun = stream_make(bed_device(), "Gpm", 100 * MS);
    EXPECT_OK(stream_open(&begun, NULL));
}

/* In the middle of CUPTI's decode, for ever. */
static void begin_decode(void)
{
    const uint64_t calls = cuda_calls(bed_machine, "cuptiPmSamplingDecodeData");

    begin_stream();
    assert_true(cuda_fault(bed_machine, "cuptiPmSamplingDecodeData=hang"));
    while (cuda_calls(bed_machine, "cuptiPmSamplingDecodeData") == calls)
        (void)usleep(100);
}

/* One has its count, the next one is open. */
static void begin_query(void)
{
    const struct computing c = computing_open("api.ptx");
    struct counting q = counting_make(&c, 2);
    ze_event_handle_t none = NULL;

    EXPECT_OK(zetCommandListAppendMetricQueryBegin(c.list, q.queries[0]));
    computing_launch(&c, "store", 1, computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 64, 8), 1);
    EXPECT_OK(zetCommandListAppendMetricQueryEnd(c.list, q.queries[0], NULL, 0, &none));
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(c.list, q.queries[1]));
}

static void begin_tracer(void)
{
    const struct computing c = computing_open("api.ptx");
    zet_metric_group_handle_t group = find_group(c.device, "Events", TRACER_BASED, NULL);
    struct tracing tracing;

    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 1, &group));
    tracing = tracing_open(c.context, c.device, 1, &group);
    tracing_enable(&tracing);
    work_for_ever(&c);
}

static void begin_all(void)
{
    begin_stream();
    const struct computing c = computing_open("api.ptx");

    work_for_ever(&c);
}

static void (*begin)(void);

/* The other process is killed once it has begun; what it had is free then, for this one. */
static void check_killed(void)
{
    int status, gate[2];
    char letter = 0;
    pid_t child;
    struct stream stream;
    struct computing c;
    void *memory;

    assert_int_equal(pipe(gate), 0);
    child = fork_child();
    if (child == 0) {
        begin();
        assert_int_equal(write(gate[1], "b", 1), 1);
        for (;;)
            (void)pause();
    }
    (void)close(gate[1]); /* so that a child that ends before is seen */
    assert_int_equal(read(gate[0], &letter, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    cuda_no_faults(bed_machine);
    c = computing_open("api.ptx");
    stream = stream_make(c.device, "ComputeBasic", MS);
    EXPECT_OK(stream_open(&stream, NULL));
    memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 64, 8);
    computing_launch(&c, "store", 1, memory, 77);
    assert_int_equal(computing_read(&c, memory), 77);
    stream_wait(&stream, 3);
    stream_close(&stream);
    stream = stream_make(c.device, "Gpm", 100 * MS);
    EXPECT_OK(stream_open(&stream, NULL));
    stream_close(&stream);
    computing_close(&c);
    (void)close(gate[0]);
}

static void process__killed_in_each_state__leaves_all_free(void **state)
{
    static void (*const begins[])(void) = {begin_nothing, begin_stream, begin_decode, begin_gpm,
                                           begin_tracer,  begin_query,  begin_all};

    (void)state;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        begin = begins[i];
        bed_run("gh100", check_killed);
    }
}

/* A child can use nothing of what its parent has, ends as programs do, and leaves it alone. */
static void check_forked(void)
{
    int status;
    pid_t child;

    begin();
    child = fork_child();
    if (child == 0) {
        static const char *const parts[] = {"Forked", "Start a new program", NULL};

        bed_expect_plugin(ZETA_PLUGIN_STATE_DISABLED, parts);
        if (begun.streamer)
            (void)zetMetricStreamerClose(begun.streamer);
        (void)fflush(NULL);
        exit(0); /* with what libraries do then */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    if (begun.streamer) {
        stream_wait(&begun, 3);
        stream_close(&begun);
    }
}

static void process__forks_in_each_state__goes_on(void **state)
{
    static void (*const begins[])(void) = {begin_nothing, begin_stream, begin_gpm,
                                           begin_tracer,  begin_query,  begin_all};

    (void)state;
    skip_in(HARNESS_NEWLOADER, "it initialises drivers once, also in a child");
    if (NO_FORK_OF_BUSY_THREADS)
        skip();
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        begin = begins[i];
        bed_run("gh100", check_forked);
    }
}

/* ---- libraries that give something else ----------------------------------------------------- */

static uint64_t query_sum(const struct computing *c, struct counting *q, uint32_t index,
                          const char *metric, ze_result_t wanted)
{
    zet_typed_value_t values[64] = {{0}};
    uint32_t count = 64;
    uint8_t raw[4096];
    size_t bytes = sizeof(raw);
    ze_event_handle_t none = NULL;

    EXPECT_OK(zetCommandListAppendMetricQueryBegin(c->list, q->queries[index]));
    computing_launch(c, "store", 3, computing_memory(c, ZE_MEMORY_TYPE_DEVICE, 64, 8), 1);
    EXPECT_OK(zetCommandListAppendMetricQueryEnd(c->list, q->queries[index], NULL, 0, &none));
    EXPECT_RESULT(zetMetricQueryGetData(q->queries[index], &bytes, raw), wanted);
    if (wanted != ZE_RESULT_SUCCESS)
        return 0;
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        q->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count, values));
    return values[metric_index(q->group, metric)].value.ui64;
}

/* A version in which all blocks are larger: stream, query, events and GPM are as ever. */
static void check_future(void)
{
    const struct computing c = computing_open("api.ptx");
    struct counting q = counting_make(&c, 1);
    zet_metric_group_handle_t events = find_group(c.device, "Events", TRACER_BASED, NULL);
    struct tracing tracing;
    struct stream stream;

    assert_int_equal(query_sum(&c, &q, 0, "GroupsLaunched", ZE_RESULT_SUCCESS), 3);
    EXPECT_OK(zetMetricQueryDestroy(q.queries[0]));
    EXPECT_OK(zetMetricQueryPoolDestroy(q.pool));
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 1, &events));
    tracing = tracing_open(c.context, c.device, 1, &events);
    tracing_enable(&tracing);
    computing_launch(&c, "store", 1, computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 64, 8), 1);
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_int_equal(tracing_count(&tracing, "Kernel"), 1);
    tracing_end(&tracing);
    for (int i = 0; i < 2; i++) {
        stream = stream_make(c.device, i == 0 ? "ComputeBasic" : "Gpm", i == 0 ? MS : 100 * MS);
        EXPECT_OK(stream_open(&stream, NULL));
        stream_wait(&stream, 2);
        stream_close(&stream);
    }
    computing_close(&c);
}

static void libraries__of_a_future_version__work(void **state)
{
    (void)state;
    bed_run("{format: 1, driver: 15000, cupti: 150000, growth: 64, gpus: [{chip: gh100}]}",
            check_future);
}

/* What every evaluation gives instead of its values. */
static const char *spoiled;

static void spoil(void)
{
    char text[128];

    (void)snprintf(text, sizeof(text), "cuptiProfilerHostEvaluate*=value:%s@1+", spoiled);
    assert_true(cuda_fault(bed_machine, text));
    (void)snprintf(text, sizeof(text), "nvmlGpmMetricsGet=value:%s@1+", spoiled);
    assert_true(cuda_fault(bed_machine, text));
}

/* What is no count gives no row, and counts again when it is one. */
static void check_spoiled(void)
{
    const struct computing c = computing_open("api.ptx");
    struct stream stream = stream_make(c.device, "ComputeBasic", MS);
    struct counting q;
    uint64_t calls;

    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 3);
    spoil();
    calls = cuda_calls(bed_machine, "cuptiProfilerHostEvaluateToGpuValues");
    while (cuda_calls(bed_machine, "cuptiProfilerHostEvaluateToGpuValues") < calls + 50)
        (void)stream_read(&stream);
    cuda_no_faults(bed_machine);
    stream_wait_now(&stream);
    assert_true(stream.is_broken);
    assert_true(stream_sum(&stream, "GpuCoreClocks") < 1e15); /* neither huge nor an error */
    stream_close(&stream);

    stream = stream_make(c.device, "Gpm", 100 * MS);
    EXPECT_OK(stream_open(&stream, NULL));
    stream_wait(&stream, 1);
    spoil();
    calls = cuda_calls(bed_machine, "nvmlGpmMetricsGet");
    while (cuda_calls(bed_machine, "nvmlGpmMetricsGet") < calls + 3)
        (void)stream_read(&stream);
    cuda_no_faults(bed_machine);
    stream_wait(&stream, 1);
    stream_close(&stream);

    q = counting_make(&c, 2);
    spoil();
    (void)query_sum(&c, &q, 0, "GroupsLaunched", ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("could not count one of its metrics");
    cuda_no_faults(bed_machine);
    assert_int_equal(query_sum(&c, &q, 1, "GroupsLaunched", ZE_RESULT_SUCCESS), 3);
    for (uint32_t i = 0; i < 2; i++)
        EXPECT_OK(zetMetricQueryDestroy(q.queries[i]));
    EXPECT_OK(zetMetricQueryPoolDestroy(q.pool));
    computing_close(&c);
}

static void values__that_are_no_numbers__are_none(void **state)
{
    static const char *const values[] = {"nan", "inf", "-inf", "-1", "1e300"};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        spoiled = values[i];
        bed_run("gh100", check_spoiled);
    }
}

/* ---- again and again ------------------------------------------------------------------------ */

static uint32_t count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint32_t count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    assert_int_equal(closedir(folder), 0);
    return count;
}

/* How often; each time begins and ends a thread, for which sanitizers take their time. */
static uint32_t times(void)
{
    const char *wanted = getenv("ZETA_TEST_TIMES");
    const uint32_t usual = HAVE_THREAD_SANITIZER || HAVE_ADDRESS_SANITIZER ? 500 : 10000;

    return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : usual;
}

/* Nothing is left of a stream that was closed: no thread, no descriptor, no unit. */
static void check_stream_again(const char *group, const char *thread, uint32_t count)
{
    struct stream stream = stream_make(bed_device(), group, 100 * MS);
    uint32_t files = 0;

    for (uint32_t i = 0; i < count; i++) {
        EXPECT_OK(stream_open(&stream, NULL));
        EXPECT_OK(zetMetricStreamerClose(stream.streamer));
        if (i == 0)
            files = count_files();
    }
    stream.streamer = NULL;
    assert_int_equal(count_files(), files);
    assert_int_equal(count_threads(thread), 0);
    stream_close(&stream);
}

static void check_sampling_again(void)
{
    check_stream_again("ComputeBasic", "zeta-nv-sample", times());
}

static void check_gpm_again(void)
{
    check_stream_again("Gpm", "nvidia-gpm", times() / 5);
}

static void check_tracer_again(void)
{
    const ze_device_handle_t device = bed_device();
    const ze_context_handle_t context = make_context(device);
    zet_metric_group_handle_t group = find_group(device, "Events", TRACER_BASED, NULL);
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_tracer_exp_handle_t tracer = NULL;
    uint32_t files = 0;

    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    for (uint32_t i = 0; i < times() / 5; i++) {
        EXPECT_OK(zetMetricTracerCreateExp(context, device, 1, &group, &desc, NULL, &tracer));
        EXPECT_OK(zetMetricTracerEnableExp(tracer, 1));
        EXPECT_OK(zetMetricTracerDisableExp(tracer, 1));
        EXPECT_OK(zetMetricTracerDestroyExp(tracer));
        if (i == 0)
            files = count_files();
    }
    assert_int_equal(count_files(), files);
    assert_int_equal(count_threads("nvidia-tracer"), 0);
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zeContextDestroy(context));
}

static void check_pool_again(void)
{
    const struct computing c = computing_open("api.ptx");
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 64, 8);
    ze_event_handle_t none = NULL;
    uint32_t files = 0;

    for (uint32_t i = 0; i < times() / 5; i++) {
        struct counting q = counting_make(&c, 1);

        if (i % 100 == 0) { /* most of them never have a session */
            EXPECT_OK(zetCommandListAppendMetricQueryBegin(c.list, q.queries[0]));
            computing_launch(&c, "store", 1, memory, 1);
            EXPECT_OK(zetCommandListAppendMetricQueryEnd(c.list, q.queries[0], NULL, 0, &none));
        }
        EXPECT_OK(zetMetricQueryDestroy(q.queries[0]));
        EXPECT_OK(zetMetricQueryPoolDestroy(q.pool));
        if (i == 0)
            files = count_files();
    }
    assert_int_equal(count_files(), files);
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 0, NULL));
    computing_close(&c);
}

static void everything__opened_thousands_of_times__leaves_nothing(void **state)
{
    static void (*const checks[])(void) = {check_sampling_again, check_gpm_again,
                                           check_tracer_again, check_pool_again};

    (void)state;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        bed_run("gh100", checks[i]);
}

SUITE(failing)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets__of_users_that_are_wrong__name_the_mistake),
        cmocka_unit_test(gpu__falls_off_in_each_state__is_told_and_survived),
        cmocka_unit_test(process__killed_in_each_state__leaves_all_free),
        cmocka_unit_test(process__forks_in_each_state__goes_on),
        cmocka_unit_test(libraries__of_a_future_version__work),
        cmocka_unit_test(values__that_are_no_numbers__are_none),
        cmocka_unit_test(everything__opened_thousands_of_times__leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
