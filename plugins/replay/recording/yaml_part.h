#ifndef ZETA_PLUGINS_REPLAY_RECORDING_YAML_PART_H
#define ZETA_PLUGINS_REPLAY_RECORDING_YAML_PART_H

/*
 * Parts of YAML files: finding them, and copying them into a document that is written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

#include <zeta/yaml.h>

/** The text of a member of a mapping; NULL if there is none, or if it is no scalar. */
const char *zeta_replay_node_text(const struct zeta_yaml_node *mapping, const char *key);

/** The first named element of a sequence of mappings, or the one of that name. */
const struct zeta_yaml_node *zeta_replay_node_element(const struct zeta_yaml_node *sequence,
                                                      const char *name);

/** A document that is put together. Its parts are numbers; 0 is one that failed. */
struct zeta_replay_copying {
    yaml_document_t to;
    uint32_t nodes; /**< copied so far, which are bounded */
    bool failed;
};

int zeta_replay_add_scalar(struct zeta_replay_copying *copying, const char *text);

/** Copies a node with its children. */
int zeta_replay_node_copy(struct zeta_replay_copying *copying, const struct zeta_yaml_node *node);

/** Append to a mapping or a sequence of the document; a part that failed makes the copying fail. */
void zeta_replay_append_pair(struct zeta_replay_copying *copying, int mapping, const char *key,
                             int value);
void zeta_replay_append_item(struct zeta_replay_copying *copying, int sequence, int item);

/** Text that was written; freed by the caller. Zero-initialised it is empty. */
struct zeta_replay_output {
    char *text;
    size_t bytes, capacity;
};

/** Writes a document, and takes it over, also when it fails: without memory. */
bool zeta_replay_document_emit(yaml_document_t *document, struct zeta_replay_output *output);

#endif
