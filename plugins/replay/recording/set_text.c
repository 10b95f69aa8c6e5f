#include "plugins/replay/recording/set_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/recording/yaml_part.h"

/* A number of a mapping; fallback if it is missing, false if it is none or above max. */
static bool number(const struct zeta_yaml_node *mapping, const char *key, uint32_t fallback,
                   uint32_t max, uint32_t *out_value)
{
    const char *text = zeta_replay_node_text(mapping, key);
    unsigned long value;
    char *end;

    *out_value = fallback;
    if (!zeta_yaml_member(mapping, key))
        return true;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    value = strtoul(text, &end, 0);
    if (*end != '\0' || errno != 0 || value > max)
        return false;
    *out_value = (uint32_t)value;
    return true;
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* NULL: it is refused. */
static struct zeta_yaml_document *parse(const struct zeta_replay_set *set,
                                        struct zeta_replay_problem *problem)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document =
        zeta_yaml_parse(set->text, set->text_bytes, set->name, NULL, &error);

    if (document && zeta_yaml_root(document))
        return document;
    zeta_yaml_free(document);
    (void)zeta_replay_fail(problem, "the text of metric set %u is no YAML of a set file",
                           set->number);
    return NULL;
}

static bool copy_name(char *target, const char *text)
{
    if (!text || !*text || strlen(text) >= ZETA_REPLAY_NAME_BYTES)
        return false;
    memcpy(target, text, strlen(text) + 1);
    return true;
}

static bool read_kind(const char *text, enum zeta_replay_kind *out_kind)
{
    static const char *const names[] = {"delta", "sample", "event"};

    for (uint32_t i = 0; text && i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out_kind = (enum zeta_replay_kind)i;
            return true;
        }
    }
    return false;
}

/* Bits of a field's part, which have to lie inside the record. */
static bool read_part(const struct zeta_yaml_node *part, uint32_t record_bytes, uint32_t width_max,
                      uint32_t *out_bit, uint32_t *out_width)
{
    uint32_t at, bit;

    if (!number(part, "at", UINT32_MAX, record_bytes, &at) || !number(part, "bit", 0, 63, &bit) ||
        !number(part, "width", 0, width_max, out_width) || at > record_bytes)
        return false;
    *out_bit = at * 8 + bit;
    return *out_width > 0 && *out_bit + *out_width <= record_bytes * 8;
}

/* Some bits of another field, which lies in one piece. */
static bool read_view(const struct zeta_yaml_node *header, const struct zeta_yaml_node *view,
                      uint32_t record_bytes, struct zeta_replay_field *out_field)
{
    const char *name = zeta_replay_node_text(view, "in");
    const struct zeta_yaml_node *whole = name ? zeta_yaml_member(header, name) : NULL;
    uint32_t first, whole_width, bit;

    if (!whole || !read_part(whole, record_bytes, 64, &first, &whole_width) ||
        !number(view, "bit", 0, 63, &bit) || !number(view, "width", 0, 64, &out_field->low_width) ||
        out_field->low_width == 0 || bit + out_field->low_width > whole_width)
        return false;
    out_field->low_bit = first + bit;
    out_field->present = true;
    return true;
}

/* A header field of that name. A layout without it is fine. */
static bool read_field(const struct zeta_yaml_node *layout, const char *name, uint32_t record_bytes,
                       struct zeta_replay_field *out_field)
{
    const struct zeta_yaml_node *header = zeta_yaml_member(layout, "header");
    const struct zeta_yaml_node *field = zeta_yaml_member(header, name);
    const struct zeta_yaml_node *high;

    if (!field)
        return true;
    if (zeta_yaml_member(field, "in"))
        return read_view(header, field, record_bytes, out_field);
    if (!read_part(field, record_bytes, 64, &out_field->low_bit, &out_field->low_width))
        return false;
    high = zeta_yaml_member(field, "hi");
    if (high && !read_part(high, record_bytes, 64 - out_field->low_width, &out_field->high_bit,
                           &out_field->high_width))
        return false;
    out_field->present = true;
    return true;
}

/* The clock is the field that libzeta takes for it too. */
static bool read_fields(const struct zeta_yaml_node *layout, struct zeta_replay_set *set)
{
    if (!read_field(layout, "timestamp", set->record_bytes, &set->clock) ||
        (!set->clock.present && !read_field(layout, "ticks", set->record_bytes, &set->clock)))
        return false;
    return set->kind != ZETA_REPLAY_EVENT ||
           read_field(layout, "tile", set->record_bytes, &set->tile);
}

static bool read_root(const struct zeta_yaml_node *root, struct zeta_replay_set *set)
{
    const struct zeta_yaml_node *own =
        zeta_replay_node_element(zeta_yaml_member(root, "sets"), NULL);
    const char *layout_name = zeta_replay_node_text(own, "layout");
    const struct zeta_yaml_node *layout =
        layout_name ? zeta_replay_node_element(zeta_yaml_member(root, "layouts"), layout_name)
                    : NULL;

    return copy_name(set->name, zeta_replay_node_text(own, "name")) &&
           copy_name(set->unit, zeta_replay_node_text(own, "unit")) &&
           read_kind(zeta_replay_node_text(layout, "kind"), &set->kind) &&
           number(layout, "record", 0, ZETA_REPLAY_RECORD_MAX, &set->record_bytes) &&
           set->record_bytes >= ZETA_REPLAY_RECORD_MIN && read_fields(layout, set);
}

bool zeta_replay_set_read(struct zeta_replay_set *set, struct zeta_replay_problem *problem)
{
    struct zeta_yaml_document *document = parse(set, problem);
    bool good;

    if (!document)
        return false;
    good = read_root(zeta_yaml_root(document), set);
    zeta_yaml_free(document);
    return good || zeta_replay_fail(problem,
                                    "the text of metric set %u lacks a set with name, unit and "
                                    "layout, or the layout is not whole",
                                    set->number);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Notes a name; false if it was noted before, or without memory (then *out_failed). */
static bool is_new(struct zeta_replay_seen *seen, const char *kind, const char *name,
                   bool *out_failed)
{
    const size_t bytes = strlen(kind) + strlen(name) + 2;
    char *full = malloc(bytes);
    char **grown;

    if (!full) {
        *out_failed = true;
        return false;
    }
    (void)snprintf(full, bytes, "%s:%s", kind, name);
    for (uint32_t i = 0; i < seen->count; i++) {
        if (strcmp(seen->names[i], full) == 0) {
            free(full);
            return false;
        }
    }
    grown = realloc(seen->names, (seen->count + 1) * sizeof(char *));
    if (!grown) {
        free(full);
        *out_failed = true;
        return false;
    }
    seen->names = grown;
    seen->names[seen->count++] = full;
    return true;
}

/* One set on its way into the text of a device. */
struct writing {
    struct zeta_replay_copying copying;
    struct zeta_replay_seen *seen;
};

/* Leaves out what a device may define only once and another set has defined. */
static void copy_new(struct writing *writing, int root, const struct zeta_yaml_node *part)
{
    struct zeta_replay_copying *copying = &writing->copying;
    const bool is_mapping = part->kind == ZETA_YAML_MAPPING;
    const int made =
        is_mapping ? yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE)
                   : yaml_document_add_sequence(&copying->to, NULL, YAML_BLOCK_SEQUENCE_STYLE);
    bool any = false;

    copying->failed |= !made;
    for (const struct zeta_yaml_node *node = part->first_child; node && !copying->failed;
         node = node->next) {
        const char *name = is_mapping ? node->key : zeta_replay_node_text(node, "name");

        if (!name || !is_new(writing->seen, part->key, name, &copying->failed))
            continue;
        any = true;
        if (is_mapping)
            zeta_replay_append_pair(copying, made, name, zeta_replay_node_copy(copying, node));
        else
            zeta_replay_append_item(copying, made, zeta_replay_node_copy(copying, node));
    }
    if (any)
        zeta_replay_append_pair(copying, root, part->key, made);
}

static bool copy_root(struct writing *writing, const struct zeta_yaml_node *root)
{
    struct zeta_replay_copying *copying = &writing->copying;
    const int made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);

    if (!made || root->kind != ZETA_YAML_MAPPING)
        return false;
    for (const struct zeta_yaml_node *part = root->first_child; part && !copying->failed;
         part = part->next) {
        if (part->kind == ZETA_YAML_SCALAR)
            zeta_replay_append_pair(copying, made, part->key, zeta_replay_node_copy(copying, part));
        else
            copy_new(writing, made, part);
    }
    return !copying->failed;
}

bool zeta_replay_set_write(const struct zeta_replay_set *set, struct zeta_replay_seen *seen,
                           const struct zeta_plugin_text_sink *sink,
                           struct zeta_replay_problem *problem)
{
    struct writing writing = {.seen = seen};
    struct zeta_replay_output output = {NULL, 0, 0};
    struct zeta_yaml_document *from;
    bool good;

    for (uint32_t i = 0; i < seen->count; i++) {
        if (strncmp(seen->names[i], "sets:", 5) == 0 && strcmp(seen->names[i] + 5, set->name) == 0)
            return true;
    }
    from = parse(set, problem);
    if (!from)
        return false;
    good = yaml_document_initialize(&writing.copying.to, NULL, NULL, NULL, 1, 1) != 0;
    if (good && !copy_root(&writing, zeta_yaml_root(from))) {
        yaml_document_delete(&writing.copying.to);
        good = false;
    } else if (good) {
        good = zeta_replay_document_emit(&writing.copying.to, &output);
    }
    zeta_yaml_free(from);
    if (good)
        sink->write(sink->context, (struct zeta_plugin_string){set->name, strlen(set->name)},
                    (struct zeta_plugin_string){output.text, output.bytes});
    free(output.text);
    return good || zeta_replay_fail(problem, "metric set %u (%.100s) cannot be written out",
                                    set->number, set->name);
}

void zeta_replay_seen_finish(struct zeta_replay_seen *seen)
{
    for (uint32_t i = 0; i < seen->count; i++)
        free(seen->names[i]);
    free(seen->names);
    *seen = (struct zeta_replay_seen){0};
}
