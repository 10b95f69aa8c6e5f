/*
 * Random sequences of everything that is done with metrics, beside a small model of the rules. Each
 * step asks the library and the model, and both have to say the same.
 */
#include <stdlib.h>
#include <string.h>

#include "streaming.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SEEDS (HAVE_THREAD_SANITIZER ? 4u : 12u)

enum { STEPS = 1500, STREAMS = 4, QUERIES = 3, RAW_BYTES = 1 << 18 };

#define TRACER_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED
#define IN_USE ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
#define GONE ZE_RESULT_ERROR_INVALID_NULL_HANDLE

/** Groups that take part; the last one is made by the application. */
enum group { COMPUTE, MEMORY, DISPATCH, QUERY_COMPUTE, QUERY_DISPATCH, EVENTS, OWN, GROUPS };

static const struct {
    const char *name;
    uint32_t sampling;
    uint32_t domain;
    bool is_streamed;
} groups[GROUPS] = {
    [COMPUTE] = {"ComputeBasic", TIME_BASED, 0, true},
    [MEMORY] = {"MemoryProfile", TIME_BASED, 0, true},
    [DISPATCH] = {"ThreadDispatch", TIME_BASED, 1, true},
    [QUERY_COMPUTE] = {"ComputeBasic", EVENT_BASED, 0, false},
    [QUERY_DISPATCH] = {"ThreadDispatch", EVENT_BASED, 1, false},
    [EVENTS] = {"KernelEvents", TRACER_BASED, 2, false},
    [OWN] = {"own", TIME_BASED, 0, true},
};

struct stream {
    zet_metric_streamer_handle_t handle;
    ze_context_handle_t context;
    enum group group;
    bool stopped;
};

struct walk {
    const struct bed *bed;
    ze_context_handle_t context; /**< of what is made now; changes */
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    zet_metric_group_handle_t groups[GROUPS]; /**< OWN: NULL while there is none */
    zet_metric_handle_t metric;               /**< of the application */
    uint8_t *raw;
    uint64_t random;
    uint32_t seed, step;

    bool disabled;
    bool active[GROUPS];
    struct stream streams[STREAMS];
    zet_metric_tracer_exp_handle_t tracer;
    bool tracer_on, tracer_stopped;
    zet_metric_query_pool_handle_t pool;
    enum group pool_group;
    zet_metric_query_handle_t queries[QUERIES];
    bool has_result[QUERIES];
};

static uint32_t draw(struct walk *walk, uint32_t below)
{
    walk->random ^= walk->random >> 12;
    walk->random ^= walk->random << 25;
    walk->random ^= walk->random >> 27;
    return (uint32_t)((walk->random * UINT64_C(2685821657736338717)) >> 33) % below;
}

static void same(const struct walk *walk, const char *what, ze_result_t got, ze_result_t wanted)
{
    if (got != wanted)
        fail_msg("seed %u, step %u: %s gave 0x%08x, the rules say 0x%08x: %s", walk->seed,
                 walk->step, what, (unsigned)got, (unsigned)wanted, zetaGetLastError());
}

/* Activation ------------------------------------------------------------------------------------
 */

/** What a call with these groups gives, which are not none. */
static ze_result_t activation_result(const struct walk *walk, const bool wanted[GROUPS])
{
    for (uint32_t a = 0; a < GROUPS; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (wanted[a] && wanted[b] && groups[a].domain == groups[b].domain)
                return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    if (walk->disabled)
        return ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
    for (uint32_t i = 0; i < STREAMS; i++) {
        const struct stream *stream = &walk->streams[i];

        if (stream->handle && !stream->stopped && !wanted[stream->group])
            return IN_USE;
    }
    if (walk->tracer && !walk->tracer_stopped && !wanted[EVENTS])
        return IN_USE;
    return ZE_RESULT_SUCCESS;
}

static void activate(struct walk *walk)
{
    zet_metric_group_handle_t handles[GROUPS];
    bool wanted[GROUPS] = {false};
    uint32_t count = 0;
    ze_result_t result;

    for (uint32_t g = 0; g < GROUPS; g++) {
        wanted[g] = walk->groups[g] && draw(walk, 5) < 2;
        if (wanted[g])
            handles[count++] = walk->groups[g];
    }
    if (count == 0)
        return;
    result = activation_result(walk, wanted);
    same(walk, "activate",
         zetContextActivateMetricGroups(walk->context, walk->bed->device, count, handles), result);
    if (result == ZE_RESULT_SUCCESS)
        memcpy(walk->active, wanted, sizeof(wanted));
}

static void deactivate(struct walk *walk)
{
    same(walk, "deactivate",
         zetContextActivateMetricGroups(walk->context, walk->bed->device, 0, NULL),
         ZE_RESULT_SUCCESS);
    memset(walk->active, 0, sizeof(walk->active));
    for (uint32_t i = 0; i < STREAMS; i++)
        walk->streams[i].stopped = true;
    if (walk->tracer) {
        walk->tracer_stopped = true;
        walk->tracer_on = false;
    }
}

static bool anything_active(const struct walk *walk)
{
    for (uint32_t g = 0; g < GROUPS; g++) {
        if (walk->active[g])
            return true;
    }
    return false;
}

static void disable_or_enable(struct walk *walk)
{
    bool used = anything_active(walk) || walk->tracer || walk->pool || walk->metric;

    if (draw(walk, 3) == 0) {
        same(walk, "enable", zetDeviceEnableMetricsExp(walk->bed->device), ZE_RESULT_SUCCESS);
        walk->disabled = false;
        return;
    }
    for (uint32_t i = 0; i < STREAMS; i++)
        used |= walk->streams[i].handle != NULL;
    same(walk, "disable", zetDeviceDisableMetricsExp(walk->bed->device),
         used ? IN_USE : ZE_RESULT_SUCCESS);
    walk->disabled = walk->disabled || !used;
}

static void change_context(struct walk *walk)
{
    const ze_context_handle_t old = walk->context;

    walk->context = make_context(walk->bed->device);
    same(walk, "context destroy", zeContextDestroy(old), ZE_RESULT_SUCCESS);
}

/* Streams ---------------------------------------------------------------------------------------
 */

static bool shares_unit(enum group a, enum group b)
{
    return groups[a].domain == groups[b].domain; /* here units and domains are the same */
}

static void open_stream(struct walk *walk)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = draw(walk, 50),
                                       .samplingPeriod = 100000};
    const enum group group = (enum group)draw(walk, GROUPS);
    struct stream *stream = &walk->streams[draw(walk, STREAMS)];
    ze_result_t wanted = walk->active[group] ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;

    if (stream->handle || !walk->groups[group])
        return;
    if (!groups[group].is_streamed)
        wanted = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < STREAMS && wanted == ZE_RESULT_SUCCESS; i++) {
        const struct stream *other = &walk->streams[i];

        if (other->handle && !other->stopped && shares_unit(other->group, group))
            wanted = IN_USE;
    }
    *stream = (struct stream){.group = group, .context = walk->context};
    same(walk, "stream open",
         zetMetricStreamerOpen(walk->context, walk->bed->device, walk->groups[group], &desc, NULL,
                               &stream->handle),
         wanted);
    assert_int_equal(stream->handle != NULL, wanted == ZE_RESULT_SUCCESS);
}

static void read_stream(struct walk *walk)
{
    const struct stream *stream = &walk->streams[draw(walk, STREAMS)];
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    size_t size = 256 * (1 + draw(walk, RAW_BYTES / 256));
    ze_result_t result;

    if (!stream->handle)
        return;
    result = zetMetricStreamerReadData(stream->handle, 1 + draw(walk, 1000), &size, walk->raw);
    /* A host so busy that a ring ran over; that has to be true. */
    if (result == ZE_RESULT_WARNING_DROPPED_DATA) {
        EXPECT_OK(zetaMetricStreamerGetInfo(stream->handle, &info));
        assert_cmp(info.lost, >, 0);
        result = ZE_RESULT_SUCCESS;
    }
    same(walk, "stream read", result, ZE_RESULT_SUCCESS);
    assert_int_equal(size % 256, 0);
}

static void close_stream(struct walk *walk)
{
    struct stream *stream = &walk->streams[draw(walk, STREAMS)];
    size_t size = RAW_BYTES;

    if (!stream->handle)
        return;
    same(walk, "stream close", zetMetricStreamerClose(stream->handle), ZE_RESULT_SUCCESS);
    same(walk, "second close", zetMetricStreamerClose(stream->handle), GONE);
    same(walk, "read of the closed",
         zetMetricStreamerReadData(stream->handle, UINT32_MAX, &size, walk->raw), GONE);
    stream->handle = NULL;
}

/** Markers need a list of the stream's context, which has to live. */
static void mark(struct walk *walk)
{
    const struct stream *stream = &walk->streams[draw(walk, STREAMS)];
    ze_command_list_handle_t list;
    struct bed here = *walk->bed;

    if (!stream->handle || stream->context != walk->context)
        return;
    here.context = walk->context;
    list = bed_immediate(&here, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    same(walk, "marker", zetCommandListAppendMetricStreamerMarker(list, stream->handle, 7),
         stream->stopped ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
    EXPECT_OK(zeCommandListDestroy(list));
}

/* Queries ---------------------------------------------------------------------------------------
 */

static void make_pool(struct walk *walk)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = QUERIES};

    if (walk->pool)
        return;
    walk->pool_group = draw(walk, 2) ? QUERY_COMPUTE : QUERY_DISPATCH;
    same(walk, "pool create",
         zetMetricQueryPoolCreate(walk->context, walk->bed->device, walk->groups[walk->pool_group],
                                  &desc, &walk->pool),
         ZE_RESULT_SUCCESS);
}

static void drop_pool(struct walk *walk)
{
    bool used = false;

    for (uint32_t i = 0; i < QUERIES; i++)
        used |= walk->queries[i] != NULL;
    if (!walk->pool)
        return;
    same(walk, "pool destroy", zetMetricQueryPoolDestroy(walk->pool),
         used ? IN_USE : ZE_RESULT_SUCCESS);
    if (!used)
        walk->pool = NULL;
}

static void make_or_drop_query(struct walk *walk)
{
    const uint32_t i = draw(walk, QUERIES);
    zet_metric_query_handle_t second = NULL;

    if (!walk->pool)
        return;
    if (!walk->queries[i]) {
        same(walk, "query create", zetMetricQueryCreate(walk->pool, i, &walk->queries[i]),
             ZE_RESULT_SUCCESS);
        same(walk, "query of a taken place", zetMetricQueryCreate(walk->pool, i, &second),
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
    } else {
        same(walk, "query destroy", zetMetricQueryDestroy(walk->queries[i]), ZE_RESULT_SUCCESS);
        walk->queries[i] = NULL;
    }
    walk->has_result[i] = false;
}

static void run_query(struct walk *walk)
{
    const uint32_t i = draw(walk, QUERIES);
    const zet_metric_query_handle_t query = walk->queries[i];
    const bool active = walk->active[walk->pool_group];

    if (!query)
        return;
    same(walk, "query begin", zetCommandListAppendMetricQueryBegin(walk->list, query),
         active ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
    if (!active)
        return;
    bed_count_append(walk->list, walk->kernel, 2);
    bed_end(walk->list, query, NULL);
    walk->has_result[i] = true;
}

static void look_at_query(struct walk *walk)
{
    const uint32_t i = draw(walk, QUERIES);
    size_t size = RAW_BYTES;

    if (!walk->queries[i])
        return;
    if (draw(walk, 4) == 0) {
        same(walk, "query reset", zetMetricQueryReset(walk->queries[i]), ZE_RESULT_SUCCESS);
        walk->has_result[i] = false;
    }
    same(walk, "query data", zetMetricQueryGetData(walk->queries[i], &size, walk->raw),
         walk->has_result[i] ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
}

/* Tracers ---------------------------------------------------------------------------------------
 */

static void make_tracer(struct walk *walk)
{
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_tracer_exp_handle_t made = NULL;
    ze_result_t wanted = walk->active[EVENTS] ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;

    if (walk->tracer && walk->tracer_stopped)
        return; /* one at a time is enough */
    if (wanted == ZE_RESULT_SUCCESS && walk->tracer)
        wanted = IN_USE;
    same(walk, "tracer create",
         zetMetricTracerCreateExp(walk->context, walk->bed->device, 1, &walk->groups[EVENTS], &desc,
                                  NULL, &made),
         wanted);
    if (wanted != ZE_RESULT_SUCCESS)
        return;
    walk->tracer = made;
    walk->tracer_on = false;
    walk->tracer_stopped = false;
}

static void use_tracer(struct walk *walk)
{
    size_t size = RAW_BYTES;

    if (!walk->tracer)
        return;
    switch (draw(walk, 4)) {
    case 0:
        same(walk, "tracer enable", zetMetricTracerEnableExp(walk->tracer, 1),
             walk->tracer_stopped ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
        walk->tracer_on = !walk->tracer_stopped;
        return;
    case 1:
        same(walk, "tracer disable", zetMetricTracerDisableExp(walk->tracer, 1), ZE_RESULT_SUCCESS);
        walk->tracer_on = false;
        return;
    case 2:
        if (zetMetricTracerReadDataExp(walk->tracer, &size, walk->raw) == ZE_RESULT_NOT_READY) {
            assert_false(walk->tracer_on);
            assert_int_equal(size, 0);
        }
        return;
    default:
        same(walk, "tracer destroy", zetMetricTracerDestroyExp(walk->tracer),
             walk->tracer_on ? IN_USE : ZE_RESULT_SUCCESS);
        if (!walk->tracer_on)
            walk->tracer = NULL;
    }
}

/* What applications make ------------------------------------------------------------------------
 */

static zet_metric_programmable_exp_handle_t find_programmable(const struct walk *walk)
{
    zet_metric_programmable_exp_handle_t all[64];
    uint32_t count = 64;

    EXPECT_OK(zetMetricProgrammableGetExp(walk->bed->device, &count, all));
    assert_cmp(count, >, 0);
    return all[0]; /* time-based ones come first */
}

static void make_own(struct walk *walk)
{
    uint32_t count = 1;

    if (!walk->metric) {
        same(walk, "metric create",
             zetMetricCreateFromProgrammableExp2(find_programmable(walk), 0, NULL, "Own", "own",
                                                 &count, &walk->metric),
             ZE_RESULT_SUCCESS);
        return;
    }
    if (walk->groups[OWN])
        return;
    same(walk, "group create",
         zetDeviceCreateMetricGroupsFromMetricsExp(walk->bed->device, 1, &walk->metric, "own",
                                                   "own", &count, &walk->groups[OWN]),
         ZE_RESULT_SUCCESS);
}

static void drop_own(struct walk *walk)
{
    const zet_metric_group_handle_t group = walk->groups[OWN];

    if (draw(walk, 2) && walk->metric) {
        same(walk, "metric destroy", zetMetricDestroyExp(walk->metric),
             group ? IN_USE : ZE_RESULT_SUCCESS);
        if (!group)
            walk->metric = NULL;
    } else if (group) {
        same(walk, "group destroy", zetMetricGroupDestroyExp(group),
             walk->active[OWN] ? IN_USE : ZE_RESULT_SUCCESS);
        if (!walk->active[OWN])
            walk->groups[OWN] = NULL;
    }
}

/* ------------------------------------------------------------------------------------------------
 */

static void do_step(struct walk *walk)
{
    static void (*const steps[])(struct walk *) = {
        activate,     activate,    activate,      deactivate,  disable_or_enable,
        open_stream,  open_stream, open_stream,   read_stream, read_stream,
        close_stream, mark,        make_pool,     drop_pool,   make_or_drop_query,
        run_query,    run_query,   look_at_query, make_tracer, use_tracer,
        use_tracer,   make_own,    make_own,      drop_own,    change_context};

    steps[draw(walk, sizeof(steps) / sizeof(steps[0]))](walk);
}

/** Ends everything; afterwards metrics can be disabled. */
static void end(struct walk *walk)
{
    deactivate(walk);
    for (uint32_t i = 0; i < STREAMS; i++) {
        if (walk->streams[i].handle)
            EXPECT_OK(zetMetricStreamerClose(walk->streams[i].handle));
    }
    for (uint32_t i = 0; i < QUERIES; i++) {
        if (walk->queries[i])
            EXPECT_OK(zetMetricQueryDestroy(walk->queries[i]));
    }
    if (walk->pool)
        EXPECT_OK(zetMetricQueryPoolDestroy(walk->pool));
    if (walk->tracer)
        EXPECT_OK(zetMetricTracerDestroyExp(walk->tracer));
    if (walk->groups[OWN])
        EXPECT_OK(zetMetricGroupDestroyExp(walk->groups[OWN]));
    if (walk->metric)
        EXPECT_OK(zetMetricDestroyExp(walk->metric));
    EXPECT_OK(zetDeviceDisableMetricsExp(walk->bed->device));
    EXPECT_OK(zetDeviceEnableMetricsExp(walk->bed->device));
    EXPECT_OK(zeContextDestroy(walk->context));
}

/* Rule 11.11. */
static void model__random_steps__library_and_rules_agree(void **state)
{
    const struct bed *bed = *state;
    uint32_t *counter = bed_memory(bed, 64);
    static struct walk walk;
    struct walk begin = {.bed = bed, .raw = malloc(RAW_BYTES)};

    assert_non_null(begin.raw);
    begin.list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    begin.kernel = bed_count(bed, counter);
    for (uint32_t g = 0; g < OWN; g++)
        begin.groups[g] = find_group(bed->device, groups[g].name, groups[g].sampling, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        walk = begin;
        walk.context = make_context(bed->device);
        walk.random = seed * UINT64_C(0x9e3779b97f4a7c15);
        walk.seed = seed;
        for (walk.step = 0; walk.step < STEPS; walk.step++)
            do_step(&walk);
        end(&walk);
    }
    free(begin.raw);
    EXPECT_OK(zeKernelDestroy(begin.kernel));
    EXPECT_OK(zeCommandListDestroy(begin.list));
    EXPECT_OK(zeMemFree(bed->context, counter));
}

SUITE(model)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model__random_steps__library_and_rules_agree),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
