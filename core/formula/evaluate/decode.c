#include "core/formula/evaluate/decode.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/program.h"
#include "core/formula/evaluate/block.h"
#include "core/formula/evaluate/decode_priv.h"
#include "core/formula/expr/expr.h"
#include "core/formula/record/slot.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* Reading records -------------------------------------------------------------------------------
 */

/** The little-endian number of that many bytes. */
static inline uint64_t get_bytes(const unsigned char *bytes, uint32_t count)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline uint64_t read_number(const struct zeta_event_number *number,
                                   const unsigned char *record)
{
    const unsigned char *bytes = record + number->at;

    /* Constant counts, so that each becomes one load. */
    switch (number->bytes) {
    case 1:
        return get_bytes(bytes, 1);
    case 2:
        return get_bytes(bytes, 2);
    case 4:
        return get_bytes(bytes, 4);
    case 8:
        return get_bytes(bytes, 8);
    default:
        return zeta_field_read(number->field, record);
    }
}

static uint64_t time_of(const struct zeta_decode_plan *plan, const unsigned char *record)
{
    const uint64_t ticks = read_number(&plan->ticks, record) & plan->ticks_mask;

    return plan->tick_ns ? ticks * plan->tick_ns
                         : zeta_muldiv_u64(ticks, NS_PER_SECOND, plan->timer_hz);
}

/* Counting --------------------------------------------------------------------------------------
 */

/** Classes of a plan: the types of one layout, and the rest. */
#define MAX_CLASSES (ZETA_EVENT_MAX_COUNT + 1u)

/** Entries of a record of each class, given what is selected. */
struct selection {
    uint32_t entries[MAX_CLASSES];
};

static void select_entries(const struct zeta_decode_plan *plan,
                           const struct zeta_decode_request *request, struct selection *selection)
{
    selection->entries[0] = 0;
    for (uint32_t c = 1; c < plan->class_count; c++) {
        const struct zeta_event_class *of = &plan->classes[c];
        uint32_t count = 0;

        for (uint32_t i = 0; i < of->count; i++)
            count += request->names[plan->references[of->first + i]] != ZETA_DECODE_LEFT_OUT;
        selection->entries[c] = count;
    }
}

/** Class of a slot; 0 for everything that is no record of a type that a metric lists. */
static inline uint32_t class_of(const struct zeta_decode_plan *plan, const unsigned char *slot)
{
    const uint64_t type = read_number(&plan->type, slot);
    const uint32_t found = type <= ZETA_EVENT_MAX_TYPE ? plan->class_of[type] : 0;

    /* Padding has type 0; a control slot may have any. */
    return found != 0 && zeta_slot_is_control(slot) ? 0 : found;
}

/** Set that a record belongs to. */
static inline uint64_t set_of(const struct zeta_decode_plan *plan, const unsigned char *record)
{
    return plan->tile_count > 0 && plan->tile.field ? read_number(&plan->tile, record) : 0;
}

static uint32_t wanted_sets(const struct zeta_decode_plan *plan,
                            const struct zeta_decode_request *request)
{
    return request->set_count < plan->set_count ? request->set_count : plan->set_count;
}

static void count_entries(const struct zeta_decode_plan *plan,
                          const struct zeta_decode_request *request,
                          const struct selection *selection, uint64_t *counts,
                          struct zeta_decode_outcome *outcome)
{
    const unsigned char *raw = request->raw;
    const size_t record_bytes = plan->record_bytes;
    const uint32_t sets = wanted_sets(plan, request);
    size_t at = 0;

    *outcome = (struct zeta_decode_outcome){0};
    for (uint32_t i = 0; counts && i < request->set_count; i++)
        counts[i] = 0;
    for (; request->raw_bytes - at >= record_bytes; at += record_bytes) {
        const uint32_t entries = selection->entries[class_of(plan, raw + at)];
        uint64_t set;

        if (entries == 0)
            continue;
        set = set_of(plan, raw + at);
        if (set >= sets)
            continue;
        if (request->capacity - outcome->entry_count < entries) {
            outcome->first_needed = entries;
            break;
        }
        outcome->entry_count += entries;
        if (counts)
            counts[set] += entries;
    }
    outcome->consumed_bytes = at;
}

void zeta_decode_count(const struct zeta_decode_plan *plan,
                       const struct zeta_decode_request *request, uint64_t *counts,
                       struct zeta_decode_outcome *out_outcome)
{
    struct selection selection;

    select_entries(plan, request, &selection);
    count_entries(plan, request, &selection, counts, out_outcome);
}

/* Decoding --------------------------------------------------------------------------------------
 */

/** One entry that records of a class have: where its value will be, and its name. */
struct emission {
    const union zeta_column *column;
    uint32_t name;
};

/** The entries of one set on their way. */
struct decoding {
    const struct zeta_decode_plan *plan;
    const struct zeta_decode_request *request;
    const struct selection *selection;
    const struct zeta_block_variant *variant;
    uint32_t set;

    struct zeta_block *blocks;   /**< one per group, all of the same records; unused: no columns */
    struct emission *emissions;  /**< of the selected references, class after class */
    uint32_t first[MAX_CLASSES]; /**< emissions of each class begin here */
    uint16_t row_class[ZETA_BLOCK_ROWS];
    uint32_t rows;
    zet_metric_entry_exp_t *at;
};

static const struct zeta_program *program_of(const struct decoding *state, uint32_t group)
{
    return &zeta_decode_set(state->plan, group, state->set)->values;
}

static bool is_group_selected(const struct decoding *state, uint32_t group)
{
    const struct zeta_decode_plan *plan = state->plan;

    for (uint32_t m = 0; m < plan->metric_count; m++) {
        if (plan->metric_group[m] == group && state->request->names[m] != ZETA_DECODE_LEFT_OUT)
            return true;
    }
    return false;
}

/** Memory of the words and columns of a group's block. */
static bool prepare_block(struct decoding *state, uint32_t group)
{
    const struct zeta_program *program = program_of(state, group);
    const size_t words_bytes = (size_t)program->word_count * ZETA_WORD_STRIDE * sizeof(uint32_t);
    const size_t columns_bytes = (size_t)program->column_count * sizeof(union zeta_column);
    struct zeta_block *block = &state->blocks[group];
    unsigned char *memory;

    if (!is_group_selected(state, group))
        return true;
    /* Both sizes are multiples of 64, so words and columns lie on the borders of cache lines. */
    memory = aligned_alloc(64, words_bytes + columns_bytes + 64);
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

/** Lists the entries of each class; their columns stay where they are. */
static void prepare_emissions(struct decoding *state)
{
    const struct zeta_decode_plan *plan = state->plan;
    uint32_t next = 0;

    for (uint32_t c = 1; c < plan->class_count; c++) {
        state->first[c] = next;
        for (uint32_t i = 0; i < plan->classes[c].count; i++) {
            const uint32_t metric = plan->references[plan->classes[c].first + i];
            const uint32_t group = plan->metric_group[metric];
            const struct zeta_output *output =
                &program_of(state, group)->outputs[plan->metric_place[metric]];

            if (state->request->names[metric] == ZETA_DECODE_LEFT_OUT)
                continue;
            state->emissions[next++] =
                (struct emission){.column = &state->blocks[group].columns[output->column],
                                  .name = state->request->names[metric]};
        }
    }
}

static void emit_row(struct decoding *state, uint32_t row, const unsigned char *record)
{
    const struct zeta_decode_plan *plan = state->plan;
    const uint32_t class_number = state->row_class[row];
    const struct emission *emission = &state->emissions[state->first[class_number]];
    const uint64_t time = time_of(plan, record);
    const bool on_tile = plan->tile_count > 0;

    for (uint32_t i = 0; i < state->selection->entries[class_number]; i++) {
        zet_metric_entry_exp_t entry = {
            .value.ui64 = emission[i].column->u64[row],
            .timeStamp = time,
            .metricIndex = emission[i].name,
            .onSubdevice = on_tile,
            .subdeviceId = on_tile ? state->set : 0,
        };

        *state->at++ = entry;
    }
}

/** Calculates the records that were collected, for each group, and writes their entries. */
static void flush(struct decoding *state)
{
    const struct zeta_decode_plan *plan = state->plan;
    const struct zeta_block *block = NULL;

    if (state->rows == 0)
        return;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        if (!state->blocks[g].columns)
            continue;
        block = &state->blocks[g];
        state->blocks[g].count = state->rows;
        state->variant->run(program_of(state, g), &state->blocks[g]);
    }
    for (uint32_t row = 0; block && row < state->rows; row++)
        emit_row(state, row, block->record[row]);
    state->rows = 0;
}

static void add_record(struct decoding *state, const unsigned char *record, uint32_t class_number)
{
    for (uint32_t g = 0; g < state->plan->group_count; g++)
        state->blocks[g].record[state->rows] = record;
    state->row_class[state->rows++] = (uint16_t)class_number;
    if (state->rows == ZETA_BLOCK_ROWS)
        flush(state);
}

/**
 * Decodes the records of one set, as far as there is room for their entries; what it did is added
 * to the outcome.
 */
static void walk(struct decoding *state, size_t bytes, uint64_t room,
                 struct zeta_decode_outcome *outcome)
{
    const struct zeta_decode_plan *plan = state->plan;
    const unsigned char *raw = state->request->raw;
    size_t at = 0;

    for (; bytes - at >= plan->record_bytes; at += plan->record_bytes) {
        const uint32_t class_number = class_of(plan, raw + at);
        const uint32_t entries = state->selection->entries[class_number];

        if (entries == 0 || set_of(plan, raw + at) != state->set)
            continue;
        if (room - outcome->entry_count < entries) {
            outcome->first_needed = entries;
            break;
        }
        outcome->entry_count += entries;
        add_record(state, raw + at, class_number);
    }
    outcome->consumed_bytes = at;
    flush(state);
}

static ze_result_t decode_set(struct decoding *state, size_t bytes, uint64_t room,
                              struct zeta_decode_outcome *outcome)
{
    const struct zeta_decode_plan *plan = state->plan;
    ze_result_t result = ZE_RESULT_SUCCESS;

    state->blocks = calloc(plan->group_count, sizeof(*state->blocks));
    state->emissions = calloc(plan->reference_count + 1, sizeof(*state->emissions));
    if (!state->blocks || !state->emissions)
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t g = 0; g < plan->group_count && result == ZE_RESULT_SUCCESS; g++) {
        if (!prepare_block(state, g))
            result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == ZE_RESULT_SUCCESS) {
        prepare_emissions(state);
        walk(state, bytes, room, outcome);
    }
    for (uint32_t g = 0; state->blocks && g < plan->group_count; g++)
        free(state->blocks[g].words);
    free(state->blocks);
    free(state->emissions);
    return result;
}

/** Several sets: the first pass says how much of each belongs to the records that fit. */
static ze_result_t decode_sets(struct decoding *state, uint64_t *counts,
                               struct zeta_decode_outcome *out_outcome)
{
    const uint32_t sets = wanted_sets(state->plan, state->request);
    ze_result_t result = ZE_RESULT_SUCCESS;

    count_entries(state->plan, state->request, state->selection, counts, out_outcome);
    for (uint32_t set = 0; set < sets && result == ZE_RESULT_SUCCESS; set++) {
        struct zeta_decode_outcome part = {0};

        state->set = set;
        if (counts[set] > 0)
            result = decode_set(state, out_outcome->consumed_bytes, counts[set], &part);
    }
    return result;
}

ze_result_t zeta_decode(const struct zeta_decode_plan *plan,
                        const struct zeta_decode_request *request, uint64_t *counts,
                        zet_metric_entry_exp_t *entries, struct zeta_decode_outcome *out_outcome)
{
    struct selection selection;
    struct decoding state = {
        .plan = plan,
        .request = request,
        .selection = &selection,
        .variant = zeta_block_variant(),
        .at = entries,
    };
    ze_result_t result;

    select_entries(plan, request, &selection);
    if (wanted_sets(plan, request) != 1)
        return decode_sets(&state, counts, out_outcome);
    memset(counts, 0, request->set_count * sizeof(*counts));
    *out_outcome = (struct zeta_decode_outcome){0};
    result = decode_set(&state, request->raw_bytes, request->capacity, out_outcome);
    counts[0] = out_outcome->entry_count;
    return result;
}
