#include <string.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/queue/module.h"
#include "trace.h"

#define NO_SUBSLICE 255u

/* Ticks at a reading of the engine's clocks; only virtual time needs it. */
static uint64_t virtual_ticks(const struct zeta_vgpu_tile *tile, uint64_t core_clocks)
{
    return zeta_vgpu_ticks_for(&tile->vgpu->description,
                               core_clocks + atomic_load(&tile->copy_clocks));
}

void zeta_vgpu_trace_launch(struct zeta_vgpu_tile *tile, const struct zeta_vgpu_launch *launch,
                            uint32_t context)
{
    tile->trace.launch = launch;
    tile->trace.context = context;
    tile->trace.launch_number++;
}

static void put_fault(struct zeta_vgpu_event *event, const struct zeta_vgpu_tile *tile,
                      const struct zeta_vgpu_fault *fault)
{
    const struct zeta_vgpu_topology *topology = &tile->vgpu->description.topology;

    event->type = ZETA_VGPU_EVENT_TYPE_FAULT;
    event->subslice = (uint8_t)(fault->slice * topology->subslices_per_slice + fault->subslice);
    event->x = fault->group_id[0];
    event->y = fault->group_id[1];
    event->z = fault->group_id[2];
    event->detail = fault->reason;
    event->value = fault->address;
    event->extra = fault->pc;
}

static void put_group(struct zeta_vgpu_event *event, enum zeta_vgpu_event_type type,
                      const struct zeta_vgpu_engine_event *from)
{
    event->type = (uint16_t)type;
    event->subslice = (uint8_t)from->subslice;
    event->x = from->group_id[0];
    event->y = from->group_id[1];
    event->z = from->group_id[2];
    event->detail = from->items;
}

static void put_kernel(struct zeta_vgpu_event *event, enum zeta_vgpu_event_type type,
                       const struct zeta_vgpu_launch *launch)
{
    event->type = (uint16_t)type;
    event->x = launch->group_count[0];
    event->y = launch->group_count[1];
    event->z = launch->group_count[2];
    event->detail = launch->group_size[0] * launch->group_size[1] * launch->group_size[2];
}

void zeta_vgpu_trace_engine_event(void *user, const struct zeta_vgpu_engine_event *from)
{
    struct zeta_vgpu_tile *tile = user;
    const struct zeta_vgpu_launch *launch = tile->trace.launch;
    enum zeta_vgpu_source source = ZETA_VGPU_SOURCE_WORK;
    struct zeta_vgpu_event event = {
        .subslice = NO_SUBSLICE,
        .ticks = virtual_ticks(tile, from->core_clocks),
        .context = tile->trace.context,
        .object = launch->kernel->code_begin,
        .value = tile->trace.launch_number,
    };

    switch (from->kind) {
    case ZETA_VGPU_EVENT_KERNEL_BEGIN:
        put_kernel(&event, ZETA_VGPU_EVENT_TYPE_KERNEL_BEGIN, launch);
        break;
    case ZETA_VGPU_EVENT_KERNEL_END:
        put_kernel(&event, ZETA_VGPU_EVENT_TYPE_KERNEL_END, launch);
        break;
    case ZETA_VGPU_EVENT_GROUP_BEGIN:
        put_group(&event, ZETA_VGPU_EVENT_TYPE_GROUP_BEGIN, from);
        break;
    case ZETA_VGPU_EVENT_GROUP_END:
        put_group(&event, ZETA_VGPU_EVENT_TYPE_GROUP_END, from);
        break;
    case ZETA_VGPU_EVENT_BARRIER:
        put_group(&event, ZETA_VGPU_EVENT_TYPE_BARRIER, from);
        source = ZETA_VGPU_SOURCE_DEVICE;
        break;
    case ZETA_VGPU_EVENT_FAULT:
        put_fault(&event, tile, from->fault);
        source = ZETA_VGPU_SOURCE_DEVICE;
        break;
    }
    zeta_vgpu_trace_write(tile, source, &event);
}

/* Events that no engine tells of: of the queue that executes on this thread. */
static void write_of_queue(struct zeta_vgpu_tile *tile, uint32_t context,
                           struct zeta_vgpu_event *event)
{
    event->subslice = NO_SUBSLICE;
    event->context = context;
    event->ticks = zeta_vgpu_ticks(tile->vgpu, tile);
    zeta_vgpu_trace_write(tile, ZETA_VGPU_SOURCE_DEVICE, event);
}

static uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* What is common to both events of a copy, with the bytes that were asked for. */
static struct zeta_vgpu_event copy_event(const struct zeta_plugin_command *command,
                                         const struct zeta_plugin_copy *plain)
{
    const struct zeta_plugin_copy_region *region = &command->u.region;
    const struct zeta_plugin_fill *fill = &command->u.fill;

    if (command->type == ZETA_PLUGIN_COMMAND_COPY_REGION)
        return (struct zeta_vgpu_event){
            .object = address_of(region->target),
            .extra = address_of(region->source),
            .detail = 1,
            .value = region->size[0] * region->size[1] * region->size[2],
        };
    if (command->type == ZETA_PLUGIN_COMMAND_FILL)
        return (struct zeta_vgpu_event){
            .object = address_of(fill->target), .detail = 2, .value = fill->size_bytes};
    return (struct zeta_vgpu_event){.object = address_of(plain->target),
                                    .extra = address_of(plain->source),
                                    .value = plain->size_bytes};
}

void zeta_vgpu_trace_copy_begin(struct zeta_vgpu_tile *tile, uint32_t context,
                                const struct zeta_plugin_command *command,
                                const struct zeta_plugin_copy *plain)
{
    struct zeta_vgpu_event event;

    if (!zeta_vgpu_traced(&tile->trace, ZETA_VGPU_SOURCE_DEVICE))
        return;
    event = copy_event(command, plain);
    event.type = ZETA_VGPU_EVENT_TYPE_COPY_BEGIN;
    write_of_queue(tile, context, &event);
}

void zeta_vgpu_trace_copy_end(struct zeta_vgpu_tile *tile, uint32_t context,
                              const struct zeta_plugin_command *command,
                              const struct zeta_plugin_copy *plain, uint64_t written_bytes)
{
    struct zeta_vgpu_event event;

    zeta_vgpu_trace_rest(tile);
    if (!zeta_vgpu_traced(&tile->trace, ZETA_VGPU_SOURCE_DEVICE))
        return;
    event = copy_event(command, plain);
    event.type = ZETA_VGPU_EVENT_TYPE_COPY_END;
    event.value = written_bytes;
    write_of_queue(tile, context, &event);
}

void zeta_vgpu_trace_copy_fault(struct zeta_vgpu_tile *tile, uint32_t context, const void *address)
{
    struct zeta_vgpu_event event = {.type = ZETA_VGPU_EVENT_TYPE_FAULT,
                                    .value = address_of(address)};

    if (zeta_vgpu_traced(&tile->trace, ZETA_VGPU_SOURCE_DEVICE))
        write_of_queue(tile, context, &event);
}

void zeta_vgpu_trace_marker(struct zeta_vgpu_tile *tile, uint32_t context, uint64_t value,
                            uint64_t token)
{
    struct zeta_vgpu_event event = {
        .type = ZETA_VGPU_EVENT_TYPE_MARKER, .object = token, .value = value};

    if (zeta_vgpu_traced(&tile->trace, ZETA_VGPU_SOURCE_DEVICE))
        write_of_queue(tile, context, &event);
}
