/*
 * The ring of a unit. No report is stored: which there are follows from the times between head
 * and tail, and what they hold from their time. A timer report comes when bit `exponent` of the
 * clock falls, so at the multiples of 2^(exponent + 1); none while the GPU sleeps, and one when it
 * falls asleep.
 */

#include <string.h>

#include "tests/kmd/machine/counter.h"
#include "tests/kmd/machine/machine.h"

/* Bits of the reason of a report. */
enum { REASON_TIMER = 1 << 0, REASON_SWITCH = 1 << 3, REASON_SLEEP = 1 << 4 };

/* When a stream makes reports. */
struct schedule {
    bool has_timer;
    uint32_t shift; /* a period is 1 << shift ticks */
    uint64_t half;
    uint64_t switch_from, switch_to;
    struct kmd_sleep sleep;
    const struct kmd_stream *stream; /* whose holes hide what was made */
};

struct event {
    uint64_t tick;
    uint32_t reason;
};

static void schedule_init(struct schedule *schedule, const struct kmd_gpu *gpu,
                          const struct kmd_unit *unit)
{
    const struct kmd_stream *stream = &unit->stream;

    schedule->has_timer = stream->has_timer;
    schedule->shift = stream->exponent + 1;
    schedule->half = 1ull << stream->exponent;
    schedule->switch_from = stream->switch_from;
    schedule->switch_to = stream->switch_to;
    kmd_sleep_init(&schedule->sleep, gpu, unit);
    schedule->stream = stream;
}

/* Middles of periods with a switch, up to a time. */
static uint64_t switches_until(const struct schedule *schedule, uint64_t tick)
{
    const uint64_t middles = (tick + schedule->half) >> schedule->shift;

    if (middles <= schedule->switch_from)
        return 0;
    return (middles < schedule->switch_to ? middles : schedule->switch_to) - schedule->switch_from;
}

/* Reports of timer and switches after one time and up to another, if nobody sleeps. */
static uint64_t count_awake(const struct schedule *schedule, uint64_t after, uint64_t until)
{
    if (!schedule->has_timer || until <= after)
        return 0;
    return (until >> schedule->shift) - (after >> schedule->shift) +
           switches_until(schedule, until) - switches_until(schedule, after);
}

/* Reports that the unit makes. */
static uint64_t count_made(const struct schedule *schedule, uint64_t after, uint64_t until)
{
    uint64_t count = count_awake(schedule, after, until);

    for (uint32_t i = 0; i < schedule->sleep.count; i++) {
        const uint64_t from = schedule->sleep.from[i];
        const uint64_t last = schedule->sleep.to[i] - 1;

        if (from > until || last <= after || last + 1 == from)
            continue;
        count -=
            count_awake(schedule, from > after ? from - 1 : after, last < until ? last : until);
        count += from > after;
    }
    return count;
}

/* Those of them that are in the ring. */
static uint64_t count_events(const struct schedule *schedule, uint64_t after, uint64_t until)
{
    uint64_t count = count_made(schedule, after, until);

    for (uint32_t i = 0; i < schedule->stream->hole_count; i++) {
        const struct kmd_hole *hole = &schedule->stream->holes[i];

        if (hole->from < until && hole->to > after)
            count -= count_made(schedule, hole->from > after ? hole->from : after,
                                hole->to < until ? hole->to : until);
    }
    return count;
}

/* The first report that is made after a time; false: there is none until the other. */
static bool next_made(const struct schedule *schedule, uint64_t after, uint64_t until,
                      struct event *out_event)
{
    const struct kmd_sleep *sleep = &schedule->sleep;

    for (uint32_t i = 0;;) {
        const uint64_t period = after >> schedule->shift;
        const uint64_t middle = (period << schedule->shift) + schedule->half;

        *out_event = (struct event){(period + 1) << schedule->shift, REASON_TIMER};
        if (!schedule->has_timer)
            out_event->tick = UINT64_MAX;
        else if (after < middle && period >= schedule->switch_from && period < schedule->switch_to)
            *out_event = (struct event){middle, REASON_SWITCH};
        while (i < sleep->count && (sleep->to[i] <= after + 1 || sleep->to[i] == sleep->from[i]))
            i++;
        if (i == sleep->count || out_event->tick < sleep->from[i])
            return out_event->tick <= until;
        if (after < sleep->from[i]) {
            *out_event = (struct event){sleep->from[i], REASON_SLEEP};
            return out_event->tick <= until;
        }
        /* Asleep: nothing before it wakes up. */
        after = sleep->to[i] - 1;
        if (after >= until)
            return false;
    }
}

/* The first that is in the ring. */
static bool next_event(const struct schedule *schedule, uint64_t after, uint64_t until,
                       struct event *out_event)
{
    const struct kmd_stream *stream = schedule->stream;

    for (uint32_t i = 0; next_made(schedule, after, until, out_event);
         after = stream->holes[i].to) {
        while (i < stream->hole_count && stream->holes[i].to < out_event->tick)
            i++;
        if (i == stream->hole_count || out_event->tick <= stream->holes[i].from)
            return true;
        if (stream->holes[i].to >= until)
            return false;
    }
    return false;
}

static uint64_t now_ticks(const struct kmd_gpu *gpu, const struct kmd_unit *unit)
{
    return kmd_unit_ticks(gpu, unit, kmd_now_ns());
}

void kmd_stream_set_config(struct kmd_gpu *gpu, struct kmd_unit *unit,
                           const struct kmd_oa_config *config)
{
    struct kmd_stream *stream = &unit->stream;

    if (stream->config == config->id)
        return;
    memcpy(stream->earlier_uuid, stream->uuid, sizeof(stream->uuid));
    memcpy(stream->uuid, config->uuid, sizeof(stream->uuid));
    stream->config = config->id;
    stream->changed_tick = now_ticks(gpu, unit);
}

void kmd_ring_start(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;

    stream->head_tick = stream->tail_tick = now_ticks(gpu, unit);
    stream->looked_ns = kmd_now_ns();
    stream->losses = 0;
    stream->hole_count = 0;
    stream->lose_tick = 0;
    stream->changed_tick = 0;
    stream->enabled = true;
    if (gpu->fault_switches > 0)
        kmd_ring_add_switches(gpu, unit, gpu->fault_switches);
    gpu->fault_switches = 0;
}

void kmd_ring_drop(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct schedule schedule;

    schedule_init(&schedule, gpu, unit);
    kmd_count(gpu, KMD_STAT_REPORTS_LOST,
              count_made(&schedule, unit->stream.head_tick, now_ticks(gpu, unit)));
    kmd_ring_start(gpu, unit);
}

void kmd_ring_stop(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    kmd_ring_look(gpu, unit);
    unit->stream.enabled = false;
}

void kmd_ring_add_switches(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t periods)
{
    struct kmd_stream *stream = &unit->stream;

    stream->switch_from = (now_ticks(gpu, unit) >> (stream->exponent + 1)) + 1;
    stream->switch_to = stream->switch_from + periods;
}

/* Reports of these times, later than the first, do not come. */
static void add_hole(struct kmd_stream *stream, uint64_t from, uint64_t to)
{
    if (stream->hole_count > 0 && stream->holes[stream->hole_count - 1].to == from) {
        stream->holes[stream->hole_count - 1].to = to;
        return;
    }
    if (stream->hole_count == KMD_HOLES)
        memmove(&stream->holes[0], &stream->holes[1],
                --stream->hole_count * sizeof(stream->holes[0]));
    stream->holes[stream->hole_count++] = (struct kmd_hole){from, to};
}

static bool is_full(const struct kmd_stream *stream)
{
    return stream->hole_count > 0 && stream->holes[stream->hole_count - 1].to == UINT64_MAX;
}

void kmd_ring_overflow(struct kmd_unit *unit, uint64_t tick, uint64_t least)
{
    struct kmd_stream *stream = &unit->stream;

    stream->losses |= KMD_LOST_BUFFER;
    if (is_full(stream))
        return;
    add_hole(stream, tick, UINT64_MAX);
    stream->full_head = stream->head_tick;
    stream->full_least = least;
}

/* The hardware of a full ring goes on when somebody took from it. */
static void make_room(struct kmd_gpu *gpu, struct kmd_stream *stream,
                      const struct schedule *schedule)
{
    struct kmd_hole *hole = &stream->holes[stream->hole_count - 1];

    if (stream->head_tick == stream->full_head &&
        count_events(schedule, stream->head_tick, stream->tail_tick) > 0)
        return;
    const uint64_t lost = count_made(schedule, hole->from, stream->tail_tick);
    if (lost < stream->full_least)
        return;
    hole->to = stream->tail_tick;
    kmd_count(gpu, KMD_STAT_REPORTS_LOST, lost);
}

/* Drops reports that a fault wants lost: the next ones after it, wherever readers are. */
static void lose(struct kmd_gpu *gpu, struct kmd_stream *stream, const struct schedule *schedule)
{
    const uint64_t from =
        stream->lose_tick > stream->head_tick ? stream->lose_tick : stream->head_tick;
    struct event event = {.tick = from};
    uint64_t lost = 0;

    while (lost < stream->lose && next_event(schedule, event.tick, stream->tail_tick, &event)) {
        stream->lose_tick = event.tick;
        lost++;
    }
    if (lost == 0)
        return;
    add_hole(stream, from, stream->lose_tick);
    if (!stream->is_losing)
        stream->losses |= KMD_LOST_REPORTS;
    stream->lose -= lost;
    stream->is_losing = stream->lose > 0;
    kmd_count(gpu, KMD_STAT_REPORTS_LOST, lost);
}

/* The time of the last report that fits. */
static uint64_t last_that_fits(const struct schedule *schedule, const struct kmd_stream *stream,
                               uint64_t reports)
{
    uint64_t low = stream->head_tick;
    uint64_t high = stream->tail_tick;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (count_events(schedule, stream->head_tick, middle) < reports)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void kmd_ring_look(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;
    uint64_t fits;
    struct schedule schedule;

    if (!stream->enabled)
        return;
    fits = stream->ring_bytes / stream->report_bytes;
    schedule_init(&schedule, gpu, unit);
    stream->tail_tick = now_ticks(gpu, unit);
    stream->looked_ns = kmd_now_ns();
    if (is_full(stream))
        make_room(gpu, stream, &schedule);
    if (is_full(stream))
        return;
    lose(gpu, stream, &schedule);
    if (count_events(&schedule, stream->head_tick, stream->tail_tick) > fits)
        kmd_ring_overflow(unit, last_that_fits(&schedule, stream, fits), 0);
}

uint64_t kmd_ring_available(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    const struct kmd_stream *stream = &unit->stream;
    struct schedule schedule;

    schedule_init(&schedule, gpu, unit);
    return count_events(&schedule, stream->head_tick, stream->tail_tick);
}

static void put32(uint8_t *to, uint64_t value)
{
    const uint32_t word = (uint32_t)value;

    memcpy(to, &word, sizeof(word));
}

static void put64(uint8_t *to, uint64_t value)
{
    memcpy(to, &value, sizeof(value));
}

/* The context that runs after the last switch before or at an event. */
static uint32_t context_of(const struct kmd_stream *stream, const struct event *event)
{
    const uint64_t period = event->tick >> (stream->exponent + 1);
    const uint64_t switches = period + (event->reason == REASON_SWITCH);
    uint64_t last;

    if (switches <= stream->switch_from || stream->switch_from == stream->switch_to)
        return stream->context;
    last = (switches < stream->switch_to ? switches : stream->switch_to) - 1;
    return stream->context + 1 + (uint32_t)(last & 1);
}

/* First word: frequencies, reason, and whether the context id is valid. */
static uint32_t report_id(const struct kmd_gpu *gpu, const struct event *event)
{
    const uint32_t graphics = kmd_gpu_platform(gpu)->graphics;
    const uint32_t clock = ((gpu->max_mhz * 1000 + 8333) / 16666) & 0x1ff;
    uint32_t id = event->reason << 19;

    if (graphics < 900)
        return id | (event->reason != REASON_SLEEP ? 1u << 25 : 0);
    id |= clock;
    if (graphics >= 1250)
        return id | (event->reason == REASON_SWITCH ? 1u << 16 : 0);
    id |= (clock >> 7) << 9 | (clock & 0x7f) << 25;
    return id | (event->reason != REASON_SLEEP ? 1u << 16 : 0);
}

static void put_header(const struct kmd_gpu *gpu, const struct kmd_stream *stream,
                       const struct kmd_format *format, const struct event *event, uint64_t clock,
                       uint8_t *report)
{
    const uint32_t context = event->reason == REASON_SLEEP ? 0 : context_of(stream, event);

    switch (format->header) {
    case KMD_HEADER_HSW:
        put32(report, 1);
        put32(report + 4, event->tick);
        break;
    case KMD_HEADER_32:
        put32(report, report_id(gpu, event));
        put32(report + 4, event->tick);
        put32(report + 8, context);
        put32(report + 12, clock);
        break;
    case KMD_HEADER_64:
        put64(report, report_id(gpu, event));
        put64(report + 8, event->tick & ((1ull << 56) - 1));
        put64(report + 16, context);
        put64(report + 24, clock);
        break;
    }
}

static void put_segment(const struct kmd_segment *segment, const struct kmd_tracks *tracks,
                        const struct kmd_moment *moment, uint8_t *report)
{
    const struct kmd_track *track = &tracks->banks[segment->bank][segment->first];
    uint8_t *to = report + segment->offset;

    for (uint32_t i = 0; i < segment->count; i++) {
        const uint64_t value = kmd_track_value(tracks, &track[i], moment);

        if (segment->width == KMD_U64) {
            put64(to + 8 * i, value);
            continue;
        }
        put32(to + 4 * i, value);
        if (segment->width == KMD_U40)
            report[160 + segment->first + i] = (uint8_t)(value >> 32);
    }
}

uint32_t kmd_ring_take(struct kmd_gpu *gpu, struct kmd_unit *unit, void *out, size_t stride,
                       uint32_t max)
{
    struct kmd_stream *stream = &unit->stream;
    const struct kmd_format *format = kmd_stream_format(stream);
    struct kmd_tracks tracks;
    struct schedule schedule;
    struct event event;
    uint32_t taken = 0;
    bool is_earlier = stream->head_tick < stream->changed_tick;

    kmd_tracks_init(&tracks, gpu, unit, is_earlier ? stream->earlier_uuid : stream->uuid);
    schedule_init(&schedule, gpu, unit);
    while (taken < max && next_event(&schedule, stream->head_tick, stream->tail_tick, &event)) {
        uint8_t *report = (uint8_t *)out + stride * taken;
        const struct kmd_moment moment = kmd_moment_at(&schedule.sleep, event.tick);

        if (is_earlier && event.tick > stream->changed_tick) {
            kmd_tracks_init(&tracks, gpu, unit, stream->uuid);
            is_earlier = false;
        }
        memset(report, 0, format->bytes);
        put_header(gpu, stream, format, &event,
                   kmd_track_value(&tracks, &tracks.banks[KMD_BANK_CLOCK][0], &moment), report);
        for (const struct kmd_segment *segment = format->segments; segment->count > 0; segment++)
            put_segment(segment, &tracks, &moment, report);
        stream->head_tick = event.tick;
        taken++;
    }
    kmd_count(gpu, KMD_STAT_REPORTS_MADE, taken);
    return taken;
}
