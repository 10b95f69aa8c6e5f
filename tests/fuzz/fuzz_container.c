/*
 * Containers of any bytes. The first byte says whether the checksums are set right before, so that
 * what lies behind them is reached too.
 *
 * Rule 16.7.
 */
#include <stdlib.h>
#include <string.h>

#include "zeta/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_crc(uint8_t *at, const uint8_t *bytes, size_t count)
{
    const uint32_t crc = zeta_crc32c(0, bytes, count);

    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(crc >> (8 * i));
}

/** Makes the checksums of the header and of the chunks right, as far as the lengths go. */
static void seal(uint8_t *bytes, size_t size)
{
    size_t at = ZETA_CONTAINER_HEADER_BYTES;

    if (size < at)
        return;
    put_crc(bytes + 60, bytes, 60);
    while (size - at >= ZETA_CHUNK_HEADER_BYTES) {
        uint64_t payload;

        memcpy(&payload, bytes + at + 16, sizeof(payload));
        if (payload > size - at - ZETA_CHUNK_HEADER_BYTES)
            payload = size - at - ZETA_CHUNK_HEADER_BYTES;
        put_crc(bytes + at + 24, bytes + at + ZETA_CHUNK_HEADER_BYTES, (size_t)payload);
        put_crc(bytes + at + 28, bytes + at, 28);
        payload = ZETA_CHUNK_HEADER_BYTES + ((payload + 7) & ~UINT64_C(7));
        at += payload < size - at ? (size_t)payload : size - at;
    }
}

static void read_payload(const struct zeta_container_chunk *chunk, const void *payload)
{
    const size_t bytes = (size_t)chunk->payload_bytes;
    struct zeta_chunk_clock clock;
    struct zeta_chunk_cut cut;
    struct zeta_chunk_name name;
    size_t at = 0;
    char value[16];

    (void)zeta_lines_find(payload, bytes, "set", 1, value, sizeof(value));
    (void)zeta_lines_find_u64(payload, bytes, "a", 0);
    (void)zeta_chunk_clock_read(payload, bytes, &clock);
    (void)zeta_chunk_cut_read(payload, bytes, &cut);
    while (zeta_chunk_name_read(payload, bytes, &at, &name))
        (void)zeta_crc32c(0, name.text, name.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_container_problem problem;
    struct zeta_container_reader *reader = NULL;
    struct zeta_container_chunk chunk;
    uint8_t *bytes;

    if (size == 0)
        return 0;
    /* Of the exact size, for the sanitizer. */
    bytes = malloc(size - 1 + (size == 1));
    if (!bytes)
        abort();
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        seal(bytes, size - 1);
    if (zeta_container_open_memory(bytes, size - 1, &problem, &reader) == ZETA_CONTAINER_OK) {
        while (zeta_container_next(reader, &chunk) == ZETA_CONTAINER_OK) {
            const void *payload;

            if (zeta_container_payload(reader, &payload) == ZETA_CONTAINER_OK)
                read_payload(&chunk, payload);
        }
        zeta_container_reader_destroy(reader);
    }
    free(bytes);
    return 0;
}
