/*
 * Findings about input files: what is wrong, in which file, line and column.
 * Readers report every finding to a sink and go on as far as it makes sense, so that a user sees
 * all mistakes of a file at once.
 */
#ifndef ZETA_CORE_UTIL_DIAGNOSTIC_H
#define ZETA_CORE_UTIL_DIAGNOSTIC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "core/util/error.h"

struct zeta_yaml_error;

enum zeta_severity {
    ZETA_SEVERITY_ERROR,   /**< the file, or the part that the text names, cannot be used */
    ZETA_SEVERITY_WARNING, /**< usable, but probably not what its author meant */
    ZETA_SEVERITY_NOTE,    /**< nothing is wrong: what the text names is not for this device */
    ZETA_SEVERITY_COUNT
};

/** One finding. The strings are valid during the call that receives it. */
struct zeta_diagnostic {
    enum zeta_severity severity;
    const char *file; /**< path or name of the text; never NULL */
    uint32_t line;    /**< from 1; 0 when the finding has no position */
    uint32_t column;  /**< from 1, in characters; 0 when the finding has no position */
    const char *text; /**< one sentence without a final newline */
};

typedef void (*zeta_diagnostic_fn)(void *context, const struct zeta_diagnostic *diagnostic);

/** Longest "file:line:column: text" that a sink keeps, with the terminator. */
#define ZETA_DIAGNOSTIC_BYTES 384

/** Where findings go, of one thread at a time. All zero bytes is a valid sink that only counts. */
struct zeta_diagnostics {
    zeta_diagnostic_fn report; /**< called for each finding; may be NULL */
    void *context;             /**< first argument of report */
    uint32_t count[ZETA_SEVERITY_COUNT];
    /** "file:line:column: text" of the first error, "" while there is none. */
    char first_error[ZETA_DIAGNOSTIC_BYTES];
};

/** Reports one finding. line and column 0: about the file as a whole. */
void zeta_diagnose(struct zeta_diagnostics *sink, enum zeta_severity severity, const char *file,
                   uint32_t line, uint32_t column, const char *format, ...) ZETA_PRINTF(6, 7);

/** As zeta_diagnose(), with an argument list. */
void zeta_diagnose_list(struct zeta_diagnostics *sink, enum zeta_severity severity,
                        const char *file, uint32_t line, uint32_t column, const char *format,
                        va_list arguments) ZETA_PRINTF(6, 0);

/** Reports why a YAML text was refused. INVALID_ARGUMENT; OUT_OF_HOST_MEMORY is no finding. */
ze_result_t zeta_diagnose_yaml(struct zeta_diagnostics *sink, const char *file,
                               const struct zeta_yaml_error *error);

/** Writes "file:line:column: text" of a finding; always terminated. */
void zeta_diagnostic_print(const struct zeta_diagnostic *diagnostic, char *buffer,
                           size_t size_bytes);

#endif
