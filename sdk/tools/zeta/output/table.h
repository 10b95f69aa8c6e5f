/*
 * Tables for people. Every table of the command is one of these: columns as wide as what is in
 * them, no blanks at the ends of lines.
 */
#ifndef ZETA_TOOLS_OUTPUT_TABLE_H
#define ZETA_TOOLS_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
