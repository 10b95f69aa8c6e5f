/* SPIR-V before the translator: what is no module of ours, and values of constants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-vgpu-cc/front_end/front_end.h"
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

SUITE(spirv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check__good_module__accepted),
        cmocka_unit_test(check__headers__say_what_is_wrong),
        cmocka_unit_test(check__other_models__say_why),
        cmocka_unit_test(check__every_truncation__ends),
        cmocka_unit_test(check__bad_lengths__refused),
        cmocka_unit_test(specialize__each_size__written),
        cmocka_unit_test(specialize__unknown_or_wrong_size__lists_what_there_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
