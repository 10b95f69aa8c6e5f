/*
 * Compiled sets: a set for one device, ready for calculation.
 *
 * The compiler puts in the device's symbols, folds what is constant, shares common subexpressions,
 * keeps only the fields that are needed, and drops metrics that the device does not have. The
 * result is a flat list of operations over columns (one number per row of a block).
 */
#ifndef ZETA_CORE_FORMULA_COMPILE_COMPILE_H
#define ZETA_CORE_FORMULA_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/sets/set.h"
#include "core/util/diagnostic.h"

struct zeta_compiled;
struct zeta_symbol_values;

/**
 * Gives the number behind a provider's symbol; false if the device has none of that name.
 * The number is converted if its type is not the declared one.
 */
typedef bool (*zeta_symbol_fn)(void *context, const char *name, struct zeta_number *out_value);

/** The symbols of one device. */
struct zeta_symbol_lookup {
    zeta_symbol_fn find; /**< may be NULL: no provider symbols */
    void *context;
    /** NULL, or what they are: then nothing is looked up, and compiled sets refer to it. */
    const struct zeta_symbol_values *values;
};

/**
 * Looks up all symbols of a linked catalog, for many sets. NULL when memory is exhausted. Freed
 * with free(), after what was compiled with it.
 */
struct zeta_symbol_values *zeta_symbol_values_create(const struct zeta_catalog *catalog,
                                                     const struct zeta_symbol_lookup *lookup);

/** The number behind a symbol, in its declared type; false if the device has none of that name. */
bool zeta_symbol_number(const struct zeta_symbol *symbol, const struct zeta_symbol_lookup *lookup,
                        struct zeta_number *out_number);

/**
 * Compiles a set of a linked catalog for a device. Of a deferred set only the condition is checked;
 * the rest follows when its metrics or its program are first asked for, by whichever thread, and
 * sink->report takes the findings of that.
 *
 * Ownership: freed with zeta_compiled_destroy(); keeps pointers into the catalog, which must exist
 * longer.
 * Errors: DEPENDENCY_UNAVAILABLE if a needed symbol is missing (the finding names it),
 * UNSUPPORTED_FEATURE if the device does not have this set (its condition is false) or no metric of
 * it is left, INVALID_ARGUMENT if the set is too large, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_set_compile(const struct zeta_catalog *catalog, const struct zeta_set *set,
                             const struct zeta_symbol_lookup *symbols,
                             struct zeta_diagnostics *sink, struct zeta_compiled **out_compiled);

/**
 * The same for the query form of a set with event sampling: zeta_compiled_set() gives the form.
 */
ze_result_t zeta_set_compile_query(const struct zeta_catalog *catalog, const struct zeta_set *set,
                                   const struct zeta_symbol_lookup *symbols,
                                   struct zeta_diagnostics *sink,
                                   struct zeta_compiled **out_compiled);

/** Frees a compiled set. NULL is allowed. */
void zeta_compiled_destroy(struct zeta_compiled *compiled);

/**
 * The result of compiling the whole set: the errors of zeta_set_compile(), of zeta_catalog_link()
 * for a deferred one; leaves a sentence. A set with an error has no metrics and no program.
 */
ze_result_t zeta_compiled_check(const struct zeta_compiled *compiled);

/** The set that was compiled; a deferred one has no metrics and no program here. */
const struct zeta_set *zeta_compiled_set(const struct zeta_compiled *compiled);

/** The metrics that exist on the device, in the order of calculated values. */
uint32_t zeta_compiled_metric_count(const struct zeta_compiled *compiled);
const struct zeta_metric *zeta_compiled_metric(const struct zeta_compiled *compiled,
                                               uint32_t index);

/** Bytes of a record, so of a slot of raw data. */
uint32_t zeta_compiled_record_bytes(const struct zeta_compiled *compiled);

/**
 * The longest time from one record to the next in which no counter that the set reads can wrap
 * around, at the rates of its layout, with a margin of a quarter. 0: no limit, where rows are no
 * differences or the layout has no rates.
 */
uint64_t zeta_compiled_longest_ns(const struct zeta_compiled *compiled);

/**
 * The program for the device: entries of the parts whose condition holds, in order. The array
 * exists as long as the compiled set.
 */
uint32_t zeta_compiled_program(const struct zeta_compiled *compiled,
                               const struct zeta_program_entry **out_entries);

/** The value of a symbol as the compiler used it; false if no symbol has that name. */
bool zeta_compiled_symbol(const struct zeta_compiled *compiled, const char *name,
                          struct zeta_number *out_value);

#endif
