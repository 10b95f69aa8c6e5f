/*
 * Texts of a recording in what is written: whoever made the file chose its names.
 */
#ifndef ZETA_TOOLS_RECORDING_TEXT_H
#define ZETA_TOOLS_RECORDING_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "sdk/tools/zeta/output/number.h"

/**
 * Makes a text harmless for a terminal, in place: '?' stands for each byte that is of a control
 * character (line feeds too) or of no character in UTF-8.
 */
void zeta_report_clean(char *text, size_t size);

/**
 * Writes a field of CSV: quoted if needed (RFC 4180); a text that spreadsheets would take for a
 * formula has ' in front.
 */
void zeta_report_csv_text(FILE *file, const char *text);

/**
 * Writes a string of JSON that may also stand in an element of HTML: no '<', '>' or '&' is in it.
 */
void zeta_report_json_text(FILE *file, const char *text);

/** Writes a number of JSON with six digits that count; null for none and for infinite ones. */
void zeta_report_json_number(FILE *file, double value);

/** The same with every digit; none is null. */
void zeta_report_json_exact(FILE *file, struct zeta_number number);

#endif
