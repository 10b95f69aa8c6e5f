/*
 * Log messages: to standard error or the file of ZETA_LOG_FILE, never to standard output.
 * ZETA_LOG chooses the level, optionally per topic: "warn" (default), "debug", "plugin=trace,warn".
 */
#ifndef ZETA_CORE_UTIL_LOG_H
#define ZETA_CORE_UTIL_LOG_H

#include <stdbool.h>

#include "core/util/error.h"

/** Importance, most important first. Numerically ZETA_PLUGIN_LOG_*. */
enum zeta_log_level {
    ZETA_LOG_ERROR,
    ZETA_LOG_WARN,
    ZETA_LOG_INFO,
    ZETA_LOG_DEBUG,
    ZETA_LOG_TRACE,
    ZETA_LOG_LEVEL_COUNT
};

/** True if a message of the level and topic would be written. Cheap. */
bool zeta_log_enabled(enum zeta_log_level level, const char *topic);

/** Writes one line "zeta: <level>: <topic>: <text>". topic: "plugin", "metric", "settings" ... */
void zeta_log(enum zeta_log_level level, const char *topic, const char *format, ...)
    ZETA_PRINTF(3, 4);

/**
 * The same, unless this process has written such a line before: for what happens again and again.
 * After some hundred different lines no further ones are written.
 */
void zeta_log_once(enum zeta_log_level level, const char *topic, const char *format, ...)
    ZETA_PRINTF(3, 4);

/**
 * Chooses what is written and where, after the settings were read.
 *
 * @levels  as ZETA_LOG; parts that make no sense are reported and left out
 * @file    path that messages are appended to, "" for standard error
 *
 * Threading: one caller at a time; others may log meanwhile.
 */
void zeta_log_configure(const char *levels, const char *file);

/** Back to the state before the first zeta_log_configure(). For tests: nobody else may log. */
void zeta_log_reset(void);

#endif
