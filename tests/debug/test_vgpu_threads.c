/* Debugging a process on the virtual GPU: threads, breakpoints, registers, memory, watchpoints. */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/vgpu_debug.h>

#include "debuggee.h"
#include "tests/forked.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const uint32_t ebreak = 0x00100073;

/* The stop of a single thread. */
static ze_device_thread_t expect_stop(const struct bench *bench)
{
    const zet_debug_event_t event =
        debugger_expect(bench->session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);

    assert_cmp(event.info.thread.thread.thread, !=, ANY);
    return event.info.thread.thread;
}

static uint64_t get(const struct bench *bench, ze_device_thread_t thread, uint32_t type,
                    uint32_t index)
{
    uint64_t value[2] = {0, 0};

    EXPECT_OK(zetDebugReadRegisters(bench->session, thread, type, index, 1, value));
    return value[0];
}

static uint32_t causes(const struct bench *bench, ze_device_thread_t thread)
{
    return (uint32_t)(get(bench, thread, ZETA_VGPU_REGISTERS_CR, 0) >> 32);
}

static void set_causes(const struct bench *bench, ze_device_thread_t thread, uint32_t value)
{
    uint32_t words[4] = {0, value, 0, 0};

    EXPECT_OK(zetDebugWriteRegisters(bench->session, thread, ZETA_VGPU_REGISTERS_CR, 0, 1, words));
}

/* Rule 27.6. */
static void interrupt__spinning_kernel__stops_and_goes_on(void **state)
{
    struct bench b = bench_start(0);
    zet_debug_event_t event;
    ze_device_thread_t thread;

    (void)state;
    EXPECT_OK(zetDebugInterrupt(b.session, everything));
    (void)debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE);
    spin(&b);
    interrupt(&b);
    thread = find_stopped(&b);
    assert_true((causes(&b, thread) & ZETA_VGPU_CAUSE_HALT) != 0);
    EXPECT_RESULT(zetDebugReadEvent(b.session, 0, &event), ZE_RESULT_NOT_READY);
    EXPECT_OK(zetDebugResume(b.session, everything));
    EXPECT_RESULT(zetDebugResume(b.session, everything), ZE_RESULT_ERROR_NOT_AVAILABLE);
    end_spin(&b);
    bench_end(&b);
}

/* Rule 27.3. */
static void detach__threads_stopped__they_go_on(void **state)
{
    struct bench b = bench_start(0);

    (void)state;
    spin(&b);
    interrupt(&b);
    EXPECT_OK(zetDebugDetach(b.session));
    b.session = debugger_attach(b.debuggee.pid);
    (void)debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    (void)debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    end_spin(&b);
    bench_end(&b);
}

/* Rule 27.3. */
static void debugger__killed_with_stopped_threads__they_go_on(void **state)
{
    struct bench b = bench_start(0);
    pid_t child;
    int status;

    (void)state;
    spin(&b);
    EXPECT_OK(zetDebugDetach(b.session));
    child = fork_child();
    if (child == 0) {
        b.session = debugger_attach(b.debuggee.pid);
        (void)debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
        (void)debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        interrupt(&b);
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    b.session = debugger_attach(b.debuggee.pid);
    end_spin(&b);
    bench_end(&b);
}

/* Breakpoint, what can be seen there, step, and on. */
static void breakpoint__in_a_function__registers_memory_and_step(void **state)
{
    struct bench b = bench_start(0);
    zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                          .type = ZET_DEBUG_MEMORY_SPACE_TYPE_SLM};
    uint32_t code, word, table[16];
    ze_device_thread_t thread;

    (void)state;
    debugger_read(b.session, b.function, sizeof(code), &code);
    debugger_write(b.session, b.function, sizeof(ebreak), &ebreak);
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_LOCAL);
    thread = expect_stop(&b);
    assert_int_equal(causes(&b, thread), ZETA_VGPU_CAUSE_BREAK);
    assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_PC, 0), b.function);
    assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_ID, 3), 3); /* local id x */
    assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_X, 10), 5); /* a1: the index */
    EXPECT_OK(zetDebugReadMemory(b.session, thread, &desc, sizeof(table), table));
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(table[i], 0x1000 + i);
    /* The same as the thread sees it: a0 points there. */
    desc.type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT;
    desc.address = get(&b, thread, ZETA_VGPU_REGISTERS_X, 9) + 20;
    EXPECT_OK(zetDebugReadMemory(b.session, thread, &desc, sizeof(word), &word));
    assert_int_equal(word, 0x1005);
    word = 77;
    EXPECT_OK(zetDebugWriteMemory(b.session, thread, &desc, sizeof(word), &word));

    debugger_write(b.session, b.function, sizeof(code), &code);
    set_causes(&b, thread, ZETA_VGPU_CAUSE_BREAK);
    EXPECT_OK(zetDebugResume(b.session, thread));
    thread = expect_stop(&b);
    assert_true((causes(&b, thread) & ZETA_VGPU_CAUSE_BREAK) != 0);
    assert_cmp(get(&b, thread, ZETA_VGPU_REGISTERS_PC, 0), !=, b.function);
    set_causes(&b, thread, 0);
    EXPECT_OK(zetDebugResume(b.session, everything));
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_READ_FLAG, 0), 77);
    bench_end(&b);
}

/* Rule 27.22. Breakpoint registers leave code alone, are passed, and end with the session. */
static void breakpoint_register__in_a_function__stops_and_is_passed(void **state)
{
    struct bench b = bench_start(0);
    const uint64_t at = ZETA_VGPU_BREAKPOINTS_ADDRESS + (ZETA_VGPU_BREAKPOINTS - 1) * 8;
    zet_debug_memory_space_desc_t beyond = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                            .address = at + 4};
    uint32_t before, after;
    ze_device_thread_t thread;
    uint64_t set;

    (void)state;
    debugger_read(b.session, b.function, sizeof(before), &before);
    debugger_write(b.session, at, sizeof(b.function), &b.function);
    debugger_read(b.session, at, sizeof(set), &set);
    assert_int_equal(set, b.function);
    debugger_read(b.session, b.function, sizeof(after), &after);
    assert_int_equal(after, before);
    EXPECT_RESULT(zetDebugReadMemory(b.session, everything, &beyond, 8, &set),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    for (uint32_t i = 0; i < 2; i++) {
        (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_LOCAL);
        thread = expect_stop(&b);
        assert_int_equal(causes(&b, thread), ZETA_VGPU_CAUSE_BREAKPOINT);
        assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_PC, 0), b.function);
        EXPECT_OK(zetDebugResume(b.session, thread));
        assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
    }
    EXPECT_OK(zetDebugDetach(b.session));
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_LOCAL);
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
    b.session = debugger_attach(b.debuggee.pid);
    debugger_read(b.session, at, sizeof(set), &set);
    assert_int_equal(set, 0);
    bench_end(&b);
}

/* Any pattern is kept in what can be written. */
static void registers__stopped_thread__hold_any_pattern(void **state)
{
    struct bench b = bench_start(0);
    zet_debug_regset_properties_t sets[8] = {0}, of_thread[8] = {0};
    uint8_t before[256], pattern[256], after[256];
    ze_device_thread_t thread;
    uint32_t count = 8;

    (void)state;
    memset(pattern, 0xaa, sizeof(pattern));
    spin(&b);
    interrupt(&b);
    thread = find_stopped(&b);
    EXPECT_OK(zetDebugGetRegisterSetProperties(debugger_device(), &count, sets));
    assert_int_equal(count, 7);
    assert_int_equal(sets[2].type, ZETA_VGPU_REGISTERS_PC);
    EXPECT_OK(zetDebugGetThreadRegisterSetProperties(b.session, thread, &count, of_thread));
    assert_int_equal(count, 7);
    assert_memory_equal(of_thread, sets, sizeof(sets));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t type = sets[i].type, n = sets[i].count;

        EXPECT_OK(zetDebugReadRegisters(b.session, thread, type, 0, n, before));
        if ((sets[i].generalFlags & ZET_DEBUG_REGSET_FLAG_WRITEABLE) == 0)
            continue;
        EXPECT_OK(zetDebugWriteRegisters(b.session, thread, type, 0, n, pattern));
        EXPECT_OK(zetDebugReadRegisters(b.session, thread, type, 0, n, after));
        assert_memory_equal(after, pattern, (size_t)n * sets[i].byteSize);
        EXPECT_OK(zetDebugWriteRegisters(b.session, thread, type, 0, n, before));
    }
    EXPECT_OK(zetDebugResume(b.session, everything));
    end_spin(&b);
    bench_end(&b);
}

/* Rule 27.12: a device without memory of barriers says so. */
static void memory__of_barriers__unsupported(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer does not know the space");
    const zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                .type = ZET_DEBUG_MEMORY_SPACE_TYPE_BARRIER};
    struct bench b = bench_start(0);
    ze_device_thread_t thread;
    uint64_t word = 77;

    (void)state;
    spin(&b);
    interrupt(&b);
    thread = find_stopped(&b);
    EXPECT_RESULT(zetDebugReadMemory(b.session, thread, &desc, sizeof(word), &word),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_RESULT(zetDebugWriteMemory(b.session, thread, &desc, sizeof(word), &word),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(word, 77);
    EXPECT_OK(zetDebugResume(b.session, everything));
    end_spin(&b);
    bench_end(&b);
}

/* The number of the thread that faulted, from a core dump: pr_pid of the first note. */
static int32_t faulted_number(const char *path)
{
    enum { OFFSET = 12 + 8 + 32 };
    FILE *file = fopen(path, "rb");
    Elf64_Ehdr header;
    Elf64_Phdr notes;
    int32_t number;

    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
    assert_int_equal(fread(&notes, sizeof(notes), 1, file), 1);
    assert_int_equal(fseek(file, (long)notes.p_offset + OFFSET, SEEK_SET), 0);
    assert_int_equal(fread(&number, sizeof(number), 1, file), 1);
    (void)fclose(file);
    return number;
}

/* A thread that is held at a barrier does not wait any more once the last one has come, which says
 * nothing to the debugger. */
static void registers__others_come_to_the_barrier__seen(void **state)
{
    struct bench b = bench_start(0);
    ze_device_thread_t thread;

    (void)state;
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_MEET);
    while (debuggee_do(&b.debuggee, DEBUGGEE_READ_FLAG, 0) == 0)
        ;
    for (uint64_t waits = 0; waits == 0;) {
        interrupt(&b);
        thread = find_stopped(&b);
        thread.eu++;
        assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_ID, 3), 1); /* local id x */
        waits = get(&b, thread, ZETA_VGPU_REGISTERS_ID, 8);
        EXPECT_OK(zetDebugResume(b.session, everything));
    }
    EXPECT_OK(zetDebugInterrupt(b.session, thread));
    (void)expect_stop(&b);
    assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_ID, 8), 1);
    (void)debuggee_do(&b.debuggee, DEBUGGEE_CLEAR_FLAG, 0);
    while (get(&b, thread, ZETA_VGPU_REGISTERS_ID, 8) != 0)
        ;
    EXPECT_OK(zetDebugResume(b.session, thread));
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
    bench_end(&b);
}

/* Rule 27.10. */
static void fault__while_attached__stops_its_thread_and_leaves_a_core_dump_later(void **state)
{
    struct bench b = bench_start(2);
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    char path[512];
    zet_debug_event_t event;
    ze_device_thread_t thread;

    (void)state;
    EXPECT_OK(zeDeviceGetProperties(debugger_device(), &p));
    (void)snprintf(path, sizeof(path), "%s/zeta-core-%.32s-%d-0",
                   getenv("ZETA_PLUGIN_VGPU_CORE_DIR"), program_invocation_short_name,
                   (int)b.debuggee.pid);
    (void)unlink(path);
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_FAULT);
    event = debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_PAGE_FAULT);
    assert_int_equal(event.info.page_fault.address, 0x12345000);
    assert_int_equal(event.info.page_fault.mask, ~UINT64_C(0xfff));
    assert_int_equal(event.info.page_fault.reason, ZET_DEBUG_PAGE_FAULT_REASON_MAPPING_ERROR);
    thread = expect_stop(&b);
    assert_true((causes(&b, thread) & ZETA_VGPU_CAUSE_FAULT) != 0);
    EXPECT_OK(zetDebugResume(b.session, thread));
    (void)debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_PAGE_FAULT);
    (void)expect_stop(&b);
    /* A core dump is for those who have no debugger. */
    assert_int_equal(access(path, F_OK), -1);
    EXPECT_OK(zetDebugDetach(b.session));
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_ERROR_DEVICE_LOST);
    /* Its threads have the numbers that debuggers give them. */
    assert_cmp(thread.slice, >=, p.numSlices / 2);
    assert_int_equal(
        faulted_number(path),
        2 +
            ((thread.slice * p.numSubslicesPerSlice + thread.subslice) * p.numEUsPerSubslice +
             thread.eu) *
                p.numThreadsPerEU +
            thread.thread);
    assert_int_equal(unlink(path), 0);
    debuggee_finish(&b.debuggee);
}

/* A process ends, and says so, whatever its threads do. */
static void process__exits_with_stopped_threads__ends(void **state)
{
    struct bench b = bench_start(0);

    (void)state;
    spin(&b);
    interrupt(&b);
    /* The queue goes with the process: nobody may destroy one that still works. */
    debuggee_finish(&b.debuggee);
    (void)debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_DETACHED);
    EXPECT_OK(zetDebugDetach(b.session));
}

/* Rule 27.21. The registers of watchpoints can be used in any part, and end with the session. */
static void watchpoint__written_memory__stops_the_writer(void **state)
{
    struct bench b = bench_start(0);
    struct zeta_vgpu_watchpoint points[ZETA_VGPU_WATCHPOINTS];
    const uint64_t at = ZETA_VGPU_WATCHPOINTS_ADDRESS + 2 * sizeof(points[0]);
    zet_debug_memory_space_desc_t beyond = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                            .address =
                                                ZETA_VGPU_WATCHPOINTS_ADDRESS + sizeof(points) - 4};
    const uint64_t bytes = 4, kinds = ZETA_VGPU_WATCHPOINT_WRITE;
    ze_device_thread_t thread;

    (void)state;
    debugger_write(b.session, at, 8, &b.flag);
    debugger_write(b.session, at + 8, 8, &bytes);
    debugger_write(b.session, at + 16, 8, &kinds);
    debugger_read(b.session, ZETA_VGPU_WATCHPOINTS_ADDRESS, sizeof(points), points);
    assert_int_equal(points[2].address, b.flag);
    assert_int_equal(points[2].kinds, kinds);
    assert_int_equal(points[1].kinds, 0);
    EXPECT_RESULT(zetDebugReadMemory(b.session, everything, &beyond, 8, points),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_LOCAL);
    thread = expect_stop(&b);
    assert_true((causes(&b, thread) & ZETA_VGPU_CAUSE_WATCH) != 0);
    EXPECT_OK(zetDebugDetach(b.session));
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
    b.session = debugger_attach(b.debuggee.pid);
    debugger_read(b.session, ZETA_VGPU_WATCHPOINTS_ADDRESS, sizeof(points), points);
    assert_int_equal(points[2].kinds, 0);
    bench_end(&b);
}

/* Rule 27.17. Threads of the second tile are behind those of the first; a tile alone cannot be
 * debugged. */
static void tiles__work_on_the_second__threads_of_its_slices(void **state)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    zet_device_debug_properties_t debug = {.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};
    zet_debug_session_handle_t session;
    ze_device_thread_t thread;
    zet_debug_config_t config;
    ze_device_handle_t tiles[2];
    uint32_t count = 2;
    struct bench b;
    uint32_t code;

    (void)state;
    EXPECT_OK(zeDeviceGetSubDevices(debugger_device(), &count, tiles));
    assert_int_equal(count, 2);
    EXPECT_OK(zetDeviceGetDebugProperties(tiles[1], &debug));
    assert_int_equal(debug.flags, 0);
    EXPECT_OK(zetDeviceGetDebugProperties(debugger_device(), &debug));
    assert_int_equal(debug.flags, ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH);
    EXPECT_OK(zeDeviceGetProperties(debugger_device(), &properties));
    b = bench_start(2);
    config.pid = (uint32_t)b.debuggee.pid;
    EXPECT_RESULT(zetDebugAttach(tiles[1], &config, &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("tiles of a device share code");
    debugger_read(b.session, b.function, sizeof(code), &code);
    debugger_write(b.session, b.function, sizeof(ebreak), &ebreak);
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_LOCAL);
    thread = expect_stop(&b);
    assert_cmp(thread.slice, >=, properties.numSlices / 2);
    assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_PC, 0), b.function);
    debugger_write(b.session, b.function, sizeof(code), &code);
    set_causes(&b, thread, 0);
    EXPECT_OK(zetDebugResume(b.session, thread));
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_READ_FLAG, 0), 0x1005);
    bench_end(&b);
}

/* The atomic instruction with which spin() looks at its flag: it stands where the thread is, or in
 * front of that or behind; the exchange before it is another one. */
static uint64_t find_loop(const struct bench *bench, uint64_t pc)
{
    const uint32_t atomic = 0x2f, exchange = 1;

    for (uint64_t at = pc - 4; at <= pc + 8; at += 4) {
        uint32_t code;

        debugger_read(bench->session, at, sizeof(code), &code);
        if ((code & 0x7f) == atomic && code >> 27 != exchange)
            return at;
    }
    fail_msg("no atomic instruction near 0x%" PRIx64, pc);
    return 0;
}

/* Both tiles execute the code that is written, so each write has to reach both. */
static void tiles__break_written_while_both_run__stops_threads_of_both(void **state)
{
    struct bench b = bench_start(1);
    ze_device_thread_t thread;
    uint32_t code;
    uint64_t at;

    (void)state;
    spin(&b);
    interrupt(&b);
    at = find_loop(&b, get(&b, find_stopped(&b), ZETA_VGPU_REGISTERS_PC, 0));
    EXPECT_OK(zetDebugResume(b.session, everything));
    (void)debuggee_do(&b.debuggee, DEBUGGEE_QUEUE, 2);
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_SPIN);
    debugger_read(b.session, at, sizeof(code), &code);
    for (unsigned i = 0; i < 50; i++) {
        uint32_t slices[2];

        debugger_write(b.session, at, sizeof(ebreak), &ebreak);
        for (unsigned k = 0; k < 2; k++) {
            thread = expect_stop(&b);
            slices[k] = thread.slice;
            assert_int_equal(get(&b, thread, ZETA_VGPU_REGISTERS_PC, 0), at);
            set_causes(&b, thread, 0);
        }
        assert_int_not_equal(slices[0], slices[1]);
        debugger_write(b.session, at, sizeof(code), &code);
        EXPECT_OK(zetDebugResume(b.session, everything));
    }
    end_spin(&b);
    bench_end(&b);
}

SUITE(vgpu_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupt__spinning_kernel__stops_and_goes_on),
        cmocka_unit_test(detach__threads_stopped__they_go_on),
        cmocka_unit_test(debugger__killed_with_stopped_threads__they_go_on),
        cmocka_unit_test(breakpoint__in_a_function__registers_memory_and_step),
        cmocka_unit_test(breakpoint_register__in_a_function__stops_and_is_passed),
        cmocka_unit_test(registers__stopped_thread__hold_any_pattern),
        cmocka_unit_test(memory__of_barriers__unsupported),
        cmocka_unit_test(registers__others_come_to_the_barrier__seen),
        cmocka_unit_test(fault__while_attached__stops_its_thread_and_leaves_a_core_dump_later),
        cmocka_unit_test(process__exits_with_stopped_threads__ends),
        cmocka_unit_test(watchpoint__written_memory__stops_the_writer),
        cmocka_unit_test(tiles__work_on_the_second__threads_of_its_slices),
        cmocka_unit_test(tiles__break_written_while_both_run__stops_threads_of_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
