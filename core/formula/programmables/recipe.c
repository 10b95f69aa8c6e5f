#include "core/formula/programmables/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "core/formula/programmables/template.h"
#include "core/formula/sets/catalog_priv.h"

/** Names that a programmable's own texts get besides those of its file. */
#define OWN_NAMES (ZETA_PROGRAMMABLE_MAX_PARAMETERS + 1u)

static const char *const slot_names[] = {"slot", "bank", "index", NULL};

struct cook {
    struct zeta_recipe *recipe;
    const struct zeta_recipe_request *request;
    struct zeta_names names;
    const char *wrong;
};

/** A chosen value as it stands in expressions and selections. */
static const char *value_text(struct zeta_arena *arena, const struct zeta_parameter *parameter,
                              const zet_value_t *value)
{
    char text[64];

    switch (parameter->value_type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT64:
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        (void)snprintf(text, sizeof(text), "%" PRIu64, value->ui64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        (void)zeta_c_snprintf(text, sizeof(text), "f64(%.9e)", (double)value->fp32);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        (void)zeta_c_snprintf(text, sizeof(text), "f64(%.17e)", value->fp64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        (void)snprintf(text, sizeof(text), "%u", value->b8 ? 1u : 0u);
        break;
    default:
        (void)snprintf(text, sizeof(text), "%" PRIu32, value->ui32);
        break;
    }
    return zeta_arena_copy(arena, text, strlen(text));
}

/** What names mean for this choice: the programmable's, parameters, what their values bring. */
static bool gather_names(struct cook *cook)
{
    struct zeta_recipe *recipe = cook->recipe;
    const struct zeta_programmable *programmable = recipe->programmable;
    uint32_t most = programmable->let_count + OWN_NAMES;
    uint32_t count = 0;
    struct zeta_let *lets;
    char instance[16];

    for (uint32_t i = 0; i < programmable->parameter_count; i++)
        most += programmable->parameters[i]->values[cook->request->choice->index[i]].let_count;
    lets = zeta_arena_array(&recipe->arena, most, sizeof(*lets));
    if (!lets)
        return false;
    for (uint32_t i = 0; i < programmable->let_count; i++)
        lets[count++] = programmable->lets[i];
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];
        const struct zeta_parameter_value *value =
            &parameter->values[cook->request->choice->index[i]];

        lets[count].name = parameter->name;
        lets[count].text = value_text(&recipe->arena, parameter, &cook->request->choice->value[i]);
        if (!lets[count++].text)
            return false;
        for (uint32_t j = 0; j < value->let_count; j++)
            lets[count++] = value->lets[j];
        if (value->each_tile)
            recipe->tile = cook->request->instance;
    }
    (void)snprintf(instance, sizeof(instance), "%" PRIu32, cook->request->instance);
    lets[count].name = "instance";
    lets[count].text = zeta_arena_copy(&recipe->arena, instance, strlen(instance));
    cook->names = (struct zeta_names){.lets = lets, .count = count + 1};
    return lets[count].text != NULL;
}

static ze_result_t fill(struct cook *cook, const char *text, const char *const *kept,
                        const char **out_text)
{
    cook->names.kept = kept;
    return zeta_template_fill(&cook->recipe->arena, &cook->names, text, out_text, &cook->wrong);
}

/** One text for what a counter counts: its bank, then its entries behind each other. */
static const char *make_key(struct zeta_arena *arena, const struct zeta_counter *counter)
{
    const char *bank = counter->bank ? counter->bank : "";
    size_t length = strlen(bank) + 1;
    char *key;

    for (uint32_t i = 0; i < counter->entry_count; i++) {
        const struct zeta_counter_entry *entry = &counter->entries[i];

        length += entry->select ? strlen(entry->select)
                                : strlen(entry->address) + 1 + strlen(entry->value);
        length += (entry->mask ? 1 + strlen(entry->mask) : 0) + 2;
    }
    key = zeta_arena_alloc(arena, length + 1);
    length = strlen(bank) + 1;
    if (key)
        (void)snprintf(key, length + 1, "%s\n", bank);
    for (uint32_t i = 0; key && i < counter->entry_count; i++) {
        const struct zeta_counter_entry *entry = &counter->entries[i];
        const char *parts[] = {entry->select ? entry->select : entry->address,
                               entry->select ? "" : "\n",
                               entry->select ? "" : entry->value,
                               entry->mask ? "\n" : "",
                               entry->mask ? entry->mask : "",
                               "\n\n"};

        for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
            memcpy(key + length, parts[p], strlen(parts[p]));
            length += strlen(parts[p]);
        }
    }
    return key;
}

static ze_result_t cook_counter(struct cook *cook, const struct zeta_counter *source,
                                struct zeta_counter *counter)
{
    *counter = (struct zeta_counter){.name = source->name, .bank = source->bank};
    counter->entries =
        zeta_arena_array(&cook->recipe->arena, source->entry_count, sizeof(*counter->entries));
    if (!counter->entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < source->entry_count; i++) {
        const struct zeta_counter_entry *from = &source->entries[i];
        struct zeta_counter_entry *entry = &counter->entries[counter->entry_count++];
        ze_result_t result;

        if (from->select) {
            result = fill(cook, from->select, slot_names, &entry->select);
        } else {
            result = fill(cook, from->address, slot_names, &entry->address);
            if (result == ZE_RESULT_SUCCESS)
                result = fill(cook, from->value, slot_names, &entry->value);
            if (result == ZE_RESULT_SUCCESS && from->mask)
                result = fill(cook, from->mask, slot_names, &entry->mask);
        }
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t cook_counters(struct cook *cook)
{
    struct zeta_recipe *recipe = cook->recipe;
    const uint32_t count = recipe->programmable->counter_count;

    recipe->counters = zeta_arena_array(&recipe->arena, count, sizeof(*recipe->counters));
    recipe->keys = zeta_arena_array(&recipe->arena, count, sizeof(*recipe->keys));
    if (!recipe->counters || !recipe->keys)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result =
            cook_counter(cook, &recipe->programmable->counters[i], &recipe->counters[i]);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        recipe->keys[i] = make_key(&recipe->arena, &recipe->counters[i]);
        if (!recipe->keys[i])
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return ZE_RESULT_SUCCESS;
}

/** Value and maximum, in which the names of counters stay. */
static ze_result_t cook_values(struct cook *cook)
{
    struct zeta_recipe *recipe = cook->recipe;
    const struct zeta_programmable *programmable = recipe->programmable;
    const char **kept =
        zeta_arena_array(&recipe->arena, programmable->counter_count + 1, sizeof(*kept));
    ze_result_t result;

    if (!kept)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < programmable->counter_count; i++)
        kept[i] = programmable->counters[i].name;
    result = fill(cook, programmable->value, kept, &recipe->value);
    if (result == ZE_RESULT_SUCCESS && programmable->maximum)
        result = fill(cook, programmable->maximum, kept, &recipe->maximum);
    /* An empty text is a choice that has none. */
    if (result == ZE_RESULT_SUCCESS && recipe->maximum && recipe->maximum[0] == '\0')
        recipe->maximum = NULL;
    return result;
}

static ze_result_t cook_words(struct cook *cook)
{
    struct zeta_recipe *recipe = cook->recipe;
    const struct zeta_programmable *programmable = recipe->programmable;
    const char *type = NULL;
    const char *value_type = NULL;
    const char *metric_class = NULL;
    ze_result_t result = fill(cook, programmable->type, NULL, &type);

    if (result == ZE_RESULT_SUCCESS)
        result = fill(cook, programmable->value_type, NULL, &value_type);
    if (result == ZE_RESULT_SUCCESS)
        result = fill(cook, programmable->metric_class, NULL, &metric_class);
    if (result == ZE_RESULT_SUCCESS)
        result = fill(cook, programmable->result_unit, NULL, &recipe->result_unit);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_metric_words(type, value_type, &recipe->type, &recipe->value_type) &&
        zeta_metric_class_word(metric_class, &recipe->metric_class))
        return ZE_RESULT_SUCCESS;
    cook->wrong = "its metric has an unknown type, value_type or class";
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/** The name is the application's, with what {suffix} stands for where several metrics are made. */
static ze_result_t cook_name(struct cook *cook)
{
    struct zeta_recipe *recipe = cook->recipe;
    const struct zeta_recipe_request *request = cook->request;
    const char *suffix = "";
    ze_result_t result = ZE_RESULT_SUCCESS;
    bool has_suffix = false;
    size_t name_bytes;
    char *name;

    for (uint32_t i = 0; i < cook->names.count; i++)
        has_suffix |= strcmp(cook->names.lets[i].name, "suffix") == 0;
    if (has_suffix)
        result = fill(cook, "{suffix}", NULL, &suffix);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (strlen(suffix) >= ZETA_RECIPE_SUFFIX_BYTES) {
        cook->wrong = "its suffix is too long";
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    name_bytes = strlen(request->name) + strlen(suffix) + 1;
    name = zeta_arena_alloc(&recipe->arena, name_bytes);
    recipe->description =
        zeta_arena_copy(&recipe->arena, request->description, strlen(request->description));
    if (!name || !recipe->description)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (void)snprintf(name, name_bytes, "%s%s", request->name, suffix);
    recipe->name = name;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_recipe_init(struct zeta_recipe *recipe,
                             const struct zeta_programmable *programmable,
                             const struct zeta_recipe_request *request, const char **out_wrong)
{
    struct cook cook = {.recipe = recipe, .request = request};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    *recipe = (struct zeta_recipe){.programmable = programmable, .tile = ZETA_RECIPE_ALL_TILES};
    if (gather_names(&cook))
        result = cook_name(&cook);
    if (result == ZE_RESULT_SUCCESS)
        result = cook_words(&cook);
    if (result == ZE_RESULT_SUCCESS)
        result = cook_counters(&cook);
    if (result == ZE_RESULT_SUCCESS)
        result = cook_values(&cook);
    *out_wrong = cook.wrong;
    return result;
}

void zeta_recipe_finish(struct zeta_recipe *recipe)
{
    zeta_arena_finish(&recipe->arena);
}

bool zeta_ingredients_is_first(const struct zeta_ingredient *ingredients, uint32_t ingredient,
                               uint32_t counter, uint32_t tile)
{
    const char *key = ingredients[ingredient].recipe->keys[counter];

    for (uint32_t i = 0; i <= ingredient; i++) {
        const struct zeta_recipe *recipe = ingredients[i].recipe;
        const uint32_t end = i == ingredient ? counter : recipe->programmable->counter_count;

        for (uint32_t j = 0; zeta_ingredient_counts(&ingredients[i], tile) && j < end; j++) {
            if (strcmp(recipe->keys[j], key) == 0)
                return false;
        }
    }
    return true;
}

uint32_t zeta_ingredients_slots(const struct zeta_ingredient *ingredients, uint32_t count,
                                uint32_t tile)
{
    uint32_t slots = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t counters = ingredients[i].recipe->programmable->counter_count;

        for (uint32_t j = 0; zeta_ingredient_counts(&ingredients[i], tile) && j < counters; j++)
            slots += zeta_ingredients_is_first(ingredients, i, j, tile);
    }
    return slots;
}

/** Takes the first slot of a unit that a counter can have; UINT32_MAX if none is left. */
static uint32_t take_slot(const struct zeta_unit *unit, uint32_t *taken,
                          const struct zeta_counter *counter)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < unit->slot_run_count; i++) {
        const struct zeta_slot_run *run = &unit->slots[i];

        if (taken[i] < run->count && (!counter->bank || strcmp(counter->bank, run->bank) == 0))
            return before + taken[i]++;
        before += run->count;
    }
    return UINT32_MAX;
}

/**
 * Gives all counters slots, until one has the wanted key (NULL: none). Its slot, or that of the
 * last one; UINT32_MAX if a counter finds none.
 */
static uint32_t take_slots(const struct zeta_unit *unit, const struct zeta_ingredient *ingredients,
                           uint32_t count, uint32_t tile, const char *wanted)
{
    uint32_t taken[ZETA_UNIT_MAX_SLOT_RUNS] = {0};
    uint32_t slot = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_recipe *recipe = ingredients[i].recipe;
        const uint32_t counters = recipe->programmable->counter_count;

        for (uint32_t j = 0; zeta_ingredient_counts(&ingredients[i], tile) && j < counters; j++) {
            if (!zeta_ingredients_is_first(ingredients, i, j, tile))
                continue;
            slot = take_slot(unit, taken, &recipe->counters[j]);
            if (slot == UINT32_MAX || (wanted && strcmp(recipe->keys[j], wanted) == 0))
                return slot;
        }
    }
    return slot;
}

bool zeta_ingredients_fit(const struct zeta_unit *unit, const struct zeta_ingredient *ingredients,
                          uint32_t count, uint32_t tile)
{
    return take_slots(unit, ingredients, count, tile, NULL) != UINT32_MAX;
}

uint32_t zeta_ingredients_slot_of(const struct zeta_unit *unit,
                                  const struct zeta_ingredient *ingredients, uint32_t ingredient,
                                  uint32_t counter, uint32_t tile)
{
    return take_slots(unit, ingredients, ingredient + 1, tile,
                      ingredients[ingredient].recipe->keys[counter]);
}
