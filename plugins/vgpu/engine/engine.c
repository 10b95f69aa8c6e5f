/*
 * Life of an engine: its hardware, its worker threads, and launches one after another. Worker w
 * owns the subslices with index mod workers = w and runs a round of each in turn. Worker 0 is the
 * thread that launches, and only workers that have something to do are woken: a launch of one group
 * wakes nobody.
 */
#include "engine.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zeta/thread.h>

#include "engine_priv.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

enum {
    DEFAULT_SLICE = 256,
    LOCAL_ALIGNMENT = 128, /* of shared local memory: the widest vector */
    MAX_GROUP_THREADS = 1024
};

void zeta_vgpu_topology_default(struct zeta_vgpu_topology *out_topology)
{
    *out_topology = (struct zeta_vgpu_topology){
        .tile = 0,
        .slices = 2,
        .subslices_per_slice = 2,
        .eus_per_subslice = 32,
        .threads_per_eu = 16,
        .slm_bytes = 64 << 10,
        .stack_bytes = 64 << 10,
        .l1_bytes = 64 << 10,
        .l3_bytes = 4 << 20,
    };
}

bool zeta_vgpu_topology_check(const struct zeta_vgpu_topology *t, struct zeta_vgpu_message *message)
{
    const struct {
        const char *name;
        uint64_t value, low, high;
        bool power; /* of two */
    } limits[] = {
        {"tile", t->tile, 0, 63, false},
        {"slices", t->slices, 1, 64, false},
        {"subslices per slice", t->subslices_per_slice, 1, 64, false},
        {"EUs per subslice", t->eus_per_subslice, 1, ZETA_VGPU_MAX_EUS, false},
        {"threads per EU", t->threads_per_eu, 1, 64, false},
        {"shared local memory in bytes", t->slm_bytes, 1, 16 << 20, false},
        {"private memory in bytes", t->stack_bytes, 4096, 1 << 20, false},
        {"L1 cache in bytes", t->l1_bytes, 1 << 10, 1 << 20, true},
        {"L3 cache in bytes", t->l3_bytes, 16 << 10, 256 << 20, true},
        {"number of subslices", (uint64_t)t->slices * t->subslices_per_slice, 1,
         ZETA_VGPU_MAX_SUBSLICES, false},
        {"threads of a subslice", (uint64_t)t->eus_per_subslice * t->threads_per_eu, 1,
         MAX_GROUP_THREADS, false},
    };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const uint64_t value = limits[i].value;

        if (value < limits[i].low || value > limits[i].high)
            return zeta_vgpu_reject(message,
                                    "%s is %" PRIu64 ", it must be from %" PRIu64 " to %" PRIu64,
                                    limits[i].name, value, limits[i].low, limits[i].high);
        if (limits[i].power && (value & (value - 1)) != 0)
            return zeta_vgpu_reject(message, "%s is %" PRIu64 ", it must be a power of two",
                                    limits[i].name, value);
    }
    if (t->stack_bytes % 4096 != 0)
        return zeta_vgpu_reject(message, "private memory of %u bytes is not whole pages",
                                t->stack_bytes);
    return true;
}

static void *map_pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

enum zeta_vgpu_result zeta_vgpu_engine_create(const struct zeta_vgpu_engine_config *config,
                                              struct zeta_vgpu_space *space,
                                              struct zeta_vgpu_message *out_message,
                                              struct zeta_vgpu_engine **out_engine)
{
    const uint32_t subslices = zeta_vgpu_topology_subslices(&config->topology);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct zeta_vgpu_engine *engine;
    uint32_t workers = config->workers;
    bool good;

    if (!zeta_vgpu_topology_check(&config->topology, out_message))
        return ZETA_VGPU_INVALID_ARGUMENT;
    engine = calloc(1, sizeof(*engine));
    if (!engine)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for an engine");
    if (workers == 0)
        workers = cpus > 0 ? (uint32_t)cpus : 1;
    if (workers > 1 && workers > subslices)
        workers = subslices;
    engine->config = *config;
    engine->config.workers = workers;
    if (config->slice == 0)
        engine->config.slice = DEFAULT_SLICE;
    if (config->slice > ZETA_RV64_SLICE_LIMIT)
        engine->config.slice = ZETA_RV64_SLICE_LIMIT;
    engine->space = space;
    engine->subslice_count = subslices;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_mutex_init(&engine->print_lock, NULL);
    pthread_cond_init(&engine->released, NULL);
    pthread_cond_init(&engine->start, NULL);
    pthread_cond_init(&engine->done, NULL);
    engine->workers = calloc(workers, sizeof(*engine->workers));
    engine->stacks_bytes = (uint64_t)subslices * zeta_vgpu_topology_group_limit(&config->topology) *
                           (config->topology.stack_bytes + ZETA_VGPU_STACK_GUARD_BYTES);
    engine->stacks = map_pages(engine->stacks_bytes);
    engine->arguments = map_pages(VGPU_MAX_ARGUMENT_BYTES);
    engine->subslices = calloc(subslices, sizeof(*engine->subslices));
    good = zeta_vgpu_model_init(&engine->model, &config->topology) && engine->workers &&
           engine->stacks && engine->arguments && engine->subslices;
    for (uint32_t i = 0; good && i < subslices; i++)
        good = zeta_vgpu_subslice_init(&engine->subslices[i], engine, i);
    if (!good || !zeta_vgpu_space_add(space, engine->arguments, VGPU_MAX_ARGUMENT_BYTES,
                                      ZETA_VGPU_ACCESS_READ)) {
        (void)zeta_vgpu_reject(out_message, "no memory for the simulated hardware");
        goto destroy;
    }
    for (uint32_t i = 0; i < workers; i++) {
        struct worker *worker = &engine->workers[i];

        worker->engine = engine;
        worker->index = i;
        worker->has_reader = zeta_vgpu_space_reader_add(space, &worker->reader);
        if (!worker->has_reader) {
            (void)zeta_vgpu_reject(out_message, "more than %u workers use one memory",
                                   ZETA_VGPU_SPACE_READERS);
            goto destroy;
        }
        for (uint32_t s = i; s < subslices; s += workers)
            engine->subslices[s].reader = worker->reader;
    }
    *out_engine = engine;
    return ZETA_VGPU_OK;

destroy:
    zeta_vgpu_engine_destroy(engine);
    return ZETA_VGPU_OUT_OF_MEMORY;
}

void zeta_vgpu_engine_destroy(struct zeta_vgpu_engine *engine)
{
    if (!engine)
        return;
    pthread_mutex_lock(&engine->lock);
    engine->quit = true;
    pthread_cond_broadcast(&engine->start);
    pthread_mutex_unlock(&engine->lock);
    for (uint32_t i = 1; i <= engine->started_workers; i++)
        pthread_join(engine->workers[i].thread, NULL);
    for (uint32_t i = 0; engine->workers && i < engine->config.workers; i++) {
        if (engine->workers[i].has_reader)
            zeta_vgpu_space_reader_remove(engine->space, engine->workers[i].reader);
    }
    for (uint32_t i = 0; engine->subslices && i < engine->subslice_count; i++)
        zeta_vgpu_subslice_finish(&engine->subslices[i]);
    if (engine->arguments) {
        (void)zeta_vgpu_space_remove(engine->space, engine->arguments);
        (void)munmap(engine->arguments, VGPU_MAX_ARGUMENT_BYTES);
    }
    if (engine->stacks)
        (void)munmap(engine->stacks, engine->stacks_bytes);
    zeta_vgpu_model_finish(&engine->model);
    pthread_cond_destroy(&engine->released);
    pthread_cond_destroy(&engine->start);
    pthread_cond_destroy(&engine->done);
    pthread_mutex_destroy(&engine->print_lock);
    pthread_mutex_destroy(&engine->lock);
    free(engine->control.stops);
    free(engine->subslices);
    free(engine->workers);
    free(engine);
}

bool zeta_vgpu_counter_has_eus(enum zeta_vgpu_counter counter)
{
    switch (counter) {
    case ZETA_VGPU_GPU_CORE_CLOCKS:
    case ZETA_VGPU_BUSY_CLOCKS:
    case ZETA_VGPU_L3_HITS:
    case ZETA_VGPU_L3_MISSES:
    case ZETA_VGPU_GPU_MEMORY_READ_BYTES:
    case ZETA_VGPU_GPU_MEMORY_WRITE_BYTES:
    case ZETA_VGPU_COPY_BYTES:
    case ZETA_VGPU_GROUPS_DISPATCHED:
    case ZETA_VGPU_KERNELS_LAUNCHED:
    case ZETA_VGPU_DEBUG_HALT_CYCLES:
        return false;
    default:
        return counter < ZETA_VGPU_COUNTER_COUNT;
    }
}

void zeta_vgpu_engine_count_eus(struct zeta_vgpu_engine *engine, bool on)
{
    if (on)
        atomic_fetch_add(&engine->eu_users, 1);
    else
        atomic_fetch_sub(&engine->eu_users, 1);
}

uint64_t zeta_vgpu_engine_eu_counter(const struct zeta_vgpu_engine *engine, uint32_t eu,
                                     enum zeta_vgpu_counter counter)
{
    const uint32_t eus = engine->config.topology.eus_per_subslice;

    return atomic_load_explicit(&engine->subslices[eu / eus].eu_counters[eu % eus][counter],
                                memory_order_relaxed);
}

/* Waits while an epoch lasts. */
static void rest(struct worker *worker)
{
    uint64_t until_ns;

    while ((until_ns = zeta_vgpu_model_rest(worker->engine)) != 0) {
        zeta_vgpu_space_leave(worker->engine->space, worker->reader);
        zeta_sleep_until(until_ns);
    }
}

/* All subslices of a worker until they have finished. */
static void work(struct worker *worker)
{
    struct zeta_vgpu_engine *engine = worker->engine;
    bool unfinished = true;

    while (unfinished) {
        bool ran = false;

        unfinished = false;
        for (uint32_t i = worker->index; i < engine->active_subslices;
             i += engine->config.workers) {
            struct subslice *subslice = &engine->subslices[i];

            if (subslice->finished)
                continue;
            unfinished = true;
            if (zeta_vgpu_model_ahead(engine, i))
                continue;
            rest(worker);
            ran |= zeta_vgpu_subslice_round(subslice);
        }
        if (unfinished && !ran) {
            zeta_vgpu_space_leave(engine->space, worker->reader);
            zeta_vgpu_model_wait(engine, worker->index);
        }
    }
    zeta_vgpu_space_leave(engine->space, worker->reader);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct zeta_vgpu_engine *engine = worker->engine;

    pthread_mutex_lock(&engine->lock);
    while (!engine->quit) {
        if (engine->launch_number == worker->seen_launch) {
            pthread_cond_wait(&engine->start, &engine->lock);
            continue;
        }
        worker->seen_launch = engine->launch_number;
        if (worker->index >= engine->active_workers)
            continue;
        pthread_mutex_unlock(&engine->lock);
        work(worker);
        pthread_mutex_lock(&engine->lock);
        if (--engine->busy_workers == 0)
            pthread_cond_broadcast(&engine->done);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

static uint64_t round_up(uint64_t value)
{
    return (value + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
}

uint64_t zeta_vgpu_group_slm_bytes(const struct zeta_vgpu_kernel *kernel,
                                   const uint32_t *local_bytes)
{
    uint64_t used = round_up(kernel->slm_bytes);

    for (uint32_t i = 0; local_bytes && i < kernel->argument_count; i++) {
        if (kernel->arguments[i].kind == VGPU_ARGUMENT_LOCAL)
            used += round_up(local_bytes[i]);
    }
    return used;
}

uint64_t zeta_vgpu_topology_resident_groups(const struct zeta_vgpu_topology *topology,
                                            uint64_t group_items, uint64_t group_slm_bytes)
{
    uint64_t groups = group_items ? zeta_vgpu_topology_group_limit(topology) / group_items : 0;

    if (group_slm_bytes > 0 && topology->slm_bytes / group_slm_bytes < groups)
        groups = topology->slm_bytes / group_slm_bytes;
    return groups * zeta_vgpu_topology_subslices(topology);
}

/* Checks a launch and sets up everything the workers read; false with the reason. */
static bool prepare(struct zeta_vgpu_engine *engine, const struct zeta_vgpu_launch *launch,
                    struct zeta_vgpu_fault *fault)
{
    const struct zeta_vgpu_topology *topology = &engine->config.topology;
    const uint32_t limit = zeta_vgpu_topology_group_limit(topology);
    const struct zeta_vgpu_kernel *kernel = launch->kernel;
    const uint32_t *count = launch->group_count, *size = launch->group_size;
    const uint32_t *required = kernel->required_group_size;
    struct zeta_vgpu_message *message = &fault->message;
    uint64_t used = round_up(kernel->slm_bytes), most;

    if (size[0] == 0 || size[1] == 0 || size[2] == 0 || size[0] > limit || size[1] > limit ||
        size[2] > limit || (uint64_t)size[0] * size[1] * size[2] > limit)
        return zeta_vgpu_reject(message,
                                "kernel %s: a group of %u x %u x %u work-items, at least 1 and at "
                                "most %u are possible",
                                kernel->name, size[0], size[1], size[2], limit);
    for (uint32_t d = 0; d < 3; d++) {
        if (required[d] != 0 && required[d] != size[d])
            return zeta_vgpu_reject(
                message, "kernel %s requires groups of %u x %u x %u, not %u x %u x %u",
                kernel->name, required[0], required[1], required[2], size[0], size[1], size[2]);
    }
    if (count[2] != 0 && (uint64_t)count[0] * count[1] > INT64_MAX / count[2])
        return zeta_vgpu_reject(message,
                                "kernel %s: %u x %u x %u groups are too many to be counted",
                                kernel->name, count[0], count[1], count[2]);
    if (kernel->argument_block_bytes > 0 && !launch->arguments)
        return zeta_vgpu_reject(message, "kernel %s: no arguments given, it has %u", kernel->name,
                                kernel->argument_count);

    /* Each local pointer gets its part of the window, behind the static variables. */
    if (kernel->argument_block_bytes > 0)
        memcpy(engine->arguments, launch->arguments, kernel->argument_block_bytes);
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct vgpu_argument_info *argument = &kernel->arguments[i];
        uint64_t address = zeta_vgpu_image_slm(launch->image) + used;

        if (argument->kind != VGPU_ARGUMENT_LOCAL)
            continue;
        memcpy(engine->arguments + argument->offset_bytes, &address, sizeof(address));
        used += launch->local_bytes ? round_up(launch->local_bytes[i]) : 0;
    }
    if (used > topology->slm_bytes)
        return zeta_vgpu_reject(message,
                                "kernel %s: a group needs %" PRIu64
                                " bytes of shared local memory, a subslice has %u",
                                kernel->name, used, topology->slm_bytes);
    engine->launch = launch;
    engine->fault = fault;
    engine->group_slm_bytes = (uint32_t)used;
    engine->group_total = (uint64_t)count[0] * count[1] * count[2];
    engine->group_items = size[0] * size[1] * size[2];
    /* Groups go to the subslices in turn, so as many as fit in all are resident at once. */
    most = zeta_vgpu_topology_resident_groups(topology, engine->group_items, used);
    if (launch->cooperative && engine->group_total > most)
        return zeta_vgpu_reject(message,
                                "kernel %s: %" PRIu64 " groups of a cooperative launch cannot run "
                                "at the same time, at most %" PRIu64 " can",
                                kernel->name, engine->group_total, most);

    /* A launch without groups is counted by the first subslice too. */
    engine->active_subslices = engine->group_total < engine->subslice_count
                                   ? (uint32_t)engine->group_total
                                   : engine->subslice_count;
    if (engine->active_subslices == 0)
        engine->active_subslices = 1;
    engine->active_workers = engine->active_subslices < engine->config.workers
                                 ? engine->active_subslices
                                 : engine->config.workers;
    engine->work_dimensions = 1;
    for (uint32_t d = 1; d < 3; d++) {
        if (count[d] > 1 || size[d] > 1)
            engine->work_dimensions = d + 1;
    }
    atomic_store(&engine->stop, false);
    atomic_store(&engine->interrupted, false);
    zeta_vgpu_model_begin(engine);
    return true;
}

/* Runs the prepared launch with the help of workers that have a part in it. */
static enum zeta_vgpu_result run(struct zeta_vgpu_engine *engine)
{
    bool started = true;

    pthread_mutex_lock(&engine->lock);
    while (started && engine->started_workers + 1 < engine->active_workers) {
        struct worker *worker = &engine->workers[engine->started_workers + 1];

        /* The launch may be given up for lack of the next thread, and this one must not begin it.
         */
        worker->seen_launch = engine->launch_number;
        started = zeta_thread_start(&worker->thread, worker_main, worker, "vgpu-worker") == 0;
        engine->started_workers += started;
    }
    if (started && engine->active_workers > 1) {
        engine->busy_workers = engine->active_workers - 1;
        engine->launch_number++;
        pthread_cond_broadcast(&engine->start);
    }
    pthread_mutex_unlock(&engine->lock);
    if (!started)
        return ZETA_VGPU_OUT_OF_MEMORY;
    work(&engine->workers[0]);
    pthread_mutex_lock(&engine->lock);
    while (engine->busy_workers > 0)
        pthread_cond_wait(&engine->done, &engine->lock);
    pthread_mutex_unlock(&engine->lock);
    /* A launch is over when its clocks are. */
    rest(&engine->workers[0]);
    if (engine->fault->reason != ZETA_VGPU_FAULT_NONE)
        return ZETA_VGPU_FAULT;
    if (atomic_load(&engine->interrupted))
        return ZETA_VGPU_INTERRUPTED;
    return engine->model.out_of_memory ? ZETA_VGPU_OUT_OF_MEMORY : ZETA_VGPU_OK;
}

enum zeta_vgpu_result zeta_vgpu_engine_launch(struct zeta_vgpu_engine *engine,
                                              const struct zeta_vgpu_launch *launch,
                                              struct zeta_vgpu_fault *out_fault)
{
    enum zeta_vgpu_result result = ZETA_VGPU_INVALID_ARGUMENT;
    const uint32_t reader = engine->workers[0].reader;
    uint64_t ticket;

    memset(out_fault, 0, sizeof(*out_fault));
    /* Waits until all launches that came before are over. */
    pthread_mutex_lock(&engine->lock);
    ticket = engine->next_ticket++;
    while (engine->serving != ticket)
        pthread_cond_wait(&engine->released, &engine->lock);
    pthread_mutex_unlock(&engine->lock);
    /* A debugger sees the launch when it is complete. */
    (void)zeta_vgpu_space_enter(engine->space, reader);
    if (!prepare(engine, launch, out_fault))
        goto release;
    for (uint32_t i = 0; i < engine->active_subslices; i++) {
        if (!zeta_vgpu_subslice_begin(&engine->subslices[i])) {
            result = zeta_vgpu_fail(&out_fault->message, ZETA_VGPU_OUT_OF_MEMORY,
                                    "no memory to launch kernel %s", launch->kernel->name);
            goto release;
        }
    }
    engine->subslices[0].counters[ZETA_VGPU_KERNELS_LAUNCHED]++;
    zeta_vgpu_event_of_launch(engine, ZETA_VGPU_EVENT_KERNEL_BEGIN);
    result = run(engine);
    if (result == ZETA_VGPU_FAULT)
        zeta_vgpu_event_of_launch(engine, ZETA_VGPU_EVENT_FAULT);
    if (result == ZETA_VGPU_FAULT && launch->faulted)
        launch->faulted(launch->user, out_fault);
    zeta_vgpu_event_of_launch(engine, ZETA_VGPU_EVENT_KERNEL_END);

release:
    /* What a debugger had of an interrupted launch is gone. */
    (void)zeta_vgpu_space_enter(engine->space, reader);
    engine->launch = NULL;
    atomic_store(&engine->control.stopped, 0);
    engine->control.halted = 0;
    zeta_vgpu_space_leave(engine->space, reader);
    pthread_mutex_lock(&engine->lock);
    engine->serving++;
    pthread_cond_broadcast(&engine->released);
    pthread_mutex_unlock(&engine->lock);
    return result;
}
