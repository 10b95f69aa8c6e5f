/*
 * Registers as text: "9888=83aaaa 8400ff d940+=a fffc <b2>". Blocks are named texts of a file;
 * programs belong to a uuid, of which any set of the catalog may be.
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

/** Registers as they are read from a text. */
struct register_text {
    struct zeta_set_reader *reader;
    const struct zeta_yaml_node *node;
    struct zeta_program_entry *entries; /**< the room of the reader */
    uint32_t count;
    bool in_run; /**< a value may follow, for address */
    uint32_t address, step;
};

/** True if there is room for more writes. */
static bool has_room(struct register_text *text, uint32_t more)
{
    if (more <= ZETA_PROGRAM_MAX_ENTRIES - text->count)
        return true;
    zeta_reader_error(text->reader, text->node, "more than %u register writes",
                      ZETA_PROGRAM_MAX_ENTRIES);
    return false;
}

static bool refuse_token(struct register_text *text, const char *token, size_t length)
{
    zeta_reader_error(text->reader, text->node,
                      "'%.*s' is neither ADDRESS=VALUE, ADDRESS+=VALUE, VALUE behind one of them, "
                      "in hexadecimal digits without 0x, nor <BLOCK>",
                      length < 60 ? (int)length : 60, token);
    return false;
}

/** The value of a hexadecimal digit; 16 and more: it is none. */
static uint32_t digit_of(char c)
{
    const uint32_t letter = (uint32_t)((c | 0x20) - 'a');

    return c >= '0' && c <= '9' ? (uint32_t)(c - '0') : letter < 6 ? letter + 10 : 16;
}

/** Reads 1 to 8 hexadecimal digits; what follows them, NULL: they are none. */
static const char *read_hex(const char *text, uint32_t *out_value)
{
    const char *end = text;
    uint32_t value = 0;

    for (; digit_of(*end) < 16; end++)
        value = value << 4 | digit_of(*end);
    if (end == text || end - text > 8)
        return NULL;
    *out_value = value;
    return end;
}

static bool add_block(struct register_text *text, const char *name, size_t length)
{
    const struct zeta_register_block *block = zeta_names_find(&text->reader->blocks, name, length);

    text->in_run = false;
    if (!block) {
        zeta_reader_error(text->reader, text->node,
                          "unknown block '%.*s'; a file declares blocks before it uses them",
                          length < 60 ? (int)length : 60, name);
        return false;
    }
    if (!has_room(text, block->entry_count) ||
        !zeta_reader_may_make(text->reader, text->node, block->entry_count))
        return false;
    if (block->entry_count > 0)
        memcpy(&text->entries[text->count], block->entries,
               block->entry_count * sizeof(*block->entries));
    text->count += block->entry_count;
    return true;
}

static bool add_token(struct register_text *text, const char *token, size_t length)
{
    uint32_t value;
    const char *end = read_hex(token, &value);

    if (token[0] == '<' && length > 2 && token[length - 1] == '>')
        return add_block(text, token + 1, length - 2);
    if (end && end < token + length) {
        text->step = *end == '+' ? 4 : 0;
        end += *end == '+';
        text->address = value;
        text->in_run = true;
        end = *end == '=' ? read_hex(end + 1, &value) : NULL;
    } else {
        text->address += text->step;
    }
    if (end != token + length || !text->in_run)
        return refuse_token(text, token, length);
    if (!has_room(text, 1))
        return false;
    text->entries[text->count++] = (struct zeta_program_entry){
        .address = text->address, .value = value, .line = text->node->line};
    return true;
}

bool zeta_read_registers(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                         struct zeta_program_entry **out_entries, uint32_t *out_count)
{
    struct register_text text = {.reader = reader, .node = node};
    struct zeta_program_entry *entries;
    const char *token = node->text + strspn(node->text, " \t\n");

    if (!reader->room)
        reader->room = malloc(ZETA_PROGRAM_MAX_ENTRIES * sizeof(*reader->room));
    if (!reader->room)
        return zeta_reader_no_memory(reader);
    text.entries = reader->room;
    while (*token) {
        const size_t length = strcspn(token, " \t\n");

        if (!add_token(&text, token, length))
            return false;
        token += length;
        token += strspn(token, " \t\n");
    }
    entries = zeta_arena_array(reader->arena, text.count, sizeof(*entries));
    if (!entries)
        return zeta_reader_no_memory(reader);
    memcpy(entries, text.entries, text.count * sizeof(*entries));
    *out_entries = entries;
    *out_count = text.count;
    return true;
}

void zeta_read_block(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    struct zeta_register_block *block;
    const char *name;

    if (strspn(node->key, letters) != strlen(node->key)) {
        zeta_reader_error(reader, node, "the name of a block has letters, digits, '_' and '-'");
        return;
    }
    if (!zeta_reader_kind(reader, node, ZETA_YAML_SCALAR, "a block of registers"))
        return;
    block = zeta_arena_alloc(reader->arena, sizeof(*block));
    name = zeta_arena_copy(reader->arena, node->key, strlen(node->key));
    if (!block || !name) {
        (void)zeta_reader_no_memory(reader);
        return;
    }
    if (zeta_read_registers(reader, node, &block->entries, &block->entry_count) &&
        !zeta_names_add(reader->arena, &reader->blocks, name, block))
        (void)zeta_reader_no_memory(reader);
}

void zeta_read_uuid_program(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_catalog *catalog = reader->catalog;
    struct zeta_uuid_program *program = zeta_arena_alloc(&catalog->arena, sizeof(*program));

    if (!program) {
        (void)zeta_reader_no_memory(reader);
        return;
    }
    program->file = reader->file;
    program->line = node->key_line;
    if (!zeta_reader_uuid(reader, node, node->key, &program->uuid))
        return;
    if (catalog->defers && node->kind == ZETA_YAML_SCALAR && reader->format > 1) {
        struct zeta_yaml_node *text = zeta_arena_alloc(&catalog->arena, sizeof(*text));

        if (text) {
            *text = (struct zeta_yaml_node){.kind = ZETA_YAML_SCALAR,
                                            .line = node->line,
                                            .column = node->column,
                                            .length = node->length};
            text->text = zeta_arena_copy(&catalog->arena, node->text, node->length);
        }
        if (!text || !text->text) {
            (void)zeta_reader_no_memory(reader);
            return;
        }
        program->text = text;
        program->blocks = reader->blocks;
    } else if (!zeta_read_program(reader, node, &program->parts, &program->part_count)) {
        return;
    }
    if (!zeta_vector_push(&catalog->arena, &catalog->programs, program))
        (void)zeta_reader_no_memory(reader);
}

ze_result_t zeta_uuid_program_parts(const struct zeta_linker *linker,
                                    const struct zeta_uuid_program *program,
                                    struct zeta_program_part **out_parts, uint32_t *out_count)
{
    struct zeta_set_reader reader = {.catalog = (struct zeta_catalog *)(uintptr_t)linker->catalog,
                                     .arena = linker->arena,
                                     .made = linker->made,
                                     .sink = linker->sink,
                                     .file = program->file,
                                     .format = ZETA_SET_FORMAT,
                                     .blocks = program->blocks};
    bool good;

    *out_parts = program->parts;
    *out_count = program->part_count;
    if (!program->text)
        return ZE_RESULT_SUCCESS;
    good = zeta_read_program(&reader, program->text, out_parts, out_count);
    free(reader.room);
    if (reader.out_of_memory)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return good ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
