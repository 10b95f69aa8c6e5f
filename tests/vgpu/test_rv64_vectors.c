/*
 * Random instructions with random registers, executed by the interpreter and by qemu-riscv64; all
 * registers, flags and memory must agree. Exit status 77 when there is no qemu or cross compiler.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "plugins/vgpu/machine/rv64.h"
#include "plugins/vgpu/machine/rv64_fp.h"
#include "plugins/vgpu/machine/rv64_ops.h"
#include "qemu.h"
#include "qemu/vector.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { VECTORS_PER_OP = 40, REPORT_LIMIT = 10 };

struct op {
    const char *mnemonic;
    const char *operands;
    uint32_t match;
    uint32_t mask;
    enum rv64_op number;
};

static const struct op ops[] = {
#define X(name, mnemonic, operands, match, mask, class, flops, latency)                            \
    {mnemonic, operands, match, mask, RV64_OP_##name},
    RV64_PLAIN_OPS(X) RV64_ROUNDED_OPS(X)
#undef X
};

enum { OP_COUNT = sizeof(ops) / sizeof(ops[0]) };

static uint64_t random_state;

/* xorshift64*: the same sequence on every machine. */
static uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(2685821657736338717);
}

static uint32_t random_below(uint32_t limit)
{
    return (uint32_t)((random_bits() >> 32) % limit);
}

static uint64_t random_integer(void)
{
    static const uint64_t special[] = {
        0,         1,          UINT64_MAX, INT64_MAX,  UINT64_MAX / 2 + 1,
        INT32_MAX, UINT32_MAX, 0x80000000, 0x80000001, 0xffffffff80000000,
        63};

    switch (random_below(4)) {
    case 0:
        return special[random_below(sizeof(special) / sizeof(special[0]))];
    case 1:
        return (uint64_t)(int64_t)(int32_t)random_bits();
    default:
        return random_bits() >> random_below(64);
    }
}

/* Bits of a number near where something happens: limits, halves, neighbours of powers of two. */
static uint32_t random_single(void)
{
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc00000, 0x7f800001, 0x7fa12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
        0x00800001, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x3fc00000, 0x40200000, 0x4effffff,
        0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x34000000,
        0x33800000, 0x4b000001, 0x3effffff, 0x40400000};
    uint32_t bits = (uint32_t)random_bits();

    switch (random_below(4)) {
    case 0:
        return special[random_below(sizeof(special) / sizeof(special[0]))];
    case 1: /* few fraction bits, exponents near each other: exact sums and ties */
        return (bits & 0x80000000) | (127 - 12 + random_below(24)) << 23 | (bits & 0x007e0001);
    case 2: /* near the smallest numbers */
        return bits & 0x81ffffff;
    default:
        return bits;
    }
}

static uint64_t random_double(void)
{
    static const uint64_t special[] = {
        0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
        0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001,
        0xfff4000000000000, 0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
        0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0x4004000000000000,
        0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000200000,
        0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000, 0x36a0000000000000,
        0x3810000000000000, 0x380fffffffffffff, 0x47efffffe0000000, 0x47effffff0000000,
        0x3ff0000010000000, 0x3ff0000030000000, 0xbfe0000000000001};
    uint64_t bits = random_bits();

    switch (random_below(4)) {
    case 0:
        return special[random_below(sizeof(special) / sizeof(special[0]))];
    case 1:
        return (bits & UINT64_C(0x8000000000000000)) |
               (uint64_t)(1023 - 30 + random_below(60)) << 52 |
               (bits & UINT64_C(0x000fe00000000001));
    case 2:
        return bits & UINT64_C(0x803fffffffffffff);
    default:
        return bits;
    }
}

static uint64_t random_float_register(void)
{
    switch (random_below(8)) {
    case 0:
    case 1:
    case 2:
        return random_double();
    case 3: /* a single that is not boxed */
        return random_bits() << 32 | random_single();
    default:
        return RV64_BOX | random_single();
    }
}

static uint32_t field(uint32_t value, unsigned bit)
{
    return value << bit;
}

/* Offset of the memory operand; the base register is set so that base + offset is in memory. */
static void aim(struct vector *vector, uint32_t base, int32_t offset, unsigned alignment)
{
    uint64_t address = VECTOR_SCRATCH_MIDDLE - 24 + random_below(40) / alignment * alignment;

    vector->x[base] = address - (uint64_t)(int64_t)offset;
}

/* Fills one operand of the instruction word; registers must exist in the vector. */
static uint32_t random_operand(char letter, struct vector *vector)
{
    uint32_t any = (uint32_t)random_bits();

    switch (letter) {
    case 'd': /* x31 carries the harness, x30 its mark */
        return field(random_below(30), 7);
    case 's':
        return field(random_below(30), 15);
    case 't':
        return field(random_below(30), 20);
    case 'D':
        return field(any & 31, 7);
    case 'S':
        return field(any & 31, 15);
    case 'T':
        return field(any & 31, 20);
    case 'R':
        return field(any & 31, 27);
    case 'j':
        return field(any & 0xfff, 20);
    case '>':
        return field(any & 63, 20);
    case '<':
        return field(any & 31, 20);
    case 'u':
        return any & 0xfffff000;
    case 'm':
        return field(any & 8 ? RV64_DYN : random_below(5), 12);
    case 'E':
        return field(1 + random_below(3), 20);
    case 'Z':
        /* A frm of 5 and more makes the next instruction illegal; that has its own test. */
        return field(any & 31, 15);
    case 'p':
        return field(8 >> 1, 8);
    case 'a':
        return field(8 >> 1, 21);
    default:
        (void)vector;
        return 0;
    }
}

/* Points the base register of a load, store, atomic or jalr at something that exists. */
static uint32_t place_base(const struct op *op, struct vector *vector, uint32_t word)
{
    uint32_t base = 1 + random_below(29);
    int32_t offset = (int32_t)random_below(4096) - 2048;
    bool atomic = (op->match & 0x7f) == 0x2f;

    word = (word & ~field(31, 15)) | field(base, 15);
    if (op->number == RV64_OP_JALR) {
        word |= field((uint32_t)offset & 0xfff, 20);
        vector->x[base] = VECTOR_PC + 8 - (uint64_t)(int64_t)offset;
        return word;
    }
    if (atomic) {
        aim(vector, base, 0, 8);
        return word;
    }
    aim(vector, base, offset, 1);
    if (strchr(op->operands, 'q'))
        return word | field((uint32_t)offset >> 5 & 127, 25) | field((uint32_t)offset & 31, 7);
    return word | field((uint32_t)offset & 0xfff, 20);
}

static void make_vector(const struct op *op, struct vector *vector)
{
    uint32_t word = op->match;

    memset(vector, 0, sizeof(*vector));
    for (unsigned i = 1; i < 30; i++)
        vector->x[i] = random_integer();
    for (unsigned i = 0; i < 32; i++)
        vector->f[i] = random_float_register();
    vector->fcsr = (uint64_t)random_below(5) << 5 | (random_bits() & 31);
    for (unsigned i = 0; i < VECTOR_MEMORY_BYTES; i++)
        vector->memory[i] = (uint8_t)random_bits();
    for (const char *letter = op->operands; *letter; letter++)
        word |= random_operand(*letter, vector);
    if (strchr(op->operands, '('))
        word = place_base(op, vector, word);
    vector->word = word;
}

static bool usable(const struct op *op)
{
    /* Calls go to the harness; sc depends on the vectors before. */
    return op->number != RV64_OP_ECALL && op->number != RV64_OP_EBREAK &&
           op->number != RV64_OP_SC_W && op->number != RV64_OP_SC_D;
}

/* What the interpreter runs in: the same addresses as the program under qemu. */
struct machine {
    uint32_t *code_page;
    uint8_t *scratch;
    struct zeta_rv64_code code;
    struct zeta_rv64_memory memory;
    struct zeta_vgpu_l1 l1;
    struct zeta_vgpu_icache icache;
    struct zeta_rv64_context context;
};

static void *map_at(uint64_t address)
{
    void *memory = mmap((void *)(uintptr_t)address, VECTOR_PAGE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static int make_machine(void **state)
{
    struct machine *machine = calloc(1, sizeof(*machine));

    *state = machine;
    assert_non_null(machine);
    machine->code_page = map_at(VECTOR_CODE);
    machine->scratch = map_at(VECTOR_SCRATCH);
    assert_non_null(machine->code_page);
    assert_non_null(machine->scratch);
    machine->code_page[513] = 0x001f0f13; /* addi x30, x30, 1 */
    machine->code_page[514] = 0x00100073; /* ebreak */
    assert_true(zeta_rv64_code_create(&machine->code, VECTOR_CODE, machine->code_page,
                                      VECTOR_PAGE_BYTES / 4));
    assert_true(zeta_vgpu_l1_init(&machine->l1, 65536));
    assert_true(zeta_vgpu_icache_reset(&machine->icache, VECTOR_PAGE_BYTES / 4 + 1));
    machine->memory.space = zeta_vgpu_space_create();
    assert_non_null(machine->memory.space);
    machine->memory.l1 = &machine->l1;
    assert_true(zeta_vgpu_space_add(machine->memory.space, machine->scratch, VECTOR_PAGE_BYTES,
                                    ZETA_VGPU_ACCESS_WRITE));
    machine->context.code = &machine->code;
    machine->context.memory = &machine->memory;
    machine->context.icache = &machine->icache;
    return 0;
}

static int drop_machine(void **state)
{
    struct machine *machine = *state;

    zeta_rv64_code_finish(&machine->code);
    zeta_vgpu_l1_finish(&machine->l1);
    zeta_vgpu_icache_finish(&machine->icache);
    zeta_vgpu_space_destroy(machine->memory.space);
    (void)munmap(machine->code_page, VECTOR_PAGE_BYTES);
    (void)munmap(machine->scratch, VECTOR_PAGE_BYTES);
    free(machine);
    return 0;
}

static void execute(struct machine *machine, struct vector *vector)
{
    uint8_t *memory = machine->scratch + 2048 - VECTOR_MEMORY_BYTES / 2;
    struct zeta_rv64_hart hart = {.pc = VECTOR_PC};
    enum zeta_rv64_stop stop;

    machine->code_page[512] = vector->word;
    zeta_rv64_code_update(&machine->code, machine->code_page, 512, 1, NULL, 0);
    memcpy(memory, vector->memory, sizeof(vector->memory));
    memcpy(hart.x, vector->x, sizeof(vector->x));
    memcpy(hart.f, vector->f, sizeof(vector->f));
    hart.fflags = vector->fcsr & 31;
    hart.frm = (vector->fcsr >> 5) & 7;
    stop = zeta_rv64_run(&hart, &machine->context, 16);
    assert_int_equal(stop, ZETA_RV64_STOP_EBREAK);
    memcpy(vector->x, hart.x, sizeof(vector->x));
    memcpy(vector->f, hart.f, sizeof(vector->f));
    vector->fcsr = (uint64_t)hart.frm << 5 | hart.fflags;
    memcpy(vector->memory, memory, sizeof(vector->memory));
}

/* Prints what differs; the operands help to see why. */
static bool same(const struct vector *before, const struct vector *ours,
                 const struct vector *theirs)
{
    char text[80];
    bool equal = memcmp(ours->memory, theirs->memory, sizeof(ours->memory)) == 0 &&
                 ours->fcsr == theirs->fcsr;

    for (unsigned i = 1; i < VECTOR_REGISTERS; i++)
        equal &= ours->x[i] == theirs->x[i];
    for (unsigned i = 0; i < 32; i++)
        equal &= ours->f[i] == theirs->f[i];
    if (equal)
        return true;
    zeta_rv64_disassemble(before->word, VECTOR_PC, text, sizeof(text));
    print_error("%s (%08" PRIx32 "), fcsr %02" PRIx64 ": ours %02" PRIx64 ", qemu %02" PRIx64 "\n",
                text, before->word, before->fcsr, ours->fcsr, theirs->fcsr);
    for (unsigned i = 1; i < VECTOR_REGISTERS; i++) {
        if (ours->x[i] != theirs->x[i])
            print_error("  x%u: ours %016" PRIx64 ", qemu %016" PRIx64 "\n", i, ours->x[i],
                        theirs->x[i]);
    }
    for (unsigned i = 0; i < 32; i++) {
        if (ours->f[i] != theirs->f[i])
            print_error("  f%u: ours %016" PRIx64 ", qemu %016" PRIx64 "\n", i, ours->f[i],
                        theirs->f[i]);
    }
    print_error("  f operands %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n",
                before->f[before->word >> 15 & 31], before->f[before->word >> 20 & 31],
                before->f[before->word >> 27]);
    return false;
}

static void vectors__random__agree_with_qemu(void **state)
{
    struct machine *machine = *state;
    size_t room = (size_t)OP_COUNT * VECTORS_PER_OP;
    struct vector *vectors = calloc(room, sizeof(*vectors));
    struct vector *theirs = NULL;
    size_t count = 0, bytes = 0;
    unsigned bad = 0;

    assert_non_null(vectors);
    random_state = UINT64_C(88172645463325252);
    for (unsigned i = 0; i < OP_COUNT; i++) {
        for (unsigned n = 0; usable(&ops[i]) && n < VECTORS_PER_OP; n++)
            make_vector(&ops[i], &vectors[count++]);
    }
    assert_true(
        qemu_run(QEMU_VECTORS, vectors, count * sizeof(*vectors), (void **)&theirs, &bytes));
    assert_int_equal(bytes, count * sizeof(*vectors));
    for (size_t i = 0; i < count && bad < REPORT_LIMIT; i++) {
        struct vector ours = vectors[i];

        execute(machine, &ours);
        bad += !same(&vectors[i], &ours, &theirs[i]);
    }
    free(theirs);
    free(vectors);
    assert_int_equal(bad, 0);
    assert_cmp(count, >, 6000);
}

SUITE(rv64_vectors)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(vectors__random__agree_with_qemu, make_machine,
                                        drop_machine),
    };

    if (QEMU_PROGRAM[0] == '\0' || QEMU_VECTORS[0] == '\0') {
        print_message("skipped: qemu-riscv64 or riscv64-linux-gnu-gcc is missing (packages "
                      "qemu-user, gcc-riscv64-linux-gnu)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
