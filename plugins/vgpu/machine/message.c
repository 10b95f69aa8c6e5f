#include "message.h"

#include <stdarg.h>
#include <stdio.h>

#include <zeta/c_locale.h>

bool zeta_vgpu_reject(struct zeta_vgpu_message *message, const char *format, ...)
{
    va_list arguments;

    if (!message)
        return false;
    va_start(arguments, format);
    (void)zeta_c_vsnprintf(message->text, sizeof(message->text), format, arguments);
    va_end(arguments);
    return false;
}
