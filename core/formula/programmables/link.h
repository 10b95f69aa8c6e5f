/*
 * Programmables of a catalog: references looked up, every combination of values tried.
 */
#ifndef ZETA_CORE_FORMULA_PROGRAMMABLES_LINK_H
#define ZETA_CORE_FORMULA_PROGRAMMABLES_LINK_H

#include <level_zero/ze_api.h>

#include "core/formula/sets/set.h"

/**
 * Links the programmables, once, after zeta_catalog_link(). Those with an error are left out of the
 * catalog.
 *
 * Errors: INVALID_ARGUMENT if anything was wrong (the others are usable all the same),
 * OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_programmables_link(struct zeta_catalog *catalog, struct zeta_diagnostics *sink);

#endif
