#include "core/formula/evaluate/decode.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/arena.h>

#include "core/formula/compile/compile.h"
#include "core/formula/compile/program.h"
#include "core/formula/evaluate/block.h"
#include "core/formula/expr/expr.h"
#include "core/formula/record/layout.h"
#include "core/util/error.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* Plans: which records are entries of which metrics ---------------------------------------------
 */

/** A field that every record has; whole bytes are read in one go. */
struct event_number {
    const struct zeta_field *field;
    uint32_t at;
    uint32_t bytes; /**< 1, 2, 4 or 8; 0: a field of another form */
};

/** A type of record that metrics are entries of. Number 0 is every other type. */
struct event_class {
    uint32_t first; /**< of the plan's references */
    uint32_t count;
};

/** Where the values of a metric come from. */
struct metric_of {
    uint32_t group;
    uint32_t place; /**< in the group's values */
};

/** Constant once made. */
struct zeta_decode_plan {
    struct zeta_arena arena;
    struct zeta_compiled **compiled; /**< sets of each group, by tile; set_count of each */
    uint32_t set_count;
    uint32_t group_count;
    uint32_t tile_count;
    uint32_t record_bytes;
    struct event_number type;
    struct event_number ticks;
    struct event_number tile;
    uint64_t ticks_mask;
    uint64_t timer_hz;
    uint64_t tick_ns; /**< 0: no whole number of nanoseconds */

    const struct zeta_metric **metrics;
    struct metric_of *metric_of; /**< per metric */
    uint32_t metric_count;

    uint16_t class_of[ZETA_EVENT_MAX_TYPE + 1]; /**< by type */
    struct event_class *classes;
    uint32_t class_count;
    uint32_t *references; /**< metrics of each class, in their order */
    uint32_t reference_count;
};

/** The compiled set of a group on a tile. */
static inline const struct zeta_compiled *set_of_group(const struct zeta_decode_plan *plan,
                                                       uint32_t group, uint32_t set)
{
    return plan->compiled[(size_t)group * plan->set_count + set];
}

static struct event_number number_of(const struct zeta_layout *layout, uint32_t index)
{
    struct event_number number = {0};
    const struct zeta_field *field;

    if (index == ZETA_FIELD_NONE)
        return number;
    field = &layout->fields[index];
    number.field = field;
    number.at = field->low_bit / 8;
    if (field->low_bit % 8 == 0 && field->high_width == 0 &&
        (field->low_width == 8 || field->low_width == 16 || field->low_width == 32 ||
         field->low_width == 64))
        number.bytes = field->low_width / 8;
    return number;
}

/** True if records of both say in the same way what they are. */
static bool same_form(const struct zeta_layout *a, const struct zeta_layout *b)
{
    const uint32_t of_a[] = {a->type_field, a->ticks_field, a->tile_field};
    const uint32_t of_b[] = {b->type_field, b->ticks_field, b->tile_field};

    if (a->kind != b->kind || a->record_bytes != b->record_bytes ||
        a->event_count != b->event_count)
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        const struct zeta_field *left, *right;

        if ((of_a[i] == ZETA_FIELD_NONE) != (of_b[i] == ZETA_FIELD_NONE))
            return false;
        if (of_a[i] == ZETA_FIELD_NONE)
            continue;
        left = &a->fields[of_a[i]];
        right = &b->fields[of_b[i]];
        if (left->low_bit != right->low_bit || left->low_width != right->low_width ||
            left->high_bit != right->high_bit || left->high_width != right->high_width)
            return false;
    }
    for (uint32_t i = 0; i < a->event_count; i++) {
        if (a->events[i].number != b->events[i].number)
            return false;
    }
    return true;
}

/** All sets of all groups describe the same bytes. */
static ze_result_t check_forms(const struct zeta_decode_source *source)
{
    const struct zeta_layout *first = zeta_compiled_set(source->groups[0].compiled[0])->layout;
    const uint32_t tiles = source->tile_count > 0 ? source->tile_count : 1;

    for (uint32_t g = 0; g < source->group_count; g++) {
        for (uint32_t tile = 0; tile < tiles; tile++) {
            const struct zeta_set *set = zeta_compiled_set(source->groups[g].compiled[tile]);

            if (set->layout->kind != ZETA_LAYOUT_EVENT || !same_form(first, set->layout))
                return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                                  "set %s has records of another form than set %s", set->name,
                                  zeta_compiled_set(source->groups[0].compiled[0])->name);
        }
    }
    return ZE_RESULT_SUCCESS;
}

/** The sets of each group by tile, and the metrics of all groups. */
static bool list_metrics(struct zeta_decode_plan *plan, const struct zeta_decode_source *source)
{
    uint32_t total = 0;

    plan->compiled = zeta_arena_array(&plan->arena, (size_t)plan->group_count * plan->set_count,
                                      sizeof(*plan->compiled));
    for (uint32_t g = 0; g < plan->group_count; g++)
        total += zeta_compiled_metric_count(source->groups[g].compiled[0]);
    plan->metrics = zeta_arena_array(&plan->arena, total, sizeof(*plan->metrics));
    plan->metric_of = zeta_arena_array(&plan->arena, total, sizeof(*plan->metric_of));
    if (!plan->compiled || !plan->metrics || !plan->metric_of)
        return false;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct zeta_compiled *compiled = source->groups[g].compiled[0];

        memcpy(&plan->compiled[(size_t)g * plan->set_count], source->groups[g].compiled,
               plan->set_count * sizeof(*plan->compiled));
        for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++) {
            plan->metrics[plan->metric_count] = zeta_compiled_metric(compiled, i);
            plan->metric_of[plan->metric_count++] = (struct metric_of){g, i};
        }
    }
    return true;
}

/** Numbers the types that metrics name, and lists the metrics of each. */
static bool list_classes(struct zeta_decode_plan *plan)
{
    uint32_t next = 0;

    plan->class_count = 1;
    for (uint32_t m = 0; m < plan->metric_count; m++) {
        for (uint32_t e = 0; e < plan->metrics[m]->event_count; e++) {
            uint16_t *number = &plan->class_of[plan->metrics[m]->events[e].type];

            if (*number == 0)
                *number = (uint16_t)plan->class_count++;
            plan->reference_count++;
        }
    }
    plan->classes = zeta_arena_array(&plan->arena, plan->class_count, sizeof(*plan->classes));
    plan->references =
        zeta_arena_array(&plan->arena, plan->reference_count, sizeof(*plan->references));
    if (!plan->classes || !plan->references)
        return false;
    for (uint32_t c = 1; c < plan->class_count; c++) {
        plan->classes[c].first = next;
        for (uint32_t m = 0; m < plan->metric_count; m++) {
            const struct zeta_metric *metric = plan->metrics[m];
            uint32_t e = 0;

            while (e < metric->event_count && plan->class_of[metric->events[e].type] != c)
                e++;
            if (e < metric->event_count)
                plan->references[next++] = m;
        }
        plan->classes[c].count = next - plan->classes[c].first;
    }
    return true;
}

ze_result_t zeta_decode_plan_create(const struct zeta_decode_source *source,
                                    struct zeta_decode_plan **out_plan)
{
    const struct zeta_layout *layout = zeta_compiled_set(source->groups[0].compiled[0])->layout;
    struct zeta_decode_plan *plan;
    ze_result_t result = check_forms(source);

    for (uint32_t g = 0; g < source->group_count && result == ZE_RESULT_SUCCESS; g++)
        result = zeta_compiled_check(source->groups[g].compiled[0]);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    plan = calloc(1, sizeof(*plan));
    if (!plan)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    plan->group_count = source->group_count;
    plan->tile_count = source->tile_count;
    plan->set_count = source->tile_count > 0 ? source->tile_count : 1;
    plan->record_bytes = layout->record_bytes;
    plan->type = number_of(layout, layout->type_field);
    plan->ticks = number_of(layout, layout->ticks_field);
    plan->tile = number_of(layout, layout->tile_field);
    plan->ticks_mask =
        source->timestamp_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << source->timestamp_bits) - 1;
    plan->timer_hz = source->timer_hz;
    plan->tick_ns = NS_PER_SECOND % source->timer_hz == 0 ? NS_PER_SECOND / source->timer_hz : 0;
    if (!list_metrics(plan, source) || !list_classes(plan)) {
        zeta_decode_plan_destroy(plan);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_plan = plan;
    return ZE_RESULT_SUCCESS;
}

void zeta_decode_plan_destroy(struct zeta_decode_plan *plan)
{
    if (!plan)
        return;
    zeta_arena_finish(&plan->arena);
    free(plan);
}

uint32_t zeta_decode_metric_count(const struct zeta_decode_plan *plan)
{
    return plan->metric_count;
}

const struct zeta_metric *zeta_decode_metric(const struct zeta_decode_plan *plan, uint32_t index)
{
    return plan->metrics[index];
}

uint32_t zeta_decode_set_count(const struct zeta_decode_plan *plan)
{
    return plan->set_count;
}

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

static inline uint64_t read_number(const struct event_number *number, const unsigned char *record)
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
        const struct event_class *of = &plan->classes[c];
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

/** NULL when memory is exhausted; of a group that has a block it is there. */
static const struct zeta_program *program_of(const struct decoding *state, uint32_t group)
{
    const struct zeta_compiled_programs *programs =
        zeta_compiled_programs(set_of_group(state->plan, group, state->set));

    return programs ? &programs->values : NULL;
}

static bool is_group_selected(const struct decoding *state, uint32_t group)
{
    const struct zeta_decode_plan *plan = state->plan;

    for (uint32_t m = 0; m < plan->metric_count; m++) {
        if (plan->metric_of[m].group == group && state->request->names[m] != ZETA_DECODE_LEFT_OUT)
            return true;
    }
    return false;
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
            const uint32_t group = plan->metric_of[metric].group;
            const struct zeta_output *output;

            if (state->request->names[metric] == ZETA_DECODE_LEFT_OUT)
                continue;
            output = &program_of(state, group)->outputs[plan->metric_of[metric].place];
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
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    state->blocks = calloc(plan->group_count, sizeof(*state->blocks));
    state->emissions = calloc(plan->reference_count + 1, sizeof(*state->emissions));
    if (!state->blocks || !state->emissions)
        goto free_memory;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        if (is_group_selected(state, g) &&
            (!program_of(state, g) || !zeta_block_prepare(program_of(state, g), &state->blocks[g])))
            goto free_memory;
    }
    prepare_emissions(state);
    walk(state, bytes, room, outcome);
    result = ZE_RESULT_SUCCESS;
free_memory:
    for (uint32_t g = 0; state->blocks && g < plan->group_count; g++)
        free(state->blocks[g].words);
    free(state->blocks);
    free(state->emissions);
    return result;
}

/** Several sets: the first pass counts the entries of each in the records that fit. */
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
