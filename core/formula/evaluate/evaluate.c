#include "core/formula/evaluate/evaluate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/program.h"
#include "core/formula/evaluate/block.h"
#include "core/formula/record/layout.h"
#include "zeta/query_record.h"

/** One calculation on its way through the slots. */
struct evaluation {
    const struct zeta_compiled *compiled;
    const struct zeta_program *program;
    const struct zeta_block_variant *variant;
    struct zeta_block block;
    bool has_row[ZETA_BLOCK_ROWS]; /**< the record has a neighbour before it */
    bool has_baseline;             /**< a record was seen since the start or the last break */

    zeta_block_fn take; /**< gets each block; NULL: nobody */
    void *take_user;
    zet_typed_value_t *values; /**< NULL: rows are only counted */
    uint32_t capacity;         /**< values left */
    struct zeta_evaluation result;
    uint64_t rows_found;
    bool full;           /**< rows were left out for want of room */
    uint32_t first_tile; /**< of the slots before the first TILE slot */
};

static _Atomic(const struct zeta_block_variant *) chosen_variant;

/** Variants that this processor can run, the best one first; ends with NULL. */
static void list_variants(const struct zeta_block_variant *list[4])
{
    uint32_t count = 0;

#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        list[count++] = &zeta_block_avx512;
    if (__builtin_cpu_supports("avx2"))
        list[count++] = &zeta_block_avx2;
#endif
    list[count++] = &zeta_block_base;
    list[count] = NULL;
}

const struct zeta_block_variant *zeta_block_variant(void)
{
    const struct zeta_block_variant *variant =
        atomic_load_explicit(&chosen_variant, memory_order_relaxed);

    if (!variant) {
        const struct zeta_block_variant *list[4];

        list_variants(list);
        variant = list[0];
        atomic_store_explicit(&chosen_variant, variant, memory_order_relaxed);
    }
    return variant;
}

const char *zeta_evaluate_variant(void)
{
    return zeta_block_variant()->name;
}

bool zeta_evaluate_use_variant(const char *name)
{
    const struct zeta_block_variant *list[4];

    list_variants(list);
    for (uint32_t i = 0; list[i]; i++) {
        if (strcmp(list[i]->name, name) == 0) {
            atomic_store_explicit(&chosen_variant, list[i], memory_order_relaxed);
            return true;
        }
    }
    return false;
}

/** Writes the beginning of a row that does not fit as a whole. */
static void write_cut_row(struct evaluation *state, uint32_t row)
{
    const struct zeta_program *program = state->program;

    for (uint32_t m = 0; m < state->capacity; m++) {
        zet_typed_value_t *value = &state->values[m];
        const struct zeta_output *output = &program->outputs[m];

        memset(value, 0, sizeof(*value));
        value->type = (zet_value_type_t)output->value_type;
        memcpy(&value->value, &state->block.columns[output->column].u64[row], sizeof(value->value));
    }
    state->result.value_count += state->capacity;
    state->result.row_count += state->capacity > 0;
    state->capacity = 0;
    state->full = true;
}

/**
 * Writes the rows of the block that are rows (is_row) as far as they fit. A record that makes no
 * row gets the place of the next row and is overwritten by it, so that rows can be written in
 * groups.
 */
static void write_values(struct evaluation *state, const bool *is_row)
{
    const uint32_t width = state->program->output_count;
    const uint32_t fitting = state->capacity / width;
    uint8_t target[ZETA_BLOCK_ROWS];
    uint32_t rows = 0;
    uint32_t end = 0;
    uint32_t cut = ZETA_BLOCK_ROWS;

    for (uint32_t i = 0; i < state->block.count; i++) {
        if (is_row[i] && rows == fitting) {
            cut = i;
            break;
        }
        target[i] = (uint8_t)rows;
        if (is_row[i]) {
            rows++;
            end = i + 1;
        }
    }
    state->variant->write_rows(state->program, &state->block, target, end, state->values);
    state->values += (size_t)rows * width;
    state->capacity -= rows * width;
    state->result.value_count += rows * width;
    state->result.row_count += rows;
    if (cut < ZETA_BLOCK_ROWS)
        write_cut_row(state, cut);
}

/** Calculates the records that were collected, and forgets them except as a baseline. */
static void flush(struct evaluation *state)
{
    const struct zeta_program *program = state->program;
    struct zeta_block *block = &state->block;
    bool is_row[ZETA_BLOCK_ROWS];

    if (block->count == 0)
        return;
    /* What the calculation prefetches into the cache. */
    block->target = (const unsigned char *)state->values;
    block->target_bytes = (size_t)block->count * program->output_count * sizeof(*state->values);
    if (block->target_bytes > (size_t)state->capacity * sizeof(*state->values))
        block->target_bytes = (size_t)state->capacity * sizeof(*state->values);
    state->variant->run(program, block);
    for (uint32_t i = 0; i < block->count; i++) {
        is_row[i] = state->has_row[i] && (program->skip_column == ZETA_COLUMN_NONE ||
                                          block->columns[program->skip_column].u64[i] == 0);
        state->rows_found += is_row[i];
    }
    if (state->values)
        write_values(state, is_row);
    else if (state->take)
        state->take(state->take_user, block, is_row);
    block->count = 0;
}

static void add_record(struct evaluation *state, const unsigned char *record)
{
    struct zeta_block *block = &state->block;

    state->has_row[block->count] = state->has_baseline;
    state->has_baseline = true;
    block->record[block->count++] = record;
    if (block->count == ZETA_BLOCK_ROWS)
        flush(state);
}

/** Follows a control slot; true if the slots behind it are of the wanted tile. */
static bool follow_control(struct evaluation *state, const unsigned char *slot, uint32_t tile,
                           bool selected)
{
    struct zeta_slot_control control;

    if (!zeta_slot_read(slot, &control))
        return selected;
    switch (control.kind) {
    case ZETA_SLOT_BREAK:
        if (selected) {
            state->result.dropped = true;
            state->result.lost_records += control.lost_records;
            state->has_baseline = !state->compiled->needs_baseline;
        }
        return selected;
    case ZETA_SLOT_TILE:
        return control.value == tile;
    default:
        /* What follows the end is of tile 0 until the next TILE slot. */
        state->has_baseline = !state->compiled->needs_baseline;
        return tile == 0;
    }
}

/** True if the slot is padding; the first bytes decide for nearly all slots. */
static bool is_padding(const unsigned char *slot, size_t record_bytes)
{
    uint64_t first;

    memcpy(&first, slot, sizeof(first));
    return first == 0 && zeta_slot_is_padding(slot, record_bytes);
}

/** Query records have their size and tile in their head; anything else of that size is no row. */
static void walk_queries(struct evaluation *state, uint32_t tile, const unsigned char *raw,
                         size_t raw_bytes)
{
    const size_t record_bytes = state->compiled->record_bytes;
    struct zeta_query_record head;

    state->has_baseline = true;
    for (size_t left = raw_bytes; left >= record_bytes && !state->full; left -= record_bytes) {
        memcpy(&head, raw, sizeof(head));
        if (head.size_bytes == record_bytes && head.tile == tile)
            add_record(state, raw);
        raw += record_bytes;
    }
    if (!state->full)
        flush(state);
}

/** Walks over the slots until the data ends or no value has room any more. */
static void walk(struct evaluation *state, uint32_t tile, const unsigned char *raw,
                 size_t raw_bytes)
{
    const size_t record_bytes = state->compiled->record_bytes;
    bool selected = tile == state->first_tile;

    state->has_baseline = !state->compiled->needs_baseline;
    for (size_t left = raw_bytes; left >= record_bytes && !state->full; left -= record_bytes) {
        if (zeta_slot_is_control(raw))
            selected = follow_control(state, raw, tile, selected);
        else if (selected && !is_padding(raw, record_bytes))
            add_record(state, raw);
        raw += record_bytes;
    }
    if (!state->full)
        flush(state);
}

bool zeta_block_prepare(const struct zeta_program *program, struct zeta_block *block)
{
    const size_t words_bytes =
        (size_t)program->word_count * ZETA_WORD_STRIDE * sizeof(*block->words);
    const size_t columns_bytes = (size_t)program->column_count * sizeof(*block->columns);
    /* Both sizes are multiples of 64, so words and columns lie on the borders of cache lines. */
    unsigned char *memory = aligned_alloc(64, words_bytes + columns_bytes + 64);

    if (!memory)
        return false;
    memset(memory, 0, words_bytes);
    block->words = (uint32_t *)(void *)memory;
    block->columns = (union zeta_column *)(void *)(memory + words_bytes);
    for (uint32_t i = 0; i < program->constant_count; i++) {
        for (uint32_t row = 0; row < ZETA_BLOCK_ROWS; row++)
            block->columns[program->constants[i].column].u64[row] = program->constants[i].bits;
    }
    return true;
}

static ze_result_t evaluate(struct evaluation *state, uint32_t tile, const void *raw,
                            size_t raw_bytes)
{
    if (raw_bytes < state->compiled->record_bytes) {
        state->result.complete = true;
        return ZE_RESULT_SUCCESS;
    }
    if (!zeta_block_prepare(state->program, &state->block))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    state->variant = zeta_block_variant();
    if (state->compiled->set->query_of)
        walk_queries(state, tile, raw, raw_bytes);
    else
        walk(state, tile, raw, raw_bytes);
    state->result.complete = !state->full;
    free(state->block.words);
    return ZE_RESULT_SUCCESS;
}

uint32_t zeta_evaluate_count(const struct zeta_compiled *compiled, size_t raw_bytes)
{
    const uint64_t slots = raw_bytes / compiled->record_bytes;
    const uint32_t metrics = zeta_compiled_metric_count(compiled);
    const uint64_t most = metrics > 0 ? UINT32_MAX / metrics : 0;

    return (uint32_t)((slots < most ? slots : most) * metrics);
}

ze_result_t zeta_evaluate(const struct zeta_compiled *compiled,
                          zet_metric_group_calculation_type_t type, uint32_t tile,
                          uint32_t first_tile, const void *raw, size_t raw_bytes,
                          zet_typed_value_t *values, uint32_t capacity,
                          struct zeta_evaluation *out_evaluation)
{
    const bool maxima = type == ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES;
    const struct zeta_compiled_programs *programs = zeta_compiled_programs(compiled);
    const ze_result_t whole = zeta_compiled_check(compiled);
    struct evaluation state = {
        .compiled = compiled,
        .values = values,
        .capacity = capacity,
        .first_tile = first_tile,
    };
    ze_result_t result = whole != ZE_RESULT_SUCCESS ? whole : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (programs) {
        state.program = maxima ? &programs->maxima : &programs->values;
        result = evaluate(&state, tile, raw, raw_bytes);
    }
    *out_evaluation = state.result;
    return result;
}

ze_result_t zeta_evaluate_rows(const struct zeta_compiled *compiled, uint32_t tile,
                               uint32_t first_tile, const void *raw, size_t raw_bytes,
                               struct zeta_evaluation *out_evaluation)
{
    const struct zeta_compiled_programs *programs = zeta_compiled_programs(compiled);
    const uint32_t metrics = zeta_compiled_metric_count(compiled);
    const ze_result_t whole = zeta_compiled_check(compiled);
    struct evaluation state = {.compiled = compiled, .first_tile = first_tile};
    ze_result_t result = whole != ZE_RESULT_SUCCESS ? whole : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (programs) {
        state.program = &programs->rows;
        result = evaluate(&state, tile, raw, raw_bytes);
    }
    *out_evaluation = state.result;
    out_evaluation->row_count = state.rows_found;
    if (metrics > 0 && state.rows_found <= UINT32_MAX / metrics)
        out_evaluation->value_count = (uint32_t)state.rows_found * metrics;
    return result;
}

ze_result_t zeta_evaluate_blocks(const struct zeta_compiled *compiled,
                                 const struct zeta_program *program, uint32_t tile,
                                 uint32_t first_tile, const void *raw, size_t raw_bytes,
                                 zeta_block_fn take, void *user)
{
    struct evaluation state = {.compiled = compiled,
                               .program = program,
                               .take = take,
                               .take_user = user,
                               .first_tile = first_tile};

    return evaluate(&state, tile, raw, raw_bytes);
}
