#include "instance_priv.h"

#include <stddef.h>
#include <unistd.h>

#include <zeta/thread.h>

/* What is wanted of a tile: the session, then 1 + the power of two of the period; 0: nothing. */
#define PERIOD_BITS 8u
#define PERIOD_MASK ((1u << PERIOD_BITS) - 1)

/* An entry: process, stall and count. The stall of losses is none. */
#define PID_SHIFT 32u
#define STALL_SHIFT 24u
#define STALL_LOST 0xffu

/* How often writers check that the reader is alive. */
#define POLL_NS UINT64_C(100000000)

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

/* A reader that died wants nothing more. */
static void check_reader_locked(struct zeta_vgpu_instance *instance, uint32_t tile)
{
    const uint64_t now = zeta_monotonic_ns();

    if (now - instance->ip_checked_ns < POLL_NS)
        return;
    instance->ip_checked_ns = now;
    if (zeta_vgpu_instance_unit_holder(instance, tile, ZETA_VGPU_UNIT_IP) == 0)
        end_locked(instance->segment, tile);
}

static void append_locked(struct zeta_vgpu_ip_log *log, uint64_t address, uint64_t what)
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
    uint64_t session;

    if (!zeta_vgpu_instance_lock(instance))
        return;
    check_reader_locked(instance, tile);
    if (zeta_vgpu_instance_ip_period(instance, tile, &session) != 0) {
        if (lost > ZETA_VGPU_IP_COUNT_MAX)
            lost = ZETA_VGPU_IP_COUNT_MAX;
        if (lost > 0)
            append_locked(&segment->ip_logs[tile], 0,
                          pid | (uint64_t)STALL_LOST << STALL_SHIFT | lost);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t number = samples[i].count;

            if (number > ZETA_VGPU_IP_COUNT_MAX)
                number = ZETA_VGPU_IP_COUNT_MAX;
            append_locked(&segment->ip_logs[tile], samples[i].address,
                          pid | (uint64_t)samples[i].stall << STALL_SHIFT | number);
        }
    }
    zeta_vgpu_instance_unlock(instance);
}

/* False when the entry was overwritten, or holds nothing that a writer of ours writes. */
static bool read_entry(const struct zeta_vgpu_ip_entry *entry, uint64_t number,
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

    if (*cursor > head)
        *cursor = head;
    if (head - *cursor > ZETA_VGPU_IP_LOG_SIZE) {
        *lost += head - *cursor - ZETA_VGPU_IP_LOG_SIZE;
        *cursor = head - ZETA_VGPU_IP_LOG_SIZE;
    }
    while (*cursor < head) {
        const struct zeta_vgpu_ip_entry *entry = &log->entries[*cursor % ZETA_VGPU_IP_LOG_SIZE];

        (*cursor)++;
        if (!read_entry(entry, *cursor, out_event))
            (*lost)++;
        else if (out_event->stall == STALL_LOST)
            *lost += out_event->count;
        else
            return true;
    }
    return false;
}
