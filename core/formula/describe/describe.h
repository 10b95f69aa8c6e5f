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

#include <level_zero/zet_api.h>

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

/**
 * A set that was read from exported data or a recording, compiled and kept: its text holds all that
 * calculation needs, and compiling it takes far longer than calculating a few records. So the last
 * descriptions are kept, found by their text.
 */
struct zeta_description;

/** Descriptions that are kept although nobody uses them. */
#define ZETA_DESCRIPTION_KEPT 32u

/**
 * Finds or compiles a set. Any thread.
 *
 * @text      canonical text of a set; not kept
 * @sampling  how the data came about: query records are another form of a set's
 *
 * Ownership: given back with zeta_description_release().
 * Errors, with a sentence: INVALID_ARGUMENT for a text that is no description of one set,
 * UNSUPPORTED_VERSION for one with keys that this version does not know, OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_description_get(const char *text, size_t bytes,
                                 zet_metric_group_sampling_type_flag_t sampling,
                                 struct zeta_description **out_description);

/** Gives a description back. NULL is allowed. */
void zeta_description_release(struct zeta_description *description);

/** The compiled set; valid until the description is given back. */
struct zeta_compiled *zeta_description_compiled(const struct zeta_description *description);

/** The digest of its text, which takes as long as calculating some records. */
uint64_t zeta_description_digest(const struct zeta_description *description);

/** Descriptions that are in memory, for tests. */
uint32_t zeta_description_count(void);

#endif
