/* Run control: what a debugger does with the threads, code and memory of an engine. */
#include "rig.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "plugins/vgpu/engine/debug.h"

enum {
    THREADS = 16, /* of the small device: 4 subslices of 2 EUs with 2 threads each */
    ALL = 0xffff,
    FIRST_SUBSLICE = 0xf,
    EBREAK = 0x00100073,
    NOP = 0x00000013,
    T0 = 4 /* x5 in the set X */
};

/* A debugger, and the launch that it looks at. */
struct bench {
    struct rig rig;
    struct zeta_vgpu_launch launch;
    const char *kernel;
    pthread_t thread;
    bool is_launched;
    enum zeta_vgpu_result result;
    atomic_bool interrupt;
    uint64_t samples[ZETA_VGPU_STALL_COUNT]; /* under the engine's lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t changes;
};

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
    assert_true(zeta_vgpu_debug_begin(bench.rig.engine, on_change, &bench));
    *state = &bench;
    return 0;
}

static int open_one(void **state)
{
    return open_bench(state, "debug", 1, true);
}

static int open_three(void **state)
{
    return open_bench(state, "debug", 3, true);
}

/* Without samples quanta are executed at full speed. */
static int open_fast(void **state)
{
    return open_bench(state, "debug", 2, false);
}

static int open_faults(void **state)
{
    return open_bench(state, "faults", 2, true);
}

static int close_bench(void **state)
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

/* Launches on a thread of its own; @local_bytes as in the launch. */
static void launch_local(struct bench *bench, const char *kernel, const void *arguments,
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

static void launch(struct bench *bench, const char *kernel, const void *arguments, uint32_t groups,
                   uint32_t group_size)
{
    launch_local(bench, kernel, arguments, NULL, groups, group_size);
}

static enum zeta_vgpu_result finish(struct bench *bench)
{
    (void)pthread_join(bench->thread, NULL);
    bench->is_launched = false;
    return bench->result;
}

static uint64_t stopped(struct bench *bench)
{
    uint64_t threads, excepted;

    zeta_vgpu_debug_threads(bench->rig.engine, &threads, &excepted);
    return threads;
}

/* Waits until so many threads are stopped; returns which. */
static uint64_t wait_stopped(struct bench *bench, int count)
{
    for (;;) {
        uint64_t before, threads;

        pthread_mutex_lock(&bench->lock);
        before = bench->changes;
        pthread_mutex_unlock(&bench->lock);
        threads = stopped(bench);
        if (__builtin_popcountll(threads) == count)
            return threads;
        pthread_mutex_lock(&bench->lock);
        while (bench->changes == before)
            pthread_cond_wait(&bench->changed, &bench->lock);
        pthread_mutex_unlock(&bench->lock);
    }
}

static uint64_t lowest(uint64_t threads)
{
    return threads & (0 - threads);
}

static uint32_t number(uint64_t threads)
{
    return (uint32_t)__builtin_ctzll(threads);
}

static void resume(struct bench *bench, uint64_t threads)
{
    zeta_vgpu_debug_resume(bench->rig.engine, &threads);
}

static void halt(struct bench *bench, uint64_t threads)
{
    zeta_vgpu_debug_halt(bench->rig.engine, &threads);
}

static uint64_t get(struct bench *bench, uint64_t thread, uint32_t set, uint32_t index)
{
    uint64_t value = 0;

    assert_true(
        zeta_vgpu_debug_registers(bench->rig.engine, number(thread), set, index, 1, &value, false));
    return value;
}

static void put(struct bench *bench, uint64_t thread, uint32_t set, uint32_t index, uint64_t value)
{
    assert_true(
        zeta_vgpu_debug_registers(bench->rig.engine, number(thread), set, index, 1, &value, true));
}

static uint64_t pc_of(struct bench *bench, uint64_t thread)
{
    return get(bench, thread, ZETA_VGPU_REGISTERS_PC, 0);
}

static uint32_t causes_of(struct bench *bench, uint64_t thread)
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

/* What a debugger does that goes on: its causes are consumed. */
static void go_on(struct bench *bench, uint64_t threads)
{
    set_causes(bench, threads, 0);
    resume(bench, threads);
}

/* Resumes for one instruction; does not wait. */
static void begin_step(struct bench *bench, uint64_t threads)
{
    set_causes(bench, threads, ZETA_VGPU_CAUSE_BREAK);
    resume(bench, threads);
}

static uint64_t place(struct bench *bench, const char *symbol)
{
    struct zeta_vgpu_symbol found;

    assert_true(zeta_vgpu_image_find_symbol(bench->rig.image, symbol, &found));
    return found.address;
}

/* Writes an instruction; returns what was there. */
static uint32_t write_code(struct bench *bench, uint64_t address, uint32_t word)
{
    uint32_t before;

    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, address,
                                       sizeof(before), &before, false));
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, address, sizeof(word),
                                       &word, true));
    return before;
}

static uint64_t counter_at(const struct bench *bench, uint32_t item)
{
    return __atomic_load_n((const uint64_t *)bench->rig.memory + item, __ATOMIC_RELAXED);
}

static void wait_counted(const struct bench *bench, uint32_t item, uint64_t least)
{
    while (counter_at(bench, item) < least)
        sched_yield();
}

struct counting {
    void *counters;
    uint32_t *stop;
};

/* Launches a work-item for each thread, which count until stop_counting(). */
static void begin_counting(struct bench *bench, struct counting *counting)
{
    *counting = (struct counting){bench->rig.memory, (uint32_t *)bench->rig.memory + 4096};
    launch(bench, "count_up", counting, THREADS, 1);
    for (uint32_t i = 0; i < THREADS; i++)
        wait_counted(bench, i, 1);
}

static void stop_counting(const struct counting *counting)
{
    __atomic_store_n(counting->stop, 1, __ATOMIC_RELAXED);
}

static uint32_t item_of(struct bench *bench, uint64_t thread)
{
    return (uint32_t)get(bench, thread, ZETA_VGPU_REGISTERS_ID, 0);
}

static void halt__spinning_threads__stops_those_of_the_mask(void **state)
{
    const uint64_t masks[] = {0x0f05, FIRST_SUBSLICE, 0x7fff, 0x8000};
    struct bench *bench = *state;
    struct counting counting;

    begin_counting(bench, &counting);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        uint64_t before[THREADS];
        bool is_stopped[THREADS] = {false};

        halt(bench, masks[i]);
        assert_int_equal(stopped(bench), masks[i]);
        for (uint64_t left = masks[i]; left != 0; left &= left - 1) {
            assert_int_equal(causes_of(bench, lowest(left)), ZETA_VGPU_CAUSE_HALT);
            is_stopped[item_of(bench, lowest(left))] = true;
        }
        for (uint32_t k = 0; k < THREADS; k++)
            before[k] = counter_at(bench, k);
        /* The others go on for many epochs, whoever is stopped beside them. */
        for (uint32_t k = 0; k < THREADS; k++) {
            if (!is_stopped[k])
                wait_counted(bench, k, before[k] + 20000);
        }
        for (uint32_t k = 0; k < THREADS; k++) {
            if (is_stopped[k])
                assert_int_equal(counter_at(bench, k), before[k]);
        }
        resume(bench, masks[i]);
        assert_int_equal(stopped(bench), 0);
        for (uint32_t k = 0; k < THREADS; k++)
            wait_counted(bench, k, before[k] + 1000);
    }
    stop_counting(&counting);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    assert_cmp(rig_counter(&bench->rig, ZETA_VGPU_DEBUG_HALT_CYCLES), >, 0);
    assert_cmp(rig_counter(&bench->rig, ZETA_VGPU_DEBUG_HALT_CYCLES), <=,
               rig_counter(&bench->rig, ZETA_VGPU_THREAD_CLOCKS));
    assert_cmp(bench->samples[ZETA_VGPU_STALL_OTHER], >, 0);
}

static void halt__all_again_and_again__loses_nothing(void **state)
{
    struct bench *bench = *state;
    struct counting counting;

    begin_counting(bench, &counting);
    for (uint32_t i = 0; i < 200; i++) {
        const uint64_t before = counter_at(bench, i % THREADS);

        halt(bench, ALL);
        assert_int_equal(stopped(bench), ALL);
        go_on(bench, i % 2 == 0 ? ALL : 0x5a5a);
        if (i % 2 != 0)
            go_on(bench, ALL & ~0x5a5a);
        assert_int_equal(stopped(bench), 0);
        wait_counted(bench, i % THREADS, before + 10);
    }
    stop_counting(&counting);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
}

static void halt__nothing_runs__stops_nothing(void **state)
{
    struct bench *bench = *state;
    uint64_t threads, excepted;

    halt(bench, ALL);
    zeta_vgpu_debug_threads(bench->rig.engine, &threads, &excepted);
    assert_int_equal(threads | excepted, 0);
    assert_int_equal(bench->changes, 0);
    resume(bench, ALL);
}

static void breakpoint__more_groups_than_threads__stop_wave_by_wave(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = place(bench, "walk_at") + 8;
    const uint64_t *out = (const uint64_t *)bench->rig.memory;
    void *arguments[] = {bench->rig.memory};
    uint64_t seen[4 * THREADS] = {0}, threads, excepted;
    uint32_t items[THREADS];

    (void)write_code(bench, at, EBREAK);
    launch(bench, "walk", arguments, 4 * THREADS, 1);
    for (uint32_t wave = 0; wave < 4; wave++) {
        assert_int_equal(wait_stopped(bench, THREADS), ALL);
        /* What stopped by itself is told once. */
        zeta_vgpu_debug_threads(bench->rig.engine, &threads, &excepted);
        assert_int_equal(excepted, 0);
        for (uint32_t i = 0; i < THREADS; i++) {
            const uint64_t thread = UINT64_C(1) << i;
            const uint32_t item = item_of(bench, thread);

            assert_int_equal(pc_of(bench, thread), at);
            assert_int_equal(causes_of(bench, thread), ZETA_VGPU_CAUSE_BREAK);
            assert_int_equal(get(bench, thread, ZETA_VGPU_REGISTERS_X, T0), 2);
            assert_int_equal(get(bench, thread, ZETA_VGPU_REGISTERS_CE, 0), 1);
            assert_int_equal(get(bench, thread, ZETA_VGPU_REGISTERS_ID, 6), i);
            assert_int_equal(get(bench, thread, ZETA_VGPU_REGISTERS_ID, 7), i / 4);
            seen[item]++;
            put(bench, thread, ZETA_VGPU_REGISTERS_X, T0, item + 100);
        }
        /* The bytes are still there: it stops again. */
        go_on(bench, 1);
        assert_int_equal(wait_stopped(bench, THREADS), ALL);
        assert_int_equal(pc_of(bench, 1), at);
        /* As long as one is stopped that a halt was for nothing new begins. */
        halt(bench, ALL);
        assert_int_equal(causes_of(bench, 4), ZETA_VGPU_CAUSE_BREAK);
        for (uint32_t i = 0; i < THREADS; i++)
            put(bench, UINT64_C(1) << i, ZETA_VGPU_REGISTERS_PC, 0, at + 4);
        for (uint32_t i = 0; i < THREADS; i++)
            items[i] = item_of(bench, UINT64_C(1) << i);
        go_on(bench, ALL & ~4);
        for (uint32_t i = 0; i < THREADS; i++) {
            while (i != 2 && __atomic_load_n(&out[items[i]], __ATOMIC_RELAXED) == 0)
                sched_yield();
        }
        assert_int_equal(stopped(bench), 4);
        go_on(bench, 4);
    }
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    for (uint32_t i = 0; i < 4 * THREADS; i++) {
        assert_int_equal(seen[i], 1);
        assert_int_equal(out[i], i + 100);
    }
}

/* Rule 27.22. */
static void breakpoint_register__resumed__goes_on_behind_it(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = place(bench, "walk_at") + 4;
    const uint64_t *out = (const uint64_t *)bench->rig.memory;
    void *arguments[] = {bench->rig.memory};
    uint64_t seen[4 * THREADS] = {0}, retired;
    uint32_t control[4], word, before;

    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 4 * THREADS, 1), ZETA_VGPU_OK);
    retired = rig_counter(&bench->rig, ZETA_VGPU_INST_RETIRED);
    memset(bench->rig.memory, 0, 4 * THREADS * sizeof(*out));
    assert_true(
        zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 4, &before, false));
    zeta_vgpu_debug_break(bench->rig.engine, 7, at);
    zeta_vgpu_debug_break(bench->rig.engine, 8, at + 8);
    zeta_vgpu_debug_break(bench->rig.engine, 9, 0x1000); /* no code */
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 4, &word, false));
    assert_int_equal(word, before);
    launch(bench, "walk", arguments, 4 * THREADS, 1);
    for (uint32_t wave = 0; wave < 4; wave++) {
        assert_int_equal(wait_stopped(bench, THREADS), ALL);
        for (uint32_t i = 0; i < THREADS; i++) {
            const uint64_t thread = UINT64_C(1) << i;

            assert_int_equal(pc_of(bench, thread), at);
            assert_int_equal(get(bench, thread, ZETA_VGPU_REGISTERS_X, T0), 1);
            assert_true(zeta_vgpu_debug_registers(bench->rig.engine, i, ZETA_VGPU_REGISTERS_CR, 0,
                                                  1, control, false));
            assert_int_equal(control[0], ZETA_VGPU_CONTROL_SUPPRESS);
            assert_int_equal(control[1], ZETA_VGPU_CAUSE_BREAKPOINT);
            seen[item_of(bench, thread)]++;
        }
        /* Without the flag it stops there again; with it, it makes its step. */
        control[0] = 0;
        assert_true(zeta_vgpu_debug_registers(bench->rig.engine, 3, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                              control, true));
        resume(bench, 8);
        assert_int_equal(wait_stopped(bench, THREADS), ALL);
        assert_int_equal(pc_of(bench, 8), at);
        control[0] = ZETA_VGPU_CONTROL_SUPPRESS;
        control[1] = ZETA_VGPU_CAUSE_BREAK;
        assert_true(zeta_vgpu_debug_registers(bench->rig.engine, 3, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                              control, true));
        resume(bench, 8);
        assert_int_equal(wait_stopped(bench, THREADS), ALL);
        assert_int_equal(pc_of(bench, 8), at + 4);
        assert_int_equal(causes_of(bench, 8), ZETA_VGPU_CAUSE_BREAK);
        go_on(bench, 8);
        /* One that is halted before it could go on does not stop there twice. */
        resume(bench, ALL & ~8);
        halt(bench, ALL);
        for (uint32_t i = 0; i < THREADS; i++) {
            if (causes_of(bench, UINT64_C(1) << i) == ZETA_VGPU_CAUSE_HALT)
                resume(bench, UINT64_C(1) << i);
        }
        assert_int_equal(wait_stopped(bench, THREADS), ALL);
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(pc_of(bench, UINT64_C(1) << i), at + 8);
            assert_int_equal(causes_of(bench, UINT64_C(1) << i), ZETA_VGPU_CAUSE_BREAKPOINT);
        }
        resume(bench, ALL);
    }
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    for (uint32_t i = 0; i < 4 * THREADS; i++) {
        assert_int_equal(seen[i], 1);
        assert_int_equal(out[i], 3);
    }
    assert_int_equal(rig_counter(&bench->rig, ZETA_VGPU_INST_RETIRED), 2 * retired);
}

/* What it passes is executed as any other instruction: at barriers, faults and watchpoints. */
static void breakpoint_register__on_any_instruction__is_passed(void **state)
{
    struct bench *bench = *state;
    void *arguments[] = {bench->rig.memory};
    const uint64_t barrier = place(bench, "meet_at") + 12, store = place(bench, "meet_at") + 4;
    const uint64_t all = (UINT64_C(1) << 4) - 1;

    zeta_vgpu_debug_break(bench->rig.engine, 0, barrier);
    zeta_vgpu_debug_break(bench->rig.engine, 1, store);
    zeta_vgpu_debug_watch(bench->rig.engine, 0, (uintptr_t)bench->rig.memory, 4,
                          ZETA_VGPU_WATCHPOINT_WRITE);
    launch(bench, "meet", arguments, 1, 4);
    assert_int_equal(__builtin_popcountll(wait_stopped(bench, 4)), 4);
    resume(bench, ALL);
    /* The first work-item met the watchpoint behind its store, the others wait at the barrier. */
    for (bool met = false; !met;) {
        const uint64_t threads = wait_stopped(bench, 4);

        met = true;
        for (uint64_t left = threads; left != 0; left &= left - 1) {
            const uint64_t thread = lowest(left);

            if (pc_of(bench, thread) == store + 4) {
                assert_int_equal(causes_of(bench, thread), ZETA_VGPU_CAUSE_WATCH);
                resume(bench, thread);
                met = false;
            } else {
                assert_int_equal(causes_of(bench, thread), ZETA_VGPU_CAUSE_BREAKPOINT);
                assert_int_equal(pc_of(bench, thread), barrier);
            }
        }
    }
    zeta_vgpu_debug_watch(bench->rig.engine, 0, 0, 0, 0);
    resume(bench, all | ALL);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(((uint32_t *)bench->rig.memory)[i], 2);
}

/* A thread that passed one has no longer a quantum than others, so that it can be halted. */
static void breakpoint_register__before_a_loop__halts_in_it(void **state)
{
    struct bench *bench = *state;
    struct counting counting = {bench->rig.memory, (uint32_t *)bench->rig.memory + 4096};

    zeta_vgpu_debug_break(bench->rig.engine, 0,
                          zeta_vgpu_image_find_kernel(bench->rig.image, "count_up")->entry);
    launch(bench, "count_up", &counting, THREADS, 1);
    assert_int_equal(wait_stopped(bench, THREADS), ALL);
    zeta_vgpu_debug_break(bench->rig.engine, 0, 0);
    resume(bench, ALL);
    for (uint32_t i = 0; i < THREADS; i++)
        wait_counted(bench, i, 1000);
    (void)halt(bench, ALL);
    assert_int_equal(stopped(bench), ALL);
    stop_counting(&counting);
    resume(bench, ALL);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
}

/* Rule 27.22. */
static void breakpoint_register__removed_or_ended__is_not_there(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = place(bench, "walk_at") + 8;
    void *arguments[] = {bench->rig.memory};

    zeta_vgpu_debug_break(bench->rig.engine, 127, at);
    launch(bench, "walk", arguments, 1, 1);
    assert_int_equal(wait_stopped(bench, 1), 1);
    zeta_vgpu_debug_break(bench->rig.engine, 127, 0);
    resume(bench, 1);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 1, 1), ZETA_VGPU_OK);
    zeta_vgpu_debug_break(bench->rig.engine, 0, at);
    zeta_vgpu_debug_end(bench->rig.engine);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 1, 1), ZETA_VGPU_OK);
}

/* Stops the only thread of a kernel at its first instruction. */
static void stop_at_entry(struct bench *bench, const char *kernel, const void *arguments)
{
    const uint64_t entry = zeta_vgpu_image_find_kernel(bench->rig.image, kernel)->entry;
    const uint32_t word = write_code(bench, entry, EBREAK);

    launch(bench, kernel, arguments, 1, 1);
    assert_int_equal(wait_stopped(bench, 1), 1);
    assert_int_equal(pc_of(bench, 1), entry);
    (void)write_code(bench, entry, word);
}

/* Each instruction is a step, and the last one ends the thread. */
static void step__whole_kernel__is_each_instruction(void **state)
{
    struct bench *bench = *state;
    void *arguments[] = {bench->rig.memory};
    const uint64_t entry = zeta_vgpu_image_find_kernel(bench->rig.image, "meet")->entry;
    uint64_t instructions, steps = 0;
    uint32_t word;

    assert_int_equal(rig_run(&bench->rig, "meet", arguments, 1, 1), ZETA_VGPU_OK);
    instructions = rig_counter(&bench->rig, ZETA_VGPU_INST_RETIRED);
    word = write_code(bench, entry, EBREAK);
    launch(bench, "meet", arguments, 1, 1);
    assert_int_equal(wait_stopped(bench, 1), 1);
    (void)write_code(bench, entry, word);
    for (;;) {
        const uint64_t pc = pc_of(bench, 1);
        uint64_t before;

        pthread_mutex_lock(&bench->lock);
        before = bench->changes;
        pthread_mutex_unlock(&bench->lock);
        begin_step(bench, 1);
        steps++;
        pthread_mutex_lock(&bench->lock);
        while (bench->changes == before)
            pthread_cond_wait(&bench->changed, &bench->lock);
        pthread_mutex_unlock(&bench->lock);
        if (stopped(bench) == 0)
            break;
        assert_int_equal(causes_of(bench, 1), ZETA_VGPU_CAUSE_BREAK);
        assert_int_not_equal(pc_of(bench, 1), pc);
    }
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    assert_int_equal(steps, instructions);
    assert_int_equal(rig_counter(&bench->rig, ZETA_VGPU_INST_RETIRED), 2 * instructions);
    assert_int_equal(*(uint32_t *)bench->rig.memory, 2);
}

static void step__at_ebreak__stops_there_again(void **state)
{
    struct bench *bench = *state;
    void *arguments[] = {bench->rig.memory};
    const uint64_t at = place(bench, "walk_at");

    (void)write_code(bench, at, EBREAK);
    launch(bench, "walk", arguments, 1, 1);
    assert_int_equal(wait_stopped(bench, 1), 1);
    begin_step(bench, 1);
    assert_int_equal(wait_stopped(bench, 1), 1);
    assert_int_equal(pc_of(bench, 1), at);
    put(bench, 1, ZETA_VGPU_REGISTERS_PC, 0, at + 4);
    begin_step(bench, 1);
    assert_int_equal(wait_stopped(bench, 1), 1);
    assert_int_equal(pc_of(bench, 1), at + 8);
    go_on(bench, 1);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
}

static bool waits_at_barrier(struct bench *bench, uint64_t thread)
{
    return get(bench, thread, ZETA_VGPU_REGISTERS_ID, 8) != 0;
}

static void barrier__some_stopped__waits_for_them(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = place(bench, "meet_at");
    volatile uint32_t *out = (volatile uint32_t *)bench->rig.memory;
    void *arguments[] = {bench->rig.memory};
    uint32_t word;

    word = write_code(bench, at, EBREAK);
    launch(bench, "meet", arguments, 1, 4);
    assert_int_equal(wait_stopped(bench, 4), FIRST_SUBSLICE);
    (void)write_code(bench, at, word);
    /* Three arrive; one of them steps into the barrier. */
    go_on(bench, 0x6);
    for (uint64_t pc = at; pc < at + 12; pc += 4) {
        assert_int_equal(pc_of(bench, 8), pc);
        begin_step(bench, 8);
        assert_int_equal(wait_stopped(bench, 2), 0x9);
    }
    begin_step(bench, 8);
    assert_int_equal(stopped(bench), 1);
    /* A halt ends the wait of the step, not that of the thread. */
    halt(bench, 8);
    while (pc_of(bench, 8) == at + 12) { /* it had not begun */
        begin_step(bench, 8);
        halt(bench, 8);
    }
    assert_int_equal(causes_of(bench, 8), ZETA_VGPU_CAUSE_HALT);
    assert_int_equal(pc_of(bench, 8), at + 16);
    assert_true(waits_at_barrier(bench, 8));
    assert_false(waits_at_barrier(bench, 1));
    begin_step(bench, 8);
    assert_int_equal(stopped(bench), 1);
    /* Another is held where it waits. */
    halt(bench, 2);
    while (pc_of(bench, 2) != at + 16) {
        go_on(bench, 2);
        halt(bench, 2);
    }
    assert_true(waits_at_barrier(bench, 2));
    /* The last one steps in: it and the stepping one stop behind, the held one stays. */
    for (uint32_t i = 0; i < 3; i++) {
        begin_step(bench, 1);
        assert_int_equal(wait_stopped(bench, 2), 0x3);
    }
    assert_int_equal(out[0], 1);
    begin_step(bench, 1);
    assert_int_equal(wait_stopped(bench, 3), 0xb);
    for (uint64_t left = 0xb; left != 0; left &= left - 1) {
        assert_int_equal(pc_of(bench, lowest(left)), at + 16);
        assert_false(waits_at_barrier(bench, lowest(left)));
    }
    assert_int_equal(causes_of(bench, 1), ZETA_VGPU_CAUSE_BREAK);
    assert_int_equal(causes_of(bench, 2), ZETA_VGPU_CAUSE_HALT);
    assert_int_equal(causes_of(bench, 8), ZETA_VGPU_CAUSE_BREAK);
    go_on(bench, 0xb);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(out[i], 2);
}

static void fault__each_kind__stops_the_thread(void **state)
{
    static const uint64_t wild[] = {UINT64_C(0x123456789a)};
    struct bench *bench = *state;
    void *data[] = {bench->rig.memory};
    const struct {
        const char *kernel;
        const void *arguments;
        enum zeta_vgpu_fault_reason reason;
        uint32_t cause;
        uint64_t address;
    } faults[] = {
        {"illegal", NULL, ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION, ZETA_VGPU_CAUSE_ILLEGAL, 0},
        {"store_low", NULL, ZETA_VGPU_FAULT_WRITE, ZETA_VGPU_CAUSE_FAULT, 16},
        {"load_wild", wild, ZETA_VGPU_FAULT_READ, ZETA_VGPU_CAUSE_FAULT, wild[0]},
        {"jump_wild", NULL, ZETA_VGPU_FAULT_FETCH, ZETA_VGPU_CAUSE_FAULT, 0x1000},
        {"jump_odd", NULL, ZETA_VGPU_FAULT_MISALIGNED_JUMP, ZETA_VGPU_CAUSE_FAULT, 1},
        {"misaligned_atomic", data, ZETA_VGPU_FAULT_MISALIGNED_ATOMIC, ZETA_VGPU_CAUSE_FAULT, 1},
        {"unknown_call", NULL, ZETA_VGPU_FAULT_UNKNOWN_CALL, ZETA_VGPU_CAUSE_ILLEGAL, 12345},
        {"give_up", NULL, ZETA_VGPU_FAULT_ABORT, ZETA_VGPU_CAUSE_FAULT, 0},
        {"overflow", data, ZETA_VGPU_FAULT_STACK_OVERFLOW, ZETA_VGPU_CAUSE_FAULT, 0},
    };

    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct zeta_vgpu_fault fault;
        uint64_t pc;
        uint32_t control[4];

        launch(bench, faults[i].kernel, faults[i].arguments, 1, 1);
        assert_int_equal(wait_stopped(bench, 1), 1);
        assert_int_equal(causes_of(bench, 1), faults[i].cause);
        assert_true(zeta_vgpu_debug_fault(bench->rig.engine, 0, &fault));
        assert_int_equal(fault.reason, faults[i].reason);
        assert_non_null(strstr(fault.message.text, faults[i].kernel));
        pc = pc_of(bench, 1);
        assert_int_equal(fault.pc, pc);
        assert_true(zeta_vgpu_debug_registers(bench->rig.engine, 0, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                              control, false));
        assert_memory_equal(&control[2], &fault.address, sizeof(fault.address));
        if (faults[i].address > 1)
            assert_int_equal(fault.address, faults[i].address);
        /* It is still so. */
        go_on(bench, 1);
        assert_int_equal(wait_stopped(bench, 1), 1);
        assert_int_equal(pc_of(bench, 1), pc);
        /* Without a debugger the launch ends by it. */
        zeta_vgpu_debug_end(bench->rig.engine);
        assert_int_equal(finish(bench), ZETA_VGPU_FAULT);
        assert_int_equal(bench->rig.fault.reason, faults[i].reason);
        assert_int_equal(bench->rig.fault.pc, pc);
        assert_true(zeta_vgpu_debug_begin(bench->rig.engine, on_change, bench));
    }
}

static void fault__mended__goes_on(void **state)
{
    struct bench *bench = *state;
    struct zeta_vgpu_fault fault;

    launch(bench, "illegal", NULL, 3, 1);
    assert_cmp(wait_stopped(bench, 3), !=, 0);
    (void)write_code(bench, pc_of(bench, lowest(stopped(bench))), NOP);
    go_on(bench, stopped(bench));
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    assert_false(zeta_vgpu_debug_fault(bench->rig.engine, 0, &fault));
    assert_false(zeta_vgpu_debug_fault(bench->rig.engine, UINT32_MAX, &fault));
}

/* Any pattern is kept; what it means is seen when the thread goes on. */
static void ids__next_launch__has_the_next_number(void **state)
{
    struct bench *bench = *state;
    void *arguments[] = {bench->rig.memory};

    for (uint32_t i = 1; i <= 3; i++) {
        stop_at_entry(bench, "walk", arguments);
        assert_int_equal(get(bench, 1, ZETA_VGPU_REGISTERS_ID, 9), i);
        go_on(bench, 1);
        assert_int_equal(finish(bench), ZETA_VGPU_OK);
    }
}

static void registers__stopped__keep_any_pattern(void **state)
{
    static const struct {
        uint32_t set, count, bytes;
    } sets[] = {{ZETA_VGPU_REGISTERS_CR, 1, 16},
                {ZETA_VGPU_REGISTERS_X, 31, 8},
                {ZETA_VGPU_REGISTERS_F, 32, 8},
                {ZETA_VGPU_REGISTERS_PC, 1, 8},
                {ZETA_VGPU_REGISTERS_FCSR, 1, 4}};
    struct bench *bench = *state;
    struct zeta_vgpu_engine *engine = bench->rig.engine;
    void *arguments[] = {bench->rig.memory};
    struct zeta_vgpu_fault fault;
    uint64_t saved[32], pattern[32], again[32], pc;

    stop_at_entry(bench, "walk", arguments);
    pc = pc_of(bench, 1);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const uint32_t set = sets[i].set, count = sets[i].count;
        const size_t bytes = (size_t)count * sets[i].bytes;

        assert_true(zeta_vgpu_debug_registers(engine, 0, set, 0, count, saved, false));
        memset(pattern, 0xaa, sizeof(pattern));
        assert_true(zeta_vgpu_debug_registers(engine, 0, set, 0, count, pattern, true));
        memset(again, 0, sizeof(again));
        assert_true(zeta_vgpu_debug_registers(engine, 0, set, count - 1, 1, again, false));
        assert_memory_equal(again, pattern, sets[i].bytes);
        assert_true(zeta_vgpu_debug_registers(engine, 0, set, 0, count, again, false));
        assert_memory_equal(again, pattern, bytes);
        assert_true(zeta_vgpu_debug_registers(engine, 0, set, 0, count, saved, true));
        assert_false(zeta_vgpu_debug_registers(engine, 0, set, 1, count, again, false));
        assert_false(zeta_vgpu_debug_registers(engine, 0, set, UINT32_MAX, 1, again, false));
        assert_false(zeta_vgpu_debug_registers(engine, 1, set, 0, 1, again, false));
        assert_false(zeta_vgpu_debug_registers(engine, THREADS, set, 0, 1, again, false));
    }
    assert_false(zeta_vgpu_debug_registers(engine, 0, ZETA_VGPU_REGISTERS_CE, 0, 1, again, true));
    assert_false(zeta_vgpu_debug_registers(engine, 0, ZETA_VGPU_REGISTERS_ID, 0, 1, again, true));
    assert_false(zeta_vgpu_debug_registers(engine, 0, 77, 0, 1, again, false));
    for (unsigned odd = 0; odd < 3; odd++) {
        const uint64_t bad[] = {pc + 2, 8, UINT64_MAX};

        put(bench, 1, ZETA_VGPU_REGISTERS_PC, 0, bad[odd]);
        go_on(bench, 1);
        assert_int_equal(wait_stopped(bench, 1), 1);
        assert_int_equal(causes_of(bench, 1), ZETA_VGPU_CAUSE_FAULT);
        assert_int_equal(pc_of(bench, 1), bad[odd]);
        assert_true(zeta_vgpu_debug_fault(engine, 0, &fault));
        assert_int_equal(fault.reason, ZETA_VGPU_FAULT_FETCH);
        assert_int_equal(fault.address, bad[odd]);
    }
    put(bench, 1, ZETA_VGPU_REGISTERS_PC, 0, pc);
    go_on(bench, 1);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
    assert_int_equal(*(uint64_t *)bench->rig.memory, 3);
}

static void memory__each_kind__is_all_or_nothing(void **state)
{
    static const uint32_t local_bytes[] = {0, 256};
    struct bench *bench = *state;
    struct zeta_vgpu_engine *engine = bench->rig.engine;
    const uint64_t at = place(bench, "touch_at"), data = (uintptr_t)bench->rig.memory;
    struct {
        void *data, *scratch;
    } arguments = {bench->rig.memory, NULL};
    uint64_t window, sp;
    uint32_t value;
    unsigned char bytes[600];

    (void)write_code(bench, at, EBREAK);
    launch_local(bench, "touch", &arguments, local_bytes, 2, 1);
    assert_int_equal(wait_stopped(bench, 2), 0x11);
    window = get(bench, 1, ZETA_VGPU_REGISTERS_X, 10); /* a1 */
    sp = get(bench, 1, ZETA_VGPU_REGISTERS_X, 1);
    /* Local memory: of the own group, by offset or address, to the byte. */
    value = 0x11223344;
    assert_true(zeta_vgpu_debug_memory(engine, 0, true, 5, 4, &value, true));
    assert_true(zeta_vgpu_debug_memory(engine, 0, false, window + 5, 4, bytes, false));
    assert_memory_equal(bytes, &value, 4);
    assert_true(zeta_vgpu_debug_memory(engine, 4, true, 0, 256, bytes, false));
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(bytes[i], 0);
    assert_false(zeta_vgpu_debug_memory(engine, 0, true, 253, 4, bytes, false));
    assert_false(zeta_vgpu_debug_memory(engine, 0, true, UINT64_MAX, 4, bytes, false));
    assert_false(zeta_vgpu_debug_memory(engine, 0, false, window + 253, 4, bytes, false));
    assert_false(zeta_vgpu_debug_memory(engine, UINT32_MAX, true, 0, 4, bytes, false));
    assert_false(zeta_vgpu_debug_memory(engine, UINT32_MAX, false, window, 4, bytes, false));
    assert_false(zeta_vgpu_debug_memory(engine, 1, true, 0, 4, bytes, false));
    /* Private memory, and that of the process. */
    assert_true(zeta_vgpu_debug_memory(engine, 0, false, sp - 8, 8, bytes, true));
    assert_true(zeta_vgpu_debug_memory(engine, UINT32_MAX, false, sp - 8, 8, bytes, false));
    assert_true(zeta_vgpu_debug_memory(engine, 4, false, data + 3, 512, bytes, false));
    /* Another range of the process may follow at once. */
    assert_int_equal(
        zeta_vgpu_debug_memory(engine, 4, false, data + RIG_MEMORY_BYTES - 3, 4, bytes, false),
        zeta_vgpu_space_covers(bench->rig.space, data + RIG_MEMORY_BYTES - 3, 4,
                               ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_debug_memory(engine, 4, false, 16, 4, bytes, false));
    assert_false(zeta_vgpu_debug_memory(engine, 4, false, data, UINT64_MAX, bytes, false));
    assert_false(zeta_vgpu_debug_memory(engine, 1, false, data, 4, bytes, false));
    for (uint64_t thread = 1; thread <= 0x10; thread <<= 4)
        put(bench, thread, ZETA_VGPU_REGISTERS_PC, 0, at + 4);
    go_on(bench, 0x11);
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
}

/* Writes that begin and end inside an instruction, while all threads execute it. */
static void code__written_while_it_runs__is_executed(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = place(bench, "circle_at");
    unsigned char bytes[4], nop[4] = {NOP & 0xff, 0, 0, 0};

    launch(bench, "circle", NULL, THREADS, 1);
    halt(bench, 0);
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 4, bytes, false));
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 1, bytes, true));
    assert_true(
        zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at + 1, 3, bytes + 1, true));
    /* All at once: parts of the two are other instructions. */
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 4, nop, true));
    assert_int_equal(finish(bench), ZETA_VGPU_OK);
}

/* Where a thread of the kernel "touch" stops with watches; it is resumed each time. */
static void expect_watch(struct bench *bench, uint64_t pc, uint64_t address)
{
    uint32_t control[4];

    assert_int_equal(wait_stopped(bench, 1), 1);
    assert_int_equal(causes_of(bench, 1), ZETA_VGPU_CAUSE_WATCH);
    assert_int_equal(pc_of(bench, 1), pc);
    assert_true(zeta_vgpu_debug_registers(bench->rig.engine, 0, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                          control, false));
    assert_memory_equal(&control[2], &address, sizeof(address));
    go_on(bench, 1);
}

static void watch__accesses__stop_behind_them(void **state)
{
    static const uint32_t local_bytes[] = {0, 256};
    struct bench *bench = *state;
    struct zeta_vgpu_engine *engine = bench->rig.engine;
    const uint64_t at = place(bench, "touch_at"), data = (uintptr_t)bench->rig.memory;
    struct {
        void *data, *scratch;
    } arguments = {bench->rig.memory, NULL};
    uint64_t window = 0, sp = 0;

    for (uint32_t round = 0; round < 2; round++) {
        const uint32_t word = write_code(bench, at, EBREAK);

        launch_local(bench, "touch", &arguments, local_bytes, 1, 1);
        assert_int_equal(wait_stopped(bench, 1), 1);
        (void)write_code(bench, at, word);
        window = get(bench, 1, ZETA_VGPU_REGISTERS_X, 10);
        sp = get(bench, 1, ZETA_VGPU_REGISTERS_X, 1);
        if (round == 0) {
            /* Each kind, of what it is about and of what it is not; to the byte. */
            zeta_vgpu_debug_watch(engine, 0, data + 3, 1, ZETA_VGPU_WATCHPOINT_READ);
            zeta_vgpu_debug_watch(engine, 1, data + 64, 4, ZETA_VGPU_WATCHPOINT_WRITE);
            zeta_vgpu_debug_watch(engine, 2, data + 128, 4, ZETA_VGPU_WATCHPOINT_READ);
            zeta_vgpu_debug_watch(engine, 3, data + 192, 4, ZETA_VGPU_WATCHPOINT_WRITE);
            zeta_vgpu_debug_watch(engine, 4, window + 7, 100, ZETA_VGPU_WATCHPOINT_WRITE);
            zeta_vgpu_debug_watch(engine, 15, sp - 8, 8,
                                  ZETA_VGPU_WATCHPOINT_WRITE | ZETA_VGPU_WATCHPOINT_READ);
            zeta_vgpu_debug_watch(engine, 5, data + 60, 4, ZETA_VGPU_WATCHPOINT_WRITE);
            zeta_vgpu_debug_watch(engine, 6, data + 68, 4, ZETA_VGPU_WATCHPOINT_WRITE);
            zeta_vgpu_debug_watch(engine, 7, data, 4, ZETA_VGPU_WATCHPOINT_WRITE);
            zeta_vgpu_debug_watch(engine, 8, data + 64, 4, ZETA_VGPU_WATCHPOINT_READ);
            go_on(bench, 1);
            expect_watch(bench, at + 4, data);
            expect_watch(bench, at + 8, data + 64);
            expect_watch(bench, at + 16, data + 128);
            expect_watch(bench, at + 28, data + 192);
            expect_watch(bench, at + 32, window + 4);
            expect_watch(bench, at + 36, sp - 8);
        } else {
            /* A step onto one is both. Taken away, they stop nobody. */
            begin_step(bench, 1);
            assert_int_equal(wait_stopped(bench, 1), 1);
            assert_int_equal(causes_of(bench, 1), ZETA_VGPU_CAUSE_WATCH | ZETA_VGPU_CAUSE_BREAK);
            assert_int_equal(pc_of(bench, 1), at + 4);
            for (uint32_t i = 0; i < ZETA_VGPU_WATCHPOINTS; i++)
                zeta_vgpu_debug_watch(engine, i, 0, 0, 0);
            go_on(bench, 1);
        }
        assert_int_equal(finish(bench), ZETA_VGPU_OK);
    }
}

static void interrupt__all_stopped__ends_the_launch(void **state)
{
    struct bench *bench = *state;
    struct counting counting;
    void *arguments[] = {bench->rig.memory};

    begin_counting(bench, &counting);
    halt(bench, ALL);
    atomic_store(&bench->interrupt, true);
    zeta_vgpu_engine_wake(bench->rig.engine);
    assert_int_equal(finish(bench), ZETA_VGPU_INTERRUPTED);
    assert_int_equal(stopped(bench), 0);
    atomic_store(&bench->interrupt, false);
    resume(bench, ALL);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 40, 1), ZETA_VGPU_OK);
}

static void interrupt__some_stopped__ends_the_launch(void **state)
{
    struct bench *bench = *state;
    struct counting counting;
    void *arguments[] = {bench->rig.memory};

    begin_counting(bench, &counting);
    halt(bench, FIRST_SUBSLICE | 0x10);
    atomic_store(&bench->interrupt, true);
    zeta_vgpu_engine_wake(bench->rig.engine);
    assert_int_equal(finish(bench), ZETA_VGPU_INTERRUPTED);
    atomic_store(&bench->interrupt, false);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 40, 1), ZETA_VGPU_OK);
}

static void end__threads_stopped_and_stepping__all_run(void **state)
{
    struct bench *bench = *state;
    struct counting counting;

    for (uint32_t i = 0; i < 20; i++) {
        begin_counting(bench, &counting);
        halt(bench, ALL);
        begin_step(bench, 0x3333);
        zeta_vgpu_debug_end(bench->rig.engine);
        stop_counting(&counting);
        assert_int_equal(finish(bench), ZETA_VGPU_OK);
        memset(bench->rig.memory, 0, RIG_MEMORY_BYTES);
        assert_true(zeta_vgpu_debug_begin(bench->rig.engine, on_change, bench));
        assert_int_equal(stopped(bench), 0);
    }
}

/* A debugger that does everything, again and again, while launches come and go. */
static void debugger__beside_launches__changes_no_result(void **state)
{
    struct bench *bench = *state;
    struct zeta_vgpu_engine *engine = bench->rig.engine;
    uint64_t *out = (uint64_t *)bench->rig.memory;
    void *arguments[] = {out};
    const uint64_t at = place(bench, "walk_at");
    uint64_t value;

    for (uint32_t i = 0; i < 20; i++) {
        memset(out, 0, 300 * sizeof(*out));
        launch(bench, "walk", arguments, 300, 1);
        for (uint32_t k = 0; k < 10; k++) {
            const uint32_t word = write_code(bench, at, EBREAK);

            zeta_vgpu_debug_watch(engine, 0, (uintptr_t)&out[k], 8, ZETA_VGPU_WATCHPOINT_WRITE);
            halt(bench, 0xf0f);
            (void)zeta_vgpu_debug_registers(engine, k, ZETA_VGPU_REGISTERS_PC, 0, 1, &value, false);
            (void)write_code(bench, at, word);
            zeta_vgpu_debug_watch(engine, 0, 0, 0, 0);
            go_on(bench, stopped(bench));
        }
        assert_int_equal(finish(bench), ZETA_VGPU_OK);
        for (uint32_t k = 0; k < 300; k++)
            assert_int_equal(out[k], 3);
    }
}

#define WITH(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, open_one, close_bench),                                  \
        cmocka_unit_test_setup_teardown(test, open_three, close_bench)

SUITE(engine_debug)
{
    const struct CMUnitTest tests[] = {
        WITH(halt__spinning_threads__stops_those_of_the_mask),
        WITH(halt__all_again_and_again__loses_nothing),
        WITH(halt__nothing_runs__stops_nothing),
        WITH(breakpoint__more_groups_than_threads__stop_wave_by_wave),
        WITH(breakpoint_register__resumed__goes_on_behind_it),
        WITH(breakpoint_register__on_any_instruction__is_passed),
        cmocka_unit_test_setup_teardown(breakpoint_register__before_a_loop__halts_in_it, open_fast,
                                        close_bench),
        WITH(breakpoint_register__removed_or_ended__is_not_there),
        WITH(step__whole_kernel__is_each_instruction),
        WITH(step__at_ebreak__stops_there_again),
        WITH(barrier__some_stopped__waits_for_them),
        WITH(ids__next_launch__has_the_next_number),
        WITH(registers__stopped__keep_any_pattern),
        WITH(memory__each_kind__is_all_or_nothing),
        WITH(code__written_while_it_runs__is_executed),
        WITH(watch__accesses__stop_behind_them),
        WITH(interrupt__all_stopped__ends_the_launch),
        WITH(interrupt__some_stopped__ends_the_launch),
        WITH(end__threads_stopped_and_stepping__all_run),
        WITH(debugger__beside_launches__changes_no_result),
        cmocka_unit_test_setup_teardown(fault__each_kind__stops_the_thread, open_faults,
                                        close_bench),
        cmocka_unit_test_setup_teardown(fault__mended__goes_on, open_faults, close_bench),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
