/*
 * A well-behaved plugin whose devices come from its settings:
 *
 *   devices   ids, comma separated; "root/tile" is a tile; none: no device
 *   compute   "no" leaves out the compute table, "queues" all of it but queues
 *   metric    "no" leaves out the metric table
 *   debug     "no" leaves out the debug table, which says only that there is nothing to debug
 *   fork      "yes" offers child_after_fork
 *   short     "yes" gives tables that end after their required functions
 *
 * Each negotiation makes an instance of its own, so several manifests can share this library.
 */
#include <string.h>

#include "tests/harness/device/scripted.h"
#include "zeta/plugin_host.h"

#define DEVICES_MAX 16

struct zeta_plugin_device {
    char id[64];
    uint32_t parent;
    uint32_t tile;
};

struct zeta_plugin {
    struct zeta_host host;
    struct zeta_plugin_device devices[DEVICES_MAX];
    uint32_t count;
    struct zeta_plugin_ops ops;
    struct zeta_plugin_device_ops device_ops;
    struct zeta_plugin_compute_ops compute_ops;
    struct zeta_plugin_metric_ops metric_ops;
};

static struct zeta_plugin_string setting(const struct zeta_plugin *self, const char *name)
{
    struct zeta_plugin_string value = {0};

    (void)self->host.ops->setting(self->host.handle, scripted_text(name), &value);
    return value;
}

static uint32_t find(const struct zeta_plugin *self, const char *id, size_t length)
{
    for (uint32_t i = 0; i < self->count; i++) {
        if (strlen(self->devices[i].id) == length && memcmp(self->devices[i].id, id, length) == 0)
            return i;
    }
    return UINT32_MAX;
}

static void add_device(struct zeta_plugin *self, const char *id, size_t length)
{
    struct zeta_plugin_device *device = &self->devices[self->count];
    const char *slash;

    if (self->count == DEVICES_MAX || length == 0 || length >= sizeof(device->id))
        return;
    slash = memchr(id, '/', length);
    device->parent = slash ? find(self, id, (size_t)(slash - id)) : UINT32_MAX;
    device->tile = 0;
    for (uint32_t i = 0; slash && i < self->count; i++)
        device->tile += self->devices[i].parent == device->parent;
    memcpy(device->id, id, length);
    device->id[length] = '\0';
    self->count++;
}

static uint32_t init(struct zeta_plugin *self)
{
    struct zeta_plugin_string list = setting(self, "devices");
    uint64_t start = 0;

    self->count = 0;
    for (uint64_t at = 0; at <= list.size; at++) {
        if (at < list.size && list.data[at] != ',')
            continue;
        add_device(self, list.data + start, at - start);
        start = at + 1;
    }
    return ZETA_PLUGIN_SUCCESS;
}

/* Nothing that a device said is there afterwards. */
static void finish(struct zeta_plugin *self)
{
    self->count = 0;
    memset(self->devices, 0, sizeof(self->devices));
}

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    for (uint32_t i = 0; i < capacity && i < self->count; i++)
        out_devices[i] = &self->devices[i];
    *out_count = self->count;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out_properties)
{
    out_properties->name = scripted_text(self->host.id);
    out_properties->id = scripted_text(device->id);
    out_properties->type = ZETA_PLUGIN_DEVICE_GPU;
    out_properties->parent = device->parent;
    out_properties->tile = device->tile;
    out_properties->timer_hz = 25000000;
    out_properties->timestamp_valid_bits = 32;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self;
    (void)device;
    out_clock->device_ticks = 1;
    out_clock->host_ns = 40;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t child_after_fork(struct zeta_plugin *self)
{
    (void)self;
    return ZETA_PLUGIN_SUCCESS;
}

/* Tables that are never called by the tests of the host; they only have to be complete. */
static uint32_t refuse(struct zeta_plugin *self)
{
    self->host.ops->fail(self->host.handle, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                         scripted_text("the fake plugin computes nothing"));
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_memory_desc *desc, void **out_address)
{
    (void)device;
    (void)desc;
    (void)out_address;
    return refuse(self);
}

static uint32_t memory_free(struct zeta_plugin *self, void *address)
{
    (void)address;
    return refuse(self);
}

static uint32_t module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_module_desc *desc,
                              const struct zeta_plugin_log_sink *log,
                              struct zeta_plugin_module **out_module)
{
    (void)device;
    (void)desc;
    (void)log;
    (void)out_module;
    return refuse(self);
}

static void module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module)
{
    (void)self;
    (void)module;
}

static uint32_t module_array(struct zeta_plugin *self, struct zeta_plugin_module *module,
                             struct zeta_plugin_array *out_array)
{
    (void)module;
    (void)out_array;
    return refuse(self);
}

static uint32_t module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name, void **out_address,
                              uint64_t *out_bytes)
{
    (void)module;
    (void)name;
    (void)out_address;
    (void)out_bytes;
    return refuse(self);
}

static uint32_t kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name,
                              struct zeta_plugin_kernel **out_kernel)
{
    (void)module;
    (void)name;
    (void)out_kernel;
    return refuse(self);
}

static void kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    (void)self;
    (void)kernel;
}

static uint32_t kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                  struct zeta_plugin_kernel_properties *out_properties)
{
    (void)kernel;
    (void)out_properties;
    return refuse(self);
}

static uint32_t queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue)
{
    (void)device;
    (void)desc;
    (void)out_queue;
    return refuse(self);
}

static void queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    (void)queue;
}

static uint32_t submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                       const struct zeta_plugin_array *commands, void *cookie)
{
    (void)queue;
    (void)commands;
    (void)cookie;
    return refuse(self);
}

static void wake(struct zeta_plugin *self)
{
    (void)self;
}

static uint32_t queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)queue;
    return refuse(self);
}

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    (void)device;
    (void)desc;
    (void)out_stream;
    return refuse(self);
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)stream;
    (void)buffer;
    (void)capacity_bytes;
    (void)out_read;
    return refuse(self);
}

static void fill_device_ops(struct zeta_plugin *self)
{
    self->device_ops = (struct zeta_plugin_device_ops){
        .struct_size = sizeof(self->device_ops),
        .enumerate = enumerate,
        .properties = properties,
        .clock = read_clock,
        .child_after_fork = scripted_is(setting(self, "fork"), "yes") ? child_after_fork : NULL,
    };
    if (scripted_is(setting(self, "short"), "yes"))
        self->device_ops.struct_size = offsetof(struct zeta_plugin_device_ops, status);
}

static void fill_compute_ops(struct zeta_plugin *self)
{
    if (scripted_is(setting(self, "compute"), "queues")) {
        self->compute_ops = scripted_no_queues;
        return;
    }
    self->compute_ops = (struct zeta_plugin_compute_ops){
        .struct_size = sizeof(self->compute_ops),
        .memory_allocate = memory_allocate,
        .memory_free = memory_free,
        .module_create = module_create,
        .module_destroy = module_destroy,
        .module_kernel_names = module_array,
        .module_native_image = module_array,
        .module_global = module_global,
        .kernel_create = kernel_create,
        .kernel_destroy = kernel_destroy,
        .kernel_properties = kernel_properties,
        .queue_create = queue_create,
        .queue_destroy = queue_destroy,
        .submit = submit,
        .wake = wake,
        .queue_status = queue_status,
    };
}

static void fill_metric_ops(struct zeta_plugin *self)
{
    self->metric_ops = (struct zeta_plugin_metric_ops){
        .struct_size = sizeof(self->metric_ops),
        .symbols = scripted_no_symbols,
        .limits = scripted_limits,
        .stream_open = stream_open,
        .stream_read = stream_read,
        .stream_close = scripted_no_stream_close,
        .query_pool_create = scripted_no_pool_create,
        .query_pool_destroy = scripted_no_pool_destroy,
        .query_reset = scripted_no_query_reset,
        .query_collect = scripted_no_query_collect,
    };
}

static uint32_t debug_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 struct zeta_plugin_debug_properties *out_properties)
{
    (void)device;
    (void)out_properties;
    self->host.ops->fail(self->host.handle, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                         scripted_text("the fake plugin debugs nothing"));
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static const struct zeta_plugin_debug_ops debug_ops = {
    .struct_size = sizeof(debug_ops),
    .properties = debug_properties,
};

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    const uint32_t result =
        zeta_host_negotiate(offer, NULL, "1.2.3", sizeof(struct zeta_plugin), out_answer);
    struct zeta_plugin *self = out_answer->self;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    fill_device_ops(self);
    fill_compute_ops(self);
    fill_metric_ops(self);
    self->ops = (struct zeta_plugin_ops){
        .struct_size = sizeof(self->ops),
        .init = init,
        .finish = finish,
        .device = &self->device_ops,
        .compute = scripted_is(setting(self, "compute"), "no") ? NULL : &self->compute_ops,
        .metric = scripted_is(setting(self, "metric"), "no") ? NULL : &self->metric_ops,
        .debug = scripted_is(setting(self, "debug"), "no") ? NULL : &debug_ops,
    };
    out_answer->ops = &self->ops;
    return ZETA_PLUGIN_SUCCESS;
}
