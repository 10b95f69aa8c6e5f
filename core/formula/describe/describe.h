/*
 * The canonical text of a set: a set file with one set, for exported data and recordings.
 *
 * It holds all that calculation needs, and nothing of the machine: the symbols of the device as
 * constants, the layout, the metrics and their texts. It also keeps the program, so that a
 * recording documents how its data was made. Equal sets have equal texts, however their files were
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

/**
 * Digest of a text: FNV-1a of 64 bits. It finds texts, and is no proof: who relies on two texts
 * being equal compares them.
 */
uint64_t zeta_describe_digest(const void *text, size_t bytes);

#endif
