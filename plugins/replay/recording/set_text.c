#include "plugins/replay/recording/set_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/recording/yaml_part.h"

/* A number of a mapping; fallback if it is missing, false if it is none or above max. */
static bool number(yaml_document_t *document, const yaml_node_t *mapping, const char *key,
                   uint32_t fallback, uint32_t max, uint32_t *out_value)
{
    const char *text = zeta_replay_node_text(document, mapping, key);
    unsigned long value;
    char *end;

    *out_value = fallback;
    if (!zeta_replay_node_member(document, mapping, key))
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

static bool parse(const struct zeta_replay_set *set, yaml_document_t *out_document,
                  struct zeta_replay_problem *problem)
{
    return zeta_replay_document_parse(set->text, set->text_bytes, out_document) ||
           zeta_replay_fail(problem, "the text of metric set %u is no YAML of a set file",
                            set->number);
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
static bool read_part(yaml_document_t *document, const yaml_node_t *part, uint32_t record_bytes,
                      uint32_t width_max, uint32_t *out_bit, uint32_t *out_width)
{
    uint32_t at, bit;

    if (!number(document, part, "at", UINT32_MAX, record_bytes, &at) ||
        !number(document, part, "bit", 0, 63, &bit) ||
        !number(document, part, "width", 0, width_max, out_width) || at > record_bytes)
        return false;
    *out_bit = at * 8 + bit;
    return *out_width > 0 && *out_bit + *out_width <= record_bytes * 8;
}

/* Some bits of another field, which lies in one piece. */
static bool read_view(yaml_document_t *document, const yaml_node_t *header, const yaml_node_t *view,
                      uint32_t record_bytes, struct zeta_replay_field *out_field)
{
    const char *name = zeta_replay_node_text(document, view, "in");
    const yaml_node_t *whole = name ? zeta_replay_node_member(document, header, name) : NULL;
    uint32_t first, whole_width, bit;

    if (!whole || !read_part(document, whole, record_bytes, 64, &first, &whole_width) ||
        !number(document, view, "bit", 0, 63, &bit) ||
        !number(document, view, "width", 0, 64, &out_field->low_width) ||
        out_field->low_width == 0 || bit + out_field->low_width > whole_width)
        return false;
    out_field->low_bit = first + bit;
    out_field->present = true;
    return true;
}

/* A header field of that name. A layout without it is fine. */
static bool read_field(yaml_document_t *document, const yaml_node_t *layout, const char *name,
                       uint32_t record_bytes, struct zeta_replay_field *out_field)
{
    const yaml_node_t *header = zeta_replay_node_member(document, layout, "header");
    const yaml_node_t *field = zeta_replay_node_member(document, header, name);
    const yaml_node_t *high;

    if (!field)
        return true;
    if (zeta_replay_node_member(document, field, "in"))
        return read_view(document, header, field, record_bytes, out_field);
    if (!read_part(document, field, record_bytes, 64, &out_field->low_bit, &out_field->low_width))
        return false;
    high = zeta_replay_node_member(document, field, "hi");
    if (high && !read_part(document, high, record_bytes, 64 - out_field->low_width,
                           &out_field->high_bit, &out_field->high_width))
        return false;
    out_field->present = true;
    return true;
}

/* The clock is the field that libzeta takes for it too. */
static bool read_fields(yaml_document_t *document, const yaml_node_t *layout,
                        struct zeta_replay_set *set)
{
    if (!read_field(document, layout, "timestamp", set->record_bytes, &set->clock) ||
        (!set->clock.present &&
         !read_field(document, layout, "ticks", set->record_bytes, &set->clock)))
        return false;
    return set->kind != ZETA_REPLAY_EVENT ||
           read_field(document, layout, "tile", set->record_bytes, &set->tile);
}

static bool read_document(yaml_document_t *document, struct zeta_replay_set *set)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    const yaml_node_t *own =
        zeta_replay_node_element(document, zeta_replay_node_member(document, root, "sets"), NULL);
    const char *layout_name = zeta_replay_node_text(document, own, "layout");
    const yaml_node_t *layout =
        layout_name ? zeta_replay_node_element(
                          document, zeta_replay_node_member(document, root, "layouts"), layout_name)
                    : NULL;

    return copy_name(set->name, zeta_replay_node_text(document, own, "name")) &&
           copy_name(set->unit, zeta_replay_node_text(document, own, "unit")) &&
           read_kind(zeta_replay_node_text(document, layout, "kind"), &set->kind) &&
           number(document, layout, "record", 0, ZETA_REPLAY_RECORD_MAX, &set->record_bytes) &&
           set->record_bytes >= ZETA_REPLAY_RECORD_MIN && read_fields(document, layout, set);
}

bool zeta_replay_set_read(struct zeta_replay_set *set, struct zeta_replay_problem *problem)
{
    yaml_document_t document;
    bool good;

    if (!parse(set, &document, problem))
        return false;
    good = read_document(&document, set);
    yaml_document_delete(&document);
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

static bool append_pair(struct writing *writing, int mapping, const yaml_node_t *key, int value)
{
    const int name = value ? zeta_replay_node_copy(&writing->copying, key, 0) : 0;

    if (!name || !yaml_document_append_mapping_pair(&writing->copying.to, mapping, name, value))
        writing->copying.failed = true;
    return !writing->copying.failed;
}

/* Symbols and units: a mapping whose keys are the names. */
static bool copy_new_members(struct writing *writing, int root, const char *kind,
                             const yaml_node_t *key, const yaml_node_t *mapping)
{
    const int made =
        yaml_document_add_mapping(&writing->copying.to, NULL, YAML_BLOCK_MAPPING_STYLE);
    bool any = false;

    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         made && pair < mapping->data.mapping.pairs.top && !writing->copying.failed; pair++) {
        const yaml_node_t *name = yaml_document_get_node(writing->copying.from, pair->key);

        if (!zeta_replay_node_scalar(name) ||
            !is_new(writing->seen, kind, zeta_replay_node_scalar(name), &writing->copying.failed))
            continue;
        any = true;
        (void)append_pair(
            writing, made, name,
            zeta_replay_node_copy(&writing->copying,
                                  yaml_document_get_node(writing->copying.from, pair->value), 1));
    }
    return made && !writing->copying.failed && (!any || append_pair(writing, root, key, made));
}

/* Layouts: a sequence of mappings with names. */
static bool copy_new_elements(struct writing *writing, int root, const char *kind,
                              const yaml_node_t *key, const yaml_node_t *sequence)
{
    const int made =
        yaml_document_add_sequence(&writing->copying.to, NULL, YAML_BLOCK_SEQUENCE_STYLE);
    bool any = false;

    for (const yaml_node_item_t *item = sequence->data.sequence.items.start;
         made && item < sequence->data.sequence.items.top && !writing->copying.failed; item++) {
        const yaml_node_t *node = yaml_document_get_node(writing->copying.from, *item);
        const char *name = zeta_replay_node_text(writing->copying.from, node, "name");
        int copy;

        if (!name || !is_new(writing->seen, kind, name, &writing->copying.failed))
            continue;
        any = true;
        copy = zeta_replay_node_copy(&writing->copying, node, 1);
        if (!copy || !yaml_document_append_sequence_item(&writing->copying.to, made, copy))
            writing->copying.failed = true;
    }
    return made && !writing->copying.failed && (!any || append_pair(writing, root, key, made));
}

/* Leaves out what a device may define only once and another set has defined. */
static bool copy_root(struct writing *writing)
{
    const yaml_node_t *root = yaml_document_get_root_node(writing->copying.from);
    const int made =
        yaml_document_add_mapping(&writing->copying.to, NULL, YAML_BLOCK_MAPPING_STYLE);
    bool good = made != 0 && root->type == YAML_MAPPING_NODE;

    for (const yaml_node_pair_t *pair = good ? root->data.mapping.pairs.start : NULL;
         good && pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(writing->copying.from, pair->key);
        const yaml_node_t *value = yaml_document_get_node(writing->copying.from, pair->value);
        const char *name = zeta_replay_node_scalar(key);

        if (name && value && value->type == YAML_MAPPING_NODE)
            good = copy_new_members(writing, made, name, key, value);
        else if (name && value && value->type == YAML_SEQUENCE_NODE)
            good = copy_new_elements(writing, made, name, key, value);
        else
            good =
                append_pair(writing, made, key, zeta_replay_node_copy(&writing->copying, value, 1));
    }
    return good && !writing->copying.failed;
}

bool zeta_replay_set_write(const struct zeta_replay_set *set, struct zeta_replay_seen *seen,
                           const struct zeta_plugin_text_sink *sink,
                           struct zeta_replay_problem *problem)
{
    struct writing writing = {.seen = seen};
    struct zeta_replay_output output = {NULL, 0, 0};
    yaml_document_t from;
    bool good;

    for (uint32_t i = 0; i < seen->count; i++) {
        if (strncmp(seen->names[i], "sets:", 5) == 0 && strcmp(seen->names[i] + 5, set->name) == 0)
            return true;
    }
    if (!parse(set, &from, problem))
        return false;
    writing.copying.from = &from;
    good = yaml_document_initialize(&writing.copying.to, NULL, NULL, NULL, 1, 1) != 0;
    if (good && !copy_root(&writing)) {
        yaml_document_delete(&writing.copying.to);
        good = false;
    } else if (good) {
        good = zeta_replay_document_emit(&writing.copying.to, &output);
    }
    yaml_document_delete(&from);
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
