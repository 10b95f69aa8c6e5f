/*
 * Files that a plugin reads as a whole: descriptions, sets. Static helper: linked into the plugin,
 * no part of the plugin interface.
 */
#ifndef ZETA_FILE_H
#define ZETA_FILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The bytes of a regular file, with a terminator behind them. Freed with free().
 *
 * @most_bytes  of a file that somebody wrote on purpose
 * NULL with errno: what the system says; EFBIG for more bytes, EINVAL for what is no regular file.
 */
char *zeta_file_read(const char *path, uint64_t most_bytes, uint64_t *out_bytes);

#ifdef __cplusplus
}
#endif

#endif
