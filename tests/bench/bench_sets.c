#include "bench_sets.h"

#include <stdio.h>
#include <string.h>

#include "core/formula/programmables/recipe.h"
#include "core/formula/programmables/recipe_set.h"
#include "core/formula/sets/programmables.h"

#define METRICS ZETA_BENCH_SOURCE "/plugins/vgpu/metrics/"
#define PACKED_UNIT "oa"

/** The default device of the virtual GPU. */
static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    static const struct {
        const char *name;
        uint64_t value;
    } symbols[] = {ZETA_BENCH_SYMBOLS};

    (void)context;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        if (strcmp(symbols[i].name, name) == 0) {
            *out_value = (struct zeta_number){ZETA_EXPR_U64, {.u64 = symbols[i].value}};
            return true;
        }
    }
    return false;
}

static bool fail(const char *what, const struct zeta_diagnostics *sink)
{
    (void)fprintf(stderr, "%s: %s\n", what, sink->first_error);
    return false;
}

static struct zeta_catalog *load(const char *const *files)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_diagnostics sink = {0};
    ze_result_t result = catalog ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    for (size_t i = 0; files[i] && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_catalog_add_file(catalog, files[i], &sink);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_catalog_link(catalog, &sink);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_programmables_link(catalog, &sink);
    if (result == ZE_RESULT_SUCCESS)
        return catalog;
    (void)fail(files[0], &sink);
    zeta_catalog_destroy(catalog);
    return NULL;
}

static bool add_form(struct bench_sets *sets, const struct zeta_catalog *catalog,
                     const struct zeta_set *set, bool is_query)
{
    const struct zeta_symbol_lookup symbols = {.find = find_symbol, .context = NULL};
    struct zeta_diagnostics sink = {0};
    struct bench_set *item = &sets->items[sets->count];
    ze_result_t result;

    if (sets->count == BENCH_MOST_SETS)
        return false;
    item->is_query = is_query;
    result = is_query ? zeta_set_compile_query(catalog, set, &symbols, &sink, &item->compiled)
                      : zeta_set_compile(catalog, set, &symbols, &sink, &item->compiled);
    if (result != ZE_RESULT_SUCCESS)
        return fail(set->name, &sink);
    sets->count++;
    return true;
}

/** Every form of a set that is calculated; tracer data is decoded instead. */
static bool add_set(struct bench_sets *sets, const struct zeta_catalog *catalog,
                    const struct zeta_set *set)
{
    const bool time = (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) != 0;
    const bool event = (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0;

    return (!time || add_form(sets, catalog, set, false)) &&
           (!event || add_form(sets, catalog, set, true));
}

/** Adds a metric to the packed group if the unit has slots for its counters. */
static bool add_recipe(struct bench_sets *sets, const struct zeta_programmable *programmable,
                       struct zeta_ingredient *ingredients)
{
    struct zeta_recipe *recipe = &sets->recipes[sets->recipe_count];
    struct zeta_choice choice;
    const struct zeta_recipe_request request = {
        .choice = &choice, .name = programmable->name, .description = programmable->description};
    const char *wrong = "no such parameters";

    if (zeta_choice_make(programmable, 0, NULL, &choice) != ZE_RESULT_SUCCESS ||
        zeta_recipe_init(recipe, programmable, &request, &wrong) != ZE_RESULT_SUCCESS) {
        (void)fprintf(stderr, "%s: %s\n", programmable->name, wrong);
        zeta_recipe_finish(recipe);
        return false;
    }
    ingredients[sets->recipe_count] = (struct zeta_ingredient){recipe, ZETA_RECIPE_ALL_TILES};
    if (zeta_ingredients_slots(ingredients, sets->recipe_count + 1, 0) <=
        zeta_unit_slot_count(programmable->unit))
        sets->recipe_count++;
    else
        zeta_recipe_finish(recipe);
    return true;
}

/** The programmables of a unit in their order, until its slots are full. */
static bool add_packed(struct bench_sets *sets)
{
    const zet_metric_group_sampling_type_flags_t both =
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED |
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    struct zeta_ingredient ingredients[BENCH_MOST_RECIPES];
    struct zeta_recipe_set_request request = {.catalog = sets->vgpu,
                                              .name = "packed",
                                              .description = "A group that is full.",
                                              .unit_name = PACKED_UNIT,
                                              .file = "bench_sets.c",
                                              .sampling = both,
                                              .ingredients = ingredients};
    struct zeta_diagnostics sink = {0};

    for (uint32_t i = 0; i < zeta_catalog_programmable_count(sets->vgpu); i++) {
        const struct zeta_programmable *one = zeta_catalog_programmable(sets->vgpu, i);

        if (strcmp(one->unit_name, PACKED_UNIT) != 0 || (one->sampling & both) != both ||
            sets->recipe_count == BENCH_MOST_RECIPES)
            continue;
        request.layout_name = one->layout_name;
        request.domain = one->domain;
        if (!add_recipe(sets, one, ingredients))
            return false;
    }
    request.count = sets->recipe_count;
    if (zeta_recipe_set_init(&sets->packed, &request, &sink) != ZE_RESULT_SUCCESS)
        return fail("packed", &sink);
    return add_set(sets, sets->vgpu, &sets->packed.set);
}

bool bench_sets_open(struct bench_sets *sets)
{
    static const char *const vgpu[] = {METRICS "layout.yaml",
                                       METRICS "oa.yaml",
                                       METRICS "dispatch.yaml",
                                       METRICS "ip.yaml",
                                       METRICS "events.yaml",
                                       METRICS "programmable.yaml",
                                       NULL};
    static const char *const render[] = {ZETA_BENCH_SOURCE "/tests/bench/data/render_basic.yaml",
                                         NULL};

    *sets = (struct bench_sets){.vgpu = load(vgpu), .render = load(render)};
    if (!sets->vgpu || !sets->render)
        return false;
    if (!add_set(sets, sets->render, zeta_catalog_set(sets->render, 0)))
        return false;
    for (uint32_t i = 0; i < zeta_catalog_set_count(sets->vgpu); i++) {
        if (!add_set(sets, sets->vgpu, zeta_catalog_set(sets->vgpu, i)))
            return false;
    }
    return add_packed(sets);
}

void bench_sets_close(struct bench_sets *sets)
{
    for (uint32_t i = 0; i < sets->count; i++)
        zeta_compiled_destroy(sets->items[i].compiled);
    zeta_recipe_set_finish(&sets->packed);
    for (uint32_t i = 0; i < sets->recipe_count; i++)
        zeta_recipe_finish(&sets->recipes[i]);
    zeta_catalog_destroy(sets->vgpu);
    zeta_catalog_destroy(sets->render);
}
