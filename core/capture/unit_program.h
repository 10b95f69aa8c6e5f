/*
 * The program of a set in the form that backends take: with streams, query pools, and the question
 * which sets can be counted together.
 */
#ifndef ZETA_CORE_CAPTURE_UNIT_PROGRAM_H
#define ZETA_CORE_CAPTURE_UNIT_PROGRAM_H

#include <level_zero/ze_api.h>

#include "zeta/plugin.h"

struct zeta_compiled;

struct zeta_unit_program {
    struct zeta_plugin_array array; /**< of struct zeta_plugin_program_entry, owned */
    struct zeta_plugin_string digest;
    struct zeta_plugin_string uuid; /**< as the set file has it, or empty */
    char digest_text[17];
};

/**
 * Makes the program of a compiled set; its strings stay those of the catalog. The digest is equal
 * for equal programs in every process. Errors: OUT_OF_HOST_MEMORY. Not to be moved in memory.
 */
ze_result_t zeta_unit_program_make(const struct zeta_compiled *compiled,
                                   struct zeta_unit_program *out_program);

/** Frees a program; a zeroed one is fine. */
void zeta_unit_program_free(struct zeta_unit_program *program);

/** A text for a backend; NULL becomes an empty one. */
struct zeta_plugin_string zeta_plugin_text(const char *text);

#endif
