/*
 * perfetto_text FILE: prints a Perfetto trace as lines that a test can look for, and fails if its
 * tracks do not hold together: an event on a track that was not described, an end without a
 * beginning, a string that was not given, time that runs backwards on a track.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.pb-c.h"

enum { NAMES_MAX = 4096, TRACKS_MAX = 256 };

struct track {
    uint64_t uuid;
    uint64_t last_ns;
    unsigned depth;
};

static const char *event_names[NAMES_MAX];
static const char *argument_names[NAMES_MAX];
static const char *categories[NAMES_MAX];
static struct track tracks[TRACKS_MAX];
static size_t track_count;

static void fail(const char *what, uint64_t number)
{
    (void)fprintf(stderr, "perfetto_text: %s (%" PRIu64 ")\n", what, number);
    exit(1);
}

static const char *name_of(const char *const *names, uint64_t iid)
{
    if (iid == 0 || iid >= NAMES_MAX || !names[iid])
        fail("a string that was not given", iid);
    return names[iid];
}

static struct track *find_track(uint64_t uuid)
{
    for (size_t i = 0; i < track_count; i++) {
        if (tracks[i].uuid == uuid)
            return &tracks[i];
    }
    return NULL;
}

static void take_names(const Perfetto__Protos__InternedData *data)
{
    for (size_t i = 0; i < data->n_event_names; i++)
        event_names[data->event_names[i]->iid % NAMES_MAX] = data->event_names[i]->name;
    for (size_t i = 0; i < data->n_event_categories; i++)
        categories[data->event_categories[i]->iid % NAMES_MAX] = data->event_categories[i]->name;
    for (size_t i = 0; i < data->n_debug_annotation_names; i++)
        argument_names[data->debug_annotation_names[i]->iid % NAMES_MAX] =
            data->debug_annotation_names[i]->name;
}

static void print_value(const Perfetto__Protos__DebugAnnotation *value);

static void print_values(Perfetto__Protos__DebugAnnotation *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)printf(" ");
        if (values[i]->has_name_iid)
            (void)printf("%s=", name_of(argument_names, values[i]->name_iid));
        print_value(values[i]);
    }
}

static void print_value(const Perfetto__Protos__DebugAnnotation *value)
{
    if (value->string_value)
        (void)printf("'%s'", value->string_value);
    else if (value->has_uint_value)
        (void)printf("%" PRIu64, value->uint_value);
    else if (value->has_int_value)
        (void)printf("%" PRId64, value->int_value);
    else if (value->has_pointer_value)
        (void)printf("@%" PRIx64, value->pointer_value);
    else if (value->has_bool_value)
        (void)printf("%s", value->bool_value ? "true" : "false");
    else if (value->has_double_value)
        (void)printf("%g", value->double_value);
    (void)printf("%s", value->n_dict_entries ? "{" : "");
    print_values(value->dict_entries, value->n_dict_entries);
    (void)printf("%s", value->n_dict_entries ? " }" : "");
    (void)printf("%s", value->n_array_values ? "[" : "");
    print_values(value->array_values, value->n_array_values);
    (void)printf("%s", value->n_array_values ? " ]" : "");
}

static void take_track(const Perfetto__Protos__TrackDescriptor *descriptor)
{
    struct track *track = find_track(descriptor->uuid);

    if (descriptor->has_parent_uuid && !find_track(descriptor->parent_uuid))
        fail("a track below one that was not described", descriptor->uuid);
    if (!track && track_count == TRACKS_MAX)
        fail("too many tracks", track_count);
    if (!track)
        tracks[track_count++].uuid = descriptor->uuid;
    if (descriptor->process && descriptor->process->process_name)
        (void)printf("process %d %s\n", descriptor->process->pid,
                     descriptor->process->process_name);
    if (descriptor->thread && descriptor->thread->thread_name)
        (void)printf("thread %d %s\n", descriptor->thread->tid, descriptor->thread->thread_name);
    if (descriptor->name)
        (void)printf("track %s\n", descriptor->name);
}

static void take_event(const Perfetto__Protos__TrackEvent *event, uint64_t time_ns)
{
    struct track *track = find_track(event->track_uuid);

    if (!track)
        fail("an event on a track that was not described", event->track_uuid);
    if (event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END) {
        if (track->depth == 0)
            fail("an end without a beginning", time_ns);
        track->depth--;
    }
    if (track->depth == 0 && time_ns < track->last_ns &&
        event->type != PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT)
        fail("time runs backwards", time_ns);
    track->last_ns = time_ns;
    if (event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
        track->depth++;
    if (event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_COUNTER)
        (void)printf("counter %.17g\n", event->has_counter_value ? (double)event->counter_value
                                                                 : event->double_counter_value);
    if (!event->has_name_iid)
        return;
    (void)printf("%s %s", name_of(categories, event->category_iids[0]),
                 name_of(event_names, event->name_iid));
    print_values(event->debug_annotations, event->n_debug_annotations);
    (void)printf("\n");
}

static void take_packet(const Perfetto__Protos__TracePacket *packet, bool is_first)
{
    if (packet->trusted_packet_sequence_id != 1)
        fail("a packet of no sequence", packet->trusted_packet_sequence_id);
    if (packet->sequence_flags != (is_first ? 1u : 2u))
        fail("wrong flags", packet->sequence_flags);
    if (packet->interned_data)
        take_names(packet->interned_data);
    if (packet->clock_snapshot)
        (void)printf("clocks %zu\n", packet->clock_snapshot->n_clocks);
    if (packet->track_descriptor)
        take_track(packet->track_descriptor);
    if (packet->track_event && packet->timestamp_clock_id != 3)
        fail("a time of another clock", packet->timestamp_clock_id);
    if (packet->track_event)
        take_event(packet->track_event, packet->timestamp);
}

int main(int count, char **arguments)
{
    static uint8_t bytes[16 << 20];
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    const size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    Perfetto__Protos__Trace *trace = perfetto__protos__trace__unpack(NULL, size, bytes);
    unsigned open_count = 0;

    if (size == 0 || !trace)
        fail("no trace", size);
    for (size_t i = 0; i < trace->n_packet; i++)
        take_packet(trace->packet[i], i == 0);
    for (size_t i = 0; i < track_count; i++)
        open_count += tracks[i].depth;
    (void)printf("open %u\n", open_count);
    perfetto__protos__trace__free_unpacked(trace, NULL);
    (void)fclose(file);
    return 0;
}
