#include "instance_priv.h"

#include <time.h>
#include <unistd.h>

/* How often a marker that waits checks whether its reader made room. */
#define POLL_NS 200000

/* Attempts to read totals that are written all the time. */
#define TOTALS_ATTEMPTS 16u

/* Words of an entry before its totals. */
enum { NUMBER, TICKS, ORDER, VALUE, EUS };

static struct zeta_vgpu_log_area log_area(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                          uint32_t log)
{
    struct zeta_vgpu_tile_logs *logs = &instance->segment->logs[tile];
    const uint32_t entry = ZETA_VGPU_LOG_HEADER + instance->rows_per_tile * ZETA_VGPU_COUNTER_COUNT;

    if (log == ZETA_VGPU_LOG_SWITCHES)
        return (struct zeta_vgpu_log_area){&logs->heads[log], logs->switches, entry,
                                           ZETA_VGPU_SWITCH_WORDS / entry};
    return (struct zeta_vgpu_log_area){&logs->heads[log],
                                       logs->markers[log - ZETA_VGPU_LOG_MARKERS], entry,
                                       ZETA_VGPU_MARKER_WORDS / entry};
}

/* Writing ---------------------------------------------------------------------------------------
 */

/*
 * The totals of now. Writers can disturb a reader for ever, but what has no totals of its own is
 * not lost: readers keep those that they have.
 */
static void read_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                        uint64_t (*out_totals)[ZETA_VGPU_COUNTER_COUNT])
{
    bool found = false;

    for (uint32_t i = 0; !found && i < TOTALS_ATTEMPTS; i++)
        found = zeta_vgpu_instance_totals(instance, tile, out_totals);
    for (uint32_t row = 0; !found && row < instance->rows_per_tile; row++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            out_totals[row][i] = 0;
    }
}

/* What was counted of EUs until now, for each unit whose holder wants that. */
static void write_eus(const struct zeta_vgpu_instance *instance, uint32_t tile,
                      _Atomic uint64_t *words)
{
    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++, words += ZETA_VGPU_LOG_EUS) {
        uint64_t number = zeta_vgpu_instance_eu_request_number(instance, tile, unit);
        uint64_t values[ZETA_VGPU_EU_REQUESTS];

        if (number != 0 && !zeta_vgpu_instance_eu_totals(instance, tile, unit, number, values))
            number = 0;
        atomic_store(&words[0], number);
        for (uint32_t i = 0; number != 0 && i < ZETA_VGPU_EU_REQUESTS; i++)
            atomic_store(&words[1 + i], values[i]);
    }
}

static void read_eus(const _Atomic uint64_t *words, struct zeta_vgpu_snapshot *out_snapshot)
{
    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++, words += ZETA_VGPU_LOG_EUS) {
        out_snapshot->eu_numbers[unit] = atomic_load(&words[0]);
        for (uint32_t i = 0; i < ZETA_VGPU_EU_REQUESTS; i++)
            out_snapshot->eus[unit][i] = atomic_load(&words[1 + i]);
    }
}

static void append_locked(struct zeta_vgpu_instance *instance, uint32_t tile, uint32_t log,
                          uint64_t value, const struct zeta_vgpu_snapshot_clock *clock)
{
    const struct zeta_vgpu_log_area area = log_area(instance, tile, log);
    const uint64_t position = atomic_load(area.head);
    _Atomic uint64_t *entry = area.words + position % area.capacity * area.entry_words;
    uint64_t totals[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];

    read_totals(instance, tile, totals);
    /* Invalid while it is written; who dies here leaves an entry that nobody takes. */
    atomic_store(&entry[NUMBER], 0);
    atomic_store(&entry[TICKS], clock->ticks(clock->context));
    atomic_store(&entry[ORDER], atomic_fetch_add(&instance->segment->snapshots, 1));
    atomic_store(&entry[VALUE], value);
    write_eus(instance, tile, &entry[EUS]);
    for (uint32_t r = 0; r < instance->rows_per_tile; r++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            atomic_store_explicit(&entry[ZETA_VGPU_LOG_HEADER + r * ZETA_VGPU_COUNTER_COUNT + i],
                                  totals[r][i], memory_order_release);
    }
    atomic_store(&entry[NUMBER], position + 1);
    atomic_store(area.head, position + 1);
}

bool zeta_vgpu_instance_switches_wanted(const struct zeta_vgpu_instance *instance, uint32_t tile)
{
    const struct zeta_vgpu_holder *holders = instance->segment->holders[tile];

    for (uint32_t unit = 0; unit < ZETA_VGPU_UNITS; unit++) {
        if (atomic_load_explicit(&holders[unit].pid, memory_order_relaxed) != 0 &&
            atomic_load_explicit(&holders[unit].wants_switches, memory_order_relaxed) != 0)
            return true;
    }
    return false;
}

void zeta_vgpu_instance_log_switch(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint64_t context, const struct zeta_vgpu_snapshot_clock *clock)
{
    if (!zeta_vgpu_instance_lock(instance))
        return;
    append_locked(instance, tile, ZETA_VGPU_LOG_SWITCHES, context, clock);
    zeta_vgpu_instance_unlock(instance);
}

uint64_t zeta_vgpu_instance_new_token(struct zeta_vgpu_instance *instance)
{
    uint64_t token;

    if (!zeta_vgpu_instance_lock(instance))
        return 0;
    token = atomic_fetch_add(&instance->segment->tokens, 1) + 1;
    zeta_vgpu_instance_unlock(instance);
    return token;
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

static bool wanted(const struct zeta_vgpu_instance *instance, const struct zeta_vgpu_marker *marker)
{
    const struct zeta_vgpu_holder *holder = &instance->segment->holders[marker->tile][marker->unit];
    const uint32_t pid = atomic_load(&holder->pid);
    const uint64_t token = atomic_load(&holder->token);

    if (pid == 0 || token == 0 || (marker->token != 0 && marker->token != token))
        return false;
    return pid == (uint32_t)getpid() ||
           (!marker->own_only && atomic_load(&holder->own_markers) == 0);
}

/*
 * True when the next marker overwrites none that its holder has not read, or the holder has read
 * nothing since one waited for it in vain: it is stopped, and one marker that waited is enough.
 */
static bool has_room(const struct zeta_vgpu_instance *instance,
                     const struct zeta_vgpu_marker *marker)
{
    const struct zeta_vgpu_log_area area =
        log_area(instance, marker->tile, ZETA_VGPU_LOG_MARKERS + marker->unit);
    const struct zeta_vgpu_holder *holder = &instance->segment->holders[marker->tile][marker->unit];
    const uint64_t head = atomic_load(area.head);
    const uint64_t read = atomic_load(&holder->markers_read);

    return read > head || head - read < area.capacity || atomic_load(&holder->given_up) == read + 1;
}

static void give_up_locked(struct zeta_vgpu_instance *instance,
                           const struct zeta_vgpu_marker *marker)
{
    struct zeta_vgpu_holder *holder = &instance->segment->holders[marker->tile][marker->unit];

    atomic_store(&holder->given_up, atomic_load(&holder->markers_read) + 1);
}

/* One attempt; false while the log is full and there is patience. */
static bool try_marker(struct zeta_vgpu_instance *instance, const struct zeta_vgpu_marker *marker,
                       const struct zeta_vgpu_snapshot_clock *clock, bool patience)
{
    bool done = true;

    if (!zeta_vgpu_instance_lock(instance))
        return true;
    if (wanted(instance, marker)) {
        done = !patience || has_room(instance, marker);
        if (!patience)
            give_up_locked(instance, marker);
        if (done)
            append_locked(instance, marker->tile, ZETA_VGPU_LOG_MARKERS + marker->unit,
                          marker->value, clock);
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

void zeta_vgpu_instance_log_marker(struct zeta_vgpu_instance *instance,
                                   const struct zeta_vgpu_marker *marker,
                                   const struct zeta_vgpu_snapshot_clock *clock)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};

    /* Most units have no holder most of the time, so check before taking the lock. */
    if (!wanted(instance, marker))
        return;
    for (uint64_t waited_ns = 0; waited_ns < ZETA_VGPU_MARKER_WAIT_MS * UINT64_C(1000000) ||
                                 is_sampled_here(instance, marker);
         waited_ns += POLL_NS) {
        if (try_marker(instance, marker, clock, true) || atomic_load(marker->interrupt))
            return;
        /* Nobody will read what is for a process that died. */
        if (waited_ns == 0 &&
            zeta_vgpu_instance_unit_holder(instance, marker->tile, marker->unit) == 0)
            return;
        nanosleep(&pause, NULL);
    }
    (void)try_marker(instance, marker, clock, false);
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

/* Reading ---------------------------------------------------------------------------------------
 */

uint64_t zeta_vgpu_instance_log_head(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t log)
{
    return atomic_load(&instance->segment->logs[tile].heads[log]);
}

static bool read_entry(const struct zeta_vgpu_instance *instance, const _Atomic uint64_t *entry,
                       uint64_t number, struct zeta_vgpu_snapshot *out_snapshot)
{
    if (atomic_load(&entry[NUMBER]) != number)
        return false;
    out_snapshot->ticks = atomic_load(&entry[TICKS]);
    out_snapshot->order = atomic_load(&entry[ORDER]);
    out_snapshot->value = atomic_load(&entry[VALUE]);
    read_eus(&entry[EUS], out_snapshot);
    for (uint32_t r = 0; r < instance->rows_per_tile; r++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            out_snapshot->totals[r][i] =
                atomic_load_explicit(&entry[ZETA_VGPU_LOG_HEADER + r * ZETA_VGPU_COUNTER_COUNT + i],
                                     memory_order_acquire);
    }
    return atomic_load(&entry[NUMBER]) == number;
}

bool zeta_vgpu_instance_next_snapshot(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t log, uint64_t *cursor,
                                      struct zeta_vgpu_snapshot *out_snapshot, uint64_t *out_lost)
{
    const struct zeta_vgpu_log_area area = log_area(instance, tile, log);
    const uint64_t head = atomic_load(area.head);

    *out_lost = 0;
    if (*cursor > head)
        *cursor = head;
    if (head - *cursor > area.capacity) {
        *out_lost = head - *cursor - area.capacity;
        *cursor = head - area.capacity;
    }
    while (*cursor < head) {
        const _Atomic uint64_t *entry = area.words + *cursor % area.capacity * area.entry_words;

        (*cursor)++;
        if (read_entry(instance, entry, *cursor, out_snapshot))
            return true;
        (*out_lost)++;
    }
    return false;
}
