/*
 * Epochs. Each subslice hands in a record of what it did whenever it has retired some ten
 * thousand instructions. When every subslice that still works has handed in its n-th record,
 * the n-th records are replayed in subslice order: misses of the L1s go through the shared L3,
 * and the cycle model turns instructions and latencies into clocks. What is replayed in which
 * order depends on the records alone, so results are the same for any number of workers; those
 * only decide when it happens.
 *
 * Cycle model, per epoch and EU: issue = instructions of all its threads, span = cycles of its
 * slowest thread, time = the larger. Threads of an EU work side by side, but take turns here; an
 * epoch in which only some of them had theirs is that part of the time in which all have theirs,
 * so span is reduced to it. An epoch of a subslice takes as long as its slowest EU, and one of the
 * device as long as its slowest subslice: with every epoch the clock moves by what any unit can
 * have been active in it, so that no share of the clock exceeds the whole.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

enum {
    /* Records that a subslice may be ahead of the slowest one; what is ahead is not counted yet. */
    LARGEST_LEAD = 2,
    /* What L3 misses cost beyond an L3 hit. */
    LATENCY_MEMORY_EXTRA = 200,
    LINE_BYTES = 1 << ZETA_VGPU_LINE_BITS
};

bool zeta_vgpu_model_init(struct model *model, const struct zeta_vgpu_topology *topology)
{
    pthread_mutex_init(&model->lock, NULL);
    pthread_cond_init(&model->progress, NULL);
    return zeta_vgpu_l3_init(&model->l3, topology->l3_bytes);
}

static void free_epochs(struct epoch *epoch)
{
    while (epoch) {
        struct epoch *next = epoch->next;

        free(epoch->log.entries);
        free(epoch->events.items);
        free(epoch->samples.entries);
        free(epoch);
        epoch = next;
    }
}

void zeta_vgpu_model_finish(struct model *model)
{
    for (uint32_t i = 0; i < ZETA_VGPU_MAX_SUBSLICES; i++)
        free_epochs(model->first[i]);
    free_epochs(model->spare);
    free(model->events.items);
    zeta_vgpu_l3_finish(&model->l3);
    pthread_cond_destroy(&model->progress);
    pthread_mutex_destroy(&model->lock);
}

void zeta_vgpu_model_begin(struct zeta_vgpu_engine *engine)
{
    pthread_mutex_lock(&engine->model.lock);
    for (uint32_t i = 0; i < engine->subslice_count; i++)
        engine->model.finished[i] = i >= engine->active_subslices;
    engine->model.out_of_memory = false;
    pthread_mutex_unlock(&engine->model.lock);
}

static void add_modelled(struct model *model, uint32_t subslice, enum zeta_vgpu_counter counter,
                         uint64_t value)
{
    /* There is only one writer at a time; atomic because owners read without the lock. */
    uint64_t sum =
        atomic_load_explicit(&model->added[subslice][counter], memory_order_relaxed) + value;

    atomic_store_explicit(&model->added[subslice][counter], sum, memory_order_relaxed);
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

/*
 * Clocks that the threads of an EU waited for each other, where issuing took longer than any of
 * them did by itself: what of their time is none of their own.
 */
static uint64_t issue_wait(const struct epoch *epoch, uint32_t eu, uint64_t time, uint64_t extra)
{
    uint64_t own = epoch->cost[eu] + extra;
    uint64_t together = epoch->runnable[eu] * time;

    return time == epoch->issue[eu] && together > own ? together - own : 0;
}

/* Replays one record; returns the clocks that the subslice needed. */
static uint64_t replay_epoch(struct zeta_vgpu_engine *engine, uint32_t subslice,
                             struct epoch *epoch)
{
    struct model *model = &engine->model;
    uint32_t eus = engine->config.topology.eus_per_subslice;
    uint64_t extra[ZETA_VGPU_MAX_EUS] = {0};
    uint64_t time = 0, active = 0, stall = 0, resident = 0, memory = 0, issue = 0;

    replay_log(model, subslice, epoch, extra);
    for (uint32_t eu = 0; eu < eus; eu++) {
        uint64_t longest = eu_time(epoch, eu, extra[eu]);

        if (longest > time)
            time = longest;
        memory += extra[eu];
        issue += issue_wait(epoch, eu, longest, extra[eu]);
    }
    if (epoch->sample_interval != 0)
        zeta_vgpu_sampler_deliver(engine, subslice, epoch, memory, issue);
    for (uint32_t eu = 0; eu < eus; eu++) {
        active += epoch->issue[eu];
        resident += epoch->threads[eu];
        if (epoch->threads[eu] > 0)
            stall += time - epoch->issue[eu];
    }
    add_modelled(model, subslice, ZETA_VGPU_EU_ACTIVE_CLOCKS, active);
    add_modelled(model, subslice, ZETA_VGPU_EU_STALL_CLOCKS, stall);
    add_modelled(model, subslice, ZETA_VGPU_THREAD_CLOCKS, resident * time);
    if (zeta_vgpu_counts_eus(engine))
        zeta_vgpu_eu_replayed(&engine->subslices[subslice], epoch, time);
    return time;
}

/* True when each subslice has a record to be replayed or has finished without one. */
static bool epoch_complete_locked(const struct zeta_vgpu_engine *engine)
{
    const struct model *model = &engine->model;
    bool any = false;

    for (uint32_t i = 0; i < engine->subslice_count; i++) {
        if (!model->first[i] && !model->finished[i])
            return false;
        any |= model->first[i] != NULL;
    }
    return any;
}

static void publish_epoch_locked(struct zeta_vgpu_engine *engine)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    uint64_t counters[ZETA_VGPU_COUNTER_COUNT] = {0};

    for (uint32_t i = engine->subslice_count; i-- > 0;) {
        zeta_vgpu_counters_sum(engine, i, engine->model.snapshot[i], counters);
        if (callbacks->publish)
            callbacks->publish(callbacks->user, i, counters);
    }
    if (callbacks->epoch)
        callbacks->epoch(callbacks->user, counters[ZETA_VGPU_GPU_CORE_CLOCKS]);
}

static void publish_modelled_locked(struct zeta_vgpu_engine *engine)
{
    static const uint64_t nothing[ZETA_VGPU_COUNTER_COUNT];
    uint64_t added[ZETA_VGPU_MAX_SUBSLICES][ZETA_VGPU_COUNTER_COUNT];

    if (!engine->config.callbacks.modelled)
        return;
    for (uint32_t i = 0; i < engine->subslice_count; i++)
        zeta_vgpu_counters_sum(engine, i, nothing, added[i]);
    engine->config.callbacks.modelled(engine->config.callbacks.user,
                                      (const uint64_t(*)[ZETA_VGPU_COUNTER_COUNT])added);
}

/* Takes the oldest record of every subslice and replays them in order. */
static void replay_locked(struct zeta_vgpu_engine *engine)
{
    struct model *model = &engine->model;
    const uint64_t begin_clocks = atomic_load(&model->added[0][ZETA_VGPU_GPU_CORE_CLOCKS]);
    uint64_t clocks = 0;

    for (uint32_t i = 0; i < engine->subslice_count; i++) {
        struct epoch *epoch = model->first[i];

        if (!epoch)
            continue;
        model->first[i] = epoch->next;
        if (!epoch->next)
            model->last[i] = NULL;
        atomic_fetch_sub(&model->queued[i], 1);
        const uint64_t time = replay_epoch(engine, i, epoch);
        if (time > clocks)
            clocks = time;
        memcpy(model->snapshot[i], epoch->counters, sizeof(epoch->counters));
        model->out_of_memory |= !zeta_vgpu_events_collect(model, epoch);
        epoch->next = model->spare;
        model->spare = epoch;
    }
    add_modelled(model, 0, ZETA_VGPU_GPU_CORE_CLOCKS, clocks);
    add_modelled(model, 0, ZETA_VGPU_BUSY_CLOCKS, clocks);
    /* Before the clock that they are not younger than. */
    zeta_vgpu_events_tell_locked(engine, begin_clocks, clocks);
    if (engine->config.publish == ZETA_VGPU_PUBLISH_EPOCH)
        publish_epoch_locked(engine);
    else
        publish_modelled_locked(engine);
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
        epoch->runnable[eu] += hart->ran || hart->state == HART_READY;
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
    epoch->samples = subslice->sampler.log;
    epoch->sample_session = subslice->sampler.session;
    epoch->sample_interval = subslice->sampler.interval;
    subslice->sampler.log = samples;
    subslice->sampler.log.count = 0;
    subslice->sampler.log.lost = 0;
    subslice->epoch_instructions = 0;
    zeta_vgpu_sampler_update(subslice);
}

/*
 * Begins a new epoch although there is no record for the last one. The launch will end without
 * memory; until then it goes on at its usual pace and not epoch by epoch of one instruction.
 */
static void drop_epoch(struct subslice *subslice)
{
    for (uint32_t i = 0; i < subslice->used_slots; i++) {
        subslice->harts[i].epoch_cost = 0;
        subslice->harts[i].ran = false;
    }
    subslice->l1.log.count = 0;
    subslice->events.count = 0;
    subslice->sampler.log.count = 0;
    subslice->epoch_instructions = 0;
}

void zeta_vgpu_model_submit(struct subslice *subslice)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    struct model *model = &engine->model;
    uint32_t index = subslice->index;
    struct epoch *epoch;

    pthread_mutex_lock(&model->lock);
    epoch = model->spare;
    if (epoch)
        model->spare = epoch->next;
    else
        epoch = calloc(1, sizeof(*epoch));
    if (epoch) {
        take_epoch(subslice, epoch);
        model->out_of_memory |= epoch->log.failed || epoch->events.failed;
        epoch->log.failed = false;
        epoch->events.failed = false;
        if (model->last[index])
            model->last[index]->next = epoch;
        else
            model->first[index] = epoch;
        model->last[index] = epoch;
        atomic_fetch_add(&model->queued[index], 1);
    } else {
        drop_epoch(subslice);
        model->out_of_memory = true;
    }
    model->finished[index] = subslice->finished;
    while (epoch_complete_locked(engine))
        replay_locked(engine);
    pthread_cond_broadcast(&model->progress);
    pthread_mutex_unlock(&model->lock);
}

bool zeta_vgpu_model_ahead(struct zeta_vgpu_engine *engine, uint32_t subslice)
{
    return atomic_load_explicit(&engine->model.queued[subslice], memory_order_relaxed) >=
           LARGEST_LEAD;
}

void zeta_vgpu_model_wait(struct zeta_vgpu_engine *engine, uint32_t worker)
{
    struct model *model = &engine->model;
    bool wait = true;

    pthread_mutex_lock(&model->lock);
    while (wait) {
        bool unfinished = false;

        for (uint32_t i = worker; i < engine->subslice_count; i += engine->config.workers) {
            if (model->finished[i])
                continue;
            unfinished = true;
            wait &= zeta_vgpu_model_ahead(engine, i);
        }
        wait &= unfinished;
        if (wait)
            pthread_cond_wait(&model->progress, &model->lock);
    }
    pthread_mutex_unlock(&model->lock);
}

void zeta_vgpu_counters_sum(const struct zeta_vgpu_engine *engine, uint32_t subslice,
                            const uint64_t exact[ZETA_VGPU_COUNTER_COUNT],
                            uint64_t out_counters[ZETA_VGPU_COUNTER_COUNT])
{
    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
        out_counters[i] = exact[i] + atomic_load_explicit(&engine->model.added[subslice][i],
                                                          memory_order_relaxed);
}

void zeta_vgpu_publish(struct subslice *subslice)
{
    const struct zeta_vgpu_engine_config *config = &subslice->engine->config;
    uint64_t counters[ZETA_VGPU_COUNTER_COUNT];

    subslice->unpublished = 0;
    if (config->publish != ZETA_VGPU_PUBLISH_WALL || !config->callbacks.publish)
        return;
    subslice->counters[ZETA_VGPU_TLB_MISSES] = subslice->l1.tlb_misses;
    if (config->callbacks.modelled) {
        config->callbacks.publish(config->callbacks.user, subslice->index, subslice->counters);
        return;
    }
    zeta_vgpu_counters_sum(subslice->engine, subslice->index, subslice->counters, counters);
    config->callbacks.publish(config->callbacks.user, subslice->index, counters);
}
