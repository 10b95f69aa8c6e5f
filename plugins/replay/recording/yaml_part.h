#ifndef ZETA_PLUGINS_REPLAY_RECORDING_YAML_PART_H
#define ZETA_PLUGINS_REPLAY_RECORDING_YAML_PART_H

/*
 * Parts of YAML documents: finding, copying and writing them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

/** Parses a text without aliases, which could expand to a huge one. The caller deletes it. */
bool zeta_replay_document_parse(const char *text, size_t bytes, yaml_document_t *out_document);

/** The text of a scalar; NULL for anything else. */
const char *zeta_replay_node_scalar(const yaml_node_t *node);

/** The value of a key of a mapping; NULL if there is none, or no mapping. */
yaml_node_t *zeta_replay_node_member(yaml_document_t *document, const yaml_node_t *mapping,
                                     const char *key);

/** As zeta_replay_node_member(), of a scalar its text. */
const char *zeta_replay_node_text(yaml_document_t *document, const yaml_node_t *mapping,
                                  const char *key);

/** The first named element of a sequence of mappings, or the one of that name. */
yaml_node_t *zeta_replay_node_element(yaml_document_t *document, const yaml_node_t *sequence,
                                      const char *name);

/** One copying from a document to another. */
struct zeta_replay_copying {
    yaml_document_t *from;
    yaml_document_t to;
    uint32_t nodes; /**< copied so far, which are bounded */
    bool failed;
};

/** Copies a node with its children; 0: it failed. depth: of the node in its document. */
int zeta_replay_node_copy(struct zeta_replay_copying *copying, const yaml_node_t *node,
                          uint32_t depth);

/** Text that was written; freed by the caller. Zero-initialised it is empty. */
struct zeta_replay_output {
    char *text;
    size_t bytes, capacity;
};

/** Writes a document, and takes it over, also when it fails: without memory. */
bool zeta_replay_document_emit(yaml_document_t *document, struct zeta_replay_output *output);

#endif
