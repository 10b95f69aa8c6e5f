/*
 * Numbers as text: with a decimal point, whatever the locale of the program. A plugin, a library or
 * the program itself may have called setlocale(), and then strtod() and printf() of the same
 * process want a comma. Files, settings and options have a point everywhere, so all our code reads
 * and writes numbers that are no integers through these. Static helper.
 *
 * Each is the function of the C library that it is named after, as that is in the locale "C": same
 * arguments, same result, same errno. Any thread; the locale of others does not change.
 */
#ifndef ZETA_C_LOCALE_H
#define ZETA_C_LOCALE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZETA_C_FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
#define ZETA_C_FORMAT(text, first)
#endif

double zeta_c_strtod(const char *text, char **out_end);

int zeta_c_snprintf(char *out_text, size_t size_bytes, const char *format, ...) ZETA_C_FORMAT(3, 4);
int zeta_c_fprintf(FILE *file, const char *format, ...) ZETA_C_FORMAT(2, 3);

/* Formats that a caller gave, with numbers of any kind. */
int zeta_c_vsnprintf(char *out_text, size_t size_bytes, const char *format, va_list arguments)
    ZETA_C_FORMAT(3, 0);
int zeta_c_vfprintf(FILE *file, const char *format, va_list arguments) ZETA_C_FORMAT(2, 0);
/** The text is freed with free(); -1: no memory, and out_text is then undefined. */
int zeta_c_vasprintf(char **out_text, const char *format, va_list arguments) ZETA_C_FORMAT(2, 0);

#ifdef __cplusplus
}
#endif

#endif
