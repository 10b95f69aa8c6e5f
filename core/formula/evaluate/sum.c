#include "core/formula/evaluate/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/evaluate/block.h"
#include "core/formula/evaluate/sum_priv.h"

/* Rows ------------------------------------------------------------------------------------------
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

/* Sums ------------------------------------------------------------------------------------------
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

/* Values ----------------------------------------------------------------------------------------
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
