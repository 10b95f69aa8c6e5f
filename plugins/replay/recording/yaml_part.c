#include "plugins/replay/recording/yaml_part.h"

#include <stdlib.h>
#include <string.h>

/* Bounds of a text; the library that reads it in the end has the same or smaller ones. */
#define DEPTH_MAX 32u
#define NODES_MAX 200000u

/* ---- reading ------------------------------------------------------------------------------ */

/* A short text with aliases could expand to a huge one. */
static bool has_alias(const char *text, size_t bytes)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool alias = false, end = false;

    if (!yaml_parser_initialize(&parser))
        return true;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    while (!alias && !end && yaml_parser_parse(&parser, &event)) {
        alias = event.type == YAML_ALIAS_EVENT;
        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return alias || !end;
}

bool zeta_replay_document_parse(const char *text, size_t bytes, yaml_document_t *out_document)
{
    yaml_parser_t parser;
    bool good;

    if (has_alias(text, bytes) || !yaml_parser_initialize(&parser))
        return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    good = yaml_parser_load(&parser, out_document) != 0;
    yaml_parser_delete(&parser);
    if (good && !yaml_document_get_root_node(out_document)) {
        yaml_document_delete(out_document);
        good = false;
    }
    return good;
}

const char *zeta_replay_node_scalar(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

yaml_node_t *zeta_replay_node_member(yaml_document_t *document, const yaml_node_t *mapping,
                                     const char *key)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const char *name = zeta_replay_node_scalar(yaml_document_get_node(document, pair->key));

        if (name && strcmp(name, key) == 0)
            return yaml_document_get_node(document, pair->value);
    }
    return NULL;
}

const char *zeta_replay_node_text(yaml_document_t *document, const yaml_node_t *mapping,
                                  const char *key)
{
    return zeta_replay_node_scalar(zeta_replay_node_member(document, mapping, key));
}

yaml_node_t *zeta_replay_node_element(yaml_document_t *document, const yaml_node_t *sequence,
                                      const char *name)
{
    if (!sequence || sequence->type != YAML_SEQUENCE_NODE)
        return NULL;
    for (const yaml_node_item_t *item = sequence->data.sequence.items.start;
         item < sequence->data.sequence.items.top; item++) {
        yaml_node_t *node = yaml_document_get_node(document, *item);
        const char *own = zeta_replay_node_text(document, node, "name");

        if (own && (!name || strcmp(own, name) == 0))
            return node;
    }
    return NULL;
}

/* ---- copying ------------------------------------------------------------------------------ */

static bool copy_items(struct zeta_replay_copying *copying, const yaml_node_t *node, int made,
                       uint32_t depth)
{
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++) {
        const int part =
            zeta_replay_node_copy(copying, yaml_document_get_node(copying->from, *item), depth + 1);

        if (!part || !yaml_document_append_sequence_item(&copying->to, made, part))
            return false;
    }
    return true;
}

static bool copy_pairs(struct zeta_replay_copying *copying, const yaml_node_t *node, int made,
                       uint32_t depth)
{
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const int key = zeta_replay_node_copy(
            copying, yaml_document_get_node(copying->from, pair->key), depth + 1);
        const int value =
            key ? zeta_replay_node_copy(copying, yaml_document_get_node(copying->from, pair->value),
                                        depth + 1)
                : 0;

        if (!value || !yaml_document_append_mapping_pair(&copying->to, made, key, value))
            return false;
    }
    return true;
}

int zeta_replay_node_copy(struct zeta_replay_copying *copying, const yaml_node_t *node,
                          uint32_t depth)
{
    bool good = node && depth <= DEPTH_MAX && ++copying->nodes <= NODES_MAX;
    int made = 0;

    if (good && node->type == YAML_SCALAR_NODE) {
        made = yaml_document_add_scalar(&copying->to, NULL, node->data.scalar.value,
                                        (int)node->data.scalar.length, node->data.scalar.style);
    } else if (good && node->type == YAML_SEQUENCE_NODE) {
        made = yaml_document_add_sequence(&copying->to, NULL, node->data.sequence.style);
        good = made != 0 && copy_items(copying, node, made, depth);
    } else if (good && node->type == YAML_MAPPING_NODE) {
        made = yaml_document_add_mapping(&copying->to, NULL, node->data.mapping.style);
        good = made != 0 && copy_pairs(copying, node, made, depth);
    }
    if (good && made != 0)
        return made;
    copying->failed = true;
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------ */

static int collect(void *context, unsigned char *bytes, size_t count)
{
    struct zeta_replay_output *output = context;

    if (output->capacity - output->bytes < count) {
        const size_t capacity = (output->bytes + count) * 2;
        char *grown = realloc(output->text, capacity);

        if (!grown)
            return 0;
        output->text = grown;
        output->capacity = capacity;
    }
    memcpy(output->text + output->bytes, bytes, count);
    output->bytes += count;
    return 1;
}

bool zeta_replay_document_emit(yaml_document_t *document, struct zeta_replay_output *output)
{
    yaml_emitter_t emitter;
    bool good;

    if (!yaml_emitter_initialize(&emitter)) {
        yaml_document_delete(document);
        return false;
    }
    yaml_emitter_set_output(&emitter, collect, output);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    good = yaml_emitter_open(&emitter) && yaml_emitter_dump(&emitter, document) &&
           yaml_emitter_close(&emitter);
    yaml_emitter_delete(&emitter);
    return good;
}
