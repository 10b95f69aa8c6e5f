/* What the tests of sets and calculation share. */
#ifndef ZETA_TESTS_METRIC_SUPPORT_H
#define ZETA_TESTS_METRIC_SUPPORT_H

#include "core/formula/evaluate/evaluate.h"
#include "core/formula/sets/set.h"
#include "tests/metric/reference.h"

/** Pseudo-random numbers, the same on every machine (xorshift64*). seed is not 0. */
uint64_t next_random(uint64_t *seed);

/** A catalog with one text in it, linked; ends the test with the first error if there is one. */
struct zeta_catalog *load_text(const char *text);

/** Compiles a set with these symbols; ends the test if that fails. */
struct zeta_compiled *compile_set(const struct zeta_catalog *catalog, const char *name,
                                  const struct reference_symbol *symbols);

/** Lookup in a list of symbols, for zeta_set_compile(). */
struct zeta_symbol_lookup lookup_of(const struct reference_symbol *symbols);

/** Calls a function once for each variant of the evaluator that this processor runs. */
void for_each_variant(void (*function)(void *context), void *context);

/** A value in words, for messages. */
void print_value(const zet_typed_value_t *value, char *buffer, size_t size);

/** Same type and same bits; any NaN equals any other. */
bool same_value(const zet_typed_value_t *a, const zet_typed_value_t *b);

/**
 * Fails unless rows of a set over a delta layout have, added up, the values of the one row that
 * begins with the first of them and ends with the last, as if the hardware had counted once.
 */
void check_many_rows_are_one(const struct zeta_compiled *compiled, uint64_t seed);

#endif
