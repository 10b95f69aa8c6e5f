/*
 * Text about building and linking: grown piece by piece, then handed out as a build log.
 */
#ifndef ZETA_CORE_MODULE_MODULE_LOG_H
#define ZETA_CORE_MODULE_MODULE_LOG_H

#include <stddef.h>

#include <level_zero/ze_api.h>
#include <zeta/plugin.h>

/** Text that grows; zero-initialised: empty. What does not fit into memory or 1 MiB is dropped. */
struct zeta_text {
    char *data; /**< terminated; NULL while nothing was appended */
    size_t size;
};

/** Appends a terminated string. */
void zeta_module_log_append(struct zeta_text *text, const char *string);

/** Appends bytes; context is a struct zeta_text. The write function of a plugin's log sink. */
void zeta_text_write(void *context, struct zeta_plugin_string piece);

/** Frees the text; for ZETA_CLEANUP. */
void zeta_text_finishp(struct zeta_text *text);

/**
 * Makes a build log of the text, which is empty afterwards.
 * Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_module_log_create(struct zeta_text *text, ze_module_build_log_handle_t *out_log);

/** Registers the finisher of build logs. */
void zeta_module_log_set_finisher(void);

/**
 * The rule of blobs: no buffer asks for the size, and one that is too small is INVALID_SIZE and
 * gets the size. what: name of the blob for the sentence.
 */
ze_result_t zeta_blob_copy(const char *what, const void *data, size_t bytes, size_t *size,
                           void *buffer);

#endif
