/* Exported data that was cut or changed: an error or the right values, for every cut and bit. */
#include <stdlib.h>
#include <string.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SLOTS 6u

struct bed {
    struct source source;
    uint8_t raw[SLOTS * 4096];
    size_t raw_bytes;
    uint8_t *data;
    size_t size;
    struct outcome right;
    struct outcome got;
};

static int set_up(void **state)
{
    struct bed *bed;

    if (zeInit(0) != ZE_RESULT_SUCCESS)
        return -1;
    bed = calloc(1, sizeof(*bed));
    if (!bed)
        return -1;
    bed->source = find_source("fake0", "Basic", TIME_BASED);
    bed->raw_bytes = make_raw(&bed->source, 12, SLOTS, bed->raw);
    bed->data = export_raw(&bed->source, bed->raw, bed->raw_bytes, &bed->size);
    bed->right = outcome_make();
    bed->got = outcome_make();
    calculate_offline(bed->source.driver, VALUES, bed->data, bed->size, 0, &bed->right);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;

    free(bed->data);
    outcome_free(&bed->right);
    outcome_free(&bed->got);
    free(bed);
    return 0;
}

/** Calculates bytes of the exact size; true if the values came out. */
static bool calculates(struct bed *bed, const uint8_t *bytes, size_t size)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint32_t sets = 0;
    uint32_t total = 0;
    const ze_result_t result = zetMetricGroupCalculateMetricExportDataExp(
        bed->source.driver, VALUES, size, bytes, &desc, &sets, &total, NULL, NULL);

    if (result != ZE_RESULT_SUCCESS) {
        assert_true(result == ZE_RESULT_ERROR_INVALID_ARGUMENT ||
                    result == ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
        assert_int_equal(sets, 0);
        return false;
    }
    calculate_offline(bed->source.driver, VALUES, bytes, size, 0, &bed->got);
    expect_same(&bed->right, &bed->got, "damaged data");
    return true;
}

/* Rule 16.7. */
static void cut__anywhere__is_refused(void **state)
{
    struct bed *bed = *state;

    for (size_t size = 0; size < bed->size; size++) {
        uint8_t *bytes = malloc(size + (size == 0));

        assert_non_null(bytes);
        memcpy(bytes, bed->data, size);
        assert_false(calculates(bed, bytes, size));
        free(bytes);
    }
}

/* Rule 16.7. */
static void flip__any_bit__is_refused_or_changes_nothing(void **state)
{
    struct bed *bed = *state;
    uint8_t *bytes = malloc(bed->size);
    size_t harmless = 0;

    assert_non_null(bytes);
    for (size_t bit = 0; bit < bed->size * 8; bit++) {
        memcpy(bytes, bed->data, bed->size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        harmless += calculates(bed, bytes, bed->size);
    }
    /* Only the bytes between chunks are in no checksum: at most 7 behind each of 4. */
    assert_cmp(harmless, <=, 4 * 7 * 8);
    free(bytes);
}

static void shift__any_alignment__gives_the_values(void **state)
{
    struct bed *bed = *state;
    uint8_t *bytes = malloc(bed->size + 16);

    assert_non_null(bytes);
    for (size_t shift = 0; shift < 16; shift++) {
        memcpy(bytes + shift, bed->data, bed->size);
        assert_true(calculates(bed, bytes + shift, bed->size));
    }
    free(bytes);
}

/* Rule 16.7. */
static void extend__bytes_behind__are_refused(void **state)
{
    struct bed *bed = *state;
    uint8_t *bytes = calloc(1, bed->size + 64);

    assert_non_null(bytes);
    memcpy(bytes, bed->data, bed->size);
    for (size_t more = 1; more <= 64; more++)
        assert_false(calculates(bed, bytes, bed->size + more));
    free(bytes);
}

/** CRC-32C of bytes, bit by bit, without the library's own code. */
static uint32_t checksum(const uint8_t *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

/* Rule 16.8. */
static void version__later_major__is_an_unsupported_version(void **state)
{
    struct bed *bed = *state;
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint8_t *bytes = malloc(bed->size);
    uint32_t sets = 7;
    uint32_t total = 7;

    assert_non_null(bytes);
    memcpy(bytes, bed->data, bed->size);
    for (uint8_t major = 1; major <= 2; major++) {
        uint32_t crc;

        bytes[8] = major;
        crc = checksum(bytes, 60);
        memcpy(bytes + 60, &crc, sizeof(crc));
        if (major == 1)
            assert_true(calculates(bed, bytes, bed->size)); /* so the checksum is right */
    }
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(bed->source.driver, VALUES, bed->size,
                                                             bytes, &desc, &sets, &total, NULL,
                                                             NULL),
                  ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    expect_sentence("version 2.0");
    assert_int_equal(sets, 7);
    assert_int_equal(total, 7);
    free(bytes);
}

SUITE(damage)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut__anywhere__is_refused),
        cmocka_unit_test(flip__any_bit__is_refused_or_changes_nothing),
        cmocka_unit_test(shift__any_alignment__gives_the_values),
        cmocka_unit_test(extend__bytes_behind__are_refused),
        cmocka_unit_test(version__later_major__is_an_unsupported_version),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
