#include "plugins/nvidia/activity/event.h"

#include <string.h>

_Static_assert(sizeof(struct nvidia_event) == NVIDIA_EVENT_BYTES &&
                   offsetof(struct nvidia_event, name) == 32 &&
                   offsetof(struct nvidia_event, bytes) == 64 &&
                   offsetof(struct nvidia_event, context) == 80,
               "the layout nv-event");

/* Bytes up to the last member that is read, by kind. */
enum { KERNEL_BYTES = 112, COPY_BYTES = 48, FILL_BYTES = 48, SYNCHRONIZATION_BYTES = 36 };

/* Kinds of copies as CUPTI numbers them. */
static const char *const copies[] = {
    "copy",
    "copy host to device",
    "copy device to host",
    "copy host to array",
    "copy array to host",
    "copy array to array",
    "copy array to device",
    "copy device to array",
    "copy device to device",
    "copy host to host",
    "copy between devices",
};

static const char *const synchronisations[] = {
    "synchronize",        "synchronize event",   "wait for event",
    "synchronize stream", "synchronize context",
};

static uint16_t u16_at(const void *record, size_t at)
{
    uint16_t value;

    memcpy(&value, (const char *)record + at, sizeof(value));
    return value;
}

static uint32_t u32_at(const void *record, size_t at)
{
    uint32_t value;

    memcpy(&value, (const char *)record + at, sizeof(value));
    return value;
}

static uint64_t u64_at(const void *record, size_t at)
{
    uint64_t value;

    memcpy(&value, (const char *)record + at, sizeof(value));
    return value;
}

static void read_kernel(const void *record, struct nvidia_event *event,
                        struct nvidia_event_text *text)
{
    event->type = NVIDIA_EVENT_KERNEL;
    event->begin = u64_at(record, 16);
    event->ticks = u64_at(record, 24);
    event->device = u32_at(record, 40);
    event->context = u32_at(record, 44);
    event->stream = u32_at(record, 48);
    for (size_t i = 0; i < 3; i++) {
        event->grid[i] = u32_at(record, 52 + 4 * i);
        event->block[i] = u32_at(record, 64 + 4 * i);
    }
    event->shared = u32_at(record, 76) + u32_at(record, 80);
    event->local = u32_at(record, 84);
    event->registers = u16_at(record, 6);
    event->correlation = u32_at(record, 92);
    event->detail = u64_at(record, 96);
    memcpy(&text->name, (const char *)record + 104, sizeof(text->name));
    text->has_device = true;
}

/* What copies and fills have at the same places. */
static void read_transfer(const void *record, struct nvidia_event *event)
{
    event->bytes = u64_at(record, 8);
    event->begin = u64_at(record, 16);
    event->ticks = u64_at(record, 24);
    event->device = u32_at(record, 32);
    event->context = u32_at(record, 36);
    event->stream = u32_at(record, 40);
    event->correlation = u32_at(record, 44);
}

static void read_synchronization(const void *record, struct nvidia_event *event,
                                 struct nvidia_event_text *text)
{
    const uint32_t type = u32_at(record, 4);

    event->type = NVIDIA_EVENT_SYNCHRONIZE;
    event->begin = u64_at(record, 8);
    event->ticks = u64_at(record, 16);
    event->correlation = u32_at(record, 24);
    event->context = u32_at(record, 28);
    event->stream = u32_at(record, 32);
    event->detail = type;
    text->name =
        synchronisations[type < sizeof(synchronisations) / sizeof(synchronisations[0]) ? type : 0];
}

bool nvidia_event_read(const void *record, size_t bytes, struct nvidia_event *out_event,
                       struct nvidia_event_text *out_text)
{
    struct nvidia_event event = {0};
    struct nvidia_event_text text = {0};
    const uint32_t kind = bytes >= sizeof(kind) ? u32_at(record, 0) : 0;
    uint8_t copy;

    if (kind == NVIDIA_RECORD_KERNEL && bytes >= KERNEL_BYTES) {
        read_kernel(record, &event, &text);
    } else if (kind == NVIDIA_RECORD_COPY && bytes >= COPY_BYTES) {
        copy = ((const uint8_t *)record)[4];
        read_transfer(record, &event);
        event.type = NVIDIA_EVENT_COPY;
        event.detail = copy;
        text.name = copies[copy < sizeof(copies) / sizeof(copies[0]) ? copy : 0];
        text.has_device = true;
    } else if (kind == NVIDIA_RECORD_FILL && bytes >= FILL_BYTES) {
        read_transfer(record, &event);
        event.type = NVIDIA_EVENT_FILL;
        event.detail = u32_at(record, 4);
        text.name = "fill";
        text.has_device = true;
    } else if (kind == NVIDIA_RECORD_SYNCHRONIZATION && bytes >= SYNCHRONIZATION_BYTES) {
        read_synchronization(record, &event, &text);
    } else {
        return false;
    }
    if (event.begin == 0 || event.ticks < event.begin)
        return false;
    *out_event = event;
    *out_text = text;
    return true;
}
