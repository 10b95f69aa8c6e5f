/*
 * The loop of CRC-32C with the instruction of SSE 4.2, in a file with flags of its own.
 */
#ifndef ZETA_SDK_CONTAINER_CRC_H
#define ZETA_SDK_CONTAINER_CRC_H

#include <stddef.h>
#include <stdint.h>

/** Updates a checksum without the inversions before and after. Only where SSE 4.2 is. */
uint32_t zeta_crc32c_sse42(uint32_t state, const unsigned char *bytes, size_t count);

/** The same with tables, on any processor. */
uint32_t zeta_crc32c_tables(uint32_t state, const unsigned char *bytes, size_t count);

#endif
