/* Exported data: the same values as in place for every group, and every documented answer. */
#include <stdlib.h>
#include <string.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SLOTS 120u

static struct source sources[MAX_GROUPS];
static uint32_t source_count;

static int set_up(void **state)
{
    (void)state;
    if (zeInit(0) != ZE_RESULT_SUCCESS)
        return -1;
    source_count = find_sources(sources);
    return source_count > 0 ? 0 : -1;
}

/* Rule 16.1. */
static void calculate__every_group_and_random_bytes__as_in_place(void **state)
{
    struct outcome in_place = outcome_make();
    struct outcome offline = outcome_make();
    uint64_t rows = 0;
    uint64_t warnings = 0;

    (void)state;
    for (uint32_t i = 0; i < source_count; i++) {
        const struct source *source = &sources[i];
        uint8_t *raw = malloc((size_t)SLOTS * source->record_bytes);

        assert_non_null(raw);
        for (uint64_t seed = 1; seed <= 5; seed++) {
            const size_t bytes = make_raw(source, seed * 77 + i, SLOTS, raw);

            expect_equal_ways(source, raw, bytes, &in_place, &offline);
            rows += in_place.total;
            warnings += in_place.result == ZE_RESULT_WARNING_DROPPED_DATA;
        }
        free(raw);
    }
    assert_cmp(rows, >, 0);
    assert_cmp(warnings, >, 0);
    outcome_free(&in_place);
    outcome_free(&offline);
}

/* Rules 16.1, 16.3. */
static void calculate__every_length__as_in_place(void **state)
{
    const struct source *source = &sources[0];
    struct outcome in_place = outcome_make();
    struct outcome offline = outcome_make();
    uint8_t *raw = malloc(40 * (size_t)source->record_bytes);

    (void)state;
    assert_non_null(raw);
    (void)make_raw(source, 5, 40, raw);
    for (uint32_t slots = 0; slots <= 40; slots++)
        expect_equal_ways(source, raw, (size_t)slots * source->record_bytes, &in_place, &offline);
    free(raw);
    outcome_free(&in_place);
    outcome_free(&offline);
}

/* Rule 16.1. */
static void calculate__less_room__as_in_place(void **state)
{
    const struct source *source = &sources[0];
    const uint32_t metrics = source->properties.metricCount;
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint8_t *raw = malloc(8 * (size_t)source->record_bytes);
    size_t size = 0;
    uint8_t *data;

    (void)state;
    assert_non_null(raw);
    memset(raw, 7, 8 * (size_t)source->record_bytes);
    for (uint32_t i = 0; i < 8; i++)
        raw[(size_t)i * source->record_bytes + 4] = (uint8_t)i;
    data = export_raw(source, raw, 8 * (size_t)source->record_bytes, &size);
    for (uint32_t room = 1; room < 3 * metrics; room++) {
        /* Of the exact size, for the sanitizer. */
        zet_typed_value_t *in_place = calloc(room, sizeof(*in_place));
        zet_typed_value_t *offline = calloc(room, sizeof(*offline));
        uint32_t sets[2] = {1, 1};
        uint32_t total[2] = {room, room};

        assert_non_null(in_place);
        assert_non_null(offline);
        EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
            source->group, VALUES, 8 * (size_t)source->record_bytes, raw, &sets[0], &total[0], NULL,
            in_place));
        EXPECT_OK(zetMetricGroupCalculateMetricExportDataExp(
            source->driver, VALUES, size, data, &desc, &sets[1], &total[1], NULL, offline));
        assert_int_equal(sets[0], sets[1]);
        assert_int_equal(total[0], total[1]);
        assert_memory_equal(in_place, offline, room * sizeof(*offline));
        free(in_place);
        free(offline);
    }
    free(data);
    free(raw);
}

/* Rule 16.1. */
static void calculate__count_passes__as_in_place(void **state)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};

    (void)state;
    for (uint32_t i = 0; i < source_count; i++) {
        const struct source *source = &sources[i];
        uint8_t *raw = malloc((size_t)SLOTS * source->record_bytes);
        size_t bytes;
        size_t size = 0;
        uint8_t *data;

        assert_non_null(raw);
        bytes = make_raw(source, 3 + i, SLOTS, raw);
        data = export_raw(source, raw, bytes, &size);
        for (uint32_t sets = 0; sets < 4; sets++) {
            uint32_t set_count[2] = {sets, sets};
            uint32_t total[2] = {0, 0};
            uint32_t counts[2][4] = {{9, 9, 9, 9}, {9, 9, 9, 9}};

            EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
                source->group, VALUES, bytes, raw, &set_count[0], &total[0], counts[0], NULL));
            EXPECT_OK(zetMetricGroupCalculateMetricExportDataExp(source->driver, VALUES, size, data,
                                                                 &desc, &set_count[1], &total[1],
                                                                 counts[1], NULL));
            assert_int_equal(set_count[0], set_count[1]);
            assert_int_equal(total[0], total[1]);
            assert_memory_equal(counts[0], counts[1], sizeof(counts[0]));
        }
        free(data);
        free(raw);
    }
}

/** Cuts the first records off, and says which tile the rest begins with. */
static size_t cut_front(const struct source *source, const uint8_t *raw, size_t bytes,
                        uint32_t records, uint8_t *out)
{
    static const uint8_t zeros[4096];
    const size_t size = source->record_bytes;
    uint8_t tile_slot[4096];
    bool has_tile = false;
    size_t at = 0;
    size_t used = 0;

    for (; at < bytes && records > 0; at += size) {
        uint32_t kind;

        memcpy(&kind, raw + at + 16, sizeof(kind));
        if (memcmp(raw + at, zeros, size) == 0)
            continue;
        if (raw[at] == 0x9e && raw[at + 1] == 'z' && raw[at + 2] == 'e') {
            if (kind == 2)
                memcpy(tile_slot, raw + at, size);
            has_tile = kind == 2 || (has_tile && kind != 3);
            continue;
        }
        records--;
    }
    if (has_tile) {
        memcpy(out, tile_slot, size);
        used = size;
    }
    memcpy(out + used, raw + at, bytes - at);
    return used + bytes - at;
}

/* Rule 16.6. */
static void calculate__reports_skipped__as_without_them(void **state)
{
    struct outcome in_place = outcome_make();
    struct outcome offline = outcome_make();

    (void)state;
    for (uint32_t i = 0; i < source_count; i++) {
        const struct source *source = &sources[i];
        uint8_t *raw = malloc((size_t)SLOTS * source->record_bytes);
        uint8_t *rest = malloc((size_t)(SLOTS + 1) * source->record_bytes);
        size_t size = 0;
        size_t bytes;
        uint8_t *data;

        assert_non_null(raw);
        assert_non_null(rest);
        bytes = make_raw(source, 900 + i, SLOTS, raw);
        data = export_raw(source, raw, bytes, &size);
        for (uint32_t skip = 0; skip <= SLOTS + 1; skip += skip < 10 ? 1 : 37) {
            const size_t left = cut_front(source, raw, bytes, skip, rest);

            calculate_in_place(source, VALUES, rest, left, &in_place);
            calculate_offline(source->driver, VALUES, data, size, skip, &offline);
            expect_same(&in_place, &offline, source->properties.name);
        }
        calculate_offline(source->driver, VALUES, data, size, UINT32_MAX, &offline);
        assert_int_equal(offline.total, 0);
        free(data);
        free(rest);
        free(raw);
    }
    outcome_free(&in_place);
    outcome_free(&offline);
}

/* Rule 16.4. */
static void export__sizes__two_calls_and_the_needed_size(void **state)
{
    const struct source *source = &sources[0];
    uint8_t raw[2 * 4096] = {1};
    const size_t bytes = 2 * (size_t)source->record_bytes;
    uint8_t *data;
    size_t needed = 0;
    size_t size;

    (void)state;
    assert_cmp(bytes, <=, sizeof(raw));
    EXPECT_OK(zetMetricGroupGetExportDataExp(source->group, raw, bytes, &needed, NULL));
    data = malloc(needed + 1);
    assert_non_null(data);
    memset(data, 0xee, needed + 1);
    /* A size without an array, and an array without a size: both only ask. */
    size = 17;
    EXPECT_OK(zetMetricGroupGetExportDataExp(source->group, raw, bytes, &size, NULL));
    assert_int_equal(size, needed);
    size = 0;
    EXPECT_OK(zetMetricGroupGetExportDataExp(source->group, raw, bytes, &size, data));
    assert_int_equal(size, needed);
    assert_int_equal(data[0], 0xee);
    size = needed - 1;
    EXPECT_RESULT(zetMetricGroupGetExportDataExp(source->group, raw, bytes, &size, data),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, needed);
    assert_int_equal(data[0], 0xee);
    size = needed + 1;
    EXPECT_OK(zetMetricGroupGetExportDataExp(source->group, raw, bytes, &size, data));
    assert_int_equal(size, needed);
    assert_int_equal(data[needed], 0xee);
    free(data);
}

/* Rule 16.3. */
static void export__bad_arguments__are_refused(void **state)
{
    const struct source *source = &sources[0];
    uint8_t raw[2 * 4096] = {1};
    size_t size = 0;

    (void)state;
    EXPECT_RESULT(
        zetMetricGroupGetExportDataExp(source->group, raw, source->record_bytes - 1, &size, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(
        zetMetricGroupGetExportDataExp(source->group, NULL, source->record_bytes, &size, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(
        zetMetricGroupGetExportDataExp(source->group, raw, source->record_bytes, NULL, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(size, 0);
    skip_in(HARNESS_READS_HANDLES, "the loader reads what the handle points to");
    EXPECT_RESULT(zetMetricGroupGetExportDataExp(NULL, raw, source->record_bytes, &size, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void calculate__bad_arguments__are_refused(void **state)
{
    const struct source *source = &sources[0];
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint8_t raw[4096] = {1};
    size_t size = 0;
    uint8_t *data = export_raw(source, raw, source->record_bytes, &size);
    uint32_t sets = 0;
    uint32_t total = 0;

    (void)state;
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(source->driver, VALUES, size, NULL,
                                                             &desc, &sets, &total, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(source->driver, VALUES, size, data,
                                                             NULL, &sets, &total, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(source->driver, VALUES, size, data,
                                                             &desc, NULL, &total, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(source->driver, VALUES, size, data,
                                                             &desc, &sets, NULL, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(
                      source->driver, (zet_metric_group_calculation_type_t)2, size, data, &desc,
                      &sets, &total, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(source->driver, VALUES, 0, data, &desc,
                                                             &sets, &total, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(source->driver, VALUES, sizeof(raw),
                                                             raw, &desc, &sets, &total, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(sets, 0);
    assert_int_equal(total, 0);
    free(data);
    skip_in(HARNESS_READS_HANDLES, "the loader reads what the handle points to");
    EXPECT_RESULT(zetMetricGroupCalculateMetricExportDataExp(NULL, VALUES, sizeof(raw), raw, &desc,
                                                             &sets, &total, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void extension__export__is_listed(void **state)
{
    ze_driver_extension_properties_t *list;
    uint32_t count = 0;
    bool found = false;

    (void)state;
    EXPECT_OK(zeDriverGetExtensionProperties(sources[0].driver, &count, NULL));
    list = calloc(count, sizeof(*list));
    assert_non_null(list);
    EXPECT_OK(zeDriverGetExtensionProperties(sources[0].driver, &count, list));
    for (uint32_t i = 0; i < count; i++)
        found = found || strcmp(list[i].name, ZET_EXPORT_METRICS_DATA_EXP_NAME) == 0;
    assert_true(found);
    free(list);
}

SUITE(data)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculate__every_group_and_random_bytes__as_in_place),
        cmocka_unit_test(calculate__every_length__as_in_place),
        cmocka_unit_test(calculate__less_room__as_in_place),
        cmocka_unit_test(calculate__count_passes__as_in_place),
        cmocka_unit_test(calculate__reports_skipped__as_without_them),
        cmocka_unit_test(export__sizes__two_calls_and_the_needed_size),
        cmocka_unit_test(export__bad_arguments__are_refused),
        cmocka_unit_test(calculate__bad_arguments__are_refused),
        cmocka_unit_test(extension__export__is_listed),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
