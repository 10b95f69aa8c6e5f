#include "instance_priv.h"

#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zeta/thread.h>

#include "plugins/vgpu/device/vgpu.h"

/* How often a marker that waits checks whether its reader made room. */
#define POLL_NS 200000

/* Attempts to read totals that are written all the time. */
#define TOTALS_ATTEMPTS 16u

/* Words of an entry before its totals. */
enum { NUMBER, TICKS, ORDER, VALUE, EUS };

/* ---- snapshots ------------------------------------------------------------------------------ */

/* A log as this process sees it. */
struct log_area {
    _Atomic uint64_t *head;
    _Atomic uint64_t *words;
    uint32_t entry_words;
    uint32_t capacity; /* in entries */
};

static struct log_area log_area(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                uint32_t log)
{
    struct zeta_vgpu_tile_logs *logs = &instance->segment->logs[tile];
    const uint32_t entry = ZETA_VGPU_LOG_HEADER + instance->rows_per_tile * ZETA_VGPU_COUNTER_COUNT;

    if (log == ZETA_VGPU_LOG_SWITCHES)
        return (struct log_area){&logs->heads[log], logs->switches, entry,
                                 ZETA_VGPU_SWITCH_WORDS / entry};
    return (struct log_area){&logs->heads[log], logs->markers[log - ZETA_VGPU_LOG_MARKERS], entry,
                             ZETA_VGPU_MARKER_WORDS / entry};
}

static void append_locked(const struct zeta_vgpu *vgpu, uint32_t tile, uint32_t log, uint64_t value)
{
    struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);
    const struct log_area area = log_area(instance, tile, log);
    const uint64_t position = atomic_load(area.head);
    _Atomic uint64_t *entry = area.words + position % area.capacity * area.entry_words;
    _Atomic uint64_t *words = &entry[EUS];
    uint64_t totals[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];
    bool found = false;

    /* Writers can disturb a reader for ever, but what has no totals of its own is not lost: readers
     * keep those that they have. */
    for (uint32_t i = 0; !found && i < TOTALS_ATTEMPTS; i++)
        found = zeta_vgpu_instance_totals(instance, tile, totals);
    if (!found)
        memset(totals, 0, sizeof(totals));
    /* Invalid while it is written; who dies here leaves an entry that nobody takes. */
    atomic_store(&entry[NUMBER], 0);
    atomic_store(&entry[TICKS], zeta_vgpu_ticks(vgpu, tile));
    atomic_store(&entry[ORDER], atomic_fetch_add(&instance->segment->snapshots, 1));
    atomic_store(&entry[VALUE], value);
    /* What was counted of EUs until now, for each unit that somebody wants that of. */
    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++, words += ZETA_VGPU_LOG_EUS) {
        uint64_t number = zeta_vgpu_instance_eu_request_number(instance, tile, unit);
        uint64_t values[ZETA_VGPU_EU_REQUESTS];

        if (number != 0 && !zeta_vgpu_instance_eu_totals(instance, tile, unit, number, values))
            number = 0;
        atomic_store(&words[0], number);
        for (uint32_t i = 0; number != 0 && i < ZETA_VGPU_EU_REQUESTS; i++)
            atomic_store(&words[1 + i], values[i]);
    }
    for (uint32_t i = 0; i < instance->rows_per_tile * ZETA_VGPU_COUNTER_COUNT; i++)
        atomic_store_explicit(&entry[ZETA_VGPU_LOG_HEADER + i],
                              totals[i / ZETA_VGPU_COUNTER_COUNT][i % ZETA_VGPU_COUNTER_COUNT],
                              memory_order_release);
    atomic_store(&entry[NUMBER], position + 1);
    atomic_store(area.head, position + 1);
}

void zeta_vgpu_instance_log_switch(const struct zeta_vgpu *vgpu, uint32_t tile, uint64_t context)
{
    struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);
    const struct zeta_vgpu_holder *holders = instance->segment->holders[tile];
    bool is_wanted = false;

    for (uint32_t unit = 0; !is_wanted && unit < ZETA_VGPU_UNITS; unit++)
        is_wanted = atomic_load_explicit(&holders[unit].pid, memory_order_relaxed) != 0 &&
                    atomic_load_explicit(&holders[unit].wants_switches, memory_order_relaxed) != 0;
    if (!is_wanted || !zeta_vgpu_instance_lock(instance))
        return;
    append_locked(vgpu, tile, ZETA_VGPU_LOG_SWITCHES, context);
    zeta_vgpu_instance_unlock(instance);
}

void zeta_vgpu_instance_request_markers(struct zeta_vgpu_instance *instance, uint32_t tile,
                                        uint32_t unit, uint64_t token, bool own_only)
{
    struct zeta_vgpu_holder *holder = &instance->segment->holders[tile][unit];

    if (!zeta_vgpu_instance_lock(instance))
        return;
    atomic_store(&holder->own_markers, own_only);
    atomic_store(&holder->markers_read,
                 zeta_vgpu_instance_log_head(instance, tile, ZETA_VGPU_LOG_MARKERS + unit));
    atomic_store(&holder->given_up, 0);
    atomic_store(&holder->token, token);
    zeta_vgpu_instance_unlock(instance);
}

static bool is_wanted(const struct zeta_vgpu_instance *instance,
                      const struct zeta_vgpu_marker *marker)
{
    const struct zeta_vgpu_holder *holder = &instance->segment->holders[marker->tile][marker->unit];
    const uint32_t pid = atomic_load(&holder->pid);
    const uint64_t token = atomic_load(&holder->token);

    if (pid == 0 || token == 0 || (marker->token != 0 && marker->token != token))
        return false;
    return pid == (uint32_t)getpid() ||
           (!marker->own_only && atomic_load(&holder->own_markers) == 0);
}

/* One attempt; false while the log is full and there is patience. */
static bool try_marker(const struct zeta_vgpu *vgpu, const struct zeta_vgpu_marker *marker,
                       bool patience)
{
    struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);
    struct zeta_vgpu_holder *holder = &instance->segment->holders[marker->tile][marker->unit];
    const uint32_t log = ZETA_VGPU_LOG_MARKERS + marker->unit;
    const struct log_area area = log_area(instance, marker->tile, log);
    bool done = true;

    if (!zeta_vgpu_instance_lock(instance))
        return true;
    if (is_wanted(instance, marker)) {
        const uint64_t head = atomic_load(area.head);
        const uint64_t read = atomic_load(&holder->markers_read);

        if (!patience)
            atomic_store(&holder->given_up, read + 1);
        /* The next marker overwrites none that the holder has not read; or the holder has read
         * nothing since one waited for it in vain: it is stopped, and one that waited is enough. */
        done = !patience || read > head || head - read < area.capacity ||
               atomic_load(&holder->given_up) == read + 1;
        if (done)
            append_locked(vgpu, marker->tile, log, marker->value);
    }
    zeta_vgpu_instance_unlock(instance);
    return done;
}

/*
 * Whether a sampler of this process reads the markers of the unit, which it does until it gives the
 * unit back. Processes of other containers may have our number, but did not begin when we did.
 */
static bool is_sampled_here(const struct zeta_vgpu_instance *instance,
                            const struct zeta_vgpu_marker *marker)
{
    const struct zeta_vgpu_holder *holder = &instance->segment->holders[marker->tile][marker->unit];

    return !marker->own_only && atomic_load(&holder->pid) == (uint32_t)getpid() &&
           atomic_load(&holder->start_time) == instance->start_time;
}

void zeta_vgpu_instance_log_marker(const struct zeta_vgpu *vgpu,
                                   const struct zeta_vgpu_marker *marker)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);
    const struct timespec pause = {.tv_nsec = POLL_NS};

    /* Nobody has most units most of the time, so check before taking the lock. */
    if (!is_wanted(instance, marker))
        return;
    for (uint64_t waited_ns = 0; waited_ns < ZETA_VGPU_MARKER_WAIT_MS * UINT64_C(1000000) ||
                                 is_sampled_here(instance, marker);
         waited_ns += POLL_NS) {
        if (try_marker(vgpu, marker, true) || atomic_load(marker->interrupt))
            return;
        /* Nobody will read what is for a process that died. */
        if (waited_ns == 0 &&
            zeta_vgpu_instance_unit_holder(instance, marker->tile, marker->unit) == 0)
            return;
        nanosleep(&pause, NULL);
    }
    (void)try_marker(vgpu, marker, false);
}

void zeta_vgpu_instance_markers_read(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit, uint64_t cursor)
{
    atomic_store(&instance->segment->holders[tile][unit].markers_read, cursor);
}

bool zeta_vgpu_instance_markers_wait(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit)
{
    return atomic_load(&instance->segment->holders[tile][unit].markers_read) !=
           zeta_vgpu_instance_log_head(instance, tile, ZETA_VGPU_LOG_MARKERS + unit);
}

uint64_t zeta_vgpu_instance_log_head(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t log)
{
    return atomic_load(&instance->segment->logs[tile].heads[log]);
}

/* False when the entry is another one, or becomes one meanwhile. */
static bool read_entry(const struct zeta_vgpu_instance *instance, const _Atomic uint64_t *entry,
                       uint64_t number, struct zeta_vgpu_snapshot *out_snapshot)
{
    const _Atomic uint64_t *words = &entry[EUS];

    if (atomic_load(&entry[NUMBER]) != number)
        return false;
    out_snapshot->ticks = atomic_load(&entry[TICKS]);
    out_snapshot->order = atomic_load(&entry[ORDER]);
    out_snapshot->value = atomic_load(&entry[VALUE]);
    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++, words += ZETA_VGPU_LOG_EUS) {
        out_snapshot->eu_numbers[unit] = atomic_load(&words[0]);
        for (uint32_t i = 0; i < ZETA_VGPU_EU_REQUESTS; i++)
            out_snapshot->eus[unit][i] = atomic_load(&words[1 + i]);
    }
    for (uint32_t i = 0; i < instance->rows_per_tile * ZETA_VGPU_COUNTER_COUNT; i++)
        out_snapshot->totals[i / ZETA_VGPU_COUNTER_COUNT][i % ZETA_VGPU_COUNTER_COUNT] =
            atomic_load_explicit(&entry[ZETA_VGPU_LOG_HEADER + i], memory_order_acquire);
    return atomic_load(&entry[NUMBER]) == number;
}

/*
 * Moves a cursor to what a log still has: entries before head, of which only the newest are there.
 * Returns how many were overwritten before they were read.
 */
static uint64_t catch_up(uint64_t *cursor, uint64_t head, uint64_t capacity)
{
    uint64_t lost = 0;

    if (*cursor > head)
        *cursor = head;
    if (head - *cursor > capacity) {
        lost = head - *cursor - capacity;
        *cursor = head - capacity;
    }
    return lost;
}

bool zeta_vgpu_instance_next_snapshot(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t log, uint64_t *cursor,
                                      struct zeta_vgpu_snapshot *out_snapshot, uint64_t *out_lost)
{
    const struct log_area area = log_area(instance, tile, log);
    const uint64_t head = atomic_load(area.head);

    *out_lost = catch_up(cursor, head, area.capacity);
    while (*cursor < head) {
        const _Atomic uint64_t *entry = area.words + *cursor % area.capacity * area.entry_words;

        (*cursor)++;
        if (read_entry(instance, entry, *cursor, out_snapshot))
            return true;
        (*out_lost)++;
    }
    return false;
}

/* ---- samples of instruction pointers -------------------------------------------------------- */

/* What is wanted of a tile: the session, then 1 + the power of two of the period; 0: nothing. */
#define PERIOD_BITS 8u
#define PERIOD_MASK ((1u << PERIOD_BITS) - 1)

/* An entry: process, stall and count. The stall of losses is none. */
#define PID_SHIFT 32u
#define STALL_SHIFT 24u
#define STALL_LOST 0xffu

/* How often writers check that the reader is alive. */
#define ALIVE_NS UINT64_C(100000000)

bool zeta_vgpu_instance_ip_begin(struct zeta_vgpu_instance *instance, uint32_t tile,
                                 uint64_t period_ticks, uint64_t *out_cursor)
{
    struct zeta_vgpu_segment *segment = instance->segment;
    const size_t begin =
        offsetof(struct zeta_vgpu_segment, ip_logs) + tile * sizeof(segment->ip_logs[0]);
    uint64_t session, bits = 1;

    while (UINT64_C(1) << bits <= period_ticks && bits < 63)
        bits++;
    /* Writers must never touch a page that the file system has no room for. */
    if (zeta_vgpu_instance_back(instance->memory, begin, sizeof(segment->ip_logs[0])) != 0 ||
        !zeta_vgpu_instance_lock(instance))
        return false;
    session = (atomic_load(&segment->ip_wanted[tile]) >> PERIOD_BITS) + 1;
    *out_cursor = atomic_load(&segment->ip_logs[tile].head);
    atomic_store(&segment->ip_wanted[tile], session << PERIOD_BITS | bits);
    zeta_vgpu_instance_unlock(instance);
    return true;
}

static void end_locked(struct zeta_vgpu_segment *segment, uint32_t tile)
{
    atomic_fetch_and(&segment->ip_wanted[tile], ~(uint64_t)PERIOD_MASK);
}

void zeta_vgpu_instance_ip_end(struct zeta_vgpu_instance *instance, uint32_t tile)
{
    if (!zeta_vgpu_instance_lock(instance))
        return;
    end_locked(instance->segment, tile);
    zeta_vgpu_instance_unlock(instance);
}

uint64_t zeta_vgpu_instance_ip_period(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint64_t *out_session)
{
    const uint64_t wanted =
        atomic_load_explicit(&instance->segment->ip_wanted[tile], memory_order_relaxed);
    const uint64_t bits = wanted & PERIOD_MASK;

    *out_session = wanted >> PERIOD_BITS;
    /* Whatever somebody wrote there: no period is longer than some minutes. */
    return bits == 0 || bits > 40 ? 0 : UINT64_C(1) << (bits - 1);
}

static void append_sample_locked(struct zeta_vgpu_ip_log *log, uint64_t address, uint64_t what)
{
    const uint64_t position = atomic_load(&log->head);
    struct zeta_vgpu_ip_entry *entry = &log->entries[position % ZETA_VGPU_IP_LOG_SIZE];

    /* Invalid while it is written; who dies here leaves an entry that nobody takes. */
    atomic_store(&entry->number, 0);
    atomic_store_explicit(&entry->address, address, memory_order_release);
    atomic_store_explicit(&entry->what, what, memory_order_release);
    atomic_store(&entry->number, position + 1);
    atomic_store(&log->head, position + 1);
}

void zeta_vgpu_instance_ip_append(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                                  uint64_t lost)
{
    struct zeta_vgpu_segment *segment = instance->segment;
    const uint64_t pid = (uint64_t)(uint32_t)getpid() << PID_SHIFT;
    uint64_t session, now;

    if (!zeta_vgpu_instance_lock(instance))
        return;
    now = zeta_monotonic_ns();
    if (now - instance->ip_checked_ns >= ALIVE_NS) {
        instance->ip_checked_ns = now;
        /* A reader that died wants nothing more. */
        if (zeta_vgpu_instance_unit_holder(instance, tile, ZETA_VGPU_UNIT_IP) == 0)
            end_locked(segment, tile);
    }
    if (zeta_vgpu_instance_ip_period(instance, tile, &session) != 0) {
        if (lost > ZETA_VGPU_IP_COUNT_MAX)
            lost = ZETA_VGPU_IP_COUNT_MAX;
        if (lost > 0)
            append_sample_locked(&segment->ip_logs[tile], 0,
                                 pid | (uint64_t)STALL_LOST << STALL_SHIFT | lost);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t number = samples[i].count;

            if (number > ZETA_VGPU_IP_COUNT_MAX)
                number = ZETA_VGPU_IP_COUNT_MAX;
            append_sample_locked(&segment->ip_logs[tile], samples[i].address,
                                 pid | (uint64_t)samples[i].stall << STALL_SHIFT | number);
        }
    }
    zeta_vgpu_instance_unlock(instance);
}

/* False when the entry was overwritten, or holds nothing that a writer of ours writes. */
static bool read_sample(const struct zeta_vgpu_ip_entry *entry, uint64_t number,
                        struct zeta_vgpu_ip_event *out_event)
{
    uint64_t what;

    if (atomic_load(&entry->number) != number)
        return false;
    out_event->address = atomic_load_explicit(&entry->address, memory_order_acquire);
    what = atomic_load_explicit(&entry->what, memory_order_acquire);
    out_event->pid = (uint32_t)(what >> PID_SHIFT);
    out_event->stall = (uint32_t)(what >> STALL_SHIFT) & 0xff;
    out_event->count = (uint32_t)what & ZETA_VGPU_IP_COUNT_MAX;
    return atomic_load(&entry->number) == number && out_event->count > 0 &&
           (out_event->stall < ZETA_VGPU_STALL_COUNT || out_event->stall == STALL_LOST);
}

bool zeta_vgpu_instance_ip_next(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                uint64_t *cursor, struct zeta_vgpu_ip_event *out_event,
                                uint64_t *lost)
{
    const struct zeta_vgpu_ip_log *log = &instance->segment->ip_logs[tile];
    const uint64_t head = atomic_load(&log->head);

    *lost += catch_up(cursor, head, ZETA_VGPU_IP_LOG_SIZE);
    while (*cursor < head) {
        const struct zeta_vgpu_ip_entry *entry = &log->entries[*cursor % ZETA_VGPU_IP_LOG_SIZE];

        (*cursor)++;
        if (!read_sample(entry, *cursor, out_event))
            (*lost)++;
        else if (out_event->stall == STALL_LOST)
            *lost += out_event->count;
        else
            return true;
    }
    return false;
}
