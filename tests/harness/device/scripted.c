#include "tests/harness/device/scripted.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct zeta_plugin_string scripted_text(const char *s)
{
    return (struct zeta_plugin_string){.data = s, .size = strlen(s)};
}

bool scripted_is(struct zeta_plugin_string a, const char *b)
{
    return a.size == strlen(b) && memcmp(a.data, b, a.size) == 0;
}

bool scripted_ring_open(struct scripted_ring *ring, uint32_t record_bytes, uint64_t capacity,
                        uint64_t notify_records)
{
    *ring = (struct scripted_ring){.record_bytes = record_bytes,
                                   .capacity = (uint32_t)capacity,
                                   .notify_records = (uint32_t)notify_records,
                                   .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    ring->records = calloc(ring->capacity, record_bytes);
    ring->breaks = calloc(ring->capacity, sizeof(*ring->breaks));
    if (ring->records && ring->breaks && ring->fd >= 0)
        return true;
    scripted_ring_close(ring);
    return false;
}

void scripted_ring_close(struct scripted_ring *ring)
{
    if (ring->fd >= 0)
        (void)close(ring->fd);
    free(ring->records);
    free(ring->breaks);
}

void scripted_ring_add(struct scripted_ring *ring, const void *record, struct scripted_break before)
{
    uint32_t tail;

    if (ring->count == ring->capacity) {
        const uint64_t lost = ring->breaks[ring->head].lost + 1;
        struct scripted_break *next;

        ring->head = (ring->head + 1) % ring->capacity;
        ring->count--;
        next = ring->count > 0 ? &ring->breaks[ring->head] : &before;
        next->broken = true;
        next->reason = ZETA_PLUGIN_BREAK_OVERFLOW;
        next->lost += lost;
    }
    tail = (ring->head + ring->count) % ring->capacity;
    memcpy(ring->records + (size_t)tail * ring->record_bytes, record, ring->record_bytes);
    ring->breaks[tail] = before;
    ring->count++;
}

void scripted_ring_read(struct scripted_ring *ring, void *target, uint64_t capacity_bytes,
                        struct zeta_plugin_read *out_read)
{
    out_read->bytes = 0;
    while (ring->count > 0 && capacity_bytes - out_read->bytes >= ring->record_bytes) {
        const struct scripted_break *before = &ring->breaks[ring->head];

        if (before->broken && out_read->bytes > 0)
            break;
        if (before->broken) {
            out_read->broken = 1;
            out_read->lost = before->lost;
            out_read->reason = before->reason;
        }
        memcpy((uint8_t *)target + out_read->bytes,
               ring->records + (size_t)ring->head * ring->record_bytes, ring->record_bytes);
        out_read->bytes += ring->record_bytes;
        ring->head = (ring->head + 1) % ring->capacity;
        ring->count--;
    }
    scripted_ring_show(ring);
}

void scripted_ring_show(struct scripted_ring *ring)
{
    uint64_t value = 1;
    ssize_t done;

    if (ring->count >= ring->notify_records)
        done = write(ring->fd, &value, sizeof(value));
    else
        done = read(ring->fd, &value, sizeof(value));
    (void)done; /* the eventfd may be at this level already */
}

void scripted_describe(const struct scripted_device *device,
                       struct zeta_plugin_device_properties *out)
{
    out->name = scripted_text(device->id);
    out->id = scripted_text(device->id);
    out->type = ZETA_PLUGIN_DEVICE_GPU;
    out->parent = device->parent;
    out->tile = device->tile;
    out->vendor_id = device->vendor_id;
    out->device_id = 1;
    memcpy(out->uuid, device->id, strlen(device->id));
    out->timer_hz = device->timer_hz;
    out->timestamp_valid_bits = device->timestamp_valid_bits;
    out->kernel_timestamp_valid_bits = device->timestamp_valid_bits;
    out->slices = 1;
    out->subslices_per_slice = 1;
    out->eus_per_subslice = 1;
    out->threads_per_eu = 1;
    out->simd_width = 1;
}

void scripted_finish(struct zeta_plugin *self)
{
    (void)self;
}

uint32_t scripted_status(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    (void)self;
    (void)device;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t scripted_no_symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             struct zeta_plugin_array *out_symbols)
{
    (void)self;
    (void)device;
    *out_symbols = (struct zeta_plugin_array){.stride = sizeof(struct zeta_plugin_symbol)};
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t scripted_limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    (void)self;
    (void)device;
    (void)unit;
    out_limits->min_period_ns = 1000;
    out_limits->max_period_ns = 1000000;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t scripted_no_stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 struct zeta_plugin_stream_desc *desc,
                                 struct zeta_plugin_stream **out_stream)
{
    (void)self;
    (void)device;
    (void)desc;
    (void)out_stream;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

uint32_t scripted_no_stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                                 void *buffer, uint64_t capacity_bytes,
                                 struct zeta_plugin_read *out_read)
{
    (void)self;
    (void)stream;
    (void)buffer;
    (void)capacity_bytes;
    (void)out_read;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

void scripted_no_stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    (void)stream;
}

uint32_t scripted_no_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 const struct zeta_plugin_query_desc *desc,
                                 struct zeta_plugin_query_pool **out_pool)
{
    (void)self;
    (void)device;
    (void)desc;
    (void)out_pool;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

void scripted_no_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool)
{
    (void)self;
    (void)pool;
}

uint32_t scripted_no_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                 uint32_t index)
{
    (void)self;
    (void)pool;
    (void)index;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

uint32_t scripted_no_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                   uint32_t index, void *records)
{
    (void)self;
    (void)pool;
    (void)index;
    (void)records;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

static uint32_t no_queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_queue_desc *desc,
                                struct zeta_plugin_queue **out_queue)
{
    (void)self;
    (void)device;
    (void)desc;
    (void)out_queue;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

static void no_queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    (void)queue;
}

static uint32_t no_submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                          const struct zeta_plugin_array *commands, void *cookie)
{
    (void)self;
    (void)queue;
    (void)commands;
    (void)cookie;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

static void no_wake(struct zeta_plugin *self)
{
    (void)self;
}

static uint32_t no_queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    (void)queue;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}

const struct zeta_plugin_compute_ops scripted_no_queues = {
    .struct_size = sizeof(scripted_no_queues),
    .queue_create = no_queue_create,
    .queue_destroy = no_queue_destroy,
    .submit = no_submit,
    .wake = no_wake,
    .queue_status = no_queue_status,
};
