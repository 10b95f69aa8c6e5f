#include "set_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

/* Bounds of a text; the library that reads it in the end has the same or smaller ones. */
#define DEPTH_MAX 32u
#define NODES_MAX 200000u

/* ---- looking into a document -------------------------------------------------------------- */

static const char *scalar(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static yaml_node_t *member(yaml_document_t *document, const yaml_node_t *mapping, const char *key)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const char *name = scalar(yaml_document_get_node(document, pair->key));

        if (name && strcmp(name, key) == 0)
            return yaml_document_get_node(document, pair->value);
    }
    return NULL;
}

static const char *text_of(yaml_document_t *document, const yaml_node_t *mapping, const char *key)
{
    return scalar(member(document, mapping, key));
}

/* The only element, or the one of that name, of a sequence of mappings. */
static yaml_node_t *element(yaml_document_t *document, const yaml_node_t *sequence,
                            const char *name)
{
    if (!sequence || sequence->type != YAML_SEQUENCE_NODE)
        return NULL;
    for (const yaml_node_item_t *item = sequence->data.sequence.items.start;
         item < sequence->data.sequence.items.top; item++) {
        yaml_node_t *node = yaml_document_get_node(document, *item);
        const char *own = text_of(document, node, "name");

        if (own && (!name || strcmp(own, name) == 0))
            return node;
    }
    return NULL;
}

/* A number of a mapping; fallback if it is missing, false if it is none or above max. */
static bool number(yaml_document_t *document, const yaml_node_t *mapping, const char *key,
                   uint32_t fallback, uint32_t max, uint32_t *out_value)
{
    const char *text = text_of(document, mapping, key);
    unsigned long value;
    char *end;

    *out_value = fallback;
    if (!member(document, mapping, key))
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

/* Aliases would let a short text stand for a huge one. */
static bool has_alias(const struct zeta_replay_set *set)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool alias = false, end = false;

    if (!yaml_parser_initialize(&parser))
        return true;
    yaml_parser_set_input_string(&parser, (const unsigned char *)set->text, set->text_bytes);
    while (!alias && !end && yaml_parser_parse(&parser, &event)) {
        alias = event.type == YAML_ALIAS_EVENT;
        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return alias || !end;
}

static bool parse(const struct zeta_replay_set *set, yaml_document_t *out_document,
                  struct zeta_replay_problem *problem)
{
    yaml_parser_t parser;
    bool good;

    if (has_alias(set) || !yaml_parser_initialize(&parser))
        return zeta_replay_say(problem, "the text of metric set %u is no YAML of a set file",
                               set->number);
    yaml_parser_set_input_string(&parser, (const unsigned char *)set->text, set->text_bytes);
    good = yaml_parser_load(&parser, out_document) != 0;
    yaml_parser_delete(&parser);
    if (good && !yaml_document_get_root_node(out_document)) {
        yaml_document_delete(out_document);
        good = false;
    }
    return good || zeta_replay_say(problem, "the text of metric set %u is empty", set->number);
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
    const char *name = text_of(document, view, "in");
    const yaml_node_t *whole = name ? member(document, header, name) : NULL;
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
    const yaml_node_t *header = member(document, layout, "header");
    const yaml_node_t *field = member(document, header, name);
    const yaml_node_t *high;

    if (!field)
        return true;
    if (member(document, field, "in"))
        return read_view(document, header, field, record_bytes, out_field);
    if (!read_part(document, field, record_bytes, 64, &out_field->low_bit, &out_field->low_width))
        return false;
    high = member(document, field, "hi");
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
    const yaml_node_t *own = element(document, member(document, root, "sets"), NULL);
    const char *layout_name = text_of(document, own, "layout");
    const yaml_node_t *layout =
        layout_name ? element(document, member(document, root, "layouts"), layout_name) : NULL;

    return copy_name(set->name, text_of(document, own, "name")) &&
           copy_name(set->unit, text_of(document, own, "unit")) &&
           read_kind(text_of(document, layout, "kind"), &set->kind) &&
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
    return good || zeta_replay_say(problem,
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

/* One copying from a document to another. */
struct copying {
    yaml_document_t *from;
    yaml_document_t to;
    struct zeta_replay_seen *seen;
    uint32_t nodes;
    bool failed;
};

static int copy_node(struct copying *copying, const yaml_node_t *node, uint32_t depth);

static bool copy_items(struct copying *copying, const yaml_node_t *node, int made, uint32_t depth)
{
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++) {
        const int part =
            copy_node(copying, yaml_document_get_node(copying->from, *item), depth + 1);

        if (!part || !yaml_document_append_sequence_item(&copying->to, made, part))
            return false;
    }
    return true;
}

static bool copy_pairs(struct copying *copying, const yaml_node_t *node, int made, uint32_t depth)
{
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const int key =
            copy_node(copying, yaml_document_get_node(copying->from, pair->key), depth + 1);
        const int value =
            key ? copy_node(copying, yaml_document_get_node(copying->from, pair->value), depth + 1)
                : 0;

        if (!value || !yaml_document_append_mapping_pair(&copying->to, made, key, value))
            return false;
    }
    return true;
}

/* 0: it failed. */
static int copy_node(struct copying *copying, const yaml_node_t *node, uint32_t depth)
{
    bool good = node && depth <= DEPTH_MAX && ++copying->nodes <= NODES_MAX;
    int made = 0;

    if (good && node->type == YAML_SCALAR_NODE) {
        made = yaml_document_add_scalar(&copying->to, NULL, node->data.scalar.value,
                                        (int)node->data.scalar.length, node->data.scalar.style);
    } else if (good && node->type == YAML_SEQUENCE_NODE) {
        made = yaml_document_add_sequence(&copying->to, NULL, node->data.sequence.style);
        good = made != 0 && copy_items(copying, node, made, depth);
    } else if (good && node->type == YAML_MAPPING_NODE) {
        made = yaml_document_add_mapping(&copying->to, NULL, node->data.mapping.style);
        good = made != 0 && copy_pairs(copying, node, made, depth);
    }
    if (good && made != 0)
        return made;
    copying->failed = true;
    return 0;
}

static bool append_pair(struct copying *copying, int mapping, const yaml_node_t *key, int value)
{
    const int name = value ? copy_node(copying, key, 0) : 0;

    if (!name || !yaml_document_append_mapping_pair(&copying->to, mapping, name, value))
        copying->failed = true;
    return !copying->failed;
}

/* Symbols and units: a mapping whose keys are the names. */
static bool copy_new_members(struct copying *copying, int root, const char *kind,
                             const yaml_node_t *key, const yaml_node_t *mapping)
{
    const int made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
    bool any = false;

    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         made && pair < mapping->data.mapping.pairs.top && !copying->failed; pair++) {
        const yaml_node_t *name = yaml_document_get_node(copying->from, pair->key);

        if (!scalar(name) || !is_new(copying->seen, kind, scalar(name), &copying->failed))
            continue;
        any = true;
        (void)append_pair(
            copying, made, name,
            copy_node(copying, yaml_document_get_node(copying->from, pair->value), 1));
    }
    return made && !copying->failed && (!any || append_pair(copying, root, key, made));
}

/* Layouts: a sequence of mappings with names. */
static bool copy_new_elements(struct copying *copying, int root, const char *kind,
                              const yaml_node_t *key, const yaml_node_t *sequence)
{
    const int made = yaml_document_add_sequence(&copying->to, NULL, YAML_BLOCK_SEQUENCE_STYLE);
    bool any = false;

    for (const yaml_node_item_t *item = sequence->data.sequence.items.start;
         made && item < sequence->data.sequence.items.top && !copying->failed; item++) {
        const yaml_node_t *node = yaml_document_get_node(copying->from, *item);
        const char *name = text_of(copying->from, node, "name");
        int copy;

        if (!name || !is_new(copying->seen, kind, name, &copying->failed))
            continue;
        any = true;
        copy = copy_node(copying, node, 1);
        if (!copy || !yaml_document_append_sequence_item(&copying->to, made, copy))
            copying->failed = true;
    }
    return made && !copying->failed && (!any || append_pair(copying, root, key, made));
}

/* What a device may say once is left out where it was said before. */
static bool copy_root(struct copying *copying)
{
    const yaml_node_t *root = yaml_document_get_root_node(copying->from);
    const int made = yaml_document_add_mapping(&copying->to, NULL, YAML_BLOCK_MAPPING_STYLE);
    bool good = made != 0 && root->type == YAML_MAPPING_NODE;

    for (const yaml_node_pair_t *pair = good ? root->data.mapping.pairs.start : NULL;
         good && pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(copying->from, pair->key);
        const yaml_node_t *value = yaml_document_get_node(copying->from, pair->value);
        const char *name = scalar(key);

        if (name && value && value->type == YAML_MAPPING_NODE)
            good = copy_new_members(copying, made, name, key, value);
        else if (name && value && value->type == YAML_SEQUENCE_NODE)
            good = copy_new_elements(copying, made, name, key, value);
        else
            good = append_pair(copying, made, key, copy_node(copying, value, 1));
    }
    return good && !copying->failed;
}

/* Text that an emitter writes. */
struct output {
    char *text;
    size_t bytes, capacity;
};

static int collect(void *context, unsigned char *bytes, size_t count)
{
    struct output *output = context;

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

/* The emitter takes the document over, also when it fails. */
static bool emit(yaml_document_t *document, struct output *output)
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

bool zeta_replay_set_write(const struct zeta_replay_set *set, struct zeta_replay_seen *seen,
                           const struct zeta_plugin_text_sink *sink,
                           struct zeta_replay_problem *problem)
{
    struct copying copying = {.seen = seen};
    struct output output = {NULL, 0, 0};
    yaml_document_t from;
    bool good;

    for (uint32_t i = 0; i < seen->count; i++) {
        if (strncmp(seen->names[i], "sets:", 5) == 0 && strcmp(seen->names[i] + 5, set->name) == 0)
            return true;
    }
    if (!parse(set, &from, problem))
        return false;
    copying.from = &from;
    good = yaml_document_initialize(&copying.to, NULL, NULL, NULL, 1, 1) != 0;
    if (good && !copy_root(&copying)) {
        yaml_document_delete(&copying.to);
        good = false;
    } else if (good) {
        good = emit(&copying.to, &output);
    }
    yaml_document_delete(&from);
    if (good)
        sink->write(sink->context, (struct zeta_plugin_string){set->name, strlen(set->name)},
                    (struct zeta_plugin_string){output.text, output.bytes});
    free(output.text);
    return good || zeta_replay_say(problem, "metric set %u (%.100s) cannot be written out",
                                   set->number, set->name);
}

void zeta_replay_seen_finish(struct zeta_replay_seen *seen)
{
    for (uint32_t i = 0; i < seen->count; i++)
        free(seen->names[i]);
    free(seen->names);
    *seen = (struct zeta_replay_seen){0};
}
