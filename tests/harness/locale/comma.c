/*
 * Preloaded into a test and into what it starts: does what many programs do first, in a locale
 * with a decimal comma. Of setlocale(LC_ALL, "") only what concerns numbers, for the person who
 * runs the tests may have chosen other locales, which are not found beside this one.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void choose_locale(void)
{
    if (setlocale(LC_NUMERIC, "") && localeconv()->decimal_point[0] == ',')
        return;
    (void)fprintf(stderr, "the locale of LOCPATH and LC_NUMERIC is not there, or has no comma\n");
    _Exit(1);
}
