#include <zeta/c_locale.h>

#include <locale.h>
#include <stdlib.h>

/*
 * Gives the calling thread the locale "C", and what it had. The C library has that object: nothing
 * is made, so nothing fails and nothing is to be freed.
 */
static locale_t enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

double zeta_c_strtod(const char *text, char **out_end)
{
    const locale_t before = enter();
    const double value = strtod(text, out_end);

    (void)uselocale(before);
    return value;
}

int zeta_c_vsnprintf(char *out_text, size_t size_bytes, const char *format, va_list arguments)
{
    const locale_t before = enter();
    const int length = vsnprintf(out_text, size_bytes, format, arguments);

    (void)uselocale(before);
    return length;
}

int zeta_c_vfprintf(FILE *file, const char *format, va_list arguments)
{
    const locale_t before = enter();
    const int length = vfprintf(file, format, arguments);

    (void)uselocale(before);
    return length;
}

int zeta_c_vasprintf(char **out_text, const char *format, va_list arguments)
{
    const locale_t before = enter();
    const int length = vasprintf(out_text, format, arguments);

    (void)uselocale(before);
    return length;
}

int zeta_c_snprintf(char *out_text, size_t size_bytes, const char *format, ...)
{
    va_list arguments;
    int length = 0;

    va_start(arguments, format);
    length = zeta_c_vsnprintf(out_text, size_bytes, format, arguments);
    va_end(arguments);
    return length;
}

int zeta_c_fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    int length = 0;

    va_start(arguments, format);
    length = zeta_c_vfprintf(file, format, arguments);
    va_end(arguments);
    return length;
}
