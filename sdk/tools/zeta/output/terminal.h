/*
 * What the terminal behind a stream can show.
 */
#ifndef ZETA_TOOLS_OUTPUT_TERMINAL_H
#define ZETA_TOOLS_OUTPUT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/** Width of the terminal, 80 if it does not say; 0 when the stream is no terminal. */
unsigned zeta_terminal_columns(FILE *stream);

/** Whether characters beyond ASCII can be shown. */
bool zeta_terminal_has_utf8(void);

/**
 * Writes words with an indent in front of each line, and breaks lines to stay within columns.
 * columns 0: one line, however long.
 */
void zeta_terminal_write_folded(FILE *stream, const char *text, unsigned indent, unsigned columns);

#endif
