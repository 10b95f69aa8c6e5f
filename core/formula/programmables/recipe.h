/*
 * Recipes: a programmable with chosen parameter values, ready to be put into a set.
 *
 * A recipe is one metric. All of its texts are filled in except what depends on the slots that its
 * counters get; those are given when several recipes become a set (recipe_set.h). Equal counters of
 * several recipes have equal keys and share a slot.
 */
#ifndef ZETA_CORE_FORMULA_PROGRAMMABLES_RECIPE_H
#define ZETA_CORE_FORMULA_PROGRAMMABLES_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include <zeta/arena.h>

#include "core/formula/compile/compile.h"
#include "core/formula/sets/programmables.h"

/** A recipe that counts on every tile. */
#define ZETA_RECIPE_ALL_TILES UINT32_MAX

struct zeta_recipe {
    struct zeta_arena arena;
    const struct zeta_programmable *programmable;
    struct zeta_metric metric; /**< as clients see it: its name has the suffix; no expressions */
    uint32_t tile;             /**< the only one that it counts on, or ZETA_RECIPE_ALL_TILES */
    const char *value;         /**< names of counters are still in braces */
    const char *maximum;       /**< NULL: none */

    /** As many as the programmable has. Only {slot}, {bank} and {index} are still in braces. */
    struct zeta_counter *counters;
    const char **keys; /**< what a counter counts, as one text */
};

/** Names and their texts. The last one of a name counts. */
struct zeta_names {
    const struct zeta_let *lets;
    uint32_t count;
    /** Names that stay as they are, in braces; NULL-terminated. NULL: none. */
    const char *const *kept;
};

/**
 * Replaces "{name}" by the text of that name, also in the texts of names.
 *
 * @out_wrong  on INVALID_ARGUMENT why: in the arena
 * Errors: INVALID_ARGUMENT, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_template_fill(struct zeta_arena *arena, const struct zeta_names *names,
                               const char *text, const char **out_text, const char **out_wrong);

/** The value of each parameter. */
struct zeta_choice {
    uint32_t index[ZETA_PROGRAMMABLE_MAX_PARAMETERS]; /**< among the values of the parameter */
    zet_value_t value[ZETA_PROGRAMMABLE_MAX_PARAMETERS];
};

/**
 * Looks up the first count values; the other parameters take their defaults.
 * Errors: INVALID_ARGUMENT with a sentence that lists what is allowed.
 */
ze_result_t zeta_choice_make(const struct zeta_programmable *programmable, uint32_t count,
                             const zet_metric_programmable_param_value_exp_t *values,
                             struct zeta_choice *out_choice);

/**
 * Number of metrics that a choice gives, at least 1.
 *
 * @tile_count  of the device, 0 without tiles
 * Errors: UNSUPPORTED_FEATURE with a sentence if the device has none of what is asked for.
 */
ze_result_t zeta_choice_count(const struct zeta_catalog *catalog,
                              const struct zeta_programmable *programmable,
                              const struct zeta_choice *choice,
                              const struct zeta_symbol_lookup *symbols, uint32_t tile_count,
                              uint32_t *out_count);

/** What a recipe is made of besides the programmable. */
struct zeta_recipe_request {
    const struct zeta_choice *choice;
    uint32_t instance; /**< below zeta_choice_count() */
    const char *name;  /**< without suffix */
    const char *description;
};

/** Value of a linked expression over symbols; false if the device lacks one of them. */
bool zeta_expr_over_symbols(const struct zeta_catalog *catalog,
                            const struct zeta_symbol_lookup *symbols, const struct zeta_expr *expr,
                            struct zeta_number *out_value);

/**
 * Fills the templates in. On failure *out_wrong is the reason (static, or in the recipe's arena).
 *
 * Ownership: freed with zeta_recipe_finish(), also on failure.
 * Errors: INVALID_ARGUMENT, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_recipe_init(struct zeta_recipe *recipe,
                             const struct zeta_programmable *programmable,
                             const struct zeta_recipe_request *request, const char **out_wrong);

/** Frees what a recipe owns. */
void zeta_recipe_finish(struct zeta_recipe *recipe);

/** Length of the suffix that the names of the choice's metrics get, at most. */
#define ZETA_RECIPE_SUFFIX_BYTES 64u

/** A recipe on its way into a set. */
struct zeta_ingredient {
    const struct zeta_recipe *recipe;
    uint32_t tile; /**< the only tile of the set's device that it counts on, or ..._ALL_TILES */
};

/** True if a recipe counts on a tile, given by its number. */
static inline bool zeta_ingredient_counts(const struct zeta_ingredient *ingredient, uint32_t tile)
{
    return ingredient->tile == ZETA_RECIPE_ALL_TILES || ingredient->tile == tile;
}

/**
 * Slots that recipes of one unit need together on a tile: one for each different counter.
 */
uint32_t zeta_ingredients_slots(const struct zeta_ingredient *ingredients, uint32_t count,
                                uint32_t tile);

/**
 * True if no earlier counter counts the same: counters that are equal share a slot.
 *
 * @ingredient, @counter  which counter
 */
bool zeta_ingredients_is_first(const struct zeta_ingredient *ingredients, uint32_t ingredient,
                               uint32_t counter, uint32_t tile);

/**
 * Slot of a counter among those of the unit. Counters take slots as they come, each the first one
 * that is free and of its bank.
 *
 * @ingredient, @counter  which counter; its ingredient counts on the tile
 *
 * UINT32_MAX if there is none left for it or for one before it.
 */
uint32_t zeta_ingredients_slot_of(const struct zeta_unit *unit,
                                  const struct zeta_ingredient *ingredients, uint32_t ingredient,
                                  uint32_t counter, uint32_t tile);

/** True if all counters find a slot of the unit on the tile. */
bool zeta_ingredients_fit(const struct zeta_unit *unit, const struct zeta_ingredient *ingredients,
                          uint32_t count, uint32_t tile);

#endif
