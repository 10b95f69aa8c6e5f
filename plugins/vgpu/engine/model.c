/*
 * Epochs. Each subslice hands in a record of what it did whenever it has retired some ten
 * thousand instructions. When every subslice that still works has handed in its n-th record,
 * the n-th records are replayed in subslice order: misses of the L1s go through the shared L3,
 * and the cycle model turns instructions and latencies into clocks. What is replayed in which
 * order depends on the records alone, so results are the same for any number of workers; those
 * only decide when it happens.
 *
 * Cycle model, per epoch and EU: issue = instructions of all its threads, span = cycles of its
 * slowest thread, time = the larger. Threads of an EU work side by side, but are executed one after
 * another here; an epoch in which only some of them had theirs is that part of the time in which
 * all have theirs, so span is reduced to it. An epoch of a subslice takes as long as its slowest
 * EU, and one of the device as long as its slowest subslice: with every epoch the clock moves by
 * what any unit can have been active in it, so that no share of the clock exceeds the whole.
 *
 * Threads that a debugger has at the end of an epoch are taken to have been stopped in all of it. A
 * subslice without others takes no part, so it holds up nobody, and the clocks that the others need
 * are those of its stop. While all are stopped no clocks pass.
 *
 * Host time: who samples wants to see work soon after it was done, so epochs get shorter, on
 * all subslices alike, until they are executed in the time that the owner wants. Turns get shorter
 * with them: an epoch that has about as many quanta as ever has about the same shares.
 */
#include <stdlib.h>
#include <string.h>

#include <zeta/thread.h>

#include "engine_priv.h"

enum {
    /* What a worker executes in a microsecond, before anything was measured. */
    INSTRUCTIONS_PER_US = 400,
    /* What L3 misses cost beyond an L3 hit. */
    LATENCY_MEMORY_EXTRA = 200,
    LINE_BYTES = 1 << ZETA_VGPU_LINE_BITS
};

/*
 * Lengths of epochs, and parts of a usual quantum that their quanta have. In host time who samples
 * gets the longest that is short enough. With these the model finds the same shares within a point
 * or two; with a length between them quanta can fall into step with the barriers of a kernel.
 */
static const struct {
    uint32_t instructions; /* an epoch ends soon after; the first: some 30 microseconds */
    uint32_t quantum_divisor;
} grains[] = {{16384, 1}, {8192, 1}, {4096, 4}, {2048, 8}, {1024, 16}};

#define GRAINS ((uint32_t)(sizeof(grains) / sizeof(grains[0])))

bool zeta_vgpu_model_init(struct model *model, const struct zeta_vgpu_topology *topology)
{
    pthread_mutex_init(&model->lock, NULL);
    pthread_cond_init(&model->progress, NULL);
    STAILQ_INIT(&model->spare);
    for (uint32_t i = 0; i < ZETA_VGPU_MAX_SUBSLICES; i++)
        STAILQ_INIT(&model->epochs[i]);
    return zeta_vgpu_l3_init(&model->l3, topology->l3_bytes);
}

void zeta_vgpu_model_finish(struct model *model)
{
    struct epoch *epoch;

    for (uint32_t i = 0; i < ZETA_VGPU_MAX_SUBSLICES; i++)
        STAILQ_CONCAT(&model->spare, &model->epochs[i]);
    while ((epoch = STAILQ_FIRST(&model->spare)) != NULL) {
        STAILQ_REMOVE_HEAD(&model->spare, link);
        free(epoch->log.entries);
        free(epoch->events.items);
        free(epoch->samples.entries);
        free(epoch);
    }
    free(model->standing.samples.entries);
    free(model->events.items);
    zeta_vgpu_l3_finish(&model->l3);
    pthread_cond_destroy(&model->progress);
    pthread_mutex_destroy(&model->lock);
}

/* Room for one more; false when there is no memory. */
static bool grow(struct event_list *list)
{
    const uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
    struct timed_event *grown;

    if (list->count < list->capacity)
        return true;
    grown = realloc(list->items, capacity * sizeof(*grown));
    if (!grown)
        return false;
    list->items = grown;
    list->capacity = capacity;
    return true;
}

static bool is_watched(const struct zeta_vgpu_engine *engine, enum zeta_vgpu_engine_event_kind kind)
{
    const bool is_work = kind != ZETA_VGPU_EVENT_BARRIER && kind != ZETA_VGPU_EVENT_FAULT;
    const _Atomic uint32_t *watched = engine->config.callbacks.watched;

    return watched && (atomic_load_explicit(watched, memory_order_relaxed) &
                       (is_work ? ZETA_VGPU_WATCH_WORK : ZETA_VGPU_WATCH_DEVICE)) != 0;
}

void zeta_vgpu_event_of_group(struct subslice *subslice, enum zeta_vgpu_engine_event_kind kind,
                              const struct group *group, uint32_t items)
{
    const struct zeta_vgpu_callbacks *callbacks = &subslice->engine->config.callbacks;
    struct event_list *list = &subslice->events;
    struct zeta_vgpu_engine_event event = {
        .kind = kind,
        .subslice = subslice->index,
        .group_id = {group->id[0], group->id[1], group->id[2]},
        .items = items,
    };

    if (!is_watched(subslice->engine, kind))
        return;
    if (subslice->engine->config.time == ZETA_VGPU_TIME_HOST) {
        callbacks->event(callbacks->user, &event);
    } else if (grow(list)) {
        list->items[list->count] =
            (struct timed_event){event, list->count, subslice->epoch_instructions};
        list->count++;
    } else {
        list->failed = true;
    }
}

void zeta_vgpu_event_of_launch(struct zeta_vgpu_engine *engine,
                               enum zeta_vgpu_engine_event_kind kind)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    const struct zeta_vgpu_engine_event event = {
        .kind = kind,
        .fault = kind == ZETA_VGPU_EVENT_FAULT ? engine->fault : NULL,
        .core_clocks = atomic_load(&engine->model.added[0][ZETA_VGPU_GPU_CORE_CLOCKS]),
    };

    if (is_watched(engine, kind))
        callbacks->event(callbacks->user, &event);
}

static bool is_paced(const struct zeta_vgpu_engine *engine)
{
    return engine->config.time == ZETA_VGPU_TIME_HOST && engine->config.callbacks.pace;
}

/* Asks the owner for the pace after an epoch of so many clocks. Returns what it took to execute. */
static uint64_t ask_pace_locked(struct zeta_vgpu_engine *engine, uint64_t clocks,
                                uint64_t instructions)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    struct model *model = &engine->model;
    const uint64_t now = zeta_monotonic_ns();
    /* Work that was begun before the last epoch was over has no time of its own. */
    const struct zeta_vgpu_epoch epoch = {.begin_ns = model->begin_ns < now ? model->begin_ns : now,
                                          .end_ns = now,
                                          .clocks = clocks,
                                          .instructions = instructions};
    struct zeta_vgpu_pace wanted = {0, 0};

    callbacks->pace(callbacks->user, &epoch, &wanted);
    model->lasts_ns = epoch.begin_ns;
    model->slice_ns = wanted.slice_ns;
    atomic_store(&model->resume_ns, wanted.resume_ns > now ? wanted.resume_ns : 0);
    model->begin_ns = wanted.resume_ns > now ? wanted.resume_ns : now;
    return epoch.end_ns - epoch.begin_ns;
}

/* The grain that workers with a processor each can be expected to execute in the wanted time. */
static uint32_t fitting_grain_locked(const struct zeta_vgpu_engine *engine)
{
    const uint64_t instructions = engine->model.slice_ns * INSTRUCTIONS_PER_US / 1000 *
                                  engine->active_workers / engine->active_subslices;
    uint32_t grain = 0;

    while (engine->model.slice_ns != 0 && grain + 1 < GRAINS &&
           grains[grain].instructions > instructions)
        grain++;
    return grain;
}

/*
 * The grain of the next epoch that no subslice works on. By what the last ones took, in one of
 * which others may have had the processor; and not much finer than what fits, as fine ones take
 * longer.
 */
static uint32_t next_grain_locked(struct zeta_vgpu_engine *engine, uint64_t took_ns)
{
    struct model *model = &engine->model;
    const uint32_t last = model->grains[model->replayed % ZETA_VGPU_KNOWN_EPOCHS];
    const uint32_t fitting = fitting_grain_locked(engine);
    const uint64_t usual_ns = took_ns < model->took_ns ? took_ns : model->took_ns;

    model->took_ns = took_ns;
    if (model->slice_ns == 0)
        return 0;
    if (usual_ns > model->slice_ns)
        return last <= fitting && last + 1 < GRAINS ? last + 1 : last;
    /* The next longer one takes twice as long. */
    return last > 0 && 2 * took_ns < model->slice_ns ? last - 1 : last;
}

void zeta_vgpu_model_begin_epoch(struct subslice *subslice, uint64_t number)
{
    const struct zeta_vgpu_engine *engine = subslice->engine;
    const uint32_t grain = engine->model.grains[number % ZETA_VGPU_KNOWN_EPOCHS];

    subslice->epoch_number = number;
    subslice->epoch_instructions = 0;
    subslice->epoch_length = grains[grain].instructions;
    subslice->slice = engine->config.slice / grains[grain].quantum_divisor;
    if (subslice->slice == 0)
        subslice->slice = 1;
}

static void add_modelled(struct model *model, uint32_t subslice, enum zeta_vgpu_counter counter,
                         uint64_t value)
{
    /* There is only one writer at a time; atomic because owners read without the lock. */
    uint64_t sum =
        atomic_load_explicit(&model->added[subslice][counter], memory_order_relaxed) + value;

    atomic_store_explicit(&model->added[subslice][counter], sum, memory_order_relaxed);
}

/* Exact counters of a subslice with what the model has added so far. */
static void sum_counters(const struct zeta_vgpu_engine *engine, uint32_t subslice,
                         const uint64_t exact[ZETA_VGPU_COUNTER_COUNT],
                         uint64_t out_counters[ZETA_VGPU_COUNTER_COUNT])
{
    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
        out_counters[i] = exact[i] + atomic_load_explicit(&engine->model.added[subslice][i],
                                                          memory_order_relaxed);
}

/* Sends an epoch's L1 misses through L3; EUs get the extra cycles of what came from memory. */
static void replay_log(struct model *model, uint32_t subslice, const struct epoch *epoch,
                       uint64_t extra[ZETA_VGPU_MAX_EUS])
{
    uint64_t hits = 0, misses = 0, fills = 0, evictions = 0;

    for (uint32_t i = 0; i < epoch->log.count; i++) {
        uint64_t entry = epoch->log.entries[i];
        bool write = entry & 1;
        struct zeta_vgpu_l3_result result = zeta_vgpu_l3_access(&model->l3, entry >> 8, write);

        evictions += result.eviction;
        fills += result.fill;
        if (write)
            continue;
        hits += result.hit;
        misses += !result.hit;
        extra[entry >> 1 & 63] += result.hit ? 0 : LATENCY_MEMORY_EXTRA;
    }
    add_modelled(model, subslice, ZETA_VGPU_L3_HITS, hits);
    add_modelled(model, subslice, ZETA_VGPU_L3_MISSES, misses);
    add_modelled(model, subslice, ZETA_VGPU_GPU_MEMORY_READ_BYTES, fills * LINE_BYTES);
    add_modelled(model, subslice, ZETA_VGPU_GPU_MEMORY_WRITE_BYTES, evictions * LINE_BYTES);
}

/* Clocks that an EU needed; its misses of L3 cost @extra. */
static uint64_t eu_time(const struct epoch *epoch, uint32_t eu, uint64_t extra)
{
    uint64_t span = epoch->span[eu];

    if (epoch->runnable[eu] > 0)
        span = span * epoch->ran[eu] / epoch->runnable[eu];
    /* Threads of an EU wait for memory side by side. */
    if (epoch->threads[eu] > 0)
        span += extra / epoch->threads[eu];
    return span > epoch->issue[eu] ? span : epoch->issue[eu];
}

/* Replays one record; returns the clocks that the subslice needed. */
static uint64_t replay_epoch(struct zeta_vgpu_engine *engine, uint32_t subslice,
                             struct epoch *epoch)
{
    struct model *model = &engine->model;
    const bool counts_eus = zeta_vgpu_counts_eus(engine);
    uint32_t eus = engine->config.topology.eus_per_subslice;
    uint64_t extra[ZETA_VGPU_MAX_EUS] = {0};
    uint64_t time = 0, active = 0, stalls = 0, resident = 0, memory = 0, issue = 0;

    replay_log(model, subslice, epoch, extra);
    for (uint32_t eu = 0; eu < eus; eu++) {
        const uint64_t own = epoch->cost[eu] + extra[eu];
        const uint64_t needed = eu_time(epoch, eu, extra[eu]);
        const uint64_t together = epoch->runnable[eu] * needed;

        if (needed > time)
            time = needed;
        memory += extra[eu];
        /*
         * Where issuing took longer than any thread did by itself, they waited for each other: what
         * of their time is none of their own.
         */
        if (needed == epoch->issue[eu] && together > own)
            issue += together - own;
    }
    if (epoch->sample_interval != 0)
        zeta_vgpu_sampler_deliver(engine, subslice, epoch, memory, issue, epoch->stopped * time);
    for (uint32_t eu = 0; eu < eus; eu++) {
        const uint64_t stall = epoch->threads[eu] > 0 ? time - epoch->issue[eu] : 0;

        active += epoch->issue[eu];
        resident += epoch->threads[eu];
        stalls += stall;
        if (counts_eus) {
            struct subslice *counted = &engine->subslices[subslice];

            zeta_vgpu_eu_add(counted, eu, ZETA_VGPU_EU_ACTIVE_CLOCKS, epoch->issue[eu]);
            zeta_vgpu_eu_add(counted, eu, ZETA_VGPU_THREAD_CLOCKS, epoch->threads[eu] * time);
            zeta_vgpu_eu_add(counted, eu, ZETA_VGPU_EU_STALL_CLOCKS, stall);
        }
    }
    add_modelled(model, subslice, ZETA_VGPU_EU_ACTIVE_CLOCKS, active);
    add_modelled(model, subslice, ZETA_VGPU_EU_STALL_CLOCKS, stalls);
    add_modelled(model, subslice, ZETA_VGPU_THREAD_CLOCKS, resident * time);
    add_modelled(model, subslice, ZETA_VGPU_DEBUG_HALT_CYCLES, epoch->stopped * time);
    return time;
}

/*
 * The others of a subslice that is held went on for so many clocks. Its threads can be looked at
 * here: who changes them does so under the lock, or while no worker runs.
 */
static void replay_held_locked(struct zeta_vgpu_engine *engine, uint32_t index, uint64_t clocks)
{
    struct model *model = &engine->model;
    struct subslice *subslice = &engine->subslices[index];
    const uint32_t eus = engine->config.topology.eus_per_subslice;
    struct epoch *standing = &model->standing;
    uint32_t threads[ZETA_VGPU_MAX_EUS] = {0};
    uint64_t resident = 0, stopped = 0, stalls = 0;

    for (uint32_t i = 0; i < subslice->used_slots; i++) {
        threads[i % eus] += subslice->harts[i].state != HART_IDLE;
        stopped += subslice->harts[i].stopped;
    }
    for (uint32_t eu = 0; eu < eus; eu++) {
        const uint64_t stall = threads[eu] > 0 ? clocks : 0;

        resident += threads[eu];
        stalls += stall;
        if (zeta_vgpu_counts_eus(engine)) {
            zeta_vgpu_eu_add(subslice, eu, ZETA_VGPU_THREAD_CLOCKS, threads[eu] * clocks);
            zeta_vgpu_eu_add(subslice, eu, ZETA_VGPU_EU_STALL_CLOCKS, stall);
        }
    }
    add_modelled(model, index, ZETA_VGPU_EU_STALL_CLOCKS, stalls);
    add_modelled(model, index, ZETA_VGPU_THREAD_CLOCKS, resident * clocks);
    add_modelled(model, index, ZETA_VGPU_DEBUG_HALT_CYCLES, stopped * clocks);
    zeta_vgpu_sampler_update(subslice);
    standing->sample_session = subslice->sampler.session;
    standing->sample_interval = subslice->sampler.interval;
    standing->samples.count = 0;
    standing->samples.lost = 0;
    if (standing->sample_interval == 0)
        return;
    zeta_vgpu_sampler_note_stops(subslice, &standing->samples);
    zeta_vgpu_sampler_deliver(engine, index, standing, 0, 0, stopped * clocks);
}

/* Takes the events of a record that is replayed; false when memory is short. */
static bool collect_events(struct model *model, struct epoch *epoch)
{
    for (uint32_t i = 0; i < epoch->events.count; i++) {
        struct timed_event *target;

        if (!grow(&model->events))
            return false;
        target = &model->events.items[model->events.count];
        *target = epoch->events.items[i];
        target->order = model->events.count++;
        /* From here on the position is a share of the epoch, in 2^32 parts. */
        target->position =
            epoch->instructions == 0 ? 0 : (target->position << 32) / epoch->instructions;
    }
    epoch->events.count = 0;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct timed_event *a = left, *b = right;

    if (a->event.core_clocks != b->event.core_clocks)
        return a->event.core_clocks < b->event.core_clocks ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Reports the collected events: the records began at begin_clocks and took so many. */
static void report_events_locked(struct zeta_vgpu_engine *engine, uint64_t begin_clocks,
                                 uint64_t clocks)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    struct event_list *list = &engine->model.events;

    for (uint32_t i = 0; i < list->count; i++)
        list->items[i].event.core_clocks = begin_clocks + (clocks * list->items[i].position >> 32);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), compare);
    for (uint32_t i = 0; i < list->count; i++)
        callbacks->event(callbacks->user, &list->items[i].event);
    list->count = 0;
}

/* True when each subslice has a record to be replayed or has finished without one. */
static bool epoch_complete_locked(const struct zeta_vgpu_engine *engine)
{
    const struct model *model = &engine->model;
    bool any = false;

    for (uint32_t i = 0; i < engine->subslice_count; i++) {
        if (STAILQ_EMPTY(&model->epochs[i]) && !model->finished[i] && !model->held[i])
            return false;
        any |= !STAILQ_EMPTY(&model->epochs[i]);
    }
    return any;
}

/*
 * Exact counts and what the model added to them, all at the end of the last epoch. Of one that
 * lasts the clocks that are over and the same part of all other counts, so shares of clocks are its
 * own.
 */
static void publish_locked(struct zeta_vgpu_engine *engine, uint64_t now)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    struct model *model = &engine->model;
    uint64_t totals[ZETA_VGPU_MAX_SUBSLICES][ZETA_VGPU_COUNTER_COUNT];
    const uint64_t resume_ns = atomic_load(&model->resume_ns);
    const uint64_t clocks = atomic_load(&model->added[0][ZETA_VGPU_GPU_CORE_CLOCKS]) -
                            model->base[0][ZETA_VGPU_GPU_CORE_CLOCKS];
    struct zeta_vgpu_part part = {clocks, clocks};

    if (!callbacks->publish)
        return;
    if (now < resume_ns) {
        const struct zeta_vgpu_part over = {now > model->lasts_ns ? now - model->lasts_ns : 0,
                                            resume_ns - model->lasts_ns};

        part.taken = zeta_vgpu_part_of(clocks, over);
    }
    for (uint32_t i = 0; i < engine->subslice_count; i++) {
        sum_counters(engine, i, model->snapshot[i], totals[i]);
        for (uint32_t c = 0; part.taken < part.of && c < ZETA_VGPU_COUNTER_COUNT; c++)
            totals[i][c] =
                model->base[i][c] + zeta_vgpu_part_of(totals[i][c] - model->base[i][c], part);
    }
    callbacks->publish(callbacks->user, (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])totals, part);
}

/* What the next epoch adds to. All of the last one is published, if it should last yet. */
static void begin_base_locked(struct zeta_vgpu_engine *engine)
{
    struct model *model = &engine->model;

    if (!is_paced(engine))
        return;
    if (atomic_load(&model->resume_ns) != 0)
        publish_locked(engine, UINT64_MAX);
    for (uint32_t i = 0; i < engine->subslice_count; i++)
        sum_counters(engine, i, model->snapshot[i], model->base[i]);
}

void zeta_vgpu_model_begin(struct zeta_vgpu_engine *engine)
{
    struct model *model = &engine->model;

    pthread_mutex_lock(&model->lock);
    for (uint32_t i = 0; i < engine->subslice_count; i++)
        model->finished[i] = i >= engine->active_subslices;
    memset(model->held, 0, sizeof(model->held));
    model->out_of_memory = false;
    model->replayed = 0;
    /* It may have to wait before its first epoch. */
    begin_base_locked(engine);
    if (is_paced(engine)) {
        model->begin_ns = zeta_monotonic_ns();
        (void)ask_pace_locked(engine, 0, 0);
    }
    model->grains[0] = fitting_grain_locked(engine);
    for (uint32_t i = 1; i < ZETA_VGPU_KNOWN_EPOCHS; i++)
        model->grains[i] = model->grains[0];
    pthread_mutex_unlock(&model->lock);
}

uint64_t zeta_vgpu_model_rest(struct zeta_vgpu_engine *engine)
{
    struct model *model = &engine->model;
    uint64_t resume_ns, now, until_ns = 0;

    if (atomic_load_explicit(&model->resume_ns, memory_order_relaxed) == 0)
        return 0;
    pthread_mutex_lock(&model->lock);
    now = zeta_monotonic_ns();
    resume_ns = atomic_load(&model->resume_ns);
    if (resume_ns != 0)
        publish_locked(engine, now);
    if (now < resume_ns) {
        until_ns = resume_ns;
        if (model->slice_ns != 0 && resume_ns - now > model->slice_ns)
            until_ns = now + model->slice_ns;
    } else if (resume_ns != 0) {
        /* Who sleeps wakes late, and that is no time of the next epoch. */
        model->begin_ns = now;
        atomic_store(&model->resume_ns, 0);
    }
    pthread_mutex_unlock(&model->lock);
    return until_ns;
}

/* Takes the oldest record of every subslice and replays them in order. */
static void replay_locked(struct zeta_vgpu_engine *engine)
{
    struct model *model = &engine->model;
    const uint64_t begin_clocks = atomic_load(&model->added[0][ZETA_VGPU_GPU_CORE_CLOCKS]);
    uint64_t clocks = 0, instructions = 0, took_ns = 0;
    bool stood[ZETA_VGPU_MAX_SUBSLICES] = {false};

    begin_base_locked(engine);
    for (uint32_t i = 0; i < engine->subslice_count; i++) {
        struct epoch *epoch = STAILQ_FIRST(&model->epochs[i]);

        stood[i] = !epoch && model->held[i];
        if (!epoch)
            continue;
        STAILQ_REMOVE_HEAD(&model->epochs[i], link);
        atomic_fetch_sub(&model->queued[i], 1);
        const uint64_t time = replay_epoch(engine, i, epoch);
        if (time > clocks)
            clocks = time;
        instructions += epoch->instructions;
        memcpy(model->snapshot[i], epoch->counters, sizeof(epoch->counters));
        model->out_of_memory |= !collect_events(model, epoch);
        STAILQ_INSERT_HEAD(&model->spare, epoch, link);
    }
    for (uint32_t i = 0; i < engine->subslice_count; i++) {
        if (stood[i])
            replay_held_locked(engine, i, clocks);
    }
    add_modelled(model, 0, ZETA_VGPU_GPU_CORE_CLOCKS, clocks);
    add_modelled(model, 0, ZETA_VGPU_BUSY_CLOCKS, clocks);
    /* Before the clock that they are not younger than. */
    report_events_locked(engine, begin_clocks, clocks);
    if (is_paced(engine))
        took_ns = ask_pace_locked(engine, clocks, instructions);
    publish_locked(engine, is_paced(engine) ? zeta_monotonic_ns() : 0);
    model->grains[(model->replayed + ZETA_VGPU_KNOWN_EPOCHS - 1) % ZETA_VGPU_KNOWN_EPOCHS] =
        next_grain_locked(engine, took_ns);
    model->replayed++;
}

/* Fills a record with what the subslice did since its last one, and begins a new epoch there. */
static void take_epoch(struct subslice *subslice, struct epoch *epoch)
{
    const uint32_t eus = subslice->engine->config.topology.eus_per_subslice;
    struct zeta_vgpu_miss_log log = epoch->log;
    struct event_list events = epoch->events;
    struct sample_log samples = epoch->samples;

    subslice->counters[ZETA_VGPU_TLB_MISSES] = subslice->l1.tlb_misses;
    memset(epoch, 0, sizeof(*epoch));
    memcpy(epoch->counters, subslice->counters, sizeof(epoch->counters));
    memcpy(epoch->issue, subslice->issue, sizeof(epoch->issue));
    memset(subslice->issue, 0, sizeof(subslice->issue));
    for (uint32_t i = 0, eu = 0; i < subslice->used_slots; i++) {
        struct hart *hart = &subslice->harts[i];

        if (hart->epoch_cost > epoch->span[eu])
            epoch->span[eu] = hart->epoch_cost;
        if (hart->epoch_cost > 0 || hart->state != HART_IDLE)
            epoch->threads[eu]++;
        epoch->cost[eu] += hart->epoch_cost;
        epoch->ran[eu] += hart->ran;
        epoch->runnable[eu] += hart->ran || hart->state == HART_READY || hart->state == HART_STEP;
        epoch->stopped += hart->stopped;
        hart->epoch_cost = 0;
        hart->ran = false;
        eu = eu + 1 < eus ? eu + 1 : 0;
    }
    /* The record keeps the log, the subslice goes on with the record's empty one. */
    epoch->log = subslice->l1.log;
    subslice->l1.log = log;
    subslice->l1.log.count = 0;
    epoch->events = subslice->events;
    subslice->events = events;
    subslice->events.count = 0;
    epoch->instructions = subslice->epoch_instructions;
    if (epoch->stopped > 0 && subslice->sampler.interval != 0)
        zeta_vgpu_sampler_note_stops(subslice, &subslice->sampler.log);
    epoch->samples = subslice->sampler.log;
    epoch->sample_session = subslice->sampler.session;
    epoch->sample_interval = subslice->sampler.interval;
    subslice->sampler.log = samples;
    subslice->sampler.log.count = 0;
    subslice->sampler.log.lost = 0;
    zeta_vgpu_sampler_update(subslice);
}

void zeta_vgpu_model_submit(struct subslice *subslice, bool held)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    struct model *model = &engine->model;
    uint32_t index = subslice->index;
    struct epoch *epoch;

    pthread_mutex_lock(&model->lock);
    epoch = STAILQ_FIRST(&model->spare);
    if (epoch)
        STAILQ_REMOVE_HEAD(&model->spare, link);
    else
        epoch = calloc(1, sizeof(*epoch));
    if (epoch) {
        take_epoch(subslice, epoch);
        model->out_of_memory |= epoch->log.failed || epoch->events.failed;
        epoch->log.failed = false;
        epoch->events.failed = false;
        STAILQ_INSERT_TAIL(&model->epochs[index], epoch, link);
        atomic_fetch_add(&model->queued[index], 1);
    } else {
        /*
         * The launch will end without memory; until then it goes on at its usual pace and not epoch
         * by epoch of one instruction.
         */
        for (uint32_t i = 0; i < subslice->used_slots; i++) {
            subslice->harts[i].epoch_cost = 0;
            subslice->harts[i].ran = false;
        }
        subslice->l1.log.count = 0;
        subslice->events.count = 0;
        subslice->sampler.log.count = 0;
        memcpy(model->snapshot[index], subslice->counters, sizeof(subslice->counters));
        model->out_of_memory = true;
    }
    model->finished[index] = subslice->finished;
    model->held[index] = held;
    while (epoch_complete_locked(engine))
        replay_locked(engine);
    /* What was dropped came with no epoch. */
    if (model->out_of_memory)
        publish_locked(engine, zeta_monotonic_ns());
    zeta_vgpu_model_begin_epoch(subslice, subslice->epoch_number + 1);
    pthread_cond_broadcast(&model->progress);
    pthread_mutex_unlock(&model->lock);
}

void zeta_vgpu_model_rejoin(struct zeta_vgpu_engine *engine)
{
    struct model *model = &engine->model;

    pthread_mutex_lock(&model->lock);
    for (uint32_t i = 0; i < engine->subslice_count; i++) {
        if (!model->held[i])
            continue;
        model->held[i] = false;
        zeta_vgpu_model_begin_epoch(&engine->subslices[i],
                                    model->replayed + atomic_load(&model->queued[i]));
    }
    pthread_cond_broadcast(&model->progress);
    pthread_mutex_unlock(&model->lock);
}

void zeta_vgpu_engine_wake(struct zeta_vgpu_engine *engine)
{
    pthread_mutex_lock(&engine->model.lock);
    pthread_cond_broadcast(&engine->model.progress);
    pthread_mutex_unlock(&engine->model.lock);
}

bool zeta_vgpu_model_ahead(struct zeta_vgpu_engine *engine, uint32_t subslice)
{
    return atomic_load_explicit(&engine->model.queued[subslice], memory_order_relaxed) >=
           ZETA_VGPU_LARGEST_LEAD;
}

void zeta_vgpu_model_wait(struct zeta_vgpu_engine *engine, uint32_t worker)
{
    struct model *model = &engine->model;
    bool wait = true;

    pthread_mutex_lock(&model->lock);
    while (wait) {
        bool unfinished = false, any_held = false;

        for (uint32_t i = worker; i < engine->subslice_count; i += engine->config.workers) {
            if (model->finished[i])
                continue;
            unfinished = true;
            any_held |= model->held[i];
            wait &= model->held[i] || zeta_vgpu_model_ahead(engine, i);
        }
        wait &= unfinished && !(any_held && zeta_vgpu_stopping(engine));
        if (wait)
            pthread_cond_wait(&model->progress, &model->lock);
    }
    pthread_mutex_unlock(&model->lock);
}

void zeta_vgpu_engine_counters(const struct zeta_vgpu_engine *engine, uint32_t subslice,
                               uint64_t out_counters[ZETA_VGPU_COUNTER_COUNT])
{
    sum_counters(engine, subslice, engine->subslices[subslice].counters, out_counters);
}
