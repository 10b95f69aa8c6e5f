/*
 * Descriptions: sets that were read from exported data or a recording, compiled and kept.
 *
 * The text of a set holds all that calculation needs. Compiling it takes far longer than
 * calculating a few records, so the last descriptions are kept, found by their text.
 */
#ifndef ZETA_CORE_FORMULA_DESCRIBE_DESCRIPTION_H
#define ZETA_CORE_FORMULA_DESCRIBE_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

struct zeta_compiled;
struct zeta_description;

/** Descriptions that are kept although nobody uses them. */
#define ZETA_DESCRIPTION_KEPT 32u

/**
 * Finds or compiles a set. Any thread.
 *
 * @text      canonical text of a set (describe.h); not kept
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

/** The digest of its text (describe.h), which takes as long as calculating some records. */
uint64_t zeta_description_digest(const struct zeta_description *description);

/** Descriptions that are in memory, for tests. */
uint32_t zeta_description_count(void);

#endif
