#ifndef ZETA_PLUGINS_INTEL_PLATFORM_FILE_H
#define ZETA_PLUGINS_INTEL_PLATFORM_FILE_H

#include <stddef.h>

#include "platform.h"

/**
 * Reads the text of a platform file, as zeta_intel_platforms_read() does. path is for messages;
 * the text needs no terminator.
 */
bool zeta_intel_platforms_parse(const char *path, const char *text, size_t bytes,
                                struct zeta_intel_platforms *out_platforms, char *out_problem,
                                uint32_t problem_bytes);

#endif
