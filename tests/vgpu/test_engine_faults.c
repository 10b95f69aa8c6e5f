/* Kernels that go wrong: the launch says how and where, and the engine stays usable. */
#include "rig.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugins/vgpu/engine/debug.h"

static int open_faults(void **state)
{
    static struct rig rig;
    struct zeta_vgpu_engine_config config = rig_config(2);

    rig_open(&rig, "faults", &config);
    *state = &rig;
    return 0;
}

static int close_rig(void **state)
{
    rig_close(*state);
    return 0;
}

/* Runs a kernel that must fault for the given reason, and then one that works. */
static void expect(struct rig *rig, const char *kernel, const void *arguments,
                   enum zeta_vgpu_fault_reason reason, const char *words)
{
    struct {
        void *data;
        uint32_t item;
    } harmless = {rig->memory + RIG_MEMORY_BYTES / 2, UINT32_MAX};
    uint64_t begin, end;

    assert_int_equal(rig_run(rig, kernel, arguments, 3, 5), ZETA_VGPU_FAULT);
    assert_int_equal(rig->fault.reason, reason);
    if (!strstr(rig->fault.message.text, words) || !strstr(rig->fault.message.text, kernel))
        fail_msg("kernel %s, expected \"%s\" in: %s", kernel, words, rig->fault.message.text);
    zeta_vgpu_image_text(rig->image, &begin, &end);
    assert_cmp(rig->fault.pc, >=, begin);
    assert_cmp(rig->fault.pc, <, end);
    assert_int_equal(rig_run(rig, "only_one", &harmless, 3, 5), ZETA_VGPU_OK);
}

static void fault__each_kind__names_reason(void **state)
{
    struct rig *rig = *state;
    void *data[] = {rig->memory};
    uint64_t wild = UINT64_C(0x123456789a);

    expect(rig, "illegal", NULL, ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION, "ffffffff: unknown");
    expect(rig, "store_low", NULL, ZETA_VGPU_FAULT_WRITE, "address 0x10,");
    assert_int_equal(rig->fault.reason, ZETA_VGPU_FAULT_NONE);
    expect(rig, "load_wild", &wild, ZETA_VGPU_FAULT_READ, "address 0x123456789a,");
    wild = UINT64_MAX;
    expect(rig, "load_wild", &wild, ZETA_VGPU_FAULT_READ, "address 0xffffffffffffffff,");
    expect(rig, "store_constant", NULL, ZETA_VGPU_FAULT_WRITE, "write to memory");
    expect(rig, "store_code", NULL, ZETA_VGPU_FAULT_WRITE, "write to memory");
    expect(rig, "jump_wild", NULL, ZETA_VGPU_FAULT_FETCH, "address 0x1000,");
    expect(rig, "jump_odd", NULL, ZETA_VGPU_FAULT_MISALIGNED_JUMP, "multiple of 4");
    expect(rig, "overflow", data, ZETA_VGPU_FAULT_STACK_OVERFLOW, "stack overflow");
    expect(rig, "breakpoint", NULL, ZETA_VGPU_FAULT_BREAKPOINT, "ebreak");
    expect(rig, "misaligned_atomic", data, ZETA_VGPU_FAULT_MISALIGNED_ATOMIC, "amoadd.w");
    expect(rig, "unknown_call", NULL, ZETA_VGPU_FAULT_UNKNOWN_CALL, "number 0x3039,");
    expect(rig, "give_up", NULL, ZETA_VGPU_FAULT_ABORT, "no more");
    expect(rig, "print_wild", NULL, ZETA_VGPU_FAULT_READ, "address 0x18,");
    expect(rig, "stray_rounding", NULL, ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION, "fadd.s");
}

static void fault__one_item__is_located(void **state)
{
    struct rig *rig = *state;
    struct {
        void *data;
        uint32_t item;
    } arguments = {rig->memory, 7 * 64 + 37};

    assert_int_equal(rig_run(rig, "only_one", &arguments, 8, 64), ZETA_VGPU_FAULT);
    assert_int_equal(rig->fault.reason, ZETA_VGPU_FAULT_WRITE);
    assert_int_equal(rig->fault.address, 0x40);
    assert_int_equal(rig->fault.group_id[0], 7);
    assert_int_equal(rig->fault.local_id[0], 37);
    assert_int_equal(rig->fault.slice, 1);
    assert_int_equal(rig->fault.subslice, 1);
    assert_int_equal(rig->fault.eu, 37 % 32);
    assert_non_null(strstr(rig->fault.message.text, "group (7, 0, 0), local id (37, 0, 0)"));
}

static void bounds__last_bytes__are_exact(void **state)
{
    struct rig *rig = *state;
    struct {
        void *data;
        uint64_t index;
    } arguments = {rig->memory, RIG_MEMORY_BYTES / 4 - 1};

    assert_int_equal(rig_run(rig, "past_end", &arguments, 1, 1), ZETA_VGPU_OK);
    arguments.index++;
    assert_int_equal(rig_run(rig, "past_end", &arguments, 1, 1), ZETA_VGPU_FAULT);
    assert_int_equal(rig->fault.address, (uintptr_t)rig->memory + RIG_MEMORY_BYTES);
    /* Half inside and half outside is outside. */
    arguments.data = rig->memory + 2;
    arguments.index = RIG_MEMORY_BYTES / 4 - 1;
    assert_int_equal(rig_run(rig, "past_end", &arguments, 1, 1), ZETA_VGPU_FAULT);
}

static void bounds__odd_range__is_exact(void **state)
{
    static uint32_t buffer[9];
    struct rig *rig = *state;
    struct {
        void *data;
        uint64_t index;
    } arguments = {buffer, 0};

    assert_true(zeta_vgpu_space_add(rig->space, buffer, sizeof(buffer), ZETA_VGPU_ACCESS_WRITE));
    for (uint64_t i = 0; i < 12; i++) {
        arguments.index = i;
        assert_int_equal(rig_run(rig, "past_end", &arguments, 1, 1),
                         i < 9 ? ZETA_VGPU_OK : ZETA_VGPU_FAULT);
    }
    assert_true(zeta_vgpu_space_remove(rig->space, buffer));
    arguments.index = 0;
    assert_int_equal(rig_run(rig, "past_end", &arguments, 1, 1), ZETA_VGPU_FAULT);
}

static void bounds__local_memory__is_exact(void **state)
{
    struct rig *rig = *state;
    struct {
        void *scratch;
        uint32_t index;
    } arguments = {NULL, 31};
    const uint32_t local_bytes[] = {128, 0};
    struct zeta_vgpu_launch launch = {
        .arguments = &arguments,
        .local_bytes = local_bytes,
        .group_count = {1, 1, 1},
        .group_size = {1, 1, 1},
    };

    assert_int_equal(rig_launch(rig, "beyond_local", &launch), ZETA_VGPU_OK);
    arguments.index = 32;
    assert_int_equal(rig_launch(rig, "beyond_local", &launch), ZETA_VGPU_FAULT);
    assert_int_equal(rig->fault.reason, ZETA_VGPU_FAULT_WRITE);
}

struct interrupter {
    atomic_bool flag;
};

static void *interrupt_soon(void *argument)
{
    struct interrupter *interrupter = argument;

    (void)usleep(20000);
    atomic_store(&interrupter->flag, true);
    return NULL;
}

static void endless__interrupted__ends(void **state)
{
    struct rig *rig = *state;
    struct interrupter interrupter;
    struct zeta_vgpu_launch launch = {
        .group_count = {9, 1, 1},
        .group_size = {300, 1, 1},
        .interrupt = &interrupter.flag,
    };
    pthread_t thread;
    uint32_t *data = (uint32_t *)rig->memory;
    struct {
        void *data;
        uint32_t item;
    } harmless = {data, UINT32_MAX};

    atomic_init(&interrupter.flag, false);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, &interrupter), 0);
    assert_int_equal(rig_launch(rig, "endless", &launch), ZETA_VGPU_INTERRUPTED);
    (void)pthread_join(thread, NULL);
    assert_int_equal(rig->fault.reason, ZETA_VGPU_FAULT_NONE);
    assert_cmp(rig_counter(rig, ZETA_VGPU_INST_RETIRED), >, 1000);
    assert_int_equal(rig_run(rig, "only_one", &harmless, 9, 300), ZETA_VGPU_OK);
    for (unsigned i = 0; i < 2700; i++)
        assert_int_equal(data[i], 1);
}

/* Code that is written behind the engine's back is executed when some of it was written again. */
static void code__rewritten__runs_the_new(void **state)
{
    struct rig *rig = *state;
    struct zeta_vgpu_symbol symbol;
    uint16_t nothing = 0;
    uint64_t address;

    assert_true(zeta_vgpu_image_find_symbol(rig->image, "illegal", &symbol));
    assert_true(symbol.function);
    assert_int_equal(rig_run(rig, "illegal", NULL, 1, 1), ZETA_VGPU_FAULT);
    address = rig->fault.pc;
    *(uint32_t *)(uintptr_t)address = 0x00000013; /* nop */
    assert_int_equal(rig_run(rig, "illegal", NULL, 1, 1), ZETA_VGPU_FAULT);
    assert_true(
        zeta_vgpu_debug_memory(rig->engine, UINT32_MAX, false, address + 1, 2, &nothing, true));
    assert_int_equal(rig_run(rig, "illegal", NULL, 1, 1), ZETA_VGPU_OK);
}

/* What is left in the callback: all but the work-items that had ended. */
struct remains {
    struct rig *rig;
    uint32_t calls, threads;
};

static void count_remains(void *user, const struct zeta_vgpu_fault *fault)
{
    struct remains *remains = user;
    const uint32_t threads = 4 * 32 * 16;
    struct zeta_vgpu_debug_remains left;

    remains->calls++;
    for (uint32_t t = 0; t < threads; t++) {
        if (!zeta_vgpu_debug_remains(remains->rig->engine, t, &left))
            continue;
        remains->threads++;
        assert_cmp(left.x[2], >=, left.private_begin);
        assert_cmp(left.x[2], <, left.private_end);
        assert_int_equal(left.x[0], 0);
        assert_int_equal(left.ids[6], t);
        if (left.ids[0] == fault->group_id[0] && left.ids[3] == fault->local_id[0])
            assert_int_equal(left.pc, fault->pc);
    }
    assert_false(zeta_vgpu_debug_remains(remains->rig->engine, threads, &left));
    assert_false(zeta_vgpu_debug_remains(remains->rig->engine, UINT32_MAX, &left));
}

static void fault__callback__sees_threads_that_are_left(void **state)
{
    struct rig *rig = *state;
    struct remains remains = {.rig = rig};
    struct zeta_vgpu_launch launch = {.group_count = {1, 1, 1},
                                      .group_size = {32, 1, 1},
                                      .faulted = count_remains,
                                      .user = &remains};
    struct {
        void *data;
        uint32_t item;
    } harmless = {rig->memory, UINT32_MAX}, fatal = {rig->memory, 20};

    /* Many threads of a launch before, of which nothing is seen. */
    assert_int_equal(rig_run(rig, "only_one", &harmless, 12, 300), ZETA_VGPU_OK);
    launch.arguments = &fatal;
    assert_int_equal(rig_launch(rig, "only_one", &launch), ZETA_VGPU_FAULT);
    assert_int_equal(remains.calls, 1);
    /* 20 work-items ended before, the others wait for their turn. */
    assert_int_equal(remains.threads, 12);
    /* Another kind of end tells nobody. */
    launch.arguments = &harmless;
    assert_int_equal(rig_launch(rig, "only_one", &launch), ZETA_VGPU_OK);
    assert_int_equal(remains.calls, 1);
    assert_int_equal(rig_run(rig, "give_up", NULL, 1, 1), ZETA_VGPU_FAULT);
}

#define WITH_FAULTS(test) cmocka_unit_test_setup_teardown(test, open_faults, close_rig)

SUITE(engine_faults)
{
    const struct CMUnitTest tests[] = {
        WITH_FAULTS(fault__each_kind__names_reason),
        WITH_FAULTS(fault__one_item__is_located),
        WITH_FAULTS(bounds__last_bytes__are_exact),
        WITH_FAULTS(bounds__odd_range__is_exact),
        WITH_FAULTS(bounds__local_memory__is_exact),
        WITH_FAULTS(endless__interrupted__ends),
        WITH_FAULTS(code__rewritten__runs_the_new),
        WITH_FAULTS(fault__callback__sees_threads_that_are_left),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
