/* Reading layouts: header fields, counter banks, event types, and whether they fit the record. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/util/cleanup.h"

/** Largest number of fields of one layout. */
#define MAX_FIELDS 4096u

/** Where numbers are: the first, and how far it is from one to the next. */
struct place {
    uint32_t at, bit, stride, stride_bits, width;
};

/** Counters that lie one behind the other; a header field is a run of one. */
struct run {
    struct zeta_field first;
    struct place low, high;
    const char *valid; /**< name of the field with the valid bits */
    uint32_t n, valid_step;
    uint32_t is_float;
};

static struct zeta_field *add_field(struct zeta_set_reader *reader, struct zeta_layout *layout)
{
    const uint32_t count = layout->field_count;

    /* The array is full with 64 fields, and with each power of two behind that. */
    if (count == 0 || (count >= 64 && (count & (count - 1)) == 0)) {
        struct zeta_field *fields =
            zeta_arena_array(reader->arena, count ? (size_t)count * 2 : 64, sizeof(*fields));

        if (!fields) {
            (void)zeta_reader_no_memory(reader);
            return NULL;
        }
        if (count > 0)
            memcpy(fields, layout->fields, count * sizeof(*fields));
        layout->fields = fields;
    }
    return &layout->fields[layout->field_count++];
}

/** A field that is a view of some bits of another: {in: name, bit: n, width: n}. */
static bool read_part(struct zeta_set_reader *reader, struct zeta_layout *layout,
                      const struct zeta_yaml_node *node, const char *name)
{
    struct part {
        const char *whole;
        uint32_t bit, width;
    } part = {0};
    static const struct zeta_key keys[] = {
        {"in", ZETA_KEY_TEXT, .offset = offsetof(struct part, whole)},
        {"bit", ZETA_KEY_U32, .offset = offsetof(struct part, bit), .max = 63},
        {"width", ZETA_KEY_U32, .offset = offsetof(struct part, width), .min = 1, .max = 64},
        {"description", .optional = true},
        {.key = NULL},
    };
    struct zeta_field view, *field;
    uint32_t whole;

    if (!zeta_reader_mapping(reader, node, node->key, keys, &part))
        return false;
    whole = zeta_layout_find_field(layout, part.whole);
    if (whole == ZETA_FIELD_NONE || layout->fields[whole].part_of != ZETA_FIELD_NONE) {
        zeta_reader_error(reader, node, "'%s' is no header field declared before", part.whole);
        return false;
    }
    view = layout->fields[whole];
    if (part.bit + part.width > view.low_width) {
        zeta_reader_error(reader, node, "field %s has only %u bits in its first part", part.whole,
                          view.low_width);
        return false;
    }
    field = add_field(reader, layout);
    if (!field)
        return false;
    *field = (struct zeta_field){
        .name = name,
        .line = node->line,
        .low_bit = view.low_bit + part.bit,
        .low_width = part.width,
        .valid_field = view.valid_field,
        .valid_bit = view.valid_bit,
        .part_of = whole,
    };
    return true;
}

/** valid: {field: name, bit: n, step: n}. The field is a header field that is declared before. */
static bool read_valid(struct zeta_set_reader *reader, const struct zeta_layout *layout,
                       const struct zeta_yaml_node *node, struct run *run)
{
    static const struct zeta_key keys[] = {
        {"field", ZETA_KEY_TEXT, .offset = offsetof(struct run, valid)},
        {"bit", ZETA_KEY_U32, .offset = offsetof(struct run, first.valid_bit), .max = 63},
        {"step", ZETA_KEY_U32, .offset = offsetof(struct run, valid_step), .optional = true,
         .max = 63},
        {.key = NULL},
    };

    if (!zeta_reader_mapping(reader, node, "valid", keys, run))
        return false;
    run->first.valid_field = zeta_layout_find_field(layout, run->valid);
    if (run->first.valid_field != ZETA_FIELD_NONE &&
        !layout->fields[run->first.valid_field].is_float)
        return true;
    zeta_reader_error(reader, node,
                      "valid refers to '%s', which is no integer header field declared before",
                      run->valid);
    return false;
}

/** How many bits of a difference count; by default all or, of header fields, none. */
static bool read_delta(struct zeta_set_reader *reader, const struct zeta_layout *layout,
                       const struct zeta_yaml_node *node, uint32_t bits, uint32_t *out_bits)
{
    const struct zeta_key key = {"delta", ZETA_KEY_U32, .min = 1, .max = bits};
    bool flag;

    if (layout->kind != ZETA_LAYOUT_DELTA) {
        zeta_reader_error(reader, node, "delta belongs to layouts of kind delta");
        return false;
    }
    if (!zeta_yaml_bool(node, &flag))
        return zeta_reader_value(reader, node, &key, out_bits);
    *out_bits = flag ? bits : 0;
    return true;
}

/** Reads what a header field (bank is NULL) or a run of counters says, all but its places. */
static bool read_numbers(struct zeta_set_reader *reader, const struct zeta_layout *layout,
                         const struct zeta_yaml_node *node, bool is_header, struct run *run)
{
    static const struct zeta_word types[] = {{"uint", 0}, {"f64", 1}, {NULL, 0}};
    const uint32_t record = layout->record_bytes;
#define U32(key, member, ...)                                                                      \
    {                                                                                              \
        key, ZETA_KEY_U32, .offset = offsetof(struct run, member), __VA_ARGS__                     \
    }
    const struct zeta_key high_keys[] = {
        U32("at", high.at, .max = record - 1),
        U32("bit", high.bit, .optional = true, .max = 7),
        U32("stride", high.stride, .optional = true, .max = record),
        U32("stride_bits", high.stride_bits, .optional = true, .max = record * 8),
        U32("width", high.width, .min = 1, .max = 63),
        {.key = NULL},
    };
    const struct zeta_key keys[] = {
        /* The first three are those of runs, the last two those of header fields. */
        U32("n", n, .min = 1, .max = MAX_FIELDS),
        U32("stride", low.stride, .optional = true, .max = record),
        U32("stride_bits", low.stride_bits, .optional = true, .max = record * 8),
        U32("at", low.at, .max = record - 1),
        U32("bit", low.bit, .optional = true, .max = 7),
        U32("width", low.width, .min = 1, .max = 64),
        {"type", ZETA_KEY_WORD, .offset = offsetof(struct run, is_float), .optional = true,
         .words = types},
        {"rate", ZETA_KEY_EXPR, .offset = offsetof(struct run, first.rate), .optional = true},
        {"hi", .optional = true},
        {"valid", .optional = true},
        {"delta", .optional = true},
        {is_header ? "in" : NULL, .optional = true},
        {"description", .optional = true},
        {.key = NULL},
    };
#undef U32
    const struct zeta_yaml_node *high = zeta_yaml_member(node, "hi");
    const struct zeta_yaml_node *valid = zeta_yaml_member(node, "valid");
    const struct zeta_yaml_node *delta = zeta_yaml_member(node, "delta");
    struct zeta_field *first = &run->first;
    uint32_t bits;

    if (!zeta_reader_mapping(reader, node, is_header ? node->key : "a run of counters",
                             is_header ? keys + 3 : keys, run) ||
        (high && !zeta_reader_mapping(reader, high, "hi", high_keys, run)) ||
        (valid && !read_valid(reader, layout, valid, run)))
        return false;
    bits = run->low.width + run->high.width;
    if (bits > 64) {
        zeta_reader_error(reader, high, "both parts together have %u bits, more than 64", bits);
        return false;
    }
    first->line = node->line;
    first->is_float = run->is_float != 0;
    first->low_width = run->low.width;
    first->high_width = run->high.width;
    first->delta_bits = !is_header && layout->kind == ZETA_LAYOUT_DELTA ? bits : 0;
    if (first->is_float && (first->low_width != 64 || first->high_width != 0)) {
        zeta_reader_error(reader, node, "a field of type f64 has width 64 and no hi part");
        return false;
    }
    if (delta && !read_delta(reader, layout, delta, bits, &first->delta_bits))
        return false;
    if (first->rate && (first->delta_bits == 0 || first->is_float)) {
        zeta_reader_error(reader, zeta_yaml_member(node, "rate"),
                          "rate belongs to integers with a difference");
        return false;
    }
    return true;
}

/** Makes field i of a run; false if it leaves the record. */
static bool place_field(struct zeta_set_reader *reader, struct zeta_layout *layout,
                        const struct zeta_yaml_node *node, const struct run *run, uint32_t i,
                        uint32_t index)
{
    const uint64_t record_bits = (uint64_t)layout->record_bytes * 8;
    const struct place *places[] = {&run->low, &run->high};
    uint64_t bits[2];
    const uint64_t valid_bit = run->first.valid_bit + (uint64_t)run->valid_step * i;
    struct zeta_field *field;

    for (int k = 0; k < 2; k++) {
        const struct place *place = places[k];

        bits[k] =
            place->at * 8 + place->bit + ((uint64_t)place->stride * 8 + place->stride_bits) * i;
        if (place->width > 0 && bits[k] + place->width > record_bits) {
            zeta_reader_error(reader, node, "field %s[%u] lies outside the record of %u bytes",
                              run->first.name, i, layout->record_bytes);
            return false;
        }
    }
    if (run->first.valid_field != ZETA_FIELD_NONE) {
        const struct zeta_field *valid = &layout->fields[run->first.valid_field];

        if (valid_bit >= valid->low_width + valid->high_width) {
            zeta_reader_error(reader, node, "field %s has no bit %llu", valid->name,
                              (unsigned long long)valid_bit);
            return false;
        }
    }
    field = add_field(reader, layout);
    if (!field)
        return false;
    *field = run->first;
    field->index = index;
    field->low_bit = (uint32_t)bits[0];
    field->high_bit = (uint32_t)bits[1];
    field->valid_bit = (uint32_t)valid_bit;
    return true;
}

static bool read_header_field(struct zeta_set_reader *reader, struct zeta_layout *layout,
                              const struct zeta_yaml_node *node)
{
    struct run run = {.first = {.valid_field = ZETA_FIELD_NONE, .part_of = ZETA_FIELD_NONE}};

    if (!zeta_reader_name(reader, node, node->key, false, &run.first.name))
        return false;
    if (zeta_yaml_member(node, "in"))
        return read_part(reader, layout, node, run.first.name);
    return read_numbers(reader, layout, node, true, &run) &&
           place_field(reader, layout, node, &run, 0, 0);
}

static bool read_run(struct zeta_set_reader *reader, struct zeta_layout *layout,
                     const struct zeta_yaml_node *node, struct zeta_bank *bank)
{
    struct run run = {
        .first = {.name = bank->name, .valid_field = ZETA_FIELD_NONE, .part_of = ZETA_FIELD_NONE}};

    if (!read_numbers(reader, layout, node, false, &run))
        return false;
    if (run.n > 1 && run.low.stride == 0 && run.low.stride_bits == 0) {
        zeta_reader_error(reader, node, "a run of %u counters needs a stride", run.n);
        return false;
    }
    if (layout->field_count + run.n > MAX_FIELDS) {
        zeta_reader_error(reader, node, "more than %u fields in one layout", MAX_FIELDS);
        return false;
    }
    for (uint32_t i = 0; i < run.n; i++) {
        if (!place_field(reader, layout, node, &run, i, bank->count))
            return false;
        bank->count++;
    }
    return true;
}

static bool read_bank(struct zeta_set_reader *reader, struct zeta_layout *layout,
                      const struct zeta_yaml_node *node, struct zeta_bank *bank)
{
    bool good = zeta_reader_kind(reader, node, ZETA_YAML_SEQUENCE, "a counter bank") &&
                zeta_reader_name(reader, node, node->key, false, &bank->name);

    bank->first_field = layout->field_count;
    for (const struct zeta_yaml_node *run = node->first_child; good && run; run = run->next)
        good = read_run(reader, layout, run, bank);
    return good;
}

static bool read_fields(struct zeta_set_reader *reader, struct zeta_layout *layout,
                        const struct zeta_yaml_node *header, const struct zeta_yaml_node *counters)
{
    bool good = true;

    if (header && !zeta_reader_kind(reader, header, ZETA_YAML_MAPPING, "header"))
        return false;
    for (const struct zeta_yaml_node *field = header ? header->first_child : NULL; field;
         field = field->next) {
        good = read_header_field(reader, layout, field) && good;
        layout->header_count = layout->field_count;
    }
    if (!good || !counters)
        return good;
    layout->banks = zeta_reader_array(reader, counters, ZETA_YAML_MAPPING, "counters", 0,
                                      UINT32_MAX, sizeof(*layout->banks));
    if (!layout->banks)
        return false;
    for (const struct zeta_yaml_node *bank = counters->first_child; bank; bank = bank->next)
        good = read_bank(reader, layout, bank, &layout->banks[layout->bank_count++]) && good;
    return good;
}

/** Each bit of the record belongs to one field, but for views. */
static bool check_overlap(struct zeta_set_reader *reader, const struct zeta_layout *layout)
{
    ZETA_CLEANUP(zeta_freep)
    uint16_t *owner = calloc((size_t)layout->record_bytes * 8, sizeof(*owner));

    if (!owner)
        return zeta_reader_no_memory(reader);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct zeta_field *field = &layout->fields[i];
        const uint32_t bits = field->low_width + field->high_width;

        for (uint32_t k = 0; field->part_of == ZETA_FIELD_NONE && k < bits; k++) {
            const uint32_t bit =
                k < field->low_width ? field->low_bit + k : field->high_bit + k - field->low_width;
            const struct zeta_field *other;

            if (owner[bit] == 0) {
                owner[bit] = (uint16_t)(i + 1);
                continue;
            }
            other = &layout->fields[owner[bit] - 1];
            reader->errors++;
            zeta_diagnose(reader->sink, ZETA_SEVERITY_ERROR, reader->file, field->line, 1,
                          "field %s[%u] overlaps %s[%u] of line %u at byte %u", field->name,
                          field->index, other->name, other->index, other->line, bit / 8);
            return false;
        }
    }
    return true;
}

static bool read_identity(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_layout *layout)
{
    if (!node)
        return true;
    layout->identity = zeta_reader_array(reader, node, ZETA_YAML_SEQUENCE, "identity", 0,
                                         UINT32_MAX, sizeof(*layout->identity));
    if (!layout->identity)
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        uint32_t field = item->kind == ZETA_YAML_SCALAR ? zeta_layout_find_field(layout, item->text)
                                                        : ZETA_FIELD_NONE;

        if (field == ZETA_FIELD_NONE || layout->fields[field].is_float) {
            zeta_reader_error(reader, item, "identity names integer header fields of this layout");
            return false;
        }
        layout->identity[layout->identity_count++] = field;
    }
    return true;
}

/** The types of records: a mapping of names to numbers. */
static bool read_event_types(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                             struct zeta_layout *layout)
{
    layout->events = zeta_reader_array(reader, node, ZETA_YAML_MAPPING, "events", 1,
                                       ZETA_EVENT_MAX_COUNT, sizeof(*layout->events));
    if (!layout->events)
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        struct zeta_event_type *event = &layout->events[layout->event_count];
        const struct zeta_key key = {item->key, ZETA_KEY_U32, .min = 1, .max = ZETA_EVENT_MAX_TYPE};

        if (!zeta_reader_name(reader, item, item->key, false, &event->name) ||
            !zeta_reader_value(reader, item, &key, &event->number))
            return false;
        for (uint32_t i = 0; i < layout->event_count; i++) {
            if (layout->events[i].number == event->number) {
                zeta_reader_error(reader, item, "event types %s and %s have the same number %u",
                                  layout->events[i].name, event->name, event->number);
                return false;
            }
        }
        layout->event_count++;
    }
    return true;
}

/** Reads what only layouts of kind event have, and refuses what they cannot have. */
static bool read_events(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        struct zeta_layout *layout)
{
    static const char *const no_events[] = {"events", NULL};
    static const char *const no_rows[] = {"identity", "baseline", NULL};
    const bool is_event = layout->kind == ZETA_LAYOUT_EVENT;
    const struct zeta_yaml_node *events = zeta_yaml_member(node, "events");
    const struct {
        const char *name;
        uint32_t *field;
    } fields[] = {{"type", &layout->type_field},
                  {"ticks", &layout->ticks_field},
                  {"tile", &layout->tile_field}};

    for (const char *const *key = is_event ? no_rows : no_events; *key; key++) {
        if (zeta_yaml_member(node, *key)) {
            zeta_reader_error(reader, zeta_yaml_member(node, *key), "%s %s layouts of kind event",
                              *key, is_event ? "does not belong to" : "belongs to");
            return false;
        }
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        *fields[i].field =
            is_event ? zeta_layout_find_field(layout, fields[i].name) : ZETA_FIELD_NONE;
        if (!is_event)
            continue;
        if (*fields[i].field == ZETA_FIELD_NONE && fields[i].field != &layout->tile_field) {
            zeta_reader_error(reader, node, "a layout of kind event has a header field '%s'",
                              fields[i].name);
            return false;
        }
        if (*fields[i].field != ZETA_FIELD_NONE && layout->fields[*fields[i].field].is_float) {
            zeta_reader_error(reader, node, "header field %s of an event layout is an integer",
                              fields[i].name);
            return false;
        }
    }
    if (!is_event)
        return true;
    if (layout->record_bytes > ZETA_EVENT_RECORD_MAX_BYTES) {
        zeta_reader_error(reader, zeta_yaml_member(node, "record"),
                          "a record of an event layout has at most %u bytes",
                          ZETA_EVENT_RECORD_MAX_BYTES);
        return false;
    }
    if (!events)
        zeta_reader_error(reader, node, "a layout of kind event needs 'events'");
    return events && read_event_types(reader, events, layout);
}

void zeta_read_layout(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const struct zeta_word kinds[] = {{"delta", ZETA_LAYOUT_DELTA},
                                             {"sample", ZETA_LAYOUT_SAMPLE},
                                             {"event", ZETA_LAYOUT_EVENT},
                                             {NULL, 0}};
    static const struct zeta_key keys[] = {
        {"name", ZETA_KEY_DASHED_NAME, .offset = offsetof(struct zeta_layout, name)},
        {"kind", ZETA_KEY_WORD, .offset = offsetof(struct zeta_layout, kind), .words = kinds},
        {"record", ZETA_KEY_U32, .offset = offsetof(struct zeta_layout, record_bytes),
         .min = ZETA_RECORD_MIN_BYTES, .max = ZETA_RECORD_MAX_BYTES},
        {"baseline", ZETA_KEY_EXPR, .offset = offsetof(struct zeta_layout, baseline),
         .optional = true},
        {"header", .optional = true},
        {"counters", .optional = true},
        {"identity", .optional = true},
        {"info", .optional = true},
        {"events", .optional = true},
        {"description", .optional = true},
        {.key = NULL},
    };
    const struct zeta_yaml_node *info = zeta_yaml_member(node, "info");
    struct zeta_layout *layout = zeta_reader_alloc(reader, sizeof(*layout));

    if (!layout || !zeta_reader_mapping(reader, node, "a layout", keys, layout))
        return;
    layout->file = reader->file;
    layout->line = node->line;
    if (layout->record_bytes % 4 != 0) {
        zeta_reader_error(reader, zeta_yaml_member(node, "record"),
                          "record must be a multiple of 4 bytes");
        return;
    }
    if (!read_fields(reader, layout, zeta_yaml_member(node, "header"),
                     zeta_yaml_member(node, "counters")) ||
        !check_overlap(reader, layout) ||
        !read_identity(reader, zeta_yaml_member(node, "identity"), layout) ||
        !read_events(reader, node, layout) ||
        (info && !zeta_read_metrics(reader, info, NULL, &layout->info, &layout->info_count)))
        return;
    for (uint32_t i = 0; i < layout->info_count; i++)
        layout->info[i].is_info = true;
    (void)zeta_reader_add(reader, &reader->catalog->layouts, layout);
}
