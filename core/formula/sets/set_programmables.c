/* Programmables: looking them up, and reading slots of units, parameters, programmables. */
#include <stdio.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/formula/sets/programmables.h"

/* Looking up -----------------------------------------------------------------------------------
 */

struct zeta_number zeta_parameter_number(zet_value_info_type_exp_t type, const zet_value_t *value)
{
    struct zeta_number number = {.type = ZETA_EXPR_U64};

    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT64:
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        number.u.u64 = value->ui64;
        return number;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        number.u.u64 = value->b8 != 0;
        return number;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        return (struct zeta_number){ZETA_EXPR_F64, {.f64 = (double)value->fp32}};
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        return (struct zeta_number){ZETA_EXPR_F64, {.f64 = value->fp64}};
    default:
        /* A value of the API has no member of 8 or 16 bits; its 32 bits count. */
        number.u.u64 = value->ui32;
        return number;
    }
}

bool zeta_parameter_ends(zet_value_info_type_exp_t type, const zet_value_info_exp_t *info,
                         struct zeta_number out_ends[2])
{
    const bool is_range = type == ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE ||
                          type == ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE;
    zet_value_t ends[2];

    memcpy(&ends[0], info, sizeof(ends[0]));
    if (type == ZET_VALUE_INFO_TYPE_EXP_UINT8)
        ends[0].ui32 = info->ui8;
    if (type == ZET_VALUE_INFO_TYPE_EXP_UINT16)
        ends[0].ui32 = info->ui16;
    memcpy(&ends[1], (const char *)info + (is_range ? sizeof(ends[0]) : 0), sizeof(ends[1]));
    out_ends[0] = zeta_parameter_number(type, &ends[0]);
    out_ends[1] = is_range ? zeta_parameter_number(type, &ends[1]) : out_ends[0];
    return is_range;
}

uint32_t zeta_parameter_find(const struct zeta_parameter *parameter, const zet_value_t *value)
{
    const struct zeta_number number = zeta_parameter_number(parameter->value_type, value);
    struct zeta_number ends[2];

    for (uint32_t i = 0; i < parameter->value_count; i++) {
        (void)zeta_parameter_ends(parameter->value_type, &parameter->values[i].info, ends);
        if (number.type == ZETA_EXPR_F64
                ? number.u.f64 >= ends[0].u.f64 && number.u.f64 <= ends[1].u.f64
                : number.u.u64 >= ends[0].u.u64 && number.u.u64 <= ends[1].u.u64)
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

/* Reading --------------------------------------------------------------------------------------
 */

bool zeta_read_slots(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                     struct zeta_unit *unit)
{
    static const struct zeta_key keys[] = {
        {"bank", ZETA_KEY_TEXT, .offset = offsetof(struct zeta_slot_run, bank)},
        {"first", ZETA_KEY_U32, .offset = offsetof(struct zeta_slot_run, first), .optional = true,
         .max = MAX_SLOTS},
        {"count", ZETA_KEY_U32, .offset = offsetof(struct zeta_slot_run, count), .min = 1,
         .max = MAX_SLOTS},
        {.key = NULL},
    };

    unit->slots = zeta_reader_array(reader, list, ZETA_YAML_SEQUENCE, "slots", 0,
                                    ZETA_UNIT_MAX_SLOT_RUNS, sizeof(*unit->slots));
    if (!unit->slots)
        return false;
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        if (!zeta_reader_mapping(reader, node, "a run of slots", keys,
                                 &unit->slots[unit->slot_run_count++]))
            return false;
    }
    return true;
}

/** Reads the member "let" of a mapping, {name: text, ...}, if there is one. */
static bool read_lets(struct zeta_set_reader *reader, const struct zeta_yaml_node *mapping,
                      struct zeta_let **out_lets, uint32_t *out_count)
{
    const struct zeta_yaml_node *node = zeta_yaml_member(mapping, "let");
    struct zeta_let *lets;

    if (!node)
        return true;
    lets = zeta_reader_array(reader, node, ZETA_YAML_MAPPING, "let", 0, MAX_LETS, sizeof(*lets));
    if (!lets)
        return false;
    *out_lets = lets;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        const struct zeta_key key = {item->key, .kind = ZETA_KEY_TEXT};
        struct zeta_let *let = &lets[(*out_count)++];

        if (!zeta_reader_name(reader, item, item->key, false, &let->name) ||
            !zeta_reader_value(reader, item, &key, &let->text))
            return false;
    }
    return true;
}

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
static bool read_info(struct zeta_set_reader *reader, const struct zeta_yaml_node *given,
                      zet_value_info_type_exp_t type, zet_value_info_exp_t *out_info)
{
    zet_value_t low = {.ui64 = 0};
    zet_value_t high = {.ui64 = 0};
    bool ordered;

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
    const struct zeta_yaml_node *instances = zeta_yaml_member(node, "instances");
    const bool each_tile =
        instances && instances->kind == ZETA_YAML_SCALAR && strcmp(instances->text, "tiles") == 0;
    const struct zeta_key keys[] = {
        {"description", ZETA_KEY_TEXT, .offset = offsetof(struct zeta_parameter_value, description),
         .max = MAX_TEXT},
        {"instances", each_tile ? ZETA_KEY_OTHER : ZETA_KEY_EXPR,
         .offset = offsetof(struct zeta_parameter_value, instances), .optional = true},
        {is_range(parameter->value_type) ? "range" : "value", .optional = false},
        {is_range(parameter->value_type) ? "value" : "range", .optional = true},
        {"let", .optional = true},
        {.key = NULL},
    };

    value->each_tile = each_tile;
    if (!zeta_reader_mapping(reader, node, "a value of a parameter", keys, value) ||
        !read_info(reader, zeta_yaml_member(node, keys[2].key), parameter->value_type,
                   &value->info) ||
        !read_lets(reader, node, &value->lets, &value->let_count))
        return false;
    if (instances && parameter->type != ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_DISAGGREGATION) {
        zeta_reader_error(reader, instances, "only a disaggregation gives several instances");
        return false;
    }
    return true;
}

void zeta_read_parameter(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const struct zeta_key keys[] = {
        {"type", ZETA_KEY_WORD, .offset = offsetof(struct zeta_parameter, type),
         .words = parameter_types},
        {"value_type", ZETA_KEY_WORD, .offset = offsetof(struct zeta_parameter, value_type),
         .words = info_types},
        {"default", .optional = false},
        {"values", .optional = false},
        {.key = NULL},
    };
    struct zeta_parameter *parameter = zeta_reader_alloc(reader, sizeof(*parameter));
    const struct zeta_yaml_node *fallback = zeta_yaml_member(node, "default");
    const struct zeta_yaml_node *values = zeta_yaml_member(node, "values");

    if (!parameter)
        return;
    parameter->file = reader->file;
    parameter->line = node->key_line;
    if (!zeta_reader_name(reader, node, node->key, false, &parameter->name) ||
        !zeta_reader_mapping(reader, node, "a parameter", keys, parameter))
        return;
    if (strlen(parameter->name) > MAX_TEXT) {
        zeta_reader_error(reader, node, "the name of a parameter is longer than %u bytes",
                          MAX_TEXT);
        return;
    }
    parameter->values = zeta_reader_array(reader, values, ZETA_YAML_SEQUENCE, "values", 1,
                                          ZETA_PROGRAMMABLE_MAX_VALUES, sizeof(*parameter->values));
    if (!parameter->values)
        return;
    for (const struct zeta_yaml_node *item = values->first_child; item; item = item->next) {
        if (!read_value(reader, item, parameter, &parameter->values[parameter->value_count++]))
            return;
    }
    if (!read_number(reader, fallback, parameter->value_type, &parameter->fallback))
        return;
    if (zeta_parameter_find(parameter, &parameter->fallback) == UINT32_MAX) {
        zeta_reader_error(reader, fallback, "the default of parameter %s is not one of its values",
                          parameter->name);
        return;
    }
    (void)zeta_reader_add(reader, &reader->catalog->parameters, parameter);
}

static bool read_parameter_names(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                                 struct zeta_programmable *programmable)
{
    static const struct zeta_key key = {"the name of a parameter", .kind = ZETA_KEY_NAME};
    const char **names = zeta_reader_array(reader, list, ZETA_YAML_SEQUENCE, "parameters", 1,
                                           ZETA_PROGRAMMABLE_MAX_PARAMETERS, sizeof(*names));

    if (!names)
        return false;
    programmable->parameters =
        zeta_arena_array(reader->arena, list->child_count, sizeof(struct zeta_parameter *));
    if (!programmable->parameters)
        return zeta_reader_no_memory(reader);
    programmable->parameter_names = names;
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        if (!zeta_reader_value(reader, node, &key, &names[programmable->parameter_count++]))
            return false;
    }
    return true;
}

/** A selection, or a register with two or three expressions. */
static bool read_counter_entry(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                               bool select, struct zeta_counter_entry *entry)
{
    static const struct zeta_key text = {"a text of a counter", ZETA_KEY_TEXT, .min = 1};
    const char **const parts[] = {&entry->address, &entry->value, &entry->mask};
    const struct zeta_yaml_node *part = node->first_child;

    if (select)
        return zeta_reader_value(reader, node, &text, &entry->select);
    if (node->kind != ZETA_YAML_SEQUENCE || node->child_count < 2 || node->child_count > 3) {
        zeta_reader_error(reader, node,
                          "a register is written as [address, value], or [address, value, mask] "
                          "where counters share it");
        return false;
    }
    for (uint32_t i = 0; i < node->child_count; i++, part = part->next) {
        if (!zeta_reader_value(reader, part, &text, parts[i]))
            return false;
    }
    return true;
}

static bool read_counter(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                         struct zeta_counter *counter)
{
    static const struct zeta_key keys[] = {
        {"bank", ZETA_KEY_TEXT, .offset = offsetof(struct zeta_counter, bank), .optional = true},
        {"select", .optional = true},
        {"registers", .optional = true},
        {.key = NULL},
    };
    const struct zeta_yaml_node *select = zeta_yaml_member(node, "select");
    const struct zeta_yaml_node *registers = zeta_yaml_member(node, "registers");
    const struct zeta_yaml_node *list = select ? select : registers;

    if (!zeta_reader_name(reader, node, node->key, false, &counter->name) ||
        !zeta_reader_mapping(reader, node, "a counter", keys, counter))
        return false;
    if (!select == !registers) {
        zeta_reader_error(reader, node, "a counter has either select or registers");
        return false;
    }
    counter->entries = zeta_reader_array(reader, list, ZETA_YAML_SEQUENCE, list->key, 0, UINT32_MAX,
                                         sizeof(*counter->entries));
    if (!counter->entries)
        return false;
    for (const struct zeta_yaml_node *item = list->first_child; item; item = item->next) {
        if (!read_counter_entry(reader, item, select != NULL,
                                &counter->entries[counter->entry_count++]))
            return false;
    }
    return true;
}

static bool read_counters(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          struct zeta_programmable *programmable)
{
    programmable->counters =
        zeta_reader_array(reader, node, ZETA_YAML_MAPPING, "counters", 0,
                          ZETA_PROGRAMMABLE_MAX_COUNTERS, sizeof(*programmable->counters));
    if (!programmable->counters)
        return false;
    for (const struct zeta_yaml_node *item = node->first_child; item; item = item->next) {
        if (!read_counter(reader, item, &programmable->counters[programmable->counter_count++]))
            return false;
    }
    return true;
}

void zeta_read_programmable(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
#define AT(member) offsetof(struct zeta_programmable, member)
    static const struct zeta_key keys[] = {
        {"name", ZETA_KEY_NAME, .offset = AT(name), .max = MAX_TEXT},
        {"description", ZETA_KEY_TEXT, .offset = AT(description), .max = MAX_TEXT},
        {"component", ZETA_KEY_TEXT, .offset = AT(component), .optional = true, .max = MAX_TEXT},
        {"tier", ZETA_KEY_U32, .offset = AT(tier), .optional = true, .min = 1, .max = 4},
        {"domain", ZETA_KEY_U32, .offset = AT(domain), .max = 1023},
        {"unit", ZETA_KEY_TEXT, .offset = AT(unit_name)},
        {"layout", ZETA_KEY_TEXT, .offset = AT(layout_name)},
        {"sampling", ZETA_KEY_FLAGS, .offset = AT(sampling), .words = zeta_sampling_words},
        {"when", ZETA_KEY_EXPR, .offset = AT(available), .optional = true},
        {"parameters", .optional = false},
        {"counters", .optional = true},
        {"metric", .optional = false},
        {"let", .optional = true},
        {.key = NULL},
    };
    static const struct zeta_key metric_keys[] = {
        {"type", ZETA_KEY_TEXT, .offset = AT(type)},
        {"value_type", ZETA_KEY_TEXT, .offset = AT(value_type)},
        {"class", ZETA_KEY_TEXT, .offset = AT(metric_class)},
        {"unit", ZETA_KEY_TEXT, .offset = AT(result_unit), .optional = true},
        {"value", ZETA_KEY_TEXT, .offset = AT(value)},
        {"max", ZETA_KEY_TEXT, .offset = AT(maximum), .optional = true},
        {.key = NULL},
    };
#undef AT
    const struct zeta_yaml_node *parameters, *counters, *metric;
    struct zeta_programmable *programmable;
    bool good;

    node = zeta_reader_with_kind(reader, node, "a programmable");
    programmable = node ? zeta_reader_alloc(reader, sizeof(*programmable)) : NULL;
    if (!programmable)
        return;
    *programmable = (struct zeta_programmable){.file = reader->file,
                                               .line = node->line,
                                               .component = "",
                                               .result_unit = "",
                                               .tier = 1,
                                               .deferred = reader->catalog->defers};
    good = zeta_reader_mapping(reader, node, "a programmable", keys, programmable);
    if (programmable->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) {
        zeta_reader_error(reader, zeta_yaml_member(node, "sampling"),
                          "programmables are sampled by time or by event");
        good = false;
    }
    parameters = zeta_yaml_member(node, "parameters");
    counters = zeta_yaml_member(node, "counters");
    metric = zeta_yaml_member(node, "metric");
    good = parameters && read_parameter_names(reader, parameters, programmable) && good;
    good = read_lets(reader, node, &programmable->lets, &programmable->let_count) && good;
    good = (!counters || read_counters(reader, counters, programmable)) && good;
    good =
        metric && zeta_reader_mapping(reader, metric, "metric", metric_keys, programmable) && good;
    if (good)
        (void)zeta_reader_add(reader, &reader->catalog->programmables, programmable);
}
