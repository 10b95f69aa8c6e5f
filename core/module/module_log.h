/*
 * Text about building and linking: grown piece by piece, then handed out as a build log.
 */
#ifndef ZETA_CORE_MODULE_MODULE_LOG_H
#define ZETA_CORE_MODULE_MODULE_LOG_H

#include <stddef.h>

#include <level_zero/ze_api.h>
#include <zeta/plugin.h>

#include "core/util/list.h"

/**
 * Appends bytes to a struct zeta_text; what does not fit 1 MiB is dropped. The write function of a
 * plugin's log sink.
 */
void zeta_module_log_write(void *context, struct zeta_plugin_string piece);

/**
 * Makes a build log of the text, which is empty afterwards.
 * Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_module_log_create(struct zeta_text *text, ze_module_build_log_handle_t *out_log);

/**
 * The rule of blobs: no buffer asks for the size, and one that is too small is INVALID_SIZE and
 * gets the size. what: name of the blob for the sentence.
 */
ze_result_t zeta_blob_copy(const char *what, const void *data, size_t bytes, size_t *size,
                           void *buffer);

#endif
