#include "instance_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zeta/thread.h>

/* Attempts to read something that is written now. A write takes far less than a microsecond. */
#define READ_ATTEMPTS 1000u

/* What the lock guards takes milliseconds; the rest is for owners that a debugger holds. */
#define LOCK_LIMIT_NS UINT64_C(5000000000)

bool zeta_vgpu_instance_lock(struct zeta_vgpu_instance *instance)
{
    const uint64_t limit_ns = zeta_monotonic_ns() + LOCK_LIMIT_NS;
    struct zeta_vgpu_segment *segment = instance->segment;
    int error = EINVAL;

    if (atomic_load(&instance->damaged))
        return false;
    if (atomic_load(&segment->magic) == ZETA_VGPU_LAYOUT_MAGIC)
        error = pthread_mutex_trylock(&segment->lock);
    /*
     * The wait is by the clock that can be set, since the thread sanitizer knows no other; so it is
     * short, and a clock that does not jump decides when to give up.
     */
    while (error == EBUSY || (error == ETIMEDOUT && zeta_monotonic_ns() < limit_ns)) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        error = pthread_mutex_timedlock(&segment->lock, &until);
    }
    /* What the lock guards is consistent at each step, so a dead owner needs no repair. */
    if (error == EOWNERDEAD)
        error = pthread_mutex_consistent(&segment->lock);
    if (error != 0)
        atomic_store(&instance->damaged, true);
    return error == 0;
}

void zeta_vgpu_instance_unlock(struct zeta_vgpu_instance *instance)
{
    pthread_mutex_unlock(&instance->segment->lock);
}

bool zeta_vgpu_process_start(pid_t pid, uint64_t *out_start_time)
{
    char path[48], text[1024];
    const char *at;
    unsigned field = 3;
    size_t length;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';

    /* The second field is the program's name in parentheses and may hold anything. */
    at = strrchr(text, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return false;
    for (at += 2; *at && field < 22; at++) {
        if (*at == ' ')
            field++;
    }
    *out_start_time = strtoull(at, NULL, 10);
    return field == 22;
}

bool zeta_vgpu_process_alive(uint32_t pid, uint64_t start_time)
{
    uint64_t found = 0;

    if (pid == 0 || pid > INT32_MAX)
        return false;
    if (zeta_vgpu_process_start((pid_t)pid, &found))
        return found == start_time;
    /* Without /proc the id alone has to do. */
    return access("/proc/self/stat", R_OK) != 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* Copies lie words_apart from each other; of the kernels' only the used part is written. */
static void cell_write(_Atomic uint64_t *sequence, _Atomic uint64_t *copies, uint32_t words_apart,
                       uint32_t words, const uint64_t *source)
{
    uint64_t next = atomic_load_explicit(sequence, memory_order_relaxed) + 1;
    _Atomic uint64_t *target = copies + (next & 1) * words_apart;

    /* Release, so that they stay behind the publication of the copy that they do not touch. */
    for (uint32_t i = 0; i < words; i++)
        atomic_store_explicit(&target[i], source[i], memory_order_release);
    atomic_store_explicit(sequence, next, memory_order_release);
}

static bool cell_read(const _Atomic uint64_t *sequence, const _Atomic uint64_t *copies,
                      uint32_t words_apart, uint32_t words, uint64_t *out_words)
{
    for (uint32_t attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        uint64_t before = atomic_load_explicit(sequence, memory_order_acquire);
        const _Atomic uint64_t *source = copies + (before & 1) * words_apart;

        for (uint32_t i = 0; i < words; i++)
            out_words[i] = atomic_load_explicit(&source[i], memory_order_acquire);
        /* While the sequence is the same, writers touch only the other copy. */
        if (atomic_load_explicit(sequence, memory_order_acquire) == before)
            return true;
    }
    return false;
}

/* A cell as arguments of the two functions above. */
#define CELL(cell)                                                                                 \
    &(cell).sequence, &(cell).copies[0][0], sizeof((cell).copies[0]) / sizeof(uint64_t)

uint32_t zeta_vgpu_instance_slot(const struct zeta_vgpu_instance *instance)
{
    return atomic_load_explicit(&instance->slot, memory_order_acquire);
}

/* The slot of this process; NULL without one. */
static struct zeta_vgpu_slot *own_slot(struct zeta_vgpu_instance *instance)
{
    const uint32_t slot = zeta_vgpu_instance_slot(instance);

    return slot == 0 ? NULL : &instance->segment->slots[slot - 1];
}

void zeta_vgpu_instance_publish_kernels(struct zeta_vgpu_instance *instance, uint32_t tile,
                                        const uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT])
{
    struct zeta_vgpu_slot *own = own_slot(instance);

    if (own)
        cell_write(CELL(own->kernels[tile]),
                   (instance->rows_per_tile - 1) * ZETA_VGPU_COUNTER_COUNT, &totals[0][0]);
}

void zeta_vgpu_instance_publish_copies(struct zeta_vgpu_instance *instance, uint32_t tile,
                                       const uint64_t totals[ZETA_VGPU_COUNTER_COUNT])
{
    struct zeta_vgpu_slot *own = own_slot(instance);

    if (own)
        cell_write(CELL(own->copies[tile]), ZETA_VGPU_COUNTER_COUNT, totals);
}

void zeta_vgpu_instance_set_activity(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     const struct zeta_vgpu_activity *activity)
{
    const uint64_t words[ZETA_VGPU_ACTIVITY_WORDS] = {activity->since_ns, activity->context};
    struct zeta_vgpu_slot *own = own_slot(instance);

    if (own)
        cell_write(CELL(own->activity[tile]), ZETA_VGPU_ACTIVITY_WORDS, words);
}

static uint64_t folded(const struct zeta_vgpu_base *base, uint64_t sequence, uint32_t slot)
{
    return atomic_load_explicit(&base->copies[sequence & 1].folded[slot], memory_order_acquire);
}

/* Generation of the process whose counters are in its slot and not in the base; 0: none. */
static uint64_t unfolded(const struct zeta_vgpu_segment *segment, uint64_t sequence, uint32_t slot)
{
    uint64_t generation =
        atomic_load_explicit(&segment->attached[slot].generation, memory_order_acquire);

    return generation > folded(&segment->base, sequence, slot) ? generation : 0;
}

bool zeta_vgpu_instance_activity(const struct zeta_vgpu_instance *instance, uint32_t slot,
                                 uint32_t tile, struct zeta_vgpu_activity *out_activity)
{
    const struct zeta_vgpu_segment *segment = instance->segment;
    uint64_t words[ZETA_VGPU_ACTIVITY_WORDS];
    uint64_t sequence = atomic_load_explicit(&segment->base.sequence, memory_order_acquire);

    if (unfolded(segment, sequence, slot) == 0 ||
        !cell_read(CELL(segment->slots[slot].activity[tile]), ZETA_VGPU_ACTIVITY_WORDS, words))
        return false;
    out_activity->since_ns = words[0];
    out_activity->context = words[1];
    return true;
}

/* Adds the rows of a slot: its subslices, and its copy engine. */
static bool add_slot(const struct zeta_vgpu_slot *slot, uint32_t tile, uint32_t rows,
                     uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT])
{
    uint64_t counted[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];

    if (!cell_read(CELL(slot->kernels[tile]), (rows - 1) * ZETA_VGPU_COUNTER_COUNT,
                   &counted[0][0]) ||
        !cell_read(CELL(slot->copies[tile]), ZETA_VGPU_COUNTER_COUNT, counted[rows - 1]))
        return false;
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            totals[r][i] += counted[r][i];
    }
    return true;
}

bool zeta_vgpu_instance_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                               uint64_t (*out_totals)[ZETA_VGPU_COUNTER_COUNT])
{
    const struct zeta_vgpu_segment *segment = instance->segment;
    const struct zeta_vgpu_base *base = &segment->base;
    const uint32_t rows = instance->rows_per_tile;

    for (uint32_t attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        uint64_t sequence = atomic_load_explicit(&base->sequence, memory_order_acquire);
        bool good = true;

        for (uint32_t r = 0; r < rows; r++) {
            for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
                out_totals[r][i] = atomic_load_explicit(
                    &base->copies[sequence & 1].rows[tile][r][i], memory_order_acquire);
        }
        for (uint32_t slot = 0; good && slot < ZETA_VGPU_SLOTS; slot++) {
            if (unfolded(segment, sequence, slot) != 0)
                good = add_slot(&segment->slots[slot], tile, rows, out_totals);
        }
        /* Unchanged: no slot went into the base, and none was given to another, meanwhile. */
        if (good && atomic_load_explicit(&base->sequence, memory_order_acquire) == sequence)
            return true;
    }
    return false;
}

/* ---- counters of single EUs ----------------------------------------------------------------- */

uint64_t
zeta_vgpu_instance_request_eus(struct zeta_vgpu_instance *instance, uint32_t tile, uint32_t unit,
                               const struct zeta_vgpu_eu_request requests[ZETA_VGPU_EU_REQUESTS])
{
    struct zeta_vgpu_eu_wanted *wanted = &instance->segment->eu_wanted[tile][unit];
    const uint64_t number = zeta_vgpu_instance_new_number(instance);

    atomic_store(&wanted->number, 0);
    /* A request in one word: 0 is none. */
    for (uint32_t i = 0; i < ZETA_VGPU_EU_REQUESTS; i++)
        atomic_store(&wanted->requests[i],
                     requests[i].used
                         ? UINT64_C(1) << 63 | (uint64_t)requests[i].eu << 16 | requests[i].counter
                         : 0);
    atomic_store(&wanted->number, number);
    return number;
}

uint64_t zeta_vgpu_instance_eu_request_number(const struct zeta_vgpu_instance *instance,
                                              uint32_t tile, uint32_t unit)
{
    return atomic_load_explicit(&instance->segment->eu_wanted[tile][unit].number,
                                memory_order_acquire);
}

bool zeta_vgpu_instance_eu_request(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number,
                                   struct zeta_vgpu_eu_request *out_request)
{
    const struct zeta_vgpu_eu_wanted *wanted = &instance->segment->eu_wanted[tile][unit];
    const uint64_t word = atomic_load(&wanted->requests[index]);

    out_request->used = word != 0;
    out_request->eu = (uint32_t)(word >> 16) & 0xffffu;
    out_request->counter = (uint32_t)word & 0xffffu;
    return out_request->used && atomic_load(&wanted->number) == number;
}

void zeta_vgpu_instance_publish_eu(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number, uint64_t value)
{
    struct zeta_vgpu_slot *own = own_slot(instance);
    struct zeta_vgpu_eu_count *count;

    if (!own)
        return;
    count = &own->eus[tile][unit][index];
    if (atomic_load_explicit(&count->number, memory_order_relaxed) != number) {
        atomic_store(&count->number, 0);
        atomic_store(&count->value, value);
        atomic_store(&count->number, number);
        return;
    }
    atomic_store_explicit(&count->value, value, memory_order_release);
}

/* What a counter of an EU has counted for a request. */
static uint64_t eu_count(const struct zeta_vgpu_eu_count *count, uint64_t number)
{
    uint64_t value;

    if (atomic_load(&count->number) != number)
        return 0;
    value = atomic_load(&count->value);
    return atomic_load(&count->number) == number ? value : 0;
}

bool zeta_vgpu_instance_eu_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                  uint32_t unit, uint64_t number,
                                  uint64_t out_values[ZETA_VGPU_EU_REQUESTS])
{
    const struct zeta_vgpu_segment *segment = instance->segment;
    const struct zeta_vgpu_base *base = &segment->base;

    for (uint32_t attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        const uint64_t sequence = atomic_load_explicit(&base->sequence, memory_order_acquire);

        for (uint32_t i = 0; i < ZETA_VGPU_EU_REQUESTS; i++)
            out_values[i] = eu_count(&base->copies[sequence & 1].eus[tile][unit][i], number);
        for (uint32_t slot = 0; slot < ZETA_VGPU_SLOTS; slot++) {
            if (unfolded(segment, sequence, slot) == 0)
                continue;
            for (uint32_t i = 0; i < ZETA_VGPU_EU_REQUESTS; i++)
                out_values[i] += eu_count(&segment->slots[slot].eus[tile][unit][i], number);
        }
        if (atomic_load_explicit(&base->sequence, memory_order_acquire) == sequence)
            return true;
    }
    return false;
}

void zeta_vgpu_instance_fold_locked(struct zeta_vgpu_instance *instance, uint32_t slot)
{
    struct zeta_vgpu_segment *segment = instance->segment;
    struct zeta_vgpu_base *base = &segment->base;
    uint64_t sequence = atomic_load(&base->sequence);
    uint64_t generation = unfolded(segment, sequence, slot);
    uint64_t sums[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];

    for (uint32_t tile = 0; generation != 0 && tile < instance->tiles; tile++) {
        const uint32_t rows = instance->rows_per_tile;

        for (uint32_t r = 0; r < rows; r++) {
            for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
                sums[r][i] = atomic_load(&base->copies[sequence & 1].rows[tile][r][i]);
        }
        /* The process is dead, or is this one: nobody writes, so this cannot fail. */
        (void)add_slot(&segment->slots[slot], tile, rows, sums);
        for (uint32_t r = 0; r < rows; r++) {
            for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
                atomic_store(&base->copies[(sequence + 1) & 1].rows[tile][r][i], sums[r][i]);
        }
        /* Counters of EUs, those of present requests. */
        for (uint32_t i = 0; i < ZETA_VGPU_EU_UNITS * ZETA_VGPU_EU_REQUESTS; i++) {
            const uint32_t unit = i / ZETA_VGPU_EU_REQUESTS, index = i % ZETA_VGPU_EU_REQUESTS;
            const uint64_t number = atomic_load(&segment->eu_wanted[tile][unit].number);
            struct zeta_vgpu_eu_count *next =
                &base->copies[(sequence + 1) & 1].eus[tile][unit][index];
            const uint64_t sum =
                eu_count(&base->copies[sequence & 1].eus[tile][unit][index], number) +
                eu_count(&segment->slots[slot].eus[tile][unit][index], number);

            atomic_store(&next->value, sum);
            atomic_store(&next->number, number);
        }
    }
    if (generation != 0) {
        for (uint32_t i = 0; i < ZETA_VGPU_SLOTS; i++)
            atomic_store(&base->copies[(sequence + 1) & 1].folded[i],
                         i == slot ? generation : folded(base, sequence, i));
        atomic_store(&base->sequence, sequence + 1);
    }
    atomic_store(&segment->attached[slot].pid, 0);
}

static void reap_locked(struct zeta_vgpu_instance *instance)
{
    for (uint32_t slot = 0; slot < ZETA_VGPU_SLOTS; slot++) {
        const struct zeta_vgpu_attached *t = &instance->segment->attached[slot];
        uint32_t pid = atomic_load(&t->pid);

        if (pid != 0 && !zeta_vgpu_process_alive(pid, atomic_load(&t->start_time)))
            zeta_vgpu_instance_fold_locked(instance, slot);
    }
    zeta_vgpu_instance_reap_units(instance);
}

void zeta_vgpu_instance_reap(struct zeta_vgpu_instance *instance)
{
    if (!zeta_vgpu_instance_lock(instance))
        return;
    reap_locked(instance);
    zeta_vgpu_instance_file_join(instance->descriptor, instance->memory, instance->start_time);
    zeta_vgpu_instance_unlock(instance);
}

/* Backs the slot with memory, so that touching it cannot fail, and attaches this process to it. */
static enum zeta_vgpu_result take_slot_locked(struct zeta_vgpu_instance *instance, uint32_t slot,
                                              struct zeta_vgpu_message *out_message)
{
    static const uint64_t zeros[ZETA_VGPU_KERNEL_WORDS];
    const uint32_t kernel_words = (instance->rows_per_tile - 1) * ZETA_VGPU_COUNTER_COUNT;
    struct zeta_vgpu_segment *segment = instance->segment;
    struct zeta_vgpu_slot *own = &segment->slots[slot];
    struct zeta_vgpu_attached *attached = &segment->attached[slot];
    const size_t at = offsetof(struct zeta_vgpu_segment, slots) + slot * sizeof(segment->slots[0]);
    int error = zeta_vgpu_instance_back(instance->memory, at, sizeof(segment->slots[0]));

    if (error != 0)
        return zeta_vgpu_fail(
            out_message, ZETA_VGPU_OUT_OF_MEMORY,
            "the memory of virtual GPU instance %.300s cannot grow by %zu bytes: %s",
            instance->path, sizeof(segment->slots[0]), strerror(error));
    for (uint32_t tile = 0; tile < instance->tiles; tile++) {
        cell_write(CELL(own->activity[tile]), ZETA_VGPU_ACTIVITY_WORDS, zeros);
        cell_write(CELL(own->kernels[tile]), kernel_words, zeros);
        cell_write(CELL(own->copies[tile]), ZETA_VGPU_COUNTER_COUNT, zeros);
        for (uint32_t i = 0; i < ZETA_VGPU_EU_UNITS * ZETA_VGPU_EU_REQUESTS; i++)
            atomic_store(
                &own->eus[tile][i / ZETA_VGPU_EU_REQUESTS][i % ZETA_VGPU_EU_REQUESTS].number, 0);
    }
    atomic_store(&attached->start_time, instance->start_time);
    atomic_store(&attached->pid, (uint32_t)getpid());
    atomic_store(&attached->generation,
                 folded(&segment->base, atomic_load(&segment->base.sequence), slot) + 1);
    atomic_store(&instance->slot, slot + 1);
    return ZETA_VGPU_OK;
}

enum zeta_vgpu_result zeta_vgpu_instance_join(struct zeta_vgpu_instance *instance,
                                              struct zeta_vgpu_message *out_message)
{
    enum zeta_vgpu_result result = ZETA_VGPU_OK;

    if (!zeta_vgpu_instance_lock(instance)) {
        (void)zeta_vgpu_instance_damaged(instance, out_message);
        return ZETA_VGPU_INVALID_ARGUMENT;
    }
    if (atomic_load(&instance->slot) == 0) {
        uint32_t slot = 0;

        reap_locked(instance);
        while (slot < ZETA_VGPU_SLOTS && atomic_load(&instance->segment->attached[slot].pid) != 0)
            slot++;
        if (slot < ZETA_VGPU_SLOTS)
            result = take_slot_locked(instance, slot, out_message);
        else
            result = zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                                    "%u processes execute on %.300s already; end one, or set "
                                    "ZETA_VGPU_INSTANCE to another name",
                                    ZETA_VGPU_SLOTS, instance->path);
    }
    zeta_vgpu_instance_unlock(instance);
    return result;
}

bool zeta_vgpu_instance_slot_alive(const struct zeta_vgpu_instance *instance, uint32_t slot)
{
    const struct zeta_vgpu_attached *attached = &instance->segment->attached[slot];

    return zeta_vgpu_process_alive(atomic_load(&attached->pid), atomic_load(&attached->start_time));
}
