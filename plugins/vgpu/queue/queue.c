#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/sampling/sampling.h"
#include "plugins/vgpu/tile/tile.h"

struct zeta_plugin_queue {
    struct zeta_vgpu *vgpu;
    struct zeta_vgpu_tile *tile;
    struct zeta_softqueue *queue;
    uint32_t ordinal;
    uint32_t context;                 /* id in reports */
    enum zeta_vgpu_priority priority; /* of its launches */
    atomic_bool interrupt;            /* set once, when the queue is destroyed */
    struct zeta_vgpu_usage *usage;    /* NULL before the first query; of who executes */
    LIST_ENTRY(zeta_plugin_queue) entry;

    pthread_mutex_t lock; /* guards the rest; a leaf */
    bool lost;
    struct zeta_vgpu_message loss; /* why */
};

/* Marks the queue as lost, with the reason that everybody gets who asks. */
static uint32_t lose(struct zeta_plugin_queue *queue, const char *reason)
{
    const char *id = queue->vgpu->description.id;

    pthread_mutex_lock(&queue->lock);
    queue->lost = true;
    snprintf(queue->loss.text, sizeof(queue->loss.text),
             "a queue of %s is lost: %.380s; destroy the queue to use the device again", id,
             reason);
    pthread_mutex_unlock(&queue->lock);
    zeta_vgpu_usage_end(queue->usage);
    atomic_fetch_add(&queue->tile->lost_queues, 1);
    zeta_host_log(&queue->vgpu->self->host, ZETA_PLUGIN_LOG_ERROR, "%s", queue->loss.text);
    return ZETA_PLUGIN_DEVICE_LOST;
}

/* What an engine's or copy's result means for the queue. */
static uint32_t conclude(struct zeta_plugin_queue *queue, enum zeta_vgpu_result result,
                         const char *reason)
{
    switch (result) {
    case ZETA_VGPU_OK:
        return ZETA_PLUGIN_SUCCESS;
    case ZETA_VGPU_FAULT:
        return lose(queue, reason);
    case ZETA_VGPU_INTERRUPTED: /* only by destroying the queue */
        return ZETA_PLUGIN_DEVICE_LOST;
    case ZETA_VGPU_OUT_OF_MEMORY:
        return zeta_host_fail(&queue->vgpu->self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                              "%s: no memory for a command, or no thread to run it; raise the "
                              "limit of processes (ulimit -u) or free memory",
                              queue->vgpu->description.id);
    default:
        return zeta_host_fail(&queue->vgpu->self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s: %s",
                              queue->vgpu->description.id, reason);
    }
}

static struct zeta_vgpu_copy copy_of(struct zeta_plugin_queue *queue)
{
    return (struct zeta_vgpu_copy){.space = queue->vgpu->space, .interrupt = &queue->interrupt};
}

/* Sizes of local memory arguments: the block holds them where the pointers go. */
static uint32_t *local_sizes(const struct zeta_plugin_kernel *kernel, const void *block)
{
    const uint32_t count = kernel->kernel->argument_count;
    uint32_t *sizes = calloc(count ? count : 1, sizeof(*sizes));

    for (uint32_t i = 0; sizes && i < count; i++) {
        uint64_t bytes;

        if (kernel->arguments[i].kind != ZETA_PLUGIN_ARG_LOCAL)
            continue;
        memcpy(&bytes, (const char *)block + kernel->arguments[i].offset_bytes, sizeof(bytes));
        /* Too large stays too large; the engine refuses it. */
        sizes[i] = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
    return sizes;
}

uint32_t zeta_vgpu_kernel_resident_groups(struct zeta_plugin *self,
                                          struct zeta_plugin_kernel *kernel,
                                          const uint32_t group_size[3], const void *arguments,
                                          uint64_t *out_groups)
{
    const uint64_t items = (uint64_t)group_size[0] * group_size[1] * group_size[2];
    uint32_t *locals = local_sizes(kernel, arguments);

    if (!locals)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    *out_groups =
        items == 0
            ? 0
            : zeta_vgpu_topology_resident_groups(&self->vgpu->description.topology, items,
                                                 zeta_vgpu_group_slm_bytes(kernel->kernel, locals));
    free(locals);
    return ZETA_PLUGIN_SUCCESS;
}

/* True when the launch reached the number at which the device shall fail. */
static bool fails_on_purpose(const struct zeta_plugin_queue *queue)
{
    const uint64_t wanted = queue->vgpu->description.faults.device_lost;

    return wanted != 0 && atomic_fetch_add(&queue->vgpu->launches, 1) + 1 >= wanted;
}

static uint32_t execute_launch(struct zeta_plugin_queue *queue,
                               const struct zeta_plugin_command *command)
{
    const struct zeta_plugin_launch *from = &command->u.launch;
    struct zeta_vgpu_launch launch = {
        .image = from->kernel->image,
        .kernel = from->kernel->kernel,
        .arguments = from->arguments,
        .interrupt = &queue->interrupt,
        .cooperative = (command->flags & ZETA_PLUGIN_COMMAND_COOPERATIVE) != 0,
    };
    struct zeta_vgpu_fault fault = {.reason = ZETA_VGPU_FAULT_NONE};
    enum zeta_vgpu_result result = ZETA_VGPU_OK;
    uint32_t *locals;

    if (queue->ordinal != ZETA_VGPU_QUEUES_COMPUTE)
        return conclude(queue, ZETA_VGPU_INVALID_ARGUMENT, "copy queues launch no kernels");
    if (fails_on_purpose(queue)) {
        atomic_store(&queue->vgpu->lost, true);
        return lose(queue, "the setting fault.device_lost asked for it");
    }
    memcpy(launch.group_count, from->group_count, sizeof(launch.group_count));
    memcpy(launch.group_size, from->group_size, sizeof(launch.group_size));
    memcpy(launch.global_offset, from->global_offset, sizeof(launch.global_offset));
    if (command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) {
        struct zeta_vgpu_copy copy = copy_of(queue);

        result = zeta_vgpu_copy_bytes(&copy, launch.group_count, from->indirect_counts,
                                      sizeof(launch.group_count));
        if (result != ZETA_VGPU_OK)
            return conclude(queue, result, copy.message.text);
    }
    locals = local_sizes(from->kernel, from->arguments);
    if (!locals)
        return conclude(queue, ZETA_VGPU_OUT_OF_MEMORY, "");
    launch.local_bytes = locals;
    result = zeta_vgpu_tile_launch(queue->tile, &launch, queue->context, queue->priority,
                                   zeta_vgpu_usage_counting(queue->usage), &fault);
    free(locals);
    return conclude(queue, result, fault.message.text);
}

static void copy_moved(void *user, uint64_t read_bytes, uint64_t written_bytes)
{
    zeta_vgpu_tile_copy_moved(user, read_bytes, written_bytes);
}

static uint32_t execute_copy(struct zeta_plugin_queue *queue,
                             const struct zeta_plugin_command *command)
{
    const struct zeta_plugin_copy *plain =
        command->flags & ZETA_PLUGIN_COMMAND_INDIRECT ? command->u.copy.indirect : &command->u.copy;
    struct zeta_vgpu_copy copy = copy_of(queue);
    struct zeta_vgpu_tile_copy counted;
    enum zeta_vgpu_result result;

    if (command->type == ZETA_PLUGIN_COMMAND_FILL && command->u.fill.pattern_bytes == 0)
        return conclude(queue, ZETA_VGPU_INVALID_ARGUMENT, "the pattern of a fill is empty");

    copy.moved = copy_moved;
    copy.user = &counted;
    zeta_vgpu_tile_copy_begin(queue->tile, queue->context, zeta_vgpu_usage_counting(queue->usage),
                              &counted);
    zeta_vgpu_trace_copy(&queue->tile->trace, ZETA_VGPU_EVENT_TYPE_COPY_BEGIN, queue->context,
                         command, plain, 0);
    if (command->type == ZETA_PLUGIN_COMMAND_COPY)
        result = zeta_vgpu_copy_bytes(&copy, plain->target, plain->source, plain->size_bytes);
    else if (command->type == ZETA_PLUGIN_COMMAND_COPY_REGION)
        result = zeta_vgpu_copy_region(&copy, &command->u.region);
    else
        result = zeta_vgpu_copy_fill(&copy, &command->u.fill);
    copy_moved(&counted, copy.read_bytes, copy.written_bytes);
    zeta_vgpu_tile_copy_end(&counted);
    if (result == ZETA_VGPU_FAULT)
        zeta_vgpu_trace_copy_fault(&queue->tile->trace, queue->context, copy.fault_address);
    zeta_vgpu_trace_copy(&queue->tile->trace, ZETA_VGPU_EVENT_TYPE_COPY_END, queue->context,
                         command, plain, copy.written_bytes);
    return conclude(queue, result, copy.message.text);
}

static uint64_t queue_ticks(void *context)
{
    const struct zeta_plugin_queue *queue = context;

    return zeta_vgpu_ticks(queue->vgpu, queue->tile->index);
}

static uint32_t execute_timestamp(struct zeta_plugin_queue *queue,
                                  const struct zeta_plugin_command *command)
{
    struct zeta_vgpu_copy copy = copy_of(queue);
    /* As the device clock is read elsewhere, so that programs can compare without a mask. */
    const uint64_t ticks = queue_ticks(queue) & ZETA_VGPU_TIMESTAMP_MASK;
    enum zeta_vgpu_result result =
        zeta_vgpu_copy_bytes(&copy, command->u.timestamp, &ticks, sizeof(ticks));

    return conclude(queue, result, copy.message.text);
}

static uint32_t execute_query_begin(struct zeta_plugin_queue *queue,
                                    const struct zeta_plugin_query_point *point)
{
    if (!queue->usage)
        queue->usage = zeta_vgpu_usage_create(queue->tile);
    if (!queue->usage)
        return conclude(queue, ZETA_VGPU_OUT_OF_MEMORY, "");
    return zeta_vgpu_query_begin(point, queue->usage);
}

static uint32_t execute_marker(struct zeta_plugin_queue *queue,
                               const struct zeta_plugin_marker *marker)
{
    struct zeta_vgpu *vgpu = queue->vgpu;
    const struct zeta_plugin_device *device = marker->device;
    uint32_t unit;
    uint32_t result = zeta_vgpu_oa_find_unit(vgpu->self, marker->unit, &unit);
    const bool counts = result == ZETA_PLUGIN_SUCCESS && unit < ZETA_VGPU_MARKER_UNITS;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (counts ? marker->value > UINT32_MAX : unit != ZETA_VGPU_UNIT_TRACE_DEVICE)
        return zeta_host_fail(&vgpu->self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "unit %.*s of %s cannot show the marker %llu: only oa and dispatch "
                              "take markers, of 32 bits, and trace-device, of 64",
                              (int)marker->unit.size, marker->unit.data, device->id,
                              (unsigned long long)marker->value);
    for (uint32_t t = 0; t < device->tile_count; t++) {
        struct zeta_vgpu_tile *tile = &vgpu->tiles[device->first_tile + t];

        if (counts)
            zeta_vgpu_tile_mark(tile, unit, marker->value, marker->stream_token, &queue->interrupt);
        zeta_vgpu_trace_marker(&tile->trace, queue->context, marker->value, marker->stream_token);
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t queue_execute(void *context, const struct zeta_plugin_command *command)
{
    struct zeta_plugin_queue *queue = context;

    if (atomic_load(&queue->interrupt))
        return ZETA_PLUGIN_DEVICE_LOST;
    if (atomic_load(&queue->vgpu->lost))
        return lose(queue, "the device is lost (setting fault.device_lost)");
    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_LAUNCH:
        return execute_launch(queue, command);
    case ZETA_PLUGIN_COMMAND_TIMESTAMP:
        return execute_timestamp(queue, command);
    case ZETA_PLUGIN_COMMAND_COPY:
    case ZETA_PLUGIN_COMMAND_COPY_REGION:
    case ZETA_PLUGIN_COMMAND_FILL:
        return execute_copy(queue, command);
    case ZETA_PLUGIN_COMMAND_QUERY_BEGIN:
        return execute_query_begin(queue, &command->u.query);
    case ZETA_PLUGIN_COMMAND_QUERY_END:
        return zeta_vgpu_query_end(&command->u.query, queue->usage, queue->context);
    case ZETA_PLUGIN_COMMAND_MARKER:
        return execute_marker(queue, &command->u.marker);
    default:
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    }
}

static void queue_interrupt(void *context)
{
    struct zeta_plugin_queue *queue = context;

    atomic_store(&queue->interrupt, true);
    zeta_vgpu_tile_wake(queue->tile);
}

static uint32_t check_desc(const struct zeta_plugin *self,
                           const struct zeta_plugin_queue_desc *desc)
{
    const uint32_t queues = desc->ordinal == ZETA_VGPU_QUEUES_COMPUTE ? ZETA_VGPU_COMPUTE_QUEUES
                                                                      : ZETA_VGPU_COPY_QUEUES;

    if (desc->ordinal >= ZETA_VGPU_QUEUES_COUNT)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s has %u queue groups, so there is no ordinal %u",
                              self->vgpu->description.id, (unsigned)ZETA_VGPU_QUEUES_COUNT,
                              desc->ordinal);
    if (desc->index >= queues)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "queue group %u of %s has %u queues, so there is no index %u",
                              desc->ordinal, self->vgpu->description.id, queues, desc->index);
    return ZETA_PLUGIN_SUCCESS;
}

/* From the numbers of ze_command_queue_priority_t. */
static enum zeta_vgpu_priority priority_of(uint32_t priority)
{
    switch (priority) {
    case 1:
        return ZETA_VGPU_PRIORITY_LOW;
    case 2:
        return ZETA_VGPU_PRIORITY_HIGH;
    default:
        return ZETA_VGPU_PRIORITY_NORMAL;
    }
}

uint32_t zeta_vgpu_queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_queue_desc *desc,
                                struct zeta_plugin_queue **out_queue)
{
    struct zeta_vgpu *vgpu = self->vgpu;
    struct zeta_vgpu_tile *tile = &vgpu->tiles[device->first_tile];
    struct zeta_softqueue_backend backend = {
        .ticks = queue_ticks, .execute = queue_execute, .interrupt = queue_interrupt};
    struct zeta_plugin_queue *queue;
    uint32_t result = check_desc(self, desc);

    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_vgpu_tile_prepare(tile);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    queue->vgpu = vgpu;
    queue->tile = tile;
    queue->ordinal = desc->ordinal;
    queue->priority = priority_of(desc->priority);
    /* Ids are never 0 and contain the slot, so they differ between processes. */
    queue->context = zeta_vgpu_instance_slot(atomic_load(&vgpu->instance)) << 16 |
                     (atomic_fetch_add(&vgpu->queues_made, 1) & 0xffff);
    pthread_mutex_init(&queue->lock, NULL);
    backend.context = queue;
    result = zeta_softqueue_create(vgpu->queues, &backend, "vgpu-queue", &queue->queue);
    if (result != ZETA_PLUGIN_SUCCESS) {
        pthread_mutex_destroy(&queue->lock);
        free(queue);
        return result;
    }
    pthread_mutex_lock(&vgpu->objects_lock);
    LIST_INSERT_HEAD(&vgpu->open_queues, queue, entry);
    pthread_mutex_unlock(&vgpu->objects_lock);
    *out_queue = queue;
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_vgpu_queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    if (!queue)
        return;
    pthread_mutex_lock(&queue->vgpu->objects_lock);
    LIST_REMOVE(queue, entry);
    pthread_mutex_unlock(&queue->vgpu->objects_lock);
    zeta_softqueue_destroy(queue->queue);
    zeta_vgpu_usage_end(queue->usage);
    zeta_vgpu_usage_unref(queue->usage);
    if (queue->lost)
        atomic_fetch_sub(&queue->tile->lost_queues, 1);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

void zeta_vgpu_queues_abandon(struct zeta_vgpu *vgpu)
{
    while (!LIST_EMPTY(&vgpu->open_queues))
        zeta_vgpu_queue_destroy(vgpu->self, LIST_FIRST(&vgpu->open_queues));
}

uint32_t zeta_vgpu_queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    struct zeta_vgpu_message loss;

    if (zeta_softqueue_status(queue->queue) == ZETA_PLUGIN_SUCCESS)
        return ZETA_PLUGIN_SUCCESS;
    pthread_mutex_lock(&queue->lock);
    loss = queue->loss;
    pthread_mutex_unlock(&queue->lock);
    return zeta_host_fail(&self->host, ZETA_PLUGIN_DEVICE_LOST, "%s", loss.text);
}

uint32_t zeta_vgpu_queue_submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                const struct zeta_plugin_array *commands, void *cookie)
{
    uint32_t result = zeta_softqueue_submit(queue->queue, commands, cookie);

    return result == ZETA_PLUGIN_DEVICE_LOST ? zeta_vgpu_queue_status(self, queue) : result;
}

uint32_t zeta_vgpu_queue_submit_here(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                     const struct zeta_plugin_array *commands, void *cookie)
{
    uint32_t result = zeta_softqueue_submit_here(queue->queue, commands, cookie);

    return result == ZETA_PLUGIN_DEVICE_LOST ? zeta_vgpu_queue_status(self, queue) : result;
}

void zeta_vgpu_queue_wake(struct zeta_plugin *self)
{
    if (self->vgpu)
        zeta_softqueue_pool_wake(self->vgpu->queues);
}
