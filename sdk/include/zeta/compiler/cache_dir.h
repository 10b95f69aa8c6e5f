#ifndef ZETA_CACHE_DIR_H
#define ZETA_CACHE_DIR_H

/*
 * A folder of files that are named by a digest of what they were made from. Any number of processes
 * may use one at the same time, be killed at any moment, or find it damaged: a file is there as a
 * whole or not at all, and what is read was checked against a digest.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ZETA_CACHE_PATH_BYTES = 1024, ZETA_CACHE_KEY_BYTES = 32 };

/** Where the cache is; copied freely. */
struct zeta_cache_dir {
    char path[ZETA_CACHE_PATH_BYTES]; /**< absolute; "": there is no cache */
    uint64_t limit_bytes;             /**< of all files together; 0: there is no cache */
};

/**
 * The folder by the rules of desktops: <xdg>/zeta/<name>, or <home>/.cache/zeta/<name>. Writes ""
 * when there is neither, or @secure: the process has more rights than its caller.
 */
void zeta_cache_dir_default(bool secure, const char *name, const char *xdg, const char *home,
                            char out_path[ZETA_CACHE_PATH_BYTES]);

/**
 * Reads what was stored under a key, and notes that it was used.
 *
 * @out_bytes  to be freed by the caller
 * False when it is not there; damaged files are removed. Any thread.
 */
bool zeta_cache_dir_load(const struct zeta_cache_dir *cache,
                         const uint8_t key[ZETA_CACHE_KEY_BYTES], void **out_bytes,
                         size_t *out_size);

/**
 * Stores bytes under a key, and removes what was not used for longest until the limit is kept.
 * Makes the folder when it is missing. Nothing happens when the folder belongs to somebody else or
 * can be written by others, there is no room, or the bytes exceed the limit. Any thread.
 */
void zeta_cache_dir_store(const struct zeta_cache_dir *cache,
                          const uint8_t key[ZETA_CACHE_KEY_BYTES], const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
