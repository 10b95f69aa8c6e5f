/*
 * Values as text: numbers and times, texts from outside, tables.
 */
#ifndef ZETA_TOOLS_OUTPUT_TEXT_H
#define ZETA_TOOLS_OUTPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

/** Width of the terminal, 80 if that is unknown; 0 when the stream is no terminal. */
unsigned zeta_terminal_columns(FILE *stream);

/** Whether characters beyond ASCII can be shown. */
bool zeta_terminal_has_utf8(void);

/**
 * Writes words with an indent in front of each line, and breaks lines to stay within columns.
 * columns 0: one line, however long.
 */
void zeta_terminal_write_folded(FILE *stream, const char *text, unsigned indent, unsigned columns);

/**
 * Makes a text of a stranger harmless for a terminal, in place: '?' replaces each byte that is of
 * a control character (line feeds too) or of no character in UTF-8.
 */
void zeta_text_clean(char *text, size_t size);

/**
 * Writes a field of CSV: quoted if needed (RFC 4180); a text that spreadsheets would take for a
 * formula has ' in front.
 */
void zeta_text_write_csv(FILE *file, const char *text);

enum { ZETA_TABLE_MAX_COLUMNS = 16 };

struct zeta_table_column {
    const char *title;
    bool is_right; /**< aligned to the right, as numbers are */
    int gap;       /**< blanks in front */
    int least;     /**< width at least, in characters */
};

/** All zero bytes but the columns is an empty table. Without memory it stays incomplete. */
struct zeta_table {
    const struct zeta_table_column *columns; /**< not owned */
    uint32_t column_count;
    char **cells; /**< of all rows; null: empty */
    uint32_t row_count;
    int widths[ZETA_TABLE_MAX_COLUMNS]; /**< 0: no cell was set, and the title is not printed */
};

/**
 * Sets a cell; the row may be the one behind the last. The text is formatted in the C locale, and
 * cleaned for a terminal: names may come from files of strangers.
 */
void zeta_table_set(struct zeta_table *table, uint32_t row, uint32_t column, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/** Width of the columns in use, with their gaps. */
int zeta_table_width(const struct zeta_table *table);

/** Prints the titles. */
void zeta_table_print_head(const struct zeta_table *table, FILE *stream);

/** Prints one row. */
void zeta_table_print_row(const struct zeta_table *table, uint32_t row, FILE *stream);

/** Prints the titles and all rows, and frees the cells. */
void zeta_table_finish(struct zeta_table *table, FILE *stream);

/** Frees the cells. */
void zeta_table_free(struct zeta_table *table);

#endif
