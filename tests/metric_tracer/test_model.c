/*
 * Random sequences of everything that is done to a tracer, beside a small model of the rules. Each
 * step asks the library and the model, and both have to say the same.
 */
#include <stdio.h>
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { STEPS = 4000, SEEDS = 6 };

enum state { OFF, STARTING, ON, STOPPING };

/** What the rules say about one tracer of KernelEvents. */
struct model {
    bool active;  /**< KernelEvents */
    bool exists;  /**< the tracer */
    bool stopped; /**< its group was deactivated */
    bool enabled; /**< asked for last */
    bool held;    /**< asynchronous calls stay pending */
    enum state state;
    uint32_t waiting; /**< records that reads will give */
};

struct walk {
    struct trace_bed bed;
    struct model model;
    zet_metric_group_handle_t kernels;
    zet_metric_group_handle_t copies;
    uint64_t random;
    uint32_t last_id;
    uint32_t seed, step;
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
        fail_msg("seed %u, step %u: %s gave 0x%08x, the rules say 0x%08x", walk->seed, walk->step,
                 what, (unsigned)got, (unsigned)wanted);
}

static bool holds_unit(const struct model *model)
{
    return model->exists && !model->stopped;
}

static void activate(struct walk *walk)
{
    struct model *model = &walk->model;
    const bool other = draw(walk, 4) == 0;
    zet_metric_group_handle_t *group = other ? &walk->copies : &walk->kernels;
    const bool refused = other && holds_unit(model);

    same(walk, "activate",
         zetContextActivateMetricGroups(walk->bed.context, walk->bed.device, 1, group),
         refused ? ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE : ZE_RESULT_SUCCESS);
    if (!refused)
        model->active = !other;
}

/** The end of collecting: told by a record unless one was written already. */
static void model_off(struct model *model, enum state next)
{
    if (model->state == ON || model->state == STARTING)
        model->waiting++;
    if (model->state != OFF)
        model->state = next;
}

static void deactivate(struct walk *walk)
{
    struct model *model = &walk->model;

    same(walk, "deactivate",
         zetContextActivateMetricGroups(walk->bed.context, walk->bed.device, 0, NULL),
         ZE_RESULT_SUCCESS);
    model->active = false;
    if (!holds_unit(model))
        return;
    model_off(model, OFF);
    model->enabled = false;
    model->stopped = true;
}

static void create(struct walk *walk)
{
    struct model *model = &walk->model;
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_tracer_exp_handle_t made = NULL;
    ze_result_t wanted = ZE_RESULT_SUCCESS;

    if (model->exists && model->stopped)
        return; /* one tracer at a time is enough */
    if (!model->active)
        wanted = ZE_RESULT_NOT_READY;
    else if (model->exists)
        wanted = ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    same(walk, "create",
         zetMetricTracerCreateExp(walk->bed.context, walk->bed.device, 1, &walk->kernels, &desc,
                                  NULL, &made),
         wanted);
    if (wanted != ZE_RESULT_SUCCESS)
        return;
    walk->bed.tracer = made;
    *model = (struct model){.active = true, .exists = true, .held = model->held};
}

static void destroy(struct walk *walk)
{
    struct model *model = &walk->model;
    zet_metric_tracer_exp_handle_t gone = walk->bed.tracer;
    const ze_result_t wanted =
        model->enabled ? ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE : ZE_RESULT_SUCCESS;

    same(walk, "destroy", zetMetricTracerDestroyExp(gone), wanted);
    if (wanted != ZE_RESULT_SUCCESS)
        return;
    walk->bed.tracer = NULL;
    model->exists = false;
    same(walk, "destroy twice", zetMetricTracerDestroyExp(gone),
         ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void enable(struct walk *walk)
{
    struct model *model = &walk->model;
    const bool synchronous = draw(walk, 2) == 0;

    same(walk, "enable", zetMetricTracerEnableExp(walk->bed.tracer, synchronous),
         model->stopped ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
    if (model->stopped)
        return;
    model->enabled = true;
    if (model->state == OFF) {
        model->waiting++;
        model->state = model->held && !synchronous ? STARTING : ON;
    } else if (model->state != STARTING || synchronous) {
        model->state = ON;
    }
}

static void disable(struct walk *walk)
{
    struct model *model = &walk->model;
    const bool synchronous = draw(walk, 2) == 0;

    same(walk, "disable", zetMetricTracerDisableExp(walk->bed.tracer, synchronous),
         ZE_RESULT_SUCCESS);
    model_off(model, model->held && !synchronous ? STOPPING : OFF);
    model->enabled = false;
}

static void happen(struct walk *walk)
{
    const uint32_t count = 1 + draw(walk, 5);

    walk->bed.control->push("trace0", "kernels", draw(walk, 2) ? TRACE_BEGIN : TRACE_END, count);
    if (holds_unit(&walk->model) && (walk->model.state == ON || walk->model.state == STOPPING))
        walk->model.waiting += count;
}

static void read_some(struct walk *walk)
{
    struct model *model = &walk->model;
    const uint32_t room = 1 + draw(walk, 12);
    const uint32_t given = model->state == STARTING || model->waiting < room
                               ? (model->state == STARTING ? 0 : model->waiting)
                               : room;
    size_t size = bytes_of(room);
    ze_result_t wanted = ZE_RESULT_SUCCESS;

    if (model->state == STARTING || (given == 0 && model->state == OFF))
        wanted = ZE_RESULT_NOT_READY;
    same(walk, "read", zetMetricTracerReadDataExp(walk->bed.tracer, &size, walk->bed.raw), wanted);
    if (size != bytes_of(given))
        fail_msg("seed %u, step %u: a read gave %zu bytes, the rules say %zu", walk->seed,
                 walk->step, size, bytes_of(given));
    for (uint32_t i = 0; i < given; i++) {
        struct trace_record record;

        memcpy(&record, walk->bed.raw + bytes_of(i), sizeof(record));
        assert_cmp(record.id, >, walk->last_id);
        walk->last_id = record.id;
    }
    model->waiting -= given;
}

static void hold_or_settle(struct walk *walk)
{
    struct model *model = &walk->model;

    model->held = !model->held;
    walk->bed.control->hold("trace0", model->held);
    if (!model->held && model->state == STARTING)
        model->state = ON;
    if (!model->held && model->state == STOPPING)
        model->state = OFF;
}

static void step(struct walk *walk)
{
    const uint32_t what = draw(walk, 20);

    if (what == 0)
        deactivate(walk);
    else if (what < 3)
        activate(walk);
    else if (what < 5)
        create(walk);
    else if (what < 6)
        hold_or_settle(walk);
    else if (what < 9)
        happen(walk);
    else if (!walk->model.exists)
        return;
    else if (what < 10)
        destroy(walk);
    else if (what < 12)
        enable(walk);
    else if (what < 14)
        disable(walk);
    else
        read_some(walk);
}

/* Rule 11.11. */
static void model__random_steps__library_and_rules_agree(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        static struct walk walk;

        memset(&walk, 0, sizeof(walk));
        walk.bed = bed_make("trace0");
        walk.kernels = find_group(walk.bed.device, "KernelEvents", TRACER_BASED, NULL);
        walk.copies = find_group(walk.bed.device, "CopyEvents", TRACER_BASED, NULL);
        walk.random = seed * UINT64_C(0x9e3779b97f4a7c15);
        walk.seed = seed;
        for (walk.step = 0; walk.step < STEPS; walk.step++)
            step(&walk);
        deactivate(&walk); /* also what was enabled last can be destroyed now */
        bed_free(&walk.bed);
    }
}

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

SUITE(model)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model__random_steps__library_and_rules_agree),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
