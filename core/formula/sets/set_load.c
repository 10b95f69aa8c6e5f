/* Reading set files: registers, units, metrics, programs, sets, symbols, the whole file. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/util/cleanup.h"

/* Registers as text ----------------------------------------------------------------------------
 */

/** Blocks in blocks, at most. */
#define MAX_BLOCK_DEPTH 256u

/** Registers as they are read from a text. */
struct register_text {
    struct zeta_set_reader *reader;
    const struct zeta_yaml_node *node;
    struct zeta_program_entry *entries; /**< the room of the reader */
    uint32_t count;
    uint32_t depth; /**< of blocks in it */
    uint32_t above; /**< line of a block that is read late: it has those of lines above */
    bool in_run;    /**< a value may follow, for address */
    uint32_t address, step;
};

/** True if there is room for more writes. */
static bool has_room(struct register_text *text, uint32_t more)
{
    if (more <= ZETA_PROGRAM_MAX_ENTRIES - text->count)
        return true;
    zeta_reader_error(text->reader, text->node, "more than %u register writes",
                      ZETA_PROGRAM_MAX_ENTRIES);
    return false;
}

static bool too_deep(const struct register_text *text)
{
    zeta_reader_error(text->reader, text->node, "blocks are more than %u deep in each other",
                      MAX_BLOCK_DEPTH);
    return false;
}

/** The value of a hexadecimal digit; 16 and more: it is none. */
static uint32_t digit_of(char c)
{
    const uint32_t letter = (uint32_t)((c | 0x20) - 'a');

    return c >= '0' && c <= '9' ? (uint32_t)(c - '0') : letter < 6 ? letter + 10 : 16;
}

/** Reads 1 to 8 hexadecimal digits; what follows them, NULL: they are none. */
static const char *read_hex(const char *text, uint32_t *out_value)
{
    const char *end = text;
    uint32_t value = 0;

    for (; digit_of(*end) < 16; end++)
        value = value << 4 | digit_of(*end);
    if (end == text || end - text > 8)
        return NULL;
    *out_value = value;
    return end;
}

static const char block_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";

/** The block of a token <NAME>; NULL: it is no such token, or no block above knows the name. */
static struct zeta_register_block *find_block(const struct register_text *text, const char *token,
                                              size_t length)
{
    struct zeta_register_block *block =
        token[0] == '<' && length > 2
            ? zeta_names_find(&text->reader->blocks, token + 1, length - 2)
            : NULL;

    return block && block->line < text->above ? block : NULL;
}

static bool add_block(struct register_text *text, const char *token, size_t length)
{
    const struct zeta_register_block *block = find_block(text, token, length);

    text->in_run = false;
    if (!block) {
        zeta_reader_error(text->reader, text->node,
                          "unknown block '%.*s'; a file declares blocks before it uses them",
                          length < 62 ? (int)length - 2 : 60, token + 1);
        return false;
    }
    if (block->depth >= MAX_BLOCK_DEPTH)
        return too_deep(text);
    if (!has_room(text, block->entry_count) ||
        !zeta_reader_may_make(text->reader, text->node, block->entry_count))
        return false;
    if (block->entry_count > 0)
        memcpy(&text->entries[text->count], block->entries,
               block->entry_count * sizeof(*block->entries));
    text->count += block->entry_count;
    if (text->depth <= block->depth)
        text->depth = block->depth + 1;
    return true;
}

static bool add_token(struct register_text *text, const char *token, size_t length)
{
    uint32_t value;
    const char *end = read_hex(token, &value);

    if (token[0] == '<' && length > 2 && token[length - 1] == '>')
        return add_block(text, token, length);
    if (end && end < token + length) {
        text->step = *end == '+' ? 4 : 0;
        end += *end == '+';
        text->address = value;
        text->in_run = true;
        end = *end == '=' ? read_hex(end + 1, &value) : NULL;
    } else {
        text->address += text->step;
    }
    if (end != token + length || !text->in_run) {
        zeta_reader_error(text->reader, text->node,
                          "'%.*s' is neither ADDRESS=VALUE, ADDRESS+=VALUE, VALUE behind one of "
                          "them, in hexadecimal digits without 0x, nor <BLOCK>",
                          length < 60 ? (int)length : 60, token);
        return false;
    }
    if (!has_room(text, 1))
        return false;
    text->entries[text->count++] = (struct zeta_program_entry){
        .address = text->address, .value = value, .line = text->node->line};
    return true;
}

/** Reads the blocks of a text that were not needed until now. */
static bool read_late_blocks(const struct register_text *text);

/** Reads a program, or a block. */
static bool read_register_text(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                               struct zeta_register_block *block,
                               struct zeta_program_entry **out_entries, uint32_t *out_count)
{
    struct register_text text = {
        .reader = reader, .node = node, .above = block && block->late ? block->line : UINT32_MAX};
    struct zeta_program_entry *entries;
    const char *token = node->text + strspn(node->text, " \t\n");

    if (!read_late_blocks(&text))
        return false;
    if (!reader->room)
        reader->room = malloc(ZETA_PROGRAM_MAX_ENTRIES * sizeof(*reader->room));
    if (!reader->room)
        return zeta_reader_no_memory(reader);
    text.entries = reader->room;
    while (*token) {
        const size_t length = strcspn(token, " \t\n");

        if (!add_token(&text, token, length))
            return false;
        token += length;
        token += strspn(token, " \t\n");
    }
    entries = zeta_arena_array(reader->arena, text.count, sizeof(*entries));
    if (!entries)
        return zeta_reader_no_memory(reader);
    memcpy(entries, text.entries, text.count * sizeof(*entries));
    if (block)
        block->depth = text.depth;
    *out_entries = entries;
    *out_count = text.count;
    return true;
}

static bool read_block_text(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                            struct zeta_register_block *block)
{
    return zeta_reader_kind(reader, node, ZETA_YAML_SCALAR, "a block of registers") &&
           read_register_text(reader, node, block, &block->entries, &block->entry_count);
}

static bool read_late_blocks(const struct register_text *text)
{
    struct zeta_set_reader *reader = text->reader;
    const struct zeta_set_reader before = *reader;
    const char *token = text->node->text;
    bool good = true;

    if (reader->depth > MAX_BLOCK_DEPTH)
        return too_deep(text);
    while (good && (token = strchr(token, '<')) != NULL) {
        const size_t length = strcspn(token, " \t\n");
        struct zeta_register_block *block = find_block(text, token, length);
        const struct zeta_yaml_node *node;
        struct zeta_yaml_document *document;

        token += length;
        if (!block || !block->late)
            continue;
        document = zeta_late_parse(reader, block->late, &node);
        zeta_late_own(reader);
        reader->depth++;
        good = document && read_block_text(reader, node, block);
        reader->depth--;
        reader->arena = before.arena;
        reader->made = before.made;
        if (good)
            block->late = NULL;
        zeta_yaml_free(document);
    }
    return good;
}

void zeta_read_block(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_register_block *block = zeta_reader_alloc(reader, sizeof(*block));
    const char *name = zeta_arena_copy(reader->arena, node->key, strlen(node->key));
    const struct zeta_register_block *other =
        zeta_names_find(&reader->blocks, node->key, strlen(node->key));

    if (other) {
        zeta_reader_error(reader, node, "block %s is already declared in line %u", node->key,
                          other->line);
        return;
    }
    if (strspn(node->key, block_letters) != strlen(node->key)) {
        zeta_reader_error(reader, node, "the name of a block has letters, digits, '_' and '-'");
        return;
    }
    if (!block || !name) {
        (void)zeta_reader_no_memory(reader);
        return;
    }
    block->line = node->key_line;
    block->late = reader->entry;
    if ((block->late || read_block_text(reader, node, block)) &&
        !zeta_names_add(reader->arena, &reader->blocks, name, block))
        (void)zeta_reader_no_memory(reader);
}

/* Units ----------------------------------------------------------------------------------------
 */

const struct zeta_address_range *zeta_unit_find_range(const struct zeta_unit *unit,
                                                      uint32_t address)
{
    for (uint32_t i = 0; i < unit->range_count; i++) {
        if (address >= unit->ranges[i].first && address <= unit->ranges[i].last)
            return &unit->ranges[i];
    }
    return NULL;
}

/** [first, last] or a single address. */
static bool read_range(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       struct zeta_address_range *range)
{
    const struct zeta_yaml_node *pair = node->kind == ZETA_YAML_SEQUENCE ? node->first_child : NULL;
    uint64_t first = 0;
    uint64_t last = 0;
    bool good;

    if (pair) {
        good = node->child_count == 2 && zeta_yaml_u64(pair, &first) &&
               zeta_yaml_u64(pair->next, &last);
    } else {
        good = zeta_yaml_u64(node, &first);
        last = first;
    }
    if (!good || first > last || last > UINT32_MAX) {
        zeta_reader_error(reader, node, "registers lists addresses and [first, last] pairs");
        return false;
    }
    range->first = (uint32_t)first;
    range->last = (uint32_t)last;
    return true;
}

/** Adds the ranges of a list. There is room for them. */
static bool read_list(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                      const char *register_class, struct zeta_unit *unit)
{
    if (!zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, "registers"))
        return false;
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        struct zeta_address_range *range = &unit->ranges[unit->range_count++];

        range->register_class = register_class;
        if (!read_range(reader, node, range))
            return false;
    }
    return true;
}

static int compare_first(const void *left, const void *right)
{
    const struct zeta_address_range *a = left;
    const struct zeta_address_range *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

/** A register has one class: else it would depend on the order of lists which. */
static bool check_classes(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          const struct zeta_unit *unit)
{
    ZETA_CLEANUP(zeta_freep)
    struct zeta_address_range *sorted = calloc((size_t)unit->range_count + 1, sizeof(*sorted));
    const struct zeta_address_range *widest = sorted; /* of those before, the one that ends last */

    if (!sorted)
        return zeta_reader_no_memory(reader);
    if (unit->range_count > 0)
        memcpy(sorted, unit->ranges, unit->range_count * sizeof(*sorted));
    qsort(sorted, unit->range_count, sizeof(*sorted), compare_first);
    for (uint32_t i = 1; i < unit->range_count; i++) {
        if (sorted[i].first <= widest->last &&
            strcmp(sorted[i].register_class, widest->register_class) != 0) {
            zeta_reader_error(reader, node, "register 0x%x is listed as %s and as %s",
                              sorted[i].first, widest->register_class, sorted[i].register_class);
            return false;
        }
        if (sorted[i].last > widest->last)
            widest = &sorted[i];
    }
    return true;
}

/** A list, or a mapping of classes to lists. */
static bool read_registers(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                           struct zeta_unit *unit)
{
    const bool has_classes = node->kind == ZETA_YAML_MAPPING;
    uint32_t count = has_classes ? 0 : node->child_count;

    for (const struct zeta_yaml_node *list = node->first_child; has_classes && list;
         list = list->next)
        count += list->child_count;
    unit->has_ranges = true;
    unit->ranges = zeta_arena_array(reader->arena, count, sizeof(*unit->ranges));
    if (!unit->ranges)
        return zeta_reader_no_memory(reader);
    if (!has_classes)
        return read_list(reader, node, NULL, unit);
    for (const struct zeta_yaml_node *list = node->first_child; list; list = list->next) {
        const char *name;

        if (!zeta_reader_name(reader, list, list->key, true, &name) ||
            !read_list(reader, list, name, unit))
            return false;
    }
    return check_classes(reader, node, unit);
}

static void read_unit(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const struct zeta_key keys[] = {
        {"description", ZETA_KEY_TEXT, .offset = offsetof(struct zeta_unit, description),
         .optional = true},
        {"markers", ZETA_KEY_U32, .offset = offsetof(struct zeta_unit, marker_bits),
         .optional = true, .min = 1, .max = 64},
        {"registers", .optional = true},
        {"slots", .optional = true},
        {.key = NULL},
    };
    const struct zeta_yaml_node *registers = zeta_yaml_member(node, "registers");
    const struct zeta_yaml_node *slots = zeta_yaml_member(node, "slots");
    struct zeta_unit *unit = zeta_reader_alloc(reader, sizeof(*unit));

    if (!unit)
        return;
    *unit = (struct zeta_unit){.description = "", .file = reader->file, .line = node->key_line};
    if (zeta_reader_name(reader, node, node->key, true, &unit->name) &&
        zeta_reader_mapping(reader, node, "a unit", keys, unit) &&
        (!registers || read_registers(reader, registers, unit)) &&
        (!slots || zeta_read_slots(reader, slots, unit)))
        (void)zeta_reader_add(reader, &reader->catalog->units, unit);
}

/* Sets -----------------------------------------------------------------------------------------
 */

const struct zeta_word zeta_metric_types[] = {
    {"duration", ZET_METRIC_TYPE_DURATION},
    {"event", ZET_METRIC_TYPE_EVENT},
    {"event_with_range", ZET_METRIC_TYPE_EVENT_WITH_RANGE},
    {"throughput", ZET_METRIC_TYPE_THROUGHPUT},
    {"timestamp", ZET_METRIC_TYPE_TIMESTAMP},
    {"flag", ZET_METRIC_TYPE_FLAG},
    {"ratio", ZET_METRIC_TYPE_RATIO},
    {"raw", ZET_METRIC_TYPE_RAW},
    {"ip", ZET_METRIC_TYPE_IP_EXP},
    {NULL, 0},
};

const struct zeta_word zeta_value_types[] = {
    {"u32", ZET_VALUE_TYPE_UINT32},  {"u64", ZET_VALUE_TYPE_UINT64},
    {"f32", ZET_VALUE_TYPE_FLOAT32}, {"f64", ZET_VALUE_TYPE_FLOAT64},
    {"bool8", ZET_VALUE_TYPE_BOOL8}, {NULL, 0},
};

static const struct zeta_word metric_classes[] = {
    {"exact", ZETA_CLASS_EXACT},
    {"simulated", ZETA_CLASS_SIMULATED},
    {"modelled", ZETA_CLASS_MODELLED},
    {NULL, 0},
};

const struct zeta_word zeta_sampling_words[] = {
    {"time", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED},
    {"event", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED},
    {"tracer", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED},
    {NULL, 0},
};

const char *zeta_metric_class_name(enum zeta_value_class metric_class)
{
    return metric_class < ZETA_METRIC_CLASS_COUNT ? metric_classes[metric_class].word : "unknown";
}

const char *zeta_word_of(const struct zeta_word *words, uint32_t value)
{
    while (words->word && words->value != value)
        words++;
    return words->word;
}

bool zeta_metric_words(const char *type, const char *value_type, const char *metric_class,
                       struct zeta_metric *metric)
{
    const char *const written[] = {type, value_type, metric_class};
    const struct zeta_word *words[] = {zeta_metric_types, zeta_value_types, metric_classes};

    for (int i = 0; i < 3; i++) {
        while (words[i]->word && strcmp(words[i]->word, written[i]) != 0)
            words[i]++;
        if (!words[i]->word)
            return false;
    }
    metric->type = (zet_metric_type_t)words[0]->value;
    metric->value_type = (zet_value_type_t)words[1]->value;
    metric->metric_class = (enum zeta_value_class)words[2]->value;
    return true;
}

#define AT(member) offsetof(struct zeta_metric, member)
const struct zeta_key zeta_metric_keys[] = {
    [ZETA_METRIC_NAME] = {"name", ZETA_KEY_NAME, .offset = AT(name)},
    [ZETA_METRIC_DESCRIPTION] = {"description", ZETA_KEY_TEXT, .offset = AT(description)},
    [ZETA_METRIC_COMPONENT] = {"component", ZETA_KEY_TEXT, .offset = AT(component),
                               .optional = true},
    [ZETA_METRIC_UNIT] = {"unit", ZETA_KEY_TEXT, .offset = AT(unit), .optional = true},
    [ZETA_METRIC_WHEN] = {"when", ZETA_KEY_EXPR, .offset = AT(available), .optional = true},
    [ZETA_METRIC_VALUE] = {"value", ZETA_KEY_EXPR, .offset = AT(value)},
    [ZETA_METRIC_MAX] = {"max", ZETA_KEY_EXPR, .offset = AT(maximum), .optional = true},
    {"type", ZETA_KEY_WORD, .offset = AT(type), .words = zeta_metric_types},
    {"value_type", ZETA_KEY_WORD, .offset = AT(value_type), .words = zeta_value_types},
    {"class", ZETA_KEY_WORD, .offset = AT(metric_class), .words = metric_classes},
    {"tier", ZETA_KEY_U32, .offset = AT(tier), .optional = true, .min = 1, .max = 4},
    {"events", .optional = true},
    {"index", .optional = true}, /* of templates; the last */
    {.key = NULL},
};
#undef AT

static bool read_metric_events(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                               struct zeta_metric *metric)
{
    metric->events = zeta_reader_array(reader, list, ZETA_YAML_SEQUENCE, "events", 1,
                                       ZETA_EVENT_MAX_COUNT, sizeof(*metric->events));
    if (!metric->events)
        return false;
    for (const struct zeta_yaml_node *item = list->first_child; item; item = item->next) {
        static const struct zeta_key key = {"an event type", .kind = ZETA_KEY_NAME};
        struct zeta_metric_event *event = &metric->events[metric->event_count++];

        event->line = item->line;
        event->column = item->column;
        if (!zeta_reader_value(reader, item, &key, &event->name))
            return false;
    }
    return true;
}

bool zeta_read_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      enum zeta_metric_part part, const char *name, struct zeta_metric *metric)
{
    enum { KEYS = sizeof(zeta_metric_keys) / sizeof(zeta_metric_keys[0]) };
    struct zeta_key keys[KEYS];
    const struct zeta_yaml_node *events;
    bool good;

    node = zeta_reader_with_kind(reader, node, "a metric");
    if (!node)
        return false;
    memcpy(keys, zeta_metric_keys, sizeof(keys));
    if (part == ZETA_METRIC_ONLY_TEXTS)
        keys[ZETA_METRIC_TEXTS].key = NULL;
    if (part == ZETA_METRIC_WHOLE)
        keys[KEYS - 2].key = NULL;
    for (uint32_t i = 0; part == ZETA_METRIC_WITHOUT_TEXTS && i < ZETA_METRIC_TEXTS; i++)
        keys[i] = (struct zeta_key){keys[i].key, .optional = true};
    if (name)
        keys[ZETA_METRIC_NAME].optional = true;
    if (part == ZETA_METRIC_ONLY_TEXTS || part == ZETA_METRIC_WHOLE)
        metric->component = metric->unit = "";
    if (part != ZETA_METRIC_ONLY_TEXTS) {
        metric->file = reader->file;
        metric->line = node->line;
        metric->tier = 1;
    }
    good = zeta_reader_mapping(reader, node, "a metric", keys, metric);
    if (name && !zeta_yaml_member(node, "name"))
        good = zeta_reader_name(reader, node, name, false, &metric->name) && good;
    events = part == ZETA_METRIC_ONLY_TEXTS ? NULL : zeta_yaml_member(node, "events");
    return (!events || read_metric_events(reader, events, metric)) && good;
}

bool zeta_read_metrics(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                       struct zeta_loaded_set *loaded, struct zeta_metric **out_metrics,
                       uint32_t *out_count)
{
    struct zeta_metric *metrics = zeta_reader_array(reader, list, ZETA_YAML_SEQUENCE, "metrics", 0,
                                                    ZETA_SET_MAX_METRICS, sizeof(*metrics));
    uint32_t count = 0;
    bool good = true;

    if (!metrics)
        return false;
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next, count++) {
        if (loaded && node->kind == ZETA_YAML_SCALAR)
            good = zeta_read_metric_use(reader, node, loaded, count) && good;
        else
            good = zeta_read_metric(reader, node, ZETA_METRIC_WHOLE, NULL, &metrics[count]) && good;
    }
    *out_metrics = metrics;
    *out_count = count;
    return good;
}

static bool read_register(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_program_entry *entry)
{
    uint64_t address;
    uint64_t value;

    if (node->kind != ZETA_YAML_SEQUENCE || node->child_count != 2 ||
        !zeta_yaml_u64(node->first_child, &address) ||
        !zeta_yaml_u64(node->first_child->next, &value) || address > UINT32_MAX ||
        value > UINT32_MAX) {
        zeta_reader_error(reader, node, "a register is written as [address, value], 32 bits each");
        return false;
    }
    entry->address = (uint32_t)address;
    entry->value = (uint32_t)value;
    return true;
}

static bool read_program_part(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                              struct zeta_program_part *part)
{
    static const struct zeta_key keys[] = {
        {"when", ZETA_KEY_EXPR, .offset = offsetof(struct zeta_program_part, condition),
         .optional = true},
        {"select", .optional = true},
        {"registers", .optional = true},
        {"description", .optional = true},
        {.key = NULL},
    };
    static const struct zeta_key selection = {"a selection", ZETA_KEY_TEXT, .min = 1};
    const struct zeta_yaml_node *select = zeta_yaml_member(node, "select");
    const struct zeta_yaml_node *registers = zeta_yaml_member(node, "registers");
    const struct zeta_yaml_node *list = select ? select : registers;

    if (!zeta_reader_mapping(reader, node, "a part of a program", keys, part))
        return false;
    if (!select == !registers) {
        zeta_reader_error(reader, node, "a part of a program has either select or registers");
        return false;
    }
    if (registers && registers->kind == ZETA_YAML_SCALAR && reader->format > 1)
        return read_register_text(reader, registers, NULL, &part->entries, &part->entry_count);
    part->entries = zeta_reader_array(reader, list, ZETA_YAML_SEQUENCE, list->key, 0,
                                      ZETA_PROGRAM_MAX_ENTRIES, sizeof(*part->entries));
    if (!part->entries)
        return false;
    for (const struct zeta_yaml_node *item = list->first_child; item; item = item->next) {
        struct zeta_program_entry *entry = &part->entries[part->entry_count++];

        entry->line = item->line;
        if (!(select ? zeta_reader_value(reader, item, &selection, &entry->select)
                     : read_register(reader, item, entry)))
            return false;
    }
    return true;
}

static bool read_program(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                         struct zeta_program_part **out_parts, uint32_t *out_count)
{
    struct zeta_program_part *parts;
    bool good = true;

    if (node->kind == ZETA_YAML_SCALAR && reader->format > 1) {
        parts = zeta_reader_alloc(reader, sizeof(*parts));
        *out_parts = parts;
        *out_count = 1;
        return parts &&
               read_register_text(reader, node, NULL, &parts->entries, &parts->entry_count);
    }
    parts = zeta_reader_array(reader, node, ZETA_YAML_SEQUENCE, "program", 0,
                              ZETA_PROGRAM_MAX_PARTS, sizeof(*parts));
    if (!parts)
        return false;
    *out_parts = parts;
    *out_count = node->child_count;
    for (const struct zeta_yaml_node *part = node->first_child; part; part = part->next)
        good = read_program_part(reader, part, parts++) && good;
    return good;
}

static bool read_uuid(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *text, const char **out_uuid)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    bool good = text && strlen(text) == sizeof(form) - 1;

    for (size_t i = 0; good && form[i]; i++)
        good = form[i] == '-' ? text[i] == '-'
                              : (unsigned)(text[i] - '0') < 10 || (unsigned)(text[i] - 'a') < 6;
    if (!good) {
        zeta_reader_error(reader, node, "uuid has 32 digits, 0 to 9 and a to f, in the form %s",
                          form);
        return false;
    }
    *out_uuid = zeta_arena_copy(reader->arena, text, sizeof(form) - 1);
    return *out_uuid || zeta_reader_no_memory(reader);
}

void zeta_read_uuid_program(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    struct zeta_uuid_program *program = zeta_reader_alloc(reader, sizeof(*program));

    if (!program || !read_uuid(reader, node, node->key, &program->uuid))
        return;
    program->file = reader->file;
    program->line = node->key_line;
    program->late = reader->entry;
    if (program->late || read_program(reader, node, &program->parts, &program->part_count))
        (void)zeta_reader_add(reader, &reader->catalog->programs, program);
}

ze_result_t zeta_uuid_program_parts(const struct zeta_linker *linker,
                                    const struct zeta_uuid_program *program,
                                    struct zeta_program_part **out_parts, uint32_t *out_count)
{
    struct zeta_set_reader reader;
    struct zeta_yaml_document *document;
    const struct zeta_yaml_node *node;

    *out_parts = program->parts;
    *out_count = program->part_count;
    if (!program->late)
        return ZE_RESULT_SUCCESS;
    reader = zeta_late_reader(linker, program->late->file);
    document = zeta_late_parse(&reader, program->late, &node);
    zeta_late_lock(linker->catalog); /* of blocks */
    if (document)
        (void)read_program(&reader, node, out_parts, out_count);
    zeta_late_unlock(linker->catalog);
    zeta_yaml_free(document);
    return zeta_reader_finish(&reader);
}

bool zeta_read_set(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
#define AT(member) offsetof(struct zeta_loaded_set, member)
    static const struct zeta_key keys[] = {
        {"name", ZETA_KEY_DASHED_NAME, .offset = AT(set.name)},
        {"description", ZETA_KEY_TEXT, .offset = AT(set.description)},
        {"domain", ZETA_KEY_U32, .offset = AT(set.domain), .max = 1023},
        {"unit", ZETA_KEY_REFERENCE, .offset = AT(unit)},
        {"layout", ZETA_KEY_REFERENCE, .offset = AT(layout)},
        {"sampling", ZETA_KEY_FLAGS, .offset = AT(set.sampling), .words = zeta_sampling_words},
        {"when", ZETA_KEY_EXPR, .offset = AT(set.available), .optional = true},
        {"uuid", .optional = true},
        {"also", .optional = true},
        {"program", .optional = true},
        {.key = "metrics"},
        {.key = NULL},
    };
#undef AT
    struct zeta_loaded_set *loaded = zeta_reader_alloc(reader, sizeof(*loaded));
    const struct zeta_yaml_node *uuid = zeta_yaml_member(node, "uuid");
    const struct zeta_yaml_node *program = zeta_yaml_member(node, "program");
    const struct zeta_yaml_node *metrics = zeta_yaml_member(node, "metrics");
    struct zeta_set *set;
    bool good;

    if (!loaded)
        return false;
    set = &loaded->set;
    set->file = reader->file;
    set->line = node->line;
    loaded->wants_program = uuid && !program && reader->format > 1;
    loaded->deferred = reader->catalog->defers;
    good = zeta_reader_mapping(reader, node, "a set", keys, loaded);
    good = (!uuid || read_uuid(reader, uuid, uuid->text, &set->uuid)) && good;
    good = (!program || read_program(reader, program, &set->program, &set->program_count)) && good;
    if (reader->late)
        good = metrics && zeta_late_keep_list(reader, metrics, loaded) && good;
    else
        good = metrics &&
               zeta_read_metrics(reader, metrics, loaded, &set->metrics, &set->metric_count) &&
               good;
    return good && zeta_read_set_also(reader, zeta_yaml_member(node, "also"), loaded);
}

/** Name: {from: provider, type: u64|f64} or Name: {value: number}; description is optional. */
static void read_symbol(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const struct zeta_word sources[] = {{"provider", ZETA_SYMBOL_PROVIDER}, {NULL, 0}};
    static const struct zeta_word types[] = {
        {"u64", ZETA_EXPR_U64}, {"f64", ZETA_EXPR_F64}, {NULL, 0}};
    const struct zeta_yaml_node *value = zeta_yaml_member(node, "value");
    const struct zeta_key keys[] = {
        {"description", ZETA_KEY_TEXT, .offset = offsetof(struct zeta_symbol, description),
         .optional = true},
        {"value", .optional = true},
        {"from", value ? ZETA_KEY_OTHER : ZETA_KEY_WORD,
         .offset = offsetof(struct zeta_symbol, source), .optional = value != NULL,
         .words = sources},
        {"type", value ? ZETA_KEY_OTHER : ZETA_KEY_WORD,
         .offset = offsetof(struct zeta_symbol, value.type), .optional = value != NULL,
         .words = types},
        {.key = NULL},
    };
    struct zeta_symbol *symbol = zeta_reader_alloc(reader, sizeof(*symbol));

    if (!symbol)
        return;
    *symbol = (struct zeta_symbol){.description = "", .file = reader->file, .line = node->key_line};
    if (!zeta_reader_name(reader, node, node->key, false, &symbol->name) ||
        !zeta_reader_mapping(reader, node, "a symbol", keys, symbol))
        return;
    if (value) {
        symbol->source = ZETA_SYMBOL_CONSTANT;
        if (!zeta_yaml_u64(value, &symbol->value.u.u64)) {
            symbol->value.type = ZETA_EXPR_F64;
            if (!zeta_yaml_double(value, &symbol->value.u.f64)) {
                zeta_reader_error(reader, value, "value must be a number");
                return;
            }
        }
    }
    (void)zeta_reader_add(reader, &reader->catalog->symbols, symbol);
}

/** Calls read for each member of an optional part of the file. */
static void read_each(struct zeta_set_reader *reader, const struct zeta_yaml_node *root,
                      const char *key, enum zeta_yaml_kind kind,
                      void (*read)(struct zeta_set_reader *, const struct zeta_yaml_node *))
{
    const struct zeta_yaml_node *part = zeta_yaml_member(root, key);

    if (!part || zeta_yaml_is_null(part) || !zeta_reader_kind(reader, part, kind, key))
        return;
    for (const struct zeta_yaml_node *node = part->first_child; node && !reader->out_of_memory;
         node = node->next) {
        read(reader, node);
        zeta_arena_rewind(&reader->scratch);
    }
}

static void read_root(struct zeta_set_reader *reader, const struct zeta_yaml_node *root)
{
    /* What only newer formats have comes first. */
    static const struct zeta_key keys[] = {
        {"kinds", .optional = true},      {"blocks", .optional = true},
        {"programs", .optional = true},   {"format", .optional = true},
        {"symbols", .optional = true},    {"units", .optional = true},
        {"layouts", .optional = true},    {"metrics", .optional = true},
        {"parameters", .optional = true}, {"programmables", .optional = true},
        {"sets", .optional = true},       {.key = NULL}};
    uint64_t format = 0;

    if (!zeta_reader_kind(reader, root, ZETA_YAML_MAPPING, "a set file"))
        return;
    if (!zeta_yaml_u64(zeta_yaml_member(root, "format"), &format) || format == 0) {
        zeta_reader_error(reader, root, "a set file needs 'format: %u'", ZETA_SET_FORMAT);
        return;
    }
    if (format > ZETA_SET_FORMAT) {
        zeta_reader_error(reader, zeta_yaml_member(root, "format"),
                          "format %llu is newer than %u, the newest that this version reads",
                          (unsigned long long)format, ZETA_SET_FORMAT);
        return;
    }
    reader->format = (uint32_t)format;
    (void)zeta_reader_mapping(reader, root, "a set file", format > 1 ? keys : keys + 3, NULL);
    if (format > 1) {
        zeta_read_kinds(reader, zeta_yaml_member(root, "kinds"));
        read_each(reader, root, "blocks", ZETA_YAML_MAPPING, zeta_read_block);
        read_each(reader, root, "programs", ZETA_YAML_MAPPING, zeta_read_uuid_program);
    }
    read_each(reader, root, "symbols", ZETA_YAML_MAPPING, read_symbol);
    read_each(reader, root, "units", ZETA_YAML_MAPPING, read_unit);
    read_each(reader, root, "layouts", ZETA_YAML_SEQUENCE, zeta_read_layout);
    read_each(reader, root, "metrics", ZETA_YAML_MAPPING, zeta_read_shared_metric);
    read_each(reader, root, "parameters", ZETA_YAML_MAPPING, zeta_read_parameter);
    read_each(reader, root, "programmables", ZETA_YAML_SEQUENCE, zeta_read_programmable);
    read_each(reader, root, "sets", ZETA_YAML_SEQUENCE, zeta_read_sets);
}

/** late has what is not in the document, and read later; NULL: all is. */
static ze_result_t read_document(struct zeta_catalog *catalog,
                                 const struct zeta_yaml_document *document,
                                 struct zeta_late_file *late, struct zeta_diagnostics *sink)
{
    const char *name = zeta_yaml_name(document);
    const struct zeta_yaml_node *root = zeta_yaml_root(document);
    struct zeta_set_reader reader = {.catalog = catalog,
                                     .arena = &catalog->arena,
                                     .made = &catalog->made,
                                     .sink = sink,
                                     .late = late};

    reader.file = zeta_arena_copy(&catalog->arena, name, strlen(name));
    if (!reader.file)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (!root) {
        zeta_diagnose(sink, ZETA_SEVERITY_ERROR, name, 0, 0, "the file is empty");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (late)
        zeta_late_add(&reader, late);
    read_root(&reader, root);
    if (late)
        zeta_late_ready(&reader, late);
    return zeta_reader_finish(&reader);
}

/** Adds a text, or if that is NULL the file of that name. */
static ze_result_t add(struct zeta_catalog *catalog, const char *text, size_t length,
                       const char *name, struct zeta_diagnostics *sink)
{
    ZETA_CLEANUP(zeta_freep) char *own = NULL;
    struct zeta_yaml_document *document;
    const struct zeta_yaml_document *rest;
    struct zeta_late_file *late;
    struct zeta_yaml_error error;
    ze_result_t result;

    if (!text)
        own = zeta_yaml_read_text(name, NULL, &length, &error);
    else if (catalog->defers)
        own = malloc(length + 1);
    if (!text && !own)
        return zeta_diagnose_yaml(sink, name, &error);
    if (catalog->defers) {
        if (!own)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (text)
            memcpy(own, text, length);
        result = zeta_late_open(catalog->late, ZETA_TAKE(own), length, name, sink, &late, &rest);
        return result == ZE_RESULT_SUCCESS ? read_document(catalog, rest, late, sink) : result;
    }
    document = zeta_yaml_parse(text ? text : own, length, name, NULL, &error);
    result = document ? read_document(catalog, document, NULL, sink)
                      : zeta_diagnose_yaml(sink, name, &error);
    zeta_yaml_free(document);
    return result;
}

ze_result_t zeta_catalog_add_text(struct zeta_catalog *catalog, const char *text, size_t length,
                                  const char *name, struct zeta_diagnostics *sink)
{
    return add(catalog, text, length, name, sink);
}

ze_result_t zeta_catalog_add_file(struct zeta_catalog *catalog, const char *path,
                                  struct zeta_diagnostics *sink)
{
    return add(catalog, NULL, 0, path, sink);
}

ze_result_t zeta_catalog_add_whole(struct zeta_catalog *catalog, const char *name, const char *text,
                                   size_t length, struct zeta_diagnostics *sink)
{
    struct zeta_catalog before = *catalog;
    const ze_result_t result = add(catalog, text, length, name, sink);

    if (result != ZE_RESULT_SUCCESS) {
        /* What the parts were is still there, in the arena. */
        before.arena = catalog->arena;
        *catalog = before;
    }
    return result;
}
