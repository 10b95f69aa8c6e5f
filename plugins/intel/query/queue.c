/*
 * Queues: there is no engine behind them. They are those of the SDK and take what a device without
 * compute takes: barriers, events, time stamps, calls of the host, begin and end of queries.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <zeta/softqueue.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/query/query.h"

struct zeta_plugin_queue {
    struct zeta_plugin_device *device;
    struct zeta_softqueue *soft;
    atomic_bool is_interrupted;
};

static uint32_t read_ticks(const struct zeta_plugin_queue *queue, uint64_t *out_ticks)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    const uint32_t result =
        zeta_intel_device_ops.clock(queue->device->gpu->intel->self, queue->device, &clock);

    if (result == ZETA_PLUGIN_SUCCESS)
        *out_ticks = clock.device_ticks;
    return result;
}

/* A device whose clock cannot be read is lost, which its status reports. */
static uint64_t ticks(void *context)
{
    uint64_t now = 0;

    (void)read_ticks(context, &now);
    return now;
}

static uint32_t execute(void *context, const struct zeta_plugin_command *command)
{
    const struct zeta_plugin_query_point *point = &command->u.query;
    struct zeta_plugin_queue *queue = context;
    uint32_t result;

    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_TIMESTAMP:
        return read_ticks(queue, command->u.timestamp);
    case ZETA_PLUGIN_COMMAND_QUERY_BEGIN:
        return zeta_intel_query_begin(point->pool, point->index);
    case ZETA_PLUGIN_COMMAND_QUERY_END:
        /* It is over when its report is there, so that results can be read when its event is
         * signalled; where the clock stopped they come later. */
        result = zeta_intel_query_end(point->pool, point->index);
        if (result == ZETA_PLUGIN_SUCCESS)
            zeta_intel_query_wait(point->pool, point->index, &queue->is_interrupted);
        return result;
    case ZETA_PLUGIN_COMMAND_MARKER:
        return zeta_host_fail(queue->device->gpu->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s: markers are written by commands of an engine, and without a "
                              "provider of compute there are none",
                              queue->device->id);
    default:
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    }
}

static void interrupt(void *context)
{
    atomic_store(&((struct zeta_plugin_queue *)context)->is_interrupted, true);
}

static uint32_t queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue)
{
    struct zeta_plugin_queue *queue = calloc(1, sizeof(*queue));
    const struct zeta_softqueue_backend backend = {
        .context = queue, .ticks = ticks, .execute = execute, .interrupt = interrupt};
    uint32_t result;

    if (!queue)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    queue->device = device;
    if (desc->ordinal != 0 || desc->index >= device->queue_group.queue_count)
        result = ZETA_PLUGIN_INVALID_ARGUMENT;
    else
        result = zeta_softqueue_create(self->intel->queues, &backend, "intel-queue", &queue->soft);
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
    zeta_softqueue_pool_wake(self->intel->queues);
}

static uint32_t queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    return zeta_softqueue_status(queue->soft);
}

const struct zeta_plugin_compute_ops zeta_intel_queue_ops = {
    .struct_size = sizeof(struct zeta_plugin_compute_ops),
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .submit = submit,
    .wake = wake,
    .queue_status = queue_status,
};
