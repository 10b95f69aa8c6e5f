#include "core/formula/programmables/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/list.h"

/* Texts with placeholders ----------------------------------------------------------------------
 */

/** Bytes of the longest text that a template can become. */
#define TEXT_BYTES 1024u
/** Deepest nesting of placeholders in the texts of names. */
#define MAX_DEPTH 8u
/** Placeholders that one text may have, with those in the texts of names. */
#define MAX_PLACEHOLDERS 1024u

struct made_text {
    struct zeta_arena *arena;
    const struct zeta_names *names;
    char text[TEXT_BYTES];
    size_t length;
    uint32_t placeholders;
    const char *wrong; /**< format with one name, NULL while all is well */
    char name[64];
};

static bool fail(struct made_text *made, const char *wrong, const char *name, size_t length)
{
    made->wrong = wrong;
    (void)snprintf(made->name, sizeof(made->name), "%.*s", length < 60 ? (int)length : 60, name);
    return false;
}

static bool append(struct made_text *made, const char *text, size_t length)
{
    if (length >= sizeof(made->text) - made->length)
        return fail(made, "the text becomes too long at '%s'", text, length);
    memcpy(made->text + made->length, text, length);
    made->length += length;
    return true;
}

static bool same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static const char *find_text(const struct zeta_names *names, const char *name, size_t length)
{
    for (uint32_t i = names->count; i-- > 0;) {
        if (same(names->lets[i].name, name, length))
            return names->lets[i].text;
    }
    return NULL;
}

static bool is_kept(const struct zeta_names *names, const char *name, size_t length)
{
    for (const char *const *kept = names->kept; kept && *kept; kept++) {
        if (same(*kept, name, length))
            return true;
    }
    return false;
}

static bool fill_text(struct made_text *made, const char *text, uint32_t depth)
{
    while (*text) {
        const size_t plain = strcspn(text, "{}");
        const char *name = text + plain + 1;
        const char *found;
        size_t length;

        if (!append(made, text, plain))
            return false;
        if (text[plain] == '\0')
            return true;
        length = text[plain] == '{' ? strcspn(name, "{}") : 0;
        if (text[plain] == '}' || name[length] != '}')
            return fail(made, "unmatched brace before '%s'", name, strlen(name));
        found = find_text(made->names, name, length);
        if (++made->placeholders > MAX_PLACEHOLDERS)
            return fail(made, "too many placeholders at {%s}", name, length);
        if (found && depth == MAX_DEPTH)
            return fail(made, "{%s} is nested too deep, perhaps in itself", name, length);
        if (found ? !fill_text(made, found, depth + 1)
                  : !is_kept(made->names, name, length) || !append(made, name - 1, length + 2))
            return made->wrong ? false : fail(made, "unknown placeholder {%s}", name, length);
        text = name + length + 1;
    }
    return true;
}

ze_result_t zeta_template_fill(struct zeta_arena *arena, const struct zeta_names *names,
                               const char *text, const char **out_text, const char **out_wrong)
{
    struct made_text made = {.arena = arena, .names = names};

    if (!fill_text(&made, text, 0)) {
        char wrong[160];
        const char *at = strchr(made.wrong, '%');

        /* The formats above hold one %s each. */
        (void)snprintf(wrong, sizeof(wrong), "%.*s%s%s", (int)(at - made.wrong), made.wrong,
                       made.name, at + 2);
        *out_wrong = zeta_arena_copy(arena, wrong, strlen(wrong));
        return *out_wrong ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_text = zeta_arena_copy(arena, made.text, made.length);
    return *out_text ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/* Values of parameters: which are allowed, which were chosen, how many metrics they give -------
 */

/** Largest number of metrics that one call can make. */
#define MAX_INSTANCES 65536u

/** Writes a value: as a message shows it, or as expressions and selections write it. */
static void print_value(char *text, size_t size_bytes, zet_value_info_type_exp_t type,
                        const zet_value_t *value, bool for_people)
{
    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT64:
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        (void)snprintf(text, size_bytes, "%" PRIu64, value->ui64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        (void)zeta_c_snprintf(text, size_bytes, for_people ? "%g" : "f64(%.9e)",
                              (double)value->fp32);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        (void)zeta_c_snprintf(text, size_bytes, for_people ? "%g" : "f64(%.17e)", value->fp64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        if (for_people)
            (void)snprintf(text, size_bytes, "%s", value->b8 ? "true" : "false");
        else
            (void)snprintf(text, size_bytes, "%u", value->b8 ? 1u : 0u);
        break;
    default:
        (void)snprintf(text, size_bytes, "%" PRIu32, value->ui32);
        break;
    }
}

/** Writes one allowed value or range. */
static void print_allowed(char *text, size_t size_bytes, zet_value_info_type_exp_t type,
                          const zet_value_info_exp_t *info)
{
    zet_value_t value;

    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        (void)snprintf(text, size_bytes, "%" PRIu64 " to %" PRIu64, info->ui64Range.ui64Min,
                       info->ui64Range.ui64Max);
        return;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        (void)zeta_c_snprintf(text, size_bytes, "%g to %g", info->fp64Range.fp64Min,
                              info->fp64Range.fp64Max);
        return;
    default:
        memcpy(&value, info, sizeof(value));
        if (type == ZET_VALUE_INFO_TYPE_EXP_UINT8)
            value.ui32 = info->ui8;
        if (type == ZET_VALUE_INFO_TYPE_EXP_UINT16)
            value.ui32 = info->ui16;
        print_value(text, size_bytes, type, &value, true);
        return;
    }
}

static ze_result_t refuse_value(const struct zeta_programmable *programmable,
                                const struct zeta_parameter *parameter, const zet_value_t *value)
{
    char given[48];
    char list[400] = "";
    size_t used = 0;

    print_value(given, sizeof(given), parameter->value_type, value, true);
    for (uint32_t i = 0; i < parameter->value_count; i++) {
        char one[64];
        int length;

        print_allowed(one, sizeof(one), parameter->value_type, &parameter->values[i].info);
        length = snprintf(list + used, sizeof(list) - used, "%s%s (%s)", i > 0 ? ", " : "", one,
                          parameter->values[i].description);
        if (length < 0 || (size_t)length >= sizeof(list) - used)
            break;
        used += (size_t)length;
    }
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "parameter %s of programmable %s cannot be %s; allowed: %s", parameter->name,
                      programmable->name, given, list);
}

ze_result_t zeta_choice_make(const struct zeta_programmable *programmable, uint32_t count,
                             const zet_metric_programmable_param_value_exp_t *values,
                             struct zeta_choice *out_choice)
{
    if (count > programmable->parameter_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "programmable %s has %u parameters, but %u values were given",
                          programmable->name, programmable->parameter_count, count);
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];
        const zet_value_t *value = i < count ? &values[i].value : &parameter->fallback;

        out_choice->value[i] = *value;
        out_choice->index[i] = zeta_parameter_find(parameter, value);
        if (out_choice->index[i] == UINT32_MAX)
            return refuse_value(programmable, parameter, value);
    }
    return ZE_RESULT_SUCCESS;
}

/** What the symbols of an expression are looked up in. */
struct symbols {
    const struct zeta_catalog *catalog;
    const struct zeta_symbol_lookup *lookup;
};

static bool find_symbol(void *context, const struct zeta_expr *symbol,
                        struct zeta_number *out_number)
{
    const struct symbols *symbols = context;

    return zeta_symbol_number(zeta_catalog_symbol(symbols->catalog, symbol->u.ref.target),
                              symbols->lookup, out_number);
}

bool zeta_expr_over_symbols(const struct zeta_catalog *catalog,
                            const struct zeta_symbol_lookup *lookup, const struct zeta_expr *expr,
                            struct zeta_number *out_value)
{
    struct symbols symbols = {catalog, lookup};

    return zeta_expr_evaluate(expr, find_symbol, &symbols, out_value);
}

ze_result_t zeta_choice_count(const struct zeta_catalog *catalog,
                              const struct zeta_programmable *programmable,
                              const struct zeta_choice *choice,
                              const struct zeta_symbol_lookup *symbols, uint32_t tile_count,
                              uint32_t *out_count)
{
    *out_count = 1;
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];
        const struct zeta_parameter_value *value = &parameter->values[choice->index[i]];
        struct zeta_number number = {.type = ZETA_EXPR_U64, .u.u64 = 1};

        if (value->each_tile)
            number.u.u64 = tile_count > 0 ? tile_count : 1;
        else if (value->instances &&
                 !zeta_expr_over_symbols(catalog, symbols, value->instances, &number))
            number.u.u64 = 0;
        if (number.u.u64 == 0 || number.u.u64 > MAX_INSTANCES)
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "the device has nothing to count '%s' (parameter %s of programmable "
                              "%s)",
                              value->description, parameter->name, programmable->name);
        if (number.u.u64 > 1)
            *out_count = (uint32_t)number.u.u64;
    }
    return ZE_RESULT_SUCCESS;
}

/* Recipes --------------------------------------------------------------------------------------
 */

/** Names that a programmable's own texts get besides those of its file. */
#define OWN_NAMES (ZETA_PROGRAMMABLE_MAX_PARAMETERS + 1u)

static const char *const slot_names[] = {"slot", "bank", "index", NULL};

struct filling {
    struct zeta_recipe *recipe;
    const struct zeta_recipe_request *request;
    struct zeta_names names;
    const char *wrong;
};

/** Names and texts of this choice: the programmable's, parameters, those of the chosen values. */
static bool gather_names(struct filling *filling)
{
    struct zeta_recipe *recipe = filling->recipe;
    const struct zeta_programmable *programmable = recipe->programmable;
    uint32_t most = programmable->let_count + OWN_NAMES;
    uint32_t count = 0;
    struct zeta_let *lets;
    char text[64];

    for (uint32_t i = 0; i < programmable->parameter_count; i++)
        most += programmable->parameters[i]->values[filling->request->choice->index[i]].let_count;
    lets = zeta_arena_array(&recipe->arena, most, sizeof(*lets));
    if (!lets)
        return false;
    for (uint32_t i = 0; i < programmable->let_count; i++)
        lets[count++] = programmable->lets[i];
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];
        const struct zeta_parameter_value *value =
            &parameter->values[filling->request->choice->index[i]];

        lets[count].name = parameter->name;
        print_value(text, sizeof(text), parameter->value_type, &filling->request->choice->value[i],
                    false);
        lets[count].text = zeta_arena_copy(&recipe->arena, text, strlen(text));
        if (!lets[count++].text)
            return false;
        for (uint32_t j = 0; j < value->let_count; j++)
            lets[count++] = value->lets[j];
        if (value->each_tile)
            recipe->tile = filling->request->instance;
    }
    (void)snprintf(text, sizeof(text), "%" PRIu32, filling->request->instance);
    lets[count].name = "instance";
    lets[count].text = zeta_arena_copy(&recipe->arena, text, strlen(text));
    filling->names = (struct zeta_names){.lets = lets, .count = count + 1};
    return lets[count].text != NULL;
}

/** A text with placeholders, and where it goes when they are filled in. */
struct template
{
    const char *text; /**< NULL: there is none */
    const char **out_text;
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/** Fills placeholders in but for the names that are kept. */
static ze_result_t fill_all(struct filling *filling, const struct template *templates, size_t count,
                            const char *const *kept)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    filling->names.kept = kept;
    for (size_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        if (templates[i].text)
            result = zeta_template_fill(&filling->recipe->arena, &filling->names, templates[i].text,
                                        templates[i].out_text, &filling->wrong);
    }
    return result;
}

/** One text for what a counter counts: its bank, then its entries behind each other. */
static const char *make_key(struct zeta_arena *arena, const struct zeta_counter *counter)
{
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text key = {0};

    zeta_text_add(&key, "%s\n", counter->bank ? counter->bank : "");
    for (uint32_t i = 0; i < counter->entry_count; i++) {
        const struct zeta_counter_entry *entry = &counter->entries[i];

        if (entry->select)
            zeta_text_add(&key, "%s", entry->select);
        else
            zeta_text_add(&key, "%s\n%s", entry->address, entry->value);
        if (entry->mask)
            zeta_text_add(&key, "\n%s", entry->mask);
        zeta_text_add(&key, "\n\n");
    }
    return key.failed ? NULL : zeta_arena_copy(arena, key.data, key.length);
}

static ze_result_t fill_counter(struct filling *filling, const struct zeta_counter *source,
                                struct zeta_counter *counter)
{
    *counter = (struct zeta_counter){.name = source->name, .bank = source->bank};
    counter->entries =
        zeta_arena_array(&filling->recipe->arena, source->entry_count, sizeof(*counter->entries));
    if (!counter->entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (; counter->entry_count < source->entry_count; counter->entry_count++) {
        const struct zeta_counter_entry *from = &source->entries[counter->entry_count];
        struct zeta_counter_entry *to = &counter->entries[counter->entry_count];
        const struct template templates[] = {{from->select, &to->select},
                                             {from->address, &to->address},
                                             {from->value, &to->value},
                                             {from->mask, &to->mask}};
        ze_result_t result = fill_all(filling, templates, COUNT_OF(templates), slot_names);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fill_counters(struct filling *filling)
{
    struct zeta_recipe *recipe = filling->recipe;
    const uint32_t count = recipe->programmable->counter_count;

    recipe->counters = zeta_arena_array(&recipe->arena, count, sizeof(*recipe->counters));
    recipe->keys = zeta_arena_array(&recipe->arena, count, sizeof(*recipe->keys));
    if (!recipe->counters || !recipe->keys)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result =
            fill_counter(filling, &recipe->programmable->counters[i], &recipe->counters[i]);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        recipe->keys[i] = make_key(&recipe->arena, &recipe->counters[i]);
        if (!recipe->keys[i])
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return ZE_RESULT_SUCCESS;
}

/** Value and maximum, in which the names of counters stay. */
static ze_result_t fill_values(struct filling *filling)
{
    struct zeta_recipe *recipe = filling->recipe;
    const struct zeta_programmable *programmable = recipe->programmable;
    const struct template templates[] = {{programmable->value, &recipe->value},
                                         {programmable->maximum, &recipe->maximum}};
    const char **kept =
        zeta_arena_array(&recipe->arena, programmable->counter_count + 1, sizeof(*kept));
    ze_result_t result;

    if (!kept)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < programmable->counter_count; i++)
        kept[i] = programmable->counters[i].name;
    result = fill_all(filling, templates, COUNT_OF(templates), kept);
    /* An empty text is a choice that has none. */
    if (recipe->maximum && recipe->maximum[0] == '\0')
        recipe->maximum = NULL;
    return result;
}

static ze_result_t fill_types(struct filling *filling)
{
    struct zeta_recipe *recipe = filling->recipe;
    const struct zeta_programmable *programmable = recipe->programmable;
    const char *type = NULL;
    const char *value_type = NULL;
    const char *metric_class = NULL;
    struct zeta_metric words;
    const struct template templates[] = {{programmable->type, &type},
                                         {programmable->value_type, &value_type},
                                         {programmable->metric_class, &metric_class},
                                         {programmable->result_unit, &recipe->result_unit}};
    const ze_result_t result = fill_all(filling, templates, COUNT_OF(templates), NULL);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_metric_words(type, value_type, metric_class, &words)) {
        filling->wrong = "its metric has an unknown type, value_type or class";
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    recipe->type = words.type;
    recipe->value_type = words.value_type;
    recipe->metric_class = words.metric_class;
    return ZE_RESULT_SUCCESS;
}

/** The name is the application's, with the text of {suffix} where several metrics are made. */
static ze_result_t fill_name(struct filling *filling)
{
    struct zeta_recipe *recipe = filling->recipe;
    const struct zeta_recipe_request *request = filling->request;
    const char *suffix = "";
    const struct template template = {"{suffix}", &suffix};
    ze_result_t result = ZE_RESULT_SUCCESS;
    bool has_suffix = false;
    size_t name_bytes;
    char *name;

    for (uint32_t i = 0; i < filling->names.count; i++)
        has_suffix |= strcmp(filling->names.lets[i].name, "suffix") == 0;
    if (has_suffix)
        result = fill_all(filling, &template, 1, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (strlen(suffix) >= ZETA_RECIPE_SUFFIX_BYTES) {
        filling->wrong = "its suffix is too long";
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
    struct filling filling = {.recipe = recipe, .request = request};
    ze_result_t (*const steps[])(struct filling *) = {fill_name, fill_types, fill_counters,
                                                      fill_values};
    ze_result_t result;

    *recipe = (struct zeta_recipe){.programmable = programmable, .tile = ZETA_RECIPE_ALL_TILES};
    result = gather_names(&filling) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < COUNT_OF(steps) && result == ZE_RESULT_SUCCESS; i++)
        result = steps[i](&filling);
    *out_wrong = filling.wrong;
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
