/*
 * Exported data with any description: two lengths of two bytes, the text of a set, the lines of its
 * stream, raw data. Checksums and digest are right, so that the rest is reached.
 *
 * Rule 16.7.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "core/metric/calculate/calculate.h"
#include "core/metric/export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CAPACITY 64u

static void append(struct zeta_container_writer *writer, enum zeta_chunk_type type,
                   const struct zeta_container_part *parts, uint32_t count)
{
    if (zeta_container_append(writer, type, 1, parts, count) != ZETA_CONTAINER_OK)
        abort();
}

/** Writes the container; its size. */
static size_t write_export(uint8_t *buffer, size_t capacity, const uint8_t *set, size_t set_bytes,
                           const uint8_t *lines, size_t lines_bytes, const uint8_t *raw,
                           size_t raw_bytes)
{
    struct zeta_container_writer *writer = NULL;
    char digest[64];
    struct zeta_container_part parts[2] = {{set, set_bytes}, {NULL, 0}};
    size_t size;

    if (zeta_container_create_memory(buffer, capacity, ZETA_CONTAINER_EXPORT, &writer) !=
        ZETA_CONTAINER_OK)
        abort();
    append(writer, ZETA_CHUNK_SET, parts, 1);
    (void)snprintf(digest, sizeof(digest), "digest: %016" PRIx64 "\n",
                   zeta_describe_digest(set, set_bytes));
    parts[0] = (struct zeta_container_part){digest, strlen(digest)};
    parts[1] = (struct zeta_container_part){lines, lines_bytes};
    append(writer, ZETA_CHUNK_STREAM, parts, 2);
    parts[0] = (struct zeta_container_part){raw, raw_bytes};
    append(writer, ZETA_CHUNK_DATA, parts, 1);
    if (zeta_container_finish(writer) != ZETA_CONTAINER_OK)
        abort();
    size = (size_t)zeta_container_size(writer);
    zeta_container_writer_destroy(writer);
    return size;
}

static void calculate(const struct zeta_export *export)
{
    const struct zeta_calculation calculation = {.compiled = export->compiled,
                                                 .compiled_count = export->tile_count,
                                                 .raw = export->raw,
                                                 .raw_bytes = export->raw_bytes};
    zet_typed_value_t values[CAPACITY];
    uint32_t sets = 64;
    uint32_t total = CAPACITY;
    struct zeta_text text = {0};

    (void)zeta_calculate_sets(&calculation, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, &sets,
                              &total, NULL, values);
    /* What was accepted can be described again. */
    if (zeta_describe_set(export->compiled[0], &text) != ZE_RESULT_SUCCESS)
        abort();
    zeta_text_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_export export;
    size_t set_bytes;
    size_t lines_bytes;
    size_t capacity;
    uint8_t *buffer;

    if (size < 4)
        return 0;
    set_bytes = data[0] | (size_t)data[1] << 8;
    lines_bytes = data[2] | (size_t)data[3] << 8;
    data += 4;
    size -= 4;
    if (set_bytes > size)
        set_bytes = size;
    if (lines_bytes > size - set_bytes)
        lines_bytes = size - set_bytes;
    capacity = size + 512;
    buffer = malloc(capacity);
    if (!buffer)
        abort();
    size = write_export(buffer, capacity, data, set_bytes, data + set_bytes, lines_bytes,
                        data + set_bytes + lines_bytes, size - set_bytes - lines_bytes);
    if (size > capacity)
        abort();
    if (zeta_export_open(buffer, size, &export) == ZE_RESULT_SUCCESS) {
        calculate(&export);
        zeta_export_close(&export);
    }
    free(buffer);
    return 0;
}
