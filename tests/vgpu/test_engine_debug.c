/* Run control: what a debugger does with the threads of an engine. */
#include "debug_bench.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

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
    bench_launch(bench, "count_up", counting, THREADS, 1);
    for (uint32_t i = 0; i < THREADS; i++)
        wait_counted(bench, i, 1);
}

static void stop_counting(const struct counting *counting)
{
    __atomic_store_n(counting->stop, 1, __ATOMIC_RELAXED);
}

static uint32_t item_of(struct bench *bench, uint64_t thread)
{
    return (uint32_t)bench_get(bench, thread, ZETA_VGPU_REGISTERS_ID, 0);
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

        bench_halt(bench, masks[i]);
        assert_int_equal(bench_stopped(bench), masks[i]);
        for (uint64_t left = masks[i]; left != 0; left &= left - 1) {
            assert_int_equal(bench_causes(bench, bench_lowest(left)), ZETA_VGPU_CAUSE_HALT);
            is_stopped[item_of(bench, bench_lowest(left))] = true;
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
        bench_resume(bench, masks[i]);
        assert_int_equal(bench_stopped(bench), 0);
        for (uint32_t k = 0; k < THREADS; k++)
            wait_counted(bench, k, before[k] + 1000);
    }
    stop_counting(&counting);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
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

        bench_halt(bench, ALL);
        assert_int_equal(bench_stopped(bench), ALL);
        bench_go_on(bench, i % 2 == 0 ? ALL : 0x5a5a);
        if (i % 2 != 0)
            bench_go_on(bench, ALL & ~0x5a5a);
        assert_int_equal(bench_stopped(bench), 0);
        wait_counted(bench, i % THREADS, before + 10);
    }
    stop_counting(&counting);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
}

static void halt__nothing_runs__stops_nothing(void **state)
{
    struct bench *bench = *state;
    uint64_t threads, excepted;

    bench_halt(bench, ALL);
    zeta_vgpu_debug_threads(bench->rig.engine, &threads, &excepted);
    assert_int_equal(threads | excepted, 0);
    assert_int_equal(bench->changes, 0);
    bench_resume(bench, ALL);
}

static void breakpoint__more_groups_than_threads__stop_wave_by_wave(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = bench_place(bench, "walk_at") + 8;
    const uint64_t *out = (const uint64_t *)bench->rig.memory;
    void *arguments[] = {bench->rig.memory};
    uint64_t seen[4 * THREADS] = {0}, threads, excepted;
    uint32_t items[THREADS];

    (void)bench_write_code(bench, at, EBREAK);
    bench_launch(bench, "walk", arguments, 4 * THREADS, 1);
    for (uint32_t wave = 0; wave < 4; wave++) {
        assert_int_equal(bench_wait_stopped(bench, THREADS), ALL);
        /* What stopped by itself is told once. */
        zeta_vgpu_debug_threads(bench->rig.engine, &threads, &excepted);
        assert_int_equal(excepted, 0);
        for (uint32_t i = 0; i < THREADS; i++) {
            const uint64_t thread = UINT64_C(1) << i;
            const uint32_t item = item_of(bench, thread);

            assert_int_equal(bench_pc(bench, thread), at);
            assert_int_equal(bench_causes(bench, thread), ZETA_VGPU_CAUSE_BREAK);
            assert_int_equal(bench_get(bench, thread, ZETA_VGPU_REGISTERS_X, T0), 2);
            assert_int_equal(bench_get(bench, thread, ZETA_VGPU_REGISTERS_CE, 0), 1);
            assert_int_equal(bench_get(bench, thread, ZETA_VGPU_REGISTERS_ID, 6), i);
            assert_int_equal(bench_get(bench, thread, ZETA_VGPU_REGISTERS_ID, 7), i / 4);
            seen[item]++;
            bench_put(bench, thread, ZETA_VGPU_REGISTERS_X, T0, item + 100);
        }
        /* The bytes are still there: it stops again. */
        bench_go_on(bench, 1);
        assert_int_equal(bench_wait_stopped(bench, THREADS), ALL);
        assert_int_equal(bench_pc(bench, 1), at);
        /* As long as one is stopped that a halt was for nothing new begins. */
        bench_halt(bench, ALL);
        assert_int_equal(bench_causes(bench, 4), ZETA_VGPU_CAUSE_BREAK);
        for (uint32_t i = 0; i < THREADS; i++)
            bench_put(bench, UINT64_C(1) << i, ZETA_VGPU_REGISTERS_PC, 0, at + 4);
        for (uint32_t i = 0; i < THREADS; i++)
            items[i] = item_of(bench, UINT64_C(1) << i);
        bench_go_on(bench, ALL & ~4);
        for (uint32_t i = 0; i < THREADS; i++) {
            while (i != 2 && __atomic_load_n(&out[items[i]], __ATOMIC_RELAXED) == 0)
                sched_yield();
        }
        assert_int_equal(bench_stopped(bench), 4);
        bench_go_on(bench, 4);
    }
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    for (uint32_t i = 0; i < 4 * THREADS; i++) {
        assert_int_equal(seen[i], 1);
        assert_int_equal(out[i], i + 100);
    }
}

/* Rule 27.22. */
static void breakpoint_register__resumed__goes_on_behind_it(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = bench_place(bench, "walk_at") + 4;
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
    bench_launch(bench, "walk", arguments, 4 * THREADS, 1);
    for (uint32_t wave = 0; wave < 4; wave++) {
        assert_int_equal(bench_wait_stopped(bench, THREADS), ALL);
        for (uint32_t i = 0; i < THREADS; i++) {
            const uint64_t thread = UINT64_C(1) << i;

            assert_int_equal(bench_pc(bench, thread), at);
            assert_int_equal(bench_get(bench, thread, ZETA_VGPU_REGISTERS_X, T0), 1);
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
        bench_resume(bench, 8);
        assert_int_equal(bench_wait_stopped(bench, THREADS), ALL);
        assert_int_equal(bench_pc(bench, 8), at);
        control[0] = ZETA_VGPU_CONTROL_SUPPRESS;
        control[1] = ZETA_VGPU_CAUSE_BREAK;
        assert_true(zeta_vgpu_debug_registers(bench->rig.engine, 3, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                              control, true));
        bench_resume(bench, 8);
        assert_int_equal(bench_wait_stopped(bench, THREADS), ALL);
        assert_int_equal(bench_pc(bench, 8), at + 4);
        assert_int_equal(bench_causes(bench, 8), ZETA_VGPU_CAUSE_BREAK);
        bench_go_on(bench, 8);
        /* One that is halted before it could go on does not stop there twice. */
        bench_resume(bench, ALL & ~8);
        bench_halt(bench, ALL);
        for (uint32_t i = 0; i < THREADS; i++) {
            if (bench_causes(bench, UINT64_C(1) << i) == ZETA_VGPU_CAUSE_HALT)
                bench_resume(bench, UINT64_C(1) << i);
        }
        assert_int_equal(bench_wait_stopped(bench, THREADS), ALL);
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(bench_pc(bench, UINT64_C(1) << i), at + 8);
            assert_int_equal(bench_causes(bench, UINT64_C(1) << i), ZETA_VGPU_CAUSE_BREAKPOINT);
        }
        bench_resume(bench, ALL);
    }
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
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
    const uint64_t barrier = bench_place(bench, "meet_at") + 12,
                   store = bench_place(bench, "meet_at") + 4;
    const uint64_t all = (UINT64_C(1) << 4) - 1;

    zeta_vgpu_debug_break(bench->rig.engine, 0, barrier);
    zeta_vgpu_debug_break(bench->rig.engine, 1, store);
    zeta_vgpu_debug_watch(bench->rig.engine, 0, (uintptr_t)bench->rig.memory, 4,
                          ZETA_VGPU_WATCHPOINT_WRITE);
    bench_launch(bench, "meet", arguments, 1, 4);
    assert_int_equal(__builtin_popcountll(bench_wait_stopped(bench, 4)), 4);
    bench_resume(bench, ALL);
    /* The first work-item met the watchpoint behind its store, the others wait at the barrier. */
    for (bool met = false; !met;) {
        const uint64_t threads = bench_wait_stopped(bench, 4);

        met = true;
        for (uint64_t left = threads; left != 0; left &= left - 1) {
            const uint64_t thread = bench_lowest(left);

            if (bench_pc(bench, thread) == store + 4) {
                assert_int_equal(bench_causes(bench, thread), ZETA_VGPU_CAUSE_WATCH);
                bench_resume(bench, thread);
                met = false;
            } else {
                assert_int_equal(bench_causes(bench, thread), ZETA_VGPU_CAUSE_BREAKPOINT);
                assert_int_equal(bench_pc(bench, thread), barrier);
            }
        }
    }
    zeta_vgpu_debug_watch(bench->rig.engine, 0, 0, 0, 0);
    bench_resume(bench, all | ALL);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
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
    bench_launch(bench, "count_up", &counting, THREADS, 1);
    assert_int_equal(bench_wait_stopped(bench, THREADS), ALL);
    zeta_vgpu_debug_break(bench->rig.engine, 0, 0);
    bench_resume(bench, ALL);
    for (uint32_t i = 0; i < THREADS; i++)
        wait_counted(bench, i, 1000);
    (void)bench_halt(bench, ALL);
    assert_int_equal(bench_stopped(bench), ALL);
    stop_counting(&counting);
    bench_resume(bench, ALL);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
}

/* Rule 27.22. */
static void breakpoint_register__removed_or_ended__is_not_there(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = bench_place(bench, "walk_at") + 8;
    void *arguments[] = {bench->rig.memory};

    zeta_vgpu_debug_break(bench->rig.engine, 127, at);
    bench_launch(bench, "walk", arguments, 1, 1);
    assert_int_equal(bench_wait_stopped(bench, 1), 1);
    zeta_vgpu_debug_break(bench->rig.engine, 127, 0);
    bench_resume(bench, 1);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 1, 1), ZETA_VGPU_OK);
    zeta_vgpu_debug_break(bench->rig.engine, 0, at);
    zeta_vgpu_debug_end(bench->rig.engine);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 1, 1), ZETA_VGPU_OK);
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
    word = bench_write_code(bench, entry, EBREAK);
    bench_launch(bench, "meet", arguments, 1, 1);
    assert_int_equal(bench_wait_stopped(bench, 1), 1);
    (void)bench_write_code(bench, entry, word);
    for (;;) {
        const uint64_t pc = bench_pc(bench, 1);
        uint64_t before;

        pthread_mutex_lock(&bench->lock);
        before = bench->changes;
        pthread_mutex_unlock(&bench->lock);
        bench_begin_step(bench, 1);
        steps++;
        pthread_mutex_lock(&bench->lock);
        while (bench->changes == before)
            pthread_cond_wait(&bench->changed, &bench->lock);
        pthread_mutex_unlock(&bench->lock);
        if (bench_stopped(bench) == 0)
            break;
        assert_int_equal(bench_causes(bench, 1), ZETA_VGPU_CAUSE_BREAK);
        assert_int_not_equal(bench_pc(bench, 1), pc);
    }
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    assert_int_equal(steps, instructions);
    assert_int_equal(rig_counter(&bench->rig, ZETA_VGPU_INST_RETIRED), 2 * instructions);
    assert_int_equal(*(uint32_t *)bench->rig.memory, 2);
}

static void step__at_ebreak__stops_there_again(void **state)
{
    struct bench *bench = *state;
    void *arguments[] = {bench->rig.memory};
    const uint64_t at = bench_place(bench, "walk_at");

    (void)bench_write_code(bench, at, EBREAK);
    bench_launch(bench, "walk", arguments, 1, 1);
    assert_int_equal(bench_wait_stopped(bench, 1), 1);
    bench_begin_step(bench, 1);
    assert_int_equal(bench_wait_stopped(bench, 1), 1);
    assert_int_equal(bench_pc(bench, 1), at);
    bench_put(bench, 1, ZETA_VGPU_REGISTERS_PC, 0, at + 4);
    bench_begin_step(bench, 1);
    assert_int_equal(bench_wait_stopped(bench, 1), 1);
    assert_int_equal(bench_pc(bench, 1), at + 8);
    bench_go_on(bench, 1);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
}

static bool waits_at_barrier(struct bench *bench, uint64_t thread)
{
    return bench_get(bench, thread, ZETA_VGPU_REGISTERS_ID, 8) != 0;
}

static void barrier__some_stopped__waits_for_them(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = bench_place(bench, "meet_at");
    volatile uint32_t *out = (volatile uint32_t *)bench->rig.memory;
    void *arguments[] = {bench->rig.memory};
    uint32_t word;

    word = bench_write_code(bench, at, EBREAK);
    bench_launch(bench, "meet", arguments, 1, 4);
    assert_int_equal(bench_wait_stopped(bench, 4), FIRST_SUBSLICE);
    (void)bench_write_code(bench, at, word);
    /* Three arrive; one of them steps into the barrier. */
    bench_go_on(bench, 0x6);
    for (uint64_t pc = at; pc < at + 12; pc += 4) {
        assert_int_equal(bench_pc(bench, 8), pc);
        bench_begin_step(bench, 8);
        assert_int_equal(bench_wait_stopped(bench, 2), 0x9);
    }
    bench_begin_step(bench, 8);
    assert_int_equal(bench_stopped(bench), 1);
    /* A halt ends the wait of the step, not that of the thread. */
    bench_halt(bench, 8);
    while (bench_pc(bench, 8) == at + 12) { /* it had not begun */
        bench_begin_step(bench, 8);
        bench_halt(bench, 8);
    }
    assert_int_equal(bench_causes(bench, 8), ZETA_VGPU_CAUSE_HALT);
    assert_int_equal(bench_pc(bench, 8), at + 16);
    assert_true(waits_at_barrier(bench, 8));
    assert_false(waits_at_barrier(bench, 1));
    bench_begin_step(bench, 8);
    assert_int_equal(bench_stopped(bench), 1);
    /* Another is held where it waits. */
    bench_halt(bench, 2);
    while (bench_pc(bench, 2) != at + 16) {
        bench_go_on(bench, 2);
        bench_halt(bench, 2);
    }
    assert_true(waits_at_barrier(bench, 2));
    /* The last one steps in: it and the stepping one stop behind, the held one stays. */
    for (uint32_t i = 0; i < 3; i++) {
        bench_begin_step(bench, 1);
        assert_int_equal(bench_wait_stopped(bench, 2), 0x3);
    }
    assert_int_equal(out[0], 1);
    bench_begin_step(bench, 1);
    assert_int_equal(bench_wait_stopped(bench, 3), 0xb);
    for (uint64_t left = 0xb; left != 0; left &= left - 1) {
        assert_int_equal(bench_pc(bench, bench_lowest(left)), at + 16);
        assert_false(waits_at_barrier(bench, bench_lowest(left)));
    }
    assert_int_equal(bench_causes(bench, 1), ZETA_VGPU_CAUSE_BREAK);
    assert_int_equal(bench_causes(bench, 2), ZETA_VGPU_CAUSE_HALT);
    assert_int_equal(bench_causes(bench, 8), ZETA_VGPU_CAUSE_BREAK);
    bench_go_on(bench, 0xb);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(out[i], 2);
}

static void interrupt__all_stopped__ends_the_launch(void **state)
{
    struct bench *bench = *state;
    struct counting counting;
    void *arguments[] = {bench->rig.memory};

    begin_counting(bench, &counting);
    bench_halt(bench, ALL);
    atomic_store(&bench->interrupt, true);
    zeta_vgpu_engine_wake(bench->rig.engine);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_INTERRUPTED);
    assert_int_equal(bench_stopped(bench), 0);
    atomic_store(&bench->interrupt, false);
    bench_resume(bench, ALL);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 40, 1), ZETA_VGPU_OK);
}

static void interrupt__some_stopped__ends_the_launch(void **state)
{
    struct bench *bench = *state;
    struct counting counting;
    void *arguments[] = {bench->rig.memory};

    begin_counting(bench, &counting);
    bench_halt(bench, FIRST_SUBSLICE | 0x10);
    atomic_store(&bench->interrupt, true);
    zeta_vgpu_engine_wake(bench->rig.engine);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_INTERRUPTED);
    atomic_store(&bench->interrupt, false);
    assert_int_equal(rig_run(&bench->rig, "walk", arguments, 40, 1), ZETA_VGPU_OK);
}

static void end__threads_stopped_and_stepping__all_run(void **state)
{
    struct bench *bench = *state;
    struct counting counting;

    for (uint32_t i = 0; i < 20; i++) {
        begin_counting(bench, &counting);
        bench_halt(bench, ALL);
        bench_begin_step(bench, 0x3333);
        zeta_vgpu_debug_end(bench->rig.engine);
        stop_counting(&counting);
        assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
        memset(bench->rig.memory, 0, RIG_MEMORY_BYTES);
        bench_attach(bench);
        assert_int_equal(bench_stopped(bench), 0);
    }
}

/* A debugger that does everything, again and again, while launches come and go. */
static void debugger__beside_launches__changes_no_result(void **state)
{
    struct bench *bench = *state;
    struct zeta_vgpu_engine *engine = bench->rig.engine;
    uint64_t *out = (uint64_t *)bench->rig.memory;
    void *arguments[] = {out};
    const uint64_t at = bench_place(bench, "walk_at");
    uint64_t value;

    for (uint32_t i = 0; i < 20; i++) {
        memset(out, 0, 300 * sizeof(*out));
        bench_launch(bench, "walk", arguments, 300, 1);
        for (uint32_t k = 0; k < 10; k++) {
            const uint32_t word = bench_write_code(bench, at, EBREAK);

            zeta_vgpu_debug_watch(engine, 0, (uintptr_t)&out[k], 8, ZETA_VGPU_WATCHPOINT_WRITE);
            bench_halt(bench, 0xf0f);
            (void)zeta_vgpu_debug_registers(engine, k, ZETA_VGPU_REGISTERS_PC, 0, 1, &value, false);
            (void)bench_write_code(bench, at, word);
            zeta_vgpu_debug_watch(engine, 0, 0, 0, 0);
            bench_go_on(bench, bench_stopped(bench));
        }
        assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
        for (uint32_t k = 0; k < 300; k++)
            assert_int_equal(out[k], 3);
    }
}
SUITE(engine_debug)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(halt__spinning_threads__stops_those_of_the_mask),
        BENCH_TEST(halt__all_again_and_again__loses_nothing),
        BENCH_TEST(halt__nothing_runs__stops_nothing),
        BENCH_TEST(breakpoint__more_groups_than_threads__stop_wave_by_wave),
        BENCH_TEST(breakpoint_register__resumed__goes_on_behind_it),
        BENCH_TEST(breakpoint_register__on_any_instruction__is_passed),
        cmocka_unit_test_setup_teardown(breakpoint_register__before_a_loop__halts_in_it,
                                        bench_open_fast, bench_close),
        BENCH_TEST(breakpoint_register__removed_or_ended__is_not_there),
        BENCH_TEST(step__whole_kernel__is_each_instruction),
        BENCH_TEST(step__at_ebreak__stops_there_again),
        BENCH_TEST(barrier__some_stopped__waits_for_them),
        BENCH_TEST(interrupt__all_stopped__ends_the_launch),
        BENCH_TEST(interrupt__some_stopped__ends_the_launch),
        BENCH_TEST(end__threads_stopped_and_stepping__all_run),
        BENCH_TEST(debugger__beside_launches__changes_no_result),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
