#ifndef ZETA_SDK_LIB_INTEL_STRICT_YAML_H
#define ZETA_SDK_LIB_INTEL_STRICT_YAML_H

/*
 * Strict reading of YAML into structures: what is not understood is a mistake. A mapping is read by
 * a table of its keys. The first mistake ends the reading and is noted as "file:line: sentence".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

/** A document that is read; made and ended by zeta_intel_yaml_read(). */
struct zeta_intel_yaml {
    const char *path; /**< for messages */
    yaml_document_t document;
    char *problem;
    uint32_t problem_bytes;
};

/** How a key of a mapping is read. */
struct zeta_intel_yaml_key {
    const char *name;
    /** False after a problem was noted. */
    bool (*read)(struct zeta_intel_yaml *yaml, yaml_node_t *node, void *target);
    bool is_required;
};

/**
 * Reads a text whose root is a mapping of these keys. False with a sentence in out_problem; target
 * then has what was read before.
 *
 * @path  for messages
 * @keys  at most 32
 */
bool zeta_intel_yaml_read(const char *path, const char *text, size_t bytes,
                          const struct zeta_intel_yaml_key *keys, uint32_t key_count, void *target,
                          char *out_problem, uint32_t problem_bytes);

/** Notes a problem of a node, or of the whole file (NULL). Always false. */
bool zeta_intel_yaml_fail(struct zeta_intel_yaml *yaml, const yaml_node_t *node, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));
/** Notes that memory is exhausted. Always false. */
bool zeta_intel_yaml_fail_memory(struct zeta_intel_yaml *yaml);

/** Reads every pair by its key; each at most once, none that is unknown, no required one missing.
 */
bool zeta_intel_yaml_mapping(struct zeta_intel_yaml *yaml, const yaml_node_t *node,
                             const struct zeta_intel_yaml_key *keys, uint32_t count, void *target);

/** Whether a node is of a type; else the problem is noted. */
bool zeta_intel_yaml_expect(struct zeta_intel_yaml *yaml, const yaml_node_t *node,
                            yaml_node_type_t type);
/** Whether a node is a list of at most so many entries; else the problem is noted. */
bool zeta_intel_yaml_list(struct zeta_intel_yaml *yaml, const yaml_node_t *node, uint32_t most);
uint32_t zeta_intel_yaml_length(const yaml_node_t *list);
yaml_node_t *zeta_intel_yaml_item(struct zeta_intel_yaml *yaml, const yaml_node_t *list,
                                  uint32_t index);

/** Reads a whole number as C writes it. */
bool zeta_intel_yaml_u64(struct zeta_intel_yaml *yaml, const yaml_node_t *node, uint64_t most,
                         uint64_t *out_number);
bool zeta_intel_yaml_u32(struct zeta_intel_yaml *yaml, const yaml_node_t *node, uint32_t most,
                         uint32_t *out_number);
/** Reads a text of 1 to bytes - 1 bytes without control characters. */
bool zeta_intel_yaml_text(struct zeta_intel_yaml *yaml, const yaml_node_t *node, char *out_text,
                          size_t bytes);

/** The text of a scalar. */
static inline const char *zeta_intel_yaml_value(const yaml_node_t *scalar)
{
    return (const char *)scalar->data.scalar.value;
}

#endif
