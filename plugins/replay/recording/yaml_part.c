#include "plugins/replay/recording/yaml_part.h"

#include <stdlib.h>
#include <string.h>

/* Bound of a text; the library that reads it in the end has the same one. */
#define NODES_MAX 200000u

/* ---- reading ------------------------------------------------------------------------------ */

const char *zeta_replay_node_text(const struct zeta_yaml_node *mapping, const char *key)
{
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, key);

    return node ? node->text : NULL;
}

const struct zeta_yaml_node *zeta_replay_node_element(const struct zeta_yaml_node *sequence,
                                                      const char *name)
{
    if (!sequence || sequence->kind != ZETA_YAML_SEQUENCE)
        return NULL;
    for (const struct zeta_yaml_node *node = sequence->first_child; node; node = node->next) {
        const char *own = zeta_replay_node_text(node, "name");

        if (own && (!name || strcmp(own, name) == 0))
            return node;
    }
    return NULL;
}

/* ---- copying ------------------------------------------------------------------------------ */

int zeta_replay_add_scalar(struct zeta_replay_copying *copying, const char *text)
{
    return yaml_document_add_scalar(&copying->to, NULL, (const yaml_char_t *)text,
                                    (int)strlen(text), YAML_PLAIN_SCALAR_STYLE);
}

void zeta_replay_append_pair(struct zeta_replay_copying *copying, int mapping, const char *key,
                             int value)
{
    const int name = value && !copying->failed ? zeta_replay_add_scalar(copying, key) : 0;

    if (!name || !yaml_document_append_mapping_pair(&copying->to, mapping, name, value))
        copying->failed = true;
}

void zeta_replay_append_item(struct zeta_replay_copying *copying, int sequence, int item)
{
    if (!item || copying->failed ||
        !yaml_document_append_sequence_item(&copying->to, sequence, item))
        copying->failed = true;
}

/* Readers bound the depth of nodes. */
int zeta_replay_node_copy(struct zeta_replay_copying *copying, const struct zeta_yaml_node *node)
{
    int made = 0;

    if (++copying->nodes > NODES_MAX)
        copying->failed = true;
    else if (node->kind == ZETA_YAML_SCALAR)
        made = yaml_document_add_scalar(
            &copying->to, NULL, (const yaml_char_t *)node->text, (int)node->length,
            node->plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    else if (node->kind == ZETA_YAML_SEQUENCE)
        made = yaml_document_add_sequence(
            &copying->to, NULL, node->flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
    else
        made = yaml_document_add_mapping(
            &copying->to, NULL, node->flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
    if (!made)
        copying->failed = true;
    for (const struct zeta_yaml_node *child = node->first_child; child && !copying->failed;
         child = child->next) {
        if (node->kind == ZETA_YAML_SEQUENCE)
            zeta_replay_append_item(copying, made, zeta_replay_node_copy(copying, child));
        else
            zeta_replay_append_pair(copying, made, child->key,
                                    zeta_replay_node_copy(copying, child));
    }
    return copying->failed ? 0 : made;
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
