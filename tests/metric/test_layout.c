/* Fields of records: every position and width, parts, identity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const char split_layout[] =
    "format: 1\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: l\n"
    "    kind: delta\n"
    "    record: 64\n"
    "    header:\n"
    "      id: {at: 0, width: 32}\n"
    "      kind: {in: id, bit: 19, width: 6}\n"
    "      ticks: {at: 4, width: 32, delta: 32}\n"
    "    counters:\n"
    "      A:\n"
    "        - {n: 4, at: 8, stride: 4, width: 32, hi: {at: 24, stride: 1, width: 8}}\n"
    "        - {n: 2, at: 32, stride: 4, width: 32}\n"
    "      S: [{n: 8, at: 40, stride_bits: 5, width: 5}]\n"
    "      D: [{n: 1, at: 48, width: 64, type: f64}]\n"
    "    identity: [id, ticks]\n"
    "sets:\n"
    "  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: [time],\n"
    "     metrics: [{name: M, description: d, type: raw, value_type: u64, class: exact, value: "
    "ticks}]}\n";

static void field_read__every_bit_and_width__as_bits(void **state)
{
    unsigned char record[24];
    uint64_t seed = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(record); i++)
        record[i] = (unsigned char)next_random(&seed);
    for (uint32_t bit = 0; bit < 64; bit++) {
        for (uint32_t width = 1; width <= 64; width++) {
            struct zeta_field field = {.low_bit = bit, .low_width = width};
            uint64_t expected = 0;

            for (uint32_t i = 0; i < width; i++)
                expected |= (uint64_t)(record[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i;
            assert_cmp(zeta_field_read(&field, record), ==, expected);
        }
    }
}

static void field_read__split_counter__high_part_above_low(void **state)
{
    (void)state;
    struct zeta_catalog *catalog = load_text(split_layout);
    const struct zeta_layout *layout = zeta_catalog_find_set(catalog, "s")->layout;
    const struct zeta_bank *a = zeta_layout_find_bank(layout, "A");
    const struct zeta_bank *s = zeta_layout_find_bank(layout, "S");
    static const unsigned char low[] = {0x78, 0x56, 0x34, 0x12};
    unsigned char record[64] = {0};

    assert_int_equal(layout->header_count, 3);
    assert_int_equal(a->count, 6);
    memcpy(record + 16, low, sizeof(low));
    record[26] = 0xab;
    assert_cmp(zeta_field_read(&layout->fields[a->first_field + 2], record), ==,
               UINT64_C(0xab12345678));
    assert_int_equal(layout->fields[a->first_field + 2].delta_bits, 40);
    memset(record + 36, 0xff, 4);
    assert_cmp(zeta_field_read(&layout->fields[a->first_field + 5], record), ==, 0xffffffff);
    assert_int_equal(layout->fields[a->first_field + 5].delta_bits, 32);
    assert_int_equal(layout->fields[a->first_field + 5].index, 5);
    record[40] = 0xe0;
    record[41] = 0x03;
    assert_int_equal(zeta_field_read(&layout->fields[s->first_field + 1], record), 31);
    assert_int_equal(zeta_field_read(&layout->fields[s->first_field + 2], record), 0);
    assert_null(zeta_layout_find_bank(layout, "Z"));
    assert_int_equal(zeta_layout_find_field(layout, "nothing"), ZETA_FIELD_NONE);
    zeta_catalog_destroy(catalog);
}

static void field_read__part__bits_of_its_parent(void **state)
{
    (void)state;
    struct zeta_catalog *catalog = load_text(split_layout);
    const struct zeta_layout *layout = zeta_catalog_find_set(catalog, "s")->layout;
    unsigned char record[64] = {0, 0, 0x48, 0x80};

    assert_int_equal(
        zeta_field_read(&layout->fields[zeta_layout_find_field(layout, "kind")], record), 9);
    zeta_catalog_destroy(catalog);
}

SUITE(layout)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_read__every_bit_and_width__as_bits),
        cmocka_unit_test(field_read__split_counter__high_part_above_low),
        cmocka_unit_test(field_read__part__bits_of_its_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
