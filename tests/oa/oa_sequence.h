/* Sequences of reports to calculate with, for any format. */
#ifndef ZETA_TESTS_OA_OA_SEQUENCE_H
#define ZETA_TESTS_OA_OA_SEQUENCE_H

#include <stdint.h>

#include "tests/oa/oa_report.h"

/**
 * Fills count reports, one behind the other. Neighbours have different ids: equal ones with equal
 * time stamps would be a repetition.
 *
 * @seed  of the random numbers, moved on; not 0
 */
typedef void (*oa_sequence_fn)(const struct oa_format *format, unsigned char *reports,
                               uint32_t count, uint64_t *seed);

/** Every byte is random. */
void oa_sequence_random(const struct oa_format *format, unsigned char *reports, uint32_t count,
                        uint64_t *seed);

/** Every counter moves on by steps of its own, as in milliseconds of a busy GPU, and wraps. */
void oa_sequence_advancing(const struct oa_format *format, unsigned char *reports, uint32_t count,
                           uint64_t *seed);

/**
 * Differences of 0, 1, all but one and all ones, forwards and over the wrap, for all counters alike
 * and for time and clocks apart from the others.
 */
void oa_sequence_edges(const struct oa_format *format, unsigned char *reports, uint32_t count,
                       uint64_t *seed);

#endif
