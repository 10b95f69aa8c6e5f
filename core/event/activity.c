#include "core/event/activity.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/trace/sink.h"
#include "core/trace/text.h"

/* Tracks have ids as threads do, and no thread has so large a number. */
#define FIRST_TRACK 100000000

#define LINE_BYTES 2048
#define NAME_BYTES 256

/* One command that is watched. */
struct item {
    const struct zeta_trace_activity *activity;
    const struct zeta_plugin_command *command;
    struct zeta_plugin_event *event; /* of the application, or null */
    struct zeta_plugin_string name;  /* valid as long as the kernel, so until the command is over */
};

struct zeta_trace_activity {
    struct zeta_trace_queue queue;
    struct item *items;
    struct zeta_plugin_command commands[];
};

static _Atomic uint32_t track_count;

/* ---- records ------------------------------------------------------------------------------- */

static void begin_line(struct zeta_trace_text *text, const char *phase,
                       const struct zeta_trace_track *track)
{
    zeta_trace_text_put(text, "{\"ph\":\"");
    zeta_trace_text_put(text, phase);
    zeta_trace_text_put(text, "\",\"pid\":");
    zeta_trace_text_unsigned(text, (uint64_t)getpid());
    zeta_trace_text_put(text, ",\"tid\":");
    zeta_trace_text_unsigned(text, FIRST_TRACK + atomic_load(&track->number));
    zeta_trace_text_put(text, ",\"ts\":");
}

static void name_track(const struct zeta_trace_queue *queue, struct zeta_trace_slot *slot)
{
    const uint32_t generation = zeta_trace_file_generation();
    struct zeta_trace_track *track = queue->track;
    const struct zeta_device *device = queue->device;
    char line[LINE_BYTES];
    char name[NAME_BYTES];
    char tile[24] = "";
    struct zeta_trace_text text = {.data = line, .size_bytes = sizeof(line)};
    uint32_t none = 0;

    if (atomic_load(&track->generation) == generation ||
        atomic_exchange(&track->generation, generation) == generation)
        return;
    if (atomic_load(&track->number) == 0)
        (void)atomic_compare_exchange_strong(&track->number, &none,
                                             atomic_fetch_add(&track_count, 1) + 1);
    if (device->parent)
        (void)snprintf(tile, sizeof(tile), " tile %u", device->tile);
    (void)snprintf(name, sizeof(name), "%s%s, queue %u (group %u index %u)", device->name, tile,
                   atomic_load(&track->number), queue->ordinal, queue->index);
    begin_line(&text, "M", track);
    zeta_trace_text_put(&text, "0,\"cat\":\"device\",\"name\":\"thread_name\",\"args\":{\"name\":");
    zeta_trace_text_string(&text, name, strlen(name));
    zeta_trace_text_put(&text, "}},\n");
    if (!text.is_cut)
        zeta_trace_slot_write(slot, line, text.used_bytes, false);
}

static void add_three(struct zeta_trace_text *text, const char *name, const uint32_t values[3])
{
    zeta_trace_text_put(text, name);
    for (int i = 0; i < 3; i++) {
        zeta_trace_text_put(text, i > 0 ? " x " : "");
        zeta_trace_text_unsigned(text, values[i]);
    }
    zeta_trace_text_put(text, "\"");
}

/* source: NULL for none. */
static void add_memory(struct zeta_trace_text *text, const void *target, const void *source,
                       uint64_t bytes)
{
    zeta_trace_text_put(text, "\"target\":");
    zeta_trace_text_address(text, (uintptr_t)target);
    if (source) {
        zeta_trace_text_put(text, ",\"source\":");
        zeta_trace_text_address(text, (uintptr_t)source);
    }
    zeta_trace_text_put(text, ",\"bytes\":");
    zeta_trace_text_number(text, bytes);
}

static void add_arguments(struct zeta_trace_text *text, const struct zeta_plugin_command *command)
{
    const struct zeta_plugin_copy *copy = &command->u.copy;
    const struct zeta_plugin_copy_region *region = &command->u.region;
    const bool is_indirect = (command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) != 0;

    if (command->type == ZETA_PLUGIN_COMMAND_LAUNCH) {
        if (!is_indirect)
            add_three(text, "\"groups\":\"", command->u.launch.group_count);
        zeta_trace_text_comma(text);
        add_three(text, "\"group size\":\"", command->u.launch.group_size);
    } else if (command->type == ZETA_PLUGIN_COMMAND_COPY_REGION) {
        add_memory(text, region->target, region->source,
                   region->size[0] * region->size[1] * region->size[2]);
    } else if (command->type == ZETA_PLUGIN_COMMAND_FILL) {
        add_memory(text, command->u.fill.target, NULL, command->u.fill.size_bytes);
    } else if (!is_indirect) {
        add_memory(text, copy->target, copy->source, copy->size_bytes);
    }
}

/* When a command ran, CLOCK_MONOTONIC. */
struct span {
    uint64_t begin_ns;
    uint64_t end_ns;
};

/*
 * The clocks are read anew for each command, right after it: so they need not run equally fast, and
 * the timer may wrap.
 */
static bool find_span(const struct zeta_trace_queue *queue, const struct zeta_plugin_times *times,
                      struct span *out_span)
{
    const struct zeta_plugin_device_properties *properties = &queue->device->backend->properties;
    const uint64_t mask = zeta_valid_mask(properties->timestamp_valid_bits);
    const double ns_per_tick = 1e9 / (double)properties->timer_hz;
    uint64_t now_ticks = 0;
    uint64_t now_ns = 0;

    if (zeta_device_clock(queue->device, &now_ticks, &now_ns) != ZE_RESULT_SUCCESS)
        return false;
    now_ns += zeta_monotonic_ns() - zeta_clock_raw_ns();
    out_span->begin_ns =
        now_ns - (uint64_t)((double)((now_ticks - times->begin_ticks) & mask) * ns_per_tick);
    out_span->end_ns =
        now_ns - (uint64_t)((double)((now_ticks - times->end_ticks) & mask) * ns_per_tick);
    return true;
}

static void write_record(const struct item *item, struct span span)
{
    const struct zeta_trace_queue *queue = &item->activity->queue;
    struct zeta_trace_slot *slot = zeta_sink_slot();
    char line[LINE_BYTES];
    struct zeta_trace_text text = {.data = line, .size_bytes = sizeof(line)};

    if (!slot)
        return;
    name_track(queue, slot);
    /* The two clocks are not read at the same instant, and viewers take an overlap for nesting. */
    const uint64_t last_ns = atomic_load_explicit(&queue->track->last_end_ns, memory_order_relaxed);
    if (span.begin_ns < last_ns)
        span.begin_ns = last_ns;
    if (span.end_ns < span.begin_ns)
        span.end_ns = span.begin_ns;
    atomic_store_explicit(&queue->track->last_end_ns, span.end_ns, memory_order_relaxed);
    begin_line(&text, "X", queue->track);
    zeta_trace_text_time(&text, span.begin_ns);
    zeta_trace_text_put(&text, ",\"cat\":\"device\",\"name\":");
    zeta_trace_text_string(&text, item->name.data, item->name.size);
    zeta_trace_text_put(&text, ",\"args\":{");
    add_arguments(&text, item->command);
    zeta_trace_text_put(&text, "},\"dur\":");
    zeta_trace_text_time(&text, span.end_ns - span.begin_ns);
    zeta_trace_text_put(&text, "},\n");
    if (!text.is_cut)
        zeta_trace_slot_write(slot, line, text.used_bytes, true);
    zeta_trace_slot_give(slot);
}

struct zeta_plugin_event *zeta_trace_activity_record(struct zeta_plugin_event *event,
                                                     const struct zeta_plugin_times *times)
{
    const struct item *item = (const struct item *)((uintptr_t)event & ~(uintptr_t)1);
    struct span span;

    if (times && zeta_trace_file_is_open() && find_span(&item->activity->queue, times, &span))
        write_record(item, span);
    return item->event;
}

/* ---- submissions --------------------------------------------------------------------------- */

static struct zeta_plugin_string name_of(const struct zeta_trace_queue *queue,
                                         const struct zeta_plugin_command *command)
{
    const struct zeta_backend *backend =
        queue->device->backend->providers[ZETA_GROUP_COMPUTE].backend;
    struct zeta_plugin_kernel_properties properties = {.struct_size = sizeof(properties)};

    if (command->type == ZETA_PLUGIN_COMMAND_FILL)
        return (struct zeta_plugin_string){"fill", sizeof("fill") - 1};
    if (command->type != ZETA_PLUGIN_COMMAND_LAUNCH)
        return (struct zeta_plugin_string){"copy", sizeof("copy") - 1};
    if (backend->compute.kernel_properties(backend->self, command->u.launch.kernel, &properties) !=
        ZETA_PLUGIN_SUCCESS)
        return (struct zeta_plugin_string){"kernel", sizeof("kernel") - 1};
    if (properties.name.size > NAME_BYTES)
        properties.name.size = NAME_BYTES;
    return properties.name;
}

void zeta_trace_activity_watch(const struct zeta_trace_queue *queue,
                               struct zeta_plugin_array *commands,
                               struct zeta_trace_activity **out_activity)
{
    const size_t items_bytes = commands->count * sizeof(struct item);
    struct zeta_trace_activity *activity;

    *out_activity = NULL;
    if (!zeta_trace_file_is_open())
        return;
    activity = malloc(sizeof(*activity) + commands->count * sizeof(activity->commands[0]));
    struct item *items = malloc(items_bytes);
    if (!activity || !items) {
        free(activity);
        free(items);
        zeta_trace_file_lose();
        return;
    }
    activity->queue = *queue;
    activity->items = items;
    memcpy(activity->commands, commands->data, commands->count * sizeof(activity->commands[0]));
    for (uint64_t i = 0; i < commands->count; i++) {
        struct zeta_plugin_command *command = &activity->commands[i];

        if (command->type != ZETA_PLUGIN_COMMAND_LAUNCH &&
            command->type != ZETA_PLUGIN_COMMAND_COPY &&
            command->type != ZETA_PLUGIN_COMMAND_COPY_REGION &&
            command->type != ZETA_PLUGIN_COMMAND_FILL)
            continue;
        items[i] = (struct item){activity, command, command->signal_event, name_of(queue, command)};
        command->signal_event = (struct zeta_plugin_event *)((uintptr_t)&items[i] | 1);
    }
    commands->data = activity->commands;
    *out_activity = activity;
}

void zeta_trace_activity_destroy(struct zeta_trace_activity *activity)
{
    if (activity)
        free(activity->items);
    free(activity);
}
