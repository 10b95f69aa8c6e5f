/* Layouts of kind event and the sets over them: which records are entries of which metric. */
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

/** Reads one type: name: number. False if name or number are taken. */
static bool read_event_type(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                            struct zeta_layout *layout)
{
    struct zeta_event_type *event = &layout->events[layout->event_count];
    uint64_t number;

    if (!zeta_reader_name(reader, node, node->key, false, &event->name))
        return false;
    if (!zeta_yaml_u64(node, &number) || number < 1 || number > ZETA_EVENT_MAX_TYPE) {
        zeta_reader_error(reader, node, "event type %s must be an integer from 1 to %u",
                          event->name, ZETA_EVENT_MAX_TYPE);
        return false;
    }
    for (uint32_t i = 0; i < layout->event_count; i++) {
        if (layout->events[i].number == number) {
            zeta_reader_error(reader, node, "event types %s and %s have the same number %u",
                              layout->events[i].name, event->name, (unsigned)number);
            return false;
        }
    }
    event->number = (uint32_t)number;
    layout->event_count++;
    return true;
}

/** Finds a header field that event records have; it is an integer. */
static bool find_header_field(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                              const struct zeta_layout *layout, const char *name,
                              uint32_t *out_field)
{
    *out_field = zeta_layout_find_field(layout, name);
    if (*out_field == ZETA_FIELD_NONE) {
        zeta_reader_error(reader, node, "a layout of kind event has a header field '%s'", name);
        return false;
    }
    if (layout->fields[*out_field].is_float) {
        zeta_reader_error(reader, node, "header field %s of an event layout is an integer", name);
        return false;
    }
    return true;
}

static bool refuse_member(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          const char *key, const char *reason)
{
    const struct zeta_yaml_node *member = zeta_yaml_member(node, key);

    if (member)
        zeta_reader_error(reader, member, "%s %s", key, reason);
    return !member;
}

bool zeta_read_layout_events(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                             struct zeta_layout *layout)
{
    const struct zeta_yaml_node *events = zeta_yaml_member(node, "events");
    bool good = true;

    layout->type_field = ZETA_FIELD_NONE;
    layout->ticks_field = ZETA_FIELD_NONE;
    layout->tile_field = ZETA_FIELD_NONE;
    if (layout->kind != ZETA_LAYOUT_EVENT)
        return refuse_member(reader, node, "events", "belongs to layouts of kind event");
    if (layout->record_bytes > ZETA_EVENT_RECORD_MAX_BYTES) {
        zeta_reader_error(reader, zeta_yaml_member(node, "record"),
                          "a record of an event layout has at most %u bytes",
                          ZETA_EVENT_RECORD_MAX_BYTES);
        return false;
    }
    if (!refuse_member(reader, node, "identity", "does not belong to layouts of kind event") ||
        !refuse_member(reader, node, "baseline", "does not belong to layouts of kind event") ||
        !find_header_field(reader, node, layout, "type", &layout->type_field) ||
        !find_header_field(reader, node, layout, "ticks", &layout->ticks_field))
        return false;
    if (zeta_layout_find_field(layout, "tile") != ZETA_FIELD_NONE &&
        !find_header_field(reader, node, layout, "tile", &layout->tile_field))
        return false;
    if (!events) {
        zeta_reader_error(reader, node, "a layout of kind event needs 'events'");
        return false;
    }
    if (!zeta_reader_kind(reader, events, ZETA_YAML_MAPPING, "events"))
        return false;
    if (events->child_count == 0 || events->child_count > ZETA_EVENT_MAX_COUNT) {
        zeta_reader_error(reader, events, "events has 1 to %u types", ZETA_EVENT_MAX_COUNT);
        return false;
    }
    layout->events = zeta_arena_array(reader->arena, events->child_count, sizeof(*layout->events));
    if (!layout->events)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *event = events->first_child; event; event = event->next)
        good = read_event_type(reader, event, layout) && good;
    return good;
}

bool zeta_read_metric_events(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                             struct zeta_metric *metric)
{
    const struct zeta_yaml_node *list = zeta_yaml_member(node, "events");

    if (!list)
        return true;
    if (!zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, "events"))
        return false;
    if (list->child_count == 0 || list->child_count > ZETA_EVENT_MAX_COUNT) {
        zeta_reader_error(reader, list, "events lists 1 to %u types", ZETA_EVENT_MAX_COUNT);
        return false;
    }
    metric->events = zeta_arena_array(reader->arena, list->child_count, sizeof(*metric->events));
    if (!metric->events)
        return zeta_reader_no_memory(reader);
    for (const struct zeta_yaml_node *item = list->first_child; item; item = item->next) {
        struct zeta_metric_event *event = &metric->events[metric->event_count++];

        if (!zeta_reader_kind(reader, item, ZETA_YAML_SCALAR, "an event type") ||
            !zeta_reader_name(reader, item, item->text, false, &event->name))
            return false;
        event->line = item->line;
        event->column = item->column;
    }
    return true;
}

/** Gives the events of a metric their numbers. */
static bool link_metric(struct zeta_linker *linker, const struct zeta_layout *layout,
                        const struct zeta_metric *metric)
{
    bool good = true;

    if (metric->event_count == 0)
        return zeta_link_fail(linker, metric->file, metric->line, 1,
                              "metric %s needs 'events', the types of records that are its entries",
                              metric->name);
    for (uint32_t i = 0; i < metric->event_count; i++) {
        struct zeta_metric_event *event = &metric->events[i];
        const struct zeta_event_type *type = zeta_layout_find_event(layout, event->name);

        if (!type)
            good =
                zeta_link_fail(linker, metric->file, event->line, event->column,
                               "layout %s has no event type '%.100s'", layout->name, event->name);
        else if (zeta_event_is_about_tracer(type))
            good = zeta_link_fail(
                linker, metric->file, event->line, event->column,
                "records of type %s are about the tracer itself and no entries of metrics",
                event->name);
        else
            event->type = type->number;
    }
    return good;
}

bool zeta_link_events(struct zeta_linker *linker, const struct zeta_set *set)
{
    const bool of_events = set->layout->kind == ZETA_LAYOUT_EVENT;
    const zet_metric_group_sampling_type_flags_t tracer =
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED;
    bool good = true;

    if (of_events ? set->sampling != tracer : (set->sampling & tracer) != 0)
        return zeta_link_fail(
            linker, set->file, set->line, 1,
            "set %s: sampling [tracer], alone, goes with layouts of kind event and with no "
            "others",
            set->name);
    if (of_events && set->program_count > 0)
        return zeta_link_fail(
            linker, set->file, set->line, 1,
            "set %s: a tracer runs no program; its unit says which events it gives", set->name);
    for (uint32_t i = 0; i < set->metric_count; i++) {
        const struct zeta_metric *metric = &set->metrics[i];

        if (of_events)
            good = link_metric(linker, set->layout, metric) && good;
        else if (metric->event_count > 0)
            good = zeta_link_fail(linker, metric->file, metric->line, 1,
                                  "metric %s names events, but layout %s is not of kind event",
                                  metric->name, set->layout->name);
    }
    return good;
}
