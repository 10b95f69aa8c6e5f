/* Perfetto's format: packets one after the other, each of which is a piece of the message Trace. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.pb-c.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/trace/line.h"

enum { ANNOTATIONS_MAX = 1024, ANNOTATION_TEXT_BYTES = 64 * 1024 };

struct state {
    struct zeta_name_table categories;
    struct zeta_name_table names;
    struct zeta_name_table arguments; /* their numbers are the ids minus 1 */
    struct zeta_name_table tracks;    /* "pid/tid" of those that were described */
    struct zeta_name_table counters;

    /* Of one event. What finds no room is left out: libzeta writes less than that. */
    uint32_t arguments_before; /* names from this number on are new in this event */
    Perfetto__Protos__DebugAnnotation values[ANNOTATIONS_MAX];
    uint32_t value_count;
    Perfetto__Protos__DebugAnnotation *lists[ANNOTATIONS_MAX];
    uint32_t list_count;
    Perfetto__Protos__DebugAnnotationName new_arguments[ANNOTATIONS_MAX];
    Perfetto__Protos__DebugAnnotationName *new_argument_list[ANNOTATIONS_MAX];
    char text[ANNOTATION_TEXT_BYTES];
    size_t text_bytes;

    uint8_t *buffer; /* of a packet */
    size_t buffer_bytes;
    bool has_begun;
};

static void begin_event(struct state *state)
{
    state->arguments_before = state->arguments.count;
    state->value_count = 0;
    state->list_count = 0;
    state->text_bytes = 0;
}

/* A copy that lasts as long as the event. */
static char *copy_text(struct state *state, const char *text)
{
    static char nothing[1];
    const size_t room = sizeof(state->text) - state->text_bytes;
    char *at = state->text + state->text_bytes;

    if (room == 0)
        return nothing;
    (void)snprintf(at, room, "%s", text);
    state->text_bytes += strlen(at) + 1;
    return at;
}

/* Addresses are strings of hexadecimal digits in JSON. */
static bool read_address(const char *text, uint64_t *out_address)
{
    char *end = NULL;

    if (strncmp(text, "0x", 2) != 0 || !isxdigit((unsigned char)text[2]))
        return false;
    errno = 0;
    *out_address = strtoull(text, &end, 16);
    return *end == '\0' && errno == 0;
}

static Perfetto__Protos__DebugAnnotation **
add_annotations(struct state *state, struct json_object *container, size_t *out_count);

static void set_value(struct state *state, Perfetto__Protos__DebugAnnotation *value,
                      struct json_object *json)
{
    switch (json_object_get_type(json)) {
    case json_type_int:
        value->has_int_value = json_object_get_int64(json) < 0;
        value->int_value = json_object_get_int64(json);
        value->has_uint_value = !value->has_int_value;
        value->uint_value = json_object_get_uint64(json);
        break;
    case json_type_double:
        value->has_double_value = true;
        value->double_value = json_object_get_double(json);
        break;
    case json_type_boolean:
        value->has_bool_value = true;
        value->bool_value = json_object_get_boolean(json);
        break;
    case json_type_object:
        value->dict_entries = add_annotations(state, json, &value->n_dict_entries);
        break;
    case json_type_array:
        value->array_values = add_annotations(state, json, &value->n_array_values);
        break;
    case json_type_string:
        value->has_pointer_value =
            read_address(json_object_get_string(json), &value->pointer_value);
        if (!value->has_pointer_value)
            value->string_value = copy_text(state, json_object_get_string(json));
        break;
    case json_type_null:
    default:
        value->has_pointer_value = true;
        break;
    }
}

static Perfetto__Protos__DebugAnnotation **
add_annotations(struct state *state, struct json_object *container, size_t *out_count)
{
    const bool is_object = json_object_is_type(container, json_type_object);
    const size_t count = is_object ? (size_t)json_object_object_length(container)
                                   : json_object_array_length(container);
    Perfetto__Protos__DebugAnnotation **list = state->lists + state->list_count;
    struct lh_entry *member = NULL;

    *out_count = 0;
    if (count > ANNOTATIONS_MAX - state->list_count || count > ANNOTATIONS_MAX - state->value_count)
        return NULL;
    state->list_count += (uint32_t)count;
    if (is_object)
        member = lh_table_head(json_object_get_object(container));
    while (*out_count < count && state->value_count < ANNOTATIONS_MAX) {
        Perfetto__Protos__DebugAnnotation *value = &state->values[state->value_count++];
        struct json_object *json;
        uint32_t number = 0;

        perfetto__protos__debug_annotation__init(value);
        if (is_object) {
            (void)zeta_name_table_get(&state->arguments, lh_entry_k(member), &number);
            value->has_name_iid = true;
            value->name_iid = number + 1;
            json = (struct json_object *)lh_entry_v(member);
            member = lh_entry_next(member);
        } else {
            json = json_object_array_get_idx(container, *out_count);
        }
        set_value(state, value, json);
        list[(*out_count)++] = value;
    }
    return list;
}

/* ---- packets ---------------------------------------------------------------------------- */

/* Names that the format gives to clocks. */
enum { CLOCK_OF_TIME_OF_DAY = 1, CLOCK_OF_TRACE = 3, CLOCK_OF_BOOT = 6 };

/* Flags of a packet: strings of before are void; strings of before are needed. */
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };

static void write_packet(struct zeta_trace_writer *writer, Perfetto__Protos__TracePacket *packet)
{
    struct state *state = writer->state;
    Perfetto__Protos__Trace trace = PERFETTO__PROTOS__TRACE__INIT;
    size_t bytes;

    packet->has_trusted_packet_sequence_id = true;
    packet->trusted_packet_sequence_id = 1;
    packet->has_sequence_flags = true;
    packet->sequence_flags = state->has_begun ? STATE_NEEDED : STATE_CLEARED;
    state->has_begun = true;
    trace.n_packet = 1;
    trace.packet = &packet;
    bytes = perfetto__protos__trace__get_packed_size(&trace);
    if (bytes > state->buffer_bytes) {
        state->buffer = zeta_reallocate(state->buffer, 2, bytes);
        state->buffer_bytes = 2 * bytes;
    }
    (void)perfetto__protos__trace__pack(&trace, state->buffer);
    (void)fwrite(state->buffer, 1, bytes, writer->file);
}

/* ---- tracks -------------------------------------------------------------------------------- */

static uint64_t process_uuid(const struct zeta_trace_line *line)
{
    return line->pid << 32;
}

static uint64_t track_uuid(const struct zeta_trace_line *line)
{
    return line->pid << 32 | (line->tid & UINT32_MAX);
}

static void write_descriptor(struct zeta_trace_writer *writer,
                             Perfetto__Protos__TrackDescriptor *descriptor, uint64_t uuid)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

    descriptor->has_uuid = true;
    descriptor->uuid = uuid;
    packet.track_descriptor = descriptor;
    write_packet(writer, &packet);
}

static void describe_process(struct zeta_trace_writer *writer, const struct zeta_trace_line *line,
                             char *name, char *command)
{
    Perfetto__Protos__TrackDescriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__ProcessDescriptor process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;

    descriptor.process = &process;
    process.has_pid = true;
    process.pid = (int32_t)line->pid;
    process.process_name = name;
    process.n_cmdline = command ? 1 : 0;
    process.cmdline = &command;
    write_descriptor(writer, &descriptor, process_uuid(line));
}

/* Describes a track, of a thread or of a device, unless that was done without a name now. */
static void know_track(struct zeta_trace_writer *writer, const struct zeta_trace_line *line,
                       char *name)
{
    struct state *state = writer->state;
    Perfetto__Protos__TrackDescriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__ThreadDescriptor thread = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
    char unnamed[] = "device";
    char key[48];
    uint32_t number = 0;

    (void)snprintf(key, sizeof(key), "%" PRIu64 "/%" PRIu64, line->pid, line->tid);
    if (!zeta_name_table_get(&state->tracks, key, &number) && !name)
        return;
    descriptor.has_parent_uuid = true;
    descriptor.parent_uuid = process_uuid(line);
    if (strcmp(line->category, "device") == 0) {
        descriptor.name = name ? name : unnamed;
    } else {
        descriptor.thread = &thread;
        thread.has_pid = true;
        thread.pid = (int32_t)line->pid;
        thread.has_tid = true;
        thread.tid = (int32_t)line->tid;
        thread.thread_name = name;
    }
    write_descriptor(writer, &descriptor, track_uuid(line));
}

/* ---- metadata ------------------------------------------------------------------------------ */

static bool find_text(struct zeta_trace_writer *writer, const struct zeta_trace_line *line,
                      const char *name, char **out_text)
{
    struct json_object *value = json_object_object_get(line->arguments, name);

    if (!json_object_is_type(value, json_type_string))
        return false;
    *out_text = copy_text(writer->state, json_object_get_string(value));
    return true;
}

static void add_clocks(struct zeta_trace_writer *writer, const struct zeta_trace_line *line)
{
    static const struct {
        const char *name;
        uint32_t id;
    } known[] = {{"realtime_ns", CLOCK_OF_TIME_OF_DAY},
                 {"monotonic_ns", CLOCK_OF_TRACE},
                 {"boottime_ns", CLOCK_OF_BOOT}};
    enum { COUNT = sizeof(known) / sizeof(known[0]) };
    Perfetto__Protos__ClockSnapshot snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
    Perfetto__Protos__ClockSnapshot__Clock clocks[COUNT];
    Perfetto__Protos__ClockSnapshot__Clock *list[COUNT];
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

    for (size_t i = 0; i < COUNT; i++) {
        char *text = NULL;

        if (!find_text(writer, line, known[i].name, &text))
            continue;
        perfetto__protos__clock_snapshot__clock__init(&clocks[i]);
        clocks[i].has_clock_id = true;
        clocks[i].clock_id = known[i].id;
        clocks[i].has_timestamp = true;
        clocks[i].timestamp = strtoull(text, NULL, 10);
        list[snapshot.n_clocks++] = &clocks[i];
    }
    snapshot.clocks = list;
    packet.clock_snapshot = &snapshot;
    write_packet(writer, &packet);
}

static void add_metadata(struct zeta_trace_writer *writer, const struct zeta_trace_line *line)
{
    char *text = NULL;

    begin_event(writer->state);
    if (strcmp(line->name, "zeta_trace") == 0) {
        add_clocks(writer, line);
        if (find_text(writer, line, "command", &text))
            describe_process(writer, line, NULL, text);
    } else if (find_text(writer, line, "name", &text)) {
        if (strcmp(line->name, "process_name") == 0)
            describe_process(writer, line, text, NULL);
        else if (strcmp(line->name, "thread_name") == 0)
            know_track(writer, line, text);
    }
}

/* ---- events -------------------------------------------------------------------------------- */

static void write_event(struct zeta_trace_writer *writer, Perfetto__Protos__TrackEvent *event,
                        Perfetto__Protos__TrackEvent__Type type, uint64_t time_ns,
                        Perfetto__Protos__InternedData *data)
{
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

    event->has_type = true;
    event->type = type;
    packet.track_event = event;
    packet.interned_data = data;
    packet.has_timestamp = true;
    packet.timestamp = time_ns;
    packet.has_timestamp_clock_id = true;
    packet.timestamp_clock_id = CLOCK_OF_TRACE;
    write_packet(writer, &packet);
}

/* Strings that no earlier event had come along as interned data. */
static void add_event(struct zeta_trace_writer *writer, const struct zeta_trace_line *line)
{
    struct state *state = writer->state;
    Perfetto__Protos__TrackEvent first = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    Perfetto__Protos__TrackEvent last = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    Perfetto__Protos__InternedData fresh = PERFETTO__PROTOS__INTERNED_DATA__INIT;
    Perfetto__Protos__EventCategory category = PERFETTO__PROTOS__EVENT_CATEGORY__INIT;
    Perfetto__Protos__EventCategory *categories = &category;
    Perfetto__Protos__EventName name = PERFETTO__PROTOS__EVENT_NAME__INIT;
    Perfetto__Protos__EventName *names = &name;
    uint64_t category_iid;
    uint32_t number = 0;

    know_track(writer, line, NULL);
    begin_event(state);
    if (zeta_name_table_get(&state->categories, line->category, &number)) {
        category.has_iid = true;
        category.iid = number + 1;
        category.name = state->categories.names[number];
        fresh.event_categories = &categories;
        fresh.n_event_categories = 1;
    }
    category_iid = number + 1;
    first.n_category_iids = 1;
    first.category_iids = &category_iid;
    if (zeta_name_table_get(&state->names, line->name, &number)) {
        name.has_iid = true;
        name.iid = number + 1;
        name.name = copy_text(state, line->name);
        fresh.event_names = &names;
        fresh.n_event_names = 1;
    }
    first.has_name_iid = true;
    first.name_iid = number + 1;
    if (line->arguments)
        first.debug_annotations =
            add_annotations(state, line->arguments, &first.n_debug_annotations);
    fresh.debug_annotation_names = state->new_argument_list;
    for (uint32_t i = state->arguments_before; i < state->arguments.count; i++) {
        Perfetto__Protos__DebugAnnotationName *argument =
            &state->new_arguments[fresh.n_debug_annotation_names];

        perfetto__protos__debug_annotation_name__init(argument);
        argument->has_iid = true;
        argument->iid = i + 1;
        argument->name = copy_text(state, state->arguments.names[i]);
        state->new_argument_list[fresh.n_debug_annotation_names++] = argument;
    }
    first.has_track_uuid = true;
    first.track_uuid = track_uuid(line);
    write_event(writer, &first,
                line->phase == 'i' ? PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT
                                   : PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
                line->begin_ns, &fresh);
    if (line->phase != 'X')
        return;
    last.has_track_uuid = true;
    last.track_uuid = first.track_uuid;
    write_event(writer, &last, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END,
                line->begin_ns + line->duration_ns, NULL);
}

/* ---- counters ------------------------------------------------------------------------------ */

static void add_counter(struct zeta_trace_writer *writer, const struct zeta_trace_line *line)
{
    struct state *state = writer->state;
    Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    struct json_object *value = json_object_object_get(line->arguments, "value");
    char key[1024];
    bool is_new;
    uint32_t number = 0;

    if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double))
        return;
    begin_event(state);
    (void)snprintf(key, sizeof(key), "%" PRIu64 "/%" PRIu64 "/%s", line->pid, line->tid,
                   line->name);
    is_new = zeta_name_table_get(&state->counters, key, &number);
    event.has_track_uuid = true;
    /* No process has that number. */
    event.track_uuid = UINT64_C(1) << 62 | number;
    if (is_new) {
        Perfetto__Protos__TrackDescriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
        Perfetto__Protos__CounterDescriptor counter = PERFETTO__PROTOS__COUNTER_DESCRIPTOR__INIT;

        descriptor.has_parent_uuid = true;
        descriptor.parent_uuid = process_uuid(line);
        descriptor.counter = &counter;
        descriptor.name = copy_text(state, line->name);
        write_descriptor(writer, &descriptor, event.track_uuid);
    }
    event.has_double_counter_value = json_object_is_type(value, json_type_double);
    event.double_counter_value = json_object_get_double(value);
    event.has_counter_value = !event.has_double_counter_value;
    event.counter_value = json_object_get_int64(value);
    write_event(writer, &event, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_COUNTER, line->begin_ns,
                NULL);
}

static void begin(struct zeta_trace_writer *writer)
{
    writer->state = zeta_allocate(1, sizeof(struct state));
}

static void add(struct zeta_trace_writer *writer, const struct zeta_trace_line *line)
{
    switch (line->phase) {
    case 'M':
        add_metadata(writer, line);
        break;
    case 'X':
    case 'B':
    case 'i':
        add_event(writer, line);
        break;
    case 'C':
        add_counter(writer, line);
        break;
    default:
        break;
    }
}

static void end(struct zeta_trace_writer *writer)
{
    struct state *state = writer->state;

    zeta_name_table_finish(&state->categories);
    zeta_name_table_finish(&state->names);
    zeta_name_table_finish(&state->arguments);
    zeta_name_table_finish(&state->tracks);
    zeta_name_table_finish(&state->counters);
    free(state->buffer);
    free(state);
    writer->state = NULL;
}

static const struct zeta_trace_format format = {
    .suffix = ".pftrace", .begin = begin, .add = add, .end = end};

const struct zeta_trace_format *const zeta_trace_perfetto = &format;
