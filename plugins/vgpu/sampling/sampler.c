#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <zeta/thread.h>

#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/instance/instance.h"
#include "sampling.h"
#include "stream.h"

/* How often a stream checks for processes that died. */
#define REAP_NS UINT64_C(100000000)

/* How often a stream that wants context switches empties their log, at least. */
#define SWITCH_NS UINT64_C(1000000)

/* The same for markers. Readers poll themselves, and who sets too many of them waits. */
#define MARKER_NS UINT64_C(5000000)

/* How long the thread stays away from the state when a reader wants it. */
#define READER_NS 50000

/* Records of samples sum up a period in wall time, but no less than this: shorter ones add nothing.
 */
#define SHORTEST_NS UINT64_C(1000000)

/* ---- the snapshots of the logs in their order ----------------------------------------------- */

static bool takes(const struct zeta_plugin_stream *stream, uint32_t kind)
{
    return kind == ZETA_VGPU_SNAPSHOT_SWITCH ? stream->program.switches
                                             : stream->unit < ZETA_VGPU_MARKER_UNITS;
}

static uint32_t log_of(const struct zeta_plugin_stream *stream, uint32_t kind)
{
    return kind == ZETA_VGPU_SNAPSHOT_SWITCH ? ZETA_VGPU_LOG_SWITCHES
                                             : ZETA_VGPU_LOG_MARKERS + stream->unit;
}

/* Publishes that a marker has its report, so that its place in the log is free again. */
static void publish_cursor(struct zeta_plugin_stream *stream, uint32_t tile)
{
    zeta_vgpu_instance_markers_read(stream->instance, stream->first_tile + tile, stream->unit,
                                    stream->snapshots[tile].cursors[ZETA_VGPU_SNAPSHOT_MARKER]);
}

/* The oldest snapshot of a tile that has no report yet; NULL: there is none. */
static const struct zeta_vgpu_snapshot *snapshots_of_tile(struct zeta_plugin_stream *stream,
                                                          uint32_t tile, uint32_t *out_kind)
{
    struct zeta_vgpu_snapshots *snapshots = &stream->snapshots[tile];
    const struct zeta_vgpu_snapshot *first = NULL;

    for (uint32_t kind = 0; kind < ZETA_VGPU_SNAPSHOT_KINDS; kind++) {
        uint64_t lost = 0;

        if (!snapshots->has[kind] && takes(stream, kind))
            snapshots->has[kind] = zeta_vgpu_instance_next_snapshot(
                stream->instance, stream->first_tile + tile, log_of(stream, kind),
                &snapshots->cursors[kind], &snapshots->next[kind], &lost);
        /* Lost switches are only context; a lost marker is data. */
        if (kind == ZETA_VGPU_SNAPSHOT_MARKER && lost > 0) {
            zeta_record_ring_lose(stream->ring, ZETA_PLUGIN_BREAK_LOST, lost);
            if (!snapshots->has[kind])
                publish_cursor(stream, tile);
        }
        if (snapshots->has[kind] && (!first || snapshots->next[kind].order < first->order)) {
            first = &snapshots->next[kind];
            *out_kind = kind;
        }
    }
    return first;
}

static const struct zeta_vgpu_snapshot *first_snapshot(struct zeta_plugin_stream *stream,
                                                       uint32_t *out_tile, uint32_t *out_kind)
{
    const struct zeta_vgpu_snapshot *first = NULL;

    for (uint32_t t = 0; t < stream->tile_count; t++) {
        uint32_t kind = 0;
        const struct zeta_vgpu_snapshot *snapshot = snapshots_of_tile(stream, t, &kind);

        if (snapshot && (!first || snapshot->order < first->order)) {
            first = snapshot;
            *out_tile = t;
            *out_kind = kind;
        }
    }
    return first;
}

/* ---- counts --------------------------------------------------------------------------------- */

static uint64_t stream_ticks(const struct zeta_plugin_stream *stream)
{
    return zeta_vgpu_ticks(stream->vgpu, stream->first_tile);
}

/* Host time of a tick; only in wall time. */
static uint64_t host_ns(const struct zeta_plugin_stream *stream, uint64_t ticks)
{
    return (ticks - zeta_vgpu_instance_offset(stream->instance)) * ZETA_VGPU_TICK_NS;
}

static uint64_t next_deadline(const struct zeta_plugin_stream *stream, uint64_t ticks)
{
    return (ticks / stream->period_ticks + 1) * stream->period_ticks;
}

/* All that came since the last report goes into the next one. */
static const struct zeta_vgpu_part everything = {1, 1};

/* What a total has become since the last report. It never falls, whatever others wrote there. */
static uint64_t came(const struct zeta_plugin_stream *stream, uint32_t row, uint32_t counter,
                     uint64_t total)
{
    const uint64_t known = stream->origin[row][counter] + stream->totals[row][counter];

    return total > known ? total - known : 0;
}

/* Clocks of a tile since the last report. */
static uint64_t clocks_came(const struct zeta_plugin_stream *stream, uint32_t tile,
                            const uint64_t (*from)[ZETA_VGPU_COUNTER_COUNT])
{
    uint64_t clocks = 0;

    for (uint32_t row = 0; row < stream->rows; row++)
        clocks += came(stream, tile * stream->rows + row, ZETA_VGPU_GPU_CORE_CLOCKS,
                       from[row][ZETA_VGPU_GPU_CORE_CLOCKS]);
    return clocks;
}

/* Takes over newer totals. */
static void merge_totals(struct zeta_plugin_stream *stream, uint32_t tile,
                         const uint64_t (*from)[ZETA_VGPU_COUNTER_COUNT],
                         struct zeta_vgpu_part part)
{
    for (uint32_t row = 0; row < stream->rows; row++) {
        uint64_t *totals = stream->totals[tile * stream->rows + row];

        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            totals[i] +=
                zeta_vgpu_part_of(came(stream, tile * stream->rows + row, i, from[row][i]), part);
    }
}

/* The context that began last, of what runs until then; 0: nothing does. */
static uint32_t running_context(const struct zeta_plugin_stream *stream, uint64_t until_ns)
{
    uint64_t latest_ns = 0;
    uint32_t context = 0;

    for (uint32_t i = 0; i < stream->tile_count * ZETA_VGPU_SLOTS; i++) {
        struct zeta_vgpu_activity activity;

        if (zeta_vgpu_instance_activity(stream->instance, i % ZETA_VGPU_SLOTS,
                                        stream->first_tile + i / ZETA_VGPU_SLOTS, &activity) &&
            activity.since_ns > latest_ns && activity.since_ns <= until_ns) {
            latest_ns = activity.since_ns;
            context = (uint32_t)activity.context;
        }
    }
    return context;
}

/* Takes over newer counts of EUs, which never fall either. */
static void merge_eus(struct zeta_plugin_stream *stream, uint32_t tile,
                      const uint64_t from[ZETA_VGPU_EU_REQUESTS], struct zeta_vgpu_part part)
{
    for (uint32_t i = 0; i < ZETA_VGPU_SELECTIONS; i++) {
        if (stream->program.selections[i].tile == tile && from[i] > stream->eus[i])
            stream->eus[i] += zeta_vgpu_part_of(from[i] - stream->eus[i], part);
    }
}

/* Takes over what was counted until an instant. */
static void merge_snapshot(struct zeta_plugin_stream *stream, uint32_t tile,
                           const struct zeta_vgpu_snapshot *snapshot, struct zeta_vgpu_part part)
{
    merge_totals(stream, tile, snapshot->totals, part);
    if (stream->program.eus && snapshot->eu_numbers[stream->unit] == stream->eu_numbers[tile])
        merge_eus(stream, tile, snapshot->eus[stream->unit], part);
}

/* Puts report stream->number into the ring, but for those that the setting fault.lost_reports
 * takes. */
static void push(struct zeta_plugin_stream *stream, const uint8_t *report)
{
    const uint64_t lost_every = stream->vgpu->description.faults.lost_reports;

    if (lost_every != 0 && stream->number % lost_every == 0)
        zeta_record_ring_lose(stream->ring, ZETA_PLUGIN_BREAK_LOST, 1);
    else
        (void)zeta_record_ring_push(stream->ring, report, 1);
}

/* Writes a report of the present totals. */
static void write_report(struct zeta_plugin_stream *stream, uint64_t ticks, uint32_t reason,
                         uint32_t context)
{
    struct zeta_vgpu_sample sample = {
        .report_id = reason | stream->unit,
        .ticks = ticks,
        .context = context,
        .number = ++stream->number,
        .totals = (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])stream->totals,
        .tiles = stream->tile_count,
        .rows_per_tile = stream->rows,
    };
    uint64_t events[ZETA_VGPU_SOURCES][ZETA_VGPU_EVENTS_COUNT] = {{0}};
    uint8_t report[ZETA_VGPU_REPORT_BYTES];
    uint64_t most = 0;

    /* The clock of the device goes on with that of its busiest tile: tiles work side by side, so
     * clocks of several would be more than the time has. */
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        uint64_t clocks = 0;

        for (uint32_t row = 0; row < stream->rows; row++)
            clocks += stream->totals[t * stream->rows + row][ZETA_VGPU_GPU_CORE_CLOCKS];
        if (clocks - stream->tile_clocks[t] > most)
            most = clocks - stream->tile_clocks[t];
        stream->tile_clocks[t] = clocks;
    }
    sample.core_clocks = stream->core_clocks += most;

    /* Events of each source, summed over the tiles of the stream. */
    for (uint32_t i = 0; stream->program.events && i < stream->tile_count * ZETA_VGPU_SOURCES;
         i++) {
        const struct zeta_vgpu_trace *trace =
            &zeta_vgpu_instance_traces(stream->instance, stream->first_tile + i / ZETA_VGPU_SOURCES)
                 ->sources[i % ZETA_VGPU_SOURCES];
        uint64_t *sums = events[i % ZETA_VGPU_SOURCES];

        sums[ZETA_VGPU_EVENTS_WRITTEN] += atomic_load(&trace->written);
        sums[ZETA_VGPU_EVENTS_LOST] += atomic_load(&trace->lost);
        sums[ZETA_VGPU_EVENTS_WAITING] += atomic_load(&trace->waiting);
        sums[ZETA_VGPU_EVENTS_CAPACITY] += atomic_load(&trace->capacity);
        sample.events = (const uint64_t(*)[ZETA_VGPU_EVENTS_COUNT])events;
    }
    if (stream->program.eus)
        sample.eus = stream->eus;
    stream->last_ticks = ticks;
    zeta_vgpu_report_encode(&sample, &stream->program, report);
    push(stream, report);
}

/*
 * Reads the totals of now. settle_totals() takes them over, after a poll of the snapshots that
 * wait: work behind a snapshot is counted only after the snapshot is in its log, so totals are not
 * newer than a snapshot that was not there after they were read.
 */
static void read_totals(struct zeta_plugin_stream *stream)
{
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        /* When writers disturb it too often, the totals of the time before are kept. */
        stream->has_fresh[t] = zeta_vgpu_instance_totals(stream->instance, stream->first_tile + t,
                                                         stream->fresh + t * stream->rows);
        stream->has_fresh_eus[t] =
            stream->program.eus &&
            zeta_vgpu_instance_eu_totals(stream->instance, stream->first_tile + t, stream->unit,
                                         stream->eu_numbers[t], stream->fresh_eus[t]);
    }
}

/*
 * Takes over the totals that were read, for a report at that time. A snapshot that waits for
 * its report bounds them: the report before it must not know of work behind it.
 *
 * A row has no more clocks than its time has at the nominal frequency. Of work that came with more,
 * because it was done before or its slice is longer than the period, all counts wait for the next
 * rows in the same proportion, so shares of clocks are what they were.
 */
static void settle_totals(struct zeta_plugin_stream *stream, uint64_t ticks)
{
    const uint64_t most =
        zeta_vgpu_clocks_in(&stream->vgpu->description, ticks - stream->last_ticks);

    for (uint32_t t = 0; t < stream->tile_count; t++) {
        const uint64_t(*fresh)[ZETA_VGPU_COUNTER_COUNT] =
            (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])stream->fresh + t * stream->rows;
        uint32_t kind;
        const struct zeta_vgpu_snapshot *snapshot = snapshots_of_tile(stream, t, &kind);
        const struct zeta_vgpu_part part = {
            most, clocks_came(stream, t, snapshot ? snapshot->totals : fresh)};

        if (snapshot) {
            merge_snapshot(stream, t, snapshot, part);
            continue;
        }
        if (stream->has_fresh[t])
            merge_totals(stream, t, fresh, part);
        if (stream->has_fresh_eus[t])
            merge_eus(stream, t, stream->fresh_eus[t], part);
    }
}

/* The report of a snapshot, with the totals of its time. It comes later if they need more time. */
static void write_snapshot(struct zeta_plugin_stream *stream, uint32_t tile, uint32_t kind,
                           const struct zeta_vgpu_snapshot *snapshot)
{
    const uint64_t needed = zeta_vgpu_ticks_for(&stream->vgpu->description,
                                                clocks_came(stream, tile, snapshot->totals));
    /* Two reports never have the same time. */
    const uint64_t soonest = stream->last_ticks + (needed > 0 ? needed : 1);
    const uint32_t reason =
        kind == ZETA_VGPU_SNAPSHOT_SWITCH ? ZETA_VGPU_REASON_SWITCH : ZETA_VGPU_REASON_MARKER;

    merge_snapshot(stream, tile, snapshot, everything);
    write_report(stream, snapshot->ticks > soonest ? snapshot->ticks : soonest, reason,
                 (uint32_t)snapshot->value);
    stream->snapshots[tile].has[kind] = false;
    if (kind == ZETA_VGPU_SNAPSHOT_MARKER)
        publish_cursor(stream, tile);
}

/* The deadlines up to then. */
static void write_timers(struct zeta_plugin_stream *stream, uint64_t until_ticks)
{
    const uint64_t capacity = zeta_record_ring_capacity(stream->ring);
    uint64_t due, last;

    if (until_ticks < stream->next_ticks)
        return;
    due = (until_ticks - stream->next_ticks) / stream->period_ticks + 1;
    last = stream->next_ticks + (due - 1) * stream->period_ticks;
    stream->context = stream->is_virtual ? 0 : running_context(stream, host_ns(stream, last));
    /*
     * Deadlines whose reports the ring would lose to later ones at once are passed over. Writing
     * them takes time too: a thread that is slower than its deadlines would be later with every
     * reading of the clock, and never come to its end.
     */
    if (due > capacity) {
        zeta_record_ring_lose(stream->ring, ZETA_PLUGIN_BREAK_OVERFLOW, due - capacity);
        stream->number += due - capacity;
        stream->next_ticks += (due - capacity) * stream->period_ticks;
    }
    for (; stream->next_ticks <= last; stream->next_ticks += stream->period_ticks) {
        /* A snapshot may have moved past the deadline. */
        const uint64_t ticks =
            stream->next_ticks > stream->last_ticks ? stream->next_ticks : stream->last_ticks + 1;

        settle_totals(stream, ticks);
        write_report(stream, ticks, ZETA_VGPU_REASON_TIMER, stream->context);
    }
}

/* Writes everything up to now, in the order of time. */
static void write_due(struct zeta_plugin_stream *stream, uint64_t now_ticks)
{
    const struct zeta_vgpu_snapshot *snapshot;
    uint32_t tile = 0, kind = 0;

    if (now_ticks >= stream->next_ticks)
        read_totals(stream);
    while ((snapshot = first_snapshot(stream, &tile, &kind)) != NULL &&
           snapshot->ticks <= now_ticks) {
        write_timers(stream, snapshot->ticks);
        write_snapshot(stream, tile, kind, snapshot);
    }
    write_timers(stream, now_ticks);
}

/* The baseline: a report of the time when the stream is opened. */
static void write_first(struct zeta_plugin_stream *stream)
{
    const uint64_t ticks = stream_ticks(stream);

    /* Snapshots of before the stream have no report. */
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        for (uint32_t kind = 0; kind < ZETA_VGPU_SNAPSHOT_KINDS; kind++) {
            if (takes(stream, kind))
                stream->snapshots[t].cursors[kind] = zeta_vgpu_instance_log_head(
                    stream->instance, stream->first_tile + t, log_of(stream, kind));
        }
        if (takes(stream, ZETA_VGPU_SNAPSHOT_MARKER))
            publish_cursor(stream, t);
    }
    read_totals(stream);
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        if (stream->has_fresh[t])
            merge_totals(stream, t,
                         (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])stream->fresh +
                             t * stream->rows,
                         everything);
    }
    if (stream->is_virtual) {
        /* Totals of earlier processes must not show in bytes that shall repeat. */
        memcpy(stream->origin, stream->totals,
               (size_t)stream->tile_count * stream->rows * sizeof(*stream->totals));
        memset(stream->totals, 0,
               (size_t)stream->tile_count * stream->rows * sizeof(*stream->totals));
    } else {
        stream->context = running_context(stream, host_ns(stream, ticks));
    }
    write_report(stream, ticks, ZETA_VGPU_REASON_TIMER, stream->context);
    stream->next_ticks = next_deadline(stream, ticks);
}

/* ---- samples of instructions ---------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
    const struct zeta_vgpu_ip_row *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return 0;
}

static void put(uint8_t *record, size_t at, uint64_t value)
{
    memcpy(record + at, &value, sizeof(value));
}

/* Sums the rows up by instruction. */
static void write_rows(struct zeta_plugin_stream *stream, uint64_t ticks)
{
    const struct zeta_vgpu_ip_row *rows = stream->ip_rows;
    uint32_t i = 0;

    qsort(stream->ip_rows, stream->ip_row_count, sizeof(*rows), compare_rows);
    while (i < stream->ip_row_count) {
        uint64_t counts[ZETA_VGPU_STALL_COUNT] = {0};
        uint8_t record[ZETA_VGPU_IP_RECORD_BYTES] = {0};
        const struct zeta_vgpu_ip_row *first = &rows[i];

        while (i < stream->ip_row_count && compare_rows(first, &rows[i]) == 0) {
            counts[rows[i].stall] += rows[i].count;
            i++;
        }
        put(record, 0, first->address);
        put(record, 8, first->pid);
        for (uint32_t k = 0; k < ZETA_VGPU_STALL_COUNT; k++)
            put(record, 16 + 8 * (size_t)k, counts[k]);
        put(record, 88, ticks);
        stream->number++;
        push(stream, record);
    }
    stream->ip_row_count = 0;
}

/* Writes what was sampled since last time; losses come before it. */
static void write_records(struct zeta_plugin_stream *stream, uint64_t ticks)
{
    struct zeta_vgpu_ip_event event;
    uint64_t lost = 0;

    for (uint32_t t = 0; t < stream->tile_count; t++) {
        while (zeta_vgpu_instance_ip_next(stream->instance, stream->first_tile + t,
                                          &stream->ip_cursors[t], &event, &lost)) {
            if (stream->is_virtual && event.pid != (uint32_t)getpid())
                continue;
            if (stream->ip_row_count == ZETA_VGPU_IP_ROWS)
                write_rows(stream, ticks);
            stream->ip_rows[stream->ip_row_count++] =
                (struct zeta_vgpu_ip_row){.address = event.address,
                                          .pid = stream->is_virtual ? 0 : event.pid,
                                          .stall = event.stall,
                                          .count = event.count};
        }
    }
    if (lost > 0)
        zeta_record_ring_lose(stream->ring, ZETA_PLUGIN_BREAK_LOST, lost);
    write_rows(stream, ticks);
}

/* Ends what was requested of the first tiles. */
static void end_samples(struct zeta_plugin_stream *stream, uint32_t tiles)
{
    for (uint32_t t = 0; t < tiles; t++)
        zeta_vgpu_instance_ip_end(stream->instance, stream->first_tile + t);
}

/* ---- when ----------------------------------------------------------------------------------- */

void zeta_vgpu_streams_advance(struct zeta_vgpu_tile *tile)
{
    struct zeta_plugin_stream *stream;

    pthread_mutex_lock(&tile->streams_lock);
    LIST_FOREACH (stream, &tile->streams, tile_entry) {
        const uint64_t now = stream_ticks(stream);

        if (!stream->ip_rows) {
            write_due(stream, now);
        } else if (now >= stream->next_ticks) {
            write_records(stream, now / stream->period_ticks * stream->period_ticks);
            stream->next_ticks = next_deadline(stream, now);
        }
    }
    pthread_mutex_unlock(&tile->streams_lock);
}

/* Waits until then or until the stream is stopped; false when it is. */
static bool wait_until(struct zeta_plugin_stream *stream, uint64_t until_ns)
{
    const struct timespec until = zeta_clock_timespec(until_ns);
    int error = 0;
    bool go_on;

    pthread_mutex_lock(&stream->lock);
    while (!stream->stopping && error == 0)
        error = pthread_cond_timedwait(&stream->wake, &stream->lock, &until);
    go_on = !stream->stopping;
    pthread_mutex_unlock(&stream->lock);
    return go_on;
}

/* When the thread of a stream of reports writes next. */
static uint64_t wake_ns(struct zeta_plugin_stream *stream)
{
    const uint64_t soon_ns =
        zeta_monotonic_ns() + (stream->program.switches ? SWITCH_NS : MARKER_NS);
    uint64_t deadline_ns;

    pthread_mutex_lock(&stream->state_lock);
    deadline_ns = host_ns(stream, stream->next_ticks);
    pthread_mutex_unlock(&stream->state_lock);
    return (stream->program.switches || stream->unit < ZETA_VGPU_MARKER_UNITS) &&
                   soon_ns < deadline_ns
               ? soon_ns
               : deadline_ns;
}

/* Writes what came up to now, in the middle of a period too. */
static void write_now_locked(struct zeta_plugin_stream *stream)
{
    if (stream->ip_rows)
        write_records(stream, stream_ticks(stream));
    else
        write_due(stream, stream_ticks(stream));
}

static void write_now(struct zeta_plugin_stream *stream)
{
    /* A thread that is late would take the lock again at once, and no reader ever got it. */
    if (atomic_load(&stream->readers) > 0)
        (void)nanosleep(&(struct timespec){.tv_nsec = READER_NS}, NULL);
    pthread_mutex_lock(&stream->state_lock);
    write_now_locked(stream);
    pthread_mutex_unlock(&stream->state_lock);
}

static void *sampler_main(void *argument)
{
    struct zeta_plugin_stream *stream = argument;
    const uint64_t period_ns = stream->period_ticks * ZETA_VGPU_TICK_NS;
    const uint64_t step_ns = period_ns > SHORTEST_NS ? period_ns : SHORTEST_NS;
    uint64_t reaped_ns = zeta_monotonic_ns(), next_ns = reaped_ns + step_ns;

    /* Without it the kernel adds 50 microseconds to each wait: several short periods. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (wait_until(stream, stream->ip_rows ? next_ns : wake_ns(stream))) {
        const uint64_t now = zeta_monotonic_ns();

        write_now(stream);
        if (stream->ip_rows)
            next_ns += (now - next_ns) / step_ns * step_ns + step_ns;
        if (now - reaped_ns >= REAP_NS) {
            zeta_vgpu_instance_reap(stream->instance);
            zeta_vgpu_report_damage(stream->vgpu);
            reaped_ns = now;
        }
    }
    return NULL;
}

bool zeta_vgpu_sampler_start(struct zeta_plugin_stream *stream)
{
    struct zeta_vgpu_tile *tile = &stream->vgpu->tiles[stream->first_tile];

    for (uint32_t t = 0; stream->ip_rows && t < stream->tile_count; t++) {
        if (!zeta_vgpu_instance_ip_begin(stream->instance, stream->first_tile + t,
                                         stream->period_ticks, &stream->ip_cursors[t])) {
            end_samples(stream, t);
            return false;
        }
    }
    if (stream->is_virtual)
        pthread_mutex_lock(&tile->streams_lock);
    if (stream->ip_rows)
        stream->next_ticks = next_deadline(stream, stream_ticks(stream));
    else
        write_first(stream);
    if (stream->is_virtual) {
        LIST_INSERT_HEAD(&tile->streams, stream, tile_entry);
        stream->running = true;
        pthread_mutex_unlock(&tile->streams_lock);
        return true;
    }
    stream->running = zeta_thread_start(&stream->thread, sampler_main, stream,
                                        stream->ip_rows ? "vgpu-ip" : "vgpu-oa") == 0;
    if (!stream->running && stream->ip_rows)
        end_samples(stream, stream->tile_count);
    return stream->running;
}

void zeta_vgpu_sampler_stop(struct zeta_plugin_stream *stream)
{
    struct zeta_vgpu_tile *tile = &stream->vgpu->tiles[stream->first_tile];

    if (!stream->running)
        return;
    stream->running = false;
    if (stream->is_virtual) {
        pthread_mutex_lock(&tile->streams_lock);
        LIST_REMOVE(stream, tile_entry);
        pthread_mutex_unlock(&tile->streams_lock);
    } else {
        pthread_mutex_lock(&stream->lock);
        stream->stopping = true;
        pthread_cond_signal(&stream->wake);
        pthread_mutex_unlock(&stream->lock);
        pthread_join(stream->thread, NULL);
    }
    if (stream->ip_rows)
        end_samples(stream, stream->tile_count);
    /* What was complete before the stop. */
    if (stream->ip_rows || !stream->is_virtual)
        write_now(stream);
}

void zeta_vgpu_sampler_catch_up(struct zeta_plugin_stream *stream)
{
    bool waits = stream->ip_rows || takes(stream, ZETA_VGPU_SNAPSHOT_SWITCH);

    if (stream->is_virtual || !stream->running)
        return;
    for (uint32_t t = 0; takes(stream, ZETA_VGPU_SNAPSHOT_MARKER) && t < stream->tile_count; t++)
        waits |=
            zeta_vgpu_instance_markers_wait(stream->instance, stream->first_tile + t, stream->unit);
    if (!waits)
        return;
    atomic_fetch_add(&stream->readers, 1);
    pthread_mutex_lock(&stream->state_lock);
    atomic_fetch_sub(&stream->readers, 1);
    write_now_locked(stream);
    pthread_mutex_unlock(&stream->state_lock);
}
