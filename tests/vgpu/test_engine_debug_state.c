/* What a debugger sees and changes of a stopped kernel: faults, registers, memory and code. */
#include "debug_bench.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <string.h>

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

        bench_launch(bench, faults[i].kernel, faults[i].arguments, 1, 1);
        assert_int_equal(bench_wait_stopped(bench, 1), 1);
        assert_int_equal(bench_causes(bench, 1), faults[i].cause);
        assert_true(zeta_vgpu_debug_fault(bench->rig.engine, 0, &fault));
        assert_int_equal(fault.reason, faults[i].reason);
        assert_non_null(strstr(fault.message.text, faults[i].kernel));
        pc = bench_pc(bench, 1);
        assert_int_equal(fault.pc, pc);
        assert_true(zeta_vgpu_debug_registers(bench->rig.engine, 0, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                              control, false));
        assert_memory_equal(&control[2], &fault.address, sizeof(fault.address));
        if (faults[i].address > 1)
            assert_int_equal(fault.address, faults[i].address);
        /* It is still so. */
        bench_go_on(bench, 1);
        assert_int_equal(bench_wait_stopped(bench, 1), 1);
        assert_int_equal(bench_pc(bench, 1), pc);
        /* Without a debugger the launch ends by it. */
        zeta_vgpu_debug_end(bench->rig.engine);
        assert_int_equal(bench_finish(bench), ZETA_VGPU_FAULT);
        assert_int_equal(bench->rig.fault.reason, faults[i].reason);
        assert_int_equal(bench->rig.fault.pc, pc);
        bench_attach(bench);
    }
}

static void fault__mended__goes_on(void **state)
{
    struct bench *bench = *state;
    struct zeta_vgpu_fault fault;

    bench_launch(bench, "illegal", NULL, 3, 1);
    assert_cmp(bench_wait_stopped(bench, 3), !=, 0);
    (void)bench_write_code(bench, bench_pc(bench, bench_lowest(bench_stopped(bench))), NOP);
    bench_go_on(bench, bench_stopped(bench));
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    assert_false(zeta_vgpu_debug_fault(bench->rig.engine, 0, &fault));
    assert_false(zeta_vgpu_debug_fault(bench->rig.engine, UINT32_MAX, &fault));
}

static void ids__next_launch__has_the_next_number(void **state)
{
    struct bench *bench = *state;
    void *arguments[] = {bench->rig.memory};

    for (uint32_t i = 1; i <= 3; i++) {
        bench_stop_at_entry(bench, "walk", arguments);
        assert_int_equal(bench_get(bench, 1, ZETA_VGPU_REGISTERS_ID, 9), i);
        bench_go_on(bench, 1);
        assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    }
}

/* Any pattern is kept; what it means is seen when the thread goes on. */
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

    bench_stop_at_entry(bench, "walk", arguments);
    pc = bench_pc(bench, 1);
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

        bench_put(bench, 1, ZETA_VGPU_REGISTERS_PC, 0, bad[odd]);
        bench_go_on(bench, 1);
        assert_int_equal(bench_wait_stopped(bench, 1), 1);
        assert_int_equal(bench_causes(bench, 1), ZETA_VGPU_CAUSE_FAULT);
        assert_int_equal(bench_pc(bench, 1), bad[odd]);
        assert_true(zeta_vgpu_debug_fault(engine, 0, &fault));
        assert_int_equal(fault.reason, ZETA_VGPU_FAULT_FETCH);
        assert_int_equal(fault.address, bad[odd]);
    }
    bench_put(bench, 1, ZETA_VGPU_REGISTERS_PC, 0, pc);
    bench_go_on(bench, 1);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    assert_int_equal(*(uint64_t *)bench->rig.memory, 3);
}

static void memory__each_kind__is_all_or_nothing(void **state)
{
    static const uint32_t local_bytes[] = {0, 256};
    struct bench *bench = *state;
    struct zeta_vgpu_engine *engine = bench->rig.engine;
    const uint64_t at = bench_place(bench, "touch_at"), data = (uintptr_t)bench->rig.memory;
    struct {
        void *data, *scratch;
    } arguments = {bench->rig.memory, NULL};
    uint64_t window, sp;
    uint32_t value;
    unsigned char bytes[600];

    (void)bench_write_code(bench, at, EBREAK);
    bench_launch_local(bench, "touch", &arguments, local_bytes, 2, 1);
    assert_int_equal(bench_wait_stopped(bench, 2), 0x11);
    window = bench_get(bench, 1, ZETA_VGPU_REGISTERS_X, 10); /* a1 */
    sp = bench_get(bench, 1, ZETA_VGPU_REGISTERS_X, 1);
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
        bench_put(bench, thread, ZETA_VGPU_REGISTERS_PC, 0, at + 4);
    bench_go_on(bench, 0x11);
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
}

/* Writes that begin and end inside an instruction, while all threads execute it. */
static void code__written_while_it_runs__is_executed(void **state)
{
    struct bench *bench = *state;
    const uint64_t at = bench_place(bench, "circle_at");
    unsigned char bytes[4], nop[4] = {NOP & 0xff, 0, 0, 0};

    bench_launch(bench, "circle", NULL, THREADS, 1);
    bench_halt(bench, 0);
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 4, bytes, false));
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 1, bytes, true));
    assert_true(
        zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at + 1, 3, bytes + 1, true));
    /* All at once: parts of the two are other instructions. */
    assert_true(zeta_vgpu_debug_memory(bench->rig.engine, UINT32_MAX, false, at, 4, nop, true));
    assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
}

/* Where a thread of the kernel "touch" stops with watches; it is resumed each time. */
static void expect_watch(struct bench *bench, uint64_t pc, uint64_t address)
{
    uint32_t control[4];

    assert_int_equal(bench_wait_stopped(bench, 1), 1);
    assert_int_equal(bench_causes(bench, 1), ZETA_VGPU_CAUSE_WATCH);
    assert_int_equal(bench_pc(bench, 1), pc);
    assert_true(zeta_vgpu_debug_registers(bench->rig.engine, 0, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                          control, false));
    assert_memory_equal(&control[2], &address, sizeof(address));
    bench_go_on(bench, 1);
}

static void watch__accesses__stop_behind_them(void **state)
{
    static const uint32_t local_bytes[] = {0, 256};
    struct bench *bench = *state;
    struct zeta_vgpu_engine *engine = bench->rig.engine;
    const uint64_t at = bench_place(bench, "touch_at"), data = (uintptr_t)bench->rig.memory;
    struct {
        void *data, *scratch;
    } arguments = {bench->rig.memory, NULL};
    uint64_t window = 0, sp = 0;

    for (uint32_t round = 0; round < 2; round++) {
        const uint32_t word = bench_write_code(bench, at, EBREAK);

        bench_launch_local(bench, "touch", &arguments, local_bytes, 1, 1);
        assert_int_equal(bench_wait_stopped(bench, 1), 1);
        (void)bench_write_code(bench, at, word);
        window = bench_get(bench, 1, ZETA_VGPU_REGISTERS_X, 10);
        sp = bench_get(bench, 1, ZETA_VGPU_REGISTERS_X, 1);
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
            bench_go_on(bench, 1);
            expect_watch(bench, at + 4, data);
            expect_watch(bench, at + 8, data + 64);
            expect_watch(bench, at + 16, data + 128);
            expect_watch(bench, at + 28, data + 192);
            expect_watch(bench, at + 32, window + 4);
            expect_watch(bench, at + 36, sp - 8);
        } else {
            /* A step onto one is both. Taken away, they stop nobody. */
            bench_begin_step(bench, 1);
            assert_int_equal(bench_wait_stopped(bench, 1), 1);
            assert_int_equal(bench_causes(bench, 1), ZETA_VGPU_CAUSE_WATCH | ZETA_VGPU_CAUSE_BREAK);
            assert_int_equal(bench_pc(bench, 1), at + 4);
            for (uint32_t i = 0; i < ZETA_VGPU_WATCHPOINTS; i++)
                zeta_vgpu_debug_watch(engine, i, 0, 0, 0);
            bench_go_on(bench, 1);
        }
        assert_int_equal(bench_finish(bench), ZETA_VGPU_OK);
    }
}

SUITE(engine_debug_state)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(ids__next_launch__has_the_next_number),
        BENCH_TEST(registers__stopped__keep_any_pattern),
        BENCH_TEST(memory__each_kind__is_all_or_nothing),
        BENCH_TEST(code__written_while_it_runs__is_executed),
        BENCH_TEST(watch__accesses__stop_behind_them),
        cmocka_unit_test_setup_teardown(fault__each_kind__stops_the_thread, bench_open_faults,
                                        bench_close),
        cmocka_unit_test_setup_teardown(fault__mended__goes_on, bench_open_faults, bench_close),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
