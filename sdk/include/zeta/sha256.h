/*
 * SHA-256. Static helper: linked into the plugin, no part of the plugin interface.
 */
#ifndef ZETA_SHA256_H
#define ZETA_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A digest in the making. Plain memory of the caller; nothing has to be freed. */
struct zeta_sha256 {
    uint32_t state[8];
    uint64_t size_bytes;
    uint8_t block[64];
};

/** Begins a digest. */
void zeta_sha256_begin(struct zeta_sha256 *digest);

/** Goes on with size bytes; bytes may be null when size is 0. */
void zeta_sha256_add(struct zeta_sha256 *digest, const void *bytes, size_t size);

/** Ends the digest. It must begin anew before it is used again. Source: FIPS 180-4. */
void zeta_sha256_end(struct zeta_sha256 *digest, uint8_t out_digest[32]);

#ifdef __cplusplus
}
#endif

#endif
