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
    entries = zeta_arena_array(&reader->catalog->arena, text.count, sizeof(*entries));
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

    if (strspn(node->key, letters) != strlen(node->key)) {
        zeta_reader_error(reader, node, "the name of a block has letters, digits, '_' and '-'");
        return;
    }
    if (!zeta_reader_kind(reader, node, ZETA_YAML_SCALAR, "a block of registers"))
        return;
    block = zeta_arena_alloc(&reader->catalog->arena, sizeof(*block));
    if (!block) {
        (void)zeta_reader_no_memory(reader);
        return;
    }
    if (zeta_read_registers(reader, node, &block->entries, &block->entry_count) &&
        !zeta_names_add(&reader->catalog->arena, &reader->blocks, node->key, block))
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
    if (zeta_reader_uuid(reader, node, node->key, &program->uuid) &&
        zeta_read_program(reader, node, &program->parts, &program->part_count) &&
        !zeta_vector_push(&catalog->arena, &catalog->programs, program))
        (void)zeta_reader_no_memory(reader);
}
