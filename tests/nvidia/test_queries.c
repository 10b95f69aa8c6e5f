/* Queries of the range profiler through the API, with kernels whose counts are known. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/query_record.h>

#include "tests/forked.h"
#include "tests/nvidia/computing.h"
#include "tests/support/compare.h"

enum { GROUPS = 528, GROUP = 256, THREADS = GROUPS * GROUP, WARPS = THREADS / 32 };

/* ---- what the cases have in common -------------------------------------------------------- */

/* A pool of queries of a set, and a kernel to be counted. */
struct querying {
    struct computing computing;
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t *queries;
    uint32_t count;
    ze_kernel_handle_t kernel;
    void *memory;
};

static zet_metric_query_pool_handle_t make_pool(const struct computing *c,
                                                zet_metric_group_handle_t group, uint32_t count)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = count};
    zet_metric_query_pool_handle_t pool = NULL;

    EXPECT_OK(zetMetricQueryPoolCreate(c->context, c->device, group, &desc, &pool));
    return pool;
}

/* Queries of a set on what is computed there already. */
static struct querying query_set(const struct computing *c, const char *set, uint32_t count)
{
    struct querying q = {.computing = *c, .count = count};

    q.group = find_group(c->device, set, EVENT_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(c->context, c->device, 1, &q.group));
    q.pool = make_pool(c, q.group, count);
    q.queries = calloc(count, sizeof(zet_metric_query_handle_t));
    assert_non_null(q.queries);
    for (uint32_t i = 0; i < count; i++)
        EXPECT_OK(zetMetricQueryCreate(q.pool, i, &q.queries[i]));
    return q;
}

/* A kernel of (address, u32 turns, two numbers), in groups of 256 threads. */
static void use_kernel(struct querying *q, const char *name, bool is_double)
{
    const uint64_t zeros = 0;

    q->kernel = computing_kernel(&q->computing, name);
    q->memory = computing_memory(&q->computing, ZE_MEMORY_TYPE_DEVICE, THREADS * sizeof(double), 0);
    EXPECT_OK(zeKernelSetGroupSize(q->kernel, GROUP, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(q->kernel, 0, sizeof(q->memory), &q->memory));
    for (uint32_t i = 2; i < 4; i++)
        EXPECT_OK(zeKernelSetArgumentValue(q->kernel, i, is_double ? 8 : 4, &zeros));
}

static struct querying open_queries(const char *set, uint32_t count)
{
    const struct computing c = computing_open("kernels.ptx");
    struct querying q = query_set(&c, set, count);

    use_kernel(&q, "fma_loop", false);
    return q;
}

static void close_pool(struct querying *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        EXPECT_OK(zetMetricQueryDestroy(q->queries[i]));
    EXPECT_OK(zetMetricQueryPoolDestroy(q->pool));
    free(q->queries);
}

static void close_queries(struct querying *q)
{
    close_pool(q);
    EXPECT_OK(zeMemFree(q->computing.context, q->memory));
    EXPECT_OK(zeKernelDestroy(q->kernel));
    EXPECT_OK(zetContextActivateMetricGroups(q->computing.context, q->computing.device, 0, NULL));
    computing_close(&q->computing);
}

static void append_launch(const struct querying *q, ze_command_list_handle_t list, uint32_t turns)
{
    const ze_group_count_t count = {GROUPS, 1, 1};

    EXPECT_OK(zeKernelSetArgumentValue(q->kernel, 1, sizeof(turns), &turns));
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, q->kernel, &count, NULL, 0, NULL));
}

static ze_result_t append_end(ze_command_list_handle_t list, zet_metric_query_handle_t query)
{
    ze_event_handle_t none = NULL;

    return zetCommandListAppendMetricQueryEnd(list, query, NULL, 0, &none);
}

static void append_query(const struct querying *q, ze_command_list_handle_t list, uint32_t index,
                         uint32_t turns)
{
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(list, q->queries[index]));
    append_launch(q, list, turns);
    EXPECT_OK(append_end(list, q->queries[index]));
}

static ze_result_t get_data(const struct querying *q, uint32_t index, uint8_t raw[4096],
                            size_t *bytes)
{
    *bytes = 4096;
    return zetMetricQueryGetData(q->queries[index], bytes, raw);
}

/* A value of a query as a number. */
static double value_of(const struct querying *q, uint32_t index, const char *metric)
{
    zet_typed_value_t values[64];
    uint32_t count = 64;
    uint8_t raw[4096];
    size_t bytes;

    EXPECT_OK(get_data(q, index, raw, &bytes));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        q->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count, values));
    const zet_typed_value_t *value = &values[metric_index(q->group, metric)];

    switch (value->type) {
    case ZET_VALUE_TYPE_UINT64:
        return (double)value->value.ui64;
    case ZET_VALUE_TYPE_FLOAT64:
        return value->value.fp64;
    default:
        return value->value.fp32;
    }
}

/* Instructions of a warp are 67 a turn, and some that the compiler of a real driver decides on. */
static void expect_turns(const struct querying *q, uint32_t index, uint32_t turns)
{
    static double around = 28;
    static bool is_known;
    const double rest = value_of(q, index, "Instructions") / WARPS - 67.0 * turns;

    if (bed_is_real() && !is_known)
        around = rest;
    is_known = true;
    assert_cmp(rest, ==, around);
    assert_cmp(rest, <, 67);
}

/* ---- counts ------------------------------------------------------------------------------- */

static void check_compute(void)
{
    struct querying q = open_queries("ComputeFull", 2);

    for (uint32_t i = 0; i < 2; i++)
        append_query(&q, q.computing.list, i, 100 + i);
    for (uint32_t i = 0; i < 2; i++) {
        expect_turns(&q, i, 100 + i);
        assert_cmp(value_of(&q, i, "WarpsLaunched"), ==, WARPS);
        assert_cmp(value_of(&q, i, "GroupsLaunched"), ==, GROUPS);
        assert_cmp(value_of(&q, i, "GpuTime"), >, 0);
        assert_cmp(value_of(&q, i, "GpuCoreClocks"), >, 0);
    }
    assert_cmp(value_of(&q, 1, "InstFma") - value_of(&q, 0, "InstFma"), ==, WARPS * 64.0);
    /* The second one is behind the first one. */
    assert_cmp(value_of(&q, 0, "QueryBeginTime") + value_of(&q, 0, "GpuTime"), <,
               value_of(&q, 1, "QueryBeginTime") + value_of(&q, 1, "GpuTime"));
    close_queries(&q);
}

static void counts__of_kernels__closed_forms(void **state)
{
    (void)state;
    bed_run_anywhere(check_compute);
}

static void check_flops(void)
{
    struct querying q = open_queries("Flops", 2);

    append_query(&q, q.computing.list, 0, 50);
    EXPECT_OK(zeKernelDestroy(q.kernel));
    EXPECT_OK(zeMemFree(q.computing.context, q.memory));
    use_kernel(&q, "dfma_loop", true);
    append_query(&q, q.computing.list, 1, 20);
    assert_cmp(value_of(&q, 0, "Ffma"), ==, (double)THREADS * 64 * 50);
    assert_cmp(value_of(&q, 0, "Fadd"), ==, (double)THREADS * 14);
    assert_cmp(value_of(&q, 0, "Dfma"), ==, 0);
    assert_cmp(value_of(&q, 1, "Dfma"), ==, (double)THREADS * 64 * 20);
    assert_cmp(value_of(&q, 1, "Ffma"), ==, 0);
    /* No hardware counter is beside them, so the time is the host's. */
    assert_cmp(value_of(&q, 0, "GpuTime"), >, 0);
    close_queries(&q);
}

static void counts__instrumented__closed_forms(void **state)
{
    (void)state;
    bed_run_anywhere(check_flops);
}

/* Chains of mma.sync.m16n8k16: an instruction of a warp is 4096 operations. */
static void check_tensor(void)
{
    static const char *const sets[] = {"TensorInstructions", "TensorOpsBf16"};
    static const char *const metrics[] = {"TensorInst", "TensorOps"};
    const struct computing c = computing_open("mma.ptx");
    const uint32_t chain = 30;

    for (int i = 0; i < 2; i++) {
        struct querying q = query_set(&c, sets[i], 1);

        q.kernel = computing_kernel(&c, "mma_chain");
        q.memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, THREADS * 4 * sizeof(float), 0);
        EXPECT_OK(zeKernelSetGroupSize(q.kernel, GROUP, 1, 1));
        EXPECT_OK(zeKernelSetArgumentValue(q.kernel, 0, sizeof(q.memory), &q.memory));
        append_query(&q, c.list, 0, chain);
        assert_cmp(value_of(&q, 0, metrics[i]), ==, (double)WARPS * chain * (i == 0 ? 1 : 4096));
        close_pool(&q);
        EXPECT_OK(zeMemFree(c.context, q.memory));
        EXPECT_OK(zeKernelDestroy(q.kernel));
    }
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 0, NULL));
    computing_close(&c);
}

static void counts__of_the_tensor_pipe__closed_forms(void **state)
{
    (void)state;
    bed_run_anywhere(check_tensor);
}

/* Each set of queries has one session, and each gives what it says. */
static void check_sets(void)
{
    static const struct {
        const char *set, *metric;
        bool is_positive;
    } cases[] = {
        {"ComputeBasic", "Instructions", true},
        {"MemoryRange", "GlobalStoreBytes", true},
        {"TensorInstructions", "TensorInst", false},
        {"TensorOpsBf16", "TensorOps", false},
        {"Flops", "FpOps32", true},
    };
    const struct computing c = computing_open("kernels.ptx");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct querying q = query_set(&c, cases[i].set, 1);

        use_kernel(&q, "fma_loop", false);
        append_query(&q, c.list, 0, 3);
        assert_int_equal(value_of(&q, 0, cases[i].metric) > 0, cases[i].is_positive);
        close_pool(&q);
        EXPECT_OK(zeKernelDestroy(q.kernel));
    }
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 0, NULL));
    computing_close(&c);
}

static void sets__of_queries__all_work(void **state)
{
    (void)state;
    bed_run_anywhere(check_sets);
}

/* Chips without a set file of their own have queries, too. */
static void check_other_chip(void)
{
    struct querying q = open_queries("ComputeFull", 1);
    const char *const sets[] = {"ComputeBasic", "Flops", "MemoryRange", "TensorInstructions"};
    const char *const metrics[] = {"Instructions", "Ffma", "GlobalStoreBytes", "TensorInst"};
    const double counts[] = {WARPS * (67.0 * 5 + 28), THREADS * 64.0 * 5, THREADS * 4.0, 0};

    append_query(&q, q.computing.list, 0, 5);
    expect_turns(&q, 0, 5);
    assert_cmp(value_of(&q, 0, "WarpsLaunched"), ==, WARPS);
    assert_cmp(value_of(&q, 0, "GroupsLaunched"), ==, GROUPS);
    close_pool(&q);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct querying other = query_set(&q.computing, sets[i], 1);

        other.kernel = q.kernel;
        append_query(&other, q.computing.list, 0, 5);
        assert_cmp(value_of(&other, 0, metrics[i]), ==, counts[i]);
        close_pool(&other);
    }
    EXPECT_OK(zetContextActivateMetricGroups(q.computing.context, q.computing.device, 0, NULL));
}

static void queries__of_other_chips__closed_forms(void **state)
{
    static const char *const chips[] = {"ga100", "ad102", "gb202", "tu102"};

    (void)state;
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        bed_run(chips[i], check_other_chip);
}

/* ---- lists -------------------------------------------------------------------------------- */

static void check_again(void)
{
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    struct querying q = open_queries("ComputeBasic", 1);
    ze_command_queue_handle_t queue = NULL;
    ze_command_list_handle_t list = NULL;
    uint8_t raw[4096];
    size_t bytes;

    EXPECT_OK(zeCommandQueueCreate(q.computing.context, q.computing.device, &queue_desc, &queue));
    EXPECT_OK(zeCommandListCreate(q.computing.context, q.computing.device, &list_desc, &list));
    append_query(&q, list, 0, 7);
    append_launch(&q, list, 1000); /* outside */
    EXPECT_OK(zeCommandListClose(list));
    EXPECT_RESULT(get_data(&q, 0, raw, &bytes), ZE_RESULT_NOT_READY);
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        EXPECT_OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        expect_turns(&q, 0, 7);
    }
    EXPECT_OK(zetMetricQueryReset(q.queries[0]));
    EXPECT_RESULT(get_data(&q, 0, raw, &bytes), ZE_RESULT_NOT_READY);
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT_OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT_OK(zetMetricQueryReset(q.queries[0])); /* with numbers that nobody fetched */
    EXPECT_RESULT(get_data(&q, 0, raw, &bytes), ZE_RESULT_NOT_READY);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandQueueDestroy(queue));
    close_queries(&q);
}

static void list__executed_again__counts_again(void **state)
{
    (void)state;
    bed_run_anywhere(check_again);
}

/* More than a session has room for, on an asynchronous list. */
enum { MANY = 2000 };

static void check_many(void)
{
    struct querying q = open_queries("ComputeBasic", MANY);
    const ze_command_list_handle_t list =
        computing_list(&q.computing, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    for (uint32_t i = 0; i < MANY; i++)
        append_query(&q, list, i, i % 13 + 1);
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    for (uint32_t i = 0; i < MANY; i++)
        expect_turns(&q, i, i % 13 + 1);
    /* Each result fetched alone: as many sessions. */
    for (uint32_t i = 0; i < 100; i++) {
        append_query(&q, q.computing.list, i, i + 1);
        expect_turns(&q, i, i + 1);
    }
    EXPECT_OK(zeCommandListDestroy(list));
    close_queries(&q);
}

static void queries__thousands__each_its_own_count(void **state)
{
    (void)state;
    bed_run_anywhere(check_many);
}

/* Where nothing was given to the stream, the driver is not asked about it. */
static void check_idle(void)
{
    struct querying q = open_queries("ComputeBasic", 1);
    const char *const wait = "cuStreamSynchronize";
    uint64_t waits;

    append_query(&q, q.computing.list, 0, 3);
    waits = cuda_calls(bed_machine, wait);
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[0]));
    EXPECT_OK(append_end(q.computing.list, q.queries[0]));
    assert_int_equal(cuda_calls(bed_machine, wait), waits);
    append_query(&q, q.computing.list, 0, 3);
    assert_cmp(cuda_calls(bed_machine, wait), >, waits);
    expect_turns(&q, 0, 3);
    close_queries(&q);
}

static void query__of_nothing__does_not_wait(void **state)
{
    (void)state;
    bed_run("gh100", check_idle);
}

/* ---- one at a time ------------------------------------------------------------------------ */

static void check_overlap(void)
{
    struct querying q = open_queries("ComputeBasic", 2);
    const ze_command_list_handle_t other =
        computing_list(&q.computing, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint8_t raw[4096];
    size_t bytes;

    /* Of another queue. */
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[0]));
    EXPECT_RESULT(zetCommandListAppendMetricQueryBegin(other, q.queries[1]),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("query 0 of ComputeBasic is open");
    append_launch(&q, q.computing.list, 5);
    EXPECT_RESULT(get_data(&q, 0, raw, &bytes), ZE_RESULT_NOT_READY);
    EXPECT_OK(append_end(q.computing.list, q.queries[0]));
    expect_turns(&q, 0, 5);
    append_query(&q, other, 1, 6);
    expect_turns(&q, 1, 6);
    /* The same again begins it anew. */
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(other, q.queries[1]));
    append_launch(&q, other, 5);
    append_query(&q, other, 1, 8);
    expect_turns(&q, 1, 8);
    EXPECT_RESULT(append_end(other, q.queries[1]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zeCommandListDestroy(other));
    close_queries(&q);
}

/* What another queue was given before is waited for, and is no part of the query; what comes
 * between is. */
static void check_other_queue(void)
{
    struct querying q = open_queries("ComputeBasic", 2);
    const ze_command_list_handle_t other =
        computing_list(&q.computing, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    append_launch(&q, other, 5000);
    append_query(&q, q.computing.list, 0, 3);
    append_launch(&q, other, 5000);
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[1]));
    append_launch(&q, other, 4);
    EXPECT_OK(zeCommandListHostSynchronize(other, UINT64_MAX));
    EXPECT_OK(append_end(q.computing.list, q.queries[1]));
    expect_turns(&q, 0, 3);
    expect_turns(&q, 1, 4);
    EXPECT_OK(zeCommandListDestroy(other));
    close_queries(&q);
}

static void begin__beside_work_of_another_queue__waits_for_it(void **state)
{
    (void)state;
    bed_run_anywhere(check_other_queue);
}

static void begin__while_another_is_open__in_use(void **state)
{
    (void)state;
    bed_run_anywhere(check_overlap);
}

/* One that fails takes the query of its queue with it, and nothing stays open. */
static void check_nested(void)
{
    struct querying q = open_queries("ComputeBasic", 2);
    const ze_command_list_handle_t other =
        computing_list(&q.computing, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint8_t raw[4096];
    size_t bytes;

    EXPECT_OK(zetCommandListAppendMetricQueryBegin(other, q.queries[0]));
    EXPECT_RESULT(zetCommandListAppendMetricQueryBegin(other, q.queries[1]),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(get_data(&q, 0, raw, &bytes), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("failed");
    append_query(&q, q.computing.list, 1, 4);
    expect_turns(&q, 1, 4);
    /* A queue that goes with an open query. */
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(other, q.queries[0]));
    EXPECT_OK(zeCommandListDestroy(other));
    append_query(&q, q.computing.list, 1, 9);
    expect_turns(&q, 1, 9);
    close_queries(&q);
}

static void begin__nested__fails_both(void **state)
{
    (void)state;
    bed_run_anywhere(check_nested);
}

/* ---- pools and streams -------------------------------------------------------------------- */

static void check_pools(void)
{
    struct querying first = open_queries("ComputeBasic", 3), second = first;

    second.pool = make_pool(&first.computing, first.group, 1);
    second.count = 1;
    second.queries = calloc(1, sizeof(zet_metric_query_handle_t));
    EXPECT_OK(zetMetricQueryCreate(second.pool, 0, &second.queries[0]));
    append_query(&first, first.computing.list, 0, 1);
    append_query(&second, first.computing.list, 0, 2);
    append_query(&first, first.computing.list, 1, 3);
    close_pool(&second); /* before anybody fetched its numbers */
    append_query(&first, first.computing.list, 2, 4);
    for (uint32_t i = 0; i < 3; i++)
        expect_turns(&first, i, i == 0 ? 1 : i + 2);
    append_query(&first, first.computing.list, 0, 11);

    expect_turns(&first, 0, 11);
    close_queries(&first);
}

static void pools__of_one_set__side_by_side(void **state)
{
    (void)state;
    bed_run_anywhere(check_pools);
}

/* A pool of another set begins, in a context of its own, which makes that set the active one. */
static void check_other_set(void)
{
    struct querying basic = open_queries("ComputeBasic", 2), flops;
    const struct computing c = computing_open_on(basic.computing.device, "kernels.ptx");

    append_query(&basic, basic.computing.list, 0, 7);
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(basic.computing.list, basic.queries[1]));
    append_launch(&basic, basic.computing.list, 8);
    flops = query_set(&c, "Flops", 1);
    use_kernel(&flops, "fma_loop", false);
    EXPECT_RESULT(zetCommandListAppendMetricQueryBegin(c.list, flops.queries[0]),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("query 1 of ComputeBasic is open");
    EXPECT_OK(append_end(basic.computing.list, basic.queries[1]));
    append_query(&flops, c.list, 0, 9);
    for (uint32_t i = 0; i < 2; i++) /* kept when the session ended */
        expect_turns(&basic, i, 7 + i);
    EXPECT_OK(zetContextActivateMetricGroups(basic.computing.context, basic.computing.device, 1,
                                             &basic.group));
    append_query(&basic, basic.computing.list, 1, 10);
    assert_cmp(value_of(&flops, 0, "Ffma"), ==, (double)THREADS * 64 * 9);
    expect_turns(&basic, 1, 10);
    close_queries(&flops);
    close_queries(&basic);
}

static void pools__of_two_sets__in_turn(void **state)
{
    (void)state;
    bed_run_anywhere(check_other_set);
}

static void check_stream(void)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    const zet_metric_query_pool_desc_t pool_desc = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, .count = 1};
    struct querying q = open_queries("ComputeBasic", 1);
    const ze_device_handle_t device = q.computing.device;
    const ze_context_handle_t context = q.computing.context;
    zet_metric_group_handle_t group = find_group(device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_streamer_handle_t streamer = NULL;

    append_query(&q, q.computing.list, 0, 2);
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    EXPECT_RESULT(zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("queries of ComputeBasic");
    expect_turns(&q, 0, 2);
    close_pool(&q); /* the last pool gives up the counters */
    EXPECT_OK(zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer));
    EXPECT_RESULT(zetMetricQueryPoolCreate(context, device, q.group, &pool_desc, &pool),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("a stream of ComputeBasic");
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
}

static void stream__beside_queries__busy_in_both_directions(void **state)
{
    (void)state;
    bed_run_anywhere(check_stream);
}

/* ---- threads ------------------------------------------------------------------------------ */

enum { THREAD_COUNT = 3, ROUNDS = 50 };

struct worker {
    struct querying q;
    uint32_t index;
    ze_result_t wrong;
};

/* Whoever comes while another query is open tries again. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    const zet_metric_query_handle_t query = worker->q.queries[worker->index];
    const ze_command_list_handle_t list = worker->q.computing.list;
    const ze_group_count_t count = {GROUPS, 1, 1};

    for (int i = 0; i < ROUNDS && worker->wrong == ZE_RESULT_SUCCESS; i++) {
        ze_result_t result;

        while ((result = zetCommandListAppendMetricQueryBegin(list, query)) ==
               ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
            (void)usleep(100);
        worker->wrong |= result;
        worker->wrong |=
            zeCommandListAppendLaunchKernel(list, worker->q.kernel, &count, NULL, 0, NULL);
        worker->wrong |= append_end(list, query);
        uint8_t raw[4096];
        size_t bytes;

        while (worker->wrong == ZE_RESULT_SUCCESS &&
               (result = get_data(&worker->q, worker->index, raw, &bytes)) == ZE_RESULT_NOT_READY)
            (void)usleep(100);
        worker->wrong |= result;
    }
    return NULL;
}

static void check_threads(void)
{
    const struct computing c = computing_open("kernels.ptx");
    struct querying q = query_set(&c, "ComputeBasic", THREAD_COUNT);
    struct worker workers[THREAD_COUNT];
    pthread_t threads[THREAD_COUNT];

    for (uint32_t i = 0; i < THREAD_COUNT; i++) {
        const uint32_t turns = i + 1;

        workers[i] = (struct worker){.q = q, .index = i};
        workers[i].q.computing.list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
        use_kernel(&workers[i].q, "fma_loop", false);
        EXPECT_OK(zeKernelSetArgumentValue(workers[i].q.kernel, 1, sizeof(turns), &turns));
    }
    for (uint32_t i = 0; i < THREAD_COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (uint32_t i = 0; i < THREAD_COUNT; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < THREAD_COUNT; i++) {
        EXPECT_OK(workers[i].wrong);
        expect_turns(&q, i, i + 1);
        EXPECT_OK(zeCommandListDestroy(workers[i].q.computing.list));
        EXPECT_OK(zeKernelDestroy(workers[i].q.kernel));
    }
    close_pool(&q);
    computing_close(&c);
}

static void threads__one_after_the_other__exact(void **state)
{
    (void)state;
    bed_run_anywhere(check_threads);
}

/* ---- failures ----------------------------------------------------------------------------- */

static void check_faults(void)
{
    static const struct {
        const char *fault;
        ze_result_t result;
        const char *part;
    } cases[] = {
        {"cuptiRangeProfilerStart=26", ZE_RESULT_ERROR_NOT_AVAILABLE, "another profiler"},
        {"cuptiRangeProfilerEnable=7", ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "such a session"},
        {"cuptiRangeProfilerSetConfig=999", ZE_RESULT_ERROR_UNKNOWN, "dmesg"},
        {"cuptiRangeProfilerCounterDataImageInitialize=1", ZE_RESULT_ERROR_INVALID_ARGUMENT,
         "refuses"},
        {"cuptiRangeProfilerPushRange=35", ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "NVreg"},
    };
    struct querying q = open_queries("ComputeBasic", 2);
    uint8_t raw[4096];
    size_t bytes;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(cuda_fault(bed_machine, cases[i].fault));
        EXPECT_RESULT(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[0]),
                      cases[i].result);
        expect_sentence(cases[i].part);
        cuda_no_faults(bed_machine);
    }
    /* Results that cannot be had are lost, and the next ones are there. */
    for (int i = 0; i < 4; i++) {
        static const char *const faults[] = {
            "cuptiRangeProfilerStop=999", "cuptiRangeProfilerDecodeData=999",
            "cuptiProfilerHostEvaluateToGpuValues=999", "cuptiRangeProfilerPopRange=999"};

        append_query(&q, q.computing.list, 0, 5);
        EXPECT_OK(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[1]));
        assert_true(cuda_fault(bed_machine, faults[i]));
        (void)append_end(q.computing.list, q.queries[1]);
        EXPECT_RESULT(get_data(&q, 0, raw, &bytes), ZE_RESULT_ERROR_UNKNOWN);
        expect_sentence("give the numbers of query 0 of ComputeBasic");
        EXPECT_RESULT(get_data(&q, 1, raw, &bytes), ZE_RESULT_ERROR_UNKNOWN);
        cuda_no_faults(bed_machine);
        append_query(&q, q.computing.list, 0, 6);
        expect_turns(&q, 0, 6);
    }
    close_queries(&q);
}

static void query__cupti_fails__says_why_and_goes_on(void **state)
{
    (void)state;
    bed_run("gh100", check_faults);
}

static void check_no_permission(void)
{
    struct querying q = open_queries("ComputeBasic", 1);

    EXPECT_RESULT(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[0]),
                  ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    expect_sentence("NVreg_RestrictProfilingToAdminUsers=0");
    close_queries(&q);
}

static void query__without_permission__says_so(void **state)
{
    (void)state;
    bed_run("{format: 1, permits: false, gpus: [{chip: gh100}]}", check_no_permission);
}

/* A fault of a kernel between begin and end. */
static void check_lost(void)
{
    struct querying q = open_queries("ComputeBasic", 2);
    const ze_group_count_t one = {1, 1, 1};
    ze_kernel_handle_t wild = computing_kernel(&q.computing, "write_at");
    const uint64_t nowhere = 16;
    uint8_t raw[4096];
    size_t bytes;

    append_query(&q, q.computing.list, 0, 3);
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[1]));
    EXPECT_OK(zeKernelSetArgumentValue(wild, 0, sizeof(nowhere), &nowhere));
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(q.computing.list, wild, &one, NULL, 0, NULL),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(get_data(&q, 0, raw, &bytes), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("write_at");
}

static void query__device_lost__says_so(void **state)
{
    (void)state;
    bed_run_anywhere(check_lost);
}

/* Another process samples. */
static void check_busy(void)
{
    int to[2], back[2], status;
    char letter = 0;
    pid_t child;
    struct querying q;

    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(back), 0);
    child = fork_child();
    if (child == 0) {
        q = open_queries("ComputeBasic", 1);
        append_query(&q, q.computing.list, 0, 1);
        assert_int_equal(write(back[1], "o", 1), 1);
        (void)!read(to[0], &letter, 1);
        _exit(0); /* with its session */
    }
    assert_int_equal(read(back[0], &letter, 1), 1);
    q = open_queries("ComputeBasic", 1);
    EXPECT_RESULT(zetCommandListAppendMetricQueryBegin(q.computing.list, q.queries[0]),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("another profiler");
    assert_int_equal(write(to[1], "e", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    append_query(&q, q.computing.list, 0, 2);
    expect_turns(&q, 0, 2);
    close_queries(&q);
}

static void query__another_process_counts__not_available(void **state)
{
    (void)state;
    bed_run_anywhere(check_busy);
}

/* CUDA cannot be used in a child, which leaves the session of its parent alone. */
static void check_fork(void)
{
    struct querying q = open_queries("ComputeBasic", 1);
    uint8_t raw[4096];
    size_t bytes;
    int status;
    pid_t child;

    append_query(&q, q.computing.list, 0, 3);
    child = fork_child();
    if (child == 0) {
        const bool is_refused = get_data(&q, 0, raw, &bytes) != ZE_RESULT_SUCCESS &&
                                append_end(q.computing.list, q.queries[0]) != ZE_RESULT_SUCCESS;

        _exit(is_refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_turns(&q, 0, 3);
    close_queries(&q);
}

static void query__in_a_child_of_fork__refused(void **state)
{
    (void)state;
    bed_run_anywhere(check_fork);
}

SUITE(queries)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts__of_kernels__closed_forms),
        cmocka_unit_test(counts__instrumented__closed_forms),
        cmocka_unit_test(counts__of_the_tensor_pipe__closed_forms),
        cmocka_unit_test(sets__of_queries__all_work),
        cmocka_unit_test(queries__of_other_chips__closed_forms),
        cmocka_unit_test(list__executed_again__counts_again),
        cmocka_unit_test(queries__thousands__each_its_own_count),
        cmocka_unit_test(query__of_nothing__does_not_wait),
        cmocka_unit_test(begin__beside_work_of_another_queue__waits_for_it),
        cmocka_unit_test(begin__while_another_is_open__in_use),
        cmocka_unit_test(begin__nested__fails_both),
        cmocka_unit_test(pools__of_one_set__side_by_side),
        cmocka_unit_test(pools__of_two_sets__in_turn),
        cmocka_unit_test(stream__beside_queries__busy_in_both_directions),
        cmocka_unit_test(threads__one_after_the_other__exact),
        cmocka_unit_test(query__cupti_fails__says_why_and_goes_on),
        cmocka_unit_test(query__without_permission__says_so),
        cmocka_unit_test(query__device_lost__says_so),
        cmocka_unit_test(query__another_process_counts__not_available),
        cmocka_unit_test(query__in_a_child_of_fork__refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
