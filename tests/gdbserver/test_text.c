/*
 * What packets are made of.
 */
#include "sdk/tools/zeta-gdbserver/packet/text.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct zeta_gdb_text text_of(const char *characters)
{
    return (struct zeta_gdb_text){characters, characters + strlen(characters)};
}

static void take__keyword__only_whole(void **state)
{
    struct zeta_gdb_text text = text_of("vCont;c");

    (void)state;
    assert_false(zeta_gdb_take(&text, "vCont;cc"));
    assert_true(zeta_gdb_take(&text, "vCont"));
    assert_true(zeta_gdb_take(&text, ";c"));
    assert_true(zeta_gdb_take(&text, ""));
    assert_false(zeta_gdb_take(&text, "c"));
}

static void take_number__digits__up_to_64_bits(void **state)
{
    struct zeta_gdb_text text = text_of("fFffFFffffffffff,10");
    uint64_t number = 0;

    (void)state;
    assert_true(zeta_gdb_take_number(&text, &number));
    assert_true(number == UINT64_MAX);
    assert_true(zeta_gdb_take(&text, ","));
    assert_true(zeta_gdb_take_number(&text, &number));
    assert_int_equal(number, 16);
}

static void take_number__none_or_too_many_digits__fails(void **state)
{
    static const char *const cases[] = {"", ",1", "-1", "g", "00000000000000001"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_gdb_text text = text_of(cases[i]);
        uint64_t number = 7;

        assert_false(zeta_gdb_take_number(&text, &number));
        assert_int_equal(number, 7);
        assert_ptr_equal(text.at, cases[i]);
    }
}

static void take_bytes__digits__as_many_as_asked(void **state)
{
    struct zeta_gdb_text text = text_of("00fF7");
    uint8_t bytes[2];

    (void)state;
    assert_true(zeta_gdb_take_bytes(&text, bytes, 2));
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[1], 255);
    assert_false(zeta_gdb_take_bytes(&text, bytes, 1));
    assert_true(zeta_gdb_take_bytes(&text, bytes, 0));
    text = text_of("0g");
    assert_false(zeta_gdb_take_bytes(&text, bytes, 1));
    text = text_of("00");
    assert_false(zeta_gdb_take_bytes(&text, bytes, SIZE_MAX));
}

static void take_thread__forms__as_the_protocol_names_them(void **state)
{
    static const struct {
        const char *text;
        struct zeta_gdb_thread_id id;
    } cases[] = {
        {"p1.2a", {1, 0x2a}},
        {"p1.-1", {1, ZETA_GDB_ALL}},
        {"p1", {1, ZETA_GDB_ALL}},
        {"p-1", {ZETA_GDB_ALL, ZETA_GDB_ALL}},
        {"p-1.-1", {ZETA_GDB_ALL, ZETA_GDB_ALL}},
        {"p0.0", {ZETA_GDB_ANY, ZETA_GDB_ANY}},
        {"2a", {ZETA_GDB_ANY, 0x2a}},
        {"-1", {ZETA_GDB_ANY, ZETA_GDB_ALL}},
        {"ffffffff", {ZETA_GDB_ANY, UINT32_MAX}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_gdb_text text = text_of(cases[i].text);
        struct zeta_gdb_thread_id id;

        assert_true(zeta_gdb_take_thread(&text, &id));
        assert_int_equal(id.process, cases[i].id.process);
        assert_int_equal(id.thread, cases[i].id.thread);
        assert_ptr_equal(text.at, text.end);
    }
}

static void take_thread__no_thread__fails(void **state)
{
    static const char *const cases[] = {"", "p", "p.1", "p1.", "-2", "-", "p1.x", "100000000", "x"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_gdb_text text = text_of(cases[i]);
        struct zeta_gdb_thread_id id;

        assert_false(zeta_gdb_take_thread(&text, &id));
        assert_ptr_equal(text.at, cases[i]);
    }
}

static void take_field__separators__empty_fields_too(void **state)
{
    struct zeta_gdb_text text = text_of("a;;b"), field;

    (void)state;
    field = zeta_gdb_take_field(&text, ';');
    assert_int_equal(field.end - field.at, 1);
    field = zeta_gdb_take_field(&text, ';');
    assert_int_equal(field.end - field.at, 0);
    field = zeta_gdb_take_field(&text, ';');
    assert_true(zeta_gdb_take(&field, "b"));
    field = zeta_gdb_take_field(&text, ';');
    assert_ptr_equal(field.at, field.end);
}

static void put_bytes__any__are_two_digits_each(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const answer = open_memstream(&text, &size);

    (void)state;
    assert_non_null(answer);
    zeta_gdb_put_bytes(answer, "\x00\x7f\xa0", 3);
    (void)fclose(answer);
    assert_string_equal(text, "007fa0");
    free(text);
}

SUITE(text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(take__keyword__only_whole),
        cmocka_unit_test(take_number__digits__up_to_64_bits),
        cmocka_unit_test(take_number__none_or_too_many_digits__fails),
        cmocka_unit_test(take_bytes__digits__as_many_as_asked),
        cmocka_unit_test(take_thread__forms__as_the_protocol_names_them),
        cmocka_unit_test(take_thread__no_thread__fails),
        cmocka_unit_test(take_field__separators__empty_fields_too),
        cmocka_unit_test(put_bytes__any__are_two_digits_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
