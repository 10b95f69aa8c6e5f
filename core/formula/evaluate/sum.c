#include "core/formula/evaluate/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/lower.h"
#include "core/formula/compile/program.h"
#include "core/formula/evaluate/block.h"
#include "core/formula/expr/expr.h"
#include "core/util/cleanup.h"

/** How a field becomes one number of many rows. */
enum zeta_sum_mode { ZETA_SUM_ADD, ZETA_SUM_LAST, ZETA_SUM_FIRST, ZETA_SUM_MODE_COUNT };

/** A field that expressions read. */
struct zeta_sum_slot {
    enum zeta_sum_mode mode;
    enum zeta_expr_type type;
    uint32_t field; /**< of the layout */
    uint32_t view;
    uint16_t column;
    uint16_t valid;            /**< column that is not 0 in rows in which it counts */
    uint32_t node, valid_node; /**< what the columns were made of */
};

/** One step of calculation; it refers to earlier ones only. */
struct zeta_sum_step {
    enum zeta_expr_op op; /**< CONSTANT, FIELD (of slot arg[0]) or an operation on steps */
    uint32_t arg[ZETA_EXPR_MAX_ARITY];
    struct zeta_number number; /**< CONSTANT */
    bool is_constant;
    bool is_share; /**< divided by what was counted, or whether that holds: tiles do not add up */
};

/** Step of a metric whose value is that of the last row. */
#define ZETA_SUM_STATE UINT32_MAX

struct zeta_sum_plan {
    struct zeta_arena arena;
    const struct zeta_compiled *compiled;
    struct zeta_program program; /**< its outputs are the values of the metrics */
    uint32_t metric_count;
    uint16_t *defined; /**< per metric: column that is 0 in rows in which it divides by 0 */
    uint32_t *result;  /**< per metric: its step */
    struct zeta_sum_slot *slots;
    uint32_t slot_count;
    struct zeta_sum_step *steps;
    uint32_t step_count;
};

/* Planning: from the expressions of a set to slots and steps -----------------------------------
 */

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

/** Whether each record is a row, so that all its numbers are added up. */
static bool has_samples(const struct zeta_set *set)
{
    const struct zeta_layout *layout = set->query_of ? set->query_of->layout : set->layout;

    return layout->kind == ZETA_LAYOUT_SAMPLE;
}

static enum zeta_sum_mode mode_of(const struct zeta_set *set, enum zeta_expr_view view)
{
    if (view == ZETA_VIEW_DELTA || has_samples(set))
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

/** The sum in a step, divided by the number of rows that count. */
static uint32_t plan_mean(struct planner *planner, uint32_t sum, enum zeta_expr_type type)
{
    struct zeta_lowering *lowering = &planner->lowering;
    const struct zeta_sum_slot slot = {
        .mode = ZETA_SUM_ADD, .type = ZETA_EXPR_U64, .field = UINT32_MAX};
    const uint32_t args[3] = {planner->valid, zeta_lower_u64(lowering, 1),
                              zeta_lower_u64(lowering, 0)};
    const uint32_t node = zeta_lower_op(lowering, ZETA_EXPR_SELECT, args);
    struct zeta_sum_step step = {.op = ZETA_EXPR_FIELD};

    if (lowering->result != ZE_RESULT_SUCCESS)
        return 0;
    step.arg[0] = find_slot(planner, node, &slot);
    step.arg[1] = add_step(planner, &step);
    if (type == ZETA_EXPR_F64) {
        step = (struct zeta_sum_step){.op = ZETA_EXPR_TO_F64, .arg = {step.arg[1]}};
        step.arg[1] = add_step(planner, &step);
    }
    step.op = ZETA_EXPR_DIV;
    step.arg[0] = sum;
    step.is_share = true;
    return add_step(planner, &step);
}

/**
 * A ratio or a rate of samples that is divided by nothing that was counted: the hardware has
 * divided, row by row, and what was counted is not known.
 */
static bool is_divided(const struct planner *planner, const struct zeta_metric *metric,
                       uint32_t result)
{
    const struct zeta_sum_step *step = &planner->plan->steps[result];

    return (metric->type == ZET_METRIC_TYPE_RATIO || metric->type == ZET_METRIC_TYPE_THROUGHPUT) &&
           metric->value_type != ZET_VALUE_TYPE_BOOL8 && has_samples(planner->lowering.set) &&
           !step->is_constant && !step->is_share;
}

/** Plans one metric; gives the condition of rows in which it is defined. */
static uint32_t plan_result(struct planner *planner, uint32_t place, uint32_t index)
{
    struct zeta_lowering *lowering = &planner->lowering;
    const struct zeta_metric *metric = &lowering->set->metrics[index];
    const struct zeta_expr *expr = zeta_metric_expr(lowering->set, index, planner->maximum);
    uint32_t *const result = &planner->plan->result[place];
    const struct zeta_number hundred = {.type = ZETA_EXPR_U64, .u.u64 = 100};

    if (is_state(metric->type))
        *result = ZETA_SUM_STATE;
    if (!expr) {
        if (*result != ZETA_SUM_STATE)
            *result = add_constant(planner, &hundred);
        return zeta_lower_u64(lowering, 1);
    }
    planner->valid = zeta_lower_validity(lowering, expr);
    if (*result != ZETA_SUM_STATE) {
        *result = expr == metric->value ? plan_metric(planner, index) : plan_expr(planner, expr);
        if (lowering->result == ZE_RESULT_SUCCESS && is_divided(planner, metric, *result))
            *result = plan_mean(planner, *result, expr->type);
    }
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

/* Rows -----------------------------------------------------------------------------------------
 */

/** A walk over the rows of one tile. */
struct walk {
    const struct zeta_sum_plan *plan;
    struct zeta_sum_row row;
    zet_typed_value_t *values; /**< of the rows of a block */
    uint8_t *has_value;        /**< of one row */
    zeta_sum_row_fn take;
    void *user;
};

static bool is_number(const zet_typed_value_t *value)
{
    if (value->type == ZET_VALUE_TYPE_FLOAT32)
        return !isnan(value->value.fp32);
    return value->type != ZET_VALUE_TYPE_FLOAT64 || !isnan(value->value.fp64);
}

static void take_block(void *user, const struct zeta_block *block, const bool *is_row)
{
    struct walk *walk = user;
    const struct zeta_sum_plan *plan = walk->plan;
    uint8_t target[ZETA_BLOCK_ROWS];

    for (uint32_t i = 0; i < block->count; i++)
        target[i] = (uint8_t)i;
    zeta_block_variant()->write_rows(&plan->program, block, target, block->count, walk->values);
    walk->row.block = block;
    for (uint32_t i = 0; i < block->count; i++) {
        const zet_typed_value_t *values = walk->values + (size_t)i * plan->metric_count;

        if (!is_row[i])
            continue;
        for (uint32_t m = 0; m < plan->metric_count; m++)
            walk->has_value[m] =
                block->columns[plan->defined[m]].u64[i] != 0 && is_number(&values[m]);
        walk->row.values = values;
        walk->row.index = i;
        walk->take(walk->user, &walk->row);
    }
}

ze_result_t zeta_sum_walk(const struct zeta_sum_plan *plan, uint32_t tile, uint32_t first_tile,
                          const void *raw, size_t raw_bytes, zeta_sum_row_fn take, void *user)
{
    struct walk walk = {
        .plan = plan,
        .row = {.tile = tile},
        .values = calloc((size_t)plan->metric_count * ZETA_BLOCK_ROWS, sizeof(*walk.values)),
        .has_value = calloc(plan->metric_count, 1),
        .take = take,
        .user = user,
    };
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    walk.row.has_value = walk.has_value;
    if (walk.values && walk.has_value)
        result = zeta_evaluate_blocks(plan->compiled, &plan->program, tile, first_tile, raw,
                                      raw_bytes, take_block, &walk);
    free(walk.values);
    free(walk.has_value);
    return result;
}

/* Sums -----------------------------------------------------------------------------------------
 */

bool zeta_sum_init(struct zeta_sum *sum, struct zeta_sum_plan *const *plans, uint32_t tile_count)
{
    const size_t slots = plans[0]->slot_count;

    *sum = (struct zeta_sum){.plans = plans, .tile_count = tile_count};
    sum->tiles = zeta_arena_array(&sum->arena, tile_count, sizeof(*sum->tiles));
    sum->counts = zeta_arena_array(&sum->arena, plans[0]->metric_count, sizeof(*sum->counts));
    if (!sum->tiles || !sum->counts)
        return false;
    for (uint32_t i = 0; i < tile_count; i++) {
        struct zeta_sum_tile *tile = &sum->tiles[i];

        tile->slots = zeta_arena_array(&sum->arena, slots, sizeof(*tile->slots));
        tile->taken = zeta_arena_array(&sum->arena, slots, sizeof(*tile->taken));
        if (!tile->slots || !tile->taken)
            return false;
    }
    return true;
}

void zeta_sum_finish(struct zeta_sum *sum)
{
    zeta_arena_finish(&sum->arena);
    *sum = (struct zeta_sum){0};
}

/** Adds a number to a slot, of a row or of many rows that came after those of the slot. */
static void add_to_slot(struct zeta_sum_tile *tile, const struct zeta_sum_slot *slot,
                        uint32_t index, uint64_t bits)
{
    uint64_t *kept = &tile->slots[index];
    double sum;
    double more;

    if (slot->mode == ZETA_SUM_ADD && slot->type == ZETA_EXPR_F64) {
        memcpy(&sum, kept, sizeof(sum));
        memcpy(&more, &bits, sizeof(more));
        sum += more;
        memcpy(kept, &sum, sizeof(sum));
    } else if (slot->mode == ZETA_SUM_ADD) {
        *kept += bits;
    } else if (slot->mode == ZETA_SUM_LAST || !tile->taken[index]) {
        *kept = bits;
    }
    tile->taken[index] = 1;
}

static bool is_less(const zet_typed_value_t *a, const zet_typed_value_t *b)
{
    switch ((int)a->type) {
    case ZET_VALUE_TYPE_FLOAT32:
        return a->value.fp32 < b->value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return a->value.fp64 < b->value.fp64;
    case ZET_VALUE_TYPE_BOOL8:
        return a->value.b8 < b->value.b8;
    case ZET_VALUE_TYPE_UINT32:
        return a->value.ui32 < b->value.ui32;
    default:
        return a->value.ui64 < b->value.ui64;
    }
}

/** Joins what more rows gave to what was known. */
static void join(struct zeta_sum_count *count, const struct zeta_sum_count *more)
{
    if (more->rows == 0)
        return;
    if (count->rows == 0 || is_less(&more->min, &count->min))
        count->min = more->min;
    if (count->rows == 0 || is_less(&count->max, &more->max))
        count->max = more->max;
    count->last = more->last;
    count->rows += more->rows;
}

void zeta_sum_add(struct zeta_sum *sum, const struct zeta_sum_row *row)
{
    const struct zeta_sum_plan *plan = sum->plans[row->tile];
    const union zeta_column *columns = row->block->columns;

    for (uint32_t i = 0; i < plan->slot_count; i++) {
        const struct zeta_sum_slot *slot = &plan->slots[i];

        if (columns[slot->valid].u64[row->index] != 0)
            add_to_slot(&sum->tiles[row->tile], slot, i, columns[slot->column].u64[row->index]);
    }
    for (uint32_t m = 0; m < plan->metric_count; m++) {
        const zet_typed_value_t value = row->values[m];
        const struct zeta_sum_count one = {1, value, value, value};

        if (row->has_value[m])
            join(&sum->counts[m], &one);
    }
}

void zeta_sum_merge(struct zeta_sum *sum, const struct zeta_sum *other)
{
    const struct zeta_sum_plan *plan = sum->plans[0];

    for (uint32_t t = 0; t < sum->tile_count; t++) {
        for (uint32_t i = 0; i < plan->slot_count; i++) {
            if (other->tiles[t].taken[i])
                add_to_slot(&sum->tiles[t], &plan->slots[i], i, other->tiles[t].slots[i]);
        }
    }
    for (uint32_t m = 0; m < plan->metric_count; m++)
        join(&sum->counts[m], &other->counts[m]);
}

/* Values ---------------------------------------------------------------------------------------
 */

/**
 * A number of either type. Integers have 128 bits, with a sign while they are only added and
 * multiplied; else one below 0 is what it is in a row: modulo 2^64.
 */
struct wide {
    enum zeta_expr_type type;
    bool is_defined; /**< it comes from no division by 0 */
    zeta_u128 whole;
    double real;
};

static struct wide wide_of(const struct zeta_number *number)
{
    struct wide wide = {.type = number->type, .is_defined = true};

    if (number->type == ZETA_EXPR_F64)
        wide.real = number->u.f64;
    else
        wide.whole = number->u.u64;
    return wide;
}

/** An operation on doubles, which is that of rows. */
static struct wide apply_real(enum zeta_expr_op op, const struct wide *args)
{
    struct zeta_number numbers[ZETA_EXPR_MAX_ARITY] = {{0}};
    struct zeta_number value;

    for (unsigned i = 0; i < zeta_expr_arity(op); i++) {
        numbers[i].type = args[i].type;
        numbers[i].u.f64 = args[i].real;
    }
    value = zeta_expr_apply(op, numbers);
    return wide_of(&value);
}

static bool is_zero(const struct wide *number)
{
    return number->type == ZETA_EXPR_F64 ? number->real == 0.0 : number->whole == 0;
}

static struct wide apply(enum zeta_expr_op op, const struct wide args[ZETA_EXPR_MAX_ARITY])
{
    const unsigned divisor = zeta_expr_operations[op].divisor;
    struct wide value = {.type = ZETA_EXPR_U64};
    bool is_defined = true;

    if (op == ZETA_EXPR_SELECT) {
        value = is_zero(&args[0]) ? args[2] : args[1];
        value.is_defined = value.is_defined && args[0].is_defined;
        return value;
    }
    for (unsigned i = 0; i < zeta_expr_arity(op); i++)
        is_defined = is_defined && args[i].is_defined;
    if (divisor > 0 && is_zero(&args[divisor]))
        is_defined = false;
    if (op == ZETA_EXPR_TO_F64 && args[0].type == ZETA_EXPR_U64) {
        value.type = ZETA_EXPR_F64;
        value.real = (double)zeta_u128_unsigned(args[0].whole);
    } else if (args[0].type == ZETA_EXPR_F64) {
        value = apply_real(op, args);
    } else if (op == ZETA_EXPR_TO_U64) {
        value.whole = args[0].whole;
    } else {
        value.whole = zeta_expr_apply_integer(op, args[0].whole, args[1].whole, args[2].whole);
    }
    value.is_defined = is_defined;
    return value;
}

static struct wide sum_of_tiles(struct wide a, struct wide b)
{
    a.is_defined = a.is_defined && b.is_defined;
    a.whole += b.whole;
    a.real += b.real;
    return a;
}

static struct wide slot_value(const struct zeta_sum *sum, uint32_t tile, uint32_t slot)
{
    struct zeta_number number = {.type = sum->plans[0]->slots[slot].type};

    memcpy(&number.u, &sum->tiles[tile].slots[slot], sizeof(number.u));
    return wide_of(&number);
}

/** One step of one tile, from the earlier steps of that tile. */
static struct wide step_value(const struct zeta_sum *sum, uint32_t tile, uint32_t index,
                              const struct wide *done)
{
    const struct zeta_sum_step *step = &sum->plans[tile]->steps[index];
    struct wide args[ZETA_EXPR_MAX_ARITY] = {{0}};

    if (step->op == ZETA_EXPR_CONSTANT)
        return wide_of(&step->number);
    if (step->op == ZETA_EXPR_FIELD)
        return slot_value(sum, tile, step->arg[0]);
    for (unsigned i = 0; i < zeta_expr_arity(step->op); i++)
        args[i] = done[step->arg[i]];
    return apply(step->op, args);
}

/**
 * Calculates the steps of all tiles together. What is divided by nothing that was counted is
 * calculated for each tile and added up; from there on the sums are used.
 *
 * @of_tile  room for the steps of one tile
 */
static void run_steps(const struct zeta_sum *sum, struct wide *of_tile, struct wide *total)
{
    const struct zeta_sum_plan *plan = sum->plans[0];

    for (uint32_t t = 0; t < sum->tile_count; t++) {
        for (uint32_t i = 0; i < plan->step_count; i++) {
            if (plan->steps[i].is_share)
                continue;
            of_tile[i] = step_value(sum, t, i, of_tile);
            if (t == 0)
                total[i] = of_tile[i];
            else if (!plan->steps[i].is_constant)
                total[i] = sum_of_tiles(total[i], of_tile[i]);
        }
    }
    for (uint32_t i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].is_share)
            total[i] = step_value(sum, 0, i, total);
    }
}

static uint64_t u64_of(const struct wide *number)
{
    const zeta_u128 whole = zeta_u128_unsigned(number->whole);

    if (number->type == ZETA_EXPR_F64)
        return zeta_u64_from_f64(number->real);
    return whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
}

/** In the widest type of its kind: a sum of u32 may need more. */
static struct zeta_sum_value give(const struct wide *number, zet_value_type_t type)
{
    struct zeta_sum_value value = {.has_value = number->is_defined};

    switch (type) {
    case ZET_VALUE_TYPE_FLOAT32:
    case ZET_VALUE_TYPE_FLOAT64:
        value.value.type = ZET_VALUE_TYPE_FLOAT64;
        value.value.value.fp64 = number->type == ZETA_EXPR_F64
                                     ? number->real
                                     : (double)zeta_u128_unsigned(number->whole);
        value.has_value = value.has_value && !isnan(value.value.value.fp64);
        break;
    case ZET_VALUE_TYPE_BOOL8:
        value.value.type = ZET_VALUE_TYPE_BOOL8;
        value.value.value.b8 = !is_zero(number) && !isnan(number->real);
        break;
    default:
        value.value.type = ZET_VALUE_TYPE_UINT64;
        value.value.value.ui64 = u64_of(number);
        break;
    }
    return value;
}

bool zeta_sum_values(const struct zeta_sum *sum, struct zeta_sum_value *out_values)
{
    const struct zeta_sum_plan *plan = sum->plans[0];
    const struct zeta_metric *const *metrics = zeta_compiled_body(plan->compiled)->metrics;
    struct wide *steps = calloc((size_t)2 * plan->step_count + 1, sizeof(*steps));
    struct wide *total = steps + plan->step_count;

    if (!steps)
        return false;
    run_steps(sum, steps, total);
    for (uint32_t m = 0; m < plan->metric_count; m++) {
        const struct zeta_sum_count *count = &sum->counts[m];

        if (count->rows == 0)
            out_values[m] = (struct zeta_sum_value){0};
        else if (plan->result[m] == ZETA_SUM_STATE)
            out_values[m] = (struct zeta_sum_value){.has_value = true, .value = count->last};
        else
            out_values[m] = give(&total[plan->result[m]], metrics[m]->value_type);
    }
    free(steps);
    return true;
}
