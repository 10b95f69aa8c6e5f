/*
 * Linking programmables: references to parameters, units and layouts, and a trial of every
 * combination of values, so that a file whose templates do not work is refused when it is read.
 */
#include "core/formula/programmables/link.h"

#include <string.h>

#include "core/formula/programmables/recipe.h"
#include "core/formula/programmables/recipe_set.h"
#include "core/formula/sets/catalog_priv.h"

struct linker {
    struct zeta_catalog *catalog;
    struct zeta_diagnostics *sink;
    ze_result_t result;
    uint64_t combinations; /**< of the programmables so far */
};

static bool fail(struct linker *linker, const struct zeta_programmable *programmable,
                 const char *format, ...) ZETA_PRINTF(3, 4);

static bool fail(struct linker *linker, const struct zeta_programmable *programmable,
                 const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    zeta_diagnose_list(linker->sink, ZETA_SEVERITY_ERROR, programmable->file, programmable->line, 1,
                       format, arguments);
    va_end(arguments);
    linker->result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return false;
}

static const struct zeta_parameter *find_parameter(const struct zeta_catalog *catalog,
                                                   const char *name)
{
    for (uint32_t i = 0; i < catalog->parameters.count; i++) {
        const struct zeta_parameter *parameter = catalog->parameters.items[i];

        if (strcmp(parameter->name, name) == 0)
            return parameter;
    }
    return NULL;
}

static bool link_condition(struct linker *linker, const struct zeta_programmable *programmable,
                           struct zeta_expr *expr)
{
    const struct zeta_link_scope scope = {
        .catalog = linker->catalog, .sink = linker->sink, .file = programmable->file};

    if (!expr)
        return true;
    if (!zeta_expr_link(&scope, expr)) {
        linker->result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
        return false;
    }
    return expr->type == ZETA_EXPR_U64 ||
           fail(linker, programmable, "programmable %s: conditions and instances have type u64",
                programmable->name);
}

static bool link_parameters(struct linker *linker, struct zeta_programmable *programmable)
{
    uint32_t with_instances = 0;

    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter =
            find_parameter(linker->catalog, programmable->parameter_names[i]);
        bool many = false;

        if (!parameter)
            return fail(linker, programmable,
                        "programmable %s: unknown parameter '%.100s'; parameters are declared "
                        "under 'parameters'",
                        programmable->name, programmable->parameter_names[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (programmable->parameters[j] == parameter)
                return fail(linker, programmable, "programmable %s names parameter %s twice",
                            programmable->name, parameter->name);
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
           fail(linker, programmable,
                "programmable %s: only one of its parameters can give several metrics",
                programmable->name);
}

static bool link_references(struct linker *linker, struct zeta_programmable *programmable)
{
    for (uint32_t i = 0; i < linker->catalog->usable_programmables.count; i++) {
        const struct zeta_programmable *other = linker->catalog->usable_programmables.items[i];

        if (strcmp(other->name, programmable->name) == 0)
            return fail(linker, programmable, "programmable %s is already declared in %s:%u",
                        programmable->name, other->file, other->line);
    }
    programmable->unit = zeta_catalog_find_unit(linker->catalog, programmable->unit_name);
    programmable->layout = zeta_catalog_find_layout(linker->catalog, programmable->layout_name);
    if (!programmable->unit)
        return fail(linker, programmable, "programmable %s: unknown unit '%.100s'",
                    programmable->name, programmable->unit_name);
    if (!programmable->layout)
        return fail(linker, programmable, "programmable %s: unknown or faulty layout '%.100s'",
                    programmable->name, programmable->layout_name);
    for (uint32_t i = 0; i < programmable->unit->slot_run_count; i++) {
        const struct zeta_slot_run *run = &programmable->unit->slots[i];
        const struct zeta_bank *bank = zeta_layout_find_bank(programmable->layout, run->bank);

        if (!bank || run->first + run->count > bank->count)
            return fail(linker, programmable,
                        "programmable %s: layout %s does not have the slots %s[%u] to %s[%u] of "
                        "unit %s",
                        programmable->name, programmable->layout->name, run->bank, run->first,
                        run->bank, run->first + run->count - 1, programmable->unit->name);
    }
    return link_parameters(linker, programmable) &&
           link_condition(linker, programmable, programmable->available);
}

/** Makes the metric of one choice and a set of it alone. */
static bool try_choice(struct linker *linker, const struct zeta_programmable *programmable,
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
        (void)fail(linker, programmable, "programmable %s: %s", programmable->name, wrong);
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

static bool try_all(struct linker *linker, const struct zeta_programmable *programmable)
{
    struct zeta_choice choice = {0};
    uint64_t combinations = 1;

    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        combinations *= programmable->parameters[i]->value_count;
        memcpy(&choice.value[i], &programmable->parameters[i]->values[0].info,
               sizeof(choice.value[i]));
        if (combinations > ZETA_PROGRAMMABLE_MAX_COMBINATIONS)
            return fail(linker, programmable,
                        "programmable %s: its parameters have more than %u combinations",
                        programmable->name, ZETA_PROGRAMMABLE_MAX_COMBINATIONS);
    }
    linker->combinations += combinations;
    if (linker->combinations > ZETA_PROGRAMMABLES_MAX_COMBINATIONS)
        return fail(linker, programmable,
                    "programmable %s: with those before it there are more than %u combinations, "
                    "each of which is tried when files are read",
                    programmable->name, ZETA_PROGRAMMABLES_MAX_COMBINATIONS);
    do {
        if (!try_choice(linker, programmable, &choice))
            return false;
    } while (next_choice(programmable, &choice));
    return true;
}

ze_result_t zeta_programmables_link(struct zeta_catalog *catalog, struct zeta_diagnostics *sink)
{
    struct linker linker = {.catalog = catalog, .sink = sink, .result = ZE_RESULT_SUCCESS};

    for (uint32_t i = 0; i < catalog->programmables.count; i++) {
        struct zeta_programmable *programmable = catalog->programmables.items[i];

        if (link_references(&linker, programmable) && try_all(&linker, programmable) &&
            !zeta_vector_push(&catalog->arena, &catalog->usable_programmables, programmable))
            linker.result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (linker.result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
            break;
    }
    return linker.result;
}
