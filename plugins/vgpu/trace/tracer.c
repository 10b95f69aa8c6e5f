/*
 * Tracers. A thread of the tracer polls the shared rings every millisecond while it is on, and
 * so do reads and synchronous calls; whoever does has the tracer's lock.
 *
 * On and off are marks at a time: events belong to the tracer if the last mark before them is
 * "on". So it does not matter when writers see the word that asks them for events, and what was
 * under way at a mark is sorted out by its time.
 */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <zeta/plugin_host.h>
#include <zeta/record_ring.h>
#include <zeta/thread.h>

#include "file.h"
#include "plugins/vgpu/device/vgpu.h"

#define POLL_NS 1000000

/* Capacities in records: 16 MiB unless another is wanted, at most 256 MiB. */
#define RING_DEFAULT 262144u
#define RING_MAX 4194304u

/* How long others wait for a process that stopped in the middle of an event, at most. */
#define PATIENCE_NS UINT64_C(500000000)

/* How long such a process writes an event before the merger checks that it is alive. */
#define ALIVE_NS UINT64_C(2000000)

/* Events taken from a ring before the room is given back to its writer. */
#define RELEASE_EVENTS 1024u

/* ---- all rings into one, in the order of time ----------------------------------------------- */

/* Events that are put into the ring at once. */
#define BATCH 256u

/* One ring of the file, as its reader knows it. */
struct lane {
    struct zeta_vgpu_trace_ring *ring;
    uint32_t place;
    uint32_t slot;
    uint64_t head;       /* next event to take */
    uint64_t tail;       /* what was there at the last poll */
    uint64_t next_ticks; /* of the event at head, if there is one */
    uint64_t last_ticks; /* of the newest event seen */
    uint64_t lost;       /* losses of the writer that were passed on */
    uint64_t claim_ns;   /* host time since which a claim has no event; 0: none */
    bool stalled;        /* the claim is too old: nobody waits for it */
    bool damaged;        /* overwritten by somebody: never read again */
};

struct place {
    uint32_t tile;
    enum zeta_vgpu_source source;
    struct zeta_vgpu_trace *shared;
    uint64_t lanes;         /* slots whose ring is known, as bits */
    uint64_t last_ticks;    /* of the last event that was taken */
    uint64_t missed;        /* events that the instance counts, those that were passed on */
    uint64_t written, lost; /* since they were added to those of the instance */
};

/* Marks that wait to be merged. */
#define MARKS 16u

struct mark {
    enum zeta_vgpu_event_type type;      /* ENABLED or DISABLED */
    uint64_t ticks[ZETA_VGPU_MAX_TILES]; /* by tile of the device */
};

struct zeta_plugin_tracer {
    struct zeta_vgpu *vgpu;
    struct zeta_vgpu_instance *instance;
    uint32_t first_tile, tile_count;
    uint32_t units_taken; /* places whose unit is ours */
    LIST_ENTRY(zeta_plugin_tracer) entry;

    pthread_mutex_t lock; /* guards the rest, but for the state, and the ring, which has its own */
    pthread_cond_t wake;
    pthread_t thread;
    bool running, stopping;
    bool on; /* events are asked for */
    struct mark marks[MARKS];
    uint32_t mark_count;
    _Atomic uint32_t state; /* ZETA_PLUGIN_TRACER_* */

    struct zeta_vgpu_trace_file *file; /* mapped; NULL: none */
    int descriptor;                    /* of it, -1: none */
    uint32_t place_count;
    struct place places[ZETA_VGPU_TRACE_PLACES];
    uint32_t lane_count;
    struct lane lanes[ZETA_VGPU_TRACE_PLACES * ZETA_VGPU_SLOTS];
    struct zeta_record_ring *ring;       /* what readers get */
    bool keeping;                        /* events go into the ring; else they are dropped */
    uint64_t number;                     /* of the event, for fault.lost_reports */
    struct zeta_vgpu_event batch[BATCH]; /* not in the ring yet */
    uint32_t batch_count;
    struct place *batch_place; /* of the newest in it */
};

static const char *const source_names[ZETA_VGPU_SOURCES] = {
    [ZETA_VGPU_SOURCE_WORK] = "trace-work", [ZETA_VGPU_SOURCE_DEVICE] = "trace-device"};

static bool is_virtual(const struct zeta_plugin_tracer *tracer)
{
    return tracer->vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL;
}

/* Moves what was taken into the ring, and adds the counts to those of the instance. */
static void flush(struct zeta_plugin_tracer *tracer)
{
    /* When the ring is full its oldest go; they are on the account of who needed the room. */
    if (tracer->batch_count > 0)
        tracer->batch_place->lost +=
            zeta_record_ring_push(tracer->ring, tracer->batch, tracer->batch_count);
    tracer->batch_count = 0;
    for (uint32_t i = 0; i < tracer->place_count; i++) {
        struct place *place = &tracer->places[i];

        atomic_fetch_add(&place->shared->lost, place->lost);
        atomic_fetch_add(&place->shared->written, place->written);
        atomic_store(&place->shared->waiting, zeta_record_ring_pending(tracer->ring));
        atomic_store(&place->shared->capacity, zeta_record_ring_capacity(tracer->ring));
        place->written = 0;
        place->lost = 0;
    }
}

/* Notes that events of a place were lost, before the next one that is put. */
static void lose(struct zeta_plugin_tracer *tracer, struct place *place, uint64_t count)
{
    if (count == 0 || !tracer->keeping)
        return;
    flush(tracer);
    zeta_record_ring_lose(tracer->ring, ZETA_PLUGIN_BREAK_LOST, count);
    place->written += count;
    place->lost += count;
}

static void put(struct zeta_plugin_tracer *tracer, struct place *place,
                const struct zeta_vgpu_event *event)
{
    if (tracer->batch_count == BATCH)
        flush(tracer);
    tracer->batch[tracer->batch_count++] = *event;
    tracer->batch_place = place;
    place->written++;
}

/* Finds rings whose writers appeared since last time. */
static void find_lanes(struct zeta_plugin_tracer *tracer, uint32_t index)
{
    struct place *place = &tracer->places[index];
    const uint64_t writers = atomic_load(&place->shared->writers);
    const uint32_t own = zeta_vgpu_instance_slot(tracer->instance);

    for (uint32_t slot = 0; slot < ZETA_VGPU_SLOTS && (writers & ~place->lanes) != 0; slot++) {
        const uint64_t bit = UINT64_C(1) << slot;
        uint32_t at;

        /* Virtual time is of one process. */
        if ((writers & ~place->lanes & bit) == 0 || (is_virtual(tracer) && slot + 1 != own))
            continue;
        place->lanes |= bit;
        /* Lanes are in the order of places and slots, which decides when times are equal. */
        for (at = tracer->lane_count++; at > 0; at--) {
            const struct lane *before = &tracer->lanes[at - 1];

            if (before->place < index || (before->place == index && before->slot < slot))
                break;
            tracer->lanes[at] = *before;
        }
        tracer->lanes[at] =
            (struct lane){.ring = &tracer->file->rings[index][slot], .place = index, .slot = slot};
    }
}

static const struct zeta_vgpu_event *event_at(const struct lane *lane, uint64_t position)
{
    return &lane->ring->events[position % ZETA_VGPU_TRACE_RING_EVENTS];
}

/* Reads how many events wait, and returns until when more can come that are older than now. */
static uint64_t poll_lane(struct zeta_plugin_tracer *tracer, struct lane *lane, uint64_t now_ticks)
{
    /* In this order: an event that comes after the claim was seen as 0 is younger than now. */
    const bool claimed = atomic_load(&lane->ring->claim) != 0;
    const uint64_t tail = atomic_load(&lane->ring->tail);
    uint64_t now;

    if (tail - lane->head > ZETA_VGPU_TRACE_RING_EVENTS) {
        lane->damaged = true;
        lane->tail = lane->head;
        return now_ticks;
    }
    if (tail != lane->tail) {
        if (lane->tail == lane->head)
            lane->next_ticks = event_at(lane, lane->head)->ticks;
        lane->last_ticks = event_at(lane, tail - 1)->ticks;
        lane->tail = tail;
        lane->claim_ns = 0;
        lane->stalled = false;
    }
    if (!claimed) {
        lane->claim_ns = 0;
        lane->stalled = false;
        return now_ticks;
    }
    now = zeta_monotonic_ns();
    if (lane->claim_ns == 0)
        lane->claim_ns = now;
    if (!lane->stalled && now - lane->claim_ns > ALIVE_NS)
        lane->stalled = now - lane->claim_ns > PATIENCE_NS ||
                        !zeta_vgpu_instance_slot_alive(tracer->instance, lane->slot);
    return lane->stalled || lane->last_ticks > now_ticks ? now_ticks : lane->last_ticks;
}

/*
 * Polls all rings: what is there, and who writes now. Returns the time up to which nothing more
 * can come, at most now_ticks; with virtual time, UINT64_MAX unless somebody writes now.
 */
static uint64_t poll_lanes(struct zeta_plugin_tracer *tracer, uint64_t now_ticks)
{
    uint64_t until = is_virtual(tracer) ? UINT64_MAX : now_ticks;

    for (uint32_t i = 0; i < tracer->place_count; i++)
        find_lanes(tracer, i);
    for (uint32_t i = 0; i < tracer->lane_count; i++) {
        struct lane *lane = &tracer->lanes[i];
        const uint64_t limit = lane->damaged ? until : poll_lane(tracer, lane, until);

        if (limit < until)
            until = limit;
    }
    return until;
}

/* True when a ring was so full that the next poll should not wait. */
static bool is_behind(const struct zeta_plugin_tracer *tracer)
{
    for (uint32_t i = 0; i < tracer->lane_count; i++) {
        const struct lane *lane = &tracer->lanes[i];

        if (!lane->damaged &&
            atomic_load_explicit(&lane->ring->tail, memory_order_relaxed) - lane->head >
                ZETA_VGPU_TRACE_RING_EVENTS / 8)
            return true;
    }
    return false;
}

/* Types that a source has. */
static bool has_type(enum zeta_vgpu_source source, uint32_t type)
{
    if (source == ZETA_VGPU_SOURCE_WORK)
        return type >= ZETA_VGPU_EVENT_TYPE_KERNEL_BEGIN && type <= ZETA_VGPU_EVENT_TYPE_GROUP_END;
    return type >= ZETA_VGPU_EVENT_TYPE_BARRIER && type <= ZETA_VGPU_EVENT_TYPE_FAULT;
}

/* Losses up to a count of the writer, which may be cut to 32 bits and may be nonsense. */
static void lose_until(struct zeta_plugin_tracer *tracer, struct lane *lane, uint32_t lost)
{
    const uint32_t more = lost - (uint32_t)lane->lost;

    if (more == 0 || more > INT32_MAX)
        return;
    lane->lost += more;
    lose(tracer, &tracer->places[lane->place], more);
}

/* Takes the oldest event of a ring. */
static void take_one(struct zeta_plugin_tracer *tracer, struct lane *lane, uint64_t limit)
{
    struct place *place = &tracer->places[lane->place];
    const uint64_t lost_every = tracer->vgpu->description.faults.lost_reports;
    struct zeta_vgpu_event event = *event_at(lane, lane->head);

    lane->head++;
    if (lane->head != lane->tail)
        lane->next_ticks = event_at(lane, lane->head)->ticks;
    if (lane->head % RELEASE_EVENTS == 0)
        atomic_store_explicit(&lane->ring->head, lane->head, memory_order_release);
    lose_until(tracer, lane, event.lost);
    if (!tracer->keeping)
        return;
    /* Too late is one for which nobody could wait any longer. The rest is damage. */
    if (event.ticks < place->last_ticks || event.ticks > limit ||
        !has_type(place->source, event.type) ||
        (lost_every != 0 && ++tracer->number % lost_every == 0)) {
        lose(tracer, place, 1);
        return;
    }
    place->last_ticks = event.ticks;
    event.lost = 0;
    event.tile = (uint8_t)place->tile;
    put(tracer, place, &event);
}

/* The ring with the oldest event among those within their limits, and when the next one is. */
static struct lane *find_oldest(struct zeta_plugin_tracer *tracer, const uint64_t *limits,
                                bool inclusive, uint64_t *out_next_ticks)
{
    struct lane *oldest = NULL;

    *out_next_ticks = UINT64_MAX;
    for (uint32_t i = 0; i < tracer->lane_count; i++) {
        struct lane *lane = &tracer->lanes[i];
        const uint64_t limit = limits[tracer->places[lane->place].tile];

        if (lane->head == lane->tail || lane->next_ticks > limit ||
            (!inclusive && lane->next_ticks == limit))
            continue;
        if (!oldest || lane->next_ticks < oldest->next_ticks) {
            *out_next_ticks = oldest ? oldest->next_ticks : UINT64_MAX;
            oldest = lane;
        } else if (lane->next_ticks < *out_next_ticks) {
            *out_next_ticks = lane->next_ticks;
        }
    }
    return oldest;
}

/*
 * Takes the events that were there at the last poll and are not younger than the limit of their
 * tile; inclusive: also those of exactly that time.
 */
static void take_events(struct zeta_plugin_tracer *tracer, const uint64_t *limits, bool inclusive)
{
    struct lane *lane;
    uint64_t next_ticks;

    while ((lane = find_oldest(tracer, limits, inclusive, &next_ticks)) != NULL) {
        const uint64_t limit = limits[tracer->places[lane->place].tile];

        do
            take_one(tracer, lane, limit);
        while (lane->head != lane->tail && lane->next_ticks < next_ticks &&
               (lane->next_ticks < limit || (inclusive && lane->next_ticks == limit)));
        atomic_store_explicit(&lane->ring->head, lane->head, memory_order_release);
    }
}

/* Takes over losses that no event carried. Before a tracer is off. */
static void take_losses(struct zeta_plugin_tracer *tracer)
{
    for (uint32_t i = 0; i < tracer->lane_count; i++) {
        struct lane *lane = &tracer->lanes[i];

        if (!lane->damaged)
            lose_until(tracer, lane, (uint32_t)atomic_load(&lane->ring->lost));
    }
    for (uint32_t i = 0; i < tracer->place_count; i++) {
        struct place *place = &tracer->places[i];
        const uint64_t missed = atomic_load_explicit(&place->shared->missed, memory_order_relaxed);

        if (missed > place->missed)
            lose(tracer, place, missed - place->missed);
        place->missed = missed;
    }
}

/* ---- tracers -------------------------------------------------------------------------------- */

/* True if the time of the oldest mark has come on all tiles. */
static bool mark_reached(const struct zeta_plugin_tracer *tracer, uint64_t until)
{
    bool reached = tracer->mark_count > 0;

    for (uint32_t t = 0; t < tracer->tile_count; t++)
        reached = reached && tracer->marks[0].ticks[tracer->first_tile + t] <= until;
    return reached;
}

/* Merges up to the oldest mark, and then keeps events, or drops them. */
static void pass_mark_locked(struct zeta_plugin_tracer *tracer)
{
    const struct mark *mark = &tracer->marks[0];
    const bool ends = mark->type == ZETA_VGPU_EVENT_TYPE_DISABLED;

    /* What has the very time of a mark happened before it ended, or after it began. */
    take_events(tracer, mark->ticks, ends);
    if (ends)
        take_losses(tracer);
    tracer->keeping = !ends;
    /* The first places are those of the first source, on every tile. */
    for (uint32_t i = 0; i < tracer->tile_count; i++) {
        struct place *place = &tracer->places[i];

        put(tracer, place,
            &(struct zeta_vgpu_event){.type = (uint16_t)mark->type,
                                      .tile = (uint8_t)place->tile,
                                      .subslice = 255,
                                      .ticks = mark->ticks[place->tile],
                                      .process = (uint32_t)getpid()});
    }
    tracer->mark_count--;
    memmove(tracer->marks, tracer->marks + 1, tracer->mark_count * sizeof(tracer->marks[0]));
}

/* Hands on what is there and cannot be preceded by anything any more. */
static void pass_locked(struct zeta_plugin_tracer *tracer)
{
    uint64_t limits[ZETA_VGPU_MAX_TILES] = {0};
    uint64_t until;

    for (uint32_t t = tracer->first_tile; t < tracer->first_tile + tracer->tile_count; t++)
        limits[t] = zeta_vgpu_ticks(tracer->vgpu, t);
    until = poll_lanes(tracer, limits[tracer->first_tile]);
    while (mark_reached(tracer, until))
        pass_mark_locked(tracer);
    if (tracer->mark_count == 0) {
        for (uint32_t t = 0; t < ZETA_VGPU_MAX_TILES; t++)
            limits[t] = limits[t] < until ? limits[t] : until;
        /* Virtual time pauses: more events may come that have the present time. */
        take_events(tracer, limits, !is_virtual(tracer));
        atomic_store(&tracer->state, tracer->on ? ZETA_PLUGIN_TRACER_ON : ZETA_PLUGIN_TRACER_OFF);
    }
    flush(tracer);
}

/* Merges until no mark waits; who stopped in the middle of an event is not waited for for ever. */
static void pass_all_locked(struct zeta_plugin_tracer *tracer)
{
    const struct timespec pause = {.tv_nsec = 20000};

    pass_locked(tracer);
    while (tracer->mark_count > 0) {
        nanosleep(&pause, NULL);
        pass_locked(tracer);
    }
}

static void watch_locked(struct zeta_plugin_tracer *tracer, bool on)
{
    tracer->on = on;
    for (uint32_t i = 0; i < tracer->place_count; i++) {
        const struct place *place = &tracer->places[i];
        const uint32_t bit = UINT32_C(1) << place->source;
        _Atomic uint32_t *watched =
            &zeta_vgpu_instance_traces(tracer->instance, place->tile)->watched;

        if (on)
            atomic_fetch_or(watched, bit);
        else
            atomic_fetch_and(watched, ~bit);
    }
}

static void mark_locked(struct zeta_plugin_tracer *tracer, enum zeta_vgpu_event_type type)
{
    struct mark *mark;

    if (tracer->mark_count == MARKS)
        pass_all_locked(tracer);
    mark = &tracer->marks[tracer->mark_count++];
    mark->type = type;
    for (uint32_t t = tracer->first_tile; t < tracer->first_tile + tracer->tile_count; t++)
        mark->ticks[t] = zeta_vgpu_ticks(tracer->vgpu, t);
}

static uint32_t tracer_enable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              uint32_t synchronous)
{
    (void)self;
    pthread_mutex_lock(&tracer->lock);
    if (!tracer->on) {
        /* Losses that no event carried belong to the time before. */
        pass_locked(tracer);
        take_losses(tracer);
        mark_locked(tracer, ZETA_VGPU_EVENT_TYPE_ENABLED);
        watch_locked(tracer, true);
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_STARTING);
    }
    if (synchronous)
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_ON);
    pthread_cond_signal(&tracer->wake);
    pthread_mutex_unlock(&tracer->lock);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_disable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                               uint32_t synchronous)
{
    /* Virtual time pauses while nothing runs, so only now is it known what came before. */
    const bool at_once = synchronous != 0 || is_virtual(tracer);

    (void)self;
    pthread_mutex_lock(&tracer->lock);
    if (tracer->on) {
        watch_locked(tracer, false);
        mark_locked(tracer, ZETA_VGPU_EVENT_TYPE_DISABLED);
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_STOPPING);
    }
    if (at_once)
        pass_all_locked(tracer);
    pthread_cond_signal(&tracer->wake);
    pthread_mutex_unlock(&tracer->lock);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_state(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return atomic_load(&tracer->state);
}

static uint32_t tracer_read(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    pthread_mutex_lock(&tracer->lock);
    if (tracer->on || tracer->mark_count > 0)
        pass_locked(tracer);
    pthread_mutex_unlock(&tracer->lock);
    zeta_record_ring_read(tracer->ring, buffer, capacity_bytes, out_read);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return zeta_record_ring_pending(tracer->ring) * ZETA_VGPU_EVENT_BYTES;
}

static int32_t tracer_descriptor(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return zeta_record_ring_descriptor(tracer->ring);
}

static void *tracer_main(void *argument)
{
    struct zeta_plugin_tracer *tracer = argument;

    pthread_mutex_lock(&tracer->lock);
    while (!tracer->stopping) {
        if (!tracer->on && tracer->mark_count == 0) {
            pthread_cond_wait(&tracer->wake, &tracer->lock);
        } else if (is_behind(tracer)) {
            pthread_mutex_unlock(&tracer->lock);
            pthread_mutex_lock(&tracer->lock);
        } else {
            const struct timespec until = zeta_clock_timespec(zeta_monotonic_ns() + POLL_NS);

            pthread_cond_timedwait(&tracer->wake, &tracer->lock, &until);
        }
        if (tracer->on || tracer->mark_count > 0)
            pass_locked(tracer);
        zeta_vgpu_report_damage(tracer->vgpu);
    }
    pthread_mutex_unlock(&tracer->lock);
    return NULL;
}

static void close_file(struct zeta_plugin_tracer *tracer)
{
    if (tracer->file)
        munmap(tracer->file, zeta_vgpu_trace_file_bytes(tracer->place_count));
    if (tracer->descriptor >= 0)
        close(tracer->descriptor);
    tracer->file = NULL;
    tracer->descriptor = -1;
}

static void destroy_tracer(struct zeta_plugin_tracer *tracer)
{
    if (tracer->running) {
        pthread_mutex_lock(&tracer->lock);
        tracer->stopping = true;
        pthread_cond_signal(&tracer->wake);
        pthread_mutex_unlock(&tracer->lock);
        pthread_join(tracer->thread, NULL);
    }
    while (tracer->units_taken > 0) {
        const struct place *place = &tracer->places[--tracer->units_taken];

        zeta_vgpu_instance_end_trace(tracer->instance, place->tile, place->source);
        zeta_vgpu_instance_release_unit(tracer->instance, place->tile,
                                        ZETA_VGPU_UNIT_TRACE_WORK + place->source);
    }
    close_file(tracer);
    zeta_record_ring_destroy(tracer->ring);
    pthread_cond_destroy(&tracer->wake);
    pthread_mutex_destroy(&tracer->lock);
    free(tracer);
}

/* Makes the list of tiles and sources that are traced. */
static uint32_t choose_places(const struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              const struct zeta_plugin_array *units)
{
    const char *id = self->vgpu->description.id;
    const char *at = units->data;
    uint32_t chosen = 0;

    if (units->count == 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "a tracer of %s needs a source of events", id);
    for (uint64_t i = 0; i < units->count; i++, at += units->stride) {
        struct zeta_plugin_string name;
        uint32_t source = 0;

        memcpy(&name, at, sizeof(name));
        while (source < ZETA_VGPU_SOURCES && !zeta_string_is(name, source_names[source]))
            source++;
        if (source == ZETA_VGPU_SOURCES)
            return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "%s has no source of events '%.*s'; its sources are trace-work "
                                  "and trace-device",
                                  id, zeta_string_shown(name), name.data);
        if ((chosen & 1u << source) != 0)
            return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "source %s of %s is given twice", source_names[source], id);
        chosen |= 1u << source;
        for (uint32_t t = 0; t < tracer->tile_count; t++)
            tracer->places[tracer->place_count++] =
                (struct place){.tile = tracer->first_tile + t, .source = source};
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t take_units(struct zeta_plugin_tracer *tracer)
{
    while (tracer->units_taken < tracer->place_count) {
        const struct place *place = &tracer->places[tracer->units_taken];
        const uint32_t holder = zeta_vgpu_instance_take_unit(
            tracer->instance, place->tile, ZETA_VGPU_UNIT_TRACE_WORK + place->source, false);

        if (holder != 0)
            return zeta_vgpu_refuse_unit(tracer->vgpu, "tracer on", source_names[place->source],
                                         tracer->vgpu->description.id, holder);
        tracer->places[tracer->units_taken++].shared =
            &zeta_vgpu_instance_traces(tracer->instance, place->tile)->sources[place->source];
    }
    return ZETA_PLUGIN_SUCCESS;
}

/* Makes the file of the tracer and publishes where it is. */
static uint32_t offer_places(const struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    const uint64_t number = zeta_vgpu_instance_new_number(tracer->instance);
    const uint64_t bytes = zeta_vgpu_trace_file_bytes(tracer->place_count);
    const uint64_t head[] = {ZETA_VGPU_TRACE_MAGIC, number, tracer->place_count};
    void *file = MAP_FAILED;

    if (number == 0)
        return zeta_vgpu_refuse_unit(tracer->vgpu, "tracer on",
                                     source_names[tracer->places[0].source],
                                     tracer->vgpu->description.id, ZETA_VGPU_NO_PROCESS);
    tracer->descriptor = zeta_vgpu_shared_file_create(ZETA_VGPU_TRACE_FILE, bytes);
    if (tracer->descriptor >= 0 &&
        pwrite(tracer->descriptor, head, sizeof(head), 0) == (ssize_t)sizeof(head))
        file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                    tracer->descriptor, 0);
    if (file == MAP_FAILED)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                              "%s: the file for events cannot be made: %s",
                              self->vgpu->description.id, strerror(errno));
    tracer->file = file;
    for (uint32_t i = 0; i < tracer->place_count; i++) {
        struct place *place = &tracer->places[i];
        struct zeta_vgpu_trace *shared = place->shared;

        place->missed = atomic_load_explicit(&shared->missed, memory_order_relaxed);
        atomic_store(&shared->number, 0);
        atomic_store(&shared->writers, 0);
        atomic_store(&shared->pid, (uint32_t)getpid());
        atomic_store(&shared->descriptor, (uint32_t)tracer->descriptor);
        atomic_store(&shared->index, i);
        atomic_store(&shared->number, number);
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    const uint32_t capacity = zeta_record_ring_choose(
        desc->ring_bytes ? desc->ring_bytes / ZETA_VGPU_EVENT_BYTES : RING_DEFAULT,
        desc->notify_bytes / ZETA_VGPU_EVENT_BYTES,
        zeta_vgpu_ring_most(&self->vgpu->description, RING_MAX));
    const uint64_t notify =
        (desc->notify_bytes + ZETA_VGPU_EVENT_BYTES - 1) / ZETA_VGPU_EVENT_BYTES;
    struct zeta_vgpu *vgpu = self->vgpu;
    struct zeta_plugin_tracer *tracer;
    uint32_t result;

    if (desc->record_bytes != ZETA_VGPU_EVENT_BYTES)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "events of %s have %u bytes, and the set says %u", device->id,
                              ZETA_VGPU_EVENT_BYTES, desc->record_bytes);
    if (vgpu->description.faults.permission != 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                              "tracers of %s are not permitted: its setting fault.permission is 1",
                              device->id);
    tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&tracer->lock, NULL);
    zeta_condition_init(&tracer->wake);
    tracer->vgpu = vgpu;
    tracer->first_tile = device->first_tile;
    tracer->tile_count = device->tile_count;
    tracer->descriptor = -1;
    result = choose_places(self, tracer, &desc->units);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    result = zeta_vgpu_instance_get(vgpu, &tracer->instance);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    tracer->ring = zeta_record_ring_create(capacity, ZETA_VGPU_EVENT_BYTES,
                                           notify < capacity ? notify : capacity);
    if (!tracer->ring) {
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        goto destroy;
    }
    result = take_units(tracer);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    result = offer_places(self, tracer);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    if (zeta_thread_start(&tracer->thread, tracer_main, tracer, "vgpu-tracer") != 0) {
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                                "no thread can be started to trace %s", vgpu->description.id);
        goto destroy;
    }
    tracer->running = true;
    desc->ring_bytes = (uint64_t)capacity * ZETA_VGPU_EVENT_BYTES;
    pthread_mutex_lock(&vgpu->objects_lock);
    LIST_INSERT_HEAD(&vgpu->open_tracers, tracer, entry);
    pthread_mutex_unlock(&vgpu->objects_lock);
    *out_tracer = tracer;
    return ZETA_PLUGIN_SUCCESS;

destroy:
    destroy_tracer(tracer);
    return result;
}

static void tracer_close(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    if (!tracer)
        return;
    pthread_mutex_lock(&tracer->vgpu->objects_lock);
    LIST_REMOVE(tracer, entry);
    pthread_mutex_unlock(&tracer->vgpu->objects_lock);
    destroy_tracer(tracer);
}

void zeta_vgpu_tracers_abandon(struct zeta_vgpu *vgpu)
{
    while (!LIST_EMPTY(&vgpu->open_tracers))
        tracer_close(vgpu->self, LIST_FIRST(&vgpu->open_tracers));
}

void zeta_vgpu_tracers_forget(struct zeta_vgpu *vgpu)
{
    struct zeta_plugin_tracer *tracer;

    /* Who holds a copy of the descriptor keeps the rings of a dead parent. */
    LIST_FOREACH (tracer, &vgpu->open_tracers, entry)
        close_file(tracer);
}

const struct zeta_plugin_tracer_ops zeta_vgpu_tracer_ops = {
    .struct_size = sizeof(struct zeta_plugin_tracer_ops),
    .open = tracer_open,
    .enable = tracer_enable,
    .disable = tracer_disable,
    .state = tracer_state,
    .read = tracer_read,
    .pending = tracer_pending,
    .descriptor = tracer_descriptor,
    .close = tracer_close,
};
