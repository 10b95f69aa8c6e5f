/*
 * Times as people write them: "250us", "1 ms", "10s".
 */
#ifndef ZETA_TOOLS_OUTPUT_DURATION_H
#define ZETA_TOOLS_OUTPUT_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/** Room that every text of a duration fits in, with its terminator. */
enum { ZETA_DURATION_TEXT_BYTES = 32 };

/**
 * Reads a number (decimals allowed) and a unit, one of ns, us, ms, s, min.
 * False for anything else, for zero and for what does not fit in 64 bits of nanoseconds.
 */
bool zeta_duration_parse(const char *text, uint64_t *out_ns);

/** Writes in the largest unit that gives at least 1, with at most three decimals: "1.28 ms". */
void zeta_duration_format(uint64_t duration_ns, char *out_text);

#endif
