/* SPIR-V before the translator: what is no module of ours, and values of constants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-cc/front_end/front_end.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define OP(opcode, words) ((uint32_t)(words) << 16 | (opcode))

/*
 * Constants: 7 is a bool (%2), 8 an int of 4 bytes (%4), 9 one of 8 bytes (%6), 3 has 2 bytes (%8).
 */
static const uint32_t module_words[] = {
    0x07230203, 0x00010000, 0,  20,   0, /* header */
    OP(17, 2),  6,                       /* Capability Kernel */
    OP(14, 3),  2,          2,           /* MemoryModel Physical64 OpenCL */
    OP(71, 4),  2,          1,  7,       /* Decorate %2 SpecId 7 */
    OP(71, 4),  4,          1,  8,    OP(71, 4), 6,         1,  9, OP(71, 4), 8, 1, 3,
    OP(20, 2),  1,                                                                  /* TypeBool */
    OP(21, 4),  3,          32, 0,                                                  /* TypeInt 32 */
    OP(21, 4),  5,          64, 0,    OP(21, 4), 7,         16, 0, OP(48, 3), 1, 2, /* SpecConstantTrue
                                                                                     */
    OP(50, 4),  3,          4,  1000, /* SpecConstant */
    OP(50, 5),  5,          6,  2000, 0,         OP(50, 4), 7,  8, 5,
};

enum { WORDS = sizeof(module_words) / sizeof(module_words[0]), TRUE_AT = 40, INT_AT = 43 };

static uint32_t *copy_module(void)
{
    uint32_t *words = malloc(sizeof(module_words));

    assert_non_null(words);
    memcpy(words, module_words, sizeof(module_words));
    return words;
}

static void assert_refused(const uint32_t *words, size_t count, const char *reason)
{
    struct zeta_cc_buffer log = {0};

    assert_false(zeta_cc_spirv_check(words, count, &log));
    assert_non_null(log.bytes);
    if (!strstr(log.bytes, reason))
        fail_msg("\"%s\" is not in: %s", reason, log.bytes);
    zeta_cc_buffer_finish(&log);
}

static void check__good_module__accepted(void **state)
{
    struct zeta_cc_buffer log = {0};

    (void)state;
    assert_true(zeta_cc_spirv_check(module_words, WORDS, &log));
    assert_int_equal(log.size, 0);
}

static void check__headers__say_what_is_wrong(void **state)
{
    uint32_t *words = copy_module();

    (void)state;
    assert_refused(words, 4, "16 bytes");
    words[0] = 0x464c457f;
    assert_refused(words, WORDS, "begins with 0x464c457f");
    words[0] = 0x03022307;
    assert_refused(words, WORDS, "swapped");
    words[0] = 0x07230203;
    words[1] = 0x00010500;
    assert_refused(words, WORDS, "version 1.5");
    words[1] = 0x00020000;
    assert_refused(words, WORDS, "version 2.0");
    free(words);
}

static void check__other_models__say_why(void **state)
{
    uint32_t *words = copy_module();

    (void)state;
    words[6] = 1;
    assert_refused(words, WORDS, "shaders");
    words[6] = 4;
    assert_refused(words, WORDS, "Kernel");
    words[6] = 6;
    words[8] = 1;
    assert_refused(words, WORDS, "64-bit addresses");
    free(words);
}

static void check__every_truncation__ends(void **state)
{
    (void)state;
    for (size_t count = 0; count < WORDS; count++) {
        struct zeta_cc_buffer log = {0};
        uint32_t *words = malloc(count * 4 + 1);

        assert_non_null(words);
        memcpy(words, module_words, count * 4);
        if (!zeta_cc_spirv_check(words, count, &log))
            assert_non_null(log.bytes);
        else
            assert_cmp(count, >, 6);
        zeta_cc_buffer_finish(&log);
        free(words);
    }
}

static void check__bad_lengths__refused(void **state)
{
    uint32_t *words = copy_module();

    (void)state;
    words[10] = OP(71, 0);
    assert_refused(words, WORDS, "byte 40 has 0 words");
    words[10] = OP(71, 1000);
    assert_refused(words, WORDS, "has 1000 words");
    free(words);
}

static void specialize__each_size__written(void **state)
{
    const struct zeta_cc_constant constants[] = {{7, 1, 0},
                                                 {8, 4, 0xdeadbeef},
                                                 {9, 8, UINT64_C(0x1122334455667788)},
                                                 {3, 2, 0xfffe},
                                                 {8, 4, 17}};
    struct zeta_cc_buffer log = {0};
    uint32_t *words = copy_module();

    (void)state;
    assert_true(zeta_cc_spirv_specialize(words, WORDS, constants, 5, &log));
    assert_int_equal(words[TRUE_AT], OP(49, 3));
    assert_int_equal(words[INT_AT + 3], 17);
    assert_int_equal(words[INT_AT + 7], 0x55667788);
    assert_int_equal(words[INT_AT + 8], 0x11223344);
    assert_int_equal(words[INT_AT + 12], 0xfffe);
    assert_int_equal(log.size, 0);
    free(words);
}

/* Rule 23.11. */
static void specialize__unknown_or_wrong_size__lists_what_there_is(void **state)
{
    const struct zeta_cc_constant unknown = {77, 4, 1};
    const struct zeta_cc_constant wide = {8, 8, 1};
    struct zeta_cc_buffer log = {0};
    uint32_t *words = copy_module();

    (void)state;
    assert_false(zeta_cc_spirv_specialize(words, WORDS, &unknown, 1, &log));
    assert_non_null(strstr(log.bytes, "no specialization constant 77"));
    assert_non_null(strstr(log.bytes, "7 (bool, 1 byte), 8 (4 bytes), 9 (8 bytes), 3 (2 bytes)"));
    zeta_cc_buffer_finish(&log);
    assert_false(zeta_cc_spirv_specialize(words, WORDS, &wide, 1, &log));
    assert_non_null(strstr(log.bytes, "constant 8: the value has 8 bytes"));
    zeta_cc_buffer_finish(&log);
    assert_memory_equal(words, module_words, sizeof(module_words));
    free(words);
}

/* A function of two blocks, the first with a merge, and one that another module has. */
static const uint32_t function_words[] = {
    0x07230203, 0x00010000, 0,  20,   0,          /* header, the comment: lines 1 to 5 */
    OP(17, 2),  6,                                /* Capability Kernel: line 6 */
    OP(14, 3),  2,          2,                    /* MemoryModel */
    OP(15, 5),  6,          4,  0x6b, 0x00000000, /* EntryPoint Kernel %4 "k" */
    OP(19, 2),  1,                                /* TypeVoid */
    OP(33, 3),  2,          1,                    /* TypeFunction */
    OP(54, 5),  1,          3,  0,    2,          /* Function %3, without a body */
    OP(56, 1),                                    /* FunctionEnd */
    OP(54, 5),  1,          4,  0,    2,          /* Function %4: line 13 */
    OP(248, 2), 5,                                /* Label */
    OP(8, 4),   9,          99, 0,                /* Line: 15 */
    OP(57, 4),  1,          6,  3,                /* FunctionCall: 16 */
    OP(247, 3), 7,          0,                    /* SelectionMerge: 17 */
    OP(249, 2), 7,                                /* Branch: 18 */
    OP(248, 2), 7,                                /* Label */
    OP(253, 1),                                   /* Return: 20 */
    OP(56, 1),                                    /* FunctionEnd */
};

enum { FUNCTION_WORDS = sizeof(function_words) / sizeof(function_words[0]) };

/* Rule 23.14. */
static void lines__of_functions__stand_before_their_instructions(void **state)
{
    static const uint32_t expected[] = {57, 16, 247, 18, 253, 20};
    struct zeta_cc_buffer made = {0}, log = {0};
    const uint32_t *words;
    uint32_t line = 0, debug_functions = 0;
    size_t found = 0;

    (void)state;
    assert_true(zeta_cc_spirv_add_lines(function_words, FUNCTION_WORDS, function_words, &made));
    words = (const uint32_t *)(const void *)made.bytes;
    assert_true(zeta_cc_spirv_check(words, made.size / 4, &log));
    assert_true(words[3] > function_words[3]);
    for (size_t at = 5; at < made.size / 4; at += words[at] >> 16) {
        const uint32_t opcode = words[at] & 0xffff;

        if (opcode == 12) { /* ExtInst */
            assert_true(words[at + 2] >= 20 && words[at + 2] < words[3]);
            debug_functions += words[at + 4] == 20;
            line = 0;
        } else if (opcode == 8) { /* Line */
            assert_int_equal(line, 0);
            line = words[at + 2];
        } else if (line > 0 && opcode != 249) {
            assert_true(found < 6);
            assert_int_equal(opcode, expected[found++]);
            assert_int_equal(line, expected[found++]);
            line = 0;
        }
    }
    assert_int_equal(found, 6);
    assert_int_equal(debug_functions, 1); /* of the one that has a body */
    zeta_cc_buffer_finish(&made);
    zeta_cc_buffer_finish(&log);
}

static void lines__of_modules_without_functions_or_with_information__are_left_out(void **state)
{
    static const uint32_t import[] = {OP(11, 7),  30,         0x6e65704f, 0x442e4c43,
                                      0x67756265, 0x6f666e49, 0x3030312e};
    uint32_t words[FUNCTION_WORDS + 7];
    struct zeta_cc_buffer made = {0};

    (void)state;
    assert_false(zeta_cc_spirv_add_lines(module_words, WORDS, module_words, &made));
    memcpy(words, function_words, 7 * sizeof(uint32_t));
    memcpy(words + 7, import, sizeof(import));
    memcpy(words + 14, function_words + 7, (FUNCTION_WORDS - 7) * sizeof(uint32_t));
    assert_false(zeta_cc_spirv_add_lines(words, FUNCTION_WORDS + 7, words, &made));
    assert_int_equal(made.size, 0);
}

SUITE(spirv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check__good_module__accepted),
        cmocka_unit_test(lines__of_functions__stand_before_their_instructions),
        cmocka_unit_test(lines__of_modules_without_functions_or_with_information__are_left_out),
        cmocka_unit_test(check__headers__say_what_is_wrong),
        cmocka_unit_test(check__other_models__say_why),
        cmocka_unit_test(check__every_truncation__ends),
        cmocka_unit_test(check__bad_lengths__refused),
        cmocka_unit_test(specialize__each_size__written),
        cmocka_unit_test(specialize__unknown_or_wrong_size__lists_what_there_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
