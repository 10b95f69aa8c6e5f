/* Control slots: bytes, recognition, and the summary of a piece of raw data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/record/layout.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void write__break__reads_back(void **state)
{
    const struct zeta_slot_control written = {ZETA_SLOT_BREAK, ZETA_BREAK_LOST,
                                              UINT64_C(0x1122334455667788)};
    struct zeta_slot_control read = {0};
    unsigned char slot[65];

    (void)state;
    memset(slot, 0xff, sizeof(slot));
    zeta_slot_write(&written, slot, 64);
    assert_int_equal(slot[64], 0xff);
    assert_int_equal(slot[63], 0);
    assert_int_equal(slot[16], 1);
    assert_int_equal(slot[20], 2);
    assert_int_equal(slot[24], 0x88);
    assert_int_equal(slot[31], 0x11);
    assert_true(zeta_slot_is_control(slot));
    assert_false(zeta_slot_is_padding(slot, 64));
    assert_true(zeta_slot_read(slot, &read));
    assert_int_equal(read.kind, ZETA_SLOT_BREAK);
    assert_int_equal(read.value, ZETA_BREAK_LOST);
    assert_cmp(read.lost_records, ==, written.lost_records);
}

static void read__other_bytes__no_control_slot(void **state)
{
    const struct zeta_slot_control end = {.kind = ZETA_SLOT_END};
    struct zeta_slot_control read;
    unsigned char slot[32];

    (void)state;
    for (size_t i = 0; i < ZETA_SLOT_MAGIC_BYTES; i++) {
        zeta_slot_write(&end, slot, sizeof(slot));
        slot[i] ^= 1;
        assert_false(zeta_slot_is_control(slot));
        assert_false(zeta_slot_read(slot, &read));
    }
    zeta_slot_write(&end, slot, sizeof(slot));
    slot[16] = 77; /* a kind of a later version */
    assert_true(zeta_slot_is_control(slot));
    assert_false(zeta_slot_read(slot, &read));
}

static void is_padding__one_bit_anywhere__no_padding(void **state)
{
    unsigned char slot[64] = {0};

    (void)state;
    assert_true(zeta_slot_is_padding(slot, sizeof(slot)));
    for (size_t i = 0; i < sizeof(slot); i++) {
        slot[i] = 1;
        assert_false(zeta_slot_is_padding(slot, sizeof(slot)));
        slot[i] = 0;
    }
    memset(slot, 5, sizeof(slot));
    assert_false(zeta_slot_is_padding(slot, sizeof(slot)));
}

SUITE(slot)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write__break__reads_back),
        cmocka_unit_test(read__other_bytes__no_control_slot),
        cmocka_unit_test(is_padding__one_bit_anywhere__no_padding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
