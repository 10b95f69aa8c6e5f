/*
 * Chunks of any content in a container whose checksums are right, so that what reads the chunks is
 * reached. The input is a row of chunks: type, number, length (16 bits, little-endian), payload.
 *
 * Rule 17.11.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/replay/fuzz_file.h"
#include "zeta/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_path();
    struct zeta_container_problem problem;
    struct zeta_container_writer *writer = NULL;

    (void)unlink(path);
    if (zeta_container_create_file(path, ZETA_CONTAINER_RECORDING, 0, &problem, &writer) !=
        ZETA_CONTAINER_OK)
        abort();
    while (size >= 4) {
        const size_t wanted = data[2] | (size_t)data[3] << 8;
        const struct zeta_container_part part = {data + 4, wanted < size - 4 ? wanted : size - 4};

        if (data[0] != ZETA_CHUNK_END &&
            zeta_container_append(writer, (enum zeta_chunk_type)data[0], data[1], &part, 1) !=
                ZETA_CONTAINER_OK)
            abort();
        data += 4 + part.bytes;
        size -= 4 + part.bytes;
    }
    (void)zeta_container_finish(writer);
    zeta_container_writer_destroy(writer);
    fuzz_play();
    return 0;
}
