/*
 * Numbers and times as text: values that may be missing, and durations as people write them.
 */
#ifndef ZETA_TOOLS_OUTPUT_NUMBER_H
#define ZETA_TOOLS_OUTPUT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/zeta.h>

enum zeta_number_kind {
    ZETA_NUMBER_NONE, /**< not measured, or not defined */
    ZETA_NUMBER_U64,
    ZETA_NUMBER_F64
};

struct zeta_number {
    enum zeta_number_kind kind;
    uint64_t u64; /**< with ZETA_NUMBER_U64 */
    double f64;   /**< with ZETA_NUMBER_F64; never NaN */
};

/** Room that every text of a number fits in, with its terminator. */
enum { ZETA_NUMBER_TEXT_BYTES = 32 };

struct zeta_number zeta_number_none(void);
struct zeta_number zeta_number_u64(uint64_t value);

/** NaN gives none. */
struct zeta_number zeta_number_f64(double value);

/** NaN and strings give none. */
struct zeta_number zeta_number_from_value(const zet_typed_value_t *value);

/** The value of a metric in a row; none where the row has none. */
struct zeta_number zeta_number_from_row(const struct zeta_metric_row *row, uint32_t metric);

/** 0 for none. */
double zeta_number_as_double(struct zeta_number number);

/**
 * Writes a text of at most width characters (width >= 9): exact where that fits, else rounded
 * ("1.234e+10"). None is "n/a". out_text has ZETA_NUMBER_TEXT_BYTES bytes.
 */
void zeta_number_format(struct zeta_number number, unsigned width, char *out_text);

/**
 * Writes a text of at most 7 characters: exact where that fits, else four digits and a letter for
 * thousands (k), millions (M) and so on up to E.
 */
void zeta_number_format_short(struct zeta_number number, char *out_text);

/** Every digit, for a machine to read. None is "". */
void zeta_number_format_exact(struct zeta_number number, char *out_text);

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
