/* Strict reading of YAML: files, values, lists, mappings. */
#include "sdk/lib/intel/strict_yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

bool zeta_intel_yaml_fail(struct zeta_intel_yaml *yaml, const yaml_node_t *node, const char *format,
                          ...)
{
    const unsigned long line = node ? (unsigned long)node->start_mark.line + 1 : 1;
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)snprintf(yaml->problem, yaml->problem_bytes, "%s:%lu: %s", yaml->path, line, text);
    return false;
}

bool zeta_intel_yaml_fail_memory(struct zeta_intel_yaml *yaml)
{
    return zeta_intel_yaml_fail(yaml, NULL, "there is no memory to read it");
}

/* ---- values ------------------------------------------------------------------------------- */

bool zeta_intel_yaml_expect(struct zeta_intel_yaml *yaml, const yaml_node_t *node,
                            yaml_node_type_t type)
{
    static const char *const names[] = {
        [YAML_SCALAR_NODE] = "a value",
        [YAML_SEQUENCE_NODE] = "a list, such as [a, b]",
        [YAML_MAPPING_NODE] = "a mapping, such as {key: value}",
    };

    if (node->type == type)
        return true;
    return zeta_intel_yaml_fail(yaml, node, "this should be %s", names[type]);
}

bool zeta_intel_yaml_u64(struct zeta_intel_yaml *yaml, const yaml_node_t *node, uint64_t most,
                         uint64_t *out_number)
{
    const char *text;
    char *end;

    if (!zeta_intel_yaml_expect(yaml, node, YAML_SCALAR_NODE))
        return false;
    text = zeta_intel_yaml_value(node);
    errno = 0;
    *out_number = strtoull(text, &end, 0);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *out_number <= most &&
        strlen(text) == node->data.scalar.length)
        return true;
    return zeta_intel_yaml_fail(yaml, node, "'%.40s' should be a whole number from 0 to %llu", text,
                                (unsigned long long)most);
}

bool zeta_intel_yaml_u32(struct zeta_intel_yaml *yaml, const yaml_node_t *node, uint32_t most,
                         uint32_t *out_number)
{
    uint64_t number;

    if (!zeta_intel_yaml_u64(yaml, node, most, &number))
        return false;
    *out_number = (uint32_t)number;
    return true;
}

bool zeta_intel_yaml_text(struct zeta_intel_yaml *yaml, const yaml_node_t *node, char *out_text,
                          size_t bytes)
{
    size_t length;

    if (!zeta_intel_yaml_expect(yaml, node, YAML_SCALAR_NODE))
        return false;
    length = node->data.scalar.length;
    if (length == 0 || length >= bytes)
        return zeta_intel_yaml_fail(yaml, node, "this should have 1 to %zu bytes", bytes - 1);
    for (size_t i = 0; i < length; i++) {
        if (node->data.scalar.value[i] < ' ')
            return zeta_intel_yaml_fail(yaml, node, "there is a control character in this text");
    }
    memcpy(out_text, zeta_intel_yaml_value(node), length);
    out_text[length] = '\0';
    return true;
}

uint32_t zeta_intel_yaml_length(const yaml_node_t *node)
{
    return (uint32_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

yaml_node_t *zeta_intel_yaml_item(struct zeta_intel_yaml *yaml, const yaml_node_t *node,
                                  uint32_t index)
{
    return yaml_document_get_node(&yaml->document, node->data.sequence.items.start[index]);
}

bool zeta_intel_yaml_list(struct zeta_intel_yaml *yaml, const yaml_node_t *node, uint32_t most)
{
    if (!zeta_intel_yaml_expect(yaml, node, YAML_SEQUENCE_NODE))
        return false;
    if (zeta_intel_yaml_length(node) > most)
        return zeta_intel_yaml_fail(yaml, node, "this list has more than %u entries", most);
    return true;
}

/* ---- mappings ----------------------------------------------------------------------------- */

static const struct zeta_intel_yaml_key *find_key(const struct zeta_intel_yaml_key *keys,
                                                  uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

bool zeta_intel_yaml_mapping(struct zeta_intel_yaml *yaml, const yaml_node_t *node,
                             const struct zeta_intel_yaml_key *keys, uint32_t count, void *target)
{
    uint32_t seen = 0;

    if (!zeta_intel_yaml_expect(yaml, node, YAML_MAPPING_NODE))
        return false;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *name = yaml_document_get_node(&yaml->document, pair->key);
        yaml_node_t *value = yaml_document_get_node(&yaml->document, pair->value);
        const struct zeta_intel_yaml_key *key;

        if (!zeta_intel_yaml_expect(yaml, name, YAML_SCALAR_NODE))
            return false;
        key = find_key(keys, count, zeta_intel_yaml_value(name));
        if (!key)
            return zeta_intel_yaml_fail(yaml, name, "key '%.60s' is unknown here",
                                        zeta_intel_yaml_value(name));
        if (seen & (1u << (key - keys)))
            return zeta_intel_yaml_fail(yaml, name, "key '%s' is here twice", key->name);
        seen |= 1u << (key - keys);
        if (!key->read(yaml, value, target))
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i].is_required && (seen & (1u << i)) == 0)
            return zeta_intel_yaml_fail(yaml, node, "key '%s' is missing", keys[i].name);
    }
    return true;
}

/* ---- files -------------------------------------------------------------------------------- */

bool zeta_intel_yaml_read(const char *path, const char *text, size_t bytes,
                          const struct zeta_intel_yaml_key *keys, uint32_t key_count, void *target,
                          char *out_problem, uint32_t problem_bytes)
{
    struct zeta_intel_yaml yaml = {
        .path = path, .problem = out_problem, .problem_bytes = problem_bytes};
    yaml_parser_t parser;
    bool good;

    if (!yaml_parser_initialize(&parser))
        return zeta_intel_yaml_fail_memory(&yaml);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    good = yaml_parser_load(&parser, &yaml.document) != 0;
    if (good) {
        const yaml_node_t *root = yaml_document_get_root_node(&yaml.document);

        good = root ? zeta_intel_yaml_mapping(&yaml, root, keys, key_count, target)
                    : zeta_intel_yaml_fail(&yaml, NULL, "the file is empty");
        yaml_document_delete(&yaml.document);
    } else {
        (void)snprintf(out_problem, problem_bytes, "%s:%lu: %s", path,
                       (unsigned long)parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "this is no YAML");
    }
    yaml_parser_delete(&parser);
    return good;
}
