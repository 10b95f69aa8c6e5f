#include "tile.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/thread.h>

#include "plugins/vgpu/device/vgpu.h"

/* Epochs over which the speed of the simulation is averaged. */
#define SPEED_EPOCHS 64

/* So many epochs in turn on one side of the median, which is far off then. */
#define ONE_SIDED 16

/* Most of what an epoch took that it may last, so that a change of speed is seen in time. */
#define STEADY_LIMIT 16

/* Rows that hold more epochs need no steady speed. */
#define STEADY_EPOCHS 8

static bool must_wait(const struct zeta_vgpu_launch_lock *launches,
                      enum zeta_vgpu_priority priority)
{
    bool wait = launches->taken;

    for (uint32_t better = 0; better < (uint32_t)priority; better++)
        wait |= launches->waiting[better] > 0;
    return wait;
}

bool zeta_vgpu_launch_lock_acquire_locked(struct zeta_vgpu_launch_lock *launches,
                                          pthread_mutex_t *lock, const atomic_bool *interrupt,
                                          enum zeta_vgpu_priority priority)
{
    launches->waiting[priority]++;
    while (must_wait(launches, priority) && !atomic_load(interrupt))
        pthread_cond_wait(&launches->changed, lock);
    launches->waiting[priority]--;
    if (!atomic_load(interrupt)) {
        launches->taken = true;
        return true;
    }
    /* Others may have waited only because this one did. */
    if (launches->waiting[priority] == 0)
        pthread_cond_broadcast(&launches->changed);
    return false;
}

void zeta_vgpu_launch_lock_release_locked(struct zeta_vgpu_launch_lock *launches)
{
    launches->taken = false;
    pthread_cond_broadcast(&launches->changed);
}

void zeta_vgpu_tile_init(struct zeta_vgpu_tile *tile, struct zeta_vgpu *vgpu, uint32_t index,
                         void (*advance)(struct zeta_vgpu_tile *tile))
{
    tile->vgpu = vgpu;
    tile->index = index;
    tile->advance = advance;
    tile->rows = zeta_vgpu_topology_subslices(&vgpu->description.topology) + 1;
    pthread_mutex_init(&tile->lock, NULL);
    pthread_cond_init(&tile->launch_lock.changed, NULL);
    zeta_vgpu_trace_writer_init(&tile->trace, vgpu, index);
    pthread_mutex_init(&tile->streams_lock, NULL);
}

void zeta_vgpu_tile_finish(struct zeta_vgpu_tile *tile)
{
    zeta_vgpu_engine_destroy(tile->engine);
    tile->engine = NULL;
    pthread_mutex_destroy(&tile->streams_lock);
    zeta_vgpu_trace_writer_finish(&tile->trace);
    pthread_cond_destroy(&tile->launch_lock.changed);
    pthread_mutex_destroy(&tile->lock);
}

static uint32_t eu_count(const struct zeta_vgpu_tile *tile)
{
    const struct zeta_vgpu_topology *topology = &tile->vgpu->description.topology;

    return zeta_vgpu_topology_subslices(topology) * topology->eus_per_subslice;
}

/* Lets the engine count, or not any more. */
static void count_eus(struct zeta_vgpu_tile *tile, bool on)
{
    if (atomic_exchange(&tile->eu_watch.counts, on) != on)
        zeta_vgpu_engine_count_eus(tile->engine, on);
}

void zeta_vgpu_eu_watch_publish(struct zeta_vgpu_tile *tile, struct zeta_vgpu_part part)
{
    const uint32_t eus = eu_count(tile);
    struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);

    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++) {
        const uint64_t number = zeta_vgpu_instance_eu_request_number(instance, tile->index, unit);

        if (number != 0)
            count_eus(tile, true);
        for (uint32_t i = 0; number != 0 && i < ZETA_VGPU_EU_REQUESTS; i++) {
            struct zeta_vgpu_eu_seen *seen = &tile->eu_watch.seen[unit][i];
            struct zeta_vgpu_eu_request request;
            uint64_t value;

            /* Somebody wrote it into shared memory, perhaps so that it cannot be fulfilled. */
            if (!zeta_vgpu_instance_eu_request(instance, tile->index, unit, i, number, &request) ||
                request.eu >= eus || !zeta_vgpu_counter_has_eus(request.counter))
                continue;
            value = zeta_vgpu_engine_eu_counter(tile->engine, request.eu, request.counter);
            if (seen->number != number)
                *seen = (struct zeta_vgpu_eu_seen){.number = number, .base = value, .whole = value};
            zeta_vgpu_instance_publish_eu(instance, tile->index, unit, i, number,
                                          seen->whole - seen->base +
                                              zeta_vgpu_part_of(value - seen->whole, part));
            if (part.taken >= part.of)
                seen->whole = value;
        }
    }
}

/* Before a launch: what it does counts for the requests of now. */
static void watch_eus(struct zeta_vgpu_tile *tile)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);
    bool wanted = false;

    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++)
        wanted |= zeta_vgpu_instance_eu_request_number(instance, tile->index, unit) != 0;
    count_eus(tile, wanted);
    if (wanted)
        zeta_vgpu_eu_watch_publish(tile, (struct zeta_vgpu_part){1, 1});
}

static bool is_virtual(const struct zeta_vgpu_tile *tile)
{
    return tile->vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL;
}

static void on_publish(void *user, const uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT],
                       struct zeta_vgpu_part part)
{
    struct zeta_vgpu_tile *tile = user;

    zeta_vgpu_instance_publish_kernels(atomic_load(&tile->vgpu->instance), tile->index, totals);
    zeta_vgpu_eu_watch_publish(tile, part);
    atomic_store(&tile->vgpu->work[tile->index].kernel_clocks,
                 totals[0][ZETA_VGPU_GPU_CORE_CLOCKS]);
    if (is_virtual(tile))
        tile->advance(tile);
}

/* The shortest period with which somebody samples the tile, 0: nobody does. */
static uint64_t period_ns(const struct zeta_vgpu_tile *tile)
{
    return zeta_vgpu_instance_period(atomic_load(&tile->vgpu->instance), tile->index);
}

/*
 * When work of so many clocks, executed from begin_ns on, is over by the clock: a device that is
 * executed faster than its clock runs waits for it.
 */
static uint64_t end_of_clocks(const struct zeta_vgpu_tile *tile, uint64_t begin_ns, uint64_t clocks)
{
    return zeta_vgpu_instance_take_time(atomic_load(&tile->vgpu->instance), tile->index, begin_ns,
                                        clocks * 1000 / tile->vgpu->description.core_clock_mhz);
}

/*
 * The speed is the median of the last epochs, whatever time others had a processor in some of them.
 * An epoch says by itself how fast it was where nothing is known, or the median is far off: the
 * first one of a process is slow, and who has a processor to share can be held up in it for long.
 */
uint64_t zeta_vgpu_speed_add(struct zeta_vgpu_speed *speed, const struct zeta_vgpu_epoch *epoch)
{
    const double took_ns = (double)(epoch->end_ns - epoch->begin_ns);
    const double instruction_ns = took_ns / (double)epoch->instructions;
    const bool faster = instruction_ns < speed->instruction_ns;
    double steady_ns;

    if (speed->clocks < 1) {
        *speed = (struct zeta_vgpu_speed){.instruction_ns = instruction_ns,
                                          .instructions = (double)epoch->instructions,
                                          .clocks = (double)epoch->clocks,
                                          .run = ONE_SIDED - 1,
                                          .faster = true};
    } else {
        speed->run = faster == speed->faster ? speed->run + 1 : 1;
        speed->faster = faster;
        if (speed->run >= ONE_SIDED)
            speed->instruction_ns = instruction_ns;
        else
            speed->instruction_ns *= faster ? 1 - 1.0 / SPEED_EPOCHS : 1 + 1.0 / SPEED_EPOCHS;
    }
    speed->instructions += ((double)epoch->instructions - speed->instructions) / SPEED_EPOCHS;
    speed->clocks += ((double)epoch->clocks - speed->clocks) / SPEED_EPOCHS;
    steady_ns = (double)epoch->clocks * speed->instruction_ns * speed->instructions / speed->clocks;
    return (uint64_t)(steady_ns < STEADY_LIMIT * took_ns ? steady_ns : STEADY_LIMIT * took_ns);
}

/*
 * When an epoch is over if its clocks take as long as those before. A wait takes clocks, but hardly
 * any time to execute: rows that hold few epochs would have very different numbers of clocks, and
 * waits would show in fewer rows than they last. 0: rows are long enough.
 */
static uint64_t end_at_steady_speed(struct zeta_vgpu_tile *tile,
                                    const struct zeta_vgpu_epoch *epoch, uint64_t period)
{
    uint64_t lasts_ns;

    if (epoch->clocks == 0 || epoch->instructions == 0)
        return 0;
    lasts_ns = zeta_vgpu_speed_add(&tile->speed, epoch);
    return period > STEADY_EPOCHS * (epoch->end_ns - epoch->begin_ns) ? 0
                                                                      : epoch->begin_ns + lasts_ns;
}

static void on_pace(void *user, const struct zeta_vgpu_epoch *epoch, struct zeta_vgpu_pace *wanted)
{
    struct zeta_vgpu_tile *tile = user;
    const uint64_t period = period_ns(tile);
    uint64_t steady_ns;

    /* Nobody samples. */
    if (period == 0 && !tile->measured)
        return;
    wanted->resume_ns = end_of_clocks(tile, epoch->begin_ns, epoch->clocks);
    if (period == 0)
        return;
    wanted->slice_ns = period / 2;
    steady_ns = end_at_steady_speed(tile, epoch, period);
    if (steady_ns > wanted->resume_ns)
        wanted->resume_ns = steady_ns;
}

static uint64_t on_sampling(void *user, uint64_t *out_session)
{
    const struct zeta_vgpu_tile *tile = user;
    const uint64_t ticks =
        zeta_vgpu_instance_ip_period(atomic_load(&tile->vgpu->instance), tile->index, out_session);

    return zeta_vgpu_clocks_in(&tile->vgpu->description, ticks);
}

static void on_sampled(void *user, const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                       uint64_t lost)
{
    const struct zeta_vgpu_tile *tile = user;

    zeta_vgpu_instance_ip_append(atomic_load(&tile->vgpu->instance), tile->index, samples, count,
                                 lost);
}

static void on_event(void *user, const struct zeta_vgpu_engine_event *event)
{
    struct zeta_vgpu_tile *tile = user;

    zeta_vgpu_trace_engine_event(&tile->trace, event);
}

static void on_print(void *user, const char *text, size_t length)
{
    const struct zeta_vgpu_tile *tile = user;
    const struct zeta_plugin *self = tile->vgpu->self;
    const struct zeta_plugin_string string = {text, length};

    self->host.ops->kernel_output(self->host.handle, string);
}

uint32_t zeta_vgpu_tile_prepare(struct zeta_vgpu_tile *tile)
{
    struct zeta_vgpu *vgpu = tile->vgpu;
    struct zeta_vgpu_instance *instance;
    uint32_t result = zeta_vgpu_instance_get(vgpu, &instance);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    pthread_mutex_lock(&tile->lock);
    if (!tile->engine) {
        struct zeta_vgpu_engine_config config = {
            .topology = vgpu->description.topology,
            .callbacks = {.user = tile,
                          .publish = on_publish,
                          .pace = on_pace,
                          .sampling = on_sampling,
                          .sampled = on_sampled,
                          .watched = &zeta_vgpu_instance_traces(instance, tile->index)->watched,
                          .event = on_event,
                          .print = on_print},
            .time = is_virtual(tile) ? ZETA_VGPU_TIME_MODELLED : ZETA_VGPU_TIME_HOST,
            .workers = vgpu->workers,
        };
        struct zeta_vgpu_message message;
        enum zeta_vgpu_result made = zeta_vgpu_instance_join(instance, &message);

        config.topology.tile = tile->index;
        result = ZETA_PLUGIN_NOT_AVAILABLE;
        if (made == ZETA_VGPU_OK) {
            made = zeta_vgpu_engine_create(&config, vgpu->space, &message, &tile->engine);
            result = ZETA_PLUGIN_INVALID_ARGUMENT;
        }
        if (made == ZETA_VGPU_OUT_OF_MEMORY)
            result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        result = made == ZETA_VGPU_OK ? ZETA_PLUGIN_SUCCESS
                                      : zeta_host_fail(&vgpu->self->host, result, "%s: %s",
                                                       vgpu->description.id, message.text);
    }
    pthread_mutex_unlock(&tile->lock);
    return result;
}

/* Publishes that the context runs from now on; 0: nothing does. */
static void switch_context_locked(struct zeta_vgpu_tile *tile, uint32_t context)
{
    const bool changed = tile->activity.context != context;

    tile->activity.context = context;
    zeta_vgpu_instance_set_activity(atomic_load(&tile->vgpu->instance), tile->index,
                                    &tile->activity);
    if (changed)
        zeta_vgpu_instance_log_switch(tile->vgpu, tile->index, context);
    zeta_vgpu_report_damage(tile->vgpu);
}

static void begin_work_locked(struct zeta_vgpu_tile *tile, uint32_t context)
{
    if (tile->busy_depth++ == 0)
        tile->activity.since_ns = zeta_monotonic_ns();
    tile->commands++;
    switch_context_locked(tile, context);
}

static void end_work_locked(struct zeta_vgpu_tile *tile)
{
    if (--tile->busy_depth > 0)
        return;
    tile->activity.since_ns = 0;
    switch_context_locked(tile, 0);
}

/* What the engine has counted before a launch; at its end the usage gets what came since. */
static void count_launch(struct zeta_vgpu_usage *usage, const struct zeta_vgpu_engine *engine,
                         bool at_end)
{
    const uint32_t eus = atomic_load(&usage->open_eus) > 0 ? eu_count(usage->tile) : 0;
    uint64_t now[ZETA_VGPU_COUNTER_COUNT];

    for (uint32_t row = 0; row < usage->rows - 1; row++) {
        zeta_vgpu_engine_counters(engine, row, now);
        for (uint32_t i = 0; at_end && i < ZETA_VGPU_COUNTER_COUNT; i++)
            usage->totals[row][i] += now[i] - usage->before[row][i];
        memcpy(usage->before[row], now, sizeof(now));
    }
    for (uint32_t eu = 0; eu < eus; eu++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
            const uint64_t value = zeta_vgpu_engine_eu_counter(engine, eu, i);

            if (at_end)
                usage->eu_totals[eu][i] += value - usage->eu_before[eu][i];
            usage->eu_before[eu][i] = value;
        }
    }
    usage->commands += at_end;
}

enum zeta_vgpu_result zeta_vgpu_tile_launch(struct zeta_vgpu_tile *tile,
                                            const struct zeta_vgpu_launch *launch, uint32_t context,
                                            enum zeta_vgpu_priority priority,
                                            struct zeta_vgpu_usage *usage,
                                            struct zeta_vgpu_fault *out_fault)
{
    enum zeta_vgpu_result result;
    bool taken;

    pthread_mutex_lock(&tile->lock);
    taken = zeta_vgpu_launch_lock_acquire_locked(&tile->launch_lock, &tile->lock, launch->interrupt,
                                                 priority);
    if (taken)
        begin_work_locked(tile, context);
    pthread_mutex_unlock(&tile->lock);
    if (!taken)
        return ZETA_VGPU_INTERRUPTED;
    tile->measured = usage != NULL;
    if (usage)
        count_launch(usage, tile->engine, false);
    zeta_vgpu_trace_launch(&tile->trace, launch, context);
    watch_eus(tile);
    result = zeta_vgpu_engine_launch(tile->engine, launch, out_fault);
    zeta_vgpu_trace_rest(&tile->trace);
    if (usage)
        count_launch(usage, tile->engine, true);
    pthread_mutex_lock(&tile->lock);
    end_work_locked(tile);
    zeta_vgpu_launch_lock_release_locked(&tile->launch_lock);
    pthread_mutex_unlock(&tile->lock);
    if (is_virtual(tile))
        tile->advance(tile);
    return result;
}

void zeta_vgpu_tile_wake(struct zeta_vgpu_tile *tile)
{
    struct zeta_vgpu_engine *engine;

    pthread_mutex_lock(&tile->lock);
    pthread_cond_broadcast(&tile->launch_lock.changed);
    engine = tile->engine;
    pthread_mutex_unlock(&tile->lock);
    if (engine)
        zeta_vgpu_engine_wake(engine);
}

void zeta_vgpu_tile_copy_begin(struct zeta_vgpu_tile *tile, uint32_t context,
                               struct zeta_vgpu_usage *usage, struct zeta_vgpu_tile_copy *out_copy)
{
    *out_copy = (struct zeta_vgpu_tile_copy){.tile = tile, .usage = usage};
    pthread_mutex_lock(&tile->lock);
    begin_work_locked(tile, context);
    pthread_mutex_unlock(&tile->lock);
    out_copy->since_ns = zeta_monotonic_ns();
}

static uint64_t clocks_of_copy(uint64_t written_bytes)
{
    return (written_bytes + ZETA_VGPU_COPY_BYTES_PER_CLOCK - 1) / ZETA_VGPU_COPY_BYTES_PER_CLOCK;
}

void zeta_vgpu_tile_copy_moved(struct zeta_vgpu_tile_copy *copy, uint64_t read_bytes,
                               uint64_t written_bytes)
{
    struct zeta_vgpu_tile *tile = copy->tile;
    const uint64_t clocks = clocks_of_copy(written_bytes) - clocks_of_copy(copy->written_bytes);
    const uint64_t read = read_bytes - copy->read_bytes;
    const uint64_t written = written_bytes - copy->written_bytes;
    const uint64_t added[ZETA_VGPU_COUNTER_COUNT] = {
        [ZETA_VGPU_GPU_CORE_CLOCKS] = clocks,
        [ZETA_VGPU_BUSY_CLOCKS] = clocks,
        [ZETA_VGPU_COPY_BYTES] = written,
        [ZETA_VGPU_GPU_MEMORY_READ_BYTES] = read,
        [ZETA_VGPU_GPU_MEMORY_WRITE_BYTES] = written,
    };
    uint64_t until_ns;

    copy->read_bytes = read_bytes;
    copy->written_bytes = written_bytes;
    pthread_mutex_lock(&tile->lock);
    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
        tile->copied[i] += added[i];
    zeta_vgpu_instance_publish_copies(atomic_load(&tile->vgpu->instance), tile->index,
                                      tile->copied);
    atomic_fetch_add(&tile->vgpu->work[tile->index].copy_clocks, clocks);
    pthread_mutex_unlock(&tile->lock);
    for (uint32_t i = 0; copy->usage && i < ZETA_VGPU_COUNTER_COUNT; i++)
        copy->usage->totals[copy->usage->rows - 1][i] += added[i];
    if (is_virtual(tile) || (!copy->usage && period_ns(tile) == 0))
        return;
    until_ns = end_of_clocks(tile, copy->since_ns, clocks);
    copy->since_ns = zeta_monotonic_ns();
    if (until_ns > copy->since_ns)
        zeta_sleep_until(until_ns);
}

void zeta_vgpu_tile_copy_end(struct zeta_vgpu_tile_copy *copy)
{
    struct zeta_vgpu_tile *tile = copy->tile;

    if (copy->usage)
        copy->usage->commands++;
    pthread_mutex_lock(&tile->lock);
    end_work_locked(tile);
    pthread_mutex_unlock(&tile->lock);
    if (is_virtual(tile))
        tile->advance(tile);
}

void zeta_vgpu_tile_mark(struct zeta_vgpu_tile *tile, uint32_t unit, uint64_t value, uint64_t token,
                         const atomic_bool *interrupt)
{
    const struct zeta_vgpu_marker marker = {.tile = tile->index,
                                            .unit = unit,
                                            .value = value,
                                            .token = token,
                                            .own_only = is_virtual(tile),
                                            .interrupt = interrupt};

    zeta_vgpu_instance_log_marker(tile->vgpu, &marker);
    zeta_vgpu_report_damage(tile->vgpu);
    if (is_virtual(tile))
        tile->advance(tile);
}

struct zeta_vgpu_usage *zeta_vgpu_usage_create(struct zeta_vgpu_tile *tile)
{
    struct zeta_vgpu_usage *usage = calloc(1, sizeof(*usage));

    if (!usage)
        return NULL;
    atomic_init(&usage->references, 1);
    usage->tile = tile;
    usage->rows = tile->rows;
    usage->totals = calloc(tile->rows, sizeof(*usage->totals));
    usage->before = calloc(tile->rows, sizeof(*usage->before));
    if (usage->totals && usage->before)
        return usage;
    zeta_vgpu_usage_unref(usage);
    return NULL;
}

void zeta_vgpu_usage_end(struct zeta_vgpu_usage *usage)
{
    if (usage)
        atomic_store(&usage->ended, true);
}

void zeta_vgpu_usage_unref(struct zeta_vgpu_usage *usage)
{
    if (!usage || atomic_fetch_sub(&usage->references, 1) > 1)
        return;
    free(usage->totals);
    free(usage->before);
    free(usage->eu_totals);
    free(usage->eu_before);
    free(usage);
}

bool zeta_vgpu_usage_count_eus(struct zeta_vgpu_usage *usage, bool on)
{
    if (!usage->eu_totals)
        usage->eu_totals = calloc(eu_count(usage->tile), sizeof(*usage->eu_totals));
    if (!usage->eu_before)
        usage->eu_before = calloc(eu_count(usage->tile), sizeof(*usage->eu_before));
    if (!usage->eu_totals || !usage->eu_before)
        return false;
    if (on)
        atomic_fetch_add(&usage->open_eus, 1);
    else
        atomic_fetch_sub(&usage->open_eus, 1);
    zeta_vgpu_engine_count_eus(usage->tile->engine, on);
    return true;
}

uint64_t zeta_vgpu_usage_core_clocks(const struct zeta_vgpu_usage *usage)
{
    uint64_t clocks = 0;

    for (uint32_t row = 0; row < usage->rows; row++)
        clocks += usage->totals[row][ZETA_VGPU_GPU_CORE_CLOCKS];
    return clocks;
}

void zeta_vgpu_usage_mark(const struct zeta_vgpu_usage *usage,
                          struct zeta_vgpu_usage_mark *out_mark)
{
    struct zeta_vgpu_tile *tile = usage->tile;

    out_mark->ticks = zeta_vgpu_ticks(tile->vgpu, tile->index);
    out_mark->core_clocks = zeta_vgpu_usage_core_clocks(usage);
    out_mark->commands = usage->commands;
    pthread_mutex_lock(&tile->lock);
    out_mark->tile_commands = tile->commands;
    out_mark->others = tile->busy_depth > 0;
    pthread_mutex_unlock(&tile->lock);
}
