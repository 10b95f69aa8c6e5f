/* Programmables: looking them up, and reading slots of units, parameters, programmables. */
#include <stdio.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/formula/sets/programmables.h"

/* Looking up -----------------------------------------------------------------------------------
 */

static bool holds(zet_value_info_type_exp_t type, const zet_value_info_exp_t *info,
                  const zet_value_t *value)
{
    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT32:
        return value->ui32 == info->ui32;
    /* A value of the API has no member of these widths; its 32 bits are compared. */
    case ZET_VALUE_INFO_TYPE_EXP_UINT8:
        return value->ui32 == info->ui8;
    case ZET_VALUE_INFO_TYPE_EXP_UINT16:
        return value->ui32 == info->ui16;
    case ZET_VALUE_INFO_TYPE_EXP_UINT64:
        return value->ui64 == info->ui64;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        return value->fp32 == info->fp32;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
        return value->fp64 == info->fp64;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        return !value->b8 == !info->b8;
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        return value->ui64 >= info->ui64Range.ui64Min && value->ui64 <= info->ui64Range.ui64Max;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        return value->fp64 >= info->fp64Range.fp64Min && value->fp64 <= info->fp64Range.fp64Max;
    default:
        return false;
    }
}

uint32_t zeta_parameter_find(const struct zeta_parameter *parameter, const zet_value_t *value)
{
    for (uint32_t i = 0; i < parameter->value_count; i++) {
        if (holds(parameter->value_type, &parameter->values[i].info, value))
            return i;
    }
    return UINT32_MAX;
}

uint32_t zeta_unit_slot_count(const struct zeta_unit *unit)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < unit->slot_run_count; i++)
        count += unit->slots[i].count;
    return count;
}

uint32_t zeta_catalog_programmable_count(const struct zeta_catalog *catalog)
{
    return catalog->usable_programmables.count;
}

const struct zeta_programmable *zeta_catalog_programmable(const struct zeta_catalog *catalog,
                                                          uint32_t index)
{
    return catalog->usable_programmables.items[index];
}

const struct zeta_programmable *zeta_catalog_find_programmable(const struct zeta_catalog *catalog,
                                                               const char *name)
{
    for (uint32_t i = 0; i < catalog->usable_programmables.count; i++) {
        const struct zeta_programmable *programmable = catalog->usable_programmables.items[i];

        if (strcmp(programmable->name, name) == 0)
            return programmable;
    }
    return NULL;
}

/** Bounds of the API's texts, which are shorter than those of sets. */
#define MAX_TEXT 127u
#define MAX_SLOTS 1024u
#define MAX_LETS 32u

static const struct zeta_word parameter_types[] = {
    {"disaggregation", ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_DISAGGREGATION},
    {"latency", ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_LATENCY},
    {"utilization", ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_UTILIZATION},
    {"average", ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_AVERAGE},
    {"rate", ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_RATE},
    {"bytes", ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_NORMALIZATION_BYTES},
    {"generic", ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_GENERIC},
    {NULL, 0},
};

static const struct zeta_word info_types[] = {
    {"u32", ZET_VALUE_INFO_TYPE_EXP_UINT32},
    {"u64", ZET_VALUE_INFO_TYPE_EXP_UINT64},
    {"f32", ZET_VALUE_INFO_TYPE_EXP_FLOAT32},
    {"f64", ZET_VALUE_INFO_TYPE_EXP_FLOAT64},
    {"bool8", ZET_VALUE_INFO_TYPE_EXP_BOOL8},
    {"u8", ZET_VALUE_INFO_TYPE_EXP_UINT8},
    {"u16", ZET_VALUE_INFO_TYPE_EXP_UINT16},
    {"u64_range", ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE},
    {"f64_range", ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE},
    {NULL, 0},
};

/* Slots ----------------------------------------------------------------------------------------
 */

bool zeta_read_slots(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                     struct zeta_unit *unit)
{
    static const char *const keys[] = {"bank", "first", "count", NULL};
    const struct zeta_yaml_node *list = zeta_yaml_member(mapping, "slots");

    if (!list)
        return true;
    if (!zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, "slots"))
        return false;
    if (list->child_count > ZETA_UNIT_MAX_SLOT_RUNS) {
        zeta_reader_error(reader, list, "more than %u runs of slots", ZETA_UNIT_MAX_SLOT_RUNS);
        return false;
    }
    unit->slots = zeta_arena_array(reader->arena, list->child_count, sizeof(*unit->slots));
    if (!unit->slots)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        struct zeta_slot_run *run = &unit->slots[unit->slot_run_count++];

        if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a run of slots"))
            return false;
        zeta_reader_check_keys(reader, node, keys);
        if (!zeta_reader_text(reader, node, "bank", NULL, &run->bank) ||
            !zeta_reader_u32(reader, node, "first", true, 0, MAX_SLOTS, &run->first) ||
            !zeta_reader_u32(reader, node, "count", false, 1, MAX_SLOTS, &run->count))
            return false;
    }
    return true;
}

/* Texts ----------------------------------------------------------------------------------------
 */

/** Reads a text that the API shows, so a shorter one. */
static bool read_shown(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                       const char *key, const char *fallback, const char **out_text)
{
    if (!zeta_reader_text(reader, mapping, key, fallback, out_text))
        return false;
    if (strlen(*out_text) <= MAX_TEXT)
        return true;
    zeta_reader_error(reader, zeta_yaml_member(mapping, key), "%s is longer than %u bytes", key,
                      MAX_TEXT);
    return false;
}

static bool read_shown_name(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                            const char *text, const char **out_name)
{
    if (!zeta_reader_name(reader, node, text, false, out_name))
        return false;
    if (strlen(*out_name) <= MAX_TEXT)
        return true;
    zeta_reader_error(reader, node, "name '%.40s...' is longer than %u bytes", text, MAX_TEXT);
    return false;
}

/** Reads {name: text, ...}. */
static bool read_lets(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                      struct zeta_let **out_lets, uint32_t *out_count)
{
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, "let");
    struct zeta_let *lets;

    if (!node)
        return true;
    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "let"))
        return false;
    if (node->child_count > MAX_LETS) {
        zeta_reader_error(reader, node, "more than %u names", MAX_LETS);
        return false;
    }
    lets = zeta_arena_array(reader->arena, node->child_count, sizeof(*lets));
    if (!lets)
        return zeta_reader_no_memory(reader);
    *out_lets = lets;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        struct zeta_let *let = &lets[(*out_count)++];

        if (!zeta_reader_name(reader, item, item->key, false, &let->name) ||
            !zeta_reader_text(reader, node, item->key, NULL, &let->text))
            return false;
    }
    return true;
}

/* Parameters -----------------------------------------------------------------------------------
 */

/** Reads a number of the parameter's type into the member of a union that belongs to it. */
static bool read_number(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                        zet_value_info_type_exp_t type, zet_value_t *out_value)
{
    static const uint64_t largest[] = {
        [ZET_VALUE_INFO_TYPE_EXP_UINT32] = UINT32_MAX,
        [ZET_VALUE_INFO_TYPE_EXP_UINT64] = UINT64_MAX,
        [ZET_VALUE_INFO_TYPE_EXP_UINT8] = UINT8_MAX,
        [ZET_VALUE_INFO_TYPE_EXP_UINT16] = UINT16_MAX,
        [ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE] = UINT64_MAX,
    };
    uint64_t integer = 0;
    double number = 0;
    bool truth = false;
    bool good;

    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        good = zeta_yaml_double(node, &number);
        out_value->fp32 = (float)number;
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        good = zeta_yaml_double(node, &number);
        out_value->fp64 = number;
        break;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        good = zeta_yaml_bool(node, &truth);
        out_value->b8 = truth;
        break;
    default:
        good = zeta_yaml_u64(node, &integer) && integer <= largest[type];
        out_value->ui64 = integer;
        break;
    }
    if (!good)
        zeta_reader_error(reader, node, "this is no number of the parameter's value type");
    return good;
}

static bool is_range(zet_value_info_type_exp_t type)
{
    return type == ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE ||
           type == ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE;
}

/** Reads value: 5, or range: [1, 5] where the type is one of ranges. */
static bool read_info(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      zet_value_info_type_exp_t type, zet_value_info_exp_t *out_info)
{
    const struct zeta_yaml_node *given =
        zeta_reader_need(reader, node, is_range(type) ? "range" : "value");
    zet_value_t low = {.ui64 = 0};
    zet_value_t high = {.ui64 = 0};
    bool ordered;

    if (!given)
        return false;
    if (!is_range(type)) {
        if (!read_number(reader, given, type, &low))
            return false;
        memcpy(out_info, &low, sizeof(low));
        return true;
    }
    if (given->kind != ZETA_YAML_SEQUENCE || given->child_count != 2) {
        zeta_reader_error(reader, given, "a range is written as [smallest, largest]");
        return false;
    }
    if (!read_number(reader, given->first_child, type, &low) ||
        !read_number(reader, given->first_child->next, type, &high))
        return false;
    memcpy(out_info, &low, sizeof(low));
    memcpy((char *)out_info + sizeof(low), &high, sizeof(high));
    ordered = type == ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE ? low.ui64 <= high.ui64
                                                           : low.fp64 <= high.fp64;
    if (!ordered)
        zeta_reader_error(reader, given, "the smallest value of a range comes first");
    return ordered;
}

static bool read_value(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const struct zeta_parameter *parameter, struct zeta_parameter_value *value)
{
    static const char *const keys[] = {"value", "range", "description", "instances", "let", NULL};
    const struct zeta_yaml_node *instances;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a value of a parameter"))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    if (!read_info(reader, node, parameter->value_type, &value->info) ||
        !read_shown(reader, node, "description", NULL, &value->description) ||
        !read_lets(reader, node, &value->lets, &value->let_count))
        return false;
    instances = zeta_yaml_member(node, "instances");
    if (instances && parameter->type != ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_DISAGGREGATION) {
        zeta_reader_error(reader, instances, "only a disaggregation gives several instances");
        return false;
    }
    if (instances && instances->kind == ZETA_YAML_SCALAR && strcmp(instances->text, "tiles") == 0)
        value->each_tile = true;
    else if (!zeta_reader_expr(reader, node, "instances", true, &value->instances))
        return false;
    return true;
}

static bool read_values(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                        struct zeta_parameter *parameter)
{
    const struct zeta_yaml_node *list = zeta_reader_need(reader, mapping, "values");

    if (!list || !zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, "values"))
        return false;
    if (list->child_count == 0 || list->child_count > ZETA_PROGRAMMABLE_MAX_VALUES) {
        zeta_reader_error(reader, list, "a parameter has 1 to %u values",
                          ZETA_PROGRAMMABLE_MAX_VALUES);
        return false;
    }
    parameter->values =
        zeta_arena_array(reader->arena, list->child_count, sizeof(*parameter->values));
    if (!parameter->values)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        if (!read_value(reader, node, parameter, &parameter->values[parameter->value_count++]))
            return false;
    }
    return true;
}

/** Reads one member of "parameters" and adds it to the catalog if it is in order. */
void zeta_read_parameter(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const char *const keys[] = {"type", "value_type", "default", "values", NULL};
    struct zeta_catalog *catalog = reader->catalog;
    const struct zeta_yaml_node *fallback;
    struct zeta_parameter *parameter;
    uint32_t type = 0;
    uint32_t value_type = 0;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a parameter"))
        return;
    zeta_reader_check_keys(reader, node, keys);
    parameter = zeta_reader_alloc(reader, sizeof(*parameter));
    if (!parameter)
        return;
    parameter->file = reader->file;
    parameter->line = node->key_line;
    if (!read_shown_name(reader, node, node->key, &parameter->name) ||
        !zeta_reader_word(reader, node, "type", parameter_types, &type) ||
        !zeta_reader_word(reader, node, "value_type", info_types, &value_type))
        return;
    parameter->type = (zet_metric_programmable_param_type_exp_t)type;
    parameter->value_type = (zet_value_info_type_exp_t)value_type;
    fallback = zeta_reader_need(reader, node, "default");
    if (!read_values(reader, node, parameter) || !fallback ||
        !read_number(reader, fallback, parameter->value_type, &parameter->fallback))
        return;
    if (zeta_parameter_find(parameter, &parameter->fallback) == UINT32_MAX) {
        zeta_reader_error(reader, fallback, "the default of parameter %s is not one of its values",
                          parameter->name);
        return;
    }
    (void)zeta_reader_add(reader, &catalog->parameters, parameter);
}

/* Programmables --------------------------------------------------------------------------------
 */

static bool read_parameter_names(struct zeta_set_reader *reader,
                                 const struct zeta_yaml_node *mapping,
                                 struct zeta_programmable *programmable)
{
    const struct zeta_yaml_node *list = zeta_reader_need(reader, mapping, "parameters");
    const char **names;

    if (!list || !zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, "parameters"))
        return false;
    if (list->child_count == 0 || list->child_count > ZETA_PROGRAMMABLE_MAX_PARAMETERS) {
        zeta_reader_error(reader, list, "a programmable has 1 to %u parameters",
                          ZETA_PROGRAMMABLE_MAX_PARAMETERS);
        return false;
    }
    names = zeta_arena_array(reader->arena, list->child_count, sizeof(*names));
    programmable->parameters =
        zeta_arena_array(reader->arena, list->child_count, sizeof(struct zeta_parameter *));
    if (!names || !programmable->parameters)
        return zeta_reader_no_memory(reader);
    programmable->parameter_names = names;
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        if (!zeta_reader_kind(reader, node, ZETA_YAML_SCALAR, "the name of a parameter") ||
            !zeta_reader_name(reader, node, node->text, false,
                              &names[programmable->parameter_count++]))
            return false;
    }
    return true;
}

/** Copies a template, which may be a selection or one of the two numbers of a register. */
static bool read_template(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          const char **out_text)
{
    if (node->kind != ZETA_YAML_SCALAR || node->length == 0 ||
        node->length >= ZETA_SET_TEXT_BYTES) {
        zeta_reader_error(reader, node, "a text of 1 to %u characters is expected",
                          ZETA_SET_TEXT_BYTES - 1);
        return false;
    }
    *out_text = zeta_arena_copy(reader->arena, node->text, node->length);
    return *out_text || zeta_reader_no_memory(reader);
}

static bool read_counter_entry(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                               bool select, struct zeta_counter_entry *entry)
{
    if (select)
        return read_template(reader, node, &entry->select);
    if (node->kind != ZETA_YAML_SEQUENCE || node->child_count < 2 || node->child_count > 3) {
        zeta_reader_error(reader, node,
                          "a register is written as [address, value], or [address, value, mask] "
                          "where counters share it");
        return false;
    }
    return read_template(reader, node->first_child, &entry->address) &&
           read_template(reader, node->first_child->next, &entry->value) &&
           (node->child_count == 2 ||
            read_template(reader, node->first_child->next->next, &entry->mask));
}

static bool read_counter(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                         struct zeta_counter *counter)
{
    static const char *const keys[] = {"bank", "select", "registers", NULL};
    const struct zeta_yaml_node *select;
    const struct zeta_yaml_node *list;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a counter") ||
        !zeta_reader_name(reader, node, node->key, false, &counter->name))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    if (zeta_yaml_member(node, "bank") &&
        !zeta_reader_text(reader, node, "bank", NULL, &counter->bank))
        return false;
    select = zeta_yaml_member(node, "select");
    list = zeta_yaml_member(node, "registers");
    if (!select == !list) {
        zeta_reader_error(reader, node, "a counter has either select or registers");
        return false;
    }
    list = select ? select : list;
    if (!zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, list->key))
        return false;
    counter->entries =
        zeta_arena_array(reader->arena, list->child_count, sizeof(*counter->entries));
    if (!counter->entries)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *item = list->first_child; item; item = item->next) {
        if (!read_counter_entry(reader, item, select != NULL,
                                &counter->entries[counter->entry_count++]))
            return false;
    }
    return true;
}

static bool read_counters(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                          struct zeta_programmable *programmable)
{
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, "counters");

    if (!node)
        return true;
    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "counters"))
        return false;
    if (node->child_count > ZETA_PROGRAMMABLE_MAX_COUNTERS) {
        zeta_reader_error(reader, node, "more than %u counters", ZETA_PROGRAMMABLE_MAX_COUNTERS);
        return false;
    }
    programmable->counters =
        zeta_arena_array(reader->arena, node->child_count, sizeof(struct zeta_counter));
    if (!programmable->counters)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (!read_counter(reader, item, &programmable->counters[programmable->counter_count++]))
            return false;
    }
    return true;
}

static bool read_result(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                        struct zeta_programmable *programmable)
{
    static const char *const keys[] = {"type", "value_type", "class", "unit", "value", "max", NULL};
    const struct zeta_yaml_node *node = zeta_reader_need(reader, mapping, "metric");

    if (!node || !zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "metric"))
        return false;
    zeta_reader_check_keys(reader, node, keys);
    return zeta_reader_text(reader, node, "type", NULL, &programmable->type) &&
           zeta_reader_text(reader, node, "value_type", NULL, &programmable->value_type) &&
           zeta_reader_text(reader, node, "class", NULL, &programmable->metric_class) &&
           zeta_reader_text(reader, node, "unit", "", &programmable->result_unit) &&
           zeta_reader_text(reader, node, "value", NULL, &programmable->value) &&
           (!zeta_yaml_member(node, "max") ||
            zeta_reader_text(reader, node, "max", NULL, &programmable->maximum));
}

static bool read_head(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      struct zeta_programmable *programmable)
{
    const struct zeta_yaml_node *name = zeta_reader_need(reader, node, "name");
    bool good;

    good = name && zeta_reader_kind(reader, name, ZETA_YAML_SCALAR, "name") &&
           read_shown_name(reader, name, name->text, &programmable->name);
    good = read_shown(reader, node, "description", NULL, &programmable->description) && good;
    good = read_shown(reader, node, "component", "", &programmable->component) && good;
    programmable->tier = 1;
    good = zeta_reader_u32(reader, node, "tier", true, 1, 4, &programmable->tier) && good;
    good = zeta_reader_u32(reader, node, "domain", false, 0, 1023, &programmable->domain) && good;
    good = zeta_reader_text(reader, node, "unit", NULL, &programmable->unit_name) && good;
    good = zeta_reader_text(reader, node, "layout", NULL, &programmable->layout_name) && good;
    good = zeta_reader_sampling(reader, node, &programmable->sampling) && good;
    if (programmable->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) {
        zeta_reader_error(reader, zeta_yaml_member(node, "sampling"),
                          "programmables are sampled by time or by event");
        good = false;
    }
    return zeta_reader_expr(reader, node, "when", true, &programmable->available) && good;
}

void zeta_read_programmable(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const char *const keys[] = {
        "name", "description", "component", "tier",       "domain", "unit", "layout",
        "when", "sampling",    "counters",  "parameters", "metric", "let",  NULL};
    struct zeta_catalog *catalog = reader->catalog;
    struct zeta_programmable *programmable;
    bool good;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a programmable"))
        return;
    node = zeta_reader_with_kind(reader, node);
    if (!node)
        return;
    zeta_reader_check_keys(reader, node, keys);
    programmable = zeta_reader_alloc(reader, sizeof(*programmable));
    if (!programmable)
        return;
    programmable->file = reader->file;
    programmable->line = node->line;
    programmable->deferred = catalog->defers;
    good = read_head(reader, node, programmable);
    good = read_parameter_names(reader, node, programmable) && good;
    good = read_lets(reader, node, &programmable->lets, &programmable->let_count) && good;
    good = read_counters(reader, node, programmable) && good;
    good = read_result(reader, node, programmable) && good;
    if (good)
        (void)zeta_reader_add(reader, &catalog->programmables, programmable);
    zeta_arena_rewind(&reader->scratch);
}
