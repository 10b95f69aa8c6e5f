#include "core/formula/programmables/recipe_set.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/formula/programmables/recipe.h"
#include "core/formula/sets/catalog_priv.h"
#include "core/formula/sets/query_form.h"

/** The metric that every set has and tools find by name. */
#define TIME_METRIC "GpuTime"

struct maker {
    struct zeta_recipe_set *made;
    const struct zeta_recipe_set_request *request;
    struct zeta_linker linker;
};

/** Reports what is wrong with a programmable, or with the set if that is NULL; false. */
static bool refuse(struct maker *maker, const struct zeta_programmable *programmable,
                   const char *wrong)
{
    const struct zeta_recipe_set_request *request = maker->request;

    return programmable ? zeta_link_fail(&maker->linker, programmable->file, programmable->line, 1,
                                         "programmable %s: %s", programmable->name, wrong)
                        : zeta_link_fail(&maker->linker, request->file, request->line, 1,
                                         "set %s: %s", request->name, wrong);
}

/** Fills the placeholders of a text in. */
static bool fill(struct maker *maker, const struct zeta_programmable *programmable,
                 const struct zeta_names *names, const char *text, const char **out_text)
{
    const char *wrong = NULL;
    const ze_result_t result =
        zeta_template_fill(&maker->made->arena, names, text, out_text, &wrong);

    if (wrong)
        return refuse(maker, programmable, wrong);
    return result == ZE_RESULT_SUCCESS || zeta_link_no_memory(&maker->linker);
}

/** Fills a text in and parses it. */
static bool parse(struct maker *maker, const struct zeta_programmable *programmable,
                  const struct zeta_names *names, const char *text, struct zeta_expr **out_expr)
{
    const struct zeta_expr_source source = {programmable->file, programmable->line, 1};

    if (!fill(maker, programmable, names, text, &text))
        return false;
    maker->linker.result = zeta_expr_parse(text, strlen(text), &source, &maker->made->arena,
                                           maker->linker.sink, out_expr);
    return maker->linker.result == ZE_RESULT_SUCCESS;
}

/* GpuTime --------------------------------------------------------------------------------------
 */

static bool is_no_metric(void *context, const struct zeta_expr *node)
{
    (void)context;
    return node->op != ZETA_EXPR_METRIC;
}

/** GpuTime as other sets of the same unit and layout have it; NULL if none has. */
static const struct zeta_metric *find_time(const struct zeta_catalog *catalog,
                                           const struct zeta_set *wanted)
{
    for (uint32_t i = 0; i < catalog->sets.count; i++) {
        const struct zeta_set *set = catalog->sets.items[i];

        if (set->deferred || set->unit != wanted->unit || set->layout != wanted->layout)
            continue;
        for (uint32_t j = 0; j < set->metric_count; j++) {
            const struct zeta_metric *metric = &set->metrics[j];

            if (strcmp(metric->name, TIME_METRIC) == 0 &&
                zeta_expr_every(metric->value, is_no_metric, NULL) &&
                zeta_expr_every(metric->maximum, is_no_metric, NULL))
                return metric;
        }
    }
    return NULL;
}

/* Names ----------------------------------------------------------------------------------------
 */

/** Copies a name with what set files do not allow replaced. */
static char *clean_name(struct zeta_arena *arena, const char *text, size_t room)
{
    const size_t length = strlen(text);
    char *name = zeta_arena_alloc(arena, length + 1 + room);
    size_t used = 0;

    if (!name)
        return NULL;
    if (length == 0 || isdigit((unsigned char)text[0]))
        name[used++] = '_';
    for (size_t i = 0; i < length && used < ZETA_SET_NAME_BYTES - room; i++)
        name[used++] = isalnum((unsigned char)text[i]) ? text[i] : '_';
    return name;
}

static bool is_taken(const struct zeta_set *set, uint32_t index, const char *name)
{
    if (zeta_layout_find_field(set->layout, name) != ZETA_FIELD_NONE)
        return true;
    for (uint32_t i = 0; i < set->metric_count; i++) {
        if (i != index && set->metrics[i].name && strcmp(set->metrics[i].name, name) == 0)
            return true;
    }
    return false;
}

/** Gives a metric its name, with a number behind it where it would not be the only one. */
static bool name_metric(struct zeta_arena *arena, struct zeta_set *set, uint32_t index,
                        const char *text)
{
    char *name = clean_name(arena, text, 12);
    const size_t length = name ? strlen(name) : 0;

    for (uint32_t number = 2; name && is_taken(set, index, name); number++)
        (void)snprintf(name + length, 12, "_%" PRIu32, number);
    set->metrics[index].name = name;
    return name != NULL;
}

/* Slots ----------------------------------------------------------------------------------------
 */

struct slot_names {
    char slot[ZETA_SET_NAME_BYTES + 12];
    char counter[ZETA_SET_NAME_BYTES + 14];
    const char *bank;
    char index[12];
};

/** What a slot of the unit is called; false if it does not have so many. */
static bool find_slot(const struct zeta_unit *unit, uint32_t slot, struct slot_names *out_names)
{
    for (uint32_t i = 0; i < unit->slot_run_count; i++) {
        const struct zeta_slot_run *run = &unit->slots[i];

        if (slot < run->count) {
            const uint32_t index = run->first + slot;

            out_names->bank = run->bank;
            (void)snprintf(out_names->index, sizeof(out_names->index), "%" PRIu32, index);
            (void)snprintf(out_names->slot, sizeof(out_names->slot), "%s%" PRIu32, run->bank,
                           index);
            (void)snprintf(out_names->counter, sizeof(out_names->counter), "%s[%" PRIu32 "]",
                           run->bank, index);
            return true;
        }
        slot -= run->count;
    }
    return false;
}

/* Program --------------------------------------------------------------------------------------
 */

/** Makes one of the numbers of a register: an expression without names. */
static bool make_number(struct maker *maker, const struct zeta_programmable *programmable,
                        const struct zeta_names *names, const char *text, uint32_t *out_number)
{
    const struct zeta_symbol_lookup nothing = {0};
    const struct zeta_link_scope scope = {.linker = &maker->linker, .file = programmable->file};
    struct zeta_expr *expr = NULL;
    struct zeta_number number;

    if (!parse(maker, programmable, names, text, &expr))
        return false;
    if (!zeta_expr_link(&scope, expr) ||
        !zeta_expr_over_symbols(maker->linker.catalog, &nothing, expr, &number) ||
        number.type != ZETA_EXPR_U64 || number.u.u64 > UINT32_MAX)
        return refuse(maker, programmable,
                      "address and value of a register are constants of 32 bits");
    *out_number = (uint32_t)number.u.u64;
    return true;
}

static bool make_entry(struct maker *maker, const struct zeta_programmable *programmable,
                       const struct zeta_names *names, const struct zeta_counter_entry *from,
                       struct zeta_program_entry *entry)
{
    entry->line = programmable->line;
    if (from->select)
        return fill(maker, programmable, names, from->select, &entry->select);
    return make_number(maker, programmable, names, from->address, &entry->address) &&
           make_number(maker, programmable, names, from->value, &entry->value) &&
           (!from->mask || make_number(maker, programmable, names, from->mask, &entry->mask)) &&
           (!from->mask || (entry->value & ~entry->mask) == 0 ||
            refuse(maker, programmable, "the value of a register has bits outside its mask"));
}

/** The program of one counter in its slot. */
static bool make_part(struct maker *maker, const struct zeta_programmable *programmable,
                      const struct zeta_counter *counter, uint32_t slot,
                      struct zeta_program_part *part)
{
    struct slot_names slot_names;
    struct zeta_let lets[3] = {{"slot", slot_names.slot}, {.name = "bank"}, {.name = "index"}};
    const struct zeta_names names = {.lets = lets, .count = 3};

    if (!find_slot(maker->made->set.unit, slot, &slot_names))
        return refuse(maker, programmable, "its counters do not fit the slots of its unit");
    lets[1].text = slot_names.bank;
    lets[2].text = slot_names.index;
    part->entries =
        zeta_arena_array(&maker->made->arena, counter->entry_count, sizeof(*part->entries));
    if (!part->entries)
        return zeta_link_no_memory(&maker->linker);
    for (uint32_t i = 0; i < counter->entry_count; i++) {
        if (!make_entry(maker, programmable, &names, &counter->entries[i],
                        &part->entries[part->entry_count++]))
            return false;
    }
    return true;
}

/** The entry before this one that has other bits of the same register; NULL if there is none. */
static struct zeta_program_entry *find_sharer(const struct zeta_set *set, uint32_t part,
                                              const struct zeta_program_entry *entry)
{
    for (uint32_t i = 0; i <= part; i++) {
        for (uint32_t j = 0; j < set->program[i].entry_count; j++) {
            struct zeta_program_entry *other = &set->program[i].entries[j];

            if (other == entry)
                return NULL;
            if (other->mask && other->address == entry->address)
                return other;
        }
    }
    return NULL;
}

/** Registers that counters share are written once, with the bits of all of them. */
static bool join_registers(struct maker *maker)
{
    const struct zeta_set *set = &maker->made->set;

    for (uint32_t i = 0; i < set->program_count; i++) {
        struct zeta_program_part *part = &set->program[i];
        uint32_t kept = 0;

        for (uint32_t j = 0; j < part->entry_count; j++) {
            const struct zeta_program_entry entry = part->entries[j];
            struct zeta_program_entry *other =
                entry.mask ? find_sharer(set, i, &part->entries[j]) : NULL;

            if (other && ((other->value ^ entry.value) & other->mask & entry.mask) != 0)
                return refuse(maker, NULL, "two of its counters need the same bits of a register");
            if (!other) {
                part->entries[kept++] = entry;
                continue;
            }
            other->value |= entry.value;
            other->mask |= entry.mask;
        }
        part->entry_count = kept;
    }
    return true;
}

/** Programs each slot once. */
static bool make_program(struct maker *maker)
{
    const struct zeta_recipe_set_request *request = maker->request;
    const struct zeta_ingredient *ingredients = request->ingredients;
    struct zeta_set *set = &maker->made->set;

    set->program = zeta_arena_array(
        &maker->made->arena, zeta_ingredients_slots(ingredients, request->count, request->tile),
        sizeof(*set->program));
    if (!set->program)
        return zeta_link_no_memory(&maker->linker);
    for (uint32_t i = 0; i < request->count; i++) {
        const struct zeta_recipe *recipe = ingredients[i].recipe;

        if (!zeta_ingredient_counts(&ingredients[i], request->tile))
            continue;
        for (uint32_t j = 0; j < recipe->programmable->counter_count; j++) {
            if (zeta_ingredients_is_first(ingredients, i, j, request->tile) &&
                !make_part(maker, recipe->programmable, &recipe->counters[j],
                           zeta_ingredients_slot_of(set->unit, ingredients, i, j, request->tile),
                           &set->program[set->program_count++]))
                return false;
        }
    }
    return join_registers(maker);
}

/* Metrics --------------------------------------------------------------------------------------
 */

/** A recipe for another tile counts nothing here. */
static bool make_metric(struct maker *maker, uint32_t index)
{
    const struct zeta_recipe_set_request *request = maker->request;
    const struct zeta_recipe *recipe = request->ingredients[index].recipe;
    const struct zeta_programmable *programmable = recipe->programmable;
    const bool counts = zeta_ingredient_counts(&request->ingredients[index], request->tile);
    struct zeta_set *set = &maker->made->set;
    struct zeta_metric *metric = &set->metrics[index];
    struct slot_names slots[ZETA_PROGRAMMABLE_MAX_COUNTERS];
    struct zeta_let lets[ZETA_PROGRAMMABLE_MAX_COUNTERS];
    const struct zeta_names names = {.lets = lets, .count = programmable->counter_count};

    *metric = recipe->metric;
    if (!name_metric(&maker->made->arena, set, index, recipe->metric.name))
        return zeta_link_no_memory(&maker->linker);
    for (uint32_t i = 0; i < programmable->counter_count; i++) {
        const uint32_t slot = counts ? zeta_ingredients_slot_of(set->unit, request->ingredients,
                                                                index, i, request->tile)
                                     : 0;

        if (!find_slot(set->unit, slot, &slots[i]))
            return refuse(maker, programmable, "its counters do not fit the slots of its unit");
        lets[i] = (struct zeta_let){recipe->counters[i].name, slots[i].counter};
    }
    return parse(maker, programmable, &names, counts ? recipe->value : "0", &metric->value) &&
           (!recipe->maximum ||
            parse(maker, programmable, &names, recipe->maximum, &metric->maximum));
}

/** The recipes' metrics first, then GpuTime and the info metrics of the layout. */
static bool make_metrics(struct maker *maker)
{
    const struct zeta_recipe_set_request *request = maker->request;
    struct zeta_recipe_set *made = maker->made;
    struct zeta_set *set = &made->set;
    const struct zeta_layout *layout = set->layout;
    const struct zeta_metric *time = find_time(request->catalog, set);
    const uint32_t total = request->count + (time ? 1 : 0) + layout->info_count;

    if (total == 0 || total > ZETA_SET_MAX_METRICS)
        return refuse(maker, NULL, "it has no metric, or too many");
    set->metrics = zeta_arena_array(&made->arena, total, sizeof(*set->metrics));
    if (!set->metrics)
        return zeta_link_no_memory(&maker->linker);
    set->metric_count = total;
    if (time && !zeta_metric_copy(&made->arena, time, &set->metrics[request->count]))
        return zeta_link_no_memory(&maker->linker);
    for (uint32_t i = 0; i < layout->info_count; i++) {
        if (!zeta_metric_copy(&made->arena, &layout->info[i],
                              &set->metrics[total - layout->info_count + i]))
            return zeta_link_no_memory(&maker->linker);
    }
    for (uint32_t i = 0; i < request->count; i++) {
        if (!make_metric(maker, i))
            return false;
    }
    return true;
}

/* The set --------------------------------------------------------------------------------------
 */

static bool make_head(struct maker *maker)
{
    const struct zeta_recipe_set_request *request = maker->request;
    struct zeta_recipe_set *made = maker->made;
    struct zeta_set *set = &made->set;

    set->name = clean_name(&made->arena, request->name, 0);
    set->description =
        zeta_arena_copy(&made->arena, request->description, strlen(request->description));
    if (!set->name || !set->description)
        return zeta_link_no_memory(&maker->linker);
    set->file = request->file;
    set->line = request->line;
    set->domain = request->domain;
    set->sampling = request->sampling;
    set->unit = zeta_catalog_find_unit(request->catalog, request->unit_name);
    set->layout = zeta_catalog_find_layout(request->catalog, request->layout_name);
    return (set->unit && set->layout) ||
           refuse(maker, NULL, "its unit or its layout does not exist on a tile");
}

ze_result_t zeta_recipe_set_init(struct zeta_recipe_set *made,
                                 const struct zeta_recipe_set_request *request,
                                 struct zeta_diagnostics *sink)
{
    struct maker maker = {
        .made = made, .request = request, .linker = {.catalog = request->catalog, .sink = sink}};
    ze_result_t result;

    *made = (struct zeta_recipe_set){0};
    if (!make_head(&maker) || !make_program(&maker) || !make_metrics(&maker))
        return maker.linker.result;
    result = zeta_set_link(request->catalog, &made->set, sink);
    if (result == ZE_RESULT_SUCCESS &&
        (request->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0 &&
        !zeta_query_form_check(&made->set, sink))
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return result;
}

void zeta_recipe_set_finish(struct zeta_recipe_set *made)
{
    zeta_arena_finish(&made->arena);
}

/* Linking programmables: references, and a trial of each combination of values ------------------
 */

/** Reports a finding about a programmable, whose name is the first argument; false. */
#define fail(linker, programmable, format, ...)                                                    \
    zeta_link_fail(linker, (programmable)->file, (programmable)->line, 1,                          \
                   "programmable %s: " format, (programmable)->name, __VA_ARGS__)

static bool link_condition(struct zeta_linker *linker, const struct zeta_programmable *programmable,
                           struct zeta_expr *expr)
{
    const struct zeta_link_scope scope = {.linker = linker, .file = programmable->file};

    if (!expr)
        return true;
    if (!zeta_expr_link(&scope, expr))
        return false;
    return expr->type == ZETA_EXPR_U64 ||
           zeta_link_fail(linker, programmable->file, expr->line, expr->column,
                          "conditions and instances of programmables have type u64");
}

static bool link_parameters(struct zeta_linker *linker, struct zeta_programmable *programmable)
{
    uint32_t with_instances = 0;

    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter =
            zeta_names_find(&linker->catalog->parameters_by_name, programmable->parameter_names[i],
                            strlen(programmable->parameter_names[i]));
        bool many = false;

        if (!parameter)
            return fail(linker, programmable,
                        "unknown parameter '%.100s'; parameters are declared under 'parameters'",
                        programmable->parameter_names[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (programmable->parameters[j] == parameter)
                return fail(linker, programmable, "it names parameter %s twice", parameter->name);
        }
        programmable->parameters[i] = parameter;
        for (uint32_t j = 0; j < parameter->value_count; j++) {
            many |= parameter->values[j].each_tile || parameter->values[j].instances;
            if (!link_condition(linker, programmable, parameter->values[j].instances))
                return false;
        }
        with_instances += many;
    }
    return with_instances <= 1 ||
           fail(linker, programmable, "%s", "only one of its parameters can give several metrics");
}

static bool link_references(struct zeta_linker *linker, struct zeta_programmable *programmable)
{
    for (uint32_t i = 0; i < linker->catalog->usable_programmables.count; i++) {
        const struct zeta_programmable *other = linker->catalog->usable_programmables.items[i];

        if (strcmp(other->name, programmable->name) == 0)
            return fail(linker, programmable, "it is already declared in %s:%u", other->file,
                        other->line);
    }
    programmable->unit = zeta_catalog_find_unit(linker->catalog, programmable->unit_name);
    programmable->layout = zeta_catalog_find_layout(linker->catalog, programmable->layout_name);
    if (!programmable->unit)
        return fail(linker, programmable, "unknown unit '%.100s'", programmable->unit_name);
    if (!programmable->layout)
        return fail(linker, programmable, "unknown or faulty layout '%.100s'",
                    programmable->layout_name);
    for (uint32_t i = 0; i < programmable->unit->slot_run_count; i++) {
        const struct zeta_slot_run *run = &programmable->unit->slots[i];
        const struct zeta_bank *bank = zeta_layout_find_bank(programmable->layout, run->bank);

        if (!bank || run->first + run->count > bank->count)
            return fail(linker, programmable,
                        "layout %s does not have the slots %s[%u] to %s[%u] of unit %s",
                        programmable->layout->name, run->bank, run->first, run->bank,
                        run->first + run->count - 1, programmable->unit->name);
    }
    return link_parameters(linker, programmable) &&
           link_condition(linker, programmable, programmable->available);
}

/** Makes the metric of one choice and a set of it alone. */
static bool try_choice(struct zeta_linker *linker, const struct zeta_programmable *programmable,
                       const struct zeta_choice *choice)
{
    const struct zeta_recipe_request wanted = {
        .choice = choice, .name = programmable->name, .description = programmable->description};
    struct zeta_recipe recipe;
    struct zeta_ingredient ingredient = {&recipe, ZETA_RECIPE_ALL_TILES};
    const struct zeta_recipe_set_request request = {
        .catalog = linker->catalog,
        .name = programmable->name,
        .description = programmable->description,
        .unit_name = programmable->unit_name,
        .layout_name = programmable->layout_name,
        .domain = programmable->domain,
        .sampling = programmable->sampling,
        .file = programmable->file,
        .line = programmable->line,
        .ingredients = &ingredient,
        .count = 1,
    };
    const char *wrong = NULL;
    ze_result_t result = zeta_recipe_init(&recipe, programmable, &wanted, &wrong);

    if (wrong)
        (void)fail(linker, programmable, "%s", wrong);
    if (result == ZE_RESULT_SUCCESS) {
        struct zeta_recipe_set made;

        result = zeta_recipe_set_init(&made, &request, linker->sink);
        zeta_recipe_set_finish(&made);
    }
    zeta_recipe_finish(&recipe);
    if (result != ZE_RESULT_SUCCESS)
        linker->result = result;
    return result == ZE_RESULT_SUCCESS;
}

/** Moves to the next combination of values; false behind the last. */
static bool next_choice(const struct zeta_programmable *programmable, struct zeta_choice *choice)
{
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];

        choice->index[i] = choice->index[i] + 1 < parameter->value_count ? choice->index[i] + 1 : 0;
        memcpy(&choice->value[i], &parameter->values[choice->index[i]].info,
               sizeof(choice->value[i]));
        if (choice->index[i] > 0)
            return true;
    }
    return false;
}

/** before: combinations of the programmables so far, to which its own are added. */
static bool try_all(struct zeta_linker *linker, const struct zeta_programmable *programmable,
                    uint64_t *before)
{
    struct zeta_choice choice = {0};
    uint64_t combinations = 1;

    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        combinations *= programmable->parameters[i]->value_count;
        memcpy(&choice.value[i], &programmable->parameters[i]->values[0].info,
               sizeof(choice.value[i]));
        if (combinations > ZETA_PROGRAMMABLE_MAX_COMBINATIONS)
            return fail(linker, programmable, "its parameters have more than %u combinations",
                        ZETA_PROGRAMMABLE_MAX_COMBINATIONS);
    }
    *before += combinations;
    if (*before > ZETA_PROGRAMMABLES_MAX_COMBINATIONS)
        return fail(linker, programmable,
                    "with those before it there are more than %u combinations, each of which is "
                    "tried when files are read",
                    ZETA_PROGRAMMABLES_MAX_COMBINATIONS);
    do {
        if (!try_choice(linker, programmable, &choice))
            return false;
    } while (next_choice(programmable, &choice));
    return true;
}

ze_result_t zeta_programmables_link(struct zeta_catalog *catalog, struct zeta_diagnostics *sink)
{
    struct zeta_linker linker = {.catalog = catalog, .sink = sink, .result = ZE_RESULT_SUCCESS};
    uint64_t combinations = 0;

    for (uint32_t i = 0; i < catalog->programmables.count; i++) {
        struct zeta_programmable *programmable = catalog->programmables.items[i];

        if (link_references(&linker, programmable) &&
            (programmable->deferred || try_all(&linker, programmable, &combinations)) &&
            !zeta_vector_push(&catalog->arena, &catalog->usable_programmables, programmable))
            linker.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (linker.result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            break;
    }
    return linker.result;
}
