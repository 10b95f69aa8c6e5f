/* Reading layouts: header fields, counter banks, and the check that they fit the record. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/util/cleanup.h"

/** Largest number of fields of one layout. */
#define MAX_FIELDS 4096u

struct layout_reader {
    struct zeta_set_reader *reader;
    struct zeta_layout *layout;
    uint32_t capacity; /**< of layout->fields */
};

/** A run of counters: the first, and how far it is from one to the next. */
struct run {
    struct zeta_field first;
    uint32_t n, stride_bits, high_stride_bits, valid_step;
};

static struct zeta_field *add_field(struct layout_reader *state)
{
    struct zeta_layout *layout = state->layout;

    if (layout->field_count == state->capacity) {
        uint32_t capacity = state->capacity ? state->capacity * 2 : 64;
        struct zeta_field *fields =
            zeta_arena_array(state->reader->arena, capacity, sizeof(*fields));

        if (!fields) {
            (void)zeta_reader_no_memory(state->reader);
            return NULL;
        }
        if (layout->field_count > 0)
            memcpy(fields, layout->fields, layout->field_count * sizeof(*fields));
        layout->fields = fields;
        state->capacity = capacity;
    }
    return &layout->fields[layout->field_count++];
}

/** valid: {field: name, bit: n, step: n}. The field is a header field that is declared before. */
static bool read_valid(struct layout_reader *state, const struct zeta_yaml_node *mapping,
                       struct run *run)
{
    static const char *const keys[] = {"field", "bit", "step", NULL};
    struct zeta_set_reader *reader = state->reader;
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, "valid");
    uint32_t *field = &run->first.valid_field;
    const char *name;

    *field = ZETA_FIELD_NONE;
    if (!node)
        return true;
    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "valid"))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    if (!zeta_reader_text(reader, node, "field", NULL, &name) ||
        !zeta_reader_u32(reader, node, "bit", false, 0, 63, &run->first.valid_bit) ||
        !zeta_reader_u32(reader, node, "step", true, 0, 63, &run->valid_step))
        return false;
    *field = zeta_layout_find_field(state->layout, name);
    if (*field != ZETA_FIELD_NONE && !state->layout->fields[*field].is_float)
        return true;
    zeta_reader_error(reader, node,
                      "valid refers to '%s', which is no integer header field declared before",
                      name);
    return false;
}

/** at, bit, stride, stride_bits, width, in bits: where the first is, and how far the next. */
static bool read_place(struct layout_reader *state, const struct zeta_yaml_node *node,
                       uint32_t max_width, uint32_t *out_bit, uint32_t *out_width,
                       uint32_t *out_stride)
{
    struct zeta_set_reader *reader = state->reader;
    const uint32_t record = state->layout->record_bytes;
    uint32_t at = 0;
    uint32_t stride = 0;

    if (!zeta_reader_u32(reader, node, "at", false, 0, record - 1, &at) ||
        !zeta_reader_u32(reader, node, "bit", true, 0, 7, out_bit) ||
        !zeta_reader_u32(reader, node, "stride", true, 0, record, &stride) ||
        !zeta_reader_u32(reader, node, "stride_bits", true, 0, record * 8, out_stride) ||
        !zeta_reader_u32(reader, node, "width", false, 1, max_width, out_width))
        return false;
    *out_bit += at * 8;
    *out_stride += stride * 8;
    return true;
}

static bool read_high(struct layout_reader *state, const struct zeta_yaml_node *mapping,
                      struct run *run)
{
    static const char *const keys[] = {"at", "bit", "stride", "stride_bits", "width", NULL};
    struct zeta_set_reader *reader = state->reader;
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, "hi");
    struct zeta_field *first = &run->first;

    if (!node)
        return true;
    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "hi"))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    if (!read_place(state, node, 63, &first->high_bit, &first->high_width, &run->high_stride_bits))
        return false;
    if (first->low_width + first->high_width <= 64)
        return true;
    zeta_reader_error(reader, node, "both parts together have %u bits, more than 64",
                      first->low_width + first->high_width);
    return false;
}

/** How far from one record to the next a difference is taken; by default of all bits or none. */
static bool read_delta(struct layout_reader *state, const struct zeta_yaml_node *node,
                       uint32_t bits, uint32_t *out_bits)
{
    struct zeta_set_reader *reader = state->reader;
    const struct zeta_yaml_node *delta = zeta_yaml_member(node, "delta");
    bool flag;

    if (!delta)
        return true;
    if (state->layout->kind != ZETA_LAYOUT_DELTA) {
        zeta_reader_error(reader, delta, "delta belongs to layouts of kind delta");
        return false;
    }
    if (zeta_yaml_bool(delta, &flag)) {
        *out_bits = flag ? bits : 0;
        return true;
    }
    return zeta_reader_u32(reader, node, "delta", false, 1, bits, out_bits);
}

/** What header fields and runs have in common. */
static bool read_number(struct layout_reader *state, const struct zeta_yaml_node *node,
                        bool delta_by_default, struct run *run)
{
    static const struct zeta_word types[] = {{"uint", 0}, {"f64", 1}, {NULL, 0}};
    struct zeta_set_reader *reader = state->reader;
    struct zeta_field *first = &run->first;
    uint32_t is_float = 0;
    uint32_t bits;

    if (!read_place(state, node, 64, &first->low_bit, &first->low_width, &run->stride_bits) ||
        (zeta_yaml_member(node, "type") &&
         !zeta_reader_word(reader, node, "type", types, &is_float)) ||
        !read_high(state, node, run) || !read_valid(state, node, run))
        return false;
    bits = first->low_width + first->high_width;
    first->is_float = is_float != 0;
    first->part_of = ZETA_FIELD_NONE;
    first->delta_bits = delta_by_default ? bits : 0;
    if (first->is_float && (first->low_width != 64 || first->high_width != 0)) {
        zeta_reader_error(reader, node, "a field of type f64 has width 64 and no hi part");
        return false;
    }
    if (!read_delta(state, node, bits, &first->delta_bits) ||
        !zeta_reader_expr(reader, node, "rate", true, &first->rate))
        return false;
    if (first->rate && (first->delta_bits == 0 || first->is_float)) {
        zeta_reader_error(reader, zeta_yaml_member(node, "rate"),
                          "rate belongs to integers with a difference");
        return false;
    }
    return true;
}

/** Makes field i of a run; false if it leaves the record. */
static bool place_field(struct layout_reader *state, const struct zeta_yaml_node *node,
                        const struct run *run, const char *name, uint32_t i)
{
    const uint64_t record_bits = (uint64_t)state->layout->record_bytes * 8;
    const uint64_t low = run->first.low_bit + (uint64_t)run->stride_bits * i;
    const uint64_t high = run->first.high_bit + (uint64_t)run->high_stride_bits * i;
    const uint64_t valid_bit = run->first.valid_bit + (uint64_t)run->valid_step * i;
    struct zeta_field *field;

    if (low + run->first.low_width > record_bits ||
        (run->first.high_width && high + run->first.high_width > record_bits)) {
        zeta_reader_error(state->reader, node, "field %s[%u] lies outside the record of %u bytes",
                          name, i, state->layout->record_bytes);
        return false;
    }
    if (run->first.valid_field != ZETA_FIELD_NONE) {
        const struct zeta_field *valid = &state->layout->fields[run->first.valid_field];

        if (valid_bit >= valid->low_width + valid->high_width) {
            zeta_reader_error(state->reader, node, "field %s has no bit %llu", valid->name,
                              (unsigned long long)valid_bit);
            return false;
        }
    }
    field = add_field(state);
    if (!field)
        return false;
    *field = run->first;
    field->name = name;
    field->index = i;
    field->line = node->line;
    field->low_bit = (uint32_t)low;
    field->high_bit = (uint32_t)high;
    field->valid_bit = (uint32_t)valid_bit;
    return true;
}

/** A field that is a view of some bits of another: {in: name, bit: n, width: n}. */
static bool read_part(struct layout_reader *state, const struct zeta_yaml_node *node,
                      const char *name)
{
    struct zeta_set_reader *reader = state->reader;
    const char *parent_name;
    uint32_t parent;
    uint32_t bit = 0;
    uint32_t width = 0;
    struct zeta_field *field;
    struct zeta_field copy;

    if (!zeta_reader_text(reader, node, "in", NULL, &parent_name) ||
        !zeta_reader_u32(reader, node, "bit", false, 0, 63, &bit) ||
        !zeta_reader_u32(reader, node, "width", false, 1, 64, &width))
        return false;
    parent = zeta_layout_find_field(state->layout, parent_name);
    if (parent == ZETA_FIELD_NONE || state->layout->fields[parent].part_of != ZETA_FIELD_NONE) {
        zeta_reader_error(reader, node, "'%s' is no header field declared before", parent_name);
        return false;
    }
    copy = state->layout->fields[parent];
    if (bit + width > copy.low_width) {
        zeta_reader_error(reader, node, "field %s has only %u bits in its first part", parent_name,
                          copy.low_width);
        return false;
    }
    copy.name = name;
    copy.line = node->line;
    copy.low_bit += bit;
    copy.low_width = width;
    copy.high_bit = 0;
    copy.high_width = 0;
    copy.is_float = false;
    copy.delta_bits = 0;
    copy.rate = NULL;
    copy.part_of = parent;
    field = add_field(state);
    if (!field)
        return false;
    *field = copy;
    return true;
}

static bool read_header_field(struct layout_reader *state, const struct zeta_yaml_node *node)
{
    static const char *const keys[] = {"at",   "bit",   "width", "hi",          "type", "delta",
                                       "rate", "valid", "in",    "description", NULL};
    struct zeta_set_reader *reader = state->reader;
    struct run run = {.n = 1};
    const char *name;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, node->key) ||
        !zeta_reader_name(reader, node, node->key, false, &name))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    if (zeta_yaml_member(node, "in"))
        return read_part(state, node, name);
    return read_number(state, node, false, &run) && place_field(state, node, &run, name, 0);
}

static bool read_run(struct layout_reader *state, const struct zeta_yaml_node *node,
                     struct zeta_bank *bank)
{
    static const char *const keys[] = {"n",  "at",   "bit",   "stride", "stride_bits", "width",
                                       "hi", "type", "delta", "rate",   "valid",       NULL};
    struct zeta_set_reader *reader = state->reader;
    struct run run = {0};

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a run of counters"))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    if (!zeta_reader_u32(reader, node, "n", false, 1, MAX_FIELDS, &run.n) ||
        !read_number(state, node, state->layout->kind == ZETA_LAYOUT_DELTA, &run))
        return false;
    if (run.n > 1 && run.stride_bits == 0) {
        zeta_reader_error(reader, node, "a run of %u counters needs a stride", run.n);
        return false;
    }
    if (state->layout->field_count + run.n > MAX_FIELDS) {
        zeta_reader_error(reader, node, "more than %u fields in one layout", MAX_FIELDS);
        return false;
    }
    for (uint32_t i = 0; i < run.n; i++) {
        if (!place_field(state, node, &run, bank->name, i))
            return false;
        state->layout->fields[state->layout->field_count - 1].index = bank->count++;
    }
    return true;
}

static bool read_bank(struct layout_reader *state, const struct zeta_yaml_node *node,
                      struct zeta_bank *bank)
{
    bank->first_field = state->layout->field_count;
    if (!zeta_reader_kind(state->reader, node, ZETA_YAML_SEQUENCE, "a counter bank") ||
        !zeta_reader_name(state->reader, node, node->key, false, &bank->name))
        return false;
    for (const struct zeta_yaml_node *run = node->first_child; run; run = run->next) {
        if (!read_run(state, run, bank))
            return false;
    }
    return true;
}

static bool read_banks(struct layout_reader *state, const struct zeta_yaml_node *node)
{
    struct zeta_layout *layout = state->layout;
    bool good = true;

    if (!node)
        return true;
    if (!zeta_reader_kind(state->reader, node, ZETA_YAML_MAPPING, "counters"))
        return false;
    layout->banks =
        zeta_arena_array(state->reader->arena, node->child_count, sizeof(*layout->banks));
    if (!layout->banks)
        return zeta_reader_no_memory(state->reader);
    for (const struct zeta_yaml_node *bank = node->first_child; bank; bank = bank->next)
        good = read_bank(state, bank, &layout->banks[layout->bank_count++]) && good;
    return good;
}

static bool read_header(struct layout_reader *state, const struct zeta_yaml_node *node)
{
    bool good = true;

    if (node) {
        if (!zeta_reader_kind(state->reader, node, ZETA_YAML_MAPPING, "header"))
            return false;
        for (const struct zeta_yaml_node *field = node->first_child; field; field = field->next) {
            good = read_header_field(state, field) && good;
            state->layout->header_count = state->layout->field_count;
        }
    }
    return good;
}

/** Marks the bits of one part of a field as taken; reports the field that had them before. */
static bool claim_bits(struct layout_reader *state, uint16_t *owner, uint32_t field_index,
                       uint32_t bit, uint32_t width)
{
    const struct zeta_field *fields = state->layout->fields;
    const struct zeta_field *field = &fields[field_index];

    for (uint32_t i = bit; i < bit + width; i++) {
        const struct zeta_field *other;

        if (owner[i] == 0) {
            owner[i] = (uint16_t)(field_index + 1);
            continue;
        }
        other = &fields[owner[i] - 1];
        state->reader->errors++;
        zeta_diagnose(state->reader->sink, ZETA_SEVERITY_ERROR, state->reader->file, field->line, 1,
                      "field %s[%u] overlaps %s[%u] of line %u at byte %u", field->name,
                      field->index, other->name, other->index, other->line, i / 8);
        return false;
    }
    return true;
}

static bool check_overlap(struct layout_reader *state)
{
    const struct zeta_layout *layout = state->layout;
    ZETA_CLEANUP(zeta_freep)
    uint16_t *owner = calloc((size_t)layout->record_bytes * 8, sizeof(*owner));

    if (!owner)
        return zeta_reader_no_memory(state->reader);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct zeta_field *field = &layout->fields[i];

        if (field->part_of == ZETA_FIELD_NONE &&
            (!claim_bits(state, owner, i, field->low_bit, field->low_width) ||
             !claim_bits(state, owner, i, field->high_bit, field->high_width)))
            return false;
    }
    return true;
}

static bool read_identity(struct layout_reader *state, const struct zeta_yaml_node *node)
{
    struct zeta_layout *layout = state->layout;

    if (!node)
        return true;
    if (!zeta_reader_kind(state->reader, node, ZETA_YAML_SEQUENCE, "identity"))
        return false;
    layout->identity =
        zeta_arena_array(state->reader->arena, node->child_count, sizeof(*layout->identity));
    if (!layout->identity)
        return zeta_reader_no_memory(state->reader);
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        uint32_t field = item->kind == ZETA_YAML_SCALAR ? zeta_layout_find_field(layout, item->text)
                                                        : ZETA_FIELD_NONE;

        if (field == ZETA_FIELD_NONE || layout->fields[field].is_float) {
            zeta_reader_error(state->reader, item,
                              "identity names integer header fields of this layout");
            return false;
        }
        layout->identity[layout->identity_count++] = field;
    }
    return true;
}

static bool read_layout(struct layout_reader *state, const struct zeta_yaml_node *node)
{
    static const char *const keys[] = {"name",     "kind",        "record",   "header",
                                       "counters", "identity",    "baseline", "info",
                                       "events",   "description", NULL};
    static const struct zeta_word kinds[] = {{"delta", ZETA_LAYOUT_DELTA},
                                             {"sample", ZETA_LAYOUT_SAMPLE},
                                             {"event", ZETA_LAYOUT_EVENT},
                                             {NULL, 0}};
    struct zeta_set_reader *reader = state->reader;
    struct zeta_layout *layout = state->layout;
    const struct zeta_yaml_node *info = zeta_yaml_member(node, "info");
    const struct zeta_yaml_node *name = zeta_reader_need(reader, node, "name");
    uint32_t kind = 0;

    zeta_reader_check_keys(reader, node, keys);
    if (!name || !zeta_reader_kind(reader, name, ZETA_YAML_SCALAR, "name") ||
        !zeta_reader_name(reader, name, name->text, true, &layout->name) ||
        !zeta_reader_word(reader, node, "kind", kinds, &kind) ||
        !zeta_reader_u32(reader, node, "record", false, ZETA_RECORD_MIN_BYTES,
                         ZETA_RECORD_MAX_BYTES, &layout->record_bytes))
        return false;
    layout->kind = (enum zeta_layout_kind)kind;
    if (layout->record_bytes % 4 != 0) {
        zeta_reader_error(reader, zeta_yaml_member(node, "record"),
                          "record must be a multiple of 4 bytes");
        return false;
    }
    if (!read_header(state, zeta_yaml_member(node, "header")) ||
        !read_banks(state, zeta_yaml_member(node, "counters")) || !check_overlap(state) ||
        !read_identity(state, zeta_yaml_member(node, "identity")) ||
        !zeta_reader_expr(reader, node, "baseline", true, &layout->baseline) ||
        !zeta_read_layout_events(reader, node, layout))
        return false;
    if (info && !zeta_read_metrics(reader, info, NULL, &layout->info, &layout->info_count))
        return false;
    for (uint32_t i = 0; i < layout->info_count; i++)
        layout->info[i].is_info = true;
    return true;
}

void zeta_read_layout(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    struct layout_reader state = {.reader = reader};

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a layout"))
        return;
    state.layout = zeta_reader_alloc(reader, sizeof(*state.layout));
    if (!state.layout)
        return;
    state.layout->file = reader->file;
    state.layout->line = node->line;
    if (read_layout(&state, node))
        (void)zeta_reader_add(reader, &reader->catalog->layouts, state.layout);
}
