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
    sum->tiles = calloc(tile_count, sizeof(*sum->tiles));
    sum->counts = calloc(plans[0]->metric_count, sizeof(*sum->counts));
    if (!sum->tiles || !sum->counts)
        return false;
    for (uint32_t i = 0; i < tile_count; i++) {
        sum->tiles[i].slots = calloc(slots + 1, sizeof(*sum->tiles[i].slots));
        sum->tiles[i].taken = calloc(slots + 1, 1);
        if (!sum->tiles[i].slots || !sum->tiles[i].taken)
            return false;
    }
    return true;
}

void zeta_sum_finish(struct zeta_sum *sum)
{
    for (uint32_t i = 0; sum->tiles && i < sum->tile_count; i++) {
        free(sum->tiles[i].slots);
        free(sum->tiles[i].taken);
    }
    free(sum->tiles);
    free(sum->counts);
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
