/* Looking at the nodes of a YAML tree: members and conversions of scalars. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "core/util/yaml.h"

const struct zeta_yaml_node *zeta_yaml_member(const struct zeta_yaml_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != ZETA_YAML_MAPPING)
        return NULL;
    for (const struct zeta_yaml_node *node = mapping->first_child; node; node = node->next) {
        if (strcmp(node->key, key) == 0)
            return node;
    }
    return NULL;
}

static bool is_plain(const struct zeta_yaml_node *node)
{
    return node && node->kind == ZETA_YAML_SCALAR && node->plain;
}

bool zeta_yaml_is_null(const struct zeta_yaml_node *node)
{
    return is_plain(node) &&
           (node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

bool zeta_yaml_u64(const struct zeta_yaml_node *node, uint64_t *out_value)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    unsigned base = 10;
    const char *text;

    if (!is_plain(node) || node->length == 0)
        return false;
    text = node->text;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        if (*text == '\0')
            return false;
    }
    for (; *text; text++) {
        char lower = *text >= 'A' && *text <= 'F' ? (char)(*text - 'A' + 'a') : *text;
        const char *digit = strchr(digits, lower);

        if (!digit || (unsigned)(digit - digits) >= base)
            return false;
        if (value > (UINT64_MAX - (uint64_t)(digit - digits)) / base)
            return false;
        value = value * base + (uint64_t)(digit - digits);
    }
    *out_value = value;
    return true;
}

bool zeta_yaml_double(const struct zeta_yaml_node *node, double *out_value)
{
    double value;
    char *end;

    if (!is_plain(node) || node->length == 0)
        return false;
    if (strspn(node->text, "+-0123456789.eE") != node->length)
        return false;
    value = zeta_c_strtod(node->text, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *out_value = value;
    return true;
}

bool zeta_yaml_bool(const struct zeta_yaml_node *node, bool *out_value)
{
    if (!is_plain(node))
        return false;
    if (strcmp(node->text, "true") == 0)
        *out_value = true;
    else if (strcmp(node->text, "false") == 0)
        *out_value = false;
    else
        return false;
    return true;
}

const char *zeta_yaml_kind_name(enum zeta_yaml_kind kind)
{
    switch (kind) {
    case ZETA_YAML_SCALAR:
        return "a scalar";
    case ZETA_YAML_SEQUENCE:
        return "a sequence";
    case ZETA_YAML_MAPPING:
        return "a mapping";
    default:
        return "nothing";
    }
}
