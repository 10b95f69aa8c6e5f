/*
 * Messages of the plugin, in the words of printf.
 */
#include <stdarg.h>

#include <zeta/plugin_host.h>

#include "intel.h"

uint32_t zeta_intel_fail(const struct zeta_intel *intel, uint32_t result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_host_fail(intel->self->ops, intel->self->host, result, format, arguments);
    va_end(arguments);
    return result;
}

void zeta_intel_log(const struct zeta_intel *intel, uint32_t level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    zeta_host_log(intel->self->ops, intel->self->host, level, format, arguments);
    va_end(arguments);
}
