/*
 * What the entry of every plugin does, and shorter ways to the services of the host: negotiation,
 * messages with the formats of printf, settings as text, comparison of strings. Static helper:
 * linked into the plugin, no part of the plugin interface.
 *
 * A plugin begins so:
 *
 *     struct zeta_plugin {
 *         struct zeta_host host;
 *         ... what the plugin keeps, zero at first
 *     };
 *
 *     uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
 *                                    struct zeta_plugin_answer *out_answer)
 *     {
 *         return zeta_host_negotiate(offer, &ops, "1.0", sizeof(struct zeta_plugin), out_answer);
 *     }
 */
#ifndef ZETA_PLUGIN_HOST_H
#define ZETA_PLUGIN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZETA_HOST_FORMAT __attribute__((format(printf, 3, 4)))
#else
#define ZETA_HOST_FORMAT
#endif

/** Bytes of a message, the terminator included; what is longer is cut. */
#define ZETA_HOST_TEXT_BYTES 1024u

/** The way to the host, and the manifest that the plugin object serves. Does not change. */
struct zeta_host {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *handle; /**< first argument of each of them */
    const char *id;                  /**< of the manifest */
    const char *data_dir;            /**< directory of the manifest's data, absolute */
};

/**
 * Answers an offer for a plugin that speaks ZETA_PLUGIN_ABI: makes its object, which lives until
 * the process ends.
 *
 * @ops, @version  live as long
 * @self_bytes     size of struct zeta_plugin; its first member is a struct zeta_host, the others
 *                 are zero
 * Errors: UNSUPPORTED_VERSION, OUT_OF_HOST_MEMORY; the answer is untouched then.
 */
uint32_t zeta_host_negotiate(const struct zeta_plugin_offer *offer,
                             const struct zeta_plugin_ops *ops, const char *version,
                             size_t self_bytes, struct zeta_plugin_answer *out_answer);

/**
 * Leaves a sentence for the user on the calling thread, and gives the result back.
 * Any thread, never from a signal handler.
 */
uint32_t zeta_host_fail(const struct zeta_host *host, uint32_t result, const char *format,
                        ...) ZETA_HOST_FORMAT;

/* What analyses a file alone cannot see what it returns. */
#ifdef __clang_analyzer__
#define zeta_host_fail(host, result, ...)                                                          \
    ((void)zeta_host_fail(host, result, __VA_ARGS__), (result))
#endif

/** Writes a message to the log of the host; level is ZETA_PLUGIN_LOG_*. As zeta_host_fail(). */
void zeta_host_log(const struct zeta_host *host, uint32_t level, const char *format,
                   ...) ZETA_HOST_FORMAT;

/**
 * The value of a setting of the manifest as terminated text, cut to the capacity (above 0).
 * False when nobody set it; the text is untouched then.
 */
bool zeta_host_setting(const struct zeta_host *host, const char *name, char *out_text,
                       size_t capacity_bytes);

/** The string of a terminated text. */
struct zeta_plugin_string zeta_string(const char *text);

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
