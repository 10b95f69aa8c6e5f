/* Any bytes given to the YAML reader: a tree that holds together, or one error. */
#include <stdlib.h>
#include <string.h>

#include <zeta/yaml.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_node(const struct zeta_yaml_node *node, unsigned depth)
{
    uint32_t children = 0;

    if (depth > 32 || node->line == 0 || node->column == 0)
        abort();
    if (node->kind == ZETA_YAML_SCALAR && strlen(node->text) != node->length)
        abort();
    for (const struct zeta_yaml_node *child = node->first_child; child; child = child->next) {
        if ((node->kind == ZETA_YAML_MAPPING) != (child->key != NULL))
            abort();
        check_node(child, depth + 1);
        children++;
    }
    if (children != node->child_count)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_yaml_error error = {0};
    struct zeta_yaml_document *document =
        zeta_yaml_parse((const char *)data, size, "fuzz", NULL, &error);

    if (!document) {
        if (error.text[0] == '\0')
            abort();
        return 0;
    }
    if (zeta_yaml_root(document))
        check_node(zeta_yaml_root(document), 0);
    zeta_yaml_free(document);
    return 0;
}
