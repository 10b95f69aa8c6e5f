/* Decoder, disassembler, and how runs end and count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "plugins/vgpu/machine/rv64.h"
#include "plugins/vgpu/machine/rv64_ops.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum {
    WORDS = 2048,
    NOP = 0x00000013,
    EBREAK = 0x00100073,
    ECALL = 0x00000073,
    RETURN = 0x00008067,
    A0 = 10
};

#define BEGIN UINT64_C(0x400000)

/* A hart with code at BEGIN and no memory at all. */
struct bench {
    uint32_t words[WORDS];
    struct zeta_rv64_code code;
    struct zeta_rv64_memory memory;
    struct zeta_vgpu_l1 l1;
    struct zeta_vgpu_icache icache;
    struct zeta_rv64_context context;
    struct zeta_rv64_hart hart;
};

static struct bench *open_bench(const uint32_t *words, uint32_t count)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    assert_non_null(bench);
    memcpy(bench->words, words, count * sizeof(*words));
    assert_true(zeta_rv64_code_create(&bench->code, BEGIN, bench->words, count));
    assert_true(zeta_vgpu_l1_init(&bench->l1, 4096));
    assert_true(zeta_vgpu_icache_reset(&bench->icache, count + 1));
    bench->memory.space = zeta_vgpu_space_create();
    assert_non_null(bench->memory.space);
    bench->memory.l1 = &bench->l1;
    bench->context.code = &bench->code;
    bench->context.memory = &bench->memory;
    bench->context.icache = &bench->icache;
    bench->hart.pc = BEGIN;
    bench->hart.x[1] = ZETA_RV64_RETURN_ADDRESS;
    return bench;
}

static void close_bench(struct bench *bench)
{
    zeta_rv64_code_finish(&bench->code);
    zeta_vgpu_l1_finish(&bench->l1);
    zeta_vgpu_icache_finish(&bench->icache);
    zeta_vgpu_space_destroy(bench->memory.space);
    free(bench);
}

static enum zeta_rv64_stop run(struct bench *bench, uint32_t slice)
{
    return zeta_rv64_run(&bench->hart, &bench->context, slice);
}

/* addi rd, rs1, imm and friends, as the tests need them. */
static uint32_t addi(uint32_t rd, uint32_t rs1, uint32_t immediate)
{
    return immediate << 20 | rs1 << 15 | rd << 7 | 0x13;
}

static void table__every_line__decodes_to_itself(void **state)
{
    static const struct {
        uint32_t match;
        uint32_t mask;
    } ops[] = {
#define X(name, mnemonic, operands, match, mask, class, flops, latency) {match, mask},
        RV64_PLAIN_OPS(X) RV64_ROUNDED_OPS(X)
#undef X
    };
    struct zeta_rv64_code code;

    (void)state;
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        assert_int_equal(ops[i].match & ~ops[i].mask, 0);
        assert_true(zeta_rv64_code_create(&code, BEGIN, &ops[i].match, 1));
        assert_int_equal(code.insns[0].original, i);
        zeta_rv64_code_finish(&code);
        for (unsigned k = 0; k < i; k++)
            assert_true((ops[i].match ^ ops[k].match) & ops[i].mask & ops[k].mask);
    }
}

static void disassemble__samples__reads_like_assembler(void **state)
{
    static const struct {
        uint32_t word;
        const char *text;
    } samples[] = {
        {0xfff50513, "addi a0, a0, -1"},
        {0x00008067, "jalr zero, 0(ra)"},
        {0xfe0518e3, "bne a0, zero, 0x3ffff0"},
        {0x01013083, "ld ra, 16(sp)"},
        {0x00113423, "sd ra, 8(sp)"},
        {0x12345537, "lui a0, 0x12345"},
        {0x00c5f553, "fadd.s fa0, fa1, fa2, dyn"},
        {0x68c5f543, "fmadd.s fa0, fa1, fa2, fa3, dyn"},
        {0xc0051553, "fcvt.w.s a0, fa0, rtz"},
        {0x00300073, "unknown"},
        {0x4501, "unknown"},
        {0xffffffff, "unknown"},
    };
    char text[80];

    (void)state;
    for (unsigned i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        zeta_rv64_disassemble(samples[i].word, BEGIN, text, sizeof(text));
        assert_string_equal(text, samples[i].text);
    }
    zeta_rv64_disassemble(0x68c5f543, BEGIN, text, 10);
    assert_string_equal(text, "fmadd.s f");
}

/* A straight line longer than the counters' fields would be without splits. */
static void run__long_block__counts_each_once(void **state)
{
    uint32_t *words = calloc(WORDS, sizeof(*words));
    uint64_t retired = 0, integer = 0;
    struct bench *bench;
    enum zeta_rv64_stop stop;

    (void)state;
    assert_non_null(words);
    for (unsigned i = 0; i < WORDS - 1; i++)
        words[i] = addi(A0, A0, 1);
    words[WORDS - 1] = RETURN;
    bench = open_bench(words, WORDS);
    do {
        stop = run(bench, 100);
        assert_cmp(bench->context.counts.retired, <=, 100 + ZETA_RV64_BLOCK_LIMIT);
        retired += bench->context.counts.retired;
        integer += bench->context.counts.integer;
    } while (stop == ZETA_RV64_STOP_SLICE);
    assert_int_equal(stop, ZETA_RV64_STOP_RETURN);
    assert_int_equal(retired, WORDS);
    assert_int_equal(integer, WORDS - 1);
    assert_int_equal(bench->hart.x[A0], WORDS - 1);
    /* Jumping into the middle, also to a split, counts from there. */
    for (uint32_t first = 250; first < 260; first++) {
        bench->hart.pc = BEGIN + (uint64_t)first * 4;
        retired = 0;
        do {
            stop = run(bench, ZETA_RV64_SLICE_LIMIT);
            retired += bench->context.counts.retired;
        } while (stop == ZETA_RV64_STOP_SLICE);
        assert_int_equal(retired, WORDS - first);
    }
    close_bench(bench);
    free(words);
}

/* Instructions of a block behind the one that faults were not retired. */
static void run__fault_in_block__takes_rest_back(void **state)
{
    static const uint32_t words[] = {
        NOP, NOP, 0x00053503 /* ld a0, 0(a0) */, 0x00c5f553 /* fadd.s */, NOP, RETURN};
    struct bench *bench = open_bench(words, 6);

    (void)state;
    bench->hart.x[A0] = 0x1234;
    assert_int_equal(run(bench, 100), ZETA_RV64_STOP_READ);
    assert_int_equal(bench->hart.pc, BEGIN + 8);
    assert_int_equal(bench->context.stop_address, 0x1234);
    assert_int_equal(bench->context.counts.retired, 2);
    assert_int_equal(bench->context.counts.integer, 2);
    assert_int_equal(bench->context.counts.fp32, 0);
    assert_int_equal(bench->context.counts.memory, 0);
    assert_int_equal(bench->hart.x[A0], 0x1234);
    close_bench(bench);
}

static void run__ways_out__are_told_apart(void **state)
{
    static const struct {
        uint32_t words[2];
        uint64_t a0;
        enum zeta_rv64_stop stop;
        uint64_t pc;
        uint64_t address;
        uint32_t retired;
    } cases[] = {
        {{NOP, ECALL}, 0, ZETA_RV64_STOP_ECALL, BEGIN + 8, 0, 2},
        {{NOP, EBREAK}, 0, ZETA_RV64_STOP_EBREAK, BEGIN + 4, 0, 1},
        {{NOP, RETURN}, 0, ZETA_RV64_STOP_RETURN, 8, 0, 2},
        {{NOP, 0}, 0, ZETA_RV64_STOP_ILLEGAL, BEGIN + 4, 0, 1},
        {{NOP, NOP}, 0, ZETA_RV64_STOP_FETCH, BEGIN + 8, BEGIN + 8, 2},
        {{NOP, 0x00050067}, 0x5000, ZETA_RV64_STOP_FETCH, BEGIN + 4, 0x5000, 1},
        {{NOP, 0x00050067}, BEGIN + 2, ZETA_RV64_STOP_MISALIGNED_JUMP, BEGIN + 4, BEGIN + 2, 1},
        {{NOP, 0x00050067},
         UINT64_MAX,
         ZETA_RV64_STOP_MISALIGNED_JUMP,
         BEGIN + 4,
         UINT64_MAX - 1,
         1},
        /* j +2, j +64, beq taken +64, bne not taken +64 and off the end */
        {{NOP, 0x0020006f}, 0, ZETA_RV64_STOP_MISALIGNED_JUMP, BEGIN + 4, BEGIN + 6, 1},
        {{NOP, 0x0400006f}, 0, ZETA_RV64_STOP_FETCH, BEGIN + 4, BEGIN + 68, 1},
        {{NOP, 0x04000063}, 0, ZETA_RV64_STOP_FETCH, BEGIN + 4, BEGIN + 68, 1},
        {{NOP, 0x04001063}, 0, ZETA_RV64_STOP_FETCH, BEGIN + 8, BEGIN + 8, 2},
        /* csrr of a register that does not exist; an atomic at an odd address */
        {{NOP, 0xc0002573}, 0, ZETA_RV64_STOP_ILLEGAL, BEGIN + 4, 0, 1},
        {{NOP, 0x00b5252f}, 0x4001, ZETA_RV64_STOP_MISALIGNED_ATOMIC, BEGIN + 4, 0x4001, 1},
        {{NOP, 0x00b5252f}, 0x4000, ZETA_RV64_STOP_WRITE, BEGIN + 4, 0x4000, 1},
        {{NOP, 0x00a53023}, 0x4000, ZETA_RV64_STOP_WRITE, BEGIN + 4, 0x4000, 1},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench *bench = open_bench(cases[i].words, 2);

        bench->hart.x[A0] = cases[i].a0;
        assert_int_equal(run(bench, 100), cases[i].stop);
        assert_int_equal(bench->hart.pc, cases[i].pc);
        if (cases[i].address)
            assert_cmp(bench->context.stop_address, ==, cases[i].address);
        assert_int_equal(bench->context.counts.retired, cases[i].retired);
        close_bench(bench);
    }
}

static void run__pc_outside_code__is_a_fetch_fault(void **state)
{
    static const uint32_t words[] = {NOP};
    struct bench *bench = open_bench(words, 1);

    (void)state;
    bench->hart.pc = BEGIN + 4;
    assert_int_equal(run(bench, 10), ZETA_RV64_STOP_FETCH);
    bench->hart.pc = BEGIN + 1;
    assert_int_equal(run(bench, 10), ZETA_RV64_STOP_FETCH);
    bench->hart.pc = UINT64_MAX;
    assert_int_equal(run(bench, 10), ZETA_RV64_STOP_FETCH);
    close_bench(bench);
}

/* Changing one word moves block borders on both sides of it. */
static void code_update__any_change__equals_new_decode(void **state)
{
    static const uint32_t kinds[] = {NOP,        EBREAK,     ECALL,      RETURN,    0x0040006f,
                                     0x00000063, 0x00c5f553, 0x00c58553, 0xffffffff};
    uint32_t words[700];
    uint32_t seed = 12345;
    struct zeta_rv64_code code;

    (void)state;
    for (unsigned i = 0; i < 700; i++)
        words[i] = i % 290 == 0 ? RETURN : NOP;
    assert_true(zeta_rv64_code_create(&code, BEGIN, words, 700));
    for (unsigned round = 0; round < 400; round++) {
        struct zeta_rv64_code fresh;
        uint32_t at;

        seed = seed * 1664525 + 1013904223;
        at = seed >> 8 & 1023;
        at = at < 700 ? at : 699;
        words[at] = seed & 0x80 ? NOP : kinds[(seed >> 20) % 9];
        zeta_rv64_code_update(&code, words, at, 1, NULL, 0);
        assert_true(zeta_rv64_code_create(&fresh, BEGIN, words, 700));
        assert_memory_equal(code.insns, fresh.insns, 701 * sizeof(*fresh.insns));
        zeta_rv64_code_finish(&fresh);
    }
    zeta_rv64_code_finish(&code);
}

/* An instruction with a break is decoded as if an ebreak were there, until it is decoded again. */
static void code_update__breaks__equal_ebreaks(void **state)
{
    static const uint64_t breaks[] = {0, BEGIN + 4, BEGIN + 600 * 4, BEGIN + 4 * 700, BEGIN + 6};
    uint32_t words[700], broken[700];
    struct zeta_rv64_code code, plain, fresh;

    (void)state;
    for (unsigned i = 0; i < 700; i++)
        words[i] = broken[i] = i % 290 == 0 ? RETURN : NOP;
    broken[1] = broken[600] = EBREAK;
    assert_true(zeta_rv64_code_create(&code, BEGIN, words, 700));
    assert_true(zeta_rv64_code_create(&plain, BEGIN, words, 700));
    assert_true(zeta_rv64_code_create(&fresh, BEGIN, broken, 700));
    zeta_rv64_code_update(&code, words, 1, 1, breaks, 5);
    zeta_rv64_code_update(&code, words, 600, 1, breaks, 5);
    assert_memory_equal(code.insns, fresh.insns, 701 * sizeof(*fresh.insns));
    zeta_rv64_code_update(&code, words, 1, 1, breaks, 1);
    zeta_rv64_code_update(&code, words, 600, 1, breaks, 1);
    assert_memory_equal(code.insns, plain.insns, 701 * sizeof(*fresh.insns));
    zeta_rv64_code_finish(&code);
    zeta_rv64_code_finish(&plain);
    zeta_rv64_code_finish(&fresh);
}

/* Register numbers, and immediates where there are no registers, for an instruction of a pair. */
static uint32_t with_operands(uint32_t match, uint32_t mask, uint32_t rd, uint32_t rs1,
                              uint32_t rs2)
{
    return match | ((rd << 7 | 7 << 12 | rs1 << 15 | rs2 << 20) & ~mask);
}

/* Runs two instructions, as the decoder joined them or one by one. */
static void run_two(const uint32_t words[4], bool joined, uint8_t rounding, bool valid,
                    struct bench **out_bench, enum zeta_rv64_stop *out_stop, uint8_t *memory)
{
    struct bench *bench = open_bench(words, 4);

    if (!joined) {
        bench->code.insns[0].op = bench->code.insns[0].original;
        bench->code.insns[0].unsplit = bench->code.insns[0].original;
    }
    for (unsigned i = 0; i < 64; i++)
        memory[i] = (uint8_t)(i * 5);
    zeta_rv64_window_set(&bench->memory.slm, 0x10000, 64, memory);
    bench->hart.x[6] = valid ? 0x10000 : 0;
    bench->hart.x[9] = 0x10007;
    for (unsigned i = 0; i < 32; i++)
        bench->hart.f[i] = UINT64_C(0xffffffff3fc00000) + i * 0x12345;
    bench->hart.frm = rounding;
    *out_stop = run(bench, 100);
    *out_bench = bench;
}

static void run__joined_pairs__do_what_both_do_alone(void **state)
{
    /* clang-format off */
    static const struct {
        uint32_t match, mask;
    } ops[] = {
#define X(name, mnemonic, operands, match, mask, class, flops, latency) {match, mask},
        RV64_PLAIN_OPS(X) RV64_ROUNDED_OPS(X)
#undef X
    };
    static const uint8_t pairs[][3] = {
#define P(first, second) {RV64_OP_##first, RV64_OP_##second, RV64_OP_##first##_##second},
        RV64_PLAIN_PAIRS(P) RV64_ROUNDED_PAIRS(P)
#undef P
    };
    /* clang-format on */

    (void)state;
    /* Valid and invalid addresses, rounding as the host does and as it cannot. */
    for (unsigned i = 0; i < 4 * sizeof(pairs) / sizeof(pairs[0]); i++) {
        const uint8_t *pair = pairs[i / 4];
        const uint32_t words[4] = {with_operands(ops[pair[0]].match, ops[pair[0]].mask, 5, 6, 7),
                                   with_operands(ops[pair[1]].match, ops[pair[1]].mask, 8, 5, 9),
                                   0x00008067, 0x00008067};
        uint8_t memory[2][64];
        enum zeta_rv64_stop stop[2];
        struct bench *bench[2];

        for (unsigned k = 0; k < 2; k++)
            run_two(words, k == 0, i & 1 ? 4 : 0, i & 2, &bench[k], &stop[k], memory[k]);
        assert_int_equal(bench[0]->code.insns[0].op, pair[2]);
        assert_int_equal(stop[0], stop[1]);
        assert_memory_equal(memory[0], memory[1], sizeof(memory[0]));
        assert_memory_equal(&bench[0]->hart, &bench[1]->hart, sizeof(bench[0]->hart));
        assert_memory_equal(&bench[0]->context.counts, &bench[1]->context.counts,
                            sizeof(bench[0]->context.counts));
        assert_memory_equal(bench[0]->memory.accesses, bench[1]->memory.accesses,
                            sizeof(bench[0]->memory.accesses));
        if (stop[0] != ZETA_RV64_STOP_RETURN) {
            /* Only the second of a pair reaches memory. */
            assert_int_equal(bench[0]->hart.pc, BEGIN + 4);
            assert_int_equal(bench[0]->context.counts.retired, 1);
            assert_int_equal(bench[0]->context.stop_address, bench[1]->context.stop_address);
        }
        close_bench(bench[0]);
        close_bench(bench[1]);
    }
}

static void run__reserved_rounding_mode__is_illegal(void **state)
{
    /* fsrmi 5; fadd.s fa0, fa0, fa0, dyn */
    static const uint32_t words[] = {0x0022d073, 0x00a57553, RETURN};
    struct bench *bench = open_bench(words, 3);

    (void)state;
    assert_int_equal(run(bench, 10), ZETA_RV64_STOP_ILLEGAL);
    assert_int_equal(bench->hart.pc, BEGIN + 4);
    assert_int_equal(bench->hart.frm, 5);
    close_bench(bench);
}

SUITE(rv64)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__every_line__decodes_to_itself),
        cmocka_unit_test(disassemble__samples__reads_like_assembler),
        cmocka_unit_test(run__long_block__counts_each_once),
        cmocka_unit_test(run__fault_in_block__takes_rest_back),
        cmocka_unit_test(run__ways_out__are_told_apart),
        cmocka_unit_test(run__pc_outside_code__is_a_fetch_fault),
        cmocka_unit_test(code_update__any_change__equals_new_decode),
        cmocka_unit_test(code_update__breaks__equal_ebreaks),
        cmocka_unit_test(run__joined_pairs__do_what_both_do_alone),
        cmocka_unit_test(run__reserved_rounding_mode__is_illegal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
