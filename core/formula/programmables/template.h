/*
 * Texts with placeholders: another text replaces "{name}".
 */
#ifndef ZETA_CORE_FORMULA_PROGRAMMABLES_TEMPLATE_H
#define ZETA_CORE_FORMULA_PROGRAMMABLES_TEMPLATE_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#include <zeta/arena.h>

#include "core/formula/sets/programmables.h"

/** Names and their texts. The last one of a name counts. */
struct zeta_names {
    const struct zeta_let *lets;
    uint32_t count;
    /** Names that stay as they are, in braces; NULL-terminated. NULL: none. */
    const char *const *kept;
};

/**
 * Fills placeholders in, also in the texts of names.
 *
 * @out_wrong  on INVALID_ARGUMENT why: in the arena
 * Errors: INVALID_ARGUMENT, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_template_fill(struct zeta_arena *arena, const struct zeta_names *names,
                               const char *text, const char **out_text, const char **out_wrong);

#endif
