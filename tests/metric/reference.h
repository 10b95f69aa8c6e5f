/*
 * A second, slow evaluator that shares no arithmetic with the library: it walks expression trees
 * row by row and reads fields bit by bit. Tests compare the two.
 */
#ifndef ZETA_TESTS_METRIC_REFERENCE_H
#define ZETA_TESTS_METRIC_REFERENCE_H

#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"

/** Numbers behind $Name for one device, by name; ends with a NULL name. */
struct reference_symbol {
    const char *name;
    struct zeta_number value;
};

/**
 * Calculates like zeta_evaluate() and writes up to capacity values. Returns the number of values
 * that the data holds. out_dropped: a BREAK of the tile was met.
 */
size_t reference_evaluate(const struct zeta_catalog *catalog, const struct zeta_compiled *compiled,
                          const struct reference_symbol *symbols, bool maximum, uint32_t tile,
                          const unsigned char *raw, size_t raw_bytes, zet_typed_value_t *values,
                          size_t capacity, bool *out_dropped);

/** Value of an expression of a set in one row. previous may be NULL if the layout needs none. */
struct zeta_number reference_value(const struct zeta_catalog *catalog, const struct zeta_set *set,
                                   const struct reference_symbol *symbols,
                                   const struct zeta_expr *expr, const unsigned char *previous,
                                   const unsigned char *current);

#endif
