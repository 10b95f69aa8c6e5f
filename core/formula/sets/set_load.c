/* Reading set files: symbols, sets, programs, metrics. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

static const struct zeta_word metric_types[] = {
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

static const struct zeta_word value_types[] = {
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

static const struct zeta_word sampling_types[] = {
    {"time", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED},
    {"event", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED},
    {"tracer", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED},
    {NULL, 0},
};

const char *zeta_metric_class_name(enum zeta_value_class metric_class)
{
    return metric_class < ZETA_METRIC_CLASS_COUNT ? metric_classes[metric_class].word : "unknown";
}

static const char *find_word(const struct zeta_word *words, uint32_t value)
{
    while (words->word && words->value != value)
        words++;
    return words->word;
}

const char *zeta_set_sampling_word(zet_metric_group_sampling_type_flag_t sampling)
{
    return find_word(sampling_types, (uint32_t)sampling);
}

const char *zeta_set_metric_type_word(zet_metric_type_t type)
{
    return find_word(metric_types, (uint32_t)type);
}

const char *zeta_set_value_type_word(zet_value_type_t type)
{
    return find_word(value_types, (uint32_t)type);
}

static bool find_value(const struct zeta_word *words, const char *word, uint32_t *out_value)
{
    while (words->word && strcmp(words->word, word) != 0)
        words++;
    *out_value = words->value;
    return words->word != NULL;
}

bool zeta_metric_words(const char *type, const char *value_type, zet_metric_type_t *out_type,
                       zet_value_type_t *out_value_type)
{
    uint32_t found_type = 0;
    uint32_t found_value_type = 0;

    if (!find_value(metric_types, type, &found_type) ||
        !find_value(value_types, value_type, &found_value_type))
        return false;
    *out_type = (zet_metric_type_t)found_type;
    *out_value_type = (zet_value_type_t)found_value_type;
    return true;
}

bool zeta_metric_class_word(const char *word, enum zeta_value_class *out_class)
{
    uint32_t found = 0;

    if (!find_value(metric_classes, word, &found))
        return false;
    *out_class = (enum zeta_value_class)found;
    return true;
}

const char *const zeta_metric_text_keys[ZETA_METRIC_TEXTS] = {
    "name", "description", "component", "unit", "when", "value", "max"};

bool zeta_read_metric_texts(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                            const char *name, struct zeta_metric *metric)
{
    const struct zeta_yaml_node *written =
        name ? zeta_yaml_member(node, "name") : zeta_reader_need(reader, node, "name");
    bool good;

    if (written)
        good = zeta_reader_kind(reader, written, ZETA_YAML_SCALAR, "name") &&
               zeta_reader_name(reader, written, written->text, false, &metric->name);
    else
        good = name && zeta_reader_name(reader, node, name, false, &metric->name);
    good = zeta_reader_text(reader, node, "description", NULL, &metric->description) && good;
    good = zeta_reader_text(reader, node, "component", "", &metric->component) && good;
    good = zeta_reader_text(reader, node, "unit", "", &metric->unit) && good;
    good = zeta_reader_expr(reader, node, "when", true, &metric->available) && good;
    good = zeta_reader_expr(reader, node, "value", false, &metric->value) && good;
    return zeta_reader_expr(reader, node, "max", true, &metric->maximum) && good;
}

bool zeta_read_metric_words(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                            struct zeta_metric *metric)
{
    uint32_t type = 0;
    uint32_t value_type = 0;
    uint32_t metric_class = 0;
    bool good;

    metric->file = reader->file;
    metric->line = node->line;
    metric->tier = 1;
    good = zeta_reader_word(reader, node, "type", metric_types, &type);
    good = zeta_reader_word(reader, node, "value_type", value_types, &value_type) && good;
    good = zeta_reader_word(reader, node, "class", metric_classes, &metric_class) && good;
    good = zeta_reader_u32(reader, node, "tier", true, 1, 4, &metric->tier) && good;
    metric->type = (zet_metric_type_t)type;
    metric->value_type = (zet_value_type_t)value_type;
    metric->metric_class = (enum zeta_value_class)metric_class;
    return zeta_read_metric_events(reader, node, metric) && good;
}

bool zeta_read_metric(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *name, struct zeta_metric *metric)
{
    static const char *const keys[] = {"name", "description", "component", "type", "value_type",
                                       "unit", "tier",        "class",     "when", "value",
                                       "max",  "events",      NULL};
    bool good;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a metric"))
        return false;
    node = zeta_reader_with_kind(reader, node);
    if (!node)
        return false;
    zeta_reader_check_keys(reader, node, keys);
    good = zeta_read_metric_texts(reader, node, name, metric);
    return zeta_read_metric_words(reader, node, metric) && good;
}

bool zeta_read_metrics(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                       struct zeta_loaded_set *loaded, struct zeta_metric **out_metrics,
                       uint32_t *out_count)
{
    struct zeta_metric *metrics;
    uint32_t count = 0;
    bool good = true;

    if (!zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, "a list of metrics"))
        return false;
    if (list->child_count > ZETA_SET_MAX_METRICS) {
        zeta_reader_error(reader, list, "more than %u metrics in one set", ZETA_SET_MAX_METRICS);
        return false;
    }
    metrics = zeta_arena_array(reader->arena, list->child_count, sizeof(*metrics));
    if (!metrics)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        if (loaded && node->kind == ZETA_YAML_SCALAR)
            good = zeta_read_metric_use(reader, node, loaded, count) && good;
        else
            good = zeta_read_metric(reader, node, NULL, &metrics[count]) && good;
        count++;
    }
    *out_metrics = metrics;
    *out_count = count;
    return good;
}

static bool read_select(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        struct zeta_program_entry *entry)
{
    if (!zeta_reader_kind(reader, node, ZETA_YAML_SCALAR, "a selection"))
        return false;
    if (node->length == 0 || node->length >= ZETA_SET_TEXT_BYTES) {
        zeta_reader_error(reader, node, "a selection has 1 to %u characters",
                          ZETA_SET_TEXT_BYTES - 1);
        return false;
    }
    entry->select = zeta_arena_copy(reader->arena, node->text, node->length);
    return entry->select || zeta_reader_no_memory(reader);
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
    static const char *const keys[] = {"select", "registers", "when", "description", NULL};
    const struct zeta_yaml_node *select;
    const struct zeta_yaml_node *registers;
    const struct zeta_yaml_node *list;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a part of a program"))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    select = zeta_yaml_member(node, "select");
    registers = zeta_yaml_member(node, "registers");
    if (!select == !registers) {
        zeta_reader_error(reader, node, "a part of a program has either select or registers");
        return false;
    }
    list = select ? select : registers;
    if (!zeta_reader_expr(reader, node, "when", true, &part->condition))
        return false;
    if (registers && registers->kind == ZETA_YAML_SCALAR && reader->format > 1)
        return zeta_read_registers(reader, registers, &part->entries, &part->entry_count);
    if (!zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, list->key))
        return false;
    if (list->child_count > ZETA_PROGRAM_MAX_ENTRIES) {
        zeta_reader_error(reader, list, "more than %u entries", ZETA_PROGRAM_MAX_ENTRIES);
        return false;
    }
    part->entries = zeta_arena_array(reader->arena, list->child_count, sizeof(*part->entries));
    if (!part->entries)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *item = list->first_child; item; item = item->next) {
        struct zeta_program_entry *entry = &part->entries[part->entry_count++];

        entry->line = item->line;
        if (!(select ? read_select : read_register)(reader, item, entry))
            return false;
    }
    return true;
}

bool zeta_read_program(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       struct zeta_program_part **out_parts, uint32_t *out_count)
{
    const bool is_text = node->kind == ZETA_YAML_SCALAR && reader->format > 1;
    const uint32_t count = is_text ? 1 : node->child_count;
    struct zeta_program_part *parts;
    bool good = true;

    if (!is_text && !zeta_reader_kind(reader, node, ZETA_YAML_SEQUENCE, "program"))
        return false;
    if (count > ZETA_PROGRAM_MAX_PARTS) {
        zeta_reader_error(reader, node, "more than %u parts", ZETA_PROGRAM_MAX_PARTS);
        return false;
    }
    parts = zeta_arena_array(reader->arena, count, sizeof(*parts));
    if (!parts)
        return zeta_reader_no_memory(reader);
    *out_parts = parts;
    *out_count = count;
    if (is_text)
        return zeta_read_registers(reader, node, &parts->entries, &parts->entry_count);
    for (const struct zeta_yaml_node *part = node->first_child; part; part = part->next)
        good = read_program_part(reader, part, parts++) && good;
    return good;
}

bool zeta_reader_sampling(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                          zet_metric_group_sampling_type_flags_t *out_sampling)
{
    const struct zeta_yaml_node *node = zeta_reader_need(reader, mapping, "sampling");
    uint32_t flag;

    if (!node || !zeta_reader_kind(reader, node, ZETA_YAML_SEQUENCE, "sampling"))
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (!zeta_reader_find_word(reader, item, sampling_types, &flag))
            return false;
        *out_sampling |= flag;
    }
    if (*out_sampling == 0)
        zeta_reader_error(reader, node, "sampling needs at least one type");
    return *out_sampling != 0;
}

bool zeta_reader_reference(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                           const char *key, const char **out_name, uint32_t *out_line,
                           uint32_t *out_column)
{
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, key);

    if (!zeta_reader_text(reader, mapping, key, NULL, out_name))
        return false;
    *out_line = node->line;
    *out_column = node->column;
    return true;
}

bool zeta_reader_uuid(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *text, const char **out_uuid)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    static const char digits[] = "0123456789abcdef";
    bool good = text && strlen(text) == sizeof(form) - 1;

    for (size_t i = 0; good && form[i]; i++)
        good = form[i] == '-' ? text[i] == '-' : strchr(digits, text[i]) != NULL;
    if (!good) {
        zeta_reader_error(reader, node, "uuid has 32 digits, 0 to 9 and a to f, in the form %s",
                          form);
        return false;
    }
    *out_uuid = zeta_arena_copy(reader->arena, text, sizeof(form) - 1);
    return *out_uuid || zeta_reader_no_memory(reader);
}

static bool read_set(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const char *const keys[] = {"name", "uuid",    "description", "domain",
                                       "unit", "also",    "layout",      "sampling",
                                       "when", "program", "metrics",     NULL};
    struct zeta_loaded_set *loaded = zeta_arena_alloc(reader->arena, sizeof(*loaded));
    const struct zeta_yaml_node *name = zeta_reader_need(reader, node, "name");
    const struct zeta_yaml_node *uuid = zeta_yaml_member(node, "uuid");
    const struct zeta_yaml_node *program = zeta_yaml_member(node, "program");
    const struct zeta_yaml_node *metrics = zeta_reader_need(reader, node, "metrics");
    struct zeta_set *set;
    bool good;

    if (!loaded)
        return zeta_reader_no_memory(reader);
    set = &loaded->set;
    zeta_reader_check_keys(reader, node, keys);
    set->file = reader->file;
    set->line = node->line;
    loaded->wants_program = uuid && !program && reader->format > 1;
    loaded->deferred = reader->catalog->defers;
    good = name && zeta_reader_kind(reader, name, ZETA_YAML_SCALAR, "name") &&
           zeta_reader_name(reader, name, name->text, true, &set->name);
    good = zeta_reader_text(reader, node, "description", NULL, &set->description) && good;
    good = (!uuid || zeta_reader_uuid(reader, uuid, uuid->text, &set->uuid)) && good;
    good = zeta_reader_u32(reader, node, "domain", false, 0, 1023, &set->domain) && good;
    good = zeta_reader_reference(reader, node, "unit", &loaded->unit_name, &loaded->unit_line,
                                 &loaded->unit_column) &&
           good;
    good = zeta_reader_reference(reader, node, "layout", &loaded->layout_name, &loaded->layout_line,
                                 &loaded->layout_column) &&
           good;
    good = zeta_reader_sampling(reader, node, &set->sampling) && good;
    good = zeta_reader_expr(reader, node, "when", true, &set->available) && good;
    good = (!program || zeta_read_program(reader, program, &set->program, &set->program_count)) &&
           good;
    good = metrics &&
           zeta_read_metrics(reader, metrics, loaded, &set->metrics, &set->metric_count) && good;
    return good && zeta_read_set_also(reader, zeta_yaml_member(node, "also"), loaded);
}

static void read_sets(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    if (reader->out_of_memory || !zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a set"))
        return;
    node = zeta_reader_with_kind(reader, node);
    if (node)
        zeta_read_each_set(reader, node, read_set);
    zeta_arena_rewind(&reader->scratch);
}

/** Name: {from: provider, type: u64|f64} or Name: {value: number}; description is optional. */
static void read_symbol(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const char *const keys[] = {"from", "type", "value", "description", NULL};
    static const struct zeta_word sources[] = {{"provider", ZETA_SYMBOL_PROVIDER}, {NULL, 0}};
    static const struct zeta_word types[] = {
        {"u64", ZETA_EXPR_U64}, {"f64", ZETA_EXPR_F64}, {NULL, 0}};
    struct zeta_catalog *catalog = reader->catalog;
    const struct zeta_yaml_node *value;
    struct zeta_symbol *symbol;
    uint32_t word = 0;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a symbol"))
        return;
    zeta_reader_check_keys(reader, node, keys);
    symbol = zeta_arena_alloc(&catalog->arena, sizeof(*symbol));
    if (!symbol) {
        (void)zeta_reader_no_memory(reader);
        return;
    }
    symbol->file = reader->file;
    symbol->line = node->key_line;
    if (!zeta_reader_name(reader, node, node->key, false, &symbol->name) ||
        !zeta_reader_text(reader, node, "description", "", &symbol->description))
        return;
    value = zeta_yaml_member(node, "value");
    if (value) {
        symbol->source = ZETA_SYMBOL_CONSTANT;
        if (!zeta_yaml_u64(value, &symbol->value.u.u64)) {
            symbol->value.type = ZETA_EXPR_F64;
            if (!zeta_yaml_double(value, &symbol->value.u.f64)) {
                zeta_reader_error(reader, value, "value must be a number");
                return;
            }
        }
    } else {
        symbol->source = ZETA_SYMBOL_PROVIDER;
        if (!zeta_reader_word(reader, node, "from", sources, &word) ||
            !zeta_reader_word(reader, node, "type", types, &word))
            return;
        symbol->value.type = (enum zeta_expr_type)word;
    }
    if (!zeta_vector_push(&catalog->arena, &catalog->symbols, symbol))
        (void)zeta_reader_no_memory(reader);
}

/** Calls read for each member of an optional part of the file. */
static void read_each(struct zeta_set_reader *reader, const struct zeta_yaml_node *root,
                      const char *key, enum zeta_yaml_kind kind,
                      void (*read)(struct zeta_set_reader *, const struct zeta_yaml_node *))
{
    const struct zeta_yaml_node *part = zeta_yaml_member(root, key);

    if (!part || zeta_yaml_is_null(part) || !zeta_reader_kind(reader, part, kind, key))
        return;
    for (const struct zeta_yaml_node *node = part->first_child; node; node = node->next)
        read(reader, node);
}

static void read_root(struct zeta_set_reader *reader, const struct zeta_yaml_node *root)
{
    /* What only newer formats have comes first. */
    static const char *const keys[] = {"kinds",      "blocks",        "programs", "format",
                                       "symbols",    "units",         "layouts",  "metrics",
                                       "parameters", "programmables", "sets",     NULL};
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
    zeta_reader_check_keys(reader, root, format > 1 ? keys : keys + 3);
    if (format > 1) {
        zeta_read_kinds(reader, zeta_yaml_member(root, "kinds"));
        read_each(reader, root, "blocks", ZETA_YAML_MAPPING, zeta_read_block);
        read_each(reader, root, "programs", ZETA_YAML_MAPPING, zeta_read_uuid_program);
    }
    read_each(reader, root, "symbols", ZETA_YAML_MAPPING, read_symbol);
    read_each(reader, root, "units", ZETA_YAML_MAPPING, zeta_read_unit);
    read_each(reader, root, "layouts", ZETA_YAML_SEQUENCE, zeta_read_layout);
    read_each(reader, root, "metrics", ZETA_YAML_MAPPING, zeta_read_shared_metric);
    read_each(reader, root, "parameters", ZETA_YAML_MAPPING, zeta_read_parameter);
    read_each(reader, root, "programmables", ZETA_YAML_SEQUENCE, zeta_read_programmable);
    read_each(reader, root, "sets", ZETA_YAML_SEQUENCE, read_sets);
}

static ze_result_t read_document(struct zeta_catalog *catalog, struct zeta_yaml_document *document,
                                 struct zeta_diagnostics *sink)
{
    const char *name = zeta_yaml_name(document);
    const struct zeta_yaml_node *root = zeta_yaml_root(document);
    struct zeta_set_reader reader = {
        .catalog = catalog, .arena = &catalog->arena, .made = &catalog->made, .sink = sink};

    reader.file = zeta_arena_copy(&catalog->arena, name, strlen(name));
    if (!reader.file)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (!root) {
        zeta_diagnose(sink, ZETA_SEVERITY_ERROR, name, 0, 0, "the file is empty");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    read_root(&reader, root);
    zeta_arena_finish(&reader.scratch);
    free(reader.room);
    if (reader.out_of_memory)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return reader.errors == 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeta_catalog_add_text(struct zeta_catalog *catalog, const char *text, size_t length,
                                  const char *name, struct zeta_diagnostics *sink)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_parse(text, length, name, NULL, &error);
    ze_result_t result;

    result =
        document ? read_document(catalog, document, sink) : zeta_diagnose_yaml(sink, name, &error);
    zeta_yaml_free(document);
    return result;
}

ze_result_t zeta_catalog_add_file(struct zeta_catalog *catalog, const char *path,
                                  struct zeta_diagnostics *sink)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_read_file(path, NULL, &error);
    ze_result_t result;

    result =
        document ? read_document(catalog, document, sink) : zeta_diagnose_yaml(sink, path, &error);
    zeta_yaml_free(document);
    return result;
}

/** Numbers of the parts of a catalog that files add. */
struct counts {
    uint32_t symbols, units, layouts, shared, programs, loaded, parameters, programmables;
};

static struct counts count_parts(const struct zeta_catalog *catalog)
{
    return (struct counts){
        .symbols = catalog->symbols.count,
        .units = catalog->units.count,
        .layouts = catalog->layouts.count,
        .shared = catalog->shared.count,
        .programs = catalog->programs.count,
        .loaded = catalog->loaded.count,
        .parameters = catalog->parameters.count,
        .programmables = catalog->programmables.count,
    };
}

/** Forgets what came after the counting. Its memory stays in the arena. */
static void take_back(struct zeta_catalog *catalog, const struct counts *counts)
{
    catalog->symbols.count = counts->symbols;
    catalog->units.count = counts->units;
    catalog->layouts.count = counts->layouts;
    catalog->shared.count = counts->shared;
    catalog->programs.count = counts->programs;
    catalog->loaded.count = counts->loaded;
    catalog->parameters.count = counts->parameters;
    catalog->programmables.count = counts->programmables;
}

ze_result_t zeta_catalog_add_whole(struct zeta_catalog *catalog, const char *name, const char *text,
                                   size_t length, struct zeta_diagnostics *sink)
{
    const struct counts before = count_parts(catalog);
    ze_result_t result = text ? zeta_catalog_add_text(catalog, text, length, name, sink)
                              : zeta_catalog_add_file(catalog, name, sink);

    if (result != ZE_RESULT_SUCCESS)
        take_back(catalog, &before);
    return result;
}
