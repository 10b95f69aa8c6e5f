/* A backend whose ring is always full: reading costs what copying costs. For bench_stream. */
#include <string.h>

#include "tests/bench/stream/stream_backend.h"
#include "zeta/plugin.h"

struct zeta_plugin_device {
    int unused;
};

struct zeta_plugin {
    int unused;
};

struct zeta_plugin_stream {
    uint64_t at; /**< byte of the ring that comes next */
};

static struct zeta_plugin_device device;
static struct zeta_plugin instance;
static struct zeta_plugin_stream stream;

__attribute__((visibility("default"))) uint8_t stream_backend_ring[STREAM_RING_BYTES];

static struct zeta_plugin_string text(const char *s)
{
    return (struct zeta_plugin_string){.data = s, .size = strlen(s)};
}

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    (void)self;
    if (capacity > 0)
        out_devices[0] = &device;
    *out_count = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *which,
                           struct zeta_plugin_device_properties *out)
{
    (void)self;
    (void)which;
    out->name = text("stream");
    out->id = text("stream0");
    out->type = ZETA_PLUGIN_DEVICE_GPU;
    out->parent = UINT32_MAX;
    out->timer_hz = 25000000;
    out->timestamp_valid_bits = 32;
    out->kernel_timestamp_valid_bits = 32;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *which,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self;
    (void)which;
    (void)out_clock;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t symbols(struct zeta_plugin *self, struct zeta_plugin_device *which,
                        struct zeta_plugin_array *out_symbols)
{
    (void)self;
    (void)which;
    *out_symbols = (struct zeta_plugin_array){0};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *which,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    (void)self;
    (void)which;
    (void)unit;
    out_limits->min_period_ns = 1000;
    out_limits->max_period_ns = 1000000000;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *which,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    (void)self;
    (void)which;
    desc->ring_records = STREAM_RING_BYTES / STREAM_RECORD_BYTES;
    stream.at = 0;
    *out_stream = &stream;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *which,
                            void *buffer, uint64_t capacity, struct zeta_plugin_read *out)
{
    uint64_t bytes = capacity - capacity % STREAM_RECORD_BYTES;
    uint64_t first = STREAM_RING_BYTES - which->at;

    (void)self;
    if (bytes > STREAM_RING_BYTES)
        bytes = STREAM_RING_BYTES;
    if (first > bytes)
        first = bytes;
    memcpy(buffer, stream_backend_ring + which->at, first);
    memcpy((uint8_t *)buffer + first, stream_backend_ring, bytes - first);
    which->at = (which->at + bytes) % STREAM_RING_BYTES;
    out->bytes = bytes;
    return ZETA_PLUGIN_SUCCESS;
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *which)
{
    (void)self;
    (void)which;
}

static void finish(struct zeta_plugin *self)
{
    (void)self;
}

static const struct zeta_plugin_device_ops device_ops = {.struct_size = sizeof(device_ops),
                                                         .enumerate = enumerate,
                                                         .properties = properties,
                                                         .clock = read_clock};

static const struct zeta_plugin_metric_ops metric_ops = {.struct_size = sizeof(metric_ops),
                                                         .symbols = symbols,
                                                         .limits = limits,
                                                         .stream_open = stream_open,
                                                         .stream_read = stream_read,
                                                         .stream_close = stream_close};

static const struct zeta_plugin_ops ops = {
    .struct_size = sizeof(ops), .finish = finish, .device = &device_ops, .metric = &metric_ops};

__attribute__((visibility("default"))) uint32_t
zeta_plugin_negotiate(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer)
{
    out_answer->abi = ZETA_PLUGIN_ABI;
    out_answer->self = &instance;
    out_answer->ops = &ops;
    out_answer->id = offer->id;
    out_answer->version = text("1.0");
    return ZETA_PLUGIN_SUCCESS;
}
