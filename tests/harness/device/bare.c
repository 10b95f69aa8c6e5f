/*
 * A device that nobody computes on: its plugin has metrics, and queues for queries. In its queries
 * the counter "Launches" is the number of time stamps that a queue wrote. Two manifests share the
 * library; each is a plugin of its own, with a root and two tiles named after the manifest.
 */
#include "tests/harness/device/compute_control.h"
#include "tests/harness/device/metrics.h"
#include "tests/harness/device/scripted.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/plugin.h>
#include <zeta/softqueue.h>

#define PLUGIN_COUNT 2u

struct zeta_plugin {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
    char ids[FAKE_DEVICE_COUNT][32];
    struct zeta_softqueue_pool *pool;
    struct zeta_plugin_device devices[FAKE_DEVICE_COUNT];
};

struct zeta_plugin_queue {
    struct zeta_plugin *self;
    struct zeta_softqueue *soft;
    struct fake_work work;
};

static struct zeta_plugin plugins[PLUGIN_COUNT];
static atomic_uint plugin_count;
static atomic_uint queue_count;

static uint64_t ticks_now(void *context)
{
    (void)context;
    return zeta_clock_ns(CLOCK_MONOTONIC_RAW) / 40;
}

/* ---------------------------------------------------------------- devices */

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    for (uint32_t i = 0; i < capacity && i < FAKE_DEVICE_COUNT; i++)
        out_devices[i] = &self->devices[i];
    *out_count = FAKE_DEVICE_COUNT;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out)
{
    static const struct zeta_plugin_queue_group group = {
        .struct_size = sizeof(group), .flags = ZETA_PLUGIN_QUEUE_METRICS, .queue_count = 2};

    out->name = out->id = scripted_text(self->ids[device->index]);
    out->type = ZETA_PLUGIN_DEVICE_GPU;
    out->parent = device->index == 0 ? UINT32_MAX : 0;
    out->tile = device->index == 0 ? 0 : device->index - 1;
    out->vendor_id = 0x1ba4e;
    memcpy(out->uuid, self->ids[device->index], strlen(self->ids[device->index]));
    out->timer_hz = 25000000;
    out->timestamp_valid_bits = 32;
    out->kernel_timestamp_valid_bits = 32;
    out->queue_groups =
        (struct zeta_plugin_array){.data = &group, .count = 1, .stride = sizeof(group)};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self, (void)device;
    out_clock->host_ns = zeta_clock_ns(CLOCK_MONOTONIC_RAW);
    out_clock->device_ticks = out_clock->host_ns / 40;
    out_clock->error_ns = 40;
    out_clock->raw = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t init(struct zeta_plugin *self)
{
    return zeta_softqueue_pool_create(self->ops, self->host, &self->pool);
}

static void finish(struct zeta_plugin *self)
{
    zeta_softqueue_pool_destroy(self->pool);
    self->pool = NULL;
}

/* The old pool belongs to threads that are gone. */
static uint32_t child_after_fork(struct zeta_plugin *self)
{
    return init(self);
}

/* ---------------------------------------------------------------- queues */

static uint32_t execute(void *context, const struct zeta_plugin_command *command)
{
    struct zeta_plugin_queue *queue = context;
    uint32_t result;

    if (command->type == ZETA_PLUGIN_COMMAND_TIMESTAMP) {
        *command->u.timestamp = ticks_now(NULL);
        queue->work.launches++;
        return ZETA_PLUGIN_SUCCESS;
    }
    /* What the host promises: nothing that would need compute. */
    if (command->type < ZETA_PLUGIN_COMMAND_QUERY_BEGIN)
        abort();
    result = fake_metrics_execute(&queue->work, command, ticks_now(NULL));
    if (result != ZETA_PLUGIN_SUCCESS)
        queue->self->ops->fail(queue->self->host, result,
                               scripted_text("the query was not begun here"));
    return result;
}

static void interrupt(void *context)
{
    (void)context;
}

static uint32_t queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue)
{
    struct zeta_plugin_queue *queue = calloc(1, sizeof(*queue));
    const struct zeta_softqueue_backend backend = {
        .context = queue, .ticks = ticks_now, .execute = execute, .interrupt = interrupt};
    uint32_t result;

    (void)desc;
    queue->self = self;
    queue->work.device = device->index;
    queue->work.context = atomic_fetch_add(&queue_count, 1) + 1;
    result = zeta_softqueue_create(self->pool, &backend, "bare-queue", &queue->soft);
    if (result != ZETA_PLUGIN_SUCCESS)
        free(queue);
    else
        *out_queue = queue;
    return result;
}

static void queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    zeta_softqueue_destroy(queue->soft);
    free(queue);
}

static uint32_t submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                       const struct zeta_plugin_array *commands, void *cookie)
{
    (void)self;
    return zeta_softqueue_submit(queue->soft, commands, cookie);
}

static void wake(struct zeta_plugin *self)
{
    zeta_softqueue_pool_wake(self->pool);
}

static uint32_t queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    return zeta_softqueue_status(queue->soft);
}

/* ---------------------------------------------------------------- metrics */

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    if (scripted_is(unit, "narrow"))
        out_limits->no_queries = scripted_text(BARE_NO_QUERIES);
    else if (scripted_is(unit, "counters"))
        out_limits->query_note = scripted_text(BARE_QUERY_NOTE);
    return fake_metric_ops.limits(self, device, unit, out_limits);
}

/* The only set with a uuid is Work. */
static uint32_t query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  const struct zeta_plugin_query_desc *desc,
                                  struct zeta_plugin_query_pool **out_pool)
{
    if (!scripted_is(desc->uuid, scripted_is(desc->set, "Work") ? BARE_WORK_UUID : ""))
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    return fake_metric_ops.query_pool_create(self, device, desc, out_pool);
}

/* ---------------------------------------------------------------- plugin */

static const struct zeta_plugin_device_ops device_ops = {.struct_size = sizeof(device_ops),
                                                         .enumerate = enumerate,
                                                         .properties = properties,
                                                         .clock = read_clock,
                                                         .child_after_fork = child_after_fork};
static const struct zeta_plugin_compute_ops queue_ops = {.struct_size = sizeof(queue_ops),
                                                         .queue_create = queue_create,
                                                         .queue_destroy = queue_destroy,
                                                         .submit = submit,
                                                         .wake = wake,
                                                         .queue_status = queue_status};
static struct zeta_plugin_metric_ops metric_ops;
static const struct zeta_plugin_ops plugin_ops = {.struct_size = sizeof(plugin_ops),
                                                  .init = init,
                                                  .finish = finish,
                                                  .device = &device_ops,
                                                  .compute = &queue_ops,
                                                  .metric = &metric_ops};

void scripted_bare(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer)
{
    struct zeta_plugin *self = &plugins[atomic_fetch_add(&plugin_count, 1) % PLUGIN_COUNT];

    metric_ops = fake_metric_ops;
    metric_ops.limits = limits;
    metric_ops.query_pool_create = query_pool_create;
    self->ops = offer->ops;
    self->host = offer->host;
    for (uint32_t i = 0; i < FAKE_DEVICE_COUNT; i++) {
        self->devices[i].index = i;
        snprintf(self->ids[i], sizeof(self->ids[i]), i == 0 ? "%.*s" : "%.*s.%u",
                 offer->id.size > 12 ? 12 : (int)offer->id.size, offer->id.data, i - 1);
    }
    out_answer->self = self;
    out_answer->ops = &plugin_ops;
}
