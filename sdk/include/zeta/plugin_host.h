/*
 * Shorter ways to the services of the host: messages with the formats of printf, settings as text,
 * comparison of strings. Static helper: linked into the plugin, no part of the plugin interface.
 */
#ifndef ZETA_PLUGIN_HOST_H
#define ZETA_PLUGIN_HOST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a message, the terminator included; what is longer is cut. */
#define ZETA_HOST_TEXT_BYTES 1024u

/**
 * Leaves a sentence for the user on the calling thread, and gives the result back.
 *
 * @format  as of vprintf()
 * Any thread, never from a signal handler.
 */
uint32_t zeta_host_fail(const struct zeta_plugin_host_ops *ops, struct zeta_plugin_host *host,
                        uint32_t result, const char *format, va_list arguments)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 0)))
#endif
    ;

/** Writes a message to the log of the host; level is ZETA_PLUGIN_LOG_*. As zeta_host_fail(). */
void zeta_host_log(const struct zeta_plugin_host_ops *ops, struct zeta_plugin_host *host,
                   uint32_t level, const char *format, va_list arguments)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 0)))
#endif
    ;

/**
 * The value of a setting of the manifest as terminated text, cut to the capacity (above 0).
 * False when nobody set it; the text is untouched then.
 */
bool zeta_host_setting(const struct zeta_plugin_host_ops *ops, struct zeta_plugin_host *host,
                       const char *name, char *out_text, size_t capacity_bytes);

/** True if a string has the bytes of a terminated text, and no more. */
bool zeta_string_is(struct zeta_plugin_string string, const char *text);

/**
 * Bytes of a string that a message shows, for "%.*s": never more than 100, never less than 0.
 */
int zeta_string_shown(struct zeta_plugin_string string);

#ifdef __cplusplus
}
#endif

#endif
