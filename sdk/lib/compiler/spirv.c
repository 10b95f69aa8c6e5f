#include <zeta/compiler/spirv.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

enum {
    BOUND_WORD = 3,
    BOUND_LIMIT = 0x400000 /* what every consumer has to accept */
};

/* What is known about a result id. */
struct result {
    uint32_t spec_id;
    bool has_spec_id;
    uint8_t size_bytes; /* of the scalar type that it is, 0: none */
};

struct reader {
    const unsigned char *bytes;
    size_t words;
    bool swapped;
    uint32_t bound;
    struct result *results; /* by id */
    struct zeta_spirv_constant *constants;
    uint32_t count;
    uint32_t room;
    char *reason; /* why it failed */
    size_t reason_bytes;
};

static bool __attribute__((format(printf, 2, 3)))
refuse(const struct reader *reader, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(reader->reason, reader->reason_bytes, format, arguments);
    va_end(arguments);
    return false;
}

static uint32_t word_at(const struct reader *reader, size_t index)
{
    uint32_t word;

    memcpy(&word, reader->bytes + index * sizeof(word), sizeof(word));
    return reader->swapped ? __builtin_bswap32(word) : word;
}

static bool open_reader(struct reader *reader, const void *bytes, size_t size, char *reason,
                        size_t reason_bytes)
{
    *reader = (struct reader){.bytes = bytes,
                              .words = size / sizeof(uint32_t),
                              .reason = reason,
                              .reason_bytes = reason_bytes};
    if (size % sizeof(uint32_t) != 0 || reader->words < ZETA_SPIRV_HEADER_WORDS)
        return refuse(reader,
                      "not a SPIR-V module: %zu bytes; a module is a whole number of 4-byte words, "
                      "%d or more",
                      size, ZETA_SPIRV_HEADER_WORDS);
    reader->swapped = word_at(reader, 0) == ZETA_SPIRV_MAGIC_SWAPPED;
    if (word_at(reader, 0) != ZETA_SPIRV_MAGIC)
        return refuse(reader, "not a SPIR-V module: it begins with 0x%08" PRIx32 ", not 0x%08x",
                      word_at(reader, 0), ZETA_SPIRV_MAGIC);
    reader->bound = word_at(reader, BOUND_WORD);
    if (reader->bound > BOUND_LIMIT)
        return refuse(reader, "the SPIR-V module has ids up to %" PRIu32 ", at most %d are allowed",
                      reader->bound, BOUND_LIMIT);
    return true;
}

bool zeta_spirv_check(const void *bytes, size_t size, char *out_reason, size_t reason_bytes)
{
    struct reader reader;

    return open_reader(&reader, bytes, size, out_reason, reason_bytes);
}

static bool add_constant(struct reader *reader, const struct zeta_spirv_constant *constant)
{
    if (reader->count == reader->room) {
        uint32_t room = reader->room * 2;
        struct zeta_spirv_constant *grown = realloc(reader->constants, room * sizeof(*grown));

        if (!grown)
            return refuse(reader, "no memory for specialization constants");
        reader->constants = grown;
        reader->room = room;
    }
    reader->constants[reader->count++] = *constant;
    return true;
}

/* One instruction of @length words at @at; its operands follow the first word. */
static bool read_instruction(struct reader *reader, size_t at, uint32_t opcode, uint32_t length)
{
    const uint32_t first = length > 1 ? word_at(reader, at + 1) : 0;
    const uint32_t second = length > 2 ? word_at(reader, at + 2) : 0;
    struct result unknown = {0}; /* for ids that are out of bounds */
    struct result *target = first < reader->bound ? &reader->results[first] : &unknown;
    const struct result *constant = second < reader->bound ? &reader->results[second] : &unknown;

    switch (opcode) {
    case ZETA_SPIRV_OP_DECORATE:
        if (length >= 4 && second == ZETA_SPIRV_DECORATION_SPEC_ID) {
            target->spec_id = word_at(reader, at + 3);
            target->has_spec_id = true;
        }
        return true;
    case ZETA_SPIRV_OP_TYPE_BOOL:
        target->size_bytes = 1;
        return true;
    case ZETA_SPIRV_OP_TYPE_INT:
    case ZETA_SPIRV_OP_TYPE_FLOAT:
        target->size_bytes = 0;
        if (second == 8 || second == 16 || second == 32 || second == 64)
            target->size_bytes = (uint8_t)(second / 8);
        return true;
    case ZETA_SPIRV_OP_SPEC_CONSTANT:
    case ZETA_SPIRV_OP_SPEC_CONSTANT_TRUE:
    case ZETA_SPIRV_OP_SPEC_CONSTANT_FALSE:
        if (!constant->has_spec_id || target->size_bytes == 0)
            return true;
        return add_constant(
            reader, &(struct zeta_spirv_constant){.id = constant->spec_id,
                                                  .size_bytes = target->size_bytes,
                                                  .is_bool = opcode != ZETA_SPIRV_OP_SPEC_CONSTANT,
                                                  .at = at,
                                                  .words = length});
    default:
        return true;
    }
}

bool zeta_spirv_constants(const void *bytes, size_t size,
                          struct zeta_spirv_constant **out_constants, uint32_t *out_count,
                          char *out_reason, size_t reason_bytes)
{
    struct reader reader;
    uint32_t word, length;
    bool fine;

    if (!open_reader(&reader, bytes, size, out_reason, reason_bytes))
        return false;
    reader.results = calloc((size_t)reader.bound + 1, sizeof(*reader.results));
    reader.room = 16;
    reader.constants = calloc(reader.room, sizeof(*reader.constants));
    fine = reader.results && reader.constants;
    if (!fine)
        refuse(&reader, "no memory for %" PRIu32 " ids of a SPIR-V module", reader.bound);
    for (size_t at = ZETA_SPIRV_HEADER_WORDS; fine && at < reader.words; at += length) {
        word = word_at(&reader, at);
        length = word >> 16;
        if (length == 0 || length > reader.words - at)
            fine = refuse(&reader,
                          "the SPIR-V module is damaged: the instruction at word %zu has %" PRIu32
                          " words, %zu are left",
                          at, length, reader.words - at);
        else
            fine = read_instruction(&reader, at, word & 0xffff, length);
    }
    free(reader.results);
    if (!fine) {
        free(reader.constants);
        return false;
    }
    *out_constants = reader.constants;
    *out_count = reader.count;
    return true;
}
