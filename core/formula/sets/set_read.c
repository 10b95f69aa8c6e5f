/* Taking members out of YAML mappings, with a message for everything that is not as expected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

bool zeta_vector_push(struct zeta_arena *arena, struct zeta_vector *vector, void *item)
{
    if (vector->count == vector->capacity) {
        uint32_t capacity = vector->capacity ? vector->capacity * 2 : 16;
        void **items = zeta_arena_array(arena, capacity, sizeof(void *));

        if (!items)
            return false;
        if (vector->count > 0)
            memcpy(items, vector->items, vector->count * sizeof(void *));
        vector->items = items;
        vector->capacity = capacity;
    }
    vector->items[vector->count++] = item;
    return true;
}

/** Of names that are up to uuids long: eight bytes at a time. */
static uint32_t hash_name(const char *name, size_t length)
{
    uint64_t hash = length;

    while (length > 0) {
        const size_t step = length < sizeof(uint64_t) ? length : sizeof(uint64_t);
        uint64_t word = 0;

        memcpy(&word, name, step);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
        name += step;
        length -= step;
    }
    return (uint32_t)hash;
}

/** The slot of a name, or the free one where it belongs. There is a free one. */
static struct zeta_name_slot *find_slot(const struct zeta_name_table *names, const char *name,
                                        size_t length, uint32_t hash)
{
    uint32_t at = hash & (names->capacity - 1);

    while (names->slots[at].name &&
           (names->slots[at].hash != hash || strncmp(names->slots[at].name, name, length) != 0 ||
            names->slots[at].name[length] != '\0'))
        at = (at + 1) & (names->capacity - 1);
    return &names->slots[at];
}

void *zeta_names_find(const struct zeta_name_table *names, const char *name, size_t length)
{
    return names->capacity > 0 ? find_slot(names, name, length, hash_name(name, length))->item
                               : NULL;
}

struct zeta_name_slot *zeta_names_add(struct zeta_arena *arena, struct zeta_name_table *names,
                                      const char *name, void *item)
{
    const size_t length = strlen(name);
    const uint32_t hash = hash_name(name, length);
    struct zeta_name_slot *slot;

    if (names->count >= names->capacity / 2) {
        struct zeta_name_table larger = {.capacity = names->capacity ? names->capacity * 4 : 64,
                                         .count = names->count};

        larger.slots = zeta_arena_array(arena, larger.capacity, sizeof(*larger.slots));
        if (!larger.slots)
            return NULL;
        for (uint32_t i = 0; i < names->capacity; i++) {
            const struct zeta_name_slot *old = &names->slots[i];

            if (old->name)
                *find_slot(&larger, old->name, strlen(old->name), old->hash) = *old;
        }
        *names = larger;
    }
    slot = find_slot(names, name, length, hash);
    if (!slot->name) {
        *slot = (struct zeta_name_slot){.name = name, .item = item, .hash = hash};
        names->count++;
    }
    return slot;
}

void zeta_reader_error(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const char *format, ...)
{
    va_list arguments;

    reader->errors++;
    va_start(arguments, format);
    zeta_diagnose_list(reader->sink, ZETA_SEVERITY_ERROR, reader->file, node->line, node->column,
                       format, arguments);
    va_end(arguments);
}

bool zeta_reader_no_memory(struct zeta_set_reader *reader)
{
    reader->out_of_memory = true;
    return false;
}

ze_result_t zeta_reader_finish(struct zeta_set_reader *reader)
{
    zeta_arena_finish(&reader->scratch);
    free(reader->room);
    if (reader->out_of_memory)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return reader->errors == 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

void *zeta_reader_alloc(struct zeta_set_reader *reader, size_t size_bytes)
{
    void *memory = zeta_arena_alloc(reader->arena, size_bytes);

    reader->out_of_memory |= !memory;
    return memory;
}

bool zeta_reader_add(struct zeta_set_reader *reader, struct zeta_vector *vector, void *item)
{
    return zeta_vector_push(&reader->catalog->arena, vector, item) || zeta_reader_no_memory(reader);
}

bool zeta_reader_may_make(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          uint32_t count)
{
    if (count <= ZETA_CATALOG_MAX_MADE - *reader->made) {
        *reader->made += count;
        return true;
    }
    zeta_reader_error(reader, node, "blocks and sets over an index make more than %u parts",
                      ZETA_CATALOG_MAX_MADE);
    return false;
}

bool zeta_reader_kind(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      enum zeta_yaml_kind kind, const char *what)
{
    if (node->kind == kind)
        return true;
    zeta_reader_error(reader, node, "%s must be %s, not %s", what, zeta_yaml_kind_name(kind),
                      zeta_yaml_kind_name(node->kind));
    return false;
}

void *zeta_reader_array(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        enum zeta_yaml_kind kind, const char *what, uint32_t min, uint32_t max,
                        size_t item_bytes)
{
    void *items;

    if (!zeta_reader_kind(reader, node, kind, what))
        return NULL;
    if (node->child_count < min || node->child_count > max) {
        zeta_reader_error(reader, node, "%s must have %u to %u members, not %u", what, min, max,
                          node->child_count);
        return NULL;
    }
    items = zeta_arena_array(reader->arena, node->child_count, item_bytes);
    reader->out_of_memory |= !items;
    return items;
}

bool zeta_reader_name(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *text, bool dash, const char **out_name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char later[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    size_t length = strlen(text);
    size_t good = strspn(text, later);

    if (length == 0 || length >= ZETA_SET_NAME_BYTES) {
        zeta_reader_error(reader, node, "a name has 1 to %u bytes, not %zu",
                          ZETA_SET_NAME_BYTES - 1, length);
        return false;
    }
    if (good < length || !strchr(first, text[0]) || (!dash && strchr(text, '-'))) {
        zeta_reader_error(reader, node,
                          "name '%.100s': letters, digits and underscores%s are allowed, no comma, "
                          "dot, colon or blank, and no digit at the start",
                          text, dash ? " and '-'" : "");
        return false;
    }
    *out_name = zeta_arena_copy(reader->arena, text, length);
    return *out_name || zeta_reader_no_memory(reader);
}

/** True if a scalar has as many bytes as the key allows. */
static bool check_length(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                         const struct zeta_key *key)
{
    const uint32_t most = key->max ? key->max : ZETA_SET_TEXT_BYTES - 1;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_SCALAR, key->key))
        return false;
    if (node->length >= key->min && node->length <= most)
        return true;
    zeta_reader_error(reader, node, "%s has %u to %u bytes, not %zu", key->key, key->min, most,
                      node->length);
    return false;
}

static bool read_text(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const struct zeta_key *key, const char **out_text)
{
    if (!check_length(reader, node, key))
        return false;
    for (size_t i = 0; i < node->length; i++) {
        if ((unsigned char)node->text[i] < ' ' || node->text[i] == 0x7f) {
            zeta_reader_error(reader, node, "%s holds a control character", key->key);
            return false;
        }
    }
    *out_text = zeta_arena_copy(reader->arena, node->text, node->length);
    return *out_text || zeta_reader_no_memory(reader);
}

static bool read_u32(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                     const struct zeta_key *key, uint32_t *out_value)
{
    uint64_t value;

    if (!zeta_yaml_u64(node, &value) || value < key->min || value > key->max) {
        zeta_reader_error(reader, node, "%s must be an integer from %u to %u", key->key, key->min,
                          key->max);
        return false;
    }
    *out_value = (uint32_t)value;
    return true;
}

static bool read_word(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const struct zeta_word *words, uint32_t *out_value)
{
    char list[200] = "";
    size_t used = 0;

    if (node->kind == ZETA_YAML_SCALAR) {
        for (const struct zeta_word *word = words; word->word; word++) {
            if (strcmp(word->word, node->text) == 0) {
                *out_value = word->value;
                return true;
            }
        }
    }
    for (const struct zeta_word *word = words; word->word; word++) {
        int length =
            snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", word->word);

        if (length < 0 || (size_t)length >= sizeof(list) - used)
            break;
        used += (size_t)length;
    }
    zeta_reader_error(reader, node, "'%.60s' is not one of: %s",
                      node->kind == ZETA_YAML_SCALAR ? node->text : zeta_yaml_kind_name(node->kind),
                      list);
    return false;
}

static bool read_flags(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const struct zeta_key *key, uint32_t *out_flags)
{
    uint32_t flag;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_SEQUENCE, key->key))
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (!read_word(reader, item, key->words, &flag))
            return false;
        *out_flags |= flag;
    }
    if (!node->first_child)
        zeta_reader_error(reader, node, "%s needs at least one type", key->key);
    return node->first_child != NULL;
}

static bool read_expr(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const struct zeta_key *key, struct zeta_expr **out_expr)
{
    /* A quoted scalar starts behind its quote; blocks and folded lines only have their line. */
    const struct zeta_expr_source source = {reader->file, node->line, node->column + !node->plain};
    ze_result_t result;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_SCALAR, key->key))
        return false;
    result =
        zeta_expr_parse(node->text, node->length, &source, reader->arena, reader->sink, out_expr);
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return zeta_reader_no_memory(reader);
    if (result != ZE_RESULT_SUCCESS)
        reader->errors++;
    return result == ZE_RESULT_SUCCESS;
}

bool zeta_reader_value(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const struct zeta_key *key, void *place)
{
    struct zeta_reference *reference = place;

    switch (key->kind) {
    case ZETA_KEY_REFERENCE:
        reference->line = node->line;
        reference->column = node->column;
        return read_text(reader, node, key, &reference->name);
    case ZETA_KEY_TEXT:
        return read_text(reader, node, key, place);
    case ZETA_KEY_NAME:
    case ZETA_KEY_DASHED_NAME:
        return check_length(reader, node, key) &&
               zeta_reader_name(reader, node, node->text, key->kind == ZETA_KEY_DASHED_NAME, place);
    case ZETA_KEY_U32:
        return read_u32(reader, node, key, place);
    case ZETA_KEY_WORD:
        return read_word(reader, node, key->words, place);
    case ZETA_KEY_FLAGS:
        return read_flags(reader, node, key, place);
    case ZETA_KEY_EXPR:
        return read_expr(reader, node, key, place);
    default:
        return true;
    }
}

bool zeta_reader_mapping(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                         const char *what, const struct zeta_key *keys, void *object)
{
    bool good = true;

    if (!zeta_reader_kind(reader, mapping, ZETA_YAML_MAPPING, what))
        return false;
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        const struct zeta_key *key = keys;

        while (key->key && (*key->key != *node->key || strcmp(key->key, node->key) != 0))
            key++;
        if (!key->key)
            zeta_diagnose(reader->sink, ZETA_SEVERITY_WARNING, reader->file, node->key_line,
                          node->key_column, "unknown key '%.100s' is ignored", node->key);
    }
    for (const struct zeta_key *key = keys; key->key; key++) {
        const struct zeta_yaml_node *node = zeta_yaml_member(mapping, key->key);

        if (!node && !key->optional)
            zeta_reader_error(reader, mapping, "key '%s' is missing", key->key);
        good = (node ? zeta_reader_value(reader, node, key, (char *)object + key->offset)
                     : key->optional) &&
               good;
    }
    return good;
}
