#include "message.h"

#include <stdarg.h>

#include <zeta/c_locale.h>

enum zeta_vgpu_result zeta_vgpu_fail(struct zeta_vgpu_message *message,
                                     enum zeta_vgpu_result result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (message)
        (void)zeta_c_vsnprintf(message->text, sizeof(message->text), format, arguments);
    va_end(arguments);
    return result;
}
