/*
 * Random calls against a small model of the rules: which metrics and groups live, who is in which
 * group, what is closed, what is active. Every result is foretold. Then the same kind of calls from
 * several threads, where each result has to be one that the rules know.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programmable/bed.h"
#include "tests/support/suite.h"

#define BAD_ARGUMENT ZE_RESULT_ERROR_INVALID_ARGUMENT
#define IN_USE ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE

enum { METRICS = 6, GROUPS = 4, STEPS = 4000, THREADS = 4 };

/** What lives, by place. */
struct model {
    zet_metric_handle_t metrics[METRICS];
    zet_metric_group_handle_t groups[GROUPS];
    bool member[GROUPS][METRICS];
    bool closed[GROUPS];
    int active; /**< -1: none */
};

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static bool is_held(const struct model *model, uint32_t metric)
{
    for (uint32_t g = 0; g < GROUPS; g++) {
        if (model->groups[g] && model->member[g][metric])
            return true;
    }
    return false;
}

static void toggle_metric(const struct bed *bed, struct model *model, uint32_t m)
{
    static const char *const names[METRICS] = {"InstRetired", "FpOps",   "L1Hits",
                                               "InstRetired", "InstMem", "TlbMisses"};

    if (!model->metrics[m]) {
        (void)bed_make(bed, names[m], TIME_BASED, 0, NULL, &model->metrics[m]);
    } else if (is_held(model, m)) {
        EXPECT_RESULT(zetMetricDestroyExp(model->metrics[m]), IN_USE);
    } else {
        EXPECT_OK(zetMetricDestroyExp(model->metrics[m]));
        model->metrics[m] = NULL;
    }
}

static void toggle_group(const struct bed *bed, struct model *model, uint32_t g)
{
    if (!model->groups[g]) {
        EXPECT_OK(zetMetricGroupCreateExp(bed->device, "g", "d", TIME_BASED, &model->groups[g]));
        memset(model->member[g], 0, sizeof(model->member[g]));
        model->closed[g] = false;
    } else if (model->active == (int)g) {
        EXPECT_RESULT(zetMetricGroupDestroyExp(model->groups[g]), IN_USE);
    } else {
        EXPECT_OK(zetMetricGroupDestroyExp(model->groups[g]));
        model->groups[g] = NULL;
    }
}

static void add(struct model *model, uint32_t g, uint32_t m)
{
    ze_result_t wanted = ZE_RESULT_SUCCESS;

    if (!model->groups[g] || !model->metrics[m])
        return;
    if (model->active == (int)g)
        wanted = IN_USE;
    EXPECT_RESULT(zetMetricGroupAddMetricExp(model->groups[g], model->metrics[m], NULL, NULL),
                  wanted);
    if (wanted == ZE_RESULT_SUCCESS && !model->member[g][m]) {
        model->member[g][m] = true;
        model->closed[g] = false;
    }
}

static void take_out(struct model *model, uint32_t g, uint32_t m)
{
    ze_result_t wanted = ZE_RESULT_SUCCESS;

    if (!model->groups[g] || !model->metrics[m])
        return;
    if (model->active == (int)g)
        wanted = IN_USE;
    else if (!model->member[g][m])
        wanted = BAD_ARGUMENT;
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(model->groups[g], model->metrics[m]), wanted);
    if (wanted == ZE_RESULT_SUCCESS) {
        model->member[g][m] = false;
        model->closed[g] = false;
    }
}

static void close_group(struct model *model, uint32_t g)
{
    if (!model->groups[g])
        return;
    if (model->active == (int)g) {
        EXPECT_RESULT(zetMetricGroupCloseExp(model->groups[g]), IN_USE);
        return;
    }
    EXPECT_OK(zetMetricGroupCloseExp(model->groups[g]));
    model->closed[g] = true;
}

static void activate(const struct bed *bed, struct model *model, uint32_t g)
{
    if (!model->groups[g]) {
        EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
        model->active = -1;
        return;
    }
    EXPECT_RESULT(zetContextActivateMetricGroups(bed->context, bed->device, 1, &model->groups[g]),
                  model->closed[g] ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
    if (model->closed[g])
        model->active = (int)g;
}

/** What a group shows are its members, and more once it is closed. */
static void look(const struct model *model, uint32_t g)
{
    uint32_t members = 0;
    uint32_t count = 0;

    if (!model->groups[g])
        return;
    for (uint32_t m = 0; m < METRICS; m++)
        members += model->member[g][m];
    EXPECT_OK(zetMetricGet(model->groups[g], &count, NULL));
    assert_true(model->closed[g] ? count > members : count == members);
}

/** Opens and closes a stream on an active group; on another it is not ready. */
static void stream(const struct bed *bed, const struct model *model, uint32_t g)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 10000000};
    zet_metric_streamer_handle_t streamer = NULL;

    if (!model->groups[g])
        return;
    EXPECT_RESULT(
        zetMetricStreamerOpen(bed->context, bed->device, model->groups[g], &desc, NULL, &streamer),
        model->active == (int)g ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY);
    if (streamer)
        EXPECT_OK(zetMetricStreamerClose(streamer));
}

/* Rule 15.8. */
static void random_calls__do_what_the_model_says(void **state)
{
    const struct bed *bed = *state;
    struct model model = {.active = -1};
    uint32_t seed = 4711;

    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t g = next(&seed) % GROUPS;
        const uint32_t m = next(&seed) % METRICS;

        switch (next(&seed) % 16) {
        case 0:
        case 1:
            toggle_metric(bed, &model, m);
            break;
        case 2:
            toggle_group(bed, &model, g);
            break;
        case 3:
        case 4:
        case 5:
        case 6:
            add(&model, g, m);
            break;
        case 7:
        case 8:
            take_out(&model, g, m);
            break;
        case 9:
        case 10:
            close_group(&model, g);
            break;
        case 11:
        case 12:
            activate(bed, &model, g);
            break;
        case 13:
            stream(bed, &model, g);
            break;
        default:
            look(&model, g);
            break;
        }
    }
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    for (uint32_t g = 0; g < GROUPS; g++) {
        if (model.groups[g])
            EXPECT_OK(zetMetricGroupDestroyExp(model.groups[g]));
    }
    for (uint32_t m = 0; m < METRICS; m++) {
        if (model.metrics[m])
            EXPECT_OK(zetMetricDestroyExp(model.metrics[m]));
    }
    EXPECT_OK(zetDeviceDisableMetricsExp(bed->device)); /* nothing was left behind */
    EXPECT_OK(zetDeviceEnableMetricsExp(bed->device));
}

/** One of several threads: its own metrics and groups on the device of all. */
struct worker {
    pthread_t thread;
    const struct bed *bed;
    uint32_t seed;
    atomic_uint *wrong;
};

static void expect_one_of(struct worker *worker, ze_result_t got, ze_result_t or_else)
{
    if (got != ZE_RESULT_SUCCESS && got != or_else)
        atomic_fetch_add(worker->wrong, 1);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    const struct bed *bed = worker->bed;
    zet_metric_programmable_exp_handle_t programmable = bed_find(bed, "InstRetired", TIME_BASED);

    for (int i = 0; i < 60; i++) {
        zet_metric_programmable_param_value_exp_t scope = {.value.ui32 = 3};
        zet_metric_handle_t metrics[8];
        zet_metric_group_handle_t packed[2];
        zet_metric_group_handle_t group = NULL;
        uint32_t count = 4;
        uint32_t packed_count = 2;
        uint32_t passes = 0;

        expect_one_of(
            worker,
            zetMetricCreateFromProgrammableExp2(programmable, 1, &scope, "t", "d", &count, metrics),
            ZE_RESULT_SUCCESS);
        expect_one_of(worker, zetMetricGroupCreateExp(bed->device, "t", "d", TIME_BASED, &group),
                      ZE_RESULT_SUCCESS);
        for (uint32_t m = 0; m < count; m++)
            expect_one_of(worker, zetMetricGroupAddMetricExp(group, metrics[m], NULL, NULL),
                          ZE_RESULT_SUCCESS);
        expect_one_of(worker, zetMetricGroupCloseExp(group), ZE_RESULT_SUCCESS);
        expect_one_of(worker,
                      zetDeviceCreateMetricGroupsFromMetricsExp(bed->device, count, metrics, "t",
                                                                "d", &packed_count, packed),
                      ZE_RESULT_SUCCESS);
        expect_one_of(
            worker,
            zetDeviceGetConcurrentMetricGroupsExp(bed->device, packed_count, packed, NULL, &passes),
            ZE_RESULT_SUCCESS);
        /* The device has one active set: another thread may have put its own there. */
        if (next(&worker->seed) % 2)
            expect_one_of(worker,
                          zetContextActivateMetricGroups(bed->context, bed->device, 1, &group),
                          IN_USE);
        while (zetMetricGroupDestroyExp(group) == IN_USE)
            (void)zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL);
        while (packed_count > 0)
            expect_one_of(worker, zetMetricGroupDestroyExp(packed[--packed_count]),
                          ZE_RESULT_SUCCESS);
        while (count > 0)
            expect_one_of(worker, zetMetricDestroyExp(metrics[--count]), ZE_RESULT_SUCCESS);
    }
    return NULL;
}

static void threads__with_their_own_groups__do_not_disturb_each_other(void **state)
{
    const struct bed *bed = *state;
    struct worker workers[THREADS];
    atomic_uint wrong = 0;

    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.bed = bed, .seed = i, .wrong = &wrong};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&wrong), 0);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    EXPECT_OK(zetDeviceDisableMetricsExp(bed->device));
    EXPECT_OK(zetDeviceEnableMetricsExp(bed->device));
}

SUITE(model)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls__do_what_the_model_says),
        cmocka_unit_test(threads__with_their_own_groups__do_not_disturb_each_other),
    };

    return cmocka_run_group_tests_name("programmable.model", tests, bed_setup, bed_teardown);
}
