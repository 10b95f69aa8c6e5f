#include "debug_bench.h"

#include <string.h>

static void on_change(void *user)
{
    struct bench *bench = user;

    pthread_mutex_lock(&bench->lock);
    bench->changes++;
    pthread_cond_broadcast(&bench->changed);
    pthread_mutex_unlock(&bench->lock);
}

static uint64_t wants_samples(void *user, uint64_t *out_session)
{
    (void)user;
    *out_session = 1;
    return 500;
}

static void on_samples(void *user, const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                       uint64_t lost)
{
    struct bench *bench = user;

    (void)lost;
    for (uint32_t i = 0; i < count; i++)
        bench->samples[samples[i].stall] += samples[i].count;
}

void bench_attach(struct bench *bench)
{
    assert_true(zeta_vgpu_debug_begin(bench->rig.engine, on_change, bench));
}

static int open_bench(void **state, const char *kernels, uint32_t workers, bool samples)
{
    static struct bench bench;
    struct zeta_vgpu_engine_config config = rig_config(workers);

    config.topology.eus_per_subslice = 2;
    config.topology.threads_per_eu = 2;
    config.callbacks.user = &bench;
    config.callbacks.sampling = wants_samples;
    config.callbacks.sampled = samples ? on_samples : NULL;
    memset(&bench, 0, sizeof(bench));
    pthread_mutex_init(&bench.lock, NULL);
    pthread_cond_init(&bench.changed, NULL);
    rig_open(&bench.rig, kernels, &config);
    bench_attach(&bench);
    *state = &bench;
    return 0;
}

int bench_open_one(void **state)
{
    return open_bench(state, "debug", 1, true);
}

int bench_open_three(void **state)
{
    return open_bench(state, "debug", 3, true);
}

int bench_open_fast(void **state)
{
    return open_bench(state, "debug", 2, false);
}

int bench_open_faults(void **state)
{
    return open_bench(state, "faults", 2, true);
}

int bench_close(void **state)
{
    struct bench *bench = *state;

    if (bench->is_launched) { /* the test has failed */
        zeta_vgpu_debug_end(bench->rig.engine);
        atomic_store(&bench->interrupt, true);
        zeta_vgpu_engine_wake(bench->rig.engine);
        (void)pthread_join(bench->thread, NULL);
    }
    rig_close(&bench->rig);
    pthread_cond_destroy(&bench->changed);
    pthread_mutex_destroy(&bench->lock);
    return 0;
}

static void *launch_main(void *argument)
{
    struct bench *bench = argument;

    bench->result = rig_launch(&bench->rig, bench->kernel, &bench->launch);
    on_change(bench); /* nothing will stop any more */
    return NULL;
}

void bench_launch_local(struct bench *bench, const char *kernel, const void *arguments,
                        const uint32_t *local_bytes, uint32_t groups, uint32_t group_size)
{
    bench->kernel = kernel;
    bench->launch = (struct zeta_vgpu_launch){
        .arguments = arguments,
        .local_bytes = local_bytes,
        .group_count = {groups, 1, 1},
        .group_size = {group_size, 1, 1},
        .interrupt = &bench->interrupt,
    };
    assert_int_equal(pthread_create(&bench->thread, NULL, launch_main, bench), 0);
    bench->is_launched = true;
}

void bench_launch(struct bench *bench, const char *kernel, const void *arguments, uint32_t groups,
                  uint32_t group_size)
{
    bench_launch_local(bench, kernel, arguments, NULL, groups, group_size);
}

enum zeta_vgpu_result bench_finish(struct bench *bench)
{
    (void)pthread_join(bench->thread, NULL);
    bench->is_launched = false;
    return bench->result;
}

uint64_t bench_stopped(struct bench *bench)
{
    uint64_t threads, excepted;

    zeta_vgpu_debug_threads(bench->rig.engine, &threads, &excepted);
    return threads;
}

uint64_t bench_wait_stopped(struct bench *bench, int count)
{
    for (;;) {
        uint64_t before, threads;

        pthread_mutex_lock(&bench->lock);
        before = bench->changes;
        pthread_mutex_unlock(&bench->lock);
        threads = bench_stopped(bench);
        if (__builtin_popcountll(threads) == count)
            return threads;
        pthread_mutex_lock(&bench->lock);
        while (bench->changes == before)
            pthread_cond_wait(&bench->changed, &bench->lock);
        pthread_mutex_unlock(&bench->lock);
    }
}

uint64_t bench_lowest(uint64_t threads)
{
    return threads & (0 - threads);
}

static uint32_t number(uint64_t threads)
{
    return (uint32_t)__builtin_ctzll(threads);
}

void bench_resume(struct bench *bench, uint64_t threads)
{
    zeta_vgpu_debug_resume(bench->rig.engine, &threads);
}

void bench_halt(struct bench *bench, uint64_t threads)
{
    zeta_vgpu_debug_halt(bench->rig.engine, &threads);
}

uint64_t bench_get(struct bench *bench, uint64_t thread, uint32_t set, uint32_t index)
{
    uint64_t value = 0;

    assert_true(
        zeta_vgpu_debug_registers(bench->rig.engine, number(thread), set, index, 1, &value, false));
    return value;
}

void bench_put(struct bench *bench, uint64_t thread, uint32_t set, uint32_t index, uint64_t value)
{
    assert_true(
        zeta_vgpu_debug_registers(bench->rig.engine, number(thread), set, index, 1, &value, true));
}

uint64_t bench_pc(struct bench *bench, uint64_t thread)
{
    return bench_get(bench, thread, ZETA_VGPU_REGISTERS_PC, 0);
}

uint32_t bench_causes(struct bench *bench, uint64_t thread)
{
    uint32_t control[4];

    assert_true(zeta_vgpu_debug_registers(bench->rig.engine, number(thread), ZETA_VGPU_REGISTERS_CR,
                                          0, 1, control, false));
    return control[1];
}

static void set_causes(struct bench *bench, uint64_t threads, uint32_t causes)
{
    const uint32_t control[4] = {0, causes, 0, 0};

    for (; threads != 0; threads &= threads - 1)
        assert_true(zeta_vgpu_debug_registers(bench->rig.engine, number(threads),
                                              ZETA_VGPU_REGISTERS_CR, 0, 1,
                                              (void *)(uintptr_t)control, true));
}

void bench_go_on(struct bench *bench, uint64_t threads)
{
    set_causes(bench, threads, 0);
    bench_resume(bench, threads);
}

void bench_begin_step(struct bench *bench, uint64_t threads)
{
    set_causes(bench, threads, ZETA_VGPU_CAUSE_BREAK);
    bench_resume(bench, threads);
}

uint64_t bench_place(struct bench *bench, const char *symbol)
{
    struct zeta_vgpu_symbol found;

    assert_true(zeta_vgpu_image_find_symbol(bench->rig.image, symbol, &found));
    return found.address;
}

uint32_t bench_write_code(struct bench *bench, uint64_t address, uint32_t word)
{
    uint32_t before;

    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, address,
                                       sizeof(before), &before, false));
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, address, sizeof(word),
                                       &word, true));
    return before;
}

void bench_stop_at_entry(struct bench *bench, const char *kernel, const void *arguments)
{
    const uint64_t entry = zeta_vgpu_image_find_kernel(bench->rig.image, kernel)->entry;
    const uint32_t word = bench_write_code(bench, entry, EBREAK);

    bench_launch(bench, kernel, arguments, 1, 1);
    assert_int_equal(bench_wait_stopped(bench, 1), 1);
    assert_int_equal(bench_pc(bench, 1), entry);
    (void)bench_write_code(bench, entry, word);
}
