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
    const struct zeta_names *names;
    char text[TEXT_BYTES];
    size_t length;
    uint32_t placeholders;
    char wrong[160]; /**< "" while all is well */
};

ZETA_PRINTF(2, 3)
static bool fail(struct made_text *made, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(made->wrong, sizeof(made->wrong), format, arguments);
    va_end(arguments);
    return false;
}

/** Bytes of a name that a message shows. */
static int shown(size_t length)
{
    return length < 60 ? (int)length : 60;
}

static bool append(struct made_text *made, const char *text, size_t length)
{
    if (length >= sizeof(made->text) - made->length)
        return fail(made, "the text becomes too long at '%.*s'", shown(length), text);
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
            return fail(made, "unmatched brace before '%.60s'", name);
        found = find_text(made->names, name, length);
        if (++made->placeholders > MAX_PLACEHOLDERS)
            return fail(made, "too many placeholders at {%.*s}", shown(length), name);
        if (found && depth == MAX_DEPTH)
            return fail(made, "{%.*s} is nested too deep, perhaps in itself", shown(length), name);
        if (found ? !fill_text(made, found, depth + 1)
                  : !is_kept(made->names, name, length) || !append(made, name - 1, length + 2))
            return made->wrong[0] ? false
                                  : fail(made, "unknown placeholder {%.*s}", shown(length), name);
        text = name + length + 1;
    }
    return true;
}

ze_result_t zeta_template_fill(struct zeta_arena *arena, const struct zeta_names *names,
                               const char *text, const char **out_text, const char **out_wrong)
{
    struct made_text made = {.names = names};

    if (!fill_text(&made, text, 0)) {
        *out_wrong = zeta_arena_copy(arena, made.wrong, strlen(made.wrong));
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
                        const struct zeta_number *number, bool for_people)
{
    if (number->type == ZETA_EXPR_F64)
        (void)zeta_c_snprintf(text, size_bytes,
                              for_people                                ? "%g"
                              : type == ZET_VALUE_INFO_TYPE_EXP_FLOAT32 ? "f64(%.9e)"
                                                                        : "f64(%.17e)",
                              number->u.f64);
    else if (type == ZET_VALUE_INFO_TYPE_EXP_BOOL8 && for_people)
        (void)snprintf(text, size_bytes, "%s", number->u.u64 ? "true" : "false");
    else
        (void)snprintf(text, size_bytes, "%" PRIu64, number->u.u64);
}

static ze_result_t refuse_value(const struct zeta_programmable *programmable,
                                const struct zeta_parameter *parameter, const zet_value_t *value)
{
    const zet_value_info_type_exp_t type = parameter->value_type;
    const struct zeta_number number = zeta_parameter_number(type, value);
    char given[48];
    char list[400] = "";
    size_t used = 0;

    print_value(given, sizeof(given), type, &number, true);
    for (uint32_t i = 0; i < parameter->value_count; i++) {
        char low[48], high[48];
        struct zeta_number ends[2];
        const bool is_range = zeta_parameter_ends(type, &parameter->values[i].info, ends);
        int length;

        print_value(low, sizeof(low), type, &ends[0], true);
        print_value(high, sizeof(high), type, &ends[1], true);
        length = snprintf(list + used, sizeof(list) - used, "%s%s%s%s (%s)", i > 0 ? ", " : "", low,
                          is_range ? " to " : "", is_range ? high : "",
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

/** Names and texts of a choice: the programmable's, parameters, those of the chosen values. */
static bool gather_names(struct zeta_recipe *recipe, const struct zeta_recipe_request *request,
                         struct zeta_names *out_names)
{
    const struct zeta_programmable *programmable = recipe->programmable;
    const struct zeta_choice *choice = request->choice;
    uint32_t most = programmable->let_count + OWN_NAMES;
    uint32_t count = 0;
    struct zeta_let *lets;
    char text[64];

    for (uint32_t i = 0; i < programmable->parameter_count; i++)
        most += programmable->parameters[i]->values[choice->index[i]].let_count;
    lets = zeta_arena_array(&recipe->arena, most, sizeof(*lets));
    if (!lets)
        return false;
    for (uint32_t i = 0; i < programmable->let_count; i++)
        lets[count++] = programmable->lets[i];
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];
        const struct zeta_parameter_value *value = &parameter->values[choice->index[i]];
        const struct zeta_number number =
            zeta_parameter_number(parameter->value_type, &choice->value[i]);

        print_value(text, sizeof(text), parameter->value_type, &number, false);
        lets[count].name = parameter->name;
        lets[count].text = zeta_arena_copy(&recipe->arena, text, strlen(text));
        if (!lets[count++].text)
            return false;
        for (uint32_t j = 0; j < value->let_count; j++)
            lets[count++] = value->lets[j];
        if (value->each_tile)
            recipe->tile = request->instance;
    }
    (void)snprintf(text, sizeof(text), "%" PRIu32, request->instance);
    lets[count].name = "instance";
    lets[count].text = zeta_arena_copy(&recipe->arena, text, strlen(text));
    *out_names = (struct zeta_names){.lets = lets, .count = count + 1};
    return lets[count].text != NULL;
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

static ze_result_t fill_counter(struct zeta_recipe *recipe, struct zeta_names *names,
                                uint32_t index, const char **out_wrong)
{
    static const char *const slot_names[] = {"slot", "bank", "index", NULL};
    const struct zeta_counter *source = &recipe->programmable->counters[index];
    struct zeta_counter *counter = &recipe->counters[index];

    *counter = *source;
    counter->entries =
        zeta_arena_array(&recipe->arena, source->entry_count, sizeof(*counter->entries));
    if (!counter->entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    names->kept = slot_names;
    for (uint32_t i = 0; i < source->entry_count; i++) {
        const struct zeta_counter_entry *from = &source->entries[i];
        struct zeta_counter_entry *to = &counter->entries[i];
        const char *const texts[] = {from->select, from->address, from->value, from->mask};
        const char **const filled[] = {&to->select, &to->address, &to->value, &to->mask};

        for (int k = 0; k < 4; k++) {
            ze_result_t result =
                texts[k] ? zeta_template_fill(&recipe->arena, names, texts[k], filled[k], out_wrong)
                         : ZE_RESULT_SUCCESS;

            if (result != ZE_RESULT_SUCCESS)
                return result;
        }
    }
    recipe->keys[index] = make_key(&recipe->arena, counter);
    return recipe->keys[index] ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t zeta_recipe_init(struct zeta_recipe *recipe,
                             const struct zeta_programmable *programmable,
                             const struct zeta_recipe_request *request, const char **out_wrong)
{
    struct zeta_metric *metric = &recipe->metric;
    const char *suffix = "", *type = "", *value_type = "", *metric_class = "";
    const char *counters[ZETA_PROGRAMMABLE_MAX_COUNTERS + 1] = {NULL};
    const struct {
        const char *text; /**< NULL: there is none */
        const char **filled;
        const char *const *kept;
    } texts[] = {{"{suffix}", &suffix, NULL},
                 {programmable->type, &type, NULL},
                 {programmable->value_type, &value_type, NULL},
                 {programmable->metric_class, &metric_class, NULL},
                 {programmable->result_unit, &metric->unit, NULL},
                 {programmable->value, &recipe->value, counters},
                 {programmable->maximum, &recipe->maximum, counters}};
    const uint32_t count = programmable->counter_count;
    struct zeta_names names;
    ze_result_t result;
    size_t name_bytes;
    char *name;

    *out_wrong = NULL;
    *recipe = (struct zeta_recipe){.programmable = programmable,
                                   .tile = ZETA_RECIPE_ALL_TILES,
                                   .metric = {.component = programmable->component,
                                              .file = programmable->file,
                                              .line = programmable->line,
                                              .tier = programmable->tier}};
    recipe->counters = zeta_arena_array(&recipe->arena, count, sizeof(*recipe->counters));
    recipe->keys = zeta_arena_array(&recipe->arena, count, sizeof(*recipe->keys));
    if (!recipe->counters || !recipe->keys || !gather_names(recipe, request, &names))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        counters[i] = programmable->counters[i].name;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!texts[i].text || (i == 0 && !find_text(&names, "suffix", strlen("suffix"))))
            continue;
        names.kept = texts[i].kept;
        result =
            zeta_template_fill(&recipe->arena, &names, texts[i].text, texts[i].filled, out_wrong);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    if (strlen(suffix) >= ZETA_RECIPE_SUFFIX_BYTES) {
        *out_wrong = "its suffix is too long";
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (!zeta_metric_words(type, value_type, metric_class, metric)) {
        *out_wrong = "its metric has an unknown type, value_type or class";
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    /* An empty text is a choice that has no maximum. */
    if (recipe->maximum && recipe->maximum[0] == '\0')
        recipe->maximum = NULL;
    for (uint32_t i = 0; i < count; i++) {
        result = fill_counter(recipe, &names, i, out_wrong);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    /* The name is the application's, with the suffix where several metrics are made. */
    name_bytes = strlen(request->name) + strlen(suffix) + 1;
    name = zeta_arena_alloc(&recipe->arena, name_bytes);
    metric->name = name;
    metric->description =
        zeta_arena_copy(&recipe->arena, request->description, strlen(request->description));
    if (!name || !metric->description)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (void)snprintf(name, name_bytes, "%s%s", request->name, suffix);
    return ZE_RESULT_SUCCESS;
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
 * Gives all counters slots of a unit, until one has the wanted key (NULL: none). How many got one;
 * *out_slot is that of the last one, UINT32_MAX if it found none.
 */
static uint32_t take_slots(const struct zeta_unit *unit, const struct zeta_ingredient *ingredients,
                           uint32_t count, uint32_t tile, const char *wanted, uint32_t *out_slot)
{
    uint32_t taken[ZETA_UNIT_MAX_SLOT_RUNS] = {0};
    uint32_t different = 0;

    *out_slot = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_recipe *recipe = ingredients[i].recipe;
        const uint32_t counters = recipe->programmable->counter_count;

        for (uint32_t j = 0; zeta_ingredient_counts(&ingredients[i], tile) && j < counters; j++) {
            if (!zeta_ingredients_is_first(ingredients, i, j, tile))
                continue;
            different++;
            *out_slot = unit ? take_slot(unit, taken, &recipe->counters[j]) : 0;
            if (*out_slot == UINT32_MAX || (wanted && strcmp(recipe->keys[j], wanted) == 0))
                return different;
        }
    }
    return different;
}

uint32_t zeta_ingredients_slots(const struct zeta_ingredient *ingredients, uint32_t count,
                                uint32_t tile)
{
    uint32_t slot;

    return take_slots(NULL, ingredients, count, tile, NULL, &slot);
}

bool zeta_ingredients_fit(const struct zeta_unit *unit, const struct zeta_ingredient *ingredients,
                          uint32_t count, uint32_t tile)
{
    uint32_t last;

    (void)take_slots(unit, ingredients, count, tile, NULL, &last);
    return last != UINT32_MAX;
}

uint32_t zeta_ingredients_slot_of(const struct zeta_unit *unit,
                                  const struct zeta_ingredient *ingredients, uint32_t ingredient,
                                  uint32_t counter, uint32_t tile)
{
    uint32_t slot;

    (void)take_slots(unit, ingredients, ingredient + 1, tile,
                     ingredients[ingredient].recipe->keys[counter], &slot);
    return slot;
}
