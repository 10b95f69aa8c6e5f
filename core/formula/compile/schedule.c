/*
 * From nodes to a program: which nodes are needed, which words of the record they need, and in
 * which columns they are. A column is used again when the last operation that needs it has run, so
 * that the columns of a block stay in the nearest cache.
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/lower.h"

#define NO_SLOT UINT16_MAX
#define MAX_WORDS (ZETA_RECORD_MAX_BYTES / 4)

struct scheduler {
    const struct zeta_lowering *lowering;
    struct zeta_program *program;
    struct zeta_arena *arena;
    uint32_t *uses;   /**< per node: operands and results that still need it */
    uint16_t *column; /**< per node */
    uint16_t *free_columns;
    uint32_t free_count;
    uint16_t slot[MAX_WORDS]; /**< of each word of the record */
};

/** Number of operands of an operation that are nodes. */
static unsigned operand_count(enum zeta_opcode code)
{
    switch (code) {
    case ZETA_OP_CONSTANT:
    case ZETA_OP_FIELD:
    case ZETA_OP_DELTA32:
    case ZETA_OP_DELTA_SPLIT:
        return 0;
    case ZETA_OP_ADD_DELTA32:
    case ZETA_OP_ADD_DELTA_SPLIT:
    case ZETA_OP_NEGATE_F64:
    case ZETA_OP_TO_U64:
    case ZETA_OP_TO_F64:
    case ZETA_OP_CLAMP_32:
    case ZETA_OP_TO_F32:
        return 1;
    case ZETA_OP_MULDIV:
    case ZETA_OP_SELECT:
    case ZETA_OP_RATIO:
    case ZETA_OP_DIV_CONSTANT:
        return 3;
    default:
        return 2;
    }
}

static bool is_load(const struct zeta_node *node)
{
    return node->code >= ZETA_OP_FIELD && node->code <= ZETA_OP_ADD_DELTA_SPLIT;
}

/** Operand number index; that of a load comes after field and view. */
static uint32_t operand(const struct zeta_node *node, unsigned index)
{
    return is_load(node) ? node->arg[2] : node->arg[index];
}

static void need_words(struct scheduler *state, uint32_t bit, uint32_t width)
{
    for (uint32_t word = bit / 32; width > 0 && word <= (bit + width - 1) / 32; word++)
        state->slot[word] = 0;
}

/** Chooses groups of words to transpose that cover all needed ones, and numbers the slots. */
static bool choose_chunks(struct scheduler *state)
{
    const struct zeta_layout *layout = state->lowering->set->layout;
    const uint32_t words = layout->record_bytes / 4;
    struct zeta_program *program = state->program;
    uint32_t next = 0; /* first word that no chunk covers */

    for (uint32_t i = 0; i < MAX_WORDS; i++)
        state->slot[i] = NO_SLOT;
    for (uint32_t i = 0; i < state->lowering->node_count; i++) {
        const struct zeta_node *node = &state->lowering->nodes[i];

        if (state->uses[i] > 0 && is_load(node)) {
            const struct zeta_field *field = &layout->fields[node->arg[0]];

            need_words(state, field->low_bit, field->low_width);
            need_words(state, field->high_bit, field->high_width);
        }
    }
    program->chunks = zeta_arena_array(state->arena, words, sizeof(*program->chunks));
    if (!program->chunks)
        return false;
    for (uint32_t word = 0; word < words; word++) {
        uint32_t start = word;

        if (state->slot[word] == NO_SLOT || word < next)
            continue;
        if (start > words - ZETA_CHUNK_WORDS)
            start = words - ZETA_CHUNK_WORDS; /* a chunk never reads behind the record */
        for (uint32_t i = word - start; i < ZETA_CHUNK_WORDS; i++)
            state->slot[start + i] = (uint16_t)(program->chunk_count * ZETA_CHUNK_WORDS + i);
        program->chunks[program->chunk_count++] = (uint16_t)start;
        next = start + ZETA_CHUNK_WORDS;
    }
    program->word_count = program->chunk_count * ZETA_CHUNK_WORDS + 1;
    return true;
}

static struct zeta_piece make_piece(const struct scheduler *state, uint32_t bit, uint32_t width)
{
    const uint16_t zeros = (uint16_t)(state->program->word_count - 1);
    struct zeta_piece piece = {
        .word = {zeros, zeros, zeros}, .shift = (uint8_t)(bit % 32), .width = (uint8_t)width};

    for (uint32_t i = 0; width > 0 && bit / 32 + i <= (bit + width - 1) / 32; i++)
        piece.word[i] = state->slot[bit / 32 + i];
    return piece;
}

static uint16_t take_column(struct scheduler *state)
{
    if (state->free_count > 0)
        return state->free_columns[--state->free_count];
    return (uint16_t)state->program->column_count++;
}

static void release(struct scheduler *state, uint32_t node)
{
    /* Constants keep their column: it is filled once per calculation. */
    if (--state->uses[node] == 0 && state->lowering->nodes[node].code != ZETA_OP_CONSTANT)
        state->free_columns[state->free_count++] = state->column[node];
}

static void emit(struct scheduler *state, uint32_t index)
{
    const struct zeta_node *node = &state->lowering->nodes[index];
    struct zeta_program *program = state->program;
    struct zeta_op *op;
    uint16_t *operands[3];

    state->column[index] = take_column(state);
    if (node->code == ZETA_OP_CONSTANT) {
        program->constants[program->constant_count++] =
            (struct zeta_constant){state->column[index], node->bits};
        return;
    }
    op = &program->ops[program->op_count++];
    operands[0] = &op->a;
    operands[1] = &op->b;
    operands[2] = &op->c;
    op->code = (uint16_t)node->code;
    op->dst = state->column[index];
    if (is_load(node)) {
        const struct zeta_field *field = &state->lowering->set->layout->fields[node->arg[0]];

        op->before = node->arg[1] == ZETA_VIEW_BEFORE;
        op->delta_bits = (uint8_t)field->delta_bits;
        op->scale = operand_count(node->code) == 0 ? (uint8_t)node->arg[2] : 0;
        op->low = make_piece(state, field->low_bit, field->low_width);
        op->high = make_piece(state, field->high_bit, field->high_width);
    }
    for (unsigned i = 0; i < operand_count(node->code); i++)
        *operands[i] = state->column[operand(node, i)];
    for (unsigned i = 0; i < operand_count(node->code); i++)
        release(state, operand(node, i));
}

static bool schedule(struct scheduler *state)
{
    const uint32_t count = state->lowering->node_count;
    struct zeta_program *program = state->program;
    uint32_t live = 0;

    /* Every node that the results need is used; others keep 0. */
    for (uint32_t i = count; i-- > 0;) {
        const struct zeta_node *node = &state->lowering->nodes[i];

        for (unsigned j = 0; state->uses[i] > 0 && j < operand_count(node->code); j++)
            state->uses[operand(node, j)]++;
    }
    if (!choose_chunks(state))
        return false;
    for (uint32_t i = 0; i < count; i++)
        live += state->uses[i] > 0;
    program->ops = zeta_arena_array(state->arena, live, sizeof(*program->ops));
    program->constants = zeta_arena_array(state->arena, live, sizeof(*program->constants));
    if (!program->ops || !program->constants)
        return false;

    /* Constants first, so that no column of theirs was another node's before. */
    for (int constants = 1; constants >= 0; constants--) {
        for (uint32_t i = 0; i < count; i++) {
            if (state->uses[i] > 0 &&
                (state->lowering->nodes[i].code == ZETA_OP_CONSTANT) == constants)
                emit(state, i);
        }
    }
    return true;
}

/** Notes where the results are, in groups that are written together. */
static bool set_outputs(const struct scheduler *state, const uint32_t *outputs,
                        const uint32_t *value_types, uint32_t count)
{
    struct zeta_program *program = state->program;
    const uint32_t padded = (count + ZETA_OUTPUT_GROUP - 1) / ZETA_OUTPUT_GROUP * ZETA_OUTPUT_GROUP;

    program->outputs = zeta_arena_array(state->arena, padded, sizeof(*program->outputs));
    program->types = zeta_arena_array(state->arena, (size_t)padded * 2, sizeof(*program->types));
    if (!program->outputs || !program->types)
        return false;
    for (uint32_t i = 0; i < padded; i++) {
        const uint32_t from = i < count ? i : count - 1;

        program->outputs[i] = (struct zeta_output){state->column[outputs[from]], value_types[from]};
        program->types[(size_t)2 * i] = value_types[from];
    }
    program->output_count = count;
    return true;
}

ze_result_t zeta_schedule(struct zeta_lowering *lowering, const uint32_t *outputs,
                          const uint32_t *value_types, uint32_t output_count, uint32_t skip,
                          struct zeta_program *out_program)
{
    const size_t count = (size_t)lowering->node_count + 1;
    struct scheduler state = {
        .lowering = lowering,
        .program = out_program,
        .arena = lowering->arena,
    };
    uint64_t skip_value;
    bool skips;
    bool good;

    if (lowering->result != ZE_RESULT_SUCCESS)
        return lowering->result;
    *out_program = (struct zeta_program){.skip_column = ZETA_COLUMN_NONE};
    state.uses = calloc(count, sizeof(*state.uses));
    state.column = calloc(count, sizeof(*state.column));
    state.free_columns = calloc(count, sizeof(*state.free_columns));
    good = state.uses && state.column && state.free_columns;
    skips = !zeta_lower_constant(lowering, skip, &skip_value) || skip_value != 0;
    /* The use that a result counts for itself is never over, so its column stays its own. */
    for (uint32_t i = 0; good && i < output_count; i++)
        state.uses[outputs[i]]++;
    if (good && skips)
        state.uses[skip]++;
    good = good && schedule(&state);
    good = good && set_outputs(&state, outputs, value_types, output_count);
    if (good && skips)
        out_program->skip_column = state.column[skip];
    free(state.uses);
    free(state.column);
    free(state.free_columns);
    return good ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}
