/*
 * Texts on their way out: into a terminal, and into fields of CSV.
 */
#ifndef ZETA_TOOLS_OUTPUT_TEXT_H
#define ZETA_TOOLS_OUTPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
