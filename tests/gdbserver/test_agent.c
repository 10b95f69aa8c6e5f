/*
 * Expressions in GDB's bytecode. Those of whole conditions are what GDB 13.1 made of them ("maint
 * agent-eval").
 */
#include "sdk/tools/zeta-gdbserver/packet/agent.h"
#include "tests/support/suite.h"

#include <string.h>

#include <cmocka.h>

#define FRAME UINT64_C(0x7000)

/* A thread: register n has 100 + n, but s0 is the frame; memory is 64 bytes below it. */
struct thread {
    uint8_t memory[64];
    uint32_t registers_read, memory_read;
};

static bool read_register(void *user, uint32_t number, uint64_t *out_value)
{
    ((struct thread *)user)->registers_read++;
    *out_value = number == 8 ? FRAME : 100 + number;
    return number < 33;
}

static bool read_memory(void *user, uint64_t address, size_t size, void *out_bytes)
{
    struct thread *const thread = user;
    const uint64_t begin = FRAME - sizeof(thread->memory);

    thread->memory_read++;
    if (address < begin || size > FRAME - address)
        return false;
    memcpy(out_bytes, thread->memory + (address - begin), size);
    return true;
}

struct expression {
    const char *bytes;
    size_t size;
};
#define EXPRESSION(characters)                                                                     \
    {                                                                                              \
        (characters), sizeof(characters) - 1                                                       \
    }

static bool evaluate_on(struct thread *thread, struct expression expression, uint64_t *out_value)
{
    const struct zeta_gdb_agent_view view = {read_register, read_memory, thread};

    return zeta_gdb_agent_evaluate((const uint8_t *)expression.bytes, expression.size, &view,
                                   out_value);
}

static bool evaluate(struct expression expression, uint64_t *out_value)
{
    struct thread thread = {{0}, 0, 0};

    return evaluate_on(&thread, expression, out_value);
}

/* Two constants of 8 bits, the first with its sign, and an operation. */
#define BINARY(a, b, operation) EXPRESSION("\x22" a "\x16\x08\x22" b operation "\x27")

static void evaluate__operations__as_the_manual_says(void **state)
{
    static const struct {
        struct expression expression;
        uint64_t value;
    } cases[] = {
        {BINARY("\xfe", "\x03", "\x02"), 1},                            /* add */
        {BINARY("\x02", "\x03", "\x03"), UINT64_MAX},                   /* sub */
        {BINARY("\xfe", "\x03", "\x04"), (uint64_t)-6},                 /* mul */
        {BINARY("\xf9", "\x02", "\x05"), (uint64_t)-3},                 /* div_signed */
        {BINARY("\xf9", "\x02", "\x06"), UINT64_C(0x7ffffffffffffffc)}, /* div_unsigned */
        {BINARY("\xf9", "\x02", "\x07"), (uint64_t)-1},                 /* rem_signed */
        {BINARY("\xf9", "\x02", "\x08"), 1},                            /* rem_unsigned */
        {BINARY("\x01", "\x3f", "\x09"), UINT64_C(1) << 63},            /* lsh */
        {BINARY("\x01", "\x40", "\x09"), 0},
        {BINARY("\xf0", "\x02", "\x0a"), (uint64_t)-4}, /* rsh_signed */
        {BINARY("\xf0", "\x00", "\x0a"), (uint64_t)-16},
        {BINARY("\xf0", "\xff", "\x0a"), UINT64_MAX},
        {BINARY("\x70", "\x02", "\x0a"), 0x1c},
        {BINARY("\xf0", "\x3c", "\x0b"), 0xf}, /* rsh_unsigned */
        {BINARY("\xf0", "\x40", "\x0b"), 0},
        {BINARY("\x0c", "\x0a", "\x0f"), 8},  /* bit_and */
        {BINARY("\x0c", "\x0a", "\x10"), 14}, /* bit_or */
        {BINARY("\x0c", "\x0a", "\x11"), 6},  /* bit_xor */
        {BINARY("\x05", "\x05", "\x13"), 1},  /* equal */
        {BINARY("\x05", "\x06", "\x13"), 0},
        {BINARY("\xff", "\x00", "\x14"), 1}, /* less_signed */
        {BINARY("\x00", "\x00", "\x14"), 0},
        {BINARY("\xff", "\x00", "\x15"), 0}, /* less_unsigned */
        {BINARY("\x01", "\x02", "\x15"), 1},
        {BINARY("\x07", "\x09", "\x2b\x03"), 2},      /* swap, sub */
        {BINARY("\x07", "\x09", "\x29"), 7},          /* pop */
        {BINARY("\x07", "\x09", "\x28\x02\x02"), 25}, /* dup, add, add */
        {BINARY("\x07", "\x09", "\x32\x01"), 7},      /* pick 1 */
        {BINARY("\x07", "\x09", "\x32\x00"), 9},      /* pick 0 */
        {BINARY("\x07", "\x09", "\x22\x01\x33"), 9},  /* 7 9 1, rot: 1 7 9 */
        {BINARY("\x07", "\x09", "\x22\x01\x33\x29"), 7},
        {BINARY("\x07", "\x09", "\x22\x01\x33\x29\x29"), 1},
        {EXPRESSION("\x22\x00\x0e\x27"), 1}, /* log_not */
        {EXPRESSION("\x22\x07\x0e\x27"), 0},
        {EXPRESSION("\x22\x07\x12\x27"), ~UINT64_C(7)},          /* bit_not */
        {EXPRESSION("\x23\x12\x34\x27"), 0x1234},                /* const16 */
        {EXPRESSION("\x24\x81\x23\x45\x67\x27"), 0x81234567},    /* const32 */
        {EXPRESSION("\x25\x01\x23\x45\x67\x89\xab\xcd\xef\x27"), /* const64 */
         UINT64_C(0x0123456789abcdef)},
        {EXPRESSION("\x24\x81\x23\x45\x67\x16\x20\x27"), UINT64_C(0xffffffff81234567)}, /* ext 32 */
        {EXPRESSION("\x24\x81\x23\x45\x67\x16\x40\x27"), 0x81234567},                   /* ext 64 */
        {EXPRESSION("\x24\x81\x23\x45\x67\x2a\x08\x27"), 0x67}, /* zero_ext 8 */
        {EXPRESSION("\x24\x81\x23\x45\x67\x2a\xff\x27"), 0x81234567},
        {EXPRESSION("\x26\x00\x0a\x27"), 110},                           /* reg 10 */
        {EXPRESSION("\x21\x00\x05\x22\x01\x22\x02\x27"), 2},             /* goto 5 */
        {EXPRESSION("\x22\x00\x20\x00\x08\x22\x05\x27\x22\x06\x27"), 5}, /* if_goto 8 */
        {EXPRESSION("\x22\x03\x20\x00\x08\x22\x05\x27\x22\x06\x27"), 6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 0;

        if (!evaluate(cases[i].expression, &value) || value != cases[i].value)
            fail_msg("case %zu: 0x%llx", i, (unsigned long long)value);
    }
}

static void evaluate__least_number_divided_by_minus_one__stays(void **state)
{
    static const struct expression division = EXPRESSION("\x22\x01\x22\x3f\x09\x22\xff\x16\x08\x05"
                                                         "\x27"),
                                   remainder = EXPRESSION("\x22\x01\x22\x3f\x09\x22\xff\x16\x08\x07"
                                                          "\x27");
    uint64_t value = 0;

    (void)state;
    assert_true(evaluate(division, &value));
    assert_true(value == UINT64_C(1) << 63);
    assert_true(evaluate(remainder, &value));
    assert_true(value == 0);
}

/* gid == 4242, of which the frame has 8 bytes at -32. */
static void evaluate__local_of_a_frame__reads_register_and_memory(void **state)
{
    static const struct expression condition =
        EXPRESSION("\x26\x00\x08\x2a\x40\x22\xe0\x16\x08\x02\x1a\x23\x10\x92\x2a\x40\x13\x27");
    struct thread thread = {{0}, 0, 0};
    uint64_t value = 7;

    (void)state;
    assert_true(evaluate_on(&thread, condition, &value));
    assert_true(value == 0);
    thread.memory[32] = 0x92;
    thread.memory[33] = 0x10;
    assert_true(evaluate_on(&thread, condition, &value));
    assert_true(value == 1);
    thread.memory[39] = 1;
    assert_true(evaluate_on(&thread, condition, &value));
    assert_true(value == 0);
}

/* $a0 == 5 || gs.b == 3 with gs elsewhere: the second half is only evaluated where it matters. */
static void evaluate__or__leaves_the_rest_alone(void **state)
{
    static const struct expression condition =
        EXPRESSION("\x26\x00\x0a\x16\x40\x22\x6e\x13\x20\x00\x21\x24\x00\x01\x22\x58\x22\x04\x02"
                   "\x17\x2a\x03\x22\x03\x13\x20\x00\x21\x22\x00\x21\x00\x23\x22\x01\x27");
    struct thread thread = {{0}, 0, 0};
    uint64_t value = 0;

    (void)state;
    assert_true(evaluate_on(&thread, condition, &value));
    assert_true(value == 1);
    assert_int_equal(thread.registers_read, 1);
    assert_int_equal(thread.memory_read, 0);
}

/* id == 4242 with an int at -28 of the frame, as GDB makes it: the frame has lost its high half. */
static void mend__frame_extended_as_the_variable__is_whole(void **state)
{
    static const struct expression condition =
        EXPRESSION("\x26\x00\x08\x16\x20\x22\xe4\x16\x08\x02\x19\x16\x20\x23\x10\x92\x13\x27");
    /* A variable in a register, one extended as it has to be, and parts of the pattern. */
    static const struct expression others[] = {
        EXPRESSION("\x26\x00\x0a\x16\x20\x22\x04\x13\x27"),
        EXPRESSION("\x26\x00\x0a\x16\x20\x22\x04\x02\x16\x20\x19\x27"),
        EXPRESSION("\x26\x00\x08\x16\x20\x22\xe4\x16\x08\x02"),
        EXPRESSION("\x26\x00\x08\x16\x20\x22\xe4\x16\x08"),
        EXPRESSION("\x26\x00\x08\x16\x20\x25\xe4"),
        EXPRESSION("\x26\x00\x08\x16\x20"),
        EXPRESSION("\x26\x00\x08\x16"),
        EXPRESSION("\x26"),
        EXPRESSION("\xff\x26\x00\x08\x16\x20\x22\xe4\x16\x08\x02\x19"),
    };
    uint8_t code[32];

    (void)state;
    memcpy(code, condition.bytes, condition.size);
    zeta_gdb_agent_mend(code, condition.size);
    assert_int_equal(code[4], 64);
    code[4] = 32;
    assert_memory_equal(code, condition.bytes, condition.size);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        memcpy(code, others[i].bytes, others[i].size);
        zeta_gdb_agent_mend(code, others[i].size);
        assert_memory_equal(code, others[i].bytes, others[i].size);
    }
}

static void evaluate__memory_of_each_size__low_byte_first(void **state)
{
    static const struct {
        struct expression expression;
        uint64_t value;
    } cases[] = {
        {EXPRESSION("\x26\x00\x08\x22\x08\x03\x17\x27"), 0x81},
        {EXPRESSION("\x26\x00\x08\x22\x08\x03\x18\x27"), 0x8281},
        {EXPRESSION("\x26\x00\x08\x22\x08\x03\x19\x27"), 0x84838281},
        {EXPRESSION("\x26\x00\x08\x22\x08\x03\x1a\x27"), UINT64_C(0x8887868584838281)},
    };
    struct thread thread = {{0}, 0, 0};

    (void)state;
    for (uint8_t i = 0; i < 8; i++)
        thread.memory[56 + i] = (uint8_t)(0x81 + i);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 0;

        assert_true(evaluate_on(&thread, cases[i].expression, &value));
        assert_true(value == cases[i].value);
    }
}

static void evaluate__bad_expression__fails_and_gives_nothing(void **state)
{
    static const struct expression cases[] = {
        EXPRESSION(""),
        EXPRESSION("\x27"),     /* nothing to give */
        EXPRESSION("\x22\x01"), /* no end */
        EXPRESSION("\x22"),     /* cut */
        EXPRESSION("\x25\x01\x02\x03\x04\x05\x06\x07"),
        EXPRESSION("\x22\x01\x02\x27"), /* too few values */
        EXPRESSION("\x29\x27"),
        EXPRESSION("\x22\x01\x32\x01\x27"), /* pick of what is not there */
        EXPRESSION("\x22\x01\x32\xff\x27"),
        EXPRESSION("\x22\x01\x22\x00\x05\x27"), /* division by zero */
        EXPRESSION("\x22\x01\x22\x00\x06\x27"),
        EXPRESSION("\x22\x01\x22\x00\x07\x27"),
        EXPRESSION("\x22\x01\x22\x00\x08\x27"),
        EXPRESSION("\x21\xff\xff\x22\x01\x27"),         /* out of itself */
        EXPRESSION("\x21\x00\x00"),                     /* for ever */
        EXPRESSION("\x22\x01\x21\x00\x00"),             /* too deep */
        EXPRESSION("\x26\x00\x21\x27"),                 /* no such register */
        EXPRESSION("\x26\x00\x08\x1a\x27"),             /* no such memory */
        EXPRESSION("\x22\x01\x01\x27"),                 /* float */
        EXPRESSION("\x22\x01\x22\x01\x0c\x27"),         /* trace */
        EXPRESSION("\x22\x01\x0d\x01\x27"),             /* trace_quick */
        EXPRESSION("\x22\x01\x30\x00\x01\x27"),         /* trace16 */
        EXPRESSION("\x22\x01\x1b\x27"),                 /* ref_float */
        EXPRESSION("\x2c\x00\x01\x27"),                 /* getv */
        EXPRESSION("\x22\x01\x2d\x00\x01\x27"),         /* setv */
        EXPRESSION("\x22\x01\x22\x01\x2f\x27"),         /* tracenz */
        EXPRESSION("\x22\x01\x34\x00\x00\x01\x00\x27"), /* printf */
        EXPRESSION("\x22\x01\x31\x27"),                 /* no operation */
        EXPRESSION("\x22\x01\xff\x27"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 7;

        if (evaluate(cases[i], &value) || value != 7)
            fail_msg("case %zu is evaluated", i);
    }
}

SUITE(agent)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluate__operations__as_the_manual_says),
        cmocka_unit_test(evaluate__least_number_divided_by_minus_one__stays),
        cmocka_unit_test(evaluate__local_of_a_frame__reads_register_and_memory),
        cmocka_unit_test(evaluate__or__leaves_the_rest_alone),
        cmocka_unit_test(mend__frame_extended_as_the_variable__is_whole),
        cmocka_unit_test(evaluate__memory_of_each_size__low_byte_first),
        cmocka_unit_test(evaluate__bad_expression__fails_and_gives_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
