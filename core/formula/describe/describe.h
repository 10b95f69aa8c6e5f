/*
 * The canonical text of a set: a set file with one set, for exported data and recordings.
 *
 * It holds all that calculation needs, and nothing of the machine: the symbols of the device as
 * constants, the layout, the metrics and their texts. It also keeps the program, so that a
 * recording tells how its data came about. Equal sets have equal texts, however their files were
 * written: the order of keys is fixed, expressions have no needless parentheses, and runs of
 * counters are as long as possible.
 */
#ifndef ZETA_CORE_FORMULA_DESCRIBE_DESCRIBE_H
#define ZETA_CORE_FORMULA_DESCRIBE_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/formula/compile/compile.h"
#include "core/util/list.h"

/**
 * Adds the canonical text of a compiled set. Of a query form it is the text of the set itself.
 *
 * Errors: UNSUPPORTED_FEATURE if a symbol is no finite number, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_describe_set(const struct zeta_compiled *compiled, struct zeta_text *text);

/** Adds an expression of a linked set as the reader of set files reads it back. */
void zeta_describe_expr(struct zeta_text *text, const struct zeta_set *set,
                        const struct zeta_expr *expr);

/** Adds a finite number that is read back as the same f64. */
void zeta_describe_f64(struct zeta_text *text, double value);

/** Adds a text as a scalar in double quotes. */
void zeta_describe_text(struct zeta_text *text, const char *value);

/** Adds the layout of a set as an item of `layouts`. */
void zeta_describe_layout(struct zeta_text *text, const struct zeta_set *set);

/** Adds a list of metrics as items that are indented by that many blanks. */
void zeta_describe_metrics(struct zeta_text *text, const struct zeta_set *set,
                           const struct zeta_metric *metrics, uint32_t count, int indent);

/**
 * Digest of a text: FNV-1a of 64 bits. It finds texts, and is no proof: who relies on two texts
 * being equal compares them.
 */
uint64_t zeta_describe_digest(const void *text, size_t bytes);

#endif
