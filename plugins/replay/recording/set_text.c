#include "plugins/replay/recording/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/plugin_host.h>
#include <zeta/yaml.h>

/* A number of a mapping; fallback if it is missing, false if it is none or above max. */
static bool number(const struct zeta_yaml_node *mapping, const char *key, uint32_t fallback,
                   uint32_t max, uint32_t *out_value)
{
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, key);
    uint64_t value = fallback;

    if (node && (!zeta_yaml_u64(node, &value) || value > max))
        return false;
    *out_value = (uint32_t)value;
    return true;
}

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

/* The element of that name in a sequence of mappings; NULL: the first that has a name. */
static const struct zeta_yaml_node *element(const struct zeta_yaml_node *sequence, const char *name)
{
    if (!sequence || sequence->kind != ZETA_YAML_SEQUENCE)
        return NULL;
    for (const struct zeta_yaml_node *node = sequence->first_child; node; node = node->next) {
        const char *own = zeta_yaml_text(node, "name");

        if (own && (!name || strcmp(own, name) == 0))
            return node;
    }
    return NULL;
}

static bool copy_name(char *target, const char *text)
{
    if (!text || !*text || strlen(text) >= ZETA_REPLAY_NAME_BYTES)
        return false;
    memcpy(target, text, strlen(text) + 1);
    return true;
}

/* Bits of a field's part, which have to be inside the record. */
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

/* A header field of that name. A layout without it is fine. */
static bool read_field(const struct zeta_yaml_node *layout, const char *name, uint32_t record_bytes,
                       struct zeta_replay_field *out_field)
{
    const struct zeta_yaml_node *header = zeta_yaml_member(layout, "header");
    const struct zeta_yaml_node *field = zeta_yaml_member(header, name);
    const struct zeta_yaml_node *high = zeta_yaml_member(field, "hi");
    uint32_t first, width, bit;

    if (!field)
        return true;
    if (zeta_yaml_member(field, "in")) {
        /* Some bits of another field, which is in one piece. */
        const char *whole_name = zeta_yaml_text(field, "in");
        const struct zeta_yaml_node *whole =
            whole_name ? zeta_yaml_member(header, whole_name) : NULL;

        if (!whole || !read_part(whole, record_bytes, 64, &first, &width) ||
            !number(field, "bit", 0, 63, &bit) ||
            !number(field, "width", 0, 64, &out_field->low_width) || out_field->low_width == 0 ||
            bit + out_field->low_width > width)
            return false;
        out_field->low_bit = first + bit;
    } else if (!read_part(field, record_bytes, 64, &out_field->low_bit, &out_field->low_width) ||
               (high && !read_part(high, record_bytes, 64 - out_field->low_width,
                                   &out_field->high_bit, &out_field->high_width))) {
        return false;
    }
    out_field->present = true;
    return true;
}

bool zeta_replay_set_read(struct zeta_replay_set *set, struct zeta_replay_problem *problem)
{
    static const char *const kinds[] = {"delta", "sample", "event"};
    struct zeta_yaml_document *document = parse(set, problem);
    const struct zeta_yaml_node *root, *own, *layout;
    const char *layout_name, *kind;
    uint32_t k = 0;
    bool good;

    if (!document)
        return false;
    root = zeta_yaml_root(document);
    own = element(zeta_yaml_member(root, "sets"), NULL);
    layout_name = zeta_yaml_text(own, "layout");
    layout = layout_name ? element(zeta_yaml_member(root, "layouts"), layout_name) : NULL;
    kind = zeta_yaml_text(layout, "kind");
    while (kind && k < 3 && strcmp(kind, kinds[k]) != 0)
        k++;
    set->kind = (enum zeta_replay_kind)k;
    /* The clock is the field that libzeta takes for it too. */
    good = kind && k < 3 && copy_name(set->name, zeta_yaml_text(own, "name")) &&
           copy_name(set->unit, zeta_yaml_text(own, "unit")) &&
           number(layout, "record", 0, ZETA_REPLAY_RECORD_MAX, &set->record_bytes) &&
           set->record_bytes >= ZETA_REPLAY_RECORD_MIN &&
           read_field(layout, "timestamp", set->record_bytes, &set->clock) &&
           (set->clock.present || read_field(layout, "ticks", set->record_bytes, &set->clock)) &&
           (set->kind != ZETA_REPLAY_EVENT ||
            read_field(layout, "tile", set->record_bytes, &set->tile));
    zeta_yaml_free(document);
    return good || zeta_replay_fail(problem,
                                    "the text of metric set %u lacks a set with name, unit and "
                                    "layout, or the layout is not whole",
                                    set->number);
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool is_known(const struct zeta_replay_seen *seen, const char *kind, const char *name)
{
    const size_t length = strlen(kind);

    for (uint32_t i = 0; i < seen->count; i++) {
        const char *known = seen->names[i];

        if (strncmp(known, kind, length) == 0 && known[length] == ':' &&
            strcmp(known + length + 1, name) == 0)
            return true;
    }
    return false;
}

/* Notes a name; false if it was noted before, or without memory. */
static bool is_new(struct zeta_replay_seen *seen, const char *kind, const char *name)
{
    char **grown, *full = NULL;

    if (is_known(seen, kind, name))
        return false;
    grown = realloc(seen->names, (seen->count + 1) * sizeof(char *));
    if (grown)
        seen->names = grown;
    if (!grown || asprintf(&full, "%s:%s", kind, name) < 0) {
        seen->failed = true;
        return false;
    }
    seen->names[seen->count++] = full;
    return true;
}

/* Writes what a device may define only once and no other set has defined. */
static void write_new(struct zeta_yaml_writer *writer, struct zeta_replay_seen *seen,
                      const struct zeta_yaml_node *part)
{
    bool any = false;

    for (const struct zeta_yaml_node *node = part->first_child; node; node = node->next) {
        const char *name = node->key ? node->key : zeta_yaml_text(node, "name");

        if (!name || !is_new(seen, part->key, name))
            continue;
        if (!any) {
            zeta_yaml_write_text(writer, part->key, true);
            zeta_yaml_write_start(writer, part->kind, false);
        }
        any = true;
        if (node->key)
            zeta_yaml_write_text(writer, node->key, true);
        zeta_yaml_write_node(writer, node);
    }
    if (any)
        zeta_yaml_write_end(writer, part->kind);
}

bool zeta_replay_set_write(const struct zeta_replay_set *set, struct zeta_replay_seen *seen,
                           const struct zeta_plugin_text_sink *sink,
                           struct zeta_replay_problem *problem)
{
    struct zeta_yaml_document *from;
    struct zeta_yaml_writer *writer;
    size_t bytes = 0;
    char *text = NULL;
    bool good;

    if (is_known(seen, "sets", set->name))
        return true;
    from = parse(set, problem);
    if (!from)
        return false;
    writer = zeta_yaml_writer_create();
    if (writer) {
        zeta_yaml_write_start(writer, ZETA_YAML_MAPPING, false);
        for (const struct zeta_yaml_node *part = zeta_yaml_root(from)->first_child; part;
             part = part->next) {
            if (part->kind != ZETA_YAML_SCALAR) {
                write_new(writer, seen, part);
                continue;
            }
            zeta_yaml_write_text(writer, part->key, true);
            zeta_yaml_write_node(writer, part);
        }
        zeta_yaml_write_end(writer, ZETA_YAML_MAPPING);
        text = zeta_yaml_writer_finish(writer, &bytes);
    }
    zeta_yaml_free(from);
    good = text && !seen->failed;
    if (good)
        sink->write(sink->context, zeta_string(set->name),
                    (struct zeta_plugin_string){text, bytes});
    free(text);
    return good ||
           zeta_replay_fail(problem, "there is no memory to write metric set %u out", set->number);
}

void zeta_replay_seen_finish(struct zeta_replay_seen *seen)
{
    for (uint32_t i = 0; i < seen->count; i++)
        free(seen->names[i]);
    free(seen->names);
    *seen = (struct zeta_replay_seen){0};
}
