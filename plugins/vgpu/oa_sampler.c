#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "instance_eu.h"
#include "ip_stream.h"
#include "oa.h"
#include "oa_stream.h"

/* How often a stream looks for processes that died. */
#define REAP_NS UINT64_C(100000000)

/* How often a stream that wants context switches empties their log, at least. */
#define SWITCH_NS UINT64_C(1000000)

/* The same for markers. Readers look themselves, and who sets too many of them waits. */
#define MARKER_NS UINT64_C(5000000)

/* How long the thread stays away from the state when a reader wants it. */
#define READER_NS 50000

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t stream_ticks(const struct zeta_plugin_stream *stream)
{
    return zeta_vgpu_ticks(stream->vgpu, &stream->vgpu->tiles[stream->first_tile]);
}

/* Host time of a tick; only in wall time. */
static uint64_t host_ns(const struct zeta_plugin_stream *stream, uint64_t ticks)
{
    return (ticks - zeta_vgpu_instance_offset(stream->instance)) * ZETA_VGPU_TICK_NS;
}

/* Takes over newer totals. Counters never fall, whatever somebody wrote into shared memory. */
static void merge_totals(struct zeta_plugin_stream *stream, uint32_t tile,
                         const uint64_t (*from)[ZETA_VGPU_COUNTER_COUNT])
{
    const uint32_t first = tile * stream->rows;

    for (uint32_t row = 0; row < stream->rows; row++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
            const uint64_t origin = stream->origin[first + row][i];

            if (from[row][i] > origin && from[row][i] - origin > stream->totals[first + row][i])
                stream->totals[first + row][i] = from[row][i] - origin;
        }
    }
}

/* Time that a process was busy until then. */
static uint64_t busy_until(const struct zeta_vgpu_activity *activity, uint64_t until_ns)
{
    const bool running = activity->since_ns != 0 && activity->since_ns < until_ns;

    return activity->total_ns + (running ? until_ns - activity->since_ns : 0);
}

/*
 * Looks at what all processes did on a tile since last time: the longest busy time among them, and
 * the context of the one that began last.
 */
static uint64_t look_at_tile(struct zeta_plugin_stream *stream, uint32_t t, uint64_t until_ns,
                             uint64_t *latest_ns)
{
    uint64_t longest = 0;

    for (uint32_t slot = 0; slot < ZETA_VGPU_SLOTS; slot++) {
        struct zeta_vgpu_seen *seen = &stream->seen[t][slot];
        struct zeta_vgpu_activity activity;
        uint64_t generation, busy, delta;

        if (!zeta_vgpu_instance_activity(stream->instance, slot, stream->first_tile + t, &activity,
                                         &generation))
            continue;
        busy = busy_until(&activity, until_ns);
        /* A new tenant began from nothing; it was busy only while we were watching. */
        if (seen->generation != generation)
            seen->busy_ns = stream->number == 0 ? busy : 0;
        seen->generation = generation;
        delta = busy > seen->busy_ns ? busy - seen->busy_ns : 0;
        seen->busy_ns = busy;
        if (delta > longest)
            longest = delta;
        if (activity.since_ns > *latest_ns && activity.since_ns <= until_ns) {
            *latest_ns = activity.since_ns;
            stream->context = (uint32_t)activity.context;
        }
    }
    return longest;
}

/* Busy time of the stream's tiles between the last look and until_ns, at most all of it. */
static uint64_t look_at_activity(struct zeta_plugin_stream *stream, uint64_t until_ns)
{
    const uint64_t span = until_ns > stream->seen_ns ? until_ns - stream->seen_ns : 0;
    uint64_t longest = 0, latest_ns = 0;

    stream->context = 0;
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        const uint64_t busy = look_at_tile(stream, t, until_ns, &latest_ns);

        if (busy > longest)
            longest = busy;
    }
    return longest < span ? longest : span;
}

/*
 * Counts one more clock for a report in which the device works and no modelled clock came. The
 * model says how many clocks work took when an epoch of it is over; until then the clock of a
 * device that works must not stand, because clients divide by it. For the same reason it goes on
 * between moments that follow each other at once.
 */
static void keep_clock_going(struct zeta_plugin_stream *stream, uint64_t idle_clocks, bool busy,
                             bool of_moment)
{
    uint64_t modelled = 0, core = idle_clocks;

    for (uint32_t row = 0; row < stream->tile_count * stream->rows; row++) {
        modelled += stream->totals[row][ZETA_VGPU_BUSY_CLOCKS];
        core += stream->totals[row][ZETA_VGPU_GPU_CORE_CLOCKS];
    }
    if ((busy && modelled == stream->modelled_clocks) || (of_moment && core == stream->core_clocks))
        stream->extra_clocks++;
    stream->modelled_clocks = modelled;
    stream->core_clocks = core;
}

/* Events of each source, summed over the tiles of the stream. */
static void collect_events(const struct zeta_plugin_stream *stream,
                           struct zeta_vgpu_event_counts events[ZETA_VGPU_SOURCES])
{
    for (uint32_t source = 0; source < ZETA_VGPU_SOURCES; source++) {
        for (uint32_t t = 0; t < stream->tile_count; t++) {
            struct zeta_vgpu_event_counts counts;

            zeta_vgpu_instance_event_counts(stream->instance, stream->first_tile + t, source,
                                            &counts);
            events[source].written += counts.written;
            events[source].lost += counts.lost;
            events[source].waiting += counts.waiting;
            events[source].capacity += counts.capacity;
        }
    }
}

/* Takes over newer counts of EUs, which never fall either. */
static void merge_eus(struct zeta_plugin_stream *stream, uint32_t tile,
                      const uint64_t from[ZETA_VGPU_EU_WISHES])
{
    for (uint32_t i = 0; i < ZETA_VGPU_SELECTIONS; i++) {
        if (stream->program.selections[i].tile == tile && from[i] > stream->eus[i])
            stream->eus[i] = from[i];
    }
}

/* Takes over all that was counted until a moment. */
static void merge_moment(struct zeta_plugin_stream *stream, uint32_t tile,
                         const struct zeta_vgpu_moment *moment)
{
    merge_totals(stream, tile, moment->totals);
    if (stream->eu_numbers && moment->eu_numbers[stream->unit] == stream->eu_numbers[tile])
        merge_eus(stream, tile, moment->eus[stream->unit]);
}

/* Writes a report of the present totals. */
static void write_report(struct zeta_plugin_stream *stream, uint64_t ticks, uint32_t reason,
                         uint32_t context, bool busy)
{
    const uint64_t lost_every = stream->vgpu->description.faults.lost_reports;
    struct zeta_vgpu_sample sample = {
        .report_id = reason | stream->unit,
        .ticks = ticks,
        .context = context,
        .idle_clocks = stream->idle_ns * stream->vgpu->description.core_clock_mhz / 1000,
        .number = ++stream->number,
        .totals = (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])stream->totals,
        .tiles = stream->tile_count,
        .rows_per_tile = stream->rows,
    };
    struct zeta_vgpu_event_counts events[ZETA_VGPU_SOURCES] = {{0}};
    uint8_t report[ZETA_VGPU_REPORT_BYTES];

    if (stream->program.events) {
        collect_events(stream, events);
        sample.events = events;
    }
    if (stream->eu_numbers)
        sample.eus = stream->eus;
    keep_clock_going(stream, sample.idle_clocks, busy, reason != ZETA_VGPU_REASON_TIMER);
    sample.extra_clocks = stream->extra_clocks;
    stream->last_ticks = ticks;
    if (lost_every != 0 && stream->number % lost_every == 0) {
        zeta_vgpu_ring_lose(&stream->ring, 1);
        return;
    }
    zeta_vgpu_report_encode(&sample, &stream->program, report);
    zeta_vgpu_ring_push(&stream->ring, report);
}

/*
 * Looks at the totals of now. They are taken over by settle_totals(), after a look at the moments
 * that wait: work behind a moment is counted only after the moment is in its log, so totals are not
 * newer than a moment that was not there after they were read.
 */
static void look_at_totals(struct zeta_plugin_stream *stream)
{
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        /* When writers disturb it too often, the totals of the time before stand. */
        stream->has_fresh[t] = zeta_vgpu_instance_totals(stream->instance, stream->first_tile + t,
                                                         stream->fresh + t * stream->rows);
        stream->has_fresh_eus[t] =
            stream->eu_numbers &&
            zeta_vgpu_instance_eu_totals(stream->instance, stream->first_tile + t, stream->unit,
                                         stream->eu_numbers[t], stream->fresh_eus[t]);
    }
}

/*
 * Takes over the totals that were looked at. A moment that waits for its report bounds them: the
 * report before it must not know of work behind it.
 */
static void settle_totals(struct zeta_plugin_stream *stream)
{
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        uint32_t kind;
        const struct zeta_vgpu_moment *moment = zeta_vgpu_moments_of_tile(stream, t, &kind);

        if (moment) {
            merge_moment(stream, t, moment);
            continue;
        }
        if (stream->has_fresh[t])
            merge_totals(stream, t,
                         (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])stream->fresh +
                             t * stream->rows);
        if (stream->has_fresh_eus[t])
            merge_eus(stream, t, stream->fresh_eus[t]);
    }
}

/* The clock of an idle device up to then. True if something ran in the meantime. */
static bool advance_idle(struct zeta_plugin_stream *stream, uint64_t until_ns)
{
    uint64_t busy_ns;

    if (until_ns <= stream->seen_ns)
        return false;
    busy_ns = look_at_activity(stream, until_ns);
    stream->idle_ns += until_ns - stream->seen_ns - busy_ns;
    stream->seen_ns = until_ns;
    return busy_ns > 0;
}

/* The report of a moment, with the totals of its time. */
static void write_moment(struct zeta_plugin_stream *stream, uint32_t tile, uint32_t kind,
                         const struct zeta_vgpu_moment *moment)
{
    /* Two reports never have the same time. */
    const uint64_t ticks =
        moment->ticks > stream->last_ticks ? moment->ticks : stream->last_ticks + 1;
    const uint32_t reason =
        kind == ZETA_VGPU_MOMENT_SWITCH ? ZETA_VGPU_REASON_SWITCH : ZETA_VGPU_REASON_MARKER;
    bool busy = false;

    if (!stream->is_virtual)
        busy = advance_idle(stream, host_ns(stream, moment->ticks));
    merge_moment(stream, tile, moment);
    write_report(stream, ticks, reason, (uint32_t)moment->value, busy);
    zeta_vgpu_moments_done(stream, tile, kind);
}

static void write_timer(struct zeta_plugin_stream *stream, bool busy)
{
    /* A switch may have moved past the deadline by a tick. */
    const uint64_t ticks =
        stream->next_ticks > stream->last_ticks ? stream->next_ticks : stream->last_ticks + 1;

    write_report(stream, ticks, ZETA_VGPU_REASON_TIMER, stream->context, busy);
    stream->next_ticks += stream->period_ticks;
}

/*
 * Passes over deadlines whose reports the ring would lose to later ones at once, when so many are
 * due. Writing them takes time too: a thread that is slower than its deadlines would be later with
 * every look at the clock, and never come to its end.
 */
static void skip_lost(struct zeta_plugin_stream *stream, uint64_t due)
{
    const uint64_t capacity = stream->ring.capacity;

    if (due <= capacity)
        return;
    zeta_vgpu_ring_overflow(&stream->ring, due - capacity);
    stream->number += due - capacity;
    stream->next_ticks += (due - capacity) * stream->period_ticks;
}

/* Wall time: the deadlines up to then. */
static void write_timers_wall(struct zeta_plugin_stream *stream, uint64_t until_ticks)
{
    uint64_t periods, last, last_ns, busy_ns, idle_ns;

    if (until_ticks < stream->next_ticks)
        return;
    periods = (until_ticks - stream->next_ticks) / stream->period_ticks;
    last = stream->next_ticks + periods * stream->period_ticks;
    last_ns = host_ns(stream, last);
    settle_totals(stream);
    busy_ns = look_at_activity(stream, last_ns);
    idle_ns = stream->idle_ns;
    skip_lost(stream, periods + 1);
    while (stream->next_ticks <= last) {
        /* The idle clock goes on evenly; of a time with work only the end is known. */
        const uint64_t at_ns = busy_ns == 0 ? host_ns(stream, stream->next_ticks) : last_ns;

        if (at_ns > stream->seen_ns + busy_ns)
            stream->idle_ns = idle_ns + (at_ns - stream->seen_ns - busy_ns);
        write_timer(stream, busy_ns > 0);
    }
    if (last_ns > stream->seen_ns)
        stream->seen_ns = last_ns;
}

static void write_timers_virtual(struct zeta_plugin_stream *stream, uint64_t until_ticks)
{
    if (until_ticks < stream->next_ticks)
        return;
    settle_totals(stream);
    stream->context = 0;
    while (stream->next_ticks <= until_ticks)
        write_timer(stream, false);
}

static void write_timers(struct zeta_plugin_stream *stream, uint64_t until_ticks)
{
    if (stream->is_virtual)
        write_timers_virtual(stream, until_ticks);
    else
        write_timers_wall(stream, until_ticks);
}

/* Writes everything up to now, in the order of time. */
static void write_due(struct zeta_plugin_stream *stream, uint64_t now_ticks)
{
    const struct zeta_vgpu_moment *moment;
    uint32_t tile = 0, kind = 0;

    if (now_ticks >= stream->next_ticks)
        look_at_totals(stream);
    while ((moment = zeta_vgpu_moments_first(stream, &tile, &kind)) != NULL &&
           moment->ticks <= now_ticks) {
        write_timers(stream, moment->ticks);
        write_moment(stream, tile, kind, moment);
    }
    write_timers(stream, now_ticks);
}

void zeta_vgpu_oa_advance(struct zeta_vgpu_tile *tile)
{
    pthread_mutex_lock(&tile->streams_lock);
    for (struct zeta_plugin_stream *stream = tile->streams; stream; stream = stream->next) {
        if (stream->ip)
            zeta_vgpu_ip_advance(stream, stream_ticks(stream));
        else
            write_due(stream, stream_ticks(stream));
    }
    pthread_mutex_unlock(&tile->streams_lock);
}

/* Waits until then or until the stream is stopped; false when it is. */
static bool wait_until(struct zeta_plugin_stream *stream, uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                                   .tv_nsec = (long)(until_ns % 1000000000u)};
    bool go_on;

    pthread_mutex_lock(&stream->lock);
    if (!stream->stopping)
        pthread_cond_timedwait(&stream->wake, &stream->lock, &until);
    go_on = !stream->stopping;
    pthread_mutex_unlock(&stream->lock);
    return go_on;
}

static uint64_t next_wake_ns(const struct zeta_plugin_stream *stream)
{
    const uint64_t deadline_ns = host_ns(stream, stream->next_ticks);
    const uint64_t soon_ns = now_ns() + (stream->program.switches ? SWITCH_NS : MARKER_NS);

    return zeta_vgpu_moments_possible(stream) && soon_ns < deadline_ns ? soon_ns : deadline_ns;
}

static uint64_t wake_ns(struct zeta_plugin_stream *stream)
{
    uint64_t wake;

    pthread_mutex_lock(&stream->state_lock);
    wake = next_wake_ns(stream);
    pthread_mutex_unlock(&stream->state_lock);
    return wake;
}

static void write_now(struct zeta_plugin_stream *stream)
{
    /* A thread that is late would take the lock again at once, and no reader ever got it. */
    if (atomic_load(&stream->readers) > 0)
        (void)nanosleep(&(struct timespec){.tv_nsec = READER_NS}, NULL);
    pthread_mutex_lock(&stream->state_lock);
    write_due(stream, stream_ticks(stream));
    pthread_mutex_unlock(&stream->state_lock);
}

static void *sampler_main(void *argument)
{
    struct zeta_plugin_stream *stream = argument;

    pthread_setname_np(pthread_self(), "vgpu-oa");
    /* Without it the kernel adds 50 microseconds to each wait: several short periods. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (wait_until(stream, wake_ns(stream))) {
        const uint64_t now = now_ns();

        write_now(stream);
        if (now - stream->reap_ns >= REAP_NS) {
            zeta_vgpu_instance_reap(stream->instance);
            zeta_vgpu_say_damage(stream->vgpu);
            stream->reap_ns = now;
        }
    }
    return NULL;
}

static bool start_thread(struct zeta_plugin_stream *stream)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    stream->running = pthread_create(&stream->thread, NULL, sampler_main, stream) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return stream->running;
}

/* The baseline: a report of the time when the stream is opened. */
static void write_first(struct zeta_plugin_stream *stream)
{
    const uint64_t ticks = stream_ticks(stream);

    zeta_vgpu_moments_begin(stream);
    look_at_totals(stream);
    settle_totals(stream);
    if (stream->is_virtual) {
        /* Totals of earlier processes must not show in bytes that shall repeat. */
        memcpy(stream->origin, stream->totals,
               (size_t)stream->tile_count * stream->rows * sizeof(*stream->totals));
        memset(stream->totals, 0,
               (size_t)stream->tile_count * stream->rows * sizeof(*stream->totals));
    } else {
        stream->seen_ns = host_ns(stream, ticks);
        stream->reap_ns = stream->seen_ns;
        (void)look_at_activity(stream, stream->seen_ns);
    }
    write_report(stream, ticks, ZETA_VGPU_REASON_TIMER, stream->context, false);
    stream->next_ticks = (ticks / stream->period_ticks + 1) * stream->period_ticks;
}

bool zeta_vgpu_sampler_start(struct zeta_plugin_stream *stream)
{
    struct zeta_vgpu_tile *tile = &stream->vgpu->tiles[stream->first_tile];

    if (!stream->is_virtual) {
        write_first(stream);
        return start_thread(stream);
    }
    pthread_mutex_lock(&tile->streams_lock);
    write_first(stream);
    stream->next = tile->streams;
    tile->streams = stream;
    stream->running = true;
    pthread_mutex_unlock(&tile->streams_lock);
    return true;
}

static void leave_list(struct zeta_plugin_stream *stream)
{
    struct zeta_vgpu_tile *tile = &stream->vgpu->tiles[stream->first_tile];

    pthread_mutex_lock(&tile->streams_lock);
    for (struct zeta_plugin_stream **at = &tile->streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    pthread_mutex_unlock(&tile->streams_lock);
}

void zeta_vgpu_sampler_stop(struct zeta_plugin_stream *stream)
{
    if (!stream->running)
        return;
    stream->running = false;
    if (stream->is_virtual) {
        leave_list(stream);
        return;
    }
    pthread_mutex_lock(&stream->lock);
    stream->stopping = true;
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    /* What was complete before the stop. */
    write_now(stream);
}

void zeta_vgpu_sampler_catch_up(struct zeta_plugin_stream *stream)
{
    if (stream->is_virtual || !stream->running || !zeta_vgpu_moments_wait(stream))
        return;
    atomic_fetch_add(&stream->readers, 1);
    pthread_mutex_lock(&stream->state_lock);
    atomic_fetch_sub(&stream->readers, 1);
    write_due(stream, stream_ticks(stream));
    pthread_mutex_unlock(&stream->state_lock);
}
