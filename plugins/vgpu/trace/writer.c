#include "trace.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "plugins/vgpu/device/vgpu.h"

/* How a writer waits for room: a tenth of a second or somewhat more. */
#define ROOM_PAUSE_NS 50000
#define ROOM_PAUSES 1000u

/* Losses after which the writer checks that the reader is alive. */
#define REAP_LOSSES 65536u

void zeta_vgpu_trace_writer_init(struct zeta_vgpu_trace_writer *writer, struct zeta_vgpu *vgpu,
                                 uint32_t tile)
{
    writer->vgpu = vgpu;
    writer->tile = tile;
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++)
        pthread_mutex_init(&writer->links[i].lock, NULL);
}

static void unlink_locked(struct zeta_vgpu_trace_link *link)
{
    if (link->ring)
        munmap(link->ring, sizeof(*link->ring));
    link->ring = NULL;
    link->number = 0;
}

void zeta_vgpu_trace_writer_abandon(struct zeta_vgpu_trace_writer *writer)
{
    /* A thread of the parent may have the lock for ever. */
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++)
        unlink_locked(&writer->links[i]);
}

void zeta_vgpu_trace_writer_finish(struct zeta_vgpu_trace_writer *writer)
{
    zeta_vgpu_trace_writer_abandon(writer);
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++)
        pthread_mutex_destroy(&writer->links[i].lock);
}

/*
 * Maps the ring of a slot in the file that a process, perhaps this one, made known in the instance;
 * NULL if it is not the file of that tracer, or has no such place.
 */
static struct zeta_vgpu_trace_ring *map_ring(const struct zeta_vgpu_trace *trace, uint64_t number,
                                             uint32_t slot)
{
    const int file = zeta_vgpu_shared_file_open(
        atomic_load(&trace->pid), atomic_load(&trace->descriptor), ZETA_VGPU_TRACE_FILE);
    const uint64_t index = atomic_load(&trace->index);
    uint64_t head[2] = {0, 0};
    struct stat status;
    void *ring = MAP_FAILED;

    if (file < 0)
        return NULL;
    if (atomic_load(&trace->number) == number && fstat(file, &status) == 0 &&
        pread(file, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
        head[0] == ZETA_VGPU_TRACE_MAGIC && head[1] == number && index < ZETA_VGPU_TRACE_PLACES &&
        (uint64_t)status.st_size >= zeta_vgpu_trace_file_bytes(index + 1))
        ring = mmap(NULL, sizeof(struct zeta_vgpu_trace_ring), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE, file,
                    (off_t)(zeta_vgpu_trace_file_bytes(index) +
                            slot * sizeof(struct zeta_vgpu_trace_ring)));
    close(file);
    return ring == MAP_FAILED ? NULL : ring;
}

/*
 * Makes the ring of this process ours. Another process may have had the slot before, and may have
 * been killed in the middle of an event, so we go on where it stopped.
 */
static void link_locked(struct zeta_vgpu_trace_writer *writer, enum zeta_vgpu_source source)
{
    struct zeta_vgpu_trace_link *link = &writer->links[source];
    struct zeta_vgpu_instance *instance = atomic_load(&writer->vgpu->instance);
    struct zeta_vgpu_trace *trace =
        &zeta_vgpu_instance_traces(instance, writer->tile)->sources[source];
    const uint32_t slot = zeta_vgpu_instance_slot(instance);
    const uint64_t number = atomic_load(&trace->number);

    unlink_locked(link);
    if (slot == 0 || number == 0)
        return;
    link->number = number;
    link->ring = map_ring(trace, number, slot - 1);
    if (!link->ring)
        return;
    link->tail = atomic_load(&link->ring->tail);
    link->lost = atomic_load(&link->ring->lost);
    link->last_ticks = 0;
    link->gave_up = false;
    link->process = (uint32_t)getpid();
    atomic_store(&link->ring->claim, 0);
    atomic_fetch_or(&trace->writers, UINT64_C(1) << (slot - 1));
    atomic_store(&writer->linked, true);
}

/*
 * True when the ring has room, perhaps after a wait: its reader may have no CPU. A reader that
 * took nothing all that time is not waited for again until it takes something.
 */
static bool has_room(struct zeta_vgpu_trace_link *link)
{
    const struct timespec pause = {.tv_nsec = ROOM_PAUSE_NS};
    uint64_t head = atomic_load_explicit(&link->ring->head, memory_order_acquire);
    const uint64_t before = head;

    if (link->tail - head < ZETA_VGPU_TRACE_RING_EVENTS)
        return true;
    if (link->gave_up && link->gave_up_head == head)
        return false;
    for (unsigned i = 0; i < ROOM_PAUSES && head == before; i++) {
        nanosleep(&pause, NULL);
        head = atomic_load_explicit(&link->ring->head, memory_order_acquire);
    }
    link->gave_up = head == before;
    link->gave_up_head = head;
    return link->tail - head < ZETA_VGPU_TRACE_RING_EVENTS;
}

/* Writes the event, or counts it as lost. */
static void put_locked(struct zeta_vgpu_trace_writer *writer, struct zeta_vgpu_trace_link *link,
                       struct zeta_vgpu_event *event)
{
    struct zeta_vgpu_trace_ring *ring = link->ring;
    const bool room = has_room(link);

    /* Before the clock is read: who sees no claim knows that what comes is younger. */
    (void)atomic_exchange(&ring->claim, 1);
    if (writer->vgpu->description.clock == ZETA_VGPU_CLOCK_WALL)
        event->ticks = zeta_vgpu_ticks(writer->vgpu, writer->tile);
    if (event->ticks < link->last_ticks)
        event->ticks = link->last_ticks;
    link->last_ticks = event->ticks;
    event->tile = (uint8_t)writer->tile;
    event->process = link->process;
    event->lost = (uint32_t)link->lost;
    if (room) {
        ring->events[link->tail % ZETA_VGPU_TRACE_RING_EVENTS] = *event;
        atomic_store_explicit(&ring->tail, ++link->tail, memory_order_release);
    } else {
        atomic_store_explicit(&ring->lost, ++link->lost, memory_order_release);
        /* Perhaps nobody reads because the reader died. */
        if (link->lost % REAP_LOSSES == 0)
            zeta_vgpu_instance_reap(atomic_load(&writer->vgpu->instance));
    }
    atomic_store_explicit(&ring->claim, 0, memory_order_release);
}

static bool is_traced(const struct zeta_vgpu_trace_writer *writer, enum zeta_vgpu_source source)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&writer->vgpu->instance);

    return instance &&
           (atomic_load_explicit(&zeta_vgpu_instance_traces(instance, writer->tile)->watched,
                                 memory_order_relaxed) &
            1u << source) != 0;
}

static void write_event(struct zeta_vgpu_trace_writer *writer, enum zeta_vgpu_source source,
                        struct zeta_vgpu_event *event)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&writer->vgpu->instance);
    struct zeta_vgpu_trace *trace =
        &zeta_vgpu_instance_traces(instance, writer->tile)->sources[source];
    struct zeta_vgpu_trace_link *link = &writer->links[source];
    uint64_t number;

    pthread_mutex_lock(&link->lock);
    number = atomic_load_explicit(&trace->number, memory_order_acquire);
    if (number != link->number)
        link_locked(writer, source);
    if (link->ring)
        put_locked(writer, link, event);
    else if (number != 0)
        atomic_fetch_add(&trace->missed, 1);
    pthread_mutex_unlock(&link->lock);
}

void zeta_vgpu_trace_rest(struct zeta_vgpu_trace_writer *writer)
{
    const struct zeta_vgpu_tile_traces *traces;
    bool linked = false;

    /* Cleared before the checks: who maps a ring after one of them sets it again. */
    if (!atomic_load_explicit(&writer->linked, memory_order_relaxed) ||
        !atomic_exchange(&writer->linked, false))
        return;
    traces = zeta_vgpu_instance_traces(atomic_load(&writer->vgpu->instance), writer->tile);
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++) {
        struct zeta_vgpu_trace_link *link = &writer->links[i];

        pthread_mutex_lock(&link->lock);
        if (link->number != atomic_load(&traces->sources[i].number))
            unlink_locked(link);
        linked |= link->ring != NULL;
        pthread_mutex_unlock(&link->lock);
    }
    if (linked)
        atomic_store(&writer->linked, true);
}

/* ---- what becomes an event ------------------------------------------------------------------ */

#define NO_SUBSLICE 255u

void zeta_vgpu_trace_launch(struct zeta_vgpu_trace_writer *writer,
                            const struct zeta_vgpu_launch *launch, uint32_t context)
{
    writer->launch = launch;
    writer->context = context;
    writer->launch_number++;
}

void zeta_vgpu_trace_engine_event(struct zeta_vgpu_trace_writer *writer,
                                  const struct zeta_vgpu_engine_event *from)
{
    static const uint16_t types[] = {
        [ZETA_VGPU_EVENT_KERNEL_BEGIN] = ZETA_VGPU_EVENT_TYPE_KERNEL_BEGIN,
        [ZETA_VGPU_EVENT_KERNEL_END] = ZETA_VGPU_EVENT_TYPE_KERNEL_END,
        [ZETA_VGPU_EVENT_GROUP_BEGIN] = ZETA_VGPU_EVENT_TYPE_GROUP_BEGIN,
        [ZETA_VGPU_EVENT_GROUP_END] = ZETA_VGPU_EVENT_TYPE_GROUP_END,
        [ZETA_VGPU_EVENT_BARRIER] = ZETA_VGPU_EVENT_TYPE_BARRIER,
        [ZETA_VGPU_EVENT_FAULT] = ZETA_VGPU_EVENT_TYPE_FAULT,
    };
    const struct zeta_vgpu_launch *launch = writer->launch;
    const uint32_t *xyz = from->group_id;
    enum zeta_vgpu_source source = ZETA_VGPU_SOURCE_WORK;
    struct zeta_vgpu_event event = {
        .type = types[from->kind],
        .subslice = NO_SUBSLICE,
        .ticks = zeta_vgpu_ticks_for(
            &writer->vgpu->description,
            from->core_clocks + atomic_load(&writer->vgpu->work[writer->tile].copy_clocks)),
        .context = writer->context,
        .object = launch->kernel->code_begin,
        .value = writer->launch_number,
    };

    switch (from->kind) {
    case ZETA_VGPU_EVENT_KERNEL_BEGIN:
    case ZETA_VGPU_EVENT_KERNEL_END:
        xyz = launch->group_count;
        event.detail = launch->group_size[0] * launch->group_size[1] * launch->group_size[2];
        break;
    case ZETA_VGPU_EVENT_BARRIER:
        source = ZETA_VGPU_SOURCE_DEVICE;
        /* fall through */
    case ZETA_VGPU_EVENT_GROUP_BEGIN:
    case ZETA_VGPU_EVENT_GROUP_END:
        event.subslice = (uint8_t)from->subslice;
        event.detail = from->items;
        break;
    case ZETA_VGPU_EVENT_FAULT:
        source = ZETA_VGPU_SOURCE_DEVICE;
        xyz = from->fault->group_id;
        event.subslice =
            (uint8_t)(from->fault->slice * writer->vgpu->description.topology.subslices_per_slice +
                      from->fault->subslice);
        event.detail = from->fault->reason;
        event.value = from->fault->address;
        event.extra = from->fault->pc;
        break;
    }
    event.x = xyz[0];
    event.y = xyz[1];
    event.z = xyz[2];
    write_event(writer, source, &event);
}

/* Writes an event of the queue that executes on this thread, which no engine reports, if wanted. */
static void write_of_queue(struct zeta_vgpu_trace_writer *writer, uint32_t context,
                           struct zeta_vgpu_event event)
{
    if (!is_traced(writer, ZETA_VGPU_SOURCE_DEVICE))
        return;
    event.subslice = NO_SUBSLICE;
    event.context = context;
    event.ticks = zeta_vgpu_ticks(writer->vgpu, writer->tile);
    write_event(writer, ZETA_VGPU_SOURCE_DEVICE, &event);
}

static uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

void zeta_vgpu_trace_copy(struct zeta_vgpu_trace_writer *writer, enum zeta_vgpu_event_type type,
                          uint32_t context, const struct zeta_plugin_command *command,
                          const struct zeta_plugin_copy *plain, uint64_t written_bytes)
{
    const struct zeta_plugin_copy_region *region = &command->u.region;
    struct zeta_vgpu_event event = {.type = (uint16_t)type};

    if (command->type == ZETA_PLUGIN_COMMAND_COPY_REGION) {
        event.object = address_of(region->target);
        event.extra = address_of(region->source);
        event.detail = 1;
        event.value = region->size[0] * region->size[1] * region->size[2];
    } else if (command->type == ZETA_PLUGIN_COMMAND_FILL) {
        event.object = address_of(command->u.fill.target);
        event.detail = 2;
        event.value = command->u.fill.size_bytes;
    } else {
        event.object = address_of(plain->target);
        event.extra = address_of(plain->source);
        event.value = plain->size_bytes;
    }
    if (type == ZETA_VGPU_EVENT_TYPE_COPY_END) {
        zeta_vgpu_trace_rest(writer);
        event.value = written_bytes;
    }
    write_of_queue(writer, context, event);
}

void zeta_vgpu_trace_copy_fault(struct zeta_vgpu_trace_writer *writer, uint32_t context,
                                const void *address)
{
    write_of_queue(
        writer, context,
        (struct zeta_vgpu_event){.type = ZETA_VGPU_EVENT_TYPE_FAULT, .value = address_of(address)});
}

void zeta_vgpu_trace_marker(struct zeta_vgpu_trace_writer *writer, uint32_t context, uint64_t value,
                            uint64_t token)
{
    write_of_queue(writer, context,
                   (struct zeta_vgpu_event){
                       .type = ZETA_VGPU_EVENT_TYPE_MARKER, .object = token, .value = value});
}
