#include "core/util/diagnostic.h"

#include <stdio.h>

#include <zeta/c_locale.h>
#include <zeta/yaml.h>

void zeta_diagnostic_print(const struct zeta_diagnostic *diagnostic, char *buffer,
                           size_t size_bytes)
{
    if (diagnostic->line == 0)
        (void)snprintf(buffer, size_bytes, "%s: %s", diagnostic->file, diagnostic->text);
    else
        (void)snprintf(buffer, size_bytes, "%s:%u:%u: %s", diagnostic->file, diagnostic->line,
                       diagnostic->column, diagnostic->text);
}

void zeta_diagnose_list(struct zeta_diagnostics *sink, enum zeta_severity severity,
                        const char *file, uint32_t line, uint32_t column, const char *format,
                        va_list arguments)
{
    char text[ZETA_DIAGNOSTIC_BYTES];
    const struct zeta_diagnostic diagnostic = {severity, file, line, column, text};

    if (!sink)
        return;
    (void)zeta_c_vsnprintf(text, sizeof(text), format, arguments);
    if (severity == ZETA_SEVERITY_ERROR && sink->count[ZETA_SEVERITY_ERROR] == 0)
        zeta_diagnostic_print(&diagnostic, sink->first_error, sizeof(sink->first_error));
    sink->count[severity]++;
    if (sink->report)
        sink->report(sink->context, &diagnostic);
}

void zeta_diagnose(struct zeta_diagnostics *sink, enum zeta_severity severity, const char *file,
                   uint32_t line, uint32_t column, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    zeta_diagnose_list(sink, severity, file, line, column, format, arguments);
    va_end(arguments);
}

ze_result_t zeta_diagnose_yaml(struct zeta_diagnostics *sink, const char *file,
                               const struct zeta_yaml_error *error)
{
    if (error->no_memory)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zeta_diagnose(sink, ZETA_SEVERITY_ERROR, file, error->line, error->column, "%s", error->text);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
