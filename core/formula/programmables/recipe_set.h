/*
 * Sets made of recipes: what a metric group of an application measures.
 */
#ifndef ZETA_CORE_FORMULA_PROGRAMMABLES_RECIPE_SET_H
#define ZETA_CORE_FORMULA_PROGRAMMABLES_RECIPE_SET_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#include <zeta/arena.h>

#include "core/formula/programmables/recipe.h"
#include "core/formula/sets/set.h"
#include "core/util/diagnostic.h"

/** What a set is made of. */
struct zeta_recipe_set_request {
    const struct zeta_catalog *catalog; /**< of the device or tile; linked */
    const char *name;
    const char *description;
    const char *unit_name;
    const char *layout_name;
    uint32_t domain;
    zet_metric_group_sampling_type_flags_t sampling;
    const char *file; /**< where its parts come from */
    uint32_t line;
    const struct zeta_ingredient *ingredients;
    uint32_t count; /**< may be 0: only what every set of the layout has */
    uint32_t tile;  /**< number of the tile that the set is for */
};

/** A set with its memory. Constant once it is made. */
struct zeta_recipe_set {
    struct zeta_arena arena;
    struct zeta_set set; /**< metrics in the order of the recipes, then GpuTime and info */
};

/**
 * Makes a set: gives counters their slots, parses and links expressions, appends GpuTime as other
 * sets of the unit have it, and the info metrics of the layout. Names are made unique and as set
 * files allow them. Findings go to the sink.
 *
 * Ownership: freed with zeta_recipe_set_finish(), also on failure; not to be moved in memory.
 * Errors: INVALID_ARGUMENT (also: more slots needed than the unit has), OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_recipe_set_init(struct zeta_recipe_set *made,
                                 const struct zeta_recipe_set_request *request,
                                 struct zeta_diagnostics *sink);

/** Frees what a set owns. */
void zeta_recipe_set_finish(struct zeta_recipe_set *made);

/**
 * Links the programmables, once, after zeta_catalog_link(). Those with an error are left out of the
 * catalog. Each combination of values is tried, but not of programmables of deferred files.
 *
 * Errors: INVALID_ARGUMENT if anything was wrong (the others are usable all the same),
 * OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_programmables_link(struct zeta_catalog *catalog, struct zeta_diagnostics *sink);

#endif
