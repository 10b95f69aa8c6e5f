/* From the expressions of a set to slots and steps. */
#include "core/formula/evaluate/sum_priv.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/lower.h"
#include "core/formula/evaluate/sum.h"
#include "core/util/cleanup.h"

/** Most steps of one plan: far more than sets have, and a bound for those that somebody made up. */
#define MAX_STEPS (UINT32_C(1) << 20)

struct memo {
    uint32_t step;
    uint32_t valid; /**< node: the rows that count for it; ZETA_NODE_NONE while there is no step */
};

struct planner {
    struct zeta_sum_plan *plan;
    struct zeta_lowering lowering;
    bool maximum;
    uint32_t valid; /**< node: the rows that count for the metric at hand */

    /** Step of each metric of the set that others refer to, and for which rows. */
    struct memo *memo;
    uint32_t *slot_of; /**< slot + 1 by node and mode */
    uint32_t slot_room, step_room;
};

static uint32_t stop(struct planner *planner, ze_result_t result)
{
    (void)zeta_lower_stop(&planner->lowering, result);
    return 0;
}

/** Makes room for one more element of an array. */
static bool grow(void **array, uint32_t *room, uint32_t count, size_t element_bytes)
{
    void *larger;

    if (count < *room)
        return true;
    larger = realloc(*array, ((size_t)*room * 2 + 16) * element_bytes);
    if (!larger)
        return false;
    *array = larger;
    *room = *room * 2 + 16;
    return true;
}

static uint32_t add_step(struct planner *planner, const struct zeta_sum_step *step)
{
    struct zeta_sum_plan *plan = planner->plan;

    if (plan->step_count == MAX_STEPS)
        return stop(planner, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    if (!grow((void **)&plan->steps, &planner->step_room, plan->step_count, sizeof(*step)))
        return stop(planner, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    plan->steps[plan->step_count] = *step;
    return plan->step_count++;
}

static uint32_t add_constant(struct planner *planner, const struct zeta_number *number)
{
    const struct zeta_sum_step step = {
        .op = ZETA_EXPR_CONSTANT, .number = *number, .is_constant = true};

    return add_step(planner, &step);
}

static enum zeta_sum_mode mode_of(const struct zeta_set *set, enum zeta_expr_view view)
{
    if (view == ZETA_VIEW_DELTA ||
        (set->layout->kind == ZETA_LAYOUT_SAMPLE && set->query_of == NULL))
        return ZETA_SUM_ADD;
    return view == ZETA_VIEW_BEFORE ? ZETA_SUM_FIRST : ZETA_SUM_LAST;
}

/** The slot of a node that is added up in rows in which it counts. */
static uint32_t find_slot(struct planner *planner, uint32_t node, const struct zeta_sum_slot *slot)
{
    struct zeta_sum_plan *plan = planner->plan;
    uint32_t *found = &planner->slot_of[(size_t)node * ZETA_SUM_MODE_COUNT + slot->mode];

    if (*found == 0) {
        if (!grow((void **)&plan->slots, &planner->slot_room, plan->slot_count, sizeof(*slot)))
            return stop(planner, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        plan->slots[plan->slot_count] = *slot;
        plan->slots[plan->slot_count].node = node;
        plan->slots[plan->slot_count].valid_node = planner->valid;
        *found = ++plan->slot_count;
    }
    return *found - 1;
}

static uint32_t add_field(struct planner *planner, const struct zeta_expr *expr)
{
    struct zeta_lowering *lowering = &planner->lowering;
    const uint32_t leaf = zeta_lower_field(lowering, expr->u.ref.target, expr->u.ref.view);
    struct zeta_sum_slot slot = {.mode = mode_of(lowering->set, expr->u.ref.view),
                                 .field = expr->u.ref.target,
                                 .view = (uint32_t)expr->u.ref.view};
    struct zeta_sum_step step = {.op = ZETA_EXPR_FIELD};
    uint32_t args[3] = {planner->valid, leaf};
    uint32_t node;

    if (lowering->result != ZE_RESULT_SUCCESS)
        return 0;
    slot.type = lowering->nodes[leaf].type;
    args[2] =
        slot.type == ZETA_EXPR_F64 ? zeta_lower_f64(lowering, 0.0) : zeta_lower_u64(lowering, 0);
    node = zeta_lower_op(lowering, ZETA_EXPR_SELECT, args);
    if (lowering->result != ZE_RESULT_SUCCESS)
        return 0;
    step.arg[0] = find_slot(planner, node, &slot);
    return add_step(planner, &step);
}

static uint32_t plan_expr(struct planner *planner, const struct zeta_expr *expr);

static uint32_t plan_metric(struct planner *planner, uint32_t index)
{
    struct zeta_lowering *lowering = &planner->lowering;
    const struct zeta_metric *metric = &lowering->set->metrics[index];
    struct memo *memo = &planner->memo[index];
    const bool outside = lowering->stamp;

    if (memo->valid != planner->valid) {
        lowering->stamp = metric->type == ZET_METRIC_TYPE_TIMESTAMP;
        memo->step = plan_expr(planner, metric->value);
        lowering->stamp = outside;
        memo->valid = planner->valid;
    }
    return memo->step;
}

static uint32_t plan_operation(struct planner *planner, const struct zeta_expr *expr)
{
    const struct zeta_expr *divisor = zeta_expr_divisor(expr);
    const enum zeta_expr_typing typing = zeta_expr_operations[expr->op].typing;
    struct zeta_sum_step step = {.op = expr->op, .is_constant = true};

    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        const struct zeta_sum_step *part;

        step.arg[i] = plan_expr(planner, expr->u.arg[i]);
        if (planner->lowering.result != ZE_RESULT_SUCCESS)
            return 0;
        part = &planner->plan->steps[step.arg[i]];
        step.is_constant = step.is_constant && part->is_constant;
        step.is_share =
            step.is_share || part->is_share || (expr->u.arg[i] == divisor && !part->is_constant);
    }
    /* In how many tiles a condition holds is no answer. */
    if (!step.is_constant && (typing == ZETA_TYPING_COMPARE || typing == ZETA_TYPING_LOGICAL))
        step.is_share = true;
    return add_step(planner, &step);
}

static uint32_t plan_expr(struct planner *planner, const struct zeta_expr *expr)
{
    const struct zeta_compiled *compiled = planner->plan->compiled;
    struct zeta_number number;

    if (planner->lowering.result != ZE_RESULT_SUCCESS)
        return 0;
    switch (expr->op) {
    case ZETA_EXPR_CONSTANT:
        number = zeta_expr_constant(expr);
        return add_constant(planner, &number);
    case ZETA_EXPR_SYMBOL: /* known, or the set would not have been compiled */
        return add_constant(planner, &compiled->symbols[expr->u.ref.target]);
    case ZETA_EXPR_FIELD:
        return add_field(planner, expr);
    case ZETA_EXPR_METRIC:
        return plan_metric(planner, expr->u.ref.target);
    default:
        return plan_operation(planner, expr);
    }
}

/** True if rows of a metric of that type have no common value. */
static bool is_state(zet_metric_type_t type)
{
    switch ((uint32_t)type) {
    case ZET_METRIC_TYPE_DURATION:
    case ZET_METRIC_TYPE_EVENT:
    case ZET_METRIC_TYPE_EVENT_WITH_RANGE:
    case ZET_METRIC_TYPE_THROUGHPUT:
    case ZET_METRIC_TYPE_RATIO:
        return false;
    default:
        return true;
    }
}

/** Plans one metric; gives the condition of rows in which it is defined. */
static uint32_t plan_result(struct planner *planner, uint32_t place, uint32_t index)
{
    struct zeta_lowering *lowering = &planner->lowering;
    const struct zeta_expr *expr = zeta_metric_expr(lowering->set, index, planner->maximum);
    const struct zeta_number hundred = {.type = ZETA_EXPR_U64, .u.u64 = 100};

    if (is_state(lowering->set->metrics[index].type))
        planner->plan->result[place] = ZETA_SUM_STATE;
    if (!expr) {
        if (planner->plan->result[place] != ZETA_SUM_STATE)
            planner->plan->result[place] = add_constant(planner, &hundred);
        return zeta_lower_u64(lowering, 1);
    }
    planner->valid = zeta_lower_validity(lowering, expr);
    if (planner->plan->result[place] != ZETA_SUM_STATE)
        planner->plan->result[place] = expr == lowering->set->metrics[index].value
                                           ? plan_metric(planner, index)
                                           : plan_expr(planner, expr);
    return zeta_lower_defined(lowering, expr);
}

/**
 * Schedules values, conditions and slots together. The program writes the values only; where the
 * others are is noted.
 */
static ze_result_t schedule(struct planner *planner, uint32_t *nodes, uint32_t *types)
{
    struct zeta_sum_plan *plan = planner->plan;
    const uint32_t width = plan->metric_count;
    const uint32_t slots = plan->slot_count;
    ze_result_t result;

    for (uint32_t i = 0; i < slots; i++) {
        nodes[2 * width + i] = plan->slots[i].node;
        nodes[2 * width + slots + i] = plan->slots[i].valid_node;
    }
    result = zeta_schedule(&planner->lowering, nodes, types, 2 * (width + slots),
                           zeta_lower_skip(&planner->lowering), &plan->program);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < width; i++)
        plan->defined[i] = plan->program.outputs[width + i].column;
    for (uint32_t i = 0; i < slots; i++) {
        plan->slots[i].column = plan->program.outputs[2 * width + i].column;
        plan->slots[i].valid = plan->program.outputs[2 * width + slots + i].column;
    }
    plan->program.output_count = width;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fill(struct planner *planner)
{
    struct zeta_sum_plan *plan = planner->plan;
    struct zeta_lowering *lowering = &planner->lowering;
    const struct zeta_compiled_body *body = lowering->body;
    const uint32_t width = body->metric_count;
    ZETA_CLEANUP(zeta_freep) uint32_t *defined = calloc(width, sizeof(*defined));
    ZETA_CLEANUP(zeta_freep) uint32_t *nodes = NULL;
    ZETA_CLEANUP(zeta_freep) uint32_t *types = NULL;
    size_t count;

    plan->metric_count = width;
    plan->defined = zeta_arena_array(&plan->arena, width, sizeof(*plan->defined));
    plan->result = zeta_arena_array(&plan->arena, width, sizeof(*plan->result));
    if (!defined || !plan->defined || !plan->result)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < width; i++)
        defined[i] = plan_result(planner, i, (uint32_t)(body->metrics[i] - body->set->metrics));
    count = (size_t)2 * (width + plan->slot_count);
    nodes = calloc(count, sizeof(*nodes));
    types = calloc(count, sizeof(*types));
    if (!nodes || !types)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < width; i++) {
        nodes[i] = zeta_lower_output(lowering, (uint32_t)(body->metrics[i] - body->set->metrics),
                                     planner->maximum);
        types[i] = (uint32_t)body->metrics[i]->value_type;
        nodes[width + i] = defined[i];
    }
    if (lowering->result != ZE_RESULT_SUCCESS)
        return lowering->result;
    return schedule(planner, nodes, types);
}

ze_result_t zeta_sum_plan_create(const struct zeta_compiled *compiled, bool maximum,
                                 struct zeta_sum_plan **out_plan)
{
    const struct zeta_compiled_body *body = zeta_compiled_body(compiled);
    struct planner planner = {.maximum = maximum};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t metrics;

    if (body->result != ZE_RESULT_SUCCESS)
        return body->result;
    planner.plan = calloc(1, sizeof(*planner.plan));
    if (!planner.plan)
        return result;
    metrics = body->set->metric_count;
    planner.plan->compiled = compiled;
    planner.memo = malloc(metrics * sizeof(*planner.memo));
    planner.slot_of = calloc((size_t)ZETA_LOWER_MAX_NODES * ZETA_SUM_MODE_COUNT, sizeof(uint32_t));
    if (planner.memo && planner.slot_of) {
        for (uint32_t i = 0; i < metrics; i++)
            planner.memo[i] = (struct memo){.valid = ZETA_NODE_NONE};
        zeta_lowering_init(&planner.lowering, compiled, body, &planner.plan->arena, NULL);
        result = fill(&planner);
        zeta_lowering_finish(&planner.lowering);
    }
    free(planner.memo);
    free(planner.slot_of);
    if (result == ZE_RESULT_SUCCESS)
        *out_plan = planner.plan;
    else
        zeta_sum_plan_destroy(planner.plan);
    return result;
}

void zeta_sum_plan_destroy(struct zeta_sum_plan *plan)
{
    if (!plan)
        return;
    zeta_arena_finish(&plan->arena);
    free(plan->slots);
    free(plan->steps);
    free(plan);
}

uint32_t zeta_sum_plan_metric_count(const struct zeta_sum_plan *plan)
{
    return plan->metric_count;
}

uint32_t zeta_sum_plan_record_bytes(const struct zeta_sum_plan *plan)
{
    return plan->compiled->record_bytes;
}

bool zeta_sum_plan_fits(const struct zeta_sum_plan *a, const struct zeta_sum_plan *b)
{
    if (a->metric_count != b->metric_count || a->slot_count != b->slot_count ||
        a->step_count != b->step_count ||
        memcmp(a->result, b->result, a->metric_count * sizeof(*a->result)) != 0)
        return false;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const struct zeta_sum_slot *x = &a->slots[i];
        const struct zeta_sum_slot *y = &b->slots[i];

        if (x->mode != y->mode || x->type != y->type || x->field != y->field || x->view != y->view)
            return false;
    }
    for (uint32_t i = 0; i < a->step_count; i++) {
        const struct zeta_sum_step *x = &a->steps[i];
        const struct zeta_sum_step *y = &b->steps[i];

        if (x->op != y->op || x->is_share != y->is_share || x->number.type != y->number.type ||
            memcmp(x->arg, y->arg, sizeof(x->arg)) != 0)
            return false;
    }
    return true;
}
