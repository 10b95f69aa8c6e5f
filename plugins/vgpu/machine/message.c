#include "message.h"

#include <stdarg.h>
#include <stdio.h>

#include <zeta/c_locale.h>

#undef zeta_vgpu_reject

/* Writes a sentence with the arguments behind the format. */
#define WRITE(message, format)                                                                     \
    do {                                                                                           \
        va_list arguments;                                                                         \
                                                                                                   \
        va_start(arguments, format);                                                               \
        if (message)                                                                               \
            (void)zeta_c_vsnprintf((message)->text, sizeof((message)->text), format, arguments);   \
        va_end(arguments);                                                                         \
    } while (0)

enum zeta_vgpu_result zeta_vgpu_fail(struct zeta_vgpu_message *message,
                                     enum zeta_vgpu_result result, const char *format, ...)
{
    WRITE(message, format);
    return result;
}

bool zeta_vgpu_reject(struct zeta_vgpu_message *message, const char *format, ...)
{
    WRITE(message, format);
    return false;
}
