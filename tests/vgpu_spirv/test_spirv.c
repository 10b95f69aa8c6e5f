/* What the plugin reads of SPIR-V: specialization constants and their sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/vgpu/engine/engine.h"
#include "tests/support/suite.h"
#include <zeta/compiler/spirv.h>

#define MAGIC 0x07230203u
#define OP(words, opcode) ((uint32_t)(words) << 16 | (opcode))
#define SPEC_ID(target, id) OP(4, 71), (target), 1, (id)
#define TYPE_INT(result, width) OP(4, 21), (result), (width), 0
#define TYPE_FLOAT(result, width) OP(3, 22), (result), (width)
#define TYPE_BOOL(result) OP(2, 20), (result)
#define SPEC_32(type, result) OP(4, 50), (type), (result), 7
#define SPEC_64(type, result) OP(5, 50), (type), (result), 7, 0
#define SPEC_TRUE(type, result) OP(3, 48), (type), (result)
#define SPEC_FALSE(type, result) OP(3, 49), (type), (result)

/* Names 1..9 are constants, 11..19 types. */
static const uint32_t module[] = {
    MAGIC, 0x00010000, 0, 20, 0,
    /* begin */
    SPEC_ID(1, 100), SPEC_ID(2, 101), SPEC_ID(3, 102), SPEC_ID(4, 0), SPEC_ID(5, 4000000000u),
    SPEC_ID(6, 105), SPEC_ID(7, 106), SPEC_ID(8, 107), TYPE_INT(11, 8), TYPE_INT(12, 16),
    TYPE_INT(13, 32), TYPE_INT(14, 64), TYPE_FLOAT(15, 16), TYPE_FLOAT(16, 32), TYPE_FLOAT(17, 64),
    TYPE_BOOL(18), SPEC_32(11, 1), SPEC_32(12, 2), SPEC_32(13, 3), SPEC_64(14, 4), SPEC_32(15, 5),
    SPEC_32(16, 6), SPEC_64(17, 7), SPEC_TRUE(18, 8), /* has no id: */ SPEC_FALSE(18, 9)};

static uint32_t read_words(const uint32_t *words, size_t size_bytes,
                           struct zeta_spirv_constant **out, char *error, size_t room)
{
    struct zeta_vgpu_message message = {""};
    uint32_t count = UINT32_MAX;

    if (!zeta_spirv_constants(words, size_bytes, out, &count, message.text, sizeof(message.text))) {
        assert_int_not_equal(message.text[0], 0);
        snprintf(error, room, "%s", message.text);
        return UINT32_MAX;
    }
    return count;
}

static void expect_module(const uint32_t *words)
{
    static const struct {
        uint32_t id, size_bytes;
    } wanted[] = {{100, 1},         {101, 2}, {102, 4}, {0, 8},
                  {4000000000u, 2}, {105, 4}, {106, 8}, {107, 1}};
    struct zeta_spirv_constant *found = NULL;
    char error[256] = "";

    assert_int_equal(read_words(words, sizeof(module), &found, error, sizeof(error)), 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(found[i].id, wanted[i].id);
        assert_int_equal(found[i].size_bytes, wanted[i].size_bytes);
    }
    free(found);
}

static void constants__of_all_types__have_their_sizes(void **state)
{
    (void)state;
    expect_module(module);
}

static void constants__other_byte_order__are_the_same(void **state)
{
    uint32_t swapped[sizeof(module) / sizeof(module[0])];

    (void)state;
    for (size_t i = 0; i < sizeof(module) / sizeof(module[0]); i++)
        swapped[i] = __builtin_bswap32(module[i]);
    expect_module(swapped);
}

static void constants__none__are_an_empty_list(void **state)
{
    struct zeta_spirv_constant *found = NULL;
    char error[256] = "";

    (void)state;
    assert_int_equal(read_words(module, 20, &found, error, sizeof(error)), 0);
    assert_non_null(found);
    free(found);
}

static void expect_error(const uint32_t *words, size_t size_bytes, const char *wanted)
{
    struct zeta_spirv_constant *found = NULL;
    char error[256] = "";

    assert_int_equal(read_words(words, size_bytes, &found, error, sizeof(error)), UINT32_MAX);
    if (!strstr(error, wanted))
        fail_msg("no '%s' in '%s'", wanted, error);
    assert_null(found);
}

static void module__damaged__says_where(void **state)
{
    uint32_t words[] = {MAGIC, 0x00010000, 0, 20, 0, OP(2, 20), 18, OP(0, 20), 18};

    (void)state;
    expect_error(words, 16, "16 bytes");
    expect_error(words, 21, "21 bytes");
    expect_error(words, sizeof(words), "word 7");
    words[7] = OP(3, 20);
    expect_error(words, sizeof(words), "word 7");
    words[3] = 0x400001;
    expect_error(words, sizeof(words), "at most");
    words[0] = 0xcafebabe;
    expect_error(words, sizeof(words), "0xcafebabe");
}

/* Ids out of bounds, types that are none: nothing is found, nothing breaks. */
static void module__odd_ids__are_passed_over(void **state)
{
    const uint32_t words[] = {MAGIC,
                              0x00010000,
                              0,
                              20,
                              0,
                              SPEC_ID(20, 1),
                              SPEC_ID(1, 2),
                              SPEC_ID(2, 3),
                              TYPE_INT(UINT32_MAX, 32),
                              TYPE_INT(3, 24),
                              SPEC_32(20, 1),
                              SPEC_32(3, 2),
                              SPEC_32(3, 20),
                              OP(1, 50),
                              OP(2, 50),
                              3,
                              OP(1, 71),
                              OP(3, 71),
                              1,
                              1,
                              OP(1, 21)};
    struct zeta_spirv_constant *found = NULL;
    char error[256] = "";

    (void)state;
    assert_int_equal(read_words(words, sizeof(words), &found, error, sizeof(error)), 0);
    free(found);
}

SUITE(spirv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants__of_all_types__have_their_sizes),
        cmocka_unit_test(constants__other_byte_order__are_the_same),
        cmocka_unit_test(constants__none__are_an_empty_list),
        cmocka_unit_test(module__damaged__says_where),
        cmocka_unit_test(module__odd_ids__are_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
