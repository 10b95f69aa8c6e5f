#include "trace.h"

#include <time.h>
#include <unistd.h>

#include "file.h"
#include "plugins/vgpu/device/vgpu.h"

/* How a writer waits for room: a tenth of a second or somewhat more. */
#define ROOM_PAUSE_NS 50000
#define ROOM_PAUSES 1000u

/* Losses after which the reader is looked for. */
#define REAP_LOSSES 65536u

void zeta_vgpu_trace_writer_init(struct zeta_vgpu_trace_writer *writer)
{
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++)
        pthread_mutex_init(&writer->links[i].lock, NULL);
}

static void unlink_locked(struct zeta_vgpu_trace_link *link)
{
    zeta_vgpu_trace_ring_unmap(link->ring);
    link->ring = NULL;
    link->number = 0;
}

void zeta_vgpu_trace_writer_finish(struct zeta_vgpu_trace_writer *writer)
{
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++) {
        unlink_locked(&writer->links[i]);
        pthread_mutex_destroy(&writer->links[i].lock);
    }
}

void zeta_vgpu_trace_writer_abandon(struct zeta_vgpu_trace_writer *writer)
{
    /* A thread of the parent may have the lock for ever. */
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++)
        unlink_locked(&writer->links[i]);
}

/*
 * Makes the ring of this process ours. Another process may have had the slot before, and may have
 * been killed in the middle of an event, so we go on where it stopped.
 */
static void link_locked(struct zeta_vgpu_tile *tile, enum zeta_vgpu_source source)
{
    struct zeta_vgpu_trace_writer *writer = &tile->trace;
    struct zeta_vgpu_trace_link *link = &writer->links[source];
    struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);
    const uint32_t slot = zeta_vgpu_instance_slot(instance);
    struct zeta_vgpu_trace_place place;

    unlink_locked(link);
    if (slot == 0 || !zeta_vgpu_instance_find_trace(instance, tile->index, source, &place))
        return;
    link->number = place.number;
    link->ring = zeta_vgpu_trace_ring_map(&place, slot - 1);
    if (!link->ring)
        return;
    link->tail = atomic_load(&link->ring->tail);
    link->lost = atomic_load(&link->ring->lost);
    link->last_ticks = 0;
    link->gave_up = false;
    link->process = (uint32_t)getpid();
    atomic_store(&link->ring->claim, 0);
    zeta_vgpu_instance_join_trace(instance, tile->index, source);
    atomic_store(&writer->linked, true);
}

/*
 * True when the ring has room, perhaps after a moment: its reader may wait for a CPU. A reader that
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
static void put_locked(struct zeta_vgpu_tile *tile, struct zeta_vgpu_trace_link *link,
                       struct zeta_vgpu_event *event)
{
    struct zeta_vgpu_trace_ring *ring = link->ring;
    const bool room = has_room(link);

    /* Before the clock is read: who sees no claim knows that what comes is younger. */
    (void)atomic_exchange(&ring->claim, 1);
    if (tile->vgpu->description.clock == ZETA_VGPU_CLOCK_WALL)
        event->ticks = zeta_vgpu_ticks(tile->vgpu, tile);
    if (event->ticks < link->last_ticks)
        event->ticks = link->last_ticks;
    link->last_ticks = event->ticks;
    event->tile = (uint8_t)tile->index;
    event->process = link->process;
    event->lost = (uint32_t)link->lost;
    if (room) {
        ring->events[link->tail % ZETA_VGPU_TRACE_RING_EVENTS] = *event;
        atomic_store_explicit(&ring->tail, ++link->tail, memory_order_release);
    } else {
        atomic_store_explicit(&ring->lost, ++link->lost, memory_order_release);
        /* Perhaps nobody reads because the reader died. */
        if (link->lost % REAP_LOSSES == 0)
            zeta_vgpu_instance_reap(atomic_load(&tile->vgpu->instance));
    }
    atomic_store_explicit(&ring->claim, 0, memory_order_release);
}

void zeta_vgpu_trace_write(struct zeta_vgpu_tile *tile, enum zeta_vgpu_source source,
                           struct zeta_vgpu_event *event)
{
    struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);
    struct zeta_vgpu_trace_link *link = &tile->trace.links[source];
    uint64_t number;

    pthread_mutex_lock(&link->lock);
    number = zeta_vgpu_instance_trace(instance, tile->index, source);
    if (number != link->number)
        link_locked(tile, source);
    if (link->ring)
        put_locked(tile, link, event);
    else if (number != 0)
        zeta_vgpu_instance_miss_event(instance, tile->index, source);
    pthread_mutex_unlock(&link->lock);
}

void zeta_vgpu_trace_rest(struct zeta_vgpu_tile *tile)
{
    struct zeta_vgpu_trace_writer *writer = &tile->trace;
    const struct zeta_vgpu_instance *instance;
    bool linked = false;

    /* Before the looks: who maps a ring behind one of them says so afterwards. */
    if (!atomic_load_explicit(&writer->linked, memory_order_relaxed) ||
        !atomic_exchange(&writer->linked, false))
        return;
    instance = atomic_load(&tile->vgpu->instance);
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++) {
        struct zeta_vgpu_trace_link *link = &writer->links[i];

        pthread_mutex_lock(&link->lock);
        if (link->number != zeta_vgpu_instance_trace(instance, tile->index, i))
            unlink_locked(link);
        linked |= link->ring != NULL;
        pthread_mutex_unlock(&link->lock);
    }
    if (linked)
        atomic_store(&writer->linked, true);
}
